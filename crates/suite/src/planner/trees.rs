//! The trees of a host, and which worker has which of their files.

use super::room::{NO_FILES, same_file_system};
use super::{Refusal, ScenarioRequest};
use crate::{OtherFiles, TreeSpec, WorkloadSpec};
use model::metadata::{FileShare, MetadataWork, Tree};
use model::op::Op;
use model::plan::names::tree_name;
use model::plan::{HostStage, PlannedTarget, Target};
use model::population::{LEAST_NAMES, Population};
use model::testbed::{HostFacts, TargetFacts};
use model::units::{Bytes, Percent};
use std::collections::BTreeMap;

/// As for a layout of large files: a file system is never filled past 95 %.
const RESERVED_SHARE: u64 = 20;

/// By what a tree is known to be the same one at another point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    /// Workers among whom the files are shared out.
    workers: u64,
    /// Which of the trees of that sharing it is.
    number: u64,
    /// The place of the target that it is on.
    target: u32,
    files: u64,
    size: Bytes,
    depth: u32,
    fan_out: u64,
    per_directory: u64,
    /// Of a population: the share of its names that has a file. Nothing else goes to its tree.
    fill: Option<Percent>,
}

/// One of the trees among which a sharing divides its files.
#[derive(Clone, Copy)]
struct Among {
    workers: u64,
    number: u64,
    target: u32,
    files: u64,
}

/// The trees of one host while it is planned. Points with as many workers share theirs, unless
/// arithmetic gives them different ones.
pub(super) struct Forest<'a> {
    request: &'a ScenarioRequest<'a>,
    targets: &'a [Target],
    trees: Vec<Tree>,
    /// Of each tree.
    keys: Vec<Key>,
}

impl<'a> Forest<'a> {
    pub(super) fn new(request: &'a ScenarioRequest<'a>, targets: &'a [Target]) -> Forest<'a> {
        Forest { request, targets, trees: Vec::new(), keys: Vec::new() }
    }

    pub(super) fn into_trees(self) -> Vec<Tree> {
        self.trees
    }

    /// The files of each of `workers` workers in the point of `workload` that does `work` on a tree
    /// as `spec` has it.
    pub(super) fn shares(
        &mut self,
        spec: &TreeSpec,
        workload: &WorkloadSpec,
        work: &MetadataWork,
        workers: u32,
    ) -> Result<Vec<FileShare>, Refusal> {
        // A mix draws files, and reads the directories that hold them.
        let is_drawn = work.mix.is_some() || work.population.is_some();
        let op = if is_drawn { Op::Stat } else { work.op };
        let fill = work.population.map(|population| population.fill);
        if workers == 0 {
            return Ok(Vec::new());
        }
        let scaled = self.request.scale.size.apply(spec.files.value.0);
        // A scaled population has room for its births on any tree.
        let least = u64::from(workers) * if fill.is_some() { 2 * LEAST_NAMES } else { 1 };
        let files = if self.request.scale.size.is_one() { scaled } else { scaled.max(least) };
        if files < u64::from(workers) {
            return Err(Refusal::usage(
                format!(
                    "workload `{}`: {workers} workers share {files} files",
                    workload.name.value
                ),
                "give more tree.files or fewer workers",
            ));
        }
        let workers = u64::from(workers);
        let places = workload.targets.value.places(self.targets.len());
        let target = |number: u64| {
            places.get((number % places.len().max(1) as u64) as usize).map_or(0, |at| *at as u32)
        };
        let mut shares = Vec::new();
        if spec.unique.value {
            for worker in 0..workers {
                let own = part(files, worker, workers);
                let among = Among { workers, number: worker, target: target(worker), files: own };
                let tree = self.tree(spec, fill, among);
                shares.push(self.share(op, tree, own, 0, 1));
            }
        } else {
            // Where several targets are loaded, each has a tree, and workers take turns with the
            // trees.
            let trees = (places.len() as u64).clamp(1, workers);
            for worker in 0..workers {
                let (number, place) = (worker % trees, worker / trees);
                let sharing = (workers - number).div_ceil(trees);
                let all = part(files, number, trees).max(sharing);
                let among = Among { workers, number, target: target(number), files: all };
                let tree = self.tree(spec, fill, among);
                shares.push(self.share(op, tree, all, place, sharing));
            }
        }
        if fill.is_some() && shares.iter().any(|share| share.count < LEAST_NAMES) {
            return Err(Refusal::usage(
                format!(
                    "workload `{}`: {workers} workers share {files} names, and a population needs \
                     {LEAST_NAMES} for each",
                    workload.name.value
                ),
                "give more tree.files or fewer workers",
            ));
        }
        if workload.other.value == OtherFiles::Worker && !matches!(op, Op::Create | Op::Mkdir) {
            shares.rotate_left(1);
        }
        Ok(shares)
    }

    /// The share of the worker whose turn is `turn` among the `of` workers of a tree with so
    /// many files.
    fn share(&self, op: Op, tree: u32, files: u64, turn: u64, of: u64) -> FileShare {
        // Where directories are read, they are what is shared out.
        let all = if op == Op::Readdir { self.trees[tree as usize].listed() } else { files };
        FileShare { tree, first: turn, step: of, count: all.saturating_sub(turn).div_ceil(of) }
    }

    /// The place of the tree that is this one of those for so many workers; of a population that
    /// has files under `fill` of its names.
    fn tree(&mut self, spec: &TreeSpec, fill: Option<Percent>, among: Among) -> u32 {
        let Among { workers, number, target, files } = among;
        let key = Key {
            workers,
            number,
            target,
            files,
            size: spec.largest(),
            depth: spec.depth.value.0 as u32,
            fan_out: spec.fan_out.value.0,
            per_directory: spec.per_directory.value.0,
            fill,
        };
        let index = self.keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            let root = match self.targets.get(target as usize).map(|target| &target.kind) {
                Some(PlannedTarget::Directory { root }) => root.as_str(),
                Some(PlannedTarget::Simulated) => self.targets[target as usize].path.as_str(),
                // Refused where targets are planned.
                _ => "",
            };
            let Key { size, depth, fan_out, per_directory, .. } = key;
            self.trees.push(Tree {
                target,
                path: format!("{root}/{}", tree_name(self.trees.len() as u32)),
                files,
                size,
                sizes: spec.mix().cloned(),
                depth,
                fan_out,
                per_directory,
                joined: false,
            });
            self.keys.push(key);
            self.keys.len() - 1
        });
        index as u32
    }
}

