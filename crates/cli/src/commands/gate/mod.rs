//! `plimsoll gate`: is the head worse than the base, and can this machine tell?

mod outputs;
mod pairs;
mod recorded;
mod sides;
mod sought;
mod started;
mod workplace;

use crate::args::GateArgs;
use crate::failure::{CANNOT_TELL, CONDITION_MET, Failure};
use analysis::gate::{Answer, Judged, Subject};
use model::Nanos;
use report::topics::gate::{Runs, Told};
use sides::Side;
use std::process::ExitCode;
use std::time::Instant;

/// What came out of the runs.
struct Outcome {
    subjects: Vec<Subject>,
    judged: Vec<Judged>,
    answer: Answer,
    runs: Runs,
    /// Whether somebody stopped it before it knew.
    was_stopped: bool,
}

pub(crate) fn gate(args: &GateArgs) -> Result<ExitCode, Failure> {
    let sought = sought::sought(args)?;
    let base = Side::of(&args.base, "base")?;
    let head = Side::of(&args.head, "head")?;
    outputs::check(&args.output)?;
    let began = Instant::now();
    let outcome = match (base, head) {
        (Side::Command(base), Side::Command(head)) => pairs::run(&sought, &base, &head)?,
        (Side::Runs(base), Side::Runs(head)) => recorded::both(&sought, &base, &head)?,
        (Side::Runs(base), Side::Command(head)) => recorded::with_head(&sought, &base, &head)?,
        (Side::Command(_), Side::Runs(_)) => {
            return Err(Failure::usage(
                "--base is a command and --head was recorded before; give --head as a \
                 command, too, or --base as a run file",
            ));
        }
    };
    let took = Nanos(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let told = Told {
        sides: [&args.base, &args.head],
        terms: sought.terms,
        subjects: &outcome.subjects,
        judged: &outcome.judged,
        answer: outcome.answer,
        runs: outcome.runs,
        took,
        budget: sought.budget,
    };
    outputs::tell(&told, &args.output)?;
    if outcome.was_stopped {
        return Err(Failure::Interrupted(
            "error: the gate was stopped before it knew; the pairs until then are above".to_owned(),
        ));
    }
    Ok(match outcome.answer {
        Answer::NoChange | Answer::Improvement => ExitCode::SUCCESS,
        Answer::Regression => ExitCode::from(CONDITION_MET),
        Answer::CannotTell => ExitCode::from(CANNOT_TELL),
    })
}
