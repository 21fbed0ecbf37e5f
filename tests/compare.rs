//! `plimsoll compare` on runs against simulated devices whose difference is known.

use crate::common::{Ended, Folder, Json, Words, plimsoll, scratch};
use serde_json::Value;
use std::path::Path;

/// Records a run on a simulated device into `NAME.plimsoll`.
fn record(folder: &Path, name: &str, device: &str, seed: u32, workload: &str) {
    let suite = format!(
        "name = \"known\"\nseed = {seed}\n[layout]\nsize = \"1GiB\"\n[stages]\nprepare = \
         false\nprecondition = \"5s\"\nmeasure = \"60s\"\n[[workload]]\nname = \"w\"\n{workload}\n"
    );
    std::fs::write(folder.join(format!("{name}.toml")), suite).expect("a suite");
    let (suite, out, target) =
        (format!("{name}.toml"), format!("{name}.plimsoll"), format!("sim:{device}"));
    plimsoll(folder, ["run", &suite, "--target", &target, "--out", &out, "--quiet"]).with_code(0);
}

/// Two runs, in a folder of theirs.
fn recorded(devices: [&str; 2], workload: &str) -> Folder {
    let folder = scratch();
    for ((name, device), seed) in ["base", "other"].into_iter().zip(devices).zip(1..) {
        record(&folder, name, device, seed, workload);
    }
    folder
}

fn compare(folder: &Path, more: impl Words) -> Ended {
    let args = ("compare base.plimsoll other.plimsoll", more);
    plimsoll(folder, &args)
}

fn figure<'a>(told: &'a Value, name: &str) -> &'a Value {
    let all = told["comparisons"][0]["points"][0]["differences"].list();
    all.iter().find(|found| found["figure"] == name).unwrap_or_else(|| panic!("{name} in {told}"))
}

#[test]
fn a_device_with_three_quarters_of_the_speed_is_worse_by_a_quarter_and_closes_the_gate() {
    let folder = recorded(["exponential,mean=1500us", "exponential,mean=2ms"], "depth = 4");
    let told = compare(&folder, "--json").with_code(0).json();
    let (rate, mean) = (figure(&told, "iops"), figure(&told, "mean"));
    assert_eq!((&rate["verdict"], &mean["verdict"]), (&"lower".into(), &"higher".into()));
    let ends: Vec<f64> = rate["ci"].list().iter().filter_map(Value::as_f64).collect();
    assert!(ends[0] < -25.0 && -25.0 < ends[1] && ends[1] - ends[0] < 6.0, "{rate}");
    assert_eq!(told["comparisons"][0]["points"][0]["one_finding"], true);
    compare(&folder, ["--fail-if", "iops < -5%"]).with_code(6);
    compare(&folder, ["--fail-if", "iops < -50%", "--fail-if", "mean > 90%"]).with_code(0);
    // Of this figure nobody knows what is chance: it closes no gate, and opens none.
    let unknown = compare(&folder, ["--fail-if", "latency-deviation < 1000%"]).with_code(9);
    assert!(unknown.err.contains("decides nothing"), "{}", unknown.err);
    let met = ["--fail-if", "latency-deviation < 1000%", "--fail-if", "iops < -5%"];
    compare(&folder, met).with_code(6);
    let page = folder.join("page.html");
    compare(&folder, "-o page.html").with_code(0);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("<h2>Differences</h2>") && page.contains("one finding"));
}

#[test]
fn two_runs_of_one_device_cannot_be_told_apart() {
    let folder = recorded(["exponential,mean=1ms", "exponential,mean=1ms"], "rate = 500");
    let told = compare(&folder, ["--json", "--fail-if", "iops < 0%", "--fail-if", "mean > 0%"])
        .with_code(0)
        .json();
    assert_eq!(told["comparisons"][0]["points"][0]["load"], "equal-rate");
    for name in ["iops", "mean", "p50", "p99"] {
        assert_eq!(figure(&told, name)["verdict"], "no-difference", "{}", figure(&told, name));
    }
}

