//! Hosts that a suite names and that are not there: what is said of them is said of the others.

use super::Refusal;
use crate::{ALL_HOSTS, HostTargets, Label, Spec};
use model::hostlist;
use std::collections::BTreeSet;

/// Leaves hosts out of a suite that could not be reached: of its labels, of its targets, and of
/// the hosts of its workloads. Who is not named stays so.
///
/// # Errors
/// A workload none of whose hosts is left: it would be missing without a word.
pub fn without_hosts(spec: &mut Spec, absent: &[String]) -> Result<(), Vec<Refusal>> {
    let is_label = |name: &str| spec.labels.iter().any(|label| label.name == name);
    let absent: BTreeSet<String> = absent.iter().filter(|name| !is_label(name)).cloned().collect();
    if absent.is_empty() {
        return Ok(());
    }
    for label in &mut spec.labels {
        label.hosts.retain(|host| !absent.contains(host));
    }
    leave_out_of_targets(&mut spec.targets, &absent);
    let labels = spec.labels.clone();
    let mut refusals = Vec::new();
    for scenario in spec.scenarios_mut() {
        if let Some(targets) = &mut scenario.own_targets {
            leave_out_of_targets(targets, &absent);
        }
        for workload in scenario.points.iter_mut().flat_map(|point| &mut point.workloads) {
            let hosts = &mut workload.hosts.value;
            let left = left_of(hosts.text(), &absent);
            if !left.iter().any(|name| means_somebody(name, &labels)) {
                refusals.push(Refusal::target(
                    format!(
                        "workload `{}`: none of its hosts ({}) could be reached",
                        workload.name.value,
                        hosts.text()
                    ),
                    "see why, raise fleet.start_within if they are starting, or give it others",
                ));
            } else if !hosts.is_all() {
                hosts.rename(hostlist::compress(&left));
            }
        }
    }
    refusals.dedup();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// What is left of a list; a list that cannot be read is told of when it is resolved.
fn left_of(list: &str, absent: &BTreeSet<String>) -> Vec<String> {
    let names = hostlist::expand(list).unwrap_or_else(|_| vec![list.to_owned()]);
    names.into_iter().filter(|name| !absent.contains(name)).collect()
}

fn means_somebody(name: &str, labels: &[Label]) -> bool {
    let label = labels.iter().find(|label| label.name == name);
    name == ALL_HOSTS || label.is_none_or(|label| !label.hosts.is_empty())
}

fn leave_out_of_targets(targets: &mut Vec<HostTargets>, absent: &BTreeSet<String>) {
    targets.retain_mut(|entry| {
        if entry.hosts == ALL_HOSTS {
            return true;
        }
        let left = left_of(&entry.hosts, absent);
        entry.hosts = hostlist::compress(&left);
        !left.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = "name = \"s\"\n[labels]\nwest = \"n[1-2]\"\neast = \"n[3-4]\"\n\n\
        [targets]\nwest = \"/a\"\n\"n3\" = \"/b\"\n\"n[3-4]\" = \"/c\"\n\n[[workload]]\n\
        name = \"w\"\nhosts = \"west\"\n\n[[workload]]\nname = \"e\"\nhosts = \"east,n3\"\n";

    fn without(absent: &[&str]) -> Result<Spec, Vec<Refusal>> {
        let mut spec = Spec::parse("test", SUITE, &[]).expect("a good suite");
        let absent: Vec<String> = absent.iter().map(ToString::to_string).collect();
        without_hosts(&mut spec, &absent).map(|()| spec)
    }

    #[test]
    fn what_names_an_absent_host_is_said_of_the_others() {
        let spec = without(&["n3", "n9"]).expect("enough are left");
        let labels: Vec<&[String]> = spec.labels.iter().map(|label| &label.hosts[..]).collect();
        assert_eq!(labels, [&["n1".to_owned(), "n2".to_owned()][..], &["n4".to_owned()]]);
        let targets: Vec<&str> = spec.targets.iter().map(|entry| entry.hosts.as_str()).collect();
        assert_eq!(targets, ["west", "n4"]);
        let workloads = spec.first_scenario().points.iter().flat_map(|point| &point.workloads);
        let hosts: Vec<&str> = workloads.map(|workload| workload.hosts.value.text()).collect();
        assert_eq!(hosts, ["west", "east"]);
    }

    #[test]
    fn a_workload_without_any_of_its_hosts_is_refused_by_name() {
        let refusals = without(&["n3", "n4"]).expect_err("nobody is left for it");
        let told = refusals[0].to_string();
        assert!(refusals.len() == 1 && told.contains("workload `e`: none of its hosts"), "{told}");
        assert!(without(&["n1"]).is_ok());
    }
}
