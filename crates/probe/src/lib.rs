//! What a host is, and what it counts: read from the kernel's own files, never from the devices.
//! Nothing is ever written, but for a private instance of tracefs ([`block_trace`]). Storage on
//! other machines is asked by its own command ([`servers::storage_state`]).

mod addresses;
pub mod block_trace;
mod cgroup;
mod counters;
mod devices;
mod host;
mod identity;
mod kernel_log;
mod mounts;
mod net;
pub mod servers;
mod target;
#[cfg(test)]
mod tests;
mod topology;
mod tree;

use devices::{chain, device, device_number, holes, loops};
use model::inventory::Inventory;
use model::testbed::{HostFacts, TargetFacts, TargetKind};
use procfs::process::MountInfo;
use std::sync::Arc;

pub use addresses::{NetworkNow, addresses, network_now};
pub use counters::Counters;
pub use host::hostname;
pub use kernel_log::{KernelLog, LogLine};
pub use tree::Tree;

/// Looks at this host, and at what its paths are to it. Cheap to copy.
///
/// Never fails: what cannot be read is empty, or says why. But what a path leads to may never
/// answer (a mount whose server is dead): who cannot wait for that has a thread look.
#[derive(Clone, Debug)]
pub struct Looker {
    tree: Tree,
    /// As they were when it was made, so that a thousand targets read them once.
    mounts: Arc<Vec<MountInfo>>,
}

impl Looker {
    /// For this host as the kernel shows it now.
    pub fn new() -> Looker {
        let tree = Tree::real();
        let mounts = Arc::new(mounts::read(&tree));
        Looker { tree, mounts }
    }

    /// What the target at `path` is. With `host`, the host's number among several, its files go to
    /// a folder of its own in every target directory.
    pub fn target(&self, path: &str, host: Option<u32>) -> TargetFacts {
        target::facts(&self.tree, &self.mounts, path, host)
    }

    /// The parts of the host.
    pub fn inventory(&self) -> Inventory {
        inventory(&self.tree, &self.mounts)
    }

    /// What this host is, with these parts and targets. `agent_version` goes into the facts as it
    /// is.
    pub fn host(
        &self,
        agent_version: &str,
        inventory: Inventory,
        targets: Vec<TargetFacts>,
    ) -> HostFacts {
        host::facts(&self.tree, agent_version, inventory, targets)
    }
}

impl Default for Looker {
    fn default() -> Looker {
        Looker::new()
    }
}

/// What is known of the target at `path` where nobody could look: nothing, and why.
pub fn unreadable(path: &str, why: String) -> TargetFacts {
    TargetFacts {
        path: path.to_owned(),
        kind: TargetKind::Unreadable(why),
        ..TargetFacts::default()
    }
}

/// Where Linux tells what it reads the time from.
const CLOCK_SOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

fn inventory(tree: &Tree, mounts: &[MountInfo]) -> Inventory {
    let mut inventory = Inventory {
        limits: cgroup::limits(tree, mounts),
        disks: device::disks(tree),
        nics: net::nics(tree),
        rdma: net::rdma(tree),
        mounts: mounts::with_data(mounts),
        clock_source: tree.text(CLOCK_SOURCE).unwrap_or_default(),
        ..Inventory::default()
    };
    topology::fill(tree, &mut inventory);
    // Version 2 lists the CPUs of a group also where that is all of them.
    if inventory.limits.cpus.len() >= inventory.threads as usize {
        inventory.limits.cpus.clear();
    }
    inventory
}
