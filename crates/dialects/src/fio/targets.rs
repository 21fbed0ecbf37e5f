//! Where the jobs of a group go, and which of them meet there.

use super::job::{Engine, Job};
use super::place::{Place, has_characters, place, target};
use super::priorities;
use super::unit::Unit;
use crate::draft::Group;
use crate::loss::{Losses, Verdict};

/// Where the group goes, and what its names became.
pub(super) fn targets(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group) {
    let mut all: Vec<String> = Vec::new();
    for job in units.iter().flat_map(|unit| &unit.jobs) {
        let own = target(job);
        all.extend(own.into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
        for id in job.named_by.iter().copied().chain(job.id("filename")) {
            losses.decide(id, of_names(job));
        }
        if job.filename.as_ref().is_some_and(|names| has_twins(names)) {
            let why = "a file that is named twice is one here; fio takes it for two";
            losses.worsen(job.id("filename"), Verdict::near(why));
        }
        if place(job) != Place::Own && !matches!(job.engine_kind(), Engine::Metadata(_)) {
            losses.replace(job.id("files"), Verdict::harmless("its names say how many there are"));
        }
    }
    group.targets = all;
    let devices = units.iter().filter(|unit| matches!(unit.place, Place::Devices(_))).count();
    if devices > 0
        && units.iter().any(|unit| unit.place != units[0].place)
        && !are_apart(units, group)
    {
        let needs = "targets of one workload among several that run together, of which some have \
                     no path here";
        for id in units.iter().skip(1).map(Unit::id) {
            losses.worsen(id, Verdict::refused(needs));
        }
    }
    group.targets_from = units.first().map(|unit| losses.source(unit.id())).unwrap_or_default();
}

/// Whether each unit loads targets of its own, so that one leaves out what another has. Files that
/// are shared by some have one layout for all; devices are loaded as they are.
pub(super) fn are_apart(units: &[Unit<'_>], group: &Group) -> bool {
    let differs = units.iter().any(|unit| unit.targets.len() != group.targets.len());
    let is_device = |unit: &Unit<'_>| matches!(unit.place, Place::Devices(_));
    let meets = |one: &Unit<'_>, other: &Unit<'_>| {
        one.targets != other.targets && one.targets.iter().any(|path| other.targets.contains(path))
    };
    differs
        && units.iter().all(|unit| !unit.targets.is_empty())
        && units.iter().enumerate().all(|(number, unit)| {
            units[..number].iter().all(|other| is_device(unit) || !meets(unit, other))
        })
}

fn has_twins(names: &[String]) -> bool {
    (1..names.len()).any(|number| names[..number].contains(&names[number]))
}

fn of_names(job: &Job) -> Verdict {
    match place(job) {
        Place::Devices(names) if names.is_empty() => {
            Verdict::near("the block device that stands for it; name it with `--target`")
        }
        Place::Files(_) if job.away.is_some() => {
            Verdict::near("a file of Plimsoll's own on a mount of that volume")
        }
        Place::Devices(_) if has_characters(job) => Verdict::near(
            "the block device of this namespace; `/dev/ng…` takes commands past the block layer",
        ),
        Place::Devices(_) if job.changes() => {
            Verdict::same("target; `--destroy-data DEVICE` gives it up")
        }
        Place::Devices(_) => Verdict::same("target; `--existing` reads it as it is"),
        Place::Nothing => Verdict::near("`backend = \"null\"`: not even a system call"),
        Place::Files(_) if job.direction().reads && !job.changes() => Verdict::near(
            "a file of Plimsoll's own, in `plimsoll-data` beside it, which `prepare` writes; what \
             that file holds is neither read nor touched",
        ),
        Place::Own | Place::Files(_) => Verdict::near(
            "a file of Plimsoll's own, in `plimsoll-data` beside it; what that file holds is not \
             touched",
        ),
    }
}

/// Whether several workers write the same bytes.
pub(super) fn shared_writers(units: &[Unit<'_>]) -> bool {
    let named = |unit: &&Unit<'_>| unit.place != Place::Own && unit.place != Place::Nothing;
    let named: Vec<&Unit<'_>> = units.iter().filter(named).collect();
    let changes = |unit: &Unit<'_>| unit.jobs[0].changes();
    let alone = |unit: &Unit<'_>| unit.jobs[0].increment.is_some() || unit.count() <= 1;
    // A stride may end in the bytes of the next workload.
    let strides = units.len() > 1 && units.iter().any(|unit| unit.jobs[0].direction().behind != 0);
    // Workers of one workload that checks what it writes have a part each.
    let verifies = |unit: &Unit<'_>| unit.verifies() && unit.jobs[0].increment.is_none();
    let splits = |unit: &&Unit<'_>| changes(unit) && priorities::asks(unit.jobs[0]);
    strides
        || named.iter().any(splits)
        || named.iter().any(|unit| changes(unit) && !alone(unit) && !verifies(unit))
        || named.iter().enumerate().any(|(number, unit)| {
            let meets = |other: &&&Unit<'_>| {
                let is_same = match (&other.place, &unit.place) {
                    (Place::Devices(a), Place::Devices(b)) => a.iter().any(|name| b.contains(name)),
                    (a, b) => a == b,
                };
                is_same && (changes(other) || changes(unit))
            };
            named[..number].iter().any(|other| meets(&other))
        })
}
