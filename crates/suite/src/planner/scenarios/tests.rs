use crate::Spec;
use crate::planner::{plan, tests as any};
use model::plan::{Part, Plan, PlannedTarget, StageKind};
use model::resume;
use model::setting::Setting;
use model::testbed::{DirectoryState, HostFacts, TargetFacts, TargetKind};
use model::units::Bytes;

const THREE: &str = "\
name = \"t\"
[stages]
measure = \"1s\"
[engine]
direct = false
[[workload]]
name = \"blocks\"
block_size = \"64KiB\"
read = \"50%\"
workers = 2
[[workload]]
name = \"files\"
kind = \"metadata\"
workers = 2
[[scenario]]
name = \"own\"
workloads = [\"blocks\"]
layout = { files = 2, size = \"64MiB\" }
engine = { direct = true }
[[scenario]]
name = \"shared\"
workloads = [\"blocks\"]
layout = { kind = \"shared-file\", size = \"32MiB\" }
[[scenario]]
name = \"small\"
workloads = [\"files\"]
layout = { kind = \"tree\" }
tree = { files = 100, size = \"4KiB\" }
";

const IN_TURNS: &str = "[sweep]\norder = \"interleaved\"\nrepetitions = 2\n";

fn target(path: &str, free: Bytes) -> TargetFacts {
    let kind = TargetKind::Directory { root: path.into(), state: DirectoryState::Empty };
    TargetFacts { free, total: free, free_inodes: None, ..any::target(path, kind) }
}

fn host(name: &str, targets: Vec<TargetFacts>) -> HostFacts {
    HostFacts { hostname: name.into(), numa_cpus: Vec::new(), ..any::host(targets) }
}

fn planned(suite: &str, hosts: &[HostFacts]) -> Result<Plan, Vec<String>> {
    let spec =
        Spec::parse("t", suite, &[]).unwrap_or_else(|errors| panic!("{:?}", errors.problems));
    any::planned(&any::request(&spec, hosts))
}

fn one_host(suite: &str, free: Bytes) -> Result<Plan, Vec<String>> {
    planned(suite, &[host("h", vec![target("/t", free)])])
}

fn order(plan: &Plan) -> Vec<String> {
    let of =
        |stage: &model::plan::Stage| match stage.point.map(|point| &plan.points[point as usize]) {
            None => stage.kind.to_string(),
            Some(point) => format!("{} {}", point.scenario, point.repetition),
        };
    plan.stages.iter().map(of).collect()
}

fn parts(plan: &Plan) -> &[Part] {
    &plan.hosts[0].parts
}

#[test]
fn scenarios_run_one_after_the_other_and_the_largest_has_to_fit() {
    let plan = one_host(THREE, Bytes::mib(140)).expect("a plan");
    let ops = ["small 1"; 4];
    assert_eq!(order(&plan), [&["prepare", "own 1", "prepare", "shared 1"], &ops[..]].concat());
    assert_eq!(plan.scenarios(), ["own", "shared", "small"]);
    assert_eq!(plan.points[1].sweep[0], Setting::new("scenario", "shared"));
    let stages: Vec<&[u32]> = parts(&plan).iter().map(|part| part.stages.as_slice()).collect();
    assert_eq!(stages, [&[0, 1][..], &[2, 3], &[4, 5, 6, 7]]);
    assert_eq!(plan.footprint(), Bytes::mib(128));
    assert_eq!((plan.footprint_of(3), plan.footprint_of(4)), (Bytes::mib(32), Bytes(100 * 4096)));
    assert_eq!(plan.prepare_bytes(), Bytes::mib(160));
    assert!(plan.hosts[0].engine_of(1).direct && !plan.hosts[0].engine_of(3).direct);
    assert!(!plan.hosts[0].stages.is_empty());
    assert!(plan.hosts[0].stages.iter().zip(0..).all(|(stage, number)| stage.stage == number));
    let told = one_host(THREE, Bytes::mib(130)).expect_err("130 MiB have not 128 free");
    assert!(
        told.len() == 1 && told[0].contains("scenario own: ") && told[0].contains("may be used"),
        "{told:?}"
    );
}

#[test]
fn each_scenario_has_its_own_to_be_done_before_its_points() {
    let plan = one_host(
        &THREE.replacen(
            "name = \"shared\"\n",
            "name = \"shared\"\nset.stages.prerun = \" drop a \"\n",
            1,
        ),
        Bytes::mib(140),
    );
    let plan = plan.expect("a plan");
    let command =
        |point: &model::plan::Point| Some((point.scenario.clone(), point.prerun.clone()?.command?));
    let wanted = [("shared".to_owned(), "drop a".to_owned())];
    assert_eq!(plan.points.iter().filter_map(command).collect::<Vec<_>>(), wanted);
}

#[test]
fn scenarios_in_turns_stand_side_by_side() {
    let suite = format!("{THREE}{IN_TURNS}");
    let plan = one_host(&suite, Bytes::mib(200)).expect("a plan");
    let round = |n: u32| {
        let small = format!("small {n}");
        [
            format!("own {n}"),
            format!("shared {n}"),
            small.clone(),
            small.clone(),
            small.clone(),
            small,
        ]
    };
    let wanted = [vec!["prepare".to_owned(); 2], round(1).to_vec(), round(2).to_vec()].concat();
    assert_eq!(order(&plan), wanted);
    assert_eq!(plan.footprint(), Bytes(Bytes::mib(160).0 + 100 * 4096));
    let roots: Vec<&str> = plan.hosts[0].targets.iter().filter_map(root).collect();
    assert_eq!(roots, ["/t", "/t-s0001", "/t-s0002"]);
    assert!(plan.hosts[0].targets[1].files[0].path.starts_with("/t-s0001/data-"));
    assert!(plan.hosts[0].trees[0].path.starts_with("/t-s0002/tree-"));
    let told = one_host(&suite, Bytes::mib(160)).expect_err("each fits, all do not");
    assert!(told.len() == 1 && told[0].contains("the layout needs 160"), "{told:?}");
}

fn root(target: &model::plan::Target) -> Option<&str> {
    match &target.kind {
        PlannedTarget::Directory { root } => Some(root),
        _ => None,
    }
}

/// What a scenario comes to in the whole, against what it is by itself.
#[test]
fn each_part_is_what_it_would_be_without_the_others() {
    let alone = |name: &str| {
        let mut spec = Spec::parse("t", THREE, &[]).expect("good");
        spec.keep_scenarios(&[name.to_owned()]).expect("known");
        let hosts = [host("h", vec![target("/t", Bytes::gib(9))])];
        plan(&any::request(&spec, &hosts)).expect("a plan").hosts.remove(0)
    };
    let whole = one_host(THREE, Bytes::gib(9)).expect("a plan");
    let patience = whole.hosts[0].engine.patience;
    for (number, name) in ["own", "shared", "small"].into_iter().enumerate() {
        let mut wanted = alone(name);
        wanted.engine.patience = patience;
        assert!(wanted.parts.is_empty(), "one layout is no part of anything");
        let mut found = whole.hosts[0].alone(number).expect("a part");
        found.stages.iter_mut().zip(0..).for_each(|(stage, number)| stage.stage = number);
        assert_eq!(found, wanted, "{name}");
    }
    assert_eq!(whole.hosts[0].alone(3), None);
}

#[test]
fn a_layout_in_common_is_prepared_once() {
    let suite = "name = \"t\"\n[layout]\nsize = \"8MiB\"\n[[workload]]\nname = \
                 \"w\"\n[[scenario]]\nname = \"a\"\nset = { depth = 1 }\n[[scenario]]\nname = \
                 \"b\"\nset = { depth = 8 }\n";
    let plan = one_host(suite, Bytes::gib(1)).expect("a plan");
    assert_eq!(order(&plan), ["prepare", "a 1", "b 1"]);
    assert!(parts(&plan).is_empty());
    let between = format!("{suite}layout = {{ size = \"4MiB\" }}\n[[scenario]]\nname = \"c\"\n");
    let plan = one_host(&between, Bytes::gib(1)).expect("a plan");
    assert_eq!(parts(&plan).len(), 3, "what was removed in between is made again");
    let plan = one_host(&format!("{between}{IN_TURNS}"), Bytes::gib(1)).expect("a plan");
    assert_eq!(parts(&plan).len(), 2, "in turns, the first and the last have one");
    assert_eq!(plan.stages.iter().filter(|stage| stage.kind == StageKind::Prepare).count(), 2);
}

#[test]
fn scenarios_have_targets_of_their_own() {
    let suite = "name = \"t\"\n[layout]\nsize = \"8MiB\"\n[[workload]]\nname = \
                 \"w\"\n[[scenario]]\nname = \"a\"\ntarget = \"/a\"\n[[scenario]]\nname = \
                 \"b\"\ntarget = \"/b\"\n";
    let facts = || vec![target("/a", Bytes::gib(1)), target("/b", Bytes::gib(1))];
    let plan = planned(&format!("{suite}{IN_TURNS}"), &[host("x", facts()), host("y", facts())])
        .expect("a plan");
    for host in &plan.hosts {
        assert_eq!(host.targets.iter().filter_map(root).collect::<Vec<_>>(), ["/a", "/b"]);
        assert_eq!(host.targets_of(plan.measure_stage(1).expect("measured")), 1..2);
    }
    let simulated = TargetFacts {
        kind: TargetKind::Simulated { size: Bytes::gib(1) },
        ..target("/b", Bytes::gib(1))
    };
    let told = planned(suite, &[host("x", vec![target("/a", Bytes::gib(1)), simulated])])
        .expect_err("refused");
    assert!(told.len() == 1 && told[0].contains("scenario b: real and simulated"), "{told:?}");
}

#[test]
fn a_run_that_was_cut_short_prepares_what_is_left_and_nothing_else() {
    let plan = one_host(THREE, Bytes::gib(1)).expect("a plan");
    let mut record = model::Record::new(plan, Vec::new(), "0".into(), 0);
    for stage in 0..3 {
        record.apply(model::Event::StageStarted { stage, unix_ns: 0 });
        record.apply(model::Event::StageEnded { stage, end: model::StageEnd::Complete });
    }
    let left = resume::left_over(&record);
    assert_eq!(left, [3, 4, 5, 6, 7]);
    assert_eq!(
        resume::with_prepare(&record, left),
        [2, 3, 4, 5, 6, 7],
        "the first scenario is over"
    );
}

#[test]
fn each_scenario_begins_with_its_own_purge_and_again_where_what_follows_it_is_done_anew() {
    let suite = "name = \"t\"\n[layout]\nsize = \"8MiB\"\n[stages]\npurge = \
                 true\n[[workload]]\nname = \"w\"\n[[scenario]]\nname = \
                 \"a\"\n[[scenario]]\nname = \"b\"\n";
    let plan = one_host(suite, Bytes::gib(1)).expect("a plan");
    assert_eq!(order(&plan), ["purge", "prepare", "a 1", "purge", "prepare", "b 1"]);
    assert_eq!(parts(&plan).len(), 2, "one layout, but each scenario begins with a fresh one");
    let without = one_host(&suite.replace("purge = true", ""), Bytes::gib(1)).expect("a plan");
    assert_eq!(order(&without), ["prepare", "a 1", "b 1"]);
    let work = &plan.stages[0].works[0];
    assert!(work.trims() && !work.reads() && !work.writes() && work.buffers() == Bytes(0));
    assert_eq!(plan.stage_bytes(0), plan.stage_bytes(1), "all that is written is given back first");
    let written = Bytes(plan.stage_bytes(1).0 + plan.stage_bytes(4).0);
    assert_eq!(plan.prepare_bytes(), written, "a purge writes nothing");
    assert!(plan.hosts[0].check().is_ok());
    let mut record = model::Record::new(plan, Vec::new(), "0".into(), 0);
    let mut done = |stage| {
        record.apply(model::Event::StageStarted { stage, unix_ns: 0 });
        record.apply(model::Event::StageEnded { stage, end: model::StageEnd::Complete });
        resume::left_over(&record)
    };
    assert_eq!(done(0), [0, 1, 2, 3, 4, 5], "a purge alone is worth nothing");
    assert_eq!(done(1), [2, 3, 4, 5]);
    assert_eq!(done(2), [3, 4, 5]);
    assert_eq!(done(3), [3, 4, 5]);
}

#[test]
fn a_tree_among_scenarios_that_are_checked_is_left_unchecked_and_says_so() {
    let text = format!("{THREE}[contents]\nverify = \"after\"\n");
    let plan = one_host(&text, Bytes(1 << 30)).expect("a plan");
    let checked: Vec<bool> = (0..plan.stages.len() as u32)
        .map(|stage| plan.engine_of(stage).expect("a host").contents.verify)
        .collect();
    let of_files =
        |stage: &model::plan::Stage| stage.works.iter().any(|work| work.metadata.is_some());
    let expected: Vec<bool> = plan.stages.iter().map(|stage| !of_files(stage)).collect();
    assert_eq!(checked, expected);
    assert_eq!(
        plan.stages.iter().filter(|stage| stage.kind == StageKind::Verify).count(),
        2,
        "of the blocks alone"
    );
    let said = |note: &model::plan::PlanNote| {
        note.fact == model::Fact::NotChecked(model::note::NotChecked::Tree)
    };
    assert!(plan.notes.iter().any(said), "{:?}", plan.notes);
}
