//! A job of fio as a workload: what its requests are, without where they go.

use super::job::{Commands, Direction, Engine, Job, READ, Rates, Split, Spread};
use super::place::{Place, place};
use crate::draft::{Fields, quoted, share, size, time};
use crate::loss::{Losses, OptionId, Verdict};
use crate::words::values::Extent;

/// No mix of sizes has more parts.
const MOST_SIZES: u64 = 32;
/// fio's own `bs`.
const BLOCK: u64 = 4096;
const ALL: u64 = 1_000_000;

impl Job {
    /// What it asks for.
    pub fn asked(&self) -> Direction {
        self.rw.unwrap_or(READ)
    }

    /// What its requests do: what it asks for, or what its engine sends in place of it.
    pub fn direction(&self) -> Direction {
        let asked = self.asked();
        if self.space {
            return Direction { reads: false, writes: false, trims: true, ..asked };
        }
        let Some(commands) = self.commands() else { return asked };
        let Commands { write, zeroes, verify } = commands;
        Direction { reads: verify > 0, writes: write > 0, trims: zeroes > 0, ..asked }
    }

    /// The commands that take the place of its writes.
    fn commands(&self) -> Option<Commands> {
        let is_plain = |asked: Direction| asked.writes && !asked.reads && !asked.trims;
        self.commands.filter(|_| is_plain(self.asked()))
    }

    /// What these rates have of each direction that it asks for; 0 is none.
    fn taken(&self, rates: Option<Rates>) -> Vec<u64> {
        let Direction { reads, writes, trims, .. } = self.asked();
        let [read, write, trim] = rates.unwrap_or_default();
        // A trim that a write follows comes when that write is due.
        let trim = if writes { write } else { trim };
        let all = [read, write, trim].into_iter().zip([reads, writes, trims]);
        all.filter(|(_, takes)| *takes).map(|(rate, _)| rate.unwrap_or(0)).collect()
    }

    /// These rates over all directions that it asks for; `None` where there is none.
    pub fn each_second(&self, rates: Option<Rates>) -> Option<u64> {
        Some(self.taken(rates).into_iter().fold(0, u64::saturating_add)).filter(|all| *all > 0)
    }

    /// Requests or bytes in each second, over all directions. fio paces by bytes: where sizes are
    /// mixed, `rate_iops` is a rate of its smallest ones.
    pub fn paces(&self) -> [Option<u64>; 2] {
        let [reads, writes] = self.sizes();
        let is_mixed = |sizes: &[(u64, u32)]| sizes.len() > 1;
        let least = |sizes: &[(u64, u32)]| sizes.iter().map(|(size, _)| *size).min().unwrap_or(0);
        let of = self.direction();
        let (changes, rate) = (of.writes || of.trims, self.each_second(self.rate));
        match self.iops {
            Some(iops) if of.reads && is_mixed(&reads) || changes && is_mixed(&writes) => {
                let least = [least(&reads), least(&writes), least(&writes)];
                let bytes = |way: usize| iops[way].map(|rate| rate.saturating_mul(least[way]));
                let bytes = self.each_second(Some([bytes(0), bytes(1), bytes(2)]));
                [None, bytes.or(rate)]
            }
            iops => [self.each_second(iops), rate],
        }
    }

    /// Whether something is written or given back.
    pub fn changes(&self) -> bool {
        self.direction().writes || self.direction().trims
    }

    /// Whether it gives blocks back and does nothing else.
    pub fn only_trims(&self) -> bool {
        let of = self.direction();
        of.trims && !of.reads && !of.writes
    }

    /// How requests reach the kernel.
    pub fn engine_kind(&self) -> Engine {
        self.engine.clone().unwrap_or(Engine::Sync)
    }

