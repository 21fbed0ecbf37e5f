//! The results of a run at a glance: the table with its doubts, and the comparison of workloads.

pub(crate) mod by_host;
pub mod judged;
pub(crate) mod row;

use super::findings::charts;
use crate::ground::chart::{Bar, Bars};
use crate::ground::markup::{self, Markup, classed, plain, with_code};
use crate::ground::words;
use crate::pens::contents::folded;
use crate::pens::terminal::Want;
use crate::pens::{Cell, Table};
use crate::topics::doubts::Marks;
use crate::topics::{evidence, findings, io_path, repetitions};
use analysis::ceiling::Reached;
use analysis::doubts::Sort;
use analysis::trust::Evidence;
use analysis::{Ops, ResultRow, Warning};
use model::{Op, Record};
use row::{ceiling_of, most_bytes_per_s, most_iops, name, style, style_of};

/// Table, doubts and overview, with the ceilings of what was reached where they are known.
pub fn section(
    record: &Record,
    rows: &[ResultRow],
    reached: &[Reached],
    evidence: &Evidence,
) -> Markup {
    if rows.is_empty() {
        return plain("section", [plain("h2", "Results"), plain("p", "Nothing was measured.")]);
    }
    let marks = Marks::of(rows, usize::MAX);
    let table = table(record, rows, &marks).caption(caption(record, rows));
    let mut content = plain("h2", "Results");
    // Of a swept suite the picture says most; the table has what is behind it.
    let swept = charts::charts(record, rows, reached);
    let is_swept = swept != Markup::new();
    content.push(swept);
    let together = repetitions::table(rows);
    let table = table.scroll();
    let is_repeated = together != Markup::new();
    if !is_repeated {
        content.push(table);
    } else {
        content.push(together);
        content.push(folded("Each repetition by itself", table));
    }
    content.push(doubts(&marks, evidence));
    content.push(proofs(rows));
    content.push(sweeps(rows));
    let places = rows.chunk_by(|a, b| (a.point, a.index) == (b.point, b.index)).count();
    if !is_swept && (2..=MOST_BARS).contains(&places) && !is_repeated {
        content.push(overview(rows, reached));
    }
    content.push(by_host::charts(record, rows));
    plain("section", content)
}

/// A sweep of more points than this is no picture any more; the table has them.
const MOST_BARS: usize = 40;

fn sureness_of_p99(row: &ResultRow) -> String {
    let p99 = row.latency.quantile_ns(0.99).map(|ns| ns as f64);
    words::uncertainty(p99, row.confidence.p99_ns())
}

pub(crate) fn table<'a>(
    record: &Record,
    rows: &'a [ResultRow],
    marks: &Marks,
) -> Table<&'a ResultRow> {
    let swatched = |row: &ResultRow| {
        let swatch = classed("span", row.ops.one().map_or("swatch", swatch), "");
        Cell::from(row.ops.name()).shown([swatch, Markup::from(row.ops.name())].into())
    };
    let rate = |row: &ResultRow| {
        let (rate, numbers) = (words::iops(row.iops()), marks.beside(row));
        let marks: Vec<String> = numbers.iter().map(|number| superscript(*number)).collect();
        Cell::from(format!("{rate}{}", marks.join("˒")))
            .shown([Markup::from(rate), references(&numbers)].into())
    };
    let of_rate = |row: &ResultRow| {
        let interval = row.confidence.iops.map(|iops| iops.interval());
        words::uncertainty(Some(row.iops()), interval)
    };
    let both = |row: &ResultRow| {
        let rate = row.bytes_per_s();
        format!("{} ({})", words::bandwidth(rate), words::gb_per_s(rate))
    };
    let has_errors = rows.iter().any(|row| row.error_count() > 0);
    let (head, is_swept) = (words::rate_head(rows), is_swept(rows));
    let mut table = Table::of(rows).name("workload", |row| &row.workload);
    if is_swept {
        let sweep = |row: &ResultRow| words::sweep(&row.sweep, row.repetition);
        table = table.words("sweep", sweep).class("wraps").want(Want::Folded);
    }
    table = table
        .words("op", swatched)
        .figure("requests", |row| words::count(row.ios))
        .on_page()
        .figure(head, rate)
        .titled(head)
        .figure("±", of_rate)
        .want(Want::Spare(7))
        .called("± of the rate")
        .figure("MiB/s", |row| Cell::from(words::mib_per_s_of(row)).titled(both(row)));
    if is_durable_shown(record, rows) {
        table = table
            .figure("durable", |row| durable_text(record, row))
            .titled("Durable MiB/s")
            .class("number durable")
            .want(Want::Spare(8))
            .called("durable MiB/s");
    }
    table
        .figure("mean", |row| words::mean(&row.latency))
        .want(Want::Spare(6))
        .figure("p50", |row| words::quantile(&row.latency, 0.5))
        .want(Want::Spare(3))
        .figure("p99", |row| words::quantile(&row.latency, 0.99))
        .figure("±", sureness_of_p99)
        .want(Want::Spare(4))
        .called("± of p99")
        .figure("p99.9", |row| words::quantile(&row.latency, 0.999))
        .want(Want::Spare(5))
        .figure("max", words::longest)
        .want(Want::Spare(2))
        .figure("errors", |row| words::count(row.error_count()))
        .want(if has_errors { Want::Whole } else { Want::Spare(1) })
        .figure("CPU", cpu)
        .want(Want::Spare(0))
        .capitals()
        .of_class("results")
}

