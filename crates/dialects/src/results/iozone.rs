//! What IOzone prints: a table by file and record size, or the throughput of several processes
//! (`-t`). Rates are in KiB/s; with `-O` and `-N` they are something else, and are refused.

use super::{Results, doubt, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    DoubtKind, Form, GivenOption, GivenRow, Measured, Quantity, Statistic, short,
};

const KIB: f64 = 1024.0;

/// The columns behind file and record size, in the order of every version.
const COLUMNS: [(&str, Op); 13] = [
    ("write", Op::Write),
    ("rewrite", Op::Write),
    ("read", Op::Read),
    ("reread", Op::Read),
    ("random read", Op::Read),
    ("random write", Op::Write),
    ("backward read", Op::Read),
    ("record rewrite", Op::Write),
    ("stride read", Op::Read),
    ("fwrite", Op::Write),
    ("frewrite", Op::Write),
    ("fread", Op::Read),
    ("freread", Op::Read),
];

/// Whether a text begins as IOzone's output does, or has one of its tables.
pub fn is_output(text: &str) -> bool {
    text.contains("Iozone: Performance Test of File I/O")
        || text.contains("Children see throughput for")
        || text.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(6).collect();
    matches!(words.as_slice(), ["kB" | "KB", "reclen", "write", ..])
}

/// What IOzone printed.
///
/// # Errors
/// Nothing in it is a result in KiB/s.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::Iozone);
    let (mut head, mut left_out, mut lines) = (None, 0u32, 0u32);
    for (number, line) in (1..).zip(text.lines()) {
        let place = format!("{name}:{number}");
        if line.contains("Output is in operations per second")
            || line.contains("Output is in Microseconds")
        {
            let remedy = "run it without -O and -N, which print KiB/s";
            return Err(ImportError::new(&place, "its rates are no KiB/s", remedy));
        }
        if let Some((_, rest)) = line.split_once("$Revision:") {
            results.tool_version = short(rest.trim_end_matches(['$', ' ']).trim());
        } else if is_head(line) {
            head = Some(Head::of(line));
        } else if let Some(row) = throughput(&place, line) {
            results.push(name, row)?;
        } else if let Some(statistic) = of_processes(line)
            && let Some(row) = results.rows.last_mut()
        {
            row.add(Quantity::of(Measured::Bandwidth, statistic.0), Some(statistic.1));
        } else if let Some(head) = &head
            && is_data(line)
        {
            lines += 1;
            match head.rows(&place, line) {
                Some(rows) => {
                    for mut row in rows {
                        row.group = lines;
                        results.push(name, row)?;
                    }
                }
                None => left_out += 1,
            }
        }
    }
    if left_out > 0 {
        let numbers = Some((f64::from(lines), f64::from(left_out)));
        doubt(&mut results, DoubtKind::LinesLeftOut, name, numbers);
    }
    if results.rows.is_empty() {
        let remedy = "name what `iozone` printed, to its end";
        return Err(ImportError::new(name, "it holds no result", remedy));
    }
    Ok(results)
}

fn is_data(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.clone().count() > 2 && words.all(|word| numbers::number(word).is_some())
}

/// Where the columns of a table end, in characters: tests that were not asked for leave gaps.
struct Head {
    ends: Vec<usize>,
}

impl Head {
    fn of(line: &str) -> Head {
        Head { ends: ends(line).into_iter().map(|word| word.end).collect() }
    }

    fn rows(&self, place: &str, line: &str) -> Option<Vec<GivenRow>> {
        let words = ends(line);
        let mut columns: Vec<usize> = Vec::new();
        for word in &words {
            // The nearest: numbers stand below the ends of names, but for a few characters.
            let nearest = |at: &&usize| self.ends[**at].abs_diff(word.end);
            let all: Vec<usize> = (0..self.ends.len()).collect();
            let column = *all.iter().min_by_key(nearest)?;
            if self.ends[column].abs_diff(word.end) > 4 {
                return None;
            }
            columns.push(column);
        }
        let is_rising = columns.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_rising || columns.first() != Some(&0) || columns.get(1) != Some(&1) {
            return None;
        }
        let value = |at: usize| words.get(at).and_then(|word| numbers::number(word.text));
        let (size, record) = (value(0)? * KIB, value(1)? * KIB);
        let mut rows = Vec::new();
        for (at, column) in columns.iter().enumerate().skip(2) {
            let (title, op) = COLUMNS.get(column - 2)?;
            let mut row = GivenRow::new(title, Some(*op), place.to_owned());
            row.options = vec![
                GivenOption { name: "file size".to_owned(), value: size.to_string() },
                GivenOption { name: "record size".to_owned(), value: record.to_string() },
            ];
            row.add(Quantity::whole(Measured::Bandwidth), value(at).map(|kib| kib * KIB));
            row.add(Quantity::whole(Measured::RequestSize), Some(record));
            rows.push(row);
        }
        Some(rows)
    }
}

