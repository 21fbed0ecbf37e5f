//! The run file: one SQLite file for each run, written as the run goes. The only crate that knows
//! SQL.
//!
//! A writer that is killed leaves a file that opens and holds every interval that was appended. The
//! tables stand in `docs/reference/run-file.md`.

mod coded;
mod counters;
mod file;
mod foreign;
mod host_ends;
mod in_time;
mod occurrences;
mod of_host;
mod reader;
mod rows;
mod sample_blocks;
mod samples;
#[cfg(test)]
mod scaffold;
mod stored_sums;
mod writer;

pub use file::error::StoreError;
pub use file::open::is_foreign;
pub use file::schema::FORMAT;
pub use foreign::{read_foreign, write_foreign};
pub use in_time::{InTime, Wanted};
pub use of_host::read_of_host;
pub use reader::{is_thinned, read, read_head, read_to_resume};
pub use rows::{Halted, each_counter, each_sample};
pub use samples::by_stage::Stages;
pub use samples::summed::{read_digests, read_judged};
pub use writer::Writer;
