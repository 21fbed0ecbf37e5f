//! The figures that a command told, read out of what it printed before the run file keeps it.

use crate::failure::Failure;
use analysis::foreign::Figure;
use dialects::results;
use model::foreign::{GivenRow, Measured, Quantity, Span, Statistic, short};
use model::note::{Told, ToldFigure};
use model::{Event, Fact, Nanos, Note, Op, Plan};

/// What a figure can be: its unit as tools write it, and what one of it is.
const UNITS: [(&str, Unit); 19] = [
    ("/s", Unit::Rate(1.0)),
    ("IOPS", Unit::Rate(1.0)),
    ("ops/s", Unit::Rate(1.0)),
    ("op/s", Unit::Rate(1.0)),
    ("kIOPS", Unit::Rate(1e3)),
    ("MIOPS", Unit::Rate(1e6)),
    ("B/s", Unit::Bytes(1.0)),
    ("bytes/s", Unit::Bytes(1.0)),
    ("kB/s", Unit::Bytes(1e3)),
    ("KB/s", Unit::Bytes(1e3)),
    ("MB/s", Unit::Bytes(1e6)),
    ("GB/s", Unit::Bytes(1e9)),
    ("KiB/s", Unit::Bytes(1024.0)),
    ("MiB/s", Unit::Bytes(1048576.0)),
    ("GiB/s", Unit::Bytes(1073741824.0)),
    ("ns", Unit::Time(1.0)),
    ("us", Unit::Time(1e3)),
    ("ms", Unit::Time(1e6)),
    ("s", Unit::Time(1e9)),
];

#[derive(Clone, Copy)]
enum Unit {
    /// Requests in a second.
    Rate(f64),
    /// Bytes in a second.
    Bytes(f64),
    /// A mean latency, in ns.
    Time(f64),
}

/// Whether a pattern has one place for a number, in a unit that is known.
pub(crate) fn check(pattern: &str) -> Result<(), Failure> {
    if pattern.is_empty() || parts(pattern).is_some() {
        return Ok(());
    }
    let units: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
    Err(Failure::usage(format!(
        "--result {pattern}: it has no place for a number; write one pair of braces with its unit \
         ({}), such as \"tps = {{/s}}\" or \"iops: {{read /s}}\", or {{}} where the unit stands \
         behind the number",
        units.join(", ")
    )))
}

/// A pattern: what stands before the number and behind it, its unit and its operation where the
/// pattern says them.
struct Pattern<'a> {
    before: &'a str,
    op: Option<Op>,
    unit: Option<Unit>,
    behind: &'a str,
}

fn parts(pattern: &str) -> Option<Pattern<'_>> {
    let (before, rest) = pattern.split_once('{')?;
    let (inner, behind) = rest.split_once('}')?;
    let (op, name) = match inner.split_once(' ') {
        Some((op, name)) => (Some(Op::ALL.into_iter().find(|one| one.name() == op)?), name),
        None => (None, inner),
    };
    let unit = unit_of(name);
    (name.is_empty() || unit.is_some()).then_some(Pattern { before, op, unit, behind })
}

fn unit_of(name: &str) -> Option<Unit> {
    UNITS.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
}

/// The events with what commands told in figures; `None` where no command told anything.
pub(crate) fn with_figures(plan: &Plan, events: &[Event]) -> Option<Vec<Event>> {
    let is_told =
        |event: &Event| matches!(event, Event::Note(note) if matches!(note.fact, Fact::Told(_)));
    if !events.iter().any(is_told) {
        return None;
    }
    let read = |event: &Event| match event {
        Event::Note(Note { fact: Fact::Told(told), stage, host }) => {
            let fact = Fact::Told(Box::new(with(told, pattern(plan, *stage))));
            Event::Note(Note { stage: *stage, host: *host, fact })
        }
        other => other.clone(),
    };
    Some(events.iter().map(read).collect())
}

fn pattern(plan: &Plan, stage: Option<u32>) -> &str {
    let stage = stage.and_then(|stage| plan.stages.get(stage as usize));
    let command = stage.and_then(|stage| stage.works.first()?.command.as_ref());
    command.map_or("", |command| &command.result)
}

/// What was told with its figures, and as much of the text as a run file keeps.
fn with(told: &Told, pattern: &str) -> Told {
    let texts = [told.output.as_str(), told.errors.as_str()];
    let (tool, figures) = match pattern {
        "" => texts.into_iter().find_map(by_dialect).unwrap_or_default(),
        pattern => (
            String::new(),
            texts.into_iter().find_map(|text| by_text(pattern, text)).into_iter().collect(),
        ),
    };
    let (output, errors) = (shortened(&told.output), shortened(&told.errors));
    Told { tool, figures, output, errors, ..told.clone() }
}

fn by_dialect(text: &str) -> Option<(String, Vec<ToldFigure>)> {
    let found = results::read("the command", text, results::detect(text)?).ok()?;
    let figures = found.rows.iter().filter_map(figure).take(Told::MOST_FIGURES).collect();
    Some((short(&found.tool()), figures))
}

