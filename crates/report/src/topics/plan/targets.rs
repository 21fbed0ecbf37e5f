//! Workloads that load some of the targets of a host.

use crate::ground::gather::each_once;
use crate::ground::words;
use model::plan::{HostStage, Worker};
use model::{HostPlan, Plan, StageKind, hostlist};

/// What a workload loads on hosts that are alike in it.
struct Loaded<'a> {
    hosts: Vec<String>,
    paths: Vec<&'a str>,
    of: usize,
}

/// A line for each workload that leaves targets out on some host; what hosts have in common once.
pub(super) fn lines(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (number, stage) in (0..).zip(&plan.stages) {
        if stage.kind != StageKind::Measure {
            continue;
        }
        for (work, told) in (0..).zip(&stage.works) {
            let all = loaded(plan, number, work);
            if all.iter().all(|one| one.paths.len() == one.of) {
                continue;
            }
            let one = |loaded: &Loaded<'_>| {
                let paths = loaded.paths.join(", ");
                format!("{paths} of {}", words::counted(loaded.of as u64, "target"))
            };
            let words: Vec<String> = match all.as_slice() {
                [alike] => vec![one(alike)],
                all => all
                    .iter()
                    .map(|one_of| {
                        format!("on {} {}", hostlist::compress(&one_of.hosts), one(one_of))
                    })
                    .collect(),
            };
            lines.push(format!("{}: {}", told.workload, words.join("; ")));
        }
    }
    each_once(lines)
}

fn loaded(plan: &Plan, stage: u32, work: u32) -> Vec<Loaded<'_>> {
    let mut all: Vec<Loaded<'_>> = Vec::new();
    for host in &plan.hosts {
        let Some(own) = host.stages.iter().find(|own| own.stage == stage) else { continue };
        let targets = host.targets_of(stage);
        if targets.len() < 2 || !own.workers.iter().any(|worker| worker.work == work) {
            continue;
        }
        let is_loaded = is_loaded(host, own, work);
        let (mut paths, mut of): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for number in targets {
            let Some(target) = host.targets.get(number) else { continue };
            let path = target.path.as_str();
            // With `rotate`, a path has files of several hosts.
            if !of.contains(&path) {
                of.push(path);
            }
            if is_loaded.get(number).copied().unwrap_or(false) && !paths.contains(&path) {
                paths.push(path);
            }
        }
        let name = host.hostname.clone();
        match all.iter_mut().find(|known| known.paths == paths && known.of == of.len()) {
            Some(known) => known.hosts.push(name),
            None => all.push(Loaded { hosts: vec![name], paths, of: of.len() }),
        }
    }
    all
}

/// Of each target of a host: whether a worker of this work has bytes or files on it.
fn is_loaded(host: &HostPlan, stage: &HostStage, work: u32) -> Vec<bool> {
    let of_file: Vec<usize> = (0..host.targets.len())
        .flat_map(|number| host.targets[number].files.iter().map(move |_| number))
        .collect();
    let mut is_loaded = vec![false; host.targets.len()];
    let mut mark = |number: Option<usize>| {
        if let Some(is_loaded) = number.and_then(|number| is_loaded.get_mut(number)) {
            *is_loaded = true;
        }
    };
    let workers = stage.workers.iter().filter(|worker| worker.work == work);
    for Worker { extents, files, .. } in workers {
        for extent in extents {
            mark(of_file.get(extent.file as usize).copied());
        }
        let tree = files.and_then(|share| host.trees.get(share.tree as usize));
        mark(tree.map(|tree| tree.target as usize));
    }
    is_loaded
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;

    #[test]
    fn a_workload_that_leaves_targets_out_says_which_it_loads() {
        let suite = "[layout]\nsize = \"64MiB\"\n[[workload]]\nname = \"a\"\nworkers = 1\ntargets \
                     = 1\n[[workload]]\nname = \"b\"\nworkers = 2\n";
        let mut record = Recorded::with_hosts(suite, 2).record();
        assert!(lines(&record.plan).is_empty(), "one target each: nothing is left out");
        for host in &mut record.plan.hosts {
            let mut more = host.targets[0].clone();
            more.path = "/more".to_owned();
            host.targets.push(more);
        }
        let path = record.plan.hosts[0].targets[0].path.clone();
        assert_eq!(
            lines(&record.plan),
            [format!("a: {path} of 2 targets"), format!("b: {path} of 2 targets")]
        );
        let files = record.plan.hosts[1].targets[0].files.len() as u32;
        let on_more = |worker: &mut Worker| {
            let moved = worker.extents.iter_mut().map(|extent| extent.file += files);
            moved.count();
        };
        let workers = record.plan.hosts[1].stages.iter_mut().flat_map(|stage| &mut stage.workers);
        workers.for_each(on_more);
        let told = lines(&record.plan).join("\n");
        assert!(told.contains(&format!("{path} of 2 targets; on ")), "{told}");
        assert!(told.contains("/more of 2 targets"), "{told}");
    }
}
