//! `plimsoll compare`: what differs between runs, and a gate for pipelines.

use super::foreign::Mixed;
use super::report::write_page;
use super::saved::read_judged;
use super::{print_exactly, print_json};
use crate::args::CompareArgs;
use crate::failure::{CANNOT_TELL, CONDITION_MET, Failure};
use crate::terminal::run_names::{names_of, paths_of, same_run_twice};
use crate::terminal::screen;
use analysis::ResultRow;
use analysis::compare::{Comparison, Condition, compare_results};
use model::{Record, printable};
use report::surfaces::html::Against;
use report::topics;
use std::process::ExitCode;

/// Compares runs with the first of them.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitCode, Failure> {
    if let Some(mixed) = Mixed::read(&args.runs)? {
        return super::foreign::compare(&mixed, args).map(|()| ExitCode::SUCCESS);
    }
    let records =
        args.runs.iter().map(|run| read_judged(run)).collect::<Result<Vec<Record>, Failure>>()?;
    let records: Vec<&Record> = records.iter().collect();
    let ids: Vec<&str> = records.iter().map(|record| record.plan.run_id.as_str()).collect();
    same_run_twice(&ids, &paths_of(&args.runs))?;
    let results: Vec<Vec<ResultRow>> =
        records.iter().map(|record| analysis::results(record)).collect();
    let comparison = compare_results(&records, &results);
    if comparison.others.is_empty() {
        return Err(Failure::usage(
            "there is nothing to compare: one run with one scenario; name a second run file",
        ));
    }
    let names = names_of(&args.runs);
    if args.shown.json {
        print_json(&topics::compare::json(&comparison, &records, &args.fail_if))?;
    } else {
        let (room, in_colour) = (screen::room(), screen::in_colour());
        let shown = topics::compare::ComparisonStyle { names: &names, room, in_colour };
        let cpus = topics::compare::host_cpu_table(&comparison, &records, &results, &names);
        let table = topics::compare::table(&comparison, &records, shown);
        print_exactly(&format!("{table}{}", printable::lines(&cpus)))?;
    }
    if let Some(out) = &args.shown.out {
        let against = Against { names: &names, ..Against::default() };
        write_page(&records, against, out, args.shown.force)?;
    }
    // With conditions, these say what they had to look at.
    if args.fail_if.is_empty() && !topics::compare::has_differences(&comparison) {
        return Err(Failure::usage(
            "the runs have no point that can be compared; see the reasons above, or name \
             runs of one suite",
        ));
    }
    gate(&args.fail_if, &comparison)
}

/// The exit code of conditions: of a gate that is closed, cannot tell, or is open. One that has
/// nothing to look at is an error.
pub(super) fn gate(conditions: &[Condition], comparison: &Comparison) -> Result<ExitCode, Failure> {
    let (mut is_closed, mut is_unknown) = (false, false);
    for condition in conditions {
        let outcome = condition.check(comparison);
        if outcome.checked == 0 && outcome.unknown > 0 {
            eprintln!(
                "error: --fail-if '{condition}' decides nothing: every such difference may be \
                 chance. Measure longer, or repeat (sweep.repetitions)."
            );
            is_unknown = true;
        } else if outcome.checked == 0 {
            return Err(Failure::usage(format!(
                "--fail-if '{condition}' has nothing to look at: no point that can be \
                 compared has this figure; see the reasons above, or name another figure"
            )));
        } else if outcome.unknown > 0 {
            eprintln!(
                "warning: --fail-if '{condition}' could not judge {} of {} differences: they may \
                 be chance",
                outcome.unknown,
                outcome.unknown + outcome.checked
            );
        }
        for (run, key, found) in &outcome.met {
            eprintln!("{}", topics::compare::met(condition, *run, key, found));
        }
        is_closed |= !outcome.met.is_empty();
    }
    Ok(match (is_closed, is_unknown) {
        (true, _) => ExitCode::from(CONDITION_MET),
        (false, true) => ExitCode::from(CANNOT_TELL),
        (false, false) => ExitCode::SUCCESS,
    })
}
