//! Response times of the queues that have a formula, and the law that holds for all of them.

use super::harness::{
    Arrivals, READ_4K, assert_near, closed_loop, mean_response_over_seeds_ns, responses, spec,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use twin::Device;

const SERVICE_S: f64 = 100e-6;

/// The mean response time of the M/G/1 queue in s: E[S] + λ·E[S²] ÷ (2·(1 − ρ)), the formula of
/// Pollaczek and Khinchine (Kleinrock, *Queueing Systems*, volume 1, 1975, section 5.6). With a
/// constant service (M/D/1) E[S²] = S².
fn md1_response_s(load: f64) -> f64 {
    SERVICE_S + load * SERVICE_S / (2.0 * (1.0 - load))
}

/// The probability that an arrival must wait in the M/M/c queue: the formula C of Erlang
/// (Kleinrock, volume 1, section 3.5), from his formula B by the recursion B(n) = a·B(n−1) ÷ (n +
/// a·B(n−1)) with a = c·ρ.
fn erlang_c(servers: u32, load: f64) -> f64 {
    let offered = f64::from(servers) * load;
    let b = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    b / (1.0 - load * (1.0 - b))
}

/// The mean response time of the M/M/c queue in s: S + C(c, a)·S ÷ (c·(1 − ρ)) (Kleinrock, ibid.).
fn mmc_response_s(servers: u32, load: f64) -> f64 {
    SERVICE_S + erlang_c(servers, load) * SERVICE_S / (f64::from(servers) * (1.0 - load))
}

/// How many arrivals make the standard error at most about 0.7 % of the mean: for M/M/1 it is, for
/// loads near 1, √(4 ÷ n) ÷ (1 − ρ) (Whitt, *Planning Queueing Simulations*, Management Science 35,
/// 1989), and less for more servers or a constant service.
fn arrivals_for(load: f64) -> u64 {
    (4.0 / (0.007 * (1.0 - load)).powi(2)) as u64
}

fn assert_mmc(servers: u32, load: f64, arrivals: u64) {
    let device = spec(&format!("exponential,mean=100us,servers={servers}"));
    let per_s = load * f64::from(servers) / SERVICE_S;
    let measured_ns = mean_response_over_seeds_ns(&device, 8, per_s, arrivals / 8);
    assert_near(
        measured_ns / 1e9,
        mmc_response_s(servers, load),
        0.02,
        &format!("M/M/{servers} at {load}"),
    );
}

fn assert_md1(load: f64, arrivals: u64) {
    let measured_ns = mean_response_over_seeds_ns(&spec("md1"), 8, load / SERVICE_S, arrivals / 8);
    assert_near(measured_ns / 1e9, md1_response_s(load), 0.02, &format!("M/D/1 at {load}"));
}

/// Table values: one server waits with probability ρ; two with 2ρ² ÷ (1 + ρ).
#[test]
fn the_formula_of_erlang_has_its_known_values() {
    assert!((erlang_c(1, 0.8) - 0.8).abs() < 1e-12);
    assert!((erlang_c(2, 0.5) - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn md1_at_50_and_80_percent() {
    assert_md1(0.5, 1_000_000);
    assert_md1(0.8, arrivals_for(0.8));
}

/// A constant service halves the variance of the work that arrives, and with it the arrivals that
/// are needed.
#[test]
fn md1_at_95_percent() {
    assert_md1(0.95, arrivals_for(0.95) / 2);
}

#[test]
fn mmc_at_50_and_80_percent() {
    for servers in [1, 4, 32] {
        assert_mmc(servers, 0.5, 1_000_000);
        assert_mmc(servers, 0.8, arrivals_for(0.8));
    }
}

#[test]
fn mm1_at_95_percent() {
    assert_mmc(1, 0.95, arrivals_for(0.95));
}

/// With more servers a part of the response is service, which varies little.
#[test]
fn mm8_at_95_percent() {
    assert_mmc(8, 0.95, arrivals_for(0.95) / 2);
}

/// The response time of M/M/1 is exponential with the mean 1 ÷ (μ − λ) (Kleinrock, volume 1,
/// section 5.6), so that its quantile q is −ln(1 − q) means.
#[test]
fn quantiles_of_the_response_of_mm1_are_exponential() {
    let load = 0.8;
    let arrivals = Arrivals::poisson(load / SERVICE_S, 5);
    let histogram =
        responses(&spec("exponential,mean=100us,servers=1"), 5, arrivals, arrivals_for(load) * 2);
    for q in [0.5, 0.9, 0.99] {
        let theory_ns = mmc_response_s(1, load) * 1e9 * -(1.0_f64 - q).ln();
        let measured_ns = histogram.quantile_ns(q).expect("a quantile") as f64;
        assert_near(measured_ns, theory_ns, 0.025, &format!("quantile {q}"));
    }
}

/// Little's law, L = λ·W (Little, *A Proof for the Queuing Formula: L = λW*, 1961): the number in
/// the system, integrated over time from a heap of completions, against the theoretical response
/// times.
#[test]
fn the_number_in_an_open_system_is_the_rate_times_the_response_time() {
    for (servers, load) in [(1, 0.5), (8, 0.8)] {
        let mut device =
            Device::new(&spec(&format!("exponential,mean=100us,servers={servers}")), 9);
        let per_s = load * f64::from(servers) / SERVICE_S;
        let mut arrivals = Arrivals::poisson(per_s, 9);
        let mut inside: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        let (mut area, mut last_ns) = (0u128, 0);
        for _ in 0..arrivals_for(load) {
            let now_ns = arrivals.next_ns();
            while let Some(&Reverse(left_ns)) = inside.peek().filter(|left| left.0 <= now_ns) {
                area += inside.len() as u128 * u128::from(left_ns - last_ns);
                last_ns = left_ns;
                inside.pop();
            }
            area += inside.len() as u128 * u128::from(now_ns - last_ns);
            last_ns = now_ns;
            inside.push(Reverse(device.submit(now_ns, READ_4K).completed_ns));
        }
        let measured = area as f64 / last_ns as f64;
        assert_near(
            measured,
            per_s * mmc_response_s(servers, load),
            0.02,
            &format!("L at {load} of {servers}"),
        );
    }
}

/// In a closed loop L is the number of requests outstanding.
#[test]
fn rate_times_latency_of_a_closed_loop_is_its_depth() {
    for device in [
        "ssd",
        "hdd,cache=1GiB@20us",
        "exponential,mean=50us,servers=4,iops=30000",
        "lognormal,stall=1s+500ms",
    ] {
        for depth in [1, 7, 64] {
            let closed = closed_loop(&spec(device), 2, depth, 200_000, |index| twin::Request {
                offset: index * 7_919 % 100_000 * 4096,
                ..READ_4K
            });
            let mean_s = closed.latencies.mean_ns().expect("latencies") / 1e9;
            assert_near(
                closed.per_s() * mean_s,
                depth as f64,
                0.005,
                &format!("{device} at depth {depth}"),
            );
        }
    }
}
