//! One value of a sweep: an axis and the quantity that it was set to.
//!
//! Settings are compared by what they stand for, never by how they were written: `4KiB`, `4k` and
//! `4096` are one block size. There is no way to compare the text; [`Setting::label`] is for people
//! and for tables of other programs.

use crate::load::{Rate, SizeMix};
use crate::units::{Bytes, Nanos, Percent};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// An axis and its value at a point. On record, it is the pair of axis and text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "(String, String)", into = "(String, String)")]
pub struct Setting {
    axis: String,
    label: String,
    quantity: Quantity,
}

/// What the text of a setting stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// A plain number: requests outstanding, workers, files.
    Number(Real),
    /// A size in bytes.
    Size(Bytes),
    /// A mix of sizes: size and weight of each, in rising order, weights without a common divisor.
    Sizes(Vec<(Bytes, u32)>),
    /// A duration in ns.
    Time(Nanos),
    /// A share, 0 % to 100 %.
    Share(Percent),
    /// Thousandths of a request per second.
    Iops(u64),
    /// Bytes per second.
    Bandwidth(u64),
    /// A name: a scenario, a list of hosts, an order of access; and arithmetic, whose value follows
    /// from the point.
    Word(String),
}

/// A finite number with a total order; there is no negative zero.
#[derive(Clone, Copy, Debug)]
pub struct Real(f64);

impl Real {
    /// The number; `None` where it is not finite.
    pub fn new(number: f64) -> Option<Real> {
        // Adding 0 turns −0 into 0.
        number.is_finite().then_some(Real(number + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Real) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Real {}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Real) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Real) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// How the text of an axis is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Number,
    Sizes,
    Size,
    Time,
    Share,
    Rate,
    Word,
}

/// How each axis that a suite may sweep is read, and that of a search.
const READINGS: [(&str, Reading); 49] = [
    ("share", Reading::Number),
    ("kind", Reading::Word),
    ("operations", Reading::Word),
    ("file_order", Reading::Word),
    ("other", Reading::Word),
    ("fsync", Reading::Word),
    ("close", Reading::Word),
    ("fill", Reading::Share),
    ("append", Reading::Size),
    ("block_size", Reading::Sizes),
    ("write_block_size", Reading::Sizes),
    ("trim", Reading::Share),
    ("trim_as", Reading::Word),
    ("read", Reading::Share),
    ("access", Reading::Word),
    ("random", Reading::Share),
    ("skew", Reading::Number),
    ("hot_spots", Reading::Word),
    ("align", Reading::Size),
    ("stride", Reading::Size),
    ("run", Reading::Size),
    ("backward", Reading::Word),
    ("targets", Reading::Word),
    ("sharing", Reading::Word),
    ("segments", Reading::Number),
    ("streams", Reading::Number),
    ("range", Reading::Word),
    ("depth", Reading::Number),
    ("workers", Reading::Number),
    ("spread", Reading::Word),
    ("hosts", Reading::Word),
    ("rotate", Reading::Number),
    ("rate", Reading::Rate),
    ("rate_of", Reading::Word),
    ("arrivals", Reading::Word),
    ("think", Reading::Time),
    ("burst", Reading::Number),
    ("fsync_every", Reading::Number),
    ("dsync", Reading::Word),
    ("priority", Reading::Word),
    ("sequence", Reading::Word),
    ("sequence_advances", Reading::Word),
    ("zones", Reading::Word),
    ("zone_size", Reading::Size),
    ("open_zones", Reading::Number),
    ("worker_open_zones", Reading::Number),
    ("zone_reset_threshold", Reading::Share),
    ("zone_reset_frequency", Reading::Share),
    ("unwritten_reads", Reading::Word),
];
/// The axes of the layout.
const LAYOUT_READINGS: [(&str, Reading); 2] = [("files", Reading::Number), ("size", Reading::Size)];

/// How the text of `axis` is read. A field of the axis's name may have the name of its table before
/// it.
fn reading(axis: &str) -> Reading {
    let field = axis.rsplit('.').next().unwrap_or(axis);
    let known = READINGS.iter().chain(&LAYOUT_READINGS).find(|(name, _)| *name == field);
    known.map_or(Reading::Word, |(_, reading)| *reading)
}

impl Quantity {
    /// What `label` stands for as a value of `axis`. A text that is none of the axis's quantities
    /// is a word.
    pub fn of(axis: &str, label: &str) -> Quantity {
        let label = label.trim();
        let number = || Real::new(label.parse().ok()?).map(Quantity::Number);
        let known = match reading(axis) {
            Reading::Number => number(),
            Reading::Size => label.parse().ok().map(Quantity::Size),
            Reading::Sizes => label.parse().ok().map(sizes),
            Reading::Time => label.parse().ok().map(Quantity::Time),
            Reading::Share => label.parse().ok().map(Quantity::Share),
            // A share of what the target carries.
            Reading::Rate if label.ends_with('%') => label.parse().ok().map(Quantity::Share),
            Reading::Rate => label.parse().ok().map(rate),
            Reading::Word => None,
        };
        known.unwrap_or_else(|| Quantity::Word(label.to_owned()))
    }

