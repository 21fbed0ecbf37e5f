//! `--fail-if "verdict < quotable"`: a gate for pipelines.

use crate::failure::CONDITION_MET;
use analysis::verdict::{Gate, Verdict};
use model::Record;
use report::topics;
use std::process::ExitCode;

/// The exit code of a condition that the verdict of a run meets; `None` where none is met.
pub fn gate(gates: &[Gate], record: &Record) -> Option<ExitCode> {
    let rows = topics::results::judged::judged(record, None).0;
    let verdict = Verdict::of_run(record, &rows);
    let met: Vec<&Gate> = gates.iter().filter(|gate| gate.is_met(verdict.level)).collect();
    met.iter().for_each(|gate| eprintln!("fail-if   {gate}: {}", topics::grade::line(&verdict)));
    (!met.is_empty()).then(|| ExitCode::from(CONDITION_MET))
}
