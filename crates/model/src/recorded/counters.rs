//! What a host's kernel counted in one interval, layer by layer: processors, memory, devices,
//! networks.

use serde::{Deserialize, Serialize};

crate::words! {
    /// A layer of a host whose counters are read: stable words, which stand in run files and JSON.
    pub enum Layer {
        /// The host as a whole; one entry without a name.
        Host = "host",
        /// A logical CPU, by its number; without a name all of a host together, where a file tells
        /// no more.
        Cpu = "cpu",
        /// The interrupts that a logical CPU served, by its number.
        Interrupt = "interrupt",
        /// The clock of a logical CPU, by its number.
        Clock = "clock",
        /// A thread, by its number in the system. No version has told of any: workers have their
        /// CPU time in their samples.
        Thread = "thread",
        /// The host's memory; one entry without a name.
        Memory = "memory",
        /// Pressure stall information, by resource: `cpu`, `memory`, `io`.
        Pressure = "pressure",
        /// A block device, by the kernel's name; partitions are a part of their disk.
        Block = "block",
        /// A network interface, by name.
        Nic = "nic",
        /// A port of an RDMA device: `mlx5_0/1`.
        Rdma = "rdma",
        /// An NFS mount, by its mount point.
        Nfs = "nfs",
        /// An SMB share, by its name on the server.
        Smb = "smb",
        /// A cache before devices: of bcache by its device, of ZFS `zfs arc` and `zfs l2arc`, of
        /// the device mapper by its name behind `dm `.
        Cache = "cache",
        /// Programs by what they are to storage: [`SERVERS`], [`CLIENTS`], [`KERNEL_THREADS`].
        Process = "process",
        /// The CPU quota of a control group of ours, by the group's folder.
        Quota = "quota",
    }
}

/// Servers of storage, by the names of their processes.
pub const SERVERS: &str = "servers";
/// File systems of clients in user space, by the names of their processes.
pub const CLIENTS: &str = "clients";
/// Threads that the kernel made for itself.
pub const KERNEL_THREADS: &str = "kernel threads";

crate::words! {
    /// What is counted, with its unit at the end of the word where it has one.
    pub enum Metric {
        /// Interrupts that were served.
        Interrupts = "interrupts",
        /// Switches from one thread to another.
        ContextSwitches = "context_switches",
        /// Threads that run or could run.
        Runnable = "runnable",
        /// Threads that wait for I/O and cannot be woken.
        Blocked = "blocked",
        /// CPU time in user mode; of a CPU, guests are a part of it.
        UserNs = "user_ns",
        /// CPU time in user mode at low priority.
        NiceNs = "nice_ns",
        /// CPU time in the kernel.
        SystemNs = "system_ns",
        /// Time without work.
        IdleNs = "idle_ns",
        /// Time without work while I/O of this CPU was outstanding.
        IowaitNs = "iowait_ns",
        /// Time in interrupts.
        IrqNs = "irq_ns",
        /// Time in soft interrupts, such as those of networks and block devices.
        SoftirqNs = "softirq_ns",
        /// Time that the hypervisor gave to others.
        StealNs = "steal_ns",
        /// Time for guests, which is a part of `user_ns`.
        GuestNs = "guest_ns",
        /// Time for guests at low priority, which is a part of `nice_ns`.
        GuestNiceNs = "guest_nice_ns",
        /// Time that a thread, or all threads of some programs, had a CPU; of a CPU, all work where
        /// a file does not tell it by mode.
        RunNs = "run_ns",
        /// Time that a thread could have run and had no CPU.
        WaitNs = "wait_ns",
        /// The clock just now.
        FrequencyHz = "frequency_hz",
        /// How often the core slowed down because of heat.
        CoreThrottles = "core_throttles",
        /// How often the whole package did.
        PackageThrottles = "package_throttles",
        /// Memory that nobody uses.
        FreeBytes = "free_bytes",
        /// Memory that programs could still take.
        AvailableBytes = "available_bytes",
        /// The page cache.
        CachedBytes = "cached_bytes",
        /// Pages that wait to be written.
        DirtyBytes = "dirty_bytes",
        /// Pages that are on their way to a device.
        WritebackBytes = "writeback_bytes",
        /// Time in which some task waited for the resource.
        SomeNs = "some_ns",
        /// Time in which all tasks that had work waited for the resource.
        FullNs = "full_ns",
        /// Reads that completed.
        Reads = "reads",
        /// Reads that were merged into others before they were sent.
        ReadsMerged = "reads_merged",
        /// Bytes that were read.
        ReadBytes = "read_bytes",
        /// The sum of the times that reads took.
        ReadNs = "read_ns",
        /// Writes that completed.
        Writes = "writes",
        /// Writes that were merged into others before they were sent.
        WritesMerged = "writes_merged",
        /// Bytes that were written.
        WriteBytes = "write_bytes",
        /// The sum of the times that writes took.
        WriteNs = "write_ns",
        /// Requests that are outstanding just now.
        InFlight = "in_flight",
        /// Time in which a request was outstanding: divided by the length it is the utilisation.
        BusyNs = "busy_ns",
        /// The sum of the times of all requests: divided by the length it is the mean queue.
        QueueNs = "queue_ns",
        /// Discards that completed.
        Discards = "discards",
        /// Bytes that were discarded.
        DiscardBytes = "discard_bytes",
        /// The sum of the times that discards took.
        DiscardNs = "discard_ns",
        /// Flushes that completed.
        Flushes = "flushes",
        /// The sum of the times that flushes took.
        FlushNs = "flush_ns",
        /// Bytes that were received.
        ReceivedBytes = "received_bytes",
        /// Packets that were received.
        ReceivedPackets = "received_packets",
        /// Packets that came with errors.
        ReceiveErrors = "receive_errors",
        /// Packets that came and had to be dropped.
        ReceiveDrops = "receive_drops",
        /// Bytes that were sent.
        SentBytes = "sent_bytes",
        /// Packets that were sent.
        SentPackets = "sent_packets",
        /// Packets that could not be sent.
        SendErrors = "send_errors",
        /// Packets that were dropped instead of sent.
        SendDrops = "send_drops",
        /// Requests to a server, of every kind.
        Calls = "calls",
        /// Requests that were sent once more.
        Retransmissions = "retransmissions",
        /// Requests that a server did not answer in time.
        Timeouts = "timeouts",
        /// Of `read_ns`, the part between sending a request and its answer.
        ReadRttNs = "read_rtt_ns",
        /// Of `write_ns`, the part between sending a request and its answer.
        WriteRttNs = "write_rtt_ns",
        /// Requests that a cache had.
        Hits = "hits",
        /// Requests that a cache had not.
        Misses = "misses",
        /// Blocks that came into a cache.
        Promotions = "promotions",
        /// Blocks that left a cache.
        Demotions = "demotions",
        /// Bytes that programs read of a mount, from its client's cache or from the server.
        AskedReadBytes = "asked_read_bytes",
        /// Periods of a CPU quota in which its group wanted to run.
        Periods = "periods",
        /// Those of them in which the group used its quota up and had to wait.
        ThrottledPeriods = "throttled_periods",
        /// The sum over CPUs of the times for which the group had to wait.
        ThrottledNs = "throttled_ns",
    }
}