    /// The one size of its requests, if they have one.
    pub fn one_size(&self) -> Option<u64> {
        let [reads, writes] = self.sizes();
        let all: Vec<u64> = match self.direction() {
            Direction { reads: true, writes: false, trims: false, .. } => reads,
            Direction { reads: false, .. } => writes,
            _ => reads.into_iter().chain(writes).collect(),
        }
        .into_iter()
        .map(|(size, _)| size)
        .collect();
        let first = all.first().copied()?;
        all.iter().all(|size| *size == first).then_some(first)
    }

    /// The mean size of its requests.
    pub fn mean_size(&self) -> u64 {
        let mean = |sizes: &[(u64, u32)]| {
            let weight = sizes.iter().map(|(_, weight)| f64::from(*weight)).sum::<f64>();
            let sum = sizes.iter().map(|(size, weight)| *size as f64 * f64::from(*weight));
            sum.sum::<f64>() / weight.max(1.0)
        };
        let [reads, writes] = self.sizes().map(|sizes| mean(&sizes));
        let part = match self.direction() {
            Direction { reads: true, writes: false, trims: false, .. } => 1.0,
            Direction { reads: false, .. } => 0.0,
            _ => self.number("mix").map_or(0.5, |mix| mix as f64 / 1e6),
        };
        (reads * part + writes * (1.0 - part)).round().max(1.0) as u64
    }

    /// Sizes with weights: of reads, of writes.
    pub fn sizes(&self) -> [Vec<(u64, u32)>; 2] {
        let asked = self.asked();
        // Whatever is sent in place of them has the sizes of what was asked for.
        let only = match (self.space, self.commands()) {
            (true, _) => Some(usize::from(asked.writes || asked.trims)),
            (false, Some(_)) => Some(1),
            (false, None) => None,
        };
        let all = self.sizes_asked();
        only.map_or_else(|| all.clone(), |only| [all[only].clone(), all[only].clone()])
    }

    fn sizes_asked(&self) -> [Vec<(u64, u32)>; 2] {
        // Sizes with weights beat a range, and a range beats one size, wherever they stand.
        let direction = |number: usize| match (self.split(number), self.range(number)) {
            (Some(split), _) => split.clone(),
            (None, Some((least, most))) => every_size(least, most),
            (None, None) => vec![(self.bs.and_then(|all| all[number]).unwrap_or(BLOCK), 1)],
        };
        // The sizes of trims are those of writes here.
        let writes = if self.asked().trims && !self.asked().writes { 2 } else { 1 };
        [direction(0), direction(writes)]
    }

    fn split(&self, direction: usize) -> Option<&Split> {
        self.split.as_ref()?[direction].as_ref()
    }

    fn range(&self, direction: usize) -> Option<(u64, u64)> {
        self.range?[direction]
    }

    fn sizes_from(&self, losses: &Losses) -> String {
        losses.source(self.first_id(&["split", "range", "bs"]))
    }
}

/// All multiples of the least size, or 32 steps of the range.
fn every_size(least: u64, most: u64) -> Vec<(u64, u32)> {
    let least = least.max(1);
    let count = (most / least).max(1);
    if count <= MOST_SIZES {
        return (1..=count).map(|times| (least * times, 1)).collect();
    }
    let step = |number: u64| (count * number / MOST_SIZES).max(1) * least;
    (1..=MOST_SIZES).map(|number| (step(number), 1)).collect()
}

/// Sizes with their weights, as a suite has them.
pub fn mix(sizes: &[(u64, u32)]) -> String {
    match sizes {
        [(one, _)] => size(*one),
        sizes => {
            let parts: Vec<String> = sizes
                .iter()
                .map(|(bytes, weight)| format!("{}:{weight}", size(*bytes).trim_matches('"')))
                .collect();
            quoted(&parts.join(", "))
        }
    }
}

/// What fio does with writes of a job that trims, too.
const UNFLAGGED: &str = "fio opens what it trims without O_DIRECT, so that its writes go through \
                         the page cache; here each write reaches the device";

