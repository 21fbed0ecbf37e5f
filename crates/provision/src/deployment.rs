//! Machines of one name: made all or none, listed, and removed whole.

use crate::Problem;
use crate::guest::{self, Kernel};
use crate::places::{self, Places};
use crate::provider::{Boot, Machine, Provider, State, Volume};
use crate::record::{self, Deployment};
use model::machines::{DiskContent, MachinesWanted};
use model::rng;
use model::{Bytes, Nanos};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks at machines that start.
const PAUSE: Duration = Duration::from_millis(100);
/// What a machine needs beside its guest's memory: the hypervisor's own.
const OVERHEAD: Bytes = Bytes::mib(96);
/// What a pool keeps free.
const SPARE: Bytes = Bytes::mib(64);
/// The longest path of a socket (`sun_path` of `unix(7)`, with its end).
const LONGEST_SOCKET: usize = 107;

/// What making machines would take, and what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The node on which they would run.
    pub node: String,
    /// Memory of all machines, the hypervisor's own included.
    pub memory: Bytes,
    /// What programs could still take there.
    pub memory_available: Bytes,
    /// Bytes of all disks.
    pub disks: Bytes,
    /// What the pool has free.
    pub disks_free: Bytes,
    /// The pool.
    pub pool: PathBuf,
    /// The kernel that guests would start.
    pub kernel: Kernel,
}

/// Machines that are held: nobody else makes or removes them until this is dropped.
#[derive(Debug)]
pub struct Held {
    /// What they are.
    pub deployment: Deployment,
    _lock: File,
}

/// What is to be made, and with what.
pub struct Order<'a> {
    /// The machines.
    pub wanted: &'a MachinesWanted,
    /// An existing folder for their disks; `None` is one of ours.
    pub pool: Option<&'a Path>,
    /// What tells this program from all others: guests have the same.
    pub program: &'a str,
    /// The kernel for guests, or the package of one; `None` is found.
    pub kernel: Option<&'a Path>,
    /// Where records and kernels are.
    pub places: &'a Places,
}

/// What machines would take. Only a package of a kernel is unpacked; nothing else is touched.
///
/// # Errors
/// What keeps them from being made: the program, the kernel, memory, space, or the name.
pub fn needs(provider: &dyn Provider, order: &Order<'_>) -> Result<Needs, Problem> {
    let wanted = order.wanted;
    let nodes = provider.nodes()?;
    let kernel = Kernel::find(order.kernel, &order.places.kernels)?;
    // A provider of several nodes spreads; the one that has most room is asked first.
    let node = nodes.into_iter().max_by_key(|node| node.memory_available);
    let node = node.ok_or(Problem::Memory { needed: wanted.memory, available: Bytes(0) })?;
    let each = wanted.memory.0.saturating_add(OVERHEAD.0);
    let memory = Bytes(each.saturating_mul(u64::from(wanted.count)));
    if memory > node.memory_available {
        return Err(Problem::Memory { needed: memory, available: node.memory_available });
    }
    let pool = order.pool.map_or_else(|| order.places.state.clone(), Path::to_owned);
    let free = provider.free(existing(&pool, order.pool.is_some()))?;
    let disks = wanted.disk_bytes().unwrap_or(Bytes(u64::MAX));
    // Sparse disks fill up under load, so that they need as much.
    if disks.0.saturating_add(SPARE.0) > free.0 {
        return Err(Problem::Space { needed: disks, free, folder: pool });
    }
    if order.places.state.join(&wanted.name).symlink_metadata().is_ok() {
        return Err(Problem::NameInUse { name: wanted.name.clone() });
    }
    wanted.names().iter().try_for_each(|name| provider.refuse_taken(name))?;
    Ok(Needs {
        node: node.name,
        memory,
        memory_available: node.memory_available,
        disks,
        disks_free: free,
        pool,
        kernel,
    })
}

/// The folder itself, or where it is ours to make, the nearest one above it that is there.
fn existing(pool: &Path, is_named: bool) -> &Path {
    let there = |path: &&Path| path.is_dir();
    if is_named { pool } else { pool.ancestors().find(there).unwrap_or(pool) }
}

/// Makes machines and waits until their agents listen. Where that fails, or `stop` is set, nothing
/// of them is left.
///
/// # Errors
/// Why not.
pub fn up(
    provider: &dyn Provider,
    order: &Order<'_>,
    stop: &AtomicBool,
    told: &mut dyn FnMut(&str),
) -> Result<Held, Problem> {
    let needs = needs(provider, order)?;
    let held = begin(order, &needs)?;
    let made = make(provider, order, &needs, &held.deployment, stop)
        .and_then(|()| start(provider, order, &needs, &held.deployment, stop, told));
    match made {
        Ok(()) => Ok(held),
        Err(first) => match take_down(provider, &held.deployment) {
            Ok(()) => Err(first),
            Err(then) => Err(Problem::Leftover { first: Box::new(first), then: Box::new(then) }),
        },
    }
}

