//! Machines as processes of plain qemu on this machine: no daemon, no network, no rights but those
//! of the user.

mod act;
mod command;
mod ground;
pub(crate) mod kvm;
mod monitor;
mod threads;

use crate::guest::Guest;
use crate::inside::AGENT_PORT;
use crate::processes::{self, Found};
use crate::provider::{Acted, Boot, Line, Machine, Marked, Node, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground};
use crate::{Outcome, Problem, volume};
use act::Running;
pub(crate) use ground::remove_file;
use model::Bytes;
use model::machines::{BootReads, HostCpu, MachineAct};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

const PROGRAM: &str = "qemu-system-x86_64";
/// How much of a console is shown.
const CONSOLE_BYTES: u64 = 4096;
const CONSOLE_LINES: usize = 12;
/// The files that qemu makes beside its machine's record.
const ENDS: [&str; 5] = ["agent", "monitor", "console", "log", "seed"];

/// Plain qemu.
#[derive(Clone, Copy, Debug, Default)]
pub struct Qemu;

impl Qemu {
    fn is_there() -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file())
    }
}

impl Provider for Qemu {
    fn node(&self) -> Outcome<Node> {
        if !Qemu::is_there() {
            let package = "qemu-system-x86";
            return Err(Problem::NoProgram { program: PROGRAM.to_owned(), package });
        }
        let path = Path::new("/proc/meminfo");
        let text = fs::read_to_string(path).map_err(|error| Problem::file("read", path, &error))?;
        let memory_available = available(&text).unwrap_or(Bytes(0));
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Node { name, memory_available })
    }

    fn room(&self, pool: Option<&str>, folder: &Path) -> Outcome<Room> {
        let place = folder_of(pool, folder)?;
        let above = match pool {
            Some(_) => place.parent(),
            None => place.ancestors().find(|path| path.is_dir()),
        };
        let above = above.unwrap_or(&place);
        let told = rustix::fs::statvfs(above)
            .map_err(|error| Problem::file("use the pool", above, &error.into()))?;
        let free = Bytes(told.f_bavail.saturating_mul(told.f_frsize));
        let place_in_words = pool.map_or_else(|| folder.to_owned(), PathBuf::from);
        Ok(Room { ground: Ground::Folders(vec![place]), place: place_in_words, free })
    }

    fn links_disks(&self) -> bool {
        true
    }

    fn takes_images(&self) -> bool {
        true
    }

    fn has_kvm(&self, kernel: Option<&Path>) -> Option<bool> {
        // Whether an image boots, nobody can know before it does.
        kernel.map(kvm::runs)
    }

    fn all(&self) -> Outcome<Vec<Marked>> {
        let of = |found: Found| {
            let name = found.option("-name")?.split(',').next()?.to_owned();
            let uuid = found.option("-uuid")?.to_owned();
            let is_marked = found.is_own && found.says(&format!("name={AGENT_PORT}"));
            let state = format!("process {}", found.pid);
            is_marked.then_some(Marked { name, uuid, state })
        };
        Ok(processes::all(PROGRAM).into_iter().filter_map(of).collect())
    }

    fn refuse_taken(&self, name: &str) -> Outcome {
        let taken = |found: &Found| {
            let words = found.option("-name").unwrap_or_default();
            // qemu also takes `guest=NAME,…`.
            let first = words.split(',').next().unwrap_or_default();
            first.trim_start_matches("guest=") == name
        };
        match processes::all(PROGRAM).into_iter().find(taken) {
            Some(Found { pid, .. }) => {
                let what = format!("process {pid}");
                Err(Problem::NameOfOthers { name: name.to_owned(), what })
            }
            None => Ok(()),
        }
    }

    fn prepare(&self, deployment: &Deployment, _: &Guest) -> Outcome {
        folders(deployment).iter().try_for_each(|folder| ground::make(folder, &deployment.token))
    }

    fn make_volume(&self, _: &Deployment, volume: &Volume, stop: &AtomicBool) -> Outcome {
        volume::make(volume, stop)
    }

    fn start(&self, _: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome {
        let log = file(machine, "log");
        let out = File::create_new(&log).map_err(|error| Problem::file("make", &log, &error))?;
        if boot.own.is_some() {
            let seed = boot.seed(machine);
            seed.write(&file(machine, "seed"))?;
        }
        let status = Command::new(PROGRAM)
            .args(command::arguments(machine, boot))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // Once it is a daemon it has none.
            .stderr(out)
            .status();
        let refused = |said: String| Problem::NotStarted { machine: machine.name.clone(), said };
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => Err(refused(last_lines(&log).replace('\n', "; "))),
            Err(error) => Err(refused(format!("{PROGRAM}: {error}"))),
        }
    }

    fn state(&self, _: &Deployment, machine: &Machine) -> State {
        if !processes::all(PROGRAM).iter().any(|found| is(machine, found)) {
            return State::Absent;
        }
        match monitor::look(&file(machine, "monitor")) {
            Some(told) if told.is_paused => State::Paused,
            Some(told) if told.is_open => State::Listening,
            _ => State::Starting,
        }
    }

    fn cpu(&self, _: &Deployment, machine: &Machine) -> Option<HostCpu> {
        let found = processes::all(PROGRAM).into_iter().find(|found| is(machine, found))?;
        Some(threads::cpu(found.pid))
    }

    fn reads(&self, _: &Deployment, machine: &Machine) -> Option<BootReads> {
        monitor::reads(&file(machine, "monitor"))
    }

    fn console(&self, _: &Deployment, machine: &Machine) -> String {
        last_lines(&file(machine, "console"))
    }

    fn line(&self, _: &Deployment, machine: &Machine) -> Outcome<Line> {
        Ok(Line::Socket(machine.socket()))
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Outcome<Acted> {
        let running = || Running::open(machine, &file(machine, "monitor"));
        match act {
            MachineAct::Pause => running()?.pause(true),
            MachineAct::Resume => running()?.pause(false),
            MachineAct::Snapshot => running()?.snapshot(),
            MachineAct::Move => {
                let folder = folder_of(to, &machine.folder)?;
                ground::make_or_find(&folder, &deployment.token)?;
                running()?.move_disks(&folder, deployment.format())
            }
            MachineAct::Migrate => {
                Err(Problem::not_done(&machine.name, "plain qemu moves no machine to another node"))
            }
            MachineAct::Off => {
                processes::end(PROGRAM, &machine.name, &|found| is(machine, found))?;
                Ok(Acted::default())
            }
        }
    }

    fn remove(&self, _: &Deployment, machine: &Machine) -> Outcome {
        processes::end(PROGRAM, &machine.name, &|found| is(machine, found))?;
        ENDS.iter().try_for_each(|end| remove_file(&file(machine, end)))
    }

    fn clear(&self, deployment: &Deployment) -> Outcome {
        let disks = deployment.machines.iter().flat_map(|machine| &machine.disks);
        let names = disks.flat_map(|disk| [disk.clone(), act::overlay(disk)]);
        let names = names.chain(deployment.base());
        let names: Vec<_> =
            names.filter_map(|path| path.file_name().map(OsStr::to_owned)).collect();
        let clear = |folder: &PathBuf| ground::clear(folder, &deployment.token, &names);
        folders(deployment).iter().try_for_each(clear)
    }
}

