//! Machines are made: what that takes, the order of it, and how long each took to come up.

use super::{Held, change_record, lock, take_down};
use crate::guest::{self, CloudImage, Guest, ImageFormat, Kernel};
use crate::inside::FIRST_READ;
use crate::places::{self, Places};
use crate::provider::{Boot, Machine, Provider, Room, State, Volume};
use crate::record::{self, Deployment, OnNodes};
use crate::{Ground, Outcome, Problem, tool};
use model::machines::{Accelerator, BootTime, DiskAllocation, MachinesWanted};
use model::{Bytes, Nanos, rng};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks at machines that start: how exactly the time of a start is known.
const PAUSE: Duration = Duration::from_millis(20);
/// How long consoles may take, all together.
const CONSOLE: Duration = Duration::from_secs(3);
/// What a machine needs beside its guest's memory: the hypervisor's own. qemu 7.2 took 100 MiB
/// under emulation, its bounded memory of translated code included.
const OVERHEAD: Bytes = Bytes::mib(128);
/// What a pool keeps free.
const SPARE: Bytes = Bytes::mib(64);
/// What a guest's kernel takes beside its image.
const KERNEL: Bytes = Bytes::mib(72);
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
    /// Where they would be.
    pub room: Room,
    /// What they would boot.
    pub guest: Guest,
    /// Whether guests would run on the processor's own virtualisation; `None` where nobody asked,
    /// or the provider does not say.
    pub has_kvm: Option<bool>,
}

/// What is to be made, and with what.
pub struct Order<'a> {
    /// The machines.
    pub wanted: &'a MachinesWanted,
    /// An existing pool for their disks; `None` is the provider's own.
    pub pool: Option<&'a str>,
    /// What tells this program from all others: guests have the same.
    pub program: &'a str,
    /// The kernel for guests, or the package of one; `None` is found.
    pub kernel: Option<&'a Path>,
    /// A cloud image that they boot instead.
    pub image: Option<&'a Path>,
    /// Where records and kernels are.
    pub places: &'a Places,
    /// What tells these machines from all others, where it was decided elsewhere.
    pub token: Option<&'a str>,
    /// Nobody said what runs the guests: whether KVM works is to be found out.
    pub asks_for_kvm: bool,
}

