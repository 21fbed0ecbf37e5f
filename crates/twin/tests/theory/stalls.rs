//! A stall under open-loop load, and what a closed loop makes of it.

use super::harness::{Arrivals, READ_4K, assert_near, closed_loop, responses, spec};

const STALL_S: f64 = 2.0;
const RUN_S: f64 = 60.0;
const PER_S: f64 = 10_000.0;
const SERVICE_S: f64 = 50e-6;
/// One server, 10,000 requests a second of 50 µs each: half busy.
const LOAD: f64 = PER_S * SERVICE_S;
const DEVICE: &str = "constant,service=50us,servers=1,stall=20s+2s";

/// A request that arrives t after the beginning of a stall of length D finds D − t of it and the
/// work ρ·t of those before it: it waits D − (1 − ρ)·t. So waits fall evenly from D to 0 over D ÷
/// (1 − ρ), and in a run of length T the quantile q is D − (1 − q)·T·(1 − ρ), as long as that is
/// above 0 (the fluid model of a queue: Kleinrock, *Queueing Systems*, volume 2, 1976, section
/// 2.7). The service itself comes on top.
fn quantile_s(q: f64) -> f64 {
    STALL_S - (1.0 - q) * RUN_S * (1.0 - LOAD) + SERVICE_S
}

/// With even arrivals the fluid is off by one request at most.
#[test]
fn a_stall_delays_an_even_stream_as_theory_says() {
    let count = (PER_S * RUN_S) as u64;
    let histogram = responses(&spec(DEVICE), 1, Arrivals::even(PER_S), count);
    for q in [0.94, 0.95, 0.99, 0.999, 0.9999] {
        let measured_ns = histogram.quantile_ns(q).expect("a quantile") as f64;
        assert_near(measured_ns / 1e9, quantile_s(q), 0.005, &format!("quantile {q}"));
    }
    assert_eq!(
        histogram.max_ns(),
        Some(2_000_050_000),
        "the first that finds the device standing still"
    );
    // Waits end D ÷ (1 − ρ) = 4 s after the stall began: 40,000 requests of 600,000.
    let waited: u64 =
        histogram.buckets().filter(|&(low, _, _)| low > 50_500).map(|(_, _, n)| n).sum();
    assert_near(waited as f64, STALL_S / (1.0 - LOAD) * PER_S, 0.001, "requests that waited");
}

/// Chance moves the backlog of 20,000 arrivals by √20,000, 0.7 %, and the wait by half of that.
#[test]
fn a_stall_delays_a_poisson_stream_as_theory_says() {
    for seed in 1..=4 {
        let arrivals = Arrivals::poisson(PER_S, seed);
        let histogram = responses(&spec(DEVICE), seed, arrivals, (PER_S * RUN_S) as u64);
        for q in [0.97, 0.99, 0.999] {
            let measured_ns = histogram.quantile_ns(q).expect("a quantile") as f64;
            assert_near(
                measured_ns / 1e9,
                quantile_s(q),
                0.02,
                &format!("quantile {q} of seed {seed}"),
            );
        }
    }
}

/// Coordinated omission: a closed loop stands still with the device, so that as many requests see
/// the stall as are outstanding, and no quantile that is usually stated shows it.
#[test]
fn a_closed_loop_hides_a_stall() {
    let depth = 4;
    let closed = closed_loop(&spec(DEVICE), 1, depth, (PER_S * RUN_S) as u64, |_| READ_4K);
    let seen: u64 = closed
        .latencies
        .buckets()
        .filter(|&(low, _, _)| low > 1_000_000_000)
        .map(|(_, _, n)| n)
        .sum();
    assert_eq!(seen, depth);
    assert_near(
        closed.latencies.quantile_ns(0.9999).expect("a quantile") as f64,
        200_000.0,
        0.005,
        "p99.99",
    );
    assert_near(
        closed.end_ns as f64 / 1e9,
        RUN_S * LOAD + STALL_S,
        1e-9,
        "the run is longer by the stall",
    );
}
