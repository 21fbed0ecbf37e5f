//! What is said on standard error. It may be a pipe whose reader has left (`plimsoll run 2>&1 |
//! head`), and the standard library's macros panic there: what is said to nobody must not end a
//! run. It may be a terminal, and names, hosts and files say what they like: nothing of theirs is
//! an order to it.

use model::printable;
use std::io::Write;

/// As the standard library's, but what cannot be written is lost, and what would steer a terminal
/// is replaced.
macro_rules! eprintln {
    ($($what:tt)*) => {
        $crate::standard_error::words(&format!($($what)*))
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
