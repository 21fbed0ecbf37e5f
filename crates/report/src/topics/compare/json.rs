//! A comparison for machines. The fields stand in `docs/reference/json.md`.

use crate::ground::words;
use crate::object;
use crate::pens::json::{Map, Value, each};
use analysis::Interval;
use analysis::compare::{
    Against, ComparedPoint, Comparison, Condition, Difference, Key, Load, Unlike, Verdict,
};
use model::Record;

/// The version of the object's layout.
const FORMAT: u32 = 1;

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
    let sweep: Map<String, Value> = words::axes(&key.sweep);
    Map::from_iter([
        ("scenario".to_owned(), key.scenario.as_str().into()),
        ("workload".to_owned(), key.workload.as_str().into()),
        ("sweep".to_owned(), sweep.into()),
        ("op".to_owned(), key.ops.name().into()),
    ])
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
    let mut fields = named(&point.key);
    fields.extend([
        ("covers".to_owned(), point.covers.word().into()),
        ("unlike".to_owned(), point.unlike.iter().map(unlike).collect()),
        ("repetitions".to_owned(), vec![point.repetitions.0, point.repetitions.1].into()),
        ("paired".to_owned(), point.paired.into()),
        ("load".to_owned(), load.into()),
        ("one_finding".to_owned(), point.one_finding.into()),
        ("rate_missed".to_owned(), point.rate_missed.into()),
        ("differences".to_owned(), point.differences.iter().map(difference).collect()),
    ]);
    Value::Object(fields)
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
    let met = outcome.met.iter().map(|(run, key, found)| {
        let mut fields = named(key);
        fields.extend([
            ("run".to_owned(), (*run).into()),
            ("percent".to_owned(), found.percent.into()),
        ]);
        Value::Object(fields)
    });
    object! {
        condition: condition.to_string(), checked: outcome.checked, met: met.collect::<Vec<_>>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::compare::compare;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn the_object_is_what_the_documents_say() {
        let run = |per_second: usize| {
            let mut recorded =
                Recorded::new("[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n");
            let stage = recorded.stage(StageKind::Measure);
            (0..30).for_each(|second| {
                recorded.interval(stage, second, &[(Op::Read, &vec![100_000; per_second])]);
            });
            recorded.end();
            recorded.record()
        };
        let (base, other) = (run(1_000), run(800));
        let records = [&base, &other];
        let conditions = ["iops < -5%", "p99 > 0%"].map(|text| text.parse().expect("a condition"));
        let value = json(&compare(&records), &records, &conditions);
        insta::assert_snapshot!(serde_json::to_string_pretty(&value).expect("JSON"));
    }
}
