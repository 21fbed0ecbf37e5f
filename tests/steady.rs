//! Measuring until it is steady, of the whole program: targets that settle, that never do, several
//! hosts, and the time of the wall.

use crate::common::{Json, Words, plimsoll, scratch};
use serde_json::Value;

/// 20 s at least and 2 min at most, in rounds of four seconds.
const SUITE: &str = "name = \"settle\"\n[layout]\nsize = \"64MiB\"\n[stages]\nprepare = \
                     false\nuntil = \"steady\"\nmeasure = \"20s\"\nmeasure_max = \
                     \"2min\"\n[[workload]]\nname = \"w\"\nworkers = 2\ndepth = 2\n";

/// Reads fill a cache that holds all of it: ten times as fast in the end, and then for ever: 2
/// servers of 100 µs.
const WARMS_UP: &str = "sim:constant,service=2ms,servers=2,capacity=64MiB,cache=64MiB@100us";

fn run(more: impl Words) -> Value {
    let folder = scratch();
    std::fs::write(folder.join("settle.toml"), SUITE).expect("a suite");
    let args = ("run settle.toml --json --quiet --out r.plimsoll", more);
    let json = plimsoll(&folder, &args).with_code(0).json();
    let again = plimsoll(&folder, "show r.plimsoll --json").with_code(0).json();
    assert_eq!(json, again, "all that is shown comes from the run file");
    json
}

#[test]
fn a_target_that_warms_up_is_measured_until_it_is_warm_and_its_figures_are_those_of_then() {
    let json = run(["--target", WARMS_UP]);
    let said = json.note("settled").expect("it settles");
    // Misses end in the fifth round (the coupon collector's tail of 16,384 blocks), so that rounds
    // 6 to 10 are the first window.
    assert_eq!(said, "steady after 40 s, by the last 5 rounds of 4 s; ended after 41 s");
    let row = &json["results"][0];
    assert_eq!(row["seconds"], 20.0, "the last five rounds");
    let iops = row["iops"].number();
    assert!((iops / 20_000.0 - 1.0).abs() < 0.01, "{iops}");
    let doubts = row.codes();
    assert!(
        !doubts.contains(&"unsettled")
            && !doubts.contains(&"not-steady")
            && !doubts.contains(&"warm-up"),
        "{doubts:?}"
    );
    let again = run(["--target", WARMS_UP]);
    assert_eq!(again["results"], json["results"], "virtual time waits for the judgement");
}

/// The suite above, preconditioned until warm and then measured for a time.
const WARM_SUITE: &str = "name = \"warm\"\n[layout]\nsize = \"64MiB\"\n[stages]\nprepare = \
                          false\nprecondition = \"20s\"\nprecondition_until = \
                          \"warm\"\nprecondition_max = \"2min\"\nmeasure = \
                          \"20s\"\n[[workload]]\nname = \"w\"\nworkers = 2\ndepth = 2\n";

#[test]
fn preconditioning_ends_when_the_cache_is_warm_and_a_fixed_time_measures_a_colder_one() {
    let folder = scratch();
    std::fs::write(folder.join("warm.toml"), WARM_SUITE).expect("a suite");
    let run = |more: &str| {
        let line = (["run", "warm.toml", "--json", "--quiet", "--target", WARMS_UP], more);
        plimsoll(&folder, line).with_code(0).json()
    };
    let iops = |json: &Value| json["results"][0]["iops"].number();
    let warm = run("");
    // All 64 MiB are in the cache then: 2 servers of 100 µs.
    assert!((iops(&warm) / 20_000.0 - 1.0).abs() < 0.01, "{warm}");
    let said = warm.note("settled").expect("it settles");
    assert!(said.starts_with("steady after "), "{said}");
    assert_eq!(warm["results"][0]["seconds"], 20.0, "the measurement has its own time");
    assert!(!warm["results"][0].codes().contains(&"not-warm"), "{warm}");
    let fixed = run("--set precondition_until=time --set precondition_max=auto --set \
                     precondition=4s");
    assert!(iops(&fixed) < 0.95 * iops(&warm), "4 s are too short: {}", iops(&fixed));
    let short = run("--set precondition_max=20s");
    assert!(short["results"][0].codes().contains(&"not-warm"), "{short}");
}

