//! Which of the hosts at hand a suite means: names and labels in, numbers of hosts out.

use super::Refusal;
use crate::{ALL_HOSTS, HostTargets, Label, Scenario, Spec};
use form::nearest;
use model::hostlist;
use model::plan::HostPlace;
use model::testbed::HostFacts;
use model::units::UnitError;
use std::collections::BTreeMap;

/// The hosts of a run and the words for them.
pub(super) struct Names<'a> {
    hosts: BTreeMap<&'a str, u32>,
    labels: BTreeMap<&'a str, Vec<u32>>,
    /// A host that is named twice is told of by whoever reaches it, and is no reason to forget
    /// another one.
    count: u32,
}

impl<'a> Names<'a> {
    pub(super) fn of(labels: &'a [Label], hosts: &'a [String]) -> Result<Names<'a>, Vec<Refusal>> {
        let mut names = Names {
            hosts: hosts.iter().map(String::as_str).zip(0..).collect(),
            labels: BTreeMap::new(),
            count: hosts.len() as u32,
        };
        let mut refusals = Vec::new();
        let mut numbers = BTreeMap::new();
        for label in labels {
            if names.hosts.contains_key(label.name.as_str()) {
                let what = format!("label `{0}` is called like the host {0}", label.name);
                refusals.push(Refusal::usage(what, "give the label another name"));
            }
            let found =
                label.hosts.iter().map(|host| names.find(host, &format!("label `{}`", label.name)));
            match found.collect::<Result<Vec<_>, Refusal>>() {
                Ok(found) => {
                    numbers.insert(label.name.as_str(), found.concat());
                }
                Err(refusal) => refusals.push(refusal),
            }
        }
        names.labels = numbers;
        if refusals.is_empty() { Ok(names) } else { Err(refusals) }
    }

    /// The numbers of the hosts that `text` means, in its order, each once; `asker` is who says it.
    pub(super) fn numbers(&self, text: &str, asker: &str) -> Result<Vec<u32>, Refusal> {
        let wrong = |error: UnitError| {
            Refusal::usage(error.to_string(), "write a list such as node[01-04]")
        };
        let mut numbers = Vec::new();
        for name in hostlist::expand(text).map_err(wrong)? {
            for number in self.find(&name, asker)? {
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
        }
        Ok(numbers)
    }

    fn find(&self, name: &str, asker: &str) -> Result<Vec<u32>, Refusal> {
        if name == ALL_HOSTS {
            return Ok((0..self.count).collect());
        }
        if let Some(numbers) = self.labels.get(name) {
            return Ok(numbers.clone());
        }
        self.hosts.get(name).map(|number| vec![*number]).ok_or_else(|| {
            let known = self.hosts.keys().chain(self.labels.keys()).copied();
            let remedy = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the hosts are {}", few(self.hosts.keys().copied())),
            };
            let what = format!("{asker}: no host of this run and no label is called `{name}`");
            Refusal::usage(what, remedy)
        })
    }
}

/// The first few of many names.
fn few<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let all = names.len();
    let shown: Vec<&str> = names.take(5).collect();
    let more = all - shown.len();
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

