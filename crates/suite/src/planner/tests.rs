use super::*;
use form::Override;
use model::load::{Pace, Rate};
use model::note::{Adjusted, Fact};
use model::plan::{PlannedTarget, StageKind};
use model::testbed::{DeviceFacts, DirectIo, DirectoryState, TargetFacts, TargetKind};
use model::units::Bytes;

const SUITE: &str = r#"
name = "t"
[stages]
precondition = "1s"
measure = "10s"
[[workload]]
name = "reads"
[[workload]]
name = "mix"
read = "70%"
block_size = "64KiB"
workers = 2
"#;

/// A target with room for everything; other tests of the planner change what they are about.
pub(crate) fn target(path: &str, kind: TargetKind) -> TargetFacts {
    TargetFacts {
        path: path.into(),
        kind,
        writable: true,
        file_system: Some("ext4".into()),
        free: Bytes::gib(100),
        total: Bytes::gib(200),
        free_inodes: Some(1_000_000),
        direct: DirectIo::Aligned(512),
        ..TargetFacts::default()
    }
}

fn directory(state: DirectoryState) -> TargetKind {
    TargetKind::Directory { root: "/t".into(), state }
}

/// A host with 4 processors and 16 GiB.
pub(crate) fn host(targets: Vec<TargetFacts>) -> HostFacts {
    HostFacts {
        hostname: "h".into(),
        kernel: "Linux".into(),
        cpu_model: "cpu".into(),
        logical_cpus: 4,
        memory: Bytes::gib(16),
        memory_available: Bytes::gib(8),
        numa_cpus: vec![vec![0, 1], vec![2, 3]],
        agent_version: "0".into(),
        targets,
        ..HostFacts::default()
    }
}

/// A run of the whole of a suite.
pub(crate) fn request<'a>(spec: &'a Spec, hosts: &'a [HostFacts]) -> Request<'a> {
    Request { run_id: "r", spec, scale: Scale::FULL, existing: false, destroy_data: &[], hosts }
}

/// The plan, or every refusal in words.
pub(crate) fn planned(request: &Request<'_>) -> Result<Plan, Vec<String>> {
    plan(request).map_err(|refusals| refusals.iter().map(ToString::to_string).collect())
}

/// A folder that is to be made.
pub(crate) fn missing() -> TargetFacts {
    target("/t", TargetKind::Missing)
}

struct Case {
    sets: Vec<&'static str>,
    scale: &'static str,
    existing: bool,
    destroy: Vec<GivenUp>,
}

impl Default for Case {
    fn default() -> Self {
        Case { sets: vec![], scale: "1", existing: false, destroy: vec![] }
    }
}

