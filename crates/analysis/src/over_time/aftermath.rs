//! What an event did to a rate: before it, during the dip, and after it.

use crate::estimate::confidence::relative_deviation;
use model::Histogram;
use std::ops::Range;

/// The level is reached again when a rate is within this share of it.
const NEAR: f64 = 0.05;
/// The level before an event is that of at most so much time, in seconds: what is long past need
/// not be like it.
const BEFORE_S: f64 = 300.0;
/// With fewer intervals before the event, there is no level to compare with.
const LEAST_BEFORE: usize = 5;
/// Intervals whose mean counts as a level: one alone may be chance.
const RUN: usize = 3;
/// How many standard deviations a run of intervals lies below the level before, at least, in a dip.
const RUN_SIGMAS: f64 = 4.0;
/// The same of an interval that is a dip by itself: as many intervals as a run has are not there to
/// agree.
const ALONE_SIGMAS: f64 = 5.0;

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
    /// How much the rate of an interval scattered before it: their standard deviation ÷ their
    /// mean. What is within it is no dip.
    pub noise: f64,
    /// The lowest rate of an interval from the event to the recovery, or to the end of the stage
    /// where there was no dip or no recovery. Intervals shorter than half of those before count
    /// for it as a part of the one before them.
    pub lowest: f64,
    /// From the event to the first interval of the dip, in seconds; `None` where there was no dip.
    pub began_after_s: Option<f64>,
    /// From the event to the first interval after the dip that is back within 5 % of the level
    /// before (or within its own noise, if that is wider), and is so on average with the two
    /// behind it; 0 where there was no dip, `None` where it was not reached before the end.
    pub recovered_after_s: Option<f64>,
    /// The mean rate in the dip, requests per second; `None` where there was none.
    pub in_dip: Option<f64>,
    /// Requests that the level before would have brought until the recovery, or the end, and that
    /// did not come.
    pub missing_ios: f64,
    /// By how much the mean latency of the requests that waited in the dip, or came back in it,
    /// was longer than before, in ns; negative if shorter. `None` where there are none, or it is
    /// not known.
    pub extra_latency_ns: Option<f64>,
}

