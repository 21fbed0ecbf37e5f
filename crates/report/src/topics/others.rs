//! Hosts that sent no load, by the counters that files told of them: a table for the terminal, the
//! page and machines, and the sentence of where they came from.

use super::attribution::title;
use crate::ground::markup::Markup;
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::Value;
use analysis::ResultRow;
use analysis::attribution::{Attribution, Watched, attribution};
use model::note::{CounterForm, CountersFrom};
use model::usage::Part;
use model::{Fact, Record};

/// More lines than this are no help; the JSON has all.
const MOST_LINES: usize = 64;
/// Counters that cover less of the measurements than this are said to be of a part of them.
const LEAST_COVERED: f64 = 0.9;

/// A host at a point.
struct Line<'a> {
    point: &'a Attribution,
    host: &'a str,
    of_host: Vec<&'a Watched>,
}

impl Line<'_> {
    /// Of this part, the one that was used most.
    fn most(&self, part: Part) -> Option<&Watched> {
        let share = |one: &Watched| one.used.share().unwrap_or(0.0);
        let all = self.of_host.iter().filter(|one| one.part == part);
        all.copied().rev().max_by(|a, b| share(a).total_cmp(&share(b)))
    }

    fn sum(&self, part: Part, of: fn(&Watched) -> u64) -> Option<f64> {
        let all = self.of_host.iter().filter(|one| one.part == part && one.used.carried_ns > 0);
        let rate = |one: &&Watched| of(one) as f64 / one.used.carried_ns as f64 * 1e9;
        all.map(rate).reduce(|sum, one| sum + one)
    }
}

fn lines(points: &[Attribution]) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for point in points {
        let from = lines.len();
        for one in &point.watched {
            let Some(host) = &one.told_of else { continue };
            let same = |line: &&mut Line<'_>| line.of_host[0].host == one.host;
            match lines[from..].iter_mut().find(same) {
                Some(line) => line.of_host.push(one),
                None => lines.push(Line { point, host, of_host: vec![one] }),
            }
        }
    }
    lines
}

fn table<'a>(lines: &'a [Line<'a>]) -> Table<&'a Line<'a>> {
    let used = |one: &Watched| {
        let share = one.used.share().map_or_else(crate::pens::dash, words::share);
        if one.name.is_empty() { share } else { format!("{share} ({})", one.name) }
    };
    let bytes = |rate: f64| format!("{}/s", words::decimal(model::Bytes(rate as u64)));
    let (read, written) = (
        |line: &Line<'_>| line.sum(Part::Disk, |one| one.used.received_bytes),
        |line: &Line<'_>| line.sum(Part::Disk, |one| one.used.sent_bytes),
    );
    let share = |line: &Line<'_>, part| line.most(part).and_then(|one| one.used.share());
    Table::of(lines.iter())
        .name("Point", |line| title(line.point))
        .key("point")
        .class("wraps")
        .words("Host", |line| line.host)
        .key("host")
        .figure("CPUs", move |line| line.most(Part::Cpu).map(used))
        .field("cpu", move |line| share(line, Part::Cpu))
        .figure("Busiest disk", move |line| line.most(Part::Disk).map(used))
        .field("disk", |line| line.most(Part::Disk).map(|one| one.name.as_str()))
        .field("disk_busy", move |line| share(line, Part::Disk))
        .figure("Read", move |line| read(line).map(bytes))
        .field("read_bytes_per_s", read)
        .figure("Written", move |line| written(line).map(bytes))
        .field("written_bytes_per_s", written)
        .figure("Busiest port", move |line| line.most(Part::Port).map(used))
        .field("port", |line| line.most(Part::Port).map(|one| one.name.as_str()))
        .field("port_busy", move |line| share(line, Part::Port))
        .caption(
            "From files, not watched by Plimsoll. How far each is to be trusted stands in the \
             notes.",
        )
}

pub(crate) fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let points = attribution(record, rows);
    let lines = lines(&points);
    let shown = lines.get(..MOST_LINES).unwrap_or(&lines);
    table(shown).section(TITLE)
}

const TITLE: &str = "Hosts from files";

/// For a terminal, and below it where the counters came from: of all hosts, or of those of which
/// they cover a part only.
pub(crate) fn text(record: &Record, rows: &[ResultRow], is_whole: bool) -> String {
    let points = attribution(record, rows);
    let lines = lines(&points);
    let shown = table(lines.get(..MOST_LINES).unwrap_or(&lines));
    let told = record.notes.iter().filter_map(|note| match &note.fact {
        Fact::CountersFrom(from) if is_whole || share(from) < LEAST_COVERED => Some(from),
        _ => None,
    });
    let told: String = told.map(|from| format!("{}\n", sentence(from))).collect();
    match shown.is_empty() {
        true => told,
        false => format!("{TITLE}\n{}{told}", shown.text()),
    }
}

/// How much of the measurements the counters cover, 0 and up.
fn share(from: &CountersFrom) -> f64 {
    from.covered.0 as f64 / from.measured.0.max(1) as f64
}

/// For machines.
pub(crate) fn objects(record: &Record, rows: &[ResultRow]) -> Vec<Value> {
    let points = attribution(record, rows);
    table(&lines(&points)).json()
}

