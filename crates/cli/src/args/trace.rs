//! `plimsoll record`, `plimsoll replay` and `plimsoll distil`.

use super::{GivenUpArg, HostArgs, How, ShareArgs, TargetArg, examples};
use clap::{Args, ValueEnum};
use dialects::trace::TraceDialect;
use form::Override;
use model::trace::Speed;
use model::{Bytes, Nanos};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("record"))]
pub(crate) struct RecordArgs {
    /// The block device whose requests are recorded, or a file or directory on it; it is only
    /// watched.
    #[arg(value_name = "DEVICE|PATH")]
    pub(crate) device: PathBuf,

    /// How long; without it, until Ctrl-C.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<Nanos>,

    /// Where to write the trace. A file that exists is never overwritten.
    #[arg(short, long, value_name = "FILE.trace")]
    pub(crate) out: PathBuf,

    /// Print what was recorded as JSON (docs/reference/trace.md).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct TraceArgs {
    /// A trace of `plimsoll record`, or of another tool (docs/guide/traces.md).
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The trace's form: plimsoll, iolog, blktrace, blkparse, msr, spc, alibaba or tencent
    /// [default: by content].
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<TraceDialect>,

    /// Take the requests of this source alone: a device, a disk, a volume, as the trace names it.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,

    /// Take reads alone, or writes alone.
    #[arg(long, value_name = "reads|writes", hide_possible_values = true)]
    pub(crate) only: Option<Only>,
}

/// What is taken of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// Reads.
    Reads,
    /// Writes, flushes and trims.
    Writes,
}

/// How the offsets of a trace become those of a target of another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleSpace {
    /// Modulo the target's size.
    Fold,
    /// In proportion.
    Stretch,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("replay"))]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) trace: TraceArgs,

    /// Further traces: with --hosts, one for each host, in the hosts' order.
    #[arg(value_name = "TRACE")]
    pub(crate) more: Vec<PathBuf>,

    /// Deal one trace out to the hosts: by its sources, or its requests in turn.
    #[arg(long, value_name = "source|turn", hide_possible_values = true)]
    pub(crate) split: Option<Split>,

    /// Directory for a file of ours, or with --existing a file or device to read.
    #[arg(short, long = "target", value_name = "PATH")]
    pub(crate) target: Option<TargetArg>,

    /// Read a file or device as it is; write nothing.
    #[arg(long, conflicts_with = "destroy_data")]
    pub(crate) existing: bool,

    /// Overwrite this block device: its data is lost.
    #[arg(long, value_name = "DEVICE", conflicts_with = "target")]
    pub(crate) destroy_data: Option<GivenUpArg>,

    /// Replay faster or slower, such as 2x or 0.5x.
    #[arg(long, value_name = "TIMES", default_value = "1x")]
    pub(crate) speed: Speed,

    /// Lay the trace onto a target of another size: fold or stretch.
    ///
    /// Without it, a request past the end of the target is refused.
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    pub(crate) scale_space: Option<ScaleSpace>,

    /// Size of the file in the directory, or the part of the device that is loaded.
    ///
    /// By default it reaches to the end of the trace's last byte.
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,

    /// Most requests outstanding per worker [default: 256, less where requests are large].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) depth: Option<u32>,

    /// Workers that send the trace's requests in turn.
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: u32,

    /// Change a field of the suite that the replay is made of, such as stages.prepare=false.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<Override>,

    /// Use the page cache; direct I/O is the default.
    #[arg(long)]
    pub(crate) buffered: bool,

    /// Run file [default: plimsoll-replay-TIME.plimsoll].
    #[arg(short, long, value_name = "FILE.plimsoll", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) how: How,

    #[command(flatten)]
    pub(crate) share: ShareArgs,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    /// As they were typed, as those of a run.
    #[arg(skip)]
    pub(crate) words: Vec<String>,
}

impl ReplayArgs {
    pub(crate) fn traces(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.trace.trace).chain(&self.more)
    }
}

/// How one trace is dealt out to several hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Split {
    /// Each source goes to one host.
    Source,
    /// Its requests go to the hosts in turn.
    Turn,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("distil"))]
pub(crate) struct DistilArgs {
    #[command(flatten)]
    pub(crate) trace: TraceArgs,

    /// Where to write the suite [default: standard output]. A file that exists is never
    /// overwritten.
    #[arg(short, long, value_name = "SUITE.toml")]
    pub(crate) out: Option<PathBuf>,

    /// Print the suite with its distances from the trace as JSON (docs/reference/trace.md).
    #[arg(long)]
    pub(crate) json: bool,
}
