//! `plimsoll beside`: a command of the user's as the load of a run.

use super::{plan, run};
use crate::args::BesideArgs;
use crate::asked::{quick, suite_and_targets};
use crate::failure::Failure;
use crate::told;
use model::Nanos;
use std::process::ExitCode;

/// The longest that a command takes whose end nobody set.
const MOST: Nanos = Nanos::seconds(3_600);
/// Intervals of one that may end soon.
const INTERVAL: Nanos = Nanos::millis(250);

pub(crate) fn beside(args: &BesideArgs) -> Result<ExitCode, Failure> {
    told::check(&args.result)?;
    let as_run = args.as_run();
    run::refuse_taken(&as_run)?;
    let asked = suite_and_targets::asked_of(&as_run.work, "(beside)", suite(args))?;
    let started = plan::start_with_late(&as_run.work, &asked)?;
    let (plan, hosts) = plan::decide(&as_run.work, &asked, &started)?;
    run::carry_out(&as_run, started, plan, &hosts, None)
}

/// There is one path for all runs.
fn suite(args: &BesideArgs) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let program = args.command.first().map_or("", String::as_str);
    let program = program.rsplit('/').next().unwrap_or(program);
    let name = args.name.clone().unwrap_or_else(|| format!("beside {program}"));
    let measure = args.runtime.unwrap_or(MOST);
    let interval = args.runtime.map_or(INTERVAL, quick::interval);
    let words: Vec<String> = args.command.iter().map(|word| text(word)).collect();
    format!(
        "name = {}\n\n[stages]\nmeasure = \"{}\"\ninterval = \"{}\"\n\n[[workload]]\nname = \
         {}\nkind = \"command\"\ncommand = [{}]\nresult = {}\ntrace = {}\n",
        text(&name),
        quick::milliseconds(measure),
        quick::milliseconds(interval),
        text(program),
        words.join(", "),
        text(&args.result),
        args.trace
    )
}
