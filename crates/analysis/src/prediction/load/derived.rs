//! Published figures that are no rates, and follow from rates.

use super::Load;
use super::counterpart::of_counterpart;
use crate::published::{Part, Quantity, meaning};
use catalogue::Auto;
use catalogue::cluster::fixed;
use catalogue::published::{CounterpartSpec, FigureSpec};
use model::Op;

/// More threads than a report has.
const MOST_THREADS: u64 = 1 << 20;

/// A published figure that a load's rate decides, or its rates along the number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// What it is called.
    pub name: String,
    /// What it is a figure of.
    pub quantity: Quantity,
    /// As published, in the quantity's unit; of a range its lower end.
    pub published: f64,
    /// The upper end of a range.
    pub up_to: Option<f64>,
    /// The load; along threads, that of the most of them.
    pub load: Load,
    /// Threads of that load, where it is one along threads; else 1.
    pub threads: u64,
    /// How it follows.
    pub of: Of,
}

/// How a figure follows from rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Of {
    /// The rate × this.
    Rate(f64),
    /// What is outstanding ÷ the rate, in ns.
    Latency,
    /// The first number of threads on the plateau of the rates at powers of two.
    Knee,
    /// The number of threads with the highest of them.
    Peak,
    /// The rate at so many threads ÷ the highest of them, less 1.
    FromPeak {
        /// Threads.
        at: u64,
    },
}

/// What follows from rates; `None` of what does not.
pub(super) fn of(
    counterpart: &CounterpartSpec,
    figure: &FigureSpec,
    name: &str,
) -> Option<Derived> {
    let meaning = meaning(figure)?;
    let threads = fixed(counterpart.threads.value).map(|threads| u64::from(threads.0));
    let along = !counterpart.run_axis.value.is_empty();
    let of = match (meaning.quantity, figure.scenario.value.as_str()) {
        (Quantity::Threads, "knee") if along => Of::Knee,
        (Quantity::Threads, "peak") if along => Of::Peak,
        (Quantity::FromPeak, _) if along => match figure.at.value {
            Auto::Fixed(at) => Of::FromPeak { at: u64::from(at.0) },
            Auto::Auto => return None,
        },
        (Quantity::MeanLatency, _) if !along && meaning.op.is_none() => Of::Latency,
        (Quantity::Iops | Quantity::IopsPerTerabyte | Quantity::BytesPerSecond, _) if !along => {
            Of::Rate(1.0)
        }
        _ => return None,
    };
    let mut figure = figure.clone();
    let threads = if matches!(of, Of::Rate(_) | Of::Latency) {
        1
    } else {
        let most = threads.filter(|threads| (1..=MOST_THREADS).contains(threads))?;
        figure.threads.value = Auto::Fixed(catalogue::Count(u32::try_from(most).ok()?));
        most
    };
    let load = of_counterpart(counterpart, &figure, name).ok()?;
    let of = match of {
        Of::Rate(_) => Of::Rate(factor(&load, meaning.op, meaning.quantity, meaning.part)?),
        other => other,
    };
    let (quantity, published, up_to) = (meaning.quantity, meaning.value, meaning.up_to);
    Some(Derived { name: name.to_owned(), quantity, published, up_to, load, threads, of })
}

/// What a figure is of each request of a load.
fn factor(load: &Load, op: Option<Op>, quantity: Quantity, part: Part) -> Option<f64> {
    let workload = &load.workload;
    let (of_op, bytes) = match op {
        None => (1.0, load.bytes()),
        Some(Op::Read) => (workload.read_share(), workload.read_bytes),
        Some(Op::Write) => (workload.write_share(), workload.write_bytes),
        Some(_) => return None,
    };
    let of_part = match part {
        Part::Whole => 1.0,
        // Machines that are alike carry as much each.
        Part::Machine => 1.0 / f64::from(load.hosts.max(1)),
        Part::Terabyte => 1e12 / workload.footprint.filter(|bytes| bytes.0 > 0)?.0 as f64,
        Part::TwoSlowest => return None,
    };
    let each = if quantity == Quantity::BytesPerSecond { bytes } else { 1.0 };
    Some(of_op * of_part * each)
}
