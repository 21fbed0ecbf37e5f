use super::*;
use crate::Spec;
use crate::planner::tests::{host, missing};
use crate::planner::{Request, plan, tests as any};
use form::Override;
use model::plan::Plan;

const SUITE: &str = r#"
name = "t"
[layout]
size = "2 * memory(clients) / workers"
[[workload]]
name = "w"
read = 0
block_size = "1MiB"
[sweep]
workers = "1..4 x2"
"#;

fn planned(text: &str, sets: &[&str]) -> Result<Plan, Vec<String>> {
    let sets: Vec<Override> = sets.iter().map(|set| set.parse().expect("key=value")).collect();
    let spec = Spec::parse("t.toml", text, &sets).expect("a good suite");
    let hosts = [host(vec![missing()])];
    any::planned(&any::request(&spec, &hosts))
}

/// The bytes that each point loads, by worker.
fn loaded(plan: &Plan) -> Vec<Vec<u64>> {
    let measured = (0..plan.points.len() as u32).filter_map(|point| plan.measure_stage(point));
    let workers = |stage: u32| {
        let workers = plan.hosts.iter().flat_map(move |host| &host.stages[stage as usize].workers);
        workers.map(|worker| worker.extents.iter().map(|extent| extent.length).sum()).collect()
    };
    measured.map(workers).collect()
}

#[test]
fn points_load_their_part_of_one_layout_that_is_prepared_once() {
    let plan = planned(SUITE, &[]).expect("a plan");
    let gib = |count: u64| count << 30;
    // 16 GiB of memory: 32 GiB in all at every point.
    assert_eq!(loaded(&plan), [vec![gib(32)], vec![gib(16); 2], vec![gib(8); 4]]);
    let files: Vec<Bytes> = plan.hosts[0].files().map(|file| file.size).collect();
    assert_eq!(files, [Bytes::gib(32), Bytes::gib(16), Bytes::gib(8), Bytes::gib(8)]);
    assert_eq!(plan.prepare_bytes(), Bytes::gib(64));
    let computed: Vec<&str> =
        plan.points.iter().map(|point| point.computed[0].1.as_str()).collect();
    assert_eq!(computed, ["32 GiB", "16 GiB", "8 GiB"]);
}

#[test]
fn a_swept_size_is_a_part_of_the_one_layout_too() {
    let sets = ["sweep.workers=[2]", "sweep.size=[\"1GiB\", \"4GiB\", \"block_size * 1024\"]"];
    let plan = planned(SUITE, &sets).expect("a plan");
    let gib = |count: u64| vec![count << 30; 2];
    assert_eq!(loaded(&plan), [gib(1), gib(4), gib(1)]);
    assert_eq!(plan.footprint(), Bytes::gib(8));
    let plan = planned(SUITE, &["size=1GiB", "sweep.files=[1, 4]"]).expect("a plan");
    assert_eq!(loaded(&plan)[..2], [vec![1 << 30], vec![4 << 30]]);
}

#[test]
fn a_scaled_sweep_keeps_a_block_for_every_worker() {
    let suite = SUITE
        .replace("1..4", "1..4096")
        .replace("[sweep]", "depth = \"max(1, 32 / workers)\"\n[sweep]");
    let spec = Spec::parse("t.toml", &suite, &[]).expect("a good suite");
    let hosts = [host(vec![missing()])];
    let scale = "1/10000".parse().expect("a scale");
    let request = Request { scale, ..any::request(&spec, &hosts) };
    let plan = plan(&request).expect("a plan");
    let least: u64 = loaded(&plan).into_iter().flatten().min().expect("workers");
    assert_eq!((plan.points.len(), least), (13, 2 << 20));
}

#[test]
fn counts_are_rounded_down_and_later_fields_see_earlier_ones() {
    let sets =
        ["size=1GiB", "files=9 / workers", "depth=64 / workers", "sweep.workers=[\"cpus\", 2]"];
    let plan = planned(SUITE, &sets).expect("a plan");
    let told: Vec<String> =
        plan.points.iter().map(|point| format!("{:?}", point.computed)).collect();
    assert_eq!(
        told,
        [
            r#"[("workers", "4"), ("depth", "16"), ("files", "2")]"#,
            r#"[("depth", "32"), ("files", "4")]"#,
        ]
    );
    assert_eq!(
        plan.stages
            .iter()
            .filter_map(|stage| stage.point.map(|_| stage.works[0].depth))
            .collect::<Vec<_>>(),
        [16, 32]
    );
}

