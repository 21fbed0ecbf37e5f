//! What happened at instants of a run, and what it did: in words, as tables, as JSON, and as a
//! section of the page.

use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::moment::time_words;
use crate::ground::words;
use crate::pens::json::{Value, each, object};
use crate::pens::{Table, capital};
use analysis::aftermath::Aftermath;
use analysis::effects::{Effect, effects};
use model::{Nanos, Occurrence, OccurrenceKind, Plan, Record};

/// A table in a terminal names so many hosts of each event: those that lost most. The page and JSON
/// have all.
const MOST_HOSTS: usize = 4;
/// A list in a terminal has so many lines; the page and JSON have all.
const MOST_LINES: usize = 40;

fn kind(kind: OccurrenceKind) -> &'static str {
    match kind {
        OccurrenceKind::Mark => "mark",
        OccurrenceKind::Planned => "event",
        OccurrenceKind::CommandEnded => "command ended",
        OccurrenceKind::StillRunning => "event still running",
        OccurrenceKind::HostLost => "host lost",
        OccurrenceKind::HostReturned => "host came back",
        OccurrenceKind::KernelLog => "kernel log",
        OccurrenceKind::Throttled => "throttled",
        OccurrenceKind::Prerun => "prerun",
    }
}

/// What happened, in a line without its time: `event migration`, `command ended: migration (exit
/// status 3 after 2 s)`.
pub fn line(occurrence: &Occurrence, plan: &Plan) -> String {
    let host = match occurrence.host.filter(|_| plan.hosts.len() > 1) {
        // Its label begins with its name.
        Some(_)
            if matches!(
                occurrence.kind,
                OccurrenceKind::HostLost | OccurrenceKind::HostReturned
            ) =>
        {
            String::new()
        }
        Some(number) => format!("{}: ", host_name(plan, number)),
        None => String::new(),
    };
    line_of(occurrence, &host)
}

/// The same with `host` as it is to be said: nothing, or a name and a colon.
pub fn line_of(occurrence: &Occurrence, host: &str) -> String {
    let is_end = matches!(occurrence.kind, OccurrenceKind::CommandEnded | OccurrenceKind::Prerun);
    // What was left out took no time.
    let end = if is_end && occurrence.duration_ns.is_some() {
        end_words(occurrence)
    } else {
        String::new()
    };
    let silent =
        match occurrence.duration_ns.filter(|_| occurrence.kind == OccurrenceKind::HostLost) {
            Some(ns) => format!(" (given up {} after its last word)", rough(ns)),
            None => String::new(),
        };
    format!("{}: {host}{}{end}{silent}", kind(occurrence.kind), occurrence.label)
}

/// How a command ended: ` (exit status 3 after 2 s)`.
fn end_words(occurrence: &Occurrence) -> String {
    let status = occurrence
        .status
        .map_or_else(|| "no exit status".to_owned(), |status| format!("exit status {status}"));
    let after =
        occurrence.duration_ns.map_or_else(String::new, |ns| format!(" after {}", rough(ns)));
    format!(" ({status}{after})")
}

/// To a millisecond: a command's time is no measurement.
fn rough(ns: u64) -> String {
    Nanos(ns / 1_000_000 * 1_000_000).to_string()
}

fn host_name(plan: &Plan, number: u32) -> String {
    plan.hosts
        .get(number as usize)
        .map_or_else(|| format!("host {number}"), |host| host.hostname.clone())
}

/// When, on the axis of its stage: `8k-67-33 · measure at 30 min`.
fn place(occurrence: &Occurrence, plan: &Plan) -> String {
    let stage = occurrence.stage.and_then(|stage| plan.stages.get(stage as usize));
    match stage {
        Some(stage) => {
            let name = crate::ground::stage::name(plan, stage);
            format!(
                "{} at {}",
                name.split_whitespace().collect::<Vec<_>>().join(" "),
                at(occurrence)
            )
        }
        None => words::utc(occurrence.unix_ns),
    }
}

fn at(occurrence: &Occurrence) -> String {
    time_words((occurrence.since_s() * 10.0).round() / 10.0)
}

