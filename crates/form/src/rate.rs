//! A rate as a suite writes it: one for all the time, or the steps of one that changes.

use crate::field::Field;
use crate::tree::{Node, Table, Value};
use model::curve::{Curve, Line, MOST_LINES, Then, Unit};
use model::load::Rate;
use model::offered::{Level, Offered};
use model::units::{Nanos, Percent, UnitError};

const STEPS: &str = "write steps such as [{to = \"2k\", in = \"5s\"}, {hold = \"5s\"}]";
const KEYS: [&str; 8] = ["to", "in", "hold", "on", "off", "at", "times", "repeat"];

fn wrong(message: impl Into<String>, remedy: impl Into<String>) -> UnitError {
    UnitError { message: message.into(), remedy: remedy.into() }
}

impl Field for Offered {
    const KIND: &'static str = "rate, or steps of one that changes";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match &node.value {
            Value::Array(steps) => curve(steps).map(Offered::Changing),
            Value::Table(_) => {
                Err(wrong("expected a rate or a list of steps, found a table", STEPS))
            }
            Value::Text(text) if text.trim().ends_with('%') => share(text).map(Offered::Share),
            _ => Rate::read(node).map(Offered::Fixed),
        }
    }

    fn write(&self) -> String {
        match self {
            Offered::Fixed(rate) => rate.write(),
            Offered::Changing(curve) => format!("\"{curve}\""),
            Offered::Share(share) => format!("\"{share}\""),
        }
    }
}

fn share(text: &str) -> Result<Percent, UnitError> {
    let remedy = "write a share above 0% up to 100%, such as 80%, or a rate such as 10000";
    match text.parse::<Percent>() {
        Ok(share) if share > Percent::ZERO => Ok(share),
        Ok(_) => Err(wrong("0 % of what the target carries is nothing", remedy)),
        Err(error) => Err(wrong(error.message, remedy)),
    }
}

#[derive(Default)]
struct Drawn {
    unit: Option<Unit>,
    level: u64,
    lines: Vec<Line>,
    then: Option<Then>,
}

fn curve(steps: &[Node]) -> Result<Curve, UnitError> {
    if steps.is_empty() {
        return Err(wrong("a curve without a step", STEPS));
    }
    let mut drawn = Drawn::default();
    for (number, node) in (1..).zip(steps) {
        let of_step = |error: UnitError| UnitError {
            message: format!("step {number}: {}", error.message),
            ..error
        };
        let Value::Table(step) = &node.value else {
            let message = format!("step {number}: expected a table, found {}", node.kind());
            return Err(wrong(message, STEPS));
        };
        if drawn.then.is_some() {
            let message = format!("step {number} is never reached: the one before it has no end");
            return Err(wrong(message, "leave it out, or give the bursts before it `times`"));
        }
        drawn.step(step).map_err(of_step)?;
        if drawn.lines.len() > MOST_LINES {
            let message = format!("step {number}: more than {MOST_LINES} lines");
            return Err(wrong(message, "give fewer steps or times"));
        }
    }
    let Some(unit) = drawn.unit else {
        return Err(wrong("a curve that never leaves 0", "give a step a level above 0"));
    };
    if drawn.lines.is_empty() {
        let remedy = "give a step a time, as in {hold = \"5s\"}, or write one rate such as 2000";
        return Err(wrong("a curve that takes no time", remedy));
    }
    let then = drawn.then.unwrap_or(Then::Holds(drawn.level));
    let curve = Curve { unit, lines: drawn.lines, then };
    curve.check().map_err(|message| wrong(message, STEPS))?;
    Ok(curve)
}

