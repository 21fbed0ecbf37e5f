//! A run on storage definitions, as groups of workloads.

use super::loops::{Point, points};
use super::run::{Rate, Run};
use super::storage::{Open, Seek, Storage, Workload};
use super::values::is_asked;
use crate::apart::{Apart, apart, selected};
use crate::draft::{Fields, Group, Taken, Work, plain_name, share, size, time, unique};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::{Got, inside};

const SECOND: u64 = 1_000_000_000;

/// A workload with the storage that it loads.
struct Unit<'a> {
    workload: &'a Workload,
    storages: Vec<usize>,
    fields: Fields,
}

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

/// Workloads that are alike but for their storage are one. A rate of their run goes in equal parts
/// to each: then all of them are alike, or each stays as it is.
fn joined<'a>(all: Vec<Unit<'a>>, is_fixed: bool) -> Vec<Unit<'a>> {
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

fn fields(
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

fn opens<'a>(
    run: &'a Run,
    workload: &'a Workload,
    storages: &'a [Storage],
    of: &[usize],
) -> Vec<&'a Open> {
    let own = of.iter().filter_map(|number| storages.get(*number)).map(|storage| &storage.open);
    [&run.open, &workload.open].into_iter().chain(own).collect()
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

/// A share of the requests of a group, and where it came from.
pub struct Part {
    /// The share.
    pub value: String,
    /// The parameter; empty where it has an equal part of the rest.
    pub from: String,
}

/// The shares of workloads that run at full speed; none where nobody asks for one.
pub fn at_full_speed(
    point: &Point,
    skews: &[Option<&Got<f64>>],
    has_own: bool,
    losses: &mut Losses,
) -> Vec<Part> {
    let is_max = point.rate.as_ref().is_none_or(|got| got.value == Rate::Max);
    if skews.len() < 2 || !is_max || skews.iter().all(Option::is_none) {
        return Vec::new();
    }
    if has_own {
        let needs = "shares of workloads of which one has a rate of its own; leave one out";
        for got in skews.iter().flatten() {
            losses.worsen(got.id, Verdict::refused(needs));
        }
        return Vec::new();
    }
    let values: Vec<Option<f64>> = skews.iter().map(|got| got.map(|got| got.value)).collect();
    let part = |(value, got): (u64, &Option<&Got<f64>>)| Part {
        value: value.to_string(),
        from: got.map(|got| losses.source(got.id)).unwrap_or_default(),
    };
    shares(SHARES, &values).into_iter().zip(skews).map(part).collect()
}

/// All shares of workloads together.
const SHARES: f64 = 100.0;

/// The rate of each of several workloads: its share, or an equal part of what is left.
pub fn shares(rate: f64, skews: &[Option<f64>]) -> Vec<u64> {
    let given: f64 = skews.iter().flatten().sum();
    let without = skews.iter().filter(|skew| skew.is_none()).count().max(1) as f64;
    let rest = (100.0 - given).max(0.0) / without;
    let part = |skew: &Option<f64>| rate * skew.unwrap_or(rest) / 100.0;
    skews.iter().map(|skew| (part(skew).round() as u64).max(1)).collect()
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

fn is_device(storage: &Storage) -> bool {
    let lun = storage.lun.as_ref().map(|got| got.value.as_str()).unwrap_or_default();
    lun.starts_with("/dev/") || lun.starts_with("\\\\.\\")
}

/// How many devices and files these are.
fn files(of: &[usize], storages: &[Storage]) -> u64 {
    let count = |number: &usize| storages[*number].count.as_ref().map_or(1, |got| got.value);
    of.iter().map(count).sum::<u64>().min(65_536)
}

fn targets(used: &[usize], storages: &[Storage], losses: &mut Losses, group: &mut Group) {
    let mut places: Vec<(String, u64)> = Vec::new();
    let mut largest = None;
    let has_files = used.iter().any(|number| !is_device(&storages[*number]));
    if !has_files {
        device_size(used, storages, losses, group);
    }
    for number in used {
        let storage = &storages[*number];
        if is_device(storage) && has_files {
            let why = "as many of its first bytes as the files beside it have";
            for id in
                [storage.lun.as_ref().map(|got| got.id), storage.size.as_ref().map(|got| got.id)]
                    .into_iter()
                    .flatten()
            {
                losses.worsen(id, Verdict::near(why));
            }
        }
        if let Some(got) = storage.size.as_ref() {
            match is_device(storage) {
                true => {}
                false => {
                    let old = largest.as_ref().map_or(0, |got: &Got<u64>| got.value);
                    if old != 0 && old != got.value {
                        let why = "all files have the largest size";
                        losses.worsen(got.id, Verdict::near(why));
                    }
                    if got.value >= old {
                        largest = Some(got.clone());
                    }
                }
            }
        }
        let Some(lun) = &storage.lun else { continue };
        let place = match lun.value.as_str() {
            lun if lun.starts_with("/dev/") => lun.to_owned(),
            lun if lun.contains('\\') || lun.contains(':') => continue,
            lun => inside(lun.rsplit_once('/').map_or(".", |(directory, _)| directory)),
        };
        if group.targets_from.is_empty() {
            group.targets_from = losses.source(lun.id);
        }
        let many = files(&[*number], storages);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, files)) => *files += many,
            None => places.push((place, many)),
        }
    }
    let most = places.iter().map(|(_, files)| *files).max();
    if has_files {
        let many = most.unwrap_or_else(|| files(used, storages)).clamp(1, 65_536);
        group.layout.set("files", many.to_string(), "");
        if let Some(got) = largest.filter(|got| got.value > 0) {
            group.layout.set("size", size(got.value), losses.source(got.id));
        }
    }
    group.targets = places.into_iter().map(|(place, _)| place).collect();
}

