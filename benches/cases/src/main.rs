//! Makes guarded calls for somebody who counts instructions: `tripcoil-cases CASE CALLS`.
//!
//! Without arguments it lists the cases. `.ci/counts` runs it.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::process::ExitCode;

use tripcoil::{Outcome, Resource};
use tripcoil_cases::{
    called, entered, entered_by_name, error_rule, guarded, hourly_rule, named, open, patient_rule, slow_rule,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [case, calls] = args.as_slice() else {
        CASES.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    let (case, calls) = (CASES.iter().find(|(name, _)| name == case), calls.parse());
    let (Some((_, run)), Ok(calls)) = (case, calls) else {
        eprintln!("usage: tripcoil-cases [CASE CALLS]");
        return ExitCode::from(2);
    };
    run(calls);
    ExitCode::SUCCESS
}

type Run = fn(usize);

const CASES: [(&str, Run); 8] = [
    ("good", |calls| repeat(&guarded([error_rule(10)]), Outcome::Good, calls)),
    ("call", |calls| {
        let resource = guarded([error_rule(10)]);
        (0..calls).for_each(|_| _ = black_box(called(black_box(&resource))));
    }),
    ("failing-10-buckets", |calls| repeat(&guarded([hourly_rule(10)]), Outcome::Bad, calls)),
    ("failing-60-buckets", |calls| repeat(&guarded([hourly_rule(60)]), Outcome::Bad, calls)),
    ("slow-rule", |calls| repeat(&guarded([slow_rule()]), Outcome::Good, calls)),
    ("rejected", |calls| repeat(&open(), Outcome::Good, calls)),
    ("two-rules", |calls| {
        repeat(&guarded([error_rule(10), patient_rule(10)]), Outcome::Good, calls);
    }),
    ("by-name", |calls| {
        // One name: how often names collide depends on a table's seed, and that on the time.
        let (registry, names) = named(1);
        (0..calls).for_each(|_| _ = black_box(entered_by_name(&registry, black_box(&names[0]))));
    }),
];

fn repeat(resource: &Resource, outcome: Outcome, calls: usize) {
    (0..calls).for_each(|_| _ = black_box(entered(black_box(resource), outcome)));
}
