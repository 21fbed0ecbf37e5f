//! The shape of a load, in the types that a suite writes and a plan keeps: sizes and their weights,
//! rates, skews, hot spots, ranges.

use crate::curve::Curve;
use crate::units::{Bytes, Nanos, Percent, UnitError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

fn wrong(message: impl Into<String>, remedy: impl Into<String>) -> UnitError {
    UnitError { message: message.into(), remedy: remedy.into() }
}

/// A list of parts, with or without a colon in each: `4KiB:70, 64KiB:30`.
fn parts(text: &str) -> Vec<(&str, Option<&str>)> {
    text.split(',').map(str::trim).map(split).collect()
}

fn split(part: &str) -> (&str, Option<&str>) {
    match part.split_once(':') {
        Some((left, right)) => (left.trim(), Some(right.trim())),
        None => (part, None),
    }
}

/// More sizes or hot spots than this are a typing error, and would cost time in every draw.
const MOST_PARTS: usize = 64;

/// Request sizes with their weights: one size, or a mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeMix {
    /// Size and weight of each; at least one, weights at least 1, in the order of the suite.
    pub parts: Vec<(Bytes, u32)>,
}

impl SizeMix {
    /// Every request of the same size.
    pub fn single(size: Bytes) -> SizeMix {
        SizeMix { parts: vec![(size, 1)] }
    }

    /// The largest size.
    pub fn largest(&self) -> Bytes {
        self.parts.iter().map(|(size, _)| *size).max().unwrap_or_default()
    }

    /// The smallest size.
    pub fn smallest(&self) -> Bytes {
        self.parts.iter().map(|(size, _)| *size).min().unwrap_or_default()
    }

    /// Whether all requests have one size.
    pub fn is_single(&self) -> bool {
        self.parts.len() == 1
    }

    /// Every size.
    pub fn sizes(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.parts.iter().map(|(size, _)| *size)
    }
}

const MIX_REMEDY: &str =
    "write a size such as 4KiB, or a mix with weights such as 4KiB:70, 64KiB:30";

impl FromStr for SizeMix {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let list = parts(text);
        if list.len() > MOST_PARTS {
            return Err(wrong(
                format!("a mix of {} sizes", list.len()),
                format!("write at most {MOST_PARTS}"),
            ));
        }
        let mut mix = SizeMix { parts: Vec::new() };
        for (size, weight) in &list {
            let size: Bytes = size.parse()?;
            let weight = match weight {
                None if list.len() == 1 => 1,
                None => {
                    return Err(wrong(format!("`{text}` is a mix without weights"), MIX_REMEDY));
                }
                Some(weight) => {
                    let number: Option<u32> = weight.trim_end_matches('%').trim().parse().ok();
                    number.filter(|weight| (1..=1_000_000).contains(weight)).ok_or_else(|| {
                        wrong(format!("`{weight}` is not a weight from 1 to 1000000"), MIX_REMEDY)
                    })?
                }
            };
            if mix.sizes().any(|other| other == size) {
                return Err(wrong(format!("{size} stands twice in the mix"), MIX_REMEDY));
            }
            mix.parts.push((size, weight));
        }
        Ok(mix)
    }
}

impl fmt::Display for SizeMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(size, _)] = self.parts.as_slice() {
            return f.pad(&size.to_string());
        }
        let words: Vec<String> =
            self.parts.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
        f.pad(&words.join(", "))
    }
}

/// A fixed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rate {
    /// Requests per second, in thousandths.
    Iops {
        /// Thousandths of a request per second; at least 1.
        milli: u64,
    },
    /// Bytes per second.
    Bytes {
        /// Bytes per second; at least 1.
        per_second: u64,
    },
}

const RATE_REMEDY: &str =
    "write requests per second such as 10000, 10k or 0.5, or a bandwidth such as 100MiB/s";
/// A billion requests a second is beyond every machine; it is a slip.
const MOST_IOPS: f64 = 1e9;

