//! The layout of a group, and the part of it that each workload loads.

use super::classes::{self, Class};
use super::job::Job;
use super::place::{Place, around, files, roams, rounded};
use super::regions::{Region, regions, several_blocks_short};
use super::targets::are_apart;
use super::unit::{Unit, name, note, workers_text};
use super::work::fits_its_places;
use crate::apart::selected;
use crate::draft::{Fields, Group, Taken, Work, quoted, share, size};
use crate::loss::{Losses, Verdict};
use crate::words::values::Extent;
use model::Bytes;

/// The layout, and the workloads on it: of those that have targets of their own, each class by
/// itself.
pub(super) fn layouts(
    units: &[Unit<'_>],
    losses: &mut Losses,
    group: &mut Group,
    taken: &mut Taken,
) {
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
                work.fields.set("targets", value, losses.source(unit.id()));
            }
        }
        let is_device = matches!(class[0].place, Place::Devices(_));
        classes.push(Class { numbers, works, layout: own.layout, is_device });
    }
    for number in classes::one_layout(&mut classes, group) {
        for slot in ["filename", "directory"] {
            let id = units[number].jobs[0].id(slot);
            losses.worsen(id, Verdict::near(classes::NOT_ALL));
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
        for unit in units {
            losses.worsen(unit.jobs[0].id("size"), Verdict::near(why));
        }
    }
    // A worker's own files lie in one of the directories: the first has the first, and so on.
    let directories = match units.iter().all(|unit| unit.place == Place::Own) {
        true => group.targets.len().max(1) as u64,
        false => 1,
    };
    if files % directories > 0 {
        let why = "as many files in each directory: some more than there are workers";
        for unit in units {
            losses.replace(unit.jobs[0].id("directory"), Verdict::near(why));
        }
    }
    let each = files.div_ceil(directories);
    if !is_device {
        let auto = units.iter().any(|unit| unit.workers.is_none() && unit.place == Place::Own);
        let own = |unit: &&&Unit<'_>| unit.place == Place::Own;
        let id = units.iter().filter(own).find_map(|unit| unit.jobs[0].id("files"));
        let count = if auto { "\"auto\"".to_owned() } else { each.to_string() };
        group.layout.set("files", count, losses.source(id));
    }
    layout_size(
        units,
        &regions,
        if is_device { group.targets.len() as u64 } else { each * directories },
        losses,
        group,
    );
    for (unit, number) in units.iter().zip(&of_unit) {
        let mut work =
            Work { name: name(unit, taken), note: note(unit), fields: unit.fields.clone() };
        window(unit, &regions, &regions[*number], losses, &mut work.fields);
        streams(unit, losses, &mut work.fields);
        few_blocks(unit, losses);
        work.fields.set("workers", workers_text(unit), unit.jobs[0].source("numjobs", losses));
        match unit.place {
            Place::Own => {
                let why = "each worker has files of its own, from their start on";
                losses.decide(unit.jobs[0].id("increment"), Verdict::near(why));
            }
            _ if unit.count() > 1 => sharing(unit, losses, &mut work.fields),
            _ => {}
        }
        works.push(work);
    }
    if !is_device && regions.len() > 1 {
        parts_of_all(units, &regions, &of_unit, each * directories, losses);
    }
    works
}

