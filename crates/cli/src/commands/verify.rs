//! `plimsoll verify`: whether what a run left is what it wrote.

use super::{answer, unchecked};
use crate::args::VerifyArgs;
use crate::failure::{DATA_DAMAGED, Failure};
use crate::terminal::standard_error::Progress;
use engine::{AuditError, AuditOptions, AuditStep};
use model::Bytes;
use report::topics;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Damaged blocks that are told one by one are kept in memory.
const MOST_LISTED: usize = 1 << 20;

/// Checks the data of a run; only reads.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let patience = super::patience(args.patience)?;
    let options = AuditOptions {
        basis: args.acknowledged,
        targets: &args.targets,
        host: args.host.as_deref(),
        scenario: args.scenario.as_deref(),
        kept: args.list.min(MOST_LISTED),
    };
    let head = store::read_head(&args.run).map_err(Failure::run_file)?;
    unchecked::warn(&args.run, &head);
    let host = engine::audited_host(&head, &options).map_err(refused)?;
    drop(head);
    let record = store::read_of_host(&args.run, host).map_err(Failure::run_file)?;
    let run_id = record.plan.run_id.clone();
    let progress = Arc::new(Mutex::new(Progress::waiting(args.quiet)));
    let theirs = Arc::clone(&progress);
    let looked =
        engine::audit(record, &options, patience, move |step| held(&theirs).say(|| words(step)));
    // A look that was given up may still go on.
    held(&progress).end();
    let audit = looked.map_err(refused)?;
    let object = || topics::verify::json(&audit, env!("CARGO_PKG_VERSION"), &run_id);
    answer(args.json, object, || topics::verify::table(&audit))?;
    Ok(if audit.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(DATA_DAMAGED) })
}

#[allow(clippy::needless_pass_by_value)]
fn refused(error: AuditError) -> Failure {
    let text = format!("error: {error}");
    match error {
        AuditError::Usage(_) => Failure::Usage(text),
        AuditError::RunFile(_) => Failure::RunFile(text),
        AuditError::Target(_) => Failure::Target(text),
    }
}

fn held(progress: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    // It is only about a line of text.
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

fn words(step: AuditStep) -> String {
    match step {
        AuditStep::Replayed(requests) => {
            format!("working out what must be there: {requests} requests")
        }
        AuditStep::Read(done, total) => format!("read {} of {}", Bytes(done), Bytes(total)),
    }
}
