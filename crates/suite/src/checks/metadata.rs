//! What a metadata workload consists of, and whether it goes together.

use super::population;
use super::table::add;
use crate::operations::{Operation, Operations, word};
use crate::{
    ContentsSpec, EngineSpec, LayoutKind, LayoutSpec, PointSpec, StagesSpec, TreeSpec, Verify,
    WorkloadKind, WorkloadSpec,
};
use form::{Auto, Problem, Problems};
use model::choices::Backend;
use model::metadata::{MOST_DEPTH, MOST_FILES, MOST_SIZE};
use model::op::Op;
use model::setting::Setting;

/// One point for each operation of a metadata workload; any other point as it is.
pub(crate) fn one_by_one(point: PointSpec) -> Vec<PointSpec> {
    let [workload] = point.workloads.as_slice() else { return vec![point] };
    if workload.kind.value != WorkloadKind::Metadata {
        return vec![point];
    }
    let operations = workload.operations.value.0.clone();
    let only = |operation: Operation| {
        let mut point = point.clone();
        point.workloads[0].operations.value = Operations(vec![operation]);
        point.sweep.push(Setting::new("operation", operation.text()));
        point
    };
    operations.into_iter().map(only).collect()
}

/// Complains about trees and metadata workloads that do not go together.
pub(crate) fn check(
    layout: &LayoutSpec,
    tree: &TreeSpec,
    stages: &StagesSpec,
    engine: &EngineSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    check_tree(tree, problems);
    let is_tree = layout.kind.value == LayoutKind::Tree;
    if is_tree {
        check_stages(stages, problems);
    }
    for point in points {
        for workload in &point.workloads {
            check_workload(workload, is_tree, problems);
            if workload.kind.value == WorkloadKind::Metadata && point.workloads.len() > 1 {
                let message = "operations on files run by themselves, not at the same time as \
                               other workloads";
                problems.push(workload.group.wrong(message, "leave out group"));
            }
        }
    }
    if is_tree && engine.backend.value == Backend::Null {
        let message = "the null backend sends nothing, so there would be no files";
        problems.push(engine.backend.wrong(message, "leave out backend, or kind = \"tree\""));
    }
    check_order(points, problems);
}

/// Complains about checks of files that have none: of those of a tree, `plimsoll verify` knows the
/// populations.
pub(crate) fn check_contents(
    layout: &LayoutSpec,
    contents: &ContentsSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    if layout.kind.value != LayoutKind::Tree || contents.verify.value == Verify::No {
        return;
    }
    let mut refuse = |message: &str, remedy: &str| {
        problems.push(contents.verify.wrong(message, remedy));
    };
    let operations = points
        .iter()
        .flat_map(|point| &point.workloads)
        .flat_map(|workload| &workload.operations.value.0);
    if !operations.clone().all(|operation| operation.is_living()) || operations.count() == 0 {
        refuse(
            "files of a tree are not checked, but for those of a population",
            "leave out verify, or kind = \"tree\", or write a mix such as \"create:10, read:80, \
             remove:10\"",
        );
    } else if contents.verify.value == Verify::After {
        refuse(
            "a population is not read once more after a point",
            "write verify = true, and look at it with plimsoll verify after the run",
        );
    }
}

/// Complains about values that a tree cannot have. Fields that are still to be computed stand at
/// their defaults, which are good.
pub(crate) fn check_tree(tree: &TreeSpec, problems: &mut Problems) {
    let TreeSpec { files, size, sizes, per_directory, fan_out, depth, .. } = tree;
    let count = format!("write a whole number from 1 to {MOST_FILES}");
    let smaller = format!(
        "write at most {MOST_SIZE}, or read and write blocks of larger files with kind = \"files\""
    );
    let several = |size| format!("a file of {size} is out of range");
    add(
        problems,
        [
            (
                !(1..=MOST_FILES).contains(&files.value.0),
                files.wrong(format!("{} files make no tree", files.value), count),
            ),
            (size.value > MOST_SIZE, size.wrong(several(size.value), smaller)),
        ],
    );
    if let Auto::Fixed(mix) = &sizes.value {
        let (largest, remedy) = (mix.largest(), format!("write sizes of at most {MOST_SIZE}"));
        let both = "files have one size or several";
        add(
            problems,
            [
                (largest > MOST_SIZE, sizes.wrong(several(largest), remedy)),
                (size.span.is_some(), sizes.wrong(both, "leave out size, or sizes")),
            ],
        );
    }
    let levels = format!("{} levels of directories are too many", depth.value);
    add(
        problems,
        [
            (
                per_directory.value.0 == 0,
                per_directory.wrong("no file in any directory", "write at least 1"),
            ),
            (
                fan_out.value.0 == 0,
                fan_out.wrong("no directory in any directory", "write at least 1"),
            ),
            (
                depth.value.0 > u64::from(MOST_DEPTH),
                depth.wrong(levels, format!("write 0 to {MOST_DEPTH}")),
            ),
        ],
    );
}

