//! What a run searches for: how much of what, by which objective; and points that follow from what
//! others carried.

use super::stage::Point;
use crate::load::Pace;
use crate::objective::Objective;
use crate::setting::Setting;
use crate::units::{Nanos, Percent};
use serde::{Deserialize, Serialize};

crate::words! {
    /// Along what a search goes.
    #[derive(Default)]
    pub enum SearchAxis {
        /// Requests per second: the load line.
        #[default]
        Rate = "rate",
        /// Requests that each worker keeps outstanding.
        Depth = "depth",
        /// The bytes of the layout that are loaded.
        Size = "size",
        /// Workers of all hosts together.
        Workers = "workers",
        /// Two rates of one group: where on the grid of a sweep the objective holds.
        Map = "map",
    }
}

/// What a run searches for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// The load line is the highest rate at which this holds; along another axis, the answer is
    /// the largest value.
    pub objective: Objective,
    /// Whether requests arrive like strangers; otherwise at equal distances.
    pub poisson: bool,
    /// How long each point is measured; the first one of a load line takes half of it.
    pub measure: Nanos,
    /// Along what; always the rate in runs of versions that knew no other axis.
    #[serde(default)]
    pub along: SearchAxis,
    /// The grid of a [`SearchAxis::Map`]; nothing along another axis.
    #[serde(default)]
    pub grid: Vec<Cell>,
}

/// One place of a grid of two rates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Both rates, as the suite has them.
    pub sweep: Vec<Setting>,
    /// The pace of each workload there, in the order of the point's workloads.
    pub paces: Vec<Pace>,
}

/// Points at shares of a rate that is measured first: they follow those that were planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateShares {
    /// How many points are there before them.
    pub planned: u32,
    /// They, in their order.
    pub shares: Vec<RateShare>,
}

/// A point at a share of the rate that another one carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateShare {
    /// The number of the point that goes as fast as the target.
    pub of: u32,
    /// Its share of that one's rate, above 0.
    pub share: Percent,
    /// Whether requests arrive like strangers; otherwise at equal distances.
    pub poisson: bool,
    /// What it is called.
    pub point: Point,
}

/// Rounds of all points of a sweep, which go on until what is tracked is steady.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// How many there are at most; 0 where the sweep's repetitions are all there is.
    pub most: u32,
    /// Points of one round.
    pub points: u32,
    /// The numbers, within a round, of the points that have to be steady; all where none is named.
    pub tracked: Vec<u32>,
}

impl Rounds {
    /// Whether a point has to be steady, of any round.
    pub fn tracks(&self, point: u32) -> bool {
        let place = point.checked_rem(self.points);
        place.is_some_and(|place| self.tracked.is_empty() || self.tracked.contains(&place))
    }

    /// Whole rounds among so many points.
    pub fn whole(&self, points: usize) -> u32 {
        (points as u64).checked_div(u64::from(self.points)).unwrap_or(0) as u32
    }
}

/// A value as points and reports show it.
pub fn axis_value(along: SearchAxis, value: u64) -> String {
    if along == SearchAxis::Size { exact(value) } else { value.to_string() }
}

/// So many bytes in the largest unit that has them whole: rounded, two points would have one name.
fn exact(bytes: u64) -> String {
    let units = ["TiB", "GiB", "MiB", "KiB"].into_iter().zip([40, 30, 20, 10]);
    let whole = |(_, power): &(&str, u32)| bytes > 0 && bytes.is_multiple_of(1 << power);
    units
        .into_iter()
        .find(whole)
        .map_or(format!("{bytes} B"), |(unit, power)| format!("{} {unit}", bytes >> power))
}