/// A word with where it ends.
struct Word<'a> {
    text: &'a str,
    end: usize,
}

fn ends(line: &str) -> Vec<Word<'_>> {
    let of = |text: &'_ str| text.as_ptr() as usize - line.as_ptr() as usize + text.len();
    line.split_whitespace().take(40).map(|text| Word { text, end: of(text) }).collect()
}

/// `Children see throughput for  4 initial writers  = 1234.56 kB/sec`.
fn throughput(place: &str, line: &str) -> Option<GivenRow> {
    let rest = line.trim().strip_prefix("Children see throughput for")?;
    let (title, value) = rest.split_once('=')?;
    let value = kib(value)?;
    let title: Vec<&str> = title.split_whitespace().collect();
    let (processes, what) = title.split_first()?;
    let what = what.join(" ");
    let op = if what.contains("writer") { Op::Write } else { Op::Read };
    let mut row = GivenRow::new(&what, Some(op), place.to_owned());
    let value_of = (*processes).to_owned();
    row.options = vec![GivenOption { name: "processes".to_owned(), value: short(&value_of) }];
    row.add(Quantity::whole(Measured::Bandwidth), Some(value));
    Some(row)
}

/// `1234.56 kB/sec`.
fn kib(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let value = numbers::number(words.next()?)?;
    let unit = words.next()?.to_ascii_lowercase();
    unit.starts_with("kb").then_some(value * KIB)
}

/// The least and the greatest of a process, and their mean.
struct OfProcesses(Statistic, f64);

fn of_processes(line: &str) -> Option<OfProcesses> {
    let (title, value) = line.split_once('=')?;
    let statistic = match title.trim() {
        "Min throughput per process" | "Min throughput per thread" => Statistic::Least,
        "Max throughput per process" | "Max throughput per thread" => Statistic::Most,
        "Avg throughput per process" | "Avg throughput per thread" => Statistic::Mean,
        _ => return None,
    };
    Some(OfProcesses(statistic, kib(value)?))
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, in the form of IOzone 3: writes and random I/O alone.
    const TABLE: &str = "\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $
                                                              random    random
              kB  reclen    write  rewrite    read    reread    read     write
           65536       4   100000   110000                     90000     80000
";

    #[test]
    fn gaps_in_the_table_are_tests_that_were_not_run() {
        assert_eq!(detect(TABLE), Some(Form::Iozone));
        let results = read("i.txt", TABLE, Form::Iozone).expect("results");
        let all: Vec<(&str, Option<f64>)> = results
            .rows
            .iter()
            .map(|row| (row.workload.as_str(), row.overall(Measured::Bandwidth)))
            .collect();
        let kib = |value: f64| Some(value * KIB);
        assert_eq!(
            all,
            [
                ("write", kib(100_000.0)),
                ("rewrite", kib(110_000.0)),
                ("random read", kib(90_000.0)),
                ("random write", kib(80_000.0)),
            ]
        );
        assert_eq!(results.tool(), "IOzone 3.489");
    }

    #[test]
    fn the_throughput_of_processes_is_read() {
        let text = "\tChildren see throughput for  4 initial writers \t=  4096.00 kB/sec
\tParent sees throughput for  4 initial writers \t=  4000.00 kB/sec
\tMin throughput per process \t\t\t=  1000.00 kB/sec
\tMax throughput per process \t\t\t=  1100.00 kB/sec
";
        let results = read("i.txt", text, Form::Iozone).expect("results");
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Bandwidth), Some(4096.0 * KIB));
        let least = Quantity::of(Measured::Bandwidth, Statistic::Least);
        assert_eq!(row.get(least), Some(1000.0 * KIB));
    }

    #[test]
    fn other_units_are_refused() {
        let text = format!("\tOPS Mode. Output is in operations per second.\n{TABLE}");
        assert!(read("i.txt", &text, Form::Iozone).is_err());
    }
}
