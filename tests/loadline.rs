//! The load line of the whole program: targets whose answer theory knows, several hosts, real
//! files, and objectives that are none.

use crate::common::{Json, Words, plimsoll, scratch};
use serde_json::Value;

/// Strangers' requests to a queue; a minute of virtual time for each point.
const SUITE: &str = "name = \"known\"\n[layout]\nsize = \"1GiB\"\n[stages]\nprepare = \
                     false\nmeasure = \"60s\"\n[[workload]]\nname = \"w\"\nworkers = 4\narrivals \
                     = \"poisson\"\n";

fn found(device: &str, objective: &str, more: impl Words) -> Value {
    let folder = scratch();
    std::fs::write(folder.join("known.toml"), SUITE).expect("a suite");
    let target = format!("sim:{device}");
    let search = ["--target", &target, "--objective", objective];
    let args = ("loadline known.toml --json --quiet --out line.plimsoll", search, more);
    let json = plimsoll(&folder, &args).with_code(0).json();
    let again = plimsoll(&folder, "show line.plimsoll --json").with_code(0).json();
    assert_eq!(json, again, "all that is shown comes from the run file");
    json
}

fn assert_line(json: &Value, theory: f64, what: &str) {
    let line = &json["load_line"];
    let rate = line["rate"].as_f64().unwrap_or_else(|| panic!("{what}: {line}"));
    assert!((rate / theory - 1.0).abs() < 0.02, "{what}: {rate}, theory {theory}");
    assert!(line["points"].as_array().is_some_and(|points| points.len() <= 12), "{what}: {line}");
    assert_eq!(
        (&line["confirmed"], &line["finished"]),
        (&Value::from(true), &Value::from(true)),
        "{what}"
    );
}

/// M/D/1: S + ρ·S ÷ (2·(1 − ρ)) is 300 µs for S = 100 µs at ρ = 0.8.
#[test]
fn the_load_line_of_md1_is_where_the_formula_has_it() {
    assert_line(&found("md1", "read mean < 300us, errors = 0", ""), 8_000.0, "M/D/1");
}

/// M/M/1: the response time is exponential with rate µ − λ, so that its p99 is ln 100 ÷ (µ − λ).
#[test]
fn the_load_line_of_a_quantile_is_where_the_distribution_has_it() {
    let theory = 10_000.0 - f64::ln(100.0) / 2e-3;
    assert_line(&found("exponential,mean=100us,servers=1", "p99 < 2ms", ""), theory, "M/M/1");
}

/// What has no limit but the device's own: 8 servers of 100 µs.
#[test]
fn without_a_latency_the_line_is_what_the_device_carries() {
    assert_line(&found("md1,servers=8", "errors = 0", ""), 80_000.0, "saturation");
}

/// A search with evenly due requests over a device, 10 s of virtual time for each point.
fn evenly(device: &str, workload: &str, objective: &str) -> Value {
    let folder = scratch();
    let suite = "name = \"even\"\n[layout]\nsize = \"64MiB\"\n[stages]\nprepare = false\nmeasure \
                 = \"10s\"\n[[workload]]\nname = \"w\"\nworkers = 1\ndepth = 1024\n";
    std::fs::write(folder.join("even.toml"), format!("{suite}{workload}")).expect("a suite");
    let target = format!("sim:{device}");
    let args =
        ("loadline even.toml --target", [&target], "--objective", [objective], "--json --quiet");
    plimsoll(&folder, args).with_code(0).json()
}

/// Requests of 150 ms are under way for 1.5 % of a point: 100 servers of them carry 666.7 a second.
#[test]
fn what_is_under_way_at_the_end_of_a_point_lowers_no_load_line() {
    assert_line(
        &evenly("constant,service=150ms,servers=100", "", "p99 < 200ms"),
        100.0 / 0.15,
        "100 servers",
    );
}

