//! What layouts and amounts become in a plan.

use super::*;
use model::plan::names::data_file_name;
use model::plan::{Extent, HostStage, Once, PlannedTarget, Stage, StageKind, Stop};
use model::testbed::{TargetFacts, TargetKind};
use model::units::Bytes;

fn host(name: &str, path: &str) -> HostFacts {
    let target = TargetFacts {
        file_system: Some("gpfs".into()),
        free_inodes: None,
        ..tests::target(path, TargetKind::Missing)
    };
    HostFacts {
        hostname: name.into(),
        logical_cpus: 2,
        numa_cpus: vec![vec![0, 1]],
        ..tests::host(vec![target])
    }
}

fn planned(suite: &str, hosts: &[HostFacts]) -> Result<Plan, Vec<Refusal>> {
    let spec = Spec::parse("t.toml", &format!("name = \"t\"\n{suite}"), &[]).expect("a good suite");
    plan(&tests::request(&spec, hosts))
}

fn two() -> [HostFacts; 2] {
    [host("a", "/t"), host("b", "/t")]
}

fn shared(workload: &str) -> String {
    format!(
        "[layout]\nkind = \"shared-file\"\nsize = \"48KiB\"\n[[workload]]\nname = \"w\"\naccess = \
         \"sequential\"\nworkers = 2\n{workload}"
    )
}

/// File, offset and length of every worker of a host in `measure`.
fn extents(plan: &Plan, host: usize) -> Vec<Vec<(u64, u64)>> {
    let stage = plan.measure_stage(0).expect("measured") as usize;
    let of =
        |extents: &[Extent]| extents.iter().map(|extent| (extent.offset, extent.length)).collect();
    plan.hosts[host].stages[stage].workers.iter().map(|worker| of(&worker.extents)).collect()
}

const K: u64 = 1024;

#[test]
fn one_host_makes_the_shared_file_and_all_workers_of_all_hosts_have_their_part_of_it() {
    let plan = planned(&shared(""), &two()).expect("a plan");
    assert!(matches!(plan.hosts[0].targets[0].kind, PlannedTarget::Directory { .. }));
    assert_eq!(plan.hosts[1].targets[0].kind, PlannedTarget::Joined);
    assert_eq!(plan.hosts[0].targets[0].files, plan.hosts[1].targets[0].files);
    assert_eq!(plan.footprint(), Bytes(48 * K), "the file counts once");
    assert_eq!(plan.prepare_bytes(), Bytes(48 * K), "and is prepared once, by both");
    let prepared = |stage: &HostStage| stage.kind == StageKind::Prepare && stage.workers.is_empty();
    assert!(!plan.hosts.iter().all(|host| host.stages.iter().any(prepared)));
    assert_eq!(extents(&plan, 0), [[(0, 12 * K)], [(12 * K, 12 * K)]]);
    assert_eq!(extents(&plan, 1), [[(24 * K, 12 * K)], [(36 * K, 12 * K)]]);
    let other = [host("a", "/t"), host("b", "/elsewhere")];
    let refusals = planned(&shared(""), &other).expect_err("two directories");
    assert!(
        refusals[0].to_string().contains("host b")
            && refusals[0].to_string().contains("/elsewhere")
    );
}

#[test]
fn the_volumes_of_one_simulated_cluster_are_the_same_for_all_hosts_and_a_device_is_not() {
    let simulated = |name: &str, path: &str| HostFacts {
        targets: vec![tests::target(path, TargetKind::Simulated { size: Bytes::gib(1) })],
        ..host(name, path)
    };
    let both = |path: &str| planned(&shared(""), &[simulated("a", path), simulated("b", path)]);
    let plan = both("sim:cluster=vsan-four-corners").expect("a plan");
    for host in &plan.hosts {
        assert_eq!(host.targets[0].kind, PlannedTarget::Simulated);
        assert_eq!(host.targets[0].files, plan.hosts[0].targets[0].files);
    }
    let told = both("sim:constant").expect_err("each host has its own device")[0].to_string();
    assert!(
        told.contains("host b") && told.contains("not a directory of the first host"),
        "{told}"
    );
}

