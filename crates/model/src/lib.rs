//! The nouns of Plimsoll: units, suites, plans, samples, histograms, testbeds.
//!
//! This crate is pure. It opens no file, reads no clock and starts no thread, so
//! every decision that it takes can be tested by calling it.

pub mod audit;
pub mod canary;
pub mod choices;
pub mod counters;
pub mod crc;
pub mod curve;
pub mod digest;
pub mod errno;
pub mod event;
mod file_sizes;
pub mod foreign;
pub mod histogram;
pub mod hostlist;
pub mod inventory;
pub mod kernels;
pub mod layer;
pub mod load;
pub mod machines;
pub mod mark;
pub mod metadata;
pub mod note;
pub mod objective;
pub mod occurrence;
pub mod offered;
pub mod op;
mod part;
pub mod plan;
pub mod planned_event;
pub mod population;
pub mod printable;
pub mod priority;
pub mod record;
pub mod replayed;
pub mod resume;
pub mod rng;
pub mod rows;
pub mod sample;
pub mod scale;
pub mod search;
pub mod setting;
pub mod testbed;
pub mod trace;
pub mod units;
pub mod usage;
pub mod varint;
mod words;
pub mod wwid;

pub use counters::CounterSample;
pub use event::{Event, Note, NoteKind, RunEnd, StageEnd};
pub use histogram::{EncodedHistogram, Histogram};
pub use kernels::Kernels;
pub use mark::WriteMark;
pub use note::Fact;
pub use objective::Objective;
pub use occurrence::{Occurrence, OccurrenceKind};
pub use op::Op;
pub use plan::{HostPlan, Plan, StageKind};
pub use planned_event::{EventTime, PlannedEvent};
pub use record::Record;
pub use sample::{IntervalSample, Phase};
pub use scale::{Fraction, Scale, ScaleArg};
pub use setting::{Quantity, Setting};
pub use units::{Bytes, Nanos, Percent};
