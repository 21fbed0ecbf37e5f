//! The figures that a command told, read out of what it printed before the run file keeps it.

use crate::failure::Failure;
use analysis::foreign::Figure;
use dialects::results;
use model::foreign::{GivenRow, Measured, Quantity, Span, Statistic, short};
use model::note::{Told, ToldFigure};
use model::{Event, Fact, Nanos, Note, Op, Plan};
use regex_lite::{Captures, Regex};

/// What a figure can be: its unit as tools write it, and what one of it is.
const UNITS: [(&str, Unit); 20] = [
    ("/s", Unit::Own),
    ("tps", Unit::Own),
    ("ops/s", Unit::Own),
    ("op/s", Unit::Own),
    ("IOPS", Unit::Rate(1.0)),
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
    /// Operations in a second: requests if the pattern names the operation, else the tool's own.
    Own,
    /// Requests in a second.
    Rate(f64),
    /// Bytes in a second.
    Bytes(f64),
    /// A mean latency, in ns.
    Time(f64),
}

/// Whether a pattern is a regular expression with a place for a number, in a unit that is known.
pub(crate) fn check(pattern: &str) -> Result<(), Failure> {
    let Err(why) = Pattern::read(pattern) else { return Ok(()) };
    if pattern.is_empty() {
        return Ok(());
    }
    let units: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
    Err(Failure::usage(format!(
        "result {pattern}: {why}; write a regular expression with the number as its unit in \
         braces ({}), such as \"tps = {{tps}}\" or \"iops: {{read IOPS}}\", or {{}} where the unit \
         stands behind the number",
        units.join(", ")
    )))
}

/// Where a figure stands, with its unit and its operation where the pattern says them.
struct Pattern {
    regex: Regex,
    op: Option<Op>,
    unit: Option<Unit>,
}

impl Pattern {
    fn read(text: &str) -> Result<Pattern, String> {
        let place = text.match_indices('{').find_map(|(at, _)| {
            let (inner, behind) = text[at + 1..].split_once('}')?;
            let (op, name) = inner.split_once(' ').unwrap_or(("", inner));
            let found = Op::EACH.into_iter().find(|one| one.name() == op);
            let unit = unit_of(name);
            let is_place = (op.is_empty() || found.is_some()) && unit.is_some();
            (is_place || inner.is_empty()).then(|| (&text[..at], found, unit, behind))
        });
        let (regex, op, unit) = match place {
            Some((before, op, unit, behind)) => {
                let unit_behind = if unit.is_some() { "" } else { r"\s*[A-Za-z/]+" };
                let number = format!(r"\s*(?<figure>[0-9][0-9.,]*{unit_behind})\s*");
                (format!("{before}{number}{behind}"), op, unit)
            }
            None => (text.to_owned(), None, None),
        };
        let regex = Regex::new(&regex).map_err(|error| error.to_string())?;
        match regex.captures_len() {
            2.. => Ok(Pattern { regex, op, unit }),
            _ => Err("it has no place for a number".to_owned()),
        }
    }

    /// The last figure of a line.
    fn of_line(&self, line: &str) -> Option<(f64, Unit)> {
        let figure = |found: Captures<'_>| {
            let place = found.name("figure").or(found.get(1))?;
            number(&line[place.start()..], self.unit)
        };
        self.regex.captures_iter(line).filter_map(figure).last()
    }
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
        pattern => {
            let read = Pattern::read(pattern).ok();
            let found = read.and_then(|read| texts.iter().find_map(|text| by_text(&read, text)));
            (String::new(), found.into_iter().collect())
        }
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
        is_own: false,
    })
}

/// The last figure that stands in a text as the pattern has it: tools print what they have so far
/// again and again.
fn by_text(pattern: &Pattern, text: &str) -> Option<ToldFigure> {
    let (value, unit) = text.lines().rev().find_map(|line| pattern.of_line(line))?;
    let none = ToldFigure { name: "result".to_owned(), op: pattern.op, ..ToldFigure::default() };
    let rate = |one: f64| Some((value * one * 1e3).round() as u64);
    Some(match unit {
        Unit::Own => ToldFigure { rate_milli: rate(1.0), is_own: pattern.op.is_none(), ..none },
        Unit::Rate(one) => ToldFigure { rate_milli: rate(one), ..none },
        Unit::Bytes(one) => ToldFigure { bytes_per_s: Some((value * one).round() as u64), ..none },
        Unit::Time(one) => ToldFigure { mean: Some(Nanos((value * one).round() as u64)), ..none },
    })
}

/// The number that a text begins with, in this unit or in the one behind it.
fn number(text: &str, unit: Option<Unit>) -> Option<(f64, Unit)> {
    let is_of = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let (digits, rest) = text.split_at(text.find(|c| !is_of(c)).unwrap_or(text.len()));
    let value: f64 = digits.trim_end_matches([',', '.']).replace(',', "").parse().ok()?;
    let name = rest.trim_start().split(|c: char| !c.is_ascii_alphabetic() && c != '/').next();
    Some((value, unit.or_else(|| unit_of(name?))?))
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
        let found = |pattern: &str, text: &str| by_text(&Pattern::read(pattern).ok()?, text);
        let rate = |pattern: &str, text: &str| found(pattern, text)?.rate_milli;
        let bytes = |pattern: &str, text: &str| found(pattern, text)?.bytes_per_s;
        let pgbench = "tps = 10.0\nlatency average = 2.5 ms\ntps = 1,234.5 (without initial)\n";
        assert_eq!(rate("tps = {tps}", pgbench), Some(1_234_500));
        let mean = found(r"latency \w+ = {}", pgbench).expect("one").mean;
        assert_eq!(mean, Some(Nanos(2_500_000)));
        let dd = "67108864 bytes (67 MB, 64 MiB) copied, 0.05 s, 1.3 GB/s\n";
        assert_eq!(bytes(", {}", dd), Some(1_300_000_000));
        assert_eq!(bytes("copied, .* s, ([0-9.]+ GB)", dd), Some(1_300_000_000));
        let rados = "Bandwidth (MB/sec):     105.5\nStddev Bandwidth:       3.2\n";
        assert_eq!(bytes("^Bandwidth .*: {MiB/s}", rados), Some(110_624_768));
        assert_eq!(rate("{IOPS} in all", "7 in part\n5 in all\n9 in part\n"), Some(5_000));
        assert_eq!(rate("x{2}: {IOPS}", "xx: 7\nx: 8\n"), Some(7_000));
        assert_eq!(rate("tps = {tps}", "tps = none\n"), None);
        let of_reads = found("\"iops\": {read /s}", "{\"iops\": 7.5, \"x\": 1}").expect("one");
        let own = found("{tps}", "5").expect("one");
        assert_eq!((of_reads.op, of_reads.rate_milli), (Some(Op::Read), Some(7_500)));
        assert_eq!((of_reads.is_own, own.is_own), (false, true), "requests, and transactions");
    }

    #[test]
    fn a_pattern_without_a_place_or_with_another_unit_is_refused() {
        assert!(["", "tps = {/s}", "{}", "x{2} (.*)"].iter().all(|good| check(good).is_ok()));
        for bad in ["tps", "{furlongs}", "tps = {/s", "{eat /s}", "(", "x{2}"] {
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
