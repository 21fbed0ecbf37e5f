//! The bytes of a block of sums, and how they are added to the others.
//! `docs/reference/run-file.md` has the layout.
//!
//! All numbers are LEB128. What is read may come from anybody: it is refused where it contradicts
//! itself, and nothing is made larger than the bytes that say so.

use super::column::Column;
use super::frame::Frame;
use super::span::Span;
use super::spans::Spans;
use super::sums::{Counts, HostPart, Part, Sums, Total, Unfit, WorkerTotal, add_all, add_one};
use crate::columns::{Bad, In, Out};
use crate::histogram::{EncodedHistogram, take_apart};
use crate::{Op, Phase};
use std::collections::BTreeMap;

/// The version of the layout, the first byte of each part.
const LAYOUT: u8 = 1;
const PHASES: [Phase; 3] = [Phase::Load, Phase::Tail, Phase::Drain];

/// A block of sums as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SumBytes {
    /// When the hosts did something.
    pub spans: Vec<u8>,
    /// What it comes to.
    pub sums: Vec<u8>,
    /// How long the requests took on each host in each interval, which is not always asked for.
    pub times: Vec<u8>,
}

/// Where the spans of a block went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its lowest interval of load may be this one.
    base: u32,
    /// Hosts, with the place of their first span among all of the host's, and how many the block
    /// has.
    hosts: Vec<(u32, usize, usize)>,
    /// The lowest and the highest interval of load.
    loads: Option<(u32, u32)>,
}

fn put_counts(out: &mut Out, counts: Counts) {
    out.number(counts.ios);
    out.number(counts.bytes);
}

fn put_errors(out: &mut Out, errors: &BTreeMap<i32, u64>) {
    out.count(errors.len());
    for (errno, count) in errors {
        out.signed((*errno).into());
        out.number(*count);
    }
}

fn put_values(out: &mut Out, length: usize, values: impl Iterator<Item = u64>) {
    out.count(length);
    values.for_each(|value| out.number(value));
}

fn read(bytes: &[u8]) -> Result<In<'_>, Unfit> {
    In::of(LAYOUT, bytes).ok_or(Unfit::Block)
}

fn take_op(rest: &mut In<'_>) -> Result<Op, Unfit> {
    Op::from_name(rest.text()?).ok_or(Unfit::Block)
}

fn take_counts(rest: &mut In<'_>) -> Result<Counts, Unfit> {
    Ok(Counts { ios: rest.number()?, bytes: rest.number()? })
}

fn take_errors(rest: &mut In<'_>) -> Result<BTreeMap<i32, u64>, Unfit> {
    let mut errors = BTreeMap::new();
    for _ in 0..rest.count()? {
        let errno = i32::try_from(rest.signed()?).map_err(|_| Unfit::Block)?;
        if errors.insert(errno, rest.number()?).is_some() {
            return Err(Unfit::Block);
        }
    }
    Ok(errors)
}

impl From<Bad> for Unfit {
    fn from(_: Bad) -> Unfit {
        Unfit::Block
    }
}

/// The bytes of sums whose moments are numbered from the interval `base` on, without a gap.
pub(super) fn encode(base: u32, spans: &BTreeMap<u32, Spans>, sums: &Sums) -> SumBytes {
    SumBytes { spans: put_spans(base, spans), sums: put_sums(sums), times: put_times(sums) }
}

fn put_spans(base: u32, spans: &BTreeMap<u32, Spans>) -> Vec<u8> {
    let mut out = Out::of(LAYOUT);
    out.number(u64::from(base));
    out.count(spans.len());
    for (host, spans) in spans {
        out.number((*host).into());
        out.count(spans.len());
        let (mut next, mut start_ns, mut length_ns) = (0u64, 0u64, 0u64);
        for span in spans {
            let phase =
                PHASES.iter().position(|phase| *phase == span.phase).unwrap_or_default() as u64;
            out.number(u64::from(span.interval).saturating_sub(next) * 4 + phase);
            out.difference(span.start_ns, start_ns);
            out.difference(span.length_ns, length_ns);
            next = u64::from(span.interval) + 1;
            (start_ns, length_ns) = (span.start_ns.wrapping_add(span.length_ns), span.length_ns);
        }
    }
    out.into_bytes()
}

