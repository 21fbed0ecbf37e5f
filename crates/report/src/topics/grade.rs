//! The verdict of a run in words: how far its figures can be trusted, what was checked, what could
//! not be, and the steps that would raise it; of a plan, the best that it can have.

use crate::ground::gather::grouped;
use crate::ground::moment::time_words;
use crate::ground::words;
use crate::pens::json::{Value, each, object};
use analysis::doubts::{Datum, Proof};
use analysis::outlook::Outlook;
use analysis::verdict::{Bound, Cache, CacheKind, Check, Found, Level, Raise, Step, Verdict};
use analysis::{Durable, Warning};
use model::Nanos;

/// A level in words: `not a measurement`.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::NotAMeasurement => "not a measurement",
        Level::Indicative => "indicative",
        Level::Quotable => "quotable",
    }
}

/// The class of a verdict on a page, by its level.
pub fn class(level: Level) -> &'static str {
    match level {
        Level::NotAMeasurement => "grade bad",
        Level::Indicative => "grade",
        Level::Quotable => "grade good",
    }
}

/// In few words, what a check has proven, that it failed, or what it would prove.
fn check(check: Check, found: Found) -> &'static str {
    let [shown, refuted, missing] = match check {
        Check::Intervals => ["each ±", "not exact", "how exact"],
        Check::Steady => ["steady", "not steady", "whether steady"],
        Check::Durability => ["durable", "not durable", "whether durable"],
        Check::Caches => ["past the caches", "a cache answered", "whether a cache answered"],
    };
    match found {
        Found::Shown => shown,
        Found::Refuted => refuted,
        Found::Missing | Found::NotNeeded => missing,
    }
}

/// The checks that came out so, as a sentence; none where none did.
fn checks(verdict: &Verdict, head: &str, found: Found) -> Option<String> {
    let all: Vec<_> = verdict.checks_that(found).map(|one| check(one, found)).collect();
    (!all.is_empty()).then(|| format!("{head}: {}.", all.join(", ")))
}

/// What would raise a verdict, as a clause.
fn step(step: Step) -> &'static str {
    match step {
        Step::RealTarget => "run it on storage",
        Step::Kvm => "run the machines with KVM",
        Step::SeenTarget => "choose a --target whose disks this host sees, such as a local disk",
        Step::Counters => "leave --counters none out",
        Step::FullScale => "use --scale 1",
        Step::Complete => "let the run reach its end",
        Step::Prepare => "add --set prepare=true",
        Step::Doubt => "remove the cause of the first doubt",
        Step::FlushEnd => "add --set flush=end",
        Step::SyncFiles => "add --set fsync=timed",
        Step::UntilSteady => "add --set until=steady",
        Step::LongerUntilSteady => "add --set until=steady --set measure=1min",
        Step::LargerAmount => "measure more bytes or files, or add --set sweep.repetitions=5",
        Step::LongerTrace => "record and replay a longer trace",
        Step::Precondition => "add --set precondition=60s",
        Step::OneRate => "ask for one rate all the time, as in rate = 2000",
        Step::Longer => "measure longer, such as --set measure=5min",
        Step::LargerFootprint => {
            "add --set layout.size=\"2*memory/workers\" (of trees, a larger tree.files)"
        }
    }
}

/// The level, and of what is no measurement the cause that the first step removes.
fn head(verdict: &Verdict) -> String {
    let first = verdict.steps.first().filter(|_| verdict.level == Level::NotAMeasurement);
    let cause = match first.map(|raise| raise.step) {
        Some(Step::RealTarget) => ": its target is no real storage",
        Some(Step::Kvm) => ": the machines' processors are emulated",
        Some(Step::Complete) => ": it did not reach its end",
        Some(Step::Prepare) => ": it read what nobody had written",
        Some(Step::FullScale) => ": it was scaled down",
        Some(Step::Doubt) => ": the first doubt is the cause",
        _ => "",
    };
    format!("Verdict: {}{cause}.", level(verdict.level))
}

