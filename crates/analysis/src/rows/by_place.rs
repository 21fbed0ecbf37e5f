//! A result taken apart by what its hosts have in common: their labels, or whether what they loaded
//! was near to them.

use crate::rows::by_host::{Share, numbered};
use crate::rows::row::ResultRow;
use model::Record;
use std::collections::BTreeSet;

/// The name of the part of hosts that have no label.
pub const NO_LABEL: &str = "no label";

/// What the hosts of each label had of `row`, in the order in which the labels come first; last
/// those that have none. A host with several labels is in several parts, so that these need not add
/// up. Empty where no host has a label.
pub fn by_label(record: &Record, row: &ResultRow) -> Vec<Share> {
    let labels =
        |host: u32| record.plan.places.get(host as usize).map_or(&[][..], |place| &place.labels);
    let mut parts = Parts::default();
    let mut without = Parts::default();
    for (host, share) in numbered(record, row) {
        labels(host).iter().for_each(|label| parts.add(label, &share));
        if labels(host).is_empty() {
            without.add(NO_LABEL, &share);
        }
    }
    if !parts.0.is_empty() {
        parts.0.append(&mut without.0);
    }
    parts.0
}

/// Where what a host loads is, seen from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Locality {
    Local,
    Remote,
    Both,
    Unknown,
}

impl Locality {
    fn word(self) -> &'static str {
        match self {
            Locality::Local => "local",
            Locality::Remote => "remote",
            Locality::Both => "local and remote",
            Locality::Unknown => "no owner",
        }
    }
}

/// What the hosts had of `row` whose workers loaded targets that are near to them (whose owner is
/// one of the host's labels), and what those had whose targets are not; in parts of their own hosts
/// that loaded both, whose latencies cannot be told apart, and hosts of whose targets nobody says
/// it. Empty where no target has an owner.
pub fn by_locality(record: &Record, row: &ResultRow) -> Vec<Share> {
    if record.plan.places.iter().flat_map(|place| &place.owners).all(String::is_empty) {
        return Vec::new();
    }
    let mut shares: Vec<(Locality, Share)> = numbered(record, row)
        .into_iter()
        .map(|(host, share)| (locality(record, row, host), share))
        .collect();
    // The sort is stable: within a part, hosts stay in their order.
    shares.sort_by_key(|(locality, _)| *locality);
    let mut parts = Parts::default();
    shares.iter().for_each(|(locality, share)| parts.add(locality.word(), share));
    parts.0
}

fn locality(record: &Record, row: &ResultRow, host: u32) -> Locality {
    let Some(place) = record.plan.places.get(host as usize) else { return Locality::Unknown };
    let (mut local, mut remote, mut unknown) = (false, false, false);
    for owner in owners(record, row.stage, host, |work| row.has_work(work)) {
        match owner {
            "" => unknown = true,
            owner if place.labels.iter().any(|label| label == owner) => local = true,
            _ => remote = true,
        }
    }
    match (local, remote, unknown) {
        (true, false, false) => Locality::Local,
        (false, true, false) => Locality::Remote,
        (true, true, false) => Locality::Both,
        _ => Locality::Unknown,
    }
}

/// The owners of what a host's workers of these works load in a stage: labels, empty where nobody
/// says.
pub(crate) fn owners(
    record: &Record,
    stage: u32,
    host: u32,
    has_work: impl Fn(u32) -> bool,
) -> Vec<&str> {
    let (Some(plan), Some(place)) =
        (record.plan.hosts.get(host as usize), record.plan.places.get(host as usize))
    else {
        return Vec::new();
    };
    let workers = plan.stages.get(stage as usize).map_or(&[][..], |stage| &stage.workers);
    let mine = || workers.iter().filter(|worker| has_work(worker.work));
    let touched: BTreeSet<u32> =
        mine().flat_map(|worker| &worker.extents).map(|extent| extent.file).collect();
    // Operations on whole files go through trees on all targets.
    let is_of_trees = mine().any(|worker| worker.files.is_some());
    let of_files = (0..plan.targets.len()).zip(&plan.targets);
    let of_files = of_files.flat_map(|(number, target)| target.files.iter().map(move |_| number));
    let mut targets: BTreeSet<usize> = (0..)
        .zip(of_files)
        .filter(|(file, _)| touched.contains(file))
        .map(|(_, target)| target)
        .collect();
    if is_of_trees {
        targets.extend(plan.targets_of(stage));
    }
    let owner = |target: usize| place.owners.get(target).map_or("", String::as_str);
    targets.into_iter().map(owner).collect()
}

