//! Virtual machines that a suite wants: what they are, and what their disks hold.

pub mod placement;

use crate::units::{Bytes, Nanos};
use crate::{Fraction, words};
use serde::{Deserialize, Serialize};

words! {
    /// How a guest sees its disks.
    pub enum DiskBus {
        /// A virtio block device (`/dev/vda`).
        VirtioBlk = "virtio-blk",
        /// Disks of one virtio SCSI adapter (`/dev/sda`).
        VirtioScsi = "virtio-scsi",
        /// One NVMe controller for each disk (`/dev/nvme0n1`).
        Nvme = "nvme",
    }
}

impl DiskBus {
    /// The paths of so many disks in a Linux guest that has no others.
    pub fn devices(self, count: u32) -> Vec<String> {
        (0..count)
            .map(|number| match self {
                DiskBus::VirtioBlk => format!("/dev/vd{}", letters(number)),
                DiskBus::VirtioScsi => format!("/dev/sd{}", letters(number)),
                DiskBus::Nvme => format!("/dev/nvme{number}n1"),
            })
            .collect()
    }
}

/// The kernel's letters of a disk: `a` to `z`, then `aa`.
fn letters(number: u32) -> String {
    let mut left = number;
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (left % 26) as u8));
        match (left / 26).checked_sub(1) {
            Some(next) => left = next,
            None => return letters.iter().rev().collect(),
        }
    }
}

words! {
    /// What the hypervisor does between a guest's disk and the file below it.
    pub enum DiskCache {
        /// Nothing: direct I/O. Reads and writes reach the file's own disk.
        None = "none",
        /// The host's page cache answers, and flushes of the guest are passed on.
        Writeback = "writeback",
        /// The host's page cache answers reads; each write is durable.
        Writethrough = "writethrough",
        /// Direct I/O, and each write is durable.
        Directsync = "directsync",
        /// The host's page cache answers, and flushes of the guest are ignored: nothing is durable.
        Unsafe = "unsafe",
    }
}

impl DiskCache {
    /// Whether the hypervisor's own memory answers reads.
    pub fn uses_host_memory(self) -> bool {
        matches!(self, DiskCache::Writeback | DiskCache::Writethrough | DiskCache::Unsafe)
    }

    /// Whether a write is done when the hypervisor's own memory has it.
    pub fn acknowledges_from_memory(self) -> bool {
        matches!(self, DiskCache::Writeback | DiskCache::Unsafe)
    }

    /// Whether a guest's flush is answered without one.
    pub fn ignores_flushes(self) -> bool {
        matches!(self, DiskCache::Unsafe)
    }
}

words! {
    /// What a disk holds before anything is measured.
    pub enum DiskContent {
        /// Random bytes, no two blocks alike: nothing below can compress or leave out.
        Random = "random",
        /// Nothing: a sparse file, which takes space when it is written.
        Zero = "zero",
    }
}

words! {
    /// What runs a guest's instructions.
    pub enum Accelerator {
        /// The processor, which needs `/dev/kvm`.
        Kvm = "kvm",
        /// The hypervisor's program: many times slower, and possible everywhere.
        Tcg = "tcg",
        /// What the provider has, which is not ours to choose (vSphere, a program of the user's).
        Native = "native",
    }
}

words! {
    /// Who makes machines.
    pub enum ProviderKind {
        /// Processes of plain qemu.
        Qemu = "qemu",
        /// Domains of a libvirt, through `virsh`.
        Libvirt = "libvirt",
        /// Machines of a vCenter or an ESXi, through `govc`.
        Vsphere = "vsphere",
        /// Machines of a program of the user's. Older records have names that were built in.
        #[serde(alias = "Kubevirt", alias = "Proxmox", alias = "HyperV")]
        Program = "program",
    }
}

impl ProviderKind {
    /// What of it nobody has tried yet on a real one; `None` where it is tried in full, or is the
    /// user's own.
    pub fn untried(self) -> Option<&'static str> {
        match self {
            ProviderKind::Qemu | ProviderKind::Libvirt | ProviderKind::Program => None,
            ProviderKind::Vsphere => {
                Some("tried with the vendor's simulator alone, never on real hardware")
            }
        }
    }

    /// Whether its machines are copies of an image of the user's (`vms.template`), whose agents are
    /// reached over ssh. Others boot the guest that Plimsoll makes.
    pub fn copies(self, template: &str) -> bool {
        match self {
            ProviderKind::Qemu | ProviderKind::Libvirt => false,
            ProviderKind::Vsphere => true,
            ProviderKind::Program => !template.is_empty(),
        }
    }
}

