//! What a load has to keep to: `read p99 < 5 ms, errors = 0`.

use crate::Op;
use crate::load::Rate;
use crate::units::{Bytes, Nanos, Percent};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// More conditions than this are a slip.
const MOST_CONDITIONS: usize = 16;

/// All conditions that have to hold at once; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objective {
    /// In the order in which they were written.
    pub conditions: Vec<Condition>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The one operation that it is about; `None` for all together.
    pub op: Option<Op>,
    /// What is to be kept.
    pub limit: Limit,
    /// Whether a figure at the limit itself keeps it.
    pub inclusive: bool,
}

/// A figure with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The mean latency, at most.
    Mean(Nanos),
    /// A quantile of the latency, at most.
    Quantile {
        /// The share of requests that are no slower: p99.9 is 999,000 millionths.
        share: Percent,
        /// The longest latency.
        at_most: Nanos,
    },
    /// The longest latency, at most.
    Max(Nanos),
    /// Requests that failed, at most.
    Errors(u64),
    /// The share of requests that failed, at most.
    ErrorShare(Percent),
    /// Requests per second, at least; in thousandths.
    Iops {
        /// Thousandths of a request per second.
        milli: u64,
    },
    /// Bytes per second, at least.
    Bandwidth {
        /// Bytes per second.
        per_second: u64,
    },
}

/// A text that is no objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadObjective {
    /// The condition that is wrong, as it was written.
    pub condition: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for BadObjective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "condition `{}`: {}; write an objective as 'read p99 < 5ms, errors = 0': read, write, \
             trim or all; mean, max, p50, p99, p99.9, errors (at most), iops or bandwidth (at \
             least); a limit with its unit",
            self.condition, self.problem
        )
    }
}

impl std::error::Error for BadObjective {}

impl FromStr for Objective {
    type Err = BadObjective;

    fn from_str(text: &str) -> Result<Objective, BadObjective> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > MOST_CONDITIONS {
            let problem = format!(
                "is one of {}, and at most {MOST_CONDITIONS} make an objective",
                parts.len()
            );
            return Err(BadObjective { condition: parts[0].to_owned(), problem });
        }
        let one = |part: &&str| {
            condition(part).map_err(|problem| BadObjective {
                condition: part.chars().take(80).collect(),
                problem,
            })
        };
        let conditions: Vec<Condition> = parts.iter().map(one).collect::<Result<_, _>>()?;
        match twice(&conditions, &parts) {
            Some(bad) => Err(bad),
            None => Ok(Objective { conditions }),
        }
    }
}

/// The first condition on a figure that an earlier one limits already, as it was written in
/// `parts`. Every figure has a limit on one side only, so one of the two says nothing, or the
/// opposite.
fn twice(conditions: &[Condition], parts: &[&str]) -> Option<BadObjective> {
    let what = |one: &Condition| (one.op, std::mem::discriminant(&one.limit), one.figure());
    let all = || conditions.iter().zip(parts);
    let ((earlier, written), (later, again)) = all().enumerate().find_map(|(number, later)| {
        all()
            .take(number)
            .find(|earlier| what(earlier.0) == what(later.0))
            .map(|earlier| (earlier, later))
    })?;
    let why = if earlier.limit == later.limit { "says the same" } else { "sets another limit" };
    let figure = later.figure();
    let written: String = written.chars().take(80).collect();
    let problem = format!(
        "`{written}` {why} for {figure}, and a figure can have one limit only: leave one of them \
         out"
    );
    Some(BadObjective { condition: again.chars().take(80).collect(), problem })
}

/// What a condition does with its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Below,
    Above,
    Equal,
}

fn condition(text: &str) -> Result<Condition, String> {
    let at = text.find(['<', '>', '=']).ok_or("there is no <, > or = in it")?;
    let (left, right) = text.split_at(at);
    let (sign, right) = match right.as_bytes().first() {
        Some(b'<') => (Sign::Below, &right[1..]),
        Some(b'>') => (Sign::Above, &right[1..]),
        _ => (Sign::Equal, &right[1..]),
    };
    let (inclusive, right) = match right.strip_prefix('=') {
        Some(rest) => (true, rest),
        None => (sign == Sign::Equal, right),
    };
    let value = right.trim();
    let words: Vec<&str> = left.split_whitespace().collect();
    let (op, figure) = match words.as_slice() {
        [figure] => (None, *figure),
        ["all", figure] => (None, *figure),
        [op, figure] => match Op::from_name(op).filter(|op| *op != Op::Fsync) {
            Some(op) => (Some(op), *figure),
            None => return Err(format!("`{op}` is no operation of a workload")),
        },
        _ => return Err("before the sign stand a figure, or an operation and a figure".to_owned()),
    };
    let limit = limit(figure, value)?;
    match (sign, limit) {
        (Sign::Equal, Limit::Errors(_)) | (Sign::Below, _) if !limit.is_at_least() => {}
        (Sign::Above, _) if limit.is_at_least() => {}
        (Sign::Equal, _) => {
            return Err(format!("no load keeps {figure} at one value; write < or >"));
        }
        (Sign::Below, _) => {
            return Err(format!(
                "more {figure} is better, so its limit is what it is at least: write >"
            ));
        }
        (Sign::Above, _) => {
            return Err(format!(
                "less {figure} is better, so its limit is what it is at most: write <"
            ));
        }
    }
    let nothing = matches!(limit, Limit::Errors(0) | Limit::ErrorShare(Percent::ZERO));
    if nothing && !inclusive {
        return Err("nothing is less than 0; write = 0".to_owned());
    }
    Ok(Condition { op, limit, inclusive })
}