/// A row that says how fast something was.
fn figure(row: &GivenRow) -> Option<ToldFigure> {
    let whole = |value: Option<f64>| value.map(|value| value.round() as u64);
    let amount = |measured| whole(row.get(Quantity::whole(measured)));
    let latency = |statistic| {
        let spans = [Span::Total, Span::Completion, Span::Entry];
        let found = spans.iter().find_map(|span| Figure::Latency(*span, statistic).value(row));
        whole(found).map(Nanos)
    };
    let rate_milli = whole(row.overall(Measured::Rate).map(|rate| rate * 1e3));
    let bytes_per_s = whole(row.overall(Measured::Bandwidth));
    (rate_milli.is_some() || bytes_per_s.is_some()).then(|| ToldFigure {
        name: row.workload.clone(),
        op: row.op,
        rate_milli,
        bytes_per_s,
        requests: amount(Measured::Requests),
        bytes: amount(Measured::Bytes),
        time: amount(Measured::Time).map(Nanos),
        mean: latency(Statistic::Mean),
        p99: latency(Statistic::Quantile(990_000_000)),
    })
}

/// The last figure that stands in a text as the pattern has it: tools print what they have so far
/// again and again.
fn by_text(pattern: &str, text: &str) -> Option<ToldFigure> {
    let Pattern { before, op, unit, behind } = parts(pattern)?;
    let of_line = |line: &str| {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let starts: Vec<usize> = match before.trim_end() {
            "" => vec![0],
            before => line.match_indices(before).map(|(at, found)| at + found.len()).collect(),
        };
        let mut found = starts.into_iter().rev().filter_map(|at| number(&line[at..], unit, behind));
        found.next()
    };
    let (value, unit) = text.lines().rev().find_map(of_line)?;
    let none = ToldFigure {
        name: short(pattern),
        op,
        rate_milli: None,
        bytes_per_s: None,
        requests: None,
        bytes: None,
        time: None,
        mean: None,
        p99: None,
    };
    Some(match unit {
        Unit::Rate(one) => {
            ToldFigure { rate_milli: Some((value * one * 1e3).round() as u64), ..none }
        }
        Unit::Bytes(one) => ToldFigure { bytes_per_s: Some((value * one).round() as u64), ..none },
        Unit::Time(one) => ToldFigure { mean: Some(Nanos((value * one).round() as u64)), ..none },
    })
}

/// The number that a text begins with, in its unit, if what is to stand behind it does.
fn number(text: &str, unit: Option<Unit>, behind: &str) -> Option<(f64, Unit)> {
    let text = text.trim_start();
    let is_of = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let length = text.find(|c| !is_of(c)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(length);
    let value: f64 = digits.trim_end_matches([',', '.']).replace(',', "").parse().ok()?;
    let (unit, rest) = match unit {
        Some(unit) => (unit, rest),
        None => {
            let rest = rest.trim_start();
            let end = rest.find([' ', ',', ')', ';']).unwrap_or(rest.len());
            (unit_of(&rest[..end])?, &rest[end..])
        }
    };
    rest.trim_start().starts_with(behind.trim()).then_some((value, unit))
}

/// The begin and the end of a text, of no more bytes than a run file keeps.
fn shortened(text: &str) -> String {
    if text.len() <= Told::MOST_KEPT {
        return text.to_owned();
    }
    let half = Told::MOST_KEPT / 2;
    let head = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= half).last();
    let tail = text.char_indices().map(|(at, _)| at).find(|at| *at >= text.len() - half);
    let (head, tail) = (head.unwrap_or(0), tail.unwrap_or(text.len()));
    format!("{}\n[{} bytes left out]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_read_where_the_pattern_has_it_and_the_last_one_counts() {
        let rate = |pattern: &str, text: &str| by_text(pattern, text)?.rate_milli;
        let pgbench = "tps = 10.0\nlatency average = 2.5 ms\ntps = 1,234.5 (without initial)\n";
        assert_eq!(rate("tps = {/s}", pgbench), Some(1_234_500));
        assert_eq!(
            by_text("latency average = {}", pgbench).expect("one").mean,
            Some(Nanos(2_500_000))
        );
        let dd = "67108864 bytes (67 MB, 64 MiB) copied, 0.05 s, 1.3 GB/s\n";
        assert_eq!(by_text(", {}", dd).expect("one").bytes_per_s, Some(1_300_000_000));
        let rados = "Bandwidth (MB/sec):     105.5\nStddev Bandwidth:       3.2\n";
        let found = by_text("Bandwidth (MB/sec): {MiB/s}", rados).expect("one");
        assert_eq!(found.bytes_per_s, Some(110_624_768));
        assert_eq!(rate("{IOPS} in all", "7 in part\n5 in all\n9 in part\n"), Some(5_000));
        assert_eq!(rate("tps = {/s}", "tps = none\n"), None);
        let of_reads = by_text("\"iops\": {read /s}", "{\"iops\": 7.5, \"x\": 1}").expect("one");
        assert_eq!((of_reads.op, of_reads.rate_milli), (Some(Op::Read), Some(7_500)));
    }

    #[test]
    fn a_pattern_without_a_place_or_with_another_unit_is_refused() {
        assert!(check("").is_ok() && check("tps = {/s}").is_ok() && check("{}").is_ok());
        for bad in ["tps", "{furlongs}", "tps = {/s", "{eat /s}"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_long_text_is_kept_at_its_ends() {
        let text = "ä".repeat(Told::MOST_KEPT);
        let short = shortened(&text);
        assert!(short.len() < Told::MOST_KEPT + 64 && short.contains("bytes left out"), "{short}");
        assert_eq!(shortened("all"), "all");
    }
}
