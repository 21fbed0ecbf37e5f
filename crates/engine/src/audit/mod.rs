//! Looks at the data that a run left, on this or on another host, and says which acknowledged
//! writes are missing.
//!
//! What must stand where follows from the run file alone: the plan says what each worker wrote in
//! which order, its write marks say how far it got. After a crash there is nothing else left to
//! ask.

mod acknowledged;
mod began;
mod examples;
mod parts;
mod places;
mod population;
mod replay;
mod scan;
mod sound;

use crate::contents::Identity;
use crate::error::EngineError;
use crate::generator::Bookmark;
use crate::targets::{Doing, Haste, Progress, patiently};
use acknowledged::Known;
use model::audit::{Audit, Basis, Finding};
use model::choices::Access;
use model::plan::{Extent, HostPlan, HostStage, StageKind, Stop, TargetFile, Worker};
use model::{Nanos, Percent, Record, StageEnd, WriteMark, hostlist};
use places::Place;
use replay::{Map, Region, Writer};
use scan::{CHUNK, Hit, Scan, Tally};
use std::collections::BTreeMap;
use std::fmt;

/// Blocks that are looked at at a time: with 8 bytes each, they take 512 MiB. Larger layouts are
/// gone through piece by piece, each with a replay of its own.
const MOST_BLOCKS: u64 = 64 << 20;

/// What to look at.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions<'a> {
    /// Which writes must be found.
    pub basis: Basis,
    /// Where the targets of the plan are here, one for each, in the order of the plan; empty where
    /// they are where they were.
    pub targets: &'a [String],
    /// The host whose data to look at; may be left out where the run had one.
    pub host: Option<&'a str>,
    /// The scenario whose layout to look at, where scenarios had layouts of their own; without it,
    /// all that still stand.
    pub scenario: Option<&'a str>,
    /// How many damaged blocks to tell one by one.
    pub kept: usize,
}

/// How far a look has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditStep {
    /// Requests of the run that were gone through again, in all.
    Replayed(u64),
    /// Bytes that were read, and bytes that there are.
    Read(u64, u64),
}

/// Why nothing could be looked at.
#[derive(Debug)]
pub enum AuditError {
    /// What was asked for does not fit the run; with the remedy.
    Usage(String),
    /// The run file contradicts itself; in words.
    RunFile(String),
    /// The data cannot be opened.
    Target(EngineError),
}

impl fmt::Display for AuditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::Usage(text) | AuditError::RunFile(text) => f.write_str(text),
            AuditError::Target(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AuditError {}

impl From<EngineError> for AuditError {
    fn from(error: EngineError) -> AuditError {
        AuditError::Target(error)
    }
}

/// Looks at the data of `record`'s run, and tells `tick` how far it has got. Only reads. A target
/// that leaves a call unanswered for longer than `patience` is given up, and with it the look.
///
/// # Errors
/// When the run wrote nothing that can be checked, its data are not there, in use or do not answer,
/// or the record contradicts itself. Layouts of scenarios that were removed are told in the notes;
/// it is an error if none stands.
pub fn audit(
    record: Record,
    options: &AuditOptions<'_>,
    patience: Nanos,
    mut tick: impl FnMut(AuditStep) + Send + 'static,
) -> Result<Audit, AuditError> {
    // A thread that is given up keeps what it was given.
    let (targets, host, scenario) = (
        options.targets.to_vec(),
        options.host.map(str::to_owned),
        options.scenario.map(str::to_owned),
    );
    let (basis, kept) = (options.basis, options.kept);
    patiently(patience, &Haste::default(), Doing::Checking, move |progress| {
        let (host, scenario) = (host.as_deref(), scenario.as_deref());
        let options = AuditOptions { basis, targets: &targets, host, scenario, kept };
        Ok(look(&record, &options, progress, &mut tick))
    })?
}

/// The same, for as long as it takes.
fn look(
    record: &Record,
    options: &AuditOptions<'_>,
    progress: &Progress,
    tick: &mut dyn FnMut(AuditStep),
) -> Result<Audit, AuditError> {
    let plan = host(record, options.host)?;
    if !plan.parts.is_empty() {
        return parts::audit(record, plan, options, Observers { progress, tick });
    }
    if let Some(wanted) = options.scenario {
        let text = format!(
            "all of the run is on one layout, so that `{wanted}` cannot be looked at alone; leave \
             --scenario out"
        );
        return Err(AuditError::Usage(text));
    }
    match uncheckable(plan) {
        Some(why) => Err(AuditError::Usage(why.to_owned())),
        None => audit_layout(record, plan, options, Observers { progress, tick }),
    }
}

/// Who hears how far it is.
struct Observers<'a> {
    /// Whoever waits for the target.
    progress: &'a Progress,
    /// Whoever looks on.
    tick: &'a mut dyn FnMut(AuditStep),
}

