//! What is done to machines while they run.

use super::super::{print, print_json};
use crate::args::VmsActArgs;
use crate::failure::Failure;
use crate::machines::Nodes;
use model::machines::MachineAct;
use provision::deployment::{self, Done};
use provision::provider::{Look, Migrated};
use provision::{Ground, Places, Problem, nodes};
use report::object;
use serde_json::Value;
use std::time::Instant;

pub(crate) fn act(args: &VmsActArgs, act: MachineAct) -> Result<(), Failure> {
    match (act, &args.to) {
        (MachineAct::Move, None) => {
            return Err(Failure::usage("nowhere to move the disks to; name a pool with --to"));
        }
        (MachineAct::Migrate, None) => {
            return Err(Failure::usage("nowhere to migrate to; name a libvirt with --to"));
        }
        (MachineAct::Move | MachineAct::Migrate, Some(_)) | (_, None) => {}
        (_, Some(_)) => {
            let words = "--to is for `plimsoll vms move` and `plimsoll vms migrate`; leave it out";
            return Err(Failure::usage(words));
        }
    }
    let began = Instant::now();
    let done = done(args, act)?;
    let seconds = began.elapsed().as_secs_f64();
    if args.json {
        let rows = done.iter().map(|done| {
            object! {
                machine: done.machine, disks: done.acted.disks, copied_bytes: done.acted.copied.0,
                migrated: done.acted.migrated.as_ref().map(migrated),
            }
        });
        print_json(&object! {
            act: act.word(), seconds, machines: rows.collect::<Vec<_>>(),
        })?;
        return Ok(());
    }
    for done in &done {
        for look in done.acted.migrated.iter().flat_map(|migrated| &migrated.looks) {
            let Look { after, sent, left } = look;
            print(&format!("{}  {sent} sent and {left} left after {after}\n", done.machine))?;
        }
        print(&format!("{}  {}\n", done.machine, words(act, done)))?;
    }
    print(&format!("done in {seconds:.1} s\n"))?;
    Ok(())
}

fn migrated(migrated: &Migrated) -> Value {
    let look = |look: &Look| {
        object! {
            after_ns: look.after.0, sent_bytes: look.sent.0, left_bytes: look.left.0,
        }
    };
    object! {
        took_ns: migrated.took.0, downtime_ns: migrated.downtime.map(|downtime| downtime.0),
        looks: migrated.looks.iter().map(look).collect::<Vec<_>>(),
    }
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
        MachineAct::Migrate => {
            let migrated = done.acted.migrated.clone().unwrap_or_default();
            let stood = match migrated.downtime {
                Some(downtime) => format!("stood still for {downtime}"),
                None => "downtime not reported".to_owned(),
            };
            let (took, copied) = (migrated.took, done.acted.copied);
            format!("migrated in {took}, {copied} of memory sent, {stood}")
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
