//! A trend for machines. The fields stand in `docs/reference/json.md`.

use super::Named;
use crate::topics::compare::{compared, named, outcome, unlike};
use analysis::compare::Condition;
use analysis::trend::{
    ExcludedRun, Followed, LevelChange, Trend, TrendPoint, Value as Figure, Why,
};
use serde_json::{Value, json as object};

/// The version of the object's layout.
const FORMAT: u32 = 1;

/// A trend, and what the conditions of `--fail-if` found in it, as one object.
pub fn json(trend: &Trend, runs: &[Named<'_>], conditions: &[Condition]) -> Value {
    let run = |number: &usize| {
        runs.get(*number).map(|run| {
            object!({
                "file": run.name,
                "run_id": run.record.plan.run_id,
                "suite": run.record.plan.suite,
                "plimsoll": run.record.version,
                "started_unix_ns": run.record.started_unix_ns,
            })
        })
    };
    let latest = trend.latest.others.iter().flat_map(|other| &other.points).map(compared);
    object!({
        "format": FORMAT,
        "runs": trend.runs.iter().map(run).collect::<Vec<_>>(),
        "apart": trend.apart.iter().map(|found| apart(found, runs)).collect::<Vec<_>>(),
        "points": trend.points.iter().map(point).collect::<Vec<_>>(),
        "latest": latest.collect::<Vec<_>>(),
        "fail_if": conditions.iter()
            .map(|condition| outcome(condition, &trend.latest)).collect::<Vec<_>>(),
    })
}

fn apart(found: &ExcludedRun, runs: &[Named<'_>]) -> Value {
    let (why, all) = match &found.why {
        Why::NotComplete => ("not-complete", Vec::new()),
        Why::Again => ("again", Vec::new()),
        Why::Unlike(all) => ("unlike", all.iter().map(unlike).collect()),
    };
    object!({"file": runs.get(found.run).map(|run| run.name), "why": why, "unlike": all})
}

fn point(point: &TrendPoint) -> Value {
    let mut fields = named(&point.key);
    let other = |(run, all): &(usize, Vec<_>)| {
        let unlike: Vec<Value> = all.iter().map(unlike).collect();
        object!({"run": run, "unlike": unlike})
    };
    fields.insert("apart".to_owned(), point.apart.iter().map(other).collect());
    fields.insert("figures".to_owned(), point.series.iter().map(figure).collect());
    Value::Object(fields)
}

fn figure(followed: &Followed) -> Value {
    let value = |found: &Option<Figure>| {
        found.map(|found| {
            object!({"value": found.value,
            "ci": found.interval.map(|ends| [ends.low, ends.high])})
        })
    };
    let change = |change: &LevelChange| {
        object!({"run": change.at, "before": change.before,
        "after": change.after, "percent": change.percent()})
    };
    object!({
        "figure": followed.metric.word(),
        "values": followed.values.iter().map(value).collect::<Vec<_>>(),
        "changes": followed.changes.iter().map(change).collect::<Vec<_>>(),
    })
}
