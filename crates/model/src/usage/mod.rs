//! What the kernels' counters of a stage come to, layer by layer: how much of each thing was used
//! while the load was on, for how much of that time it was all but used up, what waited for it, and
//! what went wrong with it.
//!
//! These are the three questions of the USE method (utilisation, saturation, errors): Gregg,
//! "Thinking Methodically about Performance", ACM Queue 10(12), 2012. Formulas stand in
//! `docs/method/layers.md`, "The layer at its limit". All sums are of whole numbers and saturate,
//! so that order makes no difference and no file can make them wrap.

mod shares;

pub use shares::{cpu_ns, is_carrier, is_stacked};

use crate::counters::{CounterSample, Layer, Metric};
use crate::kernels::Kernels;
use crate::testbed::HostFacts;
use std::collections::BTreeMap;
use std::ops::Range;

/// From here on a thing counts as all but used up, in thousandths of a thousandth. Counters of an
/// interval lag by up to a tick at either end, so that even a full one rarely shows 100 %.
pub const FULL_PPM: u64 = 900_000;

crate::words! {
    #[derive(PartialOrd, Ord)]
    /// What can be used up on a host: stable words, which stand in JSON.
    pub enum Part {
        /// A block device that is built on no other.
        Disk = "disk",
        /// One that is built on others: what it was sent alone, its time is that of those below.
        Stacked = "stacked",
        /// All logical CPUs of a host together; one, without a name.
        Cpu = "cpu",
        /// One logical CPU, by its number.
        Core = "core",
        /// A network interface or a port of an RDMA device whose speed is known.
        Port = "port",
        /// A host's memory; one, without a name.
        Memory = "memory",
        /// A network file system that is mounted; how much of its servers was used cannot be seen
        /// from here.
        Mount = "mount",
        /// A cache that counts hits and misses; it cannot be used up.
        Cache = "cache",
        /// The CPU quota of a control group, by the group's folder; its utilisation is the share of
        /// the periods in which the group used it up.
        Quota = "quota",
    }
}

/// What one thing was used, in sums over the time in which load was on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// The time in which its utilisation was known, in ns.
    pub watched_ns: u64,
    /// The sum of utilisation × time, in ns: divided by [`watched_ns`](Self::watched_ns) it is the
    /// mean utilisation.
    pub used_ns: u64,
    /// The time in which it was all but used up, in ns: [`FULL_PPM`] or more. Memory that is taken
    /// is none that is wanted: that is when some task waited for it for a tenth of the time.
    pub full_ns: u64,
    /// The part of the stage from the first to the last time that it was, in ns after the stage's
    /// start; `None` where it never was.
    pub full_span: Option<(u64, u64)>,
    /// The time for which there is a figure of what waited, in ns.
    pub waited_ns: u64,
    /// What waited, as a sum over time: for a disk the times of all requests in it, for CPU and
    /// memory the time in which some task waited for it (pressure), in ns. Divided by
    /// [`waited_ns`](Self::waited_ns) it is the mean queue, or a share of the time.
    pub waiting_ns: u64,
    /// The time for which there is a figure of what a port carried, in ns; whether or not its
    /// speed is known.
    pub carried_ns: u64,
    /// What a port received in that time, in bytes.
    pub received_bytes: u64,
    /// What it sent.
    pub sent_bytes: u64,
    /// Requests that a disk completed in that time: reads. What it read and wrote is in
    /// [`received_bytes`](Self::received_bytes) and [`sent_bytes`](Self::sent_bytes).
    pub reads: u64,
    /// The same of writes.
    pub writes: u64,
    /// Flushes that it completed; `None` where the kernel counts none (before Linux 5.5).
    pub flushes: Option<u64>,
    /// What a cache had: requests, of NFS mounts bytes.
    pub hits: u64,
    /// What it had not.
    pub misses: u64,
    /// Blocks that a cache took in from what it stands before, and gave back to it.
    pub promotions: u64,
    /// The latter.
    pub demotions: u64,
    /// What a cache holds that is not written back yet; `None` where nobody counts it.
    pub dirty: Option<Dirty>,
    /// Of a host's CPUs: the sum of the share that the hypervisor gave to others × time, in ns.
    pub stolen_ns: u64,
    /// What went wrong: packets with errors or dropped, requests sent again or not answered in
    /// time, slow-downs because of heat.
    pub errors: u64,
}

