//! Every counter of a host in words and with its unit: for what the tables have no column, and for
//! one device, port or core alone.

use super::figures::{cpu_ns, per_second};
use super::format::Unit;
use model::counters::{Entry, Layer, Metric};
use model::{CounterSample, IntervalSample};

/// Threads and workers of a host that are kept: a line for each of more is read by nobody.
const MOST_THREADS: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// What it is, with its unit where the figure does not say it: `memory: dirty, MiB`.
    pub name: String,
    pub unit: Unit,
    /// The figure; `None` where the kernel does not tell it, or nothing was there to be measured.
    pub value: Option<f64>,
}

/// What a counter says over an interval of `length_ns`: how it is written, and its figure.
fn figure(entry: &Entry, metric: Metric, length_ns: u64) -> (Unit, Option<f64>) {
    use Metric::{
        AvailableBytes, Blocked, BusyNs, CachedBytes, CoreThrottles, DirtyBytes, DiscardNs,
        Discards, FlushNs, Flushes, FreeBytes, FrequencyHz, InFlight, PackageThrottles, QueueNs,
        ReadNs, ReadRttNs, Reads, ReceiveDrops, ReceiveErrors, Retransmissions, Runnable,
        SendDrops, SendErrors, Timeouts, WriteNs, WriteRttNs, WritebackBytes, Writes,
    };
    let value = entry.get(metric).map(|value| value as f64);
    let of_length = || per_second(entry.get(metric), length_ns).map(|ns| ns / 1e9);
    // The mean over what completed. The kernel counts many of these in whole ms: a sum of 0 says
    // that it was less than it can tell.
    let mean = |count: Metric| {
        let count = entry.get(count).filter(|count| *count > 0)? as f64;
        value.filter(|ns| *ns > 0.0).map(|ns| ns / count)
    };
    match metric {
        FrequencyHz => (Unit::Frequency, value),
        FreeBytes | AvailableBytes | CachedBytes | DirtyBytes | WritebackBytes => {
            (Unit::Size, value)
        }
        Runnable | Blocked | InFlight => (Unit::Number, value),
        CoreThrottles | PackageThrottles | ReceiveErrors | ReceiveDrops | SendErrors
        | SendDrops | Retransmissions | Timeouts => (Unit::Number, value),
        ReadNs | ReadRttNs => (Unit::Time, mean(Reads)),
        WriteNs | WriteRttNs => (Unit::Time, mean(Writes)),
        DiscardNs => (Unit::Time, mean(Discards)),
        FlushNs => (Unit::Time, mean(Flushes)),
        QueueNs => (Unit::Number, of_length()),
        BusyNs => (Unit::Share, of_length().map(|share| share.min(1.0))),
        _ if metric.word().ends_with("_ns") => match (entry.layer, cpu_ns(entry)) {
            (Layer::Cpu, Some((_, all))) if all > 0 => {
                (Unit::Share, value.map(|ns| ns / all as f64))
            }
            (Layer::Cpu, _) => (Unit::Share, None),
            _ => (Unit::Share, of_length()),
        },
        _ if metric.word().ends_with("_bytes") => {
            (Unit::Bandwidth, of_length().map(|per_ns| per_ns * 1e9))
        }
        _ => (Unit::Rate, of_length().map(|per_ns| per_ns * 1e9)),
    }
}

fn name(metric: Metric, unit: Unit) -> String {
    use Metric::{
        Blocked, BusyNs, FullNs, GuestNiceNs, GuestNs, QueueNs, RunNs, Runnable, SomeNs, WaitNs,
    };
    let words = match metric {
        Runnable => "threads that could run",
        Blocked => "threads that wait for I/O",
        GuestNs => "guests, a part of user",
        GuestNiceNs => "guests, a part of nice",
        RunNs => "on a CPU",
        WaitNs => "waited for a CPU",
        SomeNs => "some task waited",
        FullNs => "every task waited",
        BusyNs => "busy",
        QueueNs => "queue, mean",
        Metric::InFlight => "queue just now",
        Metric::FrequencyHz => "frequency",
        Metric::ReadNs => "read time, mean",
        Metric::WriteNs => "write time, mean",
        Metric::DiscardNs => "discard time, mean",
        Metric::FlushNs => "flush time, mean",
        Metric::ReadRttNs => "read round trip, mean",
        Metric::WriteRttNs => "write round trip, mean",
        Metric::CoreThrottles => "slowed down by heat, times",
        Metric::PackageThrottles => "package slowed down by heat, times",
        other => {
            let plain = other.word();
            let plain =
                plain.strip_suffix("_ns").or_else(|| plain.strip_suffix("_bytes")).unwrap_or(plain);
            return with_unit(&plain.replace('_', " "), unit);
        }
    };
    with_unit(words, unit)
}

