//! Which layer was at its limit while a point was measured: in words for tables and pages, and as
//! objects for machines.

mod groups;
mod page;

pub use page::section;

use crate::ground::sentence::{Sentence, count, counted, quantity, sentence, share};
use crate::ground::words;
use crate::pens::json::{Value, object};
use analysis::ResultRow;
use analysis::attribution::{Attribution, Watched, attribution};
use analysis::hit_share::{HitShare, hit_shares};
use model::Record;
use model::usage::Part;

/// So many points are told; JSON has all.
const MOST_POINTS: usize = 20;
/// So many things are named that were at their limit; the others are counted.
const MOST_NAMED: usize = 3;
/// What was at its limit from here on to the end was so "from then on".
const HELD: f64 = 0.9;

/// The part of a terminal's table; nothing without counters.
pub fn text(record: &Record, rows: &[ResultRow]) -> String {
    let all = groups::sentences(record, &attribution(record, rows));
    words::titled("What was at its limit, by the kernels' counters", all)
}

/// What was full for less of the time is said to have been so for a part of it.
const MOSTLY_FULL: f64 = 0.9;

/// The limit of a run of one point, as few words as it takes; of more, as [`text`].
pub fn brief(record: &Record, rows: &[ResultRow]) -> String {
    let all = attribution(record, rows);
    let [one] = all.as_slice() else { return text(record, rows) };
    let waited = |limit: &Watched| match (limit.part, limit.used.waiting()) {
        (Part::Disk, Some(queue)) => format!(", queue {queue:.1}"),
        (Part::Cpu | Part::Memory, Some(waited)) => {
            format!(", tasks waited {}", words::share(waited))
        }
        _ => String::new(),
    };
    let used = |one: &Watched| words::share(one.used.share().unwrap_or(0.0));
    // The mean of what was full for a while says less than the while.
    let full = |one: &Watched| match one.used.full_share() {
        most if most < MOSTLY_FULL => format!("full {} of the time", words::share(most)),
        _ => used(one),
    };
    let limits = one.limits();
    let named: Vec<String> = limits
        .iter()
        .take(MOST_NAMED)
        .map(|limit| format!("{} ({}{})", name(limit), full(limit), waited(limit)))
        .collect();
    let highest = one.highest();
    let none =
        if one.is_paced { "the rate that was given" } else { "the depth, or an unwatched layer" };
    let said = match (named.is_empty(), highest.first()) {
        (false, _) => named.join(", "),
        (true, None) => return String::new(),
        (true, Some(most)) => format!("{none}. Busiest: {}, {}", name(most), used(most)),
    };
    format!("Limit: {said}.\n")
}

/// What may be made of a disk at its limit; once for all points.
const PARALLEL: &str = "A disk that serves requests in parallel is busy before it is saturated. \
                        Test with more depth.";

fn may_be_parallel(all: &[Attribution]) -> bool {
    all.iter().flat_map(Attribution::limits).any(|limit| limit.may_be_parallel)
}

