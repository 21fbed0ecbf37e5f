//! What a host is, and what it counts: read from the kernel's own files, never from the devices, and nothing is ever written.

mod counters;
mod device;
mod host;
mod mounts;
mod target;
mod tree;

use model::testbed::HostFacts;

pub use counters::Counters;
pub use tree::Tree;

/// What this host is, and what each of `targets` is to it.
///
/// Never fails: what cannot be read is empty, or says why. `agent_version` goes into the facts as it is.
pub fn host(targets: &[String], agent_version: &str) -> HostFacts {
    let tree = Tree::real();
    let mounts = mounts::read(&tree);
    let targets = targets.iter().map(|path| target::facts(&tree, &mounts, path)).collect();
    host::facts(&tree, agent_version, targets)
}
