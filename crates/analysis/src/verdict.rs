//! Whether a result may be quoted: what was checked of it, what could not be, and the one step that
//! would raise it. A pure function of the record and the result's doubts.

use crate::doubts::{Gravity, Warning, write_cache};
use crate::durable::durable;
use crate::row::{Covers, ResultRow};
use model::choices::FileFsync;
use model::inventory::{LinkKind, Media};
use model::plan::{PlannedTarget, Steady, Stop, Work};
use model::testbed::TargetFacts;
use model::{Op, Record, StageKind};
use std::fmt;
use std::str::FromStr;

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// How far a figure can be trusted, the least first.
    pub enum Level {
        /// It says nothing of what storage carries.
        NotAMeasurement = "not-a-measurement",
        /// It was measured, and something that a reader would ask for is missing or doubted.
        Indicative = "indicative",
        /// Its interval is known, it is steady, what it wrote is durable, and the caches in it are
        /// excluded or named.
        Quotable = "quotable",
    }
}

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// What a figure is checked for.
    pub enum Check {
        /// The 95 % intervals of rate and p99.
        Intervals = "intervals",
        /// SNIA's rule holds over the measured time.
        Steady = "steady",
        /// How long it takes until what was written is durable.
        Durability = "durability",
        /// Which caches are a part of the figure.
        Caches = "caches",
    }
}

model::plain_words! {
    /// How a check went.
    pub enum Found {
        /// The evidence is there.
        Shown = "shown",
        /// There is nothing to check.
        NotNeeded = "not-needed",
        /// The evidence is missing.
        Missing = "missing",
        /// The evidence speaks against it.
        Refuted = "refuted",
    }
}

model::plain_words! {
    /// The one thing that would raise a verdict most.
    pub enum Step {
        /// Run it on storage: a simulation, a backend that sends nothing.
        RealTarget = "real-target",
        /// Leave `--scale` out.
        FullScale = "full-scale",
        /// Let it run to its end.
        Complete = "complete",
        /// Write the layout first.
        Prepare = "prepare",
        /// Remove the cause of the first doubt.
        Doubt = "doubt",
        /// Flush behind the load.
        FlushEnd = "flush-end",
        /// Sync each file.
        SyncFiles = "sync-files",
        /// Measure until it is steady.
        UntilSteady = "until-steady",
        /// The same, for longer than was measured: in less it cannot be shown.
        LongerUntilSteady = "longer-until-steady",
        /// Condition it first.
        Precondition = "precondition",
        /// Measure longer.
        Longer = "longer",
        /// Measure a larger amount.
        LargerAmount = "larger-amount",
        /// Replay a longer trace.
        LongerTrace = "longer-trace",
        /// Load more than the caches hold.
        LargerFootprint = "larger-footprint",
        /// Ask for one rate all the time.
        OneRate = "one-rate",
    }
}

/// What was found of one result, or of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How far it can be trusted.
    pub level: Level,
    /// Each check, and how it went; in the order of [`Check`].
    pub checks: Vec<(Check, Found)>,
    /// The caches that are a part of the figure, by the devices that have them: sorted.
    pub caches: Vec<Cache>,
    /// What would raise it; `None` where nothing can, because it is quotable.
    pub step: Option<Step>,
}

/// A cache that is, or may be, a part of a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// The device, the file system or the host.
    pub of: String,
    /// Which cache.
    pub kind: CacheKind,
}

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// Which cache.
    pub enum CacheKind {
        /// A device's volatile write cache.
        Device = "device",
        /// That of the machine behind a virtual disk.
        Hypervisor = "hypervisor",
        /// The page cache of the hypervisor below a guest's disk, which its cache mode lets answer.
        HostPage = "host-page",
        /// The page cache below a loop device.
        Loop = "loop",
        /// Those of a network file system and its servers.
        Network = "network",
        /// The page cache of the host that loads.
        Page = "page",
    }
}