/// Times that are worth a word.
const LEAST_TIME: Nanos = Nanos::seconds(60);

/// All steps with their times: those of `--quotable` as that, and how each is taken by hand.
fn raise(steps: &[Raise], may_be_asked: bool) -> Option<String> {
    let one = |raise: &Raise| match raise.time.filter(|time| *time >= LEAST_TIME) {
        Some(time) => {
            let time = time_words(time.0 as f64 / 1e9);
            format!("{} (takes {time} or more in all)", step(raise.step))
        }
        None => step(raise.step).to_owned(),
    };
    let (quotable, others): (Vec<&Raise>, _) =
        steps.iter().partition(|raise| may_be_asked && is_of_quotable(raise));
    let mut all: Vec<String> = others.into_iter().map(one).collect();
    let by_hand: Vec<String> = quotable.into_iter().map(one).collect();
    if !by_hand.is_empty() {
        let by_hand = by_hand.join(", ").replace("add --set", "--set");
        all.push(format!("add --quotable, or by hand {by_hand}"));
    }
    (!all.is_empty()).then(|| format!("To raise it: {}.", all.join("; ")))
}

/// Whether `--quotable` takes a step. A larger footprint is none of these: a size that the suite
/// chose stays.
fn is_of_quotable(raise: &Raise) -> bool {
    use Step::{FlushEnd, LongerUntilSteady, Precondition, Prepare, UntilSteady};
    [FlushEnd, LongerUntilSteady, Precondition, Prepare, UntilSteady].contains(&raise.step)
}

/// The layer that bounds a target: what it is, and why that matters.
fn bound(bound: &Bound) -> String {
    let Bound { target, of, layer } = bound;
    let is = match layer {
        None if of.is_empty() => "nothing is known of what it lies on".to_owned(),
        None => format!("nothing is known of {of}"),
        Some(layer) if !layer.ends_a_chain() => format!("what lies below {of} is not seen"),
        Some(layer) => match layer.best.value {
            Level::NotAMeasurement => format!("{of}: {}, no storage", layer.is.value),
            Level::Indicative => format!("{of}: {}, which shows nothing", layer.is.value),
            Level::Quotable => format!("{of}: {}, whose caches cannot be seen", layer.is.value),
        },
    };
    format!("{target} ({is})")
}

/// So many names of one kind are said; of more, the first one and how many others.
const MOST_NAMES: usize = 3;

/// The caches by their kinds: machines of ten disks have the same ten times.
fn caches(all: &[Cache]) -> Vec<String> {
    let kinds = grouped(all.iter().map(|cache| (cache.kind, cache.of.as_str())));
    let named = |names: &[&str]| match names {
        [first, others @ ..] if names.len() > MOST_NAMES => {
            format!("{first} and {} more", others.len())
        }
        _ => names.join(", "),
    };
    kinds.iter().map(|(kind, names)| cache(*kind, &named(names))).collect()
}

fn cache(kind: CacheKind, of: &str) -> String {
    match kind {
        CacheKind::Device => format!("write cache of {of} (write back)"),
        CacheKind::Hypervisor => format!("host behind the virtual disk {of}"),
        CacheKind::HostPage => format!("page cache of the hypervisor below {of}"),
        CacheKind::Loop => format!("page cache below {of}"),
        CacheKind::Network => format!("client and servers of {of}"),
        CacheKind::Unseen => format!("whatever {of} has"),
        CacheKind::Page => format!("page cache above {of}"),
    }
}

