//! The arguments of what predicts.

use super::examples;
use catalogue::cluster::WhatIf;
use clap::Args;
use form::Override;
use model::Objective;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("calibrate"))]
pub(crate) struct CalibrateArgs {
    /// A testbed file, or the name of a reference testbed.
    #[arg(value_name = "TESTBED")]
    pub(crate) testbed: String,

    /// Run files of this cluster.
    #[arg(value_name = "RUN", required_unless_present = "against", conflicts_with = "against")]
    pub(crate) runs: Vec<PathBuf>,

    /// Take the rates of a published report, by name or from a file of figures.
    #[arg(long, value_name = "REPORT")]
    pub(crate) against: Option<String>,

    /// Fit these rows, and hold the others out: numbers such as 1,3-5, or a part of their names.
    ///
    /// Without it, the rows that a report means, or all rows of runs.
    #[arg(long, value_name = "ROWS")]
    pub(crate) fit: Vec<String>,

    /// Hold these rows out: they are predicted and not fitted.
    #[arg(long, value_name = "ROWS")]
    pub(crate) hold: Vec<String>,

    /// Write the fitted testbed.
    #[arg(short, long, value_name = "FITTED.toml")]
    pub(crate) out: Option<PathBuf>,

    /// Overwrite a file that exists.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,

    /// One JSON object (docs/reference/json.md) instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = examples::of("predict"))]
pub(crate) struct PredictArgs {
    /// A testbed file, best a fitted one, or a reference testbed: pixstor-nvme,fitted.
    #[arg(value_name = "TESTBED")]
    pub(crate) testbed: String,

    /// A built-in suite or a suite file.
    #[arg(value_name = "SUITE|FILE.toml")]
    pub(crate) suite: String,

    /// Hosts that load [default: the testbed's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) hosts: Option<u32>,

    /// Change a field of the suite, such as workload.NAME.depth=8.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<Override>,

    /// Predict only this scenario of the suite; repeat it for several.
    #[arg(long = "scenario", value_name = "NAME")]
    pub(crate) scenarios: Vec<String>,

    /// What would be otherwise, side by side with what is: nodes+2, ports+1, drives+4, cores+4,
    /// any KEY=VALUE of the testbed, with commas between.
    #[arg(long = "what-if", value_name = "CHANGES")]
    pub(crate) what_ifs: Vec<WhatIf>,

    /// What one more node, one more drive and port of each node, and four more cores would bring.
    #[arg(long)]
    pub(crate) one_more: bool,

    /// The highest rate at which a latency holds: "mean < 2ms", "p99 < 5ms".
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Objective>,

    /// Simulate each row, too, in virtual time, and say how far it is from the analysis.
    #[arg(long)]
    pub(crate) simulate: bool,

    /// One JSON object (docs/reference/json.md) instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}
