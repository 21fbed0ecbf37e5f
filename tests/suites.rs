//! The built-in suites from the outside: each is planned at full scale on the cluster that it is
//! for, and run small on this machine.

use crate::common::{Json, assert_says, plimsoll, scratch};
use serde_json::Value;
use std::collections::BTreeSet;

/// Suite, hosts that it is for, and what its full plan has to say.
const FULL: [(&str, u32, &[&str]); 13] = [
    (
        "azure-stack-hci",
        6,
        &["36 GiB to prepare", "then 5m 50s", "4k-random-read-latency", "128k-sequential-write"],
    ),
    (
        "s2d-disaggregated",
        1,
        &["8 files × 6.98 GiB", "then 3h 00m", "equal-rate (scenario=tcp, repetition 5)"],
    ),
    (
        "vsan-four-corners",
        16,
        &[
            "then 22h 30m",
            "10 files × 93.13 GiB",
            "4k-random-read (size=10GB)",
            "32k-sequential-write (size=100GB)",
            "16 × 10       30m 00s   1h 00m",
        ],
    ),
    (
        "hyperflex-stretched",
        10,
        &[
            "then 3h 30m",
            "8k-67-33 (scenario=remote)",
            "5 files × 18.63 GiB",
            "50% random, the rest sequential, 67% read",
        ],
    ),
    (
        "pixstor-nvme",
        16,
        &[
            "n-n-sequential-write (scenario=n-n, workers=1) ",
            "n-n-sequential-read (scenario=n-n, workers=1024)",
            "16 × 64",
            "size=256 GiB",
            "size=4 GiB",
            "n-1: ",
            "1 file of 4 TiB",
            "n-1-sequential-write (scenario=n-1, workers=512)",
            "16 × 32",
            "permutation read",
            "random-read (scenario=random, workers=512)",
            "size=8 GiB",
            "2,097,152 files of 4 KiB at a time",
            "small-files (scenario=metadata, workers=512, operation=remove)",
            "4 one after the other, each removed before the next is made",
        ],
    ),
    ("vmfleet-general", 1, &["general (read=70%)", "hot-spot", "then 33m 00s"]),
    ("vmfleet-vdi", 1, &["20% hot-spot, the rest sequential, write", "+ writes"]),
    ("vmfleet-sql", 1, &["hot-spot 70% read", "+ log"]),
    ("io500-like", 10, &["no official score", "hard-write  45.91 KiB", "1 file of 2.5 TiB"]),
    ("quick", 1, &["4 files × 256 MiB"]),
    ("calibration", 16, &["4k-random-read-alone", "64k-random-read", "then 3m 20s"]),
    ("disk-mark", 1, &["1m-sequential-read-q8 (repetition 5)", "then 4m 00s"]),
    ("ior-n-to-1", 16, &["1 file of 256 GiB"]),
];

#[test]
fn every_report_is_planned_at_full_scale_for_the_cluster_that_it_had() {
    let folder = scratch();
    for (suite, hosts, words) in FULL {
        let count = format!("clients.count={hosts}");
        let args = ("plan", [suite], "--target d --set", [&count], "--set clients.memory=128GiB");
        let plan = plimsoll(&folder, args).with_code(0).out;
        for word in words {
            assert!(plan.contains(word), "{suite}: `{word}` is missing in\n{plan}");
        }
    }
}

#[test]
fn the_time_of_amounts_is_told_with_what_it_assumes() {
    let folder = scratch();
    let args =
        "plan pixstor-nvme --scenario n-1 --set clients.count=16 --set clients.memory=128GiB";
    let plan = plimsoll(&folder, args).with_code(0).out;
    // 0.25 + 0.5 + 1 + 2 TiB and six times 4 TiB, written and read: 55.5 TiB at 200 MB/s.
    assert_says(&plan, &["84h 45m", "for the amounts (at an assumed 200 MB/s)"]);
}

/// Runs a suite in a directory, small; its results.
fn small(suite: &str, scale: &str, sets: &[&str]) -> Value {
    let folder = scratch();
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let rest = "--target data --quiet --json --out r.plimsoll";
    let args = (["run", suite, "--scale", scale], rest, sets);
    plimsoll(&folder, &args).with_code(0).json()
}

/// A row whose target carried nothing. So small a suite measures for milliseconds, for which a busy
/// machine may keep it waiting.
fn is_empty(row: &Value) -> bool {
    row["op"] != "fsync" && row["ios"].as_u64() == Some(0)
}

