//! What a host's counters say about it in one interval: the figures of a row. The formulas stand in
//! `docs/method/live.md`, "Watching".

use model::CounterSample;
use model::counters::{Entry, Layer, Metric};
use model::testbed::HostFacts;
pub(super) use model::usage::cpu_ns;
use model::usage::is_carrier;
pub(crate) use model::usage::is_stacked;

/// What one direction of I/O did. What is unknown is `None`, not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Requests that completed, a second.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bytes_per_s: Option<f64>,
    /// The mean time of a request in the kernel, in ns; `None` where none completed, or their
    /// times were shorter than it can tell.
    pub latency_ns: Option<f64>,
}

/// A host in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Reads of its devices and network mounts.
    pub read: Side,
    /// Writes to them.
    pub write: Side,
    /// The share of its CPU time that was work, 0 to 1.
    pub cpu_share: Option<f64>,
    /// Bytes a second that its network brought.
    pub received_bytes_per_s: Option<f64>,
    /// Bytes a second that it sent.
    pub sent_bytes_per_s: Option<f64>,
}

/// Counts of one direction, as the kernel has them. What is unknown is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Requests that completed.
    pub ios: Option<u64>,
    /// Bytes that moved.
    pub bytes: Option<u64>,
    /// The sum of their times in the kernel, in ns.
    pub time_ns: Option<u64>,
    length_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// Reads of its devices and network mounts.
    pub read: Counts,
    /// Writes to them.
    pub write: Counts,
    /// Bytes that its network brought.
    pub received: Option<u64>,
    /// Bytes that it sent.
    pub sent: Option<u64>,
    busy_ns: u64,
    all_ns: u64,
}

/// The metrics of a direction: requests, bytes, time.
pub(super) const READ: [Metric; 3] = [Metric::Reads, Metric::ReadBytes, Metric::ReadNs];
pub(super) const WRITE: [Metric; 3] = [Metric::Writes, Metric::WriteBytes, Metric::WriteNs];

fn plus(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

impl Counts {
    pub(super) fn of(entry: &Entry, side: [Metric; 3], length_ns: u64) -> Counts {
        let [ios, bytes, time_ns] = side.map(|metric| entry.get(metric));
        Counts { ios, bytes, time_ns, length_ns }
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            ios: plus(self.ios, other.ios),
            bytes: plus(self.bytes, other.bytes),
            time_ns: plus(self.time_ns, other.time_ns),
            length_ns: self.length_ns.max(other.length_ns),
        }
    }

    pub(super) fn side(self) -> Side {
        // The kernel counts whole ms of a few short requests: a sum of 0 is less than it can tell,
        // and not no time.
        let told = self.time_ns.zip(self.ios).filter(|(ns, ios)| *ns > 0 && *ios > 0);
        let latency_ns = told.map(|(ns, ios)| ns as f64 / ios as f64);
        Side {
            iops: per_second(self.ios, self.length_ns),
            bytes_per_s: per_second(self.bytes, self.length_ns),
            latency_ns,
        }
    }
}

/// A sum over an interval as a rate; `None` where it is unknown or the interval has no length.
pub(super) fn per_second(sum: Option<u64>, length_ns: u64) -> Option<f64> {
    sum.filter(|_| length_ns > 0).map(|sum| sum as f64 / (length_ns as f64 / 1e9))
}

fn is_io(entry: &Entry) -> bool {
    match entry.layer {
        Layer::Block => !is_stacked(&entry.name),
        Layer::Nfs | Layer::Smb => true,
        _ => false,
    }
}

/// Whether what a device or a port did is in the sums of its host: what passes through several of
/// them counts once.
pub(super) fn is_counted(entry: &Entry, sample: &CounterSample, facts: &HostFacts) -> bool {
    is_io(entry) || is_carrier(entry, sample, &facts.inventory.nics)
}

/// The sums of a host in the interval of `sample`: each request and each byte counts once.
pub(crate) fn sums(sample: &CounterSample, facts: &HostFacts) -> Sums {
    let mut sums = Sums::default();
    for entry in &sample.entries {
        if is_io(entry) {
            sums.read = sums.read.plus(Counts::of(entry, READ, sample.length_ns));
            sums.write = sums.write.plus(Counts::of(entry, WRITE, sample.length_ns));
        } else if is_carrier(entry, sample, &facts.inventory.nics) {
            sums.received = plus(sums.received, entry.get(Metric::ReceivedBytes));
            sums.sent = plus(sums.sent, entry.get(Metric::SentBytes));
        } else if entry.layer == Layer::Cpu
            && let Some((work, time)) = cpu_ns(entry)
        {
            sums.busy_ns = sums.busy_ns.saturating_add(work);
            sums.all_ns = sums.all_ns.saturating_add(time);
        }
    }
    sums
}

/// The figures of a host in the interval of `sample`.
pub fn figures(sample: &CounterSample, facts: &HostFacts) -> Figures {
    let Sums { read, write, received, sent, busy_ns, all_ns } = sums(sample, facts);
    Figures {
        read: read.side(),
        write: write.side(),
        cpu_share: (all_ns > 0).then(|| busy_ns as f64 / all_ns as f64),
        received_bytes_per_s: per_second(received, sample.length_ns),
        sent_bytes_per_s: per_second(sent, sample.length_ns),
    }
}

