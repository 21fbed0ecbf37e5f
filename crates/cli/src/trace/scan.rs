//! Reads a trace through once: what it comes to, and where it can be replayed from.

use super::file::{open, problem};
use super::opened::{Opened, Stopped};
use super::share::Share;
use super::spool::{Spool, Spooled, made_here};
use crate::args::{Only, TraceArgs};
use crate::failure::Failure;
use dialects::trace::{InFile, Place, TraceEnd};
use model::trace::Request;
use model::{Op, Percent};
use std::collections::BTreeMap;
use std::path::Path;

const MOST_SIZES: usize = 4_096;
/// A larger alignment is of no use.
const MOST_ALIGN: u64 = 1 << 20;

/// How often each size of a kind of request occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) counts: BTreeMap<u32, u64>,
    pub(crate) requests: u64,
    pub(crate) largest: u32,
}

impl Sizes {
    fn merge(&mut self, other: &Sizes) {
        self.requests += other.requests;
        self.largest = self.largest.max(other.largest);
        for (length, count) in &other.counts {
            if self.counts.len() < MOST_SIZES || self.counts.contains_key(length) {
                *self.counts.entry(*length).or_default() += count;
            }
        }
    }

    fn add(&mut self, length: u32) {
        self.requests += 1;
        self.largest = self.largest.max(length);
        if self.counts.len() < MOST_SIZES || self.counts.contains_key(&length) {
            *self.counts.entry(length).or_default() += 1;
        }
    }
}

pub(crate) struct Scanned {
    pub(crate) whole: Share,
    pub(crate) reads: Sizes,
    pub(crate) writes: Sizes,
    pub(crate) trims: u64,
    /// What all offsets and lengths are multiples of: a power of two.
    pub(crate) align: u64,
    pub(crate) ending: TraceEnd,
    _spooled: Option<Spooled>,
}

impl Scanned {
    /// What several traces come to together, for a suite that stands for each of them; it cannot be
    /// replayed itself.
    pub(crate) fn together(all: &[Scanned]) -> Scanned {
        let mut sum = Scanned::none();
        for one in all {
            sum.whole.merge(&one.whole);
            sum.reads.merge(&one.reads);
            sum.writes.merge(&one.writes);
            sum.trims += one.trims;
            sum.align = sum.align.min(one.align);
        }
        sum
    }

    /// Whether it is read from the trace itself, which other hosts may have at the same path.
    pub(crate) fn is_as_it_is(&self) -> bool {
        self._spooled.is_none()
    }

    fn none() -> Scanned {
        Scanned {
            whole: Share::NONE,
            reads: Sizes::default(),
            writes: Sizes::default(),
            trims: 0,
            align: MOST_ALIGN,
            ending: TraceEnd::default(),
            _spooled: None,
        }
    }

    /// The share of reads in reads and writes; never all or none where there are both.
    pub(crate) fn read_share(&self) -> Percent {
        share(self.reads.requests, self.reads.requests + self.writes.requests)
    }

    pub(crate) fn trim_share(&self) -> Percent {
        share(self.trims, self.reads.requests + self.writes.requests + self.trims)
    }

    pub(crate) fn changes(&self) -> u64 {
        self.writes.requests + self.trims
    }
}

fn share(some: u64, of: u64) -> Percent {
    if some == 0 || of == 0 {
        return Percent::ZERO;
    }
    if some == of {
        return Percent::ALL;
    }
    let ppm = (u128::from(some) * 1_000_000 / u128::from(of)) as u32;
    Percent { ppm: ppm.clamp(1, 999_999) }
}

pub(crate) fn is_taken(only: Option<Only>, op: Op) -> bool {
    match only {
        None => true,
        Some(Only::Reads) => op == Op::Read,
        Some(Only::Writes) => op != Op::Read,
    }
}

/// Reads the trace. What is not in our own form, or not taken whole, is copied into a nameless
/// file in `folder`.
pub(crate) fn scan(args: &TraceArgs, folder: &Path) -> Result<Scanned, Failure> {
    let mut opened = Opened::new(args)?;
    loop {
        match scan_once(args, folder, &mut opened) {
            Err(Stopped::Order) => opened = opened.sorted(args, folder)?,
            Err(Stopped::For(failure)) => return Err(failure),
            Ok(scanned) => return Ok(scanned),
        }
    }
}

