//! Machines of a node of Proxmox VE, through its own programs over ssh, as root. They boot our
//! guest: kernel and memory image lie in a folder of the node, the agent's line is a socket there.
//!
//! Sources: `qm(1)`, `pvesm(1)` and `pvesh(1)` of
//! [Proxmox VE 8](https://pve.proxmox.com/pve-docs/), and its
//! [list of calls](https://pve.proxmox.com/pve-docs/api-viewer/). Never tried on a real node.

mod node;
#[cfg(test)]
mod tests;

use crate::guest::Guest;
use crate::inside::{AGENT, AGENT_PORT, FIRST_READ, kernel_line};
use crate::provider::{self, Acted, Boot, Line, Machine, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground, Remote};
use crate::remote::{self, Program, Runs, Takes, text};
use crate::{Problem, volume};
use model::Bytes;
use model::machines::{
    Accelerator, DiskAllocation, DiskBus, DiskContent, HostCpu, MachineAct, MachinesWanted,
    ProviderKind,
};
use node::{Listed, Node, strange};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The storage where nobody names one: what the installer makes.
const STORAGE: &str = "local-lvm";
/// Where kernel, image, consoles and sockets are on the node.
const FOLDER: &str = "/var/lib";
/// How much of a console is read.
const CONSOLE_BYTES: &str = "4096";
const CONSOLE_LINES: usize = 12;
/// Disks of a machine on each bus.
const MOST_DISKS: u32 = 16;

/// A node of Proxmox VE.
pub struct Proxmox {
    node: Node,
}

/// A machine of ours that is there.
struct Found {
    vmid: u64,
    node: String,
    config: Value,
}

impl Proxmox {
    /// The node behind an address such as `ssh://root@pve1`.
    pub fn new(connect: &str) -> Proxmox {
        Proxmox::with(Box::new(Program::new("ssh", "openssh-client")), connect)
    }

    fn with(program: Box<dyn Runs>, connect: &str) -> Proxmox {
        Proxmox { node: Node { program, connect: connect.to_owned() } }
    }

    fn site(&self) -> Result<String, Problem> {
        let names = self.node.names()?;
        let cluster = names.cluster.map(|name| format!(" of the cluster {name}"));
        Ok(format!("the node {}{}", names.node, cluster.unwrap_or_default()))
    }

    /// A machine of ours. A copy of it that somebody made has its tag, too, but neither its name
    /// nor its UUID.
    fn found(&self, deployment: &Deployment, machine: &Machine) -> Result<Option<Found>, Problem> {
        let tag = tag(deployment);
        let is_tagged = |one: &Listed| one.tags.contains(&tag);
        for one in self.node.machines()?.into_iter().filter(is_tagged) {
            let config = self.node.config(&one.node, one.vmid)?;
            let has_uuid = text(&config, "smbios1")
                .is_some_and(|told| told.split(',').any(|part| part == uuid_of(machine)));
            if has_uuid && (one.name == machine.name || is_ours(deployment, machine, &config)) {
                return Ok(Some(Found { vmid: one.vmid, node: one.node, config }));
            }
        }
        Ok(None)
    }

    fn one(&self, deployment: &Deployment, machine: &Machine) -> Result<Found, Problem> {
        let none = || Problem::NotDone {
            machine: machine.name.clone(),
            said: "no machine of Proxmox has its marker".to_owned(),
        };
        self.found(deployment, machine)?.ok_or_else(none)
    }

    fn on(&self, found: &Found, words: &[&str], more: &[&str]) -> Result<(), Problem> {
        let vmid = found.vmid.to_string();
        let copies = matches!(words[0], "disk" | "snapshot" | "destroy");
        let takes = if copies { Takes::Long } else { Takes::Short };
        let words = [&["qm"], words, &[&vmid], more].concat();
        self.node.run(&words, takes, &mut |_| Ok(())).map(|_| ())
    }

    /// Copies a file of this machine to the node.
    fn put(&self, file: &Path, to: &str) -> Result<(), Problem> {
        let words = ["sh", "-c", "umask 077; cat > \"$1\"", "sh", to];
        let sent = self.node.run(&words, Takes::Long, &mut |input| {
            let cannot = |error| Problem::file("send", file, &error);
            let mut file = File::open(file).map_err(cannot)?;
            std::io::copy(&mut file, input).map(|_| ()).map_err(cannot)
        });
        sent.map(|_| ())
    }

    fn console_of(&self, deployment: &Deployment, machine: &Machine) -> Result<String, Problem> {
        let path = format!("{}/{}.console", folder(deployment), machine.name);
        self.node.ask(&["tail", "-c", CONSOLE_BYTES, "--", &path])
    }
}

