//! A job of fio as its options say it, before anything is decided.

use super::table::OPTIONS;
use crate::loss::OptionId;
use crate::rows::Values;
use crate::words::values::Extent;
use std::ops::Deref;

/// What requests do (`rw`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// In random order.
    pub random: bool,
    /// Reads.
    pub reads: bool,
    /// Writes.
    pub writes: bool,
    /// Trims.
    pub trims: bool,
    /// What stands behind the colon.
    pub behind: i64,
}

/// What fio does where `rw` is left out: it reads.
pub const READ: Direction =
    Direction { random: false, reads: true, writes: false, trims: false, behind: 0 };

/// How requests reach the kernel (`ioengine`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One at a time.
    Sync,
    /// Linux' own.
    Libaio,
    /// The ring.
    IoUring,
    /// Nothing is done.
    Null,
    /// Operations on files: `create`, `stat`, … with blanks between.
    Metadata(&'static str),
    /// One that Plimsoll has not.
    Foreign,
}

/// Storage that a library reaches by names of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Away {
    /// A volume of files: here, a mount of it.
    Volume,
    /// A device: here, its block device.
    Device,
}

/// How `zonemode` has a job go through zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zones {
    /// So many bytes of each, then to the next one.
    Strided,
    /// Those of a zoned device, each written at its write pointer.
    OfDevice,
}

/// What is sent where a job writes, in millionths: other commands of NVMe or SCSI beside writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Writes.
    pub write: u64,
    /// Write zeroes.
    pub zeroes: u64,
    /// Verify: the drive reads the bytes.
    pub verify: u64,
}

/// Sizes of requests with weights: of reads, of writes.
pub type Split = Vec<(u64, u32)>;

/// How random offsets are spread (`random_distribution`).
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// Evenly.
    Even,
    /// By Zipf's law, with this exponent in thousandths.
    Zipf(u64),
    /// By Pareto's, with this share in thousandths.
    Pareto(u64),
    /// Share of the requests and of the space, in millionths.
    Zones(Vec<(u64, u64)>),
    /// At these blocks, again and again.
    Given(Vec<u32>),
}

/// A part of the requests of one size (`cmdprio_bssplit`): the size, how many of 100, and class and
/// level where they are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Urgent {
    /// The size of the requests.
    pub size: u64,
    /// How many of 100.
    pub percent: u64,
    /// Class and level.
    pub priority: Option<[u64; 2]>,
}

/// A rate for each direction.
pub type Rates = [Option<u64>; 3];

/// The plain values of a job, and the options that gave it its others.
#[derive(Clone, Debug)]
pub struct Slots(pub Values);

impl Default for Slots {
    fn default() -> Slots {
        Slots(Values::of(&OPTIONS))
    }
}

/// A job as its options say it: plain values are in the slots of its table, others here, in fields
/// that have the names of their options. What is not given is `None`.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Whether it is the first job of a file behind another one of the command line
    pub begins_file: bool,
    /// Plain values, and which option gave what.
    pub slots: Slots,
    pub rw: Option<Direction>,
    /// `ioengine`
    pub engine: Option<Engine>,
    /// Whether the engine calls `fallocate`
    pub space: bool,
    /// Whether the engine goes past the page cache, or through it, whatever `direct` says
    pub uncached: Option<bool>,
    /// Storage without a path
    pub away: Option<Away>,
    /// `write_mode` and `sg_write_mode`
    pub commands: Option<Commands>,
    /// `cmdprio_percentage` of reads and writes, in percent
    pub urgent: Option<[u64; 2]>,
    /// `cmdprio_class` of reads and writes
    pub urgent_class: Option<[u64; 2]>,
    /// `cmdprio` of reads and writes
    pub urgent_level: Option<[u64; 2]>,
    /// `cmdprio_bssplit` of reads and writes
    pub urgent_sizes: Option<[Vec<Urgent>; 2]>,
    /// `zonemode`
    pub zones: Option<Zones>,
    /// `bs`: of reads, writes and trims
    pub bs: Option<[Option<u64>; 3]>,
    /// `bsrange`: least and most, of reads, writes and trims
    pub range: Option<[Option<(u64, u64)>; 3]>,
    /// `bssplit`: of reads, writes and trims
    pub split: Option<[Option<Split>; 3]>,
    pub filename: Option<Vec<String>>,
    /// The options that gave it names, each of which adds to those before
    pub named_by: Vec<OptionId>,
    pub directory: Option<Vec<String>>,
    pub size: Option<Extent>,
    pub io_size: Option<Extent>,
    /// `filesize`: least and most
    pub filesize: Option<(u64, u64)>,
    pub offset: Option<Extent>,
    /// `offset_increment`
    pub increment: Option<Extent>,
    /// `numjobs`; `Some(None)` is as many as there are CPUs
    pub numjobs: Option<Option<u64>>,
    /// `rate`, in bytes
    pub rate: Option<Rates>,
    /// `rate_iops`
    pub iops: Option<Rates>,
    /// `random_distribution`
    pub spread: Option<Spread>,
}

impl Deref for Job {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.slots.0
    }
}

impl Job {
    /// The option that gave the first of these slots that has a value.
    pub fn first_id(&self, slots: &[&str]) -> Option<OptionId> {
        slots.iter().find_map(|slot| self.id(slot))
    }

    /// Whether its requests go past the page cache.
    pub(super) fn is_uncached(&self) -> bool {
        self.uncached.unwrap_or_else(|| self.is("direct"))
    }

    /// What `k` counts.
    pub fn kilo(&self) -> u64 {
        self.number("kb_base").unwrap_or(1024)
    }
}
