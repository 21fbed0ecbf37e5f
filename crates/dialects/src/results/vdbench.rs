//! vdbench's `flatfile.html`, which has named columns, and `summary.html` or `totals.html`, whose
//! columns follow from their number (vdbench's User Guide, *Flatfile* and *Summary report*).

use super::{Results, numbers};
use crate::import::ImportError;
use model::Op;
use model::foreign::{
    Form, GivenOption, GivenRow, GivenSeries, MOST_POINTS, Measured, Point, Quantity, Span,
    Statistic, short,
};

const MIB: f64 = (1_u64 << 20) as f64;
const NS_PER_MS: f64 = 1e6;
/// No line has more columns.
const MOST_COLUMNS: usize = 200;

/// Operations with columns `x_rate` and `x_resp` in the flatfile of file systems, in its order.
const FILE_OPS: [(&str, Option<Op>); 13] = [
    ("read", Some(Op::Read)),
    ("write", Some(Op::Write)),
    ("mkdir", Some(Op::Mkdir)),
    ("rmdir", Some(Op::Rmdir)),
    ("create", Some(Op::Create)),
    ("open", Some(Op::Open)),
    ("close", None),
    ("delete", Some(Op::Remove)),
    ("getattr", Some(Op::Stat)),
    ("setattr", Some(Op::SetAttr)),
    ("access", None),
    ("copy", None),
    ("move", Some(Op::Rename)),
];

/// Whether a text has the head of a flatfile.
pub fn is_flatfile(text: &str) -> bool {
    text.lines().any(|line| is_head(&numbers::without_tags(line)))
}

fn is_head(line: &str) -> bool {
    let words: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
    let has = |name: &str| words.iter().any(|word| word == name);
    words.first().is_some_and(|word| word == "tod") && has("run") && has("interval") && has("rate")
}

/// Whether a text has runs with averages of intervals.
pub fn is_summary(text: &str) -> bool {
    text.contains("Starting RD=") && text.contains("avg_")
}

/// The flatfile of a run.
///
/// # Errors
/// It has no columns, or no average of a run.
pub fn read_flatfile(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::VdbenchFlatfile);
    let (mut columns, mut series): (Vec<String>, Vec<Point>) = (Vec::new(), Vec::new());
    let mut group = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = numbers::without_tags(line);
        if line.trim_start().starts_with('*') {
            continue;
        }
        if is_head(&line) {
            let names = line.split_whitespace().take(MOST_COLUMNS);
            columns = names.map(str::to_ascii_lowercase).collect();
            continue;
        }
        let cells: Vec<&str> = line.split_whitespace().take(MOST_COLUMNS).collect();
        if columns.is_empty() || cells.len() != columns.len() {
            continue;
        }
        let line = Cells { columns: &columns, cells: &cells };
        let Some(interval) = line.text("interval") else { continue };
        if interval.starts_with("avg") {
            let place = format!("{name}:{number}");
            for row in line.rows(&place, group, std::mem::take(&mut series)) {
                results.push(name, row)?;
            }
            group += 1;
        } else if let (Ok(at), Some(value)) = (interval.parse::<u64>(), line.number("rate"))
            && series.len() < MOST_POINTS
        {
            // How long an interval is, the file does not say: they are counted.
            series.push(Point { at_ms: at.saturating_mul(1_000), value });
        }
    }
    whole(name, results)
}

fn whole(name: &str, results: Results) -> Result<Results, ImportError> {
    if results.rows.is_empty() {
        let remedy = "name the flatfile.html, summary.html or totals.html of a run that ended";
        return Err(ImportError::new(name, "no run in it has an average", remedy));
    }
    Ok(results)
}

/// A line with its columns.
struct Cells<'a> {
    columns: &'a [String],
    cells: &'a [&'a str],
}

