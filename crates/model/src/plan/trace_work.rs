//! A work whose requests come from a trace.

use super::stop::{Once, Stop};
use crate::trace::{InFlight, Mapping, SequenceDigest};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A trace, and how it is laid onto the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceWork {
    /// The file on the host, in our own form.
    pub path: String,
    /// What the requests of the file come to, in their order: another file is refused.
    pub digest: SequenceDigest,
    /// Requests of it.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether any of them is a flush.
    pub flushes: bool,
    /// From its first instant to its last, as it is sent.
    pub length: Nanos,
    /// How many requests the recorded device had at once; `None` where the trace does not say, or
    /// is not sent whole.
    #[serde(default)]
    pub in_flight: Option<InFlight>,
    /// When and where requests go.
    pub mapping: Mapping,
}

impl TraceWork {
    /// How a stage ends that replays a trace: with the last request of it.
    pub const STOP: Stop = Stop::Once(Once { stonewall: false, fsync: false, close: false });

    /// Whether it can be carried out, as far as its own numbers tell.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub(super) fn check(&self, stop: Stop) -> Result<(), &'static str> {
        if self.path.is_empty() || self.path.contains('\0') {
            return Err("a trace has no file");
        }
        if self.requests == 0 || !self.mapping.speed.is_sound() {
            return Err("a trace has no requests, or no speed");
        }
        if stop == TraceWork::STOP { Ok(()) } else { Err("a trace ends with something else") }
    }
}
