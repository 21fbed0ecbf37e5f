//! What a view of a running run knows: fed with its events, bounded however long the run and
//! however many its hosts.

use super::bounded_series::{Key, Slot, Track};
use super::load::{HostLoad, Load, System};
use super::metrics::{self, Detail, Kernel, Requests, Scrape};
use crate::progress::grows;
use crate::watch::counter_lists::{self, Counted};
use analysis::trust::Evidence;
use analysis::verdict::{Level, Verdict};
use model::testbed::HostFacts;
use model::{
    CounterSample, Event, Fact, Histogram, IntervalSample, Kernels, NoteKind, Occurrence,
    OccurrenceKind, Op, Plan, Record, RunEnd, StageEnd,
};
use report::ground::markup::Markup;
use report::{ground, topics};
use std::collections::{BTreeSet, VecDeque};

/// Events that are kept for the page; the run file has all of them.
const MOST_HAPPENED: usize = 500;
/// Instants in charts: more cannot be told apart.
const MOST_INSTANTS: usize = 100;
/// Samples of one stage from which results are computed while the run goes on. More is left to the
/// run file, at the end.
const MOST_SAMPLES: usize = 50_000;

/// Where a stage stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageState {
    /// When it began, in ns since 1970, if it did.
    pub started_unix_ns: Option<u64>,
    /// When it began on the axis of the charts, in seconds after the run's start.
    pub started_s: f64,
    /// How it ended, if it did.
    pub end: Option<StageEnd>,
    /// How far its samples reach, in ns.
    pub elapsed_ns: u64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Requests that it made, failed ones included.
    pub operations: u64,
}

/// Something that is told by its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened {
    /// When, in seconds after the run's start, on the axis of the charts.
    pub at_s: f64,
    /// A class of the page's style: `event`, `note` or `mark`.
    pub kind: &'static str,
    /// In words.
    pub words: String,
}

/// What is known of a host.
#[derive(Debug, Default)]
pub struct HostBoard {
    /// Why it is lost, if it is.
    pub lost: Option<String>,
    /// Its last interval: requests, bytes, length in ns, p99 in ns.
    pub last: Option<(u64, u64, u64, Option<u64>)>,
    /// What its kernel last counted, and over how many ns.
    pub system: Option<(System, u64)>,
    /// What its kernel last counted of it as a whole.
    pub counted: Option<CounterSample>,
    /// Its workers in their last interval.
    pub workers: Vec<Counted>,
    /// Over time.
    pub load: Track<HostLoad>,
    /// Over time.
    pub kernel: Track<System>,
}

/// Results and doubts in markup, and what was found of them; none where nothing was measured.
#[derive(Clone, Debug)]
pub struct Judged(Option<(Markup, Evidence, (Level, Option<f64>))>);

/// Computes results and doubts, which takes its time for a long run.
pub fn judge(record: &Record) -> Judged {
    let rows = topics::results::judged::judged(record, None).0;
    if rows.is_empty() {
        return Judged(None);
    }
    let found = topics::evidence::evidence(
        record,
        &rows,
        &analysis::attribution::attribution(record, &rows),
    );
    // A run that goes on has not reached its end; what is shown of it has.
    let evidence =
        Evidence { is_complete: found.is_complete || rows.iter().all(|row| row.complete), ..found };
    let level = Verdict::of_run(record, &rows).level;
    let durable = rows.iter().rev().find_map(|row| analysis::durable(record, row));
    let said = (level, durable.map(|durable| durable.bytes_per_s()));
    Judged(Some((topics::results::section(record, &rows, &[], &evidence), evidence, said)))
}

