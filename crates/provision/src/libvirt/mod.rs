//! Machines as domains of a libvirt, through its own `virsh`: of this machine, or of a host that
//! libvirt reaches over ssh (`qemu+ssh://host/system`). Nothing of ours runs there but the guests.

mod domain;
mod migration;
mod virsh;

use crate::guest::{Guest, ImageFormat};
use crate::provider::{Acted, Boot, Line, Machine, Marked, Node, Provider, Room, State, Volume};
use crate::qemu::{kvm, remove_file};
use crate::record::{Deployment, Ground};
use crate::{Outcome, Problem, volume};
use domain::{Sources, Starts, described};
use model::Bytes;
use model::machines::{Accelerator, BootReads, DiskAllocation, DiskContent, HostCpu, MachineAct};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use virsh::Virsh;

/// What a pool is called where nobody names one.
const POOL: &str = "default";
/// What kernel, image and consoles are called behind our mark.
const KERNEL: &str = "kernel";
const IMAGE: &str = "image";
/// The same of a machine that boots an image: its clone of that, and its seed.
const ROOT: &str = "root";
const SEED: &str = "seed";
/// How much of a console is kept in words.
const CONSOLE_LINES: usize = 12;

/// A libvirt.
#[derive(Clone, Debug)]
pub struct Libvirt {
    virsh: Virsh,
}

impl Libvirt {
    /// The libvirt behind a URI, as `virsh -c` takes it.
    pub fn new(connect: &str) -> Libvirt {
        Libvirt { virsh: Virsh::new(connect) }
    }

    /// Makes a volume, and puts a file into it where one is given.
    fn put(&self, deployment: &Deployment, name: &str, file: Option<&Path>) -> Outcome {
        let pool = first_pool(deployment);
        let size = match file {
            Some(path) => {
                let told = path.metadata().map_err(|error| Problem::file("read", path, &error))?;
                told.len()
            }
            None => 0,
        };
        self.virsh.make_volume(pool, name, Bytes(size), Bytes(0), ImageFormat::Raw)?;
        match file {
            Some(path) => self.virsh.upload(pool, name, path),
            None => Ok(()),
        }
    }

    /// All libvirts at which machines may be: where they were made, first.
    fn all_of(&self, deployment: &Deployment) -> Vec<Virsh> {
        let others = match &deployment.ground {
            Ground::Pools { others, .. } => others.as_slice(),
            Ground::Folders(_) | Ground::Nodes(_) | Ground::Remote(_) => &[],
        };
        let others = others.iter().map(|connect| Virsh::new(connect));
        std::iter::once(self.virsh.clone()).chain(others).collect()
    }

    /// The libvirt at which a machine is. While it migrates, both have it: then where it runs.
    fn of(&self, deployment: &Deployment, machine: &Machine) -> Virsh {
        let mut all = self.all_of(deployment);
        if all.len() > 1 {
            let state = |virsh: &Virsh| virsh.state(&machine.uuid).ok();
            let states: Vec<_> = all.iter().map(state).collect();
            let runs = states.iter().position(|state| state.as_deref() == Some("running"));
            let at = runs.or_else(|| states.iter().position(Option::is_some)).unwrap_or(0);
            return all.swap_remove(at);
        }
        self.virsh.clone()
    }
}

fn is_there(virsh: &Virsh, machine: &Machine) -> Outcome<bool> {
    Ok(virsh.domains()?.contains(&machine.uuid))
}

/// Refuses a domain that has our UUID and not our token.
fn refuse_others(virsh: &Virsh, deployment: &Deployment, machine: &Machine) -> Outcome {
    let text = virsh.described(&machine.uuid)?;
    match domain::is_ours(&text, &deployment.token) {
        true => Ok(()),
        false => Err(Problem::NameOfOthers {
            name: machine.name.clone(),
            what: format!("the domain {} of {}", machine.uuid, virsh.connect()),
        }),
    }
}

/// Stops a machine and forgets it, if it is there.
fn remove_from(virsh: &Virsh, deployment: &Deployment, machine: &Machine) -> Outcome {
    if !is_there(virsh, machine)? {
        return Ok(());
    }
    refuse_others(virsh, deployment, machine)?;
    let is_off = || matches!(virsh.state(&machine.uuid).as_deref(), Ok("shut off"));
    if !is_off() {
        // It may end by itself just now.
        let ended = virsh.on_domain("destroy", &machine.uuid, &[]);
        // A machine that was still coming here is gone with its end.
        if ended.is_err() && is_there(virsh, machine)? && !is_off() {
            return ended;
        }
    }
    if !is_there(virsh, machine)? {
        return Ok(());
    }
    virsh.on_domain("undefine", &machine.uuid, &["--snapshots-metadata"])
}

