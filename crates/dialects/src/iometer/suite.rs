//! A configuration of Iometer as a suite. All workers run their first specification at the same
//! time, then their second, and so on.

use super::{Configuration, Cycle, Cycled, Line, Setup, Specification, Worker};
use crate::apart::selected;
use crate::draft::{
    Draft, Fields, Group, Taken, Work, plain_name, quoted, share, size, time, unique,
};
use crate::import::Import;
use crate::loss::{Losses, OptionId, Verdict};
use crate::mpi::job::Got;
use crate::write;

const SECOND: u64 = 1_000_000_000;
const SECTOR: u64 = 512;
const ALL: u64 = 1_000_000;
/// No axis has more values.
const MOST_STEPS: usize = 64;

/// The suite of a configuration.
pub fn suite(name: &str, all: &Configuration, mut losses: Losses) -> Import {
    let stem = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let plain = stem.strip_suffix(".icf").unwrap_or(stem);
    let workers = workers(all, &mut losses);
    let mut taken = Taken::default();
    let mut rounds = rounds(all, &workers, &mut losses);
    // Where each round has one workload, they are points of one scenario.
    let groups = match rounds.iter().all(|round| round.len() == 1) {
        true => vec![group(&mut rounds.concat(), true, all, &mut taken, &mut losses)],
        false => rounds
            .iter_mut()
            .map(|round| group(round, false, all, &mut taken, &mut losses))
            .collect(),
    };
    let mut draft = Draft {
        name: plain_name(plain),
        description: "Imported from a configuration of Iometer.".to_owned(),
        notes: vec![
            format!("Imported from {stem}, a configuration of Iometer, by `plimsoll import`."),
            "Behind each field: the line that it came from. Others are Iometer's defaults."
                .to_owned(),
        ],
        groups,
        ..Draft::default()
    };
    if let Some(got) = all.setup.description.as_ref().filter(|got| !got.value.is_empty()) {
        draft.description.clone_from(&got.value);
    }
    if let Some(got) = workers.iter().find_map(|worker| worker.seed.as_ref()) {
        draft.top.set("seed", got.value.to_string(), losses.source(got.id));
    }
    let suites = write::suites(&draft);
    Import::new("iometer", losses, suites)
}

/// The workers of one manager: all hosts do the same here.
fn workers(all: &Configuration, losses: &mut Losses) -> Vec<Worker> {
    let of = |manager: usize| -> Vec<&Worker> {
        all.workers.iter().filter(|worker| worker.manager == manager).collect()
    };
    let Some(first) = all.workers.first().map(|worker| worker.manager) else {
        // Saved without managers: it says what requests are, not who sends them.
        return vec![Worker::default()];
    };
    let own = of(first);
    for manager in first + 1..=all.managers {
        let others = of(manager);
        let alike = others.len() == own.len()
            && own.iter().zip(&others).all(|(one, other)| is_alike(one, other));
        if !others.is_empty() && !alike {
            let needs = "workers that differ from host to host; import this manager by itself";
            for id in others.iter().flat_map(|worker| ids(worker)) {
                losses.worsen(id, Verdict::refused(needs));
            }
        }
    }
    own.into_iter().cloned().collect()
}

fn ids(worker: &Worker) -> Vec<OptionId> {
    let depth = worker.depth.iter().map(|got| got.id);
    depth.chain(worker.specs.iter().map(|got| got.id)).collect()
}

fn is_alike(one: &Worker, other: &Worker) -> bool {
    let number = |got: &Option<Got<u64>>| got.as_ref().map(|got| got.value);
    let words =
        |all: &[Got<String>]| -> Vec<String> { all.iter().map(|got| got.value.clone()).collect() };
    number(&one.depth) == number(&other.depth)
        && number(&one.sectors) == number(&other.sectors)
        && number(&one.first) == number(&other.first)
        && words(&one.specs) == words(&other.specs)
        && names(one) == names(other)
}

/// Its targets, by their names in Iometer.
fn names(worker: &Worker) -> Vec<&str> {
    worker.targets.iter().map(|got| got.value.name.as_str()).collect()
}

/// Whether no target is loaded by two workers.
fn is_apart(workers: &[&Worker]) -> bool {
    let mut all: Vec<&str> = workers.iter().flat_map(|worker| names(worker)).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    all.len() == count && workers.iter().all(|worker| !worker.targets.is_empty())
}