fn with_unit(words: &str, unit: Unit) -> String {
    let unit = match unit {
        Unit::Rate => ", 1/s",
        Unit::Bandwidth => ", MiB/s",
        Unit::Size => ", MiB",
        Unit::Frequency => ", MHz",
        Unit::Number | Unit::Share | Unit::Time => "",
    };
    format!("{words}{unit}")
}

/// The counters of an entry, each with `before` ahead of its words.
fn of_entry<'a>(
    entry: &'a Entry,
    before: &'a str,
    length_ns: u64,
) -> impl Iterator<Item = Counted> + 'a {
    entry.values.iter().map(move |(metric, _)| {
        let (unit, value) = figure(entry, *metric, length_ns);
        Counted { name: format!("{before}{}", name(*metric, unit)), unit, value }
    })
}

/// All that is counted of one device, port, mount or core. A core's interrupts and clock are
/// counted elsewhere in the kernel, and are here.
pub fn of_part(sample: &CounterSample, layer: Layer, part: &str) -> Vec<Counted> {
    let with: &[Layer] = match layer {
        Layer::Cpu => &[Layer::Cpu, Layer::Interrupt, Layer::Clock],
        _ => &[layer],
    };
    let entries = with.iter().filter_map(|layer| sample.entry(*layer, part));
    entries.flat_map(|entry| of_entry(entry, "", sample.length_ns)).collect()
}

/// What of a sample is about the host as a whole, all cores together: a few hundred bytes, whatever
/// the host has of devices and cores. Of clocks it keeps the slowest and the fastest.
pub fn summary(sample: &CounterSample) -> CounterSample {
    let mut kept = CounterSample { entries: Vec::new(), notes: Vec::new(), ..*sample };
    let mut cpus = Entry { layer: Layer::Cpu, name: String::new(), values: Vec::new() };
    let (mut slowest, mut fastest, mut throttles) = (None::<u64>, None::<u64>, [None::<u64>; 2]);
    let mut threads = 0;
    for entry in &sample.entries {
        match entry.layer {
            Layer::Host | Layer::Memory | Layer::Pressure | Layer::Process => {
                kept.entries.push(entry.clone());
            }
            Layer::Thread if threads < MOST_THREADS => {
                threads += 1;
                kept.entries.push(entry.clone());
            }
            Layer::Cpu => {
                entry.values.iter().for_each(|(metric, ns)| add(&mut cpus.values, *metric, *ns));
            }
            Layer::Clock => {
                if let Some(hz) = entry.get(Metric::FrequencyHz) {
                    slowest = Some(slowest.map_or(hz, |least| least.min(hz)));
                    fastest = Some(fastest.map_or(hz, |most| most.max(hz)));
                }
                let counts = [Metric::CoreThrottles, Metric::PackageThrottles]
                    .map(|metric| entry.get(metric));
                for (sum, count) in throttles.iter_mut().zip(counts) {
                    *sum = count.map_or(*sum, |count| Some(sum.unwrap_or(0).saturating_add(count)));
                }
            }
            _ => {}
        }
    }
    if !cpus.values.is_empty() {
        kept.entries.push(cpus);
    }
    let mut clock = |name: &str, values: [(Metric, Option<u64>); 2]| {
        let values: Vec<(Metric, u64)> =
            values.into_iter().filter_map(|(metric, value)| Some((metric, value?))).collect();
        if !values.is_empty() {
            kept.entries.push(Entry { layer: Layer::Clock, name: name.to_owned(), values });
        }
    };
    clock("slowest core", [(Metric::FrequencyHz, slowest), (Metric::CoreThrottles, None)]);
    clock("fastest core", [(Metric::FrequencyHz, fastest), (Metric::CoreThrottles, None)]);
    clock(
        "all cores",
        [(Metric::CoreThrottles, throttles[0]), (Metric::PackageThrottles, throttles[1])],
    );
    kept
}

