//! Sweeps from the outside: computed values, one layout for all points, repetitions, and a plan for
//! a cluster that is elsewhere.

use crate::common::{plimsoll, scratch};
use serde_json::{Value, json};
use std::fs;

const SUITE: &str = r#"
name = "swept"
[layout]
size = "32MiB / workers"
[stages]
measure = "200ms"
interval = "100ms"
[[workload]]
name = "w"
block_size = "64KiB"
[sweep]
workers = "1..8 x2"
repetitions = 2
order = "interleaved"
skip = "workers == 16"
"#;

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key} is no list in {value}"))
}

#[test]
fn all_points_share_a_layout_that_is_prepared_once() {
    let folder = scratch();
    let here = folder.path();
    fs::write(here.join("swept.toml"), SUITE).expect("a suite");
    let args =
        ["run", "swept.toml", "--target", "data", "--keep-data", "--json", "--out", "run.plimsoll"];
    let json = plimsoll(here, &args).with_code(0).json();
    let of = |stage: &str| {
        list(&json, "issued").iter().find(|sum| sum["stage"] == stage && sum["op"] == "write")
    };
    assert_eq!(of("prepare").expect("prepare writes")["bytes"], 80 << 20);
    let sizes: Vec<u64> = (0..8)
        .map(|n| {
            fs::metadata(here.join(format!("data/data-{n:05}.bin"))).expect("a file").len() >> 20
        })
        .collect();
    assert_eq!(
        sizes,
        [32, 16, 8, 8, 4, 4, 4, 4],
        "each file as large as the largest point needs that has so many"
    );
    let points: Vec<(Value, Value)> = list(&json, "results")
        .iter()
        .map(|row| (row["sweep"]["workers"].clone(), row["repetition"].clone()))
        .collect();
    let wanted: Vec<(Value, Value)> = (1..=2)
        .flat_map(|n| ["1", "2", "4", "8"].map(|workers| (json!(workers), json!(n))))
        .collect();
    assert_eq!(points, wanted);
    let [finding] = list(&json, "findings") else { panic!("one curve: {json}") };
    assert_eq!((list(finding, "points").len(), &finding["repetitions"]), (4, &json!(2)));
    let table = plimsoll(here, &["show", "run.plimsoll"]).with_code(0).out;
    assert!(
        table.contains("w read over workers: peak ") && table.contains("repetition 2"),
        "{table}"
    );
    let page = fs::read_to_string(here.join("run.html")).expect("a page");
    assert!(page.contains("w read over workers: peak "));
}

#[test]
fn a_cluster_that_is_elsewhere_is_planned_for_and_never_run() {
    let folder = scratch();
    let here = folder.path();
    let suite = SUITE
        .replace("32MiB / workers", "2 * memory(clients) / max(workers, hosts)")
        .replace("1..8", "1..64");
    fs::write(here.join("report-e.toml"), suite.replace("workers == 16", "workers == 32"))
        .expect("a suite");
    let cluster =
        ["--target", "data", "--set", "clients.count=16", "--set", "clients.memory=128GiB"];
    let with = |first: &[&'static str]| [first, cluster.as_slice()].concat();
    let plan = plimsoll(here, &with(&["plan", "report-e.toml", "--json"])).with_code(0).json();
    let sizes: Vec<&Value> =
        list(&plan, "points").iter().map(|point| &point["computed"][0][1]).collect();
    // 4096 GiB ÷ threads; the two points with 32 threads were skipped, in both repetitions.
    let once = ["256 GiB", "64 GiB", "32 GiB", "16 GiB", "8 GiB", "4 GiB"].map(|size| json!(size));
    assert_eq!(sizes, once.iter().chain(&once).collect::<Vec<_>>());
    let refused = plimsoll(here, &with(&["run", "report-e.toml"])).with_code(2);
    assert!(
        refused.err.contains("[clients]") && refused.err.contains("plimsoll plan"),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(here).expect("a folder").count(), 1, "nothing but the suite");
}
