//! A gate for machines. The fields stand in `docs/reference/json.md`.

use super::{Runs, Told, headline, subject};
use crate::topics::compare::named;
use analysis::gate::{Judged, Subject};
use serde_json::{Map, Value, json as object};

const FORMAT: u32 = 1;

/// A gate as one object.
pub fn json(told: &Told<'_>) -> Value {
    let figures: Vec<Value> =
        told.subjects.iter().zip(told.judged).map(|(of, judged)| figure(of, judged)).collect();
    object!({
        "format": FORMAT,
        "answer": told.answer.word(),
        "told": headline(told),
        "base": told.sides[0],
        "head": told.sides[1],
        "detect_percent": told.terms.detect_percent,
        "power": told.terms.power,
        "alpha": told.terms.alpha,
        "runs": runs(told.runs),
        "took_s": told.took.0 as f64 / 1e9,
        "budget_s": told.budget.0 as f64 / 1e9,
        "figures": figures,
    })
}

fn runs(runs: Runs) -> Value {
    match runs {
        Runs::Pairs { pairs, seed, each } => {
            object!({"how": "pairs", "pairs": pairs, "seed": seed, "pair_s": each.0 as f64 / 1e9})
        }
        Runs::Recorded { base, head, each } => object!({"how": "recorded", "base": base,
            "head": head, "head_run_s": each.map(|each| each.0 as f64 / 1e9)}),
    }
}

fn figure(of: &Subject, judged: &Judged) -> Value {
    let mut told = match of {
        Subject::CommandTime => Map::from_iter([("figure".to_owned(), "command-time".into())]),
        Subject::Figure { key, metric, .. } => {
            let mut told = named(key);
            told.insert("figure".to_owned(), metric.word().into());
            told
        }
    };
    let end = |value: f64| value.is_finite().then_some(value);
    let more = object!({
        "name": subject(of),
        "answer": judged.answer.word(),
        "percent": judged.percent,
        "ci": [end(judged.interval.low), end(judged.interval.high)],
        "confidence": judged.confidence,
        "visible_percent": judged.visible_percent,
        "needed_runs": judged.needed,
    });
    if let Value::Object(more) = more {
        told.extend(more);
    }
    Value::Object(told)
}