fn limit(figure: &str, value: &str) -> Result<Limit, String> {
    if value.is_empty() {
        return Err("there is no limit behind the sign".to_owned());
    }
    let wrong = |error: crate::units::UnitError| format!("{}; {}", error.message, error.remedy);
    // A bare number would count seconds, which nobody means here.
    let latency = || match value.ends_with(|c: char| c.is_ascii_digit()) {
        true => Err(format!("`{value}` has no unit; write it as 5ms or 200us")),
        false => match value.replace(' ', "").parse::<Nanos>().map_err(wrong)? {
            Nanos(0) => Err("no request takes no time; write a longer latency".to_owned()),
            time => Ok(time),
        },
    };
    match figure {
        "mean" => latency().map(Limit::Mean),
        "max" => latency().map(Limit::Max),
        "errors" => match value.strip_suffix('%') {
            Some(_) => value.parse().map(Limit::ErrorShare).map_err(wrong),
            None => value
                .parse()
                .map(Limit::Errors)
                .map_err(|_| format!("`{value}` is no count of errors")),
        },
        "iops" => match value.parse::<Rate>().map_err(wrong)? {
            Rate::Iops { milli } => Ok(Limit::Iops { milli }),
            Rate::Bytes { .. } => Err(format!("`{value}` is a bandwidth")),
        },
        "bandwidth" => match value.parse::<Rate>().map_err(wrong)? {
            Rate::Bytes { per_second } => Ok(Limit::Bandwidth { per_second }),
            Rate::Iops { .. } => Err(format!("`{value}` is no bandwidth; write it as 100MiB/s")),
        },
        _ => Ok(Limit::Quantile { share: quantile(figure)?, at_most: latency()? }),
    }
}

/// `p99.9` as a share; at most four nines, as further ones need more requests than a point has.
fn quantile(figure: &str) -> Result<Percent, String> {
    let unknown = || format!("`{figure}` is no figure of an objective");
    let digits = figure.strip_prefix('p').ok_or_else(unknown)?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let percent = digits.parse::<f64>().ok().filter(|_| is_plain).ok_or_else(unknown)?;
    match (50.0..=99.99).contains(&percent) {
        true => Ok(Percent { ppm: (percent * 10_000.0).round() as u32 }),
        false => Err(format!("`{figure}` is not from p50 to p99.99")),
    }
}

impl Limit {
    /// Whether more of the figure is better.
    pub fn is_at_least(&self) -> bool {
        matches!(self, Limit::Iops { .. } | Limit::Bandwidth { .. })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whole units, so that what is written can be read again without loss.
        let time = |Nanos(ns): Nanos| match ns {
            ns if ns % 1_000_000_000 == 0 => format!("{}s", ns / 1_000_000_000),
            ns if ns % 1_000_000 == 0 => format!("{}ms", ns / 1_000_000),
            ns if ns % 1_000 == 0 => format!("{}us", ns / 1_000),
            ns => format!("{ns}ns"),
        };
        match self {
            Limit::Mean(at_most) | Limit::Max(at_most) | Limit::Quantile { at_most, .. } => {
                f.write_str(&time(*at_most))
            }
            Limit::Errors(count) => write!(f, "{count}"),
            Limit::ErrorShare(share) => write!(f, "{share}"),
            Limit::Iops { milli } => write!(f, "{}", *milli as f64 / 1e3),
            Limit::Bandwidth { per_second } => write!(f, "{}/s", exact(*per_second)),
        }
    }
}