#[test]
fn clients_that_are_not_at_hand_are_planned_for() {
    let sets = ["clients.count=16", "clients.memory=128GiB", "sweep.workers=[1, 64]"];
    let plan = planned(SUITE, &sets).expect("a plan");
    let sizes: Vec<&str> = plan.points.iter().map(|point| point.computed[0].1.as_str()).collect();
    // Report E: 4096 GiB ÷ threads.
    assert_eq!(sizes, ["256 GiB", "4 GiB"]);
    assert_eq!((plan.hosts.len(), plan.workers(2, 0)), (16, 1024));
    assert!(plan.notes.iter().any(|note| note.kind() == model::NoteKind::ClientsImagined));
}

#[test]
fn mistakes_name_the_field_its_place_and_the_point_once() {
    let told = |sets: &[&str]| planned(SUITE, sets).expect_err("refused");
    assert_eq!(
        planned(&SUITE.replace("2 * memory(clients) / workers", "memory / (workers - 2)"), &[]),
        Err(vec![
            "t.toml:4:8: size = \"memory / (workers - 2)\" comes to less than 0 bytes at \
             workers=1; write arithmetic that comes to at least 1 byte, such as max(4KiB, …)"
                .to_owned()
        ])
    );
    assert_eq!(
        told(&["size=1GiB / (workers - 1)"]),
        ["--set:1:6: size = \"1GiB / (workers - 1)\" divides by zero at workers=1; divide by \
          something that is never 0, such as max(1, …)"]
    );
    assert_eq!(
        told(&["size=workers / 8"])[0].split(';').next(),
        Some("--set:1:6: size = \"workers / 8\" comes to a size of 0 at workers=1")
    );
    assert!(told(&["depth=8192 / workers"])[0].contains("a depth of 8192 is out of range"));
    assert!(told(&["files=1 / workers", "size=1GiB"])[0].contains("comes to 0.5"));
}

#[test]
fn a_plan_that_would_fill_the_memory_is_refused_before_it_is_made() {
    let told =
        planned(SUITE, &["clients.count=1024", "sweep.workers=1..65536 x2"]).expect_err("refused");
    assert!(told[0].contains("more than 4194304 workers and files"), "{told:?}");
}

#[test]
fn skipped_points_are_counted_and_one_has_to_stay() {
    let plan = planned(SUITE, &["sweep.skip=workers > 1 and depth == 32"]).expect("a plan");
    assert_eq!(plan.points.len(), 1);
    let rule = "workers > 1 and depth == 32".to_owned();
    assert_eq!(plan.notes[0].fact, Fact::PointsSkipped { skipped: 2, of: 3, rule });
    let told = planned(SUITE, &["sweep.skip=workers >= 1"]).expect_err("refused");
    assert_eq!(
        told,
        ["--set:1:12: the rule `skip` leaves no point; leave the rule out, or write one that is \
          false for some"]
    );
}

