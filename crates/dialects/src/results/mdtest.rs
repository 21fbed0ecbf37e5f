//! What mdtest prints (part of IOR): rates of operations on whole files and directories, over
//! iterations. A summary of times, which `--print-time` adds, says the same the other way round.

use super::{Results, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{Form, GivenRow, Measured, Quantity, Statistic, short};

/// What its lines are called, and what they do.
const OPERATIONS: [(&str, Op); 11] = [
    ("Directory creation", Op::Mkdir),
    ("Directory stat", Op::Stat),
    ("Directory rename", Op::Rename),
    ("Directory removal", Op::Rmdir),
    ("File creation", Op::Create),
    ("File stat", Op::Stat),
    ("File read", Op::ReadFile),
    ("File rename", Op::Rename),
    ("File removal", Op::Remove),
    ("Tree creation", Op::Mkdir),
    ("Tree removal", Op::Rmdir),
];

/// What mdtest printed.
///
/// # Errors
/// No operation in it has a rate.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::Mdtest);
    let (mut iterations, mut group, mut is_of_rates) = (None, 0u32, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if results.tool_version.is_empty()
            && let Some(rest) = line.strip_prefix("mdtest-")
        {
            results.tool_version = short(rest.split_whitespace().next().unwrap_or_default());
        }
        if line.starts_with("SUMMARY") {
            is_of_rates = !line.starts_with("SUMMARY time");
            group += 1;
            let words = line.split_once("(of ").and_then(|(_, rest)| rest.split_once(' '));
            iterations = words.and_then(|(count, _)| numbers::number(count));
        }
        if let Some(mut row) = row(&format!("{name}:{number}"), line).filter(|_| is_of_rates) {
            row.group = group;
            row.add(Quantity::of(Measured::Rate, Statistic::Count), iterations);
            results.push(name, row)?;
        }
    }
    if results.rows.is_empty() {
        let remedy = "name what `mdtest` printed, to its summary";
        return Err(ImportError::new(name, "no operation in it has a rate", remedy));
    }
    Ok(results)
}

/// `File creation : MAX MIN MEAN STDDEV`; with more numbers, those over iterations are the last.
fn row(place: &str, line: &str) -> Option<GivenRow> {
    let (title, op) = OPERATIONS.iter().find(|(title, _)| line.starts_with(title))?;
    let rest = line[title.len()..].trim_start_matches([' ', ':', '\t']);
    let all: Vec<f64> = rest.split_whitespace().take(20).filter_map(numbers::number).collect();
    let [.., most, least, mean, deviation] = all.as_slice() else { return None };
    // Of an operation that was not done, mdtest prints zeros.
    if *most <= 0.0 {
        return None;
    }
    let mut row = GivenRow::new(&title.to_ascii_lowercase(), Some(*op), place.to_owned());
    for (statistic, value) in [
        (Statistic::Mean, mean),
        (Statistic::Least, least),
        (Statistic::Most, most),
        (Statistic::StdDev, deviation),
    ] {
        row.add(Quantity::of(Measured::Rate, statistic), Some(*value));
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    /// Made up, in the form of mdtest 3.3.
    const OUTPUT: &str = "-- started at 11/23/2026 01:02:03 --

mdtest-3.3.0 was launched with 4 total task(s) on 1 node(s)
Command line used: mdtest '-n' '100'

SUMMARY rate: (of 3 iterations)
   Operation                      Max            Min           Mean        Std Dev
   ---------                      ---            ---           ----        -------
   Directory creation        :      0.000          0.000          0.000          0.000
   File creation             :   2000.000       1000.000       1500.000        400.000
   File stat                 :  90000.000      80000.000      85000.000       4000.000
-- finished at 11/23/2026 01:02:04 --
";

    #[test]
    fn rates_over_iterations_are_read() {
        assert_eq!(detect(OUTPUT), Some(Form::Mdtest));
        let results = read("m.txt", OUTPUT, Form::Mdtest).expect("results");
        let rows: Vec<(&str, Option<Op>)> =
            results.rows.iter().map(|row| (row.workload.as_str(), row.op)).collect();
        assert_eq!(rows, [("file creation", Some(Op::Create)), ("file stat", Some(Op::Stat))]);
        let row = &results.rows[0];
        assert_eq!(row.overall(Measured::Rate), Some(1500.0));
        assert_eq!(row.get(Quantity::of(Measured::Rate, Statistic::Count)), Some(3.0));
        assert_eq!(results.tool(), "mdtest 3.3.0");
    }
}
