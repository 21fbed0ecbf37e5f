//! What a provider of machines has to be able to do, on one node. The rest (records, order,
//! clean-up) is [`crate::deployment`]'s.

use crate::guest::{Guest, ImageFormat, Seed};
pub use crate::machine::Machine;
use crate::record::{Deployment, Ground};
use crate::{Outcome, Problem};
use model::machines::{
    Accelerator, BootReads, DiskAllocation, DiskBus, DiskCache, DiskContent, HostCpu, MachineAct,
    MachinesWanted,
};
use model::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Something that makes machines on one node.
pub trait Provider {
    /// Its node, with what is left there.
    ///
    /// # Errors
    /// The provider is not there, or does not answer.
    fn node(&self) -> Outcome<Node>;

    /// The place for disks that a pool names, and what it has free. Nothing is made. The folder is
    /// where machines of this name would be on record.
    ///
    /// # Errors
    /// There is no such pool.
    fn room(&self, pool: Option<&str>, folder: &Path) -> Outcome<Room>;

    /// Whether disks can be clones of one image.
    fn links_disks(&self) -> bool {
        false
    }

    /// Whether machines can boot from a cloud image.
    fn takes_images(&self) -> bool {
        false
    }

    /// Refuses a name that a machine has which is not ours.
    ///
    /// # Errors
    /// Whose it is.
    fn refuse_taken(&self, name: &str) -> Outcome;

    /// Makes the place of the disks with our marker, and brings there what machines start from:
    /// the guest, and the image that is in the folder of the record.
    ///
    /// # Errors
    /// Something of that name is there, or it cannot be made.
    fn prepare(&self, deployment: &Deployment, guest: &Guest) -> Outcome;

    /// Makes a disk and fills it.
    ///
    /// # Errors
    /// It cannot be made, or `stop` was set.
    fn make_volume(&self, deployment: &Deployment, volume: &Volume, stop: &AtomicBool) -> Outcome;

    /// Makes and starts a machine.
    ///
    /// # Errors
    /// In the hypervisor's words.
    fn start(&self, deployment: &Deployment, machine: &Machine, boot: &Boot<'_>) -> Outcome;

    /// What a machine does.
    fn state(&self, deployment: &Deployment, machine: &Machine) -> State;

    /// The CPU time that its hypervisor spent on a machine, if it runs and tells.
    fn cpu(&self, deployment: &Deployment, machine: &Machine) -> Option<HostCpu>;

    /// What a machine read of its disks since its start, if it runs and its hypervisor tells.
    fn reads(&self, deployment: &Deployment, machine: &Machine) -> Option<BootReads> {
        let _ = (deployment, machine);
        None
    }

    /// The end of what a machine wrote to its console.
    fn console(&self, deployment: &Deployment, machine: &Machine) -> String;

    /// The way to a machine's agent.
    ///
    /// # Errors
    /// The machine does not run.
    fn line(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Line>;

    /// Does something to a machine while it runs, and waits for its end. `to` is the pool to which
    /// disks move, or the node to which the machine migrates; it is on record.
    ///
    /// # Errors
    /// In the hypervisor's words.
    fn act(
        &self,
        deployment: &Deployment,
        machine: &Machine,
        act: MachineAct,
        to: Option<&str>,
    ) -> Outcome<Acted>;

    /// Stops a machine of ours, if it is there, and removes what the provider keeps of it.
    ///
    /// # Errors
    /// It does not stop.
    fn remove(&self, deployment: &Deployment, machine: &Machine) -> Outcome;

    /// Removes all disks of ours, and what [`Provider::prepare`] made.
    ///
    /// # Errors
    /// What cannot be removed.
    fn clear(&self, deployment: &Deployment) -> Outcome;

    /// Refuses machines of a kind that it cannot make, before anything is made. Gives what they
    /// take of the pool beside their disks, such as copies of an image.
    ///
    /// # Errors
    /// What does not fit, with a remedy.
    fn fits(&self, wanted: &MachinesWanted) -> Outcome<Bytes> {
        match wanted.accelerator {
            Accelerator::Native if self.boots_our_guest() => Err(Problem::unfit(
                "the accelerator `native` is for providers that have their own",
                "write vms.accelerator = \"kvm\" or \"tcg\"",
            )),
            Accelerator::Kvm | Accelerator::Tcg | Accelerator::Native => Ok(Bytes(0)),
        }
    }

    /// Whether it runs guests of this kernel with the processor's own virtualisation; `None` where
    /// it does not say. Without a kernel, an image has its own.
    fn has_kvm(&self, kernel: Option<&Path>) -> Option<bool> {
        let _ = kernel;
        None
    }

    /// All machines that carry our mark there, whoever of this provider's users made them.
    ///
    /// # Errors
    /// It does not answer, or cannot list them.
    fn all(&self) -> Outcome<Vec<Marked>> {
        Err(Problem::unfit(
            "this provider does not list machines that are not on record here",
            "leave out --provider",
        ))
    }

    /// Whether machines boot the guest that we make. Otherwise they are copies of an image of the
    /// user's, and [`Provider::prepare`] and [`Boot`] name empty paths for kernel and image.
    fn boots_our_guest(&self) -> bool {
        true
    }

    /// The paths of a machine's disks in its guest, where each machine has its own; asked when its
    /// agent can be reached. None are those of the deployment.
    ///
    /// # Errors
    /// They cannot be found.
    fn devices(&self, deployment: &Deployment, machine: &Machine) -> Outcome<Vec<String>> {
        let _ = (deployment, machine);
        Ok(Vec::new())
    }
}

/// Where machines run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Memory that machines could still take.
    pub memory_available: Bytes,
}

/// A place for disks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Where the disks would be.
    pub ground: Ground,
    /// The place in words: a folder, or a pool.
    pub place: PathBuf,
    /// What is free there; `u64::MAX` where the provider does not say.
    pub free: Bytes,
}

