//! What is said on standard error. It may be a pipe whose reader has left (`plimsoll run 2>&1 |
//! head`), and the standard library's macros panic there: what is said to nobody must not end a
//! run. It may be a terminal, and names, hosts and files say what they like: nothing of theirs is
//! an order to it.

use model::printable;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// As the standard library's, but what cannot be written is lost, and what would steer a terminal
/// is replaced.
macro_rules! eprintln {
    ($($what:tt)*) => {
        $crate::terminal::standard_error::words(&format!($($what)*))
    };
}

pub(crate) fn words(text: &str) {
    exactly(&format!("{}\n", printable::lines(text)));
}

pub(crate) fn over(text: &str) {
    exactly(&format!("\r\x1b[K{}", printable::line(text)));
}

/// Says a text whose colours are ours, and whose words were made harmless before they were
/// coloured.
pub(crate) fn exactly(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

const RENEWED_EVERY: Duration = Duration::from_millis(200);
/// In a log, progress is a line so often.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// What goes on, said now and then: on a terminal in a line that is renewed, elsewhere in lines.
pub(crate) struct Progress {
    /// How long between two lines; `None` for none at all.
    every: Option<Duration>,
    is_terminal: bool,
    last: Option<Instant>,
    has_line: bool,
}

impl Progress {
    pub(crate) fn new(is_quiet: bool) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let every = if is_terminal { RENEWED_EVERY } else { LINE_EVERY };
        Progress { every: (!is_quiet).then_some(every), is_terminal, last: None, has_line: false }
    }

    /// The same, whose first line has to wait, too.
    pub(crate) fn waiting(is_quiet: bool) -> Progress {
        Progress { last: Some(Instant::now()), ..Progress::new(is_quiet) }
    }

    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        let is_due = |every| self.last.is_none_or(|last| last.elapsed() >= every);
        if !self.every.is_some_and(is_due) {
            return;
        }
        self.last = Some(Instant::now());
        match self.is_terminal {
            true => over(&text()),
            false => words(&text()),
        }
        self.has_line = self.is_terminal;
    }

    pub(crate) fn end(&mut self) {
        self.every = None;
        if self.has_line {
            over("");
        }
    }
}
