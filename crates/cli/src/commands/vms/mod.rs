//! `plimsoll vms`: machines before, after and without a run.

mod acts;
mod bridge;
mod planned;

pub(crate) use planned::planned;

use super::{print, print_json};
use crate::args::{VmsArgs, VmsCommand, VmsImageArgs, VmsUpArgs};
use crate::asked::suite_and_targets;
use crate::failure::{Failure, suite_failure};
use crate::machines::{self, Nodes, Wanted};
use analysis::BootStorm;
use model::Bytes;
use model::machines::{BootTime, DiskBus, HostCpu, MachineAct, OnNode, ProviderKind};
use provision::guest::{Init, Kernel, Within};
use provision::provider::{self, State};
use provision::{Deployment, Ground, Places, deployment, nodes, providers};
use report::object;
use report::topics::below_guests;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use suite::Spec;

pub(crate) fn vms(args: &VmsArgs) -> Result<(), Failure> {
    match &args.what {
        VmsCommand::Up(args) => up(args),
        VmsCommand::List { provider: Some(of), connect, json } => marked(*of, connect, *json),
        VmsCommand::List { json, .. } => list(*json),
        VmsCommand::Down { names, all } => down(names, *all),
        VmsCommand::Pause(args) => acts::act(args, MachineAct::Pause),
        VmsCommand::Resume(args) => acts::act(args, MachineAct::Resume),
        VmsCommand::Off(args) => acts::act(args, MachineAct::Off),
        VmsCommand::Snapshot(args) => acts::act(args, MachineAct::Snapshot),
        VmsCommand::Move(args) => acts::act(args, MachineAct::Move),
        VmsCommand::Migrate(args) => acts::act(args, MachineAct::Migrate),
        VmsCommand::Image(args) => image(args),
        VmsCommand::Bridge { socket, greet, agent } => bridge::bridge(socket, *greet, agent),
        VmsCommand::Node => bridge::node(),
        VmsCommand::Guest { name, disks, in_image, emulated } => {
            let within = match in_image {
                true => Within::Image { is_emulated: *emulated },
                false => Within::Kernel,
            };
            let init = Init { name: name.clone(), disks: disks.clone(), within };
            Err(Failure::Run(format!("plimsoll: {}", provision::guest::serve(&init))))
        }
    }
}

/// A suite of nothing but machines.
const ALONE: &str = "name = \"vms\"\n[[workload]]\nname = \"none\"\n";

fn up(args: &VmsUpArgs) -> Result<(), Failure> {
    let (name, text) = match &args.suite {
        Some(suite) => suite_and_targets::find(std::slice::from_ref(suite))?,
        None => ("(no suite)".to_owned(), ALONE.to_owned()),
    };
    let spec = Spec::parse(&name, &text, &args.sets).map_err(|errors| suite_failure(&errors))?;
    let mut wanted = Wanted::of(&spec, args.provider, args.boots(), args.scale)?;
    let held = wanted.make(args.json)?;
    let name = &held.deployment.name;
    if args.json {
        let deployment = &held.deployment;
        let boots: Vec<Value> = deployment.boots.iter().map(boot).collect();
        let all = BootStorm::of(&deployment.boots);
        print_json(&object! {
            name, machines: boots, storm: all.map(storm), nodes: storms_of_nodes(deployment),
        })?;
        return Ok(());
    }
    if let Some(sentence) = below_guests::boot_storm(&held.deployment.boots) {
        print(&format!("boots         {sentence}\n"))?;
    }
    print(&format!(
        "load them     plimsoll run --hosts {}{name}\nremove them   plimsoll vms down {name}\n",
        machines::HOSTS
    ))?;
    Ok(())
}

/// How long a machine took to come up.
fn boot(boot: &BootTime) -> Value {
    object! {
        name: boot.machine, agent_ns: boot.agent.0, first_read_ns: boot.first_read.map(|at| at.0),
        reads: boot.reads.map(|reads| reads.requests),
        read_bytes: boot.reads.map(|reads| reads.bytes.0),
    }
}

