//! The arguments that say what to load, with what, and how much.

use super::{GivenUpArg, HostArgs, MachineArgs, TargetArg};
use clap::{Args, ValueEnum};
use form::Override;
use model::load::Rate;
use model::units::UnitError;
use model::{Bytes, Nanos, Percent, ScaleArg};

#[derive(Debug, Default, Args)]
pub(crate) struct WorkArgs {
    /// A built-in suite, a suite file, a job of another tool, or with --rw the paths to load.
    ///
    /// The default suite is four-corners. `plimsoll suites` lists all.
    #[arg(value_name = "SUITE|FILE.toml|PATH")]
    pub(crate) what: Vec<String>,

    /// Directory to create files in [default: ./plimsoll-data].
    ///
    /// With --existing, a file or device to read. Hosts may have targets of their own:
    /// node[01-04]:/mnt/a, or a label in place of the names.
    #[arg(short, long = "target", value_name = "[HOSTS:]PATH")]
    pub(crate) targets: Vec<TargetArg>,

    /// Change a field of the suite, such as measure=30s.
    ///
    /// Other examples: layout.size=10GiB, workload.NAME.depth=8. docs/reference/suite.md has all
    /// fields.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<Override>,

    /// Run only this scenario of the suite; repeat it for several.
    #[arg(long = "scenario", value_name = "NAME")]
    pub(crate) scenarios: Vec<String>,

    /// Shrink sizes and times, such as 1/100.
    ///
    /// Each can have its own: size=1/10,time=1/100. The report says so. Without this option, only
    /// long times of --simulate shrink.
    #[arg(long, value_name = "FRACTION")]
    pub(crate) scale: Option<ScaleArg>,

    /// Run a job of another tool without its refused options.
    #[arg(long)]
    pub(crate) allow_loss: bool,

    /// Let a job of another tool run its commands.
    ///
    /// Standard error names each of them. They run with the rights of whoever runs the job.
    #[arg(long, hide_short_help = true)]
    pub(crate) allow_commands: bool,

    /// Do what a quotable figure needs, until it is steady.
    ///
    /// It sets until=steady, flush=end, prepare=true, a precondition of 10 s at least, and a
    /// layout.size of twice the memory where there is room. An explicit --set has the last word. It
    /// takes as long as the target needs to become steady.
    #[arg(long, conflicts_with_all = ["scale", "existing"])]
    pub(crate) quotable: bool,

    /// The kernels' counters that are recorded: `all`, those of disks, or none.
    ///
    /// The same as --set keep.counters=disk. Without them, a report cannot say what was at its
    /// limit.
    #[arg(long, hide_short_help = true, hide_possible_values = true, value_name = "WHICH",
        value_parser = ["all", "disk", "none"])]
    pub(crate) counters: Option<String>,

    /// Use the page cache; direct I/O is the default.
    #[arg(long)]
    pub(crate) buffered: bool,

    /// Read a file or device as it is; write nothing.
    ///
    /// Workloads that write are left out.
    #[arg(long, conflicts_with = "destroy_data")]
    pub(crate) existing: bool,

    /// Overwrite this block device: its data is lost.
    ///
    /// No other option writes to a device. With several hosts, name it on each:
    /// node[01-04]:/dev/sdb.
    #[arg(long, value_name = "[HOST:]DEVICE")]
    pub(crate) destroy_data: Vec<GivenUpArg>,

    #[command(flatten)]
    pub(crate) quick: QuickArgs,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    #[command(flatten)]
    pub(crate) machines: MachineArgs,

    /// All of these as they were typed, for the run file ([`model::plan::Origin`]); none where
    /// nobody typed them.
    #[arg(skip)]
    pub(crate) words: Vec<String>,
}

/// The heading of the flags that need no suite.
pub(crate) const QUICK_FORM: &str =
    "Quick form: one workload, in fio's words; without --rw, they change the suite's workloads";

#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = QUICK_FORM)]
pub(crate) struct QuickArgs {
    /// read, write, randread, randwrite, rw or randrw.
    ///
    /// Options of fio behind it become `--set`, or are refused by name (docs/compat/fio.md).
    #[arg(long, value_name = "PATTERN", hide_possible_values = true)]
    pub(crate) rw: Option<Pattern>,

    /// Block size of each request [default: 4k].
    #[arg(long, value_name = "SIZE", value_parser = fio_size)]
    pub(crate) bs: Option<Bytes>,

    /// Outstanding requests per worker [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) iodepth: Option<u32>,

    /// Workers, each with its own file [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) numjobs: Option<u32>,

    /// Size of each worker's file [default: by the machine].
    ///
    /// Of a device, the part that is loaded.
    #[arg(long, value_name = "SIZE", value_parser = fio_size)]
    pub(crate) size: Option<Bytes>,

    /// Time to measure; a bare number is seconds [default: 60s].
    #[arg(long, value_name = "TIME")]
    pub(crate) runtime: Option<Nanos>,

    /// Share of reads in rw and randrw [default: 50].
    #[arg(long, value_name = "PERCENT")]
    pub(crate) rwmixread: Option<Percent>,

    /// Time to load before the measurement [default: none].
    #[arg(long, value_name = "TIME", aliases = ["ramp_time", "ramp-time"])]
    pub(crate) ramp: Option<Nanos>,

    /// Fixed rate of all workers together: 20k, or 100MiB/s.
    ///
    /// Latency then includes queueing. Without it, each worker sends as fast as the target answers.
    #[arg(
        long,
        value_name = "RATE",
        value_parser = rate
    )]
    pub(crate) rate: Option<Rate>,

    /// Make each write durable before it completes (O_DSYNC).
    #[arg(long)]
    pub(crate) dsync: bool,

    /// Check that reads return what was written, by CRC-32C; read back what a load wrote.
    #[arg(
        long,
        value_name = "CHECKSUM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "crc32c",
        value_parser = ["crc32c"],
        hide_possible_values = true
    )]
    pub(crate) verify: Option<String>,

    /// Name of the run and of its row [default: what it does, such as "randread 4k QD32×1"].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// A size in fio's words: `64k`, `64kb` and `64KB` are all 65,536 bytes there. `64KiB` are so, too,
/// as everywhere here.
pub(crate) fn fio_size(text: &str) -> Result<Bytes, UnitError> {
    let short = text.strip_suffix(['b', 'B']).unwrap_or(text);
    let has_prefix = short.ends_with(|unit: char| "kmgtp".contains(unit.to_ascii_lowercase()));
    if has_prefix { short.parse() } else { text.parse() }
}

/// A rate whose unit nobody can mistake: to fio, `rate=10M` is bandwidth, and here it were IOPS.
fn rate(text: &str) -> Result<Rate, String> {
    if text.ends_with(['m', 'M', 'g', 'G']) {
        let number = &text[..text.len() - 1];
        return Err(format!("write {number}MiB/s for bandwidth, or all digits for IOPS"));
    }
    text.parse().map_err(|error: UnitError| error.to_string())
}

/// fio's names of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    Randread,
    /// Random writes.
    Randwrite,
    /// Sequential reads and writes, mixed.
    #[value(alias = "readwrite")]
    Rw,
    /// Random reads and writes, mixed.
    Randrw,
}
