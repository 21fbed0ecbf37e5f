//! A run beside the figures that others published: as measured, per node, per drive, and as a share
//! of each one's own ceiling, because the hardware differs. Every figure of the reference stands
//! there; one that the run has nothing for stands with the reason.

mod counted;
mod load;
mod place;

pub use load::{Counted, LoadDifference};

use crate::rows::row::ResultRow;
use crate::{attribution, effects, findings};
use catalogue::published::{FigureSpec, Published};
use catalogue::{Auto, Cluster};
use model::{Bytes, Op, Record};
use place::Place;

model::plain_words! {
    /// What a figure counts, in the unit that it is computed in.
    pub enum Quantity {
        /// Requests or operations per second.
        Iops = "iops",
        /// The same for each 10^12 bytes that are loaded.
        IopsPerTerabyte = "iops_per_tb",
        /// Bytes per second.
        BytesPerSecond = "bytes_per_s",
        /// The mean latency in ns.
        MeanLatency = "mean_latency_ns",
        /// Traffic of network ports in bits per second, of each port the busier direction.
        PortBits = "port_bits_per_s",
        /// The share of all CPUs of a host that was busy, 0 to 1.
        CpuShare = "cpu_share",
        /// A rate ÷ that of the base, less 1: -1 and up.
        IopsDifference = "iops_difference",
        /// A mean latency ÷ that of the base, less 1: -1 and up.
        LatencyDifference = "mean_latency_difference",
        /// A value of a curve ÷ its peak, less 1: -1 to 0.
        FromPeak = "difference_to_the_peak",
        /// A value of the axis along which a curve runs: threads.
        Threads = "threads",
    }
}

impl Quantity {
    /// Whether it is a share of something, so that a further ratio would say little.
    pub fn is_share(self) -> bool {
        match self {
            Quantity::CpuShare
            | Quantity::IopsDifference
            | Quantity::LatencyDifference
            | Quantity::FromPeak => true,
            Quantity::Iops
            | Quantity::IopsPerTerabyte
            | Quantity::BytesPerSecond
            | Quantity::MeanLatency
            | Quantity::PortBits
            | Quantity::Threads => false,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// The figure, in the quantity's unit; 0 and up, but for differences.
    pub value: f64,
    /// How many nodes carried it; `None` where nobody says, and for what does not add up over
    /// nodes.
    pub nodes: Option<u64>,
    /// How many drives carried it, cache drives included; `None` as above, and for what drives do
    /// not carry.
    pub drives: Option<u64>,
    /// Its share of the testbed's ceiling, for traffic that of all ports' speed, 0 and up; `None`
    /// as above.
    pub share: Option<f64>,
}

/// Why a run has nothing in a figure's place.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// No run has a counterpart, for the reason that the reference gives; empty where it gives
    /// none.
    NotOfARun(String),
    /// The run has completed no point of the workload and values that the figure is of.
    NotMeasured,
    /// A plateau cannot be told from so few points.
    FewPoints,
    /// The last value of the curve is its peak: there is no plateau.
    StillRising,
    /// The run loaded such points, at these footprints alone.
    OtherFootprint {
        /// The run's, in rising order.
        run: Vec<Bytes>,
    },
    /// No event of the run left a dip in such a point.
    NoDip,
    /// No kernel saw the load of a simulation, and its testbed does not say what a request demands.
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
    /// The upper end of a published range, in the quantity's unit.
    pub up_to: Option<f64>,
    /// The run's side, or why there is none.
    pub run: Result<Side, Missing>,
    /// Whether the run's figure was computed from its rate by the utilisation law and the testbed:
    /// no kernel saw the load of a simulation.
    pub is_computed: bool,
    /// In what the run's load is not that of the figure.
    pub apart: Vec<LoadDifference>,
    /// What the reference says of its own figure.
    pub caveat: String,
    /// What a simulated figure proves; `None` of what was measured, and where nobody knows the
    /// testbed that was simulated.
    pub mark: Option<Mark>,
}

/// What a simulated figure beside a published one proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The testbed was fitted to a row of this load: its error proves nothing.
    Fitted,
    /// Fitted rows speak for it, and it is none of them.
    HeldOut,
    /// No fitted row speaks for it.
    Extrapolated,
}

impl Mark {
    /// A stable word for machines.
    pub fn word(self) -> &'static str {
        match self {
            Mark::Fitted => "fitted",
            Mark::HeldOut => "held-out",
            Mark::Extrapolated => "extrapolated",
        }
    }
}

/// How far the run's figure is from the published one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Error {
    /// The published figure is a range, and the run's lies within it.
    WithinRange,
    /// The run's ÷ the nearest published value, less 1: -1 and up.
    Share(f64),
    /// The run's less the nearest published value, of what is a share itself: -2 and up.
    Points(f64),
}

impl Beside {
    /// The run's figure ÷ the published one, 0 and up. `None` without either, of what is a
    /// difference itself, and where the published figure is 0.
    pub fn ratio(&self) -> Option<f64> {
        let run = self.run.as_ref().ok()?.value;
        let is_amount = !self.quantity?.is_share();
        (is_amount && self.published.value > 0.0).then(|| run / self.published.value)
    }