/// The verdict as sentences: the level, what could not be shown, the caches, and the steps.
pub fn sentences(verdict: &Verdict) -> Vec<String> {
    let mut said = vec![head(verdict)];
    said.extend(checks(verdict, "Proven", Found::Shown));
    said.extend(checks(verdict, "Failed", Found::Refuted));
    said.extend(checks(verdict, "Not proven", Found::Missing));
    if !verdict.caches.is_empty() {
        let caches = caches(&verdict.caches).join(", ");
        said.push(format!("Caches in the figures: {caches}."));
    }
    let is_bound = verdict.level < Level::Quotable;
    let target = verdict.bound.as_ref().filter(|_| is_bound);
    said.extend(target.map(|one| format!("Target: {}.", bound(one))));
    said.extend(raise(&verdict.steps, verdict.may_be_asked));
    said
}

/// The verdict in one line, for a table.
pub fn line(verdict: &Verdict) -> String {
    sentences(verdict).join(" ")
}

/// The verdict as few words as it takes: what failed, what is not proven, what raises it.
pub fn brief(verdict: &Verdict) -> String {
    let mut said = head(verdict);
    for (head, found) in [("Failed", Found::Refuted), ("Not proven", Found::Missing)] {
        said.extend(checks(verdict, head, found).map(|list| format!(" {list}")));
    }
    if !verdict.caches.is_empty() {
        let caches = caches(&verdict.caches).join(", ");
        said.push_str(&format!(" Caches in the figures: {caches}."));
    }
    if verdict.level == Level::Quotable {
        return said;
    }
    let is_done_by_option = |raise: &Raise| verdict.may_be_asked && is_of_quotable(raise);
    let others = verdict.steps.iter().filter(|raise| !is_done_by_option(raise));
    let mut steps: Vec<&str> = others.map(|raise| step(raise.step)).collect();
    let step = match (steps.is_empty(), verdict.steps.iter().any(is_done_by_option)) {
        (true, true) => "--quotable raises it; ".to_owned(),
        (true, false) => String::new(),
        (false, is_option) => {
            let is_first = verdict.steps.first().is_some_and(is_done_by_option);
            let at = if is_first { 0 } else { steps.len() };
            steps.splice(at..at, is_option.then_some("add --quotable"));
            format!("To raise it: {}; ", steps.join("; "))
        }
    };
    format!("{said}\n{step}`plimsoll help {}` explains.", verdict.level.word())
}

/// What a verdict rests on, for machines.
pub fn object(verdict: &Verdict) -> Value {
    let words =
        |found: Found| -> Vec<&str> { verdict.checks_that(found).map(Check::word).collect() };
    object! {
        shown: words(Found::Shown), missing: words(Found::Missing), refuted: words(Found::Refuted),
        not_needed: words(Found::NotNeeded),
        caches: each(&verdict.caches, |one| object! { of: one.of, kind: one.kind.word() }),
        target: verdict.bound.as_ref().map(bound_object),
        raise: verdict.steps.first().map(|raise| raise.step.word()), steps: steps(&verdict.steps),
    }
}

fn bound_object(bound: &Bound) -> Value {
    let layer = bound.layer.map(|layer| layer.id.value.as_str());
    object! { path: bound.target, of: bound.of, layer }
}

fn steps(steps: &[Raise]) -> Vec<Value> {
    let one = |raise: &Raise| {
        let time_ns = raise.time.map(|time| time.0);
        object! { step: raise.step.word(), time_ns }
    };
    steps.iter().map(one).collect()
}

/// The best verdict of a plan, for people.
pub fn best(outlook: &Outlook) -> String {
    let mut said = vec![format!("at best {}.", level(outlook.best))];
    let is_bound = outlook.best < Level::Quotable;
    let target = outlook.bound.as_ref().filter(|_| is_bound);
    said.extend(target.map(|one| format!("Target: {}.", bound(one))));
    said.extend(raise(&outlook.steps, outlook.may_be_asked));
    said.join(" ")
}

/// The same for machines.
pub fn best_object(outlook: &Outlook) -> Value {
    object! {
        best: outlook.best.word(), target: outlook.bound.as_ref().map(bound_object),
        steps: steps(&outlook.steps),
    }
}