/// The folder of disks in a pool, or beside the record.
fn folder_of(pool: Option<&str>, folder: &Path) -> Outcome<PathBuf> {
    let Some(pool) = pool else { return Ok(folder.join("disks")) };
    let path = Path::new(pool);
    if !path.is_absolute() {
        let remedy = "name an existing folder by its whole path: plain qemu has no other pools";
        return Err(Problem::NoPool { pool: pool.to_owned(), remedy });
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    Ok(path.join(format!("plimsoll-vms-{name}")))
}

fn folders(deployment: &Deployment) -> &[PathBuf] {
    match &deployment.ground {
        Ground::Folders(folders) => folders,
        Ground::Pools { .. } | Ground::Nodes(_) | Ground::Remote(_) => &[],
    }
}

/// Whether a process is this machine of ours.
fn is(machine: &Machine, found: &Found) -> bool {
    found.is_own && found.option("-uuid") == Some(&machine.uuid)
}

fn file(machine: &Machine, end: &str) -> PathBuf {
    machine.folder.join(format!("{}.{end}", machine.name))
}

/// Memory that programs could still take, as `/proc/meminfo` has it.
fn available(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kib.checked_mul(1024).map(Bytes)
}

/// The last lines of a text that a guest may have written.
fn last_lines(path: &Path) -> String {
    let Ok(mut file) = File::open(path) else { return String::new() };
    let length = file.metadata().map_or(0, |told| told.len());
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(length.saturating_sub(CONSOLE_BYTES)))
        .and_then(|_| file.take(CONSOLE_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal:       1000 kB\nMemAvailable:    512 kB\n";
        assert_eq!(available(text), Some(Bytes::kib(512)));
        assert_eq!((available("MemAvailable: x kB\n"), available("")), (None, None));
    }

    #[test]
    fn of_a_console_the_end_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        let lines: Vec<String> = (0..1000).map(|number| format!("line {number}\r\n\n")).collect();
        fs::write(&path, lines.concat()).expect("written");
        let last = last_lines(&path);
        assert!(last.ends_with("line 998\nline 999") && last.lines().count() == CONSOLE_LINES);
    }
}