impl Case {
    fn sets(sets: &[&'static str]) -> Case {
        Case { sets: sets.to_vec(), ..Case::default() }
    }

    fn plan(&self, target: TargetFacts) -> Result<Plan, Vec<Refusal>> {
        let sets: Vec<Override> =
            self.sets.iter().map(|set| set.parse().expect("key=value")).collect();
        let spec = Spec::parse("t.toml", SUITE, &sets).expect("a good suite");
        let hosts = [host(vec![target])];
        plan(&Request {
            scale: self.scale.parse().expect("a scale"),
            existing: self.existing,
            destroy_data: &self.destroy,
            ..request(&spec, &hosts)
        })
    }

    fn refusal(&self, target: TargetFacts) -> (RefusalKind, String) {
        let refusals = self.plan(target).expect_err("refused");
        assert_eq!(refusals.len(), 1, "{refusals:?}");
        (refusals[0].kind, refusals[0].to_string())
    }
}

#[test]
fn a_missing_directory_gets_files_sized_to_the_machine() {
    let plan = Case::default().plan(missing()).expect("a plan");
    assert_eq!(plan.footprint(), Bytes::gib(4));
    assert_eq!(plan.prepare_bytes(), Bytes::gib(4));
    assert_eq!(plan.fixed_time(), Nanos::seconds(22));
    let files: Vec<&str> = plan.hosts[0].files().map(|file| file.path.as_str()).collect();
    assert_eq!(
        files,
        ["/t/data-00000.bin", "/t/data-00001.bin", "/t/data-00002.bin", "/t/data-00003.bin"]
    );
    let kinds: Vec<StageKind> = plan.stages.iter().map(|stage| stage.kind).collect();
    use StageKind::{Measure, Precondition, Prepare};
    assert_eq!(kinds, [Prepare, Precondition, Measure, Precondition, Measure]);
    assert_eq!(plan.workers(2, 0), 4);
    assert_eq!(plan.workers(4, 0), 2);
    assert_eq!(plan.measure_stage(1), Some(4));
}

#[test]
fn copies_are_spread_where_writes_cut_the_units_that_are_copied_and_a_note_says_so() {
    let is_noted = |scope: &'static str, size: &'static str| {
        let sets = ["contents.duplicate=50%", scope, "workload.mix.block_size=64KiB", size];
        let plan = Case::sets(&sets).plan(missing()).expect("a plan");
        let spread = Fact::Adjusted(Adjusted::CopiesSpread);
        plan.notes.iter().any(|note| note.fact == spread)
    };
    let (worker, hosts) = ("contents.duplicate_scope=worker", "contents.duplicate_scope=hosts");
    let (whole, cut) = ("workload.mix.align=64KiB", "workload.mix.align=512");
    assert!(is_noted(worker, cut) && !is_noted(worker, whole));
    assert!(!is_noted(hosts, cut), "those of all hosts need no units");
}

#[test]
fn what_is_to_be_done_before_points_is_text_whatever_it_looks_like() {
    let command = |set: &'static str| {
        let plan = Case::sets(&[set]).plan(missing()).expect("a plan");
        assert!(!plan.points.is_empty());
        plan.points.iter().map(|point| point.prerun.clone()).collect::<Vec<_>>()
    };
    let wanted = |command: &str| Some(Prerun { command: Some(command.to_owned()) });
    assert!(command("stages.prerun=true").iter().all(|prerun| *prerun == wanted("true")));
    assert!(
        command("stages.prerun=\"drop 'a b'\"")
            .iter()
            .all(|prerun| *prerun == wanted("drop 'a b'"))
    );
    assert!(command("stages.prerun=\"\"").iter().all(Option::is_none), "nothing");
}

#[test]
fn little_free_space_makes_an_automatic_layout_small() {
    let mut facts = target("/t", directory(DirectoryState::Empty));
    facts.free = Bytes::mib(200);
    facts.total = Bytes::mib(400);
    let plan = Case::default().plan(facts).expect("a plan");
    assert_eq!(plan.footprint(), Bytes::mib(20));
}

#[test]
fn scaling_shrinks_sizes_and_times_together_and_says_where_it_stopped() {
    let case = Case { scale: "1/100", sets: vec!["size=1GiB"], ..Case::default() };
    let plan = case.plan(missing()).expect("a plan");
    assert_eq!(
        plan.hosts[0].files().next().map(|file| file.size),
        Some(Bytes(1024 * 1024 * 1024 / 100 / 512 * 512))
    );
    assert_eq!(plan.fixed_time(), Nanos::millis(220));
    assert_eq!(plan.interval, Nanos::millis(10));
    let case = Case { scale: "1/100000", sets: vec!["size=1GiB"], ..Case::default() };
    let plan = case.plan(missing()).expect("a plan");
    assert!(
        plan.notes.iter().any(|note| matches!(
            note.fact,
            Fact::Adjusted(Adjusted::LeastTime { what: ScaledTime::Measure, .. })
        )),
        "{:?}",
        plan.notes
    );
    assert!(plan.footprint() >= Bytes::kib(128), "every worker finds a block");
}

