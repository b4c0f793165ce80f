//! Whatever the text: an answer, never a panic.

use arbitrary::Unstructured;
use proptest::prelude::*;
use tripcoil_random::{draw_text, read_in_every_way};

use crate::{one, parse};

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<f64>().prop_map(|number| format!("{number:e}")),
        any::<i64>().prop_map(|number| number.to_string()),
        (0..3000_u32).prop_map(|number| number.to_string()),
        (0..3000_u32).prop_map(|number| format!("{number}.0")),
        (0.0..1.0_f64).prop_map(|number| number.to_string()),
    ]
}

prop_compose! {
    /// A rule of Sentinel's form whose numbers are anything, and often valid.
    fn sentinel_rule()(
        grade in 0..5_u8,
        count in number(),
        time_window in number(),
        ratio in number(),
        interval in prop_oneof![Just("1000".to_owned()), number()],
        buckets in prop::sample::select(vec!["1", "2", "7", "1000", "null"]),
        factor in prop::sample::select(vec!["1", "1.5", "0.5", "1e308", "null"]),
        flag in any::<bool>(),
    ) -> String {
        format!(
            r#"{{"resource": "r.*", "grade": {grade}, "count": {count}, "regex": {flag},
                "timeWindow": {time_window}, "slowRatioThreshold": {ratio}, "id": {grade},
                "statIntervalMs": {interval}, "statSlidingWindowBucketCount": {buckets},
                "backoffFactor": {factor}, "inclusive": {flag}, "limitApp": "é \" \n"}}"#
        )
        .replace("\" \n", "\\\" \\n")
    }
}

proptest! {
    #[test]
    fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_in_every_way(&bytes);
    }

    #[test]
    fn any_heap_of_pieces_has_an_answer(kind in 1..=2_u8, pieces in prop::collection::vec(any::<u8>(), 0..60)) {
        let bytes = [vec![kind], pieces].concat();
        read_in_every_way(&draw_text(&mut Unstructured::new(&bytes)).unwrap());
    }

    #[test]
    fn any_change_of_a_document_has_an_answer(
        rules in prop::collection::vec(sentinel_rule(), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 0..4),
    ) {
        let mut text = format!("[{}]", rules.join(",")).into_bytes();
        for (index, byte, kind) in changes {
            let place = index.index(text.len());
            match kind {
                0 => text[place] = byte,
                1 => text.insert(place, byte),
                _ => text.truncate(place.max(1)),
            }
        }
        read_in_every_way(&text);
    }

    #[test]
    fn a_printed_rule_reads_back_as_the_same(text in sentinel_rule()) {
        for rule in parse(&text).rules {
            let again = one(&rule.to_json());
            prop_assert_eq!(again, rule);
        }
    }

    #[test]
    fn whole_numbers_are_judged_as_big_integers_are(
        digits in 0..20_000_000_000_000_000_u64,
        shift in 0..20_usize,
    ) {
        let exact = digits > 0 && digits < 1 << 53;
        let zeros = "0".repeat(shift);
        for spelled in [
            format!("{digits}"),
            format!("{digits}.{zeros}0"),
            format!("{digits}{zeros}e-{shift}"),
            format!("0.{zeros}{digits:017}e{}", 17 + shift),
        ] {
            let text = crate::sentinel(&format!(r#", "minRequestAmount": {spelled}"#));
            let amounts: Vec<_> =
                parse(&text).rules.iter().map(|rule| rule.min_request_amount()).collect();
            prop_assert_eq!(amounts, if exact { vec![digits] } else { vec![] }, "{}", spelled);
        }
    }
}
