//! What the hosts of a run are to each other: where they are unequal, a total over them hides it.

use model::note::{AboutHosts, Fact, Trait};
use model::plan::PlanNote;
use model::testbed::HostFacts;

/// So many of those that differ are named.
const MOST_ODD: usize = 5;

/// Says which hosts are not like the others, and in what.
pub(super) fn notes(hosts: &[HostFacts], notes: &mut Vec<PlanNote>) {
    // Memory that the firmware keeps differs by a little from machine to machine.
    let traits: [fn(&HostFacts) -> Trait; 4] = [
        |host| Trait::CpuModel(host.cpu_model.clone()),
        |host| Trait::Cpus(host.logical_cpus),
        |host| Trait::Kernel(host.kernel.clone()),
        |host| Trait::MemoryGib((host.memory.0 + (1 << 29)) >> 30),
    ];
    for of in traits {
        notes.extend(odd_ones(hosts, of).map(|odd| PlanNote { fact: Fact::Hosts(odd) }));
    }
}

/// The hosts that differ from most others in one trait.
fn odd_ones(hosts: &[HostFacts], of: fn(&HostFacts) -> Trait) -> Option<AboutHosts> {
    let all: Vec<Trait> = hosts.iter().map(of).collect();
    let count = |value: &Trait| all.iter().filter(|other| *other == value).count();
    let most = all.iter().max_by_key(|value| count(value))?;
    let mut odd: Vec<(String, Trait)> = hosts
        .iter()
        .zip(&all)
        .filter(|(_, value)| *value != most)
        .map(|(host, value)| (host.hostname.clone(), value.clone()))
        .collect();
    let more = odd.len().saturating_sub(MOST_ODD) as u64;
    odd.truncate(MOST_ODD);
    (!odd.is_empty()).then(|| AboutHosts::Unequal { most: most.clone(), odd, more })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;

    fn host(name: &str, cpus: u32, memory: Bytes) -> HostFacts {
        HostFacts {
            hostname: name.into(),
            kernel: "Linux 6.1".into(),
            cpu_model: "X".into(),
            logical_cpus: cpus,
            memory,
            ..crate::planner::tests::host(Vec::new())
        }
    }

    #[test]
    fn unequal_hosts_are_named() {
        let mut all = vec![
            host("a", 8, Bytes::gib(64)),
            host("b", 8, Bytes(Bytes::gib(64).0 - 5_000_000)),
            host("c", 4, Bytes::gib(64)),
        ];
        let mut told = Vec::new();
        notes(&all, &mut told);
        assert_eq!(told.len(), 1);
        let odd = vec![("c".to_owned(), Trait::Cpus(4))];
        let unequal = AboutHosts::Unequal { most: Trait::Cpus(8), odd, more: 0 };
        assert_eq!(told[0].fact, Fact::Hosts(unequal));
        all.pop();
        told.clear();
        notes(&all, &mut told);
        assert!(told.is_empty());
    }
}
