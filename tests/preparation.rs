//! How a drive is prepared, on simulated flash whose write amplification is known: one pass that
//! ages it, rounds until steady, SNIA's and JEDEC's tests, and grids as maps.

use crate::common::{Json, Loop, assert_says, has, plimsoll, recorded, scratch, text};
use model::StageKind;
use model::flash::amplification;
use serde_json::Value;

/// 102,400 pages of 4 KiB are programmed in a second, copies included.
const FLASH: &str = "sim:constant,service=10us,servers=32,capacity=128MiB,flash=28%@400MiB/s,\
                     flash-block=64KiB";
const PAGES_PER_S: f64 = 102_400.0;
/// Slower, so that whole tests of SNIA are some requests alone.
const SLOW: &str = "sim:constant,service=1ms,servers=16,capacity=64MiB,flash=28%@40MiB/s,\
                    flash-block=64KiB";

fn codes(row: &Value) -> Vec<&str> {
    let warnings = row["warnings"].list();
    warnings.iter().filter_map(|warning| warning["code"].as_str()).collect()
}

/// The first second of random writes of 4 KiB behind this preparation.
fn first_second(stages: &str) -> Value {
    let folder = scratch();
    let suite = format!(
        "name = \"aged\"\n[stages]\nmeasure = \"1s\"\n{stages}\n[[workload]]\nname = \
         \"w\"\nread = 0\nblock_size = \"4KiB\"\naccess = \"random\"\ndepth = 32\nworkers = 1\n"
    );
    std::fs::write(folder.join("aged.toml"), suite).expect("a suite");
    let args = ["run", "aged.toml", "--target", FLASH, "--json", "--quiet", "--out", "r.plimsoll"];
    plimsoll(&folder, args).with_code(0).json()["results"][0].clone()
}

#[test]
fn one_pass_leaves_flash_as_a_long_time_of_random_writes_does() {
    let aged = first_second("prepare_order = \"aged\"\nspare = \"28%\"");
    let long = first_second("precondition = \"5s\"");
    let fresh = first_second("");
    let iops = |row: &Value| row["iops"].number();
    let theory = PAGES_PER_S / amplification("28%".parse().expect("a share"));
    let (aged_share, long_share) = (iops(&aged) / theory, iops(&long) / theory);
    assert!((aged_share - 1.0).abs() < 0.04, "{aged_share} of the closed form");
    assert!((iops(&aged) / iops(&long) - 1.0).abs() < 0.04, "{aged_share} and {long_share}");
    assert!(iops(&fresh) > 1.05 * iops(&aged), "written once in order, it looks faster");
    assert!(codes(&fresh).contains(&"short-preparation"), "{fresh:#}");
    for prepared in [&aged, &long] {
        assert!(!codes(prepared).contains(&"short-preparation"), "{prepared:#}");
    }
}

#[test]
fn a_spare_that_nobody_knows_is_asked_for() {
    let folder = scratch();
    let plan = plimsoll(&folder, ["plan", "snia-latency", "--target", FLASH]).with_code(0);
    let said = "5 to 25 of 9 points, until the last 5 of latency (read=0%, block_size=4KiB)";
    assert!(plan.out.contains(said), "{}", plan.out);
    let args = ["plan", "snia-latency", "--target", FLASH, "--set", "prepare_order=aged"];
    let refused = plimsoll(&folder, args);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("add spare"), "{refused:?}");
}

/// First writes on flash that was used, with and without a purge before them.
#[test]
fn a_purge_makes_used_flash_as_from_the_factory_and_without_one_a_doubt_says_so() {
    let used = format!("{FLASH},flash-state=used");
    let run = |purge: &str| {
        let folder = scratch();
        let suite = "name = \"first\"\n[stages]\nprepare = false\nmeasure = \"200ms\"\ninterval = \
                     \"50ms\"\n[[workload]]\nname = \"w\"\nread = 0\nblock_size = \
                     \"4KiB\"\naccess = \"random\"\ndepth = 32\nworkers = 1\n";
        std::fs::write(folder.join("first.toml"), suite).expect("a suite");
        let args = ["run", "first.toml", "--target", &used, "--set", purge, "--json", "--quiet"];
        plimsoll(&folder, args).with_code(0).json()
    };
    let (with, without) = (run("stages.purge=true"), run("stages.purge=false"));
    let iops = |json: &Value| json["results"][0]["iops"].number();
    let theory = PAGES_PER_S / amplification("28%".parse().expect("a share"));
    assert!((iops(&with) / PAGES_PER_S - 1.0).abs() < 0.02, "{} without a copy", iops(&with));
    assert!((iops(&without) / theory - 1.0).abs() < 0.05, "{} of {theory}", iops(&without));
    assert!(codes(&without["results"][0]).contains(&"not-purged"), "{without:#}");
    assert!(!codes(&with["results"][0]).contains(&"not-purged"), "{with:#}");
    let purged = |json: &Value| {
        let notes = json["notes"].list();
        notes.iter().filter(|note| note["code"] == "purged").cloned().collect::<Vec<_>>()
    };
    assert!(purged(&without).is_empty());
    let [note] = &purged(&with)[..] else { panic!("{with:#}") };
    assert!(note.to_string().contains("128 MiB given back"), "{note}");
    let trims = with["issued"].list().iter();
    let mut of_purge = trims.filter(|one| one["stage"] == "purge");
    assert_eq!(of_purge.next().map(|one| one["op"].clone()), Some("trim".into()), "{with:#}");
    assert!(of_purge.next().is_none(), "no flush, no write");
}

