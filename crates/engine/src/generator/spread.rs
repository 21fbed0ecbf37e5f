//! Which of the places a random request takes.

use super::permutation::Permutation;
use super::zipf::Zipf;
use model::choices::Access;
use model::plan::Pattern;
use model::rng::Rng;

/// A way to choose among a number of places.
#[derive(Clone, Debug)]
pub(super) enum Spread {
    /// Every place equally likely.
    Uniform,
    /// Every place once before any comes again; each pass in another order.
    Permutation { order: Permutation, next: u64, pass: u64, seed: u64 },
    /// By rank, and the ranks strewn over the places: neighbours are not alike.
    Zipf { ranks: Zipf, strewn: Permutation },
    /// Place number `n·u^power`, strewn.
    Pareto { power: f64, strewn: Permutation },
    /// Zones with their shares.
    HotSpot(Box<[Zone]>),
}

/// A part of the places that gets a part of the requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zone {
    /// Share of the requests up to and with this zone, in parts per million.
    below_ppm: u64,
    first: u64,
    count: u64,
}

impl Spread {
    /// The way that `pattern` asks for, over `count` places.
    pub(super) fn new(pattern: &Pattern, count: u64, seed: u64) -> Spread {
        match pattern.access {
            Access::Sequential | Access::Random => Spread::Uniform,
            Access::Permutation => {
                Spread::Permutation { order: Permutation::new(count, seed), next: 0, pass: 0, seed }
            }
            Access::Zipf => Spread::Zipf {
                ranks: Zipf::new(count, pattern.skew.value()),
                strewn: Permutation::new(count, seed),
            },
            Access::Pareto => {
                // With h = 0.2: P(u^power < 0.2) = 0.2^(1/power) = 0.8, and the same within each
                // part (Pareto principle).
                let h = pattern.skew.value().clamp(0.001, 0.499);
                Spread::Pareto {
                    power: h.ln() / (1.0 - h).ln(),
                    strewn: Permutation::new(count, seed),
                }
            }
            Access::HotSpot => zones(pattern, count),
        }
    }

    /// The number of the next place, below `count`, which is that given to [`new`](Self::new).
    #[inline]
    pub(super) fn draw(&mut self, count: u64, rng: &mut Rng) -> u64 {
        match self {
            Spread::Uniform => rng.below(count),
            Spread::Permutation { order, next, pass, seed } => {
                let place = order.at(*next);
                *next += 1;
                if *next == count {
                    *next = 0;
                    *pass += 1;
                    *order = Permutation::new(count, seed.wrapping_add(*pass));
                }
                place
            }
            Spread::Zipf { ranks, strewn } => strewn.at(ranks.draw(rng) - 1),
            Spread::Pareto { power, strewn } => {
                let rank = (count as f64 * rng.unit().powf(*power)) as u64;
                strewn.at(rank.min(count - 1))
            }
            Spread::HotSpot(zones) => {
                let ticket = rng.below(1_000_000);
                let zone = zones.iter().find(|zone| ticket < zone.below_ppm);
                // The last zone ends at a million, so there is always one.
                zone.map_or(0, |zone| zone.first + rng.below(zone.count))
            }
        }
    }
}

/// The table's zones one after the other, and what is left.
fn zones(pattern: &Pattern, count: u64) -> Spread {
    let mut zones = Vec::new();
    let (mut requests_ppm, mut space_ppm, mut first) = (0, 0, 0);
    let rest = (1_000_000, 1_000_000);
    let spots = pattern
        .hot_spots
        .spots
        .iter()
        .map(|(requests, space)| (u64::from(requests.ppm), u64::from(space.ppm)));
    for (requests, space) in spots.chain([rest]) {
        requests_ppm = (requests_ppm + requests).min(1_000_000);
        space_ppm = (space_ppm + space).min(1_000_000);
        let end = (u128::from(count) * u128::from(space_ppm) / 1_000_000) as u64;
        // A zone of less than one place gets one: its share of the requests has to go somewhere.
        let end = end.max(first + 1).min(count);
        let start = first.min(count - 1);
        zones.push(Zone { below_ppm: requests_ppm, first: start, count: (end - start).max(1) });
        first = end;
    }
    Spread::HotSpot(zones.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::load::{HotSpots, Skew};

    fn pattern(access: Access, skew_milli: u32, spots: &str) -> Pattern {
        let hot_spots: HotSpots = spots.parse().unwrap_or(HotSpots { spots: Vec::new() });
        Pattern { skew: Skew { milli: skew_milli }, hot_spots, ..Pattern::simple(access) }
    }

    fn counts(pattern: &Pattern, count: u64, draws: u32) -> Vec<u32> {
        let mut spread = Spread::new(pattern, count, 7);
        let mut rng = Rng::new(3);
        let mut counts = vec![0; count as usize];
        (0..draws).for_each(|_| counts[spread.draw(count, &mut rng) as usize] += 1);
        counts
    }

    #[test]
    fn a_permutation_takes_every_place_once_in_each_pass() {
        for count in [1, 2, 5, 64, 1000, 1025] {
            let mut spread = Spread::new(&pattern(Access::Permutation, 0, ""), count, 7);
            let mut rng = Rng::new(3);
            let mut passes: Vec<Vec<u64>> = Vec::new();
            for _ in 0..3 {
                let pass: Vec<u64> = (0..count).map(|_| spread.draw(count, &mut rng)).collect();
                let mut sorted = pass.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..count).collect::<Vec<_>>());
                passes.push(pass);
            }
            assert!(
                count < 64
                    || (passes[0] != passes[1] && passes[0] != (0..count).collect::<Vec<_>>())
            );
        }
    }

    #[test]
    fn pareto_gives_eight_tenths_of_the_requests_to_two_tenths_of_the_places() {
        let mut counts = counts(&pattern(Access::Pareto, 200, ""), 10_000, 1_000_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let hottest: u32 = counts[..2_000].iter().sum();
        assert!((0.795..0.805).contains(&(f64::from(hottest) / 1e6)), "{hottest}");
        let inner: u32 = counts[..400].iter().sum();
        assert!(
            (0.63..0.65).contains(&(f64::from(inner) / 1e6)),
            "{inner}: and the same inside of these"
        );
    }

    #[test]
    fn hot_spots_get_what_the_table_says() {
        let counts = counts(&pattern(Access::HotSpot, 0, "95%:5%, 4%:10%"), 1_000, 1_000_000);
        let zone = |from: usize, to: usize| f64::from(counts[from..to].iter().sum::<u32>()) / 1e6;
        assert!((zone(0, 50) - 0.95).abs() < 0.001 && (zone(50, 150) - 0.04).abs() < 0.001);
        assert!((zone(150, 1_000) - 0.01).abs() < 0.001);
        assert!(counts.iter().all(|n| *n > 0), "the rest of the space is not left out");
    }

    #[test]
    fn the_smallest_spaces_work() {
        for access in
            [Access::Random, Access::Permutation, Access::Zipf, Access::Pareto, Access::HotSpot]
        {
            for count in [1, 2, 3] {
                let all = counts(&pattern(access, 500, "50%:10%, 10%:10%"), count, 10_000);
                assert_eq!(all.iter().sum::<u32>(), 10_000, "{access} over {count}");
            }
        }
    }
}
