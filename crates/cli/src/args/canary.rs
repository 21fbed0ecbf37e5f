//! The arguments of `plimsoll canary`.

use super::{PageArgs, WorkArgs, examples};
use clap::{Args, Subcommand, ValueEnum};
use model::{Bytes, Nanos, Objective, Percent};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("canary"), args_conflicts_with_subcommands = true)]
pub(crate) struct CanaryArgs {
    /// What to do instead of loading.
    #[command(subcommand)]
    pub(crate) command: Option<CanaryCommand>,

    /// Where it keeps its ledger and the run files of its segments.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) load: CanaryLoad,

    #[command(flatten)]
    pub(crate) slo: CanarySlo,

    #[command(flatten)]
    pub(crate) guard: CanaryGuard,

    #[command(flatten)]
    pub(crate) output: CanaryOutput,

    #[command(flatten)]
    pub(crate) share: PageArgs,

    #[command(flatten)]
    pub(crate) work: WorkArgs,
}

/// What to do instead of loading.
#[derive(Debug, Subcommand)]
pub(crate) enum CanaryCommand {
    /// Show the budget, the burn rates, the alerts and the segments of a canary.
    Status {
        /// Its folder.
        #[arg(value_name = "DIR")]
        dir: PathBuf,

        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(crate) struct CanaryLoad {
    /// Load with this share of a load line, such as 1%; --of names its run file.
    #[arg(long, value_name = "PERCENT", requires = "of")]
    pub(crate) share: Option<Percent>,

    /// The run file of a `plimsoll loadline` along the rate.
    #[arg(long, value_name = "RUN", requires = "share")]
    pub(crate) of: Option<PathBuf>,

    /// How long each segment is, 1s to 24h; each has a run file.
    #[arg(long, value_name = "TIME", default_value = "1h")]
    pub(crate) segment: Nanos,

    /// End after so many segments [default: never].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) segments: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Objective")]
pub(crate) struct CanarySlo {
    /// What requests have to keep to, such as "p99.9 < 5ms".
    ///
    /// A failed request never keeps it.
    #[arg(long, value_name = "OBJECTIVE")]
    pub(crate) objective: Option<Objective>,

    /// The share of requests that have to, 95% to 99.999% [default: that of the quantile].
    #[arg(long, value_name = "PERCENT")]
    pub(crate) slo: Option<Percent>,

    /// For how long the error budget is, 1h to 90d.
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) window: Nanos,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "No harm")]
pub(crate) struct CanaryGuard {
    /// Take the load away where p99 is so many times its usual level, 1.5 to 100.
    ///
    /// It does so as well where more than 5 % of requests fail, or none comes back.
    #[arg(long, value_name = "TIMES", default_value = "5", value_parser = times)]
    pub(crate) slower: f64,

    /// Over how long, 1m to 1h.
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub(crate) over: Nanos,

    /// What follows: pause (10 minutes first, then longer, up to 4 hours), or stop.
    #[arg(long, value_name = "WHAT", default_value = "pause")]
    pub(crate) on_harm: OnHarm,
}

/// What follows when others may suffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnHarm {
    /// The load stays away for a while.
    Pause,
    /// The canary ends.
    Stop,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CanaryOutput {
    /// Remove run files that are older, 0s to 3650d; their totals stay.
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub(crate) keep: Nanos,

    /// Remove the oldest run files where all together are larger [default: no limit].
    #[arg(long, value_name = "SIZE")]
    pub(crate) keep_bytes: Option<Bytes>,

    /// Run CMD with `sh -c` when an alert begins or ends, a level changes, or the load goes away.
    ///
    /// $PLIMSOLL_ALERT is fast, medium, slow, level, harm or test; $PLIMSOLL_STATE is on or off;
    /// $PLIMSOLL_TEXT says it in words.
    #[arg(long, value_name = "CMD")]
    pub(crate) on_alert: Option<String>,

    /// Send one alert called test to everybody who gets alerts, and end. Nothing is loaded.
    ///
    /// The exit code is 4 where one of them does not take it.
    #[arg(long)]
    pub(crate) test_alert: bool,

    /// Write metrics for Prometheus to this file every minute (node_exporter's textfile collector).
    #[arg(long, value_name = "FILE.prom")]
    pub(crate) textfile: Option<PathBuf>,

    /// Print lines of JSON instead of words.
    #[arg(long)]
    pub(crate) json: bool,
}

fn times(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok().filter(|value| (1.5..=100.0).contains(value));
    value.ok_or_else(|| "write 1.5 to 100".to_owned())
}