fn put_sums(sums: &Sums) -> Vec<u8> {
    let mut out = Out::of(LAYOUT);
    out.number(sums.all_cpu_ns.0);
    out.number(sums.all_cpu_ns.1);
    out.count(sums.parts.len());
    for ((work, op), part) in &sums.parts {
        out.number((*work).into());
        out.text(op.name());
        put_part(&mut out, part);
    }
    out.count(sums.workers.len());
    for ((host, worker), total) in &sums.workers {
        for number in
            [u64::from(*host), u64::from(*worker), total.user_ns, total.system_ns, total.time_ns]
        {
            out.number(number);
        }
        out.count(total.ios.len());
        for (op, ios) in &total.ios {
            out.text(op.name());
            out.number(*ios);
        }
    }
    out.count(sums.cpu_ns.len());
    for (work, column) in &sums.cpu_ns {
        out.number((*work).into());
        put_values(&mut out, column.len(), column.iter().copied());
    }
    put_failed(&mut out, sums);
    out.into_bytes()
}

/// Which intervals requests failed in; nothing where none did, as in files that do not know it.
fn put_failed(out: &mut Out, sums: &Sums) {
    for ((work, op), part) in sums.parts.iter().filter(|(_, part)| !part.failed.is_empty()) {
        out.number((*work).into());
        out.text(op.name());
        out.count(part.failed.len());
        for (moment, count) in &part.failed {
            out.count(*moment);
            out.number(*count);
        }
    }
}

fn put_part(out: &mut Out, part: &Part) {
    PHASES.iter().for_each(|phase| put_counts(out, part.phase(*phase)));
    put_counts(out, part.all);
    put_errors(out, &part.errors);
    out.count(part.hosts.len());
    for (host, sums) in &part.hosts {
        out.number((*host).into());
        put_counts(out, sums.counts);
        out.block(&sums.latency.encode().0);
        put_errors(out, &sums.errors);
        put_values(out, sums.ios.len(), sums.ios.iter());
    }
    let totals = || {
        part.totals.iter().enumerate().filter_map(|(moment, total)| Some((moment, total.as_ref()?)))
    };
    out.count(totals().count());
    for (moment, total) in totals() {
        out.count(moment);
        put_counts(out, total.counts);
        out.block(&total.latency.0);
    }
}

fn put_times(sums: &Sums) -> Vec<u8> {
    let mut out = Out::of(LAYOUT);
    out.count(sums.parts.len());
    for ((work, op), part) in &sums.parts {
        out.number((*work).into());
        out.text(op.name());
        out.count(part.hosts.len());
        for (host, sums) in &part.hosts {
            out.number((*host).into());
            put_values(&mut out, sums.latency_ns.len(), sums.latency_ns.iter());
        }
    }
    out.into_bytes()
}

impl Held {
    /// Puts the spans of a block behind those of the blocks before it.
    ///
    /// # Errors
    /// The bytes are none, or a host's intervals do not rise from block to block. Some spans may be
    /// there then.
    pub fn take(bytes: &[u8], hosts: &mut BTreeMap<u32, Spans>) -> Result<Held, Unfit> {
        let mut rest = read(bytes)?;
        let mut held = Held { base: rest.small()?, hosts: Vec::new(), loads: None };
        for _ in 0..rest.count()? {
            let host = rest.small()?;
            let spans = hosts.entry(host).or_default();
            let at = spans.len();
            held.take_host(&mut rest, spans)?;
            held.hosts.push((host, at, spans.len() - at));
        }
        let is_rising = held.hosts.is_sorted_by(|one, next| one.0 < next.0);
        rest.end()?;
        if is_rising { Ok(held) } else { Err(Unfit::Block) }
    }

    fn take_host(&mut self, rest: &mut In<'_>, spans: &mut Spans) -> Result<(), Unfit> {
        let count = rest.count()?;
        let (mut next, mut start_ns, mut length_ns) = (0u64, 0u64, 0u64);
        for _ in 0..count {
            let word = rest.number()?;
            let phase = *PHASES.get((word & 3) as usize).ok_or(Unfit::Block)?;
            let interval =
                u32::try_from(next.saturating_add(word >> 2)).map_err(|_| Unfit::Block)?;
            (start_ns, length_ns) = (rest.difference(start_ns)?, rest.difference(length_ns)?);
            if spans.last().is_some_and(|last| last.interval >= interval) {
                return Err(Unfit::Block);
            }
            spans.push(Span { start_ns, length_ns, interval, phase });
            if phase.counts() {
                let (first, last) = self.loads.unwrap_or((interval, interval));
                self.loads = Some((first.min(interval), last.max(interval)));
            }
            next = u64::from(interval) + 1;
            start_ns = start_ns.wrapping_add(length_ns);
        }
        Ok(())
    }