impl Aftermath {
    /// How deep the dip was: 1 is a standstill, 0 none.
    pub fn depth(&self) -> f64 {
        if self.before > 0.0 && self.began_after_s.is_some() {
            (1.0 - self.lowest / self.before).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// How long the dip was, in seconds; `None` where there was none, or no end of it.
    pub fn duration_s(&self) -> Option<f64> {
        Some(self.recovered_after_s? - self.began_after_s?)
    }
}

/// What happened after `event_s` to intervals in the order of time. `None` where fewer than five
/// whole intervals lie before it, nothing was done in them, or none lies after it.
pub fn aftermath(intervals: &[Interval], event_s: f64) -> Option<Aftermath> {
    look(intervals, event_s).map(|(found, _)| found)
}

/// The same where the latencies of the requests of each interval are known, by its place; those
/// behind the last interval are of the requests that had not come back at the end. Requests that
/// waited when the dip was over come back behind it, so that those of the dip alone would say
/// nothing.
pub fn aftermath_with(
    intervals: &[Interval],
    event_s: f64,
    times: impl Fn(usize) -> Option<Histogram>,
) -> Option<Aftermath> {
    let (mut found, dip) = look(intervals, event_s)?;
    let (Some(dip), Some(old_ns)) = (dip, latency(&past(intervals, event_s))) else {
        return Some(found);
    };
    found.extra_latency_ns = waited_ns(intervals, dip, times).map(|waited_ns| waited_ns - old_ns);
    Some(found)
}

/// The mean latency of what came back in the intervals of a dip, or was already due when it ended,
/// in ns.
fn waited_ns(
    intervals: &[Interval],
    dip: Range<usize>,
    times: impl Fn(usize) -> Option<Histogram>,
) -> Option<f64> {
    let during = &intervals[dip.clone()];
    let (first, last) = (during.first()?, during.last()?);
    let end_s = last.start_s + last.length_s;
    let mut ios: f64 = during.iter().map(|one| one.ios).sum();
    let mut sum_ns: f64 = during.iter().map(|one| one.latency_ns).sum();
    for (at, one) in intervals.iter().enumerate().skip(dip.end) {
        let before = ios;
        for (low_ns, high_ns, count) in times(at).iter().flat_map(Histogram::buckets) {
            // A request that took so long came back at any time of the interval: how much of it is
            // near enough to the dip to have been due in it?
            let latency_ns = (low_ns as f64 + high_ns as f64) / 2.0;
            let share =
                ((end_s + latency_ns / 1e9 - one.start_s) / one.length_s.max(1e-9)).clamp(0.0, 1.0);
            (ios, sum_ns) =
                (ios + share * count as f64, sum_ns + share * count as f64 * latency_ns);
        }
        if ios == before && one.start_s - end_s > end_s - first.start_s {
            break;
        }
    }
    if dip.end == intervals.len()
        && let Some(left) = times(dip.end)
    {
        (ios, sum_ns) = (ios + left.count() as f64, sum_ns + left.sum_ns() as f64);
    }
    (ios > 0.0).then(|| sum_ns / ios)
}

/// What happened, and the intervals of the dip.
fn look(intervals: &[Interval], event_s: f64) -> Option<(Aftermath, Option<Range<usize>>)> {
    let ended = |interval: &&Interval| interval.start_s + interval.length_s <= event_s + 1e-9;
    let split = intervals.iter().take_while(ended).count();
    let after = &intervals[split..];
    let past = past(intervals, event_s);
    let before = rate(&past);
    if past.len() < LEAST_BEFORE || after.is_empty() || before <= 0.0 || !before.is_finite() {
        return None;
    }
    let noise = relative_deviation(&past.iter().map(|one| rate(&[*one])).collect::<Vec<f64>>())
        .unwrap_or(0.0);
    let limits = Limits::of(before, noise, &past);
    let began = limits.dip(after);
    let recovery = began.map(|began| limits.recovery(after, began));
    let end = recovery.flatten().unwrap_or(after.len());
    let during = began.map_or(&after[..0], |began| &after[began..end]);
    let since = |one: &Interval| (one.start_s - event_s).max(0.0);
    let time: f64 = during.iter().map(|one| one.length_s).sum();
    let done: f64 = during.iter().map(|one| one.ios).sum();
    let found = Aftermath {
        before,
        noise,
        lowest: limits.lowest(&after[..end]),
        began_after_s: during.first().map(since),
        recovered_after_s: match recovery {
            None => Some(0.0),
            Some(place) => place.map(|place| since(&after[place])),
        },
        in_dip: (time > 0.0).then(|| done / time),
        missing_ios: (before * time - done).max(0.0),
        extra_latency_ns: latency(during)
            .zip(latency(&past))
            .map(|(during, before)| during - before),
    };
    Some((found, began.map(|began| split + began..split + end)))
}

/// The intervals of the level before an event.
fn past(intervals: &[Interval], event_s: f64) -> Vec<Interval> {
    let ended = |interval: &&Interval| interval.start_s + interval.length_s <= event_s + 1e-9;
    let past = intervals.iter().take_while(ended);
    past.filter(|interval| interval.start_s >= event_s - BEFORE_S).copied().collect()
}

/// Below which rates a dip is one.
struct Limits {
    /// The mean of a run, and every interval of a dip that is found by it.
    near: f64,
    /// An interval by itself.
    alone: f64,
    /// A shorter interval says little by itself, in seconds.
    least_length_s: f64,
}

impl Limits {
    fn of(before: f64, noise: f64, past: &[Interval]) -> Limits {
        let mean_length_s =
            past.iter().map(|one| one.length_s).sum::<f64>() / past.len().max(1) as f64;
        let run = RUN as f64;
        Limits {
            near: before * (1.0 - NEAR.max(RUN_SIGMAS * noise / run.sqrt())),
            // As many requests as a run that is just low lacks.
            alone: before * (1.0 - (run * NEAR).max(ALONE_SIGMAS * noise)),
            least_length_s: mean_length_s / 2.0,
        }
    }

    /// The first interval of a dip: one that is very low by itself, or the first low one of a run
    /// that is low.
    fn dip(&self, after: &[Interval]) -> Option<usize> {
        let is_alone =
            |one: &Interval| one.length_s >= self.least_length_s && rate(&[*one]) < self.alone;
        let alone = after.iter().position(is_alone);
        // Whole runs only: what is left at the end is too little to be a level.
        let low_run =
            (0..(after.len() + 1).saturating_sub(RUN)).find(|place| self.is_run_low(after, *place));
        // The mean of a low run is low: so is one of it.
        let in_run = low_run.and_then(|run| {
            Some(run + after[run..].iter().position(|one| rate(&[*one]) < self.near)?)
        });
        alone.into_iter().chain(in_run).min()
    }

    /// Where the level before is reached again. A run alone would not do: after a standstill, a
    /// burst may make up for it at once.
    fn recovery(&self, after: &[Interval], began: usize) -> Option<usize> {
        let is_back =
            |place: &usize| rate(&[after[*place]]) >= self.near && !self.is_run_low(after, *place);
        (began + 1..after.len()).find(is_back)
    }

    /// Whether the run that begins at `place` is low; the last runs have fewer intervals.
    fn is_run_low(&self, after: &[Interval], place: usize) -> bool {
        rate(&after[place..after.len().min(place + RUN)]) < self.near
    }

    /// The lowest rate of an interval; a short one is taken with the one before it.
    fn lowest(&self, intervals: &[Interval]) -> f64 {
        let rates = intervals.iter().enumerate().map(|(place, one)| {
            let is_short = one.length_s < self.least_length_s;
            rate(&intervals[place.saturating_sub(usize::from(is_short))..=place])
        });
        rates.fold(f64::INFINITY, f64::min)
    }
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
    use crate::estimate::simulated::Normal;

    /// One-second intervals with these rates, in a closed loop of 16: latency follows from the
    /// rate.
    fn series(rates: impl IntoIterator<Item = f64>) -> Vec<Interval> {
        (0..)
            .zip(rates)
            .map(|(second, ios)| Interval {
                start_s: f64::from(second),
                length_s: 1.0,
                ios,
                latency_ns: 16e9,
            })
            .collect()
    }

    #[test]
    fn two_clients_fall_to_300_while_the_others_lose_a_quarter() {
        // The shape of the stretched cluster's migration: 2,000 a second each, 1,500 for two
        // minutes, two of the clients at 300.
        let client = |seed: u64, during: f64| {
            let mut normal = Normal::new(seed);
            series((0..400).map(move |second| {
                let level = if (120..240).contains(&second) { during } else { 2_000.0 };
                level * (1.0 + 0.02 * normal.draw())
            }))
        };
        for number in 0..10 {
            let hit = number == 3 || number == 7;
            let found = aftermath(&client(number, if hit { 300.0 } else { 1_500.0 }), 120.0)
                .expect("an aftermath");
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
        assert_eq!(
            (found.recovered_after_s, found.duration_s(), found.missing_ios),
            (None, None, 15_000.0)
        );
    }

    #[test]
    fn an_event_without_effect_has_no_dip() {
        let found = aftermath(&series([1_000.0; 60]), 30.0).expect("an aftermath");
        assert_eq!(
            (found.began_after_s, found.recovered_after_s, found.depth()),
            (None, Some(0.0), 0.0)
        );
        assert_eq!(found.missing_ios, 0.0);
        let mut dips = 0;
        for seed in 0..500 {
            let mut normal = Normal::new(seed);
            let noise = series((0..120).map(|_| 1_000.0 * (1.0 + 0.1 * normal.draw())));
            dips += u32::from(
                aftermath(&noise, 60.0).is_some_and(|found| found.recovered_after_s != Some(0.0)),
            );
        }
        assert!(dips <= 60, "{dips} of 500");
    }

    #[test]
    fn one_interval_that_stalls_is_a_dip_even_if_a_burst_makes_up_for_it() {
        // The requests of a standstill come back together, before it or after it: the mean of three
        // intervals is that of before.
        for (around, began_s) in [
            ([1_000.0, 0.0, 3_000.0], 18.0),
            ([3_000.0, 0.0, 1_000.0], 18.0),
            ([0.0, 3_000.0, 1_000.0], 17.0),
        ] {
            let mut rates = [1_000.0; 60];
            rates[37..40].copy_from_slice(&around);
            let found = aftermath(&series(rates), 20.0).expect("an aftermath");
            assert_eq!(
                (found.began_after_s, found.recovered_after_s),
                (Some(began_s), Some(began_s + 1.0)),
                "{around:?}"
            );
            assert_eq!(
                (found.lowest, found.missing_ios, found.depth()),
                (0.0, 1_000.0, 1.0),
                "{around:?}"
            );
        }
        let mut at_once = [1_000.0; 60];
        (at_once[20], at_once[21]) = (500.0, 1_500.0);
        let found = aftermath(&series(at_once), 20.0).expect("an aftermath");
        assert_eq!(
            (found.began_after_s, found.recovered_after_s, found.lowest),
            (Some(0.0), Some(1.0), 500.0)
        );
    }

    #[test]
    fn a_dip_lasts_until_its_last_low_interval_even_if_the_mean_of_three_is_back_before() {
        // A file beside which another program wrote for three seconds, 5.7 s after a mark.
        let rates = [
            46_473, 25_156, 26_340, 24_837, 28_753, 28_428, 25_825, 25_467, 21_533, 20_237, 20_352,
            26_464, 21_443, 25_985, 26_060, 26_542, 21_734, 31_107, 5_630, 4_445, 8_226, 23_915,
            25_183, 27_477, 19_800, 26_076, 32_327,
        ];
        let found = aftermath(&series(rates.map(f64::from)), 12.0).expect("an aftermath");
        assert_eq!(
            (found.began_after_s, found.recovered_after_s, found.lowest),
            (Some(6.0), Some(9.0), 4_445.0)
        );
        assert!((found.missing_ios - (3.0 * found.before - 18_301.0)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_fall_within_the_noise_is_no_dip_and_its_depth_is_told_all_the_same() {
        // Before the event every fifth interval stalls too: one more says nothing of the event.
        let stalls = series((0..60).map(|s| if s % 5 == 3 { 5_000.0 } else { 20_000.0 }));
        let found = aftermath(&stalls, 30.0).expect("an aftermath");
        assert_eq!(
            (found.began_after_s, found.recovered_after_s, found.missing_ios),
            (None, Some(0.0), 0.0)
        );
        assert_eq!((found.before, found.lowest), (17_000.0, 5_000.0));
        assert!(found.noise > 0.3, "{found:?}");
        let calm = aftermath(&series([1_000.0; 60]), 30.0).expect("an aftermath");
        assert_eq!((calm.lowest, calm.noise), (1_000.0, 0.0));
    }

    #[test]
    fn a_remnant_of_an_interval_at_the_end_is_no_dip() {
        let mut intervals = series([1_000.0; 60]);
        intervals.push(Interval { start_s: 60.0, length_s: 0.01, ios: 8.0, latency_ns: 8e6 });
        let found = aftermath(&intervals, 30.0).expect("an aftermath");
        assert_eq!((found.began_after_s, found.recovered_after_s), (None, Some(0.0)));
        assert!(found.lowest > 990.0, "{found:?}");
    }

    #[test]
    fn without_a_before_or_an_after_there_is_nothing_to_say() {
        assert_eq!(aftermath(&series([1_000.0; 60]), 4.0), None);
        assert_eq!(aftermath(&series([1_000.0; 60]), 60.0), None);
        assert_eq!(aftermath(&series([0.0; 60]), 30.0), None);
        assert_eq!(aftermath(&[], f64::NAN), None);
    }

    #[test]
    fn what_waited_in_a_standstill_is_its_latency_although_it_comes_back_behind_it() {
        // 500 a second that take 1 ms; from 30 s on the target stands still for two seconds, and
        // then answers what was due meanwhile.
        let mut intervals = series([500.0; 60]);
        intervals.iter_mut().for_each(|one| one.latency_ns = 500.0 * 1e6);
        let waited: Vec<u64> =
            (0..1_000).map(|number| 2_000_000_000 - number * 2_000_000).collect();
        for at in [30, 31] {
            (intervals[at].ios, intervals[at].latency_ns) = (0.0, 0.0);
        }
        intervals[32].ios += 1_000.0;
        intervals[32].latency_ns += waited.iter().sum::<u64>() as f64;
        let times = |at: usize| {
            let mut latency = Histogram::new();
            latency.record_many(1_000_000, 500);
            waited.iter().filter(|_| at == 32).for_each(|value| latency.record(*value));
            (at < 60).then_some(latency)
        };
        let found = aftermath_with(&intervals, 30.0, times).expect("an aftermath");
        assert_eq!((found.began_after_s, found.recovered_after_s), (Some(0.0), Some(2.0)));
        // Due evenly over the two seconds, they waited for one on average; the shorter ones may
        // have been due later.
        let extra_s = found.extra_latency_ns.expect("they are known") / 1e9;
        assert!((0.95..1.4).contains(&extra_s), "{extra_s}");
        assert_eq!(
            aftermath(&intervals, 30.0).expect("an aftermath").extra_latency_ns,
            None,
            "nothing came back in it"
        );
        // One that lasts to the end: what waits has not come back.
        let left = |at: usize| {
            let mut latency = Histogram::new();
            (0..14_000).for_each(|number| latency.record(28_000_000_000 - number * 2_000_000));
            (at == 60).then_some(latency)
        };
        intervals[32..].iter_mut().for_each(|one| (one.ios, one.latency_ns) = (0.0, 0.0));
        let found = aftermath_with(&intervals, 30.0, left).expect("an aftermath");
        assert_eq!(found.recovered_after_s, None);
        assert!(
            (found.extra_latency_ns.expect("their ages") / 14e9 - 1.0).abs() < 0.01,
            "{found:?}"
        );
    }
}