/// What jobs of which each has files of its own are told: there is one layout for all of them.
fn parts_of_all(
    units: &[&Unit<'_>],
    regions: &[Region],
    of_unit: &[usize],
    files: u64,
    losses: &mut Losses,
) {
    for (unit, number) in units.iter().zip(of_unit) {
        let own = regions[*number].files;
        let first = unit.jobs[0];
        let slots = if unit.place == Place::Own { ["files", "size"] } else { ["filename"; 2] };
        let id = first.first_id(&[slots[0], slots[1], "filesize", "directory", "rw"]);
        let many =
            |count: u64| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let each = if files == 1 { "" } else { "each of " };
        let why = format!(
            "a part of {each}{} of Plimsoll's own, which all jobs of its group share; fio has {} \
             for this job alone",
            many(files),
            many(own)
        );
        match unit.place {
            Place::Files(_) => losses.replace(id, Verdict::near(why)),
            _ => losses.worsen(id, Verdict::near(why)),
        }
    }
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
    let fills = units.iter().any(|unit| unit.jobs[0].is("fill"));
    let of_device = units.iter().any(|unit| matches!(unit.place, Place::Devices(_)));
    let first = units[0].jobs[0];
    let source = losses.source(first.first_id(&["filesize", "size"]));
    match all {
        _ if fills => {
            let value = match of_device {
                true => "\"free\"".to_owned(),
                false => format!("\"free * 9 / {}\"", files.saturating_mul(10)),
            };
            group.layout.set("size", value, first.source("fill", losses));
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

/// What is said of a place that is no whole block, or that fio aligns.
fn whole_blocks(job: &Job, block: u64, losses: &mut Losses) {
    if let Some(Extent::Bytes(offset)) = job.offset
        && !offset.is_multiple_of(block)
    {
        let behind = boundary(Extent::Bytes(block - offset % block));
        let why =
            format!("`range` begins at a whole block, {behind} later, and loads a block less");
        losses.worsen(job.id("offset"), Verdict::near(why));
    }
    let is_aligned = job.number("align_offset").is_none_or(|bytes| bytes <= block);
    if matches!(job.offset, Some(Extent::Share(1..))) && !is_aligned {
        let why = "`range` begins at the next whole block, not at a multiple of this";
        losses.worsen(job.id("align_offset"), Verdict::near(why));
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
    let block = job.sizes().iter().flatten().map(|(size, _)| *size).max();
    let block = job.one_size().or(block).unwrap_or(1).max(1);
    if unit.place != Place::Nothing {
        whole_blocks(job, block, losses);
    }
    if let Some(range) = of_whole(unit).filter(|_| region.all.is_none() && !several) {
        let id = job.first_id(&["offset", "size"]);
        fields.set("range", quoted(&range), losses.source(id));
        return;
    }
    let mut bytes = unit.bytes;
    if !bytes.is_known {
        let needs = "a `range` that begins after so many bytes of a target whose size is not \
                     known; give `offset` and `size` both in bytes, or both in percent";
        losses.worsen(job.id("offset"), Verdict::refused(needs));
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
    let id = job.first_id(&["offset", "size"]);
    let source = losses.source(id.or(job.id("filename").filter(|_| several)));
    if from >= to {
        let needs = "a `range` of less than 0.0001 % of the target";
        losses.worsen(id, Verdict::refused(needs));
        return;
    }
    if (rounds_from || rounds_to) && !is_exact {
        let why = "`range`, rounded to 0.0001 % of the target";
        losses.worsen(job.id("offset"), Verdict::near(why));
    }
    fields.set("range", quoted(&format!("{}-{}", share(from), share(to))), source);
}

/// The part of a target that is loaded as a whole: where it begins, and how much there is of it.
/// `None` where shares alone or nothing say so.
fn of_whole(unit: &Unit<'_>) -> Option<String> {
    let job = unit.jobs[0];
    let from = boundary(job.offset.unwrap_or(Extent::Share(0)));
    match (&unit.place, job.offset, job.size) {
        // Behind its file, it goes nowhere on a device that is larger.
        (_, _, Some(_)) if roams(job) => {
            let file = job.filesize.map_or(0, |(least, most)| u64::midpoint(least, most));
            Some(format!("{from}-{}", boundary(Extent::Bytes(file))))
        }
        (_, Some(Extent::Bytes(1..)), None) => Some(format!("{from}-100%")),
        _ if job.increment.is_some() => None,
        (Place::Devices(_), _, Some(Extent::Bytes(bytes))) => {
            Some(format!("{from}+{}", boundary(Extent::Bytes(bytes / files(job).max(1)))))
        }
        (Place::Devices(_), Some(Extent::Bytes(_)), Some(length)) => {
            Some(format!("{from}+{}", boundary(length)))
        }
        _ => None,
    }
}

/// A place in a file as a `range` has it.
fn boundary(extent: Extent) -> String {
    match extent {
        Extent::Share(ppm) => share(ppm),
        Extent::Bytes(bytes) => {
            let text = size(bytes.min(1 << 60));
            let unit = if text.contains('"') { "" } else { "B" };
            format!("{}{unit}", text.trim_matches('"'))
        }
    }
}

/// Of more blocks than these, fio goes on to the next one in less than 2 % more requests than a
/// permutation does.
const MOST_NEIGHBOURS: u64 = 625;
/// In a file of fewer of the largest blocks, fio draws many a size again.
const LEAST_ROOM: u64 = 16;

/// What fio does in a file of few blocks. Where a block that it draws was loaded already, the next
/// free one takes its place: towards the end of a round, mostly the one behind the last request. Of
/// `blocks`, some 50 % / √blocks of all requests do (measured with fio 3.33 on 20 to 341 blocks).
fn few_blocks(unit: &Unit<'_>, losses: &mut Losses) {
    let job = unit.jobs[0];
    let Some(all) = unit.bytes.all else { return };
    let bytes = (all as f64 * (unit.bytes.to - unit.bytes.from)) as u64 / files(job).max(1);
    let sizes = job.sizes();
    let largest = sizes.iter().filter(|mix| mix.len() > 1).flatten().map(|(size, _)| *size).max();
    if let Some(largest) = largest.filter(|largest| bytes / (*largest).max(1) < LEAST_ROOM) {
        let why = format!(
            "`block_size` with its weights; where {} do not fit before the end of a file, fio \
             draws again, and large ones are rarer",
            Bytes(largest)
        );
        losses.worsen(job.first_id(&["split", "range"]), Verdict::near(why));
    }
    let blocks = job.one_size().map_or(0, |block| bytes / block.max(1));
    let is_round = !roams(job) && fits_its_places(job);
    let is_map =
        is_round && unit.fields.get("access").is_some_and(|access| access == "\"permutation\"");
    if is_map && (4..=MOST_NEIGHBOURS).contains(&blocks) {
        let percent = 50.0 / (blocks as f64).sqrt();
        let why = format!(
            "each block once a round, as in fio; of {blocks} blocks, fio goes on to the next one \
             in {percent:.0} % more requests, as it takes the next free one"
        );
        losses.worsen(job.id("rw"), Verdict::near(why));
    }
}

/// Several files or devices of a worker take turns in fio, request by request.
fn streams(unit: &Unit<'_>, losses: &mut Losses, fields: &mut Fields) {
    let job = unit.jobs[0];
    let count = files(job);
    if count <= 1 || unit.place == Place::Nothing {
        return;
    }
    let slot = if unit.place == Place::Own { "files" } else { "filename" };
    let is_chance = job.text("service").is_some_and(|service| service.starts_with("random"));
    if job.direction().random && is_chance {
        return;
    }
    if job.direction().random {
        let why = "its files and devices come in the order of chance; in fio they take turns";
        losses.worsen(job.first_id(&["rw", slot]), Verdict::near(why));
    } else {
        fields.set("streams", count.min(65_536).to_string(), job.source(slot, losses));
        let why = "the files take turns, request by request";
        losses.worsen(job.id("service").filter(|_| is_chance), Verdict::near(why));
    }
}

/// Workers that load the same files.
fn sharing(unit: &Unit<'_>, losses: &mut Losses, fields: &mut Fields) {
    let job = unit.jobs[0];
    let Some(increment) = job.id("increment") else {
        if unit.verifies() {
            let why = "`contents.verify`, and a part of its own for each worker: nobody can check \
                       what several write";
            losses.worsen(job.id("verify"), Verdict::near(why));
            return;
        }
        fields.set("sharing", "\"whole\"", job.source("numjobs", losses));
        return;
    };
    let source = losses.source(increment);
    let why = "each worker has a segment of its own, as long as the increment, or near to it";
    losses.worsen(increment, Verdict::near(why));
    fields.set("sharing", "\"segment\"", source);
}