/// `esx1, from a file: 12 counters of esxtop in esx1.csv, every 5 s. An event is known to ± 2.5 s.`
pub(super) fn sentence(from: &CountersFrom) -> String {
    let CountersFrom { host, form, file, sha256, offset_ns, interval, covered, measured, .. } =
        from;
    let tool = match form {
        CounterForm::Perfmon => "perfmon",
        CounterForm::Esxtop => "esxtop",
        CounterForm::Prometheus => "Prometheus",
        CounterForm::Sar => "sar",
    };
    let moved = model::Nanos(offset_ns.unsigned_abs());
    let offset = match offset_ns.signum() {
        0 => String::new(),
        sign => format!(", its times moved by {}{moved}", if sign < 0 { "−" } else { "+" }),
    };
    let error = model::Nanos(interval.0 / 2);
    let of = match share(from) {
        share if share < LEAST_COVERED => format!(
            "They cover {covered} of {measured} of the measurements; of the rest, nothing is known"
        ),
        _ => "They cover the measurements".to_owned(),
    };
    let left_out = match from.left_out {
        0 => String::new(),
        more => format!(" Not used: {}.", words::counted(more, "other counter")),
    };
    let sha256 = sha256.get(..12).unwrap_or(sha256);
    format!(
        "{host}, from a file: {} of {tool} in {file} (SHA-256 {sha256}…){offset}, every \
         {interval}. An event is known to ± {error}. {of}.{left_out}",
        words::counted(from.taken, "counter"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has, lacks};
    use model::counters::{Entry, Layer, Metric};
    use model::testbed::{HostFacts, Place};
    use model::{Nanos, Op, StageKind};

    const SECOND: u64 = 1_000_000_000;

    /// A run on one host, with a server behind it whose disk is as busy as this (percent).
    fn told(busy: u64) -> Record {
        let mut recorded = Recorded::new(W);
        let stage = recorded.stage(StageKind::Measure);
        (0..10).for_each(|second| recorded.interval(stage, second, &[(Op::Read, &[1_000; 50])]));
        recorded.end();
        for second in 0..10 {
            let (cpu, ns) = (SECOND / 4, SECOND * busy / 100);
            let entries = vec![
                Entry::new(Layer::Cpu, "", &[(Metric::RunNs, cpu), (Metric::IdleNs, SECOND - cpu)]),
                Entry::new(
                    Layer::Block,
                    "0 D:",
                    &[(Metric::BusyNs, ns), (Metric::ReadBytes, 5_000), (Metric::WriteBytes, 0)],
                ),
            ];
            recorded.counters(stage, 1, second, entries);
        }
        let mut record = recorded.record();
        record
            .testbed
            .push(HostFacts { place: Place { number: 1, of: 1 }, ..HostFacts::unknown("win1") });
        record
    }

    #[test]
    fn a_host_that_sent_no_load_stands_among_the_limits_and_in_a_table_of_its_own() {
        let record = told(99);
        let rows = analysis::results(&record);
        let limits = super::super::attribution::text(&record, &rows);
        has(&limits, &["at its limit: the disk 0 D: of win1 (from a file), 99 % on average"]);
        let said = text(&record, &rows, false);
        has(&said, &["Hosts from files", "win1", "25 %", "99 % (0 D:)", "5 KB/s"]);
        let page = section(&record, &rows).into_string();
        has(&page, &["From files", "99 % (0 D:)"]);
        let object = &objects(&record, &rows)[0];
        assert_eq!((&object["host"], &object["disk"]), (&"win1".into(), &"0 D:".into()));
        assert_eq!(object["disk_busy"].as_f64().map(|share| share > 0.98), Some(true));
        assert_eq!(words::hosts(&record), record.testbed[0].hostname, "it is none that loads");
    }

    #[test]
    fn what_a_file_told_of_others_says_nothing_of_those_that_load() {
        let (with, mut without) = (told(99), told(99));
        without.testbed.pop();
        let doubts = |record: &Record| analysis::results(record)[0].warnings.clone();
        assert_eq!(doubts(&with), doubts(&without));
        let rows = analysis::results(&without);
        assert_eq!(
            (text(&without, &rows, true), objects(&without, &rows).len()),
            (String::new(), 0)
        );
        lacks(&super::super::attribution::text(&without, &rows), &["win1"]);
    }

    #[test]
    fn the_sentence_says_what_is_not_known() {
        let from = CountersFrom {
            host: "win1".into(),
            file: "w.csv".into(),
            sha256: "0123456789abcdef".into(),
            offset_ns: -3_600 * SECOND as i64,
            interval: Nanos::seconds(15),
            covered: Nanos::seconds(30),
            measured: Nanos::seconds(60),
            taken: 7,
            left_out: 1,
            ..CountersFrom::default()
        };
        let said = sentence(&from);
        has(&said, &["7 counters", "0123456789ab…", "moved by −1h 00m", "± 7.5 s", "30 s of 1m"]);
        let whole = CountersFrom { covered: Nanos::seconds(59), offset_ns: 0, ..from };
        has(&sentence(&whole), &["They cover the measurements", "(SHA-256 0123456789ab…), every"]);
    }
}
