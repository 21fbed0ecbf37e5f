//! What the hosts of a run are to each other: where they are unequal, a total over them hides it.

use model::event::NoteKind;
use model::plan::PlanNote;
use model::testbed::HostFacts;

/// Says which hosts are not like the others, and in what.
pub(super) fn notes(hosts: &[HostFacts], notes: &mut Vec<PlanNote>) {
    // Memory that the firmware keeps differs by a little from machine to machine.
    let memory = |host: &HostFacts| format!("{} GiB of memory", (host.memory.0 + (1 << 29)) >> 30);
    let traits: [fn(&HostFacts) -> String; 3] = [
        |host| host.cpu_model.clone(),
        |host| format!("{} CPUs", host.logical_cpus),
        |host| host.kernel.clone(),
    ];
    for of in traits
        .iter()
        .map(|of| of as &dyn Fn(&HostFacts) -> String)
        .chain([&memory as &dyn Fn(&HostFacts) -> String])
    {
        notes.extend(odd_ones(hosts, of).map(|detail| PlanNote { kind: NoteKind::Hosts, detail }));
    }
}

/// The hosts that differ from most others in one trait, in words.
fn odd_ones(hosts: &[HostFacts], of: &dyn Fn(&HostFacts) -> String) -> Option<String> {
    let all: Vec<String> = hosts.iter().map(of).collect();
    let count = |value: &String| all.iter().filter(|other| *other == value).count();
    let most = all.iter().max_by_key(|value| count(value))?;
    let odd: Vec<String> = hosts
        .iter()
        .zip(&all)
        .filter(|(_, value)| *value != most)
        .map(|(host, value)| format!("{} has {value}", host.hostname))
        .collect();
    let (shown, rest) = odd.split_at(odd.len().min(5));
    let more =
        if rest.is_empty() { String::new() } else { format!(", and {} more differ", rest.len()) };
    (!odd.is_empty())
        .then(|| format!("unequal hosts: most have {most}; {}{more}", shown.join(", ")))
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
            memory_available: memory,
            numa_cpus: vec![],
            hypervisor: None,
            place: model::testbed::Place::default(),
            identity: String::new(),
            inventory: model::inventory::Inventory::default(),
            agent_version: String::new(),
            targets: vec![],
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
        assert_eq!(told[0].detail, "unequal hosts: most have 8 CPUs; c has 4 CPUs");
        all.pop();
        told.clear();
        notes(&all, &mut told);
        assert!(told.is_empty());
    }
}
