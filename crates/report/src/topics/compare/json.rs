//! A comparison for machines. The fields stand in `docs/reference/json.md`.

use crate::ground::words;
use crate::pens::json::{FORMAT, Map, Value, each, fields, object};
use analysis::Interval;
use analysis::compare::{
    Against, ComparedPoint, Comparison, Condition, Difference, Key, Load, Unlike, Verdict,
};
use model::Record;

/// A comparison, and what the conditions of `--fail-if` found in it, as one object.
pub fn json(comparison: &Comparison, records: &[&Record], conditions: &[Condition]) -> Value {
    let run = |record: &&Record| {
        object! {
            run_id: record.plan.run_id, suite: record.plan.suite, plimsoll: record.version,
        }
    };
    object! {
        format: FORMAT, runs: each(records.iter(), run),
        comparisons: each(&comparison.others, against),
        fail_if: each(conditions.iter(), |condition| outcome(condition, comparison)),
    }
}

fn against(other: &Against) -> Value {
    let keys = |keys: &[Key]| keys.iter().map(|key| Value::Object(named(key))).collect::<Vec<_>>();
    object! {
        run: other.run, scenarios: other.scenarios.as_ref().map(|(base, other)| [base, other]),
        unlike: each(&other.unlike, unlike), points: each(&other.points, point),
        only_base: keys(&other.only_base), only_other: keys(&other.only_other),
    }
}

pub(crate) fn named(key: &Key) -> Map<String, Value> {
    let mut map = Map::new();
    fields!(map op: key.ops.name(), sweep: words::axes(&key.sweep), ..key { scenario, workload });
    map
}

pub(crate) fn unlike(unlike: &Unlike) -> Value {
    object! { ..unlike { what, base, other, refused } }
}

pub(crate) fn point(point: &ComparedPoint) -> Value {
    let load = match point.load {
        Load::EqualDepth => "equal-depth",
        Load::EqualRate => "equal-rate",
        Load::Unequal => "unequal",
    };
    let mut map = named(&point.key);
    fields!(map
        covers: point.covers.word(), unlike: each(&point.unlike, unlike),
        repetitions: [point.repetitions.0, point.repetitions.1], load,
        differences: each(&point.differences, difference),
        ..point { paired, one_finding, rate_missed });
    Value::Object(map)
}

fn difference(found: &Difference) -> Value {
    let ends = |interval: Interval| [interval.low, interval.high];
    object! {
        figure: found.metric.word(), ci: found.interval.map(ends), p: found.chance,
        verdict: found.verdict.word(),
        repetitions_needed: match found.verdict {
            Verdict::NotDecided { needed } => needed,
            _ => None,
        },
        ..found { base, other, percent },
    }
}

pub(crate) fn outcome(condition: &Condition, comparison: &Comparison) -> Value {
    let outcome = condition.check(comparison);
    let met = |(run, key, found): &(usize, &Key, &Difference)| {
        let mut map = named(key);
        fields!(map run, percent: found.percent);
        Value::Object(map)
    };
    object! {
        condition: condition.to_string(), checked: outcome.checked, met: each(&outcome.met, met),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::reading;
    use analysis::compare::compare;

    #[test]
    fn the_object_is_what_the_documents_say() {
        let suite = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";
        let run = |per_second: usize| reading(suite, |_| vec![100_000; per_second]);
        let (base, other) = (run(1_000), run(800));
        let records = [&base, &other];
        let conditions = ["iops < -5%", "p99 > 0%"].map(|text| text.parse().expect("a condition"));
        let value = json(&compare(&records), &records, &conditions);
        insta::assert_snapshot!(serde_json::to_string_pretty(&value).expect("JSON"));
    }
}