/// What it took machines to come up together, and what they read until then.
fn storm(storm: BootStorm) -> Value {
    json!({
        "machines": storm.machines,
        "agent_ns": {
            "first": storm.first.0,
            "median": storm.median.0,
            "last": storm.last.0,
        },
        "reads": storm.reads.map(|reads| reads.requests),
        "read_bytes": storm.reads.map(|reads| reads.bytes.0),
    })
}

/// The same of each node; none where all machines are at one.
fn storms_of_nodes(deployment: &Deployment) -> Vec<Value> {
    let Ground::Nodes(on) = &deployment.ground else { return Vec::new() };
    let of = |part: &OnNode| {
        let boots = deployment.boots.iter().filter(|boot| part.machines.contains(&boot.machine));
        json!({ "node": part.node, "storm": BootStorm::of(boots).map(storm) })
    };
    on.parts.iter().map(of).collect()
}

fn list(as_json: bool) -> Result<(), Failure> {
    let places = Places::of_user()?;
    let names = deployment::names(&places)?;
    let mut rows = Vec::new();
    let mut text = String::new();
    // Writing into a String cannot fail.
    for name in &names {
        let Some(found) = deployment::find(&places, name)? else {
            let _ = writeln!(text, "{name}  begun, nothing made");
            rows.push(json!({ "name": name, "machines": [] }));
            continue;
        };
        let machines = machines_of(&found);
        for machine in &machines {
            let (name, state) = (&machine.name, machine.state.map_or("unknown", State::word));
            let disks = machine.disks.map(|disks| format!("  disks {disks}")).unwrap_or_default();
            let cpu = machine.cpu.map(cpu).unwrap_or_default();
            let node = machine.node.as_ref().map(|node| format!("  on {node}")).unwrap_or_default();
            let _ = writeln!(text, "{name}  {state}{disks}{cpu}{node}");
        }
        let machines: Vec<Value> = machines.iter().map(|machine| machine.json(&found)).collect();
        rows.push(json!({ "name": name, "machines": machines }));
    }
    match (as_json, names.is_empty()) {
        (true, _) => print_json(&rows)?,
        (false, true) => print("no machines\n")?,
        (false, false) => print(&text)?,
    }
    Ok(())
}

fn marked(of: ProviderKind, connect: &str, as_json: bool) -> Result<(), Failure> {
    let places = Places::of_user()?;
    let all = providers::named(of, connect, "").all()?;
    let mut known = Vec::new();
    for name in deployment::names(&places)? {
        let found = deployment::find(&places, &name)?;
        let machines = found.map(|found| found.machines).unwrap_or_default();
        known.extend(machines.into_iter().map(|machine| (machine.uuid, name.clone())));
    }
    let of = |uuid: &str| known.iter().find(|(known, _)| known == uuid).map(|(_, name)| name);
    if as_json {
        let row = |one: &provider::Marked| {
            object! {
                name: one.name, uuid: one.uuid, state: one.state, of: of(&one.uuid),
            }
        };
        return print_json(&all.iter().map(row).collect::<Vec<_>>());
    }
    for one in &all {
        let whose = match of(&one.uuid) {
            Some(name) => format!("remove it with `plimsoll vms down {name}`"),
            None => "not on record here: another user, folder or machine made it".to_owned(),
        };
        print(&format!("{}  {}  {}  {whose}\n", one.name, one.state, one.uuid))?;
    }
    if all.is_empty() {
        print("no machines\n")?;
    }
    Ok(())
}

struct Row {
    name: String,
    /// `None` where its node does not answer.
    state: Option<State>,
    disks: Option<Bytes>,
    node: Option<String>,
    cpu: Option<HostCpu>,
}

