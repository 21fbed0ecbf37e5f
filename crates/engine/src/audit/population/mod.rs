//! Looks at the populations that a run left: which of their files must be there, under which name,
//! how long, and with which bytes.
//!
//! A population keeps its ledger in memory, so it is lost with its process. But what each worker
//! does follows from its seed, and the record says how many operations it did. So the ledger is
//! made again by going through them once more.

mod by_ledger;
mod course;
mod fit;
mod standing;
mod strays;
mod survivors;
#[cfg(test)]
mod tests;

use super::{AuditError, AuditOptions, AuditStep, Observers, damaged, places};
use crate::contents::HostContents;
use crate::metadata::{Kind, Known, PathBuffer};
use by_ledger::{ByLedger, Found};
use course::{Course, Leg};
use fit::Fit;
use model::Record;
use model::audit::{Audit, Basis, FileDamage, FileFinding, PopulationAudit};
use model::metadata::{FileShare, Tree};
use model::plan::{HostPlan, HostStage, Worker};
use model::population::{MOST_LIVING, Population, PopulationStage};
use model::units::Bytes;
use rustix::fs::{Mode, OFlags};
use standing::{Odd, Standing};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use survivors::Survivors;

/// Whether a host's plan has a population.
pub(super) fn is_one(plan: &HostPlan) -> bool {
    plan.stages.iter().any(|stage| populated(stage).next().is_some())
}

/// The workers of a stage that have a part of a population.
fn populated(stage: &HostStage) -> impl Iterator<Item = (u32, &Worker, Leg<'_>, FileShare)> {
    (0..).zip(&stage.workers).filter_map(|(number, worker)| {
        let metadata = stage.works.get(worker.work as usize)?.metadata?;
        let population = metadata.population?;
        let leg = Leg {
            stage: stage.stage,
            worker,
            metadata,
            population,
            counts: [0; MOST_LIVING],
            errors: 0,
            is_whole: false,
        };
        Some((number, worker, leg, worker.files?))
    })
}

/// By what a worker is found again in the next stage.
type Key = [u64; 4];