/// The rows have carried something, are of these workloads, and there are so many works: workloads
/// at their values and repetitions.
fn check(suite: &str, json: &Value, works: usize, workloads: &str) {
    let rows = json["results"].list();
    for workload in workloads.split(' ') {
        let mine = rows.iter().filter(|row| row["workload"] == workload && row["op"] != "fsync");
        assert!(mine.clone().count() > 0, "{suite}: {workload} is missing");
        mine.for_each(|row| assert!(row["ios"].as_u64() > Some(0), "{suite}: {row:#}"));
    }
    let name = |row: &Value| format!("{} {} {}", row["workload"], row["sweep"], row["repetition"]);
    // A total of workloads that ran at the same time is no work of its own.
    let seen: BTreeSet<String> = rows.iter().filter(|row| row["op"] != "all").map(name).collect();
    assert_eq!(seen.len(), works, "{suite}: {seen:?}");
}

/// Suite, scale, works and workloads.
type Small<'a> = (&'a str, &'a str, usize, &'a str);

fn each_runs_small(suites: &[Small<'_>]) {
    for (suite, scale, works, workloads) in suites {
        let mut json = small(suite, scale, &[]);
        if json["results"].as_array().is_some_and(|rows| rows.iter().any(is_empty)) {
            // Whoever carries nothing at all does so again.
            json = small(suite, scale, &[]);
        }
        check(suite, &json, *works, workloads);
    }
}

#[test]
fn a_short_built_in_suite_has_an_interval_for_each_of_its_rows() {
    let folder = scratch();
    let json = plimsoll(&folder, "run smoke -t sim:ssd --quiet --json");
    let json = json.with_code(0).json();
    let rows = json["results"].list();
    let moved = || rows.iter().filter(|row| row["op"] != "fsync");
    assert!(moved().count() > 0);
    for row in moved() {
        assert!(row["ci"]["iops"].is_array() || row["ci"]["iops"].is_object(), "{row:#}");
    }
}

#[test]
fn the_suites_of_sweeps_run_small_on_one_machine() {
    each_runs_small(&[
        ("azure-stack-hci", "1/500", 5, "4k-random-read-latency 128k-sequential-write"),
        ("vsan-four-corners", "1/20000", 15, "4k-random-read 8k-random-70-30 32k-sequential-write"),
        ("hyperflex-stretched", "1/5000", 3, "8k-67-33"),
    ]);
}

#[test]
fn the_suites_of_many_stages_run_small_on_one_machine() {
    each_runs_small(&[
        ("s2d-disaggregated", "1/2000", 30, "fixed-depth equal-rate"),
        ("disk-mark", "1/50", 40, "1m-sequential-read-q8 4k-random-write-q1"),
    ]);
}

#[test]
fn the_suites_of_other_tools_run_small_on_one_machine() {
    each_runs_small(&[
        ("vmfleet-general", "1/1000", 3, "general"),
        // At 6 a second a shorter stage might see no request.
        ("vmfleet-vdi", "1/300", 2, "reads writes"),
        ("vmfleet-sql", "1/1000", 2, "oltp log"),
        ("quick", "1/20", 4, "4k-random-read 1m-sequential-write"),
        ("fileserver", "1/50", 1, "fileserver"),
        ("varmail", "1/50", 1, "varmail"),
        ("webserver", "1/50", 1, "webserver"),
    ]);
}

#[test]
fn the_suites_of_large_transfers_run_small_with_small_transfers() {
    let few = "sweep.workers=\"1..4 x2\"";
    let sequential = [
        "n-n-sequential-write", "n-n-sequential-read", "n-1-sequential-write",
        "n-1-sequential-read",
    ];
    let blocks: Vec<String> =
        sequential.iter().map(|name| format!("workload.{name}.block_size=64KiB")).collect();
    let mut sets: Vec<&str> = blocks.iter().map(String::as_str).collect();
    sets.extend([few, "prepare_block=64KiB"]);
    let json = small("pixstor-nvme", "1/10000", &sets);
    let others = "random-read random-write small-files";
    check(
        "pixstor-nvme",
        &json,
        3 * (2 + 2 + 2 + 4),
        &[&sequential[..], &[others]].concat().join(" "),
    );
    let sets = ["prepare_block=64KiB", "workload.easy-write.block_size=64KiB"];
    let json = small("io500-like", "1/3000", &sets);
    check("io500-like", &json, 4, "easy-write hard-write easy-read hard-read");
}

#[test]
fn a_suite_that_does_not_fit_names_what_is_missing_and_a_scale_that_fits() {
    let folder = scratch();
    let refused = plimsoll(&folder, "plan vsan-four-corners --target d --set layout.files=60000");
    assert_eq!(refused.code, 3, "{refused:?}");
    let (_, after) = refused.err.split_once("; --scale ").expect("a scale");
    let scale = after.split(' ').next().expect("a word");
    assert!(refused.err.contains("the layout needs") && after.contains("would fit"), "{refused:?}");
    let args = ("plan vsan-four-corners --target d --set layout.files=60000 --scale", [scale]);
    plimsoll(&folder, args).with_code(0);
}

#[test]
fn a_run_stands_beside_the_published_figures_of_its_suite_and_of_no_other() {
    let folder = scratch();
    let run = "run vsan-four-corners --target data --scale 1/20000 --quiet --out c.plimsoll";
    plimsoll(&folder, run).with_code(0);
    let own = "--against vsan-four-corners --testbed vsan-four-corners";
    let table = plimsoll(&folder, ("show c.plimsoll", &own)).with_code(0).out;
    let rate = table
        .lines()
        .find(|line| line.starts_with("4K random read") && line.contains(" rate "))
        .expect("a row");
    // 227,241.6 ÷ 4 nodes, and ÷ 4 × 24 drives.
    assert_says(rate, &["227,242", "56,810", "2,367"]);
    assert!(table.contains("were shrunk to") && !table.contains("has not measured"), "{table}");
    plimsoll(&folder, ("report c.plimsoll", &own)).with_code(0);
    let page = std::fs::read_to_string(folder.join("c.html")).expect("a page");
    assert!(page.contains("Beside vsan-four-corners") && page.contains("class=\"groups\""));
    std::fs::remove_file(folder.join("c.html")).expect("ours");
    for (other, word) in [
        ("pixstor-nvme", "run the suite pixstor-nvme"),
        ("vsan", "no published figures are called"),
    ] {
        let refused = plimsoll(&folder, ["report", "c.plimsoll", "--against", other]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.err.contains(word), "{refused:?}");
    }
    assert!(!folder.join("c.html").exists(), "a refusal writes nothing");
}

#[test]
fn every_figure_of_a_report_stands_beside_a_run_of_its_suite_or_says_why_not() {
    let folder = scratch();
    for (suite, figure, letter, reason) in [
        ("azure-stack-hci", "port traffic", " (a)", "computed: rate × demand of a request"),
        ("s2d-disaggregated", "IOPS difference", "– (a)", "Whose CPU was counted is not said"),
    ] {
        let run = ("run", [suite], "--simulate --scale time=1/20000 --quiet --out", [suite]);
        plimsoll(&folder, run).with_code(0);
        let table = plimsoll(&folder, ["show", suite, "--against", suite]).with_code(0).out;
        assert_says(&table, &[figure, letter, reason]);
    }
    // The parameters of a target are a way to its testbed: the page has its ceilings without being
    // asked.
    let page = "report s2d-disaggregated --against s2d-disaggregated --out b.html";
    plimsoll(&folder, page).with_code(0);
    let page = std::fs::read_to_string(folder.join("b.html")).expect("a page");
    assert!(
        page.contains("Share of the ceiling of s2d-disaggregated")
            && !page.contains("above-ceiling")
    );
}

#[test]
fn published_figures_stand_beside_points_of_their_own_load() {
    let folder = scratch();
    let beside = |name: &str, more: &str| {
        let run = "run vsan-four-corners --simulate --sim-hosts 4 --scale time=1/20000 --quiet";
        plimsoll(&folder, (&run, more, ["--out", name])).with_code(0);
        plimsoll(&folder, ["show", name, "--against", "vsan-four-corners"]).with_code(0).out
    };
    let smaller = beside("smaller", "");
    assert!(smaller.contains("the run's footprints are 400 GB, 2 TB, 4 TB"), "{smaller}");
    let same = beside("same", "--set sweep.size=[\"40GB\",\"200GB\",\"400GB\"]");
    assert!(same.contains("4 hosts, not 16; 80 requests outstanding in all, not 320"), "{same}");
    assert!(!same.contains("– ("), "every figure has its point: {same}");
}

#[test]
fn the_spike_of_a_migration_stands_beside_the_dip_and_its_own_requests_are_told() {
    let folder = scratch();
    let run = "run hyperflex-stretched --simulate --scale time=1/400 --quiet --out d";
    plimsoll(&folder, run).with_code(0);
    let table = plimsoll(&folder, "show d --against hyperflex-stretched").with_code(0).out;
    assert!(table.contains("of the event itself, simulated"), "{table}");
    for figure in [
        "rate of the two slowest virtual machines",
        "read rate of one virtual machine",
        "rate per TB",
    ] {
        let row = table.lines().find(|line| line.contains(figure)).expect("a row");
        assert!(!row.contains("– ("), "{row}");
    }
}
