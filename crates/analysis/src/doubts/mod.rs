//! Reasons to doubt a figure: each a variant of [`Warning`] with a row in `table`. The rules that
//! find them, by what they look at; `validity` asks them all.

pub(crate) mod below;
mod degraded;
mod evenness;
mod evidence;
pub(crate) mod flushes;
mod limited;
mod other_runs;
pub(crate) mod page_cache;
mod placed;
mod port_traffic;
mod preparation;
mod read_in_step;
pub(crate) mod servers;
pub(crate) mod standstill;
mod surroundings;
mod table;
mod validity;
mod warning;
pub(crate) mod write_cache;

use crate::rows::row::ResultRow;
pub use evidence::{Datum, Proof, Source};
use model::Record;
use model::digest::Digest;
use model::record::StageRecord;
pub use table::{CODES, Gravity, Row, Sort};
pub use validity::results;
pub use warning::{Misplaced, Straggler, Warning};

/// What a rule looks at: a row, with its stage and the sums of that.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) record: &'a Record,
    pub(crate) stage: &'a StageRecord,
    pub(crate) digest: &'a Digest,
    pub(crate) row: &'a ResultRow,
}
