//! `plimsoll verify`: whether what a run left is what it wrote.

use super::{print, print_json, unchecked};
use crate::args::VerifyArgs;
use crate::failure::{DATA_DAMAGED, Failure};
use crate::standard_error;
use engine::{AuditError, AuditOptions, AuditStep};
use model::Bytes;
use report::topics;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Damaged blocks that are told one by one are kept in memory.
const MOST_LISTED: usize = 1 << 20;

/// Checks the data of a run; only reads.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let patience = super::patience(args.patience)?;
    let unreadable = |error: store::StoreError| Failure::RunFile(format!("error: {error}"));
    let options = AuditOptions {
        basis: args.acknowledged,
        targets: &args.targets,
        host: args.host.as_deref(),
        scenario: args.scenario.as_deref(),
        kept: args.list.min(MOST_LISTED),
    };
    let head = store::read_head(&args.run).map_err(unreadable)?;
    unchecked::warn(&args.run, &head);
    let host = engine::audited_host(&head, &options).map_err(refused)?;
    drop(head);
    let record = store::read_of_host(&args.run, host).map_err(unreadable)?;
    let run_id = record.plan.run_id.clone();
    let progress = Arc::new(Mutex::new(Progress::new(args.quiet)));
    let theirs = Arc::clone(&progress);
    let looked = engine::audit(record, &options, patience, move |step| held(&theirs).step(step));
    held(&progress).end();
    let audit = looked.map_err(refused)?;
    match args.json {
        true => print_json(&topics::verify::json(&audit, env!("CARGO_PKG_VERSION"), &run_id))?,
        false => print(&topics::verify::table(&audit))?,
    }
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

struct Progress {
    /// How long between two lines; `None` for none at all.
    every: Option<Duration>,
    is_terminal: bool,
    last: Instant,
    has_line: bool,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let every = if is_terminal { Duration::from_millis(200) } else { Duration::from_secs(10) };
        Progress {
            every: (!quiet).then_some(every),
            is_terminal,
            last: Instant::now(),
            has_line: false,
        }
    }

    fn step(&mut self, step: AuditStep) {
        if self.every.is_none_or(|every| self.last.elapsed() < every) {
            return;
        }
        self.last = Instant::now();
        let text = match step {
            AuditStep::Replayed(requests) => {
                format!("working out what must be there: {requests} requests")
            }
            AuditStep::Read(done, total) => format!("read {} of {}", Bytes(done), Bytes(total)),
        };
        match self.is_terminal {
            true => standard_error::over(&text),
            false => eprintln!("{text}"),
        }
        self.has_line = self.is_terminal;
    }

    /// Takes the line away, and draws no other: a look that was given up may still go on.
    fn end(&mut self) {
        self.every = None;
        if self.has_line {
            standard_error::over("");
        }
    }
}