/// The fields of a job's requests.
pub fn fields(job: &Job, losses: &mut Losses) -> Fields {
    let mut fields = Fields::default();
    blocks(job, losses, &mut fields);
    order(job, losses, &mut fields);
    depth(job, losses, &mut fields);
    pace(job, losses, &mut fields);
    let is_trimwrite = job.asked().trims && job.asked().writes;
    let every = |slot| {
        let count = job.number(slot).filter(|count| *count > 0 && !is_trimwrite);
        count.map(|count| (count, slot))
    };
    if let Some((count, slot)) = every("fdatasync").into_iter().chain(every("fsync")).min() {
        fields.set("fsync_every", count.to_string(), job.source(slot, losses));
        let other = every(if slot == "fsync" { "fdatasync" } else { "fsync" });
        let why = "`fsync_every` has the more frequent one alone";
        losses.worsen(other.and_then(|(_, slot)| job.id(slot)), Verdict::near(why));
    }
    if job.direction().reads && job.direction().writes {
        let why = "fio flushes again after each read of a mix until the next write";
        for slot in ["fsync", "fdatasync"] {
            losses.worsen(job.id(slot).filter(|_| every(slot).is_some()), Verdict::near(why));
        }
    }
    let is_deep = job.number("depth").is_some_and(|depth| depth > 1);
    if is_deep && !matches!(job.engine_kind(), Engine::Sync) {
        let why = match job.engine_kind() {
            Engine::IoUring => "fio flushes again while other requests of the ring are under way",
            _ => "a flush goes among other requests; fio waits until all are done",
        };
        for slot in ["fsync", "fdatasync"] {
            losses.worsen(job.id(slot).filter(|_| every(slot).is_some()), Verdict::near(why));
        }
    }
    if is_trimwrite {
        for slot in ["fsync", "fdatasync"] {
            losses.replace(job.id(slot), Verdict::harmless("fio trims and writes without syncs"));
        }
        losses.worsen(job.id("direct").filter(|_| job.is("direct")), Verdict::near(UNFLAGGED));
        losses.replace(job.id("sync"), Verdict::harmless("fio opens what it trims without O_SYNC"));
    } else if let Some(slot) = ["sync", "fua"].into_iter().find(|slot| job.is(slot)) {
        fields.set("dsync", "true", job.source(slot, losses));
    }
    priority(job, losses, &mut fields);
    fields
}

fn blocks(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let direction = job.direction();
    let [reads, writes] = job.sizes();
    let source = job.sizes_from(losses);
    if let Some(range) = &job.range
        && range.iter().flatten().any(|(least, most)| most / least.max(&1) > MOST_SIZES)
    {
        losses.worsen(job.id("range"), Verdict::near("32 sizes of the range, each as often"));
    }
    if (0..3).all(|number| job.split(number).is_some() || job.range(number).is_some()) {
        let why = "`bssplit` or `bsrange` has the last word, wherever it stands";
        losses.replace(job.id("bs"), Verdict::harmless(why));
    }
    let all: Vec<u64> = reads.iter().chain(&writes).map(|(size, _)| *size).collect();
    if let Some(odd) = all.iter().find(|size| !(512..=1 << 30).contains(*size)) {
        let needs = format!("requests of {odd} bytes; they have 512 bytes to 1 GiB");
        losses.worsen(job.first_id(&["bs", "range", "split"]), Verdict::refused(needs));
    }
    let bounded = |sizes: &[(u64, u32)]| -> Vec<(u64, u32)> {
        let mut all: Vec<(u64, u32)> = Vec::new();
        for (size, weight) in sizes {
            let size = (*size).clamp(512, 1 << 30);
            match all.iter_mut().find(|(known, _)| *known == size) {
                Some((_, sum)) => *sum = sum.saturating_add(*weight),
                None => all.push((size, *weight)),
            }
        }
        all.truncate(64);
        all
    };
    let (reads, writes) = (bounded(&reads), bounded(&writes));
    match (direction.reads, direction.writes || direction.trims) {
        (true, true) if reads != writes => {
            fields.set("block_size", mix(&reads), source.clone());
            fields.set("write_block_size", mix(&writes), source);
        }
        (false, _) => fields.set("block_size", mix(&writes), source),
        _ => fields.set("block_size", mix(&reads), source),
    }
    let rw = job.source("rw", losses);
    let (read, read_from) = match (direction.reads, direction.writes) {
        (true, false) => (ALL, rw.clone()),
        (false, _) => (0, rw.clone()),
        (true, true) => match job.number("mix") {
            Some(mix) => (mix, job.source("mix", losses)),
            None => (ALL / 2, rw.clone()),
        },
    };
    match (direction.trims, direction.writes) {
        (true, true) => {
            fields.set("trim", "\"50%\"", rw.clone());
            half_trims(job, losses);
        }
        (true, false) => fields.set("trim", "\"100%\"", rw.clone()),
        _ => {}
    }
    if direction.reads || direction.writes {
        fields.set("read", quoted(&share(read)), read_from);
    }
    super::commands::fields(job, losses, fields);
    let is_mixed = direction.reads && direction.writes;
    if !is_mixed {
        losses.replace(job.id("mix"), Verdict::harmless("the job has one direction alone"));
    }
}

