//! Rates that look like somebody's limit, and not like a device's.
//!
//! Clouds limit volumes by a token bucket: the rate is that of the refill, to the digit, once what
//! was saved up is spent. Flash with a fast tier does the same when that is full.

use crate::doubts::Warning;
use crate::estimate::confidence::without_short_end;
use crate::rows::row::{Covers, ResultRow};
use crate::rows::tally::Slot;
use model::{Bytes, Nanos};

/// Fewer intervals say nothing about constancy.
const LEAST_INTERVALS: usize = 10;
/// The most that a limited rate varies from interval to interval, as a share of its mean.
const MOST_SPREAD: f64 = 0.003;
/// What comes and goes by chance varies like a Poisson count, or nearly so; a limiter by far less.
const MOST_OF_CHANCE: f64 = 0.3;
/// How near a round number a limited rate is.
const NEAR: f64 = 0.002;
/// What people round limits to.
const ROUND: [f64; 13] = [1.0, 1.2, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0, 9.0];
/// A level that falls at least so far was lent.
const MOST_LEFT: f64 = 0.5;
/// Fewer requests at the start may be many by chance.
const LEAST_REQUESTS: f64 = 30.0;
/// A start that is not like the rest is a warm-up, unless it is so many times the rest.
const LEAST_BURST: f64 = 3.0;

/// Whether the rate of a row is a limiter's.
pub(crate) fn throttled(row: &ResultRow, slots: &[Slot]) -> Option<Warning> {
    if row.is_paced() || row.covers < Covers::Workload || row.done.is_some() {
        return None;
    }
    let whole = without_short_end(slots, |slot| slot.length_s);
    if whole.len() < LEAST_INTERVALS {
        return None;
    }
    let count = whole.len() as f64;
    let mean = whole.iter().map(Slot::iops).sum::<f64>() / count;
    let squares = whole.iter().map(|slot| (slot.iops() - mean).powi(2)).sum::<f64>();
    let spread = (squares / (count - 1.0)).sqrt() / mean.max(f64::MIN_POSITIVE);
    let by_chance = 1.0 / (whole.iter().map(|slot| slot.ios).sum::<f64>() / count).max(1.0).sqrt();
    if mean <= 0.0 || spread > MOST_SPREAD || spread > by_chance * MOST_OF_CHANCE {
        return None;
    }
    let bytes = row.bytes_per_s();
    let mib = 1024.0 * 1024.0;
    let is_limit = is_round(mean) || bytes > 0.0 && (is_round(bytes) || is_round(bytes / mib));
    is_limit.then_some(Warning::Throttled { iops: mean, bytes_per_s: bytes, spread })
}

fn is_round(value: f64) -> bool {
    if value <= 0.0 {
        return false;
    }
    let digits = value / 10f64.powf(value.log10().floor());
    // 9.99 is nearly 10.
    ROUND.iter().chain(&[10.0]).any(|round| (digits / round - 1.0).abs() <= NEAR)
}

/// Whether the one change of a row is a level that fell and never came back.
pub(crate) fn burst_spent(row: &ResultRow, slots: &[Slot], found: &[Warning]) -> Option<Warning> {
    if row.is_paced() || row.covers < Covers::Workload {
        return None;
    }
    let is_far = |(_, share): &(Nanos, f64)| *share <= MOST_LEFT;
    let change = found.iter().find_map(|doubt| match doubt {
        Warning::Changed { host: None, at, share, .. } => Some((*at, *share)),
        Warning::WarmUp { length, share, .. } if *share >= LEAST_BURST => {
            Some((*length, 1.0 / share))
        }
        _ => None,
    });
    // A later change of little does not hide a start that is spent.
    let (at, share) = change.filter(is_far).or_else(|| spent_at_once(slots).filter(is_far))?;
    let start_s = slots.first().map_or(0.0, |slot| slot.start_s);
    let is_before = |slot: &&Slot| slot.start_s - start_s < at.0 as f64 / 1e9;
    let (before, after): (Vec<&Slot>, Vec<&Slot>) = slots.iter().partition(is_before);
    let before_iops = mean(&before);
    // The interval in which it fell belongs to neither level.
    let rest = after.get(1..).unwrap_or_default();
    let came_back = rest.iter().any(|slot| slot.iops() > before_iops * 0.9);
    let bytes = before.iter().map(|slot| slot.bytes).sum::<f64>();
    let is_lasting = rest.len() >= 2 && !came_back;
    is_lasting.then_some(Warning::BurstSpent { at: Nanos(at.0), moved: Bytes(bytes as u64), share })
}

