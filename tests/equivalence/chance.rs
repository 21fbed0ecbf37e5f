//! Whether two samples differ more than chance lets them, and what of requests is counted.

use super::kernel::Sent;
use std::collections::BTreeMap;

/// So many of so many.
#[derive(Clone, Copy)]
pub struct Share {
    /// All.
    pub of: f64,
    /// Those that are meant.
    pub count: f64,
}

/// Two shares that differ more than chance lets them: chi-square with one degree of freedom, which
/// exceeds x² about as often as a normal value exceeds x (Fisher 1922).
pub fn unequal(one: Share, other: Share, level: f64) -> Option<String> {
    let all = (one.count + other.count) / (one.of + other.of);
    let variance = all * (1.0 - all) * (1.0 / one.of + 1.0 / other.of);
    let (a, b) = (one.count / one.of, other.count / other.of);
    let chi_square = if variance > 0.0 { (a - b).powi(2) / variance } else { 0.0 };
    // P(χ² > x) < exp(-x/2) for x > 1.
    let most = -2.0 * level.ln();
    (chi_square > most).then(|| format!("{:.2} % and {:.2} %", a * 100.0, b * 100.0))
}

/// The greatest distance of two distributions.
pub fn distance(one: &mut [u64], other: &mut [u64]) -> f64 {
    one.sort_unstable();
    other.sort_unstable();
    let below = |all: &[u64], value: u64| {
        all.partition_point(|known| *known <= value) as f64 / all.len().max(1) as f64
    };
    let all = one.iter().chain(other.iter());
    all.map(|value| (below(one, *value) - below(other, *value)).abs()).fold(0.0, f64::max)
}

/// The distance that chance exceeds this rarely (Smirnov 1939).
pub fn level_of_distance(one: f64, other: f64, level: f64) -> f64 {
    (-0.5 * (level / 2.0).ln()).sqrt() * ((one + other) / (one * other)).sqrt()
}

/// How many requests each window of `us` has, but for the last one.
pub fn in_windows(all: &[Sent], us: u64) -> Vec<u64> {
    let begin = all.first().map_or(0, |first| first.at_us);
    let mut counts = Vec::new();
    for one in all {
        let window = ((one.at_us - begin) / us.max(1)) as usize;
        counts.resize(counts.len().max(window + 1), 0);
        counts[window] += 1;
    }
    counts.pop();
    counts
}

/// How often each place comes.
pub fn places(all: &[Sent]) -> BTreeMap<(u64, u64), u64> {
    let mut places = BTreeMap::new();
    for one in all {
        *places.entry((one.offset, one.length)).or_default() += 1;
    }
    places
}

/// How many places do not come as often in both.
pub fn other_places(one: &BTreeMap<(u64, u64), u64>, other: &BTreeMap<(u64, u64), u64>) -> usize {
    let alone = other.keys().filter(|place| !one.contains_key(place)).count();
    alone + one.iter().filter(|(place, count)| other.get(place) != Some(count)).count()
}

/// Of each request, the rank of its place: 0 is the most wanted one.
pub fn ranks(all: &[Sent]) -> Vec<u64> {
    let mut counts: Vec<u64> = places(all).into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let of = |(rank, count): (u64, u64)| std::iter::repeat_n(rank, count as usize);
    (0..).zip(counts).flat_map(of).collect()
}

/// How many requests of a source begin where its last one ended.
pub fn following(all: &[Sent]) -> f64 {
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    let mut count = 0.0;
    for one in all {
        if ends.insert(one.source, one.end()) == Some(one.offset) {
            count += 1.0;
        }
    }
    count
}
