//! What a row of results is called, how its bars look, and its ceiling.

use crate::words;
use analysis::ResultRow;
use analysis::ceiling::Reached;
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

/// What is known of the ceiling of a row's workload, reads and writes together.
pub fn ceiling_of<'a>(reached: &'a [Reached], row: &ResultRow) -> Option<&'a Reached> {
    reached.iter().find(|one| (one.point, one.index) == (row.point, row.index))
}

/// The ceiling in requests per second; `None` where the testbed says too little.
pub fn most_iops(reached: &Reached) -> Option<f64> {
    reached.ceiling.binding().map(|limit| limit.iops)
}

/// The ceiling in bytes per second; `None` where the testbed says too little.
pub fn most_bytes_per_s(reached: &Reached) -> Option<f64> {
    most_iops(reached).map(|iops| iops * reached.ceiling.workload.bytes())
}
