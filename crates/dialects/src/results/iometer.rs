//! Iometer's results (`results.csv`): tables whose columns have names, and the access
//! specifications that were used. Of managers, workers and disks only the sum (`ALL`) is read.
//! The counts of its bins of latencies are options; no quantile follows from bins that wide.

use super::{Results, doubt, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    DoubtKind, Form, GivenOption, GivenRow, Measured, Quantity, Span, Statistic, short,
};

const MIB: f64 = (1_u64 << 20) as f64;
const NS_PER_MS: f64 = 1e6;
/// No line has more columns.
const MOST_COLUMNS: usize = 200;
/// No results name more lines of access specifications.
const MOST_LINES: usize = 10_000;
const HEAD: &str = "'Target Type,Target Name,Access Specification Name";

/// Whether a text has the head of its tables.
pub fn is_results(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(HEAD))
}

/// A line of an access specification.
struct SpecLine {
    /// The specification.
    name: String,
    /// Bytes of a request, where there is a number.
    bytes: Option<f64>,
    /// As it is written.
    text: String,
}

/// What Iometer wrote.
///
/// # Errors
/// No table in it has a line of all.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::IometerCsv);
    let (mut columns, mut specs): (Vec<&str>, Vec<SpecLine>) = (Vec::new(), Vec::new());
    let (mut below, mut spec, mut left_out) = (String::new(), String::new(), 0_u32);
    // The specifications of a run stand below its results.
    let mut places: Vec<usize> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(head) = line.strip_prefix('\'') {
            below = head.to_owned();
            if line.starts_with(HEAD) {
                columns = head.split(',').take(MOST_COLUMNS).map(str::trim).collect();
            }
            continue;
        }
        if line.starts_with("ALL,") && !columns.is_empty() {
            let place = format!("{name}:{number}");
            let Some(cells) = Cells::of(&columns, line) else {
                left_out += 1;
                continue;
            };
            let first = results.rows.len();
            for row in cells.rows(&place, number) {
                results.push(name, row)?;
            }
            places.extend(first..results.rows.len());
            if let Some(errors) = cells.number("Errors").filter(|errors| *errors > 0.0) {
                let what = cells.text("Access Specification Name").unwrap_or_default();
                doubt(&mut results, DoubtKind::Errors, what, Some((errors, 0.0)));
            }
        } else if below == "Version" {
            results.tool_version = short(line);
        } else if below.starts_with("Access specification name") {
            line.rsplit_once(',').map_or(line, |(name, _)| name).clone_into(&mut spec);
        } else if below.starts_with("size,") && specs.len() < MOST_LINES {
            let bytes = line.split(',').next().and_then(numbers::number);
            specs.push(SpecLine { name: short(&spec), bytes, text: short(line) });
        }
    }
    if left_out > 0 {
        let numbers = Some((results.rows.len() as f64, f64::from(left_out)));
        doubt(&mut results, DoubtKind::LinesLeftOut, name, numbers);
    }
    for at in places {
        named(&mut results.rows[at], &specs);
    }
    if results.rows.is_empty() {
        let remedy = "name the results.csv of a test that ended";
        return Err(ImportError::new(name, "no line of it is a result of all (ALL)", remedy));
    }
    Ok(results)
}

/// Gives a row what its specification says.
fn named(row: &mut GivenRow, specs: &[SpecLine]) {
    let own: Vec<&SpecLine> = specs.iter().filter(|spec| spec.name == row.workload).collect();
    for (number, line) in own.iter().take(100).enumerate() {
        let name = match number {
            0 => "size,% of size,% reads,% random,delay,burst,align,reply".to_owned(),
            number => format!("line {}", number + 1),
        };
        row.options.push(GivenOption { name, value: line.text.clone() });
    }
    let first = own.first().and_then(|line| line.bytes);
    if own.iter().all(|line| line.bytes == first) {
        row.add(Quantity::whole(Measured::RequestSize), first);
    }
}

/// A line with its columns.
struct Cells<'a> {
    columns: &'a [&'a str],
    cells: Vec<String>,
}

