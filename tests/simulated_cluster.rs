//! The whole program against simulated clusters: several hosts in one process and one virtual time,
//! the shapes of field reports C and D.

use crate::common::{Json, Words, assert_says, plimsoll, run_suite, scratch};
use serde_json::Value;
use std::collections::BTreeMap;

const SHAPES: &str = "name = \"shapes\"\n[layout]\nfiles = 1\n[stages]\nprepare = \
                      false\nprecondition = \"200ms\"\nmeasure = \"1s\"\n[[workload]]\nname = \
                      \"random\"\nworkers = 10\ndepth = 2\n[[workload]]\nname = \
                      \"sequential\"\naccess = \"sequential\"\nblock_size = \"32KiB\"\nworkers = \
                      10\ndepth = 2\n";

fn results(suite: &str, more: impl Words) -> Vec<Value> {
    let json = run_suite(&scratch(), suite, more).with_code(0).json();
    json["results"].list().clone()
}

/// Requests per second of a workload, reads and writes together.
fn iops(rows: &[Value], workload: &str) -> f64 {
    let is_whole = |row: &&Value| row["covers"] == "point" || row["covers"] == "workload";
    let of_it: Vec<&Value> =
        rows.iter().filter(|row| row["workload"] == workload).filter(is_whole).collect();
    assert!(!of_it.is_empty(), "{workload} in {rows:?}");
    of_it.into_iter().map(|row| row["iops"].number()).sum()
}

/// The rates of a built-in suite against its own testbed, by workload and sweep, reads and writes
/// together; and the notes of its plan.
fn simulated(suite: &str, more: impl Words) -> (BTreeMap<(String, String), f64>, String) {
    let folder = scratch();
    let more = more.words();
    let simulate = if more.iter().any(|word| word == "--simulate") { "" } else { "--simulate" };
    let args = (["run", suite], "--json --quiet", simulate, more);
    let json = plimsoll(&folder, args).with_code(0).json();
    let mut rates = BTreeMap::new();
    for row in
        json["results"].list().iter().filter(|row| row["op"] != "fsync" && row["op"] != "all")
    {
        let swept = row["sweep"]
            .as_object()
            .and_then(|sweep| sweep.iter().find(|(axis, _)| *axis != "scenario"))
            .map(|(_, value)| value)
            .and_then(Value::as_str);
        let key = (
            row["workload"].as_str().unwrap_or_default().to_owned(),
            swept.unwrap_or_default().to_owned(),
        );
        *rates.entry(key).or_insert(0.0) += row["iops"].number();
    }
    (rates, format!("{} {}", json["scale"], json["notes"]))
}

/// The rate of a workload at a value of the sweep.
fn at(rates: &BTreeMap<(String, String), f64>, workload: &str, swept: &str) -> f64 {
    *rates
        .get(&(workload.to_owned(), swept.to_owned()))
        .unwrap_or_else(|| panic!("{workload} at {swept} in {rates:?}"))
}

#[test]
fn the_whole_of_report_c_has_its_shape_whatever_its_times_are_shrunk_to() {
    let [(long, said), (short, _)] = ["1/20000", "1/80000"].map(|time| {
        let scale = format!("time={time}");
        // The fitted one's few reads of 100 GB stray by more than a tenth.
        let simulate = ["--simulate", "vsan-four-corners,unfitted"];
        simulated("vsan-four-corners", (simulate, ["--scale", &scale]))
    });
    assert!(said.contains("size=1/1,time=1/20000"), "{said}");
    assert_eq!(long.len(), 15, "{long:?}");
    for rates in [&long, &short] {
        let read = |size| at(rates, "4k-random-read", size);
        assert!(
            read("100GB") <= read("10GB") / 10.0 && read("50GB") <= read("10GB") * 1.05,
            "{rates:?}"
        );
        for row in ["32k-sequential-read", "32k-sequential-write"] {
            let flat = at(rates, row, "100GB") / at(rates, row, "10GB");
            assert!((0.6..1.2).contains(&flat), "{row}: {flat}");
        }
    }
    for (point, rate) in &long {
        let ratio = short[point] / rate;
        assert!((0.9..1.1).contains(&ratio), "{point:?}: {ratio}");
    }
}

