//! Machines that a program of the user's makes. It is started once for each request, reads that as
//! one line of JSON, and writes its answer as one. What it says is read within bounds, into types.
//!
//! The contract is in `docs/reference/machines.md`.

#[cfg(test)]
mod tests;

use crate::guest::Guest;
use crate::inside::{FIRST_READ, kernel_line};
use crate::provider::{Acted, Boot, Line, Machine, Node, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground, Remote};
use crate::remote::{self, Guests, own_line};
use crate::tool::Call;
use crate::{Outcome, Problem};
use model::Bytes;
use model::machines::{HostCpu, MachineAct, ProviderKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const VERSION: u32 = 1;
/// How long a question may take.
const SHORT: Duration = Duration::from_secs(60);
/// How long what copies bytes may take.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// An answer is not longer, in bytes.
const LONGEST: usize = 64 << 10;
/// What is kept of a console.
const CONSOLE_LINES: usize = 12;
/// The pool where nobody names one.
const POOL: &str = "default";
/// Starts the program. The variable by which it is waited for (`tool.rs`) is this shell's alone:
/// a hypervisor that the program leaves behind is not waited for.
const START: &str = "unset PLIMSOLL_VMS_FOLDER; \"$0\"; exit $?";

/// A program of the user's.
pub struct UserProgram {
    /// Its path, as `vms.connect` names it.
    path: String,
    /// What machines are copies of; empty where they boot our guest.
    template: String,
    guests: Guests,
    /// How long a question may take.
    short: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct There {
    site: String,
    memory: Bytes,
    free: Option<Bytes>,
    kvm: Option<bool>,
}

/// What a machine does, and how it is reached.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    state: Does,
    ssh: Option<String>,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    disks: Vec<String>,
    #[serde(default)]
    console: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Does {
    Absent,
    Starting,
    Running,
    Paused,
}

/// What was asked for is done.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {}

impl UserProgram {
    /// The program at a path; `template` is what its machines are copies of, if they are.
    pub fn new(connect: &str, template: &str) -> UserProgram {
        let (path, template) = (connect.to_owned(), template.to_owned());
        UserProgram { path, template, guests: Guests::new(), short: SHORT }
    }

    /// The whole path: whoever removes the machines may stand in another folder.
    fn path(&self) -> Outcome<String> {
        let whole = Path::new(&self.path).canonicalize().ok();
        let whole = whole.and_then(|whole| whole.to_str().map(str::to_owned));
        whole.ok_or_else(|| {
            Problem::unfit(
                format!("vms.connect (`{}`) names no program", own_line(&self.path)),
                "write the path of yours, such as \"./my-provider\"",
            )
        })
    }

    fn ask<A: DeserializeOwned>(&self, word: &str, mut request: Value) -> Outcome<A> {
        (request["version"], request["request"]) = (VERSION.into(), word.into());
        let path = self.path()?;
        let call = format!("{path} ({word})");
        let failed = |said: String| Problem::Tool { call: call.clone(), said };
        let is_change = !matches!(word, "room" | "state");
        let program = Call {
            program: "sh",
            package: "dash",
            arguments: &["-c", START, &path].map(OsStr::new),
            within: if is_change { LONG } else { self.short },
            is_change,
            alive: None,
        };
        let told = program.fed(&mut |input| {
            // One that ends before it has read all says why by its end.
            let _ = writeln!(input, "{request}");
            Ok(())
        });
        let told = told.map_err(|problem| match problem {
            Problem::Tool { said, .. } => failed(own_line(&said)),
            Problem::Hangs { within, .. } => Problem::Hangs { call: call.clone(), within },
            other => other,
        })?;
        let line = told.strip_suffix('\n').unwrap_or(&told);
        let why = match serde_json::from_str(line) {
            _ if line.len() > LONGEST => format!("is longer than {}", Bytes(LONGEST as u64)),
            _ if line.trim().is_empty() => "is empty".to_owned(),
            _ if line.contains('\n') => "has several lines, and is to have one".to_owned(),
            Ok(answer) => return Ok(answer),
            Err(error) => format!("is none ({}): {}", own_line(&error.to_string()), own_line(line)),
        };
        Err(failed(format!("its answer {why}")))
    }

    fn there(&self, pool: Option<&str>) -> Outcome<There> {
        let pool = pool.unwrap_or(POOL);
        let told = self.ask("room", json!({ "pool": pool, "template": self.template }));
        told.map(|told: There| There { site: own_line(&told.site), ..told })
    }

    fn told(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Told> {
        self.ask("state", json!({ "id": id(deployment, machine) }))
    }
}

/// What a machine is known by: nobody else's has this name.
fn id(deployment: &Deployment, machine: &Machine) -> String {
    format!("{}{}", deployment.mark(), machine.name)
}

/// Whether a text can be the path of a disk.
fn is_device(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.:".contains(c);
    path.starts_with("/dev/") && path.chars().all(is_plain) && !path.contains("..")
}

impl Provider for UserProgram {
    fn node(&self) -> Outcome<Node> {
        let told = self.there(None)?;
        Ok(Node { name: told.site, memory_available: told.memory })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Outcome<Room> {
        let told = self.there(pool)?;
        let (place, free) = (pool.unwrap_or(&told.site).into(), told.free);
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::Program,
            connect: self.path()?,
            site: told.site,
            pools: vec![pool.unwrap_or(POOL).to_owned()],
            template: self.template.clone(),
        });
        Ok(Room { ground, place, free: free.unwrap_or(Bytes(u64::MAX)) })
    }

    /// No machine of somebody else has one of our identities.
    fn refuse_taken(&self, _: &str) -> Outcome {
        Ok(())
    }

    fn prepare(&self, _: &Deployment, _: &Guest) -> Outcome {
        Ok(())
    }

    fn make_volume(&self, deployment: &Deployment, volume: &Volume, _: &AtomicBool) -> Outcome {
        let disk = json!({
            "id": volume.path.file_stem().unwrap_or_default().to_string_lossy(),
            "pool": remote::first_pool(deployment),
            "size": volume.size,
            "content": volume.content.word(),
            "allocation": volume.allocation.word(),
        });
        self.ask("disk", disk).map(|Done {}| ())
    }

    fn start(&self, deployment: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome {
        let disks = machine.disks.len();
        // All is flat, so that a shell can read it.
        let made = json!({
            "id": id(deployment, machine),
            "name": machine.name,
            "pool": remote::first_pool(deployment),
            "template": self.template,
            "vcpus": boot.vcpus,
            "memory": boot.memory,
            "disks": disks,
            "bus": boot.bus.word(),
            "cache": boot.cache.word(),
            "accelerator": boot.accelerator.word(),
            "kernel": boot.kernel.to_string_lossy(),
            "initrd": boot.image.to_string_lossy(),
            "append": kernel_line(&machine.name, boot.bus, disks, boot.accelerator),
        });
        self.ask("make", made).map(|Done {}| ())
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let Ok(told) = self.told(deployment, machine) else { return State::Unknown };
        match told.state {
            Does::Absent => State::Absent,
            Does::Starting => State::Starting,
            Does::Paused => State::Paused,
            Does::Running if !self.boots_our_guest() => self.guests.state(told.ssh.as_deref()),
            // The guest's first process says so before it opens the agent's line.
            Does::Running if told.console.contains(FIRST_READ) => State::Listening,
            Does::Running => State::Starting,
        }
    }

    fn cpu(&self, _: &Deployment, _: &Machine) -> Option<HostCpu> {
        None
    }

    fn console(&self, deployment: &Deployment, machine: &Machine) -> String {
        let told = self.told(deployment, machine);
        let console = told.map_or_else(|problem| problem.to_string(), |told| told.console);
        let lines: Vec<_> = console.lines().map(own_line).collect();
        lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n")
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Line> {
        let told = self.told(deployment, machine)?;
        match self.boots_our_guest() {
            true => Ok(Line::Command(told.command)),
            false => Guests::line(deployment, machine, told.ssh),
        }
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Outcome<Acted> {
        let id = id(deployment, machine);
        self.ask("act", json!({ "id": id, "act": act.word(), "to": to }))
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Outcome {
        remote::same_site(deployment, &self.there(None)?.site)?;
        self.ask("remove", json!({ "id": id(deployment, machine) })).map(|Done {}| ())
    }

    /// Disks went with their machines.
    fn clear(&self, _: &Deployment) -> Outcome {
        Ok(())
    }

    fn has_kvm(&self, _: Option<&Path>) -> Option<bool> {
        self.there(None).ok()?.kvm
    }

    fn boots_our_guest(&self) -> bool {
        self.template.is_empty()
    }

    /// What is no path is left out: then it has fewer disks than were made, which is refused.
    fn devices(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Vec<String>> {
        let disks = match self.boots_our_guest() {
            true => Vec::new(),
            false => self.told(deployment, machine)?.disks,
        };
        Ok(disks.into_iter().filter(|path| is_device(path)).collect())
    }
}
