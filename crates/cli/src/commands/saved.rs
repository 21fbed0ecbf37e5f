//! `plimsoll show`, and reading of run files: what a run file says, at any time after the run.

use super::{print_exactly, print_json, unchecked};
use crate::args::ShowArgs;
use crate::asked::{published, testbed};
use crate::failure::Failure;
use crate::terminal::screen;
use analysis::expected::Held;
use analysis::published::{Comparison, OtherSuite};
use catalogue::Cluster;
use catalogue::published::Published;
use model::plan::Origin;
use model::{Record, printable};
use report::surfaces::table::{Notes, TableStyle};
use report::{surfaces, topics};
use std::path::Path;
use std::process::ExitCode;
use store::StoreError;

/// The run beside published figures; where they do not fit it, why.
pub(super) fn hold(
    record: &Record,
    figures: &Published,
    theirs: Option<&Cluster>,
    ours: Option<&Cluster>,
) -> Result<Comparison, Failure> {
    let held = analysis::prediction::marks::against(
        figures,
        theirs,
        record,
        &analysis::results(record),
        ours,
    );
    held.map_err(|OtherSuite| {
        Failure::usage(topics::published::unfit(figures, &record.plan.suite).to_string())
    })
}

/// The run beside what the fitted testbed at `wanted` predicts of it; where they do not fit, why.
fn expected(record: &Record, wanted: &str, run: &Path) -> Result<Held, Failure> {
    let cluster = testbed::read_for(wanted, std::slice::from_ref(record))?;
    hold_predicted(record, &cluster, run)
}

/// The same of a testbed that was read.
pub(super) fn hold_predicted(
    record: &Record,
    cluster: &Cluster,
    run: &Path,
) -> Result<Held, Failure> {
    let held = analysis::expected::against(cluster, record, &analysis::results(record));
    held.map_err(|why| {
        let (name, run) = (&cluster.top.name.value, run.display().to_string());
        Failure::usage(topics::expected::unfit(&why, name, &run).to_string())
    })
}

pub(crate) fn show(args: &ShowArgs) -> Result<ExitCode, Failure> {
    if let Some(run) = super::foreign::read(&args.run)? {
        return super::foreign::show(&run, args).map(|()| ExitCode::SUCCESS);
    }
    if args.suite {
        let head = store::read_head(&args.run);
        let record = head.map_err(Failure::run_file)?;
        let mut works = record.plan.stages.iter().flat_map(|stage| &stage.works);
        let is_replay = works.any(|work| work.trace.is_some());
        print_exactly(suite(&record.plan.origin, is_replay, &record.version, &args.run)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let record = read_judged(&args.run)?;
    let ours = args.testbed.as_deref().map(|wanted| testbed::read(wanted, &[])).transpose()?;
    let predicted = args.predicted.as_deref().map(|wanted| expected(&record, wanted, &args.run));
    let predicted = predicted.transpose()?;
    let against = args.against.as_deref().map(published::read).transpose()?;
    // As on the page, a simulated run's own testbed is known without being named.
    let simulated = analysis::ceiling::simulated(std::iter::once(&record.plan));
    let beneath = ours.as_ref().or(simulated.as_ref());
    let beside = against
        .map(|(figures, theirs)| {
            let held = hold(&record, &figures, theirs.as_ref(), beneath)?;
            Ok::<_, Failure>((figures, held))
        })
        .transpose()?;
    if args.json {
        let mut told = surfaces::json::results(&record, ours.as_ref());
        if let (Some(held), Some(fields)) = (&predicted, told.as_object_mut()) {
            fields.insert("predicted".to_owned(), topics::expected::object(held));
        }
        if let (Some((figures, held)), Some(fields)) = (&beside, told.as_object_mut()) {
            let object = topics::published::object(figures, held, record.plan.scale);
            fields.insert("against".to_owned(), object);
        }
        print_json(&told)?;
    } else {
        let notes = if args.explain { Notes::All } else { Notes::Few };
        let shown = TableStyle { notes, room: screen::room(), in_colour: screen::in_colour() };
        let table = surfaces::table::results_within(&record, ours.as_ref(), shown);
        let mut text = String::new();
        if let Some((figures, held)) = &beside {
            let table = topics::published::table(figures, held, record.plan.scale);
            text.push_str(&format!("{table}\n"));
        }
        if let Some(held) = &predicted {
            text.push_str(&format!("{}\n", topics::expected::table(held)));
        }
        if let Some(part) = args.by {
            text.push_str(&format!("{}\n", topics::split::results(&record, part.by(), args.all)));
        }
        let ran = topics::ran::text(&record);
        print_exactly(&format!("{ran}\n{table}\n{}", printable::lines(&text)))?;
    }
    Ok(super::verdict_gate::gate(&args.fail_if, &record).unwrap_or(ExitCode::SUCCESS))
}

fn suite<'a>(
    origin: &'a Origin,
    is_replay: bool,
    version: &str,
    run: &Path,
) -> Result<&'a str, Failure> {
    let text = origin.suite.as_str();
    let why = if is_replay {
        // The text that it was planned by draws requests in the trace's place.
        "replayed a trace, whose requests no suite has".to_owned()
    } else if text.is_empty() {
        format!("does not hold the text of its suite: Plimsoll {version} kept none")
    } else if text.chars().any(|c| printable::acts(c) && !"\n\r\t".contains(c)) {
        // A terminal may obey them, or show the text in another order.
        "holds a text that is no suite, with control characters in it".to_owned()
    } else {
        return Ok(text);
    };
    let run = run.display();
    Err(Failure::run_file(format!(
        "{run} {why}; `plimsoll report {run}` shows the plan, which has every value"
    )))
}

/// The run in a file, with what its samples come to and without the samples: all that figures and
/// pages rest on.
pub(crate) fn read_digests(path: &Path) -> Result<Record, Failure> {
    seen(path, store::read_digests(path))
}

/// The run in a file as [`read_digests`] has it, with what the kernels' counters come to: what was
/// at its limit.
pub(crate) fn read_judged(path: &Path) -> Result<Record, Failure> {
    seen(path, store::read_judged(path))
}

/// The run in a file, without what is begun anew when it is gone on with.
pub(crate) fn read_to_resume(path: &Path) -> Result<Record, Failure> {
    seen(path, store::read_to_resume(path))
}

fn seen(path: &Path, read: Result<Record, StoreError>) -> Result<Record, Failure> {
    let record = read.map_err(Failure::run_file)?;
    unchecked::warn(path, &record);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_printed_as_it_was_and_nothing_else_is() {
        let of = |text: &str| {
            let origin = Origin { suite: text.to_owned(), ..Origin::default() };
            suite(&origin, false, "0.9", Path::new("r.plimsoll"))
                .map(str::to_owned)
                .map_err(|failure| failure.to_string())
        };
        let good = "# ours\r\n[[workload]]\n\tname = \"w\"\n";
        assert_eq!(of(good), Ok(good.to_owned()));
        assert!(
            of("").is_err_and(|told| told.contains("Plimsoll 0.9 kept none")
                && told.contains("report r.plimsoll"))
        );
        let replayed = Origin { suite: good.to_owned(), ..Origin::default() };
        let told = suite(&replayed, true, "0.9", Path::new("r.plimsoll"));
        assert!(told.is_err_and(|why| why.to_string().contains("r.plimsoll replayed a trace")));
        assert!(of("name = \u{1b}]0;x").is_err_and(|told| told.contains("control characters")));
    }
}
