//! Workloads that load some of the targets of a host.

use super::Refusal;
use crate::{TargetSet, WorkloadSpec};
use model::plan::Target;
use model::testbed::HostFacts;
use model::units::Bytes;

/// Why a workload cannot have the targets that it names on a host.
pub(super) fn missing(workload: &WorkloadSpec, facts: &HostFacts) -> Option<Refusal> {
    let (highest, count) = (workload.targets.value.highest(), facts.targets.len());
    (highest as usize > count).then(|| {
        let has = match count {
            1 => "1 target".to_owned(),
            count => format!("{count} targets"),
        };
        let what = format!(
            "workload `{}`: it loads target {highest}, and host {} has {has}",
            workload.name.value, facts.hostname
        );
        let remedy = format!(
            "name {highest} targets, each with --target PATH or in [targets], or correct `targets` \
             of the workload"
        );
        Refusal::usage(what, remedy)
    })
}

/// Leaves nothing of the files of other targets than these. `sizes` has what is loaded of each file
/// of `targets`, in their order.
pub(super) fn keep(set: &TargetSet, targets: &[Target], sizes: &mut [Bytes]) {
    let files = targets.iter().enumerate().flat_map(|(place, target)| {
        let is_kept = set.has(place);
        target.files.iter().map(move |_| is_kept)
    });
    for (size, is_kept) in sizes.iter_mut().zip(files) {
        if !is_kept {
            *size = Bytes(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use crate::planner::tests as any;
    use model::plan::{HostPlan, Plan, StageKind};
    use model::testbed::{HostFacts, TargetKind};
    use std::collections::BTreeSet;

    fn planned(suite: &str, targets: &[usize]) -> Result<Plan, Vec<String>> {
        let host = |(number, count): (usize, &usize)| {
            let target = |number| any::target(&format!("/t{number}"), TargetKind::Missing);
            let targets = (1..=*count).map(target);
            HostFacts {
                hostname: format!("h{}", number + 1),
                place: model::testbed::Place { number: number as u32, of: 2 },
                ..any::host(targets.collect())
            }
        };
        let hosts: Vec<HostFacts> = targets.iter().enumerate().map(host).collect();
        let spec = Spec::parse("t", suite, &[]).expect("a good suite");
        any::planned(&any::request(&spec, &hosts))
    }

    /// The paths of the targets that each workload of a host loads.
    fn loaded(host: &HostPlan, work: u32) -> BTreeSet<String> {
        let measured = host.stages.iter().filter(|stage| stage.kind == StageKind::Measure);
        let workers = measured.flat_map(|stage| &stage.workers).filter(|one| one.work == work);
        let files =
            |target: usize| host.targets[..target].iter().map(|one| one.files.len()).sum::<usize>();
        let of_file = |file: u32| {
            let at = (0..host.targets.len()).rfind(|at| files(*at) <= file as usize);
            host.targets[at.expect("a target")].path.clone()
        };
        let extents = workers.clone().flat_map(|worker| &worker.extents);
        let mut paths: BTreeSet<String> = extents.map(|extent| of_file(extent.file)).collect();
        let trees = workers.filter_map(|worker| worker.files);
        paths.extend(trees.map(|share| {
            host.targets[host.trees[share.tree as usize].target as usize].path.clone()
        }));
        paths
    }

    #[test]
    fn each_workload_loads_the_targets_that_it_names_and_no_other() {
        let suite = "name = \"t\"\n[layout]\nsize = \"64MiB\"\nfiles = 2\n[[workload]]\nname = \
                     \"a\"\ngroup = \"g\"\nworkers = 3\ntargets = \"1,3\"\n[[workload]]\nname = \
                     \"b\"\ngroup = \"g\"\nworkers = 1\ntargets = 2\n[[workload]]\nname = \
                     \"c\"\ngroup = \"g\"\n";
        let plan = planned(suite, &[3, 4]).expect("a plan");
        for host in &plan.hosts {
            let of = |work| loaded(host, work).into_iter().collect::<Vec<_>>();
            assert_eq!(of(0), ["/t1", "/t3"]);
            assert_eq!(of(1), ["/t2"]);
            assert_eq!(of(2).len(), host.targets.len());
            let prepared = host.stages.iter().filter(|stage| stage.kind == StageKind::Prepare);
            let files: BTreeSet<u32> = prepared
                .flat_map(|stage| &stage.workers)
                .flat_map(|worker| &worker.extents)
                .map(|extent| extent.file)
                .collect();
            assert_eq!(files.len(), 2 * host.targets.len(), "all of the layout is written");
        }
    }

    #[test]
    fn trees_are_on_the_targets_that_are_named() {
        for unique in [true, false] {
            let suite = format!(
                "name = \"t\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = 100\nunique = \
                 {unique}\n[[workload]]\nname = \"a\"\nkind = \"metadata\"\noperations = \
                 [\"create\", \"remove\"]\nworkers = 5\ntargets = \"2-3\"\n"
            );
            let plan = planned(&suite, &[4]).expect("a plan");
            let paths: Vec<String> = loaded(&plan.hosts[0], 0).into_iter().collect();
            assert_eq!(paths, ["/t2", "/t3"]);
        }
    }

    #[test]
    fn a_target_that_is_not_there_is_refused_in_words() {
        let suite = "name = \"t\"\n[[workload]]\nname = \"a\"\ntargets = \"1,3\"\n";
        let told = planned(suite, &[3, 2]).expect_err("refused").join("\n");
        assert!(
            told.contains("workload `a`: it loads target 3, and host h2 has 2 targets"),
            "{told}"
        );
        assert!(told.contains("name 3 targets") && !told.contains("h1"), "{told}");
    }
}
