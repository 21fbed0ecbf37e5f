//! What we say was issued is what the kernel saw.

use crate::common::{Counters, Json, Loop, Words, has, plimsoll, run_suite, scratch, text};
use serde_json::Value;

const MORE: &str = "\
[[workload]]
name = \"large\"
block_size = \"64KiB\"
access = \"sequential\"
read = \"50%\"
depth = 4
workers = 2
[[workload]]
name = \"odd\"
block_size = \"12KiB\"
read = \"0%\"
depth = 8
workers = 1
";

/// The counters that the run file claims. To a device, an fsync is a write of no sectors that
/// carries a flush: the kernel counts it as both. A trim is a write of zeroes without bytes, which
/// it counts as a write of so many sectors.
fn claimed(json: &Value) -> Counters {
    let sum = |op: &str, field: &str| json.issued(op, field);
    // Each flush behind a load, which shows how durable it is, is one more of these.
    let probes = json["flush_probes"]["ios"].count();
    Counters {
        reads: sum("read", "ios"),
        read_sectors: sum("read", "bytes") / 512,
        writes: sum("write", "ios") + sum("fsync", "ios") + sum("trim", "ios") + probes,
        write_sectors: (sum("write", "bytes") + sum("trim", "bytes")) / 512,
        flushes: sum("fsync", "ios") + probes,
    }
}

fn run(device: &Loop, extra: impl Words) -> (Counters, Value) {
    let folder = scratch();
    let suite = crate::common::random_suite("truth") + MORE;
    let before = device.counters();
    let json = run_suite(&folder, &suite, extra).with_code(0).json();
    (device.counters().since(before), json)
}

#[test]
fn a_device_that_was_given_up_saw_every_request_and_no_other() {
    let true = has("kernel truth of a whole run", "losetup loop") else { return };
    for backend in ["io_uring", "sync"] {
        let device = Loop::new(64);
        let set = format!("backend=\"{backend}\"");
        let (seen, json) = run(&device, ["--destroy-data", text(&device.device), "--set", &set]);
        let claimed = claimed(&json);
        assert_eq!(seen, claimed, "{backend}");
        assert!(claimed.reads > 100 && claimed.writes > 400 && claimed.flushes == 4, "{claimed:?}");
        let stages: Vec<&str> = json["issued"].texts("stage");
        assert!(["prepare", "precondition", "measure"].iter().all(|stage| stages.contains(stage)));
    }
}

/// The requests of one kind that a run claims to have sent in one stage.
fn issued(json: &Value, stage: &str, op: &str) -> u64 {
    let all = json["issued"].list().iter();
    let mine =
        all.filter(|one| one["stage"] == stage && one["op"] == op).map(|one| one["ios"].count());
    mine.sum()
}

#[test]
fn a_workload_with_targets_of_its_own_sends_nothing_elsewhere() {
    let true = has("kernel truth of targets of one workload", "losetup loop") else { return };
    let suite = "name = \"apart\"\n[stages]\nprepare = false\nmeasure = \"1s\"\nflush = \
                 \"none\"\n[engine]\ntime = \"real\"\n[[workload]]\nname = \"reads\"\ngroup = \
                 \"g\"\ntargets = \"1,3\"\nworkers = 2\ndepth = 4\n[[workload]]\nname = \
                 \"writes\"\ngroup = \"g\"\ntargets = 2\nread = \"0%\"\nworkers = 1\ndepth = 4\n";
    let folder = scratch();
    std::fs::write(folder.join("apart.toml"), suite).expect("a suite");
    let devices = [Loop::new(64), Loop::new(64), Loop::new(64), Loop::new(64)];
    let mut args = vec!["apart.toml"];
    for device in &devices {
        args.extend(["--destroy-data", text(&device.device)]);
    }
    let plan = plimsoll(&folder, ("plan", &args)).with_code(0).out;
    let [first, second, third, _] = [0, 1, 2, 3].map(|at: usize| text(&devices[at].device));
    assert!(plan.contains(&format!("reads: {first}, {third} of 4 targets")), "{plan}");
    assert!(plan.contains(&format!("writes: {second} of 4 targets")), "{plan}");
    // The kernel looks at a device that is opened; what a run sends is more by far.
    let before: Vec<Counters> = devices.iter().map(Loop::counters).collect();
    let json = plimsoll(&folder, ("run --json --quiet", &args)).with_code(0).json();
    let seen: Vec<Counters> =
        devices.iter().zip(before).map(|(one, before)| one.counters().since(before)).collect();
    let (reads, writes) = (issued(&json, "measure", "read"), issued(&json, "measure", "write"));
    assert!(reads > 100 && writes > 100, "{json}");
    assert_eq!([seen[0].reads + seen[2].reads, seen[1].writes], [reads, writes], "{seen:?}");
    assert!(seen[0].reads > 0 && seen[2].reads > 0, "a worker for each: {seen:?}");
    let none = [seen[0].writes, seen[1].reads, seen[2].writes, seen[3].reads, seen[3].writes];
    assert_eq!(none, [0; 5], "{seen:?}");
    let refused = plimsoll(&folder, ["plan", "apart.toml", "--destroy-data", first]);
    let told = refused.with_code(2).err;
    assert!(told.contains("it loads target 3") || told.contains("it loads target 2"), "{told}");
}

#[test]
fn a_device_saw_every_trim() {
    let true = has("kernel truth of trims", "losetup loop") else { return };
    for backend in ["io_uring", "sync"] {
        let device = Loop::new(64);
        let set = format!("backend=\"{backend}\"");
        let trims = "--set trim=\"20%\" --set priority=\"best-effort/6\"";
        let (seen, json) =
            run(&device, (["--destroy-data", text(&device.device), "--set", &set], &trims));
        assert_eq!(seen, claimed(&json), "{backend}");
        let of_trims: Vec<&Value> =
            json["results"].list().iter().filter(|row| row["op"] == "trim").collect();
        assert_eq!(of_trims.len(), 3, "{backend}: a row for each workload");
        assert!(
            of_trims.iter().all(|row| row["errors"] == 0 && row["ios"].as_u64() > Some(0)),
            "{of_trims:?}"
        );
    }
}

#[test]
fn a_device_that_is_only_read_saw_no_write() {
    let true = has("kernel truth of a run that only reads", "losetup loop") else { return };
    let device = Loop::new(64);
    let (seen, json) =
        run(&device, ["--existing", "--target", text(&device.device), "--set", "read=\"100%\""]);
    assert_eq!(seen, claimed(&json));
    assert_eq!((seen.writes, seen.write_sectors, seen.flushes), (0, 0, 0));
}

#[test]
fn an_interrupted_run_counts_what_was_on_its_way() {
    let true = has("kernel truth of an interrupted run", "losetup loop") else { return };
    let device = Loop::new(64);
    let folder = scratch();
    let before = device.counters();
    let line = "run --rw randwrite --iodepth 32 --numjobs 2 --size 32M --runtime 30";
    let rest = ("--set prepare_block=64KiB --destroy-data", [&device.device], "--json --quiet");
    let child = crate::common::start(&folder, (&line, &rest));
    // Well after the 512 requests of prepare.
    crate::common::wait_until("the measurement to begin", || {
        device.counters().since(before).writes > 3_000
    });
    crate::common::signal(&child, "INT");
    let json = crate::common::end(child).with_code(130).json();
    assert_eq!(json["state"], "interrupted");
    assert_eq!(device.counters().since(before), claimed(&json));
}