/// What trims with writes are where an amount or a rate says how many there are.
fn half_trims(job: &Job, losses: &mut Losses) {
    let is_timed = job.number("runtime").is_some_and(|ns| ns > 0);
    if is_timed && job.paces() == [None; 2] {
        return;
    }
    let why = "half are trims and half writes, each of a block of its own; fio trims each block \
               and then writes it, in twice as many requests";
    losses.replace(job.id("rw"), Verdict::near(why));
    if !is_timed {
        let why = "each block of it is trimmed or written; in fio each is both";
        losses.worsen(job.first_id(&["io_size", "number", "size"]), Verdict::near(why));
    }
}

/// In what order blocks are touched.
fn order(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let direction = job.direction();
    let rw = job.source("rw", losses);
    let only_random = |losses: &mut Losses| {
        let ids = [job.id("spread"), job.id("no_map"), job.id("random")];
        for id in ids.into_iter().flatten() {
            losses.replace(id, Verdict::harmless("the job's order is sequential"));
        }
    };
    if !direction.random {
        only_random(losses);
        fields.set("access", "\"sequential\"", rw.clone());
        in_order(job, direction, losses, fields);
        super::zones::zones(job, losses, fields);
        return;
    }
    super::zones::zones(job, losses, fields);
    let has_map = !job.is("no_map");
    let spread_from = job.source("spread", losses);
    if matches!(job.spread, Some(Spread::Zipf(_) | Spread::Pareto(_))) && !fits_its_places(job) {
        let why = "places of blocks of each size; fio draws them of the smallest size, and ends, \
                   or draws again, at the first one beyond the end";
        losses.worsen(job.id("spread"), Verdict::near(why));
    }
    match &job.spread {
        Some(Spread::Zipf(theta)) => {
            fields.set("access", "\"zipf\"", spread_from.clone());
            fields.set("skew", thousandths((*theta).clamp(1, 10_000)), spread_from);
        }
        Some(Spread::Pareto(part)) => {
            fields.set("access", "\"pareto\"", spread_from.clone());
            fields.set("skew", thousandths((*part).clamp(1, 499)), spread_from);
        }
        Some(Spread::Zones(zones)) => {
            fields.set("access", "\"hot-spot\"", spread_from.clone());
            fields.set("hot_spots", hot_spots(zones), spread_from);
        }
        Some(Spread::Given(places)) => sequence(job, places, losses, fields),
        Some(Spread::Even) | None if goes_on(job) => {
            fields.set("access", "\"permutation\"", rw.clone());
        }
        Some(Spread::Even) | None => {
            let source = if has_map { rw.clone() } else { job.source("no_map", losses) };
            fields.set("access", "\"random\"", source);
            if has_map {
                let why = "`access = \"random\"`: a block may come twice before all came once; \
                           with sizes or orders mixed, there is no permutation";
                losses.worsen(job.id("rw"), Verdict::near(why));
                let why = "each size as often; fio makes blocks shorter where its map has no room";
                losses.worsen(job.first_id(&["split", "range"]), Verdict::near(why));
            }
        }
    }
    if has_map {
        ends_of_a_map(job, losses);
    }
    if !has_map && ends_within_a_block(job) {
        let why = "whole blocks of it; without its map, fio sends one request more";
        losses.worsen(job.id("size"), Verdict::near(why));
    }
    reads_ahead(job, "tells it not to", losses);
    if direction.behind > 1 {
        fields.set("random", quoted(&share(ALL / direction.behind as u64)), rw);
    } else if let Some(part) = job.number("random").filter(|part| *part < ALL) {
        fields.set("random", quoted(&share(part)), job.source("random", losses));
    }
    if let Some(bytes) = job.number("align").filter(|bytes| *bytes > 0) {
        fields.set("align", size(bytes.clamp(512, 1 << 30)), job.source("align", losses));
    }
}