words! {
    /// What a disk's bytes take of its pool before the guest writes them.
    pub enum DiskAllocation {
        /// All of them.
        Thick = "thick",
        /// Those that were written.
        Thin = "thin",
        /// Those that were written: all disks are clones of one image, which has the content.
        Linked = "linked",
    }
}

words! {
    /// What can be done to a machine while it is loaded.
    pub enum MachineAct {
        /// It stands still.
        Pause = "pause",
        /// It goes on after a pause.
        Resume = "resume",
        /// Its power fails; it is not started again.
        Off = "off",
        /// What its disks hold now is kept, and writes go to a file on top of each.
        Snapshot = "snapshot",
        /// Its disks move to another pool while it runs.
        Move = "move",
        /// It moves to another node while it runs; its disks stay where both nodes reach them.
        Migrate = "migrate",
    }
}

/// How long one machine took to come up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootTime {
    /// Its name.
    pub machine: String,
    /// From the hypervisor's start of it until its agent listened, on the hypervisor's clock.
    pub agent: Nanos,
    /// From the start of its kernel until the first read of its last disk was done, on the guest's
    /// clock, in steps of 10 ms. `None` where the guest did not say.
    pub first_read: Option<Nanos>,
    /// What it had read of its disks when its agent listened, as its hypervisor counts it. `None`
    /// where that does not say.
    #[serde(default)]
    pub reads: Option<BootReads>,
}

/// What a machine read of all its disks, an image that it boots from included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootReads {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

/// CPU time that a hypervisor spent on one machine since its start, by what its threads did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCpu {
    /// The virtual CPUs: the guest itself and, without `kvm`, its emulation.
    pub vcpu: Nanos,
    /// Disks and networks: I/O threads, helpers of asynchronous I/O, vhost. `None` where the
    /// hypervisor does not tell it apart from the rest.
    pub io: Option<Nanos>,
    /// All else, such as emulated devices.
    pub other: Nanos,
    /// How long virtual CPUs that had work waited for a CPU of the node: what a guest's kernel
    /// calls steal. `None` where the node does not report it.
    #[serde(default)]
    pub waited: Option<Nanos>,
}

/// What a node's kernel counted since it began; `None` where it does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCounts {
    /// Time of all CPUs with work.
    pub busy: Option<Nanos>,
    /// Time of all CPUs.
    pub cpus: Option<Nanos>,
    /// Bytes that disks read which are built on no other.
    pub read_bytes: Option<u64>,
    /// Bytes that they wrote.
    pub written_bytes: Option<u64>,
    /// Requests that read, as these disks completed them: adjoining ones may have been merged.
    #[serde(default)]
    pub reads: Option<u64>,
    /// Requests that wrote.
    #[serde(default)]
    pub writes: Option<u64>,
}

/// What stood below the guests of a run: from before its first stage to behind its last one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BelowGuests {
    /// How long that was.
    pub length: Nanos,
    /// Bytes that the guests' requests read, as their load generators count them.
    pub guest_read: Bytes,
    /// Bytes that they wrote.
    pub guest_written: Bytes,
    /// Each node.
    pub nodes: Vec<BelowNode>,
    /// The same of each measurement; none in runs of versions that looked only before and behind
    /// all.
    #[serde(default)]
    pub stages: Vec<BelowStage>,
}

/// What stood below the guests while one stage ran, as far as looks at its begin and its end say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BelowStage {
    /// The stage.
    pub stage: u32,
    /// From the one look to the other.
    pub length: Nanos,
    /// Bytes that the guests' requests read.
    pub guest_read: Bytes,
    /// Bytes that they wrote.
    pub guest_written: Bytes,
    /// Each node.
    pub nodes: Vec<BelowNode>,
}

/// What a node did below its guests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BelowNode {
    /// Its name.
    pub node: String,
    /// Machines that were to run there and did not, at the end.
    pub astray: Vec<String>,
    /// The CPU time of its machines, all together; `None` where the node does not report that of
    /// each, or did not answer.
    pub guests: Option<HostCpu>,
    /// What its kernel counted in that time, whoever asked for it.
    pub counts: NodeCounts,
}

/// Machines of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnNode {
    /// The node's name.
    pub node: String,
    /// The machines' names.
    pub machines: Vec<String>,
}

/// Machines that carried a run, for its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachinesMade {
    /// What their names begin with.
    pub name: String,
    /// Who made them.
    pub provider: ProviderKind,
    /// The nodes below them, with the names of the machines on each.
    pub nodes: Vec<OnNode>,
    /// What ran the guests' instructions.
    pub accelerator: Accelerator,
    /// What stood between a disk and its file.
    pub cache: DiskCache,
    /// How long each took to come up.
    pub boots: Vec<BootTime>,
    /// They are removed when the run ends, however it does: nobody can go on with it.
    #[serde(default)]
    pub go_with_run: bool,
}

