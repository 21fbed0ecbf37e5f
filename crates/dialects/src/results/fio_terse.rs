//! fio's terse output (`--output-format=terse`, `--minimal`; fio's HOWTO, *Terse output*): a line
//! for each job, fields between semicolons. Versions 2 to 5.

use super::{Results, left_out, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{Form, GivenRow, Measured, Quantity, Span, Statistic, short};

const KIB: f64 = 1024.0;
const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;
/// fio prints so many percentiles, used or not.
const PERCENTILES: usize = 20;
/// No line has more fields: those of all disks stand at its end.
const MOST_FIELDS: usize = 5_000;

/// Which of the versions a line is of: they differ in their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Without the version of fio; with trims.
    Two,
    /// Reads and writes.
    Three,
    /// With trims.
    Four,
    /// With trims, and samples of rates.
    Five,
}

impl Version {
    /// By the first fields of a line.
    fn of(fields: &[&str]) -> Option<Version> {
        let is_named = fields.get(1).is_some_and(|field| field.starts_with("fio-"));
        match (*fields.first()?, is_named) {
            ("2", false) => Some(Version::Two),
            ("3", true) => Some(Version::Three),
            ("4", true) => Some(Version::Four),
            ("5", true) => Some(Version::Five),
            _ => None,
        }
    }

    /// Fields of one direction.
    fn length(self) -> usize {
        // Amounts 4, three latencies of 4, percentiles, bandwidth 5; rates 5 and a count.
        4 + 3 * 4 + PERCENTILES + 5 + if self == Version::Five { 6 } else { 0 }
    }

    fn directions(self) -> &'static [Op] {
        match self {
            Version::Three => &[Op::Read, Op::Write],
            Version::Two | Version::Four | Version::Five => &[Op::Read, Op::Write, Op::Trim],
        }
    }
}

fn fields(line: &str) -> Vec<&str> {
    line.trim().split(';').take(MOST_FIELDS).collect()
}

/// Whether a line begins as that of a job does.
fn is_begun(line: &str) -> bool {
    let begins = ["2;", "3;fio-", "4;fio-", "5;fio-"];
    begins.iter().any(|begin| line.trim_start().starts_with(begin))
}

/// Whether a line is one of a job.
fn is_line(line: &str) -> bool {
    is_begun(line) && fields(line).len() >= 80
}

/// Whether a line has numbers that fio does not print: what they stand for is left out.
fn has_impossible(line: &str) -> bool {
    fields(line).iter().skip(3).any(|field| {
        let text = field.trim_end_matches('%');
        let value: Option<f64> = text.parse().ok();
        value.is_some_and(|value| !model::foreign::is_value(value))
    })
}

/// Whether a text has lines of jobs.
pub fn is_output(text: &str) -> bool {
    text.lines().any(is_line)
}

/// fio's terse output.
///
/// # Errors
/// No job in it did a request.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::FioTerse);
    let mut group = 0;
    let (mut begun, mut left) = (0, 0);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| is_begun(line)) {
        begun += 1;
        // Cut off, or with numbers that no job has.
        left += usize::from(!is_line(line) || has_impossible(line));
        if !is_line(line) {
            continue;
        }
        let fields = fields(line);
        let Some(version) = Version::of(&fields) else { continue };
        if version != Version::Two && results.tool_version.is_empty() {
            results.tool_version = short(fields[1]);
        }
        for row in rows(&format!("{name}:{number}"), &fields, version) {
            results.push(name, GivenRow { group, ..row })?;
        }
        group += 1;
    }
    left_out(&mut results, name, begun, left);
    if results.rows.is_empty() {
        let remedy = "name what `fio --output-format=terse` wrote, to its end";
        return Err(ImportError::new(name, "no job of it did a request", remedy));
    }
    Ok(results)
}

fn rows(place: &str, fields: &[&str], version: Version) -> Vec<GivenRow> {
    let job = if version == Version::Two { 1 } else { 2 };
    let workload = fields.get(job).copied().unwrap_or("unnamed");
    let errno = fields.get(job + 2).and_then(|field| numbers::number(field));
    let mut rows = Vec::new();
    for (nth, op) in version.directions().iter().enumerate() {
        let first = job + 3 + nth * version.length();
        let Some(part) = fields.get(first..first + version.length()) else { break };
        let mut row = GivenRow::new(workload, Some(*op), place);
        if direction(part, version, &mut row) {
            row.add(Quantity::whole(Measured::Errno), errno);
            rows.push(row);
        }
    }
    let cpu = job + 3 + version.directions().len() * version.length();
    for (at, measured) in [(cpu, Measured::CpuUser), (cpu + 1, Measured::CpuSystem)] {
        let percent = fields.get(at).and_then(|field| numbers::number(field.trim_end_matches('%')));
        rows.iter_mut().for_each(|row| row.add(Quantity::whole(measured), percent));
    }
    rows
}

