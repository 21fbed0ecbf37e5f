//! Requests as somebody recorded them: what a trace holds, how it is written, and how it is laid
//! onto another target.
//!
//! The form is described in `docs/reference/trace.md`: blocks with lengths and checksums, of which
//! each can be read by itself.

mod blocks;
mod in_flight;
mod mapping;
mod reader;
mod writer;

pub use in_flight::{FlightCount, InFlight};
pub use mapping::{Mapped, Mapping, OutOfSpace, Space, Speed};
pub use reader::{Ending, Reader, TraceError};
pub use writer::Writer;

use crate::op::Op;
use serde::{Deserialize, Serialize};

/// The first bytes of every trace of ours.
pub const MAGIC: [u8; 8] = *b"PLIMTRC1";

/// The longest request that a trace may hold, in bytes: as long as a plan's may be.
pub const MOST_LENGTH: u32 = 1 << 30;

/// The last byte that a request may end at, and the last instant: what is further is damage.
pub const MOST: u64 = 1 << 62;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it was sent, in ns after the trace's start.
    pub at_ns: u64,
    /// Read, write, fsync or trim.
    pub op: Op,
    /// The first byte; 0 for an fsync.
    pub offset: u64,
    /// How many bytes; 0 for an fsync alone.
    pub length: u32,
    /// Which of the trace's sources sent it, from 0: a process, a host, a volume.
    pub source: u32,
}

impl Request {
    /// The first byte behind it.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }

    /// Whether it is one that can be sent.
    pub fn is_sound(&self) -> bool {
        let is_length = match self.op {
            Op::Fsync => self.length == 0,
            Op::Read | Op::Write | Op::Trim => (1..=MOST_LENGTH).contains(&self.length),
            _ => false,
        };
        is_length && self.at_ns <= MOST && self.end() <= MOST
    }
}

crate::words! {
    /// By which clock a trace's instants were taken.
    pub enum TraceClock {
        /// The recording machine's monotonic clock.
        Monotonic = "monotonic",
        /// Whatever the tool used that wrote the trace.
        Foreign = "foreign",
    }
}

/// What a trace says of itself before its first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What was recorded: a device's name, or the file that it was converted from.
    pub device: String,
    /// Its size in bytes; 0 where nobody knows.
    pub size_bytes: u64,
    /// Its logical sector in bytes; 0 where nobody knows.
    pub sector_bytes: u32,
    /// By which clock instants were taken.
    pub clock: TraceClock,
    /// Where requests were seen, such as `block_rq_issue`, or the dialect.
    pub taken_from: String,
    /// When it began, in ns since 1970; 0 where nobody knows.
    pub began_unix_ns: u64,
}

/// What a trace says of itself behind its last request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests that the kernel had no room to tell of: the trace lacks so many.
    pub lost: u64,
    /// Requests that are neither reads, writes, flushes nor trims, and were left out.
    pub left_out: u64,
    /// How many requests the device had at once; `None` where that was not seen.
    pub in_flight: Option<InFlight>,
}

/// What the kernel's letters for a request mean, as `RA`, `WS`, `FF`, `DS`; `None` for what is
/// neither. `has_bytes` tells a flush from a write that flushes first.
pub fn op_of_letters(letters: &str, has_bytes: bool) -> Option<Op> {
    if letters.contains('D') {
        has_bytes.then_some(Op::Trim)
    } else if !has_bytes {
        letters.starts_with('F').then_some(Op::Fsync)
    } else if letters.contains('R') {
        Some(Op::Read)
    } else if letters.contains('W') {
        Some(Op::Write)
    } else {
        // A write of zeroes has no letter of its own: it is what punching a hole comes to.
        letters.starts_with('N').then_some(Op::Trim)
    }
}

/// What a sequence of requests comes to: two that differ in any request or in their order have
/// different ones, but for chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceDigest(pub u64);

impl SequenceDigest {
    /// Takes one more request in: what it does and where, not when.
    #[inline]
    pub fn add(&mut self, op: Op, offset: u64, length: u32) {
        let word = offset ^ (u64::from(length) << 32) ^ ((op.index() as u64) << 60);
        // One round of SplitMix64 over the sum so far and the request.
        let mut mixed = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = mixed ^ (mixed >> 31);
    }
}

#[cfg(test)]
mod tests;