    /// How far apart the two are; of a published range, from its nearer end. `None` where the run
    /// has nothing.
    pub fn error(&self) -> Option<Error> {
        let run = self.run.as_ref().ok()?.value;
        let (low, high) = (self.published.value, self.up_to.unwrap_or(self.published.value));
        if self.up_to.is_some() && (low..=high).contains(&run) {
            return Some(Error::WithinRange);
        }
        let nearest = if run > high { high } else { low };
        match self.quantity? {
            quantity if quantity.is_share() => Some(Error::Points(run - nearest)),
            _ => (nearest > 0.0).then(|| Error::Share(run / nearest - 1.0)),
        }
    }
}

/// What came of holding a run against published figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Every figure of the reference, in its order.
    pub figures: Vec<Beside>,
    /// The testbed that the run simulated, where it is known and nothing was fitted to it.
    pub unfitted: Option<String>,
}

/// The run is of another suite than the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherSuite;

/// Holds `rows`, which are those of `record`, against `published`, whose own testbed is `theirs`;
/// `ours` is that of the run.
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
    let is_part = record
        .plan
        .suite
        .strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    if !is_part {
        return Err(OtherSuite);
    }
    let (curves, counters) = (findings(rows), attribution::attribution(record, rows));
    let effects = effects::effects(record);
    let beside = |figure| {
        let Some((counterpart, meaning)) = published.counterpart(figure).zip(meaning(figure))
        else {
            return printed_alone(figure);
        };
        let (curves, counters, effects) = (&curves, &counters, &effects);
        let place = Place {
            published,
            figure,
            counterpart,
            meaning,
            record,
            rows,
            curves,
            counters,
            effects,
        };
        place.beside(theirs, ours)
    };
    Ok(Comparison { figures: published.figures.iter().map(beside).collect(), unfitted: None })
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
        up_to: None,
        run: Err(Missing::NotOfARun(figure.not_of_a_run.value.clone())),
        is_computed: false,
        apart: Vec::new(),
        caveat: figure.caveat.value.clone(),
        mark: None,
    }
}

fn printed(figure: &FigureSpec) -> String {
    let to = match figure.up_to.value {
        Auto::Fixed(to) => format!(" to {}", to.0),
        Auto::Auto => String::new(),
    };
    format!("{}{to} {}", figure.value.value.0, figure.unit.value)
}

/// What a figure is, in the unit of its quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meaning {
    pub(crate) quantity: Quantity,
    /// Of which operation; `None`: of all that its counterpart has.
    pub(crate) op: Option<Op>,
    pub(crate) part: Part,
    pub(crate) value: f64,
    pub(crate) up_to: Option<f64>,
}

/// Of what a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Of all.
    Whole,
    /// Of one machine.
    Machine,
    /// Of each of the two machines that were slowest.
    TwoSlowest,
    /// Of each 10^12 bytes.
    Terabyte,
}

/// What a figure means; `None` of one that a run has none of.
pub(crate) fn meaning(figure: &FigureSpec) -> Option<Meaning> {
    let (name, unit) = (figure.quantity.value.as_str(), figure.unit.value.as_str());
    let rate = |unit: &str| match unit {
        "IOPS" | "ops/s" => Some(1.0),
        "K IOPS" | "K ops/s" => Some(1e3),
        "M IOPS" | "M ops/s" => Some(1e6),
        _ => None,
    };
    let (quantity, factor, op, part) = match (name, unit) {
        ("rate", unit) => (Quantity::Iops, rate(unit)?, None, Part::Whole),
        ("read rate", unit) => (Quantity::Iops, rate(unit)?, Some(Op::Read), Part::Whole),
        ("write rate", unit) => (Quantity::Iops, rate(unit)?, Some(Op::Write), Part::Whole),
        ("rate of one virtual machine", unit) => (Quantity::Iops, rate(unit)?, None, Part::Machine),
        ("read rate of one virtual machine", unit) => {
            (Quantity::Iops, rate(unit)?, Some(Op::Read), Part::Machine)
        }
        ("write rate of one virtual machine", unit) => {
            (Quantity::Iops, rate(unit)?, Some(Op::Write), Part::Machine)
        }
        ("rate of the two slowest virtual machines", unit) => {
            (Quantity::Iops, rate(unit)?, None, Part::TwoSlowest)
        }
        ("rate per TB", "IOPS/TB") => (Quantity::IopsPerTerabyte, 1.0, None, Part::Terabyte),
        ("throughput", "MiB/s") => (Quantity::BytesPerSecond, 1_048_576.0, None, Part::Whole),
        ("throughput", "GB/s") => (Quantity::BytesPerSecond, 1e9, None, Part::Whole),
        ("mean latency", "ms") => (Quantity::MeanLatency, 1e6, None, Part::Whole),
        ("port traffic", "Gbit/s") => (Quantity::PortBits, 1e9, None, Part::Whole),
        ("CPU", "%") => (Quantity::CpuShare, 0.01, None, Part::Whole),
        ("IOPS difference", "%") => (Quantity::IopsDifference, 0.01, None, Part::Whole),
        ("mean latency difference", "%") => (Quantity::LatencyDifference, 0.01, None, Part::Whole),
        ("difference to the peak", "%") => (Quantity::FromPeak, 0.01, None, Part::Whole),
        ("threads", "threads") => (Quantity::Threads, 1.0, None, Part::Whole),
        _ => return None,
    };
    let up_to = match figure.up_to.value {
        Auto::Fixed(to) => Some(to.0 * factor),
        Auto::Auto => None,
    };
    let value = figure.value.value.0 * factor;
    figure.not_of_a_run.value.is_empty().then_some(Meaning { quantity, op, part, value, up_to })
}

#[cfg(test)]
mod tests;
