//! What each command does.

mod agent;
mod calibrate;
mod canary;
mod ceiling;
mod clean;
mod compare;
mod confirmation;
mod distil;
mod events;
mod events_of_run;
mod export;
mod export_args;
mod export_foreign;
mod foreign;
mod gate;
mod growing;
mod help;
mod import;
mod inventory;
mod loadline;
mod mark;
mod network;
mod pages;
mod plan;
mod predict;
mod predicted_plan;
mod record;
mod replay;
mod report;
mod resume;
mod run;
mod saved;
mod serve;
mod suites;
mod take;
mod trend;
mod unchecked;
mod verdict_gate;
mod verify;
mod views;
mod vms;
mod watch;

pub(crate) use agent::agent;
pub(crate) use calibrate::calibrate;
pub(crate) use canary::canary;
pub(crate) use ceiling::ceiling;
pub(crate) use clean::clean;
pub(crate) use compare::compare;
pub(crate) use distil::distil;
pub(crate) use export::export;
pub(crate) use export_args::ExportArgs;
pub(crate) use gate::gate;
pub(crate) use help::help;
pub(crate) use import::import;
pub(crate) use inventory::inventory;
pub(crate) use loadline::loadline;
pub(crate) use mark::{MarkArgs, mark};
pub(crate) use network::network;
pub(crate) use pages::{completions, man};
pub(crate) use plan::plan;
pub(crate) use predict::predict;
pub(crate) use record::record;
pub(crate) use replay::replay;
pub(crate) use report::{ReportArgs, report};
pub(crate) use resume::resume;
pub(crate) use run::run;
pub(crate) use saved::show;
pub(crate) use serve::serve;
pub(crate) use suites::suites;
pub(crate) use take::take;
pub(crate) use trend::trend;
pub(crate) use verify::verify;
pub(crate) use vms::vms;
pub(crate) use watch::watch;

use crate::failure::Failure;
use model::{Nanos, printable};
use std::io::Write;
use std::path::Path;

/// Prints to standard output what people read: nothing in it steers their terminal, whoever wrote
/// it. A reader that has gone away (`| head`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    print_exactly(&printable::lines(text))
}

/// The same of a text that is to come out as it is: in colours of ours, for one, whose words were
/// made harmless before they were coloured.
fn print_exactly(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("error: standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// How long a target may leave a call unanswered, as the user gave it; the same range as a suite's
/// `engine.patience`.
fn patience(given: Nanos) -> Result<Nanos, Failure> {
    let (least, most) = (Nanos::millis(100), Nanos::seconds(3600));
    if (least..=most).contains(&given) {
        return Ok(given);
    }
    Err(Failure::Usage(format!(
        "error: --patience {given} is out of range; write {least} to {most}"
    )))
}

/// A file made by this call or not at all: between a look and a write somebody else could make it.
fn create(place: &Path, text: &str) -> Result<(), Failure> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(place);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let what = match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                "it is there already, and no file is overwritten".to_owned()
            }
            _ => error.to_string(),
        };
        Failure::Usage(format!("error: {}: {what}; name another file with --out", place.display()))
    })
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_value(value)
        .and_then(|value| serde_json::to_string_pretty(&::report::pens::json::plain(value)))
        .map_err(|error| {
            Failure::Run(format!("error: the result cannot be written as JSON: {error}"))
        })?;
    print_exactly(&printable::json(&format!("{text}\n")))
}

fn print_json_line(value: &serde_json::Value) -> Result<(), Failure> {
    print_exactly(&printable::json(&format!("{value}\n")))
}
