//! A run on storage definitions, as groups of workloads.

use super::loops::{Point, points};
use super::raw_shares::{at_full_speed, shares};
use super::raw_stages::stages;
use super::raw_targets::{apart_targets, files, is_device, targets};
use super::raw_unit::{Unit, fields, joined, opens};
use super::run::{Rate, Run};
use super::storage::{Open, Storage, Workload};
use super::values::is_asked;
use crate::apart::selected;
use crate::draft::{Fields, Group, Taken, Work, plain_name, unique};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;

/// The groups of a run: one, or one for each point that no axis of a sweep can say.
pub fn groups(
    run: &Run,
    storages: &[Storage],
    workloads: &[Workload],
    losses: &mut Losses,
    taken: &mut Taken,
) -> Vec<Group> {
    let asked = |names: &Option<Got<Vec<String>>>, name: &str| {
        names.as_ref().is_none_or(|got| got.value.iter().any(|pattern| is_asked(pattern, name)))
    };
    let mut used: Vec<&Workload> =
        workloads.iter().filter(|workload| asked(&run.workloads, &workload.name)).collect();
    // A run that names storage alone has vdbench's own workload.
    let plain = Workload { name: run.name.clone(), ..Workload::default() };
    if workloads.is_empty() && run.storages.is_some() && run.workloads.is_none() {
        used.push(&plain);
    }
    if used.is_empty() {
        if let Some(got) = &run.workloads {
            losses.worsen(got.id, Verdict::refused("no workload of that name is defined"));
        }
        return Vec::new();
    }
    let (sweep, points) = points(run, "depth", used.len() == 1, losses);
    let mut groups = Vec::new();
    for point in &points {
        let all: Vec<Unit<'_>> = used
            .iter()
            .map(|workload| {
                let names = run.storages.as_ref().or(workload.storages.as_ref()).cloned();
                let is_one = |number: &usize| asked(&names, &storages[*number].name);
                let of: Vec<usize> = (0..storages.len()).filter(is_one).collect();
                let fields = fields(workload, run, point, &sweep, storages, &of, losses);
                Unit { workload, storages: of, fields }
            })
            .collect();
        let is_fixed = point.rate.as_ref().is_some_and(|got| got.value != Rate::Max);
        let mut units = joined(all, is_fixed);
        rates(&mut units, point, losses);
        groups.push(group(run, point, &sweep, storages, units, losses, taken));
    }
    groups
}

/// Ratios between workloads without a fixed rate are shares of the requests.
fn rates(units: &mut [Unit<'_>], point: &Point, losses: &mut Losses) {
    let skews: Vec<Option<&Got<f64>>> =
        units.iter().map(|unit| unit.workload.skew.as_ref()).collect();
    let has_own = units.iter().any(|unit| unit.fields.get("rate").is_some());
    let parts = at_full_speed(point, &skews, has_own, losses);
    for (unit, part) in units.iter_mut().zip(parts) {
        unit.fields.set("share", part.value, part.from);
    }
}

fn group(
    run: &Run,
    point: &Point,
    sweep: &Fields,
    storages: &[Storage],
    units: Vec<Unit<'_>>,
    losses: &mut Losses,
    taken: &mut Taken,
) -> Group {
    let mut group = Group { name: run.name.clone(), sweep: sweep.clone(), ..Group::default() };
    let mut used: Vec<usize> = units.iter().flat_map(|unit| unit.storages.clone()).collect();
    used.sort_unstable();
    used.dedup();
    targets(&used, storages, losses, &mut group);
    // A workload that leaves storage out wants a target for each.
    let differs = units.iter().any(|unit| unit.storages.len() != used.len());
    let places = differs.then(|| apart_targets(&used, storages, losses, &mut group));
    stages(run, &units, &used, storages, losses, &mut group);
    let is_device = |number: &usize| is_device(&storages[*number]);
    let all_devices = !used.is_empty() && used.iter().all(is_device);
    let opens: Vec<&Open> =
        units.iter().flat_map(|unit| opens(run, unit.workload, storages, &used)).collect();
    let direct = opens.iter().find_map(|open| open.direct.as_ref());
    let source = direct.map(|got| losses.source(got.id)).unwrap_or_default();
    group.engine.set("direct", (all_devices || direct.is_some()).to_string(), source);
    group.engine.text("pin", "none", "");
    let skews: Vec<Option<f64>> =
        units.iter().map(|unit| unit.workload.skew.as_ref().map(|got| got.value)).collect();
    let parts = match point.rate.as_ref().map(|got| got.value) {
        Some(Rate::Fixed(rate)) => shares(rate, &skews),
        _ => Vec::new(),
    };
    let prefix = if units.len() > 1 { format!("{}-", run.name) } else { String::new() };
    for (number, unit) in units.into_iter().enumerate() {
        let mut fields = unit.fields;
        let workers = files(&unit.storages, storages).max(1).to_string();
        fields.set("workers", workers, "one for each target");
        if let Some(places) = &places {
            let own = used.iter().zip(places).filter(|(number, _)| unit.storages.contains(number));
            let own: Vec<usize> = own.map(|(_, place)| *place).collect();
            if let Some(value) = selected(&own, group.targets.len()) {
                let source = unit.workload.storages.as_ref().map(|got| losses.source(got.id));
                fields.set("targets", value, source.unwrap_or_default());
            }
        }
        if let (Some(rate), Some(part)) = (&point.rate, parts.get(number))
            && unit.workload.rate.is_none()
        {
            fields.set("rate", part.to_string(), losses.source(rate.id));
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
