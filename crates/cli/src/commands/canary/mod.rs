//! `plimsoll canary`: a low constant load for weeks, in segments that are ordinary run files.

mod alarm;
mod ledger;
mod load;
mod retention;
mod rounds;
mod segment;
mod session;
mod status;

use crate::args::{CanaryArgs, CanaryCommand, CanaryOutput};
use crate::failure::{CONDITION_MET, Failure};
use crate::web::Tls;
use std::process::ExitCode;

enum Outcome {
    Done,
    /// Others may suffer, and `--on-harm` says to stop.
    Harm,
}

pub(crate) fn canary(args: &CanaryArgs) -> Result<ExitCode, Failure> {
    if let Some(CanaryCommand::Status { dir, json }) = &args.command {
        return status::status(dir, *json);
    }
    Tls::check(&args.share.tls)?;
    if args.output.test_alert {
        return test_alert(&args.output);
    }
    let terms = load::wanted(args)?;
    let outcome = rounds::run(args, &terms)?;
    Ok(match outcome {
        Outcome::Done => ExitCode::SUCCESS,
        Outcome::Harm => ExitCode::from(CONDITION_MET),
    })
}

fn test_alert(output: &CanaryOutput) -> Result<ExitCode, Failure> {
    output.textfile.iter().try_for_each(|path| alarm::check_textfile(path))?;
    alarm::Alarm::new(output).test()?;
    Ok(ExitCode::SUCCESS)
}
