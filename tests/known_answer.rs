//! The whole program against targets whose answer theory knows: suite, plan, engine, run file,
//! results.

use crate::common::{Json, plimsoll, run_suite, scratch};
use serde_json::Value;

/// The first result of a workload on a simulated device, in virtual time.
fn measured(device: &str, workload: &str, seconds: u32) -> Value {
    ended_with(0, device, workload, seconds)
}

/// The same of a run that ends with this exit code.
fn ended_with(code: i32, device: &str, workload: &str, seconds: u32) -> Value {
    let folder = scratch();
    let suite = format!(
        "name = \"known\"\n[layout]\nsize = \"1GiB\"\n[stages]\nprepare = false\nprecondition = \
         \"10s\"\nmeasure = \"{seconds}s\"\n[[workload]]\nname = \"w\"\nworkers = 4\n{workload}\n"
    );
    let json = run_suite(&folder, &suite, ["--target", &format!("sim:{device}")]).with_code(code);
    json.json()["results"][0].clone()
}

fn mean_s(row: &Value) -> f64 {
    row["latency_ns"]["mean"].number() / 1e9
}

fn assert_near(measured: f64, theory: f64, share: f64, what: &str) {
    assert!(
        (measured / theory - 1.0).abs() < share,
        "{what}: measured {measured}, theory {theory}"
    );
}

/// Arrivals like those of strangers, and so many places that none waits for one.
fn poisson(per_s: f64) -> String {
    format!("rate = {per_s:.0}\narrivals = \"poisson\"\ndepth = 4096")
}

const SERVICE_S: f64 = 100e-6;

/// Pollaczek and Khinchine for a constant service: S + ρ·S ÷ (2·(1 − ρ)).
#[test]
fn md1_responds_as_the_formula_says() {
    for (load, seconds) in [(0.5, 100), (0.8, 400), (0.95, 1_600)] {
        let row = measured("md1", &poisson(load / SERVICE_S), seconds);
        let theory = SERVICE_S + load * SERVICE_S / (2.0 * (1.0 - load));
        assert_near(mean_s(&row), theory, 0.02, &format!("M/D/1 at {load}"));
    }
}

/// Erlang C, by the recursion of Erlang B.
fn erlang_c(servers: u32, load: f64) -> f64 {
    let offered = f64::from(servers) * load;
    let b = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    b / (1.0 - load * (1.0 - b))
}

#[test]
fn mmc_responds_as_the_formula_says() {
    for (servers, load, seconds) in [(1, 0.5, 200), (4, 0.8, 150), (8, 0.95, 400)] {
        let device = format!("exponential,mean=100us,servers={servers}");
        let row = measured(&device, &poisson(load * f64::from(servers) / SERVICE_S), seconds);
        let theory =
            SERVICE_S + erlang_c(servers, load) * SERVICE_S / (f64::from(servers) * (1.0 - load));
        assert_near(mean_s(&row), theory, 0.02, &format!("M/M/{servers} at {load}"));
    }
}

#[test]
fn a_saturated_device_carries_its_servers_over_their_service() {
    for (device, per_s) in [
        ("md1", 10_000.0),
        ("exponential,mean=50us,servers=8", 160_000.0),
        ("md1,servers=64,iops=50000", 50_000.0),
    ] {
        let row = measured(device, "depth = 32", 20);
        assert_near(row["iops"].number(), per_s, 0.005, device);
        // Little's law: what is outstanding is the rate times the time.
        assert_near(row["iops"].number() * mean_s(&row), 128.0, 0.005, device);
    }
}

#[test]
fn quantiles_are_those_of_the_distribution_to_the_last_nines() {
    // As many servers as requests: nobody waits, and what is measured is the service alone.
    let row = measured("exponential,mean=100us,servers=128", "depth = 32", 8);
    let latency = &row["latency_ns"];
    for (key, share) in [
        ("p50", 0.5),
        ("p90", 0.9),
        ("p95", 0.95),
        ("p99", 0.99),
        ("p99_9", 0.999),
        ("p99_99", 0.9999),
    ] {
        let theory_ns = -(1.0f64 - share).ln() * 100e3;
        assert_near(latency[key].number(), theory_ns, 0.01, key);
    }
    assert!(row["ios"].number() > 8e6, "enough of them for four nines");
}

