//! Adds up what a segment does, row by row: the same while it runs and of its run file.

use super::guard::SlotSeen;
use super::slo::Judge;
use model::canary::{Counts, SLOT_NS, Totals, Unanswered};
use model::event::{LEAST_WAIT_NS, Waiting};
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
#[derive(Clone, Debug, Default)]
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
    /// The host.
    pub host: u32,
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
#[derive(Clone, Debug, Default)]
pub struct Tally {
    load: Load,
    requests: u64,
    bytes: u64,
    errors: u64,
    /// Of those that never came back, what hosts said themselves.
    never: u64,
    latency: Histogram,
    /// By the minute in which requests were due.
    slots: BTreeMap<u64, Counts>,
    /// What has no answer yet, by host.
    waiting: BTreeMap<u32, Overdue>,
    /// The next minute of which nobody was told.
    next: u64,
    /// How far rows and hosts reach, in ns after the stage began.
    now_ns: u64,
    open: BTreeMap<u64, SlotSeen>,
    over: VecDeque<(u64, SlotSeen)>,
    /// The first minute that is wholly within the load and was not handed out.
    first_open: u64,
    load_end_ns: u64,
    end_ns: u64,
}

/// Requests of a host that have no answer and are older than the objective allows.
#[derive(Clone, Debug, Default)]
struct Overdue {
    /// When, in ns after the stage began.
    at_ns: u64,
    /// By the minute in which they were due.
    slots: BTreeMap<u64, u64>,
    /// Requests that wait, whatever the objective, and the age of the oldest.
    all: Unanswered,
}

impl Tally {
    /// A segment that has done nothing yet.
    pub fn new(load: Load) -> Tally {
        let first_open = load.began_unix_ns.div_ceil(SLOT_NS);
        let next = load.began_unix_ns / SLOT_NS;
        Tally { load, next, first_open, ..Tally::default() }
    }

    /// An interval came to its end, whether anything came back in it or not.
    pub fn interval(&mut self, start_ns: u64, length_ns: u64, is_load: bool) {
        let end_ns = start_ns.saturating_add(length_ns);
        self.end_ns = self.end_ns.max(end_ns);
        if is_load {
            self.load_end_ns = self.load_end_ns.max(end_ns);
        }
        self.now_ns = self.now_ns.max(start_ns);
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
        self.count(answered);
        self.requests = self.requests.saturating_add(answered.latency.count());
        self.bytes = self.bytes.saturating_add(answered.bytes);
        self.errors = self.errors.saturating_add(answered.errors);
        self.latency.merge(answered.latency);
        let slot = self.slot(answered.start_ns);
        if let Some(seen) = self.open.get_mut(&slot) {
            seen.latency.merge(answered.latency);
            seen.errors = seen.errors.saturating_add(answered.errors);
        }
    }

    /// Counts requests in the minute in which they were due; what failed, where it came back.
    fn count(&mut self, answered: &Answered<'_>) {
        let Answered { start_ns, length_ns, op, latency, .. } = *answered;
        let longest_ns = latency.max_ns().unwrap_or(0);
        // Behind the load, nothing is due.
        let start_ns = match answered.is_load {
            true => start_ns,
            false => start_ns.min(self.load_end_ns.saturating_sub(1)),
        };
        let here = self.slot(start_ns);
        let end_ns = answered.start_ns.saturating_add(length_ns);
        let due_ns = |took_ns: u64| start_ns.min(end_ns.saturating_sub(took_ns));
        if self.slot(due_ns(longest_ns)) == here {
            let counts = self.load.judge.count(op, answered.errors, latency);
            self.slots.entry(here).or_default().add(counts);
        } else {
            for (low_ns, high_ns, requests) in latency.buckets() {
                let mut of_bucket = Histogram::new();
                of_bucket.record_many(high_ns.min(longest_ns), requests);
                let slot = self.slot(due_ns(low_ns));
                let counts = self.load.judge.count(op, 0, &of_bucket);
                self.slots.entry(slot).or_default().add(counts);
                self.is_back(answered.host, due_ns(low_ns), requests);
            }
            let failed = Counts { good: 0, bad: answered.errors };
            self.slots.entry(here).or_default().add(failed);
        }
    }

    /// Requests of a host that were due then wait no more.
    fn is_back(&mut self, host: u32, due_ns: u64, requests: u64) {
        let slot = self.slot(due_ns);
        if let Some(overdue) = self.waiting.get_mut(&host)
            && due_ns.saturating_add(LEAST_WAIT_NS) <= overdue.at_ns
            && let Some(count) = overdue.slots.get_mut(&slot)
        {
            *count = count.saturating_sub(requests);
        }
    }