/// What a machine of ours is tagged with, from the instant at which it is there.
fn tag(deployment: &Deployment) -> String {
    deployment.mark().trim_end_matches('-').to_owned()
}

/// What a machine's description says.
fn marker(deployment: &Deployment, machine: &Machine) -> String {
    format!("plimsoll {} {}", deployment.token, machine.name)
}

fn is_ours(deployment: &Deployment, machine: &Machine, config: &Value) -> bool {
    // The interface gives a description back with a line's end.
    text(config, "description").is_some_and(|told| told.trim() == marker(deployment, machine))
}

fn uuid_of(machine: &Machine) -> String {
    format!("uuid={}", machine.uuid)
}

/// The folder of these machines on the node. The record holds a token to 32 digits.
fn folder(deployment: &Deployment) -> String {
    format!("{FOLDER}/{}", tag(deployment))
}

/// The slots of our disks in a machine's configuration.
fn slots(deployment: &Deployment) -> Vec<String> {
    let is_scsi = deployment.devices.first().is_some_and(|path| path.starts_with("/dev/sd"));
    let word = if is_scsi { "scsi" } else { "virtio" };
    (0..deployment.disks_each).map(|number| format!("{word}{number}")).collect()
}

/// Whether a key of a configuration is one of a disk.
fn is_disk(key: &str) -> bool {
    let word = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let disks = ["virtio", "scsi", "sata", "ide", "unused", "efidisk", "tpmstate"];
    word.len() < key.len() && disks.contains(&word)
}

/// Whether a volume (`STORAGE:vm-100-…` or `STORAGE:100/vm-100-….raw`) has our mark in its place.
fn is_volume_of(deployment: &Deployment, volid: &str) -> bool {
    let name = volid.rsplit([':', '/']).next().unwrap_or_default();
    let behind =
        name.strip_prefix("vm-").map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
    let is_plain = volid.chars().all(|c| c.is_ascii_alphanumeric() || ":/-_.+".contains(c));
    is_plain
        && !volid.starts_with('-')
        && behind
            .and_then(|it| it.strip_prefix('-'))
            .is_some_and(|it| it.starts_with(&deployment.mark()))
}

/// What qemu is started with beside what Proxmox itself says. Its parts are split as a shell would.
fn arguments(deployment: &Deployment, machine: &Machine, boot: &Boot<'_>) -> String {
    let (folder, name) = (folder(deployment), &machine.name);
    let line = kernel_line(name, boot.bus, machine.disks.len(), boot.accelerator);
    let words = [
        "-kernel",
        &format!("{folder}/kernel"),
        "-initrd",
        &format!("{folder}/image"),
        "-append",
        &line,
        "-device",
        "virtio-serial-pci,id=plimsoll",
        "-chardev",
        &format!("socket,id={AGENT},path={folder}/{name}.agent,server=on,wait=off"),
        "-device",
        &format!("virtserialport,bus=plimsoll.0,chardev={AGENT},name={AGENT_PORT}"),
        "-chardev",
        &format!("file,id=console,path={folder}/{name}.console"),
        "-device",
        "isa-serial,chardev=console",
    ];
    remote::quoted(&words)
}