#[test]
fn nothing_of_somebody_else_is_written_to() {
    let foreign = target("/t", directory(DirectoryState::Foreign));
    assert_eq!(Case::default().refusal(foreign).0, RefusalKind::Target);
    let file = target("/t", TargetKind::File { size: Bytes::gib(1) });
    assert!(Case::default().refusal(file).1.contains("--existing"));
    let device = target("/dev/x", TargetKind::Device { size: Bytes::gib(1), in_use: None });
    assert!(Case::default().refusal(device.clone()).1.contains("--destroy-data /dev/x"));
    let given_up =
        Case { destroy: vec![GivenUp { host: None, device: "/dev/x".into() }], ..Case::default() };
    let plan = given_up.plan(device).expect("given up by name");
    assert_eq!(plan.hosts[0].targets[0].kind, PlannedTarget::Device);
    let mounted = target(
        "/dev/x",
        TargetKind::Device { size: Bytes::gib(1), in_use: Some("mounted at /".into()) },
    );
    assert!(given_up.refusal(mounted).1.contains("mounted at /"));
    let directory = target("/dev/x", directory(DirectoryState::Empty));
    assert!(given_up.refusal(directory).1.contains("not a block device"));
}

#[test]
fn a_device_that_nobody_may_look_at_is_refused_for_that_and_not_for_being_none() {
    let device = target("/dev/x", TargetKind::Unreadable("outside of the allow list".into()));
    let given = GivenUp { host: None, device: "/dev/x".into() };
    let (_, words) = Case { destroy: vec![given], ..Case::default() }.refusal(device);
    assert!(words.contains("outside of the allow list"), "{words}");
    assert!(!words.contains("not a block device"), "{words}");
}

#[test]
fn a_device_that_is_not_there_is_no_folder_in_memory() {
    let file_system = Some("devtmpfs".to_owned());
    let device = TargetFacts { file_system, ..target("/dev/x", TargetKind::Missing) };
    assert!(Case::default().refusal(device).1.contains("no such device"));
}

#[test]
fn existing_reads_and_leaves_out_what_writes() {
    let case = Case { existing: true, ..Case::default() };
    let plan =
        case.plan(target("/f", TargetKind::File { size: Bytes(10_000_001) })).expect("a plan");
    assert_eq!(plan.points.len(), 1);
    assert_eq!(plan.hosts[0].targets[0].kind, PlannedTarget::ReadOnly);
    assert_eq!(plan.prepare_bytes(), Bytes(0));
    assert_eq!(plan.notes[0].kind(), model::NoteKind::WorkloadsLeftOut);
    assert!(!plan.hosts[0].stages.is_empty());
    assert!(plan.hosts[0].stages.iter().all(|stage| !stage.works[0].writes()));
    let trims = Case { existing: true, sets: vec!["read=100%", "trim=5%"], ..Case::default() };
    let refusal = trims.refusal(target("/f", TargetKind::File { size: Bytes::gib(1) }));
    assert_eq!(refusal.0, RefusalKind::Usage, "a trim destroys as a write does");
    let writes = Case { existing: true, sets: vec!["read=0%"], ..Case::default() };
    assert_eq!(
        writes.refusal(target("/f", TargetKind::File { size: Bytes::gib(1) })).0,
        RefusalKind::Usage
    );
}

#[test]
fn a_layout_that_does_not_fit_is_refused_before_it_is_written() {
    let case = Case::sets(&["size=25GiB"]);
    let (kind, text) = case.refusal(missing());
    assert_eq!(kind, RefusalKind::Space);
    assert!(text.contains("needs 100 GiB more") && text.contains("90 GiB of "), "{text}");
    let claimed = directory(DirectoryState::Claimed { used: Bytes::gib(20), run: String::new() });
    assert!(case.plan(target("/t", claimed)).is_ok(), "our own files are written over");
}