/// Workers that do the same at the same time.
#[derive(Clone)]
struct Unit<'a> {
    spec: &'a Specification,
    workers: Vec<&'a Worker>,
}

/// What runs at the same time, round after round.
fn rounds<'a>(
    all: &'a Configuration,
    workers: &'a [Worker],
    losses: &mut Losses,
) -> Vec<Vec<Unit<'a>>> {
    let mut rounds: Vec<Vec<Unit<'a>>> = Vec::new();
    for worker in workers {
        for (number, unit) in specs(all, worker, losses).into_iter().enumerate() {
            if rounds.len() <= number {
                rounds.push(Vec::new());
            }
            let twin = rounds[number].iter_mut().find(|other| {
                std::ptr::eq(other.spec, unit.spec) && does_the_same(other.workers[0], worker)
            });
            match twin {
                Some(twin) => twin.workers.push(worker),
                None => rounds[number].push(unit),
            }
        }
    }
    rounds
}

fn does_the_same(one: &Worker, other: &Worker) -> bool {
    let number = |got: &Option<Got<u64>>| got.as_ref().map(|got| got.value);
    let apart = is_apart(&[one, other]);
    number(&one.depth) == number(&other.depth)
        && number(&one.sectors) == number(&other.sectors)
        && number(&one.first) == number(&other.first)
        && (names(one) == names(other) || (apart && one.targets.len() == other.targets.len()))
}

/// What a worker does: what is assigned to it, else the defaults, else all.
fn specs<'a>(all: &'a Configuration, worker: &'a Worker, losses: &mut Losses) -> Vec<Unit<'a>> {
    let unit = |spec| Unit { spec, workers: vec![worker] };
    let mut units = Vec::new();
    for got in &worker.specs {
        match all.specs.iter().find(|spec| spec.name == got.value) {
            Some(spec) if !spec.lines.is_empty() => units.push(unit(spec)),
            _ if got.value == "Idle" => {
                let needs = "a worker that rests while others work";
                losses.replace(got.id, Verdict::refused(needs));
            }
            _ => losses.replace(got.id, Verdict::refused("a specification of this name")),
        }
    }
    if worker.specs.is_empty() {
        let is_there = |spec: &&Specification| !spec.lines.is_empty();
        let defaults = all.specs.iter().filter(is_there).filter(|spec| spec.is_default);
        units.extend(defaults.map(unit));
        if units.is_empty() {
            units.extend(all.specs.iter().filter(is_there).map(unit));
        }
    }
    units
}

