//! A base that was recorded before: run files, or a folder of them as a store of baselines.

use super::Outcome;
use super::sides::{RunFiles, with_out, writes_run};
use super::sought::Sought;
use super::started::{self, Ended, Stop};
use super::workplace::Workplace;
use crate::commands::saved::read_digests;
use crate::commands::unchecked;
use crate::failure::Failure;
use analysis::compare::{Unlike, compare};
use analysis::gate::{
    Choice, Judged, Measured, Sides, Subject, figures, planned_runs, recorded, together,
    unlike_hosts,
};
use analysis::{ResultRow, RunState, run_state};
use model::{Nanos, Record};
use report::topics::gate::Runs;
use std::time::{Duration, Instant};

/// Judges recorded runs by recorded runs.
pub(crate) fn both(
    sought: &Sought<'_>,
    base: &RunFiles,
    head: &RunFiles,
) -> Result<Outcome, Failure> {
    let args = sought.args;
    let heads = complete(head)?;
    let first = heads.first().ok_or_else(|| none_left(&args.head))?;
    let bases = of_same_hosts(base, first, &args.base)?;
    let same = |base: &Record| heads.iter().any(|head| head.plan.run_id == base.plan.run_id);
    if bases.iter().any(same) {
        return Err(Failure::usage("a run is on both sides; name each run once"));
    }
    judge(sought, &bases, &heads, None, false)
}

/// Judges a command by recorded runs: how often it runs is decided by how far these stray.
pub(crate) fn with_head(
    sought: &Sought<'_>,
    base: &RunFiles,
    head: &str,
) -> Result<Outcome, Failure> {
    let args = sought.args;
    if !writes_run(head) {
        return Err(Failure::usage(
            "--base was recorded before, so --head has to write a run file; put {out} into \
             it where the file is expected, as in `plimsoll run … --out {out}`",
        ));
    }
    let stop = Stop::watch();
    let mut workplace = Workplace::new(args.output.keep.as_deref())?;
    let (began, budget) = (Instant::now(), Duration::from_nanos(sought.budget.0));
    let mut heads: Vec<Record> = Vec::new();
    let (mut bases, mut planned) = (Vec::new(), 1);
    while (heads.len() as u64) < planned && has_time(began, budget, heads.len()) {
        let out = workplace.run_file("head", heads.len() + 1);
        let log = workplace.log();
        let limit = budget.saturating_sub(began.elapsed()).max(budget / 10);
        if let Ended::Stopped = started::run(&with_out(head, &out), &log, limit, &stop)? {
            break;
        }
        let record = read_digests(&out)?;
        workplace.done_with(&out);
        if heads.is_empty() {
            bases = of_same_hosts(base, &record, &args.base)?;
            planned = plan(sought, &bases, &record)?;
        }
        heads.push(record);
        if !args.output.quiet && planned > 1 {
            eprintln!("run {} of {planned} of the head", heads.len());
        }
    }
    if heads.is_empty() {
        return Err(Failure::Interrupted("error: stopped before the first run".to_owned()));
    }
    let each = began.elapsed().div_f64(heads.len() as f64);
    let each = Nanos(u64::try_from(each.as_nanos()).unwrap_or(u64::MAX));
    judge(sought, &bases, &heads, Some(each), stop.is_set())
}

fn has_time(began: Instant, budget: Duration, done: usize) -> bool {
    let left = budget.saturating_sub(began.elapsed());
    done == 0 || left >= began.elapsed().div_f64(done as f64)
}

/// How many runs of the head it takes. The first one says what is watched, and nothing else.
fn plan(sought: &Sought<'_>, bases: &[Record], head: &Record) -> Result<u64, Failure> {
    let args = sought.args;
    comparable(&bases[0], head)?;
    let subjects = shared_subjects(&refs(bases), &[head], &args.metrics)?;
    if bases.len() == 1 {
        return Ok(1);
    }
    let rows: Vec<Vec<ResultRow>> = bases.iter().map(analysis::results).collect();
    let needed = |subject: &Subject| match measured(subject, &rows, &args.metrics)? {
        Measured::Runs(values) => planned_runs(sought.terms, subjects.len(), &values),
        Measured::OneRun { .. } => None,
    };
    // Where no number of runs would do, as many as the base has say what can be said.
    let fallback = bases.len() as u64;
    Ok(subjects.iter().map(|one| needed(one).unwrap_or(fallback)).max().unwrap_or(fallback).max(2))
}