impl Cells<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let at = self.columns.iter().position(|column| column == name)?;
        self.cells.get(at).copied()
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name).and_then(numbers::number)
    }

    fn ns(&self, name: &str) -> Option<f64> {
        self.number(name).map(|ms| ms * NS_PER_MS)
    }

    fn rows(&self, place: &str, group: u32, points: Vec<Point>) -> Vec<GivenRow> {
        let run = self.text("run").unwrap_or("run");
        let share = self.number("read%").or_else(|| self.number("read_pct"));
        let new = |op: Option<Op>| {
            let mut row = GivenRow::new(run, op, place.to_owned());
            row.group = group;
            row
        };
        let mut all = new(alone(share));
        all.options = self.options();
        all.add(Quantity::whole(Measured::Rate), self.number("rate"));
        let bandwidth = self.number("mb/sec").or_else(|| self.number("mb_total"));
        all.add(Quantity::whole(Measured::Bandwidth), bandwidth.map(|mib| mib * MIB));
        let size = self.number("bytes/io").filter(|size| *size > 0.0);
        all.add(Quantity::whole(Measured::RequestSize), size);
        all.add(Quantity::latency(Span::Total, Statistic::Mean), self.ns("resp"));
        all.add(Quantity::latency(Span::Total, Statistic::Most), self.ns("resp_max"));
        all.add(Quantity::latency(Span::Total, Statistic::StdDev), self.ns("resp_std"));
        all.add(Quantity::whole(Measured::InFlight), self.number("queue_depth"));
        all.add(Quantity::whole(Measured::CpuUser), self.number("cpu_user"));
        all.add(Quantity::whole(Measured::CpuSystem), self.number("cpu_kernel"));
        all.add(Quantity::whole(Measured::AskedRate), self.number("reqrate"));
        if !points.is_empty() {
            all.series = vec![GivenSeries { quantity: Quantity::whole(Measured::Rate), points }];
        }
        let is_mixed = all.op.is_none();
        let mut rows = vec![all];
        for (word, op) in FILE_OPS {
            let mut row = new(op);
            if op.is_none() {
                row.workload = short(&format!("{run} {word}"));
            }
            let rate = self.number(&format!("{word}_rate"));
            row.add(Quantity::whole(Measured::Rate), rate);
            let of = |what: &str| self.ns(&format!("{word}_{what}"));
            row.add(Quantity::latency(Span::Total, Statistic::Mean), of("resp"));
            row.add(Quantity::latency(Span::Total, Statistic::Most), of("max"));
            row.add(Quantity::latency(Span::Total, Statistic::StdDev), of("std"));
            let is_something = row.measures.iter().any(|measure| measure.value > 0.0);
            if is_something && (is_mixed || rate.is_some()) {
                rows.push(row);
            }
        }
        rows
    }

    fn options(&self) -> Vec<GivenOption> {
        ["xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "lunsize", "version"]
            .iter()
            .filter_map(|name| {
                let value = self.text(name).filter(|value| *value != "n/a")?;
                Some(GivenOption { name: (*name).to_owned(), value: short(value) })
            })
            .collect()
    }
}

/// The operation of a row where only one was done.
fn alone(read_percent: Option<f64>) -> Option<Op> {
    match read_percent {
        Some(100.0) => Some(Op::Read),
        Some(0.0) => Some(Op::Write),
        _ => None,
    }
}

/// Columns of the summary behind the interval, by version: what they are called in a flatfile.
const SUMMARIES: [&[&str]; 4] = [
    &["rate", "mb/sec", "bytes/io", "read%", "resp", "resp_max", "resp_std", "cpu", "cpu_kernel"],
    &[
        "rate", "mb/sec", "bytes/io", "read%", "resp", "read_resp", "write_resp", "resp_max",
        "resp_std", "queue_depth", "cpu", "cpu_kernel",
    ],
    &[
        "rate", "mb/sec", "bytes/io", "read%", "resp", "read_resp", "write_resp", "read_max",
        "write_max", "resp_std", "queue_depth", "cpu", "cpu_kernel",
    ],
    // Of file systems.
    &[
        "rate", "resp", "cpu", "cpu_kernel", "read_pct", "read_rate", "read_resp", "write_rate",
        "write_resp", "mb_read", "mb_write", "mb_total", "bytes/io", "mkdir_rate", "mkdir_resp",
        "rmdir_rate", "rmdir_resp", "create_rate", "create_resp", "open_rate", "open_resp",
        "close_rate", "close_resp", "delete_rate", "delete_resp",
    ],
];