/// What a view of a run knows.
#[derive(Debug)]
pub struct Board {
    /// What is to be done.
    pub plan: Plan,
    /// The hosts as they were before.
    pub facts: Vec<HostFacts>,
    /// Which hosts are on one kernel.
    pub kernels: Kernels,
    /// The version of Plimsoll.
    pub version: String,
    /// When it began, in ns since 1970.
    pub started_unix_ns: u64,
    /// By number.
    pub stages: Vec<StageState>,
    /// By number.
    pub hosts: Vec<HostBoard>,
    /// All hosts together.
    pub load: Track<Load>,
    /// All hosts together.
    pub kernel: Track<System>,
    /// What happened, the oldest first.
    pub happened: VecDeque<Happened>,
    /// Instants that stand in charts: seconds after the run's start on their axis, and words.
    pub instants: VecDeque<(f64, String)>,
    /// How the run ended, if it did.
    pub end: Option<RunEnd>,
    /// Results and doubts of what is complete, in markup; new ones take the place of old ones.
    results: Vec<Markup>,
    /// What was found of them; `None` where there are none yet.
    pub evidence: Option<Evidence>,
    /// The least verdict of them; `None` where there are none yet.
    verdict: Option<Level>,
    /// Bytes per second that the newest of them made durable, where any wrote.
    durable: Option<f64>,
    /// The stage that is on, as a run file has it; `None` where it became too large to be kept.
    partial: Option<Record>,
    samples: usize,
    is_final: bool,
    current: Option<u32>,
    requests: Requests,
    counters: Kernel,
    remarks: BTreeSet<(u32, String)>,
    revision: u64,
}

impl Board {
    /// A run that has not begun.
    pub fn new(plan: Plan, facts: Vec<HostFacts>, version: &str, started_unix_ns: u64) -> Board {
        let mut board = Board {
            stages: vec![StageState::default(); plan.stages.len()],
            hosts: plan.hosts.iter().map(|_| HostBoard::default()).collect(),
            plan,
            kernels: Kernels::of(&facts),
            facts,
            version: version.to_owned(),
            started_unix_ns,
            load: Track::default(),
            kernel: Track::default(),
            happened: VecDeque::new(),
            instants: VecDeque::new(),
            end: None,
            results: Vec::new(),
            evidence: None,
            verdict: None,
            durable: None,
            partial: None,
            samples: 0,
            is_final: false,
            current: None,
            requests: Requests::default(),
            counters: Kernel::default(),
            remarks: BTreeSet::new(),
            revision: 0,
        };
        let notes = board.plan.notes.clone();
        notes.into_iter().for_each(|note| board.tell("note", topics::note::line(&note.fact)));
        board
    }

    /// It changes with everything that a page may show.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The stage that is on.
    pub fn current(&self) -> Option<u32> {
        self.current
    }

    /// The end of the axis of time: where the last samples end, in seconds after the run's start.
    pub fn now_s(&self) -> f64 {
        let load = self.load.slots().last().map_or(0.0, |slot| slot.end_s);
        self.kernel.slots().last().map_or(load, |slot| slot.end_s.max(load))
    }

    /// The same instant, in ns since 1970.
    pub fn now_unix_ns(&self) -> u64 {
        self.started_unix_ns.saturating_add((self.now_s() * 1e9).round() as u64)
    }

    /// The load over time without its last stretch while hosts are still to tell of it: a part of
    /// the fleet would look like a slump.
    pub fn whole_slots(&self) -> &[Slot<Load>] {
        let slots = self.load.slots();
        let alive = self.hosts.iter().filter(|host| host.lost.is_none()).count() as u64;
        match slots.split_last() {
            Some((last, before))
                if self.current.is_some()
                    && last.part.samples < u64::from(last.intervals) * alive =>
            {
                before
            }
            _ => slots,
        }
    }

    /// A host's name.
    pub fn name(&self, host: u32) -> String {
        let named = self.facts.get(host as usize).map(|facts| facts.hostname.clone());
        named.unwrap_or_else(|| format!("host {host}"))
    }

    /// Results and doubts so far.
    pub fn results(&self) -> &[Markup] {
        &self.results
    }

    /// How many requests have no answer, and the age of the oldest, in ns.
    pub fn waiting(&self) -> (u64, u64) {
        self.requests.waiting()
    }

