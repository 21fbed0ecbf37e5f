//! A workload of a run on storage: what its requests are.

use super::definition::{Definition, opened};
use super::values::{millions, requests};
use crate::draft::{Fields, share, size};
use crate::loss::{Losses, Verdict};
use crate::rows::{Value, Values};

/// A workload with the storage that it loads.
pub(super) struct Unit<'a> {
    pub(super) workload: &'a Definition,
    pub(super) storages: Vec<usize>,
    pub(super) fields: Fields,
}

/// Workloads that are alike but for their storage are one. A rate of their run goes in equal parts
/// to each: then all of them are alike, or each stays as it is.
pub(super) fn joined<'a>(all: Vec<Unit<'a>>, is_fixed: bool) -> Vec<Unit<'a>> {
    let mut of: Vec<Vec<usize>> = Vec::new();
    let has = |unit: &Unit<'_>, slot| unit.workload.values.id(slot).is_some();
    let is_alone = |unit: &Unit<'_>| has(unit, "skew") || has(unit, "own_rate");
    let alone: Vec<bool> = all.iter().map(is_alone).collect();
    for (number, unit) in all.iter().enumerate() {
        let alike = |twin: &usize| {
            let other = &all[*twin];
            !alone[*twin]
                && !alone[number]
                && !other.storages.iter().any(|number| unit.storages.contains(number))
                && other.fields.agrees(&unit.fields)
                // What a whole run has is no field of a workload.
                && other.workload.direct.is_some() == unit.workload.direct.is_some()
                && other.workload.values.text("seek") == unit.workload.values.text("seek")
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

/// A workload of a run, with the values that the storage gives to it.
pub(super) struct Loaded<'a> {
    pub(super) workload: &'a Definition,
    pub(super) storages: Vec<usize>,
    of: Vec<&'a Definition>,
    values: Values,
}

impl<'a> Loaded<'a> {
    pub(super) fn new(
        workload: &'a Definition,
        numbers: Vec<usize>,
        storages: &'a [Definition],
        losses: &mut Losses,
    ) -> Loaded<'a> {
        let of: Vec<&Definition> = numbers.iter().map(|number| &storages[*number]).collect();
        let mut values = workload.values.clone();
        for storage in &of {
            ["threads", "range"].iter().for_each(|slot| values.take(slot, &storage.values));
        }
        // A workload has one range, and no place outside of it may be written.
        let range = |storage: &'a Definition| storage.values.text("range");
        let differs = of.iter().any(|storage| range(storage) != range(of[0]));
        if differs && workload.values.id("range").is_none() {
            let needs = "ranges that differ between the storages of a workload; write one for each";
            of.iter().for_each(|one| one.worsen("range", losses, Verdict::refused(needs)));
        }
        Loaded { workload, storages: numbers, of, values }
    }
}

/// The fields of a workload at a point of a run.
pub(super) fn fields(
    loaded: &Loaded<'_>,
    run: &Definition,
    point: &Values,
    sweep: &Fields,
    losses: &mut Losses,
) -> Fields {
    let mut values = point.clone();
    values.complete(&loaded.values);
    let mut fields = Fields::default();
    seeks(&values, loaded.workload, losses, &mut fields);
    let source = |slot| values.source(slot, losses);
    if sweep.get("block_size").is_none() {
        let sizes = requests(&values).map_or_else(|| "4KiB".to_owned(), |sizes| sizes.text);
        fields.text("block_size", &sizes, source("xfersize"));
    }
    if sweep.get("read").is_none() {
        let read = share(values.number("read").unwrap_or(1_000_000));
        fields.text("read", &read, source("read"));
    }
    if let Some(range) = values.text("range") {
        fields.text("range", range, source("range"));
    }
    if let Some(streams) = values.number("streams").filter(|streams| *streams > 1) {
        fields.set("streams", streams.to_string(), source("streams"));
    }
    if sweep.get("depth").is_none() {
        let many = values.number("threads").unwrap_or(8).clamp(1, 4_096);
        fields.set("depth", many.to_string(), source("threads"));
    }
    let own_rate = values.number("own_rate");
    if run.values.flag("arrivals").unwrap_or(true) && (own_rate.is_some() || is_fixed(&run.values))
    {
        fields.text("arrivals", "poisson", run.values.source("arrivals", losses));
    }
    let ways: Vec<_> = loaded.of.iter().map(|storage| [run, loaded.workload, *storage]).collect();
    if let Some(rate) = own_rate {
        fields.set("rate", millions(rate).max(1).to_string(), source("own_rate"));
    }
    if let Some(id) = opened(&ways, |one| one.durable, losses) {
        fields.set("dsync", "true", losses.source(id));
    }
    fields
}

/// Whether all points of a run have a rate.
pub(super) fn is_fixed(run: &Values) -> bool {
    let is_rate = |rate: &Value| matches!(rate, Value::Number(_));
    run.list("rate").is_some_and(|all| all.iter().all(is_rate))
}

fn seeks(values: &Values, workload: &Definition, losses: &mut Losses, fields: &mut Fields) {
    let source = values.source("seek", losses);
    let random = match values.text("seek") {
        Some(_) => 0,
        None => values.number("seek").unwrap_or(1_000_000),
    };
    fields.text("access", if random == 0 { "sequential" } else { "random" }, source.clone());
    let stride = workload.values.number("stride").filter(|_| random == 0);
    match (stride, random) {
        (Some(stride), _) if stride > 0 => {
            let from = workload.values.source("stride", losses);
            fields.set("stride", size(stride.min(1 << 50)), from);
        }
        (_, 0) => {}
        (_, random) => {
            if random < 1_000_000 {
                fields.text("random", &share(random), source);
            }
            let needs = "strides of requests at random places";
            workload.worsen("stride", losses, Verdict::refused(needs));
        }
    }
}
