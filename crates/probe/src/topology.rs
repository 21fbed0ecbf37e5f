//! Processors and NUMA nodes (the kernel's `Documentation/admin-guide/cputopology.rst`).

use crate::tree::{Tree, text};
use model::Bytes;
use model::inventory::{Inventory, NumaNode};
use std::collections::BTreeSet;

/// More nodes or CPUs than any machine has: a file that says so is not the kernel's.
pub const MOST: u32 = 1 << 16;

/// Puts sockets, cores, threads and NUMA nodes into an inventory.
pub fn fill(tree: &Tree, inventory: &mut Inventory) {
    const CPUS: &str = "sys/devices/system/cpu";
    let (mut packages, mut cores) = (BTreeSet::new(), BTreeSet::new());
    for cpu in numbered(tree, CPUS, "cpu") {
        let topology = tree.path(&format!("{CPUS}/cpu{cpu}/topology"));
        // One that is switched off has no topology.
        let Some(package) = text(&topology.join("physical_package_id")) else { continue };
        inventory.threads += 1;
        packages.insert(package);
        // The threads of a core name each other; kernels before 5.3 call the list by its older
        // name.
        let siblings = text(&topology.join("core_cpus_list"))
            .or_else(|| text(&topology.join("thread_siblings_list")));
        cores.insert(siblings.unwrap_or_else(|| cpu.to_string()));
    }
    (inventory.sockets, inventory.cores) = (packages.len() as u32, cores.len() as u32);
    const NODES: &str = "sys/devices/system/node";
    inventory.numa = numbered(tree, NODES, "node")
        .into_iter()
        .map(|node| NumaNode {
            node,
            cpus: tree
                .text(&format!("{NODES}/node{node}/cpulist"))
                .map(|list| cpu_list(&list))
                .unwrap_or_default(),
            memory: memory(&tree.text(&format!("{NODES}/node{node}/meminfo")).unwrap_or_default()),
        })
        .collect();
}

/// The numbers of the entries that are called `prefix` and a number.
fn numbered(tree: &Tree, folder: &str, prefix: &str) -> Vec<u32> {
    let names = tree.names(folder);
    let mut numbers: Vec<u32> =
        names.iter().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
    numbers.retain(|number| *number < MOST);
    numbers.sort_unstable();
    numbers
}

/// `Node 0 MemTotal:       65843012 kB`
fn memory(text: &str) -> Bytes {
    let line = text.lines().find_map(|line| line.split_once("MemTotal:"));
    let kib: Option<u64> = line.and_then(|(_, rest)| rest.split_whitespace().next()?.parse().ok());
    Bytes(kib.unwrap_or(0).saturating_mul(1024))
}

/// `0-3,8` as numbers (the format of `cpulist` in the kernel's
/// `Documentation/admin-guide/cputopology.rst`).
pub(crate) fn cpu_list(text: &str) -> Vec<u32> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|cpu| *cpu < MOST);
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => Some(number(first)?..=number(last)?),
        None => number(part).map(|cpu| cpu..=cpu),
    };
    text.split(',').filter_map(range).flatten().take(MOST as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::tree;

    #[test]
    fn sockets_cores_threads_and_nodes_are_counted() {
        let mut files = Vec::new();
        for cpu in 0..8 {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}/topology");
            files.push((format!("{folder}/physical_package_id"), format!("{}\n", cpu / 2 % 2)));
            files.push((
                format!("{folder}/core_cpus_list"),
                format!("{},{}\n", cpu % 4, cpu % 4 + 4),
            ));
        }
        let mut more = vec![
            ("sys/devices/system/cpu/cpu8/online", "0\n"),
            ("sys/devices/system/cpu/cpufreq/x", ""),
        ];
        more.extend(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        more.extend([
            ("sys/devices/system/node/node0/cpulist", "0-3\n"),
            (
                "sys/devices/system/node/node0/meminfo",
                "\nNode 0 MemTotal:       2048 kB\nNode 0 MemFree: 1 kB\n",
            ),
            ("sys/devices/system/node/node4/cpulist", "\n"),
        ]);
        let (_folder, tree) = tree(&more);
        let mut inventory = Inventory::default();
        fill(&tree, &mut inventory);
        assert_eq!((inventory.sockets, inventory.cores, inventory.threads), (2, 4, 8));
        let node = |node, cpus: &[u32], memory| NumaNode { node, cpus: cpus.to_vec(), memory };
        assert_eq!(inventory.numa, [node(0, &[0, 1, 2, 3], Bytes::mib(2)), node(4, &[], Bytes(0))]);
    }

    #[test]
    fn lists_of_cpus_are_bounded() {
        assert_eq!(cpu_list("x,1-,4294967295,5-3,7"), [7]);
        assert_eq!(cpu_list(&["0-65535"; 9].join(",")).len(), 65_536);
    }
}