/// The stages of all workers of a host that began, by their files.
fn legs<'a>(
    record: &Record,
    plan: &'a HostPlan,
) -> Result<Vec<(FileShare, Vec<Leg<'a>>)>, AuditError> {
    let mut all: BTreeMap<Key, (FileShare, Vec<Leg<'a>>)> = BTreeMap::new();
    for stage in &plan.stages {
        let Some(recorded) = record.stage(stage.stage) else { continue };
        let is_whole = recorded.starts.iter().any(|start| start.host == plan.host);
        let mut of_stage: BTreeMap<u32, (FileShare, Leg<'a>)> = populated(stage)
            .map(|(number, _, leg, share)| (number, (share, Leg { is_whole, ..leg })))
            .collect();
        let own = recorded.samples().iter().filter(|sample| sample.host == plan.host);
        for worker in own.flat_map(|sample| &sample.workers) {
            let Some((_, leg)) = of_stage.get_mut(&worker.worker) else { continue };
            for done in &worker.ops {
                let place = place(&leg.population, done.op)
                    .ok_or_else(|| damaged("a population did what is not in its mix"))?;
                let count = done.ios.saturating_add(done.errors);
                leg.counts[place] = leg.counts[place].saturating_add(count);
                leg.errors = leg.errors.saturating_add(done.errors);
            }
        }
        for (share, leg) in of_stage.into_values() {
            let key = [u64::from(share.tree), share.first, share.step, share.count];
            all.entry(key).or_insert_with(|| (share, Vec::new())).1.push(leg);
        }
    }
    Ok(all.into_values().collect())
}

/// The place of an operation among those that a stage counts.
fn place(population: &Population, op: model::Op) -> Option<usize> {
    match population.stage {
        PopulationStage::Fill => (op == model::Op::Create).then_some(0),
        PopulationStage::Live => (population.mix.weight(op) > 0).then(|| population.mix.place(op)),
    }
}

/// Looks at all populations of `plan`, which has no parts.
pub(super) fn audit(
    record: &Record,
    plan: &HostPlan,
    options: &AuditOptions<'_>,
    observers: Observers<'_>,
) -> Result<Audit, AuditError> {
    can_be_audited(record, plan, options)?;
    let legs = legs(record, plan)?;
    if legs.is_empty() {
        return Err(AuditError::Usage("no stage with files began before the run ended".to_owned()));
    }
    let mut populations: Vec<PopulationAudit> = Vec::new();
    let mut findings = Findings { kept: options.kept, all: Vec::new() };
    let mut by_ledger = ByLedger::default();
    let Observers { progress, tick } = observers;
    let mut replayed = 0;
    for (number, tree) in (0..).zip(&plan.trees) {
        let shares: Vec<_> = legs.iter().filter(|(share, _)| share.tree == number).collect();
        if shares.is_empty() {
            continue;
        }
        progress.at(&tree.path);
        let here = options.targets.get(tree.target as usize).map(String::as_str);
        let (path, root, _marker) = places::open_tree(plan, tree, here)?;
        let path = path.to_string_lossy().into_owned();
        let mut all = PopulationAudit { path: path.clone(), ..PopulationAudit::default() };
        let place = Place { plan, tree, root: root.as_fd(), path: &path };
        for (share, legs) in shares {
            let mut tick = |operations: u64| {
                replayed += operations;
                progress.step();
                tick(AuditStep::Replayed(replayed));
            };
            let mut told = Told {
                audit: &mut all,
                number: populations.len(),
                findings: &mut findings,
                by_ledger: &mut by_ledger,
            };
            worker(&place, *share, legs, &mut told, &mut tick)?;
        }
        strays::each(root.as_fd(), tree, &mut || progress.step(), &mut |name| {
            let found = "something that the run did not make".to_owned();
            let expected = "nothing".to_owned();
            findings.add(&mut all, FileDamage::Stray, format!("{path}/{name}"), expected, found);
        });
        populations.push(all);
    }
    let ledger_of = |stage| by_ledger::of_record(record, plan.host, stage);
    let is_any = by_ledger.settle(&ledger_of, &mut populations, &mut findings);
    let mut notes = notes(record, plan, &populations, &legs);
    if is_any {
        notes.push(
            "operations of some workers failed: number, names and lengths of their files were \
             compared with the sums of the ledger on record, their bytes were not compared"
                .to_owned(),
        );
    }
    Ok(Audit {
        basis: options.basis,
        block: plan.engine.contents.grain,
        acknowledged_writes: 0,
        files: Vec::new(),
        findings: Vec::new(),
        populations,
        file_findings: findings.all,
        notes,
    })
}

/// Refuses what no record can answer.
fn can_be_audited(
    record: &Record,
    plan: &HostPlan,
    options: &AuditOptions<'_>,
) -> Result<(), AuditError> {
    if options.basis == Basis::Durable {
        let text = "which names of a population outlive a power cut, no file system promises; \
                    leave out --acknowledged durable";
        return Err(AuditError::Usage(text.to_owned()));
    }
    places::are_all_named(plan, options.targets)?;
    plan.check().map_err(damaged)?;
    if !plan.engine.contents.verify && record.plan.keep.full.is_some() {
        let text = "the run kept its intervals for a time alone ([keep]), so that the operations \
                    of its workers are not on record; run it without keep.full, or with \
                    contents.verify = true";
        return Err(AuditError::Usage(text.to_owned()));
    }
    Ok(())
}

/// The first damaged files.
struct Findings {
    kept: usize,
    all: Vec<FileFinding>,
}

impl Findings {
    fn add(
        &mut self,
        audit: &mut PopulationAudit,
        kind: FileDamage,
        path: String,
        expected: String,
        found: String,
    ) {
        let place = FileDamage::ALL.iter().position(|other| *other == kind).unwrap_or_default();
        audit.damaged[place] += 1;
        if self.all.len() < self.kept {
            self.all.push(FileFinding { kind, path, expected, found });
        }
    }
}

/// Where a population is.
struct Place<'a> {
    plan: &'a HostPlan,
    tree: &'a Tree,
    root: BorrowedFd<'a>,
    path: &'a str,
}

impl Place<'_> {
    fn open(&self, path: &mut PathBuffer, kind: Kind, number: u64) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::openat(self.root, path.of(self.tree, kind, number), flags, Mode::empty())
    }
}