/// Puts on record what is going to be made.
fn begin(order: &Order<'_>, needs: &Needs) -> Result<Held, Problem> {
    let wanted = order.wanted;
    places::make_all(&order.places.state)?;
    let folder = order.places.state.join(&wanted.name);
    let token = token();
    let machine = |(number, name): (usize, String)| Machine {
        name,
        uuid: uuid(&token, number),
        folder: PathBuf::new(),
        disks: Vec::new(),
    };
    let machines = wanted.names().into_iter().enumerate().map(machine).collect();
    let mut deployment = Deployment::new(&wanted.name, token, machines);
    deployment.disks = needs.pool.join(match order.pool {
        Some(_) => format!("plimsoll-vms-{}", wanted.name),
        None => format!("{}/disks", wanted.name),
    });
    order.program.clone_into(&mut deployment.program);
    deployment.disks_each = wanted.disks;
    deployment.devices = wanted.bus.devices(wanted.disks);
    let deployment = deployment.placed(&folder);
    for socket in
        deployment.machines.iter().map(|machine| machine.socket().with_extension("monitor"))
    {
        if socket.as_os_str().len() > LONGEST_SOCKET {
            return Err(Problem::LongPath { path: socket });
        }
    }
    let is_new = places::make_new(&folder)?;
    is_new.ok_or_else(|| Problem::NameInUse { name: wanted.name.clone() })?;
    let lock = lock(&folder, &wanted.name)?;
    deployment.write()?;
    Ok(Held { deployment, _lock: lock })
}

/// Makes the disks and the guests' image.
fn make(
    provider: &dyn Provider,
    order: &Order<'_>,
    needs: &Needs,
    deployment: &Deployment,
    stop: &AtomicBool,
) -> Result<(), Problem> {
    let disks = &deployment.disks;
    if places::make_new(disks)?.is_none() {
        return Err(Problem::NotOurs { path: disks.clone(), why: "is there already" });
    }
    let marker = disks.join(record::MARKER);
    fs::write(&marker, &deployment.token)
        .map_err(|error| Problem::file("write", &marker, &error))?;
    let image = deployment.folder.join(record::IMAGE);
    guest::write_image(&image, &needs.kernel, order.wanted.bus)?;
    let volumes = volumes(deployment, order.wanted.disk_size, order.wanted.content);
    volumes.iter().try_for_each(|volume| provider.make_volume(volume, stop))
}

/// Starts the machines, and waits for their agents.
fn start(
    provider: &dyn Provider,
    order: &Order<'_>,
    needs: &Needs,
    deployment: &Deployment,
    stop: &AtomicBool,
    told: &mut dyn FnMut(&str),
) -> Result<(), Problem> {
    let wanted = order.wanted;
    let image = deployment.folder.join(record::IMAGE);
    let boot = Boot {
        kernel: &needs.kernel.image,
        image: &image,
        accelerator: wanted.accelerator,
        vcpus: wanted.vcpus,
        memory: wanted.memory,
        bus: wanted.bus,
        cache: wanted.cache,
    };
    for machine in &deployment.machines {
        if stop.load(Ordering::SeqCst) {
            return Err(Problem::Stopped);
        }
        provider.start(machine, &boot)?;
    }
    let deadline = Instant::now() + Duration::from_nanos(wanted.boot.0);
    let mut waited: Vec<&Machine> = deployment.machines.iter().collect();
    while let Some(first) = waited.first() {
        if stop.load(Ordering::SeqCst) {
            return Err(Problem::Stopped);
        }
        match provider.state(first) {
            State::Listening => {
                told(&first.name);
                waited.remove(0);
                continue;
            }
            State::Absent => {
                let console = provider.console(first);
                return Err(Problem::Ended { machine: first.name.clone(), console });
            }
            State::Starting if Instant::now() > deadline => {
                return Err(silent(provider, first, wanted.boot));
            }
            State::Starting => sleep(PAUSE),
        }
    }
    Ok(())
}

fn silent(provider: &dyn Provider, machine: &Machine, within: Nanos) -> Problem {
    let console = provider.console(machine);
    Problem::Silent { machine: machine.name.clone(), within, console }
}

/// All disks of machines.
fn volumes(deployment: &Deployment, size: Bytes, content: DiskContent) -> Vec<Volume> {
    let seed = u64::from_str_radix(&deployment.token[..16], 16).unwrap_or_default();
    let paths = deployment.machines.iter().flat_map(|machine| &machine.disks);
    let volume = |(number, path): (u64, &PathBuf)| Volume {
        path: path.clone(),
        size,
        content,
        seed: rng::derive(seed, &[number]),
    };
    (0u64..).zip(paths).map(volume).collect()
}

