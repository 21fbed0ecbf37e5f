//! Commands of the user's as loads: what they tell beside what the kernel counted, and that nothing
//! of them stays.

use crate::common::{Mounted, assert_says, has, names, plimsoll, scratch, script, text};
use std::fs;

const PARTS: &str = "losetup loop mkfs.ext4 mount";

#[test]
fn fio_and_the_device_tell_the_same_and_a_tool_that_lies_is_told() {
    let true = has("fio beside the kernel", "fio losetup loop mkfs.ext4 mount") else { return };
    let (disk, here) = (Mounted::new("mkfs.ext4", 128), scratch());
    let target = text(disk.path());
    let folder = format!("--directory={target}");
    let beside = ["beside", "-q", "--json", "--runtime", "2", "-t", target];
    let fio = [
        "--out",
        "fio.plimsoll",
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
