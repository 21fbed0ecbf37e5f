//! The zones of the targets that a stage loads: read from devices, or as if there were some.

use super::device;
use super::table::{Area, Table, Zone};
use crate::error::EngineError;
use model::plan::{Extent, HostPlan, HostStage, MOST_ZONES, Work, Worker, ZoneRules};
use model::{Bytes, Percent};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// The write pointers of targets without zones, from one stage to the next: by file, with the size
/// of the zones.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<BTreeMap<u32, Arc<[Option<Zones>]>>>);

/// The zones of a target.
#[derive(Debug)]
pub(crate) struct Zones {
    path: String,
    /// The device, where the zones are its own.
    device: Option<RawFd>,
    table: Mutex<Table>,
}

impl Zones {
    pub(super) fn table(&self) -> &Mutex<Table> {
        &self.table
    }

    /// Whether the zones are those of a device.
    fn are_real(&self) -> bool {
        self.device.is_some()
    }

    /// Where a zone begins, and how long it is.
    fn bounds(&self, zone: usize) -> (u64, u64) {
        let table = super::lock(self);
        (table.zones()[zone].start, table.size)
    }

    pub(super) fn reset(&self, zone: usize) -> Result<(), EngineError> {
        let (start, length) = self.bounds(zone);
        if let Some(device) = self.device {
            device::reset(device, start, length)
                .map_err(|error| super::refused(&self.path, "reset", start, &error))?;
        }
        super::lock(self).was_reset(zone);
        Ok(())
    }

    pub(super) fn finish(&self, zone: usize) -> Result<(), EngineError> {
        let (start, length) = self.bounds(zone);
        if let Some(device) = self.device {
            device::finish(device, start, length)
                .map_err(|error| super::refused(&self.path, "finished", start, &error))?;
        }
        super::lock(self).was_finished(zone);
        Ok(())
    }

    /// Asks where the write pointer is, after a write that failed.
    pub(super) fn look(&self, zone: usize) -> Result<(), EngineError> {
        let (start, _) = self.bounds(zone);
        let pointer = match self.device {
            Some(device) => device::pointer(device, start)
                .map_err(|error| super::refused(&self.path, "looked at", start, &error))?,
            // Nothing but the writes themselves moves it.
            None => super::lock(self).zones()[zone].pointer,
        };
        super::lock(self).was_looked_at(zone, pointer);
        Ok(())
    }
}

/// What of an extent is whole zones, as an area.
pub(super) fn area(extent: &Extent, size: u64, count: usize) -> Option<Area> {
    let first = extent.offset.div_ceil(size);
    let last = ((extent.offset + extent.length) / size).min(count as u64);
    (first < last).then(|| Area {
        file: extent.file,
        start: first * size,
        length: (last - first) * size,
        zones: (first as usize, last as usize),
    })
}

/// A worker with what of its bytes is whole zones.
pub(crate) fn whole_zones(worker: &Worker, zones: &[Option<Zones>]) -> Worker {
    let extents = worker.extents.iter().filter_map(|extent| {
        let zones = zones.get(extent.file as usize)?.as_ref()?;
        let table = super::lock(zones);
        let area = area(extent, table.size, table.zones().len())?;
        Some(Extent { file: extent.file, offset: area.start, length: area.length })
    });
    Worker { extents: extents.collect(), ..worker.clone() }
}

/// What of a stage goes to one file by zones.
struct Use<'a> {
    work: &'a Work,
    rules: &'a ZoneRules,
    extents: Vec<&'a Extent>,
}

fn uses<'a>(stage: &'a HostStage, file: u32) -> Vec<Use<'a>> {
    let of_worker = |worker: &'a Worker| {
        let work = &stage.works[worker.work as usize];
        let extents: Vec<&Extent> =
            worker.extents.iter().filter(|extent| extent.file == file).collect();
        let rules = work.zones.as_ref().filter(|_| !extents.is_empty())?;
        Some(Use { work, rules, extents })
    };
    stage.workers.iter().filter_map(of_worker).collect()
}

