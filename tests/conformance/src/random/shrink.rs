//! A shorter case that still shows a difference.

use super::RandomCase;
use crate::random::Coverage;
use crate::runner::Runner;

/// Leaves out what happens, half of it first and single things last, while the runner still differs; and
/// cuts off what comes after the difference.
pub(super) fn shrink(case: &RandomCase, runner: &mut dyn Runner) -> RandomCase {
    let mut case = RandomCase::of(case.seed, case.ops.clone(), &mut Coverage::default());
    let mut size = case.ops.len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < case.ops.len() {
            let mut ops = case.ops.clone();
            ops.drain(from..ops.len().min(from + size));
            let shorter = RandomCase::of(case.seed, ops, &mut Coverage::default());
            match shorter.difference(runner) {
                Ok(Some(_)) => case = shorter,
                Ok(None) => from += size,
                // Nobody is left to ask.
                Err(_) => return case,
            }
        }
        size /= 2;
    }
    if let Ok(Some((Some(step), ..))) = case.difference(runner) {
        case.steps.truncate(step + 1);
        case.wanted.truncate(step + 1);
    }
    case
}
