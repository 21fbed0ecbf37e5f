//! What happened at instants of a run, and what it did: in words, as tables, as JSON, and as a
//! section of the page.

use crate::ground::columns::{self, Column};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::moment::time_words;
use crate::ground::words;
use analysis::aftermath::Aftermath;
use analysis::effects::{Effect, effects};
use model::{Nanos, Occurrence, OccurrenceKind, Plan, Record};
use serde_json::{Value, json};

/// A table in a terminal names so many hosts of each event: those that lost most. The page and JSON
/// have all.
const MOST_HOSTS: usize = 4;
/// A list in a terminal has so many lines; the page and JSON have all.
const MOST_LINES: usize = 40;

/// A kind of thing, in words.
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

/// The figures of an aftermath, as a table has them.
fn cells(found: &Aftermath) -> [String; 8] {
    let seconds = |s: Option<f64>| s.map(|s| time_words((s * 10.0).round() / 10.0));
    let dip = found.began_after_s.is_some();
    let none = || "–".to_owned();
    [
        words::iops(found.before),
        words::share(found.noise),
        words::iops(found.lowest),
        if dip { words::share(found.depth()) } else { "no dip".to_owned() },
        if dip { seconds(found.began_after_s).unwrap_or_else(none) } else { none() },
        if dip {
            seconds(found.recovered_after_s).unwrap_or_else(|| "not seen".to_owned())
        } else {
            none()
        },
        if dip { words::count(found.missing_ios.round() as u64) } else { none() },
        match found.extra_latency_ns.filter(|_| dip) {
            Some(ns) if ns < 0.0 => format!("−{}", words::latency(Some((-ns).round() as u64))),
            Some(ns) => format!("+{}", words::latency(Some(ns.round() as u64))),
            None => none(),
        },
    ]
}

const HEADS: [&str; 8] =
    ["before", "noise", "lowest", "depth", "dip after", "back after", "missing", "latency"];

/// What the heads mean, under every table.
const LEGEND: [(&str, &str); 6] = [
    ("before", "requests per second before the event"),
    (
        "noise",
        "standard deviation ÷ mean of the intervals before it; a dip exceeds four of these over \
         three intervals, or five in one",
    ),
    ("lowest", "the lowest interval until the rate is back, or the stage ends"),
    (
        "back after",
        "until the rate is within 5 % of `before`, or within its noise if that is wider",
    ),
    ("missing", "requests that the rate before would have brought"),
    ("latency", "mean in the dip, against the mean before"),
];

/// What no table of this kind can know.
const NO_CAUSE: &str = "This is what followed the event, not what the event caused.";

/// The lines of one effect: name and figures, in total and for each host.
fn effect_lines(effect: &Effect, plan: &Plan, most_hosts: usize) -> Vec<(String, [String; 8])> {
    let mut lines: Vec<(String, [String; 8])> =
        effect.total.iter().map(|found| ("all".to_owned(), cells(found))).collect();
    let mut hosts: Vec<&(u32, Aftermath)> = effect.hosts.iter().collect();
    if hosts.len() > most_hosts {
        hosts.retain(|(_, found)| found.began_after_s.is_some());
        hosts.sort_by(|a, b| b.1.missing_ios.total_cmp(&a.1.missing_ios));
        hosts.truncate(most_hosts);
    }
    lines.extend(hosts.into_iter().map(|(host, found)| (host_name(plan, *host), cells(found))));
    if let Some((name, _)) = lines.first_mut().filter(|_| effect.hosts.is_empty()) {
        *name = String::new();
    }
    lines
}

/// The events of a run and what came after them, for a terminal; empty where there were none.
pub fn table(record: &Record) -> String {
    if record.occurrences.is_empty() {
        return String::new();
    }
    let plan = &record.plan;
    let mut text = "\nEvents\n".to_owned();
    for occurrence in record.occurrences.iter().take(MOST_LINES) {
        text.push_str(&format!("- {}: {}\n", place(occurrence, plan), line(occurrence, plan)));
    }
    let behind = record.occurrences.len().saturating_sub(MOST_LINES);
    if behind > 0 {
        text.push_str(&format!("- and {behind} more: see the page, or --json\n"));
    }
    for line in super::event_io::lines(record) {
        text.push_str(&format!("- {line}\n"));
    }
    let effects: Vec<Effect> = effects(record)
        .into_iter()
        .filter(|effect| effect.total.is_some() || !effect.hosts.is_empty())
        .collect();
    if effects.is_empty() {
        return text;
    }
    let names = ["after", "at", "workload", "host"].map(Column::names);
    let mut table: Vec<Column> = names.into_iter().chain(HEADS.map(Column::figures)).collect();
    for effect in &effects {
        let Some(occurrence) = record.occurrences.get(effect.occurrence) else { continue };
        for (number, (host, figures)) in
            effect_lines(effect, plan, MOST_HOSTS).into_iter().enumerate()
        {
            let head = if number == 0 {
                [occurrence.label.clone(), at(occurrence), effect.workload.clone(), host]
            } else {
                [String::new(), String::new(), String::new(), host]
            };
            columns::row(&mut table, head.into_iter().chain(figures));
        }
    }
    text.push('\n');
    text.push_str(&columns::render(&table));
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
    json!({
        "kind": occurrence.kind.word(),
        "stage": occurrence.stage,
        "at_ns": occurrence.at_ns,
        "since_ns": occurrence.since_ns(),
        "unix_ns": occurrence.unix_ns,
        "host": occurrence.host,
        "label": occurrence.label,
        "detail": occurrence.detail,
        "status": occurrence.status,
        "duration_ns": occurrence.duration_ns,
    })
}