/// A start of fewer intervals than a warm-up has, all of it far above whatever came later: until
/// when, and the later level as a share of it.
fn spent_at_once(slots: &[Slot]) -> Option<(Nanos, f64)> {
    let slots = without_short_end(slots, |slot| slot.length_s);
    let mut rates: Vec<f64> = slots.iter().map(Slot::iops).collect();
    rates.sort_by(f64::total_cmp);
    let usual = *rates.get(rates.len() / 2)?;
    let count = slots.iter().take_while(|slot| slot.iops() >= LEAST_BURST * usual).count();
    // The interval in which it fell is part of neither.
    let rest: Vec<&Slot> = slots.iter().skip(count + 1).collect();
    let start: Vec<&Slot> = slots.iter().take(count).collect();
    let highest = rest.iter().map(|slot| slot.iops()).fold(0.0, f64::max);
    let is_clear = rest.len() >= LEAST_INTERVALS
        && start.iter().map(|slot| slot.ios).sum::<f64>() >= LEAST_REQUESTS
        && start.iter().all(|slot| slot.iops() >= LEAST_BURST * highest);
    let (first, next) = (slots.first()?, slots.get(count)?);
    let at = Nanos(((next.start_s - first.start_s) * 1e9) as u64);
    (count > 0 && is_clear).then(|| (at, mean(&rest) / mean(&start)))
}

fn mean(slots: &[&Slot]) -> f64 {
    slots.iter().map(|slot| slot.iops()).sum::<f64>() / (slots.len() as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(rates: &[f64]) -> Vec<Slot> {
        let slot = |(at, rate): (u32, &f64)| Slot {
            start_s: 0.25 * f64::from(at),
            length_s: 0.25,
            ios: 0.25 * rate,
            bytes: 0.0,
            latency_ns: 0.0,
            at_most: Default::default(),
            cpu_ns: 0.0,
            work_ios: 0.0,
        };
        (0..).zip(rates).map(slot).collect()
    }

    #[test]
    fn a_start_shorter_than_any_warm_up_is_spent_where_nothing_later_comes_near_it() {
        let level = [400.0, 430.0, 410.0, 440.0, 405.0, 415.0].repeat(4);
        let after = |start: &[f64]| [start, &level].concat();
        let (at, share) = spent_at_once(&slots(&after(&[9_000.0, 8_000.0, 2_000.0]))).unwrap();
        assert!(at == Nanos(750_000_000) && (0.04..0.08).contains(&share), "{at:?}, {share}");
        let again = [after(&[9_000.0]), vec![8_500.0]].concat();
        let few_requests: Vec<f64> = after(&[9_000.0]).iter().map(|rate| rate / 90.0).collect();
        for honest in [level.to_vec(), after(&[900.0]), after(&[40.0]), again, few_requests] {
            assert_eq!(spent_at_once(&slots(&honest)), None, "{honest:?}");
        }
        assert_eq!(spent_at_once(&slots(&[9_000.0, 400.0, 400.0])), None, "too few to tell");
    }

    #[test]
    fn round_numbers_are_those_that_people_choose() {
        for round in [100.0, 3_000.0, 16_000.0 / 2.0, 125e6, 0.5, 9_990.0 * 1.001] {
            assert!(is_round(round), "{round}");
        }
        for odd in [103.0, 2_870.0, 17_342.0, 131.7e6, 0.0] {
            assert!(!is_round(odd), "{odd}");
        }
    }
}
