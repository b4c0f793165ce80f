//! Fresh random cases, with what the sequential model says must come of them.

mod coverage;
mod generator;
mod print;
mod shrink;

use arbitrary::Unstructured;
use tripcoil_random::{Mix, Op, Trace};

use crate::compare::{Found, compare};
use crate::runner::{Runner, Step};
use crate::suite::WantedStep;

use self::generator::Generator;

pub use self::coverage::Coverage;
pub use self::print::vector;

/// A case that a seed makes.
pub struct RandomCase {
    /// The seed: the case's name, too.
    pub seed: u64,
    ops: Vec<Op>,
    /// What to do.
    pub steps: Vec<Step>,
    /// What must come of each step.
    pub wanted: Vec<WantedStep>,
}

impl RandomCase {
    /// The case of a seed, which is always the same.
    #[must_use]
    pub fn new(seed: u64, coverage: &mut Coverage) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = vec![0; random.usize(200..1500)];
        random.fill(&mut bytes);
        let mix = [Mix::All, Mix::Manual, Mix::Calls, Mix::All][(seed % 4) as usize];
        let Trace(ops) = Trace::draw(&mut Unstructured::new(&bytes), mix).expect("there are bytes");
        Self::of(seed, ops, coverage)
    }

    fn of(seed: u64, ops: Vec<Op>, coverage: &mut Coverage) -> Self {
        let (steps, wanted) = Generator::run(&ops, coverage);
        Self { seed, ops, steps, wanted }
    }

    /// The first difference of what a runner sees.
    ///
    /// # Errors
    /// Why the runner could not be asked.
    pub fn difference(&self, runner: &mut dyn Runner) -> Result<Option<Found>, String> {
        Ok(compare(&self.wanted, &runner.run(&self.steps)?).into_iter().next())
    }

    /// A shorter case on which the runner still differs, up to the step where it does.
    #[must_use]
    pub fn shrink(&self, runner: &mut dyn Runner) -> Self {
        shrink::shrink(self, runner)
    }
}

/// Cases of the seeds from `seed` on, with as many steps in all, and what they cover.
#[must_use]
pub fn random_cases(seed: u64, steps: usize) -> (Vec<RandomCase>, Coverage) {
    let (mut cases, mut coverage, mut so_far) = (Vec::new(), Coverage::default(), 0);
    while so_far < steps {
        let case = RandomCase::new(seed.wrapping_add(cases.len() as u64), &mut coverage);
        so_far += case.steps.len();
        cases.push(case);
    }
    (cases, coverage)
}