fn scan_once(args: &TraceArgs, folder: &Path, opened: &mut Opened) -> Result<Scanned, Stopped> {
    let requests = &opened.requests;
    let is_own = requests.header().is_some();
    let is_as_it_is =
        is_own && args.only.is_none() && (args.source.is_none() || opened.is_sorted());
    let made = || made_here(args.trace.display().to_string(), "replay");
    let header = requests.header().cloned().unwrap_or_else(made);
    let mut spool = if is_as_it_is { None } else { Some(Spool::create(folder, &header)?) };
    let mut all = Scanned::none();
    while let Some(request) = opened.next(args)? {
        if is_taken(args.only, request.op) {
            all.add(&request);
            if let Some(spool) = &mut spool {
                spool.add(&request)?;
            }
        }
    }
    all.ending = opened.end();
    // Reads alone, or writes alone, are not what the device had.
    all.whole.in_flight = opened.requests.in_flight().filter(|_| args.only.is_none());
    if all.reads.requests + all.changes() == 0 {
        return Err(nothing(args, &all, &opened.requests.sources()).into());
    }
    match spool {
        Some(spool) => {
            let spooled = spool.finish()?;
            all.whole.path = spooled.path();
            all._spooled = Some(spooled);
        }
        None if opened.is_sorted() => {
            let sorted = opened.take_sorted();
            all.whole.path = sorted.as_ref().map(Spooled::path).unwrap_or_default();
            all._spooled = sorted;
        }
        None => {
            let path = std::path::absolute(&args.trace).unwrap_or_else(|_| args.trace.clone());
            all.whole.path = path.to_string_lossy().into_owned();
        }
    }
    Ok(all)
}

impl Scanned {
    fn add(&mut self, request: &Request) {
        self.whole.add(request);
        match request.op {
            Op::Read => self.reads.add(request.length),
            Op::Write => self.writes.add(request.length),
            Op::Trim => self.trims += 1,
            _ => return,
        }
        let bits = request.offset | u64::from(request.length) | self.align;
        self.align = 1 << bits.trailing_zeros();
    }
}

/// What there is to know of a trace before it is used, which is then `used`.
pub(crate) fn tell(path: &Path, ending: TraceEnd, used: &str) {
    let path = path.display();
    if ending.is_cut_off {
        eprintln!("warning: trace {path} is cut off in the middle; what is whole of it is {used}");
    }
    if ending.lost > 0 {
        eprintln!("warning: trace {path}: its recorder lost {} requests", ending.lost);
    }
    if ending.left_out > 0 {
        eprintln!(
            "note: trace {path}: {} requests are neither reads, writes, flushes nor trims, or are \
             empty; they are left out",
            ending.left_out
        );
    }
    if ending.sorted > 0 {
        let were = if ending.sorted == 1 { "request was" } else { "requests were" };
        let sorted = ending.sorted;
        eprintln!("note: trace {path}: {sorted} {were} sorted by their instants");
    }
}

fn nothing(args: &TraceArgs, all: &Scanned, sources: &[String]) -> Failure {
    let path = args.trace.display();
    let what = match (&args.source, all.whole.requests) {
        (Some(source), 0) if !sources.is_empty() => {
            format!("no request is of source `{source}`; its sources are {}", sources.join(", "))
        }
        (_, 0) if args.only.is_some() => "no request is left of it; leave out --only".to_owned(),
        (_, 0) => "it holds no requests; record it again while the device is loaded".to_owned(),
        _ => "it holds flushes alone, which load nothing; record it again".to_owned(),
    };
    Failure::usage(format!("trace {path}: {what}"))
}

/// The place of the first request of the file that ends behind `size`, and where it ends.
pub(crate) fn first_past(args: &TraceArgs, size: u64) -> Result<Option<(Place, u64)>, Failure> {
    let mut requests = open(args)?;
    while let Some(InFile { request, place, .. }) =
        requests.next_in_file().map_err(|what| problem(&args.trace, &what))?
    {
        if is_taken(args.only, request.op) && request.end() > size {
            return Ok(Some((place, request.end())));
        }
    }
    Ok(None)
}