/// The summary or the totals of a run.
///
/// # Errors
/// No run in it has an average, or one has columns of no version that is known.
pub fn read_summary(name: &str, text: &str) -> Result<Results, ImportError> {
    let mut results = Results::new(Form::VdbenchSummary);
    let (mut run, mut points) = ("run".to_owned(), Vec::new());
    let mut group = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let line = numbers::without_tags(line);
        if let Some((_, rest)) = line.split_once("Starting RD=") {
            run = short(rest.split([';', ',']).next().unwrap_or("run").trim());
            points.clear();
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().take(MOST_COLUMNS).collect();
        let [time, interval, cells @ ..] = words.as_slice() else { continue };
        let is_average = interval.starts_with("avg_");
        // `12:34:56.789`.
        if !time.contains(':') || !(is_average || interval.parse::<u64>().is_ok()) {
            continue;
        }
        let columns = SUMMARIES.iter().find(|columns| columns.len() == cells.len());
        let Some(columns) = columns else {
            if is_average {
                let what = format!("{} columns are those of no version known here", cells.len());
                let place = format!("{name}:{number}");
                let remedy = "name the flatfile.html of the same run, whose columns have names";
                return Err(ImportError::new(&place, what, remedy));
            }
            continue;
        };
        if !is_average {
            if let (Ok(at), Some(value)) = (interval.parse::<u64>(), numbers::number(cells[0]))
                && points.len() < MOST_POINTS
            {
                points.push(Point { at_ms: at.saturating_mul(1_000), value });
            }
            continue;
        }
        let columns: Vec<String> =
            std::iter::once("run").chain(columns.iter().copied()).map(str::to_owned).collect();
        let cells: Vec<&str> = std::iter::once(run.as_str()).chain(cells.iter().copied()).collect();
        let line = Cells { columns: &columns, cells: &cells };
        let place = format!("{name}:{number}");
        for row in line.rows(&place, group, std::mem::take(&mut points)) {
            results.push(name, row)?;
        }
        group += 1;
    }
    whole(name, results)
}

#[cfg(test)]
mod tests {
    use super::super::{detect, read};
    use super::*;

    const FLAT: &str = "* vdbench flatfile
tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max \
read_max write_max resp_std threads queue_depth
12:00:01.000 11/23/2026 rd1 1 max 900.0 3.52 4096 70.0 1.5 1.0 2.0 9.0 8.0 9.0 0.5 8 1.4
12:00:02.000 11/23/2026 rd1 2 max 1000.0 3.91 4096 70.0 1.5 1.0 2.0 9.0 8.0 9.0 0.5 8 1.5
12:00:02.000 11/23/2026 rd1 avg_2-2 max 1000.0 3.91 4096 70.0 1.5 1.0 2.0 9.0 8.0 9.0 0.5 8 1.5
";

    #[test]
    fn the_average_of_a_run_is_its_result() {
        assert_eq!(detect(FLAT), Some(Form::VdbenchFlatfile));
        let results = read("flatfile.html", FLAT, Form::VdbenchFlatfile).expect("results");
        let ops: Vec<Option<Op>> = results.rows.iter().map(|row| row.op).collect();
        assert_eq!(ops, [None, Some(Op::Read), Some(Op::Write)]);
        let all = &results.rows[0];
        assert_eq!(all.get(Quantity::whole(Measured::Rate)), Some(1000.0));
        assert_eq!(all.get(Quantity::whole(Measured::AskedRate)), None, "`max` is no number");
        assert_eq!(all.series[0].points.len(), 2);
        assert_eq!(results.rows[1].get(Quantity::whole(Measured::Rate)), None, "not said");
        let mean = Quantity::latency(Span::Total, Statistic::Mean);
        assert_eq!(results.rows[2].get(mean), Some(2_000_000.0));
        assert_eq!(results.doubts, []);
    }

    #[test]
    fn columns_of_a_summary_follow_from_their_number() {
        let text = "<pre>12:00:00.000 <a name=\"1\"></a><b>Starting RD=rd1; I/O rate: 5000;</b>
12:00:01.000 1 1000.0 3.91 4096 100.00 1.5 1.5 0.0 9.0 0.0 0.5 1.5 10.0 5.0
12:00:02.000 avg_2-2 1000.0 3.91 4096 100.00 1.5 1.5 0.0 9.0 0.0 0.5 1.5 10.0 5.0
";
        assert_eq!(detect(text), Some(Form::VdbenchSummary));
        let results = read("summary.html", text, Form::VdbenchSummary).expect("results");
        assert_eq!(results.rows.len(), 1);
        assert_eq!(results.rows[0].workload, "rd1");
        assert_eq!(results.rows[0].op, Some(Op::Read));
        let odd = text.replace(" 10.0 5.0", " 10.0 5.0 7 7 7");
        let error = read("summary.html", &odd, Form::VdbenchSummary).expect_err("16 columns");
        assert!(error.to_string().contains("summary.html:3"), "{error}");
    }
}