impl Provider for Proxmox {
    fn node(&self) -> Result<provider::Node, Problem> {
        let name = self.node.names()?.node;
        let memory_available = self.node.memory_available(&name)?;
        Ok(provider::Node { name, memory_available })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Result<Room, Problem> {
        let pool = pool.unwrap_or(STORAGE);
        let storages = self.node.storages(&self.node.names()?.node)?;
        let Some(storage) = storages.into_iter().find(|at| at.name == pool) else {
            let remedy = "name an active storage for disk images (`pvesm status --content images`) \
                          with vms.pool";
            return Err(Problem::NoPool { pool: pool.to_owned(), remedy });
        };
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::Proxmox,
            connect: self.node.connect.clone(),
            site: self.site()?,
            pools: vec![storage.name.clone()],
            template: String::new(),
        });
        Ok(Room { ground, place: PathBuf::from(&storage.name), free: storage.free })
    }

    fn refuse_taken(&self, name: &str) -> Result<(), Problem> {
        match self.node.machines()?.iter().find(|one| one.name == name) {
            Some(one) => Err(Problem::NameOfOthers {
                name: name.to_owned(),
                what: format!("{} on {}", one.vmid, remote::own_line(&one.node)),
            }),
            None => Ok(()),
        }
    }

    fn prepare(&self, deployment: &Deployment, guest: &Guest) -> Result<(), Problem> {
        let folder = folder(deployment);
        self.node.ask(&["mkdir", "-m", "700", "--", &folder])?;
        self.put(guest.file(), &format!("{folder}/kernel"))?;
        self.put(&deployment.folder.join(crate::record::IMAGE), &format!("{folder}/image"))?;
        // Disks belong to machines there, so that these are made first.
        for machine in &deployment.machines {
            let vmid = self.node.next_id()?.to_string();
            let words = ["qm", "create", &vmid, "--name", &machine.name, "--ostype", "l26"];
            let (tag, marker, uuid) =
                (tag(deployment), marker(deployment, machine), uuid_of(machine));
            let more = ["--tags", &tag, "--description", &marker, "--smbios1", &uuid];
            let fixed = ["--machine", "q35", "--scsihw", "virtio-scsi-single", "--onboot", "0"];
            self.node.ask(&[&words[..], &more, &fixed].concat())?;
        }
        Ok(())
    }

    fn make_volume(
        &self,
        deployment: &Deployment,
        disk: &Volume,
        stop: &AtomicBool,
    ) -> Result<(), Problem> {
        let has = |machine: &&Machine| machine.disks.contains(&disk.path);
        let unknown = || Problem::Unknown { name: deployment.name.clone() };
        let machine = deployment.machines.iter().find(has).ok_or_else(unknown)?;
        let number =
            machine.disks.iter().position(|path| *path == disk.path).ok_or_else(unknown)?;
        let found = self.one(deployment, machine)?;
        let (vmid, kib) = (found.vmid.to_string(), (disk.size.0 / 1024).to_string());
        let (pool, name) =
            (remote::first_pool(deployment), format!("vm-{vmid}-{}", disk.path.display()));
        let words = ["pvesm", "alloc", pool, &vmid, &name, &kib, "--format", "raw"];
        self.node.run(&words, Takes::Long, &mut |_| Ok(()))?;
        let volumes = self.node.volumes(&found.node, pool)?;
        let volume = volumes.iter().find(|volid| {
            volid.rsplit([':', '/']).next() == Some(&name) && is_volume_of(deployment, volid)
        });
        let volume = volume.ok_or_else(|| strange("pvesm alloc", "volume of ours"))?;
        if disk.content == DiskContent::Random {
            let path = self.node.ask(&["pvesm", "path", volume])?;
            let path = path.trim();
            if !path.starts_with('/') {
                return Err(Problem::Unfit {
                    what: format!("the storage {pool} has no path to write random bytes to"),
                    remedy: "write vms.content = \"zero\"; a run's `prepare` writes every byte of \
                             the disks before it measures"
                        .to_owned(),
                });
            }
            let to = format!("of={path}");
            let words = ["dd", &to, "bs=1M", "iflag=fullblock", "conv=notrunc,fsync"];
            self.node.run(&words, Takes::Long, &mut |input| {
                let cannot = |error| Problem::file("fill the disk", &disk.path, &error);
                volume::fill(input, disk, stop, &cannot)
            })?;
        }
        let slot = slots(deployment).get(number).map(|slot| format!("--{slot}"));
        let slot = slot.ok_or_else(unknown)?;
        let value = format!("{volume},cache={},backup=0", deployment.cache.word());
        self.on(&found, &["set"], &[&slot, &value])
    }

    fn start(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        boot: &Boot<'_>,
    ) -> Result<(), Problem> {
        let refused = |problem: Problem| match problem {
            Problem::Tool { said, .. } => {
                Problem::NotStarted { machine: machine.name.clone(), said }
            }
            other => other,
        };
        let found = self.one(deployment, machine)?;
        let (memory, cpus) =
            ((boot.memory.0 / Bytes::mib(1).0).to_string(), boot.vcpus.to_string());
        let (kvm, cpu) = match boot.accelerator {
            Accelerator::Tcg => ("0", "max"),
            Accelerator::Kvm | Accelerator::Native => ("1", "host"),
        };
        let arguments = arguments(deployment, machine, boot);
        let words = ["--memory", &memory, "--balloon", "0", "--cores", &cpus];
        let more = ["--kvm", kvm, "--cpu", cpu, "--args", &arguments];
        self.on(&found, &["set"], &[&words[..], &more].concat()).map_err(refused)?;
        self.on(&found, &["start"], &[]).map_err(refused)
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let found = match self.found(deployment, machine) {
            Ok(Some(found)) => found,
            Ok(None) => return State::Absent,
            Err(_) => return State::Unknown,
        };
        match self.node.status(&found.node, found.vmid).as_deref() {
            Ok("running") => match self.console_of(deployment, machine) {
                // The guest's first process says so before it opens the agent's line.
                Ok(console) if console.contains(FIRST_READ) => State::Listening,
                _ => State::Starting,
            },
            Ok("paused" | "suspended") => State::Paused,
            Ok("prelaunch") => State::Starting,
            Ok(_) => State::Absent,
            Err(_) => State::Unknown,
        }
    }

    fn cpu(&self, _: &Deployment, _: &Machine) -> Option<HostCpu> {
        None
    }

    fn console(&self, deployment: &Deployment, machine: &Machine) -> String {
        let text = self.console_of(deployment, machine).unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n")
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Result<Line, Problem> {
        let socket = PathBuf::from(format!("{}/{}.agent", folder(deployment), machine.name));
        Ok(Line::Ssh { host: self.node.host()?.to_owned(), socket })
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Result<Acted, Problem> {
        let found = self.one(deployment, machine)?;
        let done = |word: &str| self.on(&found, &[word], &[]).map(|()| Acted::default());
        match act {
            MachineAct::Pause => done("suspend"),
            MachineAct::Resume => done("resume"),
            MachineAct::Off => done("stop"),
            MachineAct::Snapshot => {
                self.on(&found, &["snapshot"], &["plimsoll", "--vmstate", "0"])?;
                Ok(Acted { disks: deployment.disks_each, ..Acted::default() })
            }
            MachineAct::Migrate => Err(remote::cannot_migrate(machine)),
            MachineAct::Move => {
                let mut acted = Acted::default();
                for slot in slots(deployment) {
                    let more = [slot.as_str(), to.unwrap_or(STORAGE), "--delete", "1"];
                    self.on(&found, &["disk", "move"], &more)?;
                    acted.disks += 1;
                    let size = text(&found.config, &slot).and_then(size_in).unwrap_or(Bytes(0));
                    acted.copied = Bytes(acted.copied.0.saturating_add(size.0));
                }
                Ok(acted)
            }
        }
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Result<(), Problem> {
        remote::same_site(deployment, &self.site()?)?;
        let Some(found) = self.found(deployment, machine)? else { return Ok(()) };
        let ours = slots(deployment);
        let config = found.config.as_object();
        let is_other = |key: &&String| is_disk(key) && !ours.contains(key);
        if let Some(key) = config.and_then(|config| config.keys().find(is_other)) {
            return Err(Problem::NotDone {
                machine: machine.name.clone(),
                said: format!("it has a disk of somebody else ({key}); detach that first"),
            });
        }
        if self.node.status(&found.node, found.vmid)? != "stopped" {
            self.on(&found, &["stop"], &[])?;
        }
        // What has the machine's number and is not in it may be somebody else's.
        self.on(&found, &["destroy"], &["--purge", "1", "--destroy-unreferenced-disks", "0"])
    }

    fn clear(&self, deployment: &Deployment) -> Result<(), Problem> {
        remote::same_site(deployment, &self.site()?)?;
        let node = self.node.names()?.node;
        for pool in remote::pools(deployment) {
            let volumes = self.node.volumes(&node, pool)?;
            for volume in volumes.iter().filter(|volid| is_volume_of(deployment, volid)) {
                self.node.run(&["pvesm", "free", volume], Takes::Long, &mut |_| Ok(()))?;
            }
        }
        self.node.ask(&["rm", "-rf", "--one-file-system", "--", &folder(deployment)]).map(|_| ())
    }

    fn fits(&self, wanted: &MachinesWanted) -> Result<Bytes, Problem> {
        let unfit = |what: &str, remedy: &str| {
            Err(Problem::Unfit { what: what.into(), remedy: remedy.into() })
        };
        if wanted.accelerator == Accelerator::Native {
            let remedy = "write vms.accelerator = \"kvm\" or \"tcg\"";
            return unfit("the accelerator `native` is for providers that have their own", remedy);
        }
        if wanted.bus == DiskBus::Nvme {
            let remedy = "write vms.bus = \"virtio-blk\" or \"virtio-scsi\"";
            return unfit("Proxmox has no NVMe disks for its machines", remedy);
        }
        if wanted.disks > MOST_DISKS {
            return unfit("Proxmox has 16 such disks for a machine at most", "lower vms.disks");
        }
        if wanted.allocation == DiskAllocation::Thick && wanted.content == DiskContent::Zero {
            let remedy = "write vms.allocation = \"thin\", or vms.content = \"random\"";
            return unfit("the storage decides what an empty disk takes of it", remedy);
        }
        Ok(Bytes(0))
    }
}

/// The size that a disk's words have: `size=32M`.
fn size_in(words: &str) -> Option<Bytes> {
    let size = words.split(',').find_map(|word| word.strip_prefix("size="))?;
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let scale = match &size[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(scale).map(Bytes)
}
