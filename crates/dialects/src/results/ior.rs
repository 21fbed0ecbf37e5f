//! What IOR prints (its documentation, *First Steps* and `summarize.c`): a line for each operation
//! of each repetition, and a summary over the repetitions.

use super::{Results, left_out, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{Form, GivenOption, GivenRow, Measured, Quantity, Span, Statistic, short};

const MIB: f64 = (1_u64 << 20) as f64;
/// No test has more options.
const MOST_OPTIONS: usize = 200;

/// What stands before the tables of a test.
#[derive(Debug, Default)]
struct Reader {
    options: Vec<GivenOption>,
    is_in_options: bool,
    /// The columns of the table that is being read.
    columns: Vec<String>,
    /// Whether that table has commas.
    is_csv: bool,
    /// Rows of single repetitions.
    single: Vec<GivenRow>,
    /// Rows over all repetitions.
    summed: Vec<GivenRow>,
    /// Lines of operations that say nothing of them.
    left: usize,
}

/// Whether a text is IOR's JSON (`-O summaryFormat=JSON`).
pub fn is_json(text: &str) -> bool {
    text.contains("\"bwMiB\"") || text.contains("\"bwMeanMIB\"")
}

/// What IOR printed, as text, CSV or JSON.
///
/// # Errors
/// No operation in it has a result.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    if text.trim_start().starts_with('{') {
        return super::ior_json::read(name, text);
    }
    let mut results = Results::new(Form::Ior);
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        if results.tool_version.is_empty()
            && let Some(version) = line.trim().strip_prefix("IOR-")
        {
            results.tool_version = short(version.split(':').next().unwrap_or_default().trim());
        }
        reader.line(&format!("{name}:{number}"), line);
        if reader.single.len() + reader.summed.len() > model::foreign::MOST_ROWS {
            let what = "it has too many results";
            return Err(ImportError::new(name, what, "name the results of one run"));
        }
    }
    left_out(&mut results, name, text.lines().count(), reader.left);
    // A summary says the same of one repetition and more of several; without it, IOR did not end.
    let rows = if reader.summed.is_empty() { reader.single } else { reader.summed };
    for row in rows {
        results.push(name, row)?;
    }
    if results.rows.is_empty() {
        let remedy = "name what `ior` printed, to its summary";
        return Err(ImportError::new(name, "no operation in it has a result", remedy));
    }
    Ok(results)
}

fn op(word: &str) -> Option<Op> {
    match word {
        "write" => Some(Op::Write),
        "read" => Some(Op::Read),
        _ => None,
    }
}

impl Reader {
    fn line(&mut self, place: &str, line: &str) {
        // Version 2 has blanks in names: `Max (MiB)`, `Std Dev`.
        let named = line.replace(" (", "(").replace("Std Dev", "StdDev");
        let is_csv = self.columns.len() > 1 && self.is_csv;
        let words: Vec<&str> = match line.starts_with("access,") || is_csv && line.contains(',') {
            true => line.split(',').map(str::trim).take(100).collect(),
            false if line.starts_with("Operation") => named.split_whitespace().take(100).collect(),
            false => line.split_whitespace().take(100).collect(),
        };
        match words.as_slice() {
            ["Options:"] => {
                self.is_in_options = true;
                self.options.clear();
            }
            ["Results:"] => self.is_in_options = false,
            ["access" | "Operation", ..] => {
                self.is_csv = line.starts_with("access,");
                self.columns = words.iter().map(|word| (*word).to_owned()).collect();
                self.is_in_options = false;
            }
            [first, ..] if op(first).is_some() && !self.columns.is_empty() => {
                let is_summary = self.columns[0] == "Operation";
                let cells = Cells { columns: &self.columns, cells: &words };
                let row = if is_summary { cells.summed(place) } else { cells.single(place) };
                let Some(mut row) = row else {
                    self.left += 1;
                    return;
                };
                row.options.clone_from(&self.options);
                if is_summary { self.summed.push(row) } else { self.single.push(row) }
            }
            _ => self.option(line),
        }
    }

    fn option(&mut self, line: &str) {
        if let Some((key, value)) = line.split_once(':').filter(|_| self.is_in_options)
            && self.options.len() < MOST_OPTIONS
            && !value.trim().is_empty()
        {
            let (name, value) = (short(key.trim()), short(value.trim()));
            self.options.push(GivenOption { name, value });
        }
    }
}

/// A line with its columns, some of which have the same name.
struct Cells<'a> {
    columns: &'a [String],
    cells: &'a [&'a str],
}

