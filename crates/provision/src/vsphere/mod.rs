//! Machines of a vCenter or an ESXi, through `govc`, with its own environment (`GOVC_URL` and the
//! like). They are copies of a machine or template of the user's; ssh reaches their agents.
//!
//! Sources: the [usage of `govc`](https://github.com/vmware/govmomi/blob/main/govc/USAGE.md); the
//! guest's name of a disk, `/dev/disk/by-id/wwn-0x` and its UUID, from the vSphere volumes of
//! [Kubernetes 1.26](https://github.com/kubernetes/kubernetes/tree/v1.26.0) (`pkg/volume`).

mod govc;
#[cfg(test)]
mod tests;

use crate::guest::Guest;
use crate::provider::{Acted, Boot, Line, Machine, Node, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground, Remote};
use crate::remote::{self, Guests, Program};
use crate::{Outcome, Problem, remote::base64};
use govc::{Disk, Govc, Properties};
use model::Bytes;
use model::machines::{DiskAllocation, DiskBus, HostCpu, MachineAct, MachinesWanted, ProviderKind};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The most disks of one paravirtual SCSI adapter.
const MOST_ON_ADAPTER: usize = 15;
/// What a machine is asked for.
const ASKED: [&str; 6] = [
    "name",
    "config.annotation",
    "config.uuid",
    "config.files.vmPathName",
    "runtime.powerState",
    "guest.ipAddress",
];

/// A vCenter or an ESXi.
pub struct Vsphere {
    govc: Govc,
    template: String,
    guests: Guests,
}

/// A machine of ours that is there.
struct Found {
    path: String,
    told: Properties,
}

impl Found {
    fn of(&self, key: &str) -> &str {
        self.told.get(key).and_then(|value| value.as_str()).unwrap_or_default()
    }

    fn address(&self) -> Option<String> {
        Some(self.of("guest.ipAddress").to_owned()).filter(|address| !address.is_empty())
    }
}

impl Vsphere {
    /// The server behind an address, or what `govc` finds in its environment.
    pub fn new(connect: &str, template: &str) -> Vsphere {
        let program = Program::new("govc", "govc (of the project govmomi, not in Debian)");
        let pool = std::env::var("GOVC_RESOURCE_POOL").ok().filter(|pool| !pool.is_empty());
        Vsphere::with(Box::new(program), pool, connect, template)
    }

    fn with(
        program: Box<dyn remote::Runs>,
        resource_pool: Option<String>,
        connect: &str,
        template: &str,
    ) -> Vsphere {
        // The default of `vms.connect` is libvirt's.
        let url = if connect.starts_with("http") { connect } else { "" };
        let govc = Govc { program, url: url.to_owned(), resource_pool };
        Vsphere { govc, template: template.to_owned(), guests: Guests::new() }
    }