fn judge(
    sought: &Sought<'_>,
    bases: &[Record],
    heads: &[Record],
    each: Option<Nanos>,
    was_stopped: bool,
) -> Result<Outcome, Failure> {
    let args = sought.args;
    comparable(&bases[0], &heads[0])?;
    let subjects = shared_subjects(&refs(bases), &refs(heads), &args.metrics)?;
    let rows = |records: &[Record]| records.iter().map(analysis::results).collect::<Vec<_>>();
    let (base_rows, head_rows) = (rows(bases), rows(heads));
    let judged: Vec<Judged> = subjects
        .iter()
        .filter_map(|subject| {
            let base = measured(subject, &base_rows, &args.metrics)?;
            let head = measured(subject, &head_rows, &args.metrics)?;
            let sides = Sides { base: &base, head: &head };
            Some(recorded(sought.terms, subjects.len(), subject, &sides))
        })
        .collect();
    assert_eq!(judged.len(), subjects.len(), "every run has what all share");
    Ok(Outcome {
        answer: together(judged.iter().map(|one| one.answer)),
        subjects,
        judged,
        runs: Runs::Recorded { base: bases.len(), head: heads.len(), each },
        was_stopped,
    })
}

fn refs(records: &[Record]) -> Vec<&Record> {
    records.iter().collect()
}

/// A figure of one side: of one run as it was measured, of several their values.
fn measured(subject: &Subject, rows: &[Vec<ResultRow>], choices: &[Choice]) -> Option<Measured> {
    let Subject::Figure { metric, .. } = subject else { return None };
    let of = |rows: &Vec<ResultRow>| {
        let found = figures(rows, choices).into_iter().find(|(known, _)| known == subject)?;
        Measured::of(*metric, &found.1)
    };
    match rows {
        [one] => of(one),
        several => {
            let values: Option<Vec<f64>> =
                several.iter().map(|rows| of(rows).map(|one| one.value())).collect();
            Some(Measured::Runs(values?))
        }
    }
}

pub(crate) fn value(subject: Subject, rows: &[&ResultRow]) -> Option<(Subject, f64)> {
    let Subject::Figure { metric, .. } = &subject else { return None };
    let value = Measured::of(*metric, rows)?.value();
    Some((subject, value))
}

/// What all these runs have in common to be watched.
pub(crate) fn shared_subjects(
    bases: &[&Record],
    heads: &[&Record],
    choices: &[Choice],
) -> Result<Vec<Subject>, Failure> {
    let mut shared: Option<Vec<Subject>> = None;
    for record in bases.iter().chain(heads) {
        let rows = analysis::results(record);
        let mine: Vec<Subject> =
            figures(&rows, choices).into_iter().map(|(subject, _)| subject).collect();
        shared = Some(match shared {
            None => mine,
            Some(known) => known.into_iter().filter(|one| mine.contains(one)).collect(),
        });
    }
    shared.filter(|shared| !shared.is_empty()).ok_or_else(|| {
        Failure::usage(
            "base and head have no figure in common; run the same suite, or name another \
             --metric",
        )
    })
}

/// Refuses runs of different work.
pub(crate) fn comparable(base: &Record, head: &Record) -> Result<(), Failure> {
    let comparison = compare(&[base, head]);
    let all = comparison.others.iter().flat_map(|other| {
        other.unlike.iter().chain(other.points.iter().flat_map(|point| &point.unlike))
    });
    let refused: Vec<&Unlike> = all.filter(|unlike| unlike.refused).collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "base and head did different work: {}; run the same suite on both",
        words(refused)
    )))
}

fn words<'a>(unlike: impl IntoIterator<Item = &'a Unlike>) -> String {
    let one = |unlike: &Unlike| format!("{} {} / {}", unlike.what, unlike.base, unlike.other);
    unlike.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The runs that came to their end. What was named itself has to have.
fn complete(files: &RunFiles) -> Result<Vec<Record>, Failure> {
    let mut records: Vec<Record> = Vec::new();
    for path in &files.paths {
        let why = match store::read_digests(path) {
            Ok(record) if run_state(&record) != RunState::Complete => {
                format!("{} was cut short; resume it, or run it again", path.display())
            }
            Ok(record) if records.iter().any(|known| known.plan.run_id == record.plan.run_id) => {
                format!("{} is a run that is there twice", path.display())
            }
            Ok(record) => {
                unchecked::warn(path, &record);
                records.push(record);
                continue;
            }
            Err(error) => error.to_string(),
        };
        if !files.is_folder {
            return Err(Failure::run_file(why));
        }
        eprintln!("note: left out: {why}");
    }
    Ok(records)
}

fn none_left(name: &str) -> Failure {
    Failure::usage(format!("{name} has no complete run; record some there"))
}

/// The runs of the base on hosts of the head's class: unlike machines are never compared.
fn of_same_hosts(files: &RunFiles, head: &Record, name: &str) -> Result<Vec<Record>, Failure> {
    let all = complete(files)?;
    if all.is_empty() {
        return Err(none_left(name));
    }
    let (same, other): (Vec<Record>, Vec<Record>) =
        all.into_iter().partition(|base| unlike_hosts(base, head).is_empty());
    if same.is_empty() {
        let unlike = other.last().map(|base| unlike_hosts(base, head)).unwrap_or_default();
        return Err(Failure::usage(format!(
            "{name} has no run of hosts like the head's: {}; record a base on these hosts, \
             or give --base as a command",
            words(&unlike)
        )));
    }
    if !other.is_empty() {
        eprintln!("note: {} runs of other hosts are left out", other.len());
    }
    Ok(same)
}
