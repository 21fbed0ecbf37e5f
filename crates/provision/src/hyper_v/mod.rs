//! Machines of a Hyper-V, through PowerShell over ssh (OpenSSH of Windows Server). They are copies
//! of a disk image of the user's; ssh reaches their agents.
//!
//! Sources: the [commands of Hyper-V](https://learn.microsoft.com/powershell/module/hyper-v/) and
//! [OpenSSH of Windows](https://learn.microsoft.com/windows-server/administration/openssh/). Never
//! tried on a real host: the words are tested, not what they do.

mod powershell;
#[cfg(test)]
mod tests;

use crate::Problem;
use crate::guest::Guest;
use crate::provider::{Acted, Boot, Line, Machine, Node, Provider, Room, State, Volume};
use crate::record::{Deployment, Ground, Remote};
use crate::remote::{self, Guests, Program, Runs, Takes, number, text};
use model::Bytes;
use model::machines::{DiskAllocation, DiskBus, HostCpu, MachineAct, MachinesWanted, ProviderKind};
use powershell::Shell;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The place of our first disk on the adapter: the image is at 0.
const FIRST_LUN: usize = 1;

/// A Hyper-V.
pub struct HyperV {
    shell: Shell,
    template: String,
    guests: Guests,
}

impl HyperV {
    /// The host behind an address such as `ssh://administrator@hv1`.
    pub fn new(connect: &str, template: &str) -> HyperV {
        let program = Program::new("ssh", "openssh-client");
        HyperV::with(Box::new(program), connect, template)
    }

    fn with(program: Box<dyn Runs>, connect: &str, template: &str) -> HyperV {
        let shell = Shell { program, connect: connect.to_owned() };
        HyperV { shell, template: template.to_owned(), guests: Guests::new() }
    }

    fn host(&self) -> Result<Value, Problem> {
        self.shell.ask(powershell::HOST, &json!({}))
    }

    fn site(&self) -> Result<String, Problem> {
        let told = self.host()?;
        let id = text(&told, "id").ok_or_else(|| strange("id"))?;
        Ok(format!("the Hyper-V host {}", remote::own_line(id)))
    }

    /// What a machine of ours does.
    fn told(&self, deployment: &Deployment, machine: &Machine) -> Result<Value, Problem> {
        let about = json!({ "name": machine.name, "mark": marker(deployment, machine) });
        self.shell.ask(powershell::STATE, &about)
    }
}

fn strange(what: &str) -> Problem {
    let call = "powershell".to_owned();
    Problem::Tool { call, said: format!("its answer has no {what}") }
}

/// What a machine's notes say.
fn marker(deployment: &Deployment, machine: &Machine) -> String {
    format!("plimsoll {} {}", deployment.token, machine.name)
}

/// What a machine is called until its notes say whose it is.
fn first_name(deployment: &Deployment, machine: &Machine) -> String {
    format!("{}{}", deployment.mark(), machine.name)
}

/// The folder of these machines in a pool.
fn folder(deployment: &Deployment, pool: &str) -> String {
    format!("{}/{}", slashes(pool).trim_end_matches('/'), deployment.mark().trim_end_matches('-'))
}

/// A path with the slashes that PowerShell and suites take alike.
fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}

/// What a disk's file is called, but for its end.
fn stem(deployment: &Deployment, disk: &Path) -> String {
    let name = disk.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_prefix(&deployment.mark()).unwrap_or(&name).to_owned()
}

fn file(deployment: &Deployment, pool: &str, disk: &Path) -> String {
    format!("{}/{}.vhdx", folder(deployment, pool), stem(deployment, disk))
}

/// The first address that a machine has; a machine without guest services has none.
fn address(told: &Value) -> Option<String> {
    // A list of one becomes a text on its way through PowerShell.
    let addresses = told.get("addresses")?;
    let first = addresses.as_str().or_else(|| addresses.get(0).and_then(Value::as_str))?;
    Some(first.to_owned())
}

