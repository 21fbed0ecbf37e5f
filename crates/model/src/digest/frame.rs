//! When each host did something, and which of it counts.

use crate::plan::Plan;
use crate::{Note, NoteKind, Phase};
use std::collections::BTreeMap;

/// One interval of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it began, in ns after the stage's start.
    pub start_ns: u64,
    /// How long it was, in ns.
    pub length_ns: u64,
    /// Its number, from 0.
    pub interval: u32,
    /// Whether it counts.
    pub phase: Phase,
}

/// One interval of load, all hosts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Its number.
    pub interval: u32,
    /// When it began on the first host that has it, in ns after the stage's start.
    pub start_ns: u64,
    /// How long it was, in ns; of several hosts, the longest.
    pub length_ns: u64,
}

/// Where a sample stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The host's number in the plan.
    pub host: u32,
    /// Its place among the host's spans.
    pub at: usize,
    /// How many spans the host has.
    pub of: usize,
    /// The span itself.
    pub span: Span,
    /// Whether figures rest on it: load was on, and no host was lost.
    pub counts: bool,
}

/// The intervals of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Each host's intervals in their order, by its number in the plan.
    pub spans: BTreeMap<u32, Vec<Span>>,
    /// The intervals of load in their order.
    pub moments: Vec<Moment>,
    /// The hosts that the stage was lost on, by their numbers.
    pub lost: Vec<u32>,
    /// The first interval without one of them; `None` where none was lost.
    pub degraded_from: Option<u32>,
    /// The work of each worker, by host and worker.
    works: BTreeMap<(u32, u32), u32>,
    /// Whether the requests of a work are due at their own times, so that their latency says how it went over time.
    open: Vec<bool>,
}

impl Frame {
    /// The intervals of a stage, from those of each host.
    pub fn new(plan: &Plan, notes: &[Note], stage: u32, mut spans: BTreeMap<u32, Vec<Span>>) -> Frame {
        for spans in spans.values_mut() {
            if !spans.is_sorted_by_key(|span| span.interval) {
                spans.sort_by_key(|span| span.interval);
            }
        }
        let moments = moments(&spans);
        let lost = lost(plan, notes, stage);
        let next = |host: &u32| {
            let loads = spans.get(host).into_iter().flatten().rev().find(|span| span.phase.counts());
            loads.map_or(0, |span| span.interval.saturating_add(1))
        };
        let degraded_from = lost.iter().map(next).min();
        let workers = (0..).zip(&plan.hosts).flat_map(|(number, host)| {
            let workers = host.stages.get(stage as usize).map_or(&[][..], |stage| &stage.workers);
            (0..).zip(workers).map(move |(worker, planned)| ((number, worker), planned.work))
        });
        let works = workers.collect();
        let planned = plan.stages.get(stage as usize).map_or(&[][..], |stage| &stage.works);
        let open = planned.iter().map(|work| work.pace.is_open()).collect();
        Frame { spans, moments, lost, degraded_from, works, open }
    }

    /// The first interval that figures do not rest on: those without a lost host, unless there are no others.
    pub fn end(&self) -> u32 {
        self.degraded_from.filter(|from| *from > 0).unwrap_or(u32::MAX)
    }

    /// Where the sample of a host and an interval stands, if there is one.
    pub fn place(&self, host: u32, interval: u32) -> Option<Place> {
        let spans = self.spans.get(&host)?;
        let at = find(spans, interval, |span| span.interval)?;
        let span = *spans.get(at)?;
        let counts = span.phase.counts() && interval < self.end();
        Some(Place { host, at, of: spans.len(), span, counts })
    }

    /// The place of an interval among [`moments`](Self::moments).
    pub fn moment(&self, interval: u32) -> Option<usize> {
        find(&self.moments, interval, |moment| moment.interval)
    }

    /// The work that a worker of a host does, if the plan has one.
    pub fn work_of(&self, host: u32, worker: u32) -> Option<u32> {
        self.works.get(&(host, worker)).copied()
    }

    /// Whether the requests of a work are due at their own times.
    pub fn is_open(&self, work: u32) -> bool {
        self.open.get(work as usize).copied().unwrap_or(false)
    }

    /// The spans of a host that figures rest on.
    pub fn counted(&self, host: u32) -> impl Iterator<Item = &Span> {
        let end = self.end();
        self.spans.get(&host).into_iter().flatten().filter(move |span| span.phase.counts() && span.interval < end)
    }
}

/// The place of `interval` among items in its order: nearly always so far from the first one as their numbers differ.
fn find<T>(items: &[T], interval: u32, number: impl Fn(&T) -> u32) -> Option<usize> {
    let guess = interval.checked_sub(number(items.first()?))? as usize;
    match items.get(guess) {
        Some(item) if number(item) == interval => Some(guess),
        _ => items.binary_search_by_key(&interval, number).ok(),
    }
}

fn moments(spans: &BTreeMap<u32, Vec<Span>>) -> Vec<Moment> {
    let loads = || spans.values().flat_map(|spans| spans.iter().filter(|span| span.phase.counts()));
    // Hosts have the same intervals, as a rule: those of the longest, and the rest of all others.
    let longest = spans.values().max_by_key(|spans| spans.len());
    let mut numbers: Vec<u32> =
        longest.into_iter().flatten().filter(|s| s.phase.counts()).map(|s| s.interval).collect();
    numbers.dedup();
    let missing: Vec<u32> =
        loads().map(|span| span.interval).filter(|number| find(&numbers, *number, |n| *n).is_none()).collect();
    numbers.extend(missing);
    numbers.sort_unstable();
    numbers.dedup();
    let empty = |interval| (Moment { interval, start_ns: 0, length_ns: 0 }, false);
    let mut moments: Vec<(Moment, bool)> = numbers.into_iter().map(empty).collect();
    for span in loads() {
        let Some(at) = find(&moments, span.interval, |(moment, _)| moment.interval) else { continue };
        let (moment, is_begun) = &mut moments[at];
        if !*is_begun {
            (moment.start_ns, *is_begun) = (span.start_ns, true);
        }
        moment.length_ns = moment.length_ns.max(span.length_ns);
    }
    moments.into_iter().map(|(moment, _)| moment).collect()
}

/// The hosts with work in a stage that were lost until its end, in the order of the notes.
fn lost(plan: &Plan, notes: &[Note], stage: u32) -> Vec<u32> {
    let has_work = |host: u32| {
        let planned = plan.hosts.get(host as usize).and_then(|host| host.stages.get(stage as usize));
        planned.is_some_and(|stage| !stage.workers.is_empty())
    };
    let until_now = |lost: Option<u32>| lost.is_some_and(|lost| lost <= stage);
    let is_lost = |note: &&Note| note.kind == NoteKind::HostLost && until_now(note.stage) && has_work(note.host);
    let mut lost: Vec<u32> = notes.iter().filter(is_lost).map(|note| note.host).collect();
    lost.dedup();
    lost
}