/// What machines would take. Only a package of a kernel is unpacked; nothing else is touched.
///
/// # Errors
/// What keeps them from being made: the program, the kernel, memory, space, or the name.
pub fn needs(provider: &dyn Provider, order: &Order<'_>) -> Outcome<Needs> {
    let wanted = order.wanted;
    // What no provider of this kind can make needs no answer of one.
    let beside = provider.fits(wanted)?;
    if wanted.allocation == DiskAllocation::Linked && !provider.links_disks() {
        return Err(Problem::unfit(
            "only qemu and libvirt make disks that are clones of one image",
            "write vms.allocation = \"thin\"",
        ));
    }
    let node = provider.node()?;
    let guest = match order.image {
        Some(_) if !provider.takes_images() => return Err(Problem::NoImagesHere),
        Some(image) => Guest::Image(CloudImage::find(image)?),
        None if !provider.boots_our_guest() => Guest::Copies,
        None => Guest::Own(Kernel::find(order.kernel, &order.places.kernels)?),
    };
    let kernel = match &guest {
        Guest::Own(kernel) => Some(kernel.image.as_path()),
        Guest::Image(_) | Guest::Copies => None,
    };
    let asks = order.asks_for_kvm || wanted.accelerator == Accelerator::Kvm;
    let has_kvm = if asks { provider.has_kvm(kernel) } else { None };
    if wanted.accelerator == Accelerator::Kvm && has_kvm == Some(false) {
        return Err(Problem::unfit(
            format!("{} has no KVM that works", node.name),
            "leave out vms.accelerator, or look at /dev/kvm there",
        ));
    }
    let each = wanted.memory.0.saturating_add(OVERHEAD.0);
    let memory = Bytes(each.saturating_mul(u64::from(wanted.count())));
    if memory > node.memory_available {
        return Err(Problem::Memory { needed: memory, available: node.memory_available });
    }
    let folder = order.places.state.join(&wanted.name);
    let room = provider.room(order.pool, &folder)?;
    let disks = wanted.disk_bytes().unwrap_or(Bytes(u64::MAX));
    let base = if wanted.allocation == DiskAllocation::Linked { wanted.disk_size.0 } else { 0 };
    let disks = Bytes(disks.0.saturating_add(beside.0).saturating_add(base));
    // A pool takes a copy of the image; what guests write to their clones of it, nobody knows.
    let image = match (&guest, &room.ground) {
        (Guest::Image(image), Ground::Pools { .. }) => image.length.0,
        _ => 0,
    };
    let disks = Bytes(disks.0.saturating_add(image));
    // Sparse disks fill up under load, so that they need as much.
    if disks.0.saturating_add(SPARE.0) > room.free.0 {
        return Err(Problem::Space { needed: disks, free: room.free, folder: room.place });
    }
    if folder.symlink_metadata().is_ok() {
        return Err(Problem::NameInUse { name: wanted.name.clone() });
    }
    wanted.names().iter().try_for_each(|name| provider.refuse_taken(name))?;
    let memory_available = node.memory_available;
    Ok(Needs { node: node.name, memory, memory_available, disks, room, guest, has_kvm })
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
    told: &mut dyn FnMut(&BootTime),
) -> Outcome<Held> {
    let needs = needs(provider, order)?;
    let mut held = begin(order, needs.room.ground.clone())?;
    let made = make(provider, order, &needs, &held.deployment, stop)
        .and_then(|()| start(provider, order, &needs, &held.deployment, stop, told));
    let made = made.and_then(|boots| {
        let devices = devices(provider, &held.deployment)?;
        change_record(&mut held.deployment, |deployment| {
            deployment.boots = boots;
            for (machine, devices) in deployment.machines.iter_mut().zip(devices) {
                machine.devices = devices;
            }
        })
    });
    match made {
        Ok(()) => Ok(held),
        Err(first) => match take_down(provider, &held.deployment) {
            Ok(()) => Err(first),
            Err(then) => Err(Problem::Leftover { first: Box::new(first), then: Box::new(then) }),
        },
    }
}

/// Puts machines of nodes on record here, before any node is told of them.
///
/// # Errors
/// The name is in use, or the record cannot be written.
pub fn begin_on_nodes(order: &Order<'_>, nodes: OnNodes) -> Outcome<Held> {
    begin(order, Ground::Nodes(nodes))
}

/// Puts on record what is going to be made.
fn begin(order: &Order<'_>, ground: Ground) -> Outcome<Held> {
    let wanted = order.wanted;
    places::make_all(&order.places.state)?;
    let folder = order.places.state.join(&wanted.name);
    let token = order.token.map_or_else(record::token, str::to_owned);
    let mut deployment = Deployment::new(wanted, token, ground);
    order.program.clone_into(&mut deployment.program);
    let deployment = deployment.placed(&folder);
    let sockets = deployment.machines.iter().map(Machine::socket);
    for socket in sockets.map(|socket| socket.with_extension("monitor")) {
        if socket.as_os_str().len() > LONGEST_SOCKET {
            return Err(Problem::LongPath { path: socket });
        }
    }
    let is_new = places::make_new(&folder)?;
    is_new.ok_or_else(|| Problem::NameInUse { name: wanted.name.clone() })?;
    let lock = lock(&folder, &wanted.name)?;
    tool::work_for(&folder);
    deployment.write()?;
    Ok(Held { deployment, lock })
}

