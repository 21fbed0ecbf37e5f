//! Calibrations and predictions for machines. The fields stand in `docs/reference/json.md`.

use super::table::{followed, load, parameters, rows};
use super::{Calibrated, Forecasts, left_out_code, owner_code};
use crate::pens::json::{Value, each, object};
use crate::topics::simulated_layers::layer_objects;
use analysis::prediction::fit::Range;
use analysis::prediction::forecast::{Forecast, Otherwise};
use analysis::prediction::given_rate::AtRate;
use analysis::prediction::load::{LeftOut, Load};
use analysis::prediction::load_line::LoadLine;
use analysis::prediction::network::Owner;

/// A calibration as one object.
pub fn calibration(calibrated: &Calibrated<'_>) -> Value {
    let calibration = calibrated.calibration;
    object! {
        format: crate::pens::json::FORMAT, fitted: rows(&calibration.fitted).json(),
        held_out: rows(&calibration.held_out).json(), figures: followed(calibrated.followed).json(),
        parameters: parameters(calibration).json(),
        proposed: each(&calibration.proposed, proposed), spread: calibration.fit.spread,
        repetitions_in_common: calibration.fit.alike, degrees_of_freedom: calibration.fit.freedom,
        left_out: left_out(calibrated.left_out), ..calibrated { testbed, source },
    }
}

/// Predictions as one object.
pub fn forecasts(forecasts: &Forecasts<'_>) -> Value {
    object! {
        format: crate::pens::json::FORMAT,
        results: each((0..).zip(forecasts.forecasts), |(at, one)| forecast(forecasts, at, one)),
        at_given_rates: each(forecasts.at_rates, at_rate), left_out: left_out(forecasts.left_out),
        ..forecasts { testbed, suite, fitted_rows, objective },
    }
}

fn at_rate(one: &AtRate) -> Value {
    let (wait, most) = (one.latency_s, &one.most);
    object! {
        workload: one.paced.name, asked_iops: one.paced.rate,
        most_iops: object! { value: most.rate.value, low: most.rate.low, high: most.rate.high },
        carried_with: one.carried, mean_latency_s: object! { ..wait { value, low, high } },
        extrapolated: most.is_extrapolated(), wide: most.is_wide(), far_off: most.far_off,
        binding: owners(&most.binding), unseen: owners(&most.unseen), load: load(&one.paced.load),
    }
}

fn forecast(all: &Forecasts<'_>, index: usize, one: &Forecast) -> Value {
    let bytes = one.load.bytes();
    let range = |range: Range, factor: f64| {
        object! {
            value: range.value * factor, low: range.low * factor, high: range.high * factor,
        }
    };
    let what_if = |other: &Otherwise, name: &str| {
        object! {
            what_if: name, iops: range(other.rate, 1.0), extrapolated: other.is_extrapolated(),
            wide: other.is_wide(), far_off: other.far_off, binding: owners(&other.binding),
            unseen: owners(&other.unseen),
        }
    };
    let simulation = all.simulated.and_then(|simulated| simulated.get(index)?.as_ref().ok());
    object! {
        workload: one.name, iops: range(one.rate, 1.0), bytes_per_s: range(one.rate, bytes),
        mean_latency_s: range(one.latency_s(), 1.0), extrapolated: one.is_extrapolated(),
        wide: one.is_wide(), far_off: one.far_off, binding: owners(&one.binding),
        unseen: owners(&one.unseen),
        what_ifs: each(one.what_ifs.iter().zip(&all.what_ifs), |(one, name)| what_if(one, name)),
        load_line: all.lines.and_then(|lines| lines.get(index)).map(|line| match line {
            LoadLine::At { rate, outstanding } => object! { iops: range(*rate, 1.0), outstanding },
            LoadLine::Nowhere { alone_s } => object! { iops: (), one_request_s: alone_s },
        }),
        simulated_iops: simulation.map(|found| found.rate),
        simulated_layers: simulation.map(|found| layer_objects(&found.busy)), load: load(&one.load),
    }
}

fn proposed(one: &Load) -> Value {
    let mut value = load(one);
    value["command"] = super::table::command(one).into();
    value
}

fn owners(all: &[Owner]) -> Vec<&'static str> {
    all.iter().map(|owner| owner_code(*owner)).collect()
}

fn left_out(all: &[(String, LeftOut)]) -> Vec<Value> {
    all.iter().map(|(name, why)| object! { row: name, reason: left_out_code(*why) }).collect()
}