/// The evidence of a doubt, for machines.
pub fn evidence(doubt: &Warning) -> Vec<Value> {
    let object = |proof: &Proof| {
        let (source, what) = (proof.source.word(), proof.what);
        object! { source, what, value: value(&proof.datum) }
    };
    doubt.row().proof.iter().map(object).collect()
}

fn value(datum: &Datum) -> Value {
    match datum {
        Datum::Count(count) => Value::from(*count),
        Datum::Number(number) => Value::from(*number),
        Datum::Time(time) => Value::from(time.0),
        Datum::Size(size) => Value::from(size.0),
        Datum::Word(word) => Value::from(word.as_str()),
    }
}

/// The evidence of a doubt in words: `counters: device bytes share 0.02`.
pub fn evidence_words(doubt: &Warning) -> String {
    let of = |proof: &Proof| {
        let what = proof.what.trim_end_matches("_ns").replace('_', " ");
        let figure = match &proof.datum {
            Datum::Count(count) => words::count(*count),
            Datum::Number(number) => words::plain_number(*number),
            Datum::Time(time) => time.to_string(),
            Datum::Size(size) => size.to_string(),
            Datum::Word(word) => word.clone(),
        };
        format!("{}: {what} {figure}", proof.source.word())
    };
    doubt.row().proof.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// A durable rate for machines.
pub fn durable(durable: &Durable) -> Value {
    object! { ..durable { bytes_per_s(), iops(), flush_ns } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_says_what_was_checked_what_could_not_be_and_what_would_raise_it() {
        let verdict = Verdict {
            level: Level::Indicative,
            checks: vec![
                (Check::Intervals, Found::Shown),
                (Check::Steady, Found::Missing),
                (Check::Durability, Found::NotNeeded),
            ],
            caches: vec![Cache { of: "vda".to_owned(), kind: CacheKind::Device }],
            bound: None,
            steps: vec![
                Raise { step: Step::UntilSteady, time: Some(Nanos::seconds(1_200)) },
                Step::FlushEnd.in_no_time(),
            ],
            may_be_asked: true,
        };
        assert_eq!(
            line(&verdict),
            "Verdict: indicative. Proven: each ±. Not proven: whether steady. Caches in the \
             figures: write cache of vda (write back). To raise it: add --quotable, or by hand \
             --set until=steady (takes 20 min or more in all), --set flush=end."
        );
        let replayed = Verdict { may_be_asked: false, ..verdict.clone() };
        let by_hand = "To raise it: add --set until=steady; add --set flush=end; ";
        assert!(brief(&replayed).contains(by_hand), "{}", brief(&replayed));
        assert!(!line(&replayed).contains("--quotable"), "{}", line(&replayed));
        assert_eq!(
            brief(&verdict),
            "Verdict: indicative. Not proven: whether steady. Caches in the figures: write cache \
             of vda (write back).\n--quotable raises it; `plimsoll help indicative` explains."
        );
        let raised_by = |steps: &[Step]| {
            let steps = steps.iter().map(|step| step.in_no_time()).collect();
            let said = brief(&Verdict { steps, ..verdict.clone() });
            said.lines().last().unwrap_or_default().to_owned()
        };
        assert_eq!(
            raised_by(&[Step::LargerFootprint, Step::UntilSteady, Step::Doubt]),
            "To raise it: add --set layout.size=\"2*memory/workers\" (of trees, a larger \
             tree.files); remove the cause of the first doubt; add --quotable; `plimsoll help \
             indicative` explains."
        );
        assert!(!raised_by(&[Step::LargerFootprint]).contains("--quotable"), "the size may be set");
        let of = |name: &str| Cache { of: name.to_owned(), kind: CacheKind::Hypervisor };
        let disks = ["vda", "vdb", "vdc", "vdd"].map(of);
        let said = "host behind the virtual disk vda and 3 more";
        assert_eq!(caches(&disks), [said]);
        assert_eq!(caches(&disks[..2]), ["host behind the virtual disk vda, vdb"]);
    }
}