    /// Takes in what a host's target has left unanswered until now.
    pub fn wait(&mut self, waiting: &Waiting) {
        self.now_ns = self.now_ns.max(waiting.at_ns);
        let now = self.load.began_unix_ns.saturating_add(waiting.at_ns);
        let mut overdue = Overdue {
            at_ns: waiting.at_ns,
            slots: BTreeMap::new(),
            all: Unanswered { requests: waiting.requests(), oldest_ns: waiting.oldest_ns() },
        };
        let limit_ns = self.load.judge.overdue_ns().unwrap_or(u64::MAX);
        for span in &waiting.spans {
            // Nothing was due before the load.
            let begin = self.load.began_unix_ns.max(now.saturating_sub(span.oldest_ns));
            let first = begin / SLOT_NS;
            let last = now.saturating_sub(span.youngest_ns.max(limit_ns)) / SLOT_NS;
            for slot in first..=last {
                let least_ns = limit_ns.max(now.saturating_sub((slot + 1).saturating_mul(SLOT_NS)));
                let most_ns = now.saturating_sub(slot.saturating_mul(SLOT_NS));
                let older = span.older_than(least_ns);
                let count = older.saturating_sub(span.older_than(most_ns.max(least_ns)));
                *overdue.slots.entry(slot).or_default() += count;
            }
        }
        overdue.slots.retain(|_, count| *count > 0);
        self.waiting.insert(waiting.host, overdue);
    }

    /// Takes in what a host had left when its load was over and never had an answer, with ages at
    /// that end.
    pub fn never(&mut self, ages: &Histogram) {
        for (low_ns, high_ns, requests) in ages.buckets() {
            let age_ns = low_ns + (high_ns - low_ns) / 2;
            let slot = self.slot(self.load_end_ns.saturating_sub(age_ns.max(1)));
            self.slots.entry(slot).or_default().add(Counts { good: 0, bad: requests });
            self.never = self.never.saturating_add(requests);
        }
    }

    fn slot(&self, start_ns: u64) -> u64 {
        self.load.began_unix_ns.saturating_add(start_ns) / SLOT_NS
    }

    /// The next minute that is over, if there is one; each is handed out once.
    pub fn next_over(&mut self) -> Option<(u64, SlotSeen)> {
        self.over.pop_front()
    }

    /// The next minute that is over, whether anything came back in it or not; each is named once.
    pub fn next_minute(&mut self) -> Option<u64> {
        let now = self.load.began_unix_ns.saturating_add(self.now_ns);
        let is_over = (self.next + 1).saturating_mul(SLOT_NS).saturating_add(LATE_NS) <= now;
        self.next += u64::from(is_over);
        is_over.then(|| self.next - 1)
    }

    /// Counts by the minute until now: what came back, and what is overdue.
    pub fn slots(&self) -> BTreeMap<u64, Counts> {
        let mut slots = self.slots.clone();
        for (slot, bad) in self.waiting.values().flat_map(|overdue| &overdue.slots) {
            slots.entry(*slot).or_default().add(Counts { good: 0, bad: *bad });
        }
        slots
    }

    /// What has no answer on all hosts, for a second and longer; `None` where nothing waits.
    pub fn unanswered(&self) -> Option<Unanswered> {
        let mut all = Unanswered::default();
        for overdue in self.waiting.values() {
            all.requests = all.requests.saturating_add(overdue.all.requests);
            all.oldest_ns = all.oldest_ns.max(overdue.all.oldest_ns);
        }
        (all.requests > 0).then_some(all)
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
        let seen = self.requests.saturating_add(self.errors).saturating_add(self.never);
        let missing = due - seen as f64;
        let arrivals = if self.load.is_poisson { 5.0 * due.sqrt() } else { 0.0 };
        let chance = due / 1e3 + EDGES + arrivals;
        if missing > chance { missing as u64 } else { 0 }
    }

    /// Spreads requests that never came back over the minutes that lack them, the latest first.
    fn spread(&mut self, missed: u64) {
        let end_ns = self.load_end_ns.saturating_sub(1);
        let (first, last) = (self.slot(0), self.slot(end_ns));
        let mut left = missed;
        for slot in (first..=last).rev() {
            let begin = self.load.began_unix_ns.max(slot * SLOT_NS);
            let end = self.load.began_unix_ns.saturating_add(self.load_end_ns);
            let length_ns = end.min((slot + 1) * SLOT_NS).saturating_sub(begin);
            let due = self.load.rate_milli as f64 / 1e3 * length_ns as f64 / 1e9;
            let counts = self.slots.entry(slot).or_default();
            let bad = (due.round() as u64).saturating_sub(counts.all()).min(left);
            counts.add(Counts { good: 0, bad });
            left -= bad;
        }
        self.slots.entry(last).or_default().add(Counts { good: 0, bad: left });
        self.slots.retain(|_, counts| counts.all() > 0);
    }

    /// What all of it comes to.
    pub fn finish(mut self) -> Done {
        let lacking = self.missed();
        if lacking > 0 {
            self.spread(lacking);
        }
        let missed = lacking.saturating_add(self.never);
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
    use model::event::WaitSpan;

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
            host: 0,
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
        let bad: Vec<u64> = done.slots.values().map(|counts| counts.bad).collect();
        assert_eq!(bad, [0, 600, 600, 200], "in the minutes in which they were due");
    }

