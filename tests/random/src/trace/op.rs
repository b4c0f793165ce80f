//! What happens in a trace.

use arbitrary::{Result, Unstructured};
use tripcoil_model::{MS, Mode, ModelRule, Outcome};

use super::rules::{NAMES, draw_rule, draw_rules, draw_rules_for};

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Op {
    /// A call asks for leave.
    Enter(&'static str),
    /// Ends an entry, perhaps again, perhaps with a response time (ns) that the caller measured.
    End(Pick, Outcome, Option<u64>),
    /// The clock goes on by so many ns.
    Advance(u64),
    /// The clock goes to where some breaker's wait ends, or 1 ns to either side of it.
    AdvanceToDeadline(Pick, i64),
    /// The clock goes to where the current stretch of so many ns ends, or 1 ns before.
    AdvanceToMultiple(u64, u64),
    /// The clock goes back by so many ns.
    GoBack(u64),
    /// All ordinary rules are replaced.
    Load(Vec<ModelRule>),
    /// Another rule's numbers for one of the ordinary rules, which keeps its name, grade and window.
    Edit(Pick, ModelRule),
    /// Two of the ordinary rules under each other's ids.
    SwapIds(Pick, Pick),
    /// The same ordinary rules from last to first.
    Reverse,
    /// One of the ordinary rules less.
    Remove(Pick),
    /// One resource's exact rules are replaced.
    LoadResource(&'static str, Vec<ModelRule>),
    /// All default rules are replaced.
    LoadDefaults(Vec<ModelRule>),
    /// A name is taken out of the default rules' guard, or put back.
    Exclude(&'static str, bool),
    /// One breaker's mode.
    SetMode(&'static str, Pick, Mode),
    /// One breaker, so many times.
    Reset(&'static str, Pick, u32),
    /// All of a resource's breakers.
    ResetAll(&'static str),
}

/// One of several, however many there are: counted from the latest, which is most often meant.
#[derive(Clone, Copy, Debug)]
pub struct Pick(pub u8);

impl Pick {
    /// Its position among so many; there must be one.
    #[must_use]
    pub fn of(self, many: usize) -> usize {
        many - 1 - usize::from(self.0) % many
    }

    /// The position of an entry: mostly one that is open, where there is any.
    pub fn entry<T>(self, entries: &[T], is_open: impl Fn(&T) -> bool) -> Option<usize> {
        let positions = 0..entries.len();
        let mut fit: Vec<_> = positions.clone().filter(|position| is_open(&entries[*position])).collect();
        if fit.is_empty() || self.0 >= 240 {
            fit = positions.collect();
        }
        (!fit.is_empty()).then(|| fit[self.of(fit.len())])
    }
}

/// What a trace is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Calls and time, under rules that stay.
    Calls,
    /// The same under manual control.
    Manual,
    /// All of it, and rules that are replaced.
    All,
}

/// What happens, step by step: rules first.
#[derive(Clone, Debug)]
pub struct Trace(pub Vec<Op>);

impl Trace {
    /// A trace of whatever the bytes are enough for.
    ///
    /// # Errors
    /// None in truth: bytes that have run out are zeros.
    pub fn draw(bytes: &mut Unstructured<'_>, mix: Mix) -> Result<Self> {
        let mut ops = vec![Op::Load(draw_rules(bytes)?)];
        while !bytes.is_empty() {
            ops.push(Op::draw(bytes, mix)?);
        }
        Ok(Self(ops))
    }
}

impl Op {
    /// One thing that happens in such a trace.
    ///
    /// # Errors
    /// As for [`Trace::draw`].
    pub fn draw(bytes: &mut Unstructured<'_>, mix: Mix) -> Result<Self> {
        match (mix, bytes.int_in_range(0..=23)?) {
            (Mix::All, 20..=22) => reload(bytes),
            (Mix::All, 23) | (Mix::Manual, 20..=23) => manual(bytes),
            _ => call(bytes),
        }
    }
}

fn draw_name(bytes: &mut Unstructured<'_>) -> Result<&'static str> {
    // Most calls on one resource, so that it gets somewhere.
    const OFTEN: [&str; 7] = [NAMES[0], NAMES[1], NAMES[2], NAMES[0], NAMES[0], NAMES[0], NAMES[0]];
    bytes.choose(&OFTEN).copied()
}

fn pick(bytes: &mut Unstructured<'_>) -> Result<Pick> {
    bytes.arbitrary().map(Pick)
}

const SOME_TIMES: [u64; 9] =
    [1, MS, 10 * MS, 10 * MS + 1, 100 * MS, 500 * MS, 1000 * MS, 2500 * MS, 20_000 * MS];
/// Whatever a clock may say.
const FAR_TIMES: [u64; 6] = [1 << 41, 1 << 53, 1 << 60, 1 << 63, u64::MAX - 1, u64::MAX];

fn call(bytes: &mut Unstructured<'_>) -> Result<Op> {
    const OUTCOMES: [Outcome; 14] = {
        let mut outcomes = [Outcome::Bad; 14];
        (outcomes[1], outcomes[3], outcomes[5], outcomes[7]) =
            (Outcome::Good, Outcome::Good, Outcome::Good, Outcome::Good);
        (outcomes[8], outcomes[9]) = (Outcome::Ignored, Outcome::Cancelled);
        outcomes
    };
    const MEASURED: [Option<u64>; 7] =
        [None, None, None, Some(0), Some(10 * MS), Some(10 * MS + 1), Some(u64::MAX)];
    Ok(match bytes.int_in_range(0..=31)? {
        0..=12 => Op::Enter(draw_name(bytes)?),
        13..=23 => Op::End(pick(bytes)?, *bytes.choose(&OUTCOMES)?, *bytes.choose(&MEASURED)?),
        24 | 25 => Op::Advance(*bytes.choose(&SOME_TIMES)?),
        26 | 27 => Op::AdvanceToDeadline(pick(bytes)?, bytes.int_in_range(-1..=1)?),
        28 => {
            let stretch = *bytes.choose(&[MS, 100 * MS, 500 * MS, 1000 * MS])?;
            Op::AdvanceToMultiple(stretch, bytes.int_in_range(0..=1)?)
        }
        29 | 30 => Op::GoBack(*bytes.choose(&SOME_TIMES)?),
        _ => match bytes.arbitrary::<u8>()? {
            far @ 0..=5 => Op::Advance(FAR_TIMES[usize::from(far)]),
            far @ 6..=11 => Op::GoBack(FAR_TIMES[usize::from(far) - 6]),
            _ => Op::Advance(MS),
        },
    })
}

fn reload(bytes: &mut Unstructured<'_>) -> Result<Op> {
    Ok(match bytes.int_in_range(0..=10)? {
        0 => Op::Load(draw_rules(bytes)?),
        1..=4 => Op::Edit(pick(bytes)?, draw_rule(bytes, (NAMES[0], false))?),
        5 => Op::SwapIds(pick(bytes)?, pick(bytes)?),
        6 => Op::Reverse,
        7 => Op::Remove(pick(bytes)?),
        8 => {
            let name = draw_name(bytes)?;
            Op::LoadResource(name, draw_rules_for(bytes, name)?)
        }
        9 => Op::LoadDefaults(draw_rules_for(bytes, "*")?),
        _ => Op::Exclude(draw_name(bytes)?, bytes.arbitrary()?),
    })
}

fn manual(bytes: &mut Unstructured<'_>) -> Result<Op> {
    const MODES: [Mode; 5] =
        [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::ObserveOnly, Mode::ObserveOnly];
    Ok(match bytes.int_in_range(0..=5)? {
        0..=3 => Op::SetMode(draw_name(bytes)?, pick(bytes)?, *bytes.choose(&MODES)?),
        4 => {
            // As many as lives of a window that its buckets can tell apart: seldom, also where a fuzzer is fond
            // of what takes a hundred times as long as all else.
            let is_far = bytes.arbitrary::<u8>()? == 255 && bytes.len().is_multiple_of(16);
            let times = if is_far { 4095 } else { 1 };
            Op::Reset(draw_name(bytes)?, pick(bytes)?, times)
        }
        _ => Op::ResetAll(draw_name(bytes)?),
    })
}
