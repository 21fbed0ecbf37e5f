//! What a canary keeps of its segments: entries of its ledger, and the state that they come to.
//!
//! The state is what the entries make of it, one by one, and is bounded whatever their number: the
//! counts of each minute for as long as the window of the objective, and the latest of all else.

mod sound;

use crate::histogram::{EncodedHistogram, Histogram};
use crate::objective::Objective;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The version of the ledger's layout.
pub const FORMAT: u32 = 1;
/// The length of a slot, in ns: requests are counted by the minute.
pub const SLOT_NS: u64 = 60_000_000_000;
/// Levels of quiet windows that are kept: a day of five-minute ones.
pub const MOST_LEVELS: usize = 288;
/// Figures of segments in which a change of level is sought.
pub const MOST_FIGURES: usize = 64;
/// Segments that are listed one by one.
pub const MOST_RECENT: usize = 100;
/// Changes of alerts and of levels that are listed one by one.
pub const MOST_TOLD: usize = 100;
/// Run files that are kept at most, whatever their size.
pub const MOST_FILES: usize = 10_000;

/// What a canary does. Another load is another canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The suite's name.
    pub suite: String,
    /// Requests per second of all hosts together, in thousandths.
    pub rate_milli: u64,
    /// Host and path of every target, in the plan's order.
    pub targets: Vec<(String, String)>,
    /// What requests have to keep to.
    pub objective: Objective,
    /// The share of requests that have to, in millionths.
    pub target_ppm: u32,
    /// For how long the error budget is.
    pub window: Nanos,
}

/// Requests that kept the objective, and those that did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that kept it.
    pub good: u64,
    /// Requests that failed, were too slow, or never came back.
    pub bad: u64,
}

impl Counts {
    /// All of them.
    pub fn all(self) -> u64 {
        self.good.saturating_add(self.bad)
    }

    /// Adds others.
    pub fn add(&mut self, other: Counts) {
        self.good = self.good.saturating_add(other.good);
        self.bad = self.bad.saturating_add(other.bad);
    }
}

/// Requests that have no answer, for a second and longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// How many, at least.
    pub requests: u64,
    /// The age of the oldest, in ns.
    pub oldest_ns: u64,
}

/// What requests come to: exact sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Requests that succeeded.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests that were due and never came back.
    pub missed: u64,
    /// By the objective.
    pub counts: Counts,
    /// The latencies of the requests that succeeded.
    pub latency: EncodedHistogram,
}

impl Default for Totals {
    fn default() -> Totals {
        Totals {
            requests: 0,
            bytes: 0,
            errors: 0,
            missed: 0,
            counts: Counts::default(),
            latency: Histogram::new().encode(),
        }
    }
}

impl Totals {
    /// Adds others; an encoding that is none leaves the histogram as it was.
    pub fn add(&mut self, other: &Totals) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.errors = self.errors.saturating_add(other.errors);
        self.missed = self.missed.saturating_add(other.missed);
        self.counts.add(other.counts);
        if let (Ok(mut mine), Ok(theirs)) = (self.latency.decode(), other.latency.decode()) {
            mine.merge(&theirs);
            self.latency = mine.encode();
        }
    }
}

crate::words! {
    /// An alert on how fast the budget is spent.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Alert {
        /// 2 % of the budget in an hour.
        Fast = "fast",
        /// 5 % of the budget in six hours.
        Medium = "medium",
        /// 10 % of the budget in three days.
        Slow = "slow",
    }
}

/// A segment that began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// Its number, from 1; its run file is called by it.
    pub number: u32,
    /// When, in ns since 1970 of the canary's time: never before the segment before it ended.
    pub unix_ns: u64,
}

/// A segment that ended, as its run file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its number.
    pub number: u32,
    /// When its load began, in ns since 1970.
    pub began_unix_ns: u64,
    /// When its last interval ended.
    pub ended_unix_ns: u64,
    /// Whether it was cut short.
    pub is_cut: bool,
    /// Why its load was taken away; `None` where it was not.
    pub harm: Option<Harm>,
    /// The size of its run file.
    pub file_bytes: u64,
    /// What was done in it.
    pub totals: Totals,
    /// The same by the minute since 1970.
    pub slots: BTreeMap<u64, Counts>,
    /// The p99 of each quiet window, in ns.
    pub levels_ns: Vec<u64>,
}