impl Drawn {
    fn step(&mut self, step: &Table) -> Result<(), UnitError> {
        for entry in &step.entries {
            if !KEYS.contains(&entry.key.as_str()) {
                let message = format!("`{}` is no part of a step", entry.key);
                return Err(wrong(message, format!("known here: {}", KEYS.join(", "))));
            }
        }
        let has = |key: &str| step.get(key).is_some();
        let only = |keys: &[&str]| step.entries.iter().all(|one| keys.contains(&one.key.as_str()));
        if has("to") && only(&["to", "in"]) {
            let length = step.get("in").map_or(Ok(Nanos(0)), Nanos::read)?;
            let to = self.level(step, "to")?;
            self.line(length, self.level, to);
            self.level = to;
            return Ok(());
        }
        if has("hold") && only(&["hold"]) {
            let length = time(step, "hold")?;
            self.line(length, self.level, self.level);
            return Ok(());
        }
        if has("on") && only(&["on", "off", "at", "times"]) {
            return self.bursts(step);
        }
        if has("repeat") && only(&["repeat"]) {
            if step.get("repeat").map(|node| &node.value) != Some(&Value::Flag(true)) {
                return Err(wrong("repeat is not true", "write {repeat = true}, or leave it out"));
            }
            if self.lines.is_empty() {
                return Err(wrong("there is nothing before it to repeat", STEPS));
            }
            self.then = Some(Then::Repeats(0));
            return Ok(());
        }
        let remedy = "write {to, in}, {hold}, {on, off, at, times} or {repeat = true}";
        Err(wrong("neither a ramp, a hold nor bursts", remedy))
    }

    /// `times` bursts at a level, each followed by the level of before; without `times`, for good.
    fn bursts(&mut self, step: &Table) -> Result<(), UnitError> {
        let (on, off) = (time(step, "on")?, time(step, "off")?);
        if step.get("at").is_none() {
            return Err(wrong("bursts without a level", "give the rate of a burst: at = \"20k\""));
        }
        let (at, low) = (self.level(step, "at")?, self.level);
        let most = (MOST_LINES / 2) as i64;
        let times = match step.get("times").map(|node| &node.value) {
            None => 1,
            Some(Value::Integer(times)) if (1..=most).contains(times) => *times,
            Some(_) => {
                let remedy = format!("write a whole number from 1 to {most}, or leave it out");
                return Err(wrong("times is no number of bursts", remedy));
            }
        };
        if step.get("times").is_none() {
            self.then = Some(Then::Repeats(self.lines.len() as u32));
        }
        for _ in 0..times {
            self.line(on, at, at);
            self.line(off, low, low);
        }
        Ok(())
    }

    fn line(&mut self, length: Nanos, from: u64, to: u64) {
        if length > Nanos(0) {
            self.lines.push(Line { length, from, to });
        }
    }

    fn level(&mut self, step: &Table, key: &str) -> Result<u64, UnitError> {
        let Some(node) = step.get(key) else { return Ok(0) };
        let text = match &node.value {
            Value::Text(_) | Value::Integer(_) | Value::Float(_) => node.label(),
            _ => {
                return Err(wrong(format!("{key}: expected a rate, found {}", node.kind()), STEPS));
            }
        };
        let (unit, level) = match text.parse::<Level>()? {
            Level::Nothing => return Ok(0),
            Level::Of(Rate::Iops { milli }) => (Unit::MilliIops, milli),
            Level::Of(Rate::Bytes { per_second }) => (Unit::Bytes, per_second),
        };
        if *self.unit.get_or_insert(unit) != unit {
            let remedy = "write all levels of a curve in requests, or all in bytes";
            return Err(wrong("requests per second and bytes per second in one curve", remedy));
        }
        Ok(level)
    }
}

