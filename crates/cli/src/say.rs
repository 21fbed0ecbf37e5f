//! Standard error may be a pipe whose reader has left (`plimsoll run 2>&1 | head`), and the standard library's macros panic there. What is said to
//! nobody must not end a run: these take their names in all of this crate.

/// As the standard library's, but what cannot be written is lost.
macro_rules! eprint {
    ($($what:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($what)*);
    }};
}

/// As the standard library's, but what cannot be written is lost.
macro_rules! eprintln {
    ($($what:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($what)*);
    }};
}
