//! Jobs of fio that run at the same time, as workloads of one group with their layout.

use super::asked::asked;
use super::job::{Engine, Job};
use super::layout::layouts;
use super::priorities;
use super::targets::{shared_writers, targets};
use super::together::{self, Flow};
use super::unit::{Unit, name, note, units, workers_text};
use crate::draft::{Fields, Group, Taken, Work, quoted};
use crate::loss::{Losses, Verdict};

/// The group of these jobs.
pub fn group(jobs: &[Job], losses: &mut Losses, taken: &mut Taken) -> Group {
    let mut group = Group {
        name: jobs.first().map(|job| job.name.clone()).unwrap_or_default(),
        ..Group::default()
    };
    let units = units(jobs, losses);
    targets(&units, losses, &mut group);
    super::tables::differing(jobs, losses);
    super::tables::engine(jobs, losses, &mut group);
    super::tables::contents(jobs, shared_writers(&units), losses, &mut group);
    if jobs.iter().any(|job| matches!(job.engine_kind(), Engine::Metadata(_))) {
        metadata(&units, losses, &mut group, taken);
        return group;
    }
    super::tables::stages(jobs, losses, &mut group);
    together::delays(jobs, losses, &mut group);
    layouts(&units, losses, &mut group, taken);
    let flows: Vec<Flow<'_>> =
        units.iter().map(|unit| Flow { jobs: &unit.jobs, workers: unit.count() }).collect();
    together::flows(&flows, losses, &mut group);
    for (unit, work) in units.iter().zip(&group.works) {
        group.asked.extend(unit.jobs.iter().filter_map(|job| asked(job, &work.name)));
    }
    let jobs: Vec<&Job> = units.iter().map(|unit| unit.jobs[0]).collect();
    priorities::split(&jobs, losses, &mut group, taken);
    group
}

/// Jobs of operations on files.
fn metadata(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group, taken: &mut Taken) {
    group.layout.text("kind", "tree", units[0].jobs[0].source("engine", losses));
    let unit = &units[0];
    for other in units.iter().skip(1) {
        let needs = "operations on files beside other workloads in one group";
        losses.worsen(other.jobs[0].id("engine"), Verdict::refused(needs));
    }
    let job = unit.jobs[0];
    let count = job.number("files").unwrap_or(1).saturating_mul(unit.count());
    group.tree.set("files", count.clamp(1, 1 << 40).to_string(), job.source("files", losses));
    group.tree.set("per_directory", count.clamp(1, 1 << 40).to_string(), "");
    let Engine::Metadata(operations) = job.engine_kind() else { return };
    let mut fields = Fields::default();
    fields.text("kind", "metadata", job.source("engine", losses));
    let words: Vec<String> = operations.split(' ').map(quoted).collect();
    fields.set("operations", format!("[{}]", words.join(", ")), job.source("engine", losses));
    fields.set("workers", workers_text(unit), job.source("numjobs", losses));
    let empty = Verdict::harmless("the files are made empty, as by this engine");
    losses.replace(job.id("filesize"), empty);
    group.works.push(Work { name: name(unit, taken), note: note(unit), fields });
}
