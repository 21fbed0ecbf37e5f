//! What a cache does not find where some blocks are asked for more often than others.
//!
//! The characteristic-time approximation (Che, Tung and Wang, "Hierarchical web caching systems",
//! IEEE JSAC 20(7), 2002; Fricker, Robert and Roberts, "A versatile and accurate approximation for
//! LRU cache performance", ITC 24, 2012): a line of rate λ is in a cache of the least recently used
//! ones with 1 − e^(−λT), with the one T at which as many lines are there as fit.

mod ranks;
mod table;

use super::tier::{missing, shares_on_drives};
use model::Bytes;
use model::load::HotSpots;
use model::popularity::{Law, Popularity};
use ranks::Ranks;
use std::sync::Arc;
use table::Table;

/// The steps of the characteristic time: each is longer by this.
const TIME_STEP: f64 = 1.25;
/// Steps at most; so many are 10⁴⁸ apart.
const MOST_STEPS: usize = 500;
/// What is missing below this is nothing.
const NOTHING: f64 = 1e-9;

/// A load, as far as it decides what a tier finds of it.
#[derive(Clone, Copy, Debug)]
pub struct Requests<'a> {
    /// The law of its random requests; `None` where every block is as likely as any other.
    pub popularity: Option<&'a Popularity>,
    /// The share of reads, 0 to 1.
    pub read: f64,
    /// The share of requests that the law places, 0 to 1. The others go evenly over all.
    pub random: f64,
    /// Bytes that come in together; `None`: a block.
    pub line: Option<Bytes>,
    /// Whether the tier keeps what is read.
    pub keeps_reads: bool,
    /// Whether the tier keeps what is written.
    pub keeps_writes: bool,
}

/// Shares of requests that are not in a tier, by what of the footprint fits there.
///
/// Everything that does not depend on the tier's size is computed once.
#[derive(Clone, Debug, Default)]
pub struct Misses {
    /// `None` where every block is as likely as any other.
    skewed: Option<Arc<Skewed>>,
}

/// Shares of what is not in a tier, 0 to 1, of requests of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missing {
    /// Of those whose place is no continuation.
    pub random: f64,
    /// Of those that follow others.
    pub in_order: f64,
}

impl Missing {
    /// Nothing is there.
    pub const ALL: Missing = Missing { random: 1.0, in_order: 1.0 };
    /// All is there.
    pub const NONE: Missing = Missing { random: 0.0, in_order: 0.0 };
}

#[derive(Debug)]
struct Skewed {
    reads: Direction,
    writes: Direction,
}

/// One direction's random requests.
#[derive(Debug)]
struct Direction {
    /// Where the footprint lies evenly on the drives of the tier.
    even: Table,
    /// Where it lies as [`missing`] has it.
    uneven: Table,
}

impl Misses {
    /// Those of a load.
    pub fn new(of: &Requests<'_>) -> Misses {
        let skewed = of.popularity.filter(|_| of.random > 0.0).map(|popularity| {
            let [reads, writes] = points(popularity, of).map(|points| Direction::new(&points));
            Arc::new(Skewed { reads, writes })
        });
        Misses { skewed }
    }

    /// Those of reads or of writes where the tier keeps `fits` of the footprint. The footprint lies
    /// unevenly on its drives, as [`missing`] has it.
    pub fn missing(&self, is_write: bool, fits: f64) -> Missing {
        self.by(is_write, fits, missing(fits), |direction| &direction.uneven)
    }

    /// The same where the footprint lies evenly on the drives.
    pub fn missing_evenly(&self, is_write: bool, fits: f64) -> Missing {
        let uniform = if fits.is_nan() { 1.0 } else { (1.0 - fits).clamp(0.0, 1.0) };
        self.by(is_write, fits, uniform, |direction| &direction.even)
    }

    fn by(
        &self,
        is_write: bool,
        fits: f64,
        uniform: f64,
        table: impl Fn(&Direction) -> &Table,
    ) -> Missing {
        let random = self
            .skewed
            .as_ref()
            .map(|skewed| table(if is_write { &skewed.writes } else { &skewed.reads }).at(fits));
        // What follows other requests comes by everywhere: it finds what share of all is there.
        Missing { random: random.unwrap_or(uniform), in_order: uniform }
    }
}

/// At one characteristic time: which share of all lines is there, and which share of the random
/// requests does not find its line.
#[derive(Clone, Copy, Debug)]
struct Point {
    fits: f64,
    missing: f64,
}

impl Direction {
    fn new(points: &[Point]) -> Direction {
        let even = Table::even(points);
        let shares = shares_on_drives();
        let uneven = even.blurred(&shares);
        Direction { even, uneven }
    }
}

/// The points of reads and of writes.
fn points(popularity: &Popularity, of: &Requests<'_>) -> [Vec<Point>; 2] {
    match &popularity.law {
        Law::HotSpot(spots) => {
            let points = zones(spots, of.random);
            [points.clone(), points]
        }
        Law::Zipf(_) | Law::Pareto(_) => strewn(popularity, of),
    }
}