impl Rate {
    /// So many times this rate, a billion requests (or 2⁶⁴ − 1 bytes) per second at most; never
    /// less than the least rate.
    pub fn times(self, count: u64) -> Rate {
        let count = count.max(1);
        match self {
            Rate::Iops { milli } => {
                Rate::Iops { milli: milli.saturating_mul(count).min((MOST_IOPS * 1e3) as u64) }
            }
            Rate::Bytes { per_second } => {
                Rate::Bytes { per_second: per_second.saturating_mul(count) }
            }
        }
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let text = text.trim();
        let no = || wrong(format!("`{text}` is not a rate"), RATE_REMEDY);
        let plain = text.strip_suffix("/s").map(str::trim);
        if let Some(bytes) = plain.filter(|rest| rest.ends_with(['b', 'B'])) {
            let bytes: Bytes = bytes.parse()?;
            return if bytes.0 > 0 { Ok(Rate::Bytes { per_second: bytes.0 }) } else { Err(no()) };
        }
        let number = plain.unwrap_or(text);
        let number =
            number.strip_suffix("IOPS").or(number.strip_suffix("iops")).unwrap_or(number).trim();
        let (digits, factor) = match number.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1e3),
            None => match number.strip_suffix('M') {
                Some(digits) => (digits, 1e6),
                None => (number, 1.0),
            },
        };
        let value: f64 = digits.trim().replace('_', "").parse().map_err(|_| no())?;
        let milli = value * factor * 1e3;
        if !(1.0..=MOST_IOPS * 1e3).contains(&milli) {
            return Err(no());
        }
        Ok(Rate::Iops { milli: milli.round() as u64 })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Iops { milli } => f.pad(&format!("{} IOPS", *milli as f64 / 1e3)),
            // In binary units where they are exact, else in decimal ones: what is printed can be
            // read back.
            Rate::Bytes { per_second } => {
                let binary = Bytes(*per_second).to_string();
                let text = match binary.parse() {
                    Ok(Bytes(same)) if same == *per_second => binary,
                    _ if per_second.is_multiple_of(1_000_000) => {
                        format!("{} MB", per_second / 1_000_000)
                    }
                    _ => format!("{per_second} B"),
                };
                f.pad(&format!("{text}/s"))
            }
        }
    }
}

/// A number from 0 to 100 with three decimals, kept exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skew {
    /// Thousandths.
    pub milli: u32,
}

impl Skew {
    /// As a number.
    pub fn value(self) -> f64 {
        f64::from(self.milli) / 1e3
    }
}

impl FromStr for Skew {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let value: Option<f64> = text.trim().parse().ok();
        match value.filter(|value| (0.001..=100.0).contains(value)) {
            Some(value) => Ok(Skew { milli: (value * 1e3).round() as u32 }),
            None => Err(wrong(
                format!("`{text}` is not a skew"),
                "write a number such as 1.2, from 0.001 to 100",
            )),
        }
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.value().to_string())
    }
}

/// A table of hot spots: which share of the requests goes to which share of the space, from its
/// start on. What is left of the requests goes to what is left of the space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotSpots {
    /// Share of the requests, and share of the space.
    pub spots: Vec<(Percent, Percent)>,
}

const SPOT_REMEDY: &str = "write shares of requests and of space such as 95%:5%, 4%:10%";

impl FromStr for HotSpots {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let list = parts(text);
        if list.len() > MOST_PARTS {
            return Err(wrong(
                format!("{} hot spots", list.len()),
                format!("write at most {MOST_PARTS}"),
            ));
        }
        let mut spots = Vec::new();
        for (requests, space) in list {
            let space = space.ok_or_else(|| {
                wrong(format!("`{requests}` has no share of the space"), SPOT_REMEDY)
            })?;
            let (requests, space): (Percent, Percent) = (requests.parse()?, space.parse()?);
            if space == Percent::ZERO {
                return Err(wrong("a hot spot without space", SPOT_REMEDY));
            }
            spots.push((requests, space));
        }
        let sum = |pick: fn(&(Percent, Percent)) -> Percent| {
            spots.iter().map(|spot| u64::from(pick(spot).ppm)).sum::<u64>()
        };
        let (requests, space) = (sum(|spot| spot.0), sum(|spot| spot.1));
        if requests > 1_000_000 || space > 1_000_000 {
            return Err(wrong(
                format!("the shares of `{text}` add up to more than 100 %"),
                SPOT_REMEDY,
            ));
        }
        if space == 1_000_000 && requests < 1_000_000 {
            return Err(wrong(
                format!("`{text}` leaves requests and no space for them"),
                SPOT_REMEDY,
            ));
        }
        Ok(HotSpots { spots })
    }
}

impl fmt::Display for HotSpots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.spots.iter().map(|(requests, space)| format!("{requests}:{space}")).collect();
        f.pad(&words.join(", "))
    }
}