/// Looks at one layout: `plan` has no parts.
fn audit_layout(
    record: &Record,
    plan: &HostPlan,
    options: &AuditOptions<'_>,
    observers: Observers<'_>,
) -> Result<Audit, AuditError> {
    if population::is_one(plan) {
        return population::audit(record, plan, options, observers);
    }
    sound::check(plan).map_err(damaged)?;
    let places = places::open(plan, options.targets, observers.progress)?;
    audit_places(record, plan, &places, options, MOST_BLOCKS, observers)
}

/// Why the bytes of a layout say nothing, if they do not.
fn uncheckable(plan: &HostPlan) -> Option<&'static str> {
    if population::is_one(plan) {
        return None;
    }
    if !plan.trees.is_empty() {
        return Some(
            "the run worked on whole files without a population, of which nothing is known",
        );
    }
    (!plan.engine.contents.verify).then_some(
        "the run's blocks carry no headers, so that nothing can be checked; run it with --set \
         contents.verify=true and --keep-data",
    )
}

fn damaged(why: &str) -> AuditError {
    AuditError::RunFile(format!("the run file is damaged: {why}; take a copy from before"))
}

/// The number of the host whose data are looked at: nothing else of the record is needed than what
/// it did.
///
/// # Errors
/// No host is meant, or one that the run did not have.
pub fn audited_host(record: &Record, options: &AuditOptions<'_>) -> Result<u32, AuditError> {
    host(record, options.host).map(|plan| plan.host)
}

/// The plan of the host that is meant.
fn host<'a>(record: &'a Record, wanted: Option<&str>) -> Result<&'a HostPlan, AuditError> {
    let hosts = &record.plan.hosts;
    let names =
        || hostlist::compress(&hosts.iter().map(|one| one.hostname.clone()).collect::<Vec<_>>());
    let usage = |text: String| Err(AuditError::Usage(text));
    let plan = match (wanted, hosts.as_slice()) {
        (None, [only]) => only,
        (None, []) => return Err(damaged("its plan has no host")),
        (None, _) => {
            return usage(format!("the run had several hosts ({}); name one with --host", names()));
        }
        (Some(name), _) => match hosts.iter().find(|host| host.hostname == name) {
            Some(plan) => plan,
            None => return usage(format!("the run had no host `{name}`; it had {}", names())),
        },
    };
    Ok(plan)
}

/// A worker of a stage.
struct Entry<'a> {
    stage: &'a HostStage,
    /// The stage's number in the plan.
    number: u32,
    /// The worker's number in the stage.
    worker: u32,
    /// What it is known to have written.
    known: Known,
    /// How many requests came back, flushes apart.
    requests: u64,
    /// Where its order began, if it went on with one.
    from: Option<Bookmark>,
}

/// What each worker of each stage that wrote is known to have written, in the order of stages.
fn known<'a>(
    record: &Record,
    plan: &'a HostPlan,
    basis: Basis,
) -> Result<Vec<Entry<'a>>, AuditError> {
    let mut marks: BTreeMap<(u32, u32), Vec<(&WriteMark, u64)>> = BTreeMap::new();
    let mut requests: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for sample in record.samples().filter(|sample| sample.host == plan.host) {
        let end_ns = sample.start_ns.saturating_add(sample.length_ns);
        for worker in &sample.workers {
            let of_worker = requests.entry((sample.stage, worker.worker)).or_default();
            *of_worker = of_worker.saturating_add(began::requests(worker));
            if let Some(mark) = &worker.mark {
                marks.entry((sample.stage, worker.worker)).or_default().push((mark, end_ns));
            }
        }
    }
    let mut all = Vec::new();
    for ((number, number_of_worker), marks) in marks {
        let missing = || damaged("a write mark belongs to a worker that is not there");
        let stage = plan.stages.iter().find(|stage| stage.stage == number);
        if stage.is_none()
            && record.plan.has_parts()
            && (number as usize) < record.plan.stages.len()
        {
            // Of another layout.
            continue;
        }
        let stage = stage.ok_or_else(missing)?;
        let worker = stage.workers.get(number_of_worker as usize).ok_or_else(missing)?;
        let work = stage.works.get(worker.work as usize).ok_or_else(missing)?;
        if !work.writes() {
            continue;
        }
        // What is written whole ends with a sync of all files, on each host that came so far.
        let is_synced = stage.stop() == Stop::Amount
            && record.stage(number).is_some_and(|stage| {
                let has_ended = stage.starts.iter().any(|start| start.host == plan.host);
                has_ended && stage.end == Some(StageEnd::Complete)
            });
        let durable = basis == Basis::Durable && !work.dsync && !is_synced;
        let known = Known::of(marks.into_iter(), durable).map_err(damaged)?;
        let requests = requests.remove(&(number, number_of_worker)).unwrap_or_default();
        let worker = number_of_worker;
        all.push(Entry { stage, number, worker, known, requests, from: None });
    }
    Ok(all)
}