    /// Requests of a host that failed.
    pub fn errors_of(&self, host: u32) -> u64 {
        self.requests.errors_of(host)
    }

    /// Takes in what happened. Where that completes something, the part of the run that it
    /// completes comes back: its results are not computed here, because that takes its time:
    /// [`judge`] does, and [`Board::add_results`] takes them.
    pub fn event(&mut self, event: &Event) -> Option<Record> {
        self.revision += 1;
        if let Some(partial) = &mut self.partial {
            self.samples += usize::from(matches!(event, Event::Sample(_) | Event::Counters(_)));
            partial.apply(event.clone());
        }
        if self.samples > MOST_SAMPLES {
            self.partial = None;
        }
        match event {
            Event::StageStarted { stage, unix_ns } => self.begin(*stage, *unix_ns),
            Event::Sample(sample) => self.sample(sample),
            Event::Counters(sample) => self.count(sample),
            Event::Waiting(waiting) => self.requests.wait(waiting),
            Event::HostStarted(_) | Event::HostEnded(_) => {}
            Event::PointAdded(addition) => {
                self.plan.add(addition);
                self.stages.resize_with(self.plan.stages.len(), StageState::default);
            }
            Event::Note(note) if note.fact.is_bookkeeping() => {}
            Event::Note(note) => {
                if let Some(host) = self.hosts.get_mut(note.host as usize) {
                    match note.kind() {
                        NoteKind::HostLost => {
                            host.lost = Some(topics::note::sentence(&note.fact));
                            self.counters.lost(note.host);
                        }
                        NoteKind::HostReturned => host.lost = None,
                        _ => {}
                    }
                }
                let host = (self.plan.hosts.len() > 1).then(|| self.name(note.host));
                self.tell("note", note_words(host.as_deref(), &note.fact));
            }
            Event::Happened(occurrence) => self.happened(occurrence),
            Event::StageEnded { stage, end } => return self.ended(*stage, end),
            Event::RunEnded { end, .. } => {
                self.end = Some(end.clone());
                self.current = None;
                self.tell("event", format!("The run is {}.", run_end_words(end)));
            }
        }
        None
    }

    /// Shows results and doubts of a part of the run, behind those of parts before it.
    pub fn add_results(&mut self, judged: Judged) {
        if !self.is_final {
            if let Some((content, found, (level, durable))) = judged.0 {
                self.durable = durable.or(self.durable);
                self.results.push(content);
                self.verdict = Some(self.verdict.map_or(level, |least| least.min(level)));
                self.evidence = Some(self.evidence.map_or(found, |others| others.and(found)));
            }
            self.revision += 1;
        }
    }

    /// Shows the results of the whole run, as its file has them, instead of those so far.
    pub fn set_results(&mut self, judged: Judged) {
        self.verdict = judged.0.as_ref().map(|(.., (level, _))| *level);
        self.durable = judged.0.as_ref().and_then(|(.., (_, durable))| *durable);
        let (results, evidence) = judged.0.map(|(content, found, _)| (content, found)).unzip();
        (self.results, self.evidence) = (results.into_iter().collect(), evidence);
        self.is_final = true;
        self.revision += 1;
    }

    /// The run as Prometheus reads it.
    pub fn metrics(&self, detail: Detail) -> Scrape {
        let run = metrics::Run {
            run_id: self.plan.run_id.clone(),
            suite: self.plan.suite.clone(),
            started_unix_ns: self.started_unix_ns,
            stages: (
                self.stages.iter().filter(|stage| stage.end.is_some()).count(),
                self.stages.len(),
            ),
            is_over: self.end.is_some(),
            verdict: self.verdict.map(Level::word),
            durable: self.durable,
            point: self.point(),
            requests: self.requests.clone(),
        };
        Scrape {
            version: self.version.clone(),
            label: self.plan.run_id.clone(),
            names: (0..self.hosts.len() as u32).map(|host| self.name(host)).collect(),
            lost: self.hosts.iter().filter(|host| host.lost.is_some()).count(),
            run: Some(run),
            kernel: self.counters.clone(),
            detail,
            more: Vec::new(),
            memory_bytes: None,
        }
    }