/// In the largest unit of which it is a whole number.
fn exact(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];
    let found = units.into_iter().find(|(unit, _)| bytes.is_multiple_of(*unit));
    found.map_or_else(|| Bytes(bytes).to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

impl Condition {
    /// The figure that it is about, as it is written: `read p99`.
    pub fn figure(&self) -> String {
        let figure = match self.limit {
            Limit::Mean(_) => "mean".to_owned(),
            Limit::Quantile { share, .. } => format!("p{}", f64::from(share.ppm) / 10_000.0),
            Limit::Max(_) => "max".to_owned(),
            Limit::Errors(_) | Limit::ErrorShare(_) => "errors".to_owned(),
            Limit::Iops { .. } => "iops".to_owned(),
            Limit::Bandwidth { .. } => "bandwidth".to_owned(),
        };
        self.op.map_or_else(|| figure.clone(), |op| format!("{} {figure}", op.name()))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match (self.limit, self.inclusive) {
            (Limit::Errors(0), _) => "=",
            (limit, true) if limit.is_at_least() => ">=",
            (limit, false) if limit.is_at_least() => ">",
            (_, true) => "<=",
            (_, false) => "<",
        };
        write!(f, "{} {sign} {}", self.figure(), self.limit)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions: Vec<String> = self.conditions.iter().map(Condition::to_string).collect();
        f.write_str(&conditions.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn objectives_are_read_as_they_are_written() {
        for text in [
            "read p99 < 5ms, errors = 0",
            "mean <= 250us",
            "write p99.99 < 1s, write max < 1500ms, errors <= 0.1%",
            "iops >= 1000, bandwidth > 100MiB/s, trim p50 < 7ns",
            "errors <= 3",
        ] {
            let objective: Objective = text.parse().expect(text);
            assert_eq!(objective.to_string(), text);
        }
        let spaced: Objective = " all  p99.9<1.5 ms ".parse().expect("good");
        let limit = Limit::Quantile { share: Percent { ppm: 999_000 }, at_most: Nanos(1_500_000) };
        assert_eq!(spaced.conditions, [Condition { op: None, limit, inclusive: false }]);
    }

    #[test]
    fn a_mistake_names_its_condition_and_the_remedy() {
        for (text, problem) in [
            ("", "no <, > or ="),
            ("read p99 < 5ms,", "no <, > or ="),
            ("p99 < 5", "no unit"),
            ("p99 <", "no limit"),
            ("p99 < 0ms", "no time"),
            ("p99 > 5ms", "write <"),
            ("iops < 5k", "write >"),
            ("p99 = 5ms", "write < or >"),
            ("iops = 5k", "write < or >"),
            ("errors < 0", "write = 0"),
            ("errors = many", "no count"),
            ("errors > 1", "write <"),
            ("p100 < 1ms", "p50 to p99.99"),
            ("p-99 < 1ms", "no figure"),
            ("pNaN < 1ms", "no figure"),
            ("speed < 1ms", "no figure"),
            ("fsync p99 < 1ms", "no operation"),
            ("a b c < 1ms", "stand a figure"),
            ("iops > 100MiB/s", "is a bandwidth"),
            ("bandwidth > 100", "no bandwidth"),
            ("p99 < 5 parsecs", "not a unit"),
        ] {
            let told = text.parse::<Objective>().expect_err(text).to_string();
            assert!(
                told.contains(problem) && told.contains("'read p99 < 5ms, errors = 0'"),
                "{text}: {told}"
            );
        }
        for (text, problem) in [
            (
                "errors = 0, errors = 1",
                "condition `errors = 1`: `errors = 0` sets another limit for errors",
            ),
            (
                "read p99 < 5ms, errors = 0, read p99 < 5ms",
                "condition `read p99 < 5ms`: `read p99 < 5ms` says the same",
            ),
            ("iops > 5k, iops >= 6k", "one limit only"),
        ] {
            let told = text.parse::<Objective>().expect_err(text).to_string();
            assert!(told.contains(problem), "{text}: {told}");
        }
        for fine in [
            "errors < 5, errors < 1%",
            "read p99 < 5ms, write p99 < 5ms, p99 < 5ms",
            "p99 < 5ms, p99.9 < 9ms",
        ] {
            assert!(fine.parse::<Objective>().is_ok(), "{fine}");
        }
        let many = vec!["errors = 0"; 17].join(",");
        assert!(
            many.parse::<Objective>().expect_err("too many").to_string().contains("at most 16")
        );
    }

    proptest! {
        #[test]
        fn no_text_is_trouble_and_what_is_read_is_read_again(
            text in "[a-z]{0,5} ?[pmaxers0-9.]{0,6} ?[<>=]{0,2} ?[0-9.]{0,9}[a-zA-Z%/, ]{0,6}") {
            if let Ok(objective) = text.parse::<Objective>() {
                prop_assert_eq!(objective.to_string().parse::<Objective>(), Ok(objective));
            }
        }
    }
}