#[test]
fn repetitions_come_in_the_order_of_the_sweep() {
    let order = |order: &str| {
        let plan = planned(SUITE, &["sweep.repetitions=2", order]).expect("a plan");
        let word =
            |point: &model::plan::Point| format!("{}/{}", point.sweep[0].label(), point.repetition);
        plan.points.iter().map(word).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(order("sweep.order=sequential"), "1/1 1/2 2/1 2/2 4/1 4/2");
    assert_eq!(order("sweep.order=interleaved"), "1/1 2/1 4/1 1/2 2/2 4/2");
    let random = order("sweep.order=random");
    assert_eq!(random, order("sweep.order=random"));
    let mut sorted: Vec<&str> = random.split(' ').collect();
    sorted.sort_unstable();
    assert_eq!(sorted.join(" "), order("sweep.order=sequential"));
}

const TREE: &str = r#"
name = "t"
[layout]
kind = "tree"
[tree]
files = "floor(2048 / min(workers, hosts)) * 1024"
per_directory = "max(1, floor(files / 64))"
depth = "min(2, workers)"
[[workload]]
name = "w"
kind = "metadata"
operations = ["create", "stat", "remove"]
spread = "all-hosts"
[clients]
count = 3
[sweep]
workers = [1, 3]
"#;

#[test]
fn a_tree_is_computed_for_each_point_and_stays_the_same_through_its_operations() {
    let plan = planned(TREE, &[]).expect("a plan");
    let told: Vec<String> =
        plan.points.iter().map(|point| format!("{:?}", point.computed)).collect();
    let of = |files: u64, each: u64, depth: u64| {
        format!(
            "[(\"tree.files\", \"{files}\"), (\"tree.per_directory\", \"{each}\"), \
             (\"tree.depth\", \"{depth}\")]"
        )
    };
    // 2048 directories are 682 for each of three hosts, and two that nobody gets.
    let (alone, together) = (of(2_097_152, 32_768, 1), of(698_368, 10_912, 2));
    assert_eq!(told, [vec![alone; 3], vec![together; 3]].concat());
    let trees = |host: usize| {
        plan.hosts[host].trees.iter().map(|tree| (tree.files, tree.per_directory, tree.depth))
    };
    assert_eq!(trees(0).collect::<Vec<_>>(), [(2_097_152, 32_768, 1), (698_368, 10_912, 2)]);
    assert_eq!(trees(2).collect::<Vec<_>>(), [(698_368, 10_912, 2)]);
    let first = |stage: &model::plan::HostStage| {
        stage.workers.first().and_then(|worker| worker.files).map(|share| share.tree)
    };
    let used: Vec<Option<u32>> = plan.hosts[0].stages.iter().map(first).collect();
    assert_eq!(used, [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)]);
}

#[test]
fn points_with_as_many_workers_have_trees_of_their_own_where_these_differ() {
    let suite = TREE.replace("depth = \"min(2, workers)\"", "size = \"min(1KiB * workers, 2KiB)\"");
    let plan = planned(&suite, &["sweep.workers=[2, 2, 1]", "clients.count=1"]).expect("a plan");
    let trees: Vec<(u64, u64)> =
        plan.hosts[0].trees.iter().map(|tree| (tree.files, tree.size.0)).collect();
    let half = (1_048_576, 2048);
    assert_eq!(
        trees,
        [half, half, (2_097_152, 1024)],
        "the second point goes to the trees of the first"
    );
    let sizes: Vec<u64> =
        plan.stages.iter().filter_map(|stage| Some(stage.works[0].metadata?.size.0)).collect();
    assert_eq!(sizes, [2048, 2048, 2048, 2048, 2048, 2048, 1024, 1024, 1024]);
}

#[test]
fn mistakes_of_a_tree_name_the_field_its_place_and_the_point() {
    for (field, wanted) in [
        (
            "files=1000 / (workers - 1)",
            "--set:1:12: tree.files = \"1000 / (workers - 1)\" divides by zero at workers=1 \
             operation=create; divide by",
        ),
        (
            "files=workers - 1",
            "--set:1:12: 0 files make no tree at workers=1 operation=create; write a whole number \
             from 1",
        ),
        (
            "files=1000 / workers",
            "comes to 333.3333333333333, which is not a whole number at workers=3 \
             operation=create; round it down: \"floor(…)\"",
        ),
        (
            "files=1 - 2 * workers",
            "comes to -1, which is less than 0 at workers=1 operation=create; ",
        ),
        (
            "files=memory * memory",
            "at workers=1 operation=create; write arithmetic that comes to less",
        ),
        (
            "per_directory=files - files",
            "no file in any directory at workers=1 operation=create; write at least 1",
        ),
        (
            "depth=workers * 9",
            "27 levels of directories are too many at workers=3 operation=create; write 0 to 16",
        ),
        (
            "size=workers * 50MiB",
            "a file of 150 MiB is out of range at workers=3 operation=create; ",
        ),
    ] {
        let told = planned(TREE, &[&format!("tree.{field}")]).expect_err("refused");
        assert!(told.len() == 1 && told[0].contains(wanted), "{field}: {told:?}");
    }
    for field in ["files=files / 2", "files=depth", "fan_out=block_size"] {
        let set = format!("tree.{field}").parse().expect("key=value");
        let told = Spec::parse("t.toml", TREE, &[set]).expect_err("refused").problems;
        assert!(
            told[0].message.contains("is not yet known where this field is computed"),
            "{field}: {told:?}"
        );
    }
}
