//! What some workers of a stage do, and each worker's share of it.

use super::command_work::CommandWork;
use super::stop::Stop;
use super::trace_work::TraceWork;
use super::zones::ZoneRules;
use crate::choices::{Access, TrimAs};
use crate::load::{HotSpots, Pace, Sequence, SizeMix, Skew};
use crate::metadata::{FileShare, MetadataWork};
use crate::op::Op;
use crate::priority::Priority;
use crate::units::{Bytes, Percent};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// What some workers of a stage do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The workload's name.
    pub workload: String,
    /// The sizes of reads; the last request of an extent may be shorter in a stage that stops at
    /// [`Stop::Amount`].
    pub block_size: SizeMix,
    /// The sizes of writes and trims.
    pub write_block_size: SizeMix,
    /// The share of trims, of all requests.
    pub trim: Percent,
    /// What a trim does to its bytes; in runs of versions that knew one way, it gave them back.
    #[serde(default = "given_back")]
    pub trim_as: TrimAs,
    /// The share of reads, of what is not a trim.
    pub read: Percent,
    /// Where requests go.
    pub pattern: Pattern,
    /// When requests are due.
    pub pace: Pace,
    /// An `fdatasync` after so many writes of a worker; 0 is never.
    pub fsync_every: u64,
    /// Whether every write is durable before it completes.
    pub dsync: bool,
    /// How urgent requests are to the kernel.
    pub priority: Priority,
    /// Requests that each worker keeps outstanding; at a fixed rate, the most that it has.
    pub depth: u32,
    /// When it ends.
    pub stop: Stop,
    /// Requests after which each worker ends a stage that stops at [`Stop::Once`], wherever they
    /// go, or bytes where it [counts those](Work::counts_bytes); `None` where it ends as soon as
    /// they would have taken it through its extents, and in runs of versions that cut the extents.
    #[serde(default)]
    pub most: Option<NonZeroU64>,
    /// Its share of the requests of all works of the point that have one; 0 where it is bound to no
    /// other.
    #[serde(default)]
    pub share: u32,
    /// What is done to whole files; `None` where blocks are read and written, and then all of the
    /// above counts.
    #[serde(default)]
    pub metadata: Option<MetadataWork>,
    /// The trace that its requests come from, at their instants; `None` where they are drawn, and
    /// in runs of versions that knew no traces.
    #[serde(default)]
    pub trace: Option<TraceWork>,
    /// How it keeps to the zones of a zoned device; `None` where it knows none, and in runs of
    /// versions that knew none.
    #[serde(default)]
    pub zones: Option<ZoneRules>,
    /// The command that makes the load in place of our workers: its samples are what the kernel
    /// counted at the targets' devices, and none of the above says what it does. `None` where we
    /// load ourselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandWork>,
}

fn given_back() -> TrimAs {
    TrimAs::Hole
}

impl Work {
    /// Blocks of one size as fast as the target goes, one after the other or all over the place.
    pub fn simple(block: Bytes, read: Percent, access: Access, depth: u32, stop: Stop) -> Work {
        Work {
            workload: String::new(),
            block_size: SizeMix::single(block),
            write_block_size: SizeMix::single(block),
            trim: Percent::ZERO,
            trim_as: TrimAs::Hole,
            read,
            pattern: Pattern::simple(access),
            pace: Pace::FREE,
            fsync_every: 0,
            dsync: false,
            priority: Priority::Inherited,
            depth,
            stop,
            most: None,
            share: 0,
            metadata: None,
            trace: None,
            zones: None,
            command: None,
        }
    }

    /// What one of its requests or operations moves on average, in bytes.
    pub fn mean_bytes(&self) -> f64 {
        if let Some(metadata) = &self.metadata {
            return metadata.mean_size.unwrap_or(metadata.size).0 as f64;
        }
        let share = |of: Percent| f64::from(of.ppm) / 1e6;
        let reads = share(self.read) * (1.0 - share(self.trim));
        reads * self.block_size.mean_bytes() + (1.0 - reads) * self.write_block_size.mean_bytes()
    }

    /// Whether it reads and writes blocks of ours, as it says here.
    fn is_of_blocks(&self) -> bool {
        self.metadata.is_none() && self.command.is_none()
    }

    /// Whether any request of it writes a block.
    pub fn writes(&self) -> bool {
        self.is_of_blocks() && self.read < Percent::ALL && self.trim < Percent::ALL
    }

    /// Whether any request of it is a trim.
    pub fn trims(&self) -> bool {
        self.is_of_blocks() && self.trim > Percent::ZERO
    }

    /// Whether any request of it changes what stands at the target.
    pub fn changes(&self) -> bool {
        self.writes() || self.trims()
    }

    /// Whether any request of it reads a block.
    pub fn reads(&self) -> bool {
        self.is_of_blocks() && self.read > Percent::ZERO && self.trim < Percent::ALL
    }

    /// The sizes of reads, if there are any, and of writes and trims, if there are any.
    pub fn mixes(&self) -> impl Iterator<Item = &SizeMix> {
        let reads = self.reads().then_some(&self.block_size);
        reads.into_iter().chain(self.changes().then_some(&self.write_block_size))
    }

    /// Whether a trace may send such a request in its name: what the plan does not say, no file
    /// adds.
    pub fn permits(&self, op: Op, length: u32) -> bool {
        let length = Bytes(length.into());
        match op {
            Op::Read => self.reads() && length <= self.block_size.largest(),
            Op::Write => self.writes() && length <= self.write_block_size.largest(),
            Op::Trim => self.trims(),
            Op::Fsync => self.trace.as_ref().is_some_and(|trace| trace.flushes),
            _ => false,
        }
    }