/// A change of a figure's level from segment to segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The first segment of the new level.
    pub number: u32,
    /// The p99 before, in ns.
    pub before_ns: f64,
    /// The p99 from there on, in ns.
    pub after_ns: f64,
}

/// Why the load was taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Harm {
    /// Requests are slower than usual.
    Slow {
        /// The p99 of the window, in ns.
        p99_ns: u64,
        /// The usual one, in ns.
        usual_ns: u64,
    },
    /// Requests fail.
    Failing {
        /// So many.
        errors: u64,
        /// Of so many.
        of: u64,
    },
    /// No request came back.
    Silent,
}

/// An alert that began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertChange {
    /// Which one.
    pub alert: Alert,
    /// Whether it began.
    pub is_on: bool,
    /// When, in ns since 1970.
    pub unix_ns: u64,
}

/// One line of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A segment is about to begin.
    Began(Began),
    /// A minute of the running segment is over.
    Minute {
        /// The counts of minutes since 1970 that changed.
        slots: BTreeMap<u64, Counts>,
        /// What has no answer; `None` where nothing waits.
        unanswered: Option<Unanswered>,
    },
    /// A segment ended.
    Ended(Box<Ended>),
    /// Nothing was loaded in the segment that began.
    Void {
        /// Its number.
        number: u32,
    },
    /// The run file of a segment was removed, being old or one too many.
    Removed {
        /// Its number.
        number: u32,
    },
    /// An alert began or ended.
    Alert(AlertChange),
    /// A figure changed its level.
    Changed(Changed),
    /// The load was taken away.
    Paused {
        /// When, in ns since 1970.
        unix_ns: u64,
        /// Until when.
        until_unix_ns: u64,
        /// Why.
        harm: Harm,
    },
}

/// A run file that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its size.
    pub bytes: u64,
    /// When its segment ended, in ns since 1970.
    pub ended_unix_ns: u64,
}

/// A segment as a list has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Its number.
    pub number: u32,
    /// When its load began, in ns since 1970.
    pub began_unix_ns: u64,
    /// When its last interval ended.
    pub ended_unix_ns: u64,
    /// Whether it was cut short.
    pub is_cut: bool,
    /// Requests that succeeded.
    pub requests: u64,
    /// Requests that failed.
    pub errors: u64,
    /// By the objective.
    pub counts: Counts,
    /// The median latency, in ns; `None` where nothing succeeded.
    pub p50_ns: Option<u64>,
    /// The latency that 99 % did not exceed, in ns.
    pub p99_ns: Option<u64>,
}

/// A segment's p99, for changes of its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// The segment.
    pub number: u32,
    /// In ns.
    pub p99_ns: u64,
}

/// What all entries come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// [`FORMAT`].
    pub format: u32,
    /// The run of every segment, as the targets' markers have it.
    pub run_id: String,
    /// What it does.
    pub terms: Terms,
    /// The number of the next segment.
    pub next: u32,
    /// The segment that is running, or was when the canary was killed.
    pub running: Option<Began>,
    /// What the running segment has counted by the minute.
    #[serde(default)]
    pub running_slots: BTreeMap<u64, Counts>,
    /// What had no answer when the last of these minutes was over.
    #[serde(default)]
    pub unanswered: Option<Unanswered>,
    /// When the last segment or pause ended, in ns since 1970.
    pub last_end_unix_ns: u64,
    /// Segments that ended.
    pub segments: u64,
    /// Those of them that were cut short.
    pub cut: u64,
    /// All requests of all segments.
    pub totals: Totals,
    /// By the minute since 1970, as far back as the window goes.
    pub slots: BTreeMap<u64, Counts>,
    /// The p99 of the latest quiet windows, in ns.
    pub levels_ns: VecDeque<u64>,
    /// The p99 of the latest segments, since the last change.
    pub figures: VecDeque<Figure>,
    /// The run files that are kept.
    pub files: BTreeMap<u32, KeptFile>,
    /// The latest segments.
    pub recent: VecDeque<Segment>,
    /// Alerts that are on.
    pub firing: Vec<Alert>,
    /// The latest changes of alerts.
    pub alerts: VecDeque<AlertChange>,
    /// The latest changes of levels.
    pub changes: VecDeque<Changed>,
    /// Pauses since the last segment that harmed nobody and came to its end.
    pub pauses: u32,
    /// Until when the load is away, in ns since 1970; 0 for not at all.
    pub paused_until_unix_ns: u64,
    /// The latest reason for a pause.
    pub harm: Option<Harm>,
}