    /// The point whose stages run: its number from 1 and the values of its sweep.
    fn point(&self) -> Option<(u32, String)> {
        let number = self.plan.stages.get(self.current? as usize)?.point?;
        let point = self.plan.points.get(number as usize)?;
        Some((number + 1, ground::words::sweep(&point.sweep, None)))
    }

    fn begin(&mut self, number: u32, unix_ns: u64) {
        // A simulation's stages take less time than they tell of: then one begins where the one
        // before ended.
        let since_s = unix_ns.saturating_sub(self.started_unix_ns) as f64 / 1e9;
        let started_s = since_s.max(self.now_s());
        let Some(stage) = self.stages.get_mut(number as usize) else { return };
        // A resumed run begins some stages anew.
        *stage = StageState { started_unix_ns: Some(unix_ns), started_s, ..StageState::default() };
        self.current = Some(number);
        let mut partial = Record::new(
            self.plan.clone(),
            self.facts.clone(),
            self.version.clone(),
            self.started_unix_ns,
        );
        partial.apply(Event::StageStarted { stage: number, unix_ns });
        self.partial = Some(partial);
        self.samples = 0;
        let of = match grows(&self.plan) {
            true => String::new(),
            false => format!(" of {}", self.stages.len()),
        };
        let words = format!("Stage {}{of} began: {}.", number + 1, self.stage_name(number));
        self.tell_at(started_s, "event", words);
    }

    fn ended(&mut self, number: u32, end: &StageEnd) -> Option<Record> {
        let name = self.stage_name(number);
        let stage = self.stages.get_mut(number as usize)?;
        stage.end = Some(end.clone());
        self.current = None;
        self.requests.wait_no_more();
        let words = match end {
            StageEnd::Complete => format!("{name}: complete."),
            StageEnd::Interrupted => format!("{name}: interrupted."),
            StageEnd::Failed(why) => format!("{name}: failed: {why}"),
            StageEnd::Panicked(why) => format!("{name}: a bug in Plimsoll ended it: {why}"),
        };
        self.tell("event", words);
        self.partial.take().filter(|_| {
            self.plan
                .stages
                .get(number as usize)
                .is_some_and(|stage| stage.kind == model::StageKind::Measure)
        })
    }

    fn sample(&mut self, sample: &IntervalSample) {
        self.requests.add(&self.plan, sample);
        let Some(stage) = self.stages.get_mut(sample.stage as usize) else { return };
        stage.bytes = sample.ops.iter().fold(stage.bytes, |sum, op| sum.saturating_add(op.bytes));
        for op in &sample.ops {
            stage.operations =
                stage.operations.saturating_add(op.ios).saturating_add(op.error_count());
        }
        if !sample.phase.counts() {
            return;
        }
        stage.elapsed_ns = stage.elapsed_ns.max(sample.start_ns.saturating_add(sample.length_ns));
        let start_s = stage.started_s + sample.start_ns as f64 / 1e9;
        let key = Key { stage: sample.stage, interval: sample.interval };
        let length_s = sample.length_ns as f64 / 1e9;
        let all = self.load.at(key, start_s, length_s);
        all.samples += 1;
        let (mut here, mut latency) = (HostLoad::default(), Histogram::new());
        for op in &sample.ops {
            let load = all.ops.entry(op.op).or_default();
            load.ios = load.ios.saturating_add(op.ios);
            load.bytes = load.bytes.saturating_add(op.bytes);
            load.errors = load.errors.saturating_add(op.error_count());
            load.latency.add(&op.latency);
            if op.op == Op::Fsync {
                // As in results, it is no I/O of the whole.
                continue;
            }
            // One that is no histogram is refused where it is recorded.
            let _ = op.latency.merge_into(&mut latency);
            here.ios = here.ios.saturating_add(op.ios);
            here.bytes = here.bytes.saturating_add(op.bytes);
        }
        here.latency_sum_ns = latency.sum_ns();
        here.latency_max_ns = latency.max_ns().unwrap_or(0);
        let Some(host) = self.hosts.get_mut(sample.host as usize) else { return };
        host.workers = counter_lists::of_workers(sample);
        host.last = Some((here.ios, here.bytes, sample.length_ns, latency.quantile_ns(0.99)));
        super::bounded_series::Part::merge(host.load.at(key, start_s, length_s), here);
    }

