//! What a host's stages bring: made up from a seed, or by the engine on simulated devices.

use model::histogram::EncodedHistogram;
use model::plan::{HostPlan, HostStage, Stop};
use model::rng::{Rng, derive};
use model::sample::{OpSample, Phase};
use model::{Histogram, IntervalSample, Op};
use std::sync::Arc;

/// How many requests, and how long each took.
pub(super) type Latencies = (u64, EncodedHistogram);

/// One host's samples.
#[derive(Clone, Debug)]
pub(super) enum Load {
    /// Derived from a seed: so many intervals a stage, each of this length, then a drain.
    MadeUp {
        seed: u64,
        host: u32,
        interval_ns: u64,
        durations_ns: Vec<u64>,
        /// One of these is the histogram of an interval: making a new one for each would be most
        /// of the work.
        latencies: Arc<[Latencies]>,
    },
    /// What the engine said of each stage.
    Engine(Vec<Vec<IntervalSample>>),
}

impl Load {
    /// The same by a host that takes other times for its stages, in ns.
    pub(super) fn lasting(self, durations_ns: Vec<u64>) -> Load {
        match self {
            Load::MadeUp { seed, host, interval_ns, latencies, .. } => {
                Load::MadeUp { seed, host, interval_ns, durations_ns, latencies }
            }
            engine @ Load::Engine(_) => engine,
        }
    }

    /// Runs every stage of `plan` by the engine, on the simulated devices that it names.
    pub(super) fn by_engine(plan: &HostPlan) -> Load {
        let targets = engine::open(plan.clone()).expect("simulated devices always open");
        let control = engine::Control::new();
        let run = |stage: &HostStage| {
            let mut samples = Vec::new();
            let mut sink = |sample| samples.push(sample);
            engine::run_stage(&targets, stage, &control, &mut || Some(0), &mut sink)
                .expect("nothing refuses it");
            samples
        };
        Load::Engine(plan.stages.iter().map(run).collect())
    }

    /// The next sample of a stage and when it is told, in ns after the stage's start; `None` after
    /// the last.
    pub(super) fn sample(&self, stage: u32, interval: u32) -> Option<(u64, IntervalSample)> {
        match self {
            Load::MadeUp { seed, host, interval_ns, durations_ns, latencies } => {
                let duration_ns = durations_ns[stage as usize];
                let start_ns = u64::from(interval) * interval_ns;
                let (length_ns, phase) = match () {
                    () if start_ns < duration_ns => {
                        (*interval_ns.min(&(duration_ns - start_ns)), Phase::Load)
                    }
                    () if start_ns < duration_ns + interval_ns => (0, Phase::Drain),
                    () => return None,
                };
                let start_ns = start_ns.min(duration_ns);
                let number =
                    derive(*seed, &[u64::from(*host), u64::from(stage), u64::from(interval)]);
                let (ios, latency) = latencies[number as usize % latencies.len()].clone();
                let op = OpSample {
                    ios,
                    bytes: ios * 4096,
                    errors: if number.is_multiple_of(50) {
                        vec![(5, number % 7 + 1)]
                    } else {
                        Vec::new()
                    },
                    latency,
                    ..OpSample::of(Op::Read)
                };
                let (host, ops, workers) = (*host, vec![op], Vec::new());
                let sample = IntervalSample {
                    stage,
                    host,
                    interval,
                    start_ns,
                    length_ns,
                    phase,
                    ops,
                    workers,
                };
                Some((start_ns + length_ns, sample))
            }
            Load::Engine(stages) => {
                let sample = stages.get(stage as usize)?.get(interval as usize)?.clone();
                Some((sample.start_ns + sample.length_ns, sample))
            }
        }
    }
}

/// Some histograms, each of some hundred latencies.
pub(super) fn latencies(seed: u64) -> Arc<[Latencies]> {
    let mut rng = Rng::new(seed);
    let mut one = || {
        let mut histogram = Histogram::new();
        let count = 100 + rng.below(200);
        (0..count).for_each(|_| histogram.record(50_000 + rng.below(500_000)));
        (count, histogram.encode())
    };
    (0..8).map(|_| one()).collect()
}

/// A sample cut short: the stage was ended `length_ns` after the interval began. What it did it had
/// done by then.
pub(super) fn cut_short(sample: IntervalSample, length_ns: u64) -> IntervalSample {
    IntervalSample { length_ns, ..sample }
}

/// When the load of a stage ends of itself, in ns after its start.
pub(super) fn end_ns(load: &Load, stage: u32, stop: Stop) -> u64 {
    match (load, stop) {
        (Load::MadeUp { durations_ns, .. }, _) => durations_ns[stage as usize],
        (Load::Engine(_), Stop::After(time)) => time.0,
        (Load::Engine(_), Stop::Steady(steady)) => steady.most.0,
        (Load::Engine(stages), Stop::Amount | Stop::Once(_)) => {
            let samples = stages.get(stage as usize).into_iter().flatten();
            samples
                .filter(|sample| sample.phase == Phase::Load)
                .map(|sample| sample.start_ns + sample.length_ns)
                .max()
                .unwrap_or(0)
        }
    }
}

/// Sums of samples: how many, and a checksum over all of each that is told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) samples: u64,
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) errors: u64,
    check: u64,
}

impl Tally {
    pub(super) fn add(&mut self, sample: &IntervalSample) {
        self.samples += 1;
        let mut check = derive(
            u64::from(sample.interval),
            &[u64::from(sample.stage), sample.start_ns, sample.length_ns],
        );
        for op in &sample.ops {
            let errors = op.error_count();
            self.ios += op.ios;
            self.bytes += op.bytes;
            self.errors += errors;
            let words = op.latency.0.chunks(8).map(|bytes| {
                bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte))
            });
            let latency = words.fold(0u64, |sum, word| {
                (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            });
            check = derive(check, &[op.ios, op.bytes, errors, latency]);
        }
        self.check = self.check.wrapping_add(check);
    }
}