/// The zones of each file of a host that a stage loads by zones; none where it loads none so.
///
/// # Errors
/// A target has no zones, or others than the plan says, or nothing to read in them.
pub(crate) fn of_stage(
    plan: &HostPlan,
    stage: &HostStage,
    files: &[OwnedFd],
    is_simulated: bool,
    kept: &Kept,
) -> Result<Arc<[Option<Zones>]>, EngineError> {
    if stage.works.iter().all(|work| work.zones.is_none()) {
        return Ok(Arc::new([]));
    }
    let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::new();
    for (number, file) in (0..).zip(plan.files()) {
        let uses = uses(stage, number);
        if uses.is_empty() {
            all.push(None);
            continue;
        }
        let before = kept.get(&number).and_then(|zones| zones.get(number as usize)?.as_ref());
        let descriptor = files.get(number as usize).filter(|_| !is_simulated);
        let target = Target { path: &file.path, size: file.size, descriptor, before };
        all.push(Some(of_file(&target, &uses)?));
    }
    let all: Arc<[Option<Zones>]> = all.into();
    for (number, zones) in (0..).zip(all.iter()) {
        if zones.is_some() {
            kept.insert(number, all.clone());
        }
    }
    Ok(all)
}

/// A file whose zones are asked for.
struct Target<'a> {
    path: &'a str,
    size: Bytes,
    /// `None` where nothing is sent.
    descriptor: Option<&'a OwnedFd>,
    /// Its zones in the stage before.
    before: Option<&'a Zones>,
}

impl Target<'_> {
    fn refuse<T>(&self, what: impl Into<String>, remedy: &str) -> Result<T, EngineError> {
        Err(EngineError::target(self.path, what, remedy))
    }
}

fn of_file(target: &Target<'_>, uses: &[Use<'_>]) -> Result<Zones, EngineError> {
    let rules = &joined(target, uses)?;
    let device = target.descriptor.filter(|file| device::is_zoned(file));
    let (zones, size, are_open) = match device {
        Some(file) => reported(target, file, rules)?,
        None => imagined(target, rules)?,
    };
    let areas: Vec<Area> = uses
        .iter()
        .flat_map(|one| one.extents.iter().filter_map(|extent| area(extent, size, zones.len())))
        .collect();
    if uses
        .iter()
        .any(|one| one.extents.iter().all(|extent| area(extent, size, zones.len()).is_none()))
    {
        let what = format!("a worker has no whole zone of {}", Bytes(size));
        return target.refuse(what, "give a larger range, or fewer workers");
    }
    for one in uses {
        fits(target, one.work, size)?;
    }
    // Nothing would be sent, and the figure would be that of a call to nobody.
    if device.is_none() && uses.iter().any(|one| one.work.trims()) {
        let what = "has no zones that a trim could reset";
        return target.refuse(what, "name a zoned device, or leave out the workload that trims");
    }
    let limit = most_open(target, rules, device)?;
    // A worker's own limit is counted where there is no other.
    let is_counted = uses.iter().any(|one| one.rules.worker_open > 0);
    let limit = if limit == 0 && is_counted { zones.len() } else { limit };
    let mut table = Table::new(zones, size, limit, &areas);
    let writes = uses.iter().any(|one| one.work.writes());
    for number in are_open.into_iter().filter(|number| writes && is_in(&areas, *number)) {
        if !table.is_open_already(number) {
            let what = format!("more of its zones are open than {limit}, the limit");
            return target.refuse(what, "reset or finish some, or raise open_zones");
        }
    }
    let reads = |one: &Use<'_>| one.work.reads() && !one.rules.unwritten_reads;
    if !writes && uses.iter().any(reads) && !table.has_data(&areas) {
        let what = "its zones hold nothing to read below their write pointers";
        return target.refuse(what, "write to them first, or give unwritten_reads = true");
    }
    Ok(Zones {
        path: target.path.to_owned(),
        device: device.map(AsRawFd::as_raw_fd),
        table: Mutex::new(table),
    })
}