impl Metric {
    /// Whether it is a state at the end of the interval, and not a sum over it.
    pub fn is_gauge(self) -> bool {
        use Metric::{
            AvailableBytes, Blocked, CachedBytes, DirtyBytes, FreeBytes, FrequencyHz, InFlight,
            Runnable, WritebackBytes,
        };
        let memory =
            matches!(self, FreeBytes | AvailableBytes | CachedBytes | DirtyBytes | WritebackBytes);
        memory || matches!(self, Runnable | Blocked | FrequencyHz | InFlight)
    }
}

/// What one host's kernel counted in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSample {
    /// The stage's number in the plan.
    pub stage: u32,
    /// The host's number in the plan.
    pub host: u32,
    /// The number of the sample in its stage, from 0.
    pub number: u32,
    /// When it began, in ns after the stage was started on this host.
    pub start_ns: u64,
    /// How long it really was, in ns.
    pub length_ns: u64,
    /// What was counted: at most one entry for each layer and name.
    pub entries: Vec<Entry>,
    /// What could not be counted and why, in words.
    pub notes: Vec<String>,
}

/// What one thing of a layer counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The layer.
    pub layer: Layer,
    /// Which one of the layer.
    pub name: String,
    /// The sum over the interval, or for a [gauge](Metric::is_gauge) the state at its end. What is
    /// unknown is absent, not 0.
    pub values: Vec<(Metric, u64)>,
}

impl Entry {
    /// What is known of one thing.
    pub fn new(layer: Layer, name: &str, values: &[(Metric, u64)]) -> Entry {
        Entry { layer, name: name.to_owned(), values: values.to_vec() }
    }

    /// The value of a metric, if it is known.
    pub fn get(&self, metric: Metric) -> Option<u64> {
        self.values.iter().find(|(other, _)| *other == metric).map(|(_, value)| *value)
    }
}