fn writer<'a>(entry: &'a Entry<'a>) -> Writer<'a> {
    let worker = &entry.stage.workers[entry.worker as usize];
    Writer {
        stage: entry.number,
        number: entry.worker,
        work: &entry.stage.works[worker.work as usize],
        worker,
        known: &entry.known,
        from: entry.from.as_ref(),
    }
}

/// Goes through all files, as many blocks at a time as `most_blocks`.
fn audit_places(
    record: &Record,
    plan: &HostPlan,
    places: &[Place],
    options: &AuditOptions<'_>,
    most_blocks: u64,
    observers: Observers<'_>,
) -> Result<Audit, AuditError> {
    let Observers { progress, tick } = observers;
    let mut known = known(record, plan, options.basis)?;
    let (mut replayed, mut read) = (0u64, 0u64);
    began::find(&mut known, &mut |requests| {
        replayed += requests;
        progress.step();
        tick(AuditStep::Replayed(replayed));
    });
    let writers: Vec<Writer<'_>> = known.iter().map(writer).collect();
    let files: Vec<&TargetFile> = plan.files().collect();
    let grain = plan.engine.contents.grain.0;
    let given_back = given_back(record, plan);
    let mut tallies: Vec<Tally> = vec![Tally::default(); files.len()];
    let total = files.iter().map(|file| file.size.0).fold(0, u64::saturating_add);
    for pieces in batches(&files, grain, most_blocks) {
        // The memory of one batch at a time.
        let regions = pieces
            .into_iter()
            .map(|(file, first, count)| Region::new(file, first, count as usize))
            .collect();
        let mut map = Map { regions, files: &files, grain };
        map.replay(&writers, &mut |requests| {
            replayed += requests;
            progress.step();
            tick(AuditStep::Replayed(replayed));
        });
        for region in &map.regions {
            let index = region.file as usize;
            // What an earlier run left where this one wrote nothing is none of its business.
            let identity = Identity { filled: false, ..Identity::of(plan) };
            let size = files[index].size.0;
            let given_back = &given_back;
            let scan = Scan {
                region,
                progress,
                identity,
                given_back,
                grain: grain as usize,
                size,
                kept: options.kept,
            };
            progress.at(&places[index].path);
            let tally = scan.run(&places[index].file, &mut |bytes| {
                read += bytes;
                tick(AuditStep::Read(read, total));
            });
            tallies[index].add(tally, options.kept);
        }
    }
    let findings = findings(record, &writers, places, &mut tallies, options.kept);
    let named = |(tally, place): (Tally, &Place)| tally.named(&place.path);
    Ok(Audit {
        basis: options.basis,
        block: plan.engine.contents.grain,
        acknowledged_writes: writers.iter().map(|writer| writer.known.count()).sum(),
        files: tallies.into_iter().zip(places).map(named).collect(),
        findings,
        populations: Vec::new(),
        file_findings: Vec::new(),
        notes: notes(record, plan, &writers, options.basis),
    })
}

