//! `plimsoll report` and `plimsoll show`: what a run file says, at any time after the run.

use super::{print, print_json};
use crate::args::{ReportArgs, ShowArgs};
use crate::failure::Failure;
use crate::{published, testbed};
use analysis::published::Comparison;
use model::published::Published;
use model::{Cluster, Record};
use report::html::Against;
use std::path::Path;
use std::process::ExitCode;

/// Writes the page of one or more runs.
pub fn report(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let records = args.runs.iter().map(|run| read_digests(run)).collect::<Result<Vec<Record>, Failure>>()?;
    let testbed = args.testbed.as_deref().map(|wanted| testbed::read(wanted, &[])).transpose()?;
    let out = match (&args.out, args.runs.first()) {
        (Some(out), _) => out.clone(),
        (None, Some(first)) => first.with_extension("html"),
        (None, None) => return Err(Failure::Usage("error: no run is named; name a run file".to_owned())),
    };
    let published = args.against.as_deref().map(published::read).transpose()?;
    if let Some((figures, theirs)) = &published {
        let held: Vec<_> =
            records.iter().map(|record| hold(record, figures, theirs.as_ref(), testbed.as_ref())).collect();
        // With several runs, the page says of each whether it fits.
        if held.iter().all(Result::is_err) {
            held.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        }
    }
    let against = Against {
        testbed: testbed.as_ref(),
        published: published.as_ref().map(|(figures, theirs)| (figures, theirs.as_ref())),
    };
    write_page(&records.iter().collect::<Vec<_>>(), against, &out)?;
    Ok(ExitCode::SUCCESS)
}

/// The run beside published figures; where they do not fit it, why.
fn hold(
    record: &Record,
    figures: &Published,
    theirs: Option<&Cluster>,
    ours: Option<&Cluster>,
) -> Result<Comparison, Failure> {
    let held = analysis::published::against(figures, theirs, record, &analysis::results(record), ours);
    held.map_err(|why| Failure::Usage(format!("error: {}", report::published::unfit(why, figures, &record.plan.suite))))
}

/// Writes the page of these runs, beside what they are held against, and says where it is.
pub fn write_page(records: &[&Record], against: Against<'_>, out: &Path) -> Result<(), Failure> {
    std::fs::write(out, report::html::render_against(records, against)).map_err(|error| {
        Failure::Run(format!("error: {} cannot be written: {error}; name another place with --out", out.display()))
    })?;
    eprintln!("report    {}", out.display());
    Ok(())
}

/// Prints the results of a run.
pub fn show(args: &ShowArgs) -> Result<ExitCode, Failure> {
    let record = read_digests(&args.run)?;
    if args.json {
        print_json(&report::json::results(&record))?;
    } else {
        let mut text = format!("{}\n", report::table::results(&record));
        if let Some(wanted) = &args.against {
            let (figures, theirs) = published::read(wanted)?;
            let ours = args.testbed.as_deref().map(|wanted| testbed::read(wanted, &[])).transpose()?;
            let held = hold(&record, &figures, theirs.as_ref(), ours.as_ref())?;
            text.push_str(&format!("{}\n", report::published::table(&figures, &held, record.plan.scale)));
        }
        if let Some(part) = args.by {
            text.push_str(&format!("{}\n", report::split::results(&record, part.by())));
        }
        print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The run in a file, with what its samples come to and without the samples: all that figures and pages rest on.
pub fn read_digests(path: &Path) -> Result<Record, Failure> {
    store::read_digests(path).map_err(|error| Failure::RunFile(format!("error: {error}")))
}

/// The run in a file, all of it.
pub fn read(path: &Path) -> Result<Record, Failure> {
    store::read(path).map_err(|error| Failure::RunFile(format!("error: {error}")))
}
