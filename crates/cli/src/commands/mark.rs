//! `plimsoll mark`: something happened, says somebody, and the run that goes on takes it down.

use crate::failure::Failure;
use crate::marks;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// `plimsoll mark`.
#[derive(Debug, Args)]
pub struct MarkArgs {
    /// The file of the run, which goes on and was started on this machine.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// What happened, in at most 200 bytes, such as "migration started".
    #[arg(value_name = "TEXT")]
    pub text: String,
}

/// Sets the mark at the instant at which this is called.
pub fn mark(args: &MarkArgs) -> Result<ExitCode, Failure> {
    let called = Instant::now();
    marks::check(&args.text).map_err(|why| Failure::Usage(format!("error: {why}")))?;
    marks::send(&args.run, &args.text, called)
        .map_err(|why| Failure::RunFile(format!("error: {}: {why}", args.run.display())))?;
    Ok(ExitCode::SUCCESS)
}