/// Whether each request goes on where the one before it ended, or to a block that none had: what
/// comes after a pause depends on what came before.
pub(super) fn goes_on(job: &Job) -> bool {
    let is_even = matches!(job.spread, None | Some(Spread::Even));
    let is_drawn = job.is("no_map") || is_partly_random(job) || job.one_size().is_none();
    !job.direction().random || (is_even && !is_drawn)
}

/// Whether some of its random requests go on behind the one before.
fn is_partly_random(job: &Job) -> bool {
    job.number("random").is_some_and(|part| part < ALL) || job.direction().behind > 1
}

/// Where fio's map ends a job that a suite goes on with.
fn ends_of_a_map(job: &Job, losses: &mut Losses) {
    let is_timed = job.is("time_based") && job.number("runtime").is_some_and(|ns| ns > 0);
    let is_part =
        matches!(place(job), Place::Devices(_)) && (job.size, job.filesize) != (None, None);
    if is_partly_random(job) && is_part && !is_timed {
        let why = "all of the amount; fio ends as soon as a request in order comes to the end of \
                   `size`, where the device is larger";
        losses.worsen(job.first_id(&["random", "rw"]), Verdict::near(why));
    }
    let is_even = matches!(job.spread, None | Some(Spread::Even));
    if is_even && job.id("align").is_none() && !fits_its_places(job) {
        let why = "fio draws places of the smallest size of reads and writes, and ends at the \
                   first one beyond the end, or begins again; here each block has a place";
        losses.worsen(job.first_id(&["split", "range", "bs"]), Verdict::near(why));
    }
}

/// Whether each place that fio draws by Zipf's or Pareto's law has room for a request: it counts
/// places of the smallest size of reads and writes, whichever are sent, and multiplies by the
/// smallest size of the direction or by `blockalign`.
pub(super) fn fits_its_places(job: &Job) -> bool {
    let least = job.sizes_asked().map(|sizes| sizes.iter().map(|(size, _)| *size).min());
    let [reads, writes] = least.map(|size| size.unwrap_or(BLOCK));
    let unit = |size| job.number("align").filter(|bytes| *bytes > 0).unwrap_or(size);
    let is_whole = |size| unit(size) == reads.min(writes) && size == unit(size);
    let asked = job.asked();
    (!asked.reads || is_whole(reads)) && (!(asked.writes || asked.trims) || is_whole(writes))
}

/// What fio tells the kernel of reads through the page cache, and a suite does not.
fn reads_ahead(job: &Job, told: &str, losses: &mut Losses) {
    let is_buffered = !job.is_uncached();
    let is_advised = !matches!(job.text("advice"), Some("0" | "false"));
    if is_buffered && job.direction().reads && is_advised {
        let why = format!("through the page cache the kernel may read ahead; fio {told}");
        losses.worsen(job.id("rw"), Verdict::near(why));
    }
}