#[test]
fn where_no_layout_fits_no_scale_is_named() {
    let full = TargetFacts { free: Bytes(0), ..missing() };
    let text = Case::sets(&["size=25GiB"]).refusal(full.clone()).1;
    assert!(text.contains("no layout, however small") && !text.contains("--scale"), "{text}");
    let proc = TargetFacts { total: Bytes(0), ..full };
    let text = Case::sets(&["size=25GiB"]).refusal(proc).1;
    assert!(
        text.contains("stores no files")
            && !text.contains("--scale")
            && !text.contains("free some"),
        "{text}"
    );
}

#[test]
fn layouts_of_hosts_on_one_kernel_are_refused_where_they_fit_one_by_one_alone() {
    let planned = |kernels: [&str; 2], scale: &str| {
        let spec = Spec::parse("t.toml", SUITE, &["size=15GiB".parse().expect("key=value")])
            .expect("a good suite");
        let hosts = kernels
            .map(|kernel| HostFacts { identity: kernel.to_owned(), ..host(vec![missing()]) });
        let scale = scale.parse().expect("a scale");
        plan(&Request { scale, ..request(&spec, &hosts) })
    };
    let refusals = planned(["boot", "boot"], "1").expect_err("120 GiB");
    assert_eq!((refusals.len(), refusals[0].kind), (1, RefusalKind::Space));
    let text = refusals[0].to_string();
    assert!(
        text.contains("of 2 hosts on the file system of h need 120 GiB more")
            && text.contains("--scale 1/2"),
        "{text}"
    );
    assert!(planned(["boot", "boot"], "1/2").is_ok(), "what it names fits");
    assert!(
        planned(["boot", "other"], "1").is_ok() && planned(["", ""], "1").is_ok(),
        "nobody knows that it is one"
    );
}

#[test]
fn blocks_must_suit_the_device_and_the_size() {
    let case = Case::sets(&["workload.mix.block_size=1000"]);
    assert!(case.refusal(missing()).1.contains("multiples of 512"), "names the block");
    assert!(Case::sets(&["block_size=1000", "direct=false"]).plan(missing()).is_ok());
    let (kind, text) = Case::sets(&["size=8k", "block_size=1M", "files=1", "workers=1"])
        .plan(missing())
        .map(|_| ())
        .map_err(|r| (r[0].kind, r[0].to_string()))
        .expect_err("refused");
    assert_eq!(kind, RefusalKind::Usage);
    assert!(text.contains("1 worker has 8 KiB, which is less than one block of 1 MiB"), "{text}");
    let refusals = Case::sets(&["size=1", "files=1", "workers=1"]).plan(missing());
    let text = refusals.expect_err("refused")[0].to_string();
    assert!(text.contains("1 worker has files of 1 B, which hold no whole sector"), "{text}");
}

#[test]
fn unusable_paths_are_named_with_a_remedy() {
    for (kind, word) in [
        (TargetKind::NoParent, "nor its parent directory exists"),
        (TargetKind::Other("a character device".into()), "is a character device"),
        (TargetKind::Unreadable("Permission denied".into()), "Permission denied"),
    ] {
        assert!(Case::default().refusal(target("/t", kind)).1.contains(word));
    }
    let mut read_only = missing();
    read_only.writable = false;
    assert!(Case::default().refusal(read_only).1.contains("cannot be written to"));
}

#[test]
fn where_nobody_names_a_backend_the_plan_says_that_another_may_be_taken() {
    for (sets, of_file_system, expected) in [
        (&[][..], "tmpfs", [true, true]),
        (&[], "ext4", [true, false]),
        (&["backend=io_uring"], "tmpfs", [false, false]),
        (&["poll=submissions"], "tmpfs", [false, false]),
        (&["rate=100"], "tmpfs", [false, false]),
        (&["backend=auto"], "tmpfs", [false, false]),
    ] {
        let file_system = Some(of_file_system.to_owned());
        let target = TargetFacts { file_system, ..target("/t", TargetKind::Missing) };
        let plan = Case::sets(sets).plan(target).expect("a plan");
        let tried = Adjusted::BackendTried { file_system: of_file_system.to_owned() };
        let is_said = plan.notes.iter().any(|note| note.fact == Fact::Adjusted(tried.clone()));
        let is_open = plan.hosts[0].engine.left_open;
        assert_eq!([is_open, is_said], expected, "{sets:?} {of_file_system}");
    }
}