impl<'a> Cells<'a> {
    /// The name of a specification, the third column, may hold commas.
    fn of(columns: &'a [&'a str], line: &str) -> Option<Cells<'a>> {
        let all: Vec<&str> = line.split(',').take(2 * MOST_COLUMNS).collect();
        let more = all.len().saturating_sub(columns.len());
        // Older versions end their lines earlier than their heads.
        if all.len() < 7 || all.len() > MOST_COLUMNS {
            return None;
        }
        let mut cells: Vec<String> = all[..2].iter().map(|cell| (*cell).to_owned()).collect();
        cells.push(all[2..=2 + more].join(","));
        cells.extend(all[3 + more..].iter().map(|cell| cell.trim().to_owned()));
        Some(Cells { columns, cells })
    }

    fn text(&self, name: &str) -> Option<&str> {
        let at = self.columns.iter().position(|column| *column == name)?;
        self.cells.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).and_then(numbers::number)
    }

    /// Bytes in a second: of requests of this kind (`Read `, `Write `, or all).
    fn bandwidth(&self, kind: &str) -> Option<f64> {
        let column = |unit: &str| self.number(&format!("{kind}{unit}"));
        column("MBps (Decimal)").map(|mb| mb * 1e6).or_else(|| {
            let binary = column("MiBps (Binary)").or_else(|| column("MBps (Binary)"));
            binary.or_else(|| column("MBps")).map(|mib| mib * MIB)
        })
    }

    fn rows(&self, place: &str, group: u32) -> Vec<GivenRow> {
        let rate = |kind: &str| self.number(&format!("{kind}IOps")).unwrap_or(0.0);
        let (reads, writes) = (rate("Read "), rate("Write "));
        let kinds: &[(&str, Option<Op>)] = match (reads > 0.0, writes > 0.0) {
            (true, false) => &[("Read ", Some(Op::Read))],
            (false, true) => &[("Write ", Some(Op::Write))],
            _ => &[("", None), ("Read ", Some(Op::Read)), ("Write ", Some(Op::Write))],
        };
        kinds.iter().map(|(kind, op)| self.row(place, group, kind, *op)).collect()
    }

    fn row(&self, place: &str, group: u32, kind: &str, op: Option<Op>) -> GivenRow {
        let spec = self.text("Access Specification Name").unwrap_or("access specification");
        let mut row = GivenRow::new(spec, op, place.to_owned());
        row.group = group;
        row.add(Quantity::whole(Measured::Rate), self.number(&format!("{kind}IOps")));
        row.add(Quantity::whole(Measured::Bandwidth), self.bandwidth(kind));
        let (mean, most) = match kind {
            "" => ("Average Response Time".to_owned(), "Maximum Response Time".to_owned()),
            kind => {
                (format!("Average {kind}Response Time"), format!("Maximum {kind}Response Time"))
            }
        };
        let ns = |column: &str| self.number(column).map(|ms| ms * NS_PER_MS);
        row.add(Quantity::latency(Span::Total, Statistic::Mean), ns(&mean));
        row.add(Quantity::latency(Span::Total, Statistic::Most), ns(&most));
        let sum = |one: &str, other: &str| Some(self.number(one)? + self.number(other)?);
        let (requests, bytes) = match op {
            Some(Op::Read) => (self.number("Read I/Os"), self.number("Bytes Read")),
            Some(Op::Write) => (self.number("Write I/Os"), self.number("Bytes Written")),
            _ => (sum("Read I/Os", "Write I/Os"), sum("Bytes Read", "Bytes Written")),
        };
        row.add(Quantity::whole(Measured::Requests), requests);
        row.add(Quantity::whole(Measured::Bytes), bytes);
        let depth = self.number("Queue Depth").filter(|depth| *depth > 0.0);
        let disks = self.number("# Disks").filter(|disks| *disks > 0.0);
        let allowed = depth.zip(disks).map(|(depth, disks)| depth * disks);
        row.add(Quantity::whole(Measured::Allowed), allowed);
        row.add(Quantity::whole(Measured::CpuUser), self.number("% User Time"));
        row.add(Quantity::whole(Measured::CpuSystem), self.number("% Privileged Time"));
        row.options = self.options();
        row
    }

    /// How many there were of what, and its bins, where they are not empty.
    fn options(&self) -> Vec<GivenOption> {
        let is_bin = |column: &str| {
            let column = column.trim_start_matches([' ', '>', '=']);
            column.starts_with(|c: char| c.is_ascii_digit()) && column.to_lowercase().ends_with('s')
        };
        let is_kept =
            |column: &str| ["# Managers", "# Workers", "# Disks", "Queue Depth"].contains(&column);
        self.columns
            .iter()
            .filter(|column| is_kept(column) || is_bin(column))
            .filter_map(|column| {
                let value = self.text(column).filter(|value| *value != "0")?;
                Some(GivenOption { name: short(column), value: short(value) })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, with the columns of version 1.1 that are read.
    const CSV: &str = "'Test Type,Test Description\n0,mixed\n'Version\n1.1.0\n\
'Time Stamp\n2026-11-23 10:00:00:000\n'Access specifications\n\
'Access specification name,default assignment\ndatabase, 8k,0\n\
'size,% of size,% reads,% random,delay,burst,align,reply\n8192,100,67,100,0,1,0,0\n\
'End access specifications\n'Results\n\
'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,\
Write IOps,MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),\
Read MBps (Decimal),Write MBps (Decimal),Average Response Time,Average Read Response Time,\
Average Write Response Time,Maximum Response Time,Maximum Read Response Time,\
Maximum Write Response Time,Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,Queue Depth,\
0 to 50 uS, >= 10 s\n\
ALL,All,database, 8k,1,2,2,3000,2000,1000,23.44,15.62,7.81,24.576,16.384,8.192,\
1.0,0.9,1.2,9,8,9,2,983040000,491520000,120000,60000,2,17,0\n\
WORKER,Worker 1,database, 8k,,,1,1500,1000,500,,,,,,,,,,,,,,,,,,,2,,\n\
'Time Stamp\n2026-11-23 10:01:00:000\n";

    #[test]
    fn the_line_of_all_is_the_result_and_workers_are_not_added_to_it() {
        assert_eq!(detect(CSV), Some(Form::IometerCsv));
        let results = read("results.csv", CSV, Form::IometerCsv).expect("results");
        let ops: Vec<Option<Op>> = results.rows.iter().map(|row| row.op).collect();
        assert_eq!(ops, [None, Some(Op::Read), Some(Op::Write)]);
        let (all, reads) = (&results.rows[0], &results.rows[1]);
        assert_eq!(all.workload, "database, 8k");
        assert_eq!(all.overall(Measured::Rate), Some(3000.0));
        assert_eq!(reads.overall(Measured::Bandwidth), Some(16_384_000.0));
        let mean = Quantity::latency(Span::Total, Statistic::Mean);
        assert_eq!(reads.get(mean), Some(900_000.0));
        assert_eq!(all.get(Quantity::whole(Measured::RequestSize)), Some(8192.0));
        assert_eq!(all.option("0 to 50 uS"), Some("17"));
        assert_eq!(results.tool(), "Iometer 1.1.0");
        let kinds: Vec<DoubtKind> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [DoubtKind::Errors]);
    }

    #[test]
    fn a_mean_latency_that_the_queue_does_not_allow_is_doubted() {
        // 2000 × 9 ms and 1000 × 1.2 ms are 19.2 requests in flight, and 2 × 2 were allowed.
        let slow = CSV.replace("1.0,0.9,1.2,", "1.0,9.0,1.2,").replace(",9,8,9,2,", ",99,98,9,0,");
        let results = read("results.csv", &slow, Form::IometerCsv).expect("results");
        let kinds: Vec<DoubtKind> = results.doubts.iter().map(|doubt| doubt.kind).collect();
        assert_eq!(kinds, [DoubtKind::LittlesLaw]);
    }

    #[test]
    fn results_without_a_line_of_all_are_refused() {
        let text = CSV.replace("ALL,All", "MANAGER,m");
        assert!(read("results.csv", &text, Form::IometerCsv).is_err());
    }
}