#[test]
fn a_simulation_takes_its_hosts_from_the_testbed_and_says_how_much_it_shortened() {
    let folder = scratch();
    let said = plimsoll(&folder, "plan vsan-four-corners --simulate").with_code(0).out;
    assert_says(&said, &["--scale time=1 simulates all 22h 30m", "Times are shrunk to"]);
    assert!(
        said.contains(
            "sim-[01-16]: 16 hosts, each 14 CPUs (simulated: a machine on a node of \
             vsan-four-corners), 64 GiB"
        ),
        "{said}"
    );
    assert!(said.contains("10 volumes of a simulated cluster, 931.32 GiB in all\n"), "{said}");
    assert!(!said.contains("to prepare"), "{said}");
    let whole = plimsoll(&folder, "plan vsan-four-corners --simulate --scale time=1");
    assert!(whole.with_code(0).out.contains("time     22h 30m\n"));
    let client = plimsoll(&folder, "plan pixstor-nvme --simulate --scenario n-n").with_code(0).out;
    assert!(client.contains("a client of pixstor-nvme), 128 GiB of memory"), "{client}");
}

#[test]
fn report_b_as_its_suite_has_it_is_fastest_local_and_slowest_over_tcp() {
    let rate = |scenario: &str, depth: &str| {
        let depth = format!("workload.fixed-depth.depth={depth}");
        let (rates, _) = simulated(
            "s2d-disaggregated",
            ("--scale time=1/500 --set", [&depth], "--scenario", [scenario]),
        );
        let all = |workload: &str| {
            rates.iter().filter(|(key, _)| key.0 == workload).map(|(_, rate)| rate).sum::<f64>()
        };
        (all("fixed-depth"), all("equal-rate"))
    };
    let [local, direct, tcp] = ["local", "rdma", "tcp"].map(|scenario| rate(scenario, "4"));
    assert!(local.0 > direct.0 * 1.05 && direct.0 > tcp.0 * 1.05, "{local:?}, {direct:?}, {tcp:?}");
    assert!((tcp.1 / local.1 - 1.0).abs() < 0.02, "an equal rate is equal: {local:?}, {tcp:?}");
    // At the suite's depth the machine's own port binds, whatever the protocol.
    let [local, direct, tcp] = ["local", "rdma", "tcp"].map(|scenario| rate(scenario, "32").0);
    assert!(local > direct * 1.5 && (direct / tcp - 1.0).abs() < 0.05, "{local}, {direct}, {tcp}");
}

#[test]
fn report_d_as_its_suite_has_it_halves_with_every_master_in_the_other_site() {
    let total = |scenario: &str| {
        let (rates, _) =
            simulated("hyperflex-stretched", ["--scale", "time=1/1000", "--scenario", scenario]);
        at(&rates, "8k-67-33", "")
    };
    let ratio = total("remote") / total("local");
    assert!((0.35..0.65).contains(&ratio), "{ratio}");
}

/// Which share of a scenario's reads went to the other site, and the doubts of its place.
fn placed(scenario: &str, testbed: &str) -> (f64, Vec<String>) {
    let folder = scratch();
    std::fs::write(folder.join("here.toml"), testbed).expect("a testbed");
    let args = ["--simulate", "./here.toml", "--scale", "time=1/1000", "--scenario", scenario];
    let run = ("run hyperflex-stretched --json --quiet", &args);
    let json = plimsoll(&folder, run).with_code(0).json();
    let rows = json["results"].list();
    let reads = rows.iter().find(|row| row["op"] == "read").expect("reads");
    let warnings = reads["warnings"].list();
    let doubts = warnings.iter().filter(|one| one["code"] == "misplaced");
    let sentence = |doubt: &Value| doubt["message"].text().to_owned();
    (reads["simulated_sites"][0]["share"].number(), doubts.map(sentence).collect())
}