#[test]
fn the_null_backend_needs_no_target_that_can_be_written() {
    let plan = Case::sets(&["backend=null"])
        .plan(target("/nowhere", TargetKind::NoParent))
        .expect("a plan");
    assert!(!plan.stages.is_empty());
    assert!(plan.stages.iter().all(|stage| stage.kind != StageKind::Prepare));
}

#[test]
fn buffers_that_no_memory_holds_are_refused() {
    let case = Case::sets(&["size=2GiB", "block_size=1GiB", "depth=32"]);
    let refusals = case.plan(missing()).expect_err("refused");
    assert!(
        refusals[0].message.contains("128 GiB of buffers")
            || refusals[0].message.contains("256 GiB"),
        "{refusals:?}"
    );
}

fn device(numa_node: Option<u32>) -> DeviceFacts {
    DeviceFacts {
        name: "sda".into(),
        model: String::new(),
        rotational: None,
        size: Bytes::gib(200),
        logical_block: 512,
        scheduler: String::new(),
        numa_node,
        ..DeviceFacts::default()
    }
}

#[test]
fn what_is_purged_takes_discards_and_is_ours_to_write() {
    let destroy = || vec![GivenUp { host: None, device: "/dev/x".into() }];
    let sets = vec!["stages.purge=true"];
    let kind = TargetKind::Device { size: Bytes::gib(200), in_use: None };
    let facts = |most_discard: Option<Bytes>| TargetFacts {
        device: Some(DeviceFacts { most_discard, ..device(None) }),
        ..target("/dev/x", kind.clone())
    };
    let case = || Case { sets: sets.clone(), destroy: destroy(), ..Case::default() };
    let kinds = |plan: Plan| plan.stages.iter().map(|stage| stage.kind).collect::<Vec<_>>();
    for most in [None, Some(Bytes::gib(2))] {
        let plan = case().plan(facts(most)).expect("a plan");
        assert_eq!(kinds(plan)[..2], [StageKind::Purge, StageKind::Prepare]);
    }
    let refused = case().plan(facts(Some(Bytes(0)))).expect_err("no discards");
    assert!(refused[0].message.contains("takes no discards"), "{refused:?}");
    let refused = Case { destroy: vec![], ..case() }.plan(facts(None)).expect_err("not given up");
    assert!(refused[0].message.contains("would overwrite it"), "{refused:?}");
    let read = Case { sets: vec!["stages.purge=true", "read=100%"], existing: true, ..case() };
    let plan = read.plan(facts(Some(Bytes(0)))).expect("nothing is purged with --existing");
    assert!(!kinds(plan).contains(&StageKind::Purge));
}

#[test]
fn workers_run_where_the_devices_hang() {
    let cpus = |pin: &str, nodes: &[Option<u32>]| {
        let on = |node: &Option<u32>| {
            let free = TargetKind::Missing;
            TargetFacts {
                device: Some(device(*node)),
                ..target(&format!("/{}", node.unwrap_or(9)), free)
            }
        };
        let suite = format!("{SUITE}[engine]\npin = \"{pin}\"\n");
        let spec = Spec::parse("t", &suite, &[]).expect("a good suite");
        let hosts = [host(nodes.iter().map(on).collect())];
        let request = request(&spec, &hosts);
        plan(&request).expect("a plan").hosts[0].engine.cpus.clone()
    };
    assert_eq!(cpus("node", &[None]), [0; 0], "nobody tells where the device hangs");
    assert_eq!(cpus("node", &[Some(1)]), [2, 3]);
    assert_eq!(cpus("core", &[Some(1)]), [2, 3, 0, 1], "near ones first");
    assert_eq!(cpus("core", &[None]), [0, 1, 2, 3]);
    assert_eq!(cpus("node", &[Some(0), Some(1)]), [0; 0], "no node is near to both");
    assert_eq!(cpus("none", &[Some(1)]), [0; 0]);
}

