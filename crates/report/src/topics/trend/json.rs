//! A trend for machines. The fields stand in `docs/reference/json.md`.

use super::Named;
use crate::pens::json::{FORMAT, Value, each, fields, object};
use crate::topics::compare::{compared, named, outcome, unlike};
use analysis::compare::Condition;
use analysis::trend::{
    ExcludedRun, Followed, LevelChange, Trend, TrendPoint, Value as Figure, Why,
};

/// A trend, and what the conditions of `--fail-if` found in it, as one object.
pub fn json(trend: &Trend, runs: &[Named<'_>], conditions: &[Condition]) -> Value {
    let run = |number: &usize| {
        runs.get(*number).map(|run| {
            object! {
                file: run.name, run_id: run.record.plan.run_id, suite: run.record.plan.suite,
                plimsoll: run.record.version, started_unix_ns: run.record.started_unix_ns,
            }
        })
    };
    let latest = trend.latest.others.iter().flat_map(|other| &other.points);
    object! {
        format: FORMAT, runs: each(&trend.runs, run),
        apart: each(&trend.apart, |found| apart(found, runs)), points: each(&trend.points, point),
        latest: each(latest, compared),
        fail_if: each(conditions.iter(), |condition| outcome(condition, &trend.latest)),
    }
}

fn apart(found: &ExcludedRun, runs: &[Named<'_>]) -> Value {
    let (why, all) = match &found.why {
        Why::NotComplete => ("not-complete", Vec::new()),
        Why::Again => ("again", Vec::new()),
        Why::Unlike(all) => ("unlike", all.iter().map(unlike).collect()),
    };
    object! { file: runs.get(found.run).map(|run| run.name), why, unlike: all }
}

fn point(point: &TrendPoint) -> Value {
    let mut map = named(&point.key);
    let other = |(run, all): &(usize, Vec<_>)| object! { run, unlike: each(all, unlike) };
    fields!(map apart: each(&point.apart, other), figures: each(&point.series, figure));
    Value::Object(map)
}

fn figure(followed: &Followed) -> Value {
    let value = |found: &Option<Figure>| {
        found.map(|found| {
            object! {
                value: found.value, ci: found.interval.map(|ends| [ends.low, ends.high]),
            }
        })
    };
    let change = |change: &LevelChange| {
        object! { run: change.at, ..change { before, after, percent() } }
    };
    object! {
        figure: followed.metric.word(), values: each(&followed.values, value),
        changes: each(&followed.changes, change),
    }
}