/// How many of `all` the part `number` of `parts` has: parts differ by one at most.
fn part(all: u64, number: u64, parts: u64) -> u64 {
    let boundary =
        |number: u64| (u128::from(all) * u128::from(number) / u128::from(parts.max(1))) as u64;
    boundary(number + 1) - boundary(number)
}

/// Refuses trees for which a file system has not the inodes or not the space.
pub(super) fn refusals(
    facts: &HostFacts,
    targets: &[Target],
    trees: &[Tree],
    stages: &[HostStage],
) -> Vec<Refusal> {
    let mut needs: Vec<(&TargetFacts, Need)> = Vec::new();
    for (number, target) in targets.iter().enumerate() {
        let Some(known) = facts.targets.iter().find(|facts| facts.path == target.path) else {
            continue;
        };
        let need = need(number as u32, trees, stages);
        match needs.iter_mut().find(|(other, _)| same_file_system(other, known)) {
            Some((_, sum)) => {
                *sum = Need {
                    inodes: sum.inodes.saturating_add(need.inodes),
                    space: sum.space.saturating_add(need.space),
                }
            }
            None => needs.push((known, need)),
        }
    }
    needs.into_iter().filter_map(|(target, need)| refusal(target, need)).collect()
}

#[derive(Clone, Copy, Debug)]
struct Need {
    inodes: u64,
    space: u64,
}

