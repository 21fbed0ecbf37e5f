//! Commands of the user's as loads: what they tell beside what the kernel counted, and that nothing
//! of them stays.

use crate::common::{
    Mounted, PLIMSOLL, assert_says, has, kill, names, plimsoll, scratch, script, start, text,
    wait_until,
};
use serde_json::Value;
use std::fs;

const PARTS: &str = "losetup loop mkfs.ext4 mount";

#[test]
fn fio_and_the_device_tell_the_same_and_a_tool_that_lies_is_told() {
    let parts = "fio losetup loop mkfs.ext4 mount tracefs";
    let true = has("fio beside the kernel", parts) else { return };
    let (disk, here) = (Mounted::new("mkfs.ext4", 128), scratch());
    let target = text(disk.path());
    let folder = format!("--directory={target}");
    let beside = ["beside", "-q", "--json", "--runtime", "2", "-t", target];
    let fio = [
        "--out",
        "fio.plimsoll",
        "--trace",
        "--",
        "fio",
        "--name=a",
        folder.as_str(),
        "--rw=randread",
        "--bs=4k",
        "--direct=1",
        "--size=16m",
        "--rate_iops=500",
        "--time_based",
        "--runtime=2",
        "--output-format=json",
    ];
    let json = plimsoll(&here, (&beside, &fio)).with_code(0).json();
    let told = &json["beside"][0];
    let rate = |of: &str| told[of]["iops"].as_f64().expect("a rate");
    assert_eq!((&told["op"], &told["differs"]), (&"read".into(), &false.into()), "{told}");
    assert!((rate("seen") / rate("told") - 1.0).abs() < 0.05, "{told}");
    assert!(json["verdict"].is_string() && json["results"][0]["latency_ns"]["p99"].is_null());
    let (own, traced) = (&json["commands"][0], &json["commands"][0]["at_device"]["latencies"][0]);
    let of = |one: &Value, key: &str| one[key].as_f64().expect("a figure");
    // The file system reads its own blocks, too.
    let beyond = of(traced, "requests") / of(&own["figures"][0], "requests") - 1.0;
    assert!(traced["op"] == "read" && (0.0..0.05).contains(&beyond), "{own}");
    let (device, tool) = (&traced["latency_ns"], of(&own["figures"][0], "p99"));
    assert!((1_000.0..tool).contains(&of(device, "p50")), "fio waits longer: {own}");
    let lines =
        "#!/bin/sh\ndd if=$1/a.0.0 of=/dev/null bs=4k iflag=direct\necho said: 9876543 IOPS";
    let liar = script(&here, "liar", lines);
    let lies = ["--out", "lies.plimsoll", "--result", "said: {}", "--", text(&liar), target];
    let json = plimsoll(&here, (&beside, &lies)).with_code(0).json();
    let all = json["results"].as_array().expect("rows");
    let doubts = all.iter().filter_map(|row| row["warnings"][0]["code"].as_str());
    assert!(doubts.clone().any(|code| code == "told-otherwise"), "{json}");
    plimsoll(&here, (&beside, &["--out", "again.plimsoll"], &fio[2..])).with_code(0);
    plimsoll(&here, "compare fio.plimsoll again.plimsoll").with_code(0);
}

#[test]
fn a_command_that_fails_is_a_failed_load_and_a_run_file_starts_none() {
    let true = has("a command that fails", PARTS) else { return };
    let (disk, here) = (Mounted::new("mkfs.ext4", 64), scratch());
    let target = text(disk.path());
    let before = names(disk.path());
    let fails = ["beside", "-q", "-t", target, "--out", "a.plimsoll", "--", "sh", "-c"];
    let ended = plimsoll(&here, (&fails, &["echo mine >&2; exit 3"])).with_code(4);
    assert!(ended.err.contains("ended with code 3: mine"), "{}", ended.err);
    let resumed = plimsoll(&here, "resume a.plimsoll").with_code(2);
    assert!(resumed.err.contains("-- sh -c 'echo mine >&2; exit 3'"), "{}", resumed.err);
    let other = ["resume", "a.plimsoll", "--", "sh", "-c", "exit 0"];
    assert_says(&plimsoll(&here, other).with_code(2).err, &["say it again"]);
    assert_eq!(names(disk.path()), before, "a target is watched and not touched");
    fs::write(here.join("x.fio"), "[a]\nrw=read\nfile_append=1\nsize=1m\n").expect("a job");
    let refused = plimsoll(&here, "run x.fio -t data").with_code(8);
    assert!(refused.err.contains("beside -t TARGET -- fio x.fio"), "{}", refused.err);
}

