//! The arguments of what reads run files and testbeds.

// Their comments are the help that people read: `[labels]` is a table of a suite there, no link.
#![allow(rustdoc::broken_intra_doc_links)]

use super::{Pattern, examples};
use analysis::compare::Condition;
use analysis::verdict::Gate;
use catalogue::cluster::WhatIf;
use clap::{Args, ValueEnum};
use form::Override;
use model::audit::Basis;
use model::load::Rate;
use model::{Bytes, Nanos, Percent};
use report::topics;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// One JSON object (docs/reference/json.md) instead of tables.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write a page with charts, too.
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,

    /// Overwrite a file that is not known to be a page of ours.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("ceiling"))]
pub(crate) struct CeilingArgs {
    /// A testbed file, or the name of a reference testbed; without it, those are listed.
    #[arg(value_name = "TESTBED")]
    pub(crate) testbed: Option<String>,

    /// Give any fact of the testbed another value, such as nodes.count=8 or protection.copies=2.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<Override>,

    /// What the nodes' ports carry, from a file of `plimsoll network --out`.
    #[arg(long, value_name = "FILE.json", requires = "testbed")]
    pub(crate) network: Option<PathBuf>,

    /// What would be otherwise, side by side with what is: nodes+2, ports+1, copies=2, any
    /// KEY=VALUE, with commas between.
    #[arg(long = "what-if", value_name = "CHANGES")]
    pub(crate) what_ifs: Vec<WhatIf>,

    /// All bytes that the load touches: how much of it the cache tier can answer [default: it
    /// answers all].
    #[arg(long, value_name = "SIZE")]
    pub(crate) footprint: Option<Bytes>,

    /// The workloads of a suite instead of the usual five.
    #[arg(long, value_name = "SUITE|FILE.toml", conflicts_with = "rw")]
    pub(crate) suite: Option<String>,

    /// One workload: its pattern, in fio's words.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) rw: Option<Pattern>,

    /// The size of each request [default: 4k].
    #[arg(long, value_name = "SIZE", requires = "rw", value_parser = super::work::fio_size)]
    pub(crate) bs: Option<Bytes>,

    /// The share of reads in rw and randrw [default: 50].
    #[arg(long, value_name = "PERCENT", requires = "rw")]
    pub(crate) rwmixread: Option<Percent>,

    /// What was measured of that workload, such as 227k or 84.5GB/s: its share of each layer.
    #[arg(long, value_name = "RATE", requires = "rw")]
    pub(crate) measured: Option<Rate>,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,

    /// Print a reference testbed's file.
    #[arg(long, value_name = "NAME", exclusive = true)]
    pub(crate) print: Option<String>,

    /// List the drives of the catalogue.
    #[arg(long, exclusive = true)]
    pub(crate) devices: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("compare"))]
pub(crate) struct CompareArgs {
    /// The run files, the first one being the base; or one run with several scenarios.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,

    /// Exit with code 6 if a significant difference to the base is beyond this limit.
    ///
    /// Such as "iops < -5%" or "read p99 > 10%". Figures: iops, bandwidth, mean, p50, p90, p95,
    /// p99, p99.9, p99.99, cpu, latency-deviation, deviation, host-deviation; of a command, by its
    /// own word: told, told-bandwidth, told-mean, told-p99.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("trend"))]
pub(crate) struct TrendArgs {
    /// Run files, or folders with run files (*.plimsoll), in any order.
    #[arg(required = true, value_name = "RUN|FOLDER")]
    pub(crate) runs: Vec<PathBuf>,

    /// Exit with code 6 if the latest run differs significantly from its level, beyond this limit.
    ///
    /// Its level is that of the runs since the last change. Such as "iops < -5%" or "read p99 >
    /// 10%". Figures: iops, bandwidth, p99, cpu.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    #[command(flatten)]
    pub(crate) shown: ShownArgs,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("show"))]
pub(crate) struct ShowArgs {
    /// The run file.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Exit with code 6 if the verdict is below this level.
    ///
    /// Such as "verdict < quotable"; the levels are not-a-measurement, indicative and quotable.
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Gate>,

    /// Show published figures beside the run's.
    ///
    /// The name of a field report, such as vsan-four-corners, or a file of figures.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) against: Option<String>,

    /// The testbed of the run: shows how near each result is to its ceiling.
    ///
    /// It names the layer that limits and the next one. --against uses it for figures per node and
    /// per drive.
    #[arg(long, value_name = "FILE.toml|NAME")]
    pub(crate) testbed: Option<String>,

    /// Show what a fitted testbed predicts beside what was measured.
    ///
    /// `plimsoll calibrate` makes one from a short run. A row outside of its interval is a finding.
    #[arg(long, value_name = "FITTED.toml")]
    pub(crate) predicted: Option<String>,

    /// Print every note under the table, and how to read it.
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,

    /// Split every result by host, or by the hosts of each label; JSON always does.
    #[arg(long, value_name = "PART", conflicts_with = "json")]
    pub(crate) by: Option<Part>,

    /// With --by, every part; of more than 20, only the 10 at either end are shown.
    #[arg(long, requires = "by")]
    pub(crate) all: bool,

    /// One JSON object (docs/reference/json.md) instead of a table.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print the suite as the run began with it, without --set, to run it again or change it.
    #[arg(long, conflicts_with_all = ["against", "testbed", "predicted", "by", "json"])]
    pub(crate) suite: bool,
}

/// `--by`: how results are taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Host by host.
    Host,
    /// Label by label, as [labels] of the suite gives them to hosts.
    Label,
    /// Hosts near to what they loaded, and others: by the owners in [targets].
    Locality,
}

impl Part {
    /// The same, to the report.
    pub(crate) fn by(self) -> topics::split::By {
        match self {
            Part::Host => topics::split::By::Host,
            Part::Label => topics::split::By::Label,
            Part::Locality => topics::split::By::Locality,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("verify"))]
pub(crate) struct VerifyArgs {
    /// The run file of a run with contents.verify.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Where the data are now, once for each target in the run's order [default: as in the run].
    #[arg(short, long = "target", value_name = "PATH")]
    pub(crate) targets: Vec<String>,

    /// The host whose data to check, by its name in the run; required if the run had several.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,

    /// The scenario whose data to check, if scenarios had layouts of their own.
    ///
    /// [default: all whose layout still exists]
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,

    /// Which writes must be there: `completed` after a crash of the program, `durable` (by O_DSYNC
    /// or fdatasync) after a power cut.
    #[arg(long, value_name = "BASIS", default_value = "completed", value_parser = basis)]
    pub(crate) acknowledged: Basis,

    /// How many damaged blocks to list, some of every kind; all are counted.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) list: usize,

    /// Give up when a call on the data does not return for so long, 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) patience: Nanos,

    /// One JSON object (docs/reference/json.md) instead of a table.
    #[arg(long)]
    pub(crate) json: bool,

    /// No progress, only the result.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn basis(word: &str) -> Result<Basis, String> {
    let found = Basis::ALL.iter().copied().find(|basis| basis.word() == word);
    found.ok_or_else(|| "write completed or durable".to_owned())
}
