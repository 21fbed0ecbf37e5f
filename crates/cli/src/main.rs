//! The `plimsoll` command: arguments in, exit code out.
#![allow(clippy::print_stdout, clippy::print_stderr)]

// First, so that its macros are those of all that follow.
#[macro_use]
mod standard_error;

mod args;
mod budget;
mod caret;
mod commands;
mod failure;
mod fio_job;
mod foreign_results;
mod hosts;
mod imported;
mod limits;
mod machines;
mod making;
mod marks;
mod outputs;
mod plain_file;
mod published;
mod quick;
mod quotable;
mod run_file_disk;
mod run_names;
mod run_overview;
mod screen;
mod signals;
mod simulate;
mod suite_and_targets;
mod testbed;
mod text_file;
mod trace;
mod view;
mod web;

use args::Command;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = args::parse();
    let result = limits::check().and_then(|()| run(arguments.command));
    result.unwrap_or_else(|failure: Failure| {
        match &failure {
            // Its texts were made harmless one by one; it may have colours.
            Failure::Drawn(drawn) => standard_error::exactly(&format!("{drawn}\n")),
            other => eprintln!("{other}"),
        }
        failure.exit_code()
    })
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(mut run) => commands::run(&mut run),
        Command::Loadline(mut loadline) => commands::loadline(&mut loadline),
        Command::Plan(plan) => commands::plan(&plan),
        Command::Watch(watch) => commands::watch(&watch),
        Command::Inventory(inventory) => commands::inventory(&inventory),
        Command::Network(network) => commands::network(&network),
        Command::Suites(suites) => commands::suites(&suites),
        Command::Import(import) => commands::import(&import),
        Command::Record(record) => commands::record(&record),
        Command::Replay(replay) => commands::replay(&replay),
        Command::Distil(distil) => commands::distil(&distil),
        Command::Mark(mark) => commands::mark(&mark),
        Command::Report(report) => commands::report(&report),
        Command::Export(export) => commands::export(&export),
        Command::Serve(serve) => commands::serve(&serve),
        Command::Compare(compare) => commands::compare(&compare),
        Command::Gate(gate) => commands::gate(&gate),
        Command::Canary(canary) => commands::canary(&canary),
        Command::Trend(trend) => commands::trend(&trend),
        Command::Show(show) => commands::show(&show),
        Command::Ceiling(ceiling) => commands::ceiling(&ceiling),
        Command::Calibrate(calibrate) => commands::calibrate(&calibrate),
        Command::Predict(predict) => commands::predict(&predict),
        Command::Verify(verify) => commands::verify(&verify),
        Command::Clean(clean) => commands::clean(&clean),
        Command::Resume(resume) => commands::resume(&resume),
        Command::Take(take) => commands::take(&take),
        Command::Vms(vms) => commands::vms(&vms),
        Command::Agent(agent) => commands::agent(&agent),
        Command::Completions { shell } => commands::completions(shell),
        Command::Help { words } => commands::help(&words),
        Command::Man { directory } => commands::man(directory.as_deref()),
    }
}