#[test]
fn a_target_that_never_settles_is_measured_to_the_greatest_time_and_that_is_said() {
    let stalls: String = (0..12).map(|number| format!(",stall={}s+3s", 1 + 10 * number)).collect();
    let json = run(["--target", &format!("sim:constant,service=2ms,capacity=64MiB{stalls}")]);
    assert_eq!(json.note("unsettled"), Some("not steady after 2m 00s"));
    let row = &json["results"][0];
    assert_eq!(row["seconds"], 120.0);
    assert!(row.codes().contains(&"unsettled"), "{row}");
}

#[test]
fn several_hosts_end_with_the_same_interval() {
    let of_the_wall = format!("--hosts local:2 --target {WARMS_UP}");
    for hosts in ["--simulate azure-stack-hci --sim-hosts 3", &of_the_wall] {
        let json = run(hosts);
        assert!(json.note("settled").is_some(), "{json}");
        let parts = json["results"][0]["hosts"].list();
        assert_eq!(json["results"][0]["seconds"], 20.0);
        assert!(parts.len() > 1, "{json}");
    }
}

/// Agents of their own processes, each on its own clock.
#[test]
fn in_the_time_of_the_wall_all_hosts_end_behind_whole_intervals() {
    let more = "--set time=real --set interval=100ms --set measure=2s --set measure_max=1h";
    let target = "--hosts local:2 --target sim:constant,service=5ms,capacity=64MiB";
    let json = run((&more, &target));
    assert!(json.note("settled").is_some(), "an hour is not what it took: {json}");
    let seconds = json["results"][0]["seconds"].number();
    assert!((seconds - 2.0).abs() < 1e-9, "{seconds}");
}

/// The run file of a run of two points that was cut short when the second had been measured for
/// four rounds, one fewer than a window. The record is that of a whole run, so that where it is cut
/// does not depend on when somebody kills it.
fn cut_in_the_second_point(folder: &std::path::Path) -> model::Record {
    std::fs::write(folder.join("settle.toml"), format!("{SUITE}[sweep]\ndepth = [2, 4]\n"))
        .expect("a suite");
    let target = "sim:constant,service=100us,servers=2,capacity=64MiB";
    let args = ("run settle.toml --quiet --json --target", [target], "--out whole.plimsoll");
    plimsoll(folder, args).with_code(0);
    let whole = store::read(&folder.join("whole.plimsoll")).expect("a run file");
    let last = whole.stages.last().expect("stages");
    let kept = model::resume::kept(&whole, &[last.stage]);
    let second: Vec<_> =
        last.samples().iter().filter(|sample| sample.interval < 16).cloned().collect();
    assert_eq!(second.len(), 16, "four rounds of four seconds");
    let begun = [model::Event::StageStarted { stage: last.stage, unix_ns: last.started_unix_ns }];
    let out = folder.join("cut.plimsoll");
    let mut writer = store::Writer::create(
        &out, &whole.plan, &whole.testbed, &whole.version, whole.started_unix_ns,
    )
    .expect("a file");
    let events = kept.into_iter().chain(begun).chain(second.into_iter().map(model::Event::Sample));
    events.for_each(|event| writer.append(&event).expect("an event"));
    writer.finish().expect("the end of the file");
    store::read(&out).expect("a run file")
}

