//! What a search along another axis than the rate found: in words, on a page, and as an object.

use crate::ground::markup::{Markup, classed, element, plain, with_code};
use crate::ground::words;
use analysis::loadline::axis::{AlongLine, AlongPoint};
use model::objective::Condition;
use model::search::{SearchAxis, axis_value};
use serde_json::{Value, json};

/// The finding in sentences.
pub fn sentences(line: &AlongLine) -> Vec<String> {
    let value = |value: u64| named(line.along, value);
    let why = |at: u64| {
        let point = line.points.iter().find(|point| point.value == at && point.excess > 1.0);
        point.map_or(String::new(), |point| format!(" ({})", verdict(point)))
    };
    let fails = line
        .answer
        .fails_at
        .map_or(String::new(), |at| format!(" At {} it did not{}.", value(at), why(at)));
    let mut told = vec![match line.answer.value {
        None => format!("Along {}: `{}` held at no value.{fails}", line.along, line.objective),
        Some(found) => {
            let sure = if line.answer.confirmed {
                "measured more than once"
            } else {
                "measured once only: not confirmed"
            };
            let bound = if line.answer.fails_at.is_none() {
                ", which is all that there was to try"
            } else {
                ""
            };
            let what = format!(
                "{}, the largest at which `{}` held, {sure}{bound}",
                value(found),
                line.objective
            );
            format!("Along {}: {what}.{fails}", line.along)
        }
    }];
    if !line.finished {
        told.push("The search was cut short: the answer may lie higher.".to_owned());
    }
    told
}

/// `depth 32`, `64 MiB`, or `8 workers`.
fn named(along: SearchAxis, value: u64) -> String {
    let shown = axis_value(along, value);
    match along {
        SearchAxis::Size => shown,
        SearchAxis::Workers => format!("{shown} workers"),
        _ => format!("{along} {shown}"),
    }
}

fn verdict(point: &AlongPoint) -> String {
    let figure = point.worst.as_ref().map_or_else(|| "the objective".to_owned(), Condition::figure);
    match (&point.worst, point.excess) {
        (_, excess) if !excess.is_finite() => format!("{figure} broke its limit"),
        (Some(worst), excess) => format!("{figure} {}", words::of_limit(worst.limit, excess)),
        (None, excess) => format!("{figure} {}", words::of_most(excess)),
    }
}

/// The section of a run that searched: the sentences and each point, in the order of the axis.
pub fn section(line: &AlongLine) -> Markup {
    let mut content = plain("h2", format!("Along {}", line.along));
    content
        .push(sentences(line).iter().map(|said| plain("p", with_code(said))).collect::<Markup>());
    let number = |name: &str| element("th", &[("scope", "col"), ("class", "number")], name);
    let mut heads: Markup = [line.along.word(), "IOPS", "Mean", "p50", "p99", "Errors"]
        .into_iter()
        .map(number)
        .collect();
    heads.push(element("th", &[("scope", "col")], "Objective"));
    let mut points: Vec<&AlongPoint> = line.points.iter().collect();
    points.sort_by_key(|point| point.value);
    let row = |point: &&AlongPoint| {
        let figures = [
            axis_value(line.along, point.value),
            words::iops(point.carried),
            words::latency(point.latency.mean_ns().map(|mean| mean.round() as u64)),
            words::latency(point.latency.quantile_ns(0.5)),
            words::latency(point.latency.quantile_ns(0.99)),
            words::count(point.errors),
        ];
        let mut cells: Markup =
            figures.into_iter().map(|cell| classed("td", "number", cell)).collect();
        let word = if point.excess <= 1.0 { "holds" } else { "does not hold" };
        cells.push(plain("td", format!("{word}: {}", verdict(point))));
        plain("tr", cells)
    };
    let body: Markup = points.iter().map(row).collect();
    let table = element("table", &[], [plain("thead", plain("tr", heads)), plain("tbody", body)]);
    content.push(classed("div", "scroll", table));
    plain("section", content)
}

/// The search as one object: the field `along` of the results.
pub fn object(line: &AlongLine) -> Value {
    let point = |point: &AlongPoint| {
        json!({
            "value": point.value,
            "iops": point.carried,
            "latency_ns": {
                "mean": point.latency.mean_ns(),
                "p50": point.latency.quantile_ns(0.5),
                "p99": point.latency.quantile_ns(0.99),
            },
            "errors": point.errors,
            "of_limit": Some(point.excess).filter(|excess| excess.is_finite()),
            "worst": point.worst.as_ref().map(Condition::figure),
            "holds": point.excess <= 1.0,
        })
    };
    json!({
        "axis": line.along.word(),
        "objective": line.objective.to_string(),
        "value": line.answer.value,
        "confirmed": line.answer.confirmed,
        "fails_at": line.answer.fails_at,
        "finished": line.finished,
        "points": line.points.iter().map(point).collect::<Vec<_>>(),
    })
}