/// `  CPU 4 s vcpu, 0.2 s io, 0.5 s other`
fn cpu(cpu: HostCpu) -> String {
    let io = cpu.io.map(|io| format!(", {io} io")).unwrap_or_default();
    format!("  CPU {} vcpu{io}, {} other", cpu.vcpu, cpu.other)
}

impl Row {
    fn json(&self, of: &Deployment) -> Value {
        let boot = of.boots.iter().find(|boot| boot.machine == self.name);
        json!({
            "name": self.name,
            "state": self.state.map(State::word),
            "disks": self.disks.map(|disks| disks.0),
            "node": self.node,
            "cpu_ns": self.cpu.map(|cpu| object! {
                vcpu: cpu.vcpu.0, io: cpu.io.map(|io| io.0), other: cpu.other.0,
                waited: cpu.waited.map(|waited| waited.0),
            }),
            "agent_ns": boot.map(|boot| boot.agent.0),
            "first_read_ns": boot.and_then(|boot| boot.first_read).map(|at| at.0),
        })
    }
}

fn machines_of(found: &Deployment) -> Vec<Row> {
    if let Ground::Nodes(on) = &found.ground {
        let mut rows = Vec::new();
        for (part, listed) in on.parts.iter().zip(nodes::list(&Nodes::of(on), found)) {
            if let Err(problem) = &listed {
                eprintln!("warning: {problem}");
            }
            for name in &part.machines {
                let told = listed.as_ref().ok().map(|node| &node.machines);
                // A node that has no record of it has no such machine.
                let state = told.map(|machines| {
                    let one = machines.iter().find(|one| one.machine == *name);
                    one.map_or(State::Absent, |one| one.state)
                });
                let node = Some(part.node.clone());
                let cpu = told.and_then(|all| all.iter().find(|one| one.machine == *name)?.cpu);
                rows.push(Row { name: name.clone(), state, disks: None, node, cpu });
            }
        }
        return rows;
    }
    let provider = providers::of(found);
    let row = |machine: &provider::Machine| Row {
        name: machine.name.clone(),
        state: provider.as_ref().map(|provider| provider.state(found, machine)),
        disks: files_of(found, machine),
        node: None,
        cpu: provider.as_ref().and_then(|provider| provider.cpu(found, machine)),
    };
    found.machines.iter().map(row).collect()
}

fn files_of(found: &Deployment, machine: &provider::Machine) -> Option<Bytes> {
    let Ground::Folders(folders) = &found.ground else { return None };
    let size = |path: &Path| path.metadata().map_or(0, |told| told.len());
    let names = || machine.disks.iter().filter_map(|disk| disk.file_name());
    let all = folders.iter().flat_map(|folder| names().map(|name| size(&folder.join(name))));
    Some(Bytes(all.sum()))
}

fn down(names: &[String], all: bool) -> Result<(), Failure> {
    let places = Places::of_user()?;
    let names = if all { deployment::names(&places)? } else { names.to_vec() };
    let mut first = None;
    for name in &names {
        match machines::down(&places, name) {
            Ok(()) => print(&format!("{name} is gone\n"))?,
            // What is wrong with one keeps nobody from removing the others.
            Err(problem) if first.is_none() => first = Some(problem),
            Err(problem) => eprintln!("error: {problem}"),
        }
    }
    if all && names.is_empty() {
        print("no machines\n")?;
    }
    first.map_or(Ok(()), |problem| Err(problem.into()))
}

fn image(args: &VmsImageArgs) -> Result<(), Failure> {
    let places = Places::of_user()?;
    let kernel = Kernel::find(args.guest_kernel.as_deref(), &places.kernels)?;
    let size = provision::guest::write_image(&args.to, &kernel, DiskBus::ALL)?;
    print(&format!(
        "image   {} ({size})\nkernel  {}\n",
        args.to.display(),
        kernel.image.display()
    ))?;
    Ok(())
}
