//! What DiskSpd prints without `-Rxml` (its `ResultParser`; Microsoft's wiki, *Analyzing test
//! output*): tables of threads with a line `total:`, and a table of percentiles.

use super::{Results, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{Form, GivenOption, GivenRow, Measured, Quantity, Span, Statistic, short};

const MIB: f64 = (1_u64 << 20) as f64;
const NS_PER_MS: f64 = 1e6;

/// What a timespan says before its tables.
#[derive(Clone, Debug, Default)]
struct Head {
    options: Vec<GivenOption>,
    threads: f64,
    /// The outstanding requests of all targets together.
    outstanding: f64,
    seconds: Option<f64>,
}

/// Which table is being read.
#[derive(Clone, Debug, Default)]
enum Table {
    #[default]
    None,
    /// Of all, reads or writes; the names of its columns once they came.
    Io(Option<Op>, Vec<String>),
    /// Percentiles.
    Percentiles,
}

#[derive(Debug, Default)]
struct Reader {
    head: Head,
    timespan: u32,
    table: Table,
    rows: Vec<GivenRow>,
}

/// What DiskSpd printed.
///
/// # Errors
/// No table of it has a total.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::DiskSpdText);
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(&format!("{name}:{number}"), line.trim_end());
        for row in reader.taken() {
            results.push(name, row)?;
        }
    }
    for row in std::mem::take(&mut reader.rows) {
        results.push(name, row)?;
    }
    if results.rows.is_empty() {
        let remedy = "name what `diskspd` printed, to its end";
        return Err(ImportError::new(name, "no table of it has a total", remedy));
    }
    Ok(results)
}

impl Reader {
    /// The rows of a timespan that is over.
    fn taken(&mut self) -> Vec<GivenRow> {
        let now = self.timespan;
        let is_over = self.rows.first().is_some_and(|row| row.group != now);
        if is_over { self.rows.drain(..).collect() } else { Vec::new() }
    }

    fn line(&mut self, place: &str, line: &str) {
        let words = line.trim();
        if let Some(rest) = words.strip_prefix("Results for timespan ") {
            self.timespan = rest.trim_end_matches(':').trim().parse().unwrap_or(self.timespan + 1);
            self.table = Table::None;
        } else if let Some(op) = table_of(words) {
            self.table = Table::Io(op, Vec::new());
        } else if words.starts_with("%-ile") {
            self.table = Table::Percentiles;
        } else if let Some(command) = words.strip_prefix("Command Line:") {
            let value = short(command.trim());
            self.head.options.push(GivenOption { name: "command line".to_owned(), value });
        } else {
            self.head(words);
            self.in_table(place, words);
        }
    }

    fn head(&mut self, words: &str) {
        let Some((key, value)) = words.split_once(':') else { return };
        let value = value.trim();
        match key.trim() {
            "thread count" => self.head.threads = numbers::number(value).unwrap_or(0.0),
            "actual test time" => {
                self.head.seconds = value.strip_suffix('s').and_then(numbers::number);
            }
            "number of outstanding I/O operations" => {
                self.head.outstanding += numbers::number(value).unwrap_or(0.0);
            }
            key @ ("block size" | "computer name" | "start time")
                if self.head.options.len() < 100 && !value.is_empty() =>
            {
                let value = short(value);
                self.head.options.push(GivenOption { name: key.to_owned(), value });
            }
            _ => {}
        }
    }

    fn in_table(&mut self, place: &str, words: &str) {
        match &mut self.table {
            Table::Io(_, columns) if words.starts_with("thread") && words.contains('|') => {
                *columns = words.split('|').map(|column| column.trim().to_owned()).collect();
            }
            Table::Io(op, columns) if words.starts_with("total:") => {
                let (op, columns) = (*op, std::mem::take(columns));
                self.table = Table::None;
                self.total(place, op, &columns, words);
            }
            Table::Percentiles => self.percentile(words),
            _ => {}
        }
    }

    fn total(&mut self, place: &str, op: Option<Op>, columns: &[String], words: &str) {
        let cells: Vec<&str> = words.trim_start_matches("total:").split('|').collect();
        // The first column is that of the threads, in whose place `total:` stands.
        let cell = |name: &str| {
            let at = columns.iter().position(|column| column == name)?;
            numbers::number(cells.get(at.checked_sub(1)?)?)
        };
        if cell("I/Os").is_none_or(|count| count <= 0.0) {
            return;
        }
        let workload = format!("timespan {}", self.timespan.max(1));
        let mut row = GivenRow::new(&workload, op, place.to_owned());
        row.group = self.timespan;
        row.options.clone_from(&self.head.options);
        row.add(Quantity::whole(Measured::Requests), cell("I/Os"));
        row.add(Quantity::whole(Measured::Bytes), cell("bytes"));
        let bandwidth = cell("MiB/s").or_else(|| cell("MB/s")).map(|value| value * MIB);
        row.add(Quantity::whole(Measured::Bandwidth), bandwidth);
        row.add(Quantity::whole(Measured::Rate), cell("I/O per s"));
        row.add(Quantity::of(Measured::Rate, Statistic::StdDev), cell("IopsStdDev"));
        for (column, statistic) in [("AvgLat", Statistic::Mean), ("LatStdDev", Statistic::StdDev)] {
            let value = cell(column).map(|ms| ms * NS_PER_MS);
            row.add(Quantity::latency(Span::Total, statistic), value);
        }
        row.add(Quantity::whole(Measured::Time), self.head.seconds.map(|seconds| seconds * 1e9));
        // Each thread may have those of each target: no more are possible.
        let allowed = self.head.threads * self.head.outstanding;
        row.add(Quantity::whole(Measured::Allowed), (allowed > 0.0).then_some(allowed));
        self.rows.push(row);
    }

