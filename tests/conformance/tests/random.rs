//! Random cases: what they reach, and that what differs is found, shortened and shown as a vector.

use std::fs;
use std::path::Path;

use tripcoil_conformance::{
    Observation, Op, RandomCase, Reading, Runner, Rust, Step, Suite, check, random_cases, vector,
};

/// The Rust library, but what ends without an outcome has ended badly.
struct Faulty(Rust);

impl Runner for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn run(&mut self, steps: &[Step]) -> Result<Vec<Observation>, String> {
        let mut steps = steps.to_vec();
        for step in &mut steps {
            if let Op::Ignore { id } = &step.op {
                step.op = Op::Exit { id: id.clone(), error: true };
            }
        }
        self.0.run(&steps)
    }

    fn read(&mut self, text: &str) -> Result<Reading, String> {
        self.0.read(text)
    }
}

#[test]
fn a_seed_makes_the_same_cases_each_time() {
    let steps = |seed| random_cases(seed, 500).0.into_iter().map(|case| case.steps).collect::<Vec<_>>();
    assert_eq!(steps(7), steps(7));
    assert_ne!(steps(7), steps(8));
}

#[test]
fn random_cases_reach_everything_and_the_library_agrees() {
    let (cases, coverage) = random_cases(1, 20_000);
    assert_eq!(coverage.missing(), [""; 0], "{coverage}");
    for case in cases {
        assert_eq!(case.difference(&mut Rust), Ok(None), "seed {}", case.seed);
    }
}

#[test]
fn a_difference_is_shortened_to_a_vector_that_shows_it() {
    let (cases, _) = random_cases(1, 20_000);
    let mut faulty = Faulty(Rust);
    let mut differs = |case: &&RandomCase| case.difference(&mut faulty).unwrap().is_some();
    let found = cases.iter().find(|case| differs(case)).expect("a fault that shows");
    let shortest = found.shrink(&mut faulty);
    assert!(shortest.steps.len() < found.steps.len() && shortest.steps.len() <= 20, "{}", vector(&shortest));

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random");
    fs::create_dir_all(&folder).unwrap();
    let text = format!("{{\"origin\": \"a seed\", \"cases\": [\n{}\n]}}", vector(&shortest));
    fs::write(folder.join("found.json"), text).unwrap();
    let suite = Suite::read(&folder).unwrap();
    let differ = |runner: &mut dyn Runner| check(&suite, runner, |_| {}).differ;
    assert_eq!(differ(&mut Rust), 0);
    assert!(differ(&mut faulty) > 0);
}
