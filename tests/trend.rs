//! `plimsoll trend` on runs against simulated devices whose change is known.

use crate::common::{Ended, Json, Words, assert_says, plimsoll, scratch};
use serde_json::Value;
use std::path::Path;

/// Records a run of a simulated device with this mean service time (µs) into
/// `nightly/NUMBER.plimsoll`.
fn record(folder: &Path, number: u32, mean_us: u32) {
    let suite = format!(
        "name = \"known\"\nseed = {number}\n[layout]\nsize = \"1GiB\"\n[stages]\nprepare = \
         false\nprecondition = \"5s\"\nmeasure = \"60s\"\n[[workload]]\nname = \"w\"\ndepth = 4\n"
    );
    std::fs::create_dir_all(folder.join("nightly")).expect("a folder");
    std::fs::write(folder.join("suite.toml"), suite).expect("a suite");
    let (out, target) =
        (format!("nightly/{number:02}.plimsoll"), format!("sim:exponential,mean={mean_us}us"));
    plimsoll(folder, ["run", "suite.toml", "--target", &target, "--out", &out, "--quiet"])
        .with_code(0);
}

fn trend(folder: &Path, more: impl Words) -> Ended {
    let args = ("trend", more);
    plimsoll(folder, &args)
}

fn rate(told: &Value) -> &Value {
    let figure = &told["points"][0]["figures"][0];
    assert_eq!(figure["figure"], "iops", "{told}");
    figure
}

#[test]
fn a_device_that_became_slower_is_a_change_named_with_its_run_and_closes_the_gate_at_first() {
    let folder = scratch();
    (0..10).for_each(|number| record(&folder, number, 1_000));
    trend(&folder, ["nightly", "--fail-if", "iops < -5%"]).with_code(0);
    record(&folder, 10, 1_250);
    trend(&folder, ["nightly", "--fail-if", "iops < -5%", "--fail-if", "p99 > 10%"]).with_code(6);
    (11..16).for_each(|number| record(&folder, number, 1_250));
    let told = trend(&folder, ["nightly", "--json", "--fail-if", "iops < -5%"]).with_code(0).json();
    let changes = rate(&told)["changes"].list();
    assert_eq!((changes.len(), &changes[0]["run"]), (1, &10.into()), "{told}");
    assert!((changes[0]["percent"].number() + 20.0).abs() < 2.0, "{told}");
    assert_eq!(told["runs"][10]["file"], "10.plimsoll");
    let ended = trend(&folder, "nightly -o page.html").with_code(0);
    assert!(ended.out.contains("since 10.plimsoll, "), "{}", ended.out);
    let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
    assert!(page.contains("What changed") && page.contains("p99 from run to run"), "{page}");
    assert_eq!(
        page.matches("since 10.plimsoll").count() + ended.out.matches("since 10.plimsoll").count(),
        9,
        "{page}"
    );
}

#[test]
fn what_does_not_belong_is_set_apart_or_refused_with_the_reason() {
    let folder = scratch();
    record(&folder, 0, 1_000);
    record(&folder, 1, 1_000);
    let one = trend(&folder, "nightly/00.plimsoll nightly/00.plimsoll").with_code(2);
    assert_says(&one.err, &["a trend needs two", "the same run again"]);
    let other = folder.join("suite.toml");
    let suite = std::fs::read_to_string(&other).expect("a suite").replace("1GiB", "2GiB");
    std::fs::write(&other, suite).expect("a suite");
    let args =
        ["run", "suite.toml", "--target", "sim:constant", "--out", "other.plimsoll", "--quiet"];
    plimsoll(&folder, args).with_code(0);
    let alone = trend(&folder, "nightly other.plimsoll").with_code(2);
    assert!(
        alone.err.contains("differs from the latest in layout: 1 GiB (latest: 2 GiB)"),
        "{}",
        alone.err
    );
    record(&folder, 2, 1_000);
    let told = trend(&folder, "nightly other.plimsoll --json").with_code(0).json();
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(3), "{told}");
    assert_eq!(
        (&told["apart"][0]["file"], &told["apart"][0]["why"]),
        (&"other.plimsoll".into(), &"unlike".into())
    );
    let table = trend(&folder, "nightly other.plimsoll").with_code(0).out;
    assert!(
        table.contains("other.plimsoll is set apart: it differs from the latest in layout: 2 GiB"),
        "{table}"
    );
    let unknown = trend(&folder, ["nightly", "--fail-if", "mean > 1%"]).with_code(2);
    assert!(unknown.err.contains("nothing to look at"), "{}", unknown.err);
    trend(&folder, ["nightly", "--fail-if", "speed < 1%"]).with_code(2);
    trend(&folder, "missing.plimsoll").with_code(5);
    std::fs::create_dir(folder.join("empty")).expect("a folder");
    assert!(trend(&folder, "empty").with_code(2).err.contains("there is no run file"));
    std::fs::write(folder.join("nightly/noise.plimsoll"), [7; 5_000]).expect("a file");
    let without = trend(&folder, "nightly").with_code(0);
    assert_says(&without.err, &["left out: ", "noise.plimsoll"]);
    trend(&folder, "nightly nightly/noise.plimsoll").with_code(5);
}
