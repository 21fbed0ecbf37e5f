//! Which hosts are alike: one entry of a testbed stands for all of them.

use super::{drives, gibibytes, ports};
use model::testbed::HostFacts;

/// Hosts of which one describes all.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// At least one, in the order in which they were told.
    pub hosts: Vec<&'a HostFacts>,
}

/// The hosts in groups, in the order in which the first of each was told.
pub(super) fn of(hosts: &[HostFacts]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for host in hosts {
        match groups.iter_mut().find(|group| are_alike(group.hosts[0], host)) {
            Some(group) => group.hosts.push(host),
            None => groups.push(Group { hosts: vec![host] }),
        }
    }
    groups
}

/// Whether a draft would say the same of both. Memory of equal machines differs by what each
/// firmware keeps: by less than 1 GiB.
fn are_alike(one: &HostFacts, other: &HostFacts) -> bool {
    let parts = |host: &HostFacts| {
        let inventory = &host.inventory;
        (inventory.sockets, inventory.cores, host.cpu_model.clone(), host.hypervisor.clone())
    };
    parts(one) == parts(other)
        && gibibytes(one.memory).abs_diff(gibibytes(other.memory)) <= 1
        && ports::summary(one) == ports::summary(other)
        && drives::kinds(one) == drives::kinds(other)
}
