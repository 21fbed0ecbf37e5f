//! When each host did something, and which of it counts.

use super::side_by_side::side_by_side;
use super::span::Span;
use super::spans::Spans;
use crate::plan::{Plan, Steady};
use crate::{Note, NoteKind, Occurrence, Phase, StageEnd};
use std::collections::BTreeMap;

/// Into so many parts hosts are put that are looked at side by side.
const PARTS: usize = 8;
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

/// What of a run says which intervals of a stage count.
#[derive(Clone, Copy, Debug)]
pub struct StageContext<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What came up.
    pub notes: &'a [Note],
    /// What happened at an instant.
    pub occurrences: &'a [Occurrence],
    /// The number of the stage.
    pub stage: u32,
    /// How it ended; `None` where the run was killed in it.
    pub end: Option<&'a StageEnd>,
}

/// Intervals from one to before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    from: u32,
    to: u32,
}

impl Default for Row {
    fn default() -> Row {
        Row { from: 0, to: u32::MAX }
    }
}

/// The intervals of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Each host's intervals in their order, by its number in the plan.
    pub spans: BTreeMap<u32, Spans>,
    /// The intervals of load in their order.
    pub moments: Vec<Moment>,
    /// The hosts that the stage was lost on, by their numbers.
    pub lost: Vec<u32>,
    /// The first interval without one of them; `None` where none was lost.
    pub degraded_from: Option<u32>,
    /// Those of the lost hosts that figures are without.
    pub without: Vec<u32>,
    /// The intervals that figures rest on: the longest row of them with the same hosts.
    row: Row,
    /// The work of each worker, by host and worker.
    works: BTreeMap<(u32, u32), u32>,
    /// Where it settled, the first interval of its last window, on which its figures rest; else 0.
    settled_from: u32,
    /// Whether how long the requests of a work took on each host is wanted over time.
    timed: Vec<bool>,
}

impl Frame {
    /// The intervals of a stage, from those of each host.
    pub fn new(context: StageContext<'_>, mut spans: BTreeMap<u32, Spans>) -> Frame {
        let StageContext { plan, notes, stage, .. } = context;
        for spans in spans.values_mut() {
            if !spans.are_sorted() {
                spans.sort();
            }
        }
        let moments = moments(&spans);
        let lost = lost(plan, notes, stage);
        let next = |host: &u32| {
            let back = |spans: &Spans| (0..spans.len()).rev().find_map(|at| load(spans.get(at)?));
            let last = spans.get(host).and_then(back);
            last.map_or(0, |span| span.interval.saturating_add(1))
        };
        let ends: Vec<u32> = lost.iter().map(next).collect();
        let degraded_from = ends.iter().copied().min();
        let row = longest_row(&ends, &moments);
        let is_missed = |(host, end): (&u32, &u32)| (*end <= row.from).then_some(*host);
        let without = lost.iter().zip(&ends).filter_map(is_missed).collect();
        let works = works(plan, stage);
        let planned = plan.stages.get(stage as usize).map_or(&[][..], |stage| &stage.works);
        // Requests that are due at their own times tell by it how it went; where something
        // happened, it is asked what that did to it.
        let has_happened = context.occurrences.iter().any(|one| one.stage == Some(stage));
        let timed = planned.iter().map(|work| has_happened || work.pace.is_open()).collect();
        let settled_from =
            settled_from(context, moments.last().map_or(0, |last| u64::from(last.interval) + 1));
        assert!(moments.is_sorted_by(|one, next| one.interval < next.interval), "each once");
        assert!(lost.iter().all(|host| (*host as usize) < plan.hosts.len()), "hosts of the plan");
        Frame { spans, moments, lost, degraded_from, without, row, works, settled_from, timed }
    }

    /// One that grows with the samples of a block, as long as nobody knows what will count:
    /// everything does, and every time is kept.
    pub(super) fn growing(plan: &Plan, stage: u32) -> Frame {
        let planned = plan.stages.get(stage as usize).map_or(0, |stage| stage.works.len());
        Frame { works: works(plan, stage), timed: vec![true; planned], ..Frame::default() }
    }

    /// Whether figures rest on an interval of load: a stage that hosts were lost in falls into rows
    /// of intervals with the same hosts, and the longest one counts; of equal ones the first, with
    /// the most hosts. Figures of different hosts are never mixed. Of a stage that settled, the
    /// last window counts, if it is of that row.
    pub fn is_counted(&self, interval: u32) -> bool {
        self.counted_range().contains(&interval)
    }

    fn counted_range(&self) -> std::ops::Range<u32> {
        let Row { from, to } = self.row;
        let start = if self.settled_from < to { self.settled_from.max(from) } else { from };
        start..to
    }

