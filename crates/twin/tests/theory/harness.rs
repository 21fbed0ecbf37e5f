//! Loads in virtual time: a Poisson or an even stream of arrivals, or a fixed number of requests
//! outstanding.

use model::rng::{Rng, derive};
use model::{Histogram, Op};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use twin::{Device, DeviceSpec, Request};

pub(crate) const READ_4K: Request = Request { op: Op::Read, offset: 0, length: 4096 };

/// The device of a text, which must be right.
pub(crate) fn spec(text: &str) -> DeviceSpec {
    DeviceSpec::parse(text).expect(text)
}

/// How far `measured` is from `theory`, as a share of the latter.
pub(crate) fn off(measured: f64, theory: f64) -> f64 {
    (measured / theory - 1.0).abs()
}

/// Asserts that `measured` is within `share` of `theory`.
#[track_caller]
pub(crate) fn assert_near(measured: f64, theory: f64, share: f64, what: &str) {
    assert!(
        off(measured, theory) <= share,
        "{what}: {measured} measured, {theory} in theory, more than {share} apart"
    );
}

pub(crate) struct Arrivals {
    mean_gap_ns: f64,
    at_ns: f64,
    chance: Option<Rng>,
}

impl Arrivals {
    /// A Poisson process: exponential gaps.
    pub(crate) fn poisson(per_s: f64, seed: u64) -> Arrivals {
        Arrivals {
            mean_gap_ns: 1e9 / per_s,
            at_ns: 0.0,
            chance: Some(Rng::new(derive(seed, &[77]))),
        }
    }

    /// One arrival after another, equally spaced.
    pub(crate) fn even(per_s: f64) -> Arrivals {
        Arrivals { mean_gap_ns: 1e9 / per_s, at_ns: 0.0, chance: None }
    }

    pub(crate) fn next_ns(&mut self) -> u64 {
        self.at_ns += match &mut self.chance {
            // The middle of each of 2^53 steps, so that the logarithm is finite.
            Some(rng) => {
                -self.mean_gap_ns
                    * (((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64).ln()
            }
            None => self.mean_gap_ns,
        };
        self.at_ns as u64
    }
}

/// The sum of the response times of `count` requests, in ns, after another tenth to warm up.
pub(crate) fn mean_response_ns(spec: &DeviceSpec, seed: u64, per_s: f64, count: u64) -> f64 {
    let mut device = Device::new(spec, seed);
    let mut arrivals = Arrivals::poisson(per_s, seed);
    let mut sum_ns = 0;
    for index in 0..count + count / 10 {
        let now_ns = arrivals.next_ns();
        let response_ns = device.submit(now_ns, READ_4K).completed_ns - now_ns;
        if index >= count / 10 {
            sum_ns += response_ns;
        }
    }
    sum_ns as f64 / count as f64
}

/// The mean of [`mean_response_ns`] over seeds 1 to `seeds`, each on a thread of its own.
pub(crate) fn mean_response_over_seeds_ns(
    spec: &DeviceSpec,
    seeds: u64,
    per_s: f64,
    count: u64,
) -> f64 {
    let sum_ns: f64 = std::thread::scope(|scope| {
        let runs: Vec<_> = (1..=seeds)
            .map(|seed| scope.spawn(move || mean_response_ns(spec, seed, per_s, count)))
            .collect();
        runs.into_iter().map(|run| run.join().expect("a run ends")).sum()
    });
    sum_ns / seeds as f64
}

/// Response times under `count` arrivals.
pub(crate) fn responses(
    spec: &DeviceSpec,
    seed: u64,
    mut arrivals: Arrivals,
    count: u64,
) -> Histogram {
    let mut device = Device::new(spec, seed);
    let mut histogram = Histogram::new();
    for _ in 0..count {
        let now_ns = arrivals.next_ns();
        histogram.record(device.submit(now_ns, READ_4K).completed_ns - now_ns);
    }
    histogram
}

/// What a closed loop saw.
pub(crate) struct Closed {
    pub(crate) latencies: Histogram,
    /// When the last of them completed.
    pub(crate) end_ns: u64,
}

impl Closed {
    /// Requests a second from 0 to the last completion.
    pub(crate) fn per_s(&self) -> f64 {
        self.latencies.count() as f64 / (self.end_ns as f64 / 1e9)
    }
}

/// Keeps `depth` requests outstanding until `count` have been sent: each completion sends the next.
pub(crate) fn closed_loop(
    spec: &DeviceSpec,
    seed: u64,
    depth: u64,
    count: u64,
    mut request: impl FnMut(u64) -> Request,
) -> Closed {
    let mut device = Device::new(spec, seed);
    let mut outstanding: BinaryHeap<Reverse<u64>> = (0..depth).map(|_| Reverse(0)).collect();
    let mut closed = Closed { latencies: Histogram::new(), end_ns: 0 };
    for index in 0..count {
        let Some(mut first) = outstanding.peek_mut() else { break };
        let now_ns = first.0;
        let answer = device.submit(now_ns, request(index));
        closed.latencies.record(answer.completed_ns - now_ns);
        closed.end_ns = closed.end_ns.max(answer.completed_ns);
        *first = Reverse(answer.completed_ns);
    }
    closed
}
