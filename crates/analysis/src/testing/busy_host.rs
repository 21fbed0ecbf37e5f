//! What the kernel of a busy server counts each second, the same for the same numbers. Each thing
//! has the metrics that `probe` reads of it, in the kernel's own steps.

use model::CounterSample;
use model::counters::{Entry, Layer, Metric};
use model::rng::Rng;

/// One, in ns.
const SECOND: u64 = 1_000_000_000;
/// A tick of the kernel's clock, in ns.
const TICK: u64 = 10_000_000;

/// A server with so many things to count.
#[derive(Clone, Copy, Debug)]
pub struct BusyHost {
    /// Logical CPUs; 14 series each.
    pub cpus: u32,
    /// Disks that are loaded; 17 series each.
    pub disks: u32,
    /// Network interfaces, of which the first is loaded; 8 series each.
    pub nics: u32,
}

impl BusyHost {
    /// 317 series.
    pub const SMALL: BusyHost = BusyHost { cpus: 20, disks: 1, nics: 1 };
    /// 2,579 series.
    pub const LARGE: BusyHost = BusyHost { cpus: 160, disks: 15, nics: 9 };

    /// One second of it, whose number is `number`.
    pub fn second(self, rng: &mut Rng, stage: u32, host: u32, number: u32) -> CounterSample {
        let mut entries = Vec::new();
        let entry = |layer, name: String, values: &[(Metric, u64)]| Entry {
            layer,
            name,
            values: values.to_vec(),
        };
        let interrupts = 5_000 * u64::from(self.cpus) + around(rng, 900);
        let of_host = [
            (Metric::Interrupts, interrupts),
            (Metric::ContextSwitches, 40_000 + around(rng, 900)),
        ];
        entries.push(entry(Layer::Host, String::new(), &of_host));
        for cpu in 0..self.cpus {
            entries.push(entry(Layer::Cpu, cpu.to_string(), &processor(rng)));
        }
        for cpu in 0..self.cpus {
            let served = [(Metric::Interrupts, 4_800 + around(rng, 200))];
            entries.push(entry(Layer::Interrupt, cpu.to_string(), &served));
        }
        for cpu in 0..self.cpus {
            let clock = [
                (Metric::FrequencyHz, (2_900 + around(rng, 60)) * 1_000_000),
                (Metric::CoreThrottles, 0),
                (Metric::PackageThrottles, 0),
            ];
            entries.push(entry(Layer::Clock, cpu.to_string(), &clock));
        }
        let wandering =
            |rng: &mut Rng, kib: u64| (kib + 13 * u64::from(number) + around(rng, 64)) << 10;
        let memory = [
            (Metric::FreeBytes, wandering(rng, 40_000_000)),
            (Metric::AvailableBytes, wandering(rng, 60_000_000)),
            (Metric::CachedBytes, wandering(rng, 20_000_000)),
            (Metric::DirtyBytes, around(rng, 400) << 10),
            (Metric::WritebackBytes, 0),
        ];
        entries.push(entry(Layer::Memory, String::new(), &memory));
        for (resource, metrics) in
            [("cpu", &[Metric::SomeNs][..]), ("memory", &[Metric::SomeNs, Metric::FullNs])]
        {
            let values: Vec<_> =
                metrics.iter().map(|metric| (*metric, rng.below(90) * 1_000)).collect();
            entries.push(entry(Layer::Pressure, resource.to_owned(), &values));
        }
        let values =
            [(Metric::SomeNs, 700_000_000 + around(rng, 9_000) * 1_000), (Metric::FullNs, 0)];
        entries.push(entry(Layer::Pressure, "io".to_owned(), &values));
        for disk in 0..self.disks {
            entries.push(entry(Layer::Block, format!("nvme{disk}n1"), &disk_second(rng)));
        }
        for nic in 0..self.nics {
            entries.push(entry(Layer::Nic, format!("eth{nic}"), &port(rng, nic == 0)));
        }
        CounterSample {
            stage,
            host,
            number,
            start_ns: u64::from(number) * SECOND + rng.below(40_000),
            length_ns: SECOND + rng.below(60_000),
            entries,
            notes: Vec::new(),
        }
    }
}

/// A number that wavers within twice `width`, rather in the middle than at its ends.
fn around(rng: &mut Rng, width: u64) -> u64 {
    (0..4).map(|_| rng.below(width / 2 + 1)).sum()
}

/// What a port passes in a second; one that is not in use has hardly a packet.
fn port(rng: &mut Rng, is_used: bool) -> [(Metric, u64); 8] {
    let packets = if is_used { 9_000 + around(rng, 300) } else { rng.below(3) };
    [
        (Metric::ReceivedBytes, packets * 1_400),
        (Metric::ReceivedPackets, packets),
        (Metric::ReceiveErrors, 0),
        (Metric::ReceiveDrops, 0),
        (Metric::SentBytes, packets * 90),
        (Metric::SentPackets, packets),
        (Metric::SendErrors, 0),
        (Metric::SendDrops, 0),
    ]
}

fn processor(rng: &mut Rng) -> [(Metric, u64); 10] {
    let (user, system, softirq) = (6 + around(rng, 6), 20 + around(rng, 12), rng.below(3));
    let iowait = around(rng, 2);
    let idle = 100u64.saturating_sub(user + system + softirq + iowait);
    [
        (Metric::UserNs, user * TICK),
        (Metric::NiceNs, 0),
        (Metric::SystemNs, system * TICK),
        (Metric::IdleNs, idle * TICK),
        (Metric::IowaitNs, iowait * TICK),
        (Metric::IrqNs, 0),
        (Metric::SoftirqNs, softirq * TICK),
        (Metric::StealNs, 0),
        (Metric::GuestNs, 0),
        (Metric::GuestNiceNs, 0),
    ]
}

fn disk_second(rng: &mut Rng) -> [(Metric, u64); 17] {
    let (reads, writes) = (2_000 + around(rng, 80), 300 + around(rng, 30));
    [
        (Metric::Reads, reads),
        (Metric::ReadsMerged, 0),
        (Metric::ReadBytes, reads * 4_096),
        (Metric::ReadNs, reads * 3 / 10 * 1_000_000),
        (Metric::Writes, writes),
        (Metric::WritesMerged, rng.below(2)),
        (Metric::WriteBytes, writes * 8_192),
        (Metric::WriteNs, writes / 10 * 1_000_000),
        (Metric::InFlight, rng.below(4)),
        (Metric::BusyNs, SECOND - rng.below(20) * 1_000_000),
        (Metric::QueueNs, reads * 3 / 10 * 1_000_000),
        (Metric::Discards, 0),
        (Metric::DiscardBytes, 0),
        (Metric::DiscardNs, 0),
        (Metric::Flushes, rng.below(3)),
        (Metric::FlushNs, 0),
        (Metric::SomeNs, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_as_many_series_as_they_say() {
        for (host, series) in [(BusyHost::SMALL, 317), (BusyHost::LARGE, 2_579)] {
            let sample = host.second(&mut Rng::new(1), 0, 0, 0);
            let counted: usize = sample.entries.iter().map(|entry| entry.values.len()).sum();
            assert_eq!(counted, series);
        }
    }
}
