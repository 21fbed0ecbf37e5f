//! A trace as a suite: mix, sizes, sequential share, skew and rate, with the distance of the suite
//! from the trace.

mod distances;
mod grid;
mod levels;
mod text;

#[cfg(test)]
mod tests;

use grid::Grid;
use levels::Level;
use model::curve::MOST_LENGTH;
use model::trace::Request;
use model::{Histogram, Op};
use std::collections::{BTreeMap, VecDeque};

/// Sizes that are told apart in the trace, and sizes of a suite's mix.
const MOST_SIZES: usize = 4096;
const MOST_PARTS: usize = 16;
/// So many requests back, one can be what the next goes on from.
const LOOK_BACK: usize = 32;
/// Requests for each part of the space that is looked at: with fewer, chance looks like skew.
const FOR_EACH_CELL: u64 = 50;
const MOST_CELLS: usize = 1024;
/// A space whose most loaded parts are no further from even than this, beside what chance does, has
/// no skew.
const EVEN: f64 = 0.05;
/// What chance does to the most loaded of evenly loaded parts, in square roots of their requests:
/// the greatest value of the normal density is 0.4; half as much again is seldom exceeded.
const BY_CHANCE: f64 = 0.6;
/// Requests a second that a suite can ask for.
const MOST_RATE: f64 = 1e8;
/// A suite measures no shorter time.
const LEAST_CURVE_NS: u64 = 100_000_000;
/// Cells of the curve of the rate.
const RATE_CELLS: usize = 1024;

/// A share of the requests, and the share of the space that they go to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// From 0 to 1.
    pub requests: f64,
    /// From 0 to 1.
    pub space: f64,
}

/// How far the suite is from its trace: 0 is the same, 1 is nothing in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distances {
    /// Total variation of size and direction together.
    pub sizes: f64,
    /// Kolmogorov and Smirnov's distance of offsets: where in the space requests go.
    pub offsets: f64,
    /// The same of how much of the requests the most loaded parts of the space get, wherever they
    /// are.
    pub popularity: f64,
    /// The same of the times between requests.
    pub inter_arrivals: f64,
    /// The same of when in the trace requests were sent.
    pub rate: f64,
}

/// What a trace comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Distilled {
    /// Its requests, flushes included.
    pub requests: u64,
    /// The text of the suite.
    pub suite: String,
    /// How far it is from the trace.
    pub distances: Distances,
}

/// Takes in the requests of a trace, in constant memory.
pub struct Distiller {
    sizes: BTreeMap<(bool, u32), u64>,
    /// Of sizes that were not told apart, to the largest one below each.
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    sequential: u64,
    ends: VecDeque<u64>,
    offsets: Grid,
    times: Grid,
    inter_arrivals: Histogram,
    last_ns: Option<u64>,
    end: u64,
    align: u64,
}

impl Default for Distiller {
    fn default() -> Distiller {
        Distiller::new()
    }
}

impl Distiller {
    /// Nothing yet.
    pub fn new() -> Distiller {
        Distiller {
            sizes: BTreeMap::new(),
            reads: 0,
            writes: 0,
            trims: 0,
            flushes: 0,
            sequential: 0,
            ends: VecDeque::with_capacity(LOOK_BACK),
            offsets: Grid::new(4096),
            times: Grid::new(1_000_000),
            inter_arrivals: Histogram::new(),
            last_ns: None,
            end: 0,
            align: 1 << 20,
        }
    }

    /// Takes one in; requests come in the order of their instants.
    pub fn add(&mut self, request: &Request) {
        match request.op {
            Op::Read => self.reads += 1,
            Op::Write => self.writes += 1,
            Op::Trim => self.trims += 1,
            _ => {
                // It follows a write, and has no instant of its own in a suite.
                self.flushes += 1;
                return;
            }
        }
        let key = (request.op == Op::Read, request.length);
        if self.sizes.len() < MOST_SIZES || self.sizes.contains_key(&key) {
            *self.sizes.entry(key).or_default() += 1;
        } else if let Some((_, count)) = self.sizes.range_mut(..key).next_back() {
            *count += 1;
        }
        self.sequential += u64::from(self.ends.contains(&request.offset));
        if self.ends.len() == LOOK_BACK {
            self.ends.pop_front();
        }
        self.ends.push_back(request.end());
        self.offsets.add(request.offset);
        self.times.add(request.at_ns);
        if let Some(last_ns) = self.last_ns.replace(request.at_ns) {
            self.inter_arrivals.record(request.at_ns.saturating_sub(last_ns));
        }
        self.end = self.end.max(request.end());
        self.align = 1 << (request.offset | self.align).trailing_zeros();
    }