/// Where is told what was found of a worker's files.
struct Told<'a> {
    audit: &'a mut PopulationAudit,
    /// The number of the population that it is of.
    number: usize,
    findings: &'a mut Findings,
    by_ledger: &'a mut ByLedger,
}

/// Looks at the files of one worker.
fn worker(
    place: &Place<'_>,
    share: FileShare,
    legs: &[Leg<'_>],
    told: &mut Told<'_>,
    tick: &mut dyn FnMut(u64),
) -> Result<(), AuditError> {
    let Place { plan, tree, root, path } = *place;
    let Told { audit, number, findings, by_ledger } = told;
    let recorded: u64 = legs.iter().map(Leg::done).fold(0, u64::saturating_add);
    audit.operations = audit.operations.saturating_add(recorded);
    audit.names = audit.names.saturating_add(share.count);
    // What a host did between its loss and its return is on no record.
    let is_broken = legs.iter().rev().skip(1).any(|leg| !leg.is_whole);
    let is_whole = legs.last().is_some_and(|leg| leg.is_whole);
    let stage = by_ledger.enter(legs);
    let has_failed = legs.iter().any(|leg| leg.errors > 0);
    if is_broken || (has_failed && !is_whole) {
        by_ledger.miss(stage);
        audit.unsure = audit.unsure.saturating_add(share.count);
        return Ok(());
    }
    let keeps_contents = plan.engine.contents.verify;
    let standing = Standing::of(root, tree, share, &mut || tick(0));
    if has_failed {
        let found = standing.files.sum(share);
        by_ledger.found(stage, Found { population: *number, path, names: share.count, found });
        return Ok(());
    }
    let mut after =
        |keeps_contents| Course::after(tree, share, legs, keeps_contents, tick).map_err(damaged);
    let fit = if is_whole {
        Fit::default()
    } else {
        let most = fit::most_beyond(recorded);
        let least = fit::least(after(false)?, &standing, most, &mut |_| {});
        fit::find(after(keeps_contents)?, &standing, most, least)
    };
    let mut course = after(keeps_contents)?;
    for _ in 0..fit.beyond {
        let Some(step) = course.next() else { break };
        course.take(&step);
    }
    match is_whole {
        true => by_ledger.drawn(stage, course.ledger().sum(share)),
        false => by_ledger.miss(stage),
    }
    audit.beyond += fit.beyond;
    audit.expected += course.ledger().living();
    let contents = keeps_contents.then(|| HostContents::new(plan));
    let survivors = contents.as_ref().map(|contents| Survivors::new(contents, legs));
    let look = Look { place, share, course: &course, standing: &standing, fit: &fit };
    look.all(survivors, audit, findings, tick);
    Ok(())
}

/// What is held against what.
struct Look<'a> {
    place: &'a Place<'a>,
    share: FileShare,
    course: &'a Course<'a>,
    standing: &'a Standing,
    fit: &'a Fit,
}

/// What is wrong with a name: the kind, what was expected and what was found.
type Wrong = (FileDamage, String, String);

