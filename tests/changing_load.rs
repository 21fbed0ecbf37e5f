//! Load that changes over time, and workloads that are bound to each other by ratio: whole runs,
//! from their texts to their JSON.

use crate::common::{Json, Words, plimsoll, run_suite, scratch};
use serde_json::{Value, json};

/// A suite of these workloads, measured for so long without preparation.
fn suite(seconds: u32, workloads: &str) -> String {
    format!(
        "name = \"changing\"\n[layout]\nsize = \"64MiB\"\nfiles = 1\n[stages]\nprepare = false\n\
         measure = \"{seconds}s\"\n{workloads}"
    )
}

/// The results of a suite on a simulated device, in virtual time.
fn results(device: &str, text: &str, more: impl Words) -> Vec<Value> {
    let folder = scratch();
    let target = ["--target", &format!("sim:{device}")];
    run_suite(&folder, text, (target, more)).with_code(0).json()["results"].list().clone()
}

/// What was due and what was done in each stretch of time of a row.
fn over_time(row: &Value) -> Vec<(f64, u64)> {
    let stretches = row["asked"]["over_time"].list();
    let one = |stretch: &Value| (stretch["due"].number(), stretch["done"].count());
    stretches.iter().map(one).collect()
}

const RAMP: &str = "[[workload]]\nname = \"w\"\nworkers = 3\nrate = [{to = \"2k\", in = \"5s\"}, \
                    {hold = \"5s\"}, {to = 0, in = \"2s\"}]\n";

#[test]
fn every_interval_of_a_ramp_has_the_integral_of_its_rate() {
    let rows = results("constant,service=constant:1us,servers=64", &suite(14, RAMP), "");
    // 200·t² in the ramp, 2000 a second, and 500·t² the other way round.
    let wanted =
        [200, 600, 1_000, 1_400, 1_800, 2_000, 2_000, 2_000, 2_000, 2_000, 1_500, 500, 0, 0];
    let wanted: Vec<(f64, u64)> = wanted.iter().map(|count| (*count as f64, *count)).collect();
    assert_eq!(over_time(&rows[0]), wanted);
    assert_eq!((&rows[0]["asked"]["due"], &rows[0]["ios"]), (&json!(17_000.0), &json!(17_000)));
    for code in ["rate-missed", "not-steady", "warm-up", "level-changed"] {
        assert!(!rows[0].codes().contains(&code), "{code}");
    }
    assert_eq!(rows[0]["ci"]["iops"], Value::Null, "a mean of different loads has no interval");
}

#[test]
fn a_shrunk_run_shrinks_its_curve() {
    let rows = results("constant,service=constant:1us", &suite(20, RAMP), "--scale time=1/10");
    let (due, done) = (&rows[0]["asked"]["due"], &rows[0]["ios"]);
    assert_eq!((due, done), (&json!(1_700.0), &json!(1_700)));
}

#[test]
fn bursts_of_a_file_repeat_and_strangers_come_by_the_curve() {
    let folder = scratch();
    std::fs::write(folder.join("day.csv"), "time,iops\n0,1000\n1,1000\n1,0\n5,0\n")
        .expect("a file");
    let text = suite(
        100,
        "[[workload]]\nname = \"w\"\narrivals = \"poisson\"\nrate = [{csv = \"day.csv\"}, \
         {repeat = true}]\n",
    );
    std::fs::write(folder.join("s.toml"), text).expect("a suite");
    let args =
        ["run", "s.toml", "--target", "sim:constant,service=constant:1us", "--json", "--quiet"];
    let ended = plimsoll(&folder, args).with_code(0).json();
    let stretches = over_time(&ended["results"][0]);
    assert_eq!(stretches.iter().map(|(due, _)| *due).sum::<f64>(), 20_000.0);
    for (second, (due, done)) in stretches.iter().enumerate() {
        // Four standard deviations of a Poisson count; and nothing at all in between.
        assert!((*done as f64 - due).abs() <= 4.0 * due.sqrt(), "{second}: {due} {done}");
    }
}

