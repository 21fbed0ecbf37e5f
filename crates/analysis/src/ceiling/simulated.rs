//! The testbed that a run was simulated on, and what the parameters of its targets make of it.

use crate::rows::row::ResultRow;
use catalogue::cluster::reference_text;
use catalogue::{Auto, Cluster};
use model::testbed::SIMULATED_CLUSTER;
use model::{Percent, Plan, Record, Route};
use std::borrow::Cow;

/// The reference testbed that all targets of these plans simulate, whatever their parameters, if it
/// is one: what such a run had beneath it is known without a word. What the parameters change is
/// put in for each row by [`against`](fn@super::against).
pub fn simulated<'a>(plans: impl Iterator<Item = &'a Plan>) -> Option<Cluster> {
    let mut targets = plans.flat_map(|plan| &plan.hosts).flat_map(|host| &host.targets);
    fn of(path: &str) -> Option<(&str, bool)> {
        let (name, parameters) = split(path)?;
        Some((name, parameters.split(',').any(|one| one.trim() == "fitted")))
    }
    let (name, is_fitted) = of(&targets.next()?.path)?;
    if targets.any(|target| of(&target.path) != Some((name, is_fitted))) {
        return None;
    }
    Cluster::parse(name, &reference_text(name, is_fitted)?, &[]).ok()
}

/// `cluster` as the targets beneath a row used it: without clients where hosts were on its nodes
/// (`path=local`), with the share of data that is mastered in the other site (`remote=…`). As it
/// stands where the row's targets are no simulation of it, or differ. All other parameters
/// take away from what it carries at most, so that its ceiling stays one.
pub(crate) fn as_used<'a>(
    cluster: &'a Cluster,
    record: &Record,
    row: &ResultRow,
) -> Cow<'a, Cluster> {
    let mut paths = record.plan.hosts.iter().flat_map(|host| {
        let part = host.parts.iter().find(|part| part.stages.contains(&row.stage));
        let is_used = move |number: u32| part.is_none_or(|part| part.targets.contains(&number));
        (0..)
            .zip(&host.targets)
            .filter(move |(number, _)| is_used(*number))
            .map(|(_, target)| target.path.as_str())
    });
    let Some(first) = paths.next() else { return Cow::Borrowed(cluster) };
    match split(first) {
        Some((name, parameters))
            if name == cluster.top.name.value && paths.all(|path| path == first) =>
        {
            with(cluster, parameters)
        }
        _ => Cow::Borrowed(cluster),
    }
}

/// The testbed's name and the parameters behind it.
fn split(path: &str) -> Option<(&str, &str)> {
    let text = path.strip_prefix(SIMULATED_CLUSTER)?;
    Some(text.split_once(',').unwrap_or((text, "")))
}

fn with<'a>(cluster: &'a Cluster, parameters: &str) -> Cow<'a, Cluster> {
    let (mut route, mut remote) = (Route::Testbed, None);
    for (key, value) in parameters.split(',').filter_map(|parameter| parameter.split_once('=')) {
        match (key.trim(), value.trim()) {
            ("path", "local") => route = Route::Local,
            ("remote", share) => remote = share.parse::<Percent>().ok(),
            _ => {}
        }
    }
    reached(cluster, route, remote)
}

/// `cluster` as hosts reach it: without clients where they are on its nodes, with this share of the
/// data mastered in the other site. A share of hosts outside takes away from what it carries at
/// most, so that its ceiling stays one.
pub(crate) fn reached(
    cluster: &Cluster,
    route: Route,
    remote: Option<Percent>,
) -> Cow<'_, Cluster> {
    let mut used = Cow::Borrowed(cluster);
    if route == Route::Local && cluster.has_clients() {
        let clients = &mut used.to_mut().clients;
        (clients.count.value, clients.port_speed.value) = (Auto::Auto, Auto::Auto);
    }
    if let Some(share) = remote {
        let access = &mut used.to_mut().access;
        (access.remote_site_reads.value, access.remote_site_writes.value) = (share, share);
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::against;
    use crate::testing::Recorded;
    use model::Op;

    /// A run on these targets, one for each host.
    fn record(targets: &[&str]) -> Record {
        let mut recorded = Recorded::with_hosts(
            "[[workload]]\nname = \"reads\"\nread = \"100%\"\n",
            targets.len(),
        );
        recorded.second(0, &[(Op::Read, &[1_000; 50])]);
        recorded.end();
        let record = recorded.record_mut();
        for (host, target) in record.plan.hosts.iter_mut().zip(targets) {
            host.targets[0].path = (*target).to_owned();
        }
        recorded.record()
    }

    fn ceiling(cluster: &Cluster, target: &str) -> f64 {
        let record = record(&[target]);
        let reached = against(cluster, &record, &crate::results(&record));
        reached[0].ceiling.binding().expect("known").iops
    }

    #[test]
    fn parameters_make_no_other_testbed_but_two_names_do() {
        let found = |targets: &[&str]| {
            simulated(std::iter::once(&record(targets).plan)).map(|found| found.top.name.value)
        };
        let d = "sim:cluster=hyperflex-stretched";
        let (local, remote) = (format!("{d},nodes=1-8+1+5"), format!("{d},remote=100%"));
        assert_eq!(found(&[d, &local, &remote]).as_deref(), Some("hyperflex-stretched"));
        assert_eq!(found(&[d, "sim:cluster=pixstor-nvme"]), None);
        assert_eq!(found(&["sim:cluster=./mine.toml"]), None);
        assert_eq!(found(&["/mnt/data", d]), None);
    }

    #[test]
    fn the_way_of_a_row_to_its_data_is_in_its_ceiling() {
        let b =
            simulated(std::iter::once(&record(&["sim:cluster=s2d-disaggregated,path=smb"]).plan))
                .expect("known");
        let plain = ceiling(&b, "/mnt/data");
        assert_eq!(ceiling(&b, "sim:cluster=s2d-disaggregated,path=smb"), plain);
        assert!(
            ceiling(&b, "sim:cluster=s2d-disaggregated,path=local") > plain,
            "no port of a client is in the way"
        );
        assert_eq!(
            ceiling(&b, "sim:cluster=other,path=local"),
            plain,
            "another testbed says nothing of this one"
        );
        let d = simulated(std::iter::once(&record(&["sim:cluster=hyperflex-stretched"]).plan))
            .expect("known");
        let record = record(&["sim:cluster=hyperflex-stretched,remote=100%"]);
        let used = as_used(&d, &record, &crate::results(&record)[0]);
        assert_eq!(used.access.remote_site_reads.value, "100%".parse().expect("a share"));
        assert_eq!(
            with(&d, "remote=much, path"),
            Cow::Borrowed(&d),
            "what cannot be read changes nothing"
        );
    }
}