/// All that happened in a run with what came after it, for machines.
pub fn objects(record: &Record) -> Vec<Value> {
    let effects = effects(record);
    let of = |(place, occurrence): (usize, &Occurrence)| {
        let mut object = object(occurrence);
        let after: Vec<Value> = effects
            .iter()
            .filter(|effect| effect.occurrence == place)
            .map(|effect| after(effect, &record.plan))
            .collect();
        object["aftermath"] = Value::from(after);
        object
    };
    record.occurrences.iter().enumerate().map(of).collect()
}

fn after(effect: &Effect, plan: &Plan) -> Value {
    let host = |(host, found): &(u32, Aftermath)| {
        let mut object = figures(found);
        object["host"] = Value::from(host_name(plan, *host));
        object
    };
    json!({
        "workload": effect.workload,
        "point": effect.point,
        "total": effect.total.as_ref().map(figures),
        "hosts": effect.hosts.iter().map(host).collect::<Vec<_>>(),
    })
}

fn figures(found: &Aftermath) -> Value {
    json!({
        "before_iops": found.before,
        "noise": found.noise,
        "lowest_iops": found.lowest,
        "depth": found.depth(),
        "began_after_s": found.began_after_s,
        "recovered_after_s": found.recovered_after_s,
        "duration_s": found.duration_s(),
        "missing_ios": found.missing_ios,
        "extra_latency_ns": found.extra_latency_ns,
    })
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
    if effects.iter().any(|effect| effect.total.is_some() || !effect.hosts.is_empty()) {
        content.push(aftermaths(record, &effects));
    }
    element("section", &[("class", "occurrences"), ("aria-label", "Events")], content)
}

fn list(record: &Record) -> Markup {
    let plan = &record.plan;
    let row = |occurrence: &Occurrence| {
        let mut cells = plain("td", place(occurrence, plan));
        cells.push(plain("td", line(occurrence, plan)));
        let detail = match occurrence.detail.is_empty() {
            true => Markup::new(),
            false => plain("pre", &occurrence.detail),
        };
        cells.push(plain("td", detail));
        plain("tr", cells)
    };
    let head = ["When", "What", "More"].map(|word| element("th", &[("scope", "col")], word));
    let body: Markup = record.occurrences.iter().map(row).collect();
    classed(
        "div",
        "scroll",
        plain("table", [plain("thead", plain("tr", head)), plain("tbody", body)]),
    )
}

fn aftermaths(record: &Record, effects: &[Effect]) -> Markup {
    let mut head: Markup = ["After", "At", "Workload", "Host"]
        .map(|word| element("th", &[("scope", "col")], word))
        .into();
    head.push(
        HEADS.map(|word| element("th", &[("scope", "col"), ("class", "number")], capital(word))),
    );
    let mut body = Markup::new();
    for effect in effects {
        let Some(occurrence) = record.occurrences.get(effect.occurrence) else { continue };
        for (host, figures) in effect_lines(effect, &record.plan, usize::MAX) {
            let mut cells = plain("td", &occurrence.label);
            cells.push(plain("td", at(occurrence)));
            cells.push(plain("td", &effect.workload));
            cells.push(plain("td", host));
            cells.push(
                figures
                    .into_iter()
                    .map(|figure| classed("td", "number", figure))
                    .collect::<Markup>(),
            );
            body.push(plain("tr", cells));
        }
    }
    let table = plain("table", [plain("thead", plain("tr", head)), plain("tbody", body)]);
    let mut content = plain("h3", "What came after");
    content.push(classed("div", "scroll", table));
    let legend: Markup = LEGEND
        .into_iter()
        .flat_map(|(head, meaning)| [plain("dt", capital(head)), plain("dd", meaning)])
        .collect();
    content.push(classed("dl", "facts remark", legend));
    content.push(classed("p", "remark", NO_CAUSE));
    content
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    fn migrated() -> Record {
        let mut recorded =
            Recorded::with_hosts("[stages]\nmeasure = \"40s\"\n[[workload]]\nname = \"w\"\n", 3);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..40 {
            for host in 0..3 {
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
        assert_eq!(table(&Recorded::new("[[workload]]\nname = \"w\"\n").record()), "");
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
        assert_eq!((&objects[0]["kind"], &objects[1]["status"]), (&json!("planned"), &json!(3)));
        let after = &objects[0]["aftermath"][0];
        assert_eq!(after["total"]["missing_ios"], json!(1700.0));
        let host = &after["hosts"][1];
        assert_eq!((&host["host"], &host["lowest_iops"]), (&json!("node1"), &json!(30.0)));
        assert_eq!((&host["recovered_after_s"], &host["duration_s"]), (&json!(10.0), &json!(10.0)));
        assert_eq!(
            objects[1]["aftermath"],
            json!([]),
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
        assert_eq!(
            (*at_s, first.as_str(), log.as_str()),
            (20.0, "event: migration", "kernel log: node1: nvme0: I/O error")
        );
    }
}