#[test]
fn report_d_is_doubted_where_a_site_answers_that_was_not_to() {
    const TESTBED: &str = include_str!("../reference/testbeds/hyperflex-stretched.toml");
    assert_eq!(placed("local", TESTBED), (0.0, Vec::new()));
    assert_eq!(placed("remote", TESTBED), (1.0, Vec::new()));
    // Whoever asks, the first copy answers: that of the first site.
    let any = TESTBED.replace("copies_used = \"near\"", "copies_used = \"any\"");
    assert_ne!(any, TESTBED);
    let (share, doubts) = placed("local", &any);
    assert!((0.3..0.7).contains(&share), "half of the machines are on the second site: {share}");
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert!(doubts[0].contains("and 0.0 % planned"), "{doubts:?}");
}

#[test]
fn report_e_as_its_suite_has_it_levels_off_past_its_knees() {
    let threads = "sweep.workers=[16, 512, 1024]";
    let (rates, _) =
        simulated("pixstor-nvme", ["--scenario", "n-n", "--set", threads, "--scale", "size=1/16"]);
    let said = plimsoll(&scratch(), "plan pixstor-nvme --simulate").with_code(0).out;
    assert!(!said.contains("is left out"), "{said}");
    for row in ["n-n-sequential-read", "n-n-sequential-write"] {
        let [few, many, most] = ["16", "512", "1024"].map(|threads| at(&rates, row, threads));
        assert!(
            many > 1.5 * few && many < 16.0 * few && most < 1.15 * many,
            "{row}: {few}, {many}, {most}"
        );
    }
    assert!(
        at(&rates, "n-n-sequential-write", "512") < 0.6 * at(&rates, "n-n-sequential-read", "512")
    );
}

#[test]
fn the_same_seed_gives_the_same_run_of_many_hosts_whoever_comes_first() {
    let once = || {
        results(SHAPES, "--simulate azure-stack-hci --set layout.size=10GiB --set measure=200ms")
    };
    assert_eq!(once(), once());
}

#[test]
fn a_cluster_is_a_target_of_one_host_too_and_writes_whole_amounts() {
    let suite = "name = \"amount\"\n[layout]\nsize = \"64MiB\"\n[stages]\nmeasure = \
                 \"100ms\"\n[[workload]]\nname = \"w\"\nread = \"50%\"\nworkers = 2\ndepth = 4\n";
    let rows = results(suite, "--target sim:cluster=s2d-disaggregated,path=smb");
    assert!(iops(&rows, "w") > 100.0);
}

#[test]
fn what_cannot_be_simulated_is_said_with_its_remedy() {
    let folder = scratch();
    for (more, code, words) in [
        ("--simulate", 2, "no testbed is called like the suite"),
        ("--simulate nowhere", 2, "the reference ones are"),
        ("--simulate pixstor-nvme --target x", 2, "leave out the others"),
        ("--simulate pixstor-nvme,path=nfs", 2, "smb-direct"),
        ("--simulate pixstor-nvme --set engine.time=\"real\"", 3, "virtual time alone"),
        ("--sim-hosts 2", 2, "--simulate"),
    ] {
        let ended = run_suite(&folder, SHAPES, more).with_code(code);
        assert!(ended.err.contains(words), "{more:?}: {}", ended.err);
    }
}