/// The guest's path of what is at a place of its adapter.
fn device(lun: usize, answer: &str) -> Result<String, Problem> {
    let mut lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_path = |line: &str| {
        line.strip_prefix("/dev/").is_some_and(|it| it.chars().all(|c| c.is_ascii_alphanumeric()))
    };
    match (lines.next(), lines.next()) {
        (Some(line), None) if is_path(line) => Ok(line.to_owned()),
        _ => Err(Problem::Tool {
            call: "ssh".to_owned(),
            said: format!("the guest does not say which disk is at place {lun} of its adapter"),
        }),
    }
}

impl Provider for HyperV {
    fn node(&self) -> Result<Node, Problem> {
        let told = self.host()?;
        let name = text(&told, "name").ok_or_else(|| strange("name"))?;
        let free = number("powershell", &told, "free")?;
        Ok(Node { name: remote::own_line(name), memory_available: Bytes(free) })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Result<Room, Problem> {
        let told = self.host()?;
        let own = || text(&told, "pool").map(slashes).ok_or_else(|| strange("pool"));
        let pool = pool.map_or_else(own, |pool| Ok(slashes(pool)))?;
        let free = self.shell.ask(powershell::ROOM, &json!({ "pool": pool }))?;
        let ground = Ground::Remote(Remote {
            provider: ProviderKind::HyperV,
            connect: self.shell.connect.clone(),
            site: self.site()?,
            pools: vec![pool.clone()],
            template: self.template.clone(),
        });
        let free = Bytes(number("powershell", &free, "free")?);
        Ok(Room { ground, place: PathBuf::from(pool), free })
    }

    fn refuse_taken(&self, name: &str) -> Result<(), Problem> {
        let told = self.shell.ask(powershell::TAKEN, &json!({ "name": name }))?;
        match number("powershell", &told, "count")? {
            0 => Ok(()),
            _ => Err(Problem::NameOfOthers {
                name: name.to_owned(),
                what: "a machine of this Hyper-V".to_owned(),
            }),
        }
    }

    fn prepare(&self, deployment: &Deployment, _: &Guest) -> Result<(), Problem> {
        let about = json!({ "folder": folder(deployment, remote::first_pool(deployment)) });
        self.shell.run(powershell::FOLDER, &about, Takes::Short).map(|_| ())
    }

    fn make_volume(
        &self,
        deployment: &Deployment,
        volume: &Volume,
        _: &AtomicBool,
    ) -> Result<(), Problem> {
        let about = json!({
            "path": file(deployment, remote::first_pool(deployment), &volume.path),
            "size": volume.size.0,
            "thick": volume.allocation == DiskAllocation::Thick,
        });
        self.shell.run(powershell::DISK, &about, Takes::Long).map(|_| ())
    }

    fn start(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        boot: &Boot<'_>,
    ) -> Result<(), Problem> {
        let pool = remote::first_pool(deployment);
        let disks = machine.disks.iter().enumerate().map(|(number, disk)| {
            json!({ "lun": FIRST_LUN + number, "path": file(deployment, pool, disk) })
        });
        let folder = folder(deployment, pool);
        let about = json!({
            "name": machine.name,
            "first": first_name(deployment, machine),
            "mark": marker(deployment, machine),
            "folder": folder,
            "template": slashes(&self.template),
            "system": format!("{folder}/{}-system.vhdx", machine.name),
            "memory": boot.memory.0,
            "cpus": boot.vcpus,
            "disks": disks.collect::<Vec<_>>(),
        });
        let started = self.shell.run(powershell::START, &about, Takes::Long);
        started.map(|_| ()).map_err(|problem| match problem {
            Problem::Tool { said, .. } => {
                Problem::NotStarted { machine: machine.name.clone(), said }
            }
            other => other,
        })
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let Ok(told) = self.told(deployment, machine) else { return State::Unknown };
        match text(&told, "state").unwrap_or_default() {
            "Running" => self.guests.state(address(&told).as_deref()),
            "Paused" | "Saved" => State::Paused,
            "Starting" | "Resuming" => State::Starting,
            _ => State::Absent,
        }
    }

    fn cpu(&self, _: &Deployment, _: &Machine) -> Option<HostCpu> {
        None
    }

    fn console(&self, _: &Deployment, _: &Machine) -> String {
        remote::no_console("Hyper-V")
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Result<Line, Problem> {
        Guests::line(deployment, machine, address(&self.told(deployment, machine)?))
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Result<Acted, Problem> {
        if act == MachineAct::Migrate {
            return Err(remote::cannot_migrate(machine));
        }
        let to = to.unwrap_or_default();
        let disks = machine.disks.iter().map(|disk| {
            let from = file(deployment, remote::first_pool(deployment), disk);
            json!({ "from": from, "to": file(deployment, to, disk) })
        });
        let about = json!({
            "name": machine.name,
            "mark": marker(deployment, machine),
            "act": act.word(),
            "to": folder(deployment, to),
            "disks": disks.collect::<Vec<_>>(),
        });
        self.shell.run(powershell::ACT, &about, Takes::Long)?;
        // What a dynamic disk has in it is not asked for.
        let has_disks = matches!(act, MachineAct::Move | MachineAct::Snapshot);
        let disks = if has_disks { deployment.disks_each } else { 0 };
        Ok(Acted { disks, ..Acted::default() })
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Result<(), Problem> {
        remote::same_site(deployment, &self.site()?)?;
        let folders = remote::pools(deployment).iter().map(|pool| folder(deployment, pool));
        let about = json!({
            "name": machine.name,
            "first": first_name(deployment, machine),
            "mark": marker(deployment, machine),
            "folders": folders.collect::<Vec<_>>(),
        });
        self.shell.run(powershell::REMOVE, &about, Takes::Long).map(|_| ())
    }

    fn clear(&self, deployment: &Deployment) -> Result<(), Problem> {
        remote::same_site(deployment, &self.site()?)?;
        let disks = deployment.machines.iter().flat_map(|machine| &machine.disks);
        let stems = disks.map(|disk| stem(deployment, disk));
        let systems = deployment.machines.iter().map(|it| format!("{}-system", it.name));
        let stems: Vec<String> = stems.chain(systems).collect();
        for pool in remote::pools(deployment) {
            let about = json!({ "folder": folder(deployment, pool), "stems": stems });
            self.shell.run(powershell::CLEAR, &about, Takes::Long)?;
        }
        Ok(())
    }

    fn fits(&self, wanted: &MachinesWanted) -> Result<Bytes, Problem> {
        remote::fits_a_template("Hyper-V", &self.template, wanted)?;
        let unfit = |what: &str, remedy: &str| {
            Err(Problem::Unfit { what: what.to_owned(), remedy: remedy.to_owned() })
        };
        if wanted.bus == DiskBus::Nvme {
            let remedy = "write vms.bus = \"virtio-scsi\"";
            return unfit("disks of Hyper-V are made on its SCSI adapter alone", remedy);
        }
        let about = json!({ "template": slashes(&self.template) });
        let told = self.shell.ask(powershell::TEMPLATE, &about)?;
        if number("powershell", &told, "switches")? != 1 {
            let remedy = "leave one external switch; which one a machine gets is not asked for";
            return unfit("the host has none or several external switches", remedy);
        }
        let size = number("powershell", &told, "size")?;
        Ok(Bytes(size.saturating_mul(u64::from(wanted.count()))))
    }

    fn boots_our_guest(&self) -> bool {
        false
    }

    fn devices(&self, deployment: &Deployment, machine: &Machine) -> Result<Vec<String>, Problem> {
        let address = address(&self.told(deployment, machine)?);
        let address = address.ok_or_else(|| strange("address"))?;
        let devices = (0..machine.disks.len()).map(|number| {
            let lun = FIRST_LUN + number;
            // Linux numbers the disks of an adapter by their places: HOST:CHANNEL:TARGET:LUN.
            let command = format!(
                "for d in /sys/bus/scsi/devices/*:0:0:{lun}/block/*; do echo /dev/${{d##*/}}; done"
            );
            device(lun, &self.guests.ask(&address, &command)?)
        });
        devices.collect()
    }
}
