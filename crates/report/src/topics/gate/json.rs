//! A gate for machines. The fields stand in `docs/reference/json.md`.

use super::{Runs, Told, headline, subject};
use crate::pens::json::{FORMAT, Map, Value, fields, object};
use crate::topics::compare::named;
use analysis::gate::{Judged, Subject};

/// A gate as one object.
pub fn json(told: &Told<'_>) -> Value {
    let figures: Vec<Value> =
        told.subjects.iter().zip(told.judged).map(|(of, judged)| figure(of, judged)).collect();
    let ([base, head], terms) = (told.sides, &told.terms);
    object! {
        format: FORMAT, answer: told.answer.word(), told: headline(told), base, head,
        runs: runs(told.runs), took_s: told.took.0 as f64 / 1e9,
        budget_s: told.budget.0 as f64 / 1e9, figures,
        ..terms { detect_percent, power, alpha },
    }
}

fn runs(runs: Runs) -> Value {
    match runs {
        Runs::Pairs { pairs, seed, each } => {
            object! { how: "pairs", pairs, seed, pair_s: each.0 as f64 / 1e9 }
        }
        Runs::Recorded { base, head, each } => {
            let head_run_s = each.map(|each| each.0 as f64 / 1e9);
            object! { how: "recorded", base, head, head_run_s }
        }
    }
}

fn figure(of: &Subject, judged: &Judged) -> Value {
    let (mut told, figure) = match of {
        Subject::CommandTime => (Map::new(), "command-time"),
        Subject::Figure { key, metric, .. } => (named(key), metric.word()),
    };
    let end = |value: f64| value.is_finite().then_some(value);
    fields!(told
        figure, name: subject(of), answer: judged.answer.word(),
        ci: [end(judged.interval.low), end(judged.interval.high)], needed_runs: judged.needed,
        ..judged { percent, confidence, visible_percent });
    Value::Object(told)
}
