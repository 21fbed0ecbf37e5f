//! Jobs of fio that run at the same time, as workloads of one group with their layout.

use super::classes::{self, Class};
use super::job::{Engine, Got, Job};
use super::place::{
    Bytes, Place, around, bytes, files, has_characters, place, rounded, target, workers,
};
use super::priorities;
use super::together::{self, Flow};
use super::values::Extent;
use super::work::{fields, of};
use crate::apart::selected;
use crate::draft::{Fields, Group, Taken, Work, plain_name, quoted, share, size, unique};
use crate::loss::{Losses, OptionId, Verdict};

/// A job, or several that are alike but for their names.
struct Unit<'a> {
    jobs: Vec<&'a Job>,
    fields: Fields,
    place: Place,
    /// How many files each worker has, or all of them share.
    files: u64,
    bytes: Bytes,
    /// The targets that it loads.
    targets: Vec<String>,
    /// Workers of all jobs; `None` is as many as there are CPUs.
    workers: Option<u64>,
}

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

/// Jobs that are alike become one.
fn units<'a>(jobs: &'a [Job], losses: &mut Losses) -> Vec<Unit<'a>> {
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
        (Place::Devices(a), Place::Devices(b)) => a == b || !a.iter().any(|name| b.contains(name)),
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
        if let (Place::Devices(all), Place::Devices(more)) = (&mut self.place, other.place) {
            let new: Vec<String> = more.into_iter().filter(|name| !all.contains(name)).collect();
            all.extend(new);
            let new: Vec<String> =
                other.targets.into_iter().filter(|path| !self.targets.contains(path)).collect();
            self.targets.extend(new);
        }
    }

    fn id(&self) -> Option<OptionId> {
        let job = self.jobs[0];
        job.filename.as_ref().map(|got| got.id).or(job.directory.as_ref().map(|got| got.id))
    }

    /// The weight of each of its workers, and the group that it is in.
    fn flow(&self) -> [Option<u64>; 2] {
        let value = |got: &Option<Got<u64>>| got.as_ref().map(|got| got.value);
        [value(&self.jobs[0].flow), value(&self.jobs[0].flow_id)]
    }

    /// Whether it checks what it writes.
    fn verifies(&self) -> bool {
        let checks = self.jobs[0].verify.as_ref().is_some_and(|got| got.value);
        checks && self.jobs[0].changes()
    }

    /// How many workers, where a number is needed.
    fn count(&self) -> u64 {
        self.workers.unwrap_or(1)
    }
}