/// A time above 0.
fn time(step: &Table, key: &str) -> Result<Nanos, UnitError> {
    let Some(node) = step.get(key) else {
        return Err(wrong(format!("`{key}` is missing"), format!("write {key} = \"5s\"")));
    };
    match Nanos::read(node)? {
        Nanos(0) => Err(wrong(format!("{key} is no time"), format!("write {key} = \"5s\""))),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_value;

    fn read(text: &str) -> Result<Offered, UnitError> {
        Offered::read(&parse_value(text, 0))
    }

    fn words(text: &str) -> String {
        match read(text) {
            Ok(Offered::Changing(curve)) => curve.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn steps_become_lines() {
        assert_eq!(read("2k"), Ok(Offered::Fixed(Rate::Iops { milli: 2_000_000 })));
        for (text, wanted) in [
            (
                "[{to = \"2k\", in = \"5s\"}, {hold = \"5s\"}]",
                "0 to 2000 IOPS in 5 s, 2000 IOPS for 5 s, then 2000 IOPS",
            ),
            (
                "[{to = 100}, {hold = \"1s\"}, {to = 0}, {hold = 2}, {to = 50, in = \"0s\"}]",
                "100 IOPS for 1 s, 0 for 2 s, then 50 IOPS",
            ),
            (
                "[{to = \"10MB/s\", in = \"1m\"}, {to = 0, in = \"1m\"}]",
                "0 to 10 MB/s in 1m 00s, 10 MB/s to 0 in 1m 00s, then 0",
            ),
            (
                "[{on = \"1s\", off = \"9s\", at = \"20k\"}]",
                "20000 IOPS for 1 s, 0 for 9 s, again and again",
            ),
            (
                "[{to = 5}, {hold = 1}, {on = \"1s\", off = \"2s\", at = 9, times = 2}]",
                "5 IOPS for 1 s, 9 IOPS for 1 s, 5 IOPS for 2 s, 9 IOPS for 1 s, 5 IOPS for 2 s, \
                 then 5 IOPS",
            ),
            (
                "[{hold = 1}, {on = \"1s\", off = \"2s\", at = 9}]",
                "0 for 1 s, 9 IOPS for 1 s, 0 for 2 s, again and again from line 2",
            ),
            ("[{to = 7, in = 3}, {repeat = true}]", "0 to 7 IOPS in 3 s, again and again"),
        ] {
            assert_eq!(words(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_curve_is_refused_with_its_step() {
        for (text, said) in [
            ("[]", "without a step"),
            ("[1, 2]", "step 1: expected a table"),
            ("{to = 1}", "found a table"),
            ("[{to = 5}]", "takes no time"),
            ("[{hold = \"5s\"}]", "never leaves 0"),
            ("[{to = 0, in = \"5s\"}]", "never leaves 0"),
            ("[{to = -5, in = \"5s\"}]", "step 1: `-5` is not a rate"),
            ("[{to = 5, in = \"-5s\"}]", "step 1: `-5s` is not a duration"),
            ("[{to = 5, in = 1}, {too = 5}]", "step 2: `too` is no part"),
            ("[{to = 5, hold = 1}]", "step 1: neither"),
            ("[{in = 5}]", "step 1: neither"),
            ("[{to = 5, in = 1}, {to = \"5MB/s\", in = 1}]", "step 2: requests per second and"),
            ("[{to = 5}, {hold = 0}]", "step 2: hold is no time"),
            ("[{on = 1, off = 1}]", "step 1: bursts without"),
            ("[{on = 1, at = 1}]", "step 1: `off` is missing"),
            ("[{on = 1, off = 1, at = 5, times = 0}]", "step 1: times"),
            ("[{on = 1, off = 1, at = 5}, {hold = 1}]", "step 2 is never reached"),
            ("[{repeat = true}]", "step 1: there is nothing"),
            ("[{to = 5, in = 1}, {repeat = false}]", "step 2: repeat is not true"),
            ("[{to = \"1e12\", in = 1}]", "is not a rate"),
            ("[{to = \"1k\", in = \"9000d\"}]", "step 1: `9000d` is more than a year"),
            ("[{on = \"300d\", off = \"1s\", at = 5, times = 2}]", "longer than a year"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.message.contains(said), "{text}: {error:?}");
        }
        let many: Vec<&str> = vec!["{on = 1, off = 1, at = 5, times = 5000}"; 3];
        let error = read(&format!("[{}]", many.join(", "))).expect_err("too many");
        assert!(error.message.contains("more than 10000 lines"), "{error:?}");
    }
}