    fn count(&mut self, sample: &CounterSample) {
        let is_there = |host: usize| self.hosts.get(host).is_none_or(|host| host.lost.is_none());
        let voice = self.kernels.voice(sample.host as usize, is_there);
        let counted_once = voice.of(sample);
        self.counters.add(&counted_once);
        for note in &sample.notes {
            // Counters are opened anew for each stage, and say the same anew.
            if self.remarks.len() < MOST_HAPPENED
                && self.remarks.insert((sample.host, note.clone()))
            {
                self.tell("note", format!("{}: {note}", self.name(sample.host)));
            }
        }
        let Some(stage) = self.stages.get(sample.stage as usize) else { return };
        let (start_s, length_s) =
            (stage.started_s + sample.start_ns as f64 / 1e9, sample.length_ns as f64 / 1e9);
        let key = Key { stage: sample.stage, interval: sample.number };
        if voice.is_any() {
            super::bounded_series::Part::merge(
                self.kernel.at(key, start_s, length_s),
                System::of(&counted_once),
            );
        }
        let system = System::of(sample);
        if let Some(host) = self.hosts.get_mut(sample.host as usize) {
            host.system = Some((system, sample.length_ns));
            host.counted = Some(counter_lists::summary(sample));
            super::bounded_series::Part::merge(host.kernel.at(key, start_s, length_s), system);
        }
    }

    /// A stage in words: `4k-random-read · measure`.
    pub fn stage_name(&self, number: u32) -> String {
        let stage = self.plan.stages.get(number as usize);
        stage.map_or_else(
            || format!("stage {}", number + 1),
            |stage| ground::stage::name(&self.plan, stage),
        )
    }

    fn happened(&mut self, occurrence: &Occurrence) {
        let stage = occurrence.stage.and_then(|stage| self.stages.get(stage as usize));
        let at_s = stage.map_or_else(|| self.now_s(), |stage| stage.started_s + occurrence.at_s());
        let words = topics::occurrences::line(occurrence, &self.plan);
        if occurrence.may_have_effects() {
            if self.instants.len() == MOST_INSTANTS {
                self.instants.pop_front();
            }
            self.instants.push_back((at_s, words.clone()));
        }
        // A note tells of the loss of a host and of its return, too.
        if !matches!(occurrence.kind, OccurrenceKind::HostLost | OccurrenceKind::HostReturned) {
            self.tell_at(at_s, "mark", words);
        }
    }

    fn tell(&mut self, kind: &'static str, words: String) {
        self.tell_at(self.now_s(), kind, words);
    }

    fn tell_at(&mut self, at_s: f64, kind: &'static str, words: String) {
        if self.happened.len() == MOST_HAPPENED {
            self.happened.pop_front();
        }
        self.happened.push_back(Happened { at_s, kind, words });
    }
}

fn note_words(host: Option<&str>, fact: &Fact) -> String {
    let line = topics::note::line(fact);
    host.map_or_else(|| line.clone(), |host| format!("{host}: {line}"))
}

/// How a run ended, in words.
pub fn run_end_words(end: &RunEnd) -> String {
    match end {
        RunEnd::Complete => "complete".to_owned(),
        RunEnd::Interrupted => "interrupted: somebody stopped it".to_owned(),
        RunEnd::Failed(why) => format!("over: it could not go on: {why}"),
        RunEnd::Panicked(why) => format!("over: a bug in Plimsoll ended it: {why}"),
    }
}

#[cfg(test)]
mod tests;
