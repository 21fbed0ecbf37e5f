//! What a search along another axis than the rate found: in words, on a page, and as an object.

use crate::ground::markup::{Markup, paragraphs, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, object, some_quantiles};
use analysis::loadline::axis::{AlongLine, AlongPoint};
use model::objective::Condition;
use model::search::{SearchAxis, axis_value};

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

fn table<'a>(line: &AlongLine, points: &[&'a AlongPoint]) -> Table<&'a AlongPoint> {
    let objective = |point: &AlongPoint| {
        let word = if point.excess <= 1.0 { "holds" } else { "does not hold" };
        format!("{word}: {}", verdict(point))
    };
    Table::of(points.iter().copied())
        .known("value", line.along.word(), |point| point.value, |at| axis_value(line.along, at))
        .known("iops", "IOPS", |point| point.carried, words::iops)
        .figure("Mean", |point| words::mean(&point.latency))
        .figure("p50", |point| words::quantile(&point.latency, 0.5))
        .figure("p99", |point| words::quantile(&point.latency, 0.99))
        .field("latency_ns", |point| some_quantiles(&point.latency, "mean p50 p99"))
        .known("errors", "Errors", |point| point.errors, words::count)
        .words("Objective", objective)
        .field("of_limit", |point| Some(point.excess).filter(|excess| excess.is_finite()))
        .field("worst", |point| point.worst.as_ref().map(Condition::figure))
        .field("holds", |point| point.excess <= 1.0)
        .bare()
}

/// The section of a run that searched: the sentences and each point, in the order of the axis.
pub fn section(line: &AlongLine) -> Markup {
    let mut points: Vec<&AlongPoint> = line.points.iter().collect();
    points.sort_by_key(|point| point.value);
    let table = table(line, &points).scroll();
    under(format!("Along {}", line.along), [paragraphs(&sentences(line)), table])
}

/// The search as one object: the field `along` of the results.
pub fn object(line: &AlongLine) -> Value {
    let (answer, points) = (&line.answer, line.points.iter().collect::<Vec<_>>());
    object! {
        axis: line.along.word(), objective: line.objective.to_string(), finished: line.finished,
        points: table(line, &points).json(), ..answer { value, confirmed, fails_at },
    }
}