/// The figures of an aftermath, as a table and an object have them.
fn figures<'a, R: Copy>(table: Table<R>, of: impl Fn(R) -> &'a Aftermath + Copy) -> Table<R> {
    let seconds = |s: f64| time_words((s * 10.0).round() / 10.0);
    let dip = |row| Some(of(row)).filter(|found| found.began_after_s.is_some());
    let back =
        |found: &Aftermath| found.recovered_after_s.map_or_else(|| "not seen".to_owned(), seconds);
    let extra = |ns: f64| {
        let sign = if ns < 0.0 { "−" } else { "+" };
        format!("{sign}{}", words::latency(Some(ns.abs().round() as u64)))
    };
    let depth = |row| dip(row).map_or("no dip".to_owned(), |found| words::share(found.depth()));
    let missing = |found: &Aftermath| words::count(found.missing_ios.round() as u64);
    table
        .known("before_iops", "before", |row| of(row).before, words::iops)
        .known("noise", "noise", |row| of(row).noise, words::share)
        .known("lowest_iops", "lowest", |row| of(row).lowest, words::iops)
        .figure("depth", depth)
        .field("depth", |row| of(row).depth())
        .known("began_after_s", "dip after", |row| of(row).began_after_s, seconds)
        .figure("back after", |row| dip(row).map(back))
        .field("recovered_after_s", |row| of(row).recovered_after_s)
        .field("duration_s", |row| of(row).duration_s())
        .figure("missing", |row| dip(row).map(missing))
        .field("missing_ios", |row| of(row).missing_ios)
        .figure("latency", |row| dip(row).and_then(|found| found.extra_latency_ns).map(extra))
        .field("extra_latency_ns", |row| of(row).extra_latency_ns)
}

/// What the heads mean, under every table.
const LEGEND: [(&str, &str); 6] = [
    ("before", "requests per second before the event"),
    (
        "noise",
        "standard deviation ÷ mean of the intervals before it; a dip exceeds four of these, and \
         5 %, over three intervals; or five, and 15 %, in one",
    ),
    ("lowest", "the lowest interval until the rate is back, or the stage ends"),
    (
        "back after",
        "until the rate is within 5 % of that before, or within its noise if that is wider",
    ),
    ("missing", "requests that the rate before would have brought"),
    ("latency", "mean in the dip, against the mean before"),
];

/// What no table of this kind can know.
const NO_CAUSE: &str = "This is what followed the event, not what the event caused.";

struct Line<'a> {
    occurrence: &'a Occurrence,
    effect: &'a Effect,
    host: String,
    found: &'a Aftermath,
    is_first: bool,
}

/// The lines of one effect: in total and for each host.
fn lines<'a>(record: &'a Record, effect: &'a Effect, most_hosts: usize) -> Vec<Line<'a>> {
    let Some(occurrence) = record.occurrences.get(effect.occurrence) else { return Vec::new() };
    let total = effect.total.iter().map(|found| ("all".to_owned(), found));
    let mut hosts: Vec<&(u32, Aftermath)> = effect.hosts.iter().collect();
    if hosts.len() > most_hosts {
        hosts.retain(|(_, found)| found.began_after_s.is_some());
        hosts.sort_by(|a, b| b.1.missing_ios.total_cmp(&a.1.missing_ios));
        hosts.truncate(most_hosts);
    }
    let hosts = hosts.into_iter().map(|(host, found)| (host_name(&record.plan, *host), found));
    let line =
        |(number, (host, found))| Line { occurrence, effect, host, found, is_first: number == 0 };
    total.chain(hosts).enumerate().map(line).collect()
}

/// What came after; nothing where nothing can be told. On a terminal an event's name stands once.
fn aftermaths<'a>(lines: &'a [Line<'a>], is_once: bool) -> Table<&'a Line<'a>> {
    let of = |line: &Line<'_>, words: String| {
        if is_once && !line.is_first { String::new() } else { words }
    };
    let table = Table::of(lines)
        .words("after", |line| of(line, line.occurrence.label.clone()))
        .words("at", |line| of(line, at(line.occurrence)))
        .words("workload", |line| of(line, line.effect.workload.clone()))
        .words("host", |line| &line.host);
    figures(table, |line| line.found).bare().capitals()
}

/// The events of a run and what came after them, for a terminal; empty where there were none.
pub fn table(record: &Record) -> String {
    if record.occurrences.is_empty() {
        return String::new();
    }
    let plan = &record.plan;
    let all = record.occurrences.iter();
    let all = all.map(|one| format!("{}: {}", place(one, plan), line(one, plan))).collect();
    let more = |more| format!("and {more} more: see the page, or --json");
    let mut all = words::at_most(all, MOST_LINES, more);
    all.extend(super::event_io::lines(record));
    let mut text = format!("\nEvents\n{}", words::items(all));
    let effects = effects(record);
    let told: Vec<Line<'_>> =
        effects.iter().flat_map(|effect| lines(record, effect, MOST_HOSTS)).collect();
    if told.is_empty() {
        return text;
    }
    text.push_str(&format!("\n{}", aftermaths(&told, true).text()));
    for (head, meaning) in LEGEND {
        text.push_str(&format!("{head:<10}  {meaning}\n"));
    }
    text.push_str(&format!("{NO_CAUSE}\n"));
    text
}