/// What the volumes of a machine of its own begin with, behind our mark: no other machine's do,
/// and machines of other nodes may have theirs in the same pool.
fn is_volume_of(deployment: &Deployment, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(&deployment.mark()) else { return false };
    let is_of = |machine: &Machine| {
        rest.strip_prefix(machine.name.as_str()).is_some_and(|end| end.starts_with(['-', '.']))
    };
    // Older versions called these two the same for all.
    rest == KERNEL || rest == IMAGE || deployment.machines.iter().any(is_of)
}

/// The names of what all machines start from.
fn common(deployment: &Deployment, what: &str) -> String {
    let first = deployment.machines.first().map_or("", |machine| machine.name.as_str());
    format!("{}{first}.{what}", deployment.mark())
}

fn first_pool(deployment: &Deployment) -> &str {
    pools(deployment).first().map_or(POOL, String::as_str)
}

fn pools(deployment: &Deployment) -> &[String] {
    match &deployment.ground {
        Ground::Pools { pools, .. } => pools,
        Ground::Folders(_) | Ground::Nodes(_) | Ground::Remote(_) => &[],
    }
}

fn console(deployment: &Deployment, machine: &Machine) -> String {
    own(deployment, machine, "console")
}

/// The name of a volume of one machine.
fn own(deployment: &Deployment, machine: &Machine, what: &str) -> String {
    format!("{}{}.{what}", deployment.mark(), machine.name)
}

/// Where a machine's seed is made before it goes into the pool.
fn seed_file(machine: &Machine) -> PathBuf {
    machine.folder.join(format!("{}.{SEED}", machine.name))
}

impl Provider for Libvirt {
    fn node(&self) -> Outcome<Node> {
        let name = self.virsh.hostname()?;
        Ok(Node { name, memory_available: self.virsh.memory_available()? })
    }

    fn room(&self, pool: Option<&str>, _: &Path) -> Outcome<Room> {
        let pool = pool.unwrap_or(POOL);
        if pool.contains('/') {
            let remedy = "name a pool of libvirt (`virsh pool-list`), not a folder";
            return Err(Problem::NoPool { pool: pool.to_owned(), remedy });
        }
        let connect = self.virsh.connect().to_owned();
        let pools = vec![pool.to_owned()];
        let ground = Ground::Pools { connect, pools, others: Vec::new() };
        Ok(Room { ground, place: PathBuf::from(pool), free: self.virsh.free(pool)? })
    }

    fn takes_images(&self) -> bool {
        true
    }

    fn links_disks(&self) -> bool {
        true
    }

    fn has_kvm(&self, kernel: Option<&Path>) -> Option<bool> {
        let has = self.virsh.has_kvm().ok()?;
        match (self.virsh.remote(), kernel) {
            // Of another machine, nobody can know more; of this one, its kernel is tried.
            (Some(_), _) => Some(has),
            (None, Some(kernel)) => Some(has && kvm::runs(kernel)),
            // Whether an image boots, nobody can know before it does.
            (None, None) => (!has).then_some(false),
        }
    }

    fn all(&self) -> Outcome<Vec<Marked>> {
        let mut all = Vec::new();
        for uuid in self.virsh.domains()? {
            // It may go just now.
            let Ok(text) = self.virsh.described(&uuid) else { continue };
            if let Some(name) = domain::marked(&text) {
                let state = self.virsh.state(&uuid).unwrap_or_else(|_| "gone".to_owned());
                all.push(Marked { name, uuid, state });
            }
        }
        Ok(all)
    }

    fn refuse_taken(&self, name: &str) -> Outcome {
        match self.virsh.domain_names()?.iter().any(|taken| taken == name) {
            true => Err(Problem::NameOfOthers {
                name: name.to_owned(),
                what: format!("a domain of {}", self.virsh.connect()),
            }),
            false => Ok(()),
        }
    }