/// Ten machines on the report's nodes: the second one of each node that has two starves while all
/// disks migrate, wherever the suite's event has that.
#[test]
fn report_d_two_machines_starve_while_all_disks_migrate_at_the_suite_s_event_and_recover() {
    let folder = scratch();
    for (at, at_ns) in [("40%", 2_880_000_000_u64), ("24m", 2_880_000_000), ("50%", 3_600_000_000)]
    {
        let at = format!("event.migration.at={at}");
        let args =
            "--simulate hyperflex-stretched,unfitted --scenario migration --scale time=1/500";
        let more = ["--set", "interval=120ms", "--set", &at, "--json", "--quiet"];
        let json = plimsoll(&folder, ("run hyperflex-stretched", &args, &more));
        let json = json.with_code(0).json();
        let events = json["events"].list();
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(
            (events[0]["label"].as_str(), events[0]["at_ns"].as_u64()),
            (Some("migration"), Some(at_ns))
        );
        let hosts = events[0]["aftermath"][0]["hosts"].list().clone();
        assert_eq!(hosts.len(), 10, "{hosts:?}");
        for (number, host) in hosts.iter().enumerate() {
            let (before, lowest) = (number_of(host, "before_iops"), number_of(host, "lowest_iops"));
            match number {
                8 | 9 => assert!(
                    (100.0..900.0).contains(&lowest) && lowest < before / 5.0,
                    "some hundred: {host}"
                ),
                _ => assert!(lowest > 0.4 * before, "the others keep most: {host}"),
            }
            if let 8 | 9 = number {
                let (began_s, back_s) =
                    (number_of(host, "began_after_s"), number_of(host, "recovered_after_s"));
                assert!(began_s < 0.3 && (0.6..1.2).contains(&back_s), "a tenth of 7.2 s: {host}");
            }
        }
    }
}

/// A figure of an aftermath, which must be there.
fn number_of(host: &Value, key: &str) -> f64 {
    host[key].as_f64().unwrap_or_else(|| panic!("{key} in {host}"))
}

#[test]
fn an_event_that_is_due_behind_the_measurement_cannot_begin_a_migration() {
    let args = "plan hyperflex-stretched --simulate --set event.migration.at=2h";
    let said = plimsoll(&scratch(), args).with_code(2).err;
    assert_says(&said, &["`migration` is due after 2h", "at = \"50%\""]);
}

#[test]
fn report_e_one_file_for_all_rises_levels_off_and_is_never_faster_than_files_of_their_own() {
    let threads = "sweep.workers=[1, 16, 512]";
    let part = |scenario: &str, more: &str| {
        // With fewer requests for each thread, chance in where they lie decides between the two.
        let args = ["--scenario", scenario, "--set", threads, "--set", more, "--scale", "size=1/4"];
        simulated("pixstor-nvme", args).0
    };
    let (shared, own) =
        (part("n-1", "seed=1"), part("n-n", "scenario.n-n.sweep.workers=[1, 16, 512]"));
    for op in ["read", "write"] {
        let rate =
            |rates, kind: &str, threads| at(rates, &format!("{kind}-sequential-{op}"), threads);
        let [one, few, many] = ["1", "16", "512"].map(|threads| rate(&shared, "n-1", threads));
        assert!(
            few > 8.0 * one && many > 1.5 * few && many < 16.0 * few,
            "{op}: {one}, {few}, {many}"
        );
        // Who reads what it wrote has the tokens still.
        let alone = rate(&own, "n-n", "1");
        assert!(
            if op == "write" { one < alone } else { one < 1.02 * alone },
            "{op}: {one}, {alone}"
        );
        assert!(many < 1.05 * rate(&own, "n-n", "512"), "{op}");
    }
}

#[test]
fn report_e_metadata_rises_with_threads_and_a_stat_is_cheaper_than_a_create() {
    let threads = "sweep.workers=[1, 16, 256]";
    let metadata = |more: &str| {
        let args = (["--scenario", "metadata", "--set", threads], more);
        let json = plimsoll(&scratch(), ("run pixstor-nvme --simulate --json --quiet", &args));
        let json = json.with_code(0).json();
        let rows = json["results"].list().clone();
        move |op: &str, threads: &str| -> Value {
            let is_it = |row: &&Value| row["op"] == op && row["sweep"]["workers"] == threads;
            rows.iter()
                .find(is_it)
                .unwrap_or_else(|| panic!("{op} at {threads} in {rows:?}"))
                .clone()
        }
    };
    let full = metadata("");
    let rate = |op: &str, threads: &str| full(op, threads)["iops"].number();
    for op in ["create", "stat", "read-file", "remove"] {
        let [one, few, many] = ["1", "16", "256"].map(|threads| rate(op, threads));
        assert!(few > 12.0 * one && many > 8.0 * few, "{op}: {one}, {few}, {many}");
    }
    assert!(rate("stat", "256") > 1.5 * rate("create", "256"));
    // A directory of 1024 files for each thread, and no fewer of them where sizes shrink.
    assert_eq!(full("create", "256")["ios"].number(), 256.0 * 1024.0);
    assert_eq!(metadata("--scale size=1/1000")("create", "256")["ios"].number(), 256.0 * 1024.0);
}

