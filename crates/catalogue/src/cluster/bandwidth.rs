//! Bandwidths as people write them: network speeds in bits, drives in bytes.

use form::{Field, Node, Value};
use model::units::UnitError;
use std::fmt;
use std::str::FromStr;

/// Bytes per second, in one direction; from 1 to 1e15.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bandwidth(pub u64);

const REMEDY: &str = "write a bandwidth such as 25Gbit/s, 3.2GB/s or 500MiB/s";
/// A million GB/s. What is beyond it is a slip.
const MOST: f64 = 1e15;

impl Bandwidth {
    /// In bytes per second, to reckon with.
    pub fn bytes_per_s(self) -> f64 {
        self.0 as f64
    }
}

impl FromStr for Bandwidth {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = |message: String| UnitError { message, remedy: REMEDY.to_owned() };
        let trimmed = text.trim();
        let end = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))
            .unwrap_or(trimmed.len());
        let number: f64 = trimmed[..end]
            .replace('_', "")
            .parse()
            .map_err(|_| wrong(format!("`{text}` is not a bandwidth")))?;
        let unit = trimmed[end..].trim();
        let unit = unit.strip_suffix("/s").unwrap_or("");
        let (prefix, scale) = match unit.strip_suffix("bit") {
            Some(prefix) => (prefix, 1.0 / 8.0),
            // `Gb` is what some write for bits and others for bytes: eight times too much would go
            // unseen.
            None => (unit.strip_suffix('B').unwrap_or("?"), 1.0),
        };
        let factor = match prefix.to_ascii_lowercase().as_str() {
            "" => 1.0,
            "k" => 1e3,
            "m" => 1e6,
            "g" => 1e9,
            "t" => 1e12,
            "ki" => 1024.0,
            "mi" => 1024.0 * 1024.0,
            "gi" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(wrong(format!("`{text}` has no unit of bandwidth"))),
        } * scale;
        let bytes = (number * factor).round();
        if !(1.0..=MOST).contains(&bytes) {
            return Err(wrong(format!("a bandwidth of {} is out of range", text.trim())));
        }
        Ok(Bandwidth(bytes as u64))
    }
}

impl fmt::Display for Bandwidth {
    /// In powers of 1000: `3.2 GB/s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.bytes_per_s();
        let (value, unit) = match value {
            v if v >= 1e9 => (v / 1e9, "GB/s"),
            v if v >= 1e6 => (v / 1e6, "MB/s"),
            v => (v, "B/s"),
        };
        let text = format!("{value:.2}");
        f.pad(&format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.')))
    }
}

impl Field for Bandwidth {
    const KIND: &'static str = "bandwidth";

    fn read(node: &Node) -> Result<Self, UnitError> {
        match &node.value {
            Value::Text(text) => text.parse(),
            _ => Err(UnitError {
                message: format!("expected a bandwidth, found {}", node.kind()),
                remedy: format!("{REMEDY}, in quotes"),
            }),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_an_eighth_and_both_kinds_of_prefix_work() {
        for (text, bytes) in [
            ("25Gbit/s", 3_125_000_000),
            ("100 Gbit/s", 12_500_000_000),
            ("3.2GB/s", 3_200_000_000),
            ("1 MiB/s", 1_048_576),
        ] {
            assert_eq!(text.parse(), Ok(Bandwidth(bytes)), "{text}");
        }
        assert_eq!(Bandwidth(3_200_000_000).to_string(), "3.2 GB/s");
    }

    #[test]
    fn what_could_be_bits_or_bytes_and_the_impossible_are_refused() {
        for text in [
            "25", "25Gb/s", "10Gbps", "GB/s", "", "fast", "0Gbit/s", "-1GB/s", "9e99GB/s",
            "1e3GB/s", "99999999999TB/s", "1.2.3GB/s",
        ] {
            let error = text.parse::<Bandwidth>().expect_err(text);
            assert!(error.remedy.contains("25Gbit/s"), "{error}");
        }
    }
}