    /// When the first interval that figures rest on began behind the loss of a host, in ns after
    /// the stage's start; `None` where they begin with the stage.
    pub fn behind_ns(&self) -> Option<u64> {
        let first = self.moments.iter().find(|moment| moment.interval >= self.row.from);
        first.filter(|_| self.row.from > 0).map(|moment| moment.start_ns)
    }

    /// Whether figures rest on all intervals of load from the first to the last one of these, or on
    /// none; `None` where on some.
    pub(super) fn are_counted(&self, first: u32, last: u32) -> Option<bool> {
        let range = self.counted_range();
        match (range.contains(&first), range.contains(&last)) {
            (true, true) => Some(true),
            (false, false) if last < range.start || first >= range.end => Some(false),
            _ => None,
        }
    }

    /// Where the sample of a host and an interval stands, if there is one.
    pub fn place(&self, host: u32, interval: u32) -> Option<Place> {
        let spans = self.spans.get(&host)?;
        let at = spans.find(interval)?;
        let span = spans.get(at)?;
        let counts = span.phase.counts() && self.is_counted(interval);
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

    /// Whether how long the requests of a work took on each host is wanted over time.
    pub fn is_timed(&self, work: u32) -> bool {
        self.timed.get(work as usize).copied().unwrap_or(false)
    }

    /// Whether that is wanted of any work.
    pub fn is_any_timed(&self) -> bool {
        self.timed.contains(&true)
    }

    /// The time on which figures rest, from the first to the last interval of load that counts, in
    /// ns after the stage's start; `None` where there is none.
    pub fn load_ns(&self) -> Option<std::ops::Range<u64>> {
        let counted = || self.moments.iter().filter(|moment| self.is_counted(moment.interval));
        let first = counted().map(|moment| moment.start_ns).min()?;
        let last =
            counted().map(|moment| moment.start_ns.saturating_add(moment.length_ns)).max()?;
        Some(first..last)
    }

    /// How long a host's spans of a phase are together, in ns; of a phase that counts, those that
    /// figures rest on. Saturates.
    pub fn length_ns(&self, host: u32, phase: Phase) -> u64 {
        let Some(spans) = self.spans.get(&host) else { return 0 };
        let ends = spans.get(0).zip(spans.last());
        let is_inside = |(first, last): (Span, Span)| {
            self.is_counted(first.interval) && self.is_counted(last.interval)
        };
        // Nearly always: a day has too many to go through them for each figure.
        if !phase.counts() || ends.is_none_or(is_inside) {
            return spans.length_ns(phase);
        }
        let counted = |span: &Span| span.phase == phase && self.is_counted(span.interval);
        spans.iter().filter(counted).fold(0, |sum, span| sum.saturating_add(span.length_ns))
    }

    /// How long the spans of a host are together that figures rest on, in ns. Saturates.
    pub fn counted_ns(&self, host: u32) -> u64 {
        let of = |phase| self.length_ns(host, phase);
        of(Phase::Load).saturating_add(of(Phase::Tail))
    }

    /// The spans of a host that figures rest on.
    pub fn counted(&self, host: u32) -> impl Iterator<Item = Span> {
        let is_counted = |span: &Span| span.phase.counts() && self.is_counted(span.interval);
        self.spans.get(&host).into_iter().flat_map(Spans::iter).filter(is_counted)
    }
}

/// The longest row of intervals with the same hosts, where some were lost, each behind its last
/// interval.
fn longest_row(ends: &[u32], moments: &[Moment]) -> Row {
    let mut bounds = ends.to_vec();
    bounds.extend([0, u32::MAX]);
    bounds.sort_unstable();
    bounds.dedup();
    let rows = bounds.windows(2).map(|pair| Row { from: pair[0], to: pair[1] });
    let length = |row: &Row| {
        let is_of_it = |moment: &&Moment| (row.from..row.to).contains(&moment.interval);
        moments.iter().filter(is_of_it).count()
    };
    // Of equal ones, `max_by_key` takes the last.
    rows.rev().max_by_key(length).unwrap_or_default()
}

/// The work of each worker in a stage, by host and worker.
fn works(plan: &Plan, stage: u32) -> BTreeMap<(u32, u32), u32> {
    let workers = (0..).zip(&plan.hosts).flat_map(|(number, host)| {
        let workers = host.stages.get(stage as usize).map_or(&[][..], |stage| &stage.workers);
        (0..).zip(workers).map(move |(worker, planned)| ((number, worker), planned.work))
    });
    workers.collect()
}

/// The first interval of the last window of a stage of so many intervals that ended because it was
/// steady; 0 for any other.
///
/// The stage ends as soon as all hosts can hear of it, so this window lies a few intervals behind
/// the one that was found steady.
fn settled_from(context: StageContext<'_>, intervals: u64) -> u32 {
    let StageContext { plan, notes, stage, end, .. } = context;
    let planned = plan.stages.get(stage as usize).and_then(|planned| planned.stop().steady());
    let is_said = |note: &Note| note.stage == Some(stage) && note.kind() == NoteKind::Settled;
    let has_settled = end == Some(&StageEnd::Complete) && notes.iter().any(is_said);
    let Some(steady) = planned.filter(|_| has_settled) else { return 0 };
    let window = (steady.round.0 / plan.interval.0.max(1)).saturating_mul(Steady::ROUNDS);
    u32::try_from(intervals.saturating_sub(window)).unwrap_or(0)
}

/// The place of `interval` among items in its order: nearly always so far from the first one as
/// their numbers differ.
fn find<T>(items: &[T], interval: u32, number: impl Fn(&T) -> u32) -> Option<usize> {
    let guess = interval.checked_sub(number(items.first()?))? as usize;
    match items.get(guess) {
        Some(item) if number(item) == interval => Some(guess),
        _ => items.binary_search_by_key(&interval, number).ok(),
    }
}

/// A span of load.
fn load(span: Span) -> Option<Span> {
    span.phase.counts().then_some(span)
}

fn moments(spans: &BTreeMap<u32, Spans>) -> Vec<Moment> {
    // Hosts have the same intervals, as a rule: those of the longest, and the rest of all others.
    let longest = spans.values().max_by_key(|spans| spans.len());
    let mut numbers: Vec<u32> =
        longest.into_iter().flatten().filter_map(load).map(|span| span.interval).collect();
    numbers.dedup();
    let place = |number: u32| find(&numbers, number, |n| *n);
    let missing: Vec<u32> = spans
        .values()
        .flat_map(Spans::stretches)
        .filter(|(.., phase)| phase.counts())
        .filter(|(first, last, _)| {
            // Between two that are as far apart in their places, none is missing.
            let places = place(*first).zip(place(*last));
            places.is_none_or(|(at, end)| end - at != (last - first) as usize)
        })
        .flat_map(|(first, last, _)| (first..=last).filter(|number| place(*number).is_none()))
        .collect();
    numbers.extend(missing);
    numbers.sort_unstable();
    numbers.dedup();
    let hosts: Vec<&Spans> = spans.values().collect();
    // Few, as each has all moments of its own.
    let parts: Vec<&[&Spans]> = hosts.chunks(hosts.len().div_ceil(PARTS).max(1)).collect();
    let all = spans.values().map(Spans::len).sum();
    let found = side_by_side(&parts, all, |hosts| times(&numbers, hosts));
    let mut moments: Vec<Moment> = numbers
        .iter()
        .map(|interval| Moment { interval: *interval, start_ns: 0, length_ns: 0 })
        .collect();
    for (at, moment) in moments.iter_mut().enumerate() {
        // Of the first host that has it.
        moment.start_ns = found.iter().find_map(|times| times[at].0).unwrap_or_default();
        moment.length_ns = found.iter().map(|times| times[at].1).max().unwrap_or_default();
    }
    moments
}

/// When each of the intervals of load with these numbers began on the first of some hosts that has
/// it, and its longest length, both in ns.
fn times(numbers: &[u32], hosts: &[&Spans]) -> Vec<(Option<u64>, u64)> {
    let mut times = vec![(None, 0u64); numbers.len()];
    for spans in hosts {
        let mut next = 0;
        for span in spans.iter().filter_map(load) {
            // Nearly always the one behind the one before.
            let at = match numbers.get(next) {
                Some(number) if *number == span.interval => Some(next),
                _ => find(numbers, span.interval, |number| *number),
            };
            let Some(at) = at else { continue };
            let (start_ns, length_ns) = &mut times[at];
            start_ns.get_or_insert(span.start_ns);
            *length_ns = span.length_ns.max(*length_ns);
            next = at + 1;
        }
    }
    times
}

/// The hosts with work in a stage that were lost until its end, and had not come back before it, in
/// the order of the notes.
fn lost(plan: &Plan, notes: &[Note], stage: u32) -> Vec<u32> {
    let has_work = |host: u32| {
        let planned =
            plan.hosts.get(host as usize).and_then(|host| host.stages.get(stage as usize));
        planned.is_some_and(|stage| !stage.workers.is_empty())
    };
    let until_now =
        |note: &&Note| note.stage.is_some_and(|said| said <= stage) && has_work(note.host);
    let mut lost: Vec<u32> = Vec::new();
    for note in notes.iter().filter(until_now) {
        match note.kind() {
            NoteKind::HostLost if !lost.contains(&note.host) => lost.push(note.host),
            // It takes part in the whole of the stage before which it came back.
            NoteKind::HostReturned => lost.retain(|host| *host != note.host),
            _ => {}
        }
    }
    lost
}
