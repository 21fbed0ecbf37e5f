//! The hosts of a plan and what each makes: hosts that are alike are described once.

use super::place;
use crate::ground::words;
use model::testbed::{HostFacts, TargetFacts};
use model::{Bytes, HostPlan, Plan, hostlist};
use std::fmt::Write;

/// Hosts that differ in their names alone, and in how much of their file systems is free.
struct Alike {
    names: Vec<String>,
    machine: String,
    targets: Vec<Target>,
}

/// One target, as each of those hosts has it.
struct Target {
    made: String,
    /// What it lies on; the free space is the smallest of all.
    facts: Option<TargetFacts>,
}

impl Target {
    fn of(plan: &Plan, host: &HostPlan, number: u32, facts: &HostFacts) -> Target {
        let path = host.targets.get(number as usize).map(|target| &target.path);
        let facts = facts.targets.iter().find(|facts| Some(&facts.path) == path);
        let scenarios = place::scenarios(plan, host, number);
        let made = format!("{scenarios}{}", place::made(plan, host, number));
        Target { made, facts: facts.cloned() }
    }

    fn is_like(&self, other: &Target, plan: &Plan) -> bool {
        // What is free differs from host to host, and from second to second.
        let lies_on = |target: &Target| {
            let facts = target.facts.clone();
            facts.map(|facts| place::medium(plan, &TargetFacts { free: Bytes(0), ..facts }))
        };
        self.made == other.made && lies_on(self) == lies_on(other)
    }

    fn take_in(&mut self, other: Target) {
        if let (Some(mine), Some(others)) = (&mut self.facts, other.facts) {
            mine.free = mine.free.min(others.free);
        }
    }

    fn line(&self, plan: &Plan) -> String {
        let medium = self.facts.as_ref().map(|facts| place::medium(plan, facts));
        let medium = medium.unwrap_or_default();
        if medium.is_empty() { self.made.clone() } else { format!("{}; {medium}", self.made) }
    }
}

/// Heads and lines of all hosts, in the order of the plan.
pub(super) fn lines(plan: &Plan, hosts: &[HostFacts]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for alike in alike(plan, hosts) {
        let several = alike.names.len() > 1;
        let count = words::counted(alike.names.len() as u64, "host");
        let each = if several { format!("{count}, each ") } else { String::new() };
        let names = hostlist::compress(&alike.names);
        lines.push(("host", format!("{names}: {each}{}", alike.machine)));
        let each = if several { "on each, " } else { "" };
        lines.extend(
            alike.targets.iter().map(|target| ("target", format!("{each}{}", target.line(plan)))),
        );
    }
    lines
}

fn alike(plan: &Plan, hosts: &[HostFacts]) -> Vec<Alike> {
    let mut all: Vec<Alike> = Vec::new();
    for (host, facts) in plan.hosts.iter().zip(hosts) {
        let machine = machine(facts);
        let targets: Vec<Target> = (0..host.targets.len() as u32)
            .map(|number| Target::of(plan, host, number, facts))
            .collect();
        let is_like = |known: &Alike| {
            known.machine == machine
                && known.targets.len() == targets.len()
                && known
                    .targets
                    .iter()
                    .zip(&targets)
                    .all(|(known, target)| known.is_like(target, plan))
        };
        match all.iter().position(is_like) {
            Some(at) => {
                all[at].names.push(facts.hostname.clone());
                for (known, target) in all[at].targets.iter_mut().zip(targets) {
                    known.take_in(target);
                }
            }
            None => all.push(Alike { names: vec![facts.hostname.clone()], machine, targets }),
        }
    }
    all
}

/// One host in a line.
pub fn host_line(facts: &HostFacts) -> String {
    format!("{}: {}", facts.hostname, machine(facts))
}

/// A host without its name.
fn machine(facts: &HostFacts) -> String {
    let mut text = words::counted(u64::from(facts.logical_cpus), "CPU");
    if !facts.cpu_model.is_empty() {
        let _ = write!(text, " ({})", facts.cpu_model);
    }
    let _ = write!(text, ", {} of memory, {}", facts.memory, facts.kernel);
    if let Some(hypervisor) = &facts.hypervisor {
        let _ = write!(text, ", under {hypervisor}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;

    const SUITE: &str = include_str!("../../../../../suites/four-corners.toml");

    #[test]
    fn hosts_that_are_alike_are_one_line_with_the_least_free_space() {
        let mut recorded = Recorded::with_hosts(SUITE, 12).record();
        recorded.testbed[5].targets[0].free = Bytes(7 << 30);
        let lines = lines(&recorded.plan, &recorded.testbed);
        let [host, target] = &lines[..] else { panic!("{lines:?}") };
        assert!(host.1.starts_with("node[0-11]: 12 hosts, each 8 CPUs"), "{host:?}");
        assert!(target.1.starts_with("on each, /mnt/data: 4 files"), "{target:?}");
        assert!(target.1.contains(", 7 GiB free"), "{target:?}");
    }

    #[test]
    fn a_host_of_its_own_kind_has_its_own_line() {
        let mut recorded = Recorded::with_hosts(SUITE, 3).record();
        recorded.testbed[1].logical_cpus += 1;
        let lines = lines(&recorded.plan, &recorded.testbed);
        let heads: Vec<&str> = lines.iter().map(|(head, _)| *head).collect();
        assert_eq!(heads, ["host", "target", "host", "target"]);
        assert!(lines[0].1.starts_with("node0,node2: 2 hosts"), "{lines:?}");
        assert!(lines[2].1.starts_with("node1: 9 CPUs"), "{lines:?}");
    }
}