fn cpu(row: &ResultRow) -> Option<String> {
    // Virtual time takes none of a host's; of less than its tick a kernel counts none.
    let is_known = !row.warnings.contains(&Warning::Simulated) && row.cpu_cores() > 0.0;
    is_known.then(|| words::share(row.cpu_cores()))
}

fn is_swept(rows: &[ResultRow]) -> bool {
    rows.iter().any(|row| !row.sweep.is_empty() || row.repetition.is_some())
}

fn caption(record: &Record, rows: &[ResultRow]) -> String {
    format!(
        "Latency: service time; at a fixed rate, response time. CPU: the load generator's own; \
         100 % is one core. {} {} {}",
        words::sureness_legend(rows),
        words::wholes_legend(rows),
        io_path::sentences(record, rows).join(" ")
    )
}

/// Whether the durable rate of any row differs enough from the acknowledged one to be shown.
pub(crate) fn is_durable_shown(record: &Record, rows: &[ResultRow]) -> bool {
    let durable = |row: &ResultRow| analysis::durable(record, row);
    rows.iter().filter_map(durable).any(|durable| durable.is_notable())
}

/// The durable rate of a row of writes; a dash where it is unknown, nothing for others.
pub(crate) fn durable_text(record: &Record, row: &ResultRow) -> String {
    match analysis::durable(record, row) {
        Some(durable) => words::mib_per_s(durable.bytes_per_s()),
        None if row.ops == Ops::One(Op::Write) => "–".to_owned(),
        None => String::new(),
    }
}

pub(crate) fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// The numbers of doubts, behind a figure, in rising order.
pub fn references(numbers: &[usize]) -> Markup {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { Markup::new() } else { classed("sup", "doubt", numbers.join(" ")) }
}

/// The doubts in words: those beside figures by number, the gravest first, then those of the run
/// and of the target. Green only where nothing speaks against the figures.
pub fn doubts(marks: &Marks, evidence: &Evidence) -> Markup {
    let list = |tag, said: Vec<String>| {
        plain(tag, said.iter().map(|said| plain("li", with_code(said))).collect::<Markup>())
    };
    let numbered = marks.numbered();
    let mut content = match (numbered.len(), evidence::sentences(evidence)) {
        (0, none) if none.is_empty() => {
            classed("p", "sound", "No reason to doubt these figures was found.")
        }
        (0, some) => classed("p", "remark", some.join(" ")),
        (many, _) => {
            let title = if many == 1 { "A reason to doubt" } else { "Reasons to doubt" };
            classed("aside", "doubts", [plain("h3", title), list("ol", numbered)])
        }
    };
    for (sort, title) in [(Sort::Run, "Limits of this run"), (Sort::Target, "The target")] {
        let said = marks.sentences(sort);
        if !said.is_empty() {
            content.push([plain("h3", title), list("ul", said)]);
        }
    }
    content
}