/// An amount of blocks is none of files.
fn check_stages(stages: &StagesSpec, problems: &mut Problems) {
    for (name, span) in stages.given_of("amount stonewall count_fsync count_close") {
        let message =
            format!("`{name}` means nothing to a tree: every operation goes to all files once");
        let remedy = "leave it out; workloads of metadata have fsync and close";
        problems.push(Problem::new(span, message, remedy));
    }
}

/// Fields of workloads that read and write blocks, of those of files, and of those with a pace.
const OF_BLOCKS: &str = "block_size write_block_size trim trim_as read access random skew \
    hot_spots align stride run backward sharing segments streams range depth fsync_every dsync \
    priority share sequence sequence_advances zones zone_size open_zones worker_open_zones \
    zone_reset_threshold zone_reset_frequency unwritten_reads";
const OF_FILES: &str = "operations fill append file_order other fsync close";
const OF_PACE: &str = "rate rate_of arrivals think burst";

fn check_workload(workload: &WorkloadSpec, is_tree: bool, problems: &mut Problems) {
    let is_metadata = workload.kind.value == WorkloadKind::Metadata;
    if is_metadata != is_tree {
        let (message, remedy) = if is_metadata {
            ("operations on files need a tree of them", "write `[layout]` with kind = \"tree\"")
        } else {
            (
                "in a tree there are no blocks to read and write",
                "write kind = \"metadata\", or [layout] kind = \"files\"",
            )
        };
        problems.push(workload.kind.wrong(message, remedy));
    }
    let is_living = |operation: &Operation| operation.is_living();
    let operations = &workload.operations.value.0;
    let has_pace = !is_metadata || operations.iter().all(is_living);
    if is_metadata {
        population::check(workload, operations.iter().any(is_living), problems);
    }
    let (foreign, remedy) = match is_metadata {
        true => (OF_BLOCKS, "leave it out; [tree] says how large files are"),
        false => (OF_FILES, "leave it out, or write kind = \"metadata\""),
    };
    let of_pace = if has_pace { "" } else { OF_PACE };
    for (name, span) in [workload.given_of(foreign), workload.given_of(of_pace)].concat() {
        let message =
            format!("`{name}` means nothing to a workload of kind \"{}\"", workload.kind.value);
        problems.push(Problem::new(span, message, remedy));
    }
}

