//! Whether what a ledger says is something that a canary writes: a ledger may come from anybody,
//! and a checksum is quickly made.

use super::{
    Counts, Ended, Entry, MOST_FIGURES, MOST_FILES, MOST_LEVELS, MOST_RECENT, MOST_TOLD, SLOT_NS,
    State, Terms, Totals,
};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Instants before this are ones: 2^62 ns after 1970 is in 2116.
const LATEST_UNIX_NS: u64 = 1 << 62;
/// More of anything is no count: no device does 2^56 requests in a life.
const MOST_COUNTED: u64 = 1 << 56;
/// A longer name is none.
const MOST_NAME_BYTES: usize = 4096;
/// More targets than a plan has.
const MOST_TARGETS: usize = 1 << 20;
/// Quiet windows of a segment: each has a minute at least, and a segment a day at most.
const MOST_WINDOWS: usize = 1_500;
/// For how long an error budget is, in seconds: an hour to 90 days.
const WINDOW_S: [u64; 2] = [3_600, 90 * 86_400];
/// The shares of good requests that can be asked for, in millionths.
const TARGET_PPM: [u32; 2] = [950_000, 999_990];

/// What is wrong: the name of a value that no canary writes.
pub type Unsound = &'static str;

fn require(is_so: bool, what: Unsound) -> Result<(), Unsound> {
    if is_so { Ok(()) } else { Err(what) }
}

fn is_name(text: &str) -> bool {
    text.len() <= MOST_NAME_BYTES && !text.chars().any(char::is_control)
}

/// Minutes as a canary counts them.
fn are_sound(slots: &BTreeMap<u64, Counts>) -> Result<(), Unsound> {
    let is_one = |slot: &u64| *slot <= LATEST_UNIX_NS / SLOT_NS;
    let mut all = slots.iter();
    require(all.all(|(slot, counts)| is_one(slot) && counts.is_sound()), "slots")
}

fn is_instant(unix_ns: u64) -> bool {
    unix_ns < LATEST_UNIX_NS
}

impl Terms {
    fn sound(&self) -> Result<(), Unsound> {
        require(is_name(&self.suite), "suite")?;
        require(self.targets.len() <= MOST_TARGETS, "targets")?;
        let mut names = self.targets.iter().flat_map(|(host, path)| [host, path]);
        require(names.all(|name| is_name(name)), "targets")?;
        require((1..MOST_COUNTED).contains(&self.rate_milli), "rate_milli")?;
        let [least, most] = TARGET_PPM;
        require((least..=most).contains(&self.target_ppm), "target_ppm")?;
        let [least, most] = WINDOW_S.map(Nanos::seconds);
        require((least..=most).contains(&self.window), "window")
    }
}

impl Counts {
    fn is_sound(self) -> bool {
        self.good < MOST_COUNTED && self.bad < MOST_COUNTED
    }
}

impl Totals {
    fn sound(&self) -> Result<(), Unsound> {
        let counts = [self.requests, self.errors, self.missed];
        let is_counted = counts.iter().all(|count| *count < MOST_COUNTED);
        require(is_counted && self.counts.is_sound(), "totals")?;
        require(self.latency.decode().is_ok_and(|all| all.count() < MOST_COUNTED), "latency")
    }
}

impl Ended {
    fn sound(&self) -> Result<(), Unsound> {
        require(self.number > 0 && self.number < u32::MAX, "number")?;
        let is_order = self.began_unix_ns <= self.ended_unix_ns;
        require(is_order && is_instant(self.ended_unix_ns), "ended_unix_ns")?;
        let last = self.ended_unix_ns / SLOT_NS;
        let mut slots = self.slots.iter();
        let is_here = |slot: u64| (self.began_unix_ns / SLOT_NS..=last).contains(&slot);
        require(slots.all(|(slot, counts)| is_here(*slot) && counts.is_sound()), "slots")?;
        require(self.levels_ns.len() <= MOST_WINDOWS, "levels_ns")?;
        require(self.file_bytes < MOST_COUNTED, "file_bytes")?;
        self.totals.sound()
    }
}

impl Entry {
    /// Checks that a canary may have written it.
    ///
    /// # Errors
    /// The name of a value that it does not write.
    pub fn sound(&self) -> Result<(), Unsound> {
        match self {
            Entry::Began(began) => {
                require(began.number > 0 && began.number < u32::MAX, "number")?;
                require(is_instant(began.unix_ns), "unix_ns")
            }
            Entry::Minute { slots, .. } => are_sound(slots),
            Entry::Ended(ended) => ended.sound(),
            Entry::Void { number } | Entry::Removed { number } => require(*number > 0, "number"),
            Entry::Alert(change) => require(is_instant(change.unix_ns), "unix_ns"),
            Entry::Changed(changed) => {
                let both = [changed.before_ns, changed.after_ns];
                require(both.iter().all(|ns| ns.is_finite() && *ns >= 0.0), "before_ns")
            }
            Entry::Paused { unix_ns, until_unix_ns, .. } => {
                require(unix_ns <= until_unix_ns && is_instant(*until_unix_ns), "until_unix_ns")
            }
        }
    }
}

impl State {
    /// Checks that entries of a canary may have come to it.
    ///
    /// # Errors
    /// The name of a value that they do not come to.
    pub fn sound(&self) -> Result<(), Unsound> {
        require(is_name(&self.run_id), "run_id")?;
        self.terms.sound()?;
        require(self.next > 0, "next")?;
        if let Some(began) = self.running {
            Entry::Began(began).sound()?;
        }
        let instants = [self.last_end_unix_ns, self.paused_until_unix_ns];
        require(instants.into_iter().all(is_instant), "last_end_unix_ns")?;
        require(self.cut <= self.segments && self.segments < MOST_COUNTED, "segments")?;
        self.totals.sound()?;
        are_sound(&self.slots)?;
        are_sound(&self.running_slots)?;
        let most_slots = usize::try_from(self.terms.window.0 / SLOT_NS).unwrap_or(usize::MAX);
        require(self.slots.len() <= most_slots.saturating_add(1), "slots")?;
        self.lists_sound()
    }