impl Verdict {
    /// That of one result.
    pub fn of(record: &Record, row: &ResultRow) -> Verdict {
        let checks = vec![
            (Check::Intervals, intervals(row)),
            (Check::Steady, steady(row)),
            (Check::Durability, durability(record, row)),
            (Check::Caches, caches_known(record, row)),
        ];
        let gravest = row.warnings.iter().map(gravity).fold(Level::Quotable, Level::min);
        let is_shown =
            |(_, found): &(Check, Found)| matches!(found, Found::Shown | Found::NotNeeded);
        let of_checks =
            if checks.iter().all(is_shown) { Level::Quotable } else { Level::Indicative };
        let sends = !record.plan.backend.sends_nothing();
        let level = match row.ios > 0 && sends {
            true => gravest.min(of_checks),
            false => Level::NotAMeasurement,
        };
        let step = (level < Level::Quotable).then(|| step(record, row, &checks));
        Verdict { level, checks, caches: caches(record, row), step }
    }

    /// That of a run: the least of its results, with every cache that is named. A run without
    /// results is no measurement.
    pub fn of_run(record: &Record, rows: &[ResultRow]) -> Verdict {
        let counted = rows.iter().filter(|row| row.covers != Covers::Beside);
        let each: Vec<Verdict> = counted.map(|row| Verdict::of(record, row)).collect();
        let none = || Verdict {
            level: Level::NotAMeasurement,
            checks: Vec::new(),
            caches: Vec::new(),
            step: Some(Step::Complete),
        };
        let mut caches: Vec<Cache> = each.iter().flat_map(|one| one.caches.clone()).collect();
        caches.sort();
        caches.dedup();
        let mut checks: Vec<(Check, Found)> = Vec::new();
        for (check, found) in each.iter().flat_map(|one| &one.checks) {
            match checks.iter_mut().find(|(known, _)| known == check) {
                Some((_, known)) => *known = worse(*known, *found),
                None => checks.push((*check, *found)),
            }
        }
        let lowest = each.into_iter().min_by_key(|one| one.level).unwrap_or_else(none);
        Verdict { caches, checks, ..lowest }
    }

    /// The checks that went so.
    pub fn checks_that(&self, found: Found) -> impl Iterator<Item = Check> + '_ {
        self.checks.iter().filter(move |(_, one)| *one == found).map(|(check, _)| *check)
    }
}