#[test]
fn what_one_of_several_hosts_cannot_do_is_said_with_its_name() {
    let unreadable =
        || vec![tests::target("/t", TargetKind::Unreadable("permission denied".to_owned()))];
    let broken = HostFacts { targets: unreadable(), ..host("b", "/t") };
    let suite = "[[workload]]\nname = \"w\"\n";
    let told = planned(suite, &[host("a", "/t"), broken.clone()]).expect_err("b cannot");
    assert!(told.len() == 1 && told[0].message.starts_with("host b: "), "{told:?}");
    let told = planned(suite, &[broken]).expect_err("nor can it alone");
    assert!(told.len() == 1 && !told[0].message.contains("host b"), "{told:?}");
}

#[test]
fn blocks_come_in_turn_over_all_hosts() {
    let plan = planned(&shared("sharing = \"interleaved\""), &two()).expect("a plan");
    assert_eq!(extents(&plan, 0), [[(0, 36 * K)], [(4 * K, 36 * K)]]);
    assert_eq!(extents(&plan, 1), [[(8 * K, 36 * K)], [(12 * K, 36 * K)]]);
    let stage: &Stage = &plan.stages[plan.measure_stage(0).expect("measured") as usize];
    assert_eq!(stage.works[0].pattern.stride, Bytes(16 * K));
}

#[test]
fn segments_give_each_worker_a_part_of_each_and_whole_gives_all_to_all() {
    let plan = planned(&shared("segments = 3"), &two()).expect("a plan");
    assert_eq!(extents(&plan, 1)[0], [(8 * K, 4 * K), (24 * K, 4 * K), (40 * K, 4 * K)]);
    let plan = planned(&shared("sharing = \"whole\""), &two()).expect("a plan");
    assert_eq!(extents(&plan, 0), [[(0, 48 * K)], [(0, 48 * K)]]);
    assert_eq!(extents(&plan, 0), extents(&plan, 1));
    let far = "[layout]\nkind = \"shared-file\"\nsize = \"8GiB\"\n[[workload]]\nname = \
               \"w\"\nworkers = 1024\nsegments = 2000";
    assert!(
        planned(far, &two()[..1]).expect_err("too many")[0]
            .message
            .contains("more than 1000000 pieces")
    );
}

#[test]
fn an_amount_ends_the_requests_and_leaves_each_worker_its_whole_share() {
    let amount = "[stages]\namount = \"8KiB\"\nstonewall = true\ncount_close = false\n";
    let plan = planned(&format!("{amount}{}", shared("")), &two()).expect("a plan");
    assert_eq!(extents(&plan, 1), [[(24 * K, 12 * K)], [(36 * K, 12 * K)]]);
    let measure = plan.measure_stage(0).expect("measured");
    assert_eq!(
        plan.stages[measure as usize].stop(),
        Stop::Once(Once { stonewall: true, fsync: true, close: false })
    );
    assert_eq!(plan.amount(measure), Bytes(32 * K));
    assert_eq!(plan.fixed_time(), Nanos(0));
    let in_turn = planned(&format!("{amount}{}", shared("sharing = \"interleaved\"")), &two())
        .expect("a plan");
    assert_eq!(extents(&in_turn, 0)[1], [(4 * K, 36 * K)]);
    assert_eq!(in_turn.amount(measure), Bytes(32 * K));
    let all =
        planned(&format!("[stages]\namount = \"all\"\n{}", shared("")), &two()).expect("a plan");
    assert_eq!(all.amount(measure), Bytes(48 * K));
}

#[test]
fn files_of_several_sizes_come_by_their_weights() {
    let suite = "[layout]\nfiles = 8\nsizes = \"4KiB:3, 1MiB:1\"\n[[workload]]\nname = \
                 \"w\"\nworkers = 2\n";
    let plan = planned(suite, &two()[..1]).expect("a plan");
    let sizes: Vec<u64> = plan.hosts[0].files().map(|file| file.size.0 / K).collect();
    assert_eq!(sizes, [4, 4, 1024, 4, 4, 4, 1024, 4]);
    assert_eq!(plan.prepare_bytes(), Bytes((6 * 4 + 2 * 1024) * K));
    let large = planned(&format!("{suite}block_size = \"64KiB\""), &two()[..1]).expect("a plan");
    let measure = large.measure_stage(0).expect("measured") as usize;
    let files = large.hosts[0].stages[measure]
        .workers
        .iter()
        .flat_map(|worker| &worker.extents)
        .map(|extent| extent.file);
    assert_eq!(files.collect::<Vec<_>>(), [2, 6], "small files have no room for the blocks");
}