/// Shares that are added up by name.
#[derive(Default)]
struct Parts(Vec<Share>);

impl Parts {
    fn add(&mut self, name: &str, share: &Share) {
        match self.0.iter_mut().find(|part| part.name == name) {
            Some(part) => part.add(share),
            None => {
                let mut part = Share { name: name.to_owned(), ..Share::default() };
                part.add(share);
                self.0.push(part);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::Op;
    use model::plan::HostPlace;

    /// Three hosts with 10, 20 and 30 requests; the labels and owners of each.
    fn recorded(places: [(&[&str], &str); 3]) -> Record {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 3);
        for host in 0..3 {
            recorded.host_second(host, 0, &[(Op::Read, &vec![100; 10 * (host as usize + 1)])]);
        }
        let place = |(labels, owner): (&[&str], &str)| HostPlace {
            labels: labels.iter().map(ToString::to_string).collect(),
            owners: vec![owner.to_owned()],
        };
        recorded.record_mut().plan.places = places.map(place).into();
        recorded.record()
    }

    fn told(shares: &[Share]) -> Vec<(&str, u32, u64)> {
        shares.iter().map(|share| (share.name.as_str(), share.hosts, share.ios)).collect()
    }

    #[test]
    fn a_host_counts_for_each_of_its_labels() {
        let record = recorded([(&["a"], ""), (&["a", "b"], ""), (&[], "")]);
        let shares = by_label(&record, &results(&record)[0]);
        assert_eq!(told(&shares), [("a", 2, 30), ("b", 1, 20), ("no label", 1, 30)]);
        assert_eq!(shares[0].latency.count(), 30);
        let record = recorded([(&[], ""), (&[], ""), (&[], "")]);
        assert!(by_label(&record, &results(&record)[0]).is_empty());
    }

    #[test]
    fn a_target_whose_owner_is_a_label_of_the_host_is_local() {
        let record = recorded([(&["a"], "a"), (&["b"], "a"), (&["b", "a"], "a")]);
        assert_eq!(
            told(&by_locality(&record, &results(&record)[0])),
            [("local", 2, 40), ("remote", 1, 20)]
        );
        let record = recorded([(&["a"], "a"), (&["b"], ""), (&["b"], "a")]);
        let row = &results(&record)[0];
        assert_eq!(
            told(&by_locality(&record, row)),
            [("local", 1, 10), ("remote", 1, 30), ("no owner", 1, 20)]
        );
        let record = recorded([(&["a"], ""), (&["b"], ""), (&["b"], "")]);
        assert!(by_locality(&record, &results(&record)[0]).is_empty());
    }

    #[test]
    fn a_host_that_loads_near_and_far_targets_is_a_part_of_its_own() {
        let mut record = recorded([(&["a"], "a"), (&["a"], "a"), (&["a"], "a")]);
        record.plan.places[1].owners.push("b".to_owned());
        let more = record.plan.hosts[1].targets[0].clone();
        record.plan.hosts[1].targets.push(more);
        let row = results(&record).remove(0);
        assert_eq!(
            told(&by_locality(&record, &row)),
            [("local", 3, 60)],
            "nobody loads the second target yet"
        );
        let files = record.plan.hosts[1].targets[0].files.len() as u32;
        let stage = row.stage as usize;
        record.plan.hosts[1].stages[stage].workers[0].extents[0].file = files;
        assert_eq!(
            told(&by_locality(&record, &row)),
            [("local", 2, 40), ("local and remote", 1, 20)]
        );
    }
}