/// Bytes that a cache had to write back, at instants of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirty {
    /// At the end of the first interval, with the end itself in ns.
    pub first: (u64, u64),
    /// At the end of the last one.
    pub last: (u64, u64),
    /// The most at the end of any.
    pub most: u64,
}

impl Dirty {
    fn at(end_ns: u64, bytes: u64) -> Dirty {
        Dirty { first: (end_ns, bytes), last: (end_ns, bytes), most: bytes }
    }

    fn and(self, other: Dirty) -> Dirty {
        Dirty {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            most: self.most.max(other.most),
        }
    }
}

/// What one interval says of one thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    /// Utilisation in millionths.
    used_ppm: Option<u64>,
    waiting_ns: Option<u64>,
    /// What a port received and sent, or a disk read and wrote, in bytes.
    carried: Option<(u64, u64)>,
    /// Reads and writes of a disk.
    requests: (u64, u64),
    flushes: Option<u64>,
    /// What a cache had, and what it had not.
    hits: (u64, u64),
    /// Blocks that a cache took in and gave back.
    migrated: (u64, u64),
    /// What it had to write back at the end.
    dirty_bytes: Option<u64>,
    /// What the hypervisor gave to others, in millionths.
    stolen_ppm: u64,
    errors: u64,
    /// Whether it was all but used up, where that is not told by its utilisation.
    is_full: Option<bool>,
}

impl Said {
    fn is_full(self) -> bool {
        self.is_full.unwrap_or_else(|| self.used_ppm.is_some_and(|ppm| ppm >= FULL_PPM))
    }
}

/// Bytes that all ports, the loopback and all disks of a host moved. A byte may count at several of
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The time for which it was counted, in ns.
    pub counted_ns: u64,
    /// Received by ports and the loopback, read from disks.
    pub in_bytes: u64,
    /// Sent by ports and the loopback, written to disks.
    pub out_bytes: u64,
}

impl Moved {
    fn add(&mut self, other: Moved) {
        self.counted_ns = self.counted_ns.saturating_add(other.counted_ns);
        self.in_bytes = self.in_bytes.saturating_add(other.in_bytes);
        self.out_bytes = self.out_bytes.saturating_add(other.out_bytes);
    }
}

/// CPU time of programs of one kind on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// The time for which it was counted, in ns.
    pub counted_ns: u64,
    /// The CPU time, in ns: several CPUs may work at a time.
    pub run_ns: u64,
}

impl Ran {
    fn add(&mut self, other: Ran) {
        self.counted_ns = self.counted_ns.saturating_add(other.counted_ns);
        self.run_ns = self.run_ns.saturating_add(other.run_ns);
    }

    /// How many CPUs worked on average; `None` where nobody counted.
    pub fn cpus(&self) -> Option<f64> {
        (self.counted_ns > 0).then(|| self.run_ns as f64 / self.counted_ns as f64)
    }
}

/// What a disk did behind a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Bytes that it wrote.
    pub written: u64,
    /// Flushes that it completed.
    pub flushes: u64,
}

impl Behind {
    fn add(&mut self, other: Behind) {
        self.written = self.written.saturating_add(other.written);
        self.flushes = self.flushes.saturating_add(other.flushes);
    }
}

/// What the counters of one stage come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// By host and part, each thing by its name.
    pub uses: BTreeMap<(u32, Part), BTreeMap<String, Use>>,
    /// The same of hosts that send no load. It stands apart, because it is no part of what the load
    /// did there: nothing but what was at its limit may be read from it.
    pub others: BTreeMap<(u32, Part), BTreeMap<String, Use>>,
    /// What came in and went out of each host by ports, the loopback and disks.
    pub moved: BTreeMap<u32, Moved>,
    /// What programs took of each host's CPUs, by what they are to storage.
    pub ran: BTreeMap<(u32, String), Ran>,
    /// What each disk of a host did from the end of the load to that of the stage: in the flush.
    pub behind: BTreeMap<(u32, String), Behind>,
    /// How many intervals of counters it rests on, those of each host counted.
    pub samples: u64,
    /// Whether these are some, taken evenly out of more than can be looked at in a short time.
    pub is_thinned: bool,
}