fn add(values: &mut Vec<(Metric, u64)>, metric: Metric, more: u64) {
    match values.iter_mut().find(|(known, _)| *known == metric) {
        Some((_, sum)) => *sum = sum.saturating_add(more),
        None => values.push((metric, more)),
    }
}

/// The counters of a [`summary`], in its order.
pub fn of_host(summary: &CounterSample) -> Vec<Counted> {
    let told = |entry: &Entry| {
        let before = match (entry.layer, entry.name.as_str()) {
            (Layer::Host, _) => String::new(),
            (Layer::Cpu, _) => "CPU: ".to_owned(),
            (Layer::Thread, name) => format!("thread {name}: "),
            (Layer::Clock | Layer::Process, name) => format!("{name}: "),
            (layer, "") => format!("{}: ", layer.word()),
            (layer, name) => format!("{} {name}: ", layer.word()),
        };
        of_entry(entry, &before, summary.length_ns).collect::<Vec<Counted>>()
    };
    summary.entries.iter().flat_map(told).collect()
}

/// The CPU time of each worker of a host in an interval, user and kernel together: 100 % is one
/// core.
pub fn of_workers(sample: &IntervalSample) -> Vec<Counted> {
    let told = |worker: &model::sample::WorkerSample| {
        let ns = worker.cpu_user_ns.saturating_add(worker.cpu_system_ns);
        let value = per_second(Some(ns), sample.length_ns).map(|ns| ns / 1e9);
        Counted { name: format!("worker {}: CPU", worker.worker), unit: Unit::Share, value }
    };
    sample.workers.iter().take(MOST_THREADS).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::{entry, sample};
    use std::collections::BTreeSet;

    fn told(counted: &[Counted]) -> Vec<String> {
        counted.iter().map(|one| format!("{} = {}", one.name, one.unit.text(one.value))).collect()
    }

    #[test]
    fn a_host_is_told_whole_with_units() {
        let cpu = [
            (Metric::UserNs, 500_000_000),
            (Metric::StealNs, 100_000_000),
            (Metric::IdleNs, 400_000_000),
        ];
        let clock = |hz, throttles| [(Metric::FrequencyHz, hz), (Metric::CoreThrottles, throttles)];
        let host = sample(
            0,
            1_000_000_000,
            vec![
                entry(Layer::Host, "", &[(Metric::Interrupts, 1_200), (Metric::Runnable, 3)]),
                entry(Layer::Cpu, "0", &cpu),
                entry(
                    Layer::Cpu,
                    "1",
                    &[(Metric::SoftirqNs, 250_000_000), (Metric::IdleNs, 750_000_000)],
                ),
                entry(Layer::Clock, "0", &clock(2_000_000_000, 2)),
                entry(Layer::Clock, "1", &clock(3_000_000_000, 5)),
                entry(Layer::Memory, "", &[(Metric::DirtyBytes, 42 << 20)]),
                entry(Layer::Pressure, "io", &[(Metric::SomeNs, 30_000_000), (Metric::FullNs, 0)]),
                entry(
                    Layer::Thread,
                    "77",
                    &[(Metric::RunNs, 990_000_000), (Metric::WaitNs, 10_000_000)],
                ),
                entry(Layer::Block, "sda", &[(Metric::Reads, 9)]),
            ],
        );
        let expected = [
            "interrupts, 1/s = 1200",
            "threads that could run = 3",
            "memory: dirty, MiB = 42",
            "pressure io: some task waited = 3%",
            "pressure io: every task waited = 0%",
            "thread 77: on a CPU = 99%",
            "thread 77: waited for a CPU = 1%",
            "CPU: user = 25%",
            "CPU: steal = 5%",
            "CPU: idle = 57%",
            "CPU: softirq = 12%",
            "slowest core: frequency, MHz = 2000",
            "fastest core: frequency, MHz = 3000",
            "all cores: slowed down by heat, times = 7",
        ];
        assert_eq!(told(&of_host(&summary(&host))), expected);
    }

    #[test]
    fn a_part_is_told_whole_and_a_core_with_its_clock_and_interrupts() {
        let disk = [
            (Metric::Reads, 20),
            (Metric::ReadBytes, 4 << 20),
            (Metric::ReadNs, 40_000_000),
            (Metric::Flushes, 3),
            (Metric::FlushNs, 0),
            (Metric::QueueNs, 3_000_000_000),
            (Metric::BusyNs, 9_000_000_000),
        ];
        let two_seconds = sample(
            0,
            2_000_000_000,
            vec![
                entry(Layer::Block, "sda", &disk),
                entry(Layer::Nfs, "sda", &[(Metric::Retransmissions, 4)]),
                entry(Layer::Cpu, "3", &[(Metric::IrqNs, 1), (Metric::IdleNs, 3)]),
                entry(Layer::Interrupt, "3", &[(Metric::Interrupts, 10)]),
                entry(Layer::Clock, "3", &[(Metric::FrequencyHz, 2_800_000_000)]),
            ],
        );
        let expected = [
            "reads, 1/s = 10",
            "read, MiB/s = 2.0",
            "read time, mean = 2.00ms",
            "flushes, 1/s = 1.5",
            "flush time, mean = –",
            "queue, mean = 1.5",
            "busy = 100%",
        ];
        assert_eq!(told(&of_part(&two_seconds, Layer::Block, "sda")), expected);
        let core = ["irq = 25%", "idle = 75%", "interrupts, 1/s = 5.0", "frequency, MHz = 2800"];
        assert_eq!(told(&of_part(&two_seconds, Layer::Cpu, "3")), core);
        assert_eq!(told(&of_part(&two_seconds, Layer::Nfs, "sda")), ["retransmissions = 4"]);
        assert_eq!(of_part(&two_seconds, Layer::Rdma, "sda"), []);
    }

    #[test]
    fn every_counter_has_words_of_its_own_and_nothing_that_a_kernel_says_does_harm() {
        let all: Vec<(Metric, u64)> =
            Metric::ALL.iter().map(|metric| (*metric, u64::MAX)).collect();
        for layer in Layer::ALL {
            for length_ns in [0, 1, u64::MAX] {
                let odd = sample(0, length_ns, vec![entry(*layer, "x", &all)]);
                let told = of_part(&odd, *layer, "x");
                let names: BTreeSet<&str> = told.iter().map(|one| one.name.as_str()).collect();
                assert_eq!((told.len(), names.len()), (all.len(), all.len()), "{layer}");
                of_host(&summary(&odd));
            }
        }
    }

    #[test]
    fn a_worker_is_told_in_cores() {
        let mut recorded = analysis::testing::Recorded::new("[[workload]]\nname = \"w\"\n");
        let stage = recorded.stage(model::StageKind::Measure);
        recorded.interval(stage, 0, &[(model::Op::Read, &[1_000])]);
        recorded.busy(0.62);
        let record = recorded.record();
        let mut sample = record.stages[0].samples()[0].clone();
        assert_eq!(told(&of_workers(&sample))[0], "worker 0: CPU = 62%");
        let one = sample.workers[0].clone();
        sample.workers = vec![one; 5_000];
        assert_eq!(of_workers(&sample).len(), MOST_THREADS);
    }

    #[test]
    fn a_summary_is_small_whatever_the_host_has() {
        let many = |layer: Layer| {
            (0..5_000).map(move |number| entry(layer, &number.to_string(), &[(Metric::RunNs, 1)]))
        };
        let large = sample(
            0,
            1,
            many(Layer::Thread).chain(many(Layer::Cpu)).chain(many(Layer::Block)).collect(),
        );
        assert_eq!(summary(&large).entries.len(), MOST_THREADS + 1);
    }
}