/// A purge that the target refuses ends the run before anything is written.
#[test]
fn a_purge_that_fails_ends_the_run_and_says_what_to_do() {
    let folder = scratch();
    let target = format!("{FLASH},error=trim:EOPNOTSUPP:100%");
    let args = ("run snia-write-saturation --target", [&target], "--json --out r.plimsoll");
    let ended = plimsoll(&folder, args);
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("purge: requests to the target failed"), "{ended:?}");
    assert!(ended.err.contains("stages.purge = false"), "{ended:?}");
    let json = plimsoll(&folder, "show r.plimsoll --json").json();
    let stages: Vec<&Value> = json["issued"].list().iter().map(|one| &one["stage"]).collect();
    assert_eq!(stages, ["purge"], "nothing behind it");
}

/// The whole layout on a device gets discards, and nothing behind it does.
#[test]
fn a_device_is_purged_by_discards_of_the_layout_alone() {
    let true = has("a purge of a device", "losetup loop") else { return };
    const MIB: usize = 1 << 20;
    let (folder, disk) = (scratch(), Loop::new(64));
    let device = text(&disk.device).to_owned();
    std::fs::write(&device, vec![0xAA; 64 * MIB]).expect("data of before");
    let suite = "name = \"p\"\n[layout]\nsize = \"32MiB\"\n[stages]\npurge = true\nprepare = \
                 false\namount = \"1MiB\"\n[[workload]]\nname = \"w\"\nread = 0\nworkers = \
                 1\nblock_size = \"4KiB\"\naccess = \"sequential\"\n";
    std::fs::write(folder.join("p.toml"), suite).expect("a suite");
    let run = || {
        let args = ["run", "p.toml", "--destroy-data", &device, "--json", "--quiet"];
        plimsoll(&folder, args)
    };
    let discards = || {
        let line = std::fs::read_to_string(format!("/sys/block/{}/stat", disk.name()));
        let line = line.expect("counters");
        let sectors: u64 =
            line.split_whitespace().nth(13).expect("a field").parse().expect("a number");
        sectors * 512
    };
    let whole = || std::fs::read(&device).expect("the device");
    let before = discards();
    let json = run().with_code(0).json();
    assert_eq!(discards() - before, 32 * MIB as u64, "the kernel saw the whole layout go");
    let now = whole();
    assert!(now[MIB..32 * MIB].iter().all(|byte| *byte == 0), "what was purged reads as zeros");
    assert!(now[32 * MIB..].iter().all(|byte| *byte == 0xAA), "behind the layout nothing changed");
    let note = json["notes"].to_string();
    assert!(note.contains("32 MiB given back by discards (BLKDISCARD)"), "{note}");
}

/// A suite of SNIA on simulated flash; its results and its page.
fn snia(suite: &str, sets: &[&str]) -> (Value, String) {
    let folder = scratch();
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let rest = "--scale time=1/300 --json --quiet --out r.plimsoll";
    let json =
        plimsoll(&folder, (["run", suite, "--target", SLOW], rest, sets)).with_code(0).json();
    plimsoll(&folder, "report r.plimsoll").with_code(0);
    let page = std::fs::read_to_string(folder.join("r.html")).expect("a page");
    (json, page)
}