#[test]
fn a_figure_that_a_tool_tells_is_compared_and_judged() {
    let true = has("a told figure", PARTS) else { return };
    let (disk, here) = (Mounted::new("mkfs.ext4", 64), scratch());
    let target = text(disk.path());
    let lines = "#!/bin/sh\ndd if=/dev/zero of=$2/f bs=64k count=64 oflag=direct\necho tps = $1";
    let tool = script(&here, "tool", lines);
    let beside = ["beside", "-q", "--json", "-t", target, "--result", "tps = {tps}", "--out"];
    let run = |file: &str, tps: &str| {
        let json =
            plimsoll(&here, (&beside, &[file, "--", text(&tool), tps, target])).with_code(0).json();
        let one = &json["beside"][0];
        assert_eq!((&one["seen"], &one["differs"]), (&Value::Null, &false.into()), "{one}");
        let all = json["results"].as_array().and_then(|rows| rows.last()).expect("a total");
        assert!(all["op"] == "all" && all["bytes"].as_u64() >= Some(4 << 20), "{all}");
    };
    run("a.plimsoll", "100");
    run("b.plimsoll", "150");
    let both = plimsoll(&here, "compare a.plimsoll b.plimsoll").with_code(0);
    assert_says(&both.out, &["By the command's word: told rate 100 → 150 (+50.0 %)."]);
    let side = |tps: &str| {
        let tool = text(&tool);
        format!(
            "{PLIMSOLL} beside -q -t {target} --result 'tps = {{tps}}' -o {{out}} -- {tool} {tps} \
             {target}"
        )
    };
    let (base, head) = (side("100"), side("50"));
    let gate = ["gate", "-q", "--detect", "20", "--metric", "told", "--base", &base, "--head"];
    let worse = plimsoll(&here, (&gate, &[head.as_str()])).with_code(6);
    assert_says(&worse.out, &["told rate −50.0 %", "regression"]);
    plimsoll(&here, (&gate, &[base.as_str()])).with_code(0);
}

#[test]
fn what_a_killed_run_started_goes_and_resume_asks_for_the_command() {
    let true = has("a killed run of a command", PARTS) else { return };
    let (disk, here) = (Mounted::new("mkfs.ext4", 64), scratch());
    let target = text(disk.path());
    let lines = "#!/bin/sh\ndd if=/dev/zero of=$1/f bs=4k count=64 oflag=direct\n\
                 [ -e pids ] && exit\n\
                 setsid sleep 1000 & echo $$ $! > new; mv new pids; sleep 1000";
    let tool = script(&here, "tool", lines);
    let run = start(
        &here,
        ["beside", "-q", "-t", target, "--out", "a.plimsoll", "--", text(&tool), target],
    );
    let mut pids = String::new();
    wait_until("a command that runs", || {
        pids = fs::read_to_string(here.join("pids")).unwrap_or_default();
        !pids.is_empty()
    });
    kill(run);
    let runs = |pid: &str| fs::read(format!("/proc/{pid}/environ")).is_ok_and(|of| !of.is_empty());
    wait_until("the end of its processes", || !pids.split_whitespace().any(runs));
    plimsoll(&here, "resume a.plimsoll").with_code(2);
    let again = ["resume", "a.plimsoll", "-t", target, "--", text(&tool), target];
    plimsoll(&here, again).with_code(0);
}