fn make(
    provider: &dyn Provider,
    order: &Order<'_>,
    needs: &Needs,
    deployment: &Deployment,
    stop: &AtomicBool,
) -> Outcome {
    let image = deployment.folder.join(record::IMAGE);
    match &needs.guest {
        Guest::Own(kernel) => {
            let bytes = guest::write_image(&image, kernel, &[order.wanted.bus])?;
            fits_into(bytes, order.wanted.memory)?;
        }
        Guest::Image(_) => guest::write_program(&image)?,
        Guest::Copies => {}
    }
    provider.prepare(deployment, &needs.guest)?;
    let volumes = volumes(deployment, order.wanted);
    volumes.iter().try_for_each(|volume| provider.make_volume(deployment, volume, stop))
}

/// Refuses machines whose memory cannot hold their guest: they would be waited for in vain.
fn fits_into(image: Bytes, memory: Bytes) -> Outcome {
    // The image and what is unpacked out of it are there at once, beside the kernel.
    let needed = Bytes(image.0.saturating_mul(2).saturating_add(KERNEL.0));
    let needed = Bytes(needed.0.div_ceil(Bytes::mib(1).0).saturating_mul(Bytes::mib(1).0));
    if memory < needed {
        return Err(Problem::SmallMemory { needed, memory });
    }
    Ok(())
}

fn start(
    provider: &dyn Provider,
    order: &Order<'_>,
    needs: &Needs,
    deployment: &Deployment,
    stop: &AtomicBool,
    told: &mut dyn FnMut(&BootTime),
) -> Outcome<Vec<BootTime>> {
    let wanted = order.wanted;
    let image = deployment.folder.join(record::IMAGE);
    let boot = Boot {
        kernel: needs.guest.file(),
        image: if matches!(needs.guest, Guest::Copies) { Path::new("") } else { &image },
        own: own_format(&needs.guest),
        accelerator: wanted.accelerator,
        vcpus: wanted.vcpus,
        memory: wanted.memory,
        bus: wanted.bus,
        cache: wanted.cache,
        disks: deployment.format(),
    };
    let mut begun: BTreeMap<&str, Instant> = BTreeMap::new();
    for machine in &deployment.machines {
        if stop.load(Ordering::SeqCst) {
            return Err(Problem::Stopped);
        }
        begun.insert(&machine.name, Instant::now());
        provider.start(deployment, machine, &boot)?;
    }
    let deadline = Instant::now() + Duration::from_nanos(wanted.boot.0);
    let mut waited: Vec<&Machine> = deployment.machines.iter().collect();
    let mut boots = Vec::new();
    while !waited.is_empty() {
        let mut left = Vec::new();
        for machine in waited {
            if stop.load(Ordering::SeqCst) {
                return Err(Problem::Stopped);
            }
            match provider.state(deployment, machine) {
                State::Listening => {
                    let agent = begun.get(machine.name.as_str()).map(Instant::elapsed);
                    let boot = boot_time(provider, deployment, machine, agent.unwrap_or_default());
                    told(&boot);
                    boots.push(boot);
                }
                State::Absent => {
                    let console = provider.console(deployment, machine);
                    return Err(Problem::Ended { machine: machine.name.clone(), console });
                }
                state if Instant::now() > deadline => {
                    // Where nobody knows what it does, the provider says why.
                    if state == State::Unknown {
                        provider.node()?;
                    }
                    let console = provider.console(deployment, machine);
                    let (machine, within) = (machine.name.clone(), wanted.boot);
                    return Err(Problem::Silent { machine, within, console });
                }
                _ => left.push(machine),
            }
        }
        waited = left;
        sleep(PAUSE);
    }
    if provider.boots_our_guest() {
        hear_first_reads(provider, deployment, &mut boots);
    }
    boots.sort_by_key(|boot| wanted.names().iter().position(|name| *name == boot.machine));
    Ok(boots)
}

/// What an image of the guests' own is.
fn own_format(guest: &Guest) -> Option<ImageFormat> {
    match guest {
        Guest::Own(_) | Guest::Copies => None,
        Guest::Image(image) => Some(image.format),
    }
}