impl Cells<'_> {
    fn number(&self, name: &str) -> Option<f64> {
        self.nth(name, 0)
    }

    fn nth(&self, name: &str, nth: usize) -> Option<f64> {
        let mut places = self.columns.iter().enumerate().filter(|(_, column)| *column == name);
        numbers::number(self.cells.get(places.nth(nth)?.0)?)
    }

    fn row(&self, place: &str) -> Option<GivenRow> {
        let op = op(self.cells.first()?)?;
        let mut row = GivenRow::new("ior", Some(op), place.to_owned());
        row.group = self.number("Test#").unwrap_or(0.0) as u32;
        Some(row)
    }

    fn single(&self, place: &str) -> Option<GivenRow> {
        let mut row = self.row(place)?;
        let bandwidth = self.number("bw(MiB/s)")? * MIB;
        row.add(Quantity::whole(Measured::Bandwidth), Some(bandwidth));
        row.add(Quantity::whole(Measured::Rate), self.number("IOPS"));
        let size = self.number("xfer(KiB)").map(|kib| kib * 1024.0);
        // The rate leaves opening and closing out, and the bandwidth does not: they are not
        // compared.
        row.options.extend(
            size.map(|size| GivenOption { name: "xfersize".to_owned(), value: size.to_string() }),
        );
        let latency = self.number("Latency(s)").or_else(|| self.number("Latency"));
        let latency = latency.map(|seconds| seconds * 1e9);
        row.add(Quantity::latency(Span::Total, Statistic::Mean), latency);
        row.add(Quantity::whole(Measured::Time), self.number("total(s)").map(|s| s * 1e9));
        Some(row)
    }

    fn summed(&self, place: &str) -> Option<GivenRow> {
        let mut row = self.row(place)?;
        let bandwidth = |name: &str| self.number(name).map(|mib| mib * MIB);
        for (statistic, name) in [
            (Statistic::Mean, "Mean(MiB)"),
            (Statistic::Least, "Min(MiB)"),
            (Statistic::Most, "Max(MiB)"),
            (Statistic::StdDev, "StdDev"),
        ] {
            row.add(Quantity::of(Measured::Bandwidth, statistic), bandwidth(name));
        }
        for (statistic, name, nth) in [
            (Statistic::Mean, "Mean(OPs)", 0),
            (Statistic::Least, "Min(OPs)", 0),
            (Statistic::Most, "Max(OPs)", 0),
            (Statistic::StdDev, "StdDev", 1),
        ] {
            row.add(Quantity::of(Measured::Rate, statistic), self.nth(name, nth));
        }
        let repetitions = self.number("reps");
        row.add(Quantity::of(Measured::Bandwidth, Statistic::Count), repetitions);
        let time = self.number("Mean(s)").map(|seconds| seconds * 1e9);
        row.add(Quantity::of(Measured::Time, Statistic::Mean), time);
        row.overall(Measured::Bandwidth)?;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, in the form of IOR 3.3.
    const OUTPUT: &str = "IOR-3.3.0: MPI Coordinated Test of Parallel I/O
Options:
api                 : POSIX
xfersize            : 1 MiB
repetitions         : 2

Results:

access bw(MiB/s) IOPS    Latency(s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter
------ --------- ----    ---------- ---------- --------- ------- -------- -------- -------- ----
write  100.00    101.00  0.010      16384      1024.00   0.1     10.0     0.1      10.2     0
write  200.00    202.00  0.005      16384      1024.00   0.1     5.0      0.1      5.2      1
remove -         -       -          -          -         -       -        -        0.1      1
Max Write: 200.00 MiB/sec (209.72 MB/sec)

Summary of all tests:
Operation Max(MiB) Min(MiB) Mean(MiB) StdDev Max(OPs) Min(OPs) Mean(OPs) StdDev Mean(s) Test# reps
write     200.00   100.00   150.00    50.00  202.00   101.00   151.50    50.50  7.70    0     2
";

    #[test]
    fn the_summary_over_the_repetitions_is_the_result() {
        assert_eq!(detect(OUTPUT), Some(Form::Ior));
        let results = read("ior.txt", OUTPUT, Form::Ior).expect("results");
        assert_eq!(results.rows.len(), 1);
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Bandwidth), Some(150.0 * MIB));
        let of = |measured, statistic| row.get(Quantity::of(measured, statistic));
        assert_eq!(of(Measured::Rate, Statistic::StdDev), Some(50.5));
        assert_eq!(of(Measured::Bandwidth, Statistic::Count), Some(2.0));
        assert_eq!(row.option("xfersize"), Some("1 MiB"));
        assert_eq!(results.tool(), "IOR 3.3.0");
    }

    #[test]
    fn csv_and_the_tables_of_version_2_are_read() {
        let csv = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),\
                   total(s),numTasks,iter\nwrite,100.5000,101.0000,0.0100,1024.0000,64.0000,0.1,9,\
                   0.1,9.2,4,0\n";
        assert_eq!(detect(csv), Some(Form::Ior));
        let results = read("ior.csv", csv, Form::Ior).expect("results");
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Bandwidth), Some(100.5 * MIB));
        assert_eq!(row.get(Quantity::latency(Span::Total, Statistic::Mean)), Some(1e7));
        let old = "IOR-2.10.3: MPI Coordinated Test of Parallel I/O\n\n\
            Operation  Max (MiB)  Min (MiB)  Mean (MiB)   Std Dev  Max (OPs)  Min (OPs)  \
            Mean (OPs)   Std Dev  Mean (s)\n---------\n\
            write  200.0 100.0 150.0 50.0 20.0 10.0 15.0 5.0 7.5 4 2 3\n";
        assert_eq!(detect(old), Some(Form::Ior));
        let results = read("ior.txt", old, Form::Ior).expect("results");
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Bandwidth), Some(150.0 * MIB));
        assert_eq!(row.get(Quantity::of(Measured::Rate, Statistic::StdDev)), Some(5.0));
    }

    #[test]
    fn without_a_summary_each_repetition_is_one() {
        let cut = &OUTPUT[..OUTPUT.find("Max Write").expect("a line")];
        let results = read("ior.txt", cut, Form::Ior).expect("results");
        let all: Vec<Option<f64>> =
            results.rows.iter().map(|row| row.overall(Measured::Rate)).collect();
        assert_eq!(all, [Some(101.0), Some(202.0)]);
        assert!(super::read("ior.txt", "IOR-3.3.0: x\n").is_err());
    }
}
