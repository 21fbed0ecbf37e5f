//! Adds up what a segment does, row by row: the same while it runs and of its run file.

use super::guard::SlotSeen;
use super::slo::Judge;
use model::canary::{Counts, SLOT_NS, Totals};
use model::{Histogram, Op};
use std::collections::{BTreeMap, VecDeque};

/// A minute is over when a row begins so long after it: hosts do not tell in step.
const LATE_NS: u64 = 2_000_000_000;
/// So many due requests may be missing because the load of hosts and workers does not begin and end
/// in the same instant.
const EDGES: f64 = 16.0;
/// Minutes that may be open at the same time; older ones are over in any case.
const MOST_OPEN: usize = 8;

/// When a segment loads, and with what.
#[derive(Clone, Debug)]
pub struct Load {
    /// When its stage began, in ns since 1970 of the canary's time.
    pub began_unix_ns: u64,
    /// Requests per second of all hosts together, in thousandths.
    pub rate_milli: u64,
    /// Whether requests are due like strangers arriving, and not at equal distances.
    pub is_poisson: bool,
    /// Which requests keep the objective.
    pub judge: Judge,
}

/// Requests of one operation that came back in one interval of a host.
#[derive(Clone, Debug)]
pub struct Answered<'a> {
    /// When the interval began, in ns after the stage.
    pub start_ns: u64,
    /// How long it was, in ns.
    pub length_ns: u64,
    /// Whether load was on.
    pub is_load: bool,
    /// The operation.
    pub op: Op,
    /// Bytes that moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Those that succeeded.
    pub latency: &'a Histogram,
}

/// What a segment did until now.
#[derive(Clone, Debug)]
pub struct Tally {
    load: Load,
    requests: u64,
    bytes: u64,
    errors: u64,
    latency: Histogram,
    slots: BTreeMap<u64, Counts>,
    open: BTreeMap<u64, SlotSeen>,
    over: VecDeque<(u64, SlotSeen)>,
    /// The first minute that is wholly within the load and was not handed out.
    first_open: u64,
    load_end_ns: u64,
    end_ns: u64,
}

impl Tally {
    /// A segment that has done nothing yet.
    pub fn new(load: Load) -> Tally {
        let first_open = load.began_unix_ns.div_ceil(SLOT_NS);
        Tally {
            load,
            requests: 0,
            bytes: 0,
            errors: 0,
            latency: Histogram::new(),
            slots: BTreeMap::new(),
            open: BTreeMap::new(),
            over: VecDeque::new(),
            first_open,
            load_end_ns: 0,
            end_ns: 0,
        }
    }

    /// An interval came to its end, whether anything came back in it or not.
    pub fn interval(&mut self, start_ns: u64, length_ns: u64, is_load: bool) {
        let end_ns = start_ns.saturating_add(length_ns);
        self.end_ns = self.end_ns.max(end_ns);
        if is_load {
            self.load_end_ns = self.load_end_ns.max(end_ns);
        }
        let slot = self.slot(start_ns);
        // A target that stands still has minutes, too, in which nothing comes back.
        let nothing = || SlotSeen { latency: Histogram::new(), errors: 0 };
        if is_load && slot >= self.first_open {
            self.open.entry(slot).or_insert_with(nothing);
        }
        let now = self.load.began_unix_ns.saturating_add(start_ns);
        let is_over = |slot: &u64| (slot + 1).saturating_mul(SLOT_NS) + LATE_NS <= now;
        while let Some((slot, _)) = self.open.first_key_value()
            && (is_over(slot) || self.open.len() > MOST_OPEN)
            && let Some((slot, seen)) = self.open.pop_first()
        {
            self.first_open = slot + 1;
            self.over.push_back((slot, seen));
        }
    }

    /// Takes in what came back.
    pub fn take(&mut self, answered: &Answered<'_>) {
        self.interval(answered.start_ns, answered.length_ns, answered.is_load);
        let counts = self.load.judge.count(answered.op, answered.errors, answered.latency);
        let slot = self.slot(answered.start_ns);
        self.slots.entry(slot).or_default().add(counts);
        self.requests = self.requests.saturating_add(answered.latency.count());
        self.bytes = self.bytes.saturating_add(answered.bytes);
        self.errors = self.errors.saturating_add(answered.errors);
        self.latency.merge(answered.latency);
        if let Some(seen) = self.open.get_mut(&slot) {
            seen.latency.merge(answered.latency);
            seen.errors = seen.errors.saturating_add(answered.errors);
        }
    }

    fn slot(&self, start_ns: u64) -> u64 {
        self.load.began_unix_ns.saturating_add(start_ns) / SLOT_NS
    }