/// A disk of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its file, or its name in its pool.
    pub path: PathBuf,
    /// Its size.
    pub size: Bytes,
    /// What it holds at first.
    pub content: DiskContent,
    /// What it takes of the pool at first, where it holds nothing.
    pub allocation: DiskAllocation,
    /// The start of its random bytes.
    pub seed: u64,
    /// The disk that it is a clone of, beside it; then it has that one's content.
    pub base: Option<PathBuf>,
}

/// What a machine is started with.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// The kernel; of a guest with an image of its own, that.
    pub kernel: &'a Path,
    /// The memory image with the guest's program; of a guest with an image of its own, the disk
    /// with the program.
    pub image: &'a Path,
    /// What the guest's own image is, if it has one.
    pub own: Option<ImageFormat>,
    /// What runs it.
    pub accelerator: Accelerator,
    /// The virtual CPUs.
    pub vcpus: u32,
    /// The memory.
    pub memory: Bytes,
    /// How the guest sees its disks.
    pub bus: DiskBus,
    /// What stands between a disk and its file.
    pub cache: DiskCache,
    /// What that file is.
    pub disks: ImageFormat,
}

impl Boot<'_> {
    pub(crate) fn seed<'a>(&self, machine: &'a Machine) -> Seed<'a> {
        let Machine { name, uuid, disks, .. } = machine;
        let (bus, accelerator) = (self.bus, self.accelerator);
        Seed { name, uuid, bus, disks: disks.len(), accelerator }
    }
}

/// A machine with our mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// Its name.
    pub name: String,
    /// What tells it from all others.
    pub uuid: String,
    /// What it does, in the provider's words.
    pub state: String,
}

/// The way to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A Unix socket of this machine.
    Socket(PathBuf),
    /// A Unix socket of a host that ssh reaches.
    Ssh {
        /// The host, with a user's name where one was given.
        host: String,
        /// The socket there.
        socket: PathBuf,
    },
    /// A program of this machine whose standard streams reach the agent.
    Command(Vec<String>),
    /// No agent listens yet: ssh reaches the guest, and an agent is started there.
    Guest {
        /// The guest, as ssh takes it.
        address: String,
        /// The disks that the agent may load.
        disks: Vec<String>,
    },
}

/// What was done to a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    /// The disks that moved or were kept.
    pub disks: u32,
    /// The bytes that were copied.
    pub copied: Bytes,
    /// How a migration went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrated: Option<Migrated>,
}

/// A machine that moved to another node while it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migrated {
    /// From the order to its end, on the clock of whoever gave it.
    pub took: Nanos,
    /// How long the guest stood still, as the hypervisors report it.
    pub downtime: Option<Nanos>,
    /// How far it was, at instants of the same clock.
    pub looks: Vec<Look>,
}

/// How far a migration was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// After so long.
    pub after: Nanos,
    /// Bytes of memory that were sent.
    pub sent: Bytes,
    /// Bytes that were still to be sent.
    pub left: Bytes,
}

/// What a machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It is not there.
    Absent,
    /// It runs, and no agent listens yet.
    Starting,
    /// Its agent listens.
    Listening,
    /// It stands still.
    Paused,
    /// Its provider does not say.
    Unknown,
}

impl State {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            State::Absent => "absent",
            State::Starting => "starting",
            State::Listening => "running",
            State::Paused => "paused",
            State::Unknown => "unknown",
        }
    }
}
