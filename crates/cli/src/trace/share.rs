//! What one host replays.

use model::Op;
use model::trace::{InFlight, Request, SequenceDigest};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) path: String,
    pub(crate) digest: SequenceDigest,
    pub(crate) requests: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    pub(crate) flushes: bool,
    /// The byte behind the last that it touches.
    pub(crate) end: u64,
    /// The instant of the last request, in ns.
    pub(crate) last_ns: u64,
    /// How many requests the recorded device had at once; `None` where the share is a part of them.
    pub(crate) in_flight: Option<InFlight>,
    /// Whose requests of the file it sends, in turn with others: which, and of how many.
    pub(crate) turn: (u32, u32),
}

impl Share {
    pub(super) const NONE: Share = Share {
        path: String::new(),
        digest: SequenceDigest(0),
        requests: 0,
        bytes: 0,
        flushes: false,
        end: 0,
        last_ns: 0,
        in_flight: None,
        turn: (0, 1),
    };

    pub(super) fn merge(&mut self, other: &Share) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.flushes |= other.flushes;
        self.end = self.end.max(other.end);
        self.last_ns = self.last_ns.max(other.last_ns);
    }

    pub(super) fn add(&mut self, request: &Request) {
        self.digest.add(request.op, request.offset, request.length);
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(request.length.into());
        self.last_ns = request.at_ns;
        match request.op {
            Op::Read | Op::Write | Op::Trim => self.end = self.end.max(request.end()),
            _ => self.flushes = true,
        }
    }
}
