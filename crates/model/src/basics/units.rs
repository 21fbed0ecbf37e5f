//! Sizes, durations and shares as people write them.
//!
//! `KiB/MiB/GiB` are powers of 1024 and `KB/MB/GB` powers of 1000. A bare letter
//! (`4k`, `1M`) is a power of 1024, because that is what fio's users mean by it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a text is not the quantity it was meant to be. Reads as a sentence with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong with the text.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

impl UnitError {
    pub(crate) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        UnitError { message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for UnitError {}

/// Splits `12.5 MiB` into the number and the unit behind it.
pub(crate) fn split_number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let number: f64 = text[..end].replace('_', "").parse().ok()?;
    Some((number, text[end..].trim()))
}

/// A whole number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const KIB: u64 = 1024;
const SIZE_REMEDY: &str = "write a size such as 4k, 4KiB (1024), 4KB (1000), 1MiB or 10GiB";

impl Bytes {
    /// `n` KiB.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n * KIB)
    }
    /// `n` MiB.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n * KIB * KIB)
    }
    /// `n` GiB.
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n * KIB * KIB * KIB)
    }
    /// The largest multiple of `block` that is not above this size. `block` of 0 counts as 1.
    pub fn round_down(self, block: Bytes) -> Bytes {
        let block = block.0.max(1);
        Bytes(self.0 / block * block)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split_number(text)
            .ok_or_else(|| UnitError::new(format!("`{text}` is not a size"), SIZE_REMEDY))?;
        let lower = unit.to_ascii_lowercase();
        let (prefix, base) = match lower.as_str() {
            "" | "b" => ("", 1000),
            unit if unit.ends_with("ib") => (&unit[..unit.len() - 2], 1024),
            unit if unit.len() > 1 && unit.ends_with('b') => (&unit[..unit.len() - 1], 1000),
            unit => (unit, 1024),
        };
        let power = match prefix {
            "" if lower == "ib" => None,
            "" => Some(0),
            "k" => Some(1),
            "m" => Some(2),
            "g" => Some(3),
            "t" => Some(4),
            "p" => Some(5),
            _ => None,
        }
        .ok_or_else(|| UnitError::new(format!("`{unit}` is not a unit of size"), SIZE_REMEDY))?;
        let bytes = number * f64::from(base).powi(power);
        // Sizes past 2^60 are not a device that exists; they are a slip, and would overflow sums.
        if bytes > (1u64 << 60) as f64 {
            return Err(UnitError::new(
                format!("`{text}` is more than 1 EiB"),
                "write a smaller size",
            ));
        }
        if bytes.fract() != 0.0 {
            return Err(UnitError::new(
                format!("`{text}` is not a whole number of bytes"),
                SIZE_REMEDY,
            ));
        }
        Ok(Bytes(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    /// The shortest exact text in binary units, else two decimals: `4 KiB`, `1.5 GiB`, `1000 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut power = 0;
        while power < UNITS.len() - 1 && self.0 >> (10 * (power + 1)) > 0 {
            power += 1;
        }
        let value = self.0 as f64 / (1u64 << (10 * power)) as f64;
        let text = format!("{value:.2}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.pad(&format!("{text} {}", UNITS[power]))
    }
}

/// A span of time in nanoseconds, from 0 to 584 years.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

const DURATION_REMEDY: &str = "write a duration such as 500ms, 60s, 30m or 1h";

impl Nanos {
    /// `n` milliseconds.
    pub const fn millis(n: u64) -> Nanos {
        Nanos(n * 1_000_000)
    }
    /// `n` seconds.
    pub const fn seconds(n: u64) -> Nanos {
        Nanos(n * 1_000_000_000)
    }
    /// The span in seconds.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// Reads one or more number-unit pairs (`1h30m`); a bare number counts seconds, as in fio.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || UnitError::new(format!("`{text}` is not a duration"), DURATION_REMEDY);
        let mut rest = text.trim();
        let mut total = 0.0;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let (number, tail) = split_number(rest).ok_or_else(wrong)?;
            let end = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
            let seconds = match &tail[..end] {
                "ns" => 1e-9,
                "us" | "µs" => 1e-6,
                "ms" => 1e-3,
                "" | "s" | "sec" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                "d" => 86400.0,
                unit => {
                    return Err(UnitError::new(
                        format!("`{unit}` is not a unit of time"),
                        DURATION_REMEDY,
                    ));
                }
            };
            total += number * seconds;
            rest = tail[end..].trim_start();
        }
        if total > 366.0 * 86400.0 {
            return Err(UnitError::new(
                format!("`{text}` is more than a year"),
                "write a shorter duration",
            ));
        }
        Ok(Nanos((total * 1e9).round() as u64))
    }
}