/// The size and the limit of all workloads: who says none takes what the others say.
fn joined(target: &Target<'_>, uses: &[Use<'_>]) -> Result<ZoneRules, EngineError> {
    let mut all = *uses[0].rules;
    for one in uses.iter().map(|one| one.rules) {
        let differ = |a: u64, b: u64| a != 0 && b != 0 && a != b;
        if differ(all.size.0, one.size.0) || differ(all.open.into(), one.open.into()) {
            let what = "workloads of one group differ in zone_size or open_zones";
            return target.refuse(what, "give all of them the same");
        }
        all.size = all.size.max(one.size);
        all.open = all.open.max(one.open);
    }
    Ok(all)
}

fn is_in(areas: &[Area], number: usize) -> bool {
    areas.iter().any(|area| (area.zones.0..area.zones.1).contains(&number))
}

/// Whether requests fit zones of this size.
fn fits(target: &Target<'_>, work: &Work, size: u64) -> Result<(), EngineError> {
    let largest = work.largest_block();
    if largest.0 > size {
        let what = format!("a block of {largest} is larger than its zones of {}", Bytes(size));
        return target.refuse(what, "give a smaller block_size");
    }
    let resets = work.trim == Percent::ALL;
    if resets && largest.0 != size {
        let what = format!("a trim resets a whole zone, and its zones have {}", Bytes(size));
        return target.refuse(what, "give block_size that value");
    }
    Ok(())
}

type Found = (Box<[Zone]>, u64, Vec<usize>);

/// The zones of a device.
fn reported(target: &Target<'_>, file: &OwnedFd, rules: &ZoneRules) -> Result<Found, EngineError> {
    let found = device::report(file, MOST_ZONES).or_else(|error| {
        let what = format!("its zones cannot be read: {error}");
        target.refuse(what, "see what the kernel's log says of the device")
    })?;
    let size = found.first().map_or(0, |first| first.length);
    let is_even = found.iter().zip(0..).all(|(one, number)| {
        let is_last = number + 1 == found.len() as u64;
        one.zone.start == number * size && (one.length == size || is_last)
    });
    if size == 0 || !is_even {
        return target.refuse("its zones have no common size", "name another device");
    }
    if rules.size.0 != 0 && rules.size.0 != size {
        let what = format!("its zones have {}, not {}", Bytes(size), rules.size);
        return target.refuse(what, "give zone_size that value, or \"auto\"");
    }
    let is_open = |(number, one): (usize, &device::Found)| one.is_open.then_some(number);
    let open = found.iter().enumerate().filter_map(is_open).collect();
    Ok((found.into_iter().map(|one| one.zone).collect(), size, open))
}

/// Zones as if the target had such, all of them empty at first.
fn imagined(target: &Target<'_>, rules: &ZoneRules) -> Result<Found, EngineError> {
    let size = rules.size.0;
    if size == 0 {
        let what = "has no zones";
        return target.refuse(what, "name a zoned device, or give zone_size to act as if it had");
    }
    let count = target.size.0 / size;
    if count == 0 || count > MOST_ZONES {
        let what = format!("{} are {count} zones of {}", target.size, rules.size);
        return target.refuse(what, &format!("give a zone_size for 1 to {MOST_ZONES} zones"));
    }
    let zone = |number: u64| Zone::new(number * size, size, number * size);
    let mut zones: Box<[Zone]> = (0..count).map(zone).collect();
    if let Some(before) = target.before.filter(|before| !before.are_real()) {
        let before = super::lock(before);
        if before.size == size {
            zones.iter_mut().zip(before.zones()).for_each(|(zone, before)| {
                *zone = Zone::new(zone.start, size, before.pointer);
            });
        }
    }
    Ok((zones, size, Vec::new()))
}

/// How many zones may be open at once; 0: any number.
fn most_open(
    target: &Target<'_>,
    rules: &ZoneRules,
    device: Option<&OwnedFd>,
) -> Result<usize, EngineError> {
    let own = u64::from(rules.open);
    let allowed = device.map_or(0, device::most_open);
    match (own, allowed) {
        (0, allowed) => Ok(allowed as usize),
        (own, allowed) if allowed == 0 || own <= allowed => Ok(own as usize),
        _ => {
            let what = format!("it allows {allowed} open zones, and open_zones is {own}");
            target.refuse(what, "give a smaller open_zones, or 0 for all that it allows")
        }
    }
}
