//! The rates of a published report, with the loads that they are of.

use super::counterpart::of_counterpart;
use super::derived::{self, Derived};
use super::{LeftOut, Measured, Rows};
use catalogue::cluster::fixed;
use catalogue::published::{CounterpartSpec, FigureSpec, Published};

/// What a report's figures come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// Rates, and those that neither they nor anything that follows from them, each with the
    /// reason.
    pub rates: Rows<Choosable>,
    /// Figures that follow from the rate of a load, or from those along its threads.
    pub derived: Vec<Derived>,
}

/// The row of each rate of a report, and whether its author meant it for calibration; and what
/// follows from rates.
pub fn published(published: &Published) -> Reported {
    let (mut found, mut derived) = (Rows::default(), Vec::new());
    for figure in &published.figures {
        let name = format!("{}, {}", figure.workload.value, figure.scenario.value);
        let of_event =
            figure.with_event.value || figure.during.value == catalogue::published::During::Event;
        let counterpart = published.counterpart(figure);
        let rate = of_rate(figure).or_else(|| of_throughput(published, figure, counterpart?));
        let outcome = match (rate, counterpart) {
            _ if of_event => Err(LeftOut::OfAnEvent),
            (None, _) => Err(LeftOut::NoRate),
            (Some(_), None) => Err(LeftOut::LoadUntold),
            (Some(rate), Some(counterpart)) => {
                of_counterpart(counterpart, figure, &name).map(|load| Choosable {
                    row: Measured { number: found.rows.len() + 1, name: name.clone(), load, rate },
                    calibrates: counterpart.calibrates.value || figure.calibrates.value,
                })
            }
        };
        match outcome {
            Ok(row) => found.rows.push(row),
            Err(why) => {
                let name = format!("{name}: {}", figure.quantity.value);
                let follows = counterpart.filter(|_| why == LeftOut::NoRate);
                match follows.and_then(|counterpart| derived::of(counterpart, figure, &name)) {
                    Some(one) => derived.push(one),
                    None => found.left_out.push((name, why)),
                }
            }
        }
    }
    Reported { rates: found, derived }
}

/// A published row.
#[derive(Clone, Debug, PartialEq)]
pub struct Choosable {
    /// The row.
    pub row: Measured,
    /// Whether a calibration takes it unless somebody chooses others.
    pub calibrates: bool,
}

/// Requests per second, if that is what a figure is.
fn of_rate(figure: &FigureSpec) -> Option<f64> {
    let factor = match figure.unit.value.as_str() {
        "IOPS" => 1.0,
        "K IOPS" => 1e3,
        "M IOPS" => 1e6,
        "ops/s" => 1.0,
        "K ops/s" => 1e3,
        "M ops/s" => 1e6,
        _ => return None,
    };
    let value = figure.value.value.0 * factor;
    (figure.quantity.value == "rate" && value > 0.0).then_some(value)
}

/// The rate of requests that a figure in GB/s stands for, where no figure beside it says the rate.
fn of_throughput(
    published: &Published,
    figure: &FigureSpec,
    counterpart: &CounterpartSpec,
) -> Option<f64> {
    let is_of_bytes = figure.quantity.value == "throughput" && figure.unit.value == "GB/s";
    let (workload, scenario) = (&figure.workload.value, &figure.scenario.value);
    if !is_of_bytes || published.value(workload, scenario, "rate").is_some() {
        return None;
    }
    let block = fixed(counterpart.block_size.value).filter(|block| block.0 > 0)?;
    let value = figure.value.value.0;
    (value > 0.0).then(|| value * 1e9 / block.0 as f64)
}