impl Held {
    /// Stops and removes the machines, and all that was made for them.
    ///
    /// # Errors
    /// What could not be removed; [`down`] can be tried again.
    pub fn remove(self, provider: &dyn Provider) -> Result<(), Problem> {
        take_down(provider, &self.deployment)
    }
}

/// Stops and removes the machines of a name, and all that was made for them.
///
/// # Errors
/// There are none of the name, somebody holds them, or what could not be removed.
pub fn down(provider: &dyn Provider, places: &Places, name: &str) -> Result<(), Problem> {
    let held = hold(places, name)?;
    match held {
        Some(held) => held.remove(provider),
        None => remove_folder(&places.state.join(name)),
    }
}

/// Holds the machines of a name; `None` where their making had only begun.
///
/// # Errors
/// There are none of the name, or somebody holds them.
pub fn hold(places: &Places, name: &str) -> Result<Option<Held>, Problem> {
    let folder = places.state.join(name);
    if !record::is_plain(name) || folder.symlink_metadata().is_err() {
        return Err(Problem::Unknown { name: name.to_owned() });
    }
    places::is_ours(&folder)?;
    let lock = lock(&folder, name)?;
    let deployment = Deployment::read(&folder)?;
    Ok(deployment.map(|deployment| Held { deployment, _lock: lock }))
}

/// What is on record of a name, whoever holds it; `None` where making had only begun.
///
/// # Errors
/// There is nothing of the name, or it is not ours.
pub fn find(places: &Places, name: &str) -> Result<Option<Deployment>, Problem> {
    let folder = places.state.join(name);
    if !record::is_plain(name) || folder.symlink_metadata().is_err() {
        return Err(Problem::Unknown { name: name.to_owned() });
    }
    Deployment::read(&folder)
}

/// The names of all machines that are on record, in order.
///
/// # Errors
/// The state folder cannot be read, or is not ours.
pub fn names(places: &Places) -> Result<Vec<String>, Problem> {
    let state = &places.state;
    if state.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    places::is_ours(state)?;
    let entries = fs::read_dir(state).map_err(|error| Problem::file("read", state, &error))?;
    let names =
        entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| record::is_plain(name)).collect();
    names.sort();
    Ok(names)
}

/// Everything in the reverse order of its making; the record goes last.
fn take_down(provider: &dyn Provider, deployment: &Deployment) -> Result<(), Problem> {
    deployment.machines.iter().try_for_each(|machine| provider.remove(machine))?;
    let disks = &deployment.disks;
    if disks.symlink_metadata().is_ok() {
        places::is_ours(disks)?;
        remove_disks(provider, deployment)?;
    }
    remove_file(&deployment.folder.join(record::IMAGE))?;
    remove_folder(&deployment.folder)
}

fn remove_disks(provider: &dyn Provider, deployment: &Deployment) -> Result<(), Problem> {
    let disks = &deployment.disks;
    let marker = disks.join(record::MARKER);
    match fs::read_to_string(&marker) {
        Ok(token) if token == deployment.token => {
            let volumes = volumes(deployment, Bytes(0), DiskContent::Zero);
            volumes.iter().try_for_each(|volume| provider.remove_volume(volume))?;
            remove_file(&marker)?;
        }
        // Ended between the folder and its marker: nothing else was made.
        Ok(part) if deployment.token.starts_with(&part) => remove_file(&marker)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Ok(_) => {
            let why = "has the marker of other machines";
            return Err(Problem::NotOurs { path: disks.clone(), why });
        }
        Err(error) => return Err(Problem::file("read", &marker, &error)),
    }
    fs::remove_dir(disks).map_err(|error| Problem::file("remove", disks, &error))
}

/// Removes the folder of a record, with the record.
fn remove_folder(folder: &Path) -> Result<(), Problem> {
    remove_file(&folder.join(record::PART))?;
    remove_file(&folder.join(record::FILE))?;
    fs::remove_dir(folder).map_err(|error| Problem::file("remove", folder, &error))
}

fn remove_file(path: &Path) -> Result<(), Problem> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::file("remove", path, &error))
        }
        _ => Ok(()),
    }
}

/// Holds a folder until the file is closed, be it by the end of the process.
fn lock(folder: &Path, name: &str) -> Result<File, Problem> {
    let file = File::open(folder).map_err(|error| Problem::file("read", folder, &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Problem::Busy { name: name.to_owned() }),
        Err(error) => Err(Problem::file("lock", folder, &error.into())),
    }
}

/// 32 hexadecimal digits that no other machines have.
fn token() -> String {
    // The standard library seeds these from the system's random numbers.
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// The token and a machine's number, in the form that hypervisors take.
fn uuid(token: &str, number: usize) -> String {
    let (a, b, c, d) = (&token[..8], &token[8..12], &token[12..16], &token[16..20]);
    format!("{a}-{b}-{c}-{d}-{}{number:04x}", &token[20..28])
}

#[cfg(test)]
mod tests;
