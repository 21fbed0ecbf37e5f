//! What the kernel counted, interval by interval.
//!
//! Files are kept open, read with `pread` through one buffer and parsed line by line in place. What
//! is not there is absent from the sample; what should be there on every Linux is also said once,
//! in a note.

mod block;
mod caches;
mod ceph;
mod cpu;
mod file;
mod memory;
mod net;
mod parse;
mod processes;
mod quota;
mod remote;
mod table;

use crate::tree::Tree;
use file::Opener;
use model::CounterSample;
use std::time::Instant;

const NS_PER_S: u64 = 1_000_000_000;

/// A file, or files of one kind, that are read in each interval.
trait Source: Send {
    /// Puts what changed into `sample`, and returns what every Linux has but this one does not, or
    /// not now.
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str>;
}

/// Reads a host's counters, and knows what they were the last time.
pub struct Counters {
    opener: Opener,
    sources: Vec<Box<dyn Source>>,
    /// What is known to be missing.
    missing: Vec<&'static str>,
    began: Instant,
    last: Instant,
    number: u32,
}

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counters").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Counters {
    /// Opens what there is under `tree` and reads it once: the first interval begins now. Never
    /// fails.
    pub fn open(tree: &Tree) -> Counters {
        let mut opener = Opener::new(tree);
        let sources: Vec<Box<dyn Source>> = vec![
            Box::new(cpu::Stat::new(&mut opener)),
            Box::new(cpu::Interrupts::new(&mut opener)),
            Box::new(memory::Memory::new(&mut opener)),
            Box::new(memory::Pressure::new(&mut opener)),
            Box::new(block::Block::new(&mut opener)),
            Box::new(net::Nics::new(&mut opener)),
            Box::new(remote::Nfs::new(&mut opener)),
            Box::new(remote::Smb::new(&mut opener)),
            Box::new(net::Rdma::new(&mut opener)),
            Box::new(caches::Bcache::new(&mut opener)),
            Box::new(caches::Arc::new(&mut opener)),
            Box::new(caches::DmCache::new(&mut opener)),
            Box::new(ceph::CephOsds::new(&mut opener)),
            Box::new(cpu::Clocks::new(&mut opener)),
            Box::new(quota::Quotas::new(&mut opener)),
            Box::new(processes::Processes::new()),
        ];
        let now = Instant::now();
        let mut counters =
            Counters { opener, sources, missing: Vec::new(), began: now, last: now, number: 0 };
        counters.fill(&mut CounterSample::default());
        // Said with the first sample.
        counters.missing.clear();
        counters
    }

    /// What was counted since the last reading. Stage and host are 0: they are the caller's.
    ///
    /// One reading takes a millisecond or so; the interval is from the start of the last one to the
    /// start of this one.
    pub fn read(&mut self) -> CounterSample {
        let now = Instant::now();
        let nanos =
            |from: Instant, to: Instant| u64::try_from((to - from).as_nanos()).unwrap_or(u64::MAX);
        let mut sample = CounterSample {
            number: self.number,
            start_ns: nanos(self.began, self.last),
            length_ns: nanos(self.last, now),
            ..CounterSample::default()
        };
        self.fill(&mut sample);
        (self.last, self.number) = (now, self.number.saturating_add(1));
        sample
    }

    fn fill(&mut self, sample: &mut CounterSample) {
        let mut missing = Vec::new();
        for source in &mut self.sources {
            missing.extend(source.read(&mut self.opener, sample));
        }
        let fresh = missing.iter().filter(|path| !self.missing.contains(path));
        sample.notes.extend(
            fresh.map(|path| format!("{path} cannot be read here: what it counts is left out")),
        );
        self.missing = missing;
    }
}