/// Where the group goes, and what its names became.
fn targets(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group) {
    let mut all: Vec<String> = Vec::new();
    for job in units.iter().flat_map(|unit| &unit.jobs) {
        let own = target(job);
        all.extend(own.into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
        if let Some(got) = &job.filename {
            losses.decide(got.id, of_names(job));
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
        for id in units.iter().skip(1).filter_map(Unit::id) {
            losses.worsen(id, Verdict::refused(needs));
        }
    }
    group.targets_from = units
        .first()
        .map(|unit| match &unit.jobs[0].filename {
            Some(_) => of(&unit.jobs[0].filename, losses),
            None => of(&unit.jobs[0].directory, losses),
        })
        .unwrap_or_default();
}

/// Whether each unit loads targets of its own, so that one leaves out what another has. Files that
/// are shared by some have one layout for all; devices are loaded as they are.
fn are_apart(units: &[Unit<'_>], group: &Group) -> bool {
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
        Place::Own | Place::Files(_) => Verdict::near(
            "a file of Plimsoll's own, in `plimsoll-data` beside it; what that file holds is not \
             touched",
        ),
    }
}

/// Whether several workers write the same bytes.
fn shared_writers(units: &[Unit<'_>]) -> bool {
    let named = |unit: &&Unit<'_>| unit.place != Place::Own && unit.place != Place::Nothing;
    let named: Vec<&Unit<'_>> = units.iter().filter(named).collect();
    let changes = |unit: &Unit<'_>| unit.jobs[0].changes();
    let alone = |unit: &Unit<'_>| match &unit.place {
        _ if unit.jobs[0].increment.is_some() => true,
        Place::Devices(names) => unit.count() <= 1 || names.len() as u64 == unit.count(),
        _ => unit.count() <= 1,
    };
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

/// Bytes that belong together: those of one job's own files, or those of files of the same names.
struct Region {
    place: Place,
    /// All its bytes, if they are known.
    all: Option<u64>,
    files: u64,
    /// Millionths of the layout.
    from: f64,
    to: f64,
}

fn regions(units: &[&Unit<'_>]) -> (Vec<Region>, Vec<usize>) {
    let mut regions: Vec<Region> = Vec::new();
    let mut of_unit = Vec::new();
    for unit in units {
        let own = unit.place == Place::Own;
        let times = if own { unit.count() } else { 1 };
        let all = unit.bytes.all.map(|bytes| bytes.saturating_mul(times));
        let count = files(unit.jobs[0]).saturating_mul(times);
        let known = regions.iter().position(|region| !own && region.place == unit.place);
        match known {
            Some(number) => {
                let region = &mut regions[number];
                region.all = region.all.max(all);
                of_unit.push(number);
            }
            None => {
                let place = unit.place.clone();
                regions.push(Region { place, all, files: count, from: 0.0, to: 1.0 });
                of_unit.push(regions.len() - 1);
            }
        }
    }
    cut(&mut regions);
    (regions, of_unit)
}

/// Cuts the layout into regions, by their bytes where all are known.
fn cut(regions: &mut [Region]) {
    let all: Option<u64> = regions
        .iter()
        .map(|region| region.all)
        .try_fold(0, |sum: u64, all| all.map(|all| sum.saturating_add(all)));
    let count = regions.len().max(1) as f64;
    let mut at = 0.0;
    for region in regions {
        let part = match (all, region.all) {
            (Some(all), Some(own)) if all > 0 => own as f64 / all as f64,
            _ => 1.0 / count,
        };
        region.from = at;
        at += part;
        region.to = at.min(1.0);
    }
}

/// The layout, and the workloads on it: of those that have targets of their own, each class by
/// itself.
fn layouts(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group, taken: &mut Taken) {
    if !are_apart(units, group) {
        let all: Vec<&Unit<'_>> = units.iter().collect();
        group.works = layout(&all, losses, group, taken);
        return;
    }
    let mut numbers: Vec<Vec<usize>> = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        let is_twin = |all: &&mut Vec<usize>| units[all[0]].targets == unit.targets;
        match numbers.iter_mut().find(is_twin) {
            Some(all) => all.push(number),
            None => numbers.push(vec![number]),
        }
    }
    let mut classes: Vec<Class> = Vec::new();
    for numbers in numbers {
        let targets = &units[numbers[0]].targets;
        let mut own = Group { targets: targets.clone(), ..group.clone() };
        let class: Vec<&Unit<'_>> = numbers.iter().map(|number| &units[*number]).collect();
        let mut works = layout(&class, losses, &mut own, taken);
        let places: Vec<usize> =
            (0..group.targets.len()).filter(|at| targets.contains(&group.targets[*at])).collect();
        for (unit, work) in class.iter().zip(&mut works) {
            if let Some(value) = selected(&places, group.targets.len()) {
                let source = unit.id().map(|id| losses.source(id)).unwrap_or_default();
                work.fields.set("targets", value, source);
            }
        }
        let is_device = matches!(class[0].place, Place::Devices(_));
        classes.push(Class { numbers, works, layout: own.layout, is_device });
    }
    for number in classes::one_layout(&mut classes, group) {
        for got in [&units[number].jobs[0].filename, &units[number].jobs[0].directory]
            .into_iter()
            .flatten()
        {
            losses.worsen(got.id, Verdict::near(classes::NOT_ALL));
        }
    }
    let mut works: Vec<(usize, Work)> =
        classes.into_iter().flat_map(|class| class.numbers.into_iter().zip(class.works)).collect();
    works.sort_by_key(|(number, _)| *number);
    group.works = works.into_iter().map(|(_, work)| work).collect();
}

fn layout(
    units: &[&Unit<'_>],
    losses: &mut Losses,
    group: &mut Group,
    taken: &mut Taken,
) -> Vec<Work> {
    let mut works = Vec::new();
    let (regions, of_unit) = regions(units);
    let is_device = units.iter().all(|unit| matches!(unit.place, Place::Devices(_)));
    let mut files = regions.iter().map(|region| region.files).max().unwrap_or(1).min(65_536);
    if several_blocks_short(units, &regions, &of_unit, files) {
        files = 1;
        let why = "one file for all workers, with a part each: files of their own would be less \
                   than a block";
        for got in units.iter().filter_map(|unit| unit.jobs[0].size.as_ref()) {
            losses.worsen(got.id, Verdict::near(why));
        }
    }
    if !is_device {
        let auto = units.iter().any(|unit| unit.workers.is_none() && unit.place == Place::Own);
        let source =
            units.iter().map(|unit| of(&unit.jobs[0].files, losses)).find(|s| !s.is_empty());
        let count = if auto { "\"auto\"".to_owned() } else { files.to_string() };
        group.layout.set("files", count, source.unwrap_or_default());
    }
    layout_size(
        units,
        &regions,
        if is_device { group.targets.len() as u64 } else { files },
        losses,
        group,
    );
    for (unit, number) in units.iter().zip(&of_unit) {
        let mut work =
            Work { name: name(unit, taken), note: note(unit), fields: unit.fields.clone() };
        window(unit, &regions, &regions[*number], losses, &mut work.fields);
        streams(unit, losses, &mut work.fields);
        work.fields.set("workers", workers_text(unit), of(&unit.jobs[0].numjobs, losses));
        if unit.count() > 1 && unit.place != Place::Own {
            sharing(unit, losses, &mut work.fields);
        }
        works.push(work);
    }
    works
}

/// Whether a region has less than a block of any of `files` files: it is a part of each.
fn several_blocks_short(
    units: &[&Unit<'_>],
    regions: &[Region],
    of_unit: &[usize],
    files: u64,
) -> bool {
    let is_short = |(unit, number): (&&Unit<'_>, &usize)| {
        let block = unit.jobs[0].one_size();
        block.zip(regions[*number].all).is_some_and(|(block, all)| all / files < block)
    };
    files > 1 && regions.len() > 1 && units.iter().zip(of_unit).any(is_short)
}

fn workers_text(unit: &Unit<'_>) -> String {
    unit.workers.map_or_else(|| "\"cpus\"".to_owned(), |count| count.min(65_536).to_string())
}

fn layout_size(
    units: &[&Unit<'_>],
    regions: &[Region],
    files: u64,
    losses: &Losses,
    group: &mut Group,
) {
    let mut all = regions.iter().map(|region| region.all);
    let all = all.try_fold(0_u64, |sum, all| all.map(|all| sum.saturating_add(all)));
    let fills = units.iter().any(|unit| unit.jobs[0].fill.as_ref().is_some_and(|got| got.value));
    let of_device = units.iter().any(|unit| matches!(unit.place, Place::Devices(_)));
    let first = units[0].jobs[0];
    let source = match of(&first.filesize, losses) {
        source if source.is_empty() => of(&first.size, losses),
        source => source,
    };
    match all {
        _ if fills => {
            let value = match of_device {
                true => "\"free\"".to_owned(),
                false => format!("\"free * 9 / {}\"", files.saturating_mul(10)),
            };
            group.layout.set("size", value, of(&first.fill, losses));
        }
        Some(bytes) if bytes > 0 => {
            // What does not divide is rounded up to whole blocks: no file is smaller than fio's.
            let each = bytes.div_ceil(files.max(1)).clamp(1, 1 << 60);
            let each =
                if bytes.is_multiple_of(files.max(1)) { each } else { each.next_multiple_of(4096) };
            group.layout.set("size", size(each), source);
        }
        _ if of_device => group.layout.set("size", "\"free\"", source),
        _ => {}
    }
}

/// The part of the layout that the unit loads.
fn window(
    unit: &Unit<'_>,
    regions: &[Region],
    region: &Region,
    losses: &mut Losses,
    fields: &mut Fields,
) {
    let several = regions.len() > 1;
    let whole = regions.iter().try_fold(0_u64, |sum, one| Some(sum.saturating_add(one.all?)));
    let job = unit.jobs[0];
    let mut bytes = unit.bytes;
    if !bytes.is_known
        && let Some(got) = &job.offset
    {
        if let (Extent::Bytes(offset), None, false) = (got.value, &job.size, several) {
            let from = size(offset.min(1 << 60));
            let unit = if from.contains('"') { "" } else { "B" };
            let range = format!("{}{unit}-100%", from.trim_matches('"'));
            fields.set("range", quoted(&range), losses.source(got.id));
            return;
        }
        let needs = "a `range` in bytes of a target whose size is not known; give `size`, too";
        losses.worsen(got.id, Verdict::refused(needs));
    }
    // Its own bytes may be fewer than those of the region.
    if let (Some(own), Some(all), false) = (bytes.all, region.all, unit.place == Place::Own)
        && all > 0
    {
        let scale = own as f64 / all as f64;
        (bytes.from, bytes.to) = (bytes.from * scale, bytes.to * scale);
    }
    let width = region.to - region.from;
    let (share_from, share_to) = (region.from + bytes.from * width, region.from + bytes.to * width);
    let (mut from, rounds_from) = rounded(share_from);
    let (mut to, rounds_to) = rounded(share_to);
    // Regions beside each other may not meet; one alone has all of its window.
    let least = job.one_size().unwrap_or(512);
    let is_exact = !several && region.all.is_some_and(|all| all / 1_000_000 < least);
    // Two millionths of a small layout have no block in them, so that such parts cannot meet.
    let all: u64 = whole.unwrap_or(u64::MAX);
    if !several || all / 1_000_000 * 2 < 512 {
        [from, to] = around(share_from, share_to);
    }
    if (from, to) == (0, 1_000_000) {
        return;
    }
    let source = match of(&job.offset, losses) {
        source if source.is_empty() => of(&job.size, losses),
        source => source,
    };
    let source = if several && source.is_empty() { of(&job.filename, losses) } else { source };
    if from >= to {
        let id = job.offset.as_ref().or(job.size.as_ref()).map(|got| got.id);
        if let Some(id) = id {
            let needs = "a `range` of less than 0.0001 % of the target";
            losses.worsen(id, Verdict::refused(needs));
        }
        return;
    }
    if (rounds_from || rounds_to)
        && !is_exact
        && let Some(got) = &job.offset
    {
        losses.worsen(got.id, Verdict::near("`range`, rounded to 0.0001 % of the target"));
    }
    fields.set("range", quoted(&format!("{}-{}", share(from), share(to))), source);
}

/// Several files of a worker take turns in fio, request by request.
fn streams(unit: &Unit<'_>, losses: &mut Losses, fields: &mut Fields) {
    let job = unit.jobs[0];
    let count = files(job);
    if count > 1 && unit.place == Place::Own && !job.direction().random {
        fields.set("streams", count.min(65_536).to_string(), of(&job.files, losses));
    }
}

/// Workers that load the same files.
fn sharing(unit: &Unit<'_>, losses: &mut Losses, fields: &mut Fields) {
    let job = unit.jobs[0];
    if let Place::Devices(names) = &unit.place
        && unit.jobs.len() > 1
        && names.len() as u64 == unit.count()
    {
        return;
    }
    let Some(increment) = &job.increment else {
        if let (true, Some(got)) = (unit.verifies(), &job.verify) {
            let why = "`contents.verify`, and a part of its own for each worker: nobody can check \
                       what several write";
            losses.worsen(got.id, Verdict::near(why));
            return;
        }
        fields.set("sharing", "\"whole\"", of(&job.numjobs, losses));
        return;
    };
    let source = losses.source(increment.id);
    let why = "each worker has a segment of its own, as long as the increment, or near to it";
    losses.worsen(increment.id, Verdict::near(why));
    fields.set("sharing", "\"segment\"", source);
}

fn name(unit: &Unit<'_>, taken: &mut Taken) -> String {
    unique(&plain_name(&unit.jobs[0].name), taken)
}

fn note(unit: &Unit<'_>) -> String {
    let mut notes: Vec<String> = Vec::new();
    for job in &unit.jobs {
        if let Some(got) = job.description.as_ref().filter(|got| !got.value.is_empty()) {
            notes.push(got.value.clone());
        }
    }
    notes.dedup();
    if unit.jobs.len() > 1 {
        let names: Vec<&str> = unit.jobs.iter().map(|job| job.name.as_str()).take(8).collect();
        let more = if unit.jobs.len() > 8 { ", …" } else { "" };
        notes.push(format!("{} jobs that are alike: {}{more}.", unit.jobs.len(), names.join(", ")));
    }
    notes.join("\n")
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
