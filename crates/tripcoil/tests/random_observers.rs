//! Whatever observers do, and whatever is done meanwhile: what they are told, and totals, are exact.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn each_change_is_told_once_and_in_order(bytes in vec(any::<u8>(), 1..600)) {
        tripcoil_random::live(&bytes);
    }
}