impl CounterSample {
    /// The entry of a layer with this name.
    pub fn entry(&self, layer: Layer, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.layer == layer && entry.name == name)
    }

    /// The value of a metric, if it is known.
    pub fn get(&self, layer: Layer, name: &str, metric: Metric) -> Option<u64> {
        self.entry(layer, name)?.get(metric)
    }

    /// A sum divided by the sample's real length, in units a second; `None` where it is unknown or
    /// the sample has no length.
    pub fn per_second(&self, layer: Layer, name: &str, metric: Metric) -> Option<f64> {
        let value = self.get(layer, name, metric)?;
        (self.length_ns > 0).then(|| value as f64 / (self.length_ns as f64 / 1e9))
    }

    /// Takes in the sample that follows on the same host: sums add up, and gauges become their mean
    /// over time.
    ///
    /// What is unknown in one of them is unknown in both together: a sum over a part of the time
    /// would pass for one over all of it.
    pub fn merge(&mut self, later: &CounterSample) {
        let (before, after) = (u128::from(self.length_ns), u128::from(later.length_ns));
        let mean = |a: u64, b: u64| match before + after {
            0 => b,
            // Between the two, so it fits.
            both => ((u128::from(a) * before + u128::from(b) * after) / both) as u64,
        };
        // The entries of one host nearly always stand in the same order.
        let mut place = 0;
        self.entries.retain_mut(|entry| {
            let same = |other: &Entry| other.layer == entry.layer && other.name == entry.name;
            let near = later.entries.get(place).is_some_and(same).then_some(place);
            let Some(found) = near.or_else(|| later.entries.iter().position(same)) else {
                return false;
            };
            place = found + 1;
            entry.values.retain_mut(|(metric, value)| {
                let Some(other) = later.entries[found].get(*metric) else { return false };
                *value = if metric.is_gauge() {
                    mean(*value, other)
                } else {
                    value.saturating_add(other)
                };
                true
            });
            !entry.values.is_empty()
        });
        self.length_ns = self.length_ns.saturating_add(later.length_ns);
        self.notes.extend(later.notes.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Listed<'a> = (Layer, &'a str, &'a [(Metric, u64)]);

    fn sample(length_ns: u64, entries: &[Listed<'_>]) -> CounterSample {
        let entry = |(layer, name, values): &Listed<'_>| Entry {
            layer: *layer,
            name: (*name).to_owned(),
            values: values.to_vec(),
        };
        CounterSample {
            length_ns,
            entries: entries.iter().map(entry).collect(),
            ..CounterSample::default()
        }
    }

    #[test]
    fn sums_add_up_and_gauges_become_their_mean_over_time() {
        let mut first =
            sample(1_000, &[(Layer::Block, "sda", &[(Metric::Reads, 5), (Metric::InFlight, 4)])]);
        let later = sample(
            3_000,
            &[(Layer::Block, "sda", &[(Metric::InFlight, 8), (Metric::Reads, u64::MAX)])],
        );
        first.merge(&later);
        assert_eq!(first.get(Layer::Block, "sda", Metric::Reads), Some(u64::MAX), "no wrap");
        assert_eq!(
            first.get(Layer::Block, "sda", Metric::InFlight),
            Some(7),
            "(4 × 1 + 8 × 3) / 4"
        );
        assert_eq!(first.length_ns, 4_000);
    }

    #[test]
    fn what_one_sample_does_not_know_their_sum_does_not_know() {
        let both = [(Metric::Reads, 1), (Metric::Writes, 1)];
        let mut first = sample(1, &[(Layer::Block, "sda", &both), (Layer::Block, "sdb", &both)]);
        first.merge(&sample(
            1,
            &[(Layer::Block, "sdb", &[(Metric::Reads, 1)]), (Layer::Nic, "sda", &both)],
        ));
        assert_eq!(first.entries.len(), 1, "sda was unplugged");
        assert_eq!(first.entries[0].values, [(Metric::Reads, 2)]);
    }

    #[test]
    fn rates_are_over_the_real_length() {
        let one = sample(2_000_000_000, &[(Layer::Nic, "eth0", &[(Metric::SentBytes, 10)])]);
        assert_eq!(one.per_second(Layer::Nic, "eth0", Metric::SentBytes), Some(5.0));
        assert_eq!(sample(0, &[]).per_second(Layer::Nic, "eth0", Metric::SentBytes), None);
        let empty = sample(0, &[(Layer::Nic, "eth0", &[(Metric::SentBytes, 10)])]);
        assert_eq!(empty.per_second(Layer::Nic, "eth0", Metric::SentBytes), None);
    }

    #[test]
    fn every_word_stands_for_one_metric_and_the_wire_keeps_a_sample() {
        for words in [
            Metric::ALL.iter().map(|m| m.word()).collect::<Vec<_>>(),
            Layer::ALL.iter().map(|l| l.word()).collect(),
        ] {
            let unique: std::collections::BTreeSet<&str> = words.iter().copied().collect();
            assert_eq!(unique.len(), words.len());
        }
        let one = sample(7, &[(Layer::Thread, "12", &[(Metric::RunNs, 3)])]);
        let bytes = postcard::to_stdvec(&one).expect("bytes");
        assert_eq!(postcard::from_bytes::<CounterSample>(&bytes), Ok(one));
    }
}