/// Ten writes and an fsync take 1.1 ms.
#[test]
fn fsyncs_take_no_places_of_a_rate() {
    let workload = "read = 0\nfsync_every = 10\n";
    assert_line(
        &evenly("constant,service=100us,fsync=100us", workload, "write p99 < 2ms"),
        10.0 / 1.1e-3,
        "fsyncs",
    );
}

#[test]
fn a_rate_that_is_wanted_and_carried_anyway_costs_no_points() {
    let points = |objective| {
        let json = evenly("constant,service=100us", "read = 50\n", objective);
        assert_line(&json, 10_000.0, objective);
        json["load_line"]["points"].list().len()
    };
    assert_eq!(points("read iops >= 3000, p99 < 1ms"), points("p99 < 1ms"));
}

#[test]
fn several_hosts_have_one_line_together() {
    assert_line(
        &found("md1", "mean < 300us", "--hosts local:2 --set measure=\"120s\""),
        16_000.0,
        "two devices",
    );
}

#[test]
fn files_are_laid_out_once_loaded_at_every_point_and_removed() {
    let folder = scratch();
    let line = "loadline --rw randread --bs 4k --numjobs 2 --size 2M --runtime 0.2 --json --quiet \
                --out l.plimsoll data";
    let mut args: Vec<&str> = line.split(' ').collect();
    args.extend(["--objective", "p99 < 1min, errors = 0", "--buffered"]);
    let ran = plimsoll(&folder, &args);
    let json = ran.json();
    let points = json["load_line"]["points"].list();
    assert!(points.len() > 3, "{json}");
    let prepared = json["issued"]
        .list()
        .iter()
        .filter(|total| total["stage"] == "prepare" && total["op"] == "write");
    assert_eq!(prepared.map(|total| total["bytes"].count()).sum::<u64>(), 4 << 20, "laid out once");
    assert!(!folder.join("data").exists(), "all of it is gone");
}

