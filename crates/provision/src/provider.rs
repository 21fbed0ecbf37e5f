//! What a provider of machines has to be able to do. The rest (records, order, clean-up) is
//! [`crate::deployment`]'s.

use crate::Problem;
use model::Bytes;
use model::machines::{Accelerator, DiskBus, DiskCache, DiskContent};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Something that makes machines.
pub trait Provider {
    /// Its machines' nodes, with what is left on each.
    ///
    /// # Errors
    /// The provider is not there, or does not answer.
    fn nodes(&self) -> Result<Vec<Node>, Problem>;

    /// The free bytes of a pool of disks.
    ///
    /// # Errors
    /// There is no such pool.
    fn free(&self, pool: &Path) -> Result<Bytes, Problem>;

    /// Refuses a name that a machine has which is not ours.
    ///
    /// # Errors
    /// Whose it is.
    fn refuse_taken(&self, name: &str) -> Result<(), Problem>;

    /// Makes a disk and fills it.
    ///
    /// # Errors
    /// It cannot be made, or `stop` was set.
    fn make_volume(&self, volume: &Volume, stop: &AtomicBool) -> Result<(), Problem>;

    /// Makes and starts a machine.
    ///
    /// # Errors
    /// In the hypervisor's words.
    fn start(&self, machine: &Machine, boot: &Boot<'_>) -> Result<(), Problem>;

    /// What a machine does.
    fn state(&self, machine: &Machine) -> State;

    /// The end of what a machine wrote to its console.
    fn console(&self, machine: &Machine) -> String;

    /// Stops a machine of ours, if it is there, and removes what the provider keeps of it.
    ///
    /// # Errors
    /// It does not stop.
    fn remove(&self, machine: &Machine) -> Result<(), Problem>;

    /// Removes a disk of ours, if it is there.
    ///
    /// # Errors
    /// It cannot be removed.
    fn remove_volume(&self, volume: &Volume) -> Result<(), Problem>;
}

/// Where machines run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Memory that machines could still take.
    pub memory_available: Bytes,
}

/// A disk of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its file.
    pub path: PathBuf,
    /// Its size.
    pub size: Bytes,
    /// What it holds at first.
    pub content: DiskContent,
    /// The start of its random bytes.
    pub seed: u64,
}

/// A machine of ours, as it is on record. Where its files are follows from its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name, which is the guest's host name, too.
    pub name: String,
    /// What tells it from all others, in the form of a UUID. A process that says it, and is ours,
    /// is this machine.
    pub uuid: String,
    /// Where its console and its sockets are.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The files of its disks.
    #[serde(skip)]
    pub disks: Vec<PathBuf>,
}

impl Machine {
    /// The socket behind which its agent listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!("{}.agent", self.name))
    }
}

/// What a machine is started with.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// The kernel.
    pub kernel: &'a Path,
    /// The memory image with the guest's program.
    pub image: &'a Path,
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
}

/// What a machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is not there.
    Absent,
    /// It runs, and no agent listens yet.
    Starting,
    /// Its agent listens.
    Listening,
}

impl State {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            State::Absent => "absent",
            State::Starting => "starting",
            State::Listening => "running",
        }
    }
}