/// A device that stands still for 2 s of 60: at 10,000 requests a second, 20,000 are due meanwhile,
/// and the k-th of them waits 2 s − k·100 µs. One in a thousand of all 600,000 is 600, so that the
/// p99.9 is 1.94 s.
#[test]
fn a_stall_shows_in_an_open_loop_and_a_closed_one_is_warned_of() {
    let device = "md1,servers=4096,stall=30s+2s";
    let open = measured(device, "rate = 10000\ndepth = 4096", 60);
    // The depth of all workers together is less than what is due: the rest waits in the generator,
    // and its wait counts the same.
    assert_near(open["latency_ns"]["p99_9"].number(), 1.94e9, 0.01, "p99.9 of the open loop");
    assert_near(open["latency_ns"]["max"].number(), 2e9, 0.01, "maximum of the open loop");
    assert!(!open.codes().contains(&"stalled"), "an open loop hides nothing: {:?}", open.codes());

    let closed = measured(device, "depth = 1", 60);
    assert!(closed["latency_ns"]["p99_9"].number() < 200e3, "four requests of two million saw it");
    assert!(closed.codes().contains(&"stalled"), "{:?}", closed.codes());
}

#[test]
fn a_stall_that_outlasts_the_load_takes_its_time_from_the_figures() {
    // Of the 20 s of the load, which begins after 10 s, the device works for 15.
    let row = measured("md1,stall=25s+100s", "depth = 32", 20);
    assert_near(row["iops"].number(), 7_500.0, 0.005, "md1 for three quarters of the time");
}

#[test]
fn errors_of_the_device_are_counted_by_kind() {
    let folder = scratch();
    let line = "run --rw randread --iodepth 8 --size 64M --runtime 10 --json --quiet \
                sim:ssd,error=read:EIO:1000ppm";
    let json = plimsoll(&folder, line.split(' ').collect::<Vec<_>>()).with_code(1).json();
    let row = &json["results"][0];
    let share = row["errors"].number() / (row["errors"].number() + row["ios"].number());
    assert_near(share, 0.001, 0.05, "the share of errors");
    assert!(row.codes().contains(&"errors") && row.codes().contains(&"simulated"));
}

#[test]
fn the_time_of_the_wall_gives_the_same_answer_but_for_what_the_engine_adds() {
    let folder = scratch();
    let line = "run --rw randread --iodepth 4 --size 64M --runtime 1 --json --quiet --set \
                time=\"real\" sim:constant,service=2ms,servers=4";
    let json = plimsoll(&folder, line.split(' ').collect::<Vec<_>>()).with_code(0).json();
    let latency = &json["results"][0]["latency_ns"];
    assert!(latency["p50"].number() >= 2e6, "never faster than the device: {latency}");
}

#[test]
fn a_rate_of_writes_with_an_fsync_behind_each_is_kept() {
    let row = measured("constant,service=10us", "read = 0\nrate = 1000\nfsync_every = 1", 10);
    assert_eq!((&row["op"], &row["ios"]), (&Value::from("write"), &Value::from(10_000)));
    assert!(!row.codes().contains(&"rate-missed"), "{row}");
}

#[test]
fn a_target_that_keeps_its_rate_is_not_said_to_have_missed_it() {
    let missed = |device: &str, workload: &str| {
        measured(device, workload, 10).codes().contains(&"rate-missed")
    };
    // Every request takes 150 ms, and there is a server for each.
    assert!(!missed("constant,service=150ms,servers=1000", "rate = 1000\ndepth = 1024"));
    assert!(missed("constant,service=150ms,servers=100", "rate = 1000\ndepth = 1024"));
    // What failed came back, too; the run says so by its exit code.
    let failing = ended_with(1, "constant,service=10us,error=read:EIO:3%", "rate = 1000", 10);
    assert!(failing.codes().contains(&"errors") && !failing.codes().contains(&"rate-missed"));
}