    /// What a host says that answers nothing from one second on: ten were due in each.
    fn hung(host: u32, from_s: u64, at_s: u64) -> Waiting {
        const S: u64 = 1_000_000_000;
        let (oldest_ns, youngest_ns) = ((at_s - from_s) * S, S);
        let requests = (at_s - from_s - 1) * 10 + 1;
        let spans = vec![WaitSpan { requests, oldest_ns, youngest_ns }];
        Waiting { stage: 0, host, at_ns: at_s * S, spans }
    }

    /// The minutes that are told while the target answers nothing in these seconds.
    fn told(begin: u64, from_s: u64, to_s: u64) -> (Vec<(u64, Counts)>, Done) {
        let mut tally = tally(begin);
        let mut minutes = Vec::new();
        for at in 0..600 {
            match at {
                at if at < from_s => second(&mut tally, at, 0),
                // The worker hangs in the kernel: there are no rows.
                at if at < to_s => tally.wait(&hung(0, from_s, (at + 1).max(from_s + 2))),
                at if at == to_s => late(&mut tally, from_s, to_s),
                at => second(&mut tally, at, 0),
            }
            while let Some(minute) = tally.next_minute() {
                minutes.push((minute, tally.slots().get(&minute).copied().unwrap_or_default()));
            }
        }
        (minutes, tally.finish())
    }

    /// All that was due comes back at once.
    fn late(tally: &mut Tally, from_s: u64, to_s: u64) {
        let mut latency = Histogram::new();
        (from_s..=to_s).for_each(|due| {
            latency.record_many((to_s + 1 - due) * 1_000_000_000, 10);
        });
        let second = 1_000_000_000;
        let (op, bytes) = (Op::Read, 0);
        let (start_ns, length_ns) = (to_s * second, second);
        let latency = &latency;
        let host = 0;
        let answered =
            Answered { host, start_ns, length_ns, is_load: true, op, bytes, errors: 0, latency };
        tally.take(&answered);
        tally.wait(&Waiting { stage: 0, host, at_ns: (to_s + 1) * second, spans: Vec::new() });
    }

    #[test]
    fn a_stall_of_any_length_and_place_is_bad_minute_by_minute_while_it_lasts() {
        for (begin, from_s, to_s) in
            [(0, 0, 300), (0, 120, 130), (30, 65, 300), (0, 200, 500), (0, 3, 9), (45, 17, 590)]
        {
            let (minutes, done) = told(begin, from_s, to_s);
            for (minute, counts) in &minutes {
                let (first_s, last_s) = (minute * 60, minute * 60 + 60);
                let overlap = |from: u64, to: u64| {
                    last_s.min(begin + to).saturating_sub(first_s.max(begin + from))
                };
                let bad = overlap(from_s, to_s + 1) * 10;
                let what = format!("{begin} {from_s} {to_s}: minute {minute}: {counts:?}");
                assert!(counts.bad.abs_diff(bad) <= 11, "{what}, {bad} were bad");
                let good = overlap(0, from_s) * 10 + overlap(to_s + 1, 600) * 10;
                assert!(counts.good.abs_diff(good) <= 11, "{what}, {good} were good");
            }
            assert!(minutes.len() >= 9, "no minute waits for the end: {minutes:?}");
            assert_eq!(done.totals.counts.bad, (to_s + 1 - from_s) * 10);
            assert_eq!(done.totals.counts.all(), 6_000);
        }
    }

    #[test]
    fn what_waits_is_added_up_over_hosts_and_gone_when_it_is_answered() {
        let mut tally = tally(0);
        tally.wait(&hung(0, 10, 100));
        tally.wait(&hung(1, 40, 100));
        let all = tally.unanswered().expect("two wait");
        assert_eq!((all.requests, all.oldest_ns), (891 + 591, 90_000_000_000));
        let bad = |tally: &Tally| tally.slots().values().map(|counts| counts.bad).sum::<u64>();
        assert_eq!(bad(&tally), 891 + 591);
        tally.wait(&Waiting { spans: Vec::new(), ..hung(0, 10, 101) });
        assert_eq!(bad(&tally), 591);
        let young = WaitSpan { requests: 5, oldest_ns: 4_000_000, youngest_ns: 4_000_000 };
        tally.wait(&Waiting { spans: vec![young], ..hung(1, 40, 102) });
        assert_eq!(bad(&tally), 0, "within the limit of 5 ms");
    }

    #[test]
    fn what_hosts_say_that_never_came_back_is_bad_when_it_was_due() {
        let mut tally = tally(0);
        (0..60).for_each(|at| second(&mut tally, at, 0));
        (60..180).for_each(|at| tally.interval(at * 1_000_000_000, 1_000_000_000, true));
        let mut ages = Histogram::new();
        (0..120).for_each(|age_s| ages.record_many(age_s * 1_000_000_000 + 50_000_000, 10));
        tally.never(&ages);
        let done = tally.finish();
        assert_eq!((done.totals.missed, done.totals.counts.bad), (1_200, 1_200));
        assert!(done.slots[&1].bad.abs_diff(600) <= 10, "{:?}", done.slots);
    }
}
