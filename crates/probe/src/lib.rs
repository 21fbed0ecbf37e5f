//! What a host is, and what it counts: read from the kernel's own files, never from the devices, and nothing is ever written.

mod cgroup;
mod chain;
mod counters;
mod device;
mod host;
mod identity;
mod kernel_log;
mod mounts;
mod net;
mod servers;
mod target;
mod topology;
mod tree;

use model::inventory::Inventory;
use model::testbed::HostFacts;
use procfs::process::MountInfo;

pub use counters::Counters;
pub use host::hostname;
pub use kernel_log::{KernelLog, LogLine};
pub use tree::Tree;

/// What this host is, and what each of `targets` is to it.
///
/// Never fails: what cannot be read is empty, or says why. `agent_version` goes into the facts as it is. With `host`, the host's number among
/// several, its files go to a folder of its own in every target directory.
pub fn host(targets: &[String], host: Option<u32>, agent_version: &str) -> HostFacts {
    let tree = Tree::real();
    let mounts = mounts::read(&tree);
    let targets = targets.iter().map(|path| target::facts(&tree, &mounts, path, host)).collect();
    let inventory = inventory(&tree, &mounts);
    host::facts(&tree, agent_version, inventory, targets)
}

fn inventory(tree: &Tree, mounts: &[MountInfo]) -> Inventory {
    let mut inventory = Inventory {
        limits: cgroup::limits(tree, mounts),
        disks: device::disks(tree),
        nics: net::nics(tree),
        rdma: net::rdma(tree),
        mounts: mounts::with_data(mounts),
        ..Inventory::default()
    };
    topology::fill(tree, &mut inventory);
    // Version 2 lists the CPUs of a group also where that is all of them.
    if inventory.limits.cpus.len() >= inventory.threads as usize {
        inventory.limits.cpus.clear();
    }
    inventory
}
