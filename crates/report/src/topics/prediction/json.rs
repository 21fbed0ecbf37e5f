//! Calibrations and predictions for machines. The fields stand in `docs/reference/json.md`.

use super::{Calibrated, Forecasts, left_out_code, owner_code};
use crate::topics::simulated_layers::layer_objects;
use analysis::prediction::calibration::{Calibration, Found, Judged};
use analysis::prediction::fit::Range;
use analysis::prediction::follow::Followed;
use analysis::prediction::forecast::{Forecast, Otherwise};
use analysis::prediction::given_rate::AtRate;
use analysis::prediction::load::{LeftOut, Load};
use analysis::prediction::load_line::LoadLine;
use analysis::prediction::network::Owner;
use serde_json::{Value, json};

/// A calibration as one object.
pub fn calibration(calibrated: &Calibrated<'_>) -> Value {
    let calibration = calibrated.calibration;
    let list = |all: &[Judged]| all.iter().map(judged).collect::<Vec<_>>();
    json!({
        "format": crate::pens::json::FORMAT,
        "testbed": calibrated.testbed,
        "source": calibrated.source,
        "fitted": list(&calibration.fitted),
        "held_out": list(&calibration.held_out),
        "figures": calibrated.followed.iter().map(followed).collect::<Vec<_>>(),
        "parameters": calibration.parameters.iter()
            .map(|found| parameter(calibration, found)).collect::<Vec<_>>(),
        "proposed": calibration.proposed.iter().map(proposed).collect::<Vec<_>>(),
        "spread": calibration.fit.spread,
        "repetitions_in_common": calibration.fit.alike,
        "degrees_of_freedom": calibration.fit.freedom,
        "left_out": left_out(calibrated.left_out),
    })
}

/// Predictions as one object.
pub fn forecasts(forecasts: &Forecasts<'_>) -> Value {
    json!({
        "format": crate::pens::json::FORMAT,
        "testbed": forecasts.testbed,
        "suite": forecasts.suite,
        "fitted_rows": forecasts.fitted_rows,
        "objective": forecasts.objective,
        "results": (0..).zip(forecasts.forecasts)
            .map(|(index, one)| forecast(forecasts, index, one)).collect::<Vec<_>>(),
        "at_given_rates": forecasts.at_rates.iter().map(at_rate).collect::<Vec<_>>(),
        "left_out": left_out(forecasts.left_out),
    })
}

fn at_rate(one: &AtRate) -> Value {
    let (wait, most) = (one.latency_s, &one.most);
    json!({
        "workload": one.paced.name,
        "asked_iops": one.paced.rate,
        "most_iops": { "value": most.rate.value, "low": most.rate.low, "high": most.rate.high },
        "carried_with": one.carried,
        "mean_latency_s": { "value": wait.value, "low": wait.low, "high": wait.high },
        "extrapolated": most.is_extrapolated(),
        "wide": most.is_wide(),
        "far_off": most.far_off,
        "binding": owners(&most.binding),
        "unseen": owners(&most.unseen),
        "load": load(&one.paced.load),
    })
}

fn judged(one: &Judged) -> Value {
    json!({
        "number": one.row.number,
        "row": one.row.name,
        "published": one.row.rate,
        "predicted": one.predicted.value,
        "low": one.predicted.low,
        "high": one.predicted.high,
        "error": one.error(),
        "extrapolated": one.is_extrapolated(),
        "wide": one.is_wide(),
        "far_off": one.far_off,
        "left_open": one.left_open,
        "outlies": one.outlies,
        "binding": owners(&one.binding),
        "unseen": owners(&one.unseen),
        "load": load(&one.row.load),
    })
}

fn followed(one: &Followed) -> Value {
    json!({
        "figure": one.figure.name,
        "quantity": one.figure.quantity.word(),
        "published": one.figure.published,
        "up_to": one.figure.up_to,
        "predicted": one.predicted.value,
        "low": one.predicted.low,
        "high": one.predicted.high,
        "error": one.error(),
        "fitted": one.is_fitted,
        "extrapolated": one.is_extrapolated,
        "wide": one.is_wide,
    })
}

fn parameter(calibration: &Calibration, found: &Found) -> Value {
    let number = |index: &usize| calibration.fitted.get(*index).map(|one| one.row.name.as_str());
    json!({
        "name": found.parameter.key(),
        "unit": if found.parameter.is_share() { "share" } else { "s" },
        "value": found.range.value,
        "low": found.range.low,
        "high": found.range.high,
        "class_estimate": (!found.is_known).then_some(found.before),
        "known": found.is_known,
        "identified_by": found.identified_by.iter().filter_map(number).collect::<Vec<_>>(),
    })
}

fn forecast(all: &Forecasts<'_>, index: usize, one: &Forecast) -> Value {
    let bytes = one.load.bytes();
    let range = |range: Range, factor: f64| {
        json!({
            "value": range.value * factor,
            "low": range.low * factor,
            "high": range.high * factor,
        })
    };
    let what_if = |other: &Otherwise, name: &str| {
        json!({
            "what_if": name,
            "iops": range(other.rate, 1.0),
            "extrapolated": other.is_extrapolated(),
            "wide": other.is_wide(),
            "far_off": other.far_off,
            "binding": owners(&other.binding),
            "unseen": owners(&other.unseen),
        })
    };
    let simulation = all.simulated.and_then(|simulated| simulated.get(index)?.as_ref().ok());
    json!({
        "workload": one.name,
        "iops": range(one.rate, 1.0),
        "bytes_per_s": range(one.rate, bytes),
        "mean_latency_s": range(one.latency_s(), 1.0),
        "extrapolated": one.is_extrapolated(),
        "wide": one.is_wide(),
        "far_off": one.far_off,
        "binding": owners(&one.binding),
        "unseen": owners(&one.unseen),
        "what_ifs": one.what_ifs.iter().zip(&all.what_ifs)
            .map(|(other, name)| what_if(other, name)).collect::<Vec<_>>(),
        "load_line": all.lines.and_then(|lines| lines.get(index)).map(|line| match line {
            LoadLine::At { rate, outstanding } => json!({
                "iops": range(*rate, 1.0),
                "outstanding": outstanding,
            }),
            LoadLine::Nowhere { alone_s } => json!({ "iops": null, "one_request_s": alone_s }),
        }),
        "simulated_iops": simulation.map(|found| found.rate),
        "simulated_layers": simulation.map(|found| layer_objects(&found.busy)),
        "load": load(&one.load),
    })
}

fn proposed(one: &Load) -> Value {
    let mut value = load(one);
    value["command"] = json!(super::table::command(one));
    value
}

fn load(load: &Load) -> Value {
    json!({
        "workload": load.workload.name,
        "read_share": load.workload.read_share(),
        "random_share": load.workload.random,
        "mean_bytes": load.bytes(),
        "footprint_bytes": load.workload.footprint.map(|bytes| bytes.0),
        "hosts": load.hosts,
        "outstanding": load.outstanding,
        "depth": load.depth,
        "remote_share": f64::from(load.remote.ppm) / 1e6,
        "object": load.object.to_string(),
        "route": load.route.word(),
    })
}

fn owners(all: &[Owner]) -> Vec<&'static str> {
    all.iter().map(|owner| owner_code(*owner)).collect()
}

fn left_out(all: &[(String, LeftOut)]) -> Vec<Value> {
    all.iter().map(|(name, why)| json!({"row": name, "reason": left_out_code(*why)})).collect()
}
