//! Where the answer goes: the terminal, a file for the CI server, a summary of the pipeline.

use crate::args::GateOutput;
use crate::commands::answer;
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use crate::terminal::standard_error;
use report::topics::gate::{Told, annotation, json, junit, markdown, text};
use std::fs::OpenOptions;
use std::io::Write;

/// Refuses places that cannot be written, before hours are spent.
pub(crate) fn check(output: &GateOutput) -> Result<(), Failure> {
    let Some(path) = &output.junit else { return Ok(()) };
    match outputs::create(path, Kind::JUnit, output.force) {
        Ok(_) => {
            // An old result does not outlive a gate that fails.
            if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                let _ = std::fs::remove_file(path);
            }
            Ok(())
        }
        Err(not) => Err(Failure::usage(format!(
            "{}; name another place with --junit, or add --force to overwrite it",
            not.what()
        ))),
    }
}

pub(crate) fn tell(told: &Told<'_>, output: &GateOutput) -> Result<(), Failure> {
    answer(output.json, || json(told), || text(told))?;
    if let Some(path) = &output.junit {
        let xml = junit(told);
        outputs::write(path, Kind::JUnit, output.force, xml.as_bytes())?;
    }
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(markdown(told).as_bytes()));
        if let Err(error) = written {
            eprintln!("note: the summary {} cannot be written: {error}", path.display());
        }
    }
    if std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        // On standard error: standard output may be a JSON object.
        standard_error::words(&annotation(told));
    }
    Ok(())
}
