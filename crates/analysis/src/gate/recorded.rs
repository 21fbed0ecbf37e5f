//! A gate against runs that were recorded before. Nothing can be run in turns, so that the test
//! has a fixed size: how many runs the head has is decided before the first one.

use super::{Answer, Judged, Known, Subject, Terms, percent, shown};
use crate::compare::{Metric, difference};
use crate::estimate::{Estimate, Interval, student};
use crate::rows::row::ResultRow;

/// More runs of the head are not planned.
const MOST_RUNS: u64 = 200;

/// A figure of one side.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// Of several runs, as logarithms.
    Runs(Vec<f64>),
    /// Of one run, as a logarithm with the error that chance within the run gives it.
    OneRun {
        /// The logarithm.
        value: f64,
        /// The same with its error; `None` where that is not known.
        estimate: Option<Estimate>,
    },
}

impl Measured {
    /// A figure of the repetitions of one run; `None` where the run has it not.
    pub fn of(metric: Metric, rows: &[&ResultRow]) -> Option<Measured> {
        let values: Option<Vec<f64>> =
            rows.iter().map(|row| metric.value(row).map(f64::ln)).collect();
        match (rows, values?.as_slice()) {
            ([row], [value]) => {
                Some(Measured::OneRun { value: *value, estimate: metric.ln_estimate(row) })
            }
            (_, []) => None,
            (_, several) => Some(Measured::Runs(several.to_vec())),
        }
    }

    /// The figure as a logarithm: the mean of runs.
    pub fn value(&self) -> f64 {
        match self {
            Measured::Runs(values) => values.iter().sum::<f64>() / values.len() as f64,
            Measured::OneRun { value, .. } => *value,
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        match self {
            Measured::Runs(values) => difference::repeated(values),
            Measured::OneRun { estimate, .. } => *estimate,
        }
    }
}

/// What can be told of one of `figures` figures: Welch's test (1947) of logarithms with cautious
/// degrees of freedom, as `plimsoll compare` has it, and two one-sided tests for no change.
pub fn recorded(terms: Terms, figures: usize, subject: &Subject, sides: &Sides<'_>) -> Judged {
    let errors = terms.errors(figures);
    let change = sides.head.value() - sides.base.value();
    let tested = sides.base.estimate().zip(sides.head.estimate()).and_then(|(base, head)| {
        let ratio = difference::unpaired(base, head);
        let least = match subject {
            Subject::CommandTime => 0.0,
            Subject::Figure { metric, .. } => metric.resolution(),
        };
        difference::no_surer_than(ratio, least).test
    });
    let Some(test) = tested else {
        return Judged {
            answer: Answer::CannotTell,
            percent: Some(percent(change)),
            interval: Interval { low: -100.0, high: f64::INFINITY },
            confidence: 1.0 - terms.alpha,
            visible_percent: None,
            needed: None,
        };
    };
    let within = |per_side: f64| Interval::around(test.value, reach(test, per_side));
    let (equal, different) = (within(errors.miss), within(errors.false_alarm));
    let design = terms.design();
    let known = Known {
        small: -design < equal.low && equal.high < design,
        higher: different.low > 0.0,
        lower: different.high < 0.0,
    };
    let answer = known.answer(subject.more_is_better());
    let (per_side, confidence) = shown(terms, errors, answer);
    let visible = reach(test, errors.false_alarm) + reach(test, 1.0 - terms.power);
    Judged {
        answer,
        percent: Some(percent(change)),
        interval: within(per_side).map(percent),
        confidence,
        visible_percent: Some(percent(visible)),
        needed: match sides.base {
            Measured::Runs(values) => planned_runs(terms, figures, values),
            Measured::OneRun { .. } => None,
        },
    }
}

/// Base and head.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
    /// The base.
    pub base: &'a Measured,
    /// The head.
    pub head: &'a Measured,
}

/// How far a value that is estimated so well may be from the true one, on one side.
fn reach(test: Estimate, per_side: f64) -> f64 {
    if test.error > 0.0 { student::bound(2.0 * per_side, test.freedom) * test.error } else { 0.0 }
}

/// The runs of the head that find or exclude the change that is to be found, against recorded runs
/// with these logarithms; `None` where no number of them would do: then the base needs more.
pub fn planned_runs(terms: Terms, figures: usize, base: &[f64]) -> Option<u64> {
    let errors = terms.errors(figures);
    let spread = difference::repeated(base)?;
    let deviation = spread.error * (base.len() as f64).sqrt();
    let both = (1.0 - terms.power) / 2.0;
    let enough = |runs: &u64| {
        let runs = *runs as f64;
        let error = deviation * (1.0 / base.len() as f64 + 1.0 / runs).sqrt();
        let test = Estimate { error, freedom: spread.freedom.max(runs - 1.0), ..spread };
        let different = reach(test, errors.false_alarm) + reach(test, 1.0 - terms.power);
        let equal = reach(test, errors.miss) + reach(test, both);
        different.max(equal) <= terms.design()
    };
    (2..=MOST_RUNS).find(enough)
}