/// The paths that each of `hosts` loads, in the order of `targets`.
///
/// # Errors
/// Names that nobody has, a host without a target, and a path that a host has twice; each with a
/// remedy.
pub fn targets_of(
    labels: &[Label],
    targets: &[HostTargets],
    hosts: &[String],
) -> Result<Vec<Vec<String>>, Vec<Refusal>> {
    let names = Names::of(labels, hosts)?;
    let mut all: Vec<Vec<String>> = vec![Vec::new(); hosts.len()];
    let mut refusals = Vec::new();
    for entry in targets {
        match names.numbers(&entry.hosts, &format!("targets of `{}`", entry.hosts)) {
            Ok(numbers) => {
                let mine = numbers
                    .into_iter()
                    .filter_map(|number| Some((number as usize, hosts.get(number as usize)?)));
                for (number, host) in mine {
                    for path in &entry.paths {
                        if all[number].contains(path) {
                            let what = format!("host {host}: target {path} is named twice");
                            refusals.push(Refusal::usage(what, "name each target once for a host"));
                        }
                        all[number].push(path.clone());
                    }
                }
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    let without = all.iter().zip(hosts).filter(|(paths, _)| paths.is_empty());
    if refusals.is_empty() {
        refusals.extend(without.map(|(_, host)| {
            let remedy = format!(
                "give it one with --target {host}:PATH or in [targets], or leave it out of --hosts"
            );
            Refusal::usage(format!("host {host}: no target is named for it"), remedy)
        }));
    }
    if refusals.is_empty() { Ok(all) } else { Err(refusals) }
}

/// The scenario with every set of hosts resolved, and what hosts are called besides their names.
pub(super) fn resolved(
    spec: &Spec,
    scenario: &Scenario,
    hosts: &[HostFacts],
) -> Result<(Scenario, Vec<HostPlace>), Vec<Refusal>> {
    let called: Vec<String> = hosts.iter().map(|host| host.hostname.clone()).collect();
    let names = Names::of(&spec.labels, &called)?;
    let mut resolved = scenario.clone();
    let mut refusals = Vec::new();
    for workload in resolved.points.iter_mut().flat_map(|point| &mut point.workloads) {
        let asker = format!("workload `{}`", workload.name.value);
        // Most suites name no hosts, and two of the same name would stand in each other's way.
        if workload.hosts.value.is_all() {
            continue;
        }
        match names.numbers(workload.hosts.value.text(), &asker) {
            Ok(numbers) => workload.hosts.value.resolve(numbers),
            Err(refusal) => refusals.push(refusal),
        }
    }
    let owners = owners(spec.targets_of(scenario), &names, &mut refusals);
    refusals.dedup();
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let place = |(number, host): (u32, &HostFacts)| HostPlace {
        labels: spec
            .labels
            .iter()
            .map(|label| &label.name)
            .filter(|name| names.has(name, number))
            .cloned()
            .collect(),
        owners: host
            .targets
            .iter()
            .map(|target| owners.get(&(number, target.path.as_str())).cloned().unwrap_or_default())
            .collect(),
    };
    let places = (0..).zip(hosts).map(place).collect();
    Ok((resolved, places))
}

impl Names<'_> {
    fn has(&self, label: &str, host: u32) -> bool {
        self.labels.get(label).is_some_and(|hosts| hosts.contains(&host))
    }
}

/// The owner of each path on each host, where one is said.
fn owners<'a>(
    targets: &'a [HostTargets],
    names: &Names<'_>,
    refusals: &mut Vec<Refusal>,
) -> BTreeMap<(u32, &'a str), String> {
    let mut owners = BTreeMap::new();
    for entry in targets.iter().filter(|entry| !entry.owner.is_empty()) {
        match names.numbers(&entry.hosts, &format!("targets of `{}`", entry.hosts)) {
            Ok(numbers) => {
                let of = |number| {
                    entry
                        .paths
                        .iter()
                        .map(move |path| ((number, path.as_str()), entry.owner.clone()))
                };
                owners.extend(numbers.into_iter().flat_map(of));
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(name: &str, hosts: &[&str]) -> Label {
        Label {
            name: name.into(),
            hosts: hosts.iter().map(ToString::to_string).collect(),
            span: 0..0,
        }
    }

    fn targets(hosts: &str, paths: &[&str]) -> HostTargets {
        HostTargets {
            hosts: hosts.into(),
            paths: paths.iter().map(ToString::to_string).collect(),
            owner: String::new(),
        }
    }

    fn hosts() -> Vec<String> {
        (1..=4).map(|number| format!("vm{number}")).collect()
    }

    #[test]
    fn every_host_gets_its_own_targets_in_order() {
        let labels = [label("even", &["vm2", "vm4"])];
        let given =
            [targets("all", &["/a"]), targets("even", &["/b", "/c"]), targets("vm[1-2]", &["/d"])];
        let all = targets_of(&labels, &given, &hosts()).expect("good");
        let wanted: [&[&str]; 4] =
            [&["/a", "/d"], &["/a", "/b", "/c", "/d"], &["/a"], &["/a", "/b", "/c"]];
        assert_eq!(all, wanted);
    }

    #[test]
    fn what_does_not_fit_the_hosts_is_refused_with_the_near_name() {
        let told = |labels: &[Label], given: &[HostTargets]| -> String {
            let refusals = targets_of(labels, given, &hosts()).expect_err("refused");
            refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        assert!(told(&[], &[targets("vn1", &["/a"])]).contains("did you mean `vm1`?"));
        assert!(
            told(&[], &[targets("zebra", &["/a"])]).contains("the hosts are vm1, vm2, vm3, vm4")
        );
        assert!(
            told(&[label("a", &["vm9"])], &[targets("all", &["/a"])])
                .contains("label `a`: no host")
        );
        assert!(
            told(&[label("vm1", &["vm2"])], &[targets("all", &["/a"])])
                .contains("called like the host")
        );
        assert!(told(&[], &[targets("vm[1-3]", &["/a"])]).contains("host vm4: no target is named"));
        assert!(
            told(&[], &[targets("all", &["/a"]), targets("vm2", &["/a"])])
                .contains("host vm2: target /a is named twice")
        );
    }
}