fn more_points(points: u64) -> String {
    format!("and {} more; `plimsoll show --json` has all of them.", words::counted(points, "point"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Each by its own name.
    Own,
    /// A core is one of them, whichever.
    AnyCore,
}

impl Names {
    fn of(self, watched: &Watched) -> String {
        match (self, watched.part) {
            (Names::AnyCore, Part::Core) => "one CPU".to_owned(),
            _ => name(watched),
        }
    }

    fn with_article(self, watched: &Watched) -> String {
        match (self, watched.part) {
            (Names::AnyCore, Part::Core) => self.of(watched),
            _ => format!("the {}", self.of(watched)),
        }
    }
}

fn sentence(record: &Record, one: &Attribution) -> String {
    format!("{}: {}", title(one), body(record, one, Names::Own).text())
}

/// The same of a point that is told by itself.
fn whole(record: &Record, one: &Attribution) -> String {
    let parallel = may_be_parallel(std::slice::from_ref(one)).then_some(PARALLEL);
    [sentence(record, one).as_str()].into_iter().chain(parallel).collect::<Vec<_>>().join(" ")
}

/// The same without the name of the point.
fn body(record: &Record, one: &Attribution, names: Names) -> Sentence {
    let (limits, many) = (one.limits(), record.testbed.len() > 1);
    let host = |watched: &Watched| match many && watched.told_of.is_none() {
        true => format!(" of {}", hostname(record, watched.host)),
        false => String::new(),
    };
    let mut text = Sentence::default();
    if limits.is_empty() {
        text.push(match one.is_paced {
            true => "no watched layer was at its limit; the rate was given.",
            false => {
                "no watched layer was at its limit. Depth limits the rate, or a layer that was not \
                 watched."
            }
        });
    } else {
        let named =
            limits.iter().take(MOST_NAMED).map(|limit| full(one, limit, names, &host(limit)));
        text.push(sentence!["at its limit: ", Sentence::join(named, ", and ")]);
        match limits.len().saturating_sub(MOST_NAMED) {
            0 => text.push("."),
            more => text.push(sentence![", and ", plain(more), " more."]),
        }
    }
    // What was named with its figures is not said again, nor is a core beside one that is.
    let is_named = |part: Part| {
        limits
            .iter()
            .any(|limit| limit.part == part || limit.part == Part::Cpu && part == Part::Core)
    };
    let highest = one.highest();
    let rest = highest.iter().filter(|one| !is_named(one.part));
    let rest: Vec<Sentence> = rest
        .map(|one| {
            let used = share(one.used.share().unwrap_or(0.0));
            sentence![names.of(one), host(one), " ", used]
        })
        .collect();
    if !rest.is_empty() {
        let head = if limits.is_empty() { "Highest" } else { "Next" };
        text.push(sentence![" ", head, ": ", Sentence::join(rest, ", "), "."]);
    }
    let unknown: Vec<String> = one
        .unknown()
        .take(MOST_NAMED)
        .map(|one| format!("{}{}", names.of(one), host(one)))
        .collect();
    if !unknown.is_empty() {
        let more = one.unknown().count().saturating_sub(MOST_NAMED);
        let more =
            if more > 0 { sentence![" and ", plain(more), " more"] } else { Sentence::default() };
        let unknown = unknown.join(", ");
        text.push(sentence![" Utilisation unknown: ", unknown, more, "."]);
    }
    if let Some(worst) = one.errors().first() {
        let errors = count(worst.used.errors);
        text.push(sentence![" Most errors: ", errors, ", ", names.of(worst), host(worst), "."]);
    }
    if one.is_thinned {
        let samples = counted(one.samples, "interval");
        text.push(sentence![" By ", samples, " of counters, taken evenly."]);
    }
    text
}

/// `the disk nvme0n1 of a, 98 % on average, saturated from 0:10 on (60 % of the load), queue 31.2
/// requests`.
fn full(one: &Attribution, limit: &Watched, names: Names, host: &str) -> Sentence {
    let used = &limit.used;
    let mut text = sentence![names.with_article(limit), host];
    if limit.is_under_target == Some(false) {
        text.push(" (below no target)");
    }
    text.push(sentence![", ", share(used.share().unwrap_or(0.0)), " on average"]);
    let part = share(used.full_share());
    text.push(match when(one, limit) {
        When::Always => ", saturated throughout".into(),
        When::From(from) => {
            sentence![", saturated from ", from, " on (", part, " of the load)"]
        }
        When::Within(from, to) => {
            sentence![", saturated for ", part, " of the load, between ", from, " and ", to]
        }
    });
    match (limit.part, used.waiting()) {
        (Part::Disk, Some(queue)) => {
            let queue = quantity(queue, &format!("{queue:.1}"));
            text.push(sentence![", queue ", queue, " requests"]);
        }
        (Part::Cpu | Part::Memory, Some(waited)) => {
            let waited = share(waited);
            text.push(sentence![", tasks waited ", waited, " of the time"]);
        }
        _ => {}
    }
    text
}

/// A number without separators.
fn plain(number: usize) -> Sentence {
    quantity(number as f64, &number.to_string())
}

enum When {
    Always,
    From(String),
    Within(String, String),
}

fn when(one: &Attribution, limit: &Watched) -> When {
    let (load, used) = (&one.load_ns, &limit.used);
    let (from, to) = used.full_span.unwrap_or((load.start, load.end));
    // Counters and load do not end at the same instant: within a hundredth of the load, or an
    // interval, it is the same.
    let slack = (load.end.saturating_sub(load.start) / 100).max(1_500_000_000);
    let is_to_end = to.saturating_add(slack) >= load.end;
    let since = load.end.saturating_sub(from).max(1) as f64;
    let (from_ns, to_ns) = (from.saturating_sub(load.start), to.saturating_sub(load.start));
    let decimals = decimals(load.end.saturating_sub(load.start), to_ns.saturating_sub(from_ns));
    if used.full_share() >= HELD {
        When::Always
    } else if is_to_end && used.full_ns as f64 >= HELD * since {
        When::From(clock(from_ns, decimals))
    } else {
        When::Within(clock(from_ns, decimals), clock(to_ns, decimals))
    }
}

/// How many decimals seconds need, 0 to 3, so that a load of this length has ten instants at least
/// and both ends of a span in it are two.
fn decimals(load_ns: u64, span_ns: u64) -> u32 {
    let is_enough = |decimals: &u32| {
        let unit_ns = 1_000_000_000 / 10_u64.pow(*decimals);
        load_ns >= 10 * unit_ns && span_ns >= unit_ns
    };
    (0..3).find(is_enough).unwrap_or(3)
}

/// `1:05`, from nanoseconds; with decimals `1:05.25`.
fn clock(ns: u64, decimals: u32) -> String {
    let seconds = ns / 1_000_000_000;
    let whole = match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    };
    match decimals.min(9) {
        0 => whole,
        decimals => {
            let fraction = ns % 1_000_000_000 / 10_u64.pow(9 - decimals);
            format!("{whole}.{fraction:0width$}", width = decimals as usize)
        }
    }
}

pub(crate) fn name(watched: &Watched) -> String {
    let kind = match watched.part {
        Part::Disk | Part::Stacked => "disk",
        Part::Cpu => "CPUs together",
        Part::Core => "CPU",
        Part::Port => "port",
        Part::Memory => "memory",
        Part::Mount => "mount",
        Part::Cache => "cache",
        Part::Quota => "CPU quota of",
    };
    let name = match watched.part {
        Part::Cpu | Part::Memory => kind.to_owned(),
        _ => format!("{kind} {}", watched.name),
    };
    match &watched.told_of {
        Some(host) => format!("{name} of {host} (from a file)"),
        None => name,
    }
}

pub(super) fn title(one: &Attribution) -> String {
    words::with_sweep(&one.workloads.join(" + "), &one.sweep, one.repetition)
}

pub(super) fn hostname(record: &Record, host: u32) -> &str {
    record.testbed.get(host as usize).map_or("", |facts| facts.hostname.as_str())
}

pub fn objects(record: &Record, all: &[Attribution]) -> Vec<Value> {
    all.iter().map(|one| object(record, one)).collect()
}

fn object(record: &Record, one: &Attribution) -> Value {
    let start = one.load_ns.start;
    let seconds = |ns: u64| ns.saturating_sub(start) as f64 / 1e9;
    let watched = |watched: &&Watched| {
        let mut told = object! {
            host: hostname(record, watched.host), layer: watched.part.word(), name: watched.name,
            under_target: watched.is_under_target, utilisation: watched.used.share(),
            full_share: watched.used.full_share(),
            from_s: watched.used.full_span.map(|(from, _)| seconds(from)),
            to_s: watched.used.full_span.map(|(_, to)| seconds(to)),
            waiting: watched.used.waiting(), errors: watched.used.errors,
        };
        if watched.told_of.is_some() {
            told["from_file"] = true.into();
        }
        told
    };
    let list = |all: Vec<&Watched>| all.iter().map(watched).collect::<Vec<_>>();
    object! {
        sweep: words::axes(&one.sweep), repetition: one.repetition.unwrap_or(1),
        thinned: one.is_thinned,
        at_limit: list(one.limits()), highest: list(one.highest()), errors: list(one.errors()),
        caches: caches(record, one), message: whole(record, one),
        ..one { scenario, workloads, samples },
    }
}

fn caches(record: &Record, one: &Attribution) -> Vec<Value> {
    let cache = |cache: HitShare<'_>| {
        object! {
            host: hostname(record, cache.host), dirty_bytes: cache.dirty.map(|dirty| dirty.last.1),
            dirty_bytes_most: cache.dirty.map(|dirty| dirty.most),
            ..cache { name, hits, misses, share(), promotions, demotions },
        }
    };
    hit_shares(one).into_iter().map(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::counters::{Entry, Layer, Metric};
    use model::{Op, Setting, StageKind};

    const SECOND: u64 = 1_000_000_000;

    /// Twenty seconds on two hosts; the disk of the second one is as busy as `disk` (percent) says
    /// of each second.
    pub(super) fn told(suite: &str, disk: impl Fn(u32) -> u64) -> Record {
        let mut recorded = Recorded::with_hosts(suite, 2);
        let stage = recorded.stage(StageKind::Measure);
        for (second, host) in (0..20).flat_map(|second| [(second, 0), (second, 1)]) {
            recorded.host_interval(stage, host, second, &[(Op::Read, &[100_000; 100])]);
        }
        recorded.end();
        for (number, host) in (0..20).flat_map(|second| [(second, 0), (second, 1)]) {
            let busy = if host == 1 { disk(number) * SECOND / 100 } else { SECOND / 10 };
            let entries = vec![
                Entry::new(
                    Layer::Block,
                    "nvme0n1",
                    &[(Metric::BusyNs, busy), (Metric::QueueNs, busy * 30)],
                ),
                Entry::new(
                    Layer::Cpu,
                    "0",
                    &[(Metric::UserNs, SECOND * 31 / 100), (Metric::IdleNs, SECOND * 69 / 100)],
                ),
                Entry::new(Layer::Nic, "eth0", &[(Metric::SentBytes, 5)]),
            ];
            recorded.counters(stage, host, number, entries);
        }
        recorded.record()
    }

    fn words(suite: &str, disk: impl Fn(u32) -> u64) -> String {
        let record = told(suite, disk);
        text(&record, &analysis::results(&record))
    }

    pub(super) const READS: &str = W;

    #[test]
    fn the_layer_the_host_and_the_time_are_told() {
        insta::assert_snapshot!(
            [
                words(READS, |second| if second < 10 { 20 } else { 98 }),
                words(READS, |_| 99),
                words(READS, |second| if (4..10).contains(&second) { 98 } else { 20 }),
                words(READS, |_| 40),
                words(&format!("{READS}rate = 100\n"), |_| 40),
            ]
            .join("")
        );
    }

    #[test]
    fn points_that_are_alike_are_told_once() {
        let record = told(READS, |_| 99);
        let one = attribution(&record, &analysis::results(&record)).remove(0);
        let swept =
            |depth: &str| Attribution { sweep: vec![Setting::new("depth", depth)], ..one.clone() };
        let other = told(READS, |_| 40);
        let free = attribution(&other, &analysis::results(&other)).remove(0);
        let all = [swept("1"), swept("2"), swept("4"), swept("8"), free.clone()];
        let lines = groups::sentences(&record, &all);
        assert_eq!((lines.len(), lines[2].as_str()), (3, PARALLEL));
        assert!(
            lines[0].starts_with(
                "w (depth=1), w (depth=2) and 2 points like them: at its limit: the disk"
            ),
            "{lines:?}"
        );
        assert!(lines[0].contains("one CPU of node0 31 %"), "{lines:?}");
        assert_eq!(
            lines[1],
            sentence(&record, &free),
            "a point by itself is told by its own names"
        );
        let lines = groups::sentences(&record, &all[..4]);
        assert!(
            lines.len() == 2 && lines[0].starts_with("all 4 points: at its limit"),
            "{lines:?}"
        );
    }

    #[test]
    fn machines_get_the_same() {
        let record = told(READS, |second| if second < 10 { 20 } else { 98 });
        let all = objects(&record, &attribution(&record, &analysis::results(&record)));
        let limit = &all[0]["at_limit"][0];
        assert!(limit["host"] == "node1" && limit["layer"] == "disk" && limit["name"] == "nvme0n1");
        assert!(limit["from_s"] == 10.0 && limit["to_s"] == 20.0 && limit["full_share"] == 0.5);
        assert_eq!(all[0]["highest"].as_array().map(Vec::len), Some(3), "disk, CPUs, core");
    }

    #[test]
    fn instants_have_the_decimals_that_tell_them_apart() {
        let told = |load_ns, from_ns, to_ns| {
            let decimals = decimals(load_ns, to_ns - from_ns);
            [clock(from_ns, decimals), clock(to_ns, decimals)].join(" ")
        };
        let ms = SECOND / 1_000;
        assert_eq!(told(20 * SECOND, 4 * SECOND, 10 * SECOND), "0:04 0:10");
        assert_eq!(told(7_200 * SECOND, 65 * SECOND, 3_665 * SECOND), "1:05 1:01:05");
        assert_eq!(told(20 * SECOND, 4_250 * ms, 4_750 * ms), "0:04.2 0:04.7");
        assert_eq!(told(2 * SECOND, 0, SECOND), "0:00.0 0:01.0");
        assert_eq!(told(800 * ms, 100 * ms, 650 * ms), "0:00.10 0:00.65");
        assert_eq!(told(50 * ms, 8 * ms, 9 * ms), "0:00.008 0:00.009");
        assert_eq!(told(0, 0, 0), "0:00.000 0:00.000");
        assert_eq!(told(u64::MAX, 0, u64::MAX), "0:00 5124095:34:33");
    }
}