#[test]
fn at_an_equal_rate_the_latency_is_the_finding_and_the_words_say_so() {
    let folder = recorded(["exponential,mean=1ms", "exponential,mean=1200us"], "rate = 500");
    let told = compare(&folder, "--json").with_code(0).json();
    let (rate, mean) = (figure(&told, "iops"), figure(&told, "mean"));
    assert_eq!((&rate["verdict"], &mean["verdict"]), (&"no-difference".into(), &"higher".into()));
    let point = &told["comparisons"][0]["points"][0];
    assert_eq!((&point["load"], &point["one_finding"]), (&"equal-rate".into(), &false.into()));
    let words = compare(&folder, "").with_code(0).out;
    assert!(
        words.contains("Equal rate: the rate is given, the latency is the finding."),
        "{words}"
    );
    assert!(!words.contains("Equal depth") && !words.contains("one finding"), "{words}");
}

#[test]
fn an_equal_rate_that_one_side_does_not_keep_is_no_equal_rate() {
    let folder = recorded(["exponential,mean=1ms", "exponential,mean=4ms"], "rate = 500");
    let words = compare(&folder, "").with_code(0).out;
    assert!(words.contains("Equal rate, but not both kept it"), "{words}");
    let told = compare(&folder, "--json").with_code(0).json();
    assert_eq!(told["comparisons"][0]["points"][0]["rate_missed"], true);
}

#[test]
fn a_run_beside_itself_is_refused() {
    let folder = scratch();
    record(&folder, "base", "constant", 1, "");
    std::fs::copy(folder.join("base.plimsoll"), folder.join("other.plimsoll")).expect("a copy");
    let ended = compare(&folder, ["--fail-if", "iops < -5%"]).with_code(2);
    assert!(
        ended.err.contains("other.plimsoll is the same run as base.plimsoll; name each run once"),
        "{}",
        ended.err
    );
}

#[test]
fn repetitions_of_a_suite_are_taken_together() {
    let sweep = "[sweep]\ndepth = [1, 4]\nrepetitions = 3";
    let folder = recorded(["exponential,mean=1ms", "exponential,mean=800us"], sweep);
    let told = compare(&folder, "--json").with_code(0).json();
    let points = told["comparisons"][0]["points"].list();
    assert_eq!(points.len(), 2, "one for each depth");
    assert!(points.iter().all(|point| point["repetitions"] == serde_json::json!([3, 3])), "{told}");
    let closed = compare(&folder, ["--fail-if", "iops > 5%"]).with_code(6);
    let lines: Vec<&str> = closed
        .err
        .lines()
        .filter(|line| line.starts_with("fail-if   iops > 5%: w (depth="))
        .collect();
    assert!(lines.len() == 2 && lines[0] != lines[1], "each names its point: {}", closed.err);
    let rate = figure(&told, "iops");
    assert!(rate["verdict"] == "higher" && (rate["percent"].number() - 25.0).abs() < 4.0, "{rate}");
}

#[test]
fn a_gate_with_nothing_to_look_at_is_no_open_gate() {
    let folder = scratch();
    record(&folder, "base", "constant", 1, "block_size = \"4KiB\"");
    record(&folder, "other", "constant", 1, "block_size = \"64KiB\"");
    let ended = compare(&folder, ["--fail-if", "iops < -5%"]).with_code(2);
    assert!(ended.out.contains("block size: 4 KiB against 64 KiB"), "{}", ended.out);
    assert!(ended.err.contains("nothing to look at"), "{}", ended.err);
    let ended = compare(&folder, "").with_code(2);
    assert!(
        ended.out.contains("block size") && ended.err.contains("no point that can be compared"),
        "{ended:#?}"
    );
    compare(&folder, ["--fail-if", "speed < -5%"]).with_code(2);
    plimsoll(&folder, "compare base.plimsoll").with_code(2);
    plimsoll(&folder, "compare base.plimsoll missing.plimsoll").with_code(5);
    std::fs::write(folder.join("noise.plimsoll"), [7; 5_000]).expect("a file");
    plimsoll(&folder, "compare base.plimsoll noise.plimsoll").with_code(5);
}
