//! Jobs of fio that run at the same time, as workloads of one group with their layout.

use super::job::{Engine, Job};
use super::layout::layouts;
use super::priorities;
use super::targets::{shared_writers, targets};
use super::together::{self, Flow};
use super::unit::{Unit, name, note, units, workers_text};
use super::work::of;
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
    let jobs: Vec<&Job> = units.iter().map(|unit| unit.jobs[0]).collect();
    priorities::split(&jobs, losses, &mut group, taken);
    group
}

/// Jobs of operations on files.
fn metadata(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group, taken: &mut Taken) {
    group.layout.text("kind", "tree", of(&units[0].jobs[0].engine, losses));
    let unit = &units[0];
    for other in units.iter().skip(1) {
        if let Some(got) = &other.jobs[0].engine {
            let needs = "operations on files beside other workloads in one group";
            losses.worsen(got.id, Verdict::refused(needs));
        }
    }
    let job = unit.jobs[0];
    let count = job.files.as_ref().map_or(1, |got| got.value).saturating_mul(unit.count());
    group.tree.set("files", count.clamp(1, 1 << 40).to_string(), of(&job.files, losses));
    group.tree.set("per_directory", count.clamp(1, 1 << 40).to_string(), "");
    let Engine::Metadata(operations) = job.engine_kind() else { return };
    let mut fields = Fields::default();
    fields.text("kind", "metadata", of(&job.engine, losses));
    let words: Vec<String> = operations.iter().map(|word| quoted(word)).collect();
    fields.set("operations", format!("[{}]", words.join(", ")), of(&job.engine, losses));
    fields.set("workers", workers_text(unit), of(&job.numjobs, losses));
    if let Some(got) = &job.filesize {
        losses.replace(got.id, Verdict::harmless("the files are made empty, as by this engine"));
    }
    group.works.push(Work { name: name(unit, taken), note: note(unit), fields });
}
