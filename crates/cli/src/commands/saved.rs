//! `plimsoll report` and `plimsoll show`: what a run file says, at any time after the run.

use super::{print, print_json};
use crate::args::{ReportArgs, ShowArgs};
use crate::failure::Failure;
use crate::testbed;
use model::{Cluster, Record};
use std::path::Path;
use std::process::ExitCode;

/// Writes the page of one or more runs.
pub fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let records = args.runs.iter().map(|run| read(run)).collect::<Result<Vec<Record>, Failure>>()?;
    let testbed = args.testbed.as_deref().map(|wanted| testbed::read(wanted, &[])).transpose()?;
    let out = match (&args.out, args.runs.first()) {
        (Some(out), _) => out.clone(),
        (None, Some(first)) => first.with_extension("html"),
        (None, None) => return Err(Failure::Usage("error: no run is named; name a run file".to_owned())),
    };
    write_page(&records.iter().collect::<Vec<_>>(), testbed.as_ref(), &out)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of these runs, held against a testbed if there is one, and says where it is.
pub fn write_page(records: &[&Record], testbed: Option<&Cluster>, out: &Path) -> Result<(), Failure> {
    std::fs::write(out, report::html::render_on(records, testbed)).map_err(|error| {
        Failure::Run(format!("error: {} cannot be written: {error}; name another place with --out", out.display()))
    })?;
    eprintln!("report    {}", out.display());
    Ok(())
}

/// Prints the results of a run.
pub fn show(args: &ShowArgs) -> Result<ExitCode, Failure> {
    let record = read(&args.run)?;
    if args.json {
        print_json(&report::json::results(&record))?;
    } else {
        print(&format!("{}\n", report::table::results(&record)))?;
        if let Some(part) = args.by {
            print(&format!("{}\n", report::split::results(&record, part.by())))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The run in a file.
pub fn read(path: &Path) -> Result<Record, Failure> {
    store::read(path).map_err(|error| Failure::RunFile(format!("error: {error}")))
}
