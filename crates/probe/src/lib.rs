//! What a host is: read from the kernel's own files, never from the devices, and nothing is ever written.

mod device;
mod host;
mod mounts;
mod target;
mod tree;

use model::testbed::HostFacts;
use tree::Tree;

/// What this host is, and what each of `targets` is to it.
///
/// Never fails: what cannot be read is empty, or says why. `agent_version` goes into the facts as it is. With `host`, the host's number among
/// several, its files go to a folder of its own in every target directory.
pub fn host(targets: &[String], host: Option<u32>, agent_version: &str) -> HostFacts {
    let tree = Tree::real();
    let mounts = mounts::read(&tree);
    let targets = targets.iter().map(|path| target::facts(&tree, &mounts, path, host)).collect();
    host::facts(&tree, agent_version, targets)
}
