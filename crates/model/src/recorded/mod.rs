//! What a run was, as it is recorded, and what looks at it afterwards found.

pub mod audit;
pub mod counters;
pub mod event;
pub mod foreign;
pub mod ledger;
pub mod mark;
pub mod occurrence;
pub mod record;
pub mod replayed;
pub mod resume;
pub mod rows;
pub mod sample;
pub mod takeover;
