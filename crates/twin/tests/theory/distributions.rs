//! Service times and saturated throughput.

use super::harness::{READ_4K, assert_near, closed_loop, spec};
use model::Histogram;

const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];
/// The quantiles of the standard normal distribution at [`QUANTILES`] (NIST/SEMATECH, *e-Handbook
/// of Statistical Methods*, 1.3.6.7.1, continued to ten figures).
const NORMAL: [f64; 4] = [0.0, 2.326_347_874_0, 3.090_232_306_2, 3.719_016_485_5];

/// Ten million service times over eight seeds: 1,000 lie beyond p99.99, which puts its standard
/// error at 0.34 % for the exponential and 0.43 % for the lognormal distribution.
fn service_times(device: &str) -> Histogram {
    let mut all = Histogram::new();
    for seed in 1..=8 {
        all.merge(&closed_loop(&spec(device), seed, 1, 1_250_000, |_| READ_4K).latencies);
    }
    all
}

/// The quantile q of the exponential distribution is −ln(1 − q) means.
#[test]
fn quantiles_of_an_exponential_service() {
    let histogram = service_times("exponential,mean=50us,servers=1");
    for q in QUANTILES {
        let measured_ns = histogram.quantile_ns(q).expect("a quantile") as f64;
        assert_near(measured_ns, -50_000.0 * (1.0 - q).ln(), 0.01, &format!("quantile {q}"));
    }
}

/// The quantile of the lognormal distribution is median · exp(σ·z), with z that of the normal
/// distribution.
#[test]
fn quantiles_of_a_lognormal_service() {
    let histogram = service_times("constant,service=lognormal:80us:0.5");
    for (q, z) in QUANTILES.into_iter().zip(NORMAL) {
        let measured_ns = histogram.quantile_ns(q).expect("a quantile") as f64;
        assert_near(measured_ns, 80_000.0 * (0.5 * z).exp(), 0.01, &format!("quantile {q}"));
    }
}

/// A time that covers the shares from 98.9 % to 99.8 % is the p99; the shares themselves are
/// binomial.
#[test]
fn shares_of_an_empirical_service() {
    let histogram = closed_loop(
        &spec("constant,service=empirical:10us*989:1ms*9:20ms*2"),
        4,
        1,
        2_000_000,
        |_| READ_4K,
    )
    .latencies;
    for (q, theory_ns) in [
        (0.5, 10_000.0),
        (0.98, 10_000.0),
        (0.99, 1e6),
        (0.997, 1e6),
        (0.9985, 20e6),
        (0.9999, 20e6),
    ] {
        let measured_ns = histogram.quantile_ns(q).expect("a quantile") as f64;
        assert_near(measured_ns, theory_ns, 0.01, &format!("quantile {q}"));
    }
}

/// With every server busy all the time, throughput is servers ÷ mean service. The standard error of
/// 600,000 requests is 0.18 % where the deviation of the service is largest.
#[test]
fn saturated_throughput_is_servers_over_mean_service() {
    for (service, mean_s) in [
        ("100us", 100e-6),
        ("exponential:50us", 50e-6),
        // median · exp(σ² ÷ 2)
        ("lognormal:80us:0.5", 80e-6 * 1.133_148_453_066_826_3),
        ("empirical:10us*90:100us*10", 19e-6),
    ] {
        for servers in [1, 8, 48] {
            let device = spec(&format!("constant,service={service},servers={servers}"));
            let seeds = 1..=4;
            let count = 150_000;
            let time_s: f64 = seeds
                .clone()
                .map(|seed| closed_loop(&device, seed, 64, count, |_| READ_4K).end_ns as f64 / 1e9)
                .sum();
            let per_s = (seeds.count() as u64 * count) as f64 / time_s;
            assert_near(
                per_s,
                f64::from(servers) / mean_s,
                0.005,
                &format!("{service} on {servers}"),
            );
        }
    }
}

/// The bytes of a request keep its server: one server moves 1 ÷ (service + length ÷ bandwidth)
/// requests a second.
#[test]
fn bytes_and_service_add_up_on_one_server() {
    let device = spec("constant,service=100us,servers=1,bandwidth=40960000B/s");
    let closed = closed_loop(&device, 1, 4, 100_000, |_| READ_4K);
    assert_near(closed.per_s(), 1.0 / 200e-6, 1e-9, "requests a second");
}

#[test]
fn the_same_seed_gives_the_same_answers_and_another_seed_others() {
    for device in ["ssd", "exponential", "hdd,cache=1GiB@20us,error=read:EIO:1%", "lognormal"] {
        let run = |seed| closed_loop(&spec(device), seed, 16, 20_000, |_| READ_4K);
        assert_eq!(
            (run(1).end_ns, run(1).latencies),
            (run(1).end_ns, run(1).latencies),
            "{device}"
        );
        assert_ne!(run(1).end_ns, run(2).end_ns, "{device}");
    }
}