#[test]
fn the_layout_is_read_once_more_after_each_point_that_writes() {
    let kinds = |verify: &'static str| {
        let plan = Case::sets(&[verify, "precondition=0s"]).plan(missing()).expect("a plan");
        let pass = plan.stages.iter().position(|stage| stage.kind == StageKind::Verify);
        let read =
            pass.map(|number| (plan.stage_bytes(number as u32), plan.stages[number].works[0].read));
        let kinds: Vec<(StageKind, Option<u32>)> =
            plan.stages.iter().map(|stage| (stage.kind, stage.point)).collect();
        assert_eq!(plan.verify_bytes(), pass.map_or(Bytes(0), |_| plan.footprint()));
        assert!(read.is_none_or(|read| read == (plan.footprint(), Percent::ALL)), "{read:?}");
        kinds
    };
    let without =
        [(StageKind::Prepare, None), (StageKind::Measure, Some(0)), (StageKind::Measure, Some(1))];
    assert_eq!(kinds("contents.verify=true"), without);
    // The first of the suite's two workloads only reads.
    assert_eq!(
        kinds("contents.verify=after"),
        [&without[..], &[(StageKind::Verify, Some(1))]].concat()
    );
}

#[test]
fn until_it_is_steady_rounds_are_whole_intervals_and_both_times_shrink_with_the_scale() {
    let steady = |sets: &[&'static str], scale: &'static str| {
        let case =
            Case { scale, ..Case::sets(&[&["until=steady", "interval=100ms"], sets].concat()) };
        let plan = case.plan(missing()).expect("a plan");
        let steady = plan.stages[plan.measure_stage(0).expect("measured") as usize]
            .stop()
            .steady()
            .expect("steady");
        (
            steady,
            plan.notes.iter().any(|note| {
                matches!(note.fact, Fact::Adjusted(Adjusted::SteadyTakesLonger { .. }))
            }),
        )
    };
    let of = |least, most, round| Steady {
        least: Nanos::millis(least),
        most: Nanos::millis(most),
        round: Nanos::millis(round),
    };
    assert_eq!(steady(&[], "1"), (of(10_000, 120_000, 2_000), false));
    assert_eq!(steady(&["measure_max=30s"], "1"), (of(10_000, 30_000, 2_000), false));
    assert_eq!(steady(&["measure_max=30s"], "1/10"), (of(1_000, 3_000, 200), false));
    // Intervals shrink no further than to 10 ms, and five rounds have twenty of them.
    assert_eq!(steady(&["measure_max=30s"], "1/100"), (of(200, 300, 40), true));
    assert_eq!(steady(&["measure=11010ms"], "1").0, of(11_500, 132_200, 2_300), "rounded up");
}

#[test]
fn a_rate_of_each_worker_grows_with_them() {
    let rate = |sets: &'static [&'static str]| {
        let plan = Case::sets(sets).plan(missing()).expect("a plan");
        let works = plan
            .stages
            .iter()
            .filter(|stage| stage.kind == StageKind::Measure)
            .flat_map(|stage| &stage.works);
        works.map(|work| work.pace.clone()).next().expect("a workload")
    };
    let open = |milli| Pace::Open { rate: Rate::Iops { milli }, poisson: false };
    assert_eq!(rate(&["rate=100", "workers=3"]), open(100_000), "of all of them");
    assert_eq!(rate(&["rate=100", "workers=3", "rate_of=worker"]), open(300_000));
    assert_eq!(rate(&["rate=100", "workers=3", "rate_of=all"]), open(100_000));
    assert_eq!(
        rate(&["rate=1e9", "workers=3", "rate_of=worker"]),
        open(1_000_000_000_000),
        "nothing is faster"
    );
}
