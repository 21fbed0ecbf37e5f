//! What a host is made of, beyond what a plan needs: for people who read a result, and for whoever
//! looks for a bottleneck.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The parts of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Inventory {
    /// Processor packages; 0 where the kernel does not tell.
    pub sockets: u32,
    /// Cores of all packages; 0 where the kernel does not tell.
    pub cores: u32,
    /// Logical CPUs of all cores; 0 where the kernel does not tell.
    pub threads: u32,
    /// The NUMA nodes.
    pub numa: Vec<NumaNode>,
    /// What control groups leave to this process.
    pub limits: Limits,
    /// Block devices with a medium of their own or a way to one; no partitions, and none of size
    /// 0.
    pub disks: Vec<DeviceFacts>,
    /// Network interfaces.
    pub nics: Vec<NicFacts>,
    /// Ports of RDMA devices.
    pub rdma: Vec<RdmaFacts>,
    /// Mounted file systems that can hold data.
    pub mounts: Vec<MountFacts>,
    /// What the kernel reads the time from: `tsc`, `kvm-clock`, `hpet`; empty where it does not
    /// tell.
    pub clock_source: String,
}

/// One NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNode {
    /// Its number.
    pub node: u32,
    /// Its logical CPUs; none for a node of memory only.
    pub cpus: Vec<u32>,
    /// Its memory.
    pub memory: Bytes,
}

/// What control groups leave to this process: the tightest of its own group and of all above it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// CPU time, in thousandths of a CPU.
    pub cpu_milli: Option<u64>,
    /// Memory with its page cache.
    pub memory: Option<Bytes>,
    /// The CPUs that it may run on; empty where none is ruled out, or nobody tells.
    pub cpus: Vec<u32>,
    /// Limits of I/O as the kernel words them: `8:0 rbps=1048576 wbps=max …`.
    pub io: Vec<String>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NicFacts {
    /// The kernel's name.
    pub name: String,
    /// Its driver; empty for one that is software.
    pub driver: String,
    /// What its link is agreed on, in 10⁶ bits a second; `None` where there is no link, or nobody
    /// tells.
    pub speed_mbit: Option<u32>,
    /// The largest packet in bytes.
    pub mtu: u32,
    /// Whether it can carry packets just now.
    pub up: bool,
    /// The NUMA node that it hangs off; `None` where there is one only, or nobody tells.
    pub numa_node: Option<u32>,
    /// The bond or bridge that it is a part of; empty for none.
    pub master: String,
}

/// A port of an RDMA device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RdmaFacts {
    /// The device: `mlx5_0`.
    pub device: String,
    /// The port's number.
    pub port: u32,
    /// Its rate in 10⁶ bits a second.
    pub rate_mbit: Option<u32>,
    /// `InfiniBand` or `Ethernet`.
    pub link: String,
    /// `ACTIVE`, `DOWN`.
    pub state: String,
    /// The NUMA node that it hangs off.
    pub numa_node: Option<u32>,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MountFacts {
    /// Where.
    pub mount_point: String,
    /// Its type: `ext4`, `nfs4`.
    pub file_system: String,
    /// Its device, export or share, as it was mounted.
    pub source: String,
    /// Options of the mount and of the file system, in order of their letters.
    pub options: Vec<String>,
    /// Whether its data is on other machines.
    pub network: bool,
    /// The machines, as far as the mount names them.
    pub servers: Vec<String>,
}

/// One layer between a target and its media.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// How far it is below the target: links of a chain stand above what they are built on, and a
    /// link of a RAID above each of its members with all that is below it.
    pub depth: u32,
    /// What it is.
    pub kind: LinkKind,
    /// Its name: of the file system's type, or of the device.
    pub name: String,
    /// In words, what the kernel tells of it: where it is mounted, the RAID's level, the volume's
    /// name.
    pub detail: String,
    /// The device's facts, where it is one.
    pub device: Option<DeviceFacts>,
    /// Of a loop device: whether it goes past the page cache of its file (`loop/dio`); `None` for
    /// other layers, and where nobody tells.
    pub direct: Option<bool>,
    /// Of a loop device: bytes of its file that have no place on a medium; `None` for other layers,
    /// and where nobody could look.
    pub holes: Option<Bytes>,
}