/// What happened in a run and what came after it, in one sentence for the paragraph that says what
/// the run is; `None` where nothing happened whose effect can be told. Of several events, that
/// after which most requests were missing.
pub fn finding(record: &Record) -> Option<String> {
    let effects = effects(record);
    let mut told: Vec<usize> =
        effects.iter().filter(|one| one.total.is_some()).map(|one| one.occurrence).collect();
    told.dedup();
    let missing =
        |found: &Aftermath| if found.began_after_s.is_some() { found.missing_ios } else { 0.0 };
    let all =
        || effects.iter().filter_map(|effect| effect.total.as_ref().map(|found| (effect, found)));
    // Of equal ones the first.
    let (effect, found) = all().rev().max_by(|a, b| missing(a.1).total_cmp(&missing(b.1)))?;
    let occurrence = record.occurrences.get(effect.occurrence)?;
    if found.began_after_s.is_none() {
        return Some(match told.len() {
            1 => format!("After {} the rate did not dip.", event(occurrence, &record.plan)),
            many => format!("After none of its {many} events did a rate dip."),
        });
    }
    let of = if told.len() > 1 {
        format!("Of its {} events, most was missing after one: after ", told.len())
    } else {
        "After ".to_owned()
    };
    let back = match found.recovered_after_s {
        Some(s) => format!("was back {} after it", time_words((s * 10.0).round() / 10.0)),
        None => "was not back before the end".to_owned(),
    };
    Some(format!(
        "{of}{} the rate of {} fell by {}, from {} to {} IOPS, and {back}.",
        event(occurrence, &record.plan),
        effect.workload,
        words::share(found.depth()),
        words::iops(found.before),
        words::iops(found.lowest)
    ))
}

/// `the event drive-failure (at 30 min)`.
fn event(occurrence: &Occurrence, plan: &Plan) -> String {
    let what = match occurrence.kind {
        OccurrenceKind::Mark => "the mark",
        OccurrenceKind::HostLost => "the loss of",
        OccurrenceKind::HostReturned => "the return of",
        OccurrenceKind::KernelLog => "the kernel's message",
        OccurrenceKind::Throttled => "this:",
        OccurrenceKind::Planned
        | OccurrenceKind::CommandEnded
        | OccurrenceKind::StillRunning
        | OccurrenceKind::Prerun => "the event",
    };
    let is_of_many = plan.points.len() > 1 && occurrence.stage.is_some();
    let when = if is_of_many { place(occurrence, plan) } else { format!("at {}", at(occurrence)) };
    format!("{what} {} ({when})", occurrence.label)
}

/// An occurrence for machines (`docs/reference/json.md`).
pub fn object(occurrence: &Occurrence) -> Value {
    object! {
        kind: occurrence.kind.word(),
        since_ns: occurrence.since_ns(),
        ..occurrence { stage, at_ns, unix_ns, host, label, detail, status, duration_ns },
    }
}

/// All that happened in a run with what came after it, for machines.
pub fn objects(record: &Record) -> Vec<Value> {
    let effects = effects(record);
    let of = |(place, occurrence): (usize, &Occurrence)| {
        let mut object = object(occurrence);
        let found = effects.iter().filter(|effect| effect.occurrence == place);
        object["aftermath"] = each(found, |effect| after(effect, &record.plan)).into();
        object
    };
    record.occurrences.iter().enumerate().map(of).collect()
}

fn after(effect: &Effect, plan: &Plan) -> Value {
    let hosts = Table::of(&effect.hosts).field("host", |(host, _)| host_name(plan, *host));
    object! {
        total: figures(Table::of(&effect.total), |found| found).object(),
        hosts: figures(hosts, |(_, found)| found).json(),
        ..effect { workload, point },
    }
}

/// The page's section; nothing where nothing happened.
pub fn section(record: &Record) -> Markup {
    if record.occurrences.is_empty() {
        return Markup::new();
    }
    let mut content = plain("h2", "Events");
    content.push(list(record));
    content.push(super::event_io::section(record));
    let effects = effects(record);
    let told: Vec<Line<'_>> =
        effects.iter().flat_map(|effect| lines(record, effect, usize::MAX)).collect();
    if !told.is_empty() {
        content.push(plain("h3", "What came after"));
        content.push(aftermaths(&told, false).scroll());
        let legend: Markup = LEGEND
            .into_iter()
            .flat_map(|(head, meaning)| [plain("dt", capital(head)), plain("dd", meaning)])
            .collect();
        content.push(classed("dl", "facts remark", legend));
        content.push(classed("p", "remark", NO_CAUSE));
    }
    element("section", &[("class", "occurrences"), ("aria-label", "Events")], content)
}

