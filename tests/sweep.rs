//! Sweeps from the outside: computed values, one layout for all points, repetitions, and a plan for
//! a cluster that is elsewhere.

use crate::common::{Json, assert_says, plimsoll, scratch};
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

#[test]
fn all_points_share_a_layout_that_is_prepared_once() {
    let here = &scratch();
    fs::write(here.join("swept.toml"), SUITE).expect("a suite");
    let args =
        ["run", "swept.toml", "--target", "data", "--keep-data", "--json", "--out", "run.plimsoll"];
    let json = plimsoll(here, args).with_code(0).json();
    let of = |stage: &str| {
        json["issued"].list().iter().find(|sum| sum["stage"] == stage && sum["op"] == "write")
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
    let points: Vec<(Value, Value)> = json["results"]
        .list()
        .iter()
        .map(|row| (row["sweep"]["workers"].clone(), row["repetition"].clone()))
        .collect();
    let wanted: Vec<(Value, Value)> = (1..=2)
        .flat_map(|n| ["1", "2", "4", "8"].map(|workers| (json!(workers), json!(n))))
        .collect();
    assert_eq!(points, wanted);
    let [finding] = &json["findings"].list()[..] else { panic!("one curve: {json}") };
    assert_eq!((finding["points"].list().len(), &finding["repetitions"]), (4, &json!(2)));
    let table = plimsoll(here, "show run.plimsoll").with_code(0).out;
    assert_says(&table, &["w read over workers: peak ", "repetition 2"]);
    let page = fs::read_to_string(here.join("run.html")).expect("a page");
    assert!(page.contains("w read over workers: peak "));
}

#[test]
fn a_cluster_that_is_elsewhere_is_planned_for_and_never_run() {
    let here = &scratch();
    let suite = SUITE
        .replace("32MiB / workers", "2 * memory(clients) / max(workers, hosts)")
        .replace("1..8", "1..64");
    fs::write(here.join("report-e.toml"), suite.replace("workers == 16", "workers == 32"))
        .expect("a suite");
    let cluster = "--target data --set clients.count=16 --set clients.memory=128GiB";
    let plan = plimsoll(here, ("plan report-e.toml --json", cluster)).with_code(0).json();
    let sizes: Vec<&Value> =
        plan["points"].list().iter().map(|point| &point["computed"][0][1]).collect();
    // 4096 GiB ÷ threads; the two points with 32 threads were skipped, in both repetitions.
    let once = ["256 GiB", "64 GiB", "32 GiB", "16 GiB", "8 GiB", "4 GiB"].map(|size| json!(size));
    assert_eq!(sizes, once.iter().chain(&once).collect::<Vec<_>>());
    let refused = plimsoll(here, ("run report-e.toml", cluster)).with_code(2);
    assert_says(&refused.err, &["[clients]", "plimsoll plan"]);
    assert_eq!(fs::read_dir(here).expect("a folder").count(), 1, "nothing but the suite");
}