impl Usage {
    /// Of a stage whose load was on in `load`, in ns after its start, and whose counters are held
    /// in memory.
    pub fn of(testbed: &[HostFacts], load: &Range<u64>, counters: &[CounterSample]) -> Usage {
        let (mut usage, kernels) = (Usage::default(), Kernels::of(testbed));
        for sample in counters {
            usage.take(testbed, &kernels, load, sample);
        }
        usage
    }

    /// Takes in what one host counted in one interval of the stage whose load was on in `load`, in
    /// ns after its start. An interval of which more than half lies outside does not count; neither
    /// does what another host on the same kernel tells already, nor a host that the run
    /// does not know. Of an interval behind the load, what disks wrote is kept apart.
    pub fn take(
        &mut self,
        testbed: &[HostFacts],
        kernels: &Kernels,
        load: &Range<u64>,
        sample: &CounterSample,
    ) {
        let middle = sample.start_ns.saturating_add(sample.length_ns / 2);
        let Some(facts) = testbed.get(sample.host as usize) else { return };
        if sample.length_ns == 0 || sample.entries.is_empty() || middle < load.start {
            return;
        }
        let voice = kernels.voice(sample.host as usize, |_| true);
        if middle >= load.end {
            if facts.sends_load() {
                self.add_behind(&voice.of(sample));
            }
            return;
        }
        self.samples = self.samples.saturating_add(1);
        match facts.sends_load() {
            true => self.add(facts, &voice.of(sample)),
            false => add_uses(&mut self.others, facts, sample),
        }
    }

    /// Takes in what others of the same stage come to: which comes first makes no difference.
    pub fn merge(&mut self, other: Usage) {
        self.samples = self.samples.saturating_add(other.samples);
        self.is_thinned |= other.is_thinned;
        for (host, moved) in other.moved {
            self.moved.entry(host).or_default().add(moved);
        }
        for (of, ran) in other.ran {
            self.ran.entry(of).or_default().add(ran);
        }
        for (of, theirs) in other.behind {
            self.behind.entry(of).or_default().add(theirs);
        }
        for (mine, theirs) in [(&mut self.uses, other.uses), (&mut self.others, other.others)] {
            for (of, things) in theirs {
                let mine = mine.entry(of).or_default();
                for (name, used) in things {
                    mine.entry(name).or_default().merge(used);
                }
            }
        }
    }

    fn add_behind(&mut self, sample: &CounterSample) {
        for disk in sample.entries.iter().filter(|entry| entry.layer == Layer::Block) {
            let Some(written) = disk.get(Metric::WriteBytes) else { continue };
            let flushes = disk.get(Metric::Flushes).unwrap_or(0);
            let sum = self.behind.entry((sample.host, disk.name.clone())).or_default();
            sum.add(Behind { written, flushes });
        }
    }

    fn add(&mut self, facts: &HostFacts, sample: &CounterSample) {
        if let Some((in_bytes, out_bytes)) = shares::moved(sample) {
            let moved = Moved { counted_ns: sample.length_ns, in_bytes, out_bytes };
            self.moved.entry(sample.host).or_default().add(moved);
        }
        for entry in sample.entries.iter().filter(|entry| entry.layer == Layer::Process) {
            let Some(run_ns) = entry.get(Metric::RunNs) else { continue };
            let ran = Ran { counted_ns: sample.length_ns, run_ns };
            self.ran.entry((sample.host, entry.name.clone())).or_default().add(ran);
        }
        add_uses(&mut self.uses, facts, sample);
    }
}

fn add_uses(
    uses: &mut BTreeMap<(u32, Part), BTreeMap<String, Use>>,
    facts: &HostFacts,
    sample: &CounterSample,
) {
    shares::each(facts, sample, |part, name, said| {
        let things = uses.entry((sample.host, part)).or_default();
        match things.get_mut(name) {
            Some(known) => known.add(sample, said),
            None => things.entry(name.to_owned()).or_default().add(sample, said),
        }
    });
}

/// The sum of what is known.
fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).reduce(u64::saturating_add)
}

