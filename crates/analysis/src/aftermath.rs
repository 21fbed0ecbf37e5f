//! What an event did to a rate: before it, during the dip, and after it.

use crate::sure::relative_deviation;

/// The level is reached again when a rate is within this share of it.
const NEAR: f64 = 0.05;
/// The level before an event is that of at most so much time, in seconds: what is long past need not be like it.
const BEFORE_S: f64 = 300.0;
/// With fewer intervals before the event, there is no level to compare with.
const LEAST_BEFORE: usize = 5;
/// Intervals whose mean counts as a level: one alone may be chance.
const RUN: usize = 3;

/// One interval of what is looked at: a host, a worker or all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// When it began, in seconds.
    pub start_s: f64,
    /// How long it was, in seconds.
    pub length_s: f64,
    /// Requests that succeeded in it.
    pub ios: f64,
    /// The sum of their latencies, in ns.
    pub latency_ns: f64,
}

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aftermath {
    /// Requests per second before it.
    pub before: f64,
    /// The lowest rate of an interval from the event to the recovery, or to the end.
    pub lowest: f64,
    /// From the event to the first interval of the dip, in seconds; `None` where there was no dip.
    pub began_after_s: Option<f64>,
    /// From the event to the first of three intervals that are on average back within 5 % of the level before (or within its own noise, if that is
    /// wider); 0 where there was no dip, `None` where it was not reached before the end.
    pub recovered_after_s: Option<f64>,
    /// Requests that the level before would have brought until the recovery, or the end, and that did not come.
    pub missing_ios: f64,
    /// By how much the mean latency of the requests in the dip was longer than before, in ns; negative if shorter. `None` where no request
    /// came back in one of the two.
    pub extra_latency_ns: Option<f64>,
}