/// Shares of requests for shares of the space that lie together, so that all blocks of a line are
/// as likely. Reads and writes go to the same ones.
fn zones(spots: &HotSpots, random: f64) -> Vec<Point> {
    let share = |one: model::Percent| f64::from(one.ppm) / 1e6;
    let mut zones: Vec<(f64, f64)> =
        spots.spots.iter().map(|(requests, space)| (share(*requests), share(*space))).collect();
    let rest = |of: fn(&(f64, f64)) -> f64| (1.0 - zones.iter().map(of).sum::<f64>()).max(0.0);
    let (requests, space) = (rest(|zone| zone.0), rest(|zone| zone.1));
    if space > 0.0 {
        zones.push((requests, space));
    }
    let mut points = Vec::new();
    let mut time = 1e-9;
    for _ in 0..MOST_STEPS {
        let (mut fits, mut missing) = (0.0, 0.0);
        for &(requests, space) in &zones {
            let rate = random * requests / space.max(1e-12) + (1.0 - random);
            fits -= space * (-rate * time).exp_m1();
            missing += requests * (-rate * time).exp();
        }
        points.push(Point { fits, missing });
        if missing < NOTHING {
            break;
        }
        time *= TIME_STEP;
    }
    points
}

/// Random requests of one direction and size. Each has ranks of its own.
struct Component {
    is_write: bool,
    /// The share of all requests, 0 to 1.
    weight: f64,
    /// The number of its ranks among those that are known.
    ranks: usize,
    /// How many of its places touch a line, of all workers that share it.
    places: f64,
    sharers: f64,
}

/// Ranks that are strewn over the space, apart for each direction, size and worker.
///
/// A line's rate is the sum of its places' rates, and these are independent of each other. So the
/// mean of e^(−λT) over all lines is a product: φ(T)ᵐ for m places of ranks with the mean φ. What a
/// component misses is the derivative of that product by the component's own times.
fn strewn(popularity: &Popularity, of: &Requests<'_>) -> [Vec<Point>; 2] {
    let (components, ranks) = components(popularity, of);
    let part = (popularity.part.0 as f64).max(1.0);
    let scans = (1.0 - of.random)
        * (of.read * popularity.reads.mean_bytes()
            + (1.0 - of.read) * popularity.writes.mean_bytes())
        / part;
    let mut both = [Vec::new(), Vec::new()];
    // In requests of all workers that share the part. The first one leaves next to nothing there.
    let mut time = 1e-6;
    for _ in 0..MOST_STEPS {
        let means: Vec<(f64, f64)> = components
            .iter()
            .map(|one| ranks[one.ranks].means(time * one.weight / one.sharers))
            .collect();
        let all: f64 = components
            .iter()
            .zip(&means)
            .map(|(one, (there, _))| one.places * there.max(1e-300).ln())
            .sum::<f64>()
            - scans * time;
        let mut sums = [(0.0, 0.0); 2];
        for (one, (away, misses)) in components.iter().zip(&means) {
            // One place's e^(−λT) is weighed by its rate, and all others count as they are.
            let missing = (all - away.max(1e-300).ln()).exp() * misses;
            let (weight, sum) = &mut sums[usize::from(one.is_write)];
            *weight += one.weight;
            *sum += one.weight * missing.clamp(0.0, 1.0);
        }
        let fits = -all.exp_m1();
        let missing =
            sums.map(|(weight, sum)| if weight > 0.0 { sum / weight } else { 1.0 - fits });
        for (points, missing) in both.iter_mut().zip(missing) {
            points.push(Point { fits, missing });
        }
        if missing.iter().all(|missing| *missing < NOTHING) {
            break;
        }
        time *= TIME_STEP;
    }
    both
}

fn components(popularity: &Popularity, of: &Requests<'_>) -> (Vec<Component>, Vec<Ranks>) {
    let directions = [
        (false, of.read, &popularity.reads, of.keeps_reads),
        (true, 1.0 - of.read, &popularity.writes, of.keeps_writes),
    ];
    // What the tier does not keep takes no place of others.
    let used = directions.into_iter().filter(|(_, share, _, keeps)| *keeps && *share > 0.0);
    let step = |size: Bytes| {
        (if popularity.align.0 > 0 { popularity.align } else { size }).0.max(1) as f64
    };
    let sizes = used.clone().flat_map(|(.., mix, _)| &mix.parts);
    let finest = sizes.map(|(size, _)| step(*size)).fold(f64::INFINITY, f64::min);
    let line = of.line.map_or(finest, |line| line.0.max(1) as f64);
    let (mut components, mut ranks, mut known) = (Vec::new(), Vec::<Ranks>::new(), Vec::new());
    let sharers = f64::from(popularity.sharers.max(1));
    for (is_write, share, mix, _) in used {
        let all: f64 = mix.parts.iter().map(|(_, weight)| f64::from(*weight)).sum();
        for (size, weight) in &mix.parts {
            let (bytes, step) = (size.0.max(1) as f64, step(*size));
            let room = (popularity.part.0 as f64 - bytes).max(0.0);
            let count = (room / step).floor() + 1.0;
            let number = known.iter().position(|one| *one == count).unwrap_or_else(|| {
                ranks.push(Ranks::new(&popularity.law, count));
                known.push(count);
                known.len() - 1
            });
            components.push(Component {
                is_write,
                weight: of.random * share * f64::from(*weight) / all.max(1.0),
                ranks: number,
                places: ((line + bytes - step) / step).max(1.0) * sharers,
                sharers,
            });
        }
    }
    (components, ranks)
}

#[cfg(test)]
mod tests;
