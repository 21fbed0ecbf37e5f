//! What is kept of a stretch of a run: requests and latencies, and what the hosts' kernels counted.

use super::bounded_series::Part;
use model::counters::{Layer, Metric};
use model::{CounterSample, EncodedHistogram, Histogram, Op};
use report::ground::chart::Bands;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Load {
    /// By operation; those that nobody completed are absent.
    pub ops: BTreeMap<Op, OpLoad>,
    pub samples: u64,
}

#[derive(Debug, Default)]
pub struct OpLoad {
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
    pub errors: u64,
    pub latency: Latency,
}

impl Part for Load {
    fn merge(&mut self, later: Load) {
        self.samples += later.samples;
        for (op, load) in later.ops {
            let mine = self.ops.entry(op).or_default();
            mine.ios = mine.ios.saturating_add(load.ios);
            mine.bytes = mine.bytes.saturating_add(load.bytes);
            mine.errors = mine.errors.saturating_add(load.errors);
            mine.latency.merge(load.latency);
        }
    }

    fn settle(&mut self) {
        self.ops.values_mut().for_each(|load| load.latency.settle());
    }
}

/// Service times that can still be added to, or are put away small once nobody will.
#[derive(Debug, Default)]
pub struct Latency {
    open: Option<Box<Histogram>>,
    /// The histogram as bytes, and what a chart shows of it.
    settled: Option<(EncodedHistogram, LatencySummary)>,
}

/// What charts show of a stretch's latencies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencySummary {
    /// p50, p99, p99.9 and the maximum, in ns; `None` where nothing was completed.
    pub quantiles_ns: Option<[u64; 4]>,
    /// Counts by band, in rising order; see [`Bands`].
    pub bands: Vec<(usize, u64)>,
}

impl LatencySummary {
    fn of(histogram: &Histogram) -> LatencySummary {
        let quantile = |share| histogram.quantile_ns(share).unwrap_or(0);
        let quantiles =
            [quantile(0.5), quantile(0.99), quantile(0.999), histogram.max_ns().unwrap_or(0)];
        LatencySummary {
            quantiles_ns: (histogram.count() > 0).then_some(quantiles),
            bands: Bands::COARSE.count(histogram),
        }
    }
}

impl Latency {
    /// Adds a histogram; one that is none is refused where it is recorded.
    pub fn add(&mut self, histogram: &EncodedHistogram) {
        let _ = histogram.merge_into(self.opened());
    }

    pub fn summary(&self) -> LatencySummary {
        match (&self.open, &self.settled) {
            (Some(histogram), _) => LatencySummary::of(histogram),
            (None, Some((_, told))) => told.clone(),
            (None, None) => LatencySummary::default(),
        }
    }

    fn opened(&mut self) -> &mut Histogram {
        let settled = self.settled.take();
        self.open.get_or_insert_with(|| {
            let mut histogram = Histogram::new();
            if let Some((bytes, _)) = settled {
                // Bytes that we wrote ourselves.
                let _ = bytes.merge_into(&mut histogram);
            }
            Box::new(histogram)
        })
    }

    fn merge(&mut self, later: Latency) {
        let still_open = self.open.is_some() || later.open.is_some();
        let all = self.opened();
        match (later.open, later.settled) {
            (Some(histogram), _) => all.merge(&histogram),
            // Bytes that we wrote ourselves.
            (None, Some((bytes, _))) => drop(bytes.merge_into(all)),
            (None, None) => {}
        }
        if !still_open {
            self.settle();
        }
    }

    fn settle(&mut self) {
        if let Some(histogram) = self.open.take() {
            self.settled = Some((histogram.encode(), LatencySummary::of(&histogram)));
        }
    }
}

/// What one host did in a stretch: only what adds up in a few bytes, because there may be thousands
/// of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostLoad {
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
    /// The sum of service times in ns; with `ios` it gives their mean.
    pub latency_sum_ns: u128,
    /// The longest service time in ns.
    pub latency_max_ns: u64,
}

impl Part for HostLoad {
    fn merge(&mut self, later: HostLoad) {
        self.ios = self.ios.saturating_add(later.ios);
        self.bytes = self.bytes.saturating_add(later.bytes);
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(later.latency_sum_ns);
        self.latency_max_ns = self.latency_max_ns.max(later.latency_max_ns);
    }
}

/// What kernels counted in a stretch: processors and networks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct System {
    /// CPU time in which there was work, in ns.
    pub busy_ns: u64,
    pub kernel_ns: u64,
    pub softirq_ns: u64,
    pub all_ns: u64,
    /// Bytes that came in over networks; the loopback interface is none.
    pub received_bytes: u64,
    /// Bytes that went out.
    pub sent_bytes: u64,
}