impl fmt::Display for Nanos {
    /// Three significant figures with the unit that suits: `850 ns`, `1.25 ms`, `8 s`, `2m 05s`,
    /// `22h 10m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        let seconds = ns.saturating_add(500_000_000) / 1_000_000_000;
        let text = match ns {
            0..1_000 => format!("{ns} ns"),
            1_000..999_500 => format!("{} µs", three_figures(ns as f64 / 1e3)),
            999_500..999_500_000 => format!("{} ms", three_figures(ns as f64 / 1e6)),
            _ if seconds < 60 => format!("{} s", three_figures(ns as f64 / 1e9)),
            _ if seconds < 3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
            _ => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        };
        f.pad(&text)
    }
}

/// Three significant figures without trailing zeros behind the point.
fn three_figures(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// A share from 0 % to 100 %, kept in parts per million so that plans compare exactly.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Percent {
    /// Parts per million, 0 to 1,000,000.
    pub ppm: u32,
}

impl Percent {
    /// Nothing.
    pub const ZERO: Percent = Percent { ppm: 0 };
    /// Everything.
    pub const ALL: Percent = Percent { ppm: 1_000_000 };
    /// A whole percentage; above 100 counts as 100.
    pub const fn of(percent: u32) -> Percent {
        Percent { ppm: if percent > 100 { 1_000_000 } else { percent * 10_000 } }
    }
}

impl FromStr for Percent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let wrong = || {
            UnitError::new(
                format!("`{text}` is not a share"),
                "write a percentage from 0 to 100, such as \"70%\"",
            )
        };
        let number = text.trim();
        let number = number.strip_suffix('%').unwrap_or(number).trim();
        let value: f64 = number.parse().map_err(|_| wrong())?;
        if !(0.0..=100.0).contains(&value) {
            return Err(wrong());
        }
        Ok(Percent { ppm: (value * 10_000.0).round() as u32 })
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}%", f64::from(self.ppm) / 10_000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_fio_users_mean_them() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kib", 4096),
            ("4KB", 4000),
            ("4 kB", 4000),
            ("1.5G", 1_610_612_736),
            ("1_024", 1024),
            ("2TiB", 2 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "k", "4x", "4kk", "ib", "4ib", "-1", "1.3", "2000P", "NaN", "1e3"] {
            assert!(text.parse::<Bytes>().is_err(), "{text} should not be a size");
        }
    }

    #[test]
    fn durations_read_with_units_and_bare_numbers_are_seconds() {
        for (text, ns) in [
            ("60", 60_000_000_000),
            ("60s", 60_000_000_000),
            ("500ms", 500_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("10us", 10_000),
        ] {
            assert_eq!(text.parse(), Ok(Nanos(ns)), "{text}");
        }
        for text in ["", "s", "5 parsecs", "-1s", "400d"] {
            assert!(text.parse::<Nanos>().is_err(), "{text} should not be a duration");
        }
    }

    #[test]
    fn quantities_print_in_words() {
        assert_eq!(Bytes(4096).to_string(), "4 KiB");
        assert_eq!(Bytes(1000).to_string(), "1000 B");
        assert_eq!(Bytes::mib(1536).to_string(), "1.5 GiB");
        assert_eq!(Nanos(850).to_string(), "850 ns");
        assert_eq!(Nanos(1_250_000).to_string(), "1.25 ms");
        assert_eq!(Nanos(999_999).to_string(), "1 ms");
        assert_eq!(Nanos::seconds(8).to_string(), "8 s");
        assert_eq!(Nanos::seconds(125).to_string(), "2m 05s");
        assert_eq!(Nanos::seconds(79_800).to_string(), "22h 10m");
        assert_eq!(Percent::of(70).to_string(), "70%");
    }

    #[test]
    fn shares_refuse_what_makes_no_sense() {
        assert_eq!("70%".parse(), Ok(Percent::of(70)));
        assert_eq!("0.5".parse(), Ok(Percent { ppm: 5_000 }));
        assert!("101%".parse::<Percent>().is_err());
    }
}
