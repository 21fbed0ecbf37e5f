//! Whether a result may be quoted: what was checked of it, what could not be, and the steps that
//! would raise it. A pure function of the record and the result's doubts. A check is shown only by
//! what was seen of these targets in this run: taking evidence away never raises a verdict.

pub(crate) mod check;
pub mod expected;
pub mod kept;
pub mod outlook;
pub(crate) mod raise;
pub mod trust;

use crate::doubts::{Gravity, Warning, page_cache};
use crate::layers::caches::{caches, is_buffered};
use crate::layers::targets::{OfTargets, of_stage};
use crate::rows::durable::durable;
use crate::rows::row::{Covers, ResultRow};
use crate::verdict::raise::{Case, may_be_asked, steps};
use catalogue::targets::Known;
use model::choices::FileFsync;
use model::plan::Work;
use model::{Op, Record};
use std::fmt;
use std::str::FromStr;

pub use crate::layers::caches::{Cache, CacheKind};
pub use crate::layers::targets::Bound;
pub use crate::verdict::check::{Check, Found};
pub use crate::verdict::raise::{Raise, Step};
pub use model::Level;

/// What was found of one result, or of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How far it can be trusted.
    pub level: Level,
    /// Each check, and how it went; in the order of [`Check`].
    pub checks: Vec<(Check, Found)>,
    /// The caches that are a part of the figure, by the devices that have them: sorted.
    pub caches: Vec<Cache>,
    /// The layer below a target that keeps it from a better one; `None` where all can be seen.
    pub bound: Option<Bound>,
    /// All that is missing for a better one, the step that sets the level first; empty where it is
    /// quotable.
    pub steps: Vec<Raise>,
    /// Whether `--quotable` may take them: it was not given, and the command has it.
    pub may_be_asked: bool,
}

impl Verdict {
    /// That of one result.
    pub fn of(record: &Record, row: &ResultRow) -> Verdict {
        let known = known(record, row);
        let checks = vec![
            (Check::Intervals, intervals(row)),
            (Check::Steady, steady(row)),
            (Check::Durability, durability(record, row, &known)),
            (Check::Caches, caches_known(record, row, &known)),
        ];
        let doubts: Vec<(Level, &Warning)> =
            row.warnings.iter().map(|doubt| (gravity(doubt), doubt)).collect();
        let gravest = doubts.iter().fold(known.best, |least, (level, _)| least.min(*level));
        let is_shown =
            |(_, found): &(Check, Found)| matches!(found, Found::Shown | Found::NotNeeded);
        let of_checks =
            if checks.iter().all(is_shown) { Level::Quotable } else { Level::Indicative };
        let measures = row.ios > 0
            && !record.plan.backend.sends_nothing()
            && !crate::layers::guests::is_emulated(record);
        let level = if measures { gravest.min(of_checks) } else { Level::NotAMeasurement };
        let case = Case { record, row, checks: &checks, doubts: &doubts, known: &known };
        let steps = if level < Level::Quotable { steps(&case) } else { Vec::new() };
        let (caches, may_be_asked) = (caches(record, row), may_be_asked(&record.plan));
        Verdict { level, checks, caches, bound: known.bound, steps, may_be_asked }
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
            bound: None,
            steps: vec![Step::Complete.in_no_time()],
            may_be_asked: may_be_asked(&record.plan),
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
        // The least result first: its steps set the level of the run.
        let mut least: Vec<&Verdict> = each.iter().collect();
        least.sort_by_key(|one| one.level);
        let mut steps: Vec<Raise> = Vec::new();
        for raise in least.iter().flat_map(|one| &one.steps) {
            if !steps.iter().any(|known| known.step == raise.step) {
                steps.push(*raise);
            }
        }
        let lowest = each.into_iter().min_by_key(|one| one.level).unwrap_or_else(none);
        let steps = if steps.is_empty() { lowest.steps } else { steps };
        Verdict { caches, checks, steps, ..lowest }
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

/// What can be known of the targets that a row loads; of simulated ones all is.
fn known(record: &Record, row: &ResultRow) -> OfTargets {
    if record.plan.is_simulated() {
        return OfTargets::NONE;
    }
    let are_guests = crate::layers::guests::made(record).is_some();
    let known = of_stage(&record.plan.hosts, &record.testbed, row.stage, are_guests);
    known.unwrap_or(OfTargets::UNKNOWN)
}

fn durability(record: &Record, row: &ResultRow, known: &OfTargets) -> Found {
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
    if crate::rows::durable::broken(record, row.stage).is_some() {
        return Found::Refuted;
    }
    let is_flushed = || {
        let of_writes = ResultRow { ops: crate::rows::row::Ops::One(Op::Write), ..row.clone() };
        durable(record, &of_writes).is_some()
    };
    if crate::layers::guests::ignore_flushes(record) {
        // Whatever was flushed is in the memory of a hypervisor.
        return Found::Refuted;
    }
    let is_refuting =
        |one: &Warning| matches!(one, Warning::BarriersOff { .. } | Warning::FlushLost { .. });
    if row.warnings.iter().any(is_refuting) {
        return Found::Refuted;
    }
    let is_instant = row.warnings.iter().any(|one| matches!(one, Warning::FlushInstant { .. }));
    let is_shown = writing.all(syncs) || (is_flushed() && !is_instant);
    if is_shown && known.durability != Known::Never { Found::Shown } else { Found::Missing }
}

/// Whether the caches are excluded, or named and smaller than what was loaded. Those below a
/// virtual disk, a loop device or a network file system cannot be seen: the memory of the host that
/// loads stands for them, doubled, as for a page cache. Nothing is shown where nobody counted.
fn caches_known(record: &Record, row: &ResultRow, known: &OfTargets) -> Found {
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
    if record.plan.is_simulated() {
        return Found::Shown;
    }
    let memory = record.loaders().iter().map(|facts| facts.memory.0).max().unwrap_or(0);
    let is_large = record.plan.footprint_of(row.stage).0 >= memory.saturating_mul(2);
    let is_seen = known.caches == Known::Seen && !is_buffered(record, row);
    let is_counted =
        record.stage(row.stage).is_some_and(|stage| stage.is_counted_on(record.plan.hosts.len()))
            && (!row.plans(Op::Read) || is_large || page_cache::is_counted(record, row));
    match known.caches {
        Known::Never => Found::Missing,
        _ if !is_counted => Found::Missing,
        _ if is_seen || is_large => Found::Shown,
        _ => Found::Missing,
    }
}

/// How far a doubt lets a figure be trusted.
fn gravity(doubt: &Warning) -> Level {
    match doubt.row().gravity {
        Gravity::Voids => Level::NotAMeasurement,
        Gravity::Weakens => Level::Indicative,
        Gravity::Harmless => Level::Quotable,
    }
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
mod tests;

#[cfg(test)]
mod property_tests;