/// A scaled disk is no smaller: its loads need room for every worker.
const LEAST_DISK: Bytes = Bytes::mib(16);
/// Scaled memory is no smaller: the guest's own program and its kernel do not shrink.
const LEAST_MEMORY: Bytes = Bytes::mib(512);

/// Machines that are all alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachinesWanted {
    /// What all their names begin with.
    pub name: String,
    /// Their numbers, at least one, each once.
    pub numbers: Vec<u32>,
    /// The virtual CPUs of each, at least one.
    pub vcpus: u32,
    /// What runs them.
    pub accelerator: Accelerator,
    /// The memory of each.
    pub memory: Bytes,
    /// The disks of each besides none to boot from, at least one.
    pub disks: u32,
    /// The size of each disk, whole MiB.
    pub disk_size: Bytes,
    /// How guests see them.
    pub bus: DiskBus,
    /// What stands between a disk and its file.
    pub cache: DiskCache,
    /// What the disks hold.
    pub content: DiskContent,
    /// What their bytes take of the pool at first.
    pub allocation: DiskAllocation,
    /// How long the machines may take from their start to their agents.
    pub boot: Nanos,
}

impl MachinesWanted {
    /// The machines' names.
    pub fn names(&self) -> Vec<String> {
        self.numbers.iter().map(|number| format!("{}-{number}", self.name)).collect()
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.numbers.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of all disks of all machines; `None` past what a number holds.
    pub fn disk_bytes(&self) -> Option<Bytes> {
        let disks = u64::from(self.count()).checked_mul(u64::from(self.disks))?;
        disks.checked_mul(self.disk_size.0).map(Bytes)
    }

    /// The same with disks and memory shrunk, in whole MiB, rounded up: what the layout asks for
    /// shrinks by the same factor, and has to fit. Numbers of machines, disks and virtual CPUs
    /// stay.
    pub fn scaled(self, size: Fraction) -> MachinesWanted {
        MachinesWanted {
            memory: shrunk(self.memory, size, LEAST_MEMORY),
            disk_size: shrunk(self.disk_size, size, LEAST_DISK),
            ..self
        }
    }
}

/// A size shrunk to whole MiB, at least `least`; what is smaller than that stays.
fn shrunk(whole: Bytes, size: Fraction, least: Bytes) -> Bytes {
    let mib = Bytes::mib(1).0;
    // Layouts are shrunk and rounded down: one MiB more than that always holds them.
    let shrunk = (size.apply(whole.0) / mib + 1).saturating_mul(mib);
    Bytes(shrunk).max(least).min(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_have_the_kernels_names() {
        assert_eq!(DiskBus::VirtioBlk.devices(2), ["/dev/vda", "/dev/vdb"]);
        assert_eq!(DiskBus::VirtioScsi.devices(1), ["/dev/sda"]);
        assert_eq!(DiskBus::Nvme.devices(2), ["/dev/nvme0n1", "/dev/nvme1n1"]);
        let many = DiskBus::VirtioBlk.devices(703);
        assert_eq!(
            [&*many[25], &*many[26], &*many[701], &*many[702]],
            ["/dev/vdz", "/dev/vdaa", "/dev/vdzz", "/dev/vdaaa"]
        );
    }

    #[test]
    fn runs_of_providers_that_are_gone_can_still_be_read() {
        for word in ["Program", "Kubevirt", "Proxmox", "HyperV"] {
            let read = serde_json::from_value(word.into());
            assert_eq!(read.ok(), Some(ProviderKind::Program), "{word}");
        }
    }

    #[test]
    fn scaled_machines_hold_scaled_layouts_and_never_grow() {
        let one = |bytes, size: &str, least| shrunk(bytes, size.parse().expect("one"), least);
        let (disk, least) = (Bytes::mib(95_400), LEAST_DISK);
        assert_eq!(one(disk, "1/1", least), disk);
        assert_eq!(one(disk, "1/100", least), Bytes::mib(955));
        assert_eq!(one(disk, "1/10000", least), least);
        assert_eq!(one(Bytes::mib(20), "1/100", Bytes::mib(512)), Bytes::mib(20));
        // Five files of 20 GB, as report D has them.
        for denominator in 1..=1000 {
            let size = Fraction::one_in(denominator);
            let files = 5 * size.apply(20_000_000_000);
            assert!(shrunk(disk, size, least).0 >= files, "1/{denominator}");
        }
    }
}