/// What a [`Link`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// A file system.
    FileSystem,
    /// A file system on other machines: what is below it cannot be seen from here.
    Network,
    /// A volume of the device mapper: LVM, dm-crypt, multipath.
    Mapper,
    /// A software RAID.
    Raid,
    /// A part of a disk.
    Partition,
    /// A file that serves as a device.
    Loop,
    /// The end of the chain, as far as this host can see.
    #[default]
    Disk,
}

impl LinkKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            LinkKind::FileSystem => "file system",
            LinkKind::Network => "network file system",
            LinkKind::Mapper => "device mapper",
            LinkKind::Raid => "software RAID",
            LinkKind::Partition => "partition",
            LinkKind::Loop => "loop device",
            LinkKind::Disk => "device",
        }
    }
}

/// A block device as sysfs describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The kernel's name: `nvme0n1`.
    pub name: String,
    /// The vendor's model; empty where there is none.
    pub model: String,
    /// Whether it spins.
    pub rotational: Option<bool>,
    /// Its size.
    pub size: Bytes,
    /// Logical block size in bytes.
    pub logical_block: u32,
    /// The I/O scheduler in use; empty where sysfs does not tell.
    pub scheduler: String,
    /// The NUMA node that it hangs off; `None` where there is one only, or nobody tells.
    pub numa_node: Option<u32>,
    /// What it stores on.
    #[serde(default)]
    pub media: Media,
    /// How it is reached: `pcie`, `tcp`, `sata`, `sas`, `virtio`; empty where nobody tells.
    #[serde(default)]
    pub transport: String,
    /// The version of its firmware; empty where nobody tells.
    #[serde(default)]
    pub firmware: String,
    /// Requests that the device, or else each of its queues in the kernel, takes at a time.
    #[serde(default)]
    pub queue_depth: Option<u32>,
    /// Queues of the hardware.
    #[serde(default)]
    pub queues: Option<u32>,
    /// `write back` where a write that completed may still be in a volatile cache, else `write
    /// through`; empty where nobody tells.
    #[serde(default)]
    pub write_cache: String,
    /// Most bytes of one discard; 0 where it takes none, `None` where nobody tells.
    #[serde(default)]
    pub most_discard: Option<Bytes>,
    /// Its name wherever it is seen from, as sysfs has it (`naa.5000c500a1b2c3d4`), for a map
    /// `dm.` and its UUID, else `serial.` and its serial number; of a partition with `-part` and
    /// its number behind. Empty where nobody tells. Not all of them are unique: [`crate::wwid`]
    /// knows which.
    #[serde(default)]
    pub wwid: String,
    /// Of a software RAID: members that it lacks.
    #[serde(default)]
    pub raid_missing: u32,
    /// Of a software RAID: what it does besides (`idle`, `recover`, `check`); empty for others.
    #[serde(default)]
    pub raid_action: String,
    /// Speed and width of the PCIe link that it hangs off (`8.0 GT/s PCIe x4`); empty where nobody
    /// tells.
    #[serde(default)]
    pub link_now: String,
    /// The best of them that both ends allow.
    #[serde(default)]
    pub link_best: String,
}

/// What a device stores on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Media {
    /// Turning disks.
    Rotational,
    /// Flash behind SATA, SAS and the like.
    Ssd,
    /// Flash behind NVMe.
    Nvme,
    /// Memory.
    Memory,
    /// A hypervisor's or another software's device: what is behind it cannot be seen from here.
    Virtual,
    /// The kernel does not tell.
    #[default]
    Unknown,
}

impl Media {
    /// In words; empty for what is unknown.
    pub fn words(self) -> &'static str {
        match self {
            Media::Rotational => "rotational",
            Media::Ssd => "SSD",
            Media::Nvme => "NVMe",
            Media::Memory => "memory",
            Media::Virtual => "virtual",
            Media::Unknown => "",
        }
    }
}