#[test]
fn rounds_of_snia_go_on_until_the_small_writes_are_steady_and_the_page_has_what_it_asks_for() {
    let fewer = ["sweep.read=[\"65%\", \"0%\"]", "sweep.block_size=[\"64KiB\", \"4KiB\"]"];
    for (suite, sets, points) in [("snia-iops", &fewer[..], 4), ("snia-latency", &[], 9)] {
        let (json, page) = snia(suite, sets);
        let rounds = &json["rounds"];
        assert_eq!(rounds["steady"], true, "{rounds:#}");
        let count = rounds["count"].count();
        assert!((5..=25).contains(&count), "{count}");
        let all = rounds["points"].list();
        assert_eq!(all.len(), points);
        let tracked: Vec<&Value> = all.iter().filter(|one| one["tracked"] == true).collect();
        let [tracked] = tracked[..] else { panic!("{suite}: one is tracked: {tracked:?}") };
        assert_eq!(tracked["sweep"]["block_size"], "4KiB");
        assert_eq!(tracked["iops"].list().len() as u64, count);
        assert!(tracked["range"].as_f64() <= Some(0.2) && tracked["slope"].as_f64() <= Some(0.1));
        for word in ["round after round", "110 % of it", "least squares", "Longest latency", "4KiB"]
        {
            assert!(page.contains(word), "{suite}: `{word}` is missing");
        }
        assert!(page.contains(&format!("Rounds: steady after {count} rounds")));
        if suite == "snia-iops" {
            // The 4 KiB writes of the window, beside the closed form of 10,240 pages a second.
            let theory = 10_240.0 / amplification("28%".parse().expect("a share"));
            let share = tracked["mean_iops"].number() / theory;
            assert!((share - 1.0).abs() < 0.1, "{share} of the closed form");
        }
    }
}

#[test]
fn a_grid_that_was_measured_as_a_whole_is_a_map_with_its_contour() {
    let folder = scratch();
    let suite = "name = \"grid\"\n[stages]\nprepare = false\nmeasure = \"2s\"\n[objective]\nkeep = \
                 \"p99 < 5ms\"\n[[workload]]\nname = \"r\"\ngroup = \"both\"\nread = \
                 100\n[[workload]]\nname = \"w\"\ngroup = \"both\"\nread = 0\n[sweep]\n\"r.rate\" \
                 = [1000, 3000, 5000, 7000]\n\"w.rate\" = [1000, 3000, 5000, 7000]\n";
    std::fs::write(folder.join("grid.toml"), suite).expect("a suite");
    let target = "sim:exponential,service=1ms,servers=10,capacity=64MiB";
    let args = ["run", "grid.toml", "--target", target, "--json", "--quiet", "--out", "g.plimsoll"];
    let run = plimsoll(&folder, args);
    let json = run.json();
    let maps = json["maps"].list();
    assert_eq!(maps.len(), 1, "{maps:#?}");
    assert_eq!(maps[0]["places"].list().len(), 16);
    // Ten servers of 1 ms carry 10,000 a second, of both together: with 5,000 writes that many
    // reads hold, with 7,000 writes 3,000. The figure leaps there, so that the bounds are places.
    let row = |number: usize| ["low", "high"].map(|end| maps[0]["contour"][number][end].number());
    assert_eq!([row(2), row(3)], [[5_000.0, 7_000.0], [3_000.0, 5_000.0]]);
    plimsoll(&folder, "report g.plimsoll --out g.md").with_code(0);
    plimsoll(&folder, "report g.plimsoll").with_code(0);
    let page = std::fs::read_to_string(folder.join("g.html")).expect("a page");
    let text = std::fs::read_to_string(folder.join("g.md")).expect("Markdown");
    for shown in [&page, &text] {
        assert!(shown.contains("Map of r + w: r.rate × w.rate"), "{shown}");
        assert!(shown.contains("r.rate up to"), "{shown}");
    }
}

#[test]
fn a_quotable_run_writes_the_layout_that_the_suite_chose_and_its_plan_said() {
    let folder = scratch();
    let suite = "name = \"own\"\n[layout]\nfiles = 2\nsize = \"4MiB\"\n[[workload]]\nname = \"w\"\n\
                 read = 0\n";
    std::fs::write(folder.join("own.toml"), suite).expect("a suite");
    let short = "--set measure=400ms --set measure_max=800ms --set interval=20ms";
    let asked = ("own.toml --quotable -t data --set precondition=50ms", short);
    let plan = plimsoll(&folder, ("plan", &asked)).with_code(0).out;
    assert_says(&plan, &["2 files × 4 MiB = 8 MiB", "8 MiB to prepare"]);
    plimsoll(&folder, ("run", &asked, "--quiet --out run.plimsoll")).with_code(0);
    let record = recorded(&folder);
    let sizes = record.plan.hosts[0].files().map(|file| file.size.0).collect::<Vec<_>>();
    assert_eq!(sizes, [4 << 20; 2], "the suite's word counts");
    let prepare = record
        .stages
        .iter()
        .find(|stage| record.plan.stages[stage.stage as usize].kind == StageKind::Prepare);
    let written = prepare.expect("it is prepared").samples().iter().flat_map(|one| &one.ops);
    assert_eq!(written.map(|op| op.bytes).sum::<u64>(), 8 << 20);
}