    /// Reads, writes and trims.
    fn requests(&self) -> u64 {
        self.reads + self.writes + self.trims
    }

    /// The suite; `None` where there are no requests. `name` is the suite's, `what` says in a
    /// comment what it was made of.
    pub fn finish(&self, name: &str, what: &str) -> Option<Distilled> {
        if self.requests() == 0 {
            return None;
        }
        let model = self.model();
        let distances = self.distances(&model);
        let suite = text::suite(self, &model, &distances, name, what);
        Some(Distilled { requests: self.requests() + self.flushes, suite, distances })
    }

    fn model(&self) -> Model {
        let cells = self.cells();
        let spots = spots(&cells);
        let length_ns = self.last_ns.unwrap_or(0);
        // So many intervals in so much time; of one request alone nobody knows its rate.
        let rate = match (self.requests() - 1, length_ns) {
            (0, _) | (_, 0) => None,
            (intervals, length_ns) => Some(intervals as f64 * 1e9 / length_ns as f64),
        };
        // A faster one is no rate of a suite: it has no instants that could be told apart.
        let rate = rate.filter(|rate| *rate <= MOST_RATE);
        let levels = rate.map_or(Vec::new(), |_| self.levels(length_ns));
        let mut model = Model {
            reads: self.mix(true),
            writes: self.mix(false),
            spots,
            rate,
            levels,
            cell_ns: self.times.width_up_to(length_ns, RATE_CELLS),
            is_poisson: false,
        };
        let even = self.distance_of_arrivals(&model);
        model.is_poisson = true;
        model.is_poisson = self.distance_of_arrivals(&model) <= even;
        model
    }

    /// The stretches of a rate that changes; none where one rate is all there is, or where no suite
    /// could have such a curve.
    fn levels(&self, length_ns: u64) -> Vec<Level> {
        let cell_ns = self.times.width_up_to(length_ns, RATE_CELLS) as f64;
        let levels = levels::levels(&self.times.up_to(length_ns, RATE_CELLS));
        let is_fast = |level: &Level| level.rate() * 1e9 / cell_ns > MOST_RATE;
        let has_length = (LEAST_CURVE_NS..=MOST_LENGTH.0 / 2).contains(&length_ns);
        if levels.len() < 2 || !has_length || levels.iter().any(is_fast) {
            return Vec::new();
        }
        levels
    }

    /// How far the times between requests are from those of the suite.
    fn distance_of_arrivals(&self, model: &Model) -> f64 {
        let alone = if model.is_poisson { exponential } else { step };
        let mean_ns = model.rate.map_or(0.0, |rate| 1e9 / rate);
        distances::of_times(&self.inter_arrivals, |ns| match model.levels.is_empty() {
            true => alone(mean_ns, ns),
            false => levels::between(&model.levels, model.cell_ns as f64, ns, alone),
        })
    }

    /// How often requests went to each part of the space, in order.
    fn cells(&self) -> Vec<u64> {
        let enough = (self.requests() / FOR_EACH_CELL).clamp(2, MOST_CELLS as u64) as usize;
        self.offsets.up_to(self.end, enough)
    }

    /// Sizes with their weights: those that occur most, and the largest.
    fn mix(&self, is_read: bool) -> Vec<(u32, u64)> {
        let own = self.sizes.iter().filter(|((read, _), _)| *read == is_read);
        let mut all: Vec<(u32, u64)> = own.map(|((_, size), count)| (*size, *count)).collect();
        let largest = all.last().map_or(0, |(size, _)| *size);
        all.sort_by_key(|(size, count)| (*size != largest, std::cmp::Reverse(*count)));
        all.truncate(MOST_PARTS);
        all.sort_unstable();
        all
    }

