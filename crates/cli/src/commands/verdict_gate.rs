//! Gates for pipelines: `--fail-if "verdict < quotable"`, and the objective of a suite.

use crate::failure::{CONDITION_MET, Failure};
use analysis::kept::{self, Kept};
use analysis::verdict::{Gate, Verdict};
use model::Record;
use model::objective::Objective;
use report::topics;
use std::process::ExitCode;

/// The exit code of a condition that the verdict of a run meets; `None` where none is met.
pub(crate) fn gate(gates: &[Gate], record: &Record) -> Option<ExitCode> {
    let rows = topics::results::judged::judged(record, None).0;
    let verdict = Verdict::of_run(record, &rows);
    let met: Vec<&Gate> = gates.iter().filter(|gate| gate.is_met(verdict.level)).collect();
    met.iter().for_each(|gate| eprintln!("fail-if   {gate}: {}", topics::grade::line(&verdict)));
    (!met.is_empty()).then(|| ExitCode::from(CONDITION_MET))
}

/// What a suite asks of its runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) objective: &'a Objective,
    /// Whether each condition is to fail once.
    pub(crate) proves: bool,
}

pub(crate) fn objective(asked: Asked<'_>, record: &Record) -> Result<Option<ExitCode>, Failure> {
    let rows = topics::results::judged::judged(record, None).0;
    let told = kept::kept(record, asked.objective, &rows);
    let behind = kept::behind(record, &rows);
    told.iter().for_each(|one| eprintln!("{}", topics::objective::line(&record.plan, one)));
    for point in &behind {
        eprintln!("{}", topics::objective::behind_line(&record.plan, *point));
    }
    if told.is_empty() {
        eprintln!("objective nothing was measured to its end: broken");
    }
    if asked.proves {
        prove(asked.objective, record, &rows)?;
    }
    let is_kept = !told.is_empty() && behind.is_empty() && told.iter().all(Kept::is_kept);
    Ok((!is_kept).then(|| ExitCode::from(CONDITION_MET)))
}

fn prove(
    objective: &Objective,
    record: &Record,
    rows: &[analysis::ResultRow],
) -> Result<(), Failure> {
    let proofs = kept::proven(record, objective, rows);
    proofs.iter().for_each(|proof| eprintln!("{}", topics::objective::proof_line(proof)));
    match proofs.iter().find(|proof| proof.times.is_none()) {
        None => Ok(()),
        Some(proof) => Err(Failure::usage(format!(
            "[objective] keep: `{}` never fails; write a limit that a run can break",
            proof.condition
        ))),
    }
}