/// Devices are loaded as a whole, or as far as their `size` says.
fn device_size(used: &[usize], storages: &[Storage], losses: &mut Losses, group: &mut Group) {
    let sizes: Vec<Option<&Got<u64>>> =
        used.iter().map(|number| storages[*number].size.as_ref()).collect();
    let given = || sizes.iter().flatten().filter(|got| got.value > 0);
    let least = given().min_by_key(|got| got.value);
    match least {
        Some(least) if given().count() == sizes.len() => {
            if given().any(|got| got.value != least.value) {
                let why = "all devices are loaded as far as the smallest of these sizes";
                given().for_each(|got| losses.worsen(got.id, Verdict::near(why)));
            }
            group.layout.set("size", size(least.value), losses.source(least.id));
        }
        _ => {
            for got in given() {
                let why = "the whole device is loaded, not its first bytes: seeks are longer";
                losses.worsen(got.id, Verdict::near(why));
            }
            group.layout.set("size", "\"free\"", "that of the smallest device");
        }
    }
}

/// Gives each storage a target of its own; the place of each of `used` among them.
fn apart_targets(
    used: &[usize],
    storages: &[Storage],
    losses: &mut Losses,
    group: &mut Group,
) -> Vec<usize> {
    let lun = |number: &usize| storages[*number].lun.as_ref();
    let is_windows = |lun: &str| lun.contains('\\') || lun.contains(':');
    let path = |number: &usize| lun(number).map(|got| got.value.as_str());
    let paths: Vec<Option<&str>> =
        used.iter().map(|number| path(number).filter(|lun| !is_windows(lun))).collect();
    let names: Vec<&str> =
        used.iter().map(|number| path(number).unwrap_or(&storages[*number].name)).collect();
    let Apart { targets, of } = apart(&paths, &names);
    for got in used.iter().filter_map(lun).filter(|got| is_windows(&got.value)) {
        losses.worsen(got.id, Verdict::near(WINDOWS));
    }
    group.targets = targets;
    if group.layout.get("files").is_some() {
        let counts = used.iter().map(|number| files(&[*number], storages));
        let most = counts.clone().max().unwrap_or(1);
        if counts.clone().any(|count| count != most) {
            let why = "each storage has as many files as the one with most";
            for got in used.iter().filter_map(|number| storages[*number].count.as_ref()) {
                losses.worsen(got.id, Verdict::near(why));
            }
        }
        group.layout.set("files", most.to_string(), "");
    }
    of
}

const WINDOWS: &str = "a path of Windows; a folder stands for it, and `--target` names others, in \
the order of `[targets]`";

fn stages(
    run: &Run,
    units: &[Unit<'_>],
    used: &[usize],
    storages: &[Storage],
    losses: &mut Losses,
    group: &mut Group,
) {
    let has_files = used.iter().any(|number| !is_device(&storages[*number]));
    group.stages.set("prepare", has_files.to_string(), "");
    let until_the_end = units
        .iter()
        .find_map(|unit| unit.workload.seek.as_ref().filter(|got| got.value == Seek::UntilTheEnd));
    let mixed =
        |unit: &Unit<'_>| unit.fields.get("block_size").is_some_and(|text| text.contains(':'));
    // An amount is counted in blocks of one size.
    let has_mix = units.iter().any(mixed);
    if let Some(id) = until_the_end.map(|got| got.id).filter(|_| has_mix) {
        losses.worsen(id, Verdict::near("a time ends it, not the last block"));
    }
    match (until_the_end, &run.amount, &run.elapsed) {
        _ if has_mix => times(run, losses, group),
        (None, ..) if run.once.is_some() => {
            group.stages.text("amount", "all", Got::source(&run.once, losses));
        }
        (Some(got), _, _) => group.stages.text("amount", "all", losses.source(got.id)),
        (None, Some(got), None) => {
            group.stages.set("amount", size(got.value.max(1 << 20)), losses.source(got.id));
        }
        _ => times(run, losses, group),
    }
}

/// The times of a run.
pub fn times(run: &Run, losses: &Losses, group: &mut Group) {
    let measure = run.elapsed.as_ref().map_or(30 * SECOND, |got| got.value.max(SECOND));
    group.stages.set("measure", time(measure), Got::source(&run.elapsed, losses));
    if let Some(got) = run.warmup.as_ref().filter(|got| got.value > 0) {
        group.stages.set("precondition", time(got.value), losses.source(got.id));
    }
    if let Some(got) = run.interval.as_ref().filter(|got| got.value >= SECOND) {
        let interval = got.value.min(60 * SECOND).min(measure);
        group.stages.set("interval", time(interval), losses.source(got.id));
    }
}