/// Places that come again and again in this order: numbers of blocks, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The places; none where requests go elsewhere.
    pub places: Vec<u32>,
}

/// No sequence is longer.
pub const MOST_PLACES: usize = 4_096;

impl FromStr for Sequence {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let remedy = "write numbers of blocks such as 2,0,1";
        let words = text.split(',').map(str::trim);
        let places: Result<Vec<u32>, _> = words.map(str::parse).collect();
        let places = places.map_err(|_| wrong(format!("`{text}` is no sequence"), remedy))?;
        if places.len() > MOST_PLACES {
            let message = format!("{} places", places.len());
            return Err(wrong(message, "write at most 4096; a trace has more"));
        }
        Ok(Sequence { places })
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.places.iter().map(u32::to_string).collect();
        f.pad(&words.join(","))
    }
}

/// Where in a file a part begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// At this share of it.
    Share(Percent),
    /// Behind so many bytes, or at its end where it has fewer.
    At(Bytes),
}

impl Boundary {
    /// The bytes before it in a file of `size`.
    pub fn in_file(self, size: Bytes) -> u64 {
        match self {
            Boundary::Share(share) => {
                (u128::from(size.0) * u128::from(share.ppm) / 1_000_000) as u64
            }
            Boundary::At(Bytes(bytes)) => bytes.min(size.0),
        }
    }
}

impl FromStr for Boundary {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let has_unit = text.trim().ends_with(|c: char| c.is_ascii_alphabetic());
        if has_unit { text.parse().map(Boundary::At) } else { text.parse().map(Boundary::Share) }
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Boundary::Share(share) => share.fmt(f),
            // Displayed sizes are rounded; this one says where.
            Boundary::At(Bytes(bytes)) => f.pad(&format!("{bytes}B")),
        }
    }
}

/// A part of the layout: from one place in every file to another, or so much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub from: Boundary,
    /// Where it ends; above `from` where both are counted alike.
    pub to: Boundary,
    /// Whether `to` says instead how much there is behind `from`.
    pub is_length: bool,
}

impl Part {
    /// All of it.
    pub const WHOLE: Part = Part {
        from: Boundary::Share(Percent::ZERO),
        to: Boundary::Share(Percent::ALL),
        is_length: false,
    };

    /// Where it ends in a file of `size`, if it begins at `start`.
    pub fn end(&self, start: u64, size: Bytes) -> u64 {
        let to = self.to.in_file(size);
        if self.is_length { start.saturating_add(to).min(size.0) } else { to }
    }
}

impl FromStr for Part {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let no = || {
            wrong(
                format!("`{text}` is not a part of the layout"),
                "write two shares such as 0%-50%, or sizes such as 64MiB-100%, or a place and how \
                 much behind it, such as 25%+8GiB",
            )
        };
        let is_length = text.contains('+');
        let (from, to) = text.split_once(['-', '+']).ok_or_else(no)?;
        let part = Part { from: from.parse()?, to: to.parse()?, is_length };
        let is_empty = match (part.from, part.to) {
            (_, Boundary::Share(Percent::ZERO) | Boundary::At(Bytes(0))) => true,
            (Boundary::Share(from), Boundary::Share(to)) if !is_length => from >= to,
            (Boundary::At(from), Boundary::At(to)) if !is_length => from >= to,
            (from, _) => from == Boundary::Share(Percent::ALL),
        };
        if is_empty { Err(no()) } else { Ok(part) }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_length { '+' } else { '-' };
        f.pad(&format!("{}{sign}{}", self.from, self.to))
    }
}

/// When a worker's requests are due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// A closed loop: a request is due as soon as there is a place among the outstanding ones.
    Closed {
        /// How long a worker rests after a burst has come back; 0 is no rest.
        think: Nanos,
        /// Requests between two rests.
        burst: u32,
    },
    /// An open loop: requests are due at their own times, whatever the target does.
    Open {
        /// What all workers of all hosts do together.
        rate: Rate,
        /// At equal distances, or like strangers arriving.
        poisson: bool,
    },
    /// An open loop at a rate that changes.
    Changing {
        /// What all workers of all hosts do together.
        curve: Curve,
        /// Where the integral of the rate reaches each whole number, or like strangers arriving.
        poisson: bool,
    },
}