    /// Whether both are numbers of one kind, so that one may be more than the other.
    pub fn is_of_one_kind(&self, other: &Quantity) -> bool {
        self.number().is_some() && std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The number that it is, in the unit of its kind (bytes, ns, millionths, requests or bytes per
    /// second); `None` of words and mixes.
    pub fn number(&self) -> Option<f64> {
        match self {
            Quantity::Number(number) => Some(number.get()),
            Quantity::Size(Bytes(bytes)) => Some(*bytes as f64),
            Quantity::Time(Nanos(ns)) => Some(*ns as f64),
            Quantity::Share(share) => Some(f64::from(share.ppm)),
            Quantity::Iops(milli) => Some(*milli as f64 / 1e3),
            Quantity::Bandwidth(bytes_per_s) => Some(*bytes_per_s as f64),
            Quantity::Sizes(_) | Quantity::Word(_) => None,
        }
    }
}

/// A mix by what it comes to: in order, and with the least weights of the same shares.
fn sizes(mix: SizeMix) -> Quantity {
    if let [(size, _)] = mix.parts.as_slice() {
        return Quantity::Size(*size);
    }
    let divisor =
        mix.parts.iter().fold(0, |divisor, (_, weight)| common_divisor(divisor, *weight)).max(1);
    let mut parts: Vec<(Bytes, u32)> =
        mix.parts.into_iter().map(|(size, weight)| (size, weight / divisor)).collect();
    parts.sort_unstable();
    Quantity::Sizes(parts)
}

/// Euclid's greatest common divisor; that of 0 and a number is the number.
fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn rate(rate: Rate) -> Quantity {
    match rate {
        Rate::Iops { milli } => Quantity::Iops(milli),
        Rate::Bytes { per_second } => Quantity::Bandwidth(per_second),
    }
}

impl Setting {
    /// The axes of workloads that it is known of how their texts are read; those of any other axis
    /// are words.
    pub fn known_axes() -> impl Iterator<Item = &'static str> {
        READINGS.iter().map(|(axis, _)| *axis)
    }

    /// `axis` at the value that `label` stands for.
    pub fn new(axis: impl Into<String>, label: impl Into<String>) -> Setting {
        let (axis, label) = (axis.into(), label.into());
        let quantity = Quantity::of(&axis, &label);
        Setting { axis, label, quantity }
    }

    /// The field that is swept.
    pub fn axis(&self) -> &str {
        &self.axis
    }

    /// The value as it was written: for people. Two labels may stand for one quantity, so compare
    /// settings instead.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether it is the size of requests: then bytes per second are what can be compared along it.
    pub fn is_request_size(&self) -> bool {
        reading(&self.axis) == Reading::Sizes
    }

    /// What it stands for.
    pub fn quantity(&self) -> &Quantity {
        &self.quantity
    }
}

impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Setting {}

impl PartialOrd for Setting {
    fn partial_cmp(&self, other: &Setting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Setting {
    fn cmp(&self, other: &Setting) -> Ordering {
        (&self.axis, &self.quantity).cmp(&(&other.axis, &other.quantity))
    }
}

impl Hash for Setting {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.axis, &self.quantity).hash(state);
    }
}

impl fmt::Display for Setting {
    /// `block_size=4KiB`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.axis, self.label)
    }
}

impl From<(String, String)> for Setting {
    fn from((axis, label): (String, String)) -> Setting {
        Setting::new(axis, label)
    }
}

impl From<Setting> for (String, String) {
    fn from(setting: Setting) -> (String, String) {
        (setting.axis, setting.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_the_same_quantity_is_the_same_however_it_is_written() {
        for (axis, one, other) in [
            ("block_size", "4KiB", "4096"),
            ("block_size", "4KiB:70, 64KiB:30", "64k:3, 4k:7"),
            ("size", "1.6TB", "1600GB"),
            ("depth", "32", "32.0"),
            ("think", "1s", "1000ms"),
            ("read", "70%", "70"),
            ("rate", "10k", "10000"),
            ("rate", "1MiB/s", "1024KiB/s"),
            ("scenario", "local", " local "),
        ] {
            let (one, other) = (Setting::new(axis, one), Setting::new(axis, other));
            assert_eq!(one, other);
            assert_eq!(one.cmp(&other), Ordering::Equal);
        }
        for (axis, one, other) in [
            ("block_size", "4KiB", "4KB"),
            ("block_size", "4KiB:70, 64KiB:30", "4KiB:30, 64KiB:70"),
            ("rate", "1000", "1000B/s"),
            ("access", "random", "sequential"),
            ("hosts", "4096", "4KiB"),
        ] {
            assert_ne!(Setting::new(axis, one), Setting::new(axis, other));
        }
        assert_ne!(Setting::new("align", "4KiB"), Setting::new("stride", "4KiB"), "another axis");
    }

    #[test]
    fn numbers_have_an_order_and_no_text_breaks_them() {
        let order = |axis, labels: [&str; 3]| {
            let mut settings = labels.map(|label| Setting::new(axis, label));
            settings.sort();
            settings.map(|setting| setting.label().to_owned())
        };
        assert_eq!(order("depth", ["32", "4", "128"]), ["4", "32", "128"]);
        assert_eq!(order("size", ["1TB", "2GB", "10MB"]), ["10MB", "2GB", "1TB"]);
        for label in ["NaN", "inf", "-0", "", "1e999", "memory / 2", "9999999999999999999999"] {
            let setting = Setting::new("depth", label);
            assert_eq!(setting, setting.clone(), "{label}");
            assert!(setting.quantity().number().is_none_or(f64::is_finite));
        }
        assert_eq!(Setting::new("depth", "-0"), Setting::new("depth", "0"));
    }

    #[test]
    fn on_record_it_is_the_pair_of_axis_and_text() {
        let setting = Setting::new("size", "10GB");
        let text = serde_json::to_string(&setting).expect("writes");
        assert_eq!(text, "[\"size\",\"10GB\"]");
        let back: Setting = serde_json::from_str(&text).expect("reads");
        assert_eq!(
            (back.label(), back.quantity()),
            ("10GB", &Quantity::Size(Bytes(10_000_000_000)))
        );
    }
}
