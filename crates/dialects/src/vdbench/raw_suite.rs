//! A run on storage definitions, as groups of workloads.

use super::definition::{Definition, Part, opened};
use super::loops::points;
use super::raw_stages::stages;
use super::raw_targets::{apart_targets, is_device, targets};
use super::raw_unit::{Loaded, Unit, fields, joined};
use super::shares::{at_full_speed, shares, whole};
use crate::apart::selected;
use crate::draft::{Fields, Group, Taken, Work, plain_name, unique};
use crate::loss::{Losses, Verdict};
use crate::rows::Values;

/// The groups of a run: one, or one for each point that no axis of a sweep can say.
pub fn groups(
    run: &Definition,
    storages: &[Definition],
    workloads: &[Definition],
    losses: &mut Losses,
    taken: &mut Taken,
) -> Vec<Group> {
    let asked = |workload: &&Definition| run.asks("workloads", &workload.name);
    let mut used: Vec<&Definition> = workloads.iter().filter(asked).collect();
    let has = |of: &Definition, slot: &str| of.values.id(slot).is_some();
    // A run that names storage alone has vdbench's own workload.
    let plain = Definition { name: run.name.clone(), ..Definition::new(Part::Workloads) };
    if workloads.is_empty() && has(run, "storages") && !has(run, "workloads") {
        used.push(&plain);
    }
    if used.is_empty() {
        return Vec::new();
    }
    let curve = !used.iter().any(|workload| has(workload, "own_rate"));
    let (sweep, points) = points(&run.values, "depth", used.len() == 1, curve, losses);
    let loaded = used.iter().map(|workload| {
        let by = if has(run, "storages") { run } else { workload };
        let is_one = |number: &usize| by.asks("storages", &storages[*number].name);
        let numbers = (0..storages.len()).filter(is_one).collect();
        Loaded::new(workload, numbers, storages, losses)
    });
    let loaded: Vec<Loaded<'_>> = loaded.collect();
    if loaded.iter().any(|one| one.storages.is_empty()) {
        run.worsen("workloads", losses, Verdict::refused("a workload without storage; define it"));
    }
    let mut groups = Vec::new();
    for point in &points {
        let mut all = Vec::new();
        for one in &loaded {
            let fields = fields(one, run, point, &sweep, losses);
            all.push(Unit { workload: one.workload, storages: one.storages.clone(), fields });
        }
        let mut units = joined(all, point.number("rate").is_some());
        rates(&mut units, point, losses);
        groups.push(group(run, point, &sweep, storages, units, losses, taken));
    }
    groups
}

/// Ratios between workloads without a fixed rate are shares of the requests.
fn rates(units: &mut [Unit<'_>], point: &Values, losses: &mut Losses) {
    let workloads: Vec<&Values> = units.iter().map(|unit| &unit.workload.values).collect();
    whole(point, &workloads, losses);
    let has_own = units.iter().any(|unit| unit.fields.get("rate").is_some());
    let parts = at_full_speed(point, &workloads, has_own, losses);
    for (unit, part) in units.iter_mut().zip(parts) {
        unit.fields.set("share", part.value, part.from);
    }
}

fn group<'a>(
    run: &'a Definition,
    point: &Values,
    sweep: &Fields,
    storages: &'a [Definition],
    units: Vec<Unit<'a>>,
    losses: &mut Losses,
    taken: &mut Taken,
) -> Group {
    let mut group = Group { name: run.name.clone(), sweep: sweep.clone(), ..Group::default() };
    let mut numbers: Vec<usize> = units.iter().flat_map(|unit| unit.storages.clone()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let used: Vec<&Definition> = numbers.iter().map(|number| &storages[*number]).collect();
    targets(&used, losses, &mut group);
    // A workload that leaves storage out wants a target for each.
    let differs = units.iter().any(|unit| unit.storages.len() != used.len());
    let places = differs.then(|| apart_targets(&used, losses, &mut group));
    stages(&run.values, point, &units, &used, losses, &mut group);
    let all_devices = !used.is_empty() && used.iter().all(|storage| is_device(storage));
    let way = |unit: &Unit<'a>| {
        let own = unit.storages.iter().map(|number| &storages[*number]);
        own.map(|storage| [run, unit.workload, storage]).collect::<Vec<_>>()
    };
    let ways: Vec<_> = units.iter().flat_map(way).collect();
    let direct = opened(&ways, |one| one.direct, losses);
    let source = direct.map(|id| losses.source(id)).unwrap_or_default();
    group.engine.set("direct", (all_devices || direct.is_some()).to_string(), source);
    group.engine.text("pin", "none", "");
    let workloads: Vec<&Values> = units.iter().map(|unit| &unit.workload.values).collect();
    let parts = point.number("rate").map(|rate| shares(rate, &workloads)).unwrap_or_default();
    let prefix = if units.len() > 1 { format!("{}-", run.name) } else { String::new() };
    for (number, unit) in units.into_iter().enumerate() {
        let values = &unit.workload.values;
        let mut fields = unit.fields;
        fields.set("workers", unit.storages.len().max(1).to_string(), "one for each target");
        if let Some(places) = &places {
            let own = numbers.iter().zip(places);
            let own = own.filter(|(number, _)| unit.storages.contains(number));
            let own: Vec<usize> = own.map(|(_, place)| *place).collect();
            if let Some(value) = selected(&own, group.targets.len()) {
                fields.set("targets", value, values.source("storages", losses));
            }
        }
        if let Some(part) = parts.get(number).filter(|_| values.id("own_rate").is_none()) {
            fields.set("rate", part.to_string(), point.source("rate", losses));
        }
        let name = match prefix.is_empty() {
            true => run.name.clone(),
            false => format!("{prefix}{}", unit.workload.name),
        };
        let name = unique(&plain_name(&name), taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    group
}