#[test]
fn what_is_simulated_of_an_amount_stays_however_small_the_layout_is() {
    let amount = |scale: &str| {
        let sweep = "scenario.random.sweep.workers=[16]";
        let args =
            ("plan pixstor-nvme --simulate --scenario random --set", [sweep], "--scale", [scale]);
        let said = plimsoll(&scratch(), args).with_code(0).out;
        let line = said
            .lines()
            .find(|line| line.starts_with("writes"))
            .unwrap_or_else(|| panic!("{said}"));
        line.to_owned()
    };
    assert_eq!(amount("size=1/1"), amount("size=1/1000"));
}

#[test]
fn a_simulated_migration_says_in_the_plan_that_what_it_starves_is_assumed() {
    let said = plimsoll(&scratch(), "plan hyperflex-stretched --simulate").with_code(0).out;
    assert!(said.contains("assumed, and from no report"), "{said}");
    let said = plimsoll(&scratch(), "plan hyperflex-stretched --simulate --scenario local");
    assert!(!said.with_code(0).out.contains("from no report"));
}

/// 4 KiB to every thread's own file, of which a simulation takes some thousand requests for each.
///
/// What a copy costs is work of drives. It shows where drives bind, and 256 requests outstanding on
/// 32 drives bind none. There a request takes its own way alone: a read 300 µs of software, two
/// ways of 20 µs and 85 µs of the medium, 425 µs in all. A write goes two ways more, to the other
/// copy. But a drive acknowledges it from its buffer after 15 µs, so it takes 395 µs. So writes are
/// the faster ones here, and they are not where each thread has 16 outstanding.
#[test]
fn report_e_random_reads_and_writes_rise_with_threads_and_writes_pay_for_their_copies() {
    let random = |more: &dyn Words| {
        let amount = "scenario.random.amount=1MiB";
        let args = ["--scenario", "random", "--set", amount];
        simulated("pixstor-nvme", (&args, more)).0
    };
    let described = ["--simulate", "pixstor-nvme,unfitted"];
    let rates = random(&(described, ["--set", "scenario.random.sweep.workers=[1, 16, 256]"]));
    for (row, alone_us) in [("random-read", 425.0), ("random-write", 395.0)] {
        let [one, few, many] = ["1", "16", "256"].map(|threads| at(&rates, row, threads));
        assert!(few > 8.0 * one && many > 4.0 * few, "{row}: {one}, {few}, {many}");
        assert!((one * alone_us / 1e6 - 1.0).abs() < 0.05, "{row}: {one}");
    }
    let depth = "--set scenario.random.sweep.workers=[256] --set workload.random-read.depth=16 \
                 --set workload.random-write.depth=16";
    let of = |deep: &BTreeMap<(String, String), f64>| {
        ["random-read", "random-write"].map(|row| at(deep, row, "256"))
    };
    let emptier = of(&random(&(depth, described)));
    // The same with drives that are full, whose writes are those of the datasheet.
    let folder = scratch();
    let full = folder.join("full.toml");
    let testbed = include_str!("../reference/testbeds/pixstor-nvme.toml");
    let text = testbed.replace("filled = \"8.6%\"", "");
    assert_ne!(text, testbed);
    std::fs::write(&full, text).expect("written");
    let path = full.to_str().expect("a path");
    let [reads, writes] = of(&random(&(depth, ["--simulate", path])));
    // 32 drives of 222,000 writes a second store two copies of each.
    let most = 32.0 * 222_000.0 / 2.0;
    assert!(writes < 1.01 * most && writes > 0.7 * most, "{writes} of {most}");
    assert!(reads > 2.0 * writes, "{reads}, {writes}");
    assert!(emptier[1] > 1.2 * writes, "{emptier:?}: drives that are nearly empty write faster");
}
