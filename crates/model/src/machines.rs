//! Virtual machines that a suite wants: what they are, and what their disks hold.

use crate::units::{Bytes, Nanos};
use crate::words;

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
    }
}

/// Machines that are all alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachinesWanted {
    /// What all their names begin with.
    pub name: String,
    /// How many, at least one.
    pub count: u32,
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
    /// How long the machines may take from their start to their agents.
    pub boot: Nanos,
}

impl MachinesWanted {
    /// The machines' names.
    pub fn names(&self) -> Vec<String> {
        (1..=self.count).map(|number| format!("{}-{number}", self.name)).collect()
    }

    /// The bytes of all disks of all machines; `None` past what a number holds.
    pub fn disk_bytes(&self) -> Option<Bytes> {
        let disks = u64::from(self.count).checked_mul(u64::from(self.disks))?;
        disks.checked_mul(self.disk_size.0).map(Bytes)
    }
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
}
