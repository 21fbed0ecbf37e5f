//! The host itself: name, kernel, processors, memory.

use crate::topology::{MOST, cpu_list};
use crate::tree::Tree;
use model::Bytes;
use model::inventory::Inventory;
use model::testbed::{HostFacts, TargetFacts};
use procfs::{CpuInfo, FromRead, Meminfo};

/// What this host calls itself.
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The facts of this host.
pub fn facts(
    tree: &Tree,
    agent_version: &str,
    inventory: Inventory,
    targets: Vec<TargetFacts>,
) -> HostFacts {
    let system = rustix::system::uname();
    let memory = Meminfo::from_file(tree.path("proc/meminfo")).ok();
    let [total, available] = match &memory {
        None if tree.is_real() => memory_without_proc(),
        read => {
            let available = read.as_ref().and_then(|memory| memory.mem_available);
            [read.as_ref().map_or(0, |memory| memory.mem_total), available.unwrap_or(0)]
        }
    }
    .map(Bytes);
    let cpu = CpuInfo::from_file(tree.path("proc/cpuinfo")).ok();
    HostFacts {
        hostname: hostname(),
        kernel: format!(
            "{} {}",
            system.sysname().to_string_lossy(),
            system.release().to_string_lossy()
        ),
        cpu_model: cpu.as_ref().and_then(|cpu| cpu.model_name(0)).unwrap_or_default().to_owned(),
        // Knows affinity and the quotas of control groups.
        logical_cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        memory: total,
        memory_available: available,
        numa_cpus: numa_cpus(tree),
        hypervisor: hypervisor(tree, cpu.as_ref()),
        place: model::testbed::Place::default(),
        identity: identity(tree),
        agent_version: agent_version.to_owned(),
        inventory,
        targets,
    }
}

/// All memory and what is free of it, in bytes, by sysinfo(2): a bare root may have no `/proc`.
/// What programs could take beside what is free is not known then.
fn memory_without_proc() -> [u64; 2] {
    let known = rustix::system::sysinfo();
    let unit = u64::from(known.mem_unit.max(1));
    [known.totalram, known.freeram].map(|units| units.saturating_mul(unit))
}

/// The running kernel, the namespaces that make several hosts of one machine, and the name that
/// Slurm gives a node.
fn identity(tree: &Tree) -> String {
    let boot = tree.text("proc/sys/kernel/random/boot_id");
    let space = |name: &str| std::fs::read_link(tree.path(&format!("proc/self/ns/{name}"))).ok();
    let spaces = ["net", "uts", "mnt"]
        .map(|name| space(name).map(|link| link.to_string_lossy().into_owned()));
    let node = std::env::var("SLURMD_NODENAME").ok();
    boot.into_iter().chain(spaces.into_iter().flatten()).chain(node).collect::<Vec<_>>().join(" ")
}

/// The CPUs of each NUMA node. A node without CPUs (of memory only) has an empty list.
fn numa_cpus(tree: &Tree) -> Vec<Vec<u32>> {
    let nodes =
        (0..MOST).map(|node| tree.text(&format!("sys/devices/system/node/node{node}/cpulist")));
    nodes.map_while(|list| list.map(|list| cpu_list(&list))).collect()
}

/// Names by which hypervisors give themselves away in the firmware's tables.
const FIRMWARE: [(&str, &str); 8] = [
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Virtual Machine", "Hyper-V"),
    ("Amazon EC2", "Amazon EC2"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("Nutanix", "Nutanix AHV"),
    ("Xen", "Xen"),
    ("QEMU", "QEMU"),
];

/// The hypervisor, by its own entry in sysfs, the firmware's tables, or at least the processor's
/// flag.
fn hypervisor(tree: &Tree, cpu: Option<&CpuInfo>) -> Option<String> {
    if let Some(kind) = tree.text("sys/hypervisor/type").filter(|kind| !kind.is_empty()) {
        return Some(kind);
    }
    let firmware =
        ["sys_vendor", "product_name"].map(|file| tree.text(&format!("sys/class/dmi/id/{file}")));
    let firmware: Vec<String> = firmware.into_iter().flatten().collect();
    let known = FIRMWARE.iter().find(|(mark, _)| firmware.iter().any(|text| text.contains(mark)));
    if let Some((_, name)) = known {
        return Some((*name).to_owned());
    }
    let flagged =
        cpu.and_then(|cpu| cpu.flags(0)).is_some_and(|flags| flags.contains(&"hypervisor"));
    flagged.then(|| "an unknown hypervisor".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::tree;

    const MEMINFO: &str = "MemTotal:       65843012 kB\nMemFree:        1024 kB\nMemAvailable:   \
                           60000000 kB\nBuffers: 0 kB\nCached: 0 kB\nSwapCached: 0 kB\nActive: 0 \
                           kB\nInactive: 0 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nDirty: 0 \
                           kB\nWriteback: 0 kB\nAnonPages: 0 kB\nMapped: 0 kB\nSlab: 0 \
                           kB\nCommitted_AS: 0 kB\nVmallocTotal: 0 kB\nVmallocUsed: 0 \
                           kB\nVmallocChunk: 0 kB\nPageTables: 0 kB\n";

    #[test]
    fn a_recorded_host_reads_as_it_was() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Example 9000\nflags\t\t: fpu hypervisor\n";
        let (_folder, tree) = tree(&[
            ("proc/meminfo", MEMINFO),
            ("proc/cpuinfo", cpuinfo),
            ("sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n"),
            ("sys/class/dmi/id/product_name", "Virtual Machine\n"),
        ]);
        let facts = facts(&tree, "1.2.3", Inventory::default(), Vec::new());
        assert_eq!(facts.cpu_model, "Example 9000");
        assert_eq!(
            (facts.memory, facts.memory_available),
            (Bytes::kib(65_843_012), Bytes::kib(60_000_000))
        );
        assert_eq!(facts.hypervisor.as_deref(), Some("Hyper-V"));
        assert_eq!(facts.agent_version, "1.2.3");
        assert!(facts.logical_cpus >= 1 && facts.kernel.starts_with("Linux "));
    }

    #[test]
    fn the_cpus_of_each_node_are_read() {
        let (_folder, tree) = tree(&[
            ("sys/devices/system/node/node0/cpulist", "0-2,8\n"),
            ("sys/devices/system/node/node1/cpulist", "3-4\n"),
            ("sys/devices/system/node/node2/cpulist", "\n"),
        ]);
        assert_eq!(numa_cpus(&tree), [vec![0, 1, 2, 8], vec![3, 4], vec![]]);
    }

    #[test]
    fn a_host_that_tells_nothing_is_no_error() {
        let (_folder, tree) = tree(&[]);
        let facts = facts(&tree, "1.2.3", Inventory::default(), Vec::new());
        assert_eq!(
            (facts.cpu_model.as_str(), facts.memory, facts.hypervisor),
            ("", Bytes(0), None)
        );
    }

    #[test]
    fn a_bare_root_without_proc_has_as_much_memory() {
        let read = facts(&Tree::real(), "x", Inventory::default(), Vec::new()).memory;
        let [total, free] = memory_without_proc();
        assert!(Bytes(total) == read && 0 < free && free <= total, "{total} {read}");
    }

    #[test]
    fn the_real_host_has_memory() {
        let facts = facts(&Tree::real(), "x", Inventory::default(), Vec::new());
        assert!(facts.memory > Bytes::mib(64) && facts.memory_available <= facts.memory);
    }
}
