//! What each command does.

mod agent;
mod attach;
mod beside;
mod calibrate;
mod canary;
mod ceiling;
mod clean;
mod compare;
mod confirmation;
mod dispatch;
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
pub(crate) mod lab;
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
mod together;
mod trend;
mod unchecked;
mod verdict_gate;
mod verify;
mod views;
mod vms;
mod watch;

pub(crate) use dispatch::dispatch;
pub(crate) use export_args::ExportArgs;
pub(crate) use mark::MarkArgs;
pub(crate) use report::ReportArgs;

use crate::failure::Failure;
use model::{Nanos, printable};
use std::io::{Read, Write};
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
            Err(Failure::run(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

fn within(option: &str, given: Nanos, least: Nanos, most: Nanos) -> Result<Nanos, Failure> {
    if (least..=most).contains(&given) {
        return Ok(given);
    }
    Err(Failure::usage(format!("{option} {given} is out of range; write {least} to {most}")))
}

/// How long a target may leave a call unanswered, as the user gave it; the same range as a suite's
/// `engine.patience`.
fn patience(given: Nanos) -> Result<Nanos, Failure> {
    within("--patience", given, Nanos::millis(100), Nanos::seconds(3600))
}

/// A file made by this call or not at all: between a look and a write somebody else could make it.
fn create(place: &Path, text: &str) -> Result<(), Failure> {
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(place);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| not_made(place, &error))
}

fn not_made(place: &Path, error: &std::io::Error) -> Failure {
    let what = match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            "it is there already, and no file is overwritten".to_owned()
        }
        _ => error.to_string(),
    };
    Failure::usage(format!("{}: {what}; name another file with --out", place.display()))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        Failure::run(format!(
            "the folder {folder} cannot be made: {error}; name another place with --out"
        ))
    })
}

/// A result as JSON where that is asked for, or else in words.
fn answer<T: serde::Serialize>(
    as_json: bool,
    object: impl FnOnce() -> T,
    words: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if as_json { print_json(&object()) } else { print(&words()) }
}

fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_value(value)
        .and_then(|value| serde_json::to_string_pretty(&::report::pens::json::plain(value)))
        .map_err(|error| Failure::run(format!("the result cannot be written as JSON: {error}")))?;
    print_exactly(&printable::json(&format!("{text}\n")))
}

fn print_json_line(value: &serde_json::Value) -> Result<(), Failure> {
    print_exactly(&printable::json(&format!("{value}\n")))
}

/// What is carried at a time, in bytes.
const CHUNK: usize = 64 << 10;

fn carry(mut from: impl Read, mut to: impl Write) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&chunk[..read]).and_then(|()| to.flush())?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