#[test]
fn a_point_that_is_resumed_becomes_steady_by_its_own_rounds_alone() {
    let folder = scratch();
    let cut = cut_in_the_second_point(&folder);
    assert_eq!(model::resume::left_over(&cut), [1], "the first point had settled");
    let json = plimsoll(&folder, "resume cut.plimsoll --json --quiet").with_code(0).json();
    let whole = store::read(&folder.join("cut-resumed.plimsoll")).expect("a run file");
    assert_eq!(whole.stages[0], cut.stages[0], "what had settled stays as it was recorded");
    // Of a target that never changes, one round more would complete the window that the old
    // measurement began.
    let notes: Vec<&str> = json["notes"]
        .list()
        .iter()
        .filter(|note| note["code"] == "settled")
        .filter_map(|note| note["message"].as_str())
        .collect();
    assert_eq!(
        notes, ["steady after 20 s, by the last 5 rounds of 4 s; ended after 21 s"; 2],
        "{json}"
    );
    let intervals = |stage: usize| -> Vec<u32> {
        whole.stages[stage].samples().iter().map(|sample| sample.interval).collect()
    };
    assert_eq!(
        intervals(1),
        intervals(0),
        "as one that was never cut short: each interval once, from its own start"
    );
    let rows = json["results"].list();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row["seconds"], 20.0, "the last five rounds: {row}");
        let iops = row["iops"].number();
        assert!((iops / 20_000.0 - 1.0).abs() < 0.01, "{iops}");
    }
}

#[test]
fn the_plan_names_both_times_and_what_cannot_be_is_refused() {
    let folder = scratch();
    std::fs::write(folder.join("settle.toml"), SUITE).expect("a suite");
    let plan =
        |more: &str| plimsoll(&folder, (["plan", "settle.toml", "--target", WARMS_UP], more));
    let told = plan("").with_code(0).out;
    assert!(told.contains("20 s to 2m 00s"), "{told}");
    for (field, words) in [
        ("measure_max=10s", "less than the least"),
        ("measure=2s", "no five rounds"),
        ("amount=all", "an amount ends when it is done"),
        ("until=time", "means nothing"),
    ] {
        let told = plan(&format!("--set {field}")).with_code(2).err;
        // The words of a message may be broken over lines.
        let told =
            told.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{field}: {told}");
    }
}

/// Flash with 28 % spare, 51,200 pages a second, filled once: in the long run each page written at
/// random costs 1 ÷ (1 − u) pages, with u = exp(−1.28·(1 − u)).
#[test]
fn a_drive_with_flash_is_measured_until_its_copies_are_those_of_the_long_run() {
    let folder = scratch();
    let suite = "name = \"flash\"\n[layout]\nsize = \"64MiB\"\nfiles = 1\n[stages]\nuntil = \
                 \"steady\"\nmeasure = \"5s\"\ninterval = \"250ms\"\n\
                 measure_max = \"2min\"\n[[workload]]\nname = \
                 \"w\"\nread = 0\naccess = \"random\"\ndepth = 32\n";
    std::fs::write(folder.join("flash.toml"), suite).expect("a suite");
    let target = "sim:constant,service=10us,servers=64,capacity=64MiB,flash=28%@200MiB/s,\
                  flash-block=64KiB";
    let args = ["run", "flash.toml", "--json", "--quiet", "--target", target];
    let json = plimsoll(&folder, args).with_code(0).json();
    assert!(json.note("settled").is_some(), "{}", json["notes"]);
    let valid = (0..10_000).fold(0.0, |valid: f64, _| (-1.28 * (1.0 - valid)).exp());
    let theory = 51_200.0 * (1.0 - valid);
    let iops = json["results"][0]["iops"].number();
    assert!((iops / theory - 1.0).abs() < 0.05, "{iops}, theory {theory}");
    // As from its box, it is two and a half times as fast, and that does not last.
    let fresh = "prepare=false until=time measure_max=auto measure=300ms";
    let fresh: Vec<&str> = fresh.split(' ').flat_map(|set| ["--set", set]).collect();
    let json = plimsoll(&folder, (&args, &fresh)).with_code(0).json();
    let iops = json["results"][0]["iops"].number();
    assert!((iops / 51_200.0 - 1.0).abs() < 0.02, "{iops}");
}