    /// Puts the places of its spans behind so many that each host has before them.
    pub fn put_behind(&mut self, before: impl Fn(u32) -> usize) {
        for (host, at, _) in &mut self.hosts {
            *at += before(*host);
        }
    }

    /// The hosts that the block has intervals of.
    pub fn hosts(&self) -> impl Iterator<Item = u32> {
        self.hosts.iter().map(|(host, ..)| *host)
    }

    /// Whether figures rest on all of its intervals of load, or on none; `None` where on some, so
    /// that its sums are of no use.
    pub fn is_counted(&self, frame: &Frame) -> Option<bool> {
        self.loads.map_or(Some(false), |(first, last)| frame.are_counted(first, last))
    }

    /// The place and number of a host's spans.
    fn of(&self, host: u32) -> Result<(usize, usize), Unfit> {
        let at =
            self.hosts.binary_search_by_key(&host, |(host, ..)| *host).map_err(|_| Unfit::Stray)?;
        Ok((self.hosts[at].1, self.hosts[at].2))
    }
}

/// One block on its way into the sums of a stage.
struct Taking<'a> {
    frame: &'a Frame,
    held: &'a Held,
    is_counted: bool,
    buckets: Vec<(u16, u64)>,
}

impl Sums {
    /// Takes in the sums of a block whose spans are in the frame: those that count or, where
    /// `is_counted` is not, what is known of all phases. Of `times`, what the frame asks for.
    ///
    /// # Errors
    /// The bytes are none, or they have an interval of an operation that is there already.
    pub fn take_block(
        &mut self,
        frame: &Frame,
        held: &Held,
        is_counted: bool,
        sums: &[u8],
        times: Option<&[u8]>,
    ) -> Result<(), Unfit> {
        let mut taking = Taking { frame, held, is_counted, buckets: Vec::new() };
        let mut rest = read(sums)?;
        self.all_cpu_ns.0 = self.all_cpu_ns.0.saturating_add(rest.number()?);
        self.all_cpu_ns.1 = self.all_cpu_ns.1.saturating_add(rest.number()?);
        for _ in 0..rest.count()? {
            let key = (rest.small()?, take_op(&mut rest)?);
            taking.part(&mut rest, self.parts.entry(key).or_default())?;
        }
        taking.workers(&mut rest, self)?;
        taking.cpu(&mut rest, self)?;
        taking.failed(&mut rest, self)?;
        times.map_or(Ok(()), |times| taking.times(times, self))
    }
}

