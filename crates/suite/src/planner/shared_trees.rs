//! Hosts whose metadata workloads go to what other hosts made: whose trees these are, and whether
//! they can be seen there.

use super::rotation::unseen;
use super::{Refusal, ScenarioRequest};
use crate::{OtherFiles, PointSpec, WorkloadSpec};
use model::metadata::{FileShare, Tree};
use model::op::Op;
use model::plan::{HostPlan, Stage, Target};

/// Gives the workers of each host the files of the next host that takes part in the same stage, the
/// last one those of the first, wherever the workload says so and the operation finds its files
/// there (mdtest's `-N`).
///
/// # Errors
/// When there is no other host, when hosts differ in their workers, or when a host does not see the
/// folder of the other one.
pub(super) fn lend(
    request: &ScenarioRequest<'_>,
    points: &[&PointSpec],
    stages: &[Stage],
    hosts: &mut [HostPlan],
) -> Result<(), Vec<Refusal>> {
    let mut refusals = Vec::new();
    let made: Vec<Vec<Tree>> = hosts.iter().map(|host| host.trees.clone()).collect();
    for (number, stage) in stages.iter().enumerate() {
        let workload = stage.point.and_then(|point| points.get(point as usize)?.workloads.first());
        let Some(workload) = workload.filter(|workload| is_of_others(workload, stage)) else {
            continue;
        };
        let shares: Vec<Vec<FileShare>> =
            hosts.iter().map(|host| shares_of(host, number)).collect();
        let ring: Vec<usize> = (0..hosts.len()).filter(|host| !shares[*host].is_empty()).collect();
        if let Some(refusal) = unequal(workload, &ring, &shares) {
            refusals.push(refusal);
            continue;
        }
        for (place, taker) in ring.iter().copied().enumerate() {
            let maker = ring[(place + 1) % ring.len()];
            let theirs = hosts[maker].targets.clone();
            for (worker, share) in shares[maker].iter().enumerate() {
                let tree = &made[maker][share.tree as usize];
                let target = &theirs[tree.target as usize];
                refusals.extend(unseen(
                    &request.hosts[taker], &request.hosts[maker], target, "other = \"host\"",
                ));
                let tree = borrowed(&mut hosts[taker], tree, target);
                hosts[taker].stages[number].workers[worker].files =
                    Some(FileShare { tree, ..*share });
            }
        }
    }
    refusals.dedup();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Whether this stage goes to files that its host has not made.
fn is_of_others(workload: &WorkloadSpec, stage: &Stage) -> bool {
    let finds = |op: Op| !matches!(op, Op::Create | Op::Mkdir);
    let work = stage.works.first().and_then(|work| work.metadata);
    workload.other.value == OtherFiles::Host && work.is_some_and(|work| work.ops().all(finds))
}

fn shares_of(host: &HostPlan, stage: usize) -> Vec<FileShare> {
    let workers = host.stages.get(stage).into_iter().flat_map(|stage| &stage.workers);
    workers.filter_map(|worker| worker.files).collect()
}

/// Why the hosts of `ring` cannot take each other's files.
fn unequal(workload: &WorkloadSpec, ring: &[usize], shares: &[Vec<FileShare>]) -> Option<Refusal> {
    let refuse = |what: String, remedy: &str| {
        let name = &workload.name.value;
        Some(Refusal::usage(format!("workload `{name}`: other = \"host\", and {what}"), remedy))
    };
    let counts = || ring.iter().map(|host| shares[*host].len());
    match (ring.len(), counts().min(), counts().max()) {
        (0 | 1, ..) => refuse(
            "no second host does this work".to_owned(),
            "name several hosts with --hosts, or write other = true: what another worker of the \
             host has made",
        ),
        (_, Some(fewest), Some(most)) if fewest != most => refuse(
            format!("hosts have {fewest} to {most} workers: who would take whose files?"),
            "give workers as a number, and spread = \"each-host\"",
        ),
        _ => None,
    }
}

/// The number of another host's `tree` among those of `host`.
fn borrowed(host: &mut HostPlan, tree: &Tree, target: &Target) -> u32 {
    let known = host.trees.iter().position(|known| known.joined && known.path == tree.path);
    let number = known.unwrap_or_else(|| {
        // Where it has no such target, the plan was refused.
        let target =
            host.targets.iter().position(|own| own.path == target.path).unwrap_or(0) as u32;
        host.trees.push(Tree { joined: true, target, ..tree.clone() });
        host.trees.len() - 1
    });
    number as u32
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use crate::planner::tests as any;
    use model::plan::{HostPlan, Plan};
    use model::testbed::{DirectIo, DirectoryState, HostFacts, TargetFacts, TargetKind};
    use model::units::Bytes;
    use std::collections::BTreeSet;

    const SUITE: &str = "name = \"t\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = \
                         30\nper_directory = 4\n[[workload]]\nname = \"w\"\nkind = \
                         \"metadata\"\nother = \"host\"\noperations = [\"create\", \"stat:3, \
                         readdir:1\", \"readdir\", \"remove\"]\n";

    fn host(number: usize, total: u64) -> HostFacts {
        let root = format!("/t-h{number:04}");
        let kind = TargetKind::Directory { root, state: DirectoryState::Empty };
        let target = TargetFacts {
            file_system: Some("nfs".into()),
            free: Bytes::gib(10),
            total: Bytes::gib(total),
            free_inodes: None,
            direct: DirectIo::Refused,
            ..any::target("/t", kind)
        };
        HostFacts {
            hostname: format!("h{number}"),
            logical_cpus: 2 + number as u32 % 2,
            numa_cpus: vec![vec![0, 1]],
            ..any::host(vec![target])
        }
    }

    fn planned(more: &str, hosts: &[HostFacts]) -> Result<Plan, Vec<String>> {
        planned_with(&[], more, hosts)
    }

    fn planned_with(set: &[&str], more: &str, hosts: &[HostFacts]) -> Result<Plan, Vec<String>> {
        let set: Vec<_> = set.iter().map(|set| set.parse().expect("an override")).collect();
        let spec = Spec::parse("t", &format!("{SUITE}{more}"), &set).expect("a good suite");
        any::planned(&any::request(&spec, hosts))
    }

    /// Every file of a host's shares of a stage, as the path of its tree and its number.
    fn files(host: &HostPlan, stage: usize) -> BTreeSet<(&str, u64)> {
        let shares = host.stages[stage].workers.iter().filter_map(|worker| worker.files);
        shares
            .flat_map(|share| {
                let path = host.trees[share.tree as usize].path.as_str();
                (0..share.count).map(move |index| (path, share.number(index)))
            })
            .collect()
    }

    #[test]
    fn every_host_takes_all_that_the_next_one_made_and_makes_its_own() {
        for unique in [true, false] {
            let hosts = [host(0, 20), host(1, 20), host(2, 20)];
            let plan = planned_with(&["workers=2", &format!("tree.unique={unique}")], "", &hosts)
                .expect("a plan");
            for (number, taker) in plan.hosts.iter().enumerate() {
                let maker = &plan.hosts[(number + 1) % 3];
                assert_eq!(files(taker, 0).len(), 30);
                assert!(
                    taker
                        .trees
                        .iter()
                        .all(|tree| tree.joined
                            != tree.path.starts_with(&format!("/t-h{number:04}/")))
                );
                for stage in [1, 3] {
                    assert_eq!(
                        files(taker, stage),
                        files(maker, 0),
                        "unique {unique}, stage {stage}"
                    );
                }
                assert!(!files(taker, 2).is_empty());
                assert!(
                    files(taker, 2)
                        .iter()
                        .all(|(path, _)| path.starts_with(&maker.targets[0].path))
                );
                let own = taker.trees.iter().filter(|tree| !tree.joined).count();
                assert_eq!(taker.trees.len(), 2 * own, "each once");
                assert_ne!(taker.stages[1].workers[0].seed, maker.stages[1].workers[0].seed);
            }
        }
    }

    #[test]
    fn hosts_without_the_work_are_passed_over() {
        let hosts = [host(0, 20), host(1, 20), host(2, 20)];
        let plan = planned("workers = 2\nhosts = \"h[0,2]\"\n", &hosts).expect("a plan");
        assert_eq!(files(&plan.hosts[0], 1), files(&plan.hosts[2], 0));
        assert_eq!(files(&plan.hosts[2], 1), files(&plan.hosts[0], 0));
        assert!(files(&plan.hosts[1], 0).is_empty());
    }

    #[test]
    fn what_cannot_be_lent_is_refused() {
        let told =
            |more: &str, hosts: &[HostFacts]| planned(more, hosts).expect_err("refused").join("\n");
        assert!(told("", &[host(0, 20)]).contains("no second host does this work"));
        assert!(told("", &[host(0, 20), host(1, 20)]).contains("hosts have 2 to 3 workers"));
        let far = told("workers = 1\n", &[host(0, 20), host(1, 30)]);
        assert!(
            far.contains("other = \"host\"") && far.contains("is another file system there"),
            "{far}"
        );
        assert_eq!(far.lines().count(), 2, "each of two hosts says once what it cannot see: {far}");
        let mut elsewhere = host(1, 20);
        elsewhere.targets[0].path = "/u".into();
        assert!(told("workers = 1\n", &[host(0, 20), elsewhere]).contains("is not one of its own"));
    }
}