    fn prepare(&self, deployment: &Deployment, guest: &Guest) -> Outcome {
        let image = deployment.folder.join(crate::record::IMAGE);
        self.put(deployment, &common(deployment, KERNEL), Some(guest.file()))?;
        self.put(deployment, &common(deployment, IMAGE), Some(&image))?;
        if let Guest::Image(image) = guest {
            // Nothing is written to the copy: each machine has a clone of it.
            let (pool, base) = (first_pool(deployment), common(deployment, KERNEL));
            for machine in &deployment.machines {
                let root = own(deployment, machine, ROOT);
                self.virsh.make_clone(pool, &root, image.size, &base, image.format)?;
            }
        }
        let consoles = deployment.machines.iter().map(|machine| console(deployment, machine));
        consoles.into_iter().try_for_each(|name| self.put(deployment, &name, None))
    }

    fn make_volume(&self, deployment: &Deployment, volume: &Volume, stop: &AtomicBool) -> Outcome {
        let (pool, name) = (first_pool(deployment), volume.path.to_string_lossy());
        if let Some(base) = &volume.base {
            let base = base.to_string_lossy();
            return self.virsh.make_clone(pool, &name, volume.size, &base, ImageFormat::Raw);
        }
        let is_thick = volume.allocation == DiskAllocation::Thick;
        let allocation = if is_thick { volume.size } else { Bytes(0) };
        self.virsh.make_volume(pool, &name, volume.size, allocation, ImageFormat::Raw)?;
        match volume.content {
            DiskContent::Zero => Ok(()),
            DiskContent::Random => self.virsh.fed(pool, &name, &mut |input| {
                let cannot = |error| Problem::file("fill the disk", &volume.path, &error);
                volume::fill(input, volume, stop, &cannot)
            }),
        }
    }

