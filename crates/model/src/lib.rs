//! The nouns of Plimsoll: units, suites, plans, samples, histograms, testbeds.
//!
//! This crate is pure. It opens no file, reads no clock and starts no thread, so
//! every decision that it takes can be tested by calling it.

mod basics;
pub mod canary;
pub mod columns;
pub mod curve;
pub mod digest;
pub mod histogram;
mod hosts;
pub mod machines;
pub mod note;
pub mod plan;
mod recorded;
pub mod search;
pub mod trace;
pub mod usage;
mod workload;

pub use basics::{Level, crc, errno, hostlist, printable, rng, scale, units};
pub use columns::varint;
pub use hosts::{flash, inventory, kernels, layer, network, route, testbed, wwid};
pub use recorded::{
    audit, counters, event, foreign, ledger, mark, occurrence, record, replayed, resume, rows,
    sample, takeover,
};
pub use search::setting;
pub use workload::{
    choices, load, metadata, object, objective, offered, op, planned_event, popularity, population,
    priority,
};

pub use counters::CounterSample;
pub use event::{Event, Note, NoteKind, RunEnd, StageEnd};
pub use histogram::{EncodedHistogram, Histogram};
pub use kernels::Kernels;
pub use mark::WriteMark;
pub use note::Fact;
pub use object::Object;
pub use objective::Objective;
pub use occurrence::{Occurrence, OccurrenceKind};
pub use op::Op;
pub use plan::{HostPlan, Plan, StageKind};
pub use planned_event::{EventTime, PlannedEvent};
pub use record::Record;
pub use route::Route;
pub use sample::{IntervalSample, Phase};
pub use scale::{Fraction, Scale, ScaleArg};
pub use setting::{Quantity, Setting};
pub use units::{Bytes, Nanos, Percent};