/// All hosts together: rates add up, latency is weighted by requests, CPU by the CPUs of each host.
pub fn total<'a>(hosts: impl Iterator<Item = (&'a Figures, u32)>) -> Figures {
    let mut sum = Figures::default();
    let (mut read_time, mut write_time, mut busy, mut cpus) =
        (Weighted::default(), Weighted::default(), 0.0, 0.0);
    for (one, logical_cpus) in hosts {
        add_side(&mut sum.read, &one.read, &mut read_time);
        add_side(&mut sum.write, &one.write, &mut write_time);
        add(&mut sum.received_bytes_per_s, one.received_bytes_per_s);
        add(&mut sum.sent_bytes_per_s, one.sent_bytes_per_s);
        if let Some(share) = one.cpu_share {
            let weight = f64::from(logical_cpus.max(1));
            busy += share * weight;
            cpus += weight;
        }
    }
    sum.read.latency_ns = read_time.mean();
    sum.write.latency_ns = write_time.mean();
    sum.cpu_share = (cpus > 0.0).then(|| busy / cpus);
    sum
}

#[derive(Default)]
struct Weighted {
    sum: f64,
    weight: f64,
}

impl Weighted {
    fn mean(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

fn add_side(sum: &mut Side, one: &Side, time: &mut Weighted) {
    add(&mut sum.iops, one.iops);
    add(&mut sum.bytes_per_s, one.bytes_per_s);
    if let Some((latency_ns, iops)) = one.latency_ns.zip(one.iops) {
        time.sum += latency_ns * iops;
        time.weight += iops;
    }
}

fn add(sum: &mut Option<f64>, one: Option<f64>) {
    if let Some(one) = one {
        *sum = Some(sum.unwrap_or(0.0) + one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::testing::{entry, facts, sample};
    use model::inventory::NicFacts;

    const IO: [(Metric, u64); 6] = [
        (Metric::Reads, 20),
        (Metric::ReadBytes, 8_192),
        (Metric::ReadNs, 40_000_000),
        (Metric::Writes, 0),
        (Metric::WriteBytes, 0),
        (Metric::WriteNs, 0),
    ];

    #[test]
    fn a_request_counts_once_however_many_devices_pass_it_on() {
        let entries = vec![
            entry(Layer::Block, "sda", &IO),
            entry(Layer::Block, "dm-0", &IO),
            entry(Layer::Block, "md127", &IO),
            entry(Layer::Block, "loop3", &IO),
            entry(Layer::Nfs, "/mnt/nfs", &IO),
        ];
        let got = figures(&sample(0, 2_000_000_000, entries), &facts("n1"));
        assert_eq!(got.read.iops, Some(20.0), "the disk and the mount");
        assert_eq!(got.read.bytes_per_s, Some(8_192.0));
        assert_eq!(got.read.latency_ns, Some(2e6));
        assert_eq!(
            (got.write.iops, got.write.latency_ns),
            (Some(0.0), None),
            "no request, no time"
        );
        assert!(!is_stacked("mdadm") && !is_stacked("sdb") && is_stacked("md0"));
    }

    #[test]
    fn a_byte_counts_once_however_many_interfaces_pass_it_on() {
        let bytes = [(Metric::ReceivedBytes, 100), (Metric::SentBytes, 10)];
        let nic = |name: &str| entry(Layer::Nic, name, &bytes);
        let one = |names: &[&str], facts: &HostFacts| {
            let got = figures(
                &sample(0, 1_000_000_000, names.iter().map(|name| nic(name)).collect()),
                facts,
            );
            (got.received_bytes_per_s, got.sent_bytes_per_s)
        };
        let mut known = facts("n1");
        assert_eq!(one(&["lo", "eth0"], &known), (Some(100.0), Some(10.0)));
        assert_eq!(one(&["lo"], &known), (None, None));
        let described = |name: &str, driver: &str| NicFacts {
            name: name.into(),
            driver: driver.into(),
            ..NicFacts::default()
        };
        known.inventory.nics =
            vec![described("eth0", "mlx5_core"), described("eth1", "ice"), described("bond0", "")];
        assert_eq!(one(&["eth0", "eth1", "bond0", "lo"], &known), (Some(200.0), Some(20.0)));
        let mut over_ib =
            sample(0, 1_000_000_000, vec![nic("ib0"), entry(Layer::Rdma, "mlx5_0/1", &bytes)]);
        assert_eq!(figures(&over_ib, &facts("n1")).received_bytes_per_s, Some(100.0));
        over_ib.length_ns = 0;
        assert_eq!(figures(&over_ib, &facts("n1")).received_bytes_per_s, None);
    }

    #[test]
    fn stolen_time_is_no_rest_and_what_nobody_counts_is_unknown() {
        let cpu = [
            (Metric::UserNs, 10),
            (Metric::StealNs, 20),
            (Metric::IdleNs, 60),
            (Metric::IowaitNs, 10),
        ];
        let got = figures(&sample(0, 1, vec![entry(Layer::Cpu, "0", &cpu)]), &facts("n1"));
        assert_eq!(got.cpu_share, Some(0.3));
        assert_eq!(figures(&sample(0, 1, vec![]), &facts("n1")), Figures::default());
    }

    #[test]
    fn a_total_weighs_latency_by_requests_and_cpu_by_cpus() {
        let one = |iops, latency_ns, cpu_share| Figures {
            read: Side { iops: Some(iops), bytes_per_s: Some(1.0), latency_ns },
            cpu_share: Some(cpu_share),
            ..Figures::default()
        };
        let hosts = [
            one(300.0, Some(1_000.0), 1.0),
            one(100.0, Some(5_000.0), 0.0),
            one(0.0, None, 0.0),
            Figures::default(),
        ];
        let all = total(hosts.iter().zip([1, 2, 1, 64]));
        assert_eq!((all.read.iops, all.read.latency_ns), (Some(400.0), Some(2_000.0)));
        assert_eq!((all.cpu_share, all.write.iops), (Some(0.25), None));
    }
}