impl System {
    /// What one host's sample says. Interfaces that stand on others (a bond and its ports) both
    /// count, as their kernel counts them.
    pub fn of(sample: &CounterSample) -> System {
        let mut system = System::default();
        for entry in &sample.entries {
            let get = |metric| entry.get(metric).unwrap_or(0);
            match entry.layer {
                Layer::Cpu => {
                    let kernel = [Metric::SystemNs, Metric::IrqNs, Metric::SoftirqNs]
                        .map(get)
                        .iter()
                        .sum::<u64>();
                    let busy =
                        kernel + get(Metric::UserNs) + get(Metric::NiceNs) + get(Metric::StealNs);
                    system.busy_ns = system.busy_ns.saturating_add(busy);
                    system.kernel_ns = system.kernel_ns.saturating_add(kernel);
                    system.softirq_ns = system.softirq_ns.saturating_add(get(Metric::SoftirqNs));
                    let idle = get(Metric::IdleNs).saturating_add(get(Metric::IowaitNs));
                    system.all_ns = system.all_ns.saturating_add(busy.saturating_add(idle));
                }
                Layer::Nic if entry.name != "lo" => system.count(get),
                Layer::Rdma => system.count(get),
                _ => {}
            }
        }
        system
    }

    fn count(&mut self, get: impl Fn(Metric) -> u64) {
        self.received_bytes = self.received_bytes.saturating_add(get(Metric::ReceivedBytes));
        self.sent_bytes = self.sent_bytes.saturating_add(get(Metric::SentBytes));
    }

    /// The share of all CPU time in which there was work, 0 to 1.
    pub fn busy(&self) -> Option<f64> {
        share(self.busy_ns, self.all_ns)
    }

    /// The share of all CPU time that went to the kernel, 0 to 1.
    pub fn kernel(&self) -> Option<f64> {
        share(self.kernel_ns, self.all_ns)
    }

    /// The share of all CPU time that went to soft interrupts, 0 to 1.
    pub fn softirq(&self) -> Option<f64> {
        share(self.softirq_ns, self.all_ns)
    }
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

impl Part for System {
    fn merge(&mut self, later: System) {
        self.busy_ns = self.busy_ns.saturating_add(later.busy_ns);
        self.kernel_ns = self.kernel_ns.saturating_add(later.kernel_ns);
        self.softirq_ns = self.softirq_ns.saturating_add(later.softirq_ns);
        self.all_ns = self.all_ns.saturating_add(later.all_ns);
        self.received_bytes = self.received_bytes.saturating_add(later.received_bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(later.sent_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::counters::Entry;

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    #[test]
    fn latencies_put_away_and_merged_are_those_recorded_together() {
        let (mut first, mut second) = (Latency::default(), Latency::default());
        first.add(&histogram(&[100_000, 200_000]).encode());
        first.settle();
        second.add(&histogram(&[9_000_000]).encode());
        second.settle();
        first.merge(second);
        assert!(first.open.is_none(), "two that are put away stay put away");
        first.add(&histogram(&[1_000]).encode());
        assert_eq!(
            first.summary(),
            LatencySummary::of(&histogram(&[1_000, 100_000, 200_000, 9_000_000]))
        );
        assert_eq!(first.summary().bands.iter().map(|(_, count)| count).sum::<u64>(), 4);
    }

    #[test]
    fn bands_adjoin_and_hold_what_they_count() {
        for value in [0u64, 1, 255, 256, 4_095, 4_096, 1_000_000, 30_000_000_000] {
            let band = LatencySummary::of(&histogram(&[value])).bands[0].0;
            let (low, high) = Bands::COARSE.bounds(band);
            assert!(low <= value && value < high, "{value} in {low} to {high}");
            assert_eq!(Bands::COARSE.bounds(band + 1).0, high);
        }
    }

    #[test]
    fn the_loopback_is_no_network_and_waiting_is_no_work() {
        let cpu = [
            (Metric::UserNs, 20),
            (Metric::SoftirqNs, 5),
            (Metric::IdleNs, 50),
            (Metric::IowaitNs, 25),
        ];
        let sample = CounterSample {
            entries: vec![
                Entry::new(Layer::Cpu, "0", &cpu),
                Entry::new(Layer::Nic, "lo", &[(Metric::SentBytes, 1_000)]),
                Entry::new(Layer::Nic, "eth0", &[(Metric::SentBytes, 7)]),
            ],
            ..CounterSample::default()
        };
        let system = System::of(&sample);
        assert_eq!(
            (system.busy(), system.kernel(), system.softirq()),
            (Some(0.25), Some(0.05), Some(0.05))
        );
        assert_eq!((system.sent_bytes, system.received_bytes), (7, 0));
        assert_eq!(System::default().busy(), None);
    }
}
