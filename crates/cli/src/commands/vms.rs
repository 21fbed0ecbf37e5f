//! `plimsoll vms`: machines before, after and without a run.

use super::{print, print_json};
use crate::args::{ProviderArg, VmsArgs, VmsCommand, VmsUpArgs};
use crate::failure::{Failure, suite_failure};
use crate::machines::{self, Wanted};
use crate::suite_and_targets;
use model::Bytes;
use provision::deployment::{self, Needs};
use provision::provider::Provider;
use provision::qemu::Qemu;
use provision::{Places, Problem};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use suite::Spec;

/// Does what was asked.
pub fn vms(args: &VmsArgs) -> Result<ExitCode, Failure> {
    match &args.what {
        VmsCommand::Up(args) => up(args),
        VmsCommand::List { json } => list(*json),
        VmsCommand::Down { names, all } => down(names, *all),
        VmsCommand::Bridge { socket } => bridge(socket),
        VmsCommand::Guest { name, disks } => {
            let init = provision::guest::Init { name: name.clone(), disks: disks.clone() };
            Err(Failure::Run(format!("plimsoll: {}", provision::guest::serve(&init))))
        }
    }
}

/// A suite of nothing but machines.
const ALONE: &str = "name = \"vms\"\n[[workload]]\nname = \"none\"\n";

fn up(args: &VmsUpArgs) -> Result<ExitCode, Failure> {
    let (name, text) = match &args.suite {
        Some(suite) => suite_and_targets::find(std::slice::from_ref(suite))?,
        None => ("(no suite)".to_owned(), ALONE.to_owned()),
    };
    let spec = Spec::parse(&name, &text, &args.sets).map_err(|errors| suite_failure(&errors))?;
    let wanted = Wanted::of(&spec, args.guest_kernel.as_deref())?;
    let held = wanted.make(args.provider, false)?;
    let name = &held.deployment.name;
    print(&format!(
        "load them     plimsoll run --hosts {}{name}\nremove them   plimsoll vms down {name}\n",
        machines::HOSTS
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What `--provider` would make, for `plimsoll plan`.
pub fn planned(spec: &Spec, of: ProviderArg, kernel: Option<&Path>) -> Result<Planned, Failure> {
    let wanted = Wanted::of(spec, kernel)?;
    let needs = wanted.needs(of)?;
    Ok(Planned { wanted, needs })
}

/// Machines that could be made.
pub struct Planned {
    wanted: Wanted,
    needs: Needs,
}

impl Planned {
    /// For people.
    pub fn text(&self) -> String {
        let (wanted, needs) = (self.wanted.machines(), &self.needs);
        let mut text = String::new();
        let names = model::hostlist::compress(&wanted.names());
        // Writing into a String cannot fail.
        let _ = writeln!(text, "machines  {} on {}: {names}", wanted.count, needs.node);
        let _ = writeln!(
            text,
            "each      {} vCPU, {} of memory, {} × {} {} of {} bytes, cache {}, {}",
            wanted.vcpus,
            wanted.memory,
            wanted.disks,
            wanted.disk_size,
            wanted.bus,
            wanted.content,
            wanted.cache,
            wanted.accelerator
        );
        let _ = writeln!(text, "memory    {} of {}", needs.memory, needs.memory_available);
        let _ = writeln!(
            text,
            "disks     {} of {} free in {}",
            needs.disks,
            needs.disks_free,
            needs.pool.display()
        );
        let _ = writeln!(text, "kernel    {}", needs.kernel.image.display());
        let _ = writeln!(text, "fits      yes; nothing was made");
        let _ = writeln!(
            text,
            "stages    `plimsoll run` plans and shows them when the machines are up"
        );
        text
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        let (wanted, needs) = (self.wanted.machines(), &self.needs);
        json!({
            "machines": wanted.names(),
            "node": needs.node,
            "vcpus": wanted.vcpus,
            "accelerator": wanted.accelerator.word(),
            "memory": wanted.memory.0,
            "disks": wanted.disks,
            "disk_size": wanted.disk_size.0,
            "bus": wanted.bus.word(),
            "cache": wanted.cache.word(),
            "content": wanted.content.word(),
            "needs": { "memory": needs.memory.0, "disks": needs.disks.0 },
            "available": { "memory": needs.memory_available.0, "disks": needs.disks_free.0 },
            "pool": needs.pool,
            "kernel": needs.kernel.image,
        })
    }
}

fn list(as_json: bool) -> Result<ExitCode, Failure> {
    let failed = |problem: Problem| machines::failure(&problem);
    let places = Places::of_user().map_err(failed)?;
    let names = deployment::names(&places).map_err(failed)?;
    let mut rows = Vec::new();
    let mut text = String::new();
    for name in &names {
        let Some(found) = deployment::find(&places, name).map_err(failed)? else {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{name}  begun, nothing made");
            rows.push(json!({ "name": name, "machines": [] }));
            continue;
        };
        let size = |path: &Path| path.metadata().map_or(0, |told| told.len());
        let mut machines = Vec::new();
        for machine in &found.machines {
            let state = Qemu.state(machine).word();
            let disks: u64 = machine.disks.iter().map(|disk| size(disk)).sum();
            let _ = writeln!(text, "{}  {state}  disks {}", machine.name, Bytes(disks));
            machines.push(json!({ "name": machine.name, "state": state, "disks": disks }));
        }
        rows.push(json!({ "name": name, "disks": found.disks, "machines": machines }));
    }
    match (as_json, names.is_empty()) {
        (true, _) => print_json(&rows)?,
        (false, true) => print("no machines\n")?,
        (false, false) => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn down(names: &[String], all: bool) -> Result<ExitCode, Failure> {
    let failed = |problem: Problem| machines::failure(&problem);
    let places = Places::of_user().map_err(failed)?;
    let names = if all { deployment::names(&places).map_err(failed)? } else { names.to_vec() };
    let mut first = None;
    for name in &names {
        match deployment::down(&Qemu, &places, name) {
            Ok(()) => print(&format!("{name} is gone\n"))?,
            // What is wrong with one keeps nobody from removing the others.
            Err(problem) if first.is_none() => first = Some(problem),
            Err(problem) => eprintln!("error: {problem}"),
        }
    }
    if all && names.is_empty() {
        print("no machines\n")?;
    }
    first.map_or(Ok(ExitCode::SUCCESS), |problem| Err(failed(problem)))
}

/// Carries bytes between our streams and a socket until one side ends.
fn bridge(socket: &Path) -> Result<ExitCode, Failure> {
    let failed = |error: io::Error| {
        Failure::Target(format!(
            "error: {}: {error}; see with `plimsoll vms list` whether the machine runs",
            socket.display()
        ))
    };
    let stream = UnixStream::connect(socket).map_err(failed)?;
    let (to, from) = (stream.try_clone().map_err(failed)?, stream);
    thread::spawn(move || {
        let _ = carry(io::stdin().lock(), &to);
        // The coordinator is gone: the agent ends its load when its line closes.
        let _ = to.shutdown(Shutdown::Both);
    });
    // A coordinator that no longer listens, or a machine that ended: either way this is the end.
    let _ = carry(&from, io::stdout().lock());
    Ok(ExitCode::SUCCESS)
}

/// What is carried at a time, in bytes.
const CHUNK: usize = 64 << 10;

/// Passes each piece on as soon as it is there.
fn carry(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&chunk[..read]).and_then(|()| to.flush())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
