//! Limits, the cache, and errors.

use super::harness::{READ_4K, assert_near, closed_loop, spec};
use model::Op;
use model::rng::Rng;
use twin::{Device, Request};

/// Request n begins ⌊n ÷ limit⌋ after the first, to the ns, whatever the limit.
#[test]
fn an_iops_limit_is_exact_over_any_length() {
    for iops in [7u64, 999, 30_000, 123_457] {
        let device = spec(&format!("constant,service=10us,servers=8,iops={iops}"));
        let count = 300_000;
        let closed = closed_loop(&device, 1, 32, count, |_| READ_4K);
        assert_eq!(closed.end_ns, (count - 1) * 1_000_000_000 / iops + 10_000, "{iops} a second");
    }
}

/// The last byte of n requests has passed after ⌊n · length ÷ bandwidth⌋, to the ns; then its
/// service begins.
#[test]
fn a_bandwidth_limit_is_exact_over_any_length() {
    for bytes_per_s in [1_000_003u64, 100 << 20, 3_000_000_000] {
        let device = spec(&format!("constant,service=10us,servers=64,bandwidth={bytes_per_s}B/s"));
        let count = 300_000;
        let closed = closed_loop(&device, 1, 64, count, |_| READ_4K);
        assert_eq!(
            closed.end_ns,
            count * 4096 * 1_000_000_000 / bytes_per_s + 10_000,
            "{bytes_per_s} bytes a second"
        );
    }
}

/// Where every line is as likely as any other, the cache holds a random selection of them, and hits
/// are cache ÷ capacity whatever the policy (King, *Analysis of Demand Paging Algorithms*, 1971,
/// with equal probabilities).
#[test]
fn hits_of_uniform_access_are_the_share_that_is_cached() {
    for (cache, line, share) in
        [("16MiB", "4KiB", 0.25), ("32MiB", "64KiB", 0.5), ("48MiB", "1MiB", 0.75)]
    {
        let device = spec(&format!(
            "constant,service=1ms,capacity=64MiB,cache={cache}@1us,cache-line={line}"
        ));
        let (mut hits, mut counted) = (0u32, 0u32);
        for seed in 1..=4 {
            let mut device = Device::new(&device, seed);
            let mut rng = Rng::new(seed);
            let mut now_ns = 0;
            for index in 0..400_000 {
                let request =
                    Request { op: Op::Read, offset: rng.below(16_384) * 4096, length: 4096 };
                let completed_ns = device.submit(now_ns, request).completed_ns;
                if index >= 200_000 {
                    counted += 1;
                    hits += u32::from(completed_ns - now_ns == 1_000);
                }
                now_ns = completed_ns;
            }
        }
        assert_near(
            f64::from(hits) / f64::from(counted),
            share,
            0.01,
            &format!("{cache} in lines of {line}"),
        );
    }
}

/// A write-back cache of size s takes writes at the rate w of its own service until s ÷ (w − d) s
/// have passed, and from then on at the rate d of destaging.
#[test]
fn a_write_back_cache_fills_when_theory_says_and_is_then_as_fast_as_destaging() {
    let device = spec("constant,service=1ms,servers=1,cache=64MiB@10us,destage=102400000B/s");
    let (write, destage, size) = (4096.0 / 10e-6, 102_400_000.0, (64u64 << 20) as f64);
    let request = Request { op: Op::Write, ..READ_4K };

    let full_s = size / (write - destage);
    let fast = (full_s * 0.999 / 10e-6) as u64;
    assert_eq!(closed_loop(&device, 1, 1, fast, |_| request).latencies.max_ns(), Some(10_000));

    let count = 1_000_000;
    let closed = closed_loop(&device, 1, 1, count, |_| request);
    let theory_s = (count as f64 * 4096.0 - size) / destage;
    assert_near(closed.end_ns as f64 / 1e9, theory_s, 1e-4, "a million writes");
}

/// The number of failures is binomial: n·p, with a standard deviation of √(n·p·(1 − p)).
#[test]
fn errors_come_at_their_rates_and_change_no_time() {
    let plain = spec("exponential,mean=50us,servers=2");
    let failing =
        spec("exponential,mean=50us,servers=2,error=read:EIO:20000ppm,error=read:ETIMEDOUT:1%");
    let count = 1_000_000;
    let (mut eio, mut timed_out) = (0, 0);
    let (mut plain, mut failing) = (Device::new(&plain, 6), Device::new(&failing, 6));
    for index in 0..count {
        let answer = failing.submit(index * 30_000, READ_4K);
        let without = plain.submit(index * 30_000, READ_4K);
        assert_eq!(answer.completed_ns, without.completed_ns);
        assert_eq!(without.result, 4096);
        match answer.result {
            -5 => eio += 1,
            -110 => timed_out += 1,
            result => assert_eq!(result, 4096),
        }
    }
    // Four standard deviations are 2.8 % and 4 %.
    assert_near(f64::from(eio), count as f64 * 0.02, 0.028, "EIO");
    assert_near(f64::from(timed_out), count as f64 * 0.01, 0.04, "ETIMEDOUT");
}