fn proofs(rows: &[ResultRow]) -> Markup {
    let doubted = rows.iter().flat_map(|row| row.warnings.iter().map(move |doubt| (row, doubt)));
    let table = Table::of(doubted.take(MOST_PROOFS))
        .name("Workload", |(row, _)| name(row))
        .words("Op", |(row, _)| row.ops.name())
        .words("Doubt", |(_, doubt)| doubt.code())
        .words("Evidence", |(_, doubt)| crate::topics::grade::evidence_words(doubt))
        .class("wraps")
        .bare()
        .of_class("proofs");
    if table.is_empty() {
        return Markup::new();
    }
    folded("Evidence behind each doubt", table.scroll())
}

/// More evidence than this is in the JSON alone.
const MOST_PROOFS: usize = 400;

fn sweeps(rows: &[ResultRow]) -> Markup {
    let findings = analysis::findings(rows);
    if findings.is_empty() {
        return Markup::new();
    }
    let sentences = findings.iter().map(|finding| findings::sentence(finding, rows));
    [plain("h3", "Sweeps"), markup::list(sentences)].into()
}

/// The workloads beside each other, reads and writes of a mix in one bar.
fn overview(rows: &[ResultRow], reached: &[Reached]) -> Markup {
    let bars = |figure: fn(&ResultRow) -> f64, most: fn(&Reached) -> Option<f64>| {
        let mut bars: Vec<((u32, Option<u32>), Bar)> = Vec::new();
        // The parts of a bar are added up: neither a total nor what is no I/O is one of them.
        for row in rows.iter().filter(|row| row.is_addend()) {
            let part = (style_of(row), figure(row));
            match bars.iter_mut().find(|(place, _)| *place == (row.point, row.index)) {
                Some((_, bar)) => bar.parts.push(part),
                None => {
                    let ceiling = ceiling_of(reached, row).and_then(most);
                    bars.push((
                        (row.point, row.index),
                        Bar { name: name(row), parts: vec![part], ceiling },
                    ));
                }
            }
        }
        bars.into_iter().map(|(_, bar)| bar).collect()
    };
    let here = |op: &Op| rows.iter().any(|row| row.is_addend() && row.ops == Ops::One(*op));
    let legend: Vec<(&'static str, String)> =
        Op::EACH.into_iter().filter(here).map(|op| (style(op), op.name().to_owned())).collect();
    let chart = |title: &str, words, bars| Bars {
        title: title.to_owned(),
        words,
        legend: legend.clone(),
        bars,
    };
    let iops = chart("Requests per second", words::iops, bars(ResultRow::iops, most_iops));
    let bandwidth =
        chart("Bandwidth", words::bandwidth, bars(ResultRow::bytes_per_s, most_bytes_per_s));
    classed("div", "charts", [iops.render(), bandwidth.render()])
}

fn swatch(op: Op) -> &'static str {
    match op {
        Op::Read => "swatch read",
        Op::Write => "swatch write",
        Op::Fsync => "swatch fsync",
        _ => "swatch metadata",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::begun;

    #[test]
    fn footnotes_are_a_mark_and_none_is_no_mark() {
        assert_eq!(references(&[1, 2, 3]).into_string(), "<sup class=\"doubt\">1 2 3</sup>");
        assert_eq!(references(&[]), Markup::new());
    }

    #[test]
    fn each_card_of_a_telephone_names_its_figures_as_the_table_does() {
        let record = begun(
            "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n",
            &[(Op::Read, &[100_000; 100])],
        );
        let table =
            table(&record, &analysis::results(&record), &Marks::default()).html().into_string();
        let heads = table.split_once("</thead>").expect("a head").0.split("<th ").skip(1);
        let heads: Vec<&str> = heads.filter_map(|th| th.split(['<', '>']).nth(1)).collect();
        let labels: Vec<(usize, &str)> = crate::ground::palette::SHEET
            .lines()
            .filter_map(|line| {
                let (place, rest) = line
                    .split_once("table.results td:nth-last-child(")?
                    .1
                    .split_once(")::before")?;
                let place = place.strip_suffix(" of :not(.durable)").unwrap_or(place);
                Some((place.parse().ok()?, rest.split('"').nth(1)?))
            })
            .collect();
        // All but the names: workload, sweep and operation.
        assert_eq!(labels.len() + 3, heads.len(), "{heads:?}");
        for (place, label) in labels {
            let head = heads[heads.len() - place];
            let is_same = label == head
                || head == "±" && label.starts_with("± of ")
                || head == "IOPS" && label == "Rate";
            assert!(is_same, "{label} stands for {head}");
        }
    }
}