/// The first of all hits, of each kind in turn.
fn findings(
    record: &Record,
    writers: &[Writer<'_>],
    places: &[Place],
    tallies: &mut [Tally],
    kept: usize,
) -> Vec<Finding> {
    let of_file = |(index, tally): (usize, &mut Tally)| {
        let path = &places[index].path;
        let hits = std::mem::take(&mut tally.hits);
        hits.into_iter().map(move |hit| finding(record, writers, index as u32, path, hit))
    };
    let mut findings: Vec<Finding> = tallies.iter_mut().enumerate().flat_map(of_file).collect();
    examples::keep_in_turns(&mut findings, |finding| finding.kind, kept);
    findings
}

/// A part of a file: the file's number, the number of the first block, and how many blocks.
type Piece = (u32, u64, u64);

/// All files in pieces: those of a batch have `most_blocks` together, and none is cut but between
/// two reads.
fn batches(files: &[&TargetFile], grain: u64, most_blocks: u64) -> Vec<Vec<Piece>> {
    let step = (CHUNK as u64 / grain).max(1);
    let most = most_blocks.max(step) / step * step;
    let mut pieces: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut room = most;
    for (file, size) in files.iter().enumerate().map(|(index, file)| (index as u32, file.size.0)) {
        let (mut first, blocks) = (0, size.div_ceil(grain));
        while first < blocks {
            if room < step {
                pieces.push(Vec::new());
                room = most;
            }
            let count = (blocks - first).min(room / step * step);
            if let Some(batch) = pieces.last_mut() {
                batch.push((file, first, count));
            }
            first += count;
            room -= count;
        }
    }
    pieces
}

/// Where workers of stages that began gave blocks back; a purge did so before anything was written.
/// Trims after the last record are not known
/// one by one, so it is all of their extents.
fn given_back(record: &Record, plan: &HostPlan) -> Vec<Extent> {
    let began = plan
        .stages
        .iter()
        .filter(|stage| stage.kind != StageKind::Purge && record.stage(stage.stage).is_some());
    let trims = |stage: &HostStage, worker: &Worker| {
        let work = stage.works.get(worker.work as usize);
        work.is_some_and(|work| work.trim > Percent::ZERO)
    };
    let workers =
        began.flat_map(|stage| stage.workers.iter().filter(move |worker| trims(stage, worker)));
    workers.flat_map(|worker| worker.extents.iter().copied()).collect()
}

/// A damaged block with all that is known about the write that is missing there.
fn finding(record: &Record, writers: &[Writer<'_>], file: u32, path: &str, hit: Hit) -> Finding {
    let wrote = |writer: &&Writer<'_>| {
        let is_there = writer.worker.extents.iter().any(|extent| {
            extent.file == file
                && hit.offset >= extent.offset
                && hit.offset - extent.offset < extent.length
        });
        is_there && writer.known.is_within(hit.generation)
    };
    let acknowledged = writers.iter().find(wrote).and_then(|writer| {
        let kind = record.plan.stages.get(writer.stage as usize)?.kind;
        let since_s = writer.known.known_since_ns(hit.generation)? as f64 / 1e9;
        Some(format!(
            "by worker {} in stage {} ({kind}), within its first {since_s:.1} s",
            writer.number, writer.stage
        ))
    });
    Finding {
        kind: hit.kind,
        path: path.to_owned(),
        offset: hit.offset,
        generation: hit.generation,
        expected: hit.expected,
        found: hit.found,
        acknowledged,
    }
}

/// What a reader of the figures has to know.
fn notes(record: &Record, plan: &HostPlan, writers: &[Writer<'_>], basis: Basis) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |text: &str| notes.push(text.to_owned());
    if writers.is_empty() {
        add("no write of this run is known to have been acknowledged: only checksums and places \
             were checked");
    }
    if record.end.is_none() {
        add("the run was killed: writes after the last recorded interval may be there or not, \
             and count for nothing");
    }
    let is_sure = |writer: &Writer<'_>| {
        let is_amount = writer.work.stop == Stop::Amount;
        writer.work.dsync
            || (is_amount && record.stage(writer.stage).is_some_and(|stage| stage.end.is_some()))
    };
    if basis == Basis::Completed && !writers.iter().all(is_sure) {
        add("acknowledged means completed: a power cut may take completed writes that were not \
             yet durable; --acknowledged durable counts only those that had to outlive one");
    }
    if !given_back(record, plan).is_empty() {
        add("workloads of this run trimmed blocks: zeros are right wherever they did, or may have");
    }
    let from_logarithms = [Access::Zipf, Access::Pareto];
    if writers.iter().any(|writer| from_logarithms.contains(&writer.work.pattern.access)) {
        add("zipf and pareto follow from logarithms of the system's mathematical library: check \
             on a host with the same one, or places that another would have drawn can be called \
             lost");
    }
    if plan.engine.contents.filled
        && !writers.iter().any(|writer| writer.work.stop == Stop::Amount)
        && !record.plan.existing
    {
        add("the layout was not yet filled when the run ended");
    }
    notes
}

#[cfg(test)]
mod tests;