/// What the trees of a target take at their fullest: all directories, and the files of the trees
/// that are full at the same time.
fn need(target: u32, trees: &[Tree], stages: &[HostStage]) -> Need {
    let here = |number: u32| trees.get(number as usize).filter(|tree| tree.target == target);
    let mut fullest = Need { inodes: 0, space: 0 };
    let mut extra = 0;
    // Populations stay until the run is over.
    let mut settled: Vec<u32> = Vec::new();
    let grown = growth(stages)
        .into_iter()
        .filter(|(tree, _)| here(*tree).is_some())
        .map(|(_, bytes)| bytes)
        .fold(0, u64::saturating_add);
    for stage in stages {
        let mut used: Vec<u32> =
            stage.workers.iter().filter_map(|worker| Some(worker.files?.tree)).collect();
        if population(stage).is_some() {
            settled.extend(&used);
        }
        used.extend(&settled);
        used.sort_unstable();
        used.dedup();
        let used: Vec<&Tree> = used.into_iter().filter_map(here).collect();
        let files = used.iter().map(|tree| tree.files).fold(0, u64::saturating_add);
        let space = used.iter().map(|tree| tree.space().0).fold(grown, u64::saturating_add);
        fullest = Need { inodes: fullest.inodes.max(files), space: fullest.space.max(space) };
        // These stand beside the files.
        let makes =
            |op: Op| stage.works.iter().filter_map(|work| work.metadata).any(|work| work.op == op);
        if makes(Op::Mkdir) || makes(Op::Symlink) {
            extra = extra.max(files);
        }
    }
    let directories: u64 = trees
        .iter()
        .filter(|tree| tree.target == target)
        .map(Tree::directories)
        .fold(extra, u64::saturating_add);
    Need {
        inodes: fullest.inodes.saturating_add(directories),
        space: fullest.space.saturating_add(directories.saturating_mul(4096)),
    }
}

/// The population that a stage fills or lets live.
fn population(stage: &HostStage) -> Option<Population> {
    stage.works.iter().find_map(|work| work.metadata.and_then(|metadata| metadata.population))
}

/// What appends add to the files of each tree at most, in bytes of whole blocks.
fn growth(stages: &[HostStage]) -> BTreeMap<u32, u64> {
    let mut all: BTreeMap<u32, u64> = BTreeMap::new();
    for stage in stages {
        let Some(population) = population(stage) else { continue };
        let mut here: BTreeMap<u32, u64> = BTreeMap::new();
        for share in stage.workers.iter().filter_map(|worker| worker.files) {
            let bytes = here.entry(share.tree).or_default();
            let files = population.target(share.count);
            // A file that has grown ends in a block of its own.
            let grows = population.mix.weight(Op::Append) > 0;
            let ends = if grows { files.saturating_mul(4096) } else { 0 };
            *bytes = bytes.saturating_add(population.grown(files).0).saturating_add(ends);
        }
        for (tree, bytes) in here {
            let most = all.entry(tree).or_default();
            *most = bytes.max(*most);
        }
    }
    all
}