/// The paths of the disks in each machine, where each has its own. None is without one of its own
/// that has as many: a disk that nobody found would be left out in silence.
fn devices(provider: &dyn Provider, deployment: &Deployment) -> Outcome<Vec<Vec<String>>> {
    let of = |machine: &Machine| {
        let devices = provider.devices(deployment, machine)?;
        let has_none = devices.is_empty() && provider.boots_our_guest();
        match has_none || devices.len() == deployment.disks_each as usize {
            true => Ok(devices),
            false => Err(Problem::NotStarted {
                machine: machine.name.clone(),
                said: format!(
                    "it has {} disks of ours, and {} were made",
                    devices.len(),
                    deployment.disks_each
                ),
            }),
        }
    };
    deployment.machines.iter().map(of).collect()
}

/// How long a machine took that listens now.
fn boot_time(
    provider: &dyn Provider,
    deployment: &Deployment,
    machine: &Machine,
    agent: Duration,
) -> BootTime {
    let agent = Nanos(u64::try_from(agent.as_nanos()).unwrap_or(u64::MAX));
    let first_read = first_read(&provider.console(deployment, machine)).filter(|at| *at <= agent);
    let reads = provider.reads(deployment, machine);
    BootTime { machine: machine.name.clone(), agent, first_read, reads }
}

/// A console may be slower than the line to the agent: those that have not said it yet have a
/// little more time.
fn hear_first_reads(provider: &dyn Provider, deployment: &Deployment, boots: &mut [BootTime]) {
    let deadline = Instant::now() + CONSOLE;
    for boot in boots.iter_mut() {
        let Some(machine) = deployment.machine(&boot.machine) else { continue };
        while boot.first_read.is_none() && Instant::now() < deadline {
            sleep(PAUSE);
            let told = first_read(&provider.console(deployment, machine));
            boot.first_read = told.filter(|at| *at <= boot.agent);
        }
    }
}

/// What a guest's first process said of its first reads, if it did.
fn first_read(console: &str) -> Option<Nanos> {
    let line = console.lines().rev().find_map(|line| line.trim().strip_prefix(FIRST_READ))?;
    line.parse().ok().map(Nanos)
}

/// All disks of machines, in the order of their making.
fn volumes(deployment: &Deployment, wanted: &MachinesWanted) -> Vec<Volume> {
    let seed = deployment.token.get(..16);
    let seed = seed.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
    let paths = deployment.machines.iter().flat_map(|machine| &machine.disks);
    let base = deployment.base();
    let volume = |(number, path): (u64, &PathBuf)| Volume {
        path: path.clone(),
        size: wanted.disk_size,
        content: wanted.content,
        allocation: wanted.allocation,
        seed: rng::derive(seed, &[number]),
        base: base.clone(),
    };
    // What they are clones of is there before them.
    let first = volume((0, &PathBuf::new()));
    let shared = base.clone().map(|path| Volume { path, base: None, ..first });
    shared.into_iter().chain((0u64..).zip(paths).map(volume)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_that_its_memory_cannot_hold_is_refused() {
        let image = Bytes(50_000_001);
        let refused = fits_into(image, Bytes::mib(128)).expect_err("too small");
        assert!(refused.to_string().contains("168 MiB of memory to start"), "{refused}");
        assert_eq!(fits_into(image, Bytes::mib(168)), Ok(()));
        assert!(fits_into(Bytes(u64::MAX), Bytes::gib(1)).is_err());
    }

    #[test]
    fn what_a_guest_says_of_its_first_read_is_a_number_or_nothing() {
        assert_eq!(first_read("boot\nplimsoll-first-read-ns=1230\n"), Some(Nanos(1230)));
        for text in ["", "plimsoll-first-read-ns=", "plimsoll-first-read-ns=-1", "x=7"] {
            assert_eq!(first_read(text), None, "{text}");
        }
    }
}
