//! The soak test's program in Rust. `README.md` beside it says how it is driven.
//!
//! With the argument `child` it makes one round without being asked, says so, and waits to be ended.
#![forbid(unsafe_code)]

mod calls;
mod changes;
mod tally;
mod world;

use std::env;
use std::io::{self, BufRead, Read, Write};
use std::process::{Command, Stdio};

use world::World;

/// Numbers that are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// One from 0 to below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Runs this program as a child: to its end, or until it is killed in the middle of its calls.
fn child(killed: bool) -> io::Result<()> {
    let mut child = Command::new(env::current_exe()?)
        .arg("child")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(said) = &mut child.stdout {
        said.read_exact(&mut [0])?;
    }
    if killed {
        child.kill()?;
    }
    // Waiting closes its input first, by which it ends.
    let status = child.wait()?;
    assert_eq!(status.success(), !killed, "{status}");
    Ok(())
}

fn main() -> io::Result<()> {
    let mut world = World::new();
    if env::args().nth(1).as_deref() == Some("child") {
        println!("{}", world.round(0));
        io::stdin().read_to_end(&mut Vec::new())?;
        return Ok(());
    }
    for (number, line) in (0_u64..).zip(io::stdin().lock().lines()) {
        line?;
        world.round(number);
        if number % 16 == 7 {
            child(number % 32 == 7)?;
            world.children += 1;
        }
        println!("{}", world.figures());
        io::stdout().flush()?;
    }
    Ok(())
}