fn refusal(target: &TargetFacts, need: Need) -> Option<Refusal> {
    let remedy = "give fewer tree.files, a smaller tree.size or --scale, or free some (`plimsoll \
                  clean` removes what a killed run left)";
    if let Some(free) = target.free_inodes.filter(|free| need.inodes > *free) {
        let what = format!(
            "target {}: the tree needs {} inodes, and the file system has {free} free",
            target.path, need.inodes
        );
        return Some(Refusal::space(what, remedy));
    }
    let usable = target.free.0.saturating_sub(target.total.0 / RESERVED_SHARE);
    (need.space > usable).then(|| {
        let what = format!(
            "target {}: the tree needs {}, and {} of {} free may be used (at most \
             95 % are filled)",
            target.path,
            Bytes(need.space),
            Bytes(usable),
            target.free
        );
        Refusal::space(what, if target.total == Bytes(0) { NO_FILES } else { remedy })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::planner::{Request, tests as any};
    use model::plan::{Plan, StageKind};
    use model::testbed::{DirectoryState, TargetKind};
    use std::collections::BTreeSet;

    const SUITE: &str = "name = \"t\"\n[layout]\nkind = \"tree\"\n[[workload]]\nname = \
                         \"w\"\nkind = \"metadata\"\n";

    fn target(path: &str, free_inodes: Option<u64>) -> TargetFacts {
        let kind = TargetKind::Directory { root: path.into(), state: DirectoryState::Empty };
        let (free, total) = (Bytes::gib(10), Bytes::gib(20));
        TargetFacts { free, total, free_inodes, ..any::target(path, kind) }
    }

    fn planned(suite: &str, scale: &str, targets: Vec<TargetFacts>) -> Result<Plan, Vec<String>> {
        let spec = Spec::parse("t", suite, &[]).expect("a good suite");
        let hosts = [any::host(targets)];
        let scale = scale.parse().expect("a scale");
        let request = Request { scale, ..any::request(&spec, &hosts) };
        any::planned(&request)
    }

    /// Every file of every share of a stage, as tree and number.
    fn files(plan: &Plan, stage: usize) -> Vec<(u32, u64)> {
        let shares = plan.hosts[0].stages[stage].workers.iter().filter_map(|worker| worker.files);
        shares
            .flat_map(|share| (0..share.count).map(move |index| (share.tree, share.number(index))))
            .collect()
    }

    #[test]
    fn every_file_is_in_one_share_and_in_its_tree() {
        for unique in [true, false] {
            for (workers, targets) in [(1, 1), (3, 1), (3, 2), (5, 2), (2, 3)] {
                let suite = format!(
                    "{SUITE}workers = {workers}\n[tree]\nfiles = 101\nunique = \
                     {unique}\nper_directory = 7"
                );
                let targets =
                    (0..targets).map(|number| target(&format!("/t{number}"), None)).collect();
                let plan = planned(&suite, "1", targets).expect("a plan");
                let all = files(&plan, 0);
                let distinct: BTreeSet<_> = all.iter().copied().collect();
                assert_eq!(
                    (all.len(), distinct.len()),
                    (101, 101),
                    "{workers} workers, unique {unique}"
                );
                let trees = &plan.hosts[0].trees;
                assert!(all.iter().all(|(tree, number)| *number < trees[*tree as usize].files));
                assert_eq!(
                    trees.len(),
                    if unique { workers } else { workers.min(plan.hosts[0].targets.len()) }
                );
                assert!(
                    trees
                        .iter()
                        .enumerate()
                        .all(|(n, tree)| tree.path.ends_with(&tree_name(n as u32)))
                );
                assert_eq!(files(&plan, 3), all, "what is created is removed");
            }
        }
    }

    #[test]
    fn others_files_are_the_same_files_in_other_hands() {
        let plan = planned(
            &format!("{SUITE}workers = 3\nother = true\n[tree]\nfiles = 30"),
            "1",
            vec![target("/t", None)],
        )
        .expect("a plan");
        let sorted = |stage| files(&plan, stage).into_iter().collect::<BTreeSet<_>>();
        assert_eq!(sorted(0), sorted(1));
        let share = |stage: usize, worker: usize| plan.hosts[0].stages[stage].workers[worker].files;
        assert!(
            (0..3).all(|worker| share(1, worker) == share(0, (worker + 1) % 3)),
            "stat what the next one made"
        );
    }

    #[test]
    fn directories_are_shared_out_where_they_are_read() {
        let suite = format!(
            "{SUITE}workers = 4\noperations = [\"readdir\"]\n[tree]\nfiles = 55\nper_directory = \
             10\nunique = false"
        );
        let plan = planned(&suite, "1", vec![target("/t", None)]).expect("a plan");
        assert_eq!(
            files(&plan, 0).into_iter().collect::<BTreeSet<_>>(),
            (0..6).map(|n| (0, n)).collect()
        );
    }

    #[test]
    fn points_with_as_many_workers_share_their_trees_and_stages_end_with_the_files() {
        let suite = format!("{SUITE}[tree]\nfiles = 100\n[sweep]\nworkers = [1, 2, 2]");
        let plan = planned(&suite, "1", vec![target("/t", None)]).expect("a plan");
        assert_eq!(plan.hosts[0].trees.len(), 1 + 2);
        assert_eq!(plan.stages.len(), 3 * 4, "no prepare, no precondition");
        assert!(!plan.stages.is_empty());
        assert!(
            plan.stages.iter().all(|stage| stage.stop().once().is_some()),
            "each worker ends with its last file"
        );
        assert_eq!(plan.footprint(), Bytes(0));
    }

    const LIVING: &str = "operations = [\"create:1, append:2, read:4, remove:1\"]\nworkers = 2\n";

    #[test]
    fn a_population_is_filled_before_each_point_and_stays() {
        let suite = format!(
            "{SUITE}{LIVING}rate = 500\n[tree]\nfiles = 1000\nper_directory = 10\n[stages]\n\
             precondition = \"1s\"\n[sweep]\nrepetitions = 2\n"
        );
        let plan = planned(&suite, "1", vec![target("/t", None)]).expect("a plan");
        use StageKind::{Measure, Precondition, Prepare};
        let kinds: Vec<StageKind> = plan.stages.iter().map(|stage| stage.kind).collect();
        assert_eq!(kinds, [Prepare, Precondition, Measure, Prepare, Precondition, Measure]);
        assert!(plan.stages.iter().all(|stage| stage.point.is_some() && !stage.prepares_all()));
        let host = &plan.hosts[0];
        assert_eq!(host.trees.len(), 2, "one for each worker, at both points");
        let populations = |stage: usize| host.stages[stage].works[0].metadata.expect("files");
        assert_eq!(populations(0).ops().collect::<Vec<_>>(), [Op::Create]);
        assert_eq!(populations(2).ops().count(), 4);
        assert!(!host.stages[0].works[0].pace.is_open() && host.stages[2].works[0].pace.is_open());
        assert_eq!(host.stages[2].workers[1].turn, (1, 2));
        assert_eq!(
            model::plan::ledger(&host.stages[2].works[0], &host.stages[2].workers[0]),
            Bytes(2000)
        );
    }

    #[test]
    fn a_population_without_room_is_refused() {
        let suite = |files: u64| {
            format!("{SUITE}{LIVING}[tree]\nsize = \"4KiB\"\nfiles = {files}\nper_directory = 10\n")
        };
        let told = |suite: String, inodes| {
            planned(&suite, "1", vec![target("/t", inodes)]).expect_err("refused").join("\n")
        };
        let needed = 1000 + 2 * (50 + 1);
        assert!(planned(&suite(1000), "1", vec![target("/t", Some(needed))]).is_ok());
        assert!(told(suite(1000), Some(needed - 1)).contains("inodes"));
        assert!(told(suite(19), None).contains("a population needs 10 for each"));
        assert!(
            planned(&suite(1000), "1/1000", vec![target("/t", None)]).is_ok(),
            "room for births"
        );
        // 1.3 GiB of files, and two appends of 16 KiB to each of 280,000: 9 GiB may be used.
        assert!(told(suite(350_000), None).contains("may be used"));
        assert!(told(suite(1 << 32), None).contains("4 bytes a name"));
    }

    #[test]
    fn a_tree_that_does_not_fit_is_refused() {
        let suite = format!("{SUITE}workers = 2\n[tree]\nfiles = 1000\nper_directory = 10");
        let needed = 1000 + 2 * (50 + 1);
        assert!(planned(&suite, "1", vec![target("/t", Some(needed))]).is_ok());
        let told = planned(&suite, "1", vec![target("/t", Some(needed - 1))]).expect_err("refused");
        assert!(
            told.len() == 1
                && told[0].contains("needs 1102 inodes")
                && told[0].contains("1101 free"),
            "{told:?}"
        );
        assert!(planned(&suite, "1/10", vec![target("/t", Some(needed - 1))]).is_ok());
        let large = format!("{SUITE}[tree]\nfiles = 1_000_000\nsize = \"16KiB\"");
        let told = planned(&large, "1", vec![target("/t", None)]).expect_err("refused");
        assert!(told[0].contains("may be used"), "{told:?}");
        // Two targets on one file system have its inodes together.
        let two = vec![target("/a", Some(needed - 1)), target("/b", Some(needed - 1))];
        assert_eq!(planned(&suite, "1", two).expect_err("refused").len(), 1);
    }

    #[test]
    fn a_tree_goes_into_a_directory_only() {
        let device = TargetFacts {
            kind: TargetKind::Simulated { size: Bytes::gib(1) },
            ..target("sim:nvme", None)
        };
        let told = planned(SUITE, "1", vec![device]).expect_err("refused");
        assert!(told[0].contains("is not a directory"), "{told:?}");
        let few = format!("{SUITE}workers = 8\n[tree]\nfiles = 7");
        assert!(
            planned(&few, "1", vec![target("/t", None)]).expect_err("refused")[0]
                .contains("8 workers share 7 files")
        );
        let raised = planned(&few, "1/2", vec![target("/t", None)])
            .expect("a scaled run has a file for everyone");
        assert_eq!(files(&raised, 0).len(), 8);
    }
}
