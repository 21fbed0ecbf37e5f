//! The ranges of an axis: `"1..1024 x2"` and `"1..10 +3"`.

use form::Value;
use model::units::{Bytes, Nanos, UnitError};

/// More values than any sweep may have points.
const MAX_VALUES: usize = 10_000;

const REMEDY: &str = "write a range such as \"1..1024 x2\" (each twice the one before) or \"1..10 \
                      +3\" (each 3 more)";

fn wrong(message: impl Into<String>, remedy: impl Into<String>) -> UnitError {
    UnitError { message: message.into(), remedy: remedy.into() }
}

/// The values of the range `text`, from its first to the last that is not above its end; `None`
/// where it is no range at all.
///
/// Both ends have the same unit or none (`"4KiB..64KiB x2"`), or are two sizes or two durations.
pub(crate) fn range(text: &str) -> Option<Result<Vec<Value>, UnitError>> {
    let (from, rest) = text.split_once("..")?;
    Some(values(text, from.trim(), rest.trim()))
}

fn values(text: &str, from: &str, rest: &str) -> Result<Vec<Value>, UnitError> {
    let no = || wrong(format!("`{text}` is no range"), REMEDY);
    let at = rest.find(['x', '×', '+']).ok_or_else(no)?;
    let (to, step) = (rest[..at].trim(), &rest[at..]);
    let is_sum = step.starts_with('+');
    let step = step.trim_start_matches(['x', '×', '+']).trim();
    let scales = Scale::common(from, to);
    let (scale, from, to, step) =
        scales.iter().find_map(|scale| scale.all(from, to, step, is_sum)).ok_or_else(no)?;
    if from > to {
        return Err(wrong(
            format!("`{text}` ends before it begins"),
            "write the smaller end first",
        ));
    }
    let grows = if is_sum { step > 0.0 } else { step > 1.0 && from > 0.0 };
    if !grows {
        return Err(wrong(
            format!("`{text}` never reaches its end"),
            "start above 0 and multiply by more than 1, or add more than 0",
        ));
    }
    let mut values = Vec::new();
    // Each value from the first one, so that rounding does not add up over a long range.
    for index in 0..=MAX_VALUES as i32 {
        let value = if is_sum { from + step * f64::from(index) } else { from * step.powi(index) };
        // An end such as 0.3 is reached by 3 × 0.1 although that is a little more.
        if value > to * (1.0 + 1e-9) {
            return Ok(values);
        }
        values.push(scale.write(value));
    }
    Err(wrong(format!("`{text}` has more than {MAX_VALUES} values"), "write a larger step"))
}

/// In what the values of a range are counted.
#[derive(Clone, Debug, PartialEq)]
enum Scale {
    /// In the unit that both ends have; empty for plain numbers.
    Unit(String),
    /// In bytes.
    Size,
    /// In nanoseconds.
    Duration,
}

impl Scale {
    /// In what two ends can both be counted.
    fn common(from: &str, to: &str) -> Vec<Scale> {
        let same = match (number(from), number(to)) {
            (Some((_, low)), Some((_, high))) if low == high => Some(Scale::Unit(low.to_owned())),
            _ => None,
        };
        same.into_iter().chain([Scale::Size, Scale::Duration]).collect()
    }

    /// The ends and the step in this scale; a step that multiplies has no unit.
    fn all(
        &self,
        from: &str,
        to: &str,
        step: &str,
        is_sum: bool,
    ) -> Option<(&Scale, f64, f64, f64)> {
        let step = if is_sum {
            self.read(step)
        } else {
            number(step).filter(|(_, unit)| unit.is_empty()).map(|(factor, _)| factor)
        };
        Some((self, self.read(from)?, self.read(to)?, step?))
    }

    fn read(&self, text: &str) -> Option<f64> {
        match self {
            Scale::Unit(unit) => number(text)
                .filter(|(_, own)| own.is_empty() || own == unit)
                .map(|(value, _)| value),
            Scale::Size => text.parse().ok().map(|Bytes(bytes)| bytes as f64),
            Scale::Duration => text.parse().ok().map(|Nanos(nanos)| nanos as f64),
        }
    }

    fn write(&self, value: f64) -> Value {
        let rounded = (value * 1e6).round() / 1e6;
        match self {
            Scale::Unit(unit)
                if unit.is_empty() && rounded.fract() == 0.0 && rounded.abs() < 1e15 =>
            {
                Value::Integer(rounded as i64)
            }
            Scale::Unit(unit) if unit.is_empty() => Value::Float(rounded),
            Scale::Unit(unit) => Value::Text(format!("{rounded}{unit}")),
            Scale::Size => {
                let bytes = Bytes(value.round() as u64);
                let short = bytes.to_string().replace(' ', "");
                // Displayed sizes have two decimals; where these do not say it all, the bytes do.
                let exact = short.parse() == Ok(bytes);
                Value::Text(if exact { short } else { format!("{}B", bytes.0) })
            }
            Scale::Duration => Value::Text(format!("{}ns", value.round() as u64)),
        }
    }
}

/// A finite number of at least 0, and the unit behind it.
fn number(text: &str) -> Option<(f64, &str)> {
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let value: f64 = text[..end].replace('_', "").parse().ok()?;
    value.is_finite().then_some((value, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Result<Vec<String>, String> {
        let values = range(text).expect("a range").map_err(|error| error.message)?;
        let word = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            other => panic!("{other:?}"),
        };
        Ok(values.iter().map(word).collect())
    }

    #[test]
    fn ranges_multiply_or_add_up_to_their_end() {
        for (text, wanted) in [
            ("1..16 x2", "1 2 4 8 16"),
            ("1..10 +3", "1 4 7 10"),
            ("1..11 + 3", "1 4 7 10"),
            ("3..3 x2", "3"),
            ("0..4 +2", "0 2 4"),
            ("0.1..0.3 +0.1", "0.1 0.2 0.3"),
            ("4KiB..64KiB x4", "4KiB 16KiB 64KiB"),
            ("512..2KiB x2", "512B 1KiB 2KiB"),
            ("64KiB..1MiB ×4", "64KiB 256KiB 1MiB"),
            ("1MiB..2MiB +512KiB", "1MiB 1.5MiB 2MiB"),
            ("0%..100% +50", "0% 50% 100%"),
            ("1ms..1s x10", "1000000ns 10000000ns 100000000ns 1000000000ns"),
        ] {
            assert_eq!(words(text).map(|list| list.join(" ")), Ok(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_range_is_told() {
        assert_eq!(range("4KiB"), None);
        for text in [
            "1..2", "1..x2", "..", "a..b x2", "1..8 x1", "0..8 x2", "1..8 +0", "8..1 x2",
            "1..8 x-2", "1KiB..1s x2",
        ] {
            assert!(words(text).is_err(), "{text}");
        }
        assert!(words("1..100000 +1").is_err_and(|text| text.contains("more than 10000 values")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9.x+ kKiB%ms]{0,20}", free in "\\PC{0,20}") {
            for text in [text, free] {
                if let Some(Ok(values)) = range(&text) {
                    proptest::prop_assert!(!values.is_empty() && values.len() <= MAX_VALUES);
                }
            }
        }
    }
}