/// Puts `item` at the end of a list of at most `most`.
fn push<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    list.push_back(item);
    while list.len() > most {
        list.pop_front();
    }
}

/// A p99 of fewer requests than this is the luck of one of them.
const LEAST_REQUESTS: u64 = 200;

impl State {
    /// A canary that has done nothing yet.
    pub fn new(run_id: String, terms: Terms) -> State {
        State {
            format: FORMAT,
            run_id,
            terms,
            next: 1,
            running: None,
            running_slots: BTreeMap::new(),
            unanswered: None,
            last_end_unix_ns: 0,
            segments: 0,
            cut: 0,
            totals: Totals::default(),
            slots: BTreeMap::new(),
            levels_ns: VecDeque::new(),
            figures: VecDeque::new(),
            files: BTreeMap::new(),
            recent: VecDeque::new(),
            firing: Vec::new(),
            alerts: VecDeque::new(),
            changes: VecDeque::new(),
            pauses: 0,
            paused_until_unix_ns: 0,
            harm: None,
        }
    }

    /// Takes an entry in.
    pub fn apply(&mut self, entry: &Entry) {
        match entry {
            Entry::Began(began) => {
                self.next = self.next.max(began.number.saturating_add(1));
                self.is_over();
                self.running = Some(*began);
                self.paused_until_unix_ns = 0;
            }
            Entry::Minute { slots, unanswered } => {
                self.running_slots.extend(slots);
                self.unanswered = *unanswered;
            }
            Entry::Ended(ended) => self.ended(ended),
            Entry::Void { .. } => self.is_over(),
            Entry::Removed { number } => drop(self.files.remove(number)),
            Entry::Alert(change) => {
                self.firing.retain(|alert| *alert != change.alert);
                if change.is_on {
                    self.firing.push(change.alert);
                }
                push(&mut self.alerts, *change, MOST_TOLD);
            }
            Entry::Changed(changed) => {
                self.figures.retain(|figure| figure.number >= changed.number);
                push(&mut self.changes, *changed, MOST_TOLD);
            }
            Entry::Paused { until_unix_ns, harm, .. } => {
                self.pauses = self.pauses.saturating_add(1);
                self.paused_until_unix_ns = *until_unix_ns;
                self.harm = Some(*harm);
            }
        }
    }

    /// No segment runs.
    fn is_over(&mut self) {
        self.running = None;
        self.running_slots.clear();
        self.unanswered = None;
    }

    fn ended(&mut self, ended: &Ended) {
        self.is_over();
        self.segments = self.segments.saturating_add(1);
        self.cut = self.cut.saturating_add(u64::from(ended.is_cut));
        if !ended.is_cut && ended.harm.is_none() {
            self.pauses = 0;
        }
        self.last_end_unix_ns = self.last_end_unix_ns.max(ended.ended_unix_ns);
        self.totals.add(&ended.totals);
        for (slot, counts) in &ended.slots {
            self.slots.entry(*slot).or_default().add(*counts);
        }
        self.forget_slots();
        ended.levels_ns.iter().for_each(|p99| push(&mut self.levels_ns, *p99, MOST_LEVELS));
        let latency = ended.totals.latency.decode().unwrap_or_default();
        let p99_ns = latency.quantile_ns(0.99);
        if let Some(p99_ns) = p99_ns.filter(|_| latency.count() >= LEAST_REQUESTS && !ended.is_cut)
        {
            push(&mut self.figures, Figure { number: ended.number, p99_ns }, MOST_FIGURES);
        }
        let file = KeptFile { bytes: ended.file_bytes, ended_unix_ns: ended.ended_unix_ns };
        self.files.insert(ended.number, file);
        let segment = Segment {
            number: ended.number,
            began_unix_ns: ended.began_unix_ns,
            ended_unix_ns: ended.ended_unix_ns,
            is_cut: ended.is_cut,
            requests: ended.totals.requests,
            errors: ended.totals.errors,
            counts: ended.totals.counts,
            p50_ns: latency.quantile_ns(0.5),
            p99_ns,
        };
        push(&mut self.recent, segment, MOST_RECENT);
    }