impl Look<'_> {
    fn all(
        &self,
        mut survivors: Option<Survivors<'_>>,
        audit: &mut PopulationAudit,
        findings: &mut Findings,
        tick: &mut dyn FnMut(u64),
    ) {
        let mut path = PathBuffer::new();
        for index in 0..self.share.count {
            let expected = self.course.ledger().get(index);
            let wrong = self.by_name(index, expected).or_else(|| {
                let there = self.standing.files.get(index)?;
                let wrong = self.by_bytes(index, there, survivors.as_mut()?, &mut path);
                tick(0);
                wrong
            });
            match wrong {
                None => audit.good += u64::from(expected.is_some()),
                Some((kind, wanted, found)) => {
                    let name = match self.standing.files.get(index).or(expected) {
                        Some(Known { renamed: true, .. }) => Kind::Renamed,
                        _ => Kind::File,
                    };
                    let name = path.of(self.place.tree, name, self.share.number(index));
                    let at = Path::new(self.place.path).join(&*name.to_string_lossy());
                    let at = at.to_string_lossy().into_owned();
                    findings.add(audit, kind, at, wanted, found);
                }
            }
        }
        if let Some(survivors) = survivors {
            audit.compared = Bytes(audit.compared.0.saturating_add(survivors.compared));
        }
    }

    /// What is wrong with the file of a name without its bytes.
    fn by_name(&self, index: u64, expected: Option<Known>) -> Option<Wrong> {
        let words = |known: Known| {
            let name = if known.renamed { " under its second name" } else { "" };
            format!("a file of {} bytes{name}", known.length)
        };
        let wanted = expected.map_or_else(|| "no file".to_owned(), words);
        match self.standing.odd.get(&index) {
            Some(Odd::Twice) => {
                return Some((FileDamage::Stray, wanted, "a file under both names".to_owned()));
            }
            Some(Odd::NoFile) => {
                return Some((FileDamage::Stray, wanted, "something else than a file".to_owned()));
            }
            Some(Odd::Silent(error)) => {
                return Some((FileDamage::Unreadable, wanted, error.to_string()));
            }
            None => {}
        }
        let there = self.standing.files.get(index);
        // A create that was cut off has left its file, or an append a part of its bytes.
        if there == expected || self.fit.cut_off == Some(index) {
            return None;
        }
        let kind = match (expected, there) {
            (Some(_), None) => FileDamage::Missing,
            (None, Some(_)) => FileDamage::Stray,
            (Some(known), Some(there)) if known.renamed != there.renamed => FileDamage::Name,
            _ => FileDamage::Length,
        };
        Some((kind, wanted, there.map_or_else(|| "no file".to_owned(), words)))
    }

    /// What is wrong with the bytes of the file of a name.
    fn by_bytes(
        &self,
        index: u64,
        there: Known,
        survivors: &mut Survivors<'_>,
        path: &mut PathBuffer,
    ) -> Option<Wrong> {
        let kind = if there.renamed { Kind::Renamed } else { Kind::File };
        let number = self.share.number(index);
        let mut candidates = vec![self.course.pieces(index)];
        candidates.extend(self.fit.others.get(&index).into_iter().flatten().cloned());
        let wanted = || "the bytes that were written last".to_owned();
        let checked = self
            .place
            .open(path, kind, number)
            .and_then(|file| survivors.check(file.as_fd(), number, there.length, &candidates));
        match checked {
            Ok(None) => None,
            Ok(Some(first)) => {
                Some((FileDamage::Content, wanted(), format!("others from byte {first} on")))
            }
            Err(error) => Some((FileDamage::Unreadable, wanted(), error.to_string())),
        }
    }
}

/// What a reader of the figures has to know.
fn notes(
    record: &Record,
    plan: &HostPlan,
    populations: &[PopulationAudit],
    legs: &[(FileShare, Vec<Leg<'_>>)],
) -> Vec<String> {
    let mut notes = Vec::new();
    if !plan.engine.contents.verify {
        notes.push(
            "the bytes of the files were not compared: only a run with contents.verify = true \
             writes bytes that are known afterwards"
                .to_owned(),
        );
    }
    let unsure: u64 = populations.iter().map(|population| population.unsure).sum();
    if unsure > 0 {
        notes.push(format!(
            "{unsure} names were not looked at: operations of their workers failed and the run \
             was cut off, or a stage before the last is not whole on record"
        ));
    }
    let open = legs.iter().filter_map(|(_, legs)| legs.last()).find(|leg| !leg.is_whole);
    if let Some(leg) = open {
        notes.push(format!(
            "the run was cut off in stage {}: the files must be as they were after one of the \
             operations that follow those on record, and the one after it may be half done",
            leg.stage
        ));
    }
    if record.end.is_none() && open.is_none() {
        notes.push(
            "the run was killed after its last recorded stage: if it had begun to remove its \
             files, they count as missing"
                .to_owned(),
        );
    }
    notes.push(
        "acknowledged means completed: a power cut may take completed operations that were not \
         yet durable"
            .to_owned(),
    );
    notes
}