/// Random requests at given blocks, one after the other.
fn sequence(job: &Job, places: &[u32], losses: &mut Losses, fields: &mut Fields) {
    let spread = job.id("spread");
    let block = job.one_size().unwrap_or(BLOCK);
    let advances = job.is("advances");
    let rounds = places.len() as u64;
    let number = job.number("number");
    let bytes = match job.io_size {
        Some(Extent::Bytes(bytes)) => Some(bytes / block),
        Some(Extent::Share(_)) => Some(0),
        None => None,
    };
    // An amount leaves so many of the first blocks.
    let limit = number.or(bytes);
    let last = u64::from(places.iter().copied().max().unwrap_or(0));
    let is_cut = limit.is_some_and(|limit| {
        last >= limit || (advances && (!limit.is_multiple_of(rounds) || last >= rounds))
    });
    let direction = job.direction();
    let needs = match () {
        () if job.one_size().is_none() => Some("a sequence of places of blocks of several sizes"),
        () if direction.reads && (direction.writes || direction.trims) => {
            Some("a sequence of places for each direction")
        }
        () if is_cut => Some("a sequence of places that ends within a round"),
        () => None,
    };
    if let Some(needs) = needs {
        losses.worsen(spread, Verdict::refused(needs));
        return;
    }
    let source = losses.source(spread);
    fields.set("access", "\"random\"", source.clone());
    let words: Vec<String> = places.iter().map(u32::to_string).collect();
    fields.set("sequence", quoted(&words.join(",")), source);
    losses.replace(job.id("advances"), Verdict::same("`sequence_advances`"));
    if advances {
        fields.set("sequence_advances", "true", job.source("advances", losses));
    }
}

/// What lies between sequential requests: so many bytes from the end of one to the start of the
/// next, forward or back.
/// What a sequential job does otherwise in fio.
fn in_order(job: &Job, direction: Direction, losses: &mut Losses, fields: &mut Fields) {
    if direction.reads && direction.writes {
        let why = "reads and writes go on from one place; in fio each have a place of their own";
        losses.worsen(job.id("rw"), Verdict::near(why));
    }
    if ends_behind_its_size(job) {
        let why = "whole blocks of it; on a device, fio's last one in order goes beyond it";
        losses.worsen(job.id("size"), Verdict::near(why));
    }
    reads_ahead(job, "asks for twice as much", losses);
    if direction.behind != 0 {
        skips(job, direction.behind, losses, fields);
    }
}

/// Whether a job's bytes, and nothing else, end it, and are no whole blocks.
fn ends_within_a_block(job: &Job) -> bool {
    let (Some(Extent::Bytes(size)), Some(block)) = (job.size, job.one_size()) else {
        return false;
    };
    let is_ended_otherwise = job.is("time_based") || job.io_size.is_some();
    !is_ended_otherwise && job.number("number").is_none() && !size.is_multiple_of(block.max(1))
}

/// Whether, of a device, the last block in order begins within the job's size and ends behind it.
fn ends_behind_its_size(job: &Job) -> bool {
    let Direction { random: false, behind: behind @ 0.., .. } = job.direction() else {
        return false;
    };
    let (Some(Extent::Bytes(size)), Some(block)) = (job.size, job.one_size()) else {
        return false;
    };
    let step = block.saturating_add(behind as u64).max(1);
    let last = size.saturating_sub(1) / step * step;
    matches!(place(job), Place::Devices(_)) && last.saturating_add(block) > size
}