    fn lists_sound(&self) -> Result<(), Unsound> {
        require(self.levels_ns.len() <= MOST_LEVELS, "levels_ns")?;
        require(self.figures.len() <= MOST_FIGURES, "figures")?;
        // A file more than are kept, before it goes.
        require(self.files.len() <= MOST_FILES.saturating_mul(2), "files")?;
        let mut files = self.files.values();
        let is_file = files.all(|file| file.bytes < MOST_COUNTED && is_instant(file.ended_unix_ns));
        require(is_file, "files")?;
        require(self.recent.len() <= MOST_RECENT, "recent")?;
        let mut recent = self.recent.iter();
        let is_recent = recent.all(|one| is_instant(one.ended_unix_ns) && one.counts.is_sound());
        require(is_recent, "recent")?;
        require(self.firing.len() <= super::Alert::ALL.len(), "firing")?;
        require(self.alerts.len() <= MOST_TOLD && self.changes.len() <= MOST_TOLD, "alerts")?;
        let mut changes = self.changes.iter();
        changes.try_for_each(|changed| Entry::Changed(*changed).sound())?;
        self.alerts.iter().try_for_each(|change| Entry::Alert(*change).sound())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AlertChange, Began, Changed, Harm, KeptFile};
    use super::*;

    fn state() -> State {
        let terms = Terms {
            suite: "s".to_owned(),
            rate_milli: 50_000,
            targets: vec![("n".to_owned(), "/t".to_owned())],
            objective: "p99 < 5ms".parse().expect("an objective"),
            target_ppm: 990_000,
            window: Nanos::seconds(30 * 86_400),
        };
        State::new("r".to_owned(), terms)
    }

    /// A state with one thing that is wrong.
    fn with(change: impl FnOnce(&mut State)) -> State {
        let mut state = state();
        change(&mut state);
        state
    }

    #[test]
    fn a_new_state_is_sound_and_what_no_canary_writes_is_named() {
        assert_eq!(state().sound(), Ok(()));
        let far = KeptFile { bytes: u64::MAX, ended_unix_ns: 0 };
        let wrong = [
            (with(|state| state.run_id = "a\u{1b}[2J".to_owned()), "run_id"),
            (with(|state| state.terms.suite = "x".repeat(5_000)), "suite"),
            (with(|state| state.terms.targets[0].1 = "/a\nb".to_owned()), "targets"),
            (with(|state| state.terms.rate_milli = 0), "rate_milli"),
            (with(|state| state.terms.target_ppm = 1_000_000), "target_ppm"),
            (with(|state| state.terms.window = Nanos(0)), "window"),
            (with(|state| state.terms.window = Nanos(u64::MAX)), "window"),
            (with(|state| state.next = 0), "next"),
            (with(|state| state.last_end_unix_ns = u64::MAX), "last_end_unix_ns"),
            (with(|state| state.paused_until_unix_ns = u64::MAX), "last_end_unix_ns"),
            (with(|state| state.segments = u64::MAX), "segments"),
            (with(|state| state.cut = 1), "segments"),
            (with(|state| state.totals.requests = u64::MAX), "totals"),
            (with(|state| state.totals.latency.0 = vec![0xff; 9]), "latency"),
            (with(|state| state.slots = [(u64::MAX, Counts::default())].into()), "slots"),
            (with(|state| state.files = [(1, far)].into()), "files"),
            (with(|state| state.levels_ns = vec![1; 1_000].into()), "levels_ns"),
            (with(|state| state.running = Some(Began { number: 0, unix_ns: 1 })), "number"),
        ];
        for (state, what) in wrong {
            assert_eq!(state.sound(), Err(what));
        }
    }

    #[test]
    fn entries_that_no_canary_writes_are_named() {
        let alert =
            AlertChange { alert: super::super::Alert::Fast, is_on: true, unix_ns: u64::MAX };
        let changed = |before_ns: f64| Changed { number: 1, before_ns, after_ns: 1.0 };
        let ended = Ended {
            number: 1,
            began_unix_ns: 120_000_000_000,
            ended_unix_ns: 180_000_000_000,
            file_bytes: 1,
            slots: [(2, Counts { good: 1, bad: 0 })].into(),
            ..Ended::default()
        };
        assert_eq!(Entry::Ended(Box::new(ended.clone())).sound(), Ok(()));
        let elsewhere = Ended { slots: [(9, Counts::default())].into(), ..ended.clone() };
        let back = Ended { ended_unix_ns: 0, ..ended };
        for (entry, what) in [
            (Entry::Began(Began { number: u32::MAX, unix_ns: 1 }), "number"),
            (Entry::Void { number: 0 }, "number"),
            (Entry::Alert(alert), "unix_ns"),
            (Entry::Changed(changed(f64::NAN)), "before_ns"),
            (Entry::Changed(changed(-1.0)), "before_ns"),
            (Entry::Paused { unix_ns: 5, until_unix_ns: 4, harm: Harm::Silent }, "until_unix_ns"),
            (Entry::Ended(Box::new(elsewhere)), "slots"),
            (Entry::Ended(Box::new(back)), "ended_unix_ns"),
        ] {
            assert_eq!(entry.sound(), Err(what), "{entry:?}");
        }
    }
}