    fn distances(&self, model: &Model) -> Distances {
        let total = self.requests() as f64;
        let own: BTreeMap<(bool, u32), f64> =
            self.sizes.iter().map(|(key, count)| (*key, *count as f64 / total)).collect();
        let of = |mix: &[(u32, u64)], is_read: bool, requests: u64| {
            let sum: u64 = mix.iter().map(|(_, count)| count).sum();
            let share =
                move |count: u64| requests as f64 / total * count as f64 / sum.max(1) as f64;
            mix.iter().map(|(size, n)| ((is_read, *size), share(*n))).collect::<Vec<_>>()
        };
        // A trim has the sizes of writes.
        let mut suites = of(&model.reads, true, self.reads);
        suites.extend(of(&model.writes, false, self.writes + self.trims));
        let mut cells = self.cells();
        let offsets = distances::of_cells(&cells, |at| placed(&model.spots, at));
        cells.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let length_ns = self.last_ns.unwrap_or(0);
        let times = self.times.up_to(length_ns, RATE_CELLS);
        Distances {
            sizes: distances::of_shares(&own, &suites.into_iter().collect()),
            offsets,
            popularity: distances::of_cells(&cells, |at| placed(&model.spots, at)),
            inter_arrivals: self.distance_of_arrivals(model),
            rate: distances::of_cells(&times, |at| match model.levels.is_empty() {
                true => at,
                false => levels::sent(&model.levels, at),
            }),
        }
    }
}

/// What of a trace a suite says.
struct Model {
    reads: Vec<(u32, u64)>,
    writes: Vec<(u32, u64)>,
    /// None where requests are spread evenly.
    spots: Vec<Spot>,
    /// In requests a second; `None` where the trace has no length.
    rate: Option<f64>,
    /// The stretches of a rate that changes; none where one rate is all there is.
    levels: Vec<Level>,
    /// The length of a cell of the stretches.
    cell_ns: u64,
    is_poisson: bool,
}

impl Model {
    /// The length of the curve: that of the trace, up to a cell.
    fn curve_ns(&self) -> u64 {
        let cells: u64 = self.levels.iter().map(|level| level.cells).sum();
        cells.saturating_mul(self.cell_ns)
    }
}

/// The share of times that are no longer than `ns`, at equal distances.
fn step(mean_ns: f64, ns: f64) -> f64 {
    if ns >= mean_ns { 1.0 } else { 0.0 }
}

/// The same of requests that arrive like strangers.
fn exponential(mean_ns: f64, ns: f64) -> f64 {
    if mean_ns > 0.0 { 1.0 - (-ns / mean_ns).exp() } else { 1.0 }
}

/// The share of requests that a suite with these spots sends below `at` of the space.
fn placed(spots: &[Spot], at: f64) -> f64 {
    let (mut requests, mut space) = (0.0, 0.0);
    for spot in spots {
        if at < space + spot.space {
            return requests + spot.requests * (at - space) / spot.space;
        }
        requests += spot.requests;
        space += spot.space;
    }
    let left = 1.0 - space;
    if left <= 0.0 { 1.0 } else { requests + (1.0 - requests) * ((at - space) / left).min(1.0) }
}

/// Hot spots for parts of the space that are loaded so: none where they are loaded evenly.
fn spots(cells: &[u64]) -> Vec<Spot> {
    let mut sorted = cells.to_vec();
    sorted.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
    let total = sorted.iter().sum::<u64>().max(1) as f64;
    let chance = BY_CHANCE / (total / sorted.len().max(1) as f64).sqrt();
    if distances::of_cells(&sorted, |at| at) <= EVEN + chance {
        return Vec::new();
    }
    let length = sorted.len();
    // The parts up to each of these shares of the space are a spot.
    let ends = [0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75];
    let ends = ends.into_iter().map(|share| (share * length as f64).round() as usize);
    let mut spots = Vec::new();
    let mut from = 0;
    for to in ends.filter(|end| *end < length) {
        if to > from {
            let requests = sorted[from..to].iter().sum::<u64>() as f64 / total;
            spots.push(Spot { requests, space: (to - from) as f64 / length as f64 });
            from = to;
        }
    }
    spots
}