impl Aftermath {
    /// How deep the dip was: 1 is a standstill, 0 none.
    pub fn depth(&self) -> f64 {
        if self.before > 0.0 { (1.0 - self.lowest / self.before).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// How long the dip was, in seconds; `None` where there was none, or no end of it.
    pub fn duration_s(&self) -> Option<f64> {
        Some(self.recovered_after_s? - self.began_after_s?)
    }
}

/// What happened after `event_s` to intervals in the order of time. `None` where fewer than five whole intervals lie before it, nothing
/// was done in them, or none lies after it.
pub fn aftermath(intervals: &[Interval], event_s: f64) -> Option<Aftermath> {
    let ended = |interval: &&Interval| interval.start_s + interval.length_s <= event_s + 1e-9;
    let split = intervals.iter().take_while(ended).count();
    let (past, after) = intervals.split_at(split);
    let past: Vec<Interval> = past.iter().filter(|interval| interval.start_s >= event_s - BEFORE_S).copied().collect();
    let before = rate(&past);
    if past.len() < LEAST_BEFORE || after.is_empty() || before <= 0.0 || !before.is_finite() {
        return None;
    }
    let noise = relative_deviation(&past.iter().map(|one| rate(&[*one])).collect::<Vec<f64>>()).unwrap_or(0.0);
    // Four standard deviations of the mean of a run of intervals.
    let near = before * (1.0 - NEAR.max(4.0 * noise / (RUN as f64).sqrt()));
    let is_low = |place: &usize| rate(&after[*place..after.len().min(place + RUN)]) < near;
    let dip = (0..after.len()).find(is_low);
    let recovery = dip.map_or(Some(0), |dip| (dip..after.len()).find(|place| !is_low(place)));
    let during = &after[dip.unwrap_or(0)..recovery.unwrap_or(after.len())];
    // A run is low before its first low interval is reached: the dip is where the rate itself is low.
    let began = during.iter().position(|one| rate(&[*one]) < near);
    let during = &during[began.unwrap_or(0)..];
    let since = |one: &Interval| (one.start_s - event_s).max(0.0);
    let low = during.iter().map(|one| rate(&[*one])).fold(before, f64::min);
    let time: f64 = during.iter().map(|one| one.length_s).sum();
    let done: f64 = during.iter().map(|one| one.ios).sum();
    Some(Aftermath {
        before,
        lowest: low,
        began_after_s: began.and(during.first()).map(since),
        recovered_after_s: match dip {
            None => Some(0.0),
            Some(_) => recovery.map(|place| since(&after[place])),
        },
        missing_ios: (before * time - done).max(0.0),
        extra_latency_ns: latency(during).zip(latency(&past)).map(|(during, before)| during - before),
    })
}

fn rate(intervals: &[Interval]) -> f64 {
    let time: f64 = intervals.iter().map(|one| one.length_s).sum();
    if time > 0.0 { intervals.iter().map(|one| one.ios).sum::<f64>() / time } else { 0.0 }
}

fn latency(intervals: &[Interval]) -> Option<f64> {
    let ios: f64 = intervals.iter().map(|one| one.ios).sum();
    (ios > 0.0).then(|| intervals.iter().map(|one| one.latency_ns).sum::<f64>() / ios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Normal;

    /// One-second intervals with these rates, in a closed loop of 16: latency follows from the rate.
    fn series(rates: impl IntoIterator<Item = f64>) -> Vec<Interval> {
        (0..)
            .zip(rates)
            .map(|(second, ios)| Interval { start_s: f64::from(second), length_s: 1.0, ios, latency_ns: 16e9 })
            .collect()
    }

    #[test]
    fn two_clients_fall_to_300_while_the_others_lose_a_quarter() {
        // The shape of the stretched cluster's migration: 2,000 a second each, 1,500 for two minutes, two of the clients at 300.
        let client = |seed: u64, during: f64| {
            let mut normal = Normal::new(seed);
            series((0..400).map(move |second| {
                let level = if (120..240).contains(&second) { during } else { 2_000.0 };
                level * (1.0 + 0.02 * normal.draw())
            }))
        };
        for number in 0..10 {
            let hit = number == 3 || number == 7;
            let found = aftermath(&client(number, if hit { 300.0 } else { 1_500.0 }), 120.0).expect("an aftermath");
            assert!((found.before - 2_000.0).abs() < 20.0, "{found:?}");
            assert_eq!(found.began_after_s, Some(0.0));
            let recovered = found.recovered_after_s.expect("it recovers");
            assert!((118.0..=122.0).contains(&recovered), "{found:?}");
            let (depth, lost) = if hit { (0.85, 1_700.0) } else { (0.25, 500.0) };
            assert!((found.depth() - depth).abs() < 0.06, "{found:?}");
            assert!((found.missing_ios / (lost * 120.0) - 1.0).abs() < 0.05, "{found:?}");
            let extra = if hit { 16e9 / 300.0 - 8e6 } else { 16e9 / 1_500.0 - 8e6 };
            let told = found.extra_latency_ns.expect("requests") / extra;
            assert!((told - 1.0).abs() < 0.1, "{found:?}");
        }
    }

    #[test]
    fn a_late_dip_a_standstill_and_one_without_an_end_are_told_apart() {
        let late = series((0..60).map(|s| if (35..40).contains(&s) { 0.0 } else { 1_000.0 }));
        let found = aftermath(&late, 30.0).expect("an aftermath");
        assert_eq!((found.began_after_s, found.recovered_after_s), (Some(5.0), Some(10.0)));
        assert_eq!(
            (found.depth(), found.duration_s(), found.extra_latency_ns),
            (1.0, Some(5.0), None),
            "nothing came back"
        );
        let endless = series((0..60).map(|s| if s >= 30 { 500.0 } else { 1_000.0 }));
        let found = aftermath(&endless, 30.0).expect("an aftermath");
        assert_eq!((found.recovered_after_s, found.duration_s(), found.missing_ios), (None, None, 15_000.0));
    }

    #[test]
    fn an_event_without_effect_has_no_dip() {
        let found = aftermath(&series([1_000.0; 60]), 30.0).expect("an aftermath");
        assert_eq!((found.began_after_s, found.recovered_after_s, found.depth()), (None, Some(0.0), 0.0));
        assert_eq!(found.missing_ios, 0.0);
        let mut dips = 0;
        for seed in 0..500 {
            let mut normal = Normal::new(seed);
            let noise = series((0..120).map(|_| 1_000.0 * (1.0 + 0.1 * normal.draw())));
            dips += u32::from(aftermath(&noise, 60.0).is_some_and(|found| found.recovered_after_s != Some(0.0)));
        }
        assert!(dips <= 60, "{dips} of 500");
    }

    #[test]
    fn without_a_before_or_an_after_there_is_nothing_to_say() {
        assert_eq!(aftermath(&series([1_000.0; 60]), 4.0), None);
        assert_eq!(aftermath(&series([1_000.0; 60]), 60.0), None);
        assert_eq!(aftermath(&series([0.0; 60]), 30.0), None);
        assert_eq!(aftermath(&[], f64::NAN), None);
    }
}
