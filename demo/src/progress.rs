//! A progress line below lasting lines: updated in place on a terminal, now and then elsewhere.

use std::io::{self, Write};
use std::time::Duration;

/// Where the story is told.
pub(crate) struct Progress<W> {
    out: W,
    terminal: bool,
    /// Where no terminal is: the next progress line is due at this story time.
    next: Duration,
}

impl<W: Write> Progress<W> {
    /// `terminal`: whether `out` can take back a line.
    pub(crate) fn new(out: W, terminal: bool) -> Self {
        let mut progress = Self { out, terminal, next: Duration::ZERO };
        progress.restart();
        progress
    }

    /// Writes a line that stays.
    pub(crate) fn say(&mut self, line: &str) -> io::Result<()> {
        self.clear()?;
        writeln!(self.out, "{line}")
    }

    /// Renews the progress line at story time `now`.
    pub(crate) fn show(&mut self, now: Duration, line: impl FnOnce() -> String) -> io::Result<()> {
        if now < self.next {
            return Ok(());
        }
        if self.terminal {
            self.next = now + REDRAW;
            write!(self.out, "{CLEAR_LINE}{}", line())?;
        } else {
            self.next = now + INTERVAL;
            writeln!(self.out, "{}", line())?;
        }
        self.out.flush()
    }

    /// Takes the progress line away, and starts anew with the next.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.terminal {
            self.next = Duration::ZERO;
            write!(self.out, "{CLEAR_LINE}")?;
        }
        self.out.flush()
    }

    /// The next run's story time begins at 0.
    pub(crate) fn restart(&mut self) {
        self.next = if self.terminal { Duration::ZERO } else { INTERVAL };
    }
}

const CLEAR_LINE: &str = "\r\x1b[2K";
const REDRAW: Duration = Duration::from_millis(100);
const INTERVAL: Duration = Duration::from_millis(1_500);

#[cfg(test)]
mod tests {
    use super::*;

    fn told(terminal: bool) -> String {
        let mut out = Vec::new();
        let mut progress = Progress::new(&mut out, terminal);
        for ms in [0, 50, 200, 1_600] {
            progress.show(Duration::from_millis(ms), || format!("at {ms}")).expect("a vector takes all");
        }
        progress.say("a change").expect("a vector takes all");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_terminal_sees_the_line_updated_in_place() {
        assert_eq!(told(true), "\r\x1b[2Kat 0\r\x1b[2Kat 200\r\x1b[2Kat 1600\r\x1b[2Ka change\n");
    }

    #[test]
    fn elsewhere_lines_are_plain_and_few() {
        assert_eq!(told(false), "at 1600\na change\n");
    }
}