    /// Requests that take `worker` through its extents once: a block for each step, the last one of
    /// an extent perhaps shorter. No more than an amount has.
    pub fn requests(&self, worker: &Worker) -> u64 {
        let is_sequential = self.pattern.random == Percent::ZERO || self.pattern.aged.is_some();
        let stride = if is_sequential { self.pattern.stride.0 } else { 0 };
        let block = self.largest_block().0.max(1);
        // Requests of each run that adjoin, one where there are no runs.
        let run = if is_sequential { (self.pattern.run.0 / block).max(1) } else { 1 };
        let step = block.saturating_mul(run).max(stride);
        let of = |extent: &Extent| {
            let rest = (extent.length % step).div_ceil(block).min(run);
            (extent.length / step).saturating_mul(run).saturating_add(rest)
        };
        let all = self.pattern.pass(worker.extents.iter().map(of).fold(0, u64::saturating_add));
        let most = self.most.filter(|_| matches!(self.stop, Stop::Once(_)));
        most.map_or(all, |most| all.min(most.get()))
    }

    /// Whether a measured amount is one of bytes: its blocks have several sizes.
    pub fn counts_bytes(&self) -> bool {
        matches!(self.stop, Stop::Once(_)) && self.smallest_block() != self.largest_block()
    }

    /// What `worker` does of an amount, in bytes.
    pub fn amount(&self, worker: &Worker) -> u64 {
        let all = worker.extents.iter().map(|one| one.length).fold(0, u64::saturating_add);
        let all = self.pattern.pass(all);
        match self.counts_bytes() {
            true => self.most.map_or(all, |most| all.min(most.get())),
            false => self.requests(worker).saturating_mul(self.largest_block().0).min(all),
        }
    }

    /// Places that the extents of a worker need at least.
    pub fn least_places(&self) -> u64 {
        let sequence = self.pattern.sequence.as_ref().map_or(&[][..], |one| &one.places);
        sequence.iter().max().map_or(0, |most| u64::from(*most) + 1)
    }

    /// The largest request.
    pub fn largest_block(&self) -> Bytes {
        self.mixes().map(SizeMix::largest).max().unwrap_or_default()
    }

    /// The smallest request.
    pub fn smallest_block(&self) -> Bytes {
        self.mixes().map(SizeMix::smallest).min().unwrap_or_default()
    }
}

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// How the requests that are not sequential are spread; `Sequential` where there are none.
    pub access: Access,
    /// The share of requests that `access` places.
    pub random: Percent,
    /// The exponent or the share of a skewed access.
    pub skew: Skew,
    /// The table of [`Access::HotSpot`].
    pub hot_spots: HotSpots,
    /// What offsets of random requests are multiples of, from the start of their extent.
    pub align: Bytes,
    /// From one sequential request, or one run of them, to the next; 0 where they adjoin.
    pub stride: Bytes,
    /// How many bytes of sequential requests adjoin before each stride; 0 for one request.
    #[serde(default)]
    pub run: Bytes,
    /// Whether sequential requests go from the end of each extent to its start.
    #[serde(default)]
    pub backward: bool,
    /// Sequential streams of each worker.
    pub streams: u32,
    /// Whether a sequential request follows a random one, too, where there is one stream. In runs
    /// of versions that did not do so, streams went on where they had left off.
    #[serde(default)]
    pub follows_random: bool,
    /// One pass that leaves flash of so much spare as a long time of random writes does, where the
    /// stage stops at [`Stop::Amount`]: every block is written, and of as many blocks as there is
    /// spare some once more. Nothing in runs of versions that knew none.
    #[serde(default)]
    pub aged: Option<Percent>,
    /// The places of the random requests, where they are given one by one. Nothing in runs of
    /// versions that knew none.
    #[serde(default)]
    pub sequence: Option<Sequence>,
    /// Whether each round of the sequence goes on behind the one before it.
    #[serde(default)]
    pub sequence_advances: bool,
}

impl Pattern {
    /// All sequential, or all random; offsets are multiples of the request's own size.
    pub fn simple(access: Access) -> Pattern {
        Pattern {
            access,
            random: if access == Access::Sequential { Percent::ZERO } else { Percent::ALL },
            skew: Skew { milli: 1_200 },
            hot_spots: HotSpots { spots: Vec::new() },
            align: Bytes(0),
            stride: Bytes(0),
            run: Bytes(0),
            backward: false,
            streams: 1,
            follows_random: true,
            aged: None,
            sequence: None,
            sequence_advances: false,
        }
    }

    /// Blocks that a pass over so many writes.
    pub fn pass(&self, blocks: u64) -> u64 {
        let spare = u128::from(self.aged.map_or(0, |spare| spare.ppm));
        let more = u128::from(blocks) * spare / 1_000_000;
        blocks.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
    }
}

/// One worker's share of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// The number of its work among those of the stage.
    pub work: u32,
    /// Where its random choices start.
    pub seed: u64,
    /// At a fixed rate: its number among all workers of all hosts that do this work, which take
    /// turns; and how many they are.
    pub turn: (u32, u32),
    /// Its byte ranges. Of two workers that do the same work each has its own blocks, unless the
    /// workload says that every one has all.
    pub extents: Vec<Extent>,
    /// Its files, where its work is metadata; no two workers of a host that do the same work share
    /// one.
    #[serde(default)]
    pub files: Option<FileShare>,
}

/// A range of bytes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The number of the file among [`HostPlan::files`](super::HostPlan::files).
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; at least a block.
    pub length: u64,
}