impl Use {
    fn add(&mut self, sample: &CounterSample, said: Said) {
        let length_ns = sample.length_ns;
        if let Some(ppm) = said.used_ppm {
            // At most the length, so it fits.
            let used_ns =
                (u128::from(length_ns) * u128::from(ppm.min(1_000_000)) / 1_000_000) as u64;
            self.watched_ns = self.watched_ns.saturating_add(length_ns);
            self.used_ns = self.used_ns.saturating_add(used_ns);
            if said.is_full() {
                let (start, end) = (sample.start_ns, sample.start_ns.saturating_add(length_ns));
                let (first, last) = self.full_span.unwrap_or((start, end));
                self.full_ns = self.full_ns.saturating_add(length_ns);
                self.full_span = Some((first.min(start), last.max(end)));
            }
        }
        if let Some(waiting_ns) = said.waiting_ns {
            self.waited_ns = self.waited_ns.saturating_add(length_ns);
            self.waiting_ns = self.waiting_ns.saturating_add(waiting_ns);
        }
        if let Some((received_bytes, sent_bytes)) = said.carried {
            self.carried_ns = self.carried_ns.saturating_add(length_ns);
            self.received_bytes = self.received_bytes.saturating_add(received_bytes);
            self.sent_bytes = self.sent_bytes.saturating_add(sent_bytes);
            self.reads = self.reads.saturating_add(said.requests.0);
            self.writes = self.writes.saturating_add(said.requests.1);
            self.flushes = both(self.flushes, said.flushes);
        }
        let stolen_ns =
            u128::from(length_ns) * u128::from(said.stolen_ppm.min(1_000_000)) / 1_000_000;
        self.stolen_ns = self.stolen_ns.saturating_add(stolen_ns as u64);
        self.errors = self.errors.saturating_add(said.errors);
        self.hits = self.hits.saturating_add(said.hits.0);
        self.misses = self.misses.saturating_add(said.hits.1);
        self.promotions = self.promotions.saturating_add(said.migrated.0);
        self.demotions = self.demotions.saturating_add(said.migrated.1);
        let end_ns = sample.start_ns.saturating_add(length_ns);
        let dirty = said.dirty_bytes.map(|bytes| Dirty::at(end_ns, bytes));
        self.dirty = self.dirty.into_iter().chain(dirty).reduce(Dirty::and);
    }

    fn merge(&mut self, other: Use) {
        for (mine, theirs) in [
            (&mut self.watched_ns, other.watched_ns),
            (&mut self.used_ns, other.used_ns),
            (&mut self.full_ns, other.full_ns),
            (&mut self.waited_ns, other.waited_ns),
            (&mut self.waiting_ns, other.waiting_ns),
            (&mut self.carried_ns, other.carried_ns),
            (&mut self.received_bytes, other.received_bytes),
            (&mut self.sent_bytes, other.sent_bytes),
            (&mut self.reads, other.reads),
            (&mut self.writes, other.writes),
            (&mut self.stolen_ns, other.stolen_ns),
            (&mut self.hits, other.hits),
            (&mut self.misses, other.misses),
            (&mut self.promotions, other.promotions),
            (&mut self.demotions, other.demotions),
            (&mut self.errors, other.errors),
        ] {
            *mine = mine.saturating_add(theirs);
        }
        self.flushes = both(self.flushes, other.flushes);
        self.dirty = self.dirty.into_iter().chain(other.dirty).reduce(Dirty::and);
        let spans = self.full_span.into_iter().chain(other.full_span);
        self.full_span = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        let is_within = self.used_ns.max(self.full_ns) <= self.watched_ns;
        assert!(is_within, "nothing is used for longer than it was watched");
    }

    /// What a port carried in its busier direction, in bytes per second, 0 and up; `None` where
    /// nobody counted.
    pub fn carried_per_s(&self) -> Option<f64> {
        let bytes = self.received_bytes.max(self.sent_bytes);
        (self.carried_ns > 0).then(|| bytes as f64 / self.carried_ns as f64 * 1e9)
    }

    /// The mean utilisation, 0 to 1; `None` where it cannot be known.
    pub fn share(&self) -> Option<f64> {
        (self.watched_ns > 0).then(|| self.used_ns as f64 / self.watched_ns as f64)
    }

    /// The share of the time in which it was all but used up, 0 to 1.
    pub fn full_share(&self) -> f64 {
        if self.watched_ns > 0 { self.full_ns as f64 / self.watched_ns as f64 } else { 0.0 }
    }

    /// The mean of what waited: requests for a disk, for CPU and memory the share of time in which
    /// some task did; `None` where nobody tells.
    pub fn waiting(&self) -> Option<f64> {
        (self.waited_ns > 0).then(|| self.waiting_ns as f64 / self.waited_ns as f64)
    }
}

#[cfg(test)]
mod tests;
