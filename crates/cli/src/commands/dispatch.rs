//! Which command does what was typed.

use super::{
    agent, attach, beside, calibrate, canary, ceiling, clean, compare, distil, export, gate, help,
    import, inventory, lab, loadline, mark, network, pages, plan, predict, record, replay, report,
    resume, run, saved, serve, suites, take, trend, verify, vms, watch,
};
use crate::args::Command;
use crate::failure::Failure;
use std::process::ExitCode;

pub(crate) fn dispatch(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(mut run) => return run::run(&mut run),
        Command::Loadline(mut loadline) => return loadline::loadline(&mut loadline),
        Command::Beside(beside) => return beside::beside(&beside),
        Command::Network(network) => return network::network(&network),
        Command::Suites(suites) => return suites::suites(&suites),
        Command::Import(import) => return import::import(&import),
        Command::Replay(replay) => return replay::replay(&replay),
        Command::Compare(compare) => return compare::compare(&compare),
        Command::Gate(gate) => return gate::gate(&gate),
        Command::Canary(canary) => return canary::canary(&canary),
        Command::Trend(trend) => return trend::trend(&trend),
        Command::Show(show) => return saved::show(&show),
        Command::Verify(verify) => return verify::verify(&verify),
        Command::Resume(resume) => return resume::resume(&resume),
        Command::Take(take) => return take::take(&take),
        Command::Plan(plan) => plan::plan(&plan),
        Command::Watch(watch) => watch::watch(&watch),
        Command::Inventory(inventory) => inventory::inventory(&inventory),
        Command::Record(record) => record::record(&record),
        Command::Distil(distil) => distil::distil(&distil),
        Command::Mark(mark) => mark::mark(&mark),
        Command::Attach(attach) => attach::attach(&attach),
        Command::Report(report) => report::report(&report),
        Command::Export(export) => export::export(&export),
        Command::Serve(serve) => serve::serve(&serve),
        Command::Ceiling(ceiling) => ceiling::ceiling(&ceiling),
        Command::Calibrate(calibrate) => calibrate::calibrate(&calibrate),
        Command::Predict(predict) => predict::predict(&predict),
        Command::Clean(clean) => clean::clean(&clean),
        Command::Vms(vms) => vms::vms(&vms),
        Command::Lab(what) => lab::lab(&what),
        Command::Agent(agent) => agent::agent(&agent),
        Command::Completions { shell } => pages::completions(shell),
        Command::Help { words } => help::help(&words),
        Command::Man { directory } => pages::man(directory.as_deref()),
    }
    .map(|()| ExitCode::SUCCESS)
}
