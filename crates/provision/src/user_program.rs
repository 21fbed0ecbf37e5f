//! Machines that a program of the user's makes. It is started once for each request, reads that as
//! one line of JSON, and writes its answer as one. What it says is read within bounds, into types.
//!
//! The contract is in `docs/guide/virtual-machines.md`.

#[cfg(test)]
mod tests;

use crate::Problem;
use crate::guest::Guest;
use crate::inside::{FIRST_READ, kernel_line};
use crate::provider::{Acted, Boot, Line, Machine, Node, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground, Remote};
use crate::remote::{self, Guests, own_line};
use crate::tool::Call;
use model::Bytes;
use model::machines::{Accelerator, HostCpu, MachineAct, MachinesWanted, ProviderKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The version of the contract.
const VERSION: u32 = 1;
/// How long a question may take.
const SHORT: Duration = Duration::from_secs(60);
/// How long what copies bytes may take.
const LONG: Duration = Duration::from_secs(24 * 3600);
/// An answer is not longer, in bytes.
const LONGEST: usize = 64 << 10;
/// What is kept of a console.
const CONSOLE_LINES: usize = 12;
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

/// What it is asked; one a start.
#[derive(Serialize)]
#[serde(tag = "request", rename_all = "kebab-case")]
enum Request<'a> {
    Room { pool: Option<&'a str>, template: &'a str },
    Disk { id: &'a str, pool: &'a str, size: Bytes, content: &'a str, allocation: &'a str },
    Make(Make<'a>),
    State { id: &'a str },
    Act { id: &'a str, act: &'a str, to: Option<&'a str> },
    Remove { id: &'a str },
}

/// The line of a request.
#[derive(Serialize)]
struct Asked<'a> {
    version: u32,
    #[serde(flatten)]
    request: &'a Request<'a>,
}

/// A machine that is to be made. All is flat, so that a shell can read it.
#[derive(Serialize)]
struct Make<'a> {
    id: &'a str,
    name: &'a str,
    pool: &'a str,
    template: &'a str,
    vcpus: u32,
    memory: Bytes,
    disks: usize,
    bus: &'a str,
    cache: &'a str,
    accelerator: &'a str,
    kernel: &'a Path,
    initrd: &'a Path,
    append: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoomAnswer {
    site: String,
    memory: Bytes,
    free: Option<Bytes>,
    kvm: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StateAnswer {
    state: Does,
    ssh: Option<String>,
    command: Option<Vec<String>>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActAnswer {
    #[serde(default)]
    disks: u32,
    #[serde(default)]
    copied: Bytes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl Request<'_> {
    fn word(&self) -> &'static str {
        match self {
            Request::Room { .. } => "room",
            Request::Disk { .. } => "disk",
            Request::Make(_) => "make",
            Request::State { .. } => "state",
            Request::Act { .. } => "act",
            Request::Remove { .. } => "remove",
        }
    }
}

impl UserProgram {
    /// The program at a path; `template` is what its machines are copies of, if they are.
    pub fn new(connect: &str, template: &str) -> UserProgram {
        let (path, template) = (connect.to_owned(), template.to_owned());
        UserProgram { path, template, guests: Guests::new(), short: SHORT }
    }

    /// The whole path: whoever removes the machines may stand in another folder.
    fn path(&self) -> Result<String, Problem> {
        let unfit = |why: &str| Problem::Unfit {
            what: format!("vms.connect (`{}`) names no program{why}", own_line(&self.path)),
            remedy: "write the path of yours, such as \"./my-provider\"".to_owned(),
        };
        if self.path.contains("://") || !self.path.contains('/') {
            return Err(unfit(""));
        }
        let whole = Path::new(&self.path).canonicalize();
        let whole = whole.map_err(|error| unfit(&format!(" ({error})")))?;
        let is_file = |whole: &PathBuf| whole.is_file();
        let text = Some(whole).filter(is_file).and_then(|whole| whole.to_str().map(str::to_owned));
        text.ok_or_else(|| unfit(""))
    }

    fn ask<A: DeserializeOwned>(&self, request: &Request<'_>) -> Result<A, Problem> {
        let path = self.path()?;
        let call = format!("{path} ({})", request.word());
        let failed = |said: String| Problem::Tool { call: call.clone(), said };
        let asked = serde_json::to_string(&Asked { version: VERSION, request });
        let asked = asked.map_err(|error| failed(error.to_string()))? + "\n";
        let is_change = !matches!(request, Request::Room { .. } | Request::State { .. });
        let arguments = ["-c", START, &path].map(OsStr::new);
        let program = Call {
            program: "sh",
            package: "dash",
            arguments: &arguments,
            within: if is_change { LONG } else { self.short },
            is_change,
            alive: None,
        };
        // One that ends before it has read all says why by its end.
        let feed = &mut |input: &mut dyn Write| {
            let _ = input.write_all(asked.as_bytes());
            Ok(())
        };
        let told = program.fed(feed).map_err(|problem| match problem {
            Problem::Tool { said, .. } => failed(own_line(&said)),
            Problem::Hangs { within, .. } => Problem::Hangs { call: call.clone(), within },
            other => other,
        })?;
        let line = told.strip_suffix('\n').unwrap_or(&told);
        if line.len() > LONGEST {
            return Err(failed(format!("its answer is longer than {}", Bytes(LONGEST as u64))));
        }
        if line.contains('\n') {
            return Err(failed("its answer has several lines, and is to have one".to_owned()));
        }
        serde_json::from_str(line).map_err(|error| {
            let error = own_line(&error.to_string());
            failed(match line.trim() {
                "" => "it gave no answer".to_owned(),
                line => format!("its answer is none ({error}): {}", own_line(line)),
            })
        })
    }

    fn room_of(&self, pool: Option<&str>) -> Result<RoomAnswer, Problem> {
        let told: RoomAnswer = self.ask(&Request::Room { pool, template: &self.template })?;
        let is_name = !told.site.is_empty() && !told.site.starts_with('-');
        match is_name && own_line(&told.site) == told.site {
            true => Ok(told),
            false => Err(Problem::Tool {
                call: format!("{} (room)", self.path),
                said: "its `site` is no short line of text".to_owned(),
            }),
        }
    }

    fn look(&self, deployment: &Deployment, machine: &Machine) -> Result<StateAnswer, Problem> {
        self.ask(&Request::State { id: &id(deployment, machine) })
    }
}

/// What a machine is told apart by: nobody else's has this name.
fn id(deployment: &Deployment, machine: &Machine) -> String {
    format!("{}{}", deployment.mark(), machine.name)
}

/// Whether a text can be the path of a disk.
fn is_device(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.:".contains(c);
    path.starts_with("/dev/") && path.chars().all(is_plain) && !path.contains("..")
}

impl Provider for UserProgram {
    fn node(&self) -> Result<Node, Problem> {
        let told = self.room_of(None)?;
        Ok(Node { name: told.site, memory_available: told.memory })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Result<Room, Problem> {
        let told = self.room_of(pool)?;
        let place = pool.unwrap_or(&told.site).to_owned();
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::Program,
            connect: self.path()?,
            site: told.site,
            pools: vec![place.clone()],
            template: self.template.clone(),
        });
        Ok(Room { ground, place: place.into(), free: told.free.unwrap_or(Bytes(u64::MAX)) })
    }

    /// A machine's identity is no name that somebody else's could have.
    fn refuse_taken(&self, _: &str) -> Result<(), Problem> {
        Ok(())
    }

    fn prepare(&self, _: &Deployment, _: &Guest) -> Result<(), Problem> {
        Ok(())
    }

    fn make_volume(
        &self,
        deployment: &Deployment,
        volume: &Volume,
        _: &AtomicBool,
    ) -> Result<(), Problem> {
        let made = self.ask(&Request::Disk {
            id: &volume.path.file_stem().unwrap_or_default().to_string_lossy(),
            pool: remote::first_pool(deployment),
            size: volume.size,
            content: volume.content.word(),
            allocation: volume.allocation.word(),
        });
        made.map(|Nothing {}| ())
    }

    fn start(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        boot: &Boot<'_>,
    ) -> Result<(), Problem> {
        let (name, disks) = (&machine.name, machine.disks.len());
        let made = self.ask(&Request::Make(Make {
            id: &id(deployment, machine),
            name,
            pool: remote::first_pool(deployment),
            template: &self.template,
            vcpus: boot.vcpus,
            memory: boot.memory,
            disks,
            bus: boot.bus.word(),
            cache: boot.cache.word(),
            accelerator: boot.accelerator.word(),
            kernel: boot.kernel,
            initrd: boot.image,
            append: &kernel_line(name, boot.bus, disks, boot.accelerator),
        }));
        made.map(|Nothing {}| ()).map_err(|problem| match problem {
            Problem::Tool { said, .. } => Problem::NotStarted { machine: name.clone(), said },
            other => other,
        })
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let Ok(told) = self.look(deployment, machine) else { return State::Unknown };
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
        let console = match self.look(deployment, machine) {
            Ok(told) => told.console,
            Err(problem) => problem.to_string(),
        };
        let lines: Vec<_> = console.lines().map(own_line).collect();
        lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n")
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Result<Line, Problem> {
        let told = self.look(deployment, machine)?;
        match told.command.filter(|words| !words.is_empty()) {
            Some(words) if self.boots_our_guest() => Ok(Line::Command(words)),
            None if self.boots_our_guest() => Err(Problem::NotDone {
                machine: machine.name.clone(),
                said: "its program names no `command` that reaches its agent".to_owned(),
            }),
            _ => Guests::line(deployment, machine, told.ssh),
        }
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Result<Acted, Problem> {
        let id = id(deployment, machine);
        let ActAnswer { disks, copied } =
            self.ask(&Request::Act { id: &id, act: act.word(), to })?;
        Ok(Acted { disks, copied, migrated: None })
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Result<(), Problem> {
        remote::same_site(deployment, &self.room_of(None)?.site)?;
        let id = id(deployment, machine);
        self.ask(&Request::Remove { id: &id }).map(|Nothing {}| ())
    }

    /// Disks went with their machines.
    fn clear(&self, _: &Deployment) -> Result<(), Problem> {
        Ok(())
    }

    fn fits(&self, wanted: &MachinesWanted) -> Result<Bytes, Problem> {
        self.path()?;
        match (self.boots_our_guest(), wanted.accelerator) {
            (true, Accelerator::Native) => Err(Problem::Unfit {
                what: "our guest has to know whether its processor is emulated".to_owned(),
                remedy: "write vms.accelerator = \"kvm\" or \"tcg\"".to_owned(),
            }),
            _ => Ok(Bytes(0)),
        }
    }

    fn has_kvm(&self, _: Option<&Path>) -> Option<bool> {
        self.room_of(None).ok()?.kvm
    }

    fn boots_our_guest(&self) -> bool {
        self.template.is_empty()
    }

    fn devices(&self, deployment: &Deployment, machine: &Machine) -> Result<Vec<String>, Problem> {
        if self.boots_our_guest() {
            return Ok(Vec::new());
        }
        let disks = self.look(deployment, machine)?.disks;
        match disks.iter().find(|path| !is_device(path)) {
            None => Ok(disks),
            Some(path) => Err(Problem::NotStarted {
                machine: machine.name.clone(),
                said: format!("its program names a disk that is none: {}", own_line(path)),
            }),
        }
    }
}
