//! Traces of requests, of other tools and our own, as one stream of requests in the order of their
//! instants.
//!
//! Everything is read as a stream and in bounded memory, whatever the file's size. Lines that are
//! out of order are sorted within a bounded window; what needs more than the window, the caller
//! sorts with files. Pure: the caller opens the file.

mod blkparse;
mod blktrace;
mod csv;
pub mod distil;
mod input;
mod iolog;
mod names;
mod order;

#[cfg(test)]
mod tests;

pub use input::{InFile, Requests};
pub use order::WINDOW;

use std::fmt;
use std::str::FromStr;

model::plain_words! {
    /// A form of traces.
    pub enum TraceDialect {
        /// Our own.
        Plimsoll = "plimsoll",
        /// fio's `write_iolog`, version 2 or 3.
        Iolog = "iolog",
        /// blktrace's binary files.
        Blktrace = "blktrace",
        /// What blkparse prints.
        Blkparse = "blkparse",
        /// The CSV of MSR Cambridge.
        Msr = "msr",
        /// The Storage Performance Council's, as the traces of UMass.
        Spc = "spc",
        /// Alibaba's block traces.
        Alibaba = "alibaba",
        /// Tencent's block traces.
        Tencent = "tencent",
    }
}

impl TraceDialect {
    /// Whether its records are lines.
    fn is_text(self) -> bool {
        !matches!(self, TraceDialect::Plimsoll | TraceDialect::Blktrace)
    }

    /// The dialect that the first bytes of a file tell; `None` where they tell none.
    pub fn of_content(start: &[u8]) -> Option<TraceDialect> {
        if start.starts_with(&model::trace::MAGIC) {
            return Some(TraceDialect::Plimsoll);
        }
        if blktrace::is_one(start) {
            return Some(TraceDialect::Blktrace);
        }
        let text = String::from_utf8_lossy(start);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next()?;
        if iolog::version(first).is_some() {
            return Some(TraceDialect::Iolog);
        }
        // The first may be a head, and the last may be cut off.
        let mut looked_at = [Some(first), lines.next()].into_iter().flatten();
        looked_at.find_map(|line| match blkparse::is_one(line) {
            true => Some(TraceDialect::Blkparse),
            false => csv::dialect_of(line),
        })
    }
}

impl FromStr for TraceDialect {
    type Err = String;

    fn from_str(text: &str) -> Result<TraceDialect, String> {
        TraceDialect::ALL.iter().copied().find(|dialect| dialect.word() == text).ok_or_else(|| {
            let all: Vec<&str> = TraceDialect::ALL.iter().map(|dialect| dialect.word()).collect();
            format!("`{text}` is no form of traces; write {}", all.join(", "))
        })
    }
}

/// A place in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The line, from 1.
    Line(u64),
    /// The request of a binary file, from 1.
    Request(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, "line {number}"),
            Place::Request(number) => write!(f, "request {number}"),
        }
    }
}

/// Why a trace is not read on: what, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceProblem {
    /// Where; `None` for the file as a whole.
    pub place: Option<Place>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// Whether the only thing wrong is the order: [`Requests::next_in_file`] reads it.
    pub is_order: bool,
}

impl TraceProblem {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> TraceProblem {
        TraceProblem { place: None, what: what.into(), remedy: remedy.into(), is_order: false }
    }

    fn at(self, place: Place) -> TraceProblem {
        TraceProblem { place: Some(self.place.unwrap_or(place)), ..self }
    }
}

impl fmt::Display for TraceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// How a trace came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceEnd {
    /// Whether it was cut off in the middle: the last line or block is not whole.
    pub is_cut_off: bool,
    /// Requests that the recorder lost, where it says so.
    pub lost: u64,
    /// Requests and lines that are neither reads, writes, flushes nor trims.
    pub left_out: u64,
    /// Requests that were sorted into their place.
    pub sorted: u64,
}

/// A request as a dialect tells it, by its own clock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    /// In ns, from any beginning.
    at_ns: i128,
    op: model::Op,
    offset: u64,
    length: u64,
    source: u32,
    /// Until it came back, where the trace says so.
    took_ns: Option<i128>,
}

impl Seen {
    /// A flush: it has no place.
    fn flush(at_ns: i128, source: u32) -> Seen {
        Seen { at_ns, op: model::Op::Fsync, offset: 0, length: 0, source, took_ns: None }
    }
}

/// What a line or a record comes to.
enum Read {
    Request(Seen),
    /// Nothing that can be sent, as its tool means it.
    Nothing,
    /// A request of another kind.
    LeftOut,
}

/// What a field should be.
fn field<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, TraceProblem> {
    value.map(str::trim).filter(|value| !value.is_empty()).ok_or_else(|| {
        TraceProblem::new(format!("there is no {name}"), "see whether the line is whole")
    })
}

fn number(value: Option<&str>, name: &str) -> Result<u64, TraceProblem> {
    let text = field(value, name)?;
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        TraceProblem::new(
            format!("`{shown}` is no {name}"),
            "see whether the line is whole, or name the form with --from",
        )
    })
}

/// A second in ns.
const SECOND_NS: i128 = 1_000_000_000;

/// A decimal number of seconds as ns, exactly; digits below a ns are cut off.
fn seconds_ns(value: Option<&str>, name: &str) -> Result<i128, TraceProblem> {
    let text = field(value, name)?;
    let exact = || {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_number =
            is_digits(whole) && is_digits(part) && !(whole.is_empty() && part.is_empty());
        if !is_number || whole.len() > 19 {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let part = &part[..part.len().min(18)];
        let scale = 10i128.pow(part.len() as u32);
        let part: i128 = if part.is_empty() { 0 } else { part.parse().ok()? };
        Some(sign * (whole * SECOND_NS + part * SECOND_NS / scale))
    };
    exact().ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        TraceProblem::new(
            format!("`{shown}` is no {name}"),
            "see whether the line is whole, or name the form with --from",
        )
    })
}

/// Bytes of so many sectors of 512.
fn sectors(count: u64, name: &str) -> Result<u64, TraceProblem> {
    count.checked_mul(512).ok_or_else(|| {
        TraceProblem::new(format!("{name} {count} is beyond any device"), "look at the line")
    })
}
