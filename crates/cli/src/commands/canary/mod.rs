//! `plimsoll canary`: a low constant load for weeks, in segments that are ordinary run files.

mod alarm;
mod ledger;
mod load;
mod retention;
mod rounds;
mod segment;
mod session;
mod status;

use crate::args::{CanaryArgs, CanaryCommand};
use crate::failure::{CONDITION_MET, Failure};
use crate::web::Tls;
use std::process::ExitCode;

/// How a canary ended by itself.
enum Outcome {
    /// All segments that were asked for ended.
    Done,
    /// Others may suffer, and `--on-harm` says to stop.
    Harm,
}

/// Loads, or shows what was seen.
pub fn canary(args: &CanaryArgs) -> Result<ExitCode, Failure> {
    if let Some(CanaryCommand::Status { dir, json }) = &args.command {
        return status::status(dir, *json);
    }
    Tls::check(&args.share.tls)?;
    let terms = load::wanted(args)?;
    let outcome = rounds::run(args, &terms)?;
    Ok(match outcome {
        Outcome::Done => ExitCode::SUCCESS,
        Outcome::Harm => ExitCode::from(CONDITION_MET),
    })
}