#[test]
fn a_device_that_is_too_slow_for_the_top_misses_the_rate() {
    let at = |top: u32| {
        let steps = format!("rate = [{{to = {top}, in = \"10s\"}}]");
        let text = suite(10, &format!("[[workload]]\nname = \"w\"\n{steps}\n"));
        results("constant,service=constant:1ms,servers=1", &text, "")[0].clone()
    };
    assert!(!at(900).codes().contains(&"rate-missed"));
    let slow = at(3_000);
    assert!(slow.codes().contains(&"rate-missed"));
    let of = |key: &str| slow["left_over"][key].count();
    let all = slow["ios"].count() + of("late") + of("never");
    assert_eq!(all, 15_000, "every request that was due is told");
}

/// A group of a deep workload of reads and a shallow one of writes.
fn bound(shares: [u32; 2]) -> String {
    let one = |name: &str, read: u32, depth: u32, share: u32| {
        format!(
            "[[workload]]\nname = \"{name}\"\ngroup = \"g\"\nread = \"{read}%\"\ndepth = {depth}\n\
             workers = 2\nshare = {share}\n"
        )
    };
    one("reads", 100, 16, shares[0]) + &one("writes", 0, 1, shares[1])
}

/// Requests of a workload that were sent.
fn sent(rows: &[Value], workload: &str) -> u64 {
    let row = rows.iter().find(|row| row["workload"] == workload).expect("a row");
    let of = |key: &str| row["left_over"][key].count();
    row["ios"].count() + of("late") + of("never")
}

/// That the requests of both are within one of their shares.
fn assert_bound(rows: &[Value], [reads, writes]: [u32; 2]) {
    let (first, second) = (sent(rows, "reads") as i64, sent(rows, "writes") as i64);
    let (all, reads) = (i64::from(reads + writes), i64::from(reads));
    let off = first * all - (first + second) * reads;
    assert!(off.abs() < all, "{first} reads and {second} writes");
    assert!(first + second > 100, "{first} reads and {second} writes");
}

#[test]
fn shares_bind_workloads_of_unlike_depth_to_within_one_request() {
    for shares in [[1, 1], [3, 1], [7, 30]] {
        let rows =
            results("constant,service=constant:1ms,servers=64", &suite(10, &bound(shares)), "");
        assert_bound(&rows, shares);
        // The slower of both holds up the other: two workers with one request each.
        let slowest =
            2.0 * 1_000.0 * 10.0 * f64::from(shares[0] + shares[1]) / f64::from(shares[1]);
        let all = (sent(&rows, "reads") + sent(&rows, "writes")) as f64;
        assert!((all / slowest - 1.0).abs() < 0.02, "{shares:?}: {all} of {slowest}");
    }
}

#[test]
fn shares_bind_threads_on_real_files() {
    let folder = scratch();
    // As long as a slow disk needs for a hundred requests.
    let text = suite(3, &bound([3, 1])).replace("64MiB", "4MiB").replace("prepare = false\n", "");
    std::fs::write(folder.join("s.toml"), text).expect("a suite");
    for backend in ["sync", "io_uring"] {
        let set = format!("engine.backend={backend}");
        let args = ("run s.toml --target t --json --quiet --buffered --set", [&set]);
        let ended = plimsoll(&folder, args).with_code(0).json();
        assert_bound(ended["results"].list(), [3, 1]);
    }
}

#[test]
fn a_rate_of_shares_is_one_of_what_was_measured_first() {
    let text = suite(
        4,
        "[[workload]]\nname = \"w\"\ndepth = 16\nrate = \"50%\"\n[sweep]\nrate = [\"10%\", \
         \"50%\", \"100%\"]\n",
    );
    // Four servers of 100 µs carry 40,000 a second.
    let rows = results("constant,service=constant:100us,servers=4", &text, "");
    let found: Vec<(&str, f64)> = rows
        .iter()
        .map(|row| {
            let rate = row["sweep"]["rate"].text();
            (rate, row["iops"].number().round())
        })
        .collect();
    let near = |(name, wanted): (&str, f64), (other, found): (&str, f64)| {
        assert_eq!(name, other);
        assert!((found / wanted - 1.0).abs() < 0.001, "{name}: {found}");
    };
    assert_eq!(found.len(), 4, "{found:?}");
    let wanted = [("unlimited", 40_000.0), ("10%", 4_000.0), ("50%", 20_000.0), ("100%", 40_000.0)];
    wanted.into_iter().zip(found).for_each(|(wanted, found)| near(wanted, found));
}

