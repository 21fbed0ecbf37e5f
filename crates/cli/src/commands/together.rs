//! Events of one run file on their way into another.

use crate::failure::Failure;
use model::Event;
use store::Halted;

/// So many events of a file are recorded together.
pub(super) const TOGETHER: usize = 256;

/// Records events that are so many at least: each transaction takes longer than an event.
pub(super) fn write_full(
    writer: &mut store::Writer,
    together: &mut Vec<Event>,
    least: usize,
) -> Result<(), Failure> {
    if together.len() < least {
        return Ok(());
    }
    let written = writer.append_all(together).map_err(Failure::run);
    together.clear();
    written
}

pub(super) fn halt(halted: Halted<Failure>) -> Failure {
    match halted {
        Halted::File(error) => Failure::run_file(error),
        Halted::Taker(failure) => failure,
    }
}
