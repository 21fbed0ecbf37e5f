//! `--fail-if`: when a comparison is to fail a pipeline.

use super::{ComparedPoint, Comparison, Difference, Key, Metric, Verdict};
use crate::rows::row::{Covers, Ops};
use model::Op;
use std::fmt;
use std::str::FromStr;

/// A limit to a difference: `iops < -5%`, `read p99 >= 10%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What it is about; `None` for each operation and each total.
    pub of: Option<Asked>,
    /// The figure.
    pub metric: Metric,
    /// Whether differences below the limit meet it; otherwise those above.
    pub below: bool,
    /// Whether the limit itself meets it.
    pub inclusive: bool,
    /// The limit, in percent of the base.
    pub percent: f64,
}

/// Which points a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Those of one operation.
    One(Op),
    /// Those of all I/O of a workload, or of workloads that ran at the same time.
    All,
}

impl Asked {
    const ALL: &str = "all";

    fn name(self) -> &'static str {
        match self {
            Asked::One(op) => op.name(),
            Asked::All => Asked::ALL,
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Asked> {
        if name == Asked::ALL { Some(Asked::All) } else { Op::from_name(name).map(Asked::One) }
    }

    fn is(self, point: &ComparedPoint) -> bool {
        match self {
            Asked::One(op) => point.key.ops == Ops::One(op),
            Asked::All => point.covers >= Covers::Workload,
        }
    }
}

/// A text that is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCondition {
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for BadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = Metric::ALL.iter().map(|metric| metric.word()).collect();
        write!(
            f,
            "{}; write it as 'iops < -5%' or 'read p99 > 10%', with one of {}",
            self.problem,
            words.join(", ")
        )
    }
}

impl std::error::Error for BadCondition {}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(of) = self.of {
            write!(f, "{} ", of.name())?;
        }
        let sign = match (self.below, self.inclusive) {
            (true, false) => "<",
            (true, true) => "<=",
            (false, false) => ">",
            (false, true) => ">=",
        };
        write!(f, "{} {sign} {}%", self.metric.word(), self.percent)
    }
}

impl FromStr for Condition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Condition, BadCondition> {
        let bad = |problem: String| BadCondition { problem };
        let at = text.find(['<', '>']).ok_or_else(|| bad("there is no < or > in it".to_owned()))?;
        let (left, right) = text.split_at(at);
        let below = right.starts_with('<');
        let right = &right[1..];
        let (inclusive, right) =
            right.strip_prefix('=').map_or((false, right), |rest| (true, rest));
        let number = right.trim();
        let number = number
            .strip_suffix('%')
            .ok_or_else(|| bad("the limit has no % behind it".to_owned()))?
            .trim();
        // As people type it, and as typesetters do.
        let plain = number.replace('\u{2212}', "-");
        let percent =
            plain.parse::<f64>().ok().filter(|value| value.is_finite() && value.abs() <= 1e6);
        let percent = percent
            .ok_or_else(|| bad("the limit is no number of percent up to a million".to_owned()))?;
        let words: Vec<&str> = left.split_whitespace().collect();
        let (of, word) = match words.as_slice() {
            [metric] => (None, *metric),
            [op, metric] => {
                let known = Asked::from_name(op);
                (
                    Some(known.ok_or_else(|| {
                        bad("the operation is none of all, read, write, fsync".to_owned())
                    })?),
                    *metric,
                )
            }
            _ => {
                return Err(bad(
                    "before the < or > stand a figure, or an operation and a figure".to_owned()
                ));
            }
        };
        let metric = Metric::ALL.into_iter().find(|metric| metric.word() == word);
        let metric = metric.ok_or_else(|| bad("it names no figure that is compared".to_owned()))?;
        Ok(Condition { of, metric, below, inclusive, percent })
    }
}

/// What a condition found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// How many differences it looked at of which something is known. 0 means that nothing was
    /// checked, which is no success.
    pub checked: usize,
    /// How many more there are that may be chance: nothing is known of them, or they are beyond the
    /// limit and their interval reaches over no change.
    pub unknown: usize,
    /// Those that meet it: the run's number, the point, and the difference.
    pub met: Vec<(usize, &'a Key, &'a Difference)>,
}

impl Condition {
    /// Looks at every difference of a comparison. One that may be chance meets no condition. Beyond
    /// the limit it is no proof of the contrary either: a loss of 63 % among two runs that differ
    /// by as much is not "no loss".
    pub fn check<'a>(&self, comparison: &'a Comparison) -> Outcome<'a> {
        let mut outcome = Outcome { checked: 0, unknown: 0, met: Vec::new() };
        for other in &comparison.others {
            for point in other.points.iter().filter(|point| self.of.is_none_or(|of| of.is(point))) {
                for found in point.differences.iter().filter(|found| found.metric == self.metric) {
                    // A limit of 0 asks for any change that is none of chance.
                    let may_be_chance = found.verdict.may_be_chance()
                        && self.percent != 0.0
                        && self.is_beyond(found);
                    if found.verdict == Verdict::NotKnown || may_be_chance {
                        outcome.unknown += 1;
                        continue;
                    }
                    outcome.checked += 1;
                    if self.is_met(found) {
                        outcome.met.push((other.run, &point.key, found));
                    }
                }
            }
        }
        outcome
    }

    fn is_met(&self, found: &Difference) -> bool {
        self.is_beyond(found) && !found.verdict.may_be_chance()
    }

    fn is_beyond(&self, found: &Difference) -> bool {
        let beyond =
            if self.below { found.percent < self.percent } else { found.percent > self.percent };
        beyond || self.inclusive && found.percent == self.percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for text in [
            "iops < -5%", "all iops < -5%", "read p99 > 10%", "write p99.9 >= 0%",
            "host-deviation <= 2.5%", "cpu > 1%",
        ] {
            assert_eq!(text.parse::<Condition>().expect("a condition").to_string(), text);
        }
        let typeset: Condition = "  iops<\u{2212}5 % ".parse().expect("a condition");
        assert_eq!((typeset.percent, typeset.below, typeset.inclusive), (-5.0, true, false));
    }

    #[test]
    fn a_mistake_says_what_and_how_it_is_written() {
        for (text, problem) in [
            ("", "no < or >"),
            ("iops = 5%", "no < or >"),
            ("iops < 5", "no % behind"),
            ("iops < five%", "no number"),
            ("iops < NaN%", "no number"),
            ("iops < inf%", "no number"),
            ("speed < 5%", "no figure"),
            ("erase iops < 5%", "operation"),
            ("a b c < 5%", "stand a figure"),
            ("< 5%", "stand a figure"),
            ("iops <> 5%", "no number"),
            ("iops < 1e300%", "no number"),
        ] {
            let told = text.parse::<Condition>().expect_err(text).to_string();
            assert!(told.contains(problem) && told.contains("'iops < -5%'"), "{text}: {told}");
        }
    }
}
