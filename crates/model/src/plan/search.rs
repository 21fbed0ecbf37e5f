//! What a run searches for: how much of what, by which objective.

use crate::objective::Objective;
use crate::units::Nanos;
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