    fn start(&self, deployment: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome {
        let pool = first_pool(deployment);
        let path = |name: &str| self.virsh.path(pool, name);
        let disks = machine.disks.iter().map(|disk| path(&disk.to_string_lossy()));
        let image = path(&common(deployment, IMAGE))?;
        let starts = match boot.own {
            None => Starts::Kernel { kernel: path(&common(deployment, KERNEL))?, image },
            Some(_) => {
                self.put_seed(deployment, machine, boot)?;
                Starts::Root {
                    root: path(&own(deployment, machine, ROOT))?,
                    seed: path(&own(deployment, machine, SEED))?,
                    program: image,
                }
            }
        };
        let sources = Sources {
            starts,
            console: path(&console(deployment, machine))?,
            disks: disks.collect::<Result<_, _>>()?,
        };
        // A libvirt may start each of its hypervisors to answer, which takes a minute on a busy
        // machine; an emulated processor is of nobody.
        let is_amd = boot.accelerator != Accelerator::Tcg && self.virsh.is_amd()?;
        let text = described(deployment, machine, boot, &sources, is_amd);
        let refused = |problem: Problem| problem.of_start(machine);
        self.virsh.define(&text).map_err(refused)?;
        self.virsh.on_domain("start", &machine.uuid, &[]).map_err(refused)
    }

    fn state(&self, deployment: &Deployment, machine: &Machine) -> State {
        let virsh = self.of(deployment, machine);
        match is_there(&virsh, machine) {
            Ok(true) => {}
            Ok(false) => return State::Absent,
            // Its machines go on without a libvirt.
            Err(_) => return State::Unknown,
        }
        let text = virsh.described(&machine.uuid).unwrap_or_default();
        match virsh.state(&machine.uuid).as_deref() {
            Ok("running") if domain::is_connected(&text) => State::Listening,
            Ok("running") => State::Starting,
            Ok("paused") => State::Paused,
            Ok(_) => State::Absent,
            Err(_) => State::Unknown,
        }
    }

    fn cpu(&self, deployment: &Deployment, machine: &Machine) -> Option<HostCpu> {
        let virsh = self.of(deployment, machine);
        refuse_others(&virsh, deployment, machine).ok()?;
        virsh.cpu(&machine.uuid)
    }

    fn reads(&self, deployment: &Deployment, machine: &Machine) -> Option<BootReads> {
        self.of(deployment, machine).reads(&machine.uuid)
    }

    fn console(&self, deployment: &Deployment, machine: &Machine) -> String {
        let (pool, name) = (first_pool(deployment), console(deployment, machine));
        let text = self.virsh.download(pool, &name).unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.collect();
        lines[lines.len().saturating_sub(CONSOLE_LINES)..].join("\n")
    }

    fn line(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Line> {
        let virsh = self.of(deployment, machine);
        let text = virsh.described(&machine.uuid)?;
        let socket = domain::socket(&text)
            .map(PathBuf::from)
            .ok_or_else(|| Problem::not_done(&machine.name, "it has no line to its agent"))?;
        Ok(match virsh.remote() {
            Some(host) => Line::Ssh { host: host.to_owned(), socket },
            None => Line::Socket(socket),
        })
    }

    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Outcome<Acted> {
        let virsh = self.of(deployment, machine);
        refuse_others(&virsh, deployment, machine)?;
        let done = |word: &str| virsh.on_domain(word, &machine.uuid, &[]);
        match act {
            MachineAct::Pause => done("suspend").map(|()| Acted::default()),
            MachineAct::Resume => done("resume").map(|()| Acted::default()),
            MachineAct::Off => done("destroy").map(|()| Acted::default()),
            MachineAct::Snapshot => self.snapshot(&virsh, deployment, machine),
            MachineAct::Move => {
                move_disks(&virsh, machine, to.unwrap_or(POOL), deployment.format())
            }
            MachineAct::Migrate => {
                migration::migrate(&virsh, machine, &Virsh::new(to.unwrap_or_default()))
            }
        }
    }

    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Outcome {
        remove_file(&seed_file(machine))?;
        let all = self.all_of(deployment);
        all.iter().try_for_each(|virsh| remove_from(virsh, deployment, machine))
    }

    fn clear(&self, deployment: &Deployment) -> Outcome {
        for pool in pools(deployment) {
            self.virsh.refresh(pool)?;
            let all = self.virsh.volumes(pool)?;
            for name in all.iter().filter(|name| is_volume_of(deployment, name)) {
                self.virsh.remove_volume(pool, name)?;
            }
        }
        Ok(())
    }
}

impl Libvirt {
    /// Brings the seed of a machine into the pool.
    fn put_seed(&self, deployment: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome {
        let seed = boot.seed(machine);
        let file = seed_file(machine);
        seed.write(&file)?;
        self.put(deployment, &own(deployment, machine, SEED), Some(&file))?;
        remove_file(&file)
    }

    /// Keeps what all disks hold at one instant; writes go to a file beside each.
    fn snapshot(
        &self,
        virsh: &Virsh,
        deployment: &Deployment,
        machine: &Machine,
    ) -> Outcome<Acted> {
        let text = virsh.described(&machine.uuid)?;
        let mut words = vec!["--name=plimsoll".to_owned(), "--disk-only".to_owned()];
        words.push("--atomic".to_owned());
        let pool = first_pool(deployment);
        let folder = machine.disks.first().map(|disk| disk.to_string_lossy().into_owned());
        let folder = folder.map(|disk| self.virsh.path(pool, &disk)).transpose()?;
        let folder =
            folder.as_deref().and_then(|path| Path::new(path).parent()).map(Path::to_owned);
        let devices = domain::devices(&text);
        for (device, disk) in devices.iter().zip(&machine.disks) {
            let overlay = folder.clone().unwrap_or_default().join(disk.with_extension("snapshot"));
            let file = overlay.display().to_string().replace(',', ",,");
            words.push(format!("--diskspec={device},snapshot=external,file={file}"));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        virsh.on_domain("snapshot-create-as", &machine.uuid, &words)?;
        Ok(Acted { disks: devices.len() as u32, ..Acted::default() })
    }
}

/// Moves all disks of a running machine to another pool.
fn move_disks(virsh: &Virsh, machine: &Machine, to: &str, format: ImageFormat) -> Outcome<Acted> {
    let text = virsh.described(&machine.uuid)?;
    let mut acted = Acted::default();
    for (device, disk) in domain::devices(&text).iter().zip(&machine.disks) {
        let name = disk.to_string_lossy();
        let size = virsh.capacity(&machine.uuid, device)?;
        virsh.make_volume(to, &name, size, Bytes(0), format)?;
        let path = virsh.path(to, &name)?;
        virsh.copy_disk(&machine.uuid, device, &path, format)?;
        acted.disks += 1;
        acted.copied = Bytes(acted.copied.0.saturating_add(size.0));
    }
    Ok(acted)
}

#[cfg(test)]
mod tests;