#[test]
fn files_are_counted_for_each_worker_and_odd_transfers_need_the_page_cache() {
    let suite = "[layout]\nper = \"worker\"\nfiles = 3\nsize = \"1MiB\"\n[[workload]]\nname = \
                 \"w\"\nworkers = 4\n";
    let plan = planned(suite, &two()[..1]).expect("a plan");
    assert_eq!(plan.hosts[0].files().count(), 12);
    assert!(!plan.hosts[0].stages[1].workers.is_empty());
    assert!(
        plan.hosts[0].stages[1].workers.iter().all(|worker| worker.extents.len() == 3),
        "each has its own"
    );
    let many = suite.replace("files = 3", "files = 65536");
    let told = planned(&many, &two()[..1]).expect_err("too many");
    assert!(told.iter().any(|refusal| refusal.message.contains("262144 files")), "{told:?}");
    let odd = shared("block_size = 47008").replace("48KiB", "2MiB");
    let refusal = &planned(&odd, &two()[..1]).expect_err("direct")[0];
    assert!(
        refusal.message.contains("47008") && refusal.remedy.contains("--buffered"),
        "{refusal}"
    );
    let buffered =
        planned(&format!("[engine]\ndirect = false\n{odd}"), &two()[..1]).expect("a plan");
    assert_eq!(extents(&buffered, 0)[1], [(22 * 47_008, 22 * 47_008)]);
}

#[test]
fn only_the_hosts_that_a_workload_names_have_workers_for_it_and_these_are_spread_over_them() {
    let hosts = ["a", "b", "c", "d"].map(|name| host(name, "/t"));
    let suite = "[labels]\nodd = \"b,d\"\n[targets]\nodd = { path = \"/t\", owner = \"odd\" \
                 }\n[layout]\nsize = \"1MiB\"\n[[workload]]\nname = \"w\"\nworkers = 3\nspread = \
                 \"all-hosts\"\nhosts = \"odd\"\n[[workload]]\nname = \"all\"\nworkers = 1\n";
    let plan = planned(suite, &hosts).expect("a plan");
    let workers = |point| {
        let stage = plan.measure_stage(point).expect("measured") as usize;
        plan.hosts.iter().map(|host| host.stages[stage].workers.len()).collect::<Vec<_>>()
    };
    assert_eq!((workers(0), workers(1)), (vec![0, 2, 0, 1], vec![1; 4]));
    let labels: Vec<usize> = plan.places.iter().map(|place| place.labels.len()).collect();
    assert_eq!(labels, [0, 1, 0, 1]);
    assert_eq!((plan.places[1].owners[0].as_str(), plan.places[0].owners[0].as_str()), ("odd", ""));
    let refused = planned(&suite.replace("hosts = \"odd\"", "hosts = \"odds\""), &hosts)
        .expect_err("no such label");
    assert!(
        refused[0].to_string().contains(
            "workload `w`: no host of this run and no label is called `odds`; did you mean `odd`?"
        ),
        "{refused:?}"
    );
}

#[test]
fn a_sweep_over_hosts_loads_from_more_and_more_of_them() {
    let hosts = ["n1", "n2", "n3"].map(|name| host(name, "/t"));
    let suite = "[layout]\nsize = \"1MiB\"\n[[workload]]\nname = \"w\"\nworkers = \
                 1\n[sweep]\nhosts = [\"n1\", \"n[1-2]\", \"all\"]\n";
    let plan = planned(suite, &hosts).expect("a plan");
    let workers: Vec<usize> =
        (0..3).map(|point| plan.workers(plan.measure_stage(point).expect("measured"), 0)).collect();
    assert_eq!(workers, [1, 2, 3]);
}

/// The files, by their paths, that each host loads in `measure` of a point.
fn loaded(plan: &Plan, point: u32) -> Vec<Vec<String>> {
    let stage = plan.measure_stage(point).expect("measured") as usize;
    let of = |host: &HostPlan| {
        let files: Vec<&str> = host.files().map(|file| file.path.as_str()).collect();
        let extents = host.stages[stage].workers.iter().flat_map(|worker| &worker.extents);
        extents.map(|extent| files[extent.file as usize].to_owned()).collect()
    };
    plan.hosts.iter().map(of).collect()
}