    /// The next minute that is over, if there is one; each is handed out once.
    pub fn next_over(&mut self) -> Option<(u64, SlotSeen)> {
        self.over.pop_front()
    }

    /// Counts by the minute until now.
    pub fn slots(&self) -> &BTreeMap<u64, Counts> {
        &self.slots
    }

    /// When its last interval ended, in ns since 1970 of the canary's time.
    pub fn end_unix_ns(&self) -> u64 {
        self.load.began_unix_ns.saturating_add(self.end_ns)
    }

    /// Requests that were due and never came back. A few more or less are due than the rate says:
    /// a thousandth and a few at the edges of the load are left to chance, and where strangers
    /// arrive, five standard deviations of their number.
    fn missed(&self) -> u64 {
        let due = self.load.rate_milli as f64 / 1e3 * self.load_end_ns as f64 / 1e9;
        let missing = due - self.requests as f64 - self.errors as f64;
        let arrivals = if self.load.is_poisson { 5.0 * due.sqrt() } else { 0.0 };
        let chance = due / 1e3 + EDGES + arrivals;
        if missing > chance { missing as u64 } else { 0 }
    }

    /// What all of it comes to. Requests that never came back count as bad in the last minute.
    pub fn finish(mut self) -> Done {
        let missed = self.missed();
        let last = self.slot(self.load_end_ns.saturating_sub(1));
        if missed > 0 {
            self.slots.entry(last).or_default().add(Counts { good: 0, bad: missed });
        }
        let mut counts = Counts::default();
        self.slots.values().for_each(|slot| counts.add(*slot));
        let end_unix_ns = self.end_unix_ns();
        Done {
            totals: Totals {
                requests: self.requests,
                bytes: self.bytes,
                errors: self.errors,
                missed,
                counts,
                latency: self.latency.encode(),
            },
            slots: self.slots,
            end_unix_ns,
        }
    }
}

/// What a segment came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// All of it.
    pub totals: Totals,
    /// By the minute since 1970.
    pub slots: BTreeMap<u64, Counts>,
    /// When its last interval ended, in ns since 1970 of the canary's time.
    pub end_unix_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(began_s: u64) -> Tally {
        let objective = "p99 < 5ms".parse().expect("an objective");
        let judge = Judge::new(&objective, None).expect("a judge");
        Tally::new(Load {
            began_unix_ns: began_s * 1_000_000_000,
            rate_milli: 10_000,
            is_poisson: false,
            judge,
        })
    }

    fn second(tally: &mut Tally, second: u64, slow: u64) {
        let mut latency = Histogram::new();
        latency.record_many(1_000_000, 10 - slow);
        latency.record_many(9_000_000, slow);
        tally.take(&Answered {
            start_ns: second * 1_000_000_000,
            length_ns: 1_000_000_000,
            is_load: true,
            op: Op::Read,
            bytes: 10 * 4096,
            errors: 0,
            latency: &latency,
        });
    }

    #[test]
    fn minutes_are_those_of_the_clock_and_only_whole_ones_are_watched() {
        let mut tally = tally(30);
        let mut over = Vec::new();
        for at in 0..200 {
            second(&mut tally, at, u64::from(at == 31));
            over.extend(tally.next_over());
        }
        // The load began in the middle of minute 0; minute 3 is not over.
        assert_eq!(over.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), [1, 2]);
        assert!(over.iter().all(|(_, seen)| seen.latency.count() == 600));
        assert_eq!(tally.slots()[&1], Counts { good: 599, bad: 1 });
        let done = tally.finish();
        assert_eq!(done.slots.values().map(|counts| counts.all()).sum::<u64>(), 2_000);
        assert_eq!(
            (done.totals.requests, done.totals.bytes, done.totals.missed),
            (2_000, 2_000 * 4096, 0)
        );
        assert_eq!(done.end_unix_ns, 230_000_000_000);
    }

    #[test]
    fn what_was_due_and_never_came_back_is_bad_and_a_silent_minute_is_one() {
        let mut tally = tally(0);
        for at in 0..60 {
            second(&mut tally, at, 0);
        }
        for at in 60..200 {
            tally.interval(at * 1_000_000_000, 1_000_000_000, true);
        }
        let over: Vec<_> = std::iter::from_fn(|| tally.next_over()).collect();
        assert_eq!(over.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(over[1].1.latency.count(), 0);
        let done = tally.finish();
        assert_eq!(done.totals.missed, 1_400);
        assert_eq!(done.totals.counts, Counts { good: 600, bad: 1_400 });
    }
}