#[test]
fn shares_of_a_rate_in_a_group_are_of_what_each_workload_carried() {
    let member = |name: &str, depth: u32, share: u32| {
        format!(
            "[[workload]]\nname = \"{name}\"\ngroup = \"g\"\ndepth = {depth}\nshare = {share}\n"
        )
    };
    let sweep = "[sweep]\nrate = [\"10%\", \"50%\"]\n";
    let text = suite(4, &format!("{}{}{sweep}", member("a", 12, 3), member("b", 4, 1)));
    let rows = results("constant,service=constant:100us,servers=4", &text, "");
    let of = |name: &str, rate: &str| {
        let mut mine = rows.iter().filter(|row| row["workload"] == name);
        mine.find(|row| row["sweep"]["rate"] == rate).map(|row| row["iops"].number())
    };
    for (rate, share) in [("unlimited", 1.0), ("10%", 0.1), ("50%", 0.5)] {
        for (name, part) in [("a", 30_000.0), ("b", 10_000.0)] {
            let found = of(name, rate).unwrap_or_else(|| panic!("{name} at {rate}: {rows:?}"));
            assert!((found / (part * share) - 1.0).abs() < 0.001, "{name} at {rate}: {found}");
        }
    }
}

#[test]
fn a_rate_of_shares_that_nothing_can_be_measured_for_is_refused() {
    let folder = scratch();
    for (workload, said) in [
        ("rate = \"0%\"\n", "is nothing"),
        ("rate = \"120%\"\n", "up to 100%"),
        ("rate = \"50%\"\nrate_of = \"worker\"\n", "all workers carry together"),
        (
            "group = \"g\"\nrate = \"50%\"\n[[workload]]\nname = \"v\"\ngroup = \"g\"\n",
            "of its whole group",
        ),
    ] {
        let text = suite(4, &format!("[[workload]]\nname = \"w\"\n{workload}"));
        std::fs::write(folder.join("s.toml"), text).expect("a suite");
        let ended = plimsoll(&folder, "plan s.toml --target sim:ssd");
        let told = ended.with_code(2).err;
        assert!(told.contains(said), "{workload}: {told}");
    }
}

#[test]
fn bursts_into_a_bucket_of_tokens_find_its_size_and_its_refill() {
    let text = suite(
        400,
        "[[workload]]\nname = \"w\"\ndepth = 256\nrate = [{to = 100}, {hold = \"20s\"}, {to = \
         3000}, {hold = \"20s\"}, {repeat = true}]\n",
    );
    let rows = results("constant,service=constant:10us,servers=64,credits=20000@900", &text, "");
    let asked = &rows[0]["asked"];
    let found = |field: &str| asked["credits"][field].as_f64().unwrap_or_else(|| panic!("{asked}"));
    assert!((found("size") / 20_000.0 - 1.0).abs() < 0.05, "{}", asked["credits"]);
    assert!((found("per_s") / 900.0 - 1.0).abs() < 0.05, "{}", asked["credits"]);
    assert!(asked["bursts"].as_array().is_some_and(|bursts| !bursts.is_empty()), "{asked}");
    // What carries the same for good has none.
    let rows = results("constant,service=constant:10us,servers=64,iops=900", &text, "");
    assert_eq!(rows[0]["asked"]["credits"], Value::Null, "{}", rows[0]["asked"]["credits"]);
}

#[test]
fn works_at_rates_of_their_own_are_not_compared_with_each_other() {
    let member = |name: &str, rate: u32| {
        format!("[[workload]]\nname = \"{name}\"\ngroup = \"g\"\nrate = {rate}\n")
    };
    let text = suite(8, &format!("{}{}", member("a", 12_000), member("b", 3_000)));
    let rows = results("constant,service=constant:100us,servers=4", &text, "");
    assert_eq!(rows.len(), 3, "each, and both");
    for row in &rows {
        assert!(!row.codes().contains(&"unfair-workers"), "{row}");
    }
}