/// What a job says of one direction; `false` where it did nothing in it.
fn direction(part: &[&str], version: Version, row: &mut GivenRow) -> bool {
    let number = |at: usize| numbers::number(part[at].trim_end_matches('%'));
    let Some(kib) = number(0).filter(|kib| *kib > 0.0) else { return false };
    row.add(Quantity::whole(Measured::Bytes), Some(kib * KIB));
    row.add(Quantity::whole(Measured::Bandwidth), number(1).map(|kib| kib * KIB));
    row.add(Quantity::whole(Measured::Rate), number(2));
    row.add(Quantity::whole(Measured::Time), number(3).map(|ms| ms * NS_PER_MS));
    let percentiles = 12;
    let total = percentiles + PERCENTILES;
    for (first, span) in [(4, Span::Submission), (8, Span::Completion), (total, Span::Total)] {
        // Of what was not measured, fio prints zeros.
        if number(first + 1).is_none_or(|most| most <= 0.0) {
            continue;
        }
        for (at, statistic) in
            (first..).zip([Statistic::Least, Statistic::Most, Statistic::Mean, Statistic::StdDev])
        {
            let value = number(at).map(|us| us * NS_PER_US);
            row.add(Quantity::latency(span, statistic), value);
        }
    }
    for cell in &part[percentiles..total] {
        let Some((share, value)) = cell.split_once("%=") else { continue };
        let statistic = numbers::number(share).and_then(Statistic::percentile);
        if let Some(statistic) = statistic {
            let value = numbers::number(value).map(|us| us * NS_PER_US);
            row.add(Quantity::latency(Span::Completion, statistic), value);
        }
    }
    samples(&part[total + 4..], version, row);
    true
}

/// Samples of the bandwidth, of version 5 with their count and with those of rates.
fn samples(part: &[&str], version: Version, row: &mut GivenRow) {
    let number = |at: usize| part.get(at).and_then(|cell| numbers::number(cell));
    let moments = [Statistic::Least, Statistic::Most, Statistic::Mean, Statistic::StdDev];
    if number(1).is_some_and(|most| most > 0.0) {
        for (at, statistic) in [0, 1, 3, 4].into_iter().zip(moments) {
            let value = number(at).map(|kib| kib * KIB);
            row.add(Quantity::of(Measured::Bandwidth, statistic), value);
        }
    }
    if version == Version::Five && number(5).is_some_and(|count| count > 0.0) {
        row.add(Quantity::of(Measured::Bandwidth, Statistic::Count), number(5));
        for (at, statistic) in [6, 7, 8, 9].into_iter().zip(moments) {
            row.add(Quantity::of(Measured::Rate, statistic), number(at));
        }
        row.add(Quantity::of(Measured::Rate, Statistic::Count), number(10));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// One direction: amounts, latencies, percentiles, bandwidth.
    fn part(kib: u32, five: bool) -> String {
        let percentiles: Vec<String> =
            (1..=20).map(|n| format!("{}.000000%={}", n * 5 - 1, n * 10)).collect();
        let samples = if five { ";7;20;60;50.5;4.5;7" } else { "" };
        format!(
            "{kib};4096;1024;2000;1;9;2.5;0.5;10;900;97.0;5.0;{};12;910;100.0;5.5;\
             80;120;50.000000%;100.5;9.0{samples}",
            percentiles.join(";")
        )
    }

    #[test]
    fn each_version_has_its_own_fields() {
        let tail = "1.5%;10.5%;4000;0;12;100.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.0%";
        for (head, parts, five) in
            [("2;a;0;0", 3, false), ("3;fio-3.33;a;0;0", 2, false), ("5;fio-3.33;a;0;5", 3, true)]
        {
            let parts: Vec<String> =
                (0..parts).map(|nth| part(if nth == 1 { 8192 } else { 0 }, five)).collect();
            let text = format!("fio: a warning\n{head};{};{tail}\n", parts.join(";"));
            assert_eq!(detect(&text), Some(Form::FioTerse), "{head}");
            let results = read("t.txt", &text, Form::FioTerse).expect(head);
            assert_eq!(results.rows.len(), 1, "{head}");
            let row = &results.rows[0];
            assert_eq!((row.workload.as_str(), row.op), ("a", Some(Op::Write)));
            let whole = |measured| row.get(Quantity::whole(measured));
            assert_eq!(whole(Measured::Bytes), Some(8_388_608.0));
            assert_eq!(whole(Measured::Rate), Some(1024.0));
            assert_eq!(whole(Measured::Time), Some(2e9));
            assert_eq!(whole(Measured::CpuSystem), Some(10.5), "{head}");
            let of = |span, statistic| row.get(Quantity::latency(span, statistic));
            assert_eq!(of(Span::Completion, Statistic::Quantile(990_000_000)), Some(200e3));
            assert_eq!(of(Span::Total, Statistic::Mean), Some(100e3));
            assert_eq!(of(Span::Submission, Statistic::Most), Some(9e3));
            let rate = row.get(Quantity::of(Measured::Rate, Statistic::Mean));
            assert_eq!(rate, five.then_some(50.5));
        }
    }

    #[test]
    fn other_lines_with_semicolons_are_none() {
        assert_eq!(detect("2;3;4\n"), None);
        assert!(super::read("t.txt", "3;fio-3.1;a\n").is_err());
    }
}