impl Pace {
    /// As fast as the target goes.
    pub const FREE: Pace = Pace::Closed { think: Nanos(0), burst: 1 };

    /// Whether requests are due at their own times.
    pub fn is_open(&self) -> bool {
        matches!(self, Pace::Open { .. } | Pace::Changing { .. })
    }

    /// The rate over time, where it changes.
    pub fn curve(&self) -> Option<&Curve> {
        match self {
            Pace::Changing { curve, .. } => Some(curve),
            Pace::Open { .. } | Pace::Closed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_shares_or_bytes() {
        let part = |text: &str| text.parse::<Part>();
        let at = |text: &str, size: u64| {
            let part = part(text).expect(text);
            let start = part.from.in_file(Bytes(size));
            (start, part.end(start, Bytes(size)))
        };
        assert_eq!(at("25%-50%", 1_000), (250, 500));
        assert_eq!(at("64KiB-100%", 1 << 20), (65_536, 1 << 20));
        assert_eq!(at("64KiB-100%", 1_000), (1_000, 1_000), "no more than there is");
        assert_eq!(at("0-512B", 1_000), (0, 512));
        assert_eq!(at("25%+512B", 1_000), (250, 762));
        assert_eq!(at("512B+25%", 1_000), (512, 762));
        assert_eq!(at("512B+90%", 1_000), (512, 1_000), "no more than there is");
        for text in ["64KiB-100%", "25%-50%", "512B-4096B", "50%+50%", "8KiB+4KiB"] {
            let again = part(text).map(|part| part.to_string()).map(|text| part(&text).is_ok());
            assert_eq!(again, Ok(true), "{text}");
        }
        let none = ["", "50%", "50%-50%", "4KiB-4KiB", "8KiB-4KiB", "100%-1GiB", "1GiB-0%"];
        for text in none.into_iter().chain(["100%+1GiB", "25%+0%"]) {
            assert!(part(text).is_err(), "{text}");
        }
    }

    #[test]
    fn mixes_need_weights_and_differ() {
        assert_eq!("4k".parse(), Ok(SizeMix::single(Bytes(4096))));
        let mix: SizeMix = "4KiB:70, 64KiB:30%".parse().expect("a mix");
        assert_eq!(mix.parts, [(Bytes::kib(4), 70), (Bytes::kib(64), 30)]);
        assert_eq!(
            (mix.largest(), mix.smallest(), mix.to_string().parse()),
            (Bytes::kib(64), Bytes::kib(4), Ok(mix))
        );
        for text in ["", "4k,8k", "4k:0", "4k:-1", "4k:1,4k:2", "4k:x", "4k:1,"] {
            assert!(text.parse::<SizeMix>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_requests_or_bytes() {
        for (text, rate) in [
            ("10000", Rate::Iops { milli: 10_000_000 }),
            ("10k", Rate::Iops { milli: 10_000_000 }),
            ("0.5", Rate::Iops { milli: 500 }),
            ("1.5M/s", Rate::Iops { milli: 1_500_000_000 }),
            ("200 IOPS", Rate::Iops { milli: 200_000 }),
            ("100MiB/s", Rate::Bytes { per_second: 100 << 20 }),
            ("1GB/s", Rate::Bytes { per_second: 1_000_000_000 }),
        ] {
            assert_eq!(text.parse(), Ok(rate), "{text}");
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
        for text in ["", "0", "-5", "fast", "1e12", "0B/s", "NaN", "inf", "MiB/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn hot_spots_and_parts_add_up() {
        let spots: HotSpots = "95%:5%, 4%:10%".parse().expect("spots");
        assert_eq!(spots.spots[1], (Percent::of(4), Percent::of(10)));
        assert_eq!(spots.to_string().parse(), Ok(spots));
        for text in ["", "95%", "95%:0%", "60%:5%, 60%:5%", "50%:100%", "10%:60%,10%:60%"] {
            assert!(text.parse::<HotSpots>().is_err(), "{text}");
        }
        assert_eq!(
            "0%-50%".parse(),
            Ok(Part { to: Boundary::Share(Percent::of(50)), ..Part::WHOLE })
        );
        for text in ["", "50%", "50%-50%", "60%-50%", "a-b"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
        assert!(
            "1.2".parse::<Skew>().is_ok()
                && "0".parse::<Skew>().is_err()
                && "x".parse::<Skew>().is_err()
        );
    }
}
