//! The whole program against simulated clusters: several hosts in one process and one virtual time, the shapes of field reports C and D.

mod common;

use common::{Ended, plimsoll, scratch};
use serde_json::Value;
use std::path::Path;

const SHAPES: &str = "name = \"shapes\"\n[stages]\nprepare = false\nprecondition = \"200ms\"\nmeasure = \"1s\"\n\
    [[workload]]\nname = \"random\"\nworkers = 10\ndepth = 2\n\
    [[workload]]\nname = \"sequential\"\naccess = \"sequential\"\nblock_size = \"32KiB\"\nworkers = 10\ndepth = 2\n";

fn run(folder: &Path, suite: &str, more: &[&str]) -> Ended {
    std::fs::write(folder.join("suite.toml"), suite).expect("a suite");
    let mut args = vec!["run", "suite.toml", "--json", "--quiet"];
    args.extend(more);
    plimsoll(folder, &args)
}

fn results(suite: &str, more: &[&str]) -> Vec<Value> {
    let json = run(scratch().path(), suite, more).with_code(0).json();
    json["results"].as_array().expect("results").clone()
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} in {row}"))
}

/// Requests per second of a workload, reads and writes together.
fn iops(rows: &[Value], workload: &str) -> f64 {
    let of_it: Vec<&Value> = rows.iter().filter(|row| row["workload"] == workload).collect();
    assert!(!of_it.is_empty(), "{workload} in {rows:?}");
    of_it.into_iter().map(|row| number(row, "iops")).sum()
}

/// 16 VMs on four nodes: inside the cache, and past it.
#[test]
fn report_c_falls_past_the_cache_and_its_sequential_row_is_flat() {
    let at = |size: &str| {
        let size = format!("layout.size={size}");
        results(SHAPES, &["--simulate", "vsan-four-corners", "--sim-hosts", "16", "--set", &size])
    };
    let (inside, spilled) = (at("93GiB"), at("931GiB"));
    let (fast, slow) = (iops(&inside, "random"), iops(&spilled, "random"));
    assert!(slow <= fast / 10.0, "{fast} to {slow}");
    let flat = iops(&spilled, "sequential") / iops(&inside, "sequential");
    assert!((0.6..1.2).contains(&flat), "{flat}");
    for row in inside.iter().filter(|row| row["op"] != "fsync") {
        // Little's law, over all 16 hosts: 160 workers with two requests each.
        let outstanding = number(row, "iops") * number(&row["latency_ns"], "mean") / 1e9;
        assert!((outstanding / 320.0 - 1.0).abs() < 0.01, "{outstanding} in {row}");
    }
}

#[test]
fn report_d_a_remote_master_halves_what_ten_hosts_do() {
    let suite = "name = \"mix\"\n[layout]\nsize = \"100GiB\"\n[stages]\nprepare = false\nprecondition = \"200ms\"\nmeasure = \"1s\"\n\
        [[workload]]\nname = \"mix\"\nread = \"67%\"\nrandom = \"50%\"\nblock_size = \"8KiB\"\nworkers = 5\ndepth = 1\n";
    let total = |cluster: &str| iops(&results(suite, &["--simulate", cluster, "--sim-hosts", "10"]), "mix");
    let ratio = total("hyperflex-stretched,remote=100%") / total("hyperflex-stretched");
    assert!((0.35..0.65).contains(&ratio), "{ratio}");
}

#[test]
fn the_same_seed_gives_the_same_run_of_many_hosts_whoever_comes_first() {
    let once =
        || results(SHAPES, &["--simulate", "azure-stack-hci", "--set", "layout.size=10GiB", "--set", "measure=200ms"]);
    assert_eq!(once(), once());
}

#[test]
fn a_cluster_is_a_target_of_one_host_too_and_writes_whole_amounts() {
    let suite = "name = \"amount\"\n[layout]\nsize = \"64MiB\"\n[stages]\nmeasure = \"100ms\"\n\
        [[workload]]\nname = \"w\"\nread = \"50%\"\nworkers = 2\ndepth = 4\n";
    let rows = results(suite, &["--target", "sim:cluster=s2d-disaggregated,path=smb"]);
    assert!(iops(&rows, "w") > 100.0);
}

#[test]
fn what_cannot_be_simulated_is_said_with_its_remedy() {
    let folder = scratch();
    for (more, code, words) in [
        (&["--simulate"][..], 2, "no testbed is called like the suite"),
        (&["--simulate", "nowhere"], 2, "the reference ones are"),
        (&["--simulate", "pixstor-nvme", "--target", "x"], 2, "leave out the others"),
        (&["--simulate", "pixstor-nvme,path=nfs"], 2, "smb-direct"),
        (&["--simulate", "pixstor-nvme", "--set", "engine.time=\"real\""], 3, "virtual time alone"),
        (&["--sim-hosts", "2"], 2, "--simulate"),
    ] {
        let ended = run(folder.path(), SHAPES, more).with_code(code);
        assert!(ended.err.contains(words), "{more:?}: {}", ended.err);
    }
}
