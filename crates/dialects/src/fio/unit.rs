//! A workload: a job, or several that are alike.

use super::job::Job;
use super::place::{Bytes, Place, bytes, files, place, target, workers};
use super::work::fields;
use super::{priorities, together};
use crate::draft::{Fields, Taken, plain_name, unique};
use crate::loss::{Losses, OptionId};

/// A job, or several that are alike but for their names.
pub(super) struct Unit<'a> {
    pub(super) jobs: Vec<&'a Job>,
    pub(super) fields: Fields,
    pub(super) place: Place,
    /// How many files each worker has, or all of them share.
    pub(super) files: u64,
    pub(super) bytes: Bytes,
    /// The targets that it loads.
    pub(super) targets: Vec<String>,
    /// Workers of all jobs; `None` is as many as there are CPUs.
    pub(super) workers: Option<u64>,
}

/// Jobs that are alike become one.
pub(super) fn units<'a>(jobs: &'a [Job], losses: &mut Losses) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::new();
    let delayed = together::delayed(jobs);
    for job in jobs {
        let mut fields = fields(job, losses);
        if let Some(delayed) = delayed {
            together::curve(job, delayed, losses, &mut fields);
        }
        let unit = Unit {
            jobs: vec![job],
            fields,
            place: place(job),
            files: files(job),
            bytes: bytes(job),
            targets: target(job),
            workers: workers(job),
        };
        match units.iter_mut().find(|other| can_join(other, &unit)) {
            Some(twin) => twin.join(unit),
            None => units.push(unit),
        }
    }
    units
}

fn can_join(one: &Unit<'_>, other: &Unit<'_>) -> bool {
    let same_kind = match (&one.place, &other.place) {
        (Place::Own, Place::Own) => one.files == other.files && one.targets == other.targets,
        // Each worker would load the devices of both.
        (a, b) => a == b,
    };
    same_kind
        && one.bytes == other.bytes
        && one.fields.agrees(&other.fields)
        && one.workers.is_some()
        && other.workers.is_some()
        && one.flow() == other.flow()
        && ![one, other].iter().any(|unit| priorities::asks(unit.jobs[0]))
        && one.jobs[0].increment.is_none()
        && other.jobs[0].increment.is_none()
}

impl<'a> Unit<'a> {
    fn join(&mut self, other: Unit<'a>) {
        self.jobs.extend(other.jobs);
        self.workers = self.workers.zip(other.workers).map(|(a, b)| a.saturating_add(b));
    }

    pub(super) fn id(&self) -> Option<OptionId> {
        self.jobs[0].first_id(&["filename", "directory"])
    }

    /// The weight of each of its workers, and the group that it is in.
    fn flow(&self) -> [Option<u64>; 2] {
        let weight = self.jobs[0].number("flow").filter(|weight| *weight > 0);
        [weight, self.jobs[0].number("flow_id")]
    }

    /// Whether it checks what it writes.
    pub(super) fn verifies(&self) -> bool {
        let checks = self.jobs[0].is("verify");
        checks && self.jobs[0].changes()
    }

    /// How many workers, where a number is needed.
    pub(super) fn count(&self) -> u64 {
        self.workers.unwrap_or(1)
    }
}

pub(super) fn name(unit: &Unit<'_>, taken: &mut Taken) -> String {
    unique(&plain_name(&unit.jobs[0].name), taken)
}

pub(super) fn note(unit: &Unit<'_>) -> String {
    let mut notes: Vec<String> = Vec::new();
    for job in &unit.jobs {
        notes.extend(job.text("description").filter(|text| !text.is_empty()).map(str::to_owned));
    }
    notes.dedup();
    if unit.jobs.len() > 1 {
        let names: Vec<&str> = unit.jobs.iter().map(|job| job.name.as_str()).take(8).collect();
        let more = if unit.jobs.len() > 8 { ", …" } else { "" };
        notes.push(format!("{} jobs that are alike: {}{more}.", unit.jobs.len(), names.join(", ")));
    }
    notes.join("\n")
}

pub(super) fn workers_text(unit: &Unit<'_>) -> String {
    unit.workers.map_or_else(|| "\"cpus\"".to_owned(), |count| count.min(65_536).to_string())
}
