//! Hosts and samples such as tests of the view want them.

use model::CounterSample;
use model::counters::{Entry, Layer, Metric};
use model::testbed::HostFacts;

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
