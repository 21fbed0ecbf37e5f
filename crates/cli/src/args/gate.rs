//! The arguments of `plimsoll gate`.

// Tables of suites are named as they are written: `[objective]`.
#![allow(rustdoc::broken_intra_doc_links)]

use super::examples;
use analysis::gate::Choice;
use clap::Args;
use model::Nanos;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("gate"))]
pub(crate) struct GateArgs {
    /// What is compared with: a command, a run file, or a folder of run files.
    ///
    /// A command is run by `sh -c`. `{out}` in it is where a run file is expected; without it, the
    /// time of the whole command is measured. Of a folder, runs of other hosts are left out.
    #[arg(long, value_name = "CMD|RUN|DIR")]
    pub(crate) base: String,

    /// What is judged: a command or a run file.
    #[arg(long, value_name = "CMD|RUN")]
    pub(crate) head: String,

    /// The change to find, in percent, 0.1 to 500.
    #[arg(long, value_name = "PERCENT", value_parser = percent, required_unless_present = "suite")]
    pub(crate) detect: Option<f64>,

    /// How often such a change is found where there is time enough, 0.5 to 0.999 [default: 0.9].
    #[arg(long, value_name = "SHARE", value_parser = power)]
    pub(crate) power: Option<f64>,

    /// How often equals may be called worse or better, 0.0001 to 0.5 [default: 0.05].
    #[arg(long, value_name = "SHARE", value_parser = alpha)]
    pub(crate) alpha: Option<f64>,

    /// How long it may take. A command that takes longer is stopped [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<Nanos>,

    /// A suite whose [objective] has detect, power, alpha or budget, where they are not given.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,

    /// What to watch of run files: a figure such as "p99" or "read p99".
    ///
    /// By default the rate, and where it is fixed the mean latency. The figures are those of
    /// `compare --fail-if`.
    #[arg(long = "metric", value_name = "FIGURE")]
    pub(crate) metrics: Vec<Choice>,

    /// From what the order within pairs follows [default: the time].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) output: GateOutput,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct GateOutput {
    /// Write the result as JUnit XML.
    #[arg(long, value_name = "FILE.xml")]
    pub(crate) junit: Option<PathBuf>,

    /// Overwrite a file that is not known to be ours.
    #[arg(long, requires = "junit")]
    pub(crate) force: bool,

    /// Keep the run files in this folder, which must not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,

    /// One JSON object (docs/reference/json.md) instead of words.
    #[arg(long)]
    pub(crate) json: bool,

    /// No progress, only the result.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    let good = number.filter(|value| (0.1..=500.0).contains(value));
    good.ok_or_else(|| "write 0.1% to 500%".to_owned())
}

pub(crate) fn power(text: &str) -> Result<f64, String> {
    share(text)
        .filter(|value| (0.5..=0.999).contains(value))
        .ok_or_else(|| "write 0.5 to 0.999, or 50% to 99.9%".to_owned())
}

/// A share of false alarms.
pub(crate) fn alpha(text: &str) -> Result<f64, String> {
    share(text)
        .filter(|value| (0.000_1..=0.5).contains(value))
        .ok_or_else(|| "write 0.0001 to 0.5, or 0.01% to 50%".to_owned())
}

/// `0.9` or `90%`.
fn share(text: &str) -> Option<f64> {
    match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_as_people_write_them_and_nothing_else_is() {
        assert_eq!((percent("3%"), percent("3"), percent(" 2.5 %")), (Ok(3.0), Ok(3.0), Ok(2.5)));
        assert_eq!((power("0.9"), power("90%"), alpha("5 %")), (Ok(0.9), Ok(0.9), Ok(0.05)));
        for bad in ["", "%", "0", "NaN", "inf", "-3%", "1e9", "three"] {
            assert!(percent(bad).is_err() && power(bad).is_err() && alpha(bad).is_err(), "{bad}");
        }
    }
}