    /// Lets go of minutes that no window reaches any more.
    fn forget_slots(&mut self) {
        let Some((&last, _)) = self.slots.last_key_value() else { return };
        let first = last.saturating_sub(self.terms.window.0 / SLOT_NS);
        self.slots = self.slots.split_off(&first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms {
            suite: "s".to_owned(),
            rate_milli: 1_000,
            targets: vec![("n".to_owned(), "/t".to_owned())],
            objective: "p99 < 5ms".parse().expect("an objective"),
            target_ppm: 990_000,
            window: Nanos::seconds(7 * 24 * 3600),
        }
    }

    fn ended(number: u32, minute: u64) -> Ended {
        let mut latency = Histogram::new();
        latency.record_many(1_000_000, 300);
        let counts = Counts { good: 299, bad: 1 };
        Ended {
            number,
            began_unix_ns: minute * SLOT_NS,
            ended_unix_ns: (minute + 1) * SLOT_NS,
            is_cut: false,
            harm: None,
            file_bytes: 4096,
            totals: Totals {
                requests: 300,
                bytes: 300 * 4096,
                errors: 0,
                missed: 0,
                counts,
                latency: latency.encode(),
            },
            slots: BTreeMap::from([(minute, counts)]),
            levels_ns: vec![1_000_000],
        }
    }

    #[test]
    fn totals_are_exact_and_lists_are_bounded_over_a_year_of_minutes() {
        let mut state = State::new("c".to_owned(), terms());
        let count = 20_000u32;
        for number in 1..=count {
            let minute = u64::from(number) * 20;
            state.apply(&Entry::Began(Began { number, unix_ns: minute * SLOT_NS }));
            state.apply(&Entry::Ended(Box::new(ended(number, minute))));
            state.apply(&Entry::Removed { number });
        }
        let all = u64::from(count);
        assert_eq!((state.segments, state.totals.requests), (all, all * 300));
        assert_eq!(state.totals.counts, Counts { good: all * 299, bad: all });
        assert_eq!(state.totals.latency.decode().map(|latency| latency.count()), Ok(all * 300));
        assert!(state.slots.len() <= 7 * 24 * 60 + 1 && state.files.is_empty());
        assert_eq!(
            (state.levels_ns.len(), state.figures.len(), state.recent.len()),
            (MOST_LEVELS, MOST_FIGURES, MOST_RECENT)
        );
        assert_eq!((state.next, state.running), (count + 1, None));
    }

    #[test]
    fn minutes_of_the_running_segment_are_on_record_until_it_ends() {
        let mut state = State::new("c".to_owned(), terms());
        state.apply(&Entry::Began(Began { number: 1, unix_ns: 5 * SLOT_NS }));
        let minute = |slot: u64, bad: u64| Entry::Minute {
            slots: BTreeMap::from([(slot, Counts { good: 60 - bad, bad })]),
            unanswered: Some(Unanswered { requests: bad, oldest_ns: 7 }),
        };
        [minute(5, 0), minute(6, 60), minute(6, 50)].iter().for_each(|entry| state.apply(entry));
        assert_eq!(state.running_slots[&6].bad, 50, "the latest count of a minute");
        assert_eq!(state.unanswered.map(|waiting| waiting.requests), Some(50));
        assert_eq!((state.sound(), minute(u64::MAX, 0).sound()), (Ok(()), Err("slots")));
        state.apply(&Entry::Ended(Box::new(ended(1, 6))));
        assert!(state.running_slots.is_empty() && state.unanswered.is_none());
        assert_eq!(state.slots.len(), 1);
        // A ledger of a version that knew no minutes.
        let mut old = serde_json::to_value(&state).expect("a state");
        let fields = old.as_object_mut().expect("an object");
        assert!(fields.remove("running_slots").is_some() && fields.remove("unanswered").is_some());
        assert_eq!(serde_json::from_value::<State>(old).ok(), Some(state));
    }

    #[test]
    fn a_state_is_read_as_it_was_written_and_an_alert_is_on_until_it_ends() {
        let mut state = State::new("c".to_owned(), terms());
        let change = |is_on| AlertChange { alert: Alert::Fast, is_on, unix_ns: 1 };
        state.apply(&Entry::Alert(change(true)));
        state.apply(&Entry::Ended(Box::new(ended(1, 5))));
        let text = serde_json::to_string(&state).expect("a text");
        assert_eq!(serde_json::from_str::<State>(&text).ok().as_ref(), Some(&state));
        assert_eq!(state.firing, [Alert::Fast]);
        state.apply(&Entry::Alert(change(false)));
        assert!(state.firing.is_empty() && state.alerts.len() == 2);
    }
}
