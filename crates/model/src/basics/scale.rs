//! By how much a run is smaller or shorter than its suite.

use crate::units::{UnitError, split_number};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const REMEDY: &str = "write a fraction from above 0 to 1, such as 1/100, 0.01 or 1%, or one for \
                      each: size=1/10,time=1/100";

/// A factor from above 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fraction {
    /// Above the line; at least 1.
    pub numerator: u32,
    /// Below the line; at least the numerator.
    pub denominator: u32,
}

impl Fraction {
    /// Nothing shrinks.
    pub const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };

    /// 1 ÷ `denominator`; of 0, all.
    pub fn one_in(denominator: u32) -> Fraction {
        Fraction { numerator: 1, denominator: denominator.max(1) }
    }

    /// Whether nothing shrinks.
    pub fn is_one(self) -> bool {
        self.numerator == self.denominator
    }

    /// Whether it is what it says: above 0, and at most 1. What comes from a file need not be.
    pub fn is_sound(self) -> bool {
        self.numerator > 0 && self.numerator <= self.denominator
    }

    /// `value` shrunk, rounded down.
    pub fn apply(self, value: u64) -> u64 {
        let scaled =
            u128::from(value) * u128::from(self.numerator) / u128::from(self.denominator.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

impl FromStr for Fraction {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::new(format!("`{text}` is not a scale"), REMEDY);
        let (numerator, denominator) = if let Some((above, below)) = text.split_once('/') {
            (above.trim().parse().map_err(|_| wrong())?, below.trim().parse().map_err(|_| wrong())?)
        } else {
            let (number, unit) = split_number(text).ok_or_else(wrong)?;
            let factor = match unit {
                "" => number,
                "%" => number / 100.0,
                _ => return Err(wrong()),
            };
            ((factor * 1e6).round() as u32, 1_000_000)
        };
        if numerator == 0 || denominator < numerator {
            return Err(wrong());
        }
        let divisor = gcd(numerator, denominator);
        Ok(Fraction { numerator: numerator / divisor, denominator: denominator / divisor })
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.numerator, self.denominator))
    }
}

/// By how much the sizes and the times of a suite shrink. Where both shrink alike, it is written as
/// versions did that knew nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale {
    /// The factor for sizes, amounts and numbers of files.
    #[serde(flatten)]
    pub size: Fraction,
    /// The factor for times, where it is another.
    #[serde(default, rename = "time", skip_serializing_if = "Option::is_none")]
    apart: Option<Fraction>,
}

impl Scale {
    /// Full size, for the whole time.
    pub const FULL: Scale = Scale { size: Fraction::ONE, apart: None };

    /// One factor for sizes, and one for times.
    pub fn new(size: Fraction, time: Fraction) -> Scale {
        Scale { size, apart: (size != time).then_some(time) }
    }

    /// Sizes and times shrink together.
    pub fn both(factor: Fraction) -> Scale {
        Scale { size: factor, apart: None }
    }

    /// With another factor for sizes; times go along where they did before.
    pub fn with_size(self, size: Fraction) -> Scale {
        Scale { size, ..self }
    }

    /// The factor for times.
    pub fn time(self) -> Fraction {
        self.apart.unwrap_or(self.size)
    }

    /// Whether sizes and times stay as the suite wrote them.
    pub fn is_full(self) -> bool {
        self.size.is_one() && self.time().is_one()
    }
}

impl FromStr for Scale {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        Ok(ScaleArg::from_str(text)?.or(Fraction::ONE))
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.apart {
            None => self.size.fmt(f),
            Some(time) => f.pad(&format!("size={},time={time}", self.size)),
        }
    }
}

/// What was said of the scale: one factor for both, or one for each that is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScaleArg {
    /// The factor for sizes, where one was said.
    pub size: Option<Fraction>,
    /// The factor for times, where one was said.
    pub time: Option<Fraction>,
}

impl ScaleArg {
    /// The scale: of sizes nothing was said of, all; of times, `time`.
    pub fn or(self, time: Fraction) -> Scale {
        Scale::new(self.size.unwrap_or(Fraction::ONE), self.time.unwrap_or(time))
    }
}

impl FromStr for ScaleArg {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if !text.contains('=') {
            let both = Some(text.parse()?);
            return Ok(ScaleArg { size: both, time: both });
        }
        let mut arg = ScaleArg::default();
        for part in text.split(',') {
            let wrong = || UnitError::new(format!("`{part}` is neither a size nor a time"), REMEDY);
            let (what, factor) = part.split_once('=').ok_or_else(wrong)?;
            let place = match what.trim() {
                "size" => &mut arg.size,
                "time" => &mut arg.time,
                _ => return Err(wrong()),
            };
            if place.replace(factor.trim().parse()?).is_some() {
                return Err(UnitError::new(format!("`{}` is given twice", what.trim()), REMEDY));
            }
        }
        Ok(arg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_stands_for_both_and_each_can_have_its_own() {
        let hundredth = Fraction::one_in(100);
        for text in ["1/100", "1%", "0.01", "2/200", "size=1%,time=1/100"] {
            assert_eq!(text.parse(), Ok(Scale::both(hundredth)), "{text}");
            assert_eq!(
                text.parse::<Scale>().map(|scale| scale.to_string()).as_deref(),
                Ok("1/100")
            );
        }
        for (text, size, time) in [
            ("size=1/10,time=1/100", Fraction::one_in(10), hundredth),
            ("time=1/100, size=1", Fraction::ONE, hundredth),
            ("time=1/100", Fraction::ONE, hundredth),
            ("size=1/100", hundredth, Fraction::ONE),
        ] {
            let scale: Scale = text.parse().expect(text);
            assert_eq!((scale.size, scale.time(), scale.is_full()), (size, time, false), "{text}");
            assert_eq!(scale.to_string().parse(), Ok(scale), "what is written can be read");
        }
        assert_eq!("time=1/1".parse(), Ok(Scale::FULL));
        assert_eq!(hundredth.apply(12_345), 123);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "0", "2", "0/5", "3/2", "1/0", "x", "", "size=", "size=2", "sizes=1/2",
            "size=1,size=1", "size=1,1/2",
        ] {
            assert!(text.parse::<Scale>().is_err(), "{text} should not be a scale");
        }
    }

    #[test]
    fn what_was_not_said_can_be_decided_later() {
        let said = |text: &str| {
            text.parse::<ScaleArg>().expect(text).or(Fraction::one_in(180)).to_string()
        };
        assert_eq!(said("size=1/10"), "size=1/10,time=1/180");
        assert_eq!(said("time=1"), "1/1");
        assert_eq!(said("1/10"), "1/10");
        assert_eq!(
            ScaleArg::default().or(Fraction::one_in(180)).to_string(),
            "size=1/1,time=1/180"
        );
    }
}