#[test]
fn an_objective_that_never_holds_is_an_answer_with_a_code_of_its_own() {
    let folder = scratch();
    let line = "loadline --rw randread --size 64M --runtime 5 --quiet --json \
                sim:constant,service=1ms --objective";
    let mut args: Vec<&str> = line.split(' ').collect();
    args.push("mean < 10us");
    let json = plimsoll(&folder, &args).with_code(6).json();
    assert_eq!(json["load_line"]["rate"], Value::Null);
    assert!(json["load_line"]["fails_at"].as_f64().is_some());
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_is_touched() {
    let folder = scratch();
    for (suite, objective, words) in [
        ("smoke", "p99 > 5ms", "so its limit is what it is at most"),
        ("smoke", "p99 < 5", "has no unit"),
        ("four-corners", "p99 < 5ms", "name one workload with --workload"),
        ("four-corners --workload 4k-random-raed", "p99 < 5ms", "did you mean `4k-random-read`?"),
    ] {
        let args = ("loadline -t sim:ssd", suite, ["--objective", objective]);
        let ran = plimsoll(&folder, args).with_code(2);
        assert!(ran.err.contains(words), "{suite}, {objective}: {}", ran.err);
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
}

/// The whole search along another axis.
fn along(axis: &str, device: &str, objective: &str, suite: &str) -> Value {
    let folder = scratch();
    std::fs::write(folder.join("along.toml"), suite).expect("a suite");
    let target = format!("sim:{device}");
    let args =
        ["loadline", "along.toml", "--along", axis, "--target", &target, "--objective", objective];
    let how = "--json --quiet --out along.plimsoll";
    let json = plimsoll(&folder, (&args, &how)).with_code(0).json();
    let again = plimsoll(&folder, "show along.plimsoll --json").with_code(0).json();
    assert_eq!(json, again, "all that is shown comes from the run file");
    assert_eq!(json["load_line"], Value::Null);
    let found = json["along"].clone();
    assert!(found["points"].as_array().is_some_and(|points| points.len() <= 12), "{found}");
    assert_eq!(
        (&found["axis"], &found["finished"], &found["confirmed"]),
        (&Value::from(axis), &true.into(), &true.into())
    );
    found
}

/// Least recently used, random reads: all hits as long as what is loaded fits. A hit takes 100 µs
/// and a miss 2 ms, so that 1.05 % of misses make a mean of 120 µs.
#[test]
fn along_the_size_the_cache_ends_where_it_does() {
    let suite = "name = \"along\"\n[layout]\nsize = \"1GiB\"\n[stages]\nprepare = \
                 false\nprecondition = \"20s\"\nmeasure = \"4s\"\n[[workload]]\nname = \
                 \"w\"\nworkers = 4\nblock_size = \"64KiB\"\ndepth = 1\n";
    let device = "constant,service=2ms,servers=8,capacity=1GiB,cache=64MiB@100us,cache-line=64KiB";
    let found = along("size", device, "mean < 120us", suite);
    let mib = found["value"].number() / f64::from(1 << 20);
    assert!((64.0 / 1.14..64.8).contains(&mib), "{mib} MiB: {found}");
    let fails = found["fails_at"].number() / f64::from(1 << 20);
    assert!((64.0..64.8 * 1.14).contains(&fails), "{fails} MiB: {found}");
}

/// 8 servers of 100 µs: with d requests outstanding the mean is d ÷ 8 × 100 µs, 200 µs at 16.
#[test]
fn along_the_depth_the_answer_is_that_of_little() {
    let suite = "name = \"along\"\n[layout]\nsize = \"64MiB\"\n[stages]\nprepare = false\nmeasure \
                 = \"2s\"\n[[workload]]\nname = \"w\"\nworkers = 1\ndepth = 200\n";
    let found =
        along("depth", "constant,service=100us,servers=8,capacity=64MiB", "mean < 204us", suite);
    let depth = found["value"].count();
    assert!((14..=16).contains(&depth), "{found}");
    assert!(found["fails_at"].as_u64().is_some_and(|fails| (17..=18).contains(&fails)), "{found}");
}

/// The same for workers that wait for one request each.
#[test]
fn along_the_workers_the_answer_is_that_of_little_too() {
    let suite = "name = \"along\"\n[layout]\nsize = \"64MiB\"\n[stages]\nprepare = false\nmeasure \
                 = \"2s\"\n[[workload]]\nname = \"w\"\nworkers = 100\ndepth = 1\n";
    let device = "constant,service=100us,servers=8,capacity=64MiB";
    let alone = along("workers", device, "mean < 204us", suite);
    let workers = alone["value"].count();
    assert!((14..=16).contains(&workers), "{alone}");
    assert!(alone["fails_at"].as_u64().is_some_and(|fails| (17..=18).contains(&fails)), "{alone}");
}

#[test]
fn along_the_workers_of_two_hosts_both_have_their_part() {
    let folder = scratch();
    let line = "loadline --rw randread --bs 4k --numjobs 40 --iodepth 1 --size 64M --runtime 2 \
                --json --quiet --along workers --hosts local:2 --out w.plimsoll";
    let mut args: Vec<&str> = line.split(' ').collect();
    args.extend([
        "--target",
        "sim:constant,service=100us,servers=8,capacity=4GiB",
        "--objective",
        "mean < 204us",
    ]);
    let found = plimsoll(&folder, &args).with_code(0).json()["along"].clone();
    let workers = found["value"].count();
    assert!((29..=32).contains(&workers), "16 on each: {found}");
    let record = store::read(&folder.join("w.plimsoll")).expect("a run file");
    let stages = || record.plan.hosts.iter().flat_map(|host| &host.stages);
    assert!(stages().all(|stage| !stage.workers.is_empty()));
    let bytes = |stage: &model::plan::HostStage| {
        stage
            .workers
            .iter()
            .flat_map(|worker| &worker.extents)
            .map(|extent| extent.length)
            .sum::<u64>()
    };
    let measured: Vec<u64> =
        stages().filter(|stage| stage.kind == model::StageKind::Measure).map(bytes).collect();
    assert!(
        measured.iter().all(|bytes| *bytes == measured[0]),
        "fewer workers load the same bytes: {measured:?}"
    );
}

#[test]
fn a_depth_that_is_only_a_bound_is_not_searched_for() {
    let folder = scratch();
    std::fs::write(folder.join("along.toml"), SUITE).expect("a suite");
    let args = ("loadline along.toml --target sim:md1 --objective", ["errors = 0"], "--quiet");
    let told = plimsoll(&folder, (&args, "--along depth --set rate=100")).with_code(2).err;
    assert!(told.contains("the depth is only a bound"), "{told}");
    let told = plimsoll(&folder, (&args, "--along hosts")).with_code(2).err;
    assert!(told.contains("write rate, depth, size, workers or map"), "{told}");
}

/// Reads of 100 µs and writes of 200 µs in one queue: reads wait as Pollaczek and Khinchine say, so
/// that their mean is 400 µs on the line r = 8,571 − 16 ÷ 7 · w.
#[test]
fn a_map_of_two_rates_has_the_contour_of_the_formula_from_a_tenth_of_its_points() {
    let folder = scratch();
    let suite = "name = \"two\"\n[layout]\nsize = \"64MiB\"\nfiles = 1\n[stages]\nprepare = \
                 false\nmeasure = \"60s\"\n[[workload]]\nname = \"reads\"\ngroup = \"g\"\nrate \
                 = 1000\narrivals = \"poisson\"\ndepth = 256\n[[workload]]\nname = \
                 \"writes\"\ngroup = \"g\"\nread = 0\nrate = 300\narrivals = \
                 \"poisson\"\ndepth = 256\n[sweep]\nreads.rate = \"1000..10000 \
                 +1000\"\nwrites.rate = \"300..3000 +300\"\n";
    std::fs::write(folder.join("two.toml"), suite).expect("a suite");
    let target = "sim:constant,service=100us,write=200us";
    let args = ["loadline", "two.toml", "--along", "map", "--objective", "read mean < 400us"];
    let more = ["--target", target, "--json", "--quiet", "--out", "map.plimsoll"];
    let json = plimsoll(&folder, (&args, &more)).with_code(0).json();
    let map = &json["map"];
    assert_eq!((&map["measured"], &map["finished"]), (&Value::from(10), &Value::from(true)));
    assert_eq!(map["contradictions"], 0, "{map}");
    let contour = map["contour"].list();
    let (mut rows, mut within) = (0, 0);
    for (row, boundary) in (1..).zip(contour) {
        let theory = 8_571.4 - 16.0 / 7.0 * 300.0 * f64::from(row);
        if theory < 1_000.0 {
            continue;
        }
        let low = boundary["low"].as_f64().unwrap_or(0.0);
        let high = boundary["high"].as_f64().unwrap_or(10_000.0);
        rows += 1;
        within += u32::from((low..=high).contains(&theory));
        let most = boundary["most"].as_f64().unwrap_or_else(|| panic!("{boundary}"));
        assert!((most - theory).abs() < 600.0, "{row}: {most}, theory {theory}");
        assert!(high - low < 3_000.0, "{row}: {boundary}");
    }
    assert!(rows >= 9 && within >= rows - 1, "{within} of {rows}: {map}");
    let shown = plimsoll(&folder, "show map.plimsoll").with_code(0).out;
    assert!(shown.contains("Map: `read mean < 400us` held at "), "{shown}");
    plimsoll(&folder, "report map.plimsoll --out map.md").with_code(0);
    let report = std::fs::read_to_string(folder.join("map.md")).expect("a report");
    assert!(report.contains("Load line over two rates") && report.contains(".svg"), "{report}");
}

#[test]
fn a_map_without_a_grid_of_two_rates_is_refused_with_the_remedy() {
    let folder = scratch();
    std::fs::write(folder.join("known.toml"), SUITE).expect("a suite");
    let args = ["loadline", "known.toml", "--along", "map", "--objective", "p99 < 2ms"];
    let ended = plimsoll(&folder, (&args, "--target sim:md1"));
    let said = ended.with_code(2).err;
    assert!(said.contains("no") && said.contains("writes.rate = ["), "{said}");
}