fn skips(job: &Job, behind: i64, losses: &mut Losses, fields: &mut Fields) {
    let rw = job.source("rw", losses);
    let block = job.one_size().unwrap_or(BLOCK);
    let step = i128::from(behind) + i128::from(block);
    let stride = u64::try_from(step.unsigned_abs()).unwrap_or(1 << 50).min(1 << 50);
    if step == 0 {
        losses.worsen(job.id("rw"), Verdict::refused("the same place again and again"));
        return;
    }
    if step < 0 {
        fields.set("backward", "true", rw.clone());
        let why = match stride == block {
            true => {
                "`backward`: each block once from the end; fio begins with the first block, and \
                 leaves out the last one"
            }
            false => {
                "`backward` and `stride`: once from the end to the start; fio begins with the \
                 first block, and goes round until it has done `size` bytes"
            }
        };
        losses.worsen(job.id("rw"), Verdict::near(why));
    }
    if stride != block || job.one_size().is_none() {
        fields.set("stride", size(stride), rw);
    }
}

/// The parts of a space that are hot, without those that are empty; the rest goes to the rest.
fn hot_spots(zones: &[(u64, u64)]) -> String {
    let all: u64 = zones.iter().map(|(_, space)| *space).sum();
    let last = if all >= ALL { zones.len().saturating_sub(1) } else { zones.len() };
    let parts: Vec<String> = zones[..last.max(1).min(zones.len())]
        .iter()
        .map(|(requests, space)| format!("{}:{}", share(*requests), share((*space).max(1))))
        .collect();
    quoted(&parts.join(", "))
}

fn thousandths(value: u64) -> String {
    format!("{}", value as f64 / 1_000.0)
}

fn depth(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let id = job.id("depth");
    match (job.number("depth"), job.engine_kind()) {
        (Some(depth), _) if depth > 1 && job.only_trims() => {
            let why = "fio gives blocks back one at a time, whatever the depth";
            losses.replace(id, Verdict::harmless(why));
            fields.set("depth", "1", "");
        }
        (Some(depth), Engine::Sync) if depth > 1 => {
            let why = "its engine has one request at a time, whatever the depth";
            losses.replace(id, Verdict::harmless(why));
            fields.set("depth", "1", job.source("engine", losses));
        }
        (Some(depth), _) => {
            if depth > 4096 {
                losses.worsen(id, Verdict::near("`depth = 4096`, the largest"));
            }
            fields.set("depth", depth.clamp(1, 4096).to_string(), losses.source(id));
        }
        (None, _) => fields.set("depth", "1", ""),
    }
}

/// When requests are due.
fn pace(job: &Job, losses: &mut Losses, fields: &mut Fields) {
    let both = [job.iops, job.rate].map(|rates| job.each_second(rates));
    if both.iter().all(Option::is_some) {
        let needs = "`rate` or `rate_iops`, not both: fio itself does not run such a job";
        losses.worsen(job.id("rate"), Verdict::refused(needs));
    }
    for (rates, slot) in [(job.iops, "iops"), (job.rate, "rate")] {
        let own = job.taken(rates);
        let needs = "a rate of one direction of a mix, of which the other goes as fast as it can; \
                     make a job of each";
        match job.each_second(rates) {
            None => losses.replace(job.id(slot), Verdict::harmless("no rate of what the job does")),
            Some(_) if own.contains(&0) => losses.worsen(job.id(slot), Verdict::refused(needs)),
            Some(_) => {}
        }
    }
    let rate = match job.paces() {
        [Some(rate), _] => Some((rate.min(1_000_000_000).to_string(), job.id("iops"))),
        [None, Some(rate)] => {
            let id = job.id("rate").or(job.id("iops"));
            Some((quoted(&format!("{}B/s", rate.min(1_000_000_000_000))), id))
        }
        [None, None] => None,
    };
    if let Some((rate, id)) = &rate {
        fields.set("rate", rate.clone(), losses.source(*id));
        fields.set("rate_of", "\"worker\"", "");
        share_of_rates(job, *id, losses, fields);
        if job.text("arrivals") == Some("poisson") {
            fields.set("arrivals", "\"poisson\"", job.source("arrivals", losses));
        }
    }
    let Some(think) = job.number("think").filter(|ns| *ns > 0) else { return };
    if let Some((_, id)) = &rate {
        if !rests_are_slower(job, think) {
            let why = "the rate alone says when requests are due; fio also rests";
            losses.worsen(job.id("think"), Verdict::near(why));
            return;
        }
        fields.0.retain(|line| !["rate", "rate_of", "arrivals"].contains(&line.key));
        let why = "the rests are slower than it; between them fio catches up as fast as it can";
        if let Some(id) = id {
            losses.replace(Some(*id), Verdict::near(why));
        }
    }
    if fields.get("depth") != Some("1") {
        let why = "a rest begins when what is under way has come back; fio rests meanwhile";
        losses.worsen(job.id("think"), Verdict::near(why));
    }
    fields.set("think", time(think), job.source("think", losses));
    if let Some(burst) = job.number("burst").filter(|count| *count > 1) {
        fields.set("burst", burst.min(65_536).to_string(), job.source("burst", losses));
    }
}

