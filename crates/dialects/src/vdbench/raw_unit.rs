//! A workload of a run on storage: what its requests are.

use super::loops::Point;
use super::run::{Rate, Run};
use super::storage::{Open, Seek, Storage, Workload};
use crate::draft::{Fields, share, size};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;

/// A workload with the storage that it loads.
pub(super) struct Unit<'a> {
    pub(super) workload: &'a Workload,
    pub(super) storages: Vec<usize>,
    pub(super) fields: Fields,
}

/// Workloads that are alike but for their storage are one. A rate of their run goes in equal parts
/// to each: then all of them are alike, or each stays as it is.
pub(super) fn joined<'a>(all: Vec<Unit<'a>>, is_fixed: bool) -> Vec<Unit<'a>> {
    let mut of: Vec<Vec<usize>> = Vec::new();
    for (number, unit) in all.iter().enumerate() {
        let alike = |other: &usize| {
            let other = &all[*other];
            other.workload.skew.is_none()
                && unit.workload.skew.is_none()
                && other.workload.rate.is_none()
                && !other.storages.iter().any(|number| unit.storages.contains(number))
                && other.fields.agrees(&unit.fields)
        };
        match of.iter_mut().find(|twins| twins.iter().all(alike)) {
            Some(twins) => twins.push(number),
            None => of.push(vec![number]),
        }
    }
    if is_fixed && of.len() > 1 {
        return all;
    }
    let storages: Vec<Vec<usize>> = of
        .iter()
        .map(|twins| twins.iter().flat_map(|number| all[*number].storages.clone()).collect())
        .collect();
    let firsts = all.into_iter().enumerate();
    let firsts = firsts.filter(|(number, _)| of.iter().any(|twins| twins[0] == *number));
    firsts.zip(storages).map(|((_, unit), storages)| Unit { storages, ..unit }).collect()
}

pub(super) fn fields(
    workload: &Workload,
    run: &Run,
    point: &Point,
    sweep: &Fields,
    storages: &[Storage],
    of: &[usize],
    losses: &mut Losses,
) -> Fields {
    let mut fields = Fields::default();
    if sweep.get("block_size").is_none() {
        let sizes = point.sizes.as_ref().or(workload.sizes.as_ref());
        let source = sizes.map(|got| losses.source(got.id)).unwrap_or_default();
        fields.text("block_size", sizes.map_or("4KiB", |got| got.value.text.as_str()), source);
    }
    seeks(workload, point, losses, &mut fields);
    if sweep.get("read").is_none() {
        let read = point.read.as_ref().or(workload.read.as_ref());
        let source = read.map(|got| losses.source(got.id)).unwrap_or_default();
        fields.text("read", &share(read.map_or(1_000_000, |got| got.value)), source);
    }
    let own = of.iter().find_map(|number| storages[*number].range.as_ref());
    if let Some(got) = workload.range.as_ref().or(own) {
        fields.text("range", &got.value, losses.source(got.id));
    }
    if let Some(got) = workload.streams.as_ref().filter(|got| got.value > 1) {
        fields.set("streams", got.value.to_string(), losses.source(got.id));
    }
    if sweep.get("depth").is_none() {
        let own = of.iter().find_map(|number| storages[*number].threads.as_ref());
        let depth = point.threads.as_ref().or(workload.threads.as_ref()).or(own);
        let source = depth.map(|got| losses.source(got.id)).unwrap_or_default();
        let many = depth.map_or(8, |got| got.value).clamp(1, 4_096);
        fields.set("depth", many.to_string(), source);
    }
    if run.arrivals.as_ref().is_none_or(|got| got.value) && is_fixed(workload, run) {
        let source = Got::source(&run.arrivals, losses);
        fields.text("arrivals", "poisson", source);
    }
    let opens = opens(run, workload, storages, of);
    if let Some(got) = opens.iter().find_map(|open| open.durable.as_ref()) {
        fields.set("dsync", "true", losses.source(got.id));
    }
    if let Some(got) = &workload.rate {
        let rate = (got.value.round() as u64).max(1).to_string();
        fields.set("rate", rate, losses.source(got.id));
    }
    fields
}

fn is_fixed(workload: &Workload, run: &Run) -> bool {
    let fixed = |got: &Got<Vec<Rate>>| got.value.iter().all(|rate| *rate != Rate::Max);
    workload.rate.is_some() || run.rates.as_ref().is_some_and(fixed)
}

fn seeks(workload: &Workload, point: &Point, losses: &mut Losses, fields: &mut Fields) {
    let seek = point.seek.as_ref().or(workload.seek.as_ref());
    let source = seek.map(|got| losses.source(got.id)).unwrap_or_default();
    match seek.map_or(Seek::Random, |got| got.value) {
        Seek::Random => fields.text("access", "random", source),
        Seek::Sequential | Seek::UntilTheEnd => {
            fields.text("access", "sequential", source);
            if let Some(got) = workload.stride.as_ref().filter(|got| got.value > 0) {
                fields.set("stride", size(got.value.min(1 << 50)), losses.source(got.id));
            }
        }
        Seek::Partly(part) => {
            fields.text("access", "random", source.clone());
            fields.text("random", &share(part), source);
        }
    }
    if let (Some(got), Some("\"random\"")) = (&workload.stride, fields.get("access")) {
        losses.worsen(got.id, Verdict::refused("strides of requests at random places"));
    }
}

pub(super) fn opens<'a>(
    run: &'a Run,
    workload: &'a Workload,
    storages: &'a [Storage],
    of: &[usize],
) -> Vec<&'a Open> {
    let own = of.iter().filter_map(|number| storages.get(*number)).map(|storage| &storage.open);
    [&run.open, &workload.open].into_iter().chain(own).collect()
}