fn list(record: &Record) -> Markup {
    let plan = &record.plan;
    let detail = |occurrence: &Occurrence| match occurrence.detail.is_empty() {
        true => Markup::new(),
        false => plain("pre", &occurrence.detail),
    };
    Table::of(&record.occurrences)
        .words("When", |occurrence| place(occurrence, plan))
        .words("What", |occurrence| line(occurrence, plan))
        .words("More", detail)
        .bare()
        .scroll()
}

/// The instants of a stage as a chart over its time draws them: seconds and label. What commands
/// end is no line of its own.
pub fn on_axis(record: &Record, stage: u32) -> Vec<(f64, String)> {
    let of_stage =
        record.occurrences.iter().filter(|one| one.stage == Some(stage) && one.may_have_effects());
    of_stage.map(|one| (one.since_s(), line(one, &record.plan))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::{Op, StageKind};

    fn migrated() -> Record {
        migrated_on(3)
    }

    fn migrated_on(hosts: usize) -> Record {
        let suite = "[stages]\nmeasure = \"40s\"\n[[workload]]\nname = \"w\"\n";
        let mut recorded = Recorded::with_hosts(suite, hosts);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..40 {
            for host in 0..hosts as u32 {
                let rate = if (20..30).contains(&second) && host == 1 { 30 } else { 200 };
                recorded.host_interval(stage, host, second, &[(Op::Read, &vec![8_000_000; rate])]);
            }
        }
        let at = |kind, label: &str| Occurrence {
            stage: Some(stage),
            at_ns: 20_000_000_000,
            ..Occurrence::new(kind, label)
        };
        let ended = Occurrence {
            status: Some(3),
            duration_ns: Some(2_000_400_000),
            detail: "no <way>".to_owned(),
            ..at(OccurrenceKind::CommandEnded, "migration")
        };
        let log = Occurrence { host: Some(1), ..at(OccurrenceKind::KernelLog, "nvme0: I/O error") };
        recorded.record_mut().occurrences =
            vec![at(OccurrenceKind::Planned, "migration"), ended, log];
        recorded.record()
    }

    #[test]
    fn a_terminal_sees_what_happened_and_what_came_after() {
        insta::assert_snapshot!(table(&migrated()));
        assert_eq!(table(&Recorded::new(W).record()), "");
        let alone = table(&migrated_on(1));
        assert!(alone.contains("20 s  w         all "), "{alone}");
    }

    #[test]
    fn one_sentence_names_what_cost_most() {
        let mut record = migrated();
        let told = finding(&record).expect("an event");
        assert_eq!(
            told,
            "Of its 2 events, most was missing after one: after the event migration (at 20 s) the \
             rate of w fell by 28 %, from 600 to 430 IOPS, and was back 10 s after it."
        );
        record.occurrences.truncate(2);
        assert!(
            finding(&record)
                .expect("one event")
                .starts_with("After the event migration (at 20 s) the rate of w fell")
        );
        record.occurrences[0].at_ns = 35_000_000_000;
        assert_eq!(
            finding(&record).as_deref(),
            Some("After the event migration (at 35 s) the rate did not dip.")
        );
        record.occurrences.clear();
        assert_eq!(finding(&record), None);
    }

    #[test]
    fn json_has_every_host() {
        let objects = objects(&migrated());
        assert!(objects[0]["kind"] == "planned" && objects[1]["status"] == 3);
        let after = &objects[0]["aftermath"][0];
        assert_eq!(after["total"]["missing_ios"], 1700.0);
        let host = &after["hosts"][1];
        assert!(host["host"] == "node1" && host["lowest_iops"] == 30.0);
        assert!(host["recovered_after_s"] == 10.0 && host["duration_s"] == 10.0);
        assert_eq!(
            objects[1]["aftermath"],
            Value::Array(Vec::new()),
            "the end of a command is looked at with its beginning"
        );
    }

    #[test]
    fn the_page_escapes_what_a_command_wrote() {
        let page = section(&migrated()).into_string();
        assert!(page.contains("no &lt;way&gt;") && page.contains("What came after"), "{page}");
        let record = migrated();
        let stage = record.occurrences[0].stage.expect("a stage");
        let told = on_axis(&record, stage);
        let [(at_s, first), (_, log)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(*at_s, 20.0);
        assert_eq!(first.as_str(), "event: migration");
        assert_eq!(log.as_str(), "kernel log: node1: nvme0: I/O error");
    }
}