    /// A machine of ours. Somebody's copy of it has its marker, too, but neither its name nor its
    /// UUID; and one of ours that was given another name keeps its UUID.
    fn found(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Option<Found>> {
        let mark = marker(deployment, machine);
        let mut ours = Vec::new();
        for path in self.govc.paths("m", "-config.annotation", &mark)? {
            let one = Found { told: self.govc.properties(&path, &ASKED)?, path };
            if one.of("config.annotation") != mark {
                // To take it for nobody's would be to forget it.
                let call = "govc find".to_owned();
                let said = "it found a machine by a note that this one has not".to_owned();
                return Err(Problem::Tool { call, said });
            }
            let is_ours = one.of("name") == machine.name
                || one.of("config.uuid").eq_ignore_ascii_case(&machine.uuid);
            if is_ours {
                ours.push(one);
            }
        }
        match ours.len() {
            0 | 1 => Ok(ours.pop()),
            more => Err(Problem::not_done(
                &machine.name,
                format!("{more} machines of vSphere have its marker; remove the copies"),
            )),
        }
    }

    /// The path of what machines are copies of: govc itself takes a name for several objects.
    fn template_path(&self) -> Outcome<String> {
        let template = &self.template;
        if template.starts_with('/') {
            return Ok(template.clone());
        }
        // govc takes these for a pattern.
        let is_name = !template.contains(['*', '?', '[', '\\', '/']);
        let mut paths = match is_name {
            true => self.govc.paths("m", "-name", template)?,
            false => Vec::new(),
        };
        match (paths.pop(), paths.len()) {
            (Some(path), 0) => Ok(path),
            (_, more) => Err(Problem::unfit(
                match more {
                    0 => format!("vSphere has no machine or template called `{template}`"),
                    _ => format!("vSphere has {} machines called `{template}`", more + 1),
                },
                "write a path of `govc find / -type m` as vms.template",
            )),
        }
    }

    fn one(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Found> {
        let none = || Problem::not_done(&machine.name, "no machine of vSphere has its marker");
        self.found(deployment, machine)?.ok_or_else(none)
    }

    /// Refuses to destroy a machine with disks that others attached to it: they would go with it.
    fn refuse_other_disks(&self, deployment: &Deployment, found: &Found) -> Outcome {
        let home = folder_of(found.of("config.files.vmPathName")).unwrap_or_default().to_owned();
        let ours = folder(deployment);
        let is_other = |disk: &&Disk| {
            let folder = folder_of(&disk.file);
            folder != Some(home.as_str()) && folder != Some(ours.as_str())
        };
        match self.govc.disks(&found.path)?.iter().find(is_other) {
            Some(disk) => {
                let said =
                    format!("it has a disk of somebody else, {}; detach that first", disk.file);
                Err(Problem::not_done(found.of("name"), said))
            }
            None => Ok(()),
        }
    }

    /// Sets a copy up, and attaches its disks.
    fn furnish(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        boot: &Boot<'_>,
        path: &str,
    ) -> Outcome {
        let (memory, cpus) = (boot.memory.0 / Bytes::mib(1).0, boot.vcpus);
        let told = json!({ "instance-id": machine.uuid, "local-hostname": machine.name });
        // The form of cloud-init's data source for vSphere.
        let seed = format!("guestinfo.metadata={}", base64(told.to_string().as_bytes()));
        let token = format!("guestinfo.plimsoll.token={}", deployment.token);
        let (memory, cpus) = (memory.to_string(), cpus.to_string());
        let words = ["-vm", path, "-m", &memory, "-c", &cpus, "-uuid", &machine.uuid];
        let more = ["-e", "disk.EnableUUID=TRUE", "-e", &token, "-e", &seed];
        let more = [&more[..], &["-e", "guestinfo.metadata.encoding=base64"]].concat();
        self.govc.ask("vm.change", &[&words[..], &more].concat())?;
        let pool = remote::first_pool(deployment);
        for disks in machine.disks.chunks(MOST_ON_ADAPTER) {
            let added = self.govc.ask("device.scsi.add", &["-vm", path, "-type", "pvscsi"])?;
            let adapter = adapter(&added)?;
            for disk in disks {
                let file = file_of(deployment, disk);
                let words = ["-vm", path, "-link=false", "-ds", pool, "-controller", adapter];
                self.govc.ask("vm.disk.attach", &[&words[..], &["-disk", &file]].concat())?;
            }
        }
        Ok(())
    }
}

/// What a machine's annotation says from the instant at which it is there.
fn marker(deployment: &Deployment, machine: &Machine) -> String {
    format!("plimsoll {} {}", deployment.token, machine.name)
}

/// The folder of our disks in each datastore.
fn folder(deployment: &Deployment) -> String {
    deployment.mark().trim_end_matches('-').to_owned()
}

/// A disk's file in its datastore.
fn file_of(deployment: &Deployment, disk: &Path) -> String {
    format!("{}/{}.vmdk", folder(deployment), stem(deployment, disk))
}

/// What a disk's files are called in our folder, but for their ends.
fn stem(deployment: &Deployment, disk: &Path) -> String {
    let name = disk.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_prefix(&deployment.mark()).unwrap_or(&name).to_owned()
}

/// `FOLDER` of `[DATASTORE] FOLDER/FILE`.
fn folder_of(file: &str) -> Option<&str> {
    let (_, path) = file.split_once("] ")?;
    path.rsplit_once('/').map(|(folder, _)| folder)
}

fn adapter(said: &str) -> Outcome<&str> {
    let name = said.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    match name.starts_with("pvscsi-") && name.chars().all(is_plain) {
        true => Ok(name),
        false => Err(Problem::tool(
            "govc device.scsi.add",
            format!("its answer names no adapter: {}", remote::own_line(name)),
        )),
    }
}

fn device(uuid: &str) -> Option<String> {
    let digits: String = uuid.chars().filter(|c| *c != '-').collect();
    let is_uuid = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_uuid.then(|| format!("/dev/disk/by-id/wwn-0x{}", digits.to_ascii_lowercase()))
}

impl Provider for Vsphere {
    fn node(&self) -> Outcome<Node> {
        let hosts = self.govc.hosts()?;
        let free = hosts.iter().fold(0u64, |sum, host| sum.saturating_add(host.free.0));
        let name = match hosts.as_slice() {
            [one] => one.name.clone(),
            many => format!("{} hosts of vSphere", many.len()),
        };
        Ok(Node { name, memory_available: Bytes(free) })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Outcome<Room> {
        let stores = self.govc.stores()?;
        let named: Vec<_> =
            stores.iter().filter(|at| pool.is_none_or(|it| at.name == it)).collect();
        let [store] = named.as_slice() else {
            let remedy = "name one datastore of `govc find / -type s` with vms.pool, and its \
                          datacenter with GOVC_DATACENTER";
            return Err(Problem::NoPool { pool: pool.unwrap_or_default().to_owned(), remedy });
        };
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::Vsphere,
            connect: self.govc.url.clone(),
            site: self.govc.site()?,
            pools: vec![store.name.clone()],
            template: self.template.clone(),
        });
        Ok(Room { ground, place: PathBuf::from(&store.name), free: store.free })
    }

    fn refuse_taken(&self, name: &str) -> Outcome {
        match self.govc.paths("m", "-name", name)?.first() {
            Some(path) => {
                let what = format!("{} of vSphere", remote::own_line(path));
                Err(Problem::NameOfOthers { name: name.to_owned(), what })
            }
            None => Ok(()),
        }
    }

    fn prepare(&self, deployment: &Deployment, _: &Guest) -> Outcome {
        let pool = remote::first_pool(deployment);
        self.govc.ask("datastore.mkdir", &["-ds", pool, &folder(deployment)]).map(|_| ())
    }

    fn make_volume(&self, deployment: &Deployment, volume: &Volume, _: &AtomicBool) -> Outcome {
        let format = match volume.allocation {
            // Clones were refused before anything was made.
            DiskAllocation::Thin | DiskAllocation::Linked => "thin",
            DiskAllocation::Thick => "eagerZeroedThick",
        };
        let (size, file) = (format!("{}B", volume.size.0), file_of(deployment, &volume.path));
        let pool = remote::first_pool(deployment);
        let words = ["-ds", pool, "-d", format, "-size", &size, &file];
        self.govc.copy("datastore.disk.create", &words).map(|_| ())
    }

    fn start(&self, deployment: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome {
        let (pool, mark) = (remote::first_pool(deployment), marker(deployment, machine));
        let template = self.template_path()?;
        let words = ["-vm", &template, "-on=false", "-ds", pool, "-annotation", &mark];
        let cloned = self.govc.copy("vm.clone", &[&words[..], &[&machine.name]].concat());
        let made = cloned.and_then(|_| {
            let path = self.one(deployment, machine)?.path;
            self.furnish(deployment, machine, boot, &path)?;
            self.govc.ask("vm.power", &["-on", &path])
        });
        made.map(|_| ()).map_err(|problem| problem.of_start(machine))
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let found = match self.found(deployment, machine) {
            Ok(Some(found)) => found,
            Ok(None) => return State::Absent,
            Err(_) => return State::Unknown,
        };
        match found.of("runtime.powerState") {
            "poweredOn" => self.guests.state(found.address().as_deref()),
            "suspended" => State::Paused,
            _ => State::Absent,
        }
    }

    fn cpu(&self, _: &Deployment, _: &Machine) -> Option<HostCpu> {
        None
    }

    fn console(&self, _: &Deployment, _: &Machine) -> String {
        "(vSphere shows no console here; look at the machine with its own tools)".to_owned()
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Line> {
        let found = self.one(deployment, machine)?;
        Guests::line(deployment, machine, found.address())
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Outcome<Acted> {
        let found = self.one(deployment, machine)?;
        let is_suspended = found.of("runtime.powerState") == "suspended";
        let path = found.path;
        let power =
            |word: &str| self.govc.ask("vm.power", &[word, &path]).map(|_| Acted::default());
        match act {
            MachineAct::Pause => power("-suspend"),
            MachineAct::Resume if is_suspended => power("-on"),
            MachineAct::Resume => Err(Problem::not_done(&machine.name, "it is not paused")),
            MachineAct::Off => power("-off"),
            MachineAct::Snapshot => {
                self.govc.ask("snapshot.create", &["-vm", &path, "-m=false", "plimsoll"])?;
                Ok(Acted { disks: deployment.disks_each, ..Acted::default() })
            }
            MachineAct::Migrate => Err(Problem::not_done(
                &machine.name,
                "its provider is not asked to move it to another node",
            )),
            MachineAct::Move => {
                let to = to.unwrap_or_default();
                self.govc.copy("vm.migrate", &["-ds", to, &path])?;
                // What is there now counts, not what was asked for.
                let (place, mut acted) = (format!("[{to}] "), Acted::default());
                for disk in self.govc.disks(&path)? {
                    if disk.file.starts_with(&place) {
                        acted.disks += 1;
                        acted.copied = Bytes(acted.copied.0.saturating_add(disk.size.0));
                    }
                }
                Ok(acted)
            }
        }
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Outcome {
        remote::same_site(deployment, &self.govc.site()?)?;
        let Some(found) = self.found(deployment, machine)? else { return Ok(()) };
        self.refuse_other_disks(deployment, &found)?;
        if found.of("runtime.powerState") != "poweredOff" {
            self.govc.ask("vm.power", &["-off", "-force", &found.path])?;
        }
        self.govc.copy("vm.destroy", &[&found.path]).map(|_| ())
    }

    fn clear(&self, deployment: &Deployment) -> Outcome {
        remote::same_site(deployment, &self.govc.site()?)?;
        let folder = folder(deployment);
        let disks = deployment.machines.iter().flat_map(|machine| &machine.disks);
        let stems: Vec<String> = disks.map(|disk| stem(deployment, disk)).collect();
        for pool in remote::pools(deployment) {
            let Some(files) = self.govc.files(pool, &folder)? else { continue };
            let is_other = |name: &&String| !stems.iter().any(|stem| name.starts_with(stem));
            if let Some(name) = files.iter().find(is_other) {
                let path = PathBuf::from(format!("[{pool}] {folder}/{}", remote::own_line(name)));
                return Err(Problem::NotOurs { path, why: "is in a folder of ours" });
            }
            self.govc.copy("datastore.rm", &["-ds", pool, &folder])?;
        }
        Ok(())
    }

    fn fits(&self, wanted: &MachinesWanted) -> Outcome<Bytes> {
        remote::fits_a_template("vSphere", &self.template, wanted)?;
        if self.govc.url.contains('@') {
            return Err(Problem::unfit(
                "vms.connect has a user or a password in it, which others could see",
                "write them to GOVC_USERNAME and GOVC_PASSWORD",
            ));
        }
        if wanted.bus == DiskBus::Nvme {
            return Err(Problem::unfit(
                "disks of vSphere are made on its paravirtual SCSI adapter alone",
                "write vms.bus = \"virtio-scsi\"",
            ));
        }
        let hosts = self.govc.hosts()?;
        let largest = hosts.iter().map(|host| host.free).max().unwrap_or(Bytes(0));
        if wanted.memory > largest {
            // Machines are not divided among hosts.
            return Err(Problem::Memory { needed: wanted.memory, available: largest });
        }
        let wanted_of = ["summary.storage.committed", "config.template"];
        let told = self.govc.properties(&self.template_path()?, &wanted_of)?;
        let taken = told.get("summary.storage.committed").and_then(serde_json::Value::as_u64);
        Ok(Bytes(taken.unwrap_or(0).saturating_mul(u64::from(wanted.count()))))
    }

    fn boots_our_guest(&self) -> bool {
        false
    }

    fn devices(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Vec<String>> {
        let found = self.one(deployment, machine)?;
        let there = self.govc.disks(&found.path)?;
        let of = |disk: &PathBuf| {
            let file = file_of(deployment, disk);
            let one = there.iter().find(|one| one.file.ends_with(&format!("] {file}")))?;
            device(one.uuid.as_deref()?)
        };
        Ok(machine.disks.iter().filter_map(of).collect())
    }
}
