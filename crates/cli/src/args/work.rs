//! The arguments that say what to load, with what, and how much.

use super::{GivenUpArg, HostArgs, TargetArg};
use clap::{Args, ValueEnum};
use form::Override;
use model::{Bytes, Nanos, Percent, ScaleArg};

/// What to load, with what, and how much.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// A built-in suite, a suite file, a job file of another tool (`plimsoll import`), or with --rw
    /// the paths to load [default: four-corners].
    #[arg(value_name = "SUITE|FILE.toml|PATH")]
    pub what: Vec<String>,

    /// A directory to make files in, or with --existing a file or device to read [default:
    /// ./plimsoll-data]. With several hosts, it can be that of some of them: node[01-04]:/mnt/a,
    /// or a label in place of the names.
    #[arg(short, long = "target", value_name = "[HOSTS:]PATH")]
    pub targets: Vec<TargetArg>,

    /// Give any field of the suite another value, such as measure=30s, layout.size=10GiB or
    /// workload.NAME.depth=8.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Override>,

    /// Take only this scenario of the suite; may be given several times.
    #[arg(long = "scenario", value_name = "NAME")]
    pub scenarios: Vec<String>,

    /// Shrink sizes and times together, such as 1/100, or each by its own: size=1/10,time=1/100.
    /// The report says so. Without it, nothing shrinks but the times of --simulate, if these are
    /// long.
    #[arg(long, value_name = "FRACTION")]
    pub scale: Option<ScaleArg>,

    /// With a job file of another tool: do without the options that were refused.
    #[arg(long)]
    pub allow_loss: bool,

    /// Go through the page cache instead of around it.
    #[arg(long)]
    pub buffered: bool,

    /// Load a file or a device as it is: read only, nothing is written, workloads that write are
    /// left out.
    #[arg(long, conflicts_with = "destroy_data")]
    pub existing: bool,

    /// Overwrite this block device: all that is on it is lost. The only way to write to a device.
    /// With several hosts, name it on each: node[01-04]:/dev/sdb.
    #[arg(long, value_name = "[HOST:]DEVICE")]
    pub destroy_data: Vec<GivenUpArg>,

    /// The hosts that load.
    #[command(flatten)]
    pub hosts: HostArgs,

    /// One workload without a suite file, in fio's words.
    #[command(flatten)]
    pub quick: QuickArgs,

    /// All of these as they were typed, for the run file ([`model::plan::Origin`]); none where
    /// nobody typed them.
    #[arg(skip)]
    pub words: Vec<String>,
}

/// One workload in fio's words.
#[derive(Debug, Args)]
#[command(next_help_heading = "Quick form (with --rw, one workload without a suite file)")]
pub struct QuickArgs {
    /// The pattern.
    #[arg(long, value_name = "PATTERN")]
    pub rw: Option<Pattern>,

    /// The size of each request [default: 4k].
    #[arg(long, value_name = "SIZE", requires = "rw")]
    pub bs: Option<Bytes>,

    /// Requests that each worker keeps outstanding [default: 1].
    #[arg(long, value_name = "N", requires = "rw")]
    pub iodepth: Option<u32>,

    /// Workers, each with a file of its own [default: 1].
    #[arg(long, value_name = "N", requires = "rw")]
    pub numjobs: Option<u32>,

    /// The size of each worker's file, or of the part of a device that is loaded [default: by the
    /// machine].
    #[arg(long, value_name = "SIZE", requires = "rw")]
    pub size: Option<Bytes>,

    /// How long to measure; a bare number counts seconds [default: 60s].
    #[arg(long, value_name = "TIME", requires = "rw")]
    pub runtime: Option<Nanos>,

    /// The share of reads in rw and randrw [default: 50].
    #[arg(long, value_name = "PERCENT", requires = "rw")]
    pub rwmixread: Option<Percent>,
}

/// fio's names of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
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
