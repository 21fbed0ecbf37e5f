//! The run file: one SQLite file for each run, written as the run goes. The only crate that knows
//! SQL.
//!
//! A writer that is killed leaves a file that opens and holds every interval that was appended. The
//! tables stand in `docs/reference/run-file.md`.

mod by_stage;
mod checksums;
mod coded;
mod counter_rows;
mod counters;
mod edge;
mod ends;
mod error;
mod filled;
mod foreign;
mod in_time;
mod occurrences;
mod of_host;
mod open;
mod pages;
mod place;
mod plausible;
mod reach;
mod reader;
mod rows;
mod sample_blocks;
mod schema;
mod search;
mod series;
mod source;
mod stored_sums;
mod summed;
mod thinned;
mod usage;
mod values;
mod writer;

pub use by_stage::Stages;
pub use error::StoreError;
pub use foreign::{read_foreign, write_foreign};
pub use in_time::{InTime, Wanted};
pub use of_host::read_of_host;
pub use open::is_foreign;
pub use reader::{is_thinned, read, read_head, read_to_resume};
pub use rows::{Halted, each_counter, each_sample};
pub use schema::FORMAT;
pub use summed::{read_digests, read_judged};
pub use writer::Writer;
