//! Hosts and samples such as tests of the view want them.

use crate::watch::Film;
use model::counters::{Entry, Layer, Metric};
use model::testbed::HostFacts;
use model::{CounterSample, Event, Record};
use std::collections::{BTreeMap, VecDeque};

/// A host of which no part is described.
pub fn facts(name: &str) -> HostFacts {
    let mut facts = analysis::testing::host(0);
    facts.hostname = name.to_owned();
    facts.inventory = model::inventory::Inventory::default();
    facts
}

pub fn entry(layer: Layer, name: &str, values: &[(Metric, u64)]) -> Entry {
    Entry { layer, name: name.to_owned(), values: values.to_vec() }
}

pub fn sample(host: u32, length_ns: u64, entries: Vec<Entry>) -> CounterSample {
    CounterSample { host, length_ns, entries, ..CounterSample::default() }
}

/// A second of a host with two disks, a network port and two cores; the larger `load`, the more of
/// everything.
pub fn busy(host: u32, load: u64) -> CounterSample {
    let io = |share: u64| {
        [
            (Metric::Reads, load * 700 * share),
            (Metric::ReadBytes, load * 700 * share * 4096),
            (Metric::ReadNs, load * 700 * share * 250_000),
            (Metric::Writes, load * 300 * share),
            (Metric::WriteBytes, load * 300 * share * 16_384),
            (Metric::WriteNs, load * 300 * share * 1_250_000),
            (Metric::InFlight, load),
            (Metric::BusyNs, 500_000_000),
        ]
    };
    let cpu = |busy: u64| {
        [
            (Metric::UserNs, busy),
            (Metric::SystemNs, 50_000_000),
            (Metric::SoftirqNs, 10_000_000),
            (Metric::IowaitNs, 40_000_000),
            (Metric::StealNs, 0),
            (Metric::IdleNs, 900_000_000 - busy.min(900_000_000)),
        ]
    };
    let net = [
        (Metric::ReceivedBytes, load << 20),
        (Metric::ReceivedPackets, load * 800),
        (Metric::ReceiveErrors, 0),
        (Metric::ReceiveDrops, load),
        (Metric::SentBytes, load << 21),
        (Metric::SentPackets, load * 1_600),
    ];
    let entries = vec![
        entry(Layer::Cpu, "0", &cpu(load * 1_000_000)),
        entry(Layer::Cpu, "1", &cpu(load * 2_000_000)),
        entry(Layer::Clock, "0", &[(Metric::FrequencyHz, 2_800_000_000)]),
        entry(Layer::Block, "nvme0n1", &io(2)),
        entry(Layer::Block, "nvme1n1", &io(1)),
        entry(Layer::Nic, "eth0", &net),
    ];
    sample(host, 1_000_000_000, entries)
}

/// A film of what a record holds.
#[derive(Debug)]
pub struct Held {
    stages: BTreeMap<u32, Vec<(u64, Event)>>,
    heard_ns: BTreeMap<u32, BTreeMap<u32, u64>>,
    counted_ns: BTreeMap<u32, u64>,
    now: VecDeque<(u64, Event)>,
    /// How many samples it handed out.
    pub handed_out: usize,
}

impl Held {
    pub fn of(record: &Record) -> Held {
        let (mut stages, mut heard_ns, mut counted_ns) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for stage in &record.stages {
            let mut all: Vec<(u64, Event)> = Vec::new();
            let heard: &mut BTreeMap<u32, u64> = heard_ns.entry(stage.stage).or_default();
            for sample in stage.samples() {
                let end_ns = sample.start_ns + sample.length_ns;
                let known = heard.entry(sample.host).or_insert(end_ns);
                *known = end_ns.max(*known);
                all.push((end_ns, Event::Sample(sample.clone())));
            }
            for sample in stage.counters() {
                let end_ns = sample.start_ns + sample.length_ns;
                let known = counted_ns.entry(stage.stage).or_insert(end_ns);
                *known = end_ns.max(*known);
                all.push((end_ns, Event::Counters(Box::new(sample.clone()))));
            }
            all.sort_by_key(|(end_ns, _)| *end_ns);
            stages.insert(stage.stage, all);
        }
        Held { stages, heard_ns, counted_ns, now: VecDeque::new(), handed_out: 0 }
    }
}

impl Film for Held {
    type Error = std::convert::Infallible;

    fn heard_ns(&self, stage: u32) -> BTreeMap<u32, u64> {
        self.heard_ns.get(&stage).cloned().unwrap_or_default()
    }

    fn counted_ns(&self, stage: u32) -> Option<u64> {
        self.counted_ns.get(&stage).copied()
    }

    fn seek(&mut self, stage: u32, from_ns: u64, counters_alone: bool) -> Result<(), Self::Error> {
        let is_wanted = |(end_ns, event): &&(u64, Event)| {
            (from_ns == 0 || *end_ns > from_ns)
                && (!counters_alone || matches!(event, Event::Counters(_)))
        };
        let all = self.stages.get(&stage).into_iter().flatten();
        self.now = all.filter(is_wanted).cloned().collect();
        Ok(())
    }

    fn next_sample(&mut self) -> Result<Option<(u64, Event)>, Self::Error> {
        self.handed_out += usize::from(!self.now.is_empty());
        Ok(self.now.pop_front())
    }
}
