//! The `plimsoll` command: arguments in, exit code out.
#![allow(clippy::print_stdout, clippy::print_stderr)]

// First, so that its macros are those of all that follow.
#[macro_use]
mod terminal;

macro_rules! embedded {
    ($folder:literal, $ending:literal, [$($name:literal),* $(,)?]) => {
        [$(($name, include_str!(concat!($folder, $name, $ending)))),*]
    };
}

mod args;
mod asked;
mod commands;
mod failure;
mod files;
mod fio_job;
mod hosts;
mod imported;
mod limits;
mod machines;
mod making;
mod marks;
mod signals;
mod told;
mod trace;
mod web;

use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = args::parse();
    let result = limits::check().and_then(|()| commands::dispatch(arguments.command));
    result.unwrap_or_else(|failure: Failure| {
        match &failure {
            // Its texts were made harmless one by one; it may have colours.
            Failure::Drawn(drawn) => terminal::standard_error::exactly(&format!("{drawn}\n")),
            other => eprintln!("{other}"),
        }
        failure.exit_code()
    })
}
