//! A run beside the figures that others published: as measured, per node, per drive, and as a share of each one's own ceiling, because the
//! hardware differs. Every figure of the reference stands there; one that the run has nothing for stands with the reason.

mod counted;
mod place;

use crate::row::ResultRow;
use crate::{attribution, findings};
use model::published::{FigureSpec, Published};
use model::{Cluster, Record};
use place::Place;

/// What a figure counts, in the unit that it is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Requests or operations per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// The mean latency in ns.
    MeanLatency,
    /// Traffic of network ports in bits per second, of each port the busier direction.
    PortBits,
    /// The share of all CPUs of a host that was busy, 0 to 1.
    CpuShare,
    /// A rate ÷ that of the base, less 1: -1 and up.
    IopsDifference,
    /// A mean latency ÷ that of the base, less 1: -1 and up.
    LatencyDifference,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// The figure, in the quantity's unit; 0 and up, but for differences.
    pub value: f64,
    /// How many nodes carried it; `None` where nobody says, and for what does not add up over nodes.
    pub nodes: Option<u64>,
    /// How many drives carried it, cache drives included; `None` as above, and for what drives do not carry.
    pub drives: Option<u64>,
    /// Its share of the testbed's ceiling, for traffic that of all ports' speed, 0 and up; `None` as above.
    pub share: Option<f64>,
}

/// Why a run has nothing in a figure's place.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// No run has a counterpart, for the reason that the reference gives; empty where it gives none.
    NotOfARun(String),
    /// The run has completed no point of the workload and values that the figure is of.
    NotMeasured,
    /// A plateau cannot be told from so few points.
    FewPoints,
    /// No kernel saw the load of a simulation.
    Simulated,
    /// The kernels' counters do not have it for the points of the figure.
    NotCounted,
}

/// A published figure and what the run has in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The figures' workload.
    pub workload: String,
    /// The figures' scenario.
    pub scenario: String,
    /// The figures' name for what was counted.
    pub name: String,
    /// What was counted; `None` of what no run counts.
    pub quantity: Option<Quantity>,
    /// The figure and its unit, as printed.
    pub printed: String,
    /// The published side; without a quantity, its value is in the printed unit.
    pub published: Side,
    /// The run's side, or why there is none.
    pub run: Result<Side, Missing>,
    /// What the reference says of its own figure.
    pub caveat: String,
}

/// What came of holding a run against published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Every figure of the reference, in its order.
    pub figures: Vec<Beside>,
}

/// The run is of another suite than the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherSuite;

/// Holds `rows`, which are those of `record`, against `published`, whose own testbed is `theirs`; `ours` is that of the run.
///
/// # Errors
/// The run is of another suite.
pub fn against(
    published: &Published,
    theirs: Option<&Cluster>,
    record: &Record,
    rows: &[ResultRow],
    ours: Option<&Cluster>,
) -> Result<Comparison, OtherSuite> {
    let name = published.report.name.value.as_str();
    // A suite that somebody made from that of the report fits, too: `pixstor-nvme-small`.
    let is_part = record.plan.suite.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    if !is_part {
        return Err(OtherSuite);
    }
    let (curves, counters) = (findings(rows), attribution::attribution(record, rows));
    let beside = |figure| {
        let Some((counterpart, (quantity, value))) = published.counterpart(figure).zip(in_units(figure)) else {
            return printed_alone(figure);
        };
        let place = Place { figure, counterpart, quantity, record, rows, curves: &curves, counters: &counters };
        place.beside(value, theirs, ours)
    };
    Ok(Comparison { figures: published.figures.iter().map(beside).collect() })
}

/// A figure that no run is held against.
fn printed_alone(figure: &FigureSpec) -> Beside {
    Beside {
        workload: figure.workload.value.clone(),
        scenario: figure.scenario.value.clone(),
        name: figure.quantity.value.clone(),
        quantity: None,
        printed: printed(figure),
        published: Side { value: figure.value.value.0, ..Side::default() },
        run: Err(Missing::NotOfARun(figure.not_of_a_run.value.clone())),
        caveat: figure.caveat.value.clone(),
    }
}

fn printed(figure: &FigureSpec) -> String {
    format!("{} {}", figure.value.value.0, figure.unit.value)
}

/// The figure's quantity and its value in that quantity's unit; `None` of a figure that a run has none of.
fn in_units(figure: &FigureSpec) -> Option<(Quantity, f64)> {
    let value = figure.value.value.0;
    let (quantity, factor) = match (figure.quantity.value.as_str(), figure.unit.value.as_str()) {
        ("rate" | "read rate" | "write rate" | "rate of one virtual machine", unit) => {
            let factor = match unit {
                "IOPS" => 1.0,
                "K ops/s" => 1e3,
                "M IOPS" => 1e6,
                _ => return None,
            };
            (Quantity::Iops, factor)
        }
        ("throughput", "MiB/s") => (Quantity::BytesPerSecond, 1_048_576.0),
        ("throughput", "GB/s") => (Quantity::BytesPerSecond, 1e9),
        ("mean latency", "ms") => (Quantity::MeanLatency, 1e6),
        ("port traffic", "Gbit/s") => (Quantity::PortBits, 1e9),
        ("CPU", "%") => (Quantity::CpuShare, 0.01),
        ("IOPS difference", "%") => (Quantity::IopsDifference, 0.01),
        ("mean latency difference", "%") => (Quantity::LatencyDifference, 0.01),
        _ => return None,
    };
    figure.not_of_a_run.value.is_empty().then_some((quantity, value * factor))
}

#[cfg(test)]
mod tests;
