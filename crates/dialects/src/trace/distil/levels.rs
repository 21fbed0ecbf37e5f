//! The rate of a trace over time: stretches at one rate each.

/// Steps of a suite's curve at most.
const MOST_LEVELS: usize = 48;
/// Neighbours whose rates differ by no more than this, as a share of their mean, are alike.
const ALIKE: f64 = 0.1;
/// Nor are they told apart where chance makes such a difference: twice the logarithm of the
/// likelihood ratio, by which one rate explains both counts less well than two. Chance exceeds it
/// once in 2,000 pairs (the χ² distribution of one degree of freedom).
const BY_CHANCE: f64 = 12.0;

/// A stretch of the trace at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Cells of the curve.
    pub(super) cells: u64,
    /// Requests in all of them.
    pub(super) requests: u64,
}

impl Level {
    /// Requests for each cell.
    pub(super) fn rate(&self) -> f64 {
        self.requests as f64 / self.cells.max(1) as f64
    }

    fn with(&self, next: &Level) -> Level {
        Level { cells: self.cells + next.cells, requests: self.requests + next.requests }
    }

    /// By how much one rate explains this stretch and the next less well than two.
    fn loss(&self, next: &Level) -> f64 {
        let mean = self.with(next).rate();
        let part = |one: &Level| match one.requests {
            0 => 0.0,
            requests => requests as f64 * (one.rate() / mean).ln(),
        };
        2.0 * (part(self) + part(next)).max(0.0)
    }

    fn is_like(&self, next: &Level) -> bool {
        let mean = self.with(next).rate();
        (self.rate() - next.rate()).abs() <= ALIKE * mean || self.loss(next) <= BY_CHANCE
    }
}

/// The stretches of these cells, in order: neighbours that are alike are one, those that are most
/// alike first.
pub(super) fn levels(cells: &[u64]) -> Vec<Level> {
    let one = |requests: &u64| Level { cells: 1, requests: *requests };
    let mut levels: Vec<Level> = cells.iter().map(one).collect();
    loop {
        let pairs = levels.windows(2).enumerate();
        let pairs = pairs.map(|(at, pair)| (at, pair[0].loss(&pair[1]), pair[0].is_like(&pair[1])));
        let is_full = levels.len() > MOST_LEVELS;
        let nearest = pairs.filter(|(.., is_like)| *is_like || is_full);
        let Some((at, ..)) = nearest.min_by(|a, b| a.1.total_cmp(&b.1)) else { return levels };
        levels[at] = levels[at].with(&levels[at + 1]);
        levels.remove(at + 1);
    }
}

/// The share of the requests that these stretches send up to `at` of their time.
pub(super) fn sent(levels: &[Level], at: f64) -> f64 {
    let (cells, requests) = total(levels);
    let mut left = at * cells;
    let mut sent = 0.0;
    for level in levels {
        let within = left.clamp(0.0, level.cells as f64);
        sent += level.rate() * within;
        left -= within;
    }
    if requests > 0.0 { sent / requests } else { at }
}

fn total(levels: &[Level]) -> (f64, f64) {
    let sum = |of: fn(&Level) -> u64| levels.iter().map(of).sum::<u64>() as f64;
    (sum(|level| level.cells), sum(|level| level.requests))
}

/// The share of the times between requests that are no longer than `ns`, where `alone` says it of
/// one mean time: each stretch counts by its requests.
pub(super) fn between(levels: &[Level], cell_ns: f64, ns: f64, alone: fn(f64, f64) -> f64) -> f64 {
    let (_, requests) = total(levels);
    let busy = levels.iter().filter(|level| level.requests > 0);
    let part = |level: &Level| level.requests as f64 / requests * alone(cell_ns / level.rate(), ns);
    busy.map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    #[test]
    fn chance_is_one_level_and_a_known_change_is_found_where_it_is() {
        let mut rng = Rng::new(3);
        // Binomial counts with the variance of a Poisson process.
        let mut count = |mean: u64| (0..mean * 100).filter(|_| rng.below(100) == 0).count() as u64;
        let even: Vec<u64> = (0..200).map(|_| count(50)).collect();
        assert_eq!(levels(&even).len(), 1);
        let steps: Vec<u64> = (0..200)
            .map(|cell| match cell {
                0..80 => count(50),
                80..100 => count(400),
                _ => count(10),
            })
            .collect();
        let found = levels(&steps);
        let lengths: Vec<u64> = found.iter().map(|level| level.cells).collect();
        assert_eq!(lengths, [80, 20, 100]);
        assert_eq!(
            found.iter().map(|level| level.requests).sum::<u64>(),
            steps.iter().sum::<u64>()
        );
    }

    #[test]
    fn a_curve_without_end_is_told_in_so_many_steps() {
        let rising: Vec<u64> = (0..1_000).map(|cell| cell * cell).collect();
        let found = levels(&rising);
        assert!(found.len() <= MOST_LEVELS, "{}", found.len());
        assert!((sent(&found, 1.0) - 1.0).abs() < 1e-9 && sent(&found, 0.5) < 0.2);
        assert_eq!(sent(&levels(&[0, 0]), 0.5), 0.5);
    }

    #[test]
    fn times_between_requests_are_those_of_each_stretch() {
        let found = [Level { cells: 10, requests: 100 }, Level { cells: 10, requests: 300 }];
        let step = |mean: f64, ns: f64| if ns >= mean { 1.0 } else { 0.0 };
        // A cell of 1 µs: 100 ns and 33 ns.
        assert_eq!(between(&found, 1_000.0, 50.0, step), 0.75);
        assert_eq!(between(&found, 1_000.0, 100.0, step), 1.0);
        assert_eq!(between(&found, 1_000.0, 30.0, step), 0.0);
    }
}