fn group(
    units: &mut [Unit<'_>],
    in_turn: bool,
    all: &Configuration,
    taken: &mut Taken,
    losses: &mut Losses,
) -> Group {
    let first = units.first();
    let name = first.map(|unit| plain_name(&unit.spec.name)).unwrap_or_default();
    let mut group = Group { name, in_turn, ..Group::default() };
    let places = targets(units, losses, &mut group);
    layout(units, losses, &mut group);
    let warm = all.setup.ramp.as_ref().filter(|got| got.value > 0);
    if let Some(got) = warm {
        let ramp = time(got.value.saturating_mul(SECOND));
        group.stages.set("precondition", ramp, losses.source(got.id));
    }
    let seconds = all.setup.time.as_ref().map_or(60, |got| match got.value {
        0 => 60,
        seconds => seconds,
    });
    let source = Got::source(&all.setup.time, losses);
    group.stages.set("measure", time(seconds.saturating_mul(SECOND)), source);
    group.engine.set("direct", "true", "");
    let pattern = units.iter().flat_map(|unit| &unit.workers).find_map(|w| w.pattern.as_ref());
    if let Some(got) = pattern.filter(|got| got.value == 0) {
        group.contents.text("compressible", "100%", losses.source(got.id));
    }
    sweep(&all.setup, losses, &mut group);
    for (unit, places) in units.iter_mut().zip(places) {
        let mut fields = fields(unit, &all.setup, losses, &group);
        if let Some(value) = selected(&places, group.targets.len()) {
            let own = unit.workers.iter().flat_map(|worker| &worker.targets).next();
            let source = own.map(|got| losses.source(got.id)).unwrap_or_default();
            fields.set("targets", value, source);
        }
        let name = unique(&plain_name(&unit.spec.name), taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    group
}

/// The targets of a group; the places of those of each unit among them.
fn targets(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group) -> Vec<Vec<usize>> {
    let of = |unit: &Unit<'_>| -> Vec<String> {
        let all = unit.workers.iter().flat_map(|worker| names(worker));
        let mut all: Vec<String> = all.map(str::to_owned).collect();
        all.sort();
        all.dedup();
        all
    };
    let all = || units.iter().flat_map(|unit| &unit.workers).flat_map(|worker| &worker.targets);
    let from = all().find(|got| got.value.path.is_some());
    group.targets_from = from.map(|got| losses.source(got.id)).unwrap_or_default();
    if units.iter().all(|unit| of(unit) == of(&units[0])) {
        for path in all().filter_map(|got| got.value.path.as_ref()) {
            if !group.targets.contains(path) {
                group.targets.push(path.clone());
            }
        }
        return vec![Vec::new(); units.len()];
    }
    // Where one leaves targets out, each has one of its own.
    let mut known: Vec<&str> = Vec::new();
    for got in all() {
        if known.contains(&got.value.name.as_str()) {
            continue;
        }
        known.push(&got.value.name);
        group.targets.push(got.value.path.clone().unwrap_or_else(|| {
            let numbered = (1..).map(|number| format!("plimsoll-data-{number}"));
            numbered.into_iter().find(|one| !group.targets.contains(one)).unwrap_or_default()
        }));
        if got.value.path.is_none() {
            losses.worsen(got.id, Verdict::near(ELSEWHERE));
        }
    }
    let places = |unit: &Unit<'_>| {
        let of = of(unit);
        (0..known.len()).filter(|at| of.iter().any(|name| name == known[*at])).collect()
    };
    units.iter().map(places).collect()
}

const ELSEWHERE: &str = "no path of this system; a folder stands for it, and `--target` names \
others, in the order of `[targets]`";

/// The bytes of a target that are loaded, and those before them.
fn layout(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group) {
    let worker = units.first().and_then(|unit| unit.workers.first());
    let is_device =
        !group.targets.is_empty() && group.targets.iter().all(|path| path.starts_with("/dev/"));
    group.layout.set("files", "1", "");
    let sectors = worker.and_then(|worker| worker.sectors.as_ref()).filter(|got| got.value > 0);
    let before = worker.and_then(|worker| worker.first.as_ref()).map_or(0, |got| got.value);
    match sectors {
        Some(got) => {
            let bytes = before.saturating_add(got.value).saturating_mul(SECTOR);
            let bytes = bytes.clamp(1 << 20, 1 << 60);
            group.layout.set("size", size(bytes), losses.source(got.id));
        }
        None if is_device => group.layout.set("size", "\"free\"", ""),
        None => {
            let all = worker.and_then(|worker| worker.sectors.as_ref());
            if let Some(got) = all {
                let why = "90 % of what is free: Iometer fills the drive";
                losses.worsen(got.id, Verdict::near(why));
            }
            let source = all.map(|got| losses.source(got.id)).unwrap_or_default();
            group.layout.set("size", "\"free * 9 / 10\"", source);
        }
    }
    let others = units.iter().flat_map(|unit| &unit.workers);
    for other in others {
        let wanted = sectors.map(|got| got.value);
        let own = other.sectors.as_ref().filter(|got| got.value > 0);
        if let (Some(got), true) = (&other.sectors, own.map(|got| got.value) != wanted) {
            let needs = "a size of a target for one worker among several";
            losses.worsen(got.id, Verdict::refused(needs));
        }
    }
    if !is_device {
        group.stages.set("prepare", "true", "");
    }
}

fn sweep(setup: &Setup, losses: &mut Losses, group: &mut Group) {
    let cycled = setup.cycled.as_ref().map_or(Cycled::Nothing, |got| got.value);
    let (axis, cycle, most) = match cycled {
        Cycled::Nothing => return,
        Cycled::Depth => ("depth", &setup.depth_cycle, 4_096),
        Cycled::Workers => ("workers", &setup.worker_cycle, 65_536),
    };
    let Some(got) = cycle else { return };
    let steps = steps(&got.value, most);
    let verdict = match (axis, got.value.end) {
        (_, Some(_)) => Verdict::same(format!("`sweep.{axis}`")),
        _ => Verdict::near("`sweep.workers`, to four steps: Iometer goes on to all its workers"),
    };
    losses.replace(got.id, verdict);
    let all: Vec<String> = steps.iter().map(u64::to_string).collect();
    group.sweep.set(axis, format!("[{}]", all.join(", ")), losses.source(got.id));
}

fn steps(cycle: &Cycle, most: u64) -> Vec<u64> {
    let mut all = Vec::new();
    let mut at = cycle.start.clamp(1, most);
    let end = cycle.end.unwrap_or(most).clamp(at, most);
    let count = if cycle.end.is_some() { MOST_STEPS } else { 4 };
    while at <= end && all.len() < count {
        all.push(at);
        at = match cycle.exponential {
            true => at.saturating_mul(cycle.step.max(2)),
            false => at.saturating_add(cycle.step.max(1)),
        };
    }
    all
}

fn fields(unit: &Unit<'_>, setup: &Setup, losses: &mut Losses, group: &Group) -> Fields {
    let mut fields = requests(unit, losses);
    let worker = unit.workers[0];
    let depth = worker.depth.as_ref().map_or(1, |got| got.value).clamp(1, 4_096);
    if group.sweep.get("depth").is_none() {
        fields.set("depth", depth.to_string(), Got::source(&worker.depth, losses));
    }
    // Each worker keeps its depth at each of its targets.
    let targets = worker.targets.len().max(1);
    let count = (unit.workers.len() * targets) as u64;
    let spawned = setup.workers.as_ref().filter(|_| worker.manager == 0);
    if group.sweep.get("workers").is_none() {
        match spawned.map(|got| (got.value, got.id)) {
            Some((None, id)) => fields.set("workers", "\"cpus\"", losses.source(id)),
            Some((Some(count), id)) => {
                fields.set("workers", count.clamp(1, 65_536).to_string(), losses.source(id));
            }
            None => fields.set("workers", count.min(65_536).to_string(), ""),
        }
    }
    let apart = is_apart(&unit.workers);
    if targets > 1 {
        let why = match apart {
            true => "a worker for each target, with the same requests outstanding there",
            false => "workers that load all targets, with as many requests outstanding in all",
        };
        for got in unit.workers.iter().flat_map(|worker| &worker.targets) {
            losses.worsen(got.id, Verdict::near(why));
        }
    }
    if !apart && (count > 1 || spawned.is_some()) {
        fields.text("sharing", "whole", "");
    }
    window(worker, losses, &mut fields);
    fields
}

/// Where the loaded sectors begin.
fn window(worker: &Worker, losses: &mut Losses, fields: &mut Fields) {
    let Some(first) = worker.first.as_ref().filter(|got| got.value > 0) else { return };
    let Some(sectors) = worker.sectors.as_ref().filter(|got| got.value > 0) else {
        let needs = "a `range` in bytes of a target whose size is not known; give its maximum size";
        losses.worsen(first.id, Verdict::refused(needs));
        return;
    };
    let all = u128::from(first.value) + u128::from(sectors.value);
    let scaled = u128::from(first.value) * u128::from(ALL);
    let from = (scaled / all) as u64;
    if from >= ALL {
        let needs = "a `range` of less than 0.0001 % of the target";
        losses.worsen(first.id, Verdict::refused(needs));
        return;
    }
    if scaled % all != 0 {
        let why = "`range`, rounded to 0.0001 % of the target";
        losses.worsen(first.id, Verdict::near(why));
    }
    let range = format!("{}-100%", share(from));
    fields.text("range", &range, losses.source(first.id));
}

/// What requests are: sizes with weights, shares of reads and of random requests, rests.
fn requests(unit: &Unit<'_>, losses: &mut Losses) -> Fields {
    let mut fields = Fields::default();
    let spec = unit.spec;
    let first = &spec.lines[0];
    let source = Got::source(&first.size, losses);
    let lines: Vec<&Line> = spec.lines.iter().filter(|line| weight(line) > 0).collect();
    let lines = if lines.is_empty() { vec![first] } else { lines };
    let reads = |line: &Line| number(&line.reads, 100).min(100);
    let read_sizes = mix(&lines, &|line| weight(line) * reads(line));
    let write_sizes = mix(&lines, &|line| weight(line) * (100 - reads(line)));
    match (read_sizes.as_str(), write_sizes.as_str()) {
        ("", one) | (one, "") => fields.set("block_size", one, source),
        (one, other) if one == other => fields.set("block_size", one, source),
        (one, other) => {
            fields.set("block_size", one, source.clone());
            fields.set("write_block_size", other, source);
        }
    }
    let all: u64 = lines.iter().map(|line| weight(line).max(1)).sum();
    let mean = |of: &dyn Fn(&Line) -> u64| {
        let sum: u64 = lines.iter().map(|line| weight(line).max(1) * of(line)).sum();
        sum * (ALL / 100) / all.max(1)
    };
    let from = Got::source(&first.reads, losses);
    fields.set("read", quoted(&share(mean(&reads))), from);
    let random = |line: &Line| number(&line.random, 100).min(100);
    let share_random = mean(&random);
    let from = Got::source(&first.random, losses);
    match share_random {
        0 => fields.text("access", "sequential", from),
        ALL => fields.text("access", "random", from),
        some => {
            fields.text("access", "random", from.clone());
            fields.set("random", quoted(&share(some)), from);
        }
    }
    let why = "the mean of all lines by weight: each size is random as often as the others";
    differ(&lines, &|line| &line.random, 100, why, losses);
    if share_random > 0 {
        align(&lines, losses, &mut fields);
    }
    rests(&lines, losses, &mut fields);
    fields
}

fn weight(line: &Line) -> u64 {
    number(&line.weight, 100)
}

fn number(got: &Option<Got<u64>>, otherwise: u64) -> u64 {
    got.as_ref().map_or(otherwise, |got| got.value)
}

/// Says what differs of lines that are not alike in a column.
fn differ(
    lines: &[&Line],
    of: &dyn for<'a> Fn(&'a Line) -> &'a Option<Got<u64>>,
    otherwise: u64,
    why: &str,
    losses: &mut Losses,
) {
    let first = lines.first().map(|line| number(of(line), otherwise));
    for line in lines {
        if let Some(got) = of(line).as_ref().filter(|got| Some(got.value) != first) {
            losses.worsen(got.id, Verdict::near(why));
        }
    }
}

