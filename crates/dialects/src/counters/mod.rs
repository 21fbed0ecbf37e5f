//! Counters that others wrote into a file: perfmon and esxtop, Prometheus, sar. A text goes in, the
//! intervals of each host in our own words come out; a name without a noun of ours is counted.

mod gather;
mod names;
mod pdh;
mod prometheus;
mod sar;

#[cfg(test)]
mod tests;

use crate::import::ImportError;
use gather::Gather;
use model::counters::Entry;
use model::note::CounterForm;
use std::ops::Range;

/// No file of counters is larger.
pub const MOST_BYTES: u64 = 128 << 20;
/// No file has more columns or series.
pub const MOST_COLUMNS: usize = 65_536;
/// So many values that lie in the run are kept, at most.
pub const MOST_VALUES: usize = 2 << 20;
/// No name is kept longer.
const MOST_NAME: usize = 256;

/// What is wanted of a file.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// What the file is called in messages.
    pub file: &'a str,
    /// The only host that is taken, and the name of one that the file does not name.
    pub host: Option<&'a str>,
    /// What is added to its times, in ns; `None` where nobody said.
    pub offset_ns: Option<i64>,
    /// When the run was, in ns since 1970.
    pub within: Range<u64>,
}

/// What a file tells.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldCounters {
    /// Its form.
    pub form: CounterForm,
    /// The hosts that it tells of.
    pub hosts: Vec<ToldHost>,
    /// Columns or series without a noun of ours.
    pub left_out: u64,
}

/// What a file tells of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldHost {
    /// Its name.
    pub name: String,
    /// How many of its columns were taken.
    pub taken: u64,
    /// How many CPUs are told apart.
    pub cpus: u32,
    /// Its memory in bytes; 0 where the file does not tell.
    pub memory: u64,
    /// The speed of its ports, in 10⁶ bits a second.
    pub speeds: Vec<(String, u32)>,
    /// The usual length of its intervals, in ns.
    pub interval_ns: u64,
    /// Its intervals that touch the run, in their order.
    pub intervals: Vec<ToldInterval>,
}

/// What a host counted in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldInterval {
    /// Its begin, in ns since 1970.
    pub start_unix_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// What was counted.
    pub entries: Vec<Entry>,
}

/// Why nothing of a file can be taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// It is not what it should be; in words, with the remedy.
    Unread(ImportError),
    /// It covers another time than the run, in ns since 1970.
    OtherTime {
        /// Its first instant.
        from: u64,
        /// Its last.
        to: u64,
    },
}

impl From<ImportError> for Refused {
    fn from(error: ImportError) -> Refused {
        Refused::Unread(error)
    }
}

/// Reads a file of counters.
///
/// # Errors
/// It is none, is too large, tells nothing that has a noun of ours, or is of another time.
pub fn read(wanted: &Wanted<'_>, text: &str) -> Result<ToldCounters, Refused> {
    let text = text.trim_start_matches(['\u{feff}', '\r', '\n', ' ']);
    let first = text.lines().next().unwrap_or_default();
    let mut gather = Gather::new(wanted);
    if first.contains("(PDH-") {
        pdh::read(&mut gather, text)?;
    } else if text.starts_with('{') {
        prometheus::read(&mut gather, text)?;
    } else if first.starts_with("# hostname;interval;timestamp") {
        sar::read(&mut gather, text)?;
    } else {
        return Err(wrong(
            wanted,
            "it is no file of counters that is known",
            "name a CSV of `relog -f csv` or of `esxtop -b`, the JSON of a Prometheus range \
             query, or what `sadf -d` writes",
        ));
    }
    gather.finish()
}

fn wrong(wanted: &Wanted<'_>, what: &str, remedy: &str) -> Refused {
    Refused::Unread(ImportError::new(wanted.file, what, remedy))
}

/// Seconds since 1970 of a date and time of day; `None` where it is none. By Hinnant, "chrono-
/// Compatible Low-Level Date Algorithms", 2013: the days of a civil date.
fn unix_seconds(date: [u32; 3], time: [u32; 3]) -> Option<i64> {
    let ([year, month, day], [hour, minute, second]) = (date, time);
    let is_date = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_date {
        return None;
    }
    let year = i64::from(year) - i64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let month = (i64::from(month) + 9) % 12;
    let day = (153 * month + 2) / 5 + i64::from(day) - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719_468;
    Some(days * 86_400 + i64::from(hour * 3_600 + minute * 60 + second))
}

/// Three numbers with this between them.
fn three(text: &str, between: char) -> Option<[u32; 3]> {
    let mut parts = text.split(between).map(|part| part.parse::<u32>().ok());
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}
