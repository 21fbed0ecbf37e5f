//! What is done to machines while they run.

use super::super::{print, print_json};
use crate::args::VmsActArgs;
use crate::failure::Failure;
use crate::machines::{self, Nodes};
use model::machines::MachineAct;
use provision::deployment::{self, Done};
use provision::{Ground, Places, Problem, nodes};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// Does it, waits for its end, and says what it came to.
pub fn act(args: &VmsActArgs, act: MachineAct) -> Result<ExitCode, Failure> {
    let usage = |text: &str| Failure::Usage(format!("error: {text}"));
    if act == MachineAct::Move && args.to.is_none() {
        return Err(usage("nowhere to move the disks to; name a pool with --to"));
    }
    if act != MachineAct::Move && args.to.is_some() {
        return Err(usage("--to is for `plimsoll vms move`; leave it out"));
    }
    let began = Instant::now();
    let done = done(args, act).map_err(|problem| machines::failure(&problem))?;
    let seconds = began.elapsed().as_secs_f64();
    if args.json {
        let rows = done.iter().map(|done| {
            json!({
                "machine": done.machine,
                "disks": done.acted.disks,
                "copied_bytes": done.acted.copied.0,
            })
        });
        print_json(&json!({
            "act": act.word(),
            "seconds": seconds,
            "machines": rows.collect::<Vec<_>>(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    for done in &done {
        print(&format!("{}  {}\n", done.machine, words(act, done)))?;
    }
    print(&format!("done in {seconds:.1} s\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn words(act: MachineAct, done: &Done) -> String {
    let disks = if done.acted.disks == 1 { "disk" } else { "disks" };
    match act {
        MachineAct::Pause => "paused".to_owned(),
        MachineAct::Resume => "goes on".to_owned(),
        MachineAct::Off => "is off".to_owned(),
        MachineAct::Snapshot => format!("{} {disks} kept", done.acted.disks),
        MachineAct::Move => {
            format!("{} {disks} moved, {} copied", done.acted.disks, done.acted.copied)
        }
    }
}

fn done(args: &VmsActArgs, act: MachineAct) -> Result<Vec<Done>, Problem> {
    let places = Places::of_user()?;
    let to = args.to.as_deref();
    let found = deployment::find(&places, &args.name)?;
    if let Some(found) = &found
        && let Ground::Nodes(on) = &found.ground
    {
        return nodes::on_machines(&Nodes::of(on), found, &args.machines, act, to);
    }
    deployment::act(&places, &args.name, &args.machines, act, to)
}
