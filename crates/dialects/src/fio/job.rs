//! A job of fio as its options say it, before anything is decided.

use crate::loss::{OptionId, Verdict};
use crate::table::Given;
use crate::values::Extent;

/// A value and the option that gave it.
#[derive(Clone, Debug)]
pub struct Got<T> {
    /// The value.
    pub value: T,
    /// The option, by its number in the loss report.
    pub id: OptionId,
}

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
    /// Operations on files: `create`, `stat`, …
    Metadata(&'static [&'static str]),
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

macro_rules! job {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        /// A job as its options say it. What is not given is `None`.
        #[derive(Clone, Debug, Default)]
        pub struct Job {
            /// Its name.
            pub name: String,
            /// 1024, or what `kb_base` says.
            pub kb_base: u64,
            $($(#[$doc])* pub $field: Option<Got<$type>>,)*
        }
    };
}

job! {
    /// `description`
    description: String,
    /// `rw`
    rw: Direction,
    /// `rwmixread`, in millionths
    mix: u64,
    /// `ioengine`
    engine: Engine,
    /// `write_mode` and `sg_write_mode`
    commands: Commands,
    /// Whether the engine calls `fallocate`
    space: bool,
    /// Whether blocks hold protection information
    protected: bool,
    /// `cmdprio_percentage` of reads and writes, in percent
    urgent: [u64; 2],
    /// `cmdprio_class` of reads and writes
    urgent_class: [u64; 2],
    /// `cmdprio` of reads and writes
    urgent_level: [u64; 2],
    /// `cmdprio_bssplit` of reads and writes
    urgent_sizes: [Vec<Urgent>; 2],
    /// Whether the engine goes past the page cache whatever `direct` says
    uncached: bool,
    /// Storage without a path
    away: Away,
    /// `zonemode`
    zones: Zones,
    /// `zonesize`, in bytes
    zone_size: u64,
    /// `zonerange`, in bytes
    zone_range: u64,
    /// `zoneskip`, in bytes
    zone_skip: u64,
    /// `max_open_zones`
    open_zones: u64,
    /// `job_max_open_zones`
    own_open_zones: u64,
    /// `zone_reset_threshold`, in millionths
    reset_threshold: u64,
    /// `zone_reset_frequency`, in millionths
    reset_frequency: u64,
    /// `read_beyond_wp`
    beyond: bool,
    /// `iodepth`
    depth: u64,
    /// `direct` and `buffered`
    direct: bool,
    /// `bs`: of reads, writes and trims
    bs: [Option<u64>; 3],
    /// `bsrange`: least and most, of reads and writes
    range: [Option<(u64, u64)>; 3],
    /// `bssplit`: of reads and writes
    split: [Split; 2],
    /// `blockalign`
    align: u64,
    /// `filename`
    filename: Vec<String>,
    /// `directory`
    directory: Vec<String>,
    /// `size`
    size: Extent,
    /// `io_size`
    io_size: Extent,
    /// `filesize`: least and most
    filesize: (u64, u64),
    /// `fill_device`
    fill: bool,
    /// `offset`
    offset: Extent,
    /// `offset_increment`
    increment: Extent,
    /// `number_ios`
    number: u64,
    /// `nrfiles`
    files: u64,
    /// `numjobs`; `None` is as many as there are CPUs
    numjobs: Option<u64>,
    /// `loops`
    loops: u64,
    /// `runtime`, in ns
    runtime: u64,
    /// `time_based`
    time_based: bool,
    /// `ramp_time`, in ns
    ramp: u64,
    /// `startdelay`, in ns
    delay: u64,
    /// `stonewall`
    stonewall: bool,
    /// `flow`; 0 binds nothing
    flow: u64,
    /// `flow_id`
    flow_id: u64,
    /// `wait_for`
    wait_for: String,
    /// `exitall`
    exitall: bool,
    /// `rate`, in bytes
    rate: Rates,
    /// `rate_iops`
    iops: Rates,
    /// `rate_process=poisson`
    poisson: bool,
    /// `thinktime`, in ns
    think: u64,
    /// `thinktime_blocks`
    burst: u64,
    /// `random_distribution`
    spread: Spread,
    /// `random_sequence_stride`
    advances: bool,
    /// `percentage_random`, in millionths
    random: u64,
    /// `norandommap`
    no_map: bool,
    /// `randseed`
    seed: u64,
    /// `fsync` and `fdatasync`
    fsync: u64,
    /// `sync`
    sync: bool,
    /// `end_fsync` and `fsync_on_close`
    end_fsync: bool,
    /// `verify`
    verify: bool,
    /// `do_verify`
    do_verify: bool,
    /// `buffer_compress_percentage` and `zero_buffers`, in millionths
    compressible: u64,
    /// `dedupe_percentage`, in millionths
    duplicate: u64,
    /// `dedupe_global`
    dedupe_global: bool,
    /// `invalidate`
    invalidate: bool,
    /// `overwrite`
    overwrite: bool,
    /// `prio`
    prio: u64,
    /// `prioclass`
    prioclass: u64,
    /// `steadystate`
    steady: bool,
    /// `steadystate_duration`, in ns
    steady_time: u64,
    /// `steadystate_ramp_time`, in ns
    steady_ramp: u64,
    /// `cpus_allowed` and its like
    pinned: bool,
    /// `cpus_allowed_policy=split`
    pin_split: bool,
    /// `hipri` and `sqthread_poll`
    poll: &'static str,
    /// `exec_prerun`
    prerun: String,
}

/// What a field of a job takes.
pub fn put<T>(slot: &mut Option<Got<T>>, given: &Given, value: T) {
    *slot = Some(Got { value, id: given.id });
}

/// A value that the suite says as it is, in this field.
pub fn same<T>(
    slot: &mut Option<Got<T>>,
    given: &Given,
    value: T,
    field: &str,
) -> Result<Verdict, String> {
    put(slot, given, value);
    Ok(Verdict::same(field))
}

/// A value that the suite comes near to; this is what differs.
pub fn near<T>(
    slot: &mut Option<Got<T>>,
    given: &Given,
    value: T,
    differs: impl Into<String>,
) -> Result<Verdict, String> {
    put(slot, given, value);
    Ok(Verdict::near(differs))
}

/// A value of which only the whole job says what it becomes.
pub fn later<T>(slot: &mut Option<Got<T>>, given: &Given, value: T) -> Result<Verdict, String> {
    put(slot, given, value);
    Ok(Verdict::harmless("nothing in this job asks for it"))
}
