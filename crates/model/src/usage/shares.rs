//! What one interval of a host's counters says of each thing that can be used up.

use super::{Part, Said};
use crate::counters::{CounterSample, Entry, Layer, Metric};
use crate::inventory::NicFacts;
use crate::testbed::HostFacts;

/// Whether a block device is built on others, whose requests would be counted twice. By name: a
/// device that came later stands in no inventory.
pub fn is_stacked(device: &str) -> bool {
    const STACKED: [&str; 6] = ["dm-", "md", "loop", "drbd", "bcache", "zd"];
    STACKED.iter().any(|head| {
        device.strip_prefix(head).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// Whether an entry is an interface of those of its host that count, so that a byte counts once.
pub fn is_carrier(entry: &Entry, sample: &CounterSample, nics: &[NicFacts]) -> bool {
    if entry.layer == Layer::Rdma {
        return true;
    }
    if entry.layer != Layer::Nic || entry.name == "lo" {
        return false;
    }
    // What goes over IP on InfiniBand is a part of what its port counts.
    if entry.name.starts_with("ib") && sample.entries.iter().any(|other| other.layer == Layer::Rdma)
    {
        return false;
    }
    let known = nics.iter().find(|nic| nic.name == entry.name);
    if nics.iter().any(|nic| !nic.driver.is_empty()) {
        // Bonds, bridges and VLANs only pass on what the hardware carries.
        return known.is_none_or(|nic| !nic.driver.is_empty());
    }
    known.is_none_or(|nic| nic.master.is_empty())
}

/// Time with work and all time of a CPU, in ns; `None` where the kernel tells nothing of it.
pub fn cpu_ns(entry: &Entry) -> Option<(u64, u64)> {
    use Metric::{IdleNs, IowaitNs, IrqNs, NiceNs, RunNs, SoftirqNs, StealNs, SystemNs, UserNs};
    let sum = |metrics: &[Metric]| {
        metrics.iter().filter_map(|metric| entry.get(*metric)).fold(0, u64::saturating_add)
    };
    // Steal is no work of this host, but no rest either: nobody could have used it.
    let busy = sum(&[UserNs, NiceNs, SystemNs, IrqNs, SoftirqNs, StealNs, RunNs]);
    let all = busy.saturating_add(sum(&[IdleNs, IowaitNs]));
    (all > 0).then_some((busy, all))
}

/// `part` of `whole` in millionths, 1,000,000 at most; `None` of nothing.
fn ppm(part: u128, whole: u128) -> Option<u64> {
    (whole > 0).then(|| (part.min(whole).saturating_mul(1_000_000) / whole) as u64)
}

/// Bytes that came in and went out by every interface, port and disk of a host, the loopback too,
/// but not by what only passes them on; `None` where nothing is counted of either.
pub(super) fn moved(sample: &CounterSample) -> Option<(u64, u64)> {
    let pair = |entry: &Entry| match entry.layer {
        Layer::Nic | Layer::Rdma => {
            Some((entry.get(Metric::ReceivedBytes)?, entry.get(Metric::SentBytes)?))
        }
        Layer::Block if !is_stacked(&entry.name) => {
            Some((entry.get(Metric::ReadBytes)?, entry.get(Metric::WriteBytes)?))
        }
        _ => None,
    };
    let pairs = sample.entries.iter().filter_map(pair);
    pairs.reduce(|(a, b), (c, d)| (a.saturating_add(c), b.saturating_add(d)))
}

/// Hands out what `sample` says of each thing of the host `facts`.
pub(super) fn each(
    facts: &HostFacts,
    sample: &CounterSample,
    mut take: impl FnMut(Part, &str, Said),
) {
    let pressure = |resource: &str| sample.get(Layer::Pressure, resource, Metric::SomeNs);
    let (mut busy, mut all, mut throttled, mut stolen) = (0u64, 0u64, 0u64, 0u64);
    for entry in &sample.entries {
        match entry.layer {
            Layer::Block if is_stacked(&entry.name) => {
                let all = disk(entry, sample.length_ns);
                take(Part::Stacked, &entry.name, Said { used_ppm: None, waiting_ns: None, ..all });
            }
            Layer::Block => take(Part::Disk, &entry.name, disk(entry, sample.length_ns)),
            Layer::Cpu => {
                let Some((work_ns, time_ns)) = cpu_ns(entry) else { continue };
                stolen = stolen.saturating_add(entry.get(Metric::StealNs).unwrap_or(0));
                (busy, all) = (busy.saturating_add(work_ns), all.saturating_add(time_ns));
                let used_ppm = ppm(work_ns.into(), time_ns.into());
                // Files may tell all CPUs of a host in one.
                if !entry.name.is_empty() {
                    take(Part::Core, &entry.name, Said { used_ppm, ..Said::default() });
                }
            }
            Layer::Clock => {
                throttled = throttled.saturating_add(entry.get(Metric::CoreThrottles).unwrap_or(0));
            }
            Layer::Nic | Layer::Rdma if is_carrier(entry, sample, &facts.inventory.nics) => {
                take(Part::Port, &entry.name, port(facts, entry, sample.length_ns));
            }
            Layer::Memory => {
                take(Part::Memory, "", memory(facts, entry, sample.length_ns, pressure("memory")));
            }
            Layer::Nfs | Layer::Smb => {
                let count = |metric| entry.get(metric).unwrap_or(0);
                let errors = count(Metric::Retransmissions).saturating_add(count(Metric::Timeouts));
                take(Part::Mount, &entry.name, Said { errors, ..Said::default() });
                if let Some(hits) = client_cache(entry) {
                    take(Part::Cache, &entry.name, Said { hits, ..Said::default() });
                }
            }
            Layer::Quota => {
                let counts = entry.get(Metric::ThrottledPeriods).zip(entry.get(Metric::Periods));
                let used_ppm = counts.and_then(|(full, all)| ppm(full.into(), all.into()));
                take(Part::Quota, &entry.name, Said { used_ppm, ..Said::default() });
            }
            Layer::Cache => {
                let known = entry.get(Metric::Hits).zip(entry.get(Metric::Misses));
                if let Some(hits) = known {
                    let count = |metric| entry.get(metric).unwrap_or(0);
                    let migrated = (count(Metric::Promotions), count(Metric::Demotions));
                    let dirty_bytes = entry.get(Metric::DirtyBytes);
                    let said = Said { hits, migrated, dirty_bytes, ..Said::default() };
                    take(Part::Cache, &entry.name, said);
                }
            }
            _ => {}
        }
    }
    if all > 0 {
        let used_ppm = ppm(busy.into(), all.into());
        let stolen_ppm = ppm(stolen.into(), all.into()).unwrap_or(0);
        let waiting_ns = pressure("cpu");
        let said = Said { used_ppm, waiting_ns, errors: throttled, stolen_ppm, ..Said::default() };
        take(Part::Cpu, "", said);
    }
}

/// Bytes of reads that a mount's client had, and those that it asked its server for; `None` where
/// nobody counts them. What is read ahead of programs makes no hit negative.
fn client_cache(entry: &Entry) -> Option<(u64, u64)> {
    let (asked, fetched) = (entry.get(Metric::AskedReadBytes)?, entry.get(Metric::ReadBytes)?);
    Some((asked.saturating_sub(fetched), fetched))
}

/// Memory that somebody holds for good, such as huge pages, limits nobody: it is full by its
/// pressure.
fn memory(facts: &HostFacts, entry: &Entry, length_ns: u64, waiting_ns: Option<u64>) -> Said {
    let taken = entry.get(Metric::AvailableBytes).map(|bytes| facts.memory.0.saturating_sub(bytes));
    let used_ppm = taken.and_then(|taken| ppm(taken.into(), facts.memory.0.into()));
    let is_wanting = waiting_ns.is_some_and(|ns| ns.saturating_mul(10) >= length_ns);
    Said { used_ppm, waiting_ns, is_full: Some(is_wanting), ..Said::default() }
}

fn disk(entry: &Entry, length_ns: u64) -> Said {
    let used_ppm =
        entry.get(Metric::BusyNs).and_then(|busy_ns| ppm(busy_ns.into(), length_ns.into()));
    let carried = entry.get(Metric::ReadBytes).zip(entry.get(Metric::WriteBytes));
    let count = |metric| entry.get(metric).unwrap_or(0);
    let requests = (count(Metric::Reads), count(Metric::Writes));
    let (waiting_ns, flushes) = (entry.get(Metric::QueueNs), entry.get(Metric::Flushes));
    Said { used_ppm, waiting_ns, carried, requests, flushes, ..Said::default() }
}

/// The busier one of both directions: a link carries its speed in each of them (full duplex).
fn port(facts: &HostFacts, entry: &Entry, length_ns: u64) -> Said {
    let count = |metric| entry.get(metric).unwrap_or(0);
    let bytes = entry.get(Metric::ReceivedBytes).max(entry.get(Metric::SentBytes));
    // 10⁶ bits a second are 10⁻³ bits a nanosecond.
    let most_bits =
        speed_mbit(facts, entry).map(|mbit| u128::from(mbit) * u128::from(length_ns) / 1_000);
    let used_ppm = bytes.zip(most_bits).and_then(|(bytes, most)| ppm(u128::from(bytes) * 8, most));
    use Metric::{ReceiveDrops, ReceiveErrors, SendDrops, SendErrors};
    let errors = [ReceiveErrors, ReceiveDrops, SendErrors, SendDrops]
        .into_iter()
        .map(count)
        .fold(0, u64::saturating_add);
    let carried = bytes.map(|_| (count(Metric::ReceivedBytes), count(Metric::SentBytes)));
    Said { used_ppm, carried, errors, ..Said::default() }
}

/// The agreed speed of an interface or a port, in 10⁶ bits a second; `None` where it is not known.
fn speed_mbit(facts: &HostFacts, entry: &Entry) -> Option<u32> {
    let inventory = &facts.inventory;
    let speed = match entry.layer {
        Layer::Rdma => {
            let is_it = |name: String| name == entry.name;
            inventory
                .rdma
                .iter()
                .find(|port| is_it(format!("{}/{}", port.device, port.port)))?
                .rate_mbit
        }
        _ => inventory.nics.iter().find(|nic| nic.name == entry.name)?.speed_mbit,
    };
    speed.filter(|mbit| *mbit > 0)
}