/// Sizes with their weights, as small as they go; empty where no request has one.
fn mix(lines: &[&Line], weight: &dyn Fn(&Line) -> u64) -> String {
    let mut sizes: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        let bytes = number(&line.size, 2_048).clamp(512, 1 << 30);
        let own = weight(line);
        match sizes.iter_mut().find(|(known, _)| *known == bytes) {
            Some((_, sum)) => *sum += own,
            None => sizes.push((bytes, own)),
        }
    }
    sizes.retain(|(_, weight)| *weight > 0);
    let common = sizes.iter().fold(0, |all, (_, weight)| divisor(all, *weight)).max(1);
    match sizes.as_slice() {
        [] => String::new(),
        [(one, _)] => size(*one),
        sizes => {
            let part = |(bytes, weight): &(u64, u64)| {
                format!("{}:{}", size(*bytes).trim_matches('"'), weight / common)
            };
            quoted(&sizes.iter().map(part).collect::<Vec<_>>().join(", "))
        }
    }
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn align(lines: &[&Line], losses: &mut Losses, fields: &mut Fields) {
    let first = lines[0];
    let value = number(&first.align, 0);
    differ(lines, &|line| &line.align, 0, "the alignment of the first line for all", losses);
    let Some(got) = &first.align else { return };
    if value == 0 {
        let why = "`align = 512`: the sector of the target, taken as 512 bytes. With 4 KiB \
            sectors: \
                   `--set align=4KiB`";
        losses.worsen(got.id, Verdict::near(why));
    }
    let bytes = if value == 0 { SECTOR } else { value.clamp(512, 1 << 30) };
    fields.set("align", size(bytes), losses.source(got.id));
}

fn rests(lines: &[&Line], losses: &mut Losses, fields: &mut Fields) {
    let first = lines[0];
    let why = "the rest of the first line for all";
    differ(lines, &|line| &line.delay, 0, why, losses);
    let Some(delay) = first.delay.as_ref().filter(|got| got.value > 0) else { return };
    fields.set("think", time(delay.value * 1_000_000), losses.source(delay.id));
    differ(lines, &|line| &line.burst, 1, why, losses);
    if let Some(got) = first.burst.as_ref().filter(|got| got.value > 1) {
        fields.set("burst", got.value.min(65_536).to_string(), losses.source(got.id));
    }
}