fn worse(one: Found, other: Found) -> Found {
    let rank = |found: Found| match found {
        Found::NotNeeded => 0,
        Found::Shown => 1,
        Found::Missing => 2,
        Found::Refuted => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

fn intervals(row: &ResultRow) -> Found {
    let is_known = row.confidence.iops.is_some() && row.confidence.p99_ns().is_some();
    if is_known { Found::Shown } else { Found::Missing }
}

/// An amount is measured from its first request to its last, so that it need not be steady; and a
/// rate that changes is not to be.
fn steady(row: &ResultRow) -> Found {
    let speaks_against = |doubt: &Warning| {
        matches!(
            doubt,
            Warning::NotSteady { .. }
                | Warning::Unsettled(_)
                | Warning::NotWarm { .. }
                | Warning::WarmUp { .. }
                | Warning::Changed { .. }
                | Warning::BurstSpent { .. }
        )
    };
    match row.settled {
        _ if row.done.is_some() || row.is_changing() => Found::NotNeeded,
        _ if row.warnings.iter().any(speaks_against) => Found::Refuted,
        Some(true) => Found::Shown,
        Some(false) => Found::Refuted,
        None => Found::Missing,
    }
}

fn durability(record: &Record, row: &ResultRow) -> Found {
    let syncs = |work: &Work| match work.metadata {
        Some(metadata) => metadata.fsync != FileFsync::Never,
        None => work.dsync,
    };
    let writes = |work: &Work| match work.metadata {
        Some(metadata) => metadata.ops().any(Op::writes_file),
        None => work.writes(),
    };
    let counts = row.ops.one().is_none_or(|op| op == Op::Write || op.writes_file());
    let mut writing = row.works.iter().filter(|work| counts && writes(work)).peekable();
    if writing.peek().is_none() {
        return Found::NotNeeded;
    }
    if crate::durable::broken(record, row.stage).is_some() {
        return Found::Refuted;
    }
    let is_flushed = || {
        let of_writes = ResultRow { ops: crate::row::Ops::One(Op::Write), ..row.clone() };
        durable(record, &of_writes).is_some()
    };
    if crate::guests::ignore_flushes(record) {
        // Whatever was flushed is in the memory of a hypervisor.
        return Found::Refuted;
    }
    let is_instant = row.warnings.iter().any(|one| matches!(one, Warning::FlushInstant { .. }));
    let is_shown = writing.all(syncs) || (is_flushed() && !is_instant);
    if is_shown { Found::Shown } else { Found::Missing }
}

/// The targets of a row's stage, each with what its host is.
fn targets<'a>(
    record: &'a Record,
    row: &ResultRow,
) -> impl Iterator<Item = (u64, &'a TargetFacts)> + use<'a> {
    let stage = row.stage;
    record.plan.hosts.iter().zip(&record.testbed).flat_map(move |(host, facts)| {
        let planned = host.targets.get(host.targets_of(stage)).unwrap_or_default();
        let is_loaded =
            move |target: &&TargetFacts| planned.iter().any(|one| one.path == target.path);
        facts.targets.iter().filter(is_loaded).map(|target| (facts.memory.0, target))
    })
}

/// Every cache that is, or may be, a part of the figures of a row.
fn caches(record: &Record, row: &ResultRow) -> Vec<Cache> {
    let mut found = Vec::new();
    let is_buffered = row
        .warnings
        .iter()
        .any(|doubt| matches!(doubt, Warning::Cached { .. } | Warning::DirectRefused(_)))
        || record.plan.engine_of(row.stage).is_some_and(|engine| !engine.direct);
    if record.plan.is_simulated() {
        return found;
    }
    let cache_mode = crate::guests::made(record).map(|made| made.cache);
    for (_, target) in targets(record, row) {
        if is_buffered {
            found.push(Cache { of: target.path.clone(), kind: CacheKind::Page });
        }
        for link in &target.chain {
            let kind = match link.kind {
                LinkKind::Network => CacheKind::Network,
                LinkKind::Loop => CacheKind::Loop,
                _ => continue,
            };
            found.push(Cache { of: link.name.clone(), kind });
        }
        let media = target.chain.iter().filter_map(|link| link.device.as_ref());
        for device in media.chain(&target.device) {
            let mut push = |kind| found.push(Cache { of: device.name.clone(), kind });
            // A guest takes an emulated NVMe drive for a real one; who made the machine knows.
            let is_virtual = device.media == Media::Virtual || cache_mode.is_some();
            if is_virtual && !device.name.starts_with("loop") {
                push(match cache_mode {
                    Some(mode) if mode.uses_host_memory() => CacheKind::HostPage,
                    _ => CacheKind::Hypervisor,
                });
            }
            if device.write_cache == write_cache::WRITE_BACK && row.plans(Op::Write) {
                push(CacheKind::Device);
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether the caches are excluded, or named and smaller than what was loaded. The size of a cache
/// below a virtual disk, a loop device or a network file system is not known: the memory of the
/// host that loads stands for it, doubled, as for a page cache.
fn caches_known(record: &Record, row: &ResultRow) -> Found {
    let speaks_against = |doubt: &Warning| {
        matches!(
            doubt,
            Warning::Cached { .. }
                | Warning::ReadFromMemory { .. }
                | Warning::NotCarried { .. }
                | Warning::LessAtDevice { .. }
                | Warning::CachesNotEmptied(_)
                | Warning::HostCache { from_disks: Some(_), .. }
        )
    };
    if row.warnings.iter().any(speaks_against) {
        return Found::Refuted;
    }
    let is_hidden = |cache: &Cache| cache.kind != CacheKind::Device;
    let hidden = caches(record, row).iter().any(is_hidden);
    let unknown = targets(record, row).any(|(_, target)| {
        target.device.is_none() && target.chain.is_empty() && !record.plan.is_simulated()
    });
    let memory = targets(record, row).map(|(memory, _)| memory).max().unwrap_or(0);
    let is_large = record.plan.footprint_of(row.stage).0 >= memory.saturating_mul(2);
    if (hidden || unknown) && !is_large { Found::Missing } else { Found::Shown }
}

/// How far a doubt lets a figure be trusted.
fn gravity(doubt: &Warning) -> Level {
    match doubt.row().gravity {
        Gravity::Voids => Level::NotAMeasurement,
        Gravity::Weakens => Level::Indicative,
        Gravity::Harmless => Level::Quotable,
    }
}

fn step(record: &Record, row: &ResultRow, checks: &[(Check, Found)]) -> Step {
    let has = |is: fn(&Warning) -> bool| row.warnings.iter().any(is);
    let lacks = |check: Check| {
        checks
            .iter()
            .any(|(one, found)| *one == check && matches!(found, Found::Missing | Found::Refuted))
    };
    let is_metadata = row.is_metadata();
    let stage = record.plan.stages.get(row.stage as usize);
    let stop = stage.map(model::plan::Stage::stop);
    let until_steady = stop.is_some_and(|stop| stop.steady().is_some());
    let least = record.plan.interval.0.saturating_mul(Steady::ROUNDS * Steady::LEAST_IN_ROUND);
    let is_short = stop.and_then(Stop::time).is_some_and(|time| time.0 < least);
    let is_amount = row.done.is_some() || stop.is_some_and(|stop| stop.once().is_some());
    let is_replay = row.works.iter().any(|work| work.trace.is_some());
    let is_unknown = lacks(Check::Steady) || lacks(Check::Intervals);
    let kinds = |kind| record.plan.stages.iter().any(|stage| stage.kind == kind);
    let is_simulated = |target: &model::plan::Target| target.kind == PlannedTarget::Simulated;
    let mut planned = record.plan.hosts.iter().flat_map(|host| &host.targets);
    let steps = [
        (record.plan.backend.sends_nothing() || planned.any(is_simulated), Step::RealTarget),
        (!record.plan.scale.is_full(), Step::FullScale),
        (!row.complete || row.ios == 0, Step::Complete),
        (has(|doubt| matches!(doubt, Warning::NotPrepared)), Step::Prepare),
        (lacks(Check::Durability) && is_metadata, Step::SyncFiles),
        (lacks(Check::Durability), Step::FlushEnd),
        (is_unknown && is_replay, Step::LongerTrace),
        (is_unknown && is_amount, Step::LargerAmount),
        (lacks(Check::Steady) && !until_steady && is_short, Step::LongerUntilSteady),
        (lacks(Check::Steady) && !until_steady, Step::UntilSteady),
        (lacks(Check::Steady) && !kinds(StageKind::Precondition), Step::Precondition),
        (lacks(Check::Intervals) && row.is_changing(), Step::OneRate),
        (is_unknown, Step::Longer),
        (lacks(Check::Caches), Step::LargerFootprint),
    ];
    steps.into_iter().find(|(is, _)| *is).map_or(Step::Doubt, |(_, step)| step)
}

/// `verdict < quotable`: when a verdict is to fail a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The limit.
    pub level: Level,
    /// Whether the limit itself meets it.
    pub inclusive: bool,
}

impl Gate {
    /// Whether a verdict meets the condition, so that the pipeline is to fail.
    pub fn is_met(self, level: Level) -> bool {
        level < self.level || (self.inclusive && level == self.level)
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.inclusive { "<=" } else { "<" };
        write!(f, "verdict {sign} {}", self.level.word())
    }
}

/// A text that is no condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadGate;

impl fmt::Display for BadGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = Level::ALL.iter().map(|level| level.word()).collect();
        write!(f, "write it as 'verdict < quotable', with one of {}", words.join(", "))
    }
}

impl std::error::Error for BadGate {}

impl FromStr for Gate {
    type Err = BadGate;

    fn from_str(text: &str) -> Result<Gate, BadGate> {
        let (left, right) = text.split_once('<').ok_or(BadGate)?;
        let (inclusive, word) = right.strip_prefix('=').map_or((false, right), |rest| (true, rest));
        let level = Level::ALL.iter().copied().find(|level| level.word() == word.trim());
        let level = level.filter(|_| left.trim() == "verdict").ok_or(BadGate)?;
        Ok(Gate { level, inclusive })
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