    fn percentile(&mut self, words: &str) {
        let mut cells = words.split('|').map(str::trim);
        let Some(statistic) = cells.next().and_then(statistic) else { return };
        for op in [Some(Op::Read), Some(Op::Write), None] {
            let value = cells.next().and_then(numbers::number).map(|ms| ms * NS_PER_MS);
            let timespan = self.timespan;
            let row = self.rows.iter_mut().find(|row| row.op == op && row.group == timespan);
            if let Some(row) = row {
                row.add(Quantity::latency(Span::Total, statistic), value);
            }
        }
    }
}

/// The operation of a table, by its title.
fn table_of(words: &str) -> Option<Option<Op>> {
    match words {
        "Total IO" => Some(None),
        "Read IO" => Some(Some(Op::Read)),
        "Write IO" => Some(Some(Op::Write)),
        _ => None,
    }
}

/// `99th`, `3-nines`, `min`.
fn statistic(word: &str) -> Option<Statistic> {
    match word {
        "min" => Some(Statistic::Least),
        "max" => Some(Statistic::Most),
        _ => {
            if let Some(percent) = word.strip_suffix("th") {
                return Statistic::percentile(percent.parse().ok()?);
            }
            let nines: u32 = word.strip_suffix("-nines")?.parse().ok()?;
            let missing = 10u32.checked_pow(9u32.checked_sub(nines)?)?;
            Some(Statistic::Quantile(1_000_000_000 - missing))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, in the form of DiskSpd 2: 1,000 reads and 500 writes of 4 KiB a second, for 10 s.
    const OUTPUT: &str = "
Command Line: diskspd -b4K -t2 -o4 -w33 x.dat

Input parameters:
\ttimespan:   1
\t\tblock size: 4096
\t\tnumber of outstanding I/O operations: 4

Results for timespan 1:
*******************************************************************************
actual test time:\t10.00s
thread count:\t\t2

Total IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------
     0 |        61440000 |        15000 |       5.86 |    1500.00 |    2.000 |     1.000 | x.dat
------------------------------------------------------------------------------
total:          61440000 |        15000 |       5.86 |    1500.00 |    2.000 |     1.000

Read IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------
total:          40960000 |        10000 |       3.91 |    1000.00 |    1.500 |     0.500

Write IO
thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file
------------------------------------------------------------------------------
total:          20480000 |         5000 |       1.95 |     500.00 |    3.000 |       N/A

total:
  %-ile |  Read (ms) | Write (ms) | Total (ms)
----------------------------------------------
    min |      0.100 |      0.200 |      0.100
   50th |      1.400 |      2.900 |      1.900
3-nines |      9.000 |     12.000 |     11.000
    max |     19.000 |        N/A |     19.000
";

    #[test]
    fn totals_and_percentiles_are_read() {
        assert_eq!(detect(OUTPUT), Some(Form::DiskSpdText));
        let results = read("d.txt", OUTPUT, Form::DiskSpdText).expect("results");
        let ops: Vec<Option<Op>> = results.rows.iter().map(|row| row.op).collect();
        assert_eq!(ops, [None, Some(Op::Read), Some(Op::Write)]);
        let read = &results.rows[1];
        assert_eq!(read.get(Quantity::whole(Measured::Rate)), Some(1000.0));
        let mean = Quantity::latency(Span::Total, Statistic::Mean);
        assert_eq!(read.get(mean), Some(1_500_000.0));
        let p999 = Quantity::latency(Span::Total, Statistic::Quantile(999_000_000));
        assert_eq!(results.rows[2].get(p999), Some(12_000_000.0));
        let max = Quantity::latency(Span::Total, Statistic::Most);
        assert_eq!(results.rows[2].get(max), None, "N/A is nothing");
        assert_eq!(read.get(Quantity::whole(Measured::Allowed)), Some(8.0));
        assert_eq!(results.doubts, []);
    }

    #[test]
    fn nothing_of_it_is_an_error() {
        assert!(super::read("d.txt", "Total IO\nthread |").is_err());
    }
}
