//! What a row of results is called, and how its bars look.

use crate::words;
use analysis::ResultRow;
use model::Op;

/// The style of an operation's bars.
pub fn style(op: Op) -> &'static str {
    match op {
        Op::Read => "bar read",
        Op::Write => "bar write",
        Op::Fsync => "bar fsync",
        Op::Trim => "bar trim",
        _ => "bar metadata",
    }
}

/// The workload's name with the values of its sweep.
pub fn name(row: &ResultRow) -> String {
    match words::sweep(&row.sweep, row.repetition).as_str() {
        "" => row.workload.clone(),
        axes => format!("{} ({axes})", row.workload),
    }
}