/// Follows what is there through all operations of all points: a file that is there cannot be
/// created, one that is not cannot be touched.
fn check_order(points: &[PointSpec], problems: &mut Problems) {
    let (mut files, mut directories) = (false, false);
    let workloads = points.iter().flat_map(|point| &point.workloads);
    for workload in workloads.filter(|workload| workload.kind.value == WorkloadKind::Metadata) {
        let mut told = false;
        // A population has a tree of its own, which nothing else goes to.
        let others = workload.operations.value.0.iter().filter(|operation| !operation.is_living());
        for op in others.flat_map(|operation| operation.ops()) {
            let (needed, there, what) = match op {
                Op::Create => (false, &mut files, "the files are there already"),
                Op::Mkdir => (false, &mut directories, "the directories are there already"),
                Op::Rmdir => (
                    true,
                    &mut directories,
                    "there are no directories to remove: none were made (mkdir)",
                ),
                Op::Readdir => continue,
                _ => (
                    true,
                    &mut files,
                    "there are no files: none were created, or they were removed",
                ),
            };
            if *there != needed && !told {
                let message = format!("{}: {what}", word(op));
                let remedy = "begin a list with \"create\" and end it with \"remove\" (\"mkdir\" \
                              and \"rmdir\")";
                problems.push(workload.operations.wrong(message, remedy));
                // One slip makes all that follows wrong.
                told = true;
            }
            *there = match op {
                Op::Create | Op::Mkdir => true,
                Op::Remove | Op::Rmdir => false,
                _ => *there,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::complaints;
    use crate::{Operation, Spec};
    use model::op::Op;
    use model::setting::Setting;

    const TREE: &str = "name = \"t\"\n[layout]\nkind = \"tree\"\n[[workload]]\nname = \"w\"\nkind \
                        = \"metadata\"\n";

    #[test]
    fn each_operation_is_a_point_of_its_own() {
        let text = format!(
            "{TREE}operations = [\"create\", \"stat\", \"unlink\"]\n[sweep]\nworkers = [1, 2]\n"
        );
        let spec = Spec::parse("t", &text, &[]).expect("a good suite");
        let ops: Vec<Operation> = spec
            .first_scenario()
            .points
            .iter()
            .map(|point| point.workloads[0].operations.value.0[0])
            .collect();
        let round = [Op::Create, Op::Stat, Op::Remove].map(Operation::Each);
        assert_eq!(ops, [round, round].concat());
        assert_eq!(
            spec.first_scenario().points[4].sweep,
            [Setting::new("workers", "2"), Setting::new("operation", "stat")]
        );
    }

    #[test]
    fn a_mix_is_a_point_and_reads_back_as_it_was_written() {
        let text = format!("{TREE}operations = [\"create\", \"stat:70,open : 20, read:10\"]\n");
        let spec = Spec::parse("t", &text, &[]).expect("a good suite");
        assert_eq!(
            spec.first_scenario().points[1].sweep,
            [Setting::new("operation", "stat:70, open:20, read:10")]
        );
        let again = format!("{TREE}operations = [\"create\", \"stat:70, open:20, read:10\"]\n");
        let again = Spec::parse("t", &again, &[]).expect("a good suite");
        assert_eq!(
            spec.first_scenario().points[1].workloads[0].operations.value,
            again.first_scenario().points[1].workloads[0].operations.value
        );
    }

    #[test]
    fn a_population_is_a_point_with_a_tree_and_a_pace_of_its_own() {
        let mix = "create:1, append:1, fsync:1, read:3, remove:1";
        let text = format!(
            "{TREE}operations = [\"create\", \"{mix}\", \"remove\"]\nfill = \"50%\"\nappend = \
             \"1KiB\"\n"
        );
        let spec = Spec::parse("t", &text, &[]).expect("a good suite");
        let points = &spec.first_scenario().points;
        assert_eq!(points[1].sweep, [Setting::new("operation", mix)]);
        assert!(points[1].workloads[0].operations.value.0[0].is_living());
        let alone = format!("{TREE}operations = \"{mix}\"\nrate = 100\n");
        assert_eq!(complaints(&alone), Vec::<String>::new());
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let cases = [
            (format!("{TREE}operations = [\"stat\", \"create\"]"), "stat: there are no files"),
            (
                format!("{TREE}operations = [\"mkdir\", \"mkdir\"]"),
                "mkdir: the directories are there already",
            ),
            (
                format!("{TREE}operations = [\"create\"]\n[sweep]\nworkers = [1, 2]"),
                "create: the files are there",
            ),
            (format!("{TREE}operations = []"), "a list of 0 operations"),
            (format!("{TREE}operations = [\"frobnicate\"]"), "`frobnicate` is not one of create"),
            (format!("{TREE}operations = 7"), "expected a list"),
            (format!("{TREE}operations = \"stat:70, open:30\""), "stat: there are no files"),
            (
                format!("{TREE}operations = [\"create\", \"stat:70, remove:30\"]"),
                "`remove` without `create`",
            ),
            (format!("{TREE}operations = [\"create\", \"stat:0\"]"), "a weight of 0"),
            (
                format!("{TREE}operations = [\"create\", \"stat:-1\"]"),
                "no weight that is a whole number",
            ),
            (format!("{TREE}operations = [\"create\", \"stat:1, open\"]"), "`open` has no weight"),
            (format!("{TREE}operations = [\"create\", \"stat:1,\"]"), "`` has no weight"),
            (
                format!("{TREE}operations = [\"create\", \"stat:1, nothing:1\"]"),
                "`nothing` is not one of",
            ),
            (format!("{TREE}depth = 4"), "`depth` means nothing"),
            (TREE.replace("kind = \"tree\"", ""), "need a tree"),
            (TREE.replace("kind = \"metadata\"", ""), "no blocks"),
            (format!("{TREE}[tree]\ndepth = 17"), "17 levels"),
            (format!("{TREE}[tree]\nfiles = 0"), "0 files"),
            (
                format!("{TREE}[tree]\nsizes = \"4KiB:1, 1GiB:1\""),
                "a file of 1 GiB is out of range",
            ),
            (format!("{TREE}[tree]\nsize = 0\nsizes = \"4KiB:1, 8KiB:1\""), "one size or several"),
            (
                format!("{TREE}[tree]\nper_directory = 0\nfan_out = 0\nsize = \"1GiB\""),
                "out of range",
            ),
            (format!("{TREE}[engine]\nbackend = \"null\""), "null backend"),
            (format!("{TREE}[contents]\nverify = true"), "not checked"),
            (
                format!(
                    "{TREE}operations = [\"create:1, remove:1\"]\n[contents]\nverify = \"after\""
                ),
                "not read once more",
            ),
            (format!("{TREE}[stages]\namount = \"all\""), "`amount` means nothing to a tree"),
            (format!("{TREE}[stages]\nstonewall = true"), "`stonewall` means nothing to a tree"),
            (format!("{TREE}trim = \"10%\""), "`trim` means nothing"),
            (
                format!(
                    "{TREE}group = \"g\"\n[[workload]]\nname = \"v\"\nkind = \"metadata\"\ngroup \
                     = \"g\""
                ),
                "by themselves",
            ),
        ];
        for (text, wanted) in cases {
            let told = complaints(&text);
            assert!(told.iter().any(|message| message.contains(wanted)), "{text}\n{told:?}");
        }
        assert_eq!(complaints(TREE), Vec::<String>::new());
        assert_eq!(complaints(&format!("{TREE}[tree]\nper_directory = 0\nfan_out = 0")).len(), 2);
    }
}