impl Taking<'_> {
    fn part(&mut self, rest: &mut In<'_>, part: &mut Part) -> Result<(), Unfit> {
        let mut of_phases = 0u128;
        for phase in PHASES {
            let counts = take_counts(rest)?;
            of_phases += u128::from(counts.ios);
            if self.is_counted || phase == Phase::Drain {
                part.phases[phase as usize].add(counts.ios, counts.bytes);
            }
        }
        let all = take_counts(rest)?;
        part.all.add(all.ios, all.bytes);
        add_all(&mut part.errors, take_errors(rest)?);
        let mut of_hosts = 0u128;
        for _ in 0..rest.count()? {
            let host = rest.small()?;
            of_hosts += u128::from(self.host(rest, host, part.hosts.entry(host).or_default())?.ios);
        }
        let mut of_moments = 0u128;
        for _ in 0..rest.count()? {
            let moment = self.moment(rest.number()?)?;
            let total = Total {
                counts: take_counts(rest)?,
                latency: EncodedHistogram(rest.block()?.to_vec()),
            };
            let head =
                take_apart(&total.latency.0, &mut self.buckets).map_err(|_| Unfit::Histogram)?;
            if head.count != total.counts.ios {
                return Err(Unfit::Histogram);
            }
            of_moments += u128::from(total.counts.ios);
            part.add_total(moment, total)?;
        }
        // Whoever adds up hosts, moments or phases may rely on it that all together is the most.
        match of_phases.max(of_hosts).max(of_moments) <= all.ios.into() {
            true => Ok(()),
            false => Err(Unfit::Block),
        }
    }

    /// The place of an interval in the frame, from that in the block.
    fn moment(&self, in_block: u64) -> Result<usize, Unfit> {
        let interval = u32::try_from(in_block.saturating_add(u64::from(self.held.base)))
            .map_err(|_| Unfit::Block)?;
        self.frame.moment(interval).ok_or(Unfit::Stray)
    }

    /// Takes in what a host did, and says what counts of it.
    fn host(&mut self, rest: &mut In<'_>, host: u32, part: &mut HostPart) -> Result<Counts, Unfit> {
        let (counts, latency, errors) = (take_counts(rest)?, rest.block()?, take_errors(rest)?);
        let head = take_apart(latency, &mut self.buckets).map_err(|_| Unfit::Histogram)?;
        if head.count != counts.ios {
            return Err(Unfit::Histogram);
        }
        if self.is_counted {
            part.counts.add(counts.ios, counts.bytes);
            part.latency.add(&head, &self.buckets).map_err(|_| Unfit::Histogram)?;
            add_all(&mut part.errors, errors);
        }
        self.column(rest, host, &mut part.ios, |before, value| match before > 0 && value > 0 {
            true => Err(Unfit::Twice),
            false => Ok(before.max(value)),
        })?;
        Ok(counts)
    }

    /// One number for each of a host's spans, as far as there are any.
    fn column(
        &self,
        rest: &mut In<'_>,
        host: u32,
        column: &mut Column,
        put: impl Fn(u64, u64) -> Result<u64, Unfit>,
    ) -> Result<(), Unfit> {
        let count = rest.count()?;
        let (at, most) = self.held.of(host)?;
        column.reach(self.frame.spans.get(&host).map_or(0, Spans::len));
        // Each number takes a byte at least, so that this many may be there.
        if count > most {
            return Err(Unfit::Stray);
        }
        column.change(at, at.saturating_add(count), Unfit::Stray, |before| {
            let value = rest.number()?;
            put(before, value)
        })
    }

    fn workers(&self, rest: &mut In<'_>, sums: &mut Sums) -> Result<(), Unfit> {
        for _ in 0..rest.count()? {
            let key = (rest.small()?, rest.small()?);
            self.held.of(key.0)?;
            let (user_ns, system_ns, time_ns) = (rest.number()?, rest.number()?, rest.number()?);
            let mut ios = BTreeMap::new();
            for _ in 0..rest.count()? {
                add_all(&mut ios, BTreeMap::from([(take_op(rest)?, rest.number()?)]));
            }
            if self.is_counted {
                let total = WorkerTotal { user_ns, system_ns, time_ns, ios };
                sums.workers.entry(key).or_default().add(total);
            }
        }
        Ok(())
    }

    fn cpu(&self, rest: &mut In<'_>, sums: &mut Sums) -> Result<(), Unfit> {
        for _ in 0..rest.count()? {
            let (work, count) = (rest.small()?, rest.count()?);
            for in_block in 0..count {
                let value = rest.number()?;
                // Zeros before the last one may be of intervals that no host had.
                if !self.is_counted || (value == 0 && in_block + 1 < count) {
                    continue;
                }
                let moment = self.moment(in_block as u64)?;
                let column = sums.cpu_ns.entry(work).or_default();
                if column.len() <= moment {
                    column.resize(moment + 1, 0);
                }
                column[moment] = column[moment].saturating_add(value);
            }
        }
        Ok(())
    }

    /// Which intervals requests failed in, to the end of the bytes.
    fn failed(&self, rest: &mut In<'_>, sums: &mut Sums) -> Result<(), Unfit> {
        while !rest.is_over() {
            let key = (rest.small()?, take_op(rest)?);
            let part = sums.parts.get_mut(&key).ok_or(Unfit::Stray)?;
            for _ in 0..rest.count()? {
                let moment = self.moment(rest.number()?)?;
                add_one(&mut part.failed, moment, rest.number()?);
            }
        }
        Ok(())
    }

    fn times(&self, times: &[u8], sums: &mut Sums) -> Result<(), Unfit> {
        let mut rest = read(times)?;
        for _ in 0..rest.count()? {
            let key = (rest.small()?, take_op(&mut rest)?);
            let part = sums.parts.get_mut(&key).ok_or(Unfit::Stray)?;
            for _ in 0..rest.count()? {
                let host = rest.small()?;
                let mut unasked = Column::default();
                let sums = part.hosts.get_mut(&host).ok_or(Unfit::Stray)?;
                let column =
                    if self.frame.is_timed(key.0) { &mut sums.latency_ns } else { &mut unasked };
                self.column(&mut rest, host, column, |before, value| {
                    Ok(before.saturating_add(value))
                })?;
            }
        }
        Ok(rest.end()?)
    }
}