const ROTATED: &str = "[layout]\nsize = \"1MiB\"\n[[workload]]\nname = \"write\"\nworkers = \
                       2\nread = \"0%\"\n[[workload]]\nname = \"read\"\nworkers = 2\nrotate = 4\n";

/// Three hosts with a folder for each on one file system.
fn three() -> [HostFacts; 3] {
    [0, 1, 2].map(|number| {
        let mut facts = host(&format!("n{number}"), "/t");
        let root = format!("/t{}", model::testbed::host_suffix(number));
        facts.targets[0].kind =
            TargetKind::Directory { root, state: model::testbed::DirectoryState::Missing };
        facts
    })
}

#[test]
fn a_rotated_workload_loads_what_the_host_so_many_places_further_made() {
    let plan = planned(ROTATED, &three()).expect("a plan");
    let files = |host: u32| {
        (0..2).map(|file| format!("/t-h{host:04}/{}", data_file_name(file))).collect::<Vec<_>>()
    };
    assert_eq!(loaded(&plan, 0), [files(0), files(1), files(2)], "each its own");
    assert_eq!(
        loaded(&plan, 1),
        [files(1), files(2), files(0)],
        "four places further among three is one"
    );
    let prepared: u64 = plan.prepare_bytes().0;
    assert_eq!(
        (prepared, plan.footprint().0),
        (6 << 20, 6 << 20),
        "every byte is written by its own host, once"
    );
    assert!(!plan.hosts.is_empty());
    assert!(plan.hosts.iter().all(|host| host.targets[1].kind == PlannedTarget::Joined));
    let alone = planned(ROTATED, &three()[..1]).expect("a plan");
    assert_eq!(loaded(&alone, 1), [files(0)]);
}

#[test]
fn a_host_that_does_not_see_the_others_folder_is_refused_in_words() {
    let told = |change: fn(&mut TargetFacts)| -> String {
        let mut hosts = three();
        change(&mut hosts[1].targets[0]);
        let refusals = planned(ROTATED, &hosts).expect_err("refused");
        refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(told(|target| target.path = "/u".into()).contains(
        "host n1: it is to load what n2 writes (rotate), and target /t is not one of its own"
    ));
    let other = told(|target| target.total = Bytes::gib(7));
    assert!(
        other.contains("another file system there: gpfs of 7 GiB, not gpfs of 200 GiB"),
        "{other}"
    );
    assert!(
        told(|target| target.kind = TargetKind::Simulated { size: Bytes::gib(1) })
            .contains("is not a directory")
    );
}

#[test]
fn blocks_that_come_in_turn_are_checked_and_shared_ones_are_refused_once() {
    const CHECKED: &str = "[contents]\nverify = true\n";
    let told = |workload: &str| match planned(&format!("{CHECKED}{}", shared(workload)), &two()) {
        Ok(plan) => {
            assert!(
                plan.hosts
                    .iter()
                    .all(|host| host.engine.contents.verify && host.engine.contents.hosts == 2)
            );
            Vec::new()
        }
        Err(refusals) => refusals.iter().map(ToString::to_string).collect::<Vec<_>>(),
    };
    for fine in [
        "sharing = \"interleaved\"\nread = \"0%\"",
        "segments = 2\nread = \"50%\"",
        "sharing = \"whole\"",
    ] {
        assert_eq!(told(fine), Vec::<String>::new(), "{fine}");
    }
    let whole = told("sharing = \"whole\"\nread = \"50%\"");
    assert_eq!(whole.len(), 1, "{whole:?}");
    assert!(
        whole[0].contains("several workers of workload `w`")
            && whole[0].contains("sharing = \"segment\""),
        "{whole:?}"
    );
    // A worker on each host: each host alone has nothing to say against it.
    let one_each =
        shared("sharing = \"whole\"\nread = \"0%\"").replace("workers = 2", "workers = 1");
    let refused =
        planned(&format!("{CHECKED}{one_each}"), &two()).expect_err("both write all of it");
    assert_eq!(refused.len(), 1, "{refused:?}");
    let own = "[layout]\nsize = \"48KiB\"\nfiles = 1\n[[workload]]\nname = \"w\"\nworkers = \
               1\nsharing = \"whole\"\nread = \"0%\"";
    let plan = planned(&format!("{CHECKED}{own}"), &two()).expect("files of its own");
    assert!(!plan.hosts.is_empty());
    assert!(plan.hosts.iter().all(|host| host.engine.contents.hosts == 1));
}
