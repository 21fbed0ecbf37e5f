//! The results of a run at a glance: the table with its doubts, the comparison of workloads, the comparison of runs.

use super::markup::{Markup, classed, element, plain};
use crate::chart::{Bar, Bars};
use crate::doubts::{Marks, Touches};
use crate::words;
use analysis::ResultRow;
use model::{Op, Record};

/// Table, doubts and overview.
pub fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    if rows.is_empty() {
        return plain("section", [plain("h2", "Results"), plain("p", "Nothing was measured.")]);
    }
    let mut marks = Marks::default();
    let table = table(rows, &mut marks);
    let mut content = plain("h2", "Results");
    content.push(classed("div", "scroll", table));
    content.push(doubts(&marks));
    if record.plan.points.len() <= MOST_BARS {
        content.push(overview(rows));
    }
    plain("section", content)
}

/// A sweep of more points than this is no picture any more; the table has them.
const MOST_BARS: usize = 40;

fn table(rows: &[ResultRow], marks: &mut Marks) -> Markup {
    let swept = rows.iter().any(|row| !row.sweep.is_empty());
    let mut head = vec![("Workload", "")];
    if swept {
        head.push(("Sweep", ""));
    }
    head.extend([
        ("Op", ""),
        ("Requests", "number"),
        ("IOPS", "number"),
        ("MiB/s", "number"),
        ("Mean", "number"),
        ("p50", "number"),
        ("p99", "number"),
        ("p99.9", "number"),
        ("Max", "number"),
        ("Errors", "number"),
        ("CPU", "number"),
    ]);
    let head = head.into_iter().map(|(word, class)| element("th", &[("scope", "col"), ("class", class)], word));
    let head = plain("thead", plain("tr", head.collect::<Markup>()));
    let body: Markup = rows.iter().map(|row| plain("tr", cells(row, swept, marks))).collect();
    let caption = plain(
        "caption",
        "Latencies are service times; at a fixed rate, response times. CPU: the load generator's own, 100 % is one core.",
    );
    element("table", &[], [caption, head, plain("tbody", body)])
}

fn cells(row: &ResultRow, swept: bool, marks: &mut Marks) -> Markup {
    let number = |text: String, notes: &[usize]| classed("td", "number", [Markup::from(text), references(notes)]);
    let quantile = |share| words::latency(row.latency.quantile_ns(share));
    let mut cells = element("th", &[("scope", "row")], &row.workload);
    if swept {
        cells.push(plain("td", words::sweep(&row.sweep)));
    }
    let op = [classed("span", &format!("swatch {}", row.op.name()), ""), Markup::from(row.op.name())];
    cells.push(plain("td", op));
    cells.push(number(words::count(row.ios), &[]));
    cells.push(number(words::iops(row.iops()), &marks.of(row, Touches::Rate)));
    let both = format!("{} ({})", words::bandwidth(row.bytes_per_s()), words::gb_per_s(row.bytes_per_s()));
    cells.push(element("td", &[("class", "number"), ("title", &both)], words::mib_per_s(row.bytes_per_s())));
    cells.push(number(words::latency(row.latency.mean_ns().map(|mean| mean.round() as u64)), &[]));
    cells.push(number(quantile(0.5), &[]));
    cells.push(number(quantile(0.99), &marks.of(row, Touches::P99)));
    cells.push(number(quantile(0.999), &marks.of(row, Touches::P999)));
    cells.push(number(words::latency(row.latency.max_ns()), &[]));
    cells.push(number(words::count(row.error_count()), &[]));
    cells.push(number(words::share(row.cpu_cores()), &[]));
    cells
}

fn references(numbers: &[usize]) -> Markup {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { Markup::new() } else { classed("sup", "doubt", numbers.join(" ")) }
}

/// The doubts in words, by number.
fn doubts(marks: &Marks) -> Markup {
    if marks.sentences.is_empty() {
        return classed("p", "sound", "No reason to doubt these figures was found.");
    }
    let items = marks.sentences.iter().map(|sentence| plain("li", sentence)).collect::<Markup>();
    let title = if marks.sentences.len() == 1 { "A reason to doubt" } else { "Reasons to doubt" };
    classed("aside", "doubts", [plain("h3", title), plain("ol", items)])
}

/// The workloads beside each other, reads and writes of a mix in one bar.
fn overview(rows: &[ResultRow]) -> Markup {
    let bars = |figure: fn(&ResultRow) -> f64| {
        let mut bars: Vec<(u32, Bar)> = Vec::new();
        for row in rows {
            let part = (style(row.op), figure(row));
            match bars.iter_mut().find(|(point, _)| *point == row.point) {
                Some((_, bar)) => bar.parts.push(part),
                None => bars.push((row.point, Bar { name: name(row), parts: vec![part] })),
            }
        }
        bars.into_iter().map(|(_, bar)| bar).collect()
    };
    let iops = Bars { title: "Requests per second".to_owned(), words: words::iops, bars: bars(ResultRow::iops) };
    let bandwidth = Bars { title: "Bandwidth".to_owned(), words: words::bandwidth, bars: bars(ResultRow::bytes_per_s) };
    classed("div", "charts", [iops.render(), bandwidth.render()])
}

fn style(op: Op) -> &'static str {
    match op {
        Op::Read => "bar read",
        Op::Write => "bar write",
        Op::Fsync => "bar fsync",
    }
}

/// The workload's name with the values of its sweep.
pub fn name(row: &ResultRow) -> String {
    match words::sweep(&row.sweep).as_str() {
        "" => row.workload.clone(),
        axes => format!("{} ({axes})", row.workload),
    }
}

/// Several runs side by side: the same workload and operation in one line.
pub fn comparison(records: &[&Record]) -> Markup {
    let runs: Vec<Vec<ResultRow>> = records.iter().map(|record| analysis::results(record)).collect();
    let mut lines: Vec<(String, Op)> = Vec::new();
    for row in runs.iter().flatten() {
        let key = (name(row), row.op);
        if !lines.contains(&key) {
            lines.push(key);
        }
    }
    let mut head = element("th", &[("scope", "col")], "Workload");
    head.push(element("th", &[("scope", "col")], "Op"));
    for number in 1..=records.len() {
        head.push(element("th", &[("scope", "col"), ("class", "number")], format!("Run {number} IOPS")));
        head.push(element("th", &[("scope", "col"), ("class", "number")], format!("Run {number} p99")));
    }
    let line = |(workload, op): &(String, Op)| {
        let mut cells = [element("th", &[("scope", "row")], workload), plain("td", op.name())].into();
        for rows in &runs {
            push_run(&mut cells, rows.iter().find(|row| name(row) == *workload && row.op == *op));
        }
        plain("tr", cells)
    };
    let body = lines.iter().map(line).collect::<Markup>();
    let table = element("table", &[], [plain("thead", plain("tr", head)), plain("tbody", body)]);
    plain("section", [plain("h2", "Side by side"), classed("div", "scroll", table)])
}

fn push_run(cells: &mut Markup, row: Option<&ResultRow>) {
    let iops = row.map_or_else(|| "–".to_owned(), |row| words::iops(row.iops()));
    let p99 = words::latency(row.and_then(|row| row.latency.quantile_ns(0.99)));
    cells.push(classed("td", "number", iops));
    cells.push(classed("td", "number", p99));
}