/// Whether a job that rests after so many requests sends fewer than its rate asks for.
pub(super) fn rests_are_slower(job: &Job, think_ns: u64) -> bool {
    let burst = job.number("burst").unwrap_or(1).max(1) as f64;
    let slowest = burst * 1e9 / think_ns as f64;
    let block = job.one_size().map(|bytes| bytes as f64);
    match job.paces().map(|pace| pace.map(|rate| rate as f64)) {
        [Some(iops), _] => slowest < iops,
        [None, bytes] => bytes.zip(block).is_some_and(|(bytes, block)| slowest < bytes / block),
    }
}

/// fio holds reads and writes of a mix each to a rate of its own, whatever `rwmixread` is.
fn share_of_rates(job: &Job, id: Option<OptionId>, losses: &mut Losses, fields: &mut Fields) {
    let direction = job.asked();
    let Some([Some(reads), Some(writes), _]) = job.iops.or(job.rate) else { return };
    // Of bytes, or of the smallest requests, to requests of each direction.
    let sizes = job.sizes();
    let requests = |rate: u64, sizes: &[(u64, u32)]| {
        let all: f64 = sizes.iter().map(|(_, weight)| f64::from(*weight)).sum();
        let sum: f64 = sizes.iter().map(|(size, weight)| *size as f64 * f64::from(*weight)).sum();
        let least = sizes.iter().map(|(size, _)| *size).min().unwrap_or(1);
        let unit = if job.iops.is_some() { least as f64 } else { 1.0 };
        rate as f64 * unit * all / sum.max(1.0)
    };
    let (reads, writes) = (requests(reads, &sizes[0]), requests(writes, &sizes[1]));
    let both = reads + writes;
    if !direction.reads || !direction.writes || direction.trims || both <= 0.0 {
        return;
    }
    let read = (reads / both * ALL as f64) as u64;
    fields.set("read", quoted(&share(read)), losses.source(id));
    let why = "fio holds reads and writes each to a rate of its own; their rates are the share";
    losses.worsen(job.id("mix"), Verdict::near(why));
}

/// A class and a level of fio's, as a suite has them.
pub fn priority_word(class: u64, level: u64) -> Option<String> {
    match class {
        1 => Some(quoted(&format!("realtime/{}", level.min(7)))),
        2 => Some(quoted(&format!("best-effort/{}", level.min(7)))),
        3 => Some(quoted("idle")),
        _ => None,
    }
}

fn priority(job: &Job, losses: &Losses, fields: &mut Fields) {
    let level = job.number("prio").map_or(0, |level| level.min(7));
    let Some(id) = job.first_id(&["prioclass", "prio"]) else { return };
    // fio takes no class, and class 0, for best effort.
    let class = job.number("prioclass").filter(|class| *class > 0).unwrap_or(2);
    if let Some(word) = priority_word(class, level) {
        fields.set("priority", word, losses.source(id));
    }
}
