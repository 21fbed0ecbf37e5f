//! A configuration of Iometer as a suite. All workers run their first specification at the same
//! time, then their second, and so on.

use super::part::{Cycle, Part, Target, cycle};
use super::requests::requests;
use super::{Configuration, Specification};
use crate::apart::selected;
use crate::draft::{Draft, Fields, Group, Taken, Work, plain_name, share, size, time, unique};
use crate::import::Import;
use crate::loss::{Losses, Verdict};
use crate::rows::Values;
use crate::words::line::{DEPTH, Limits, WORKERS};
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
    let what = "a configuration of Iometer";
    let mut draft = Draft::imported(plain, stem, what, "the line that", groups);
    if let Some(description) = all.setup.values.text("description") {
        description.clone_into(&mut draft.description);
    }
    if let Some(worker) = workers.iter().find(|worker| worker.values.is("seed")) {
        worker.values.copy("seed", &losses, &mut draft.top, "seed", |seed| seed.to_string());
        for other in &all.workers {
            if other.values.number("seed") != worker.values.number("seed") {
                let why = Verdict::near("the seed of the first worker for all");
                other.values.worsen("seed", &mut losses, why);
            }
        }
    }
    let suites = write::suites(&draft);
    Import::new("iometer", losses, suites)
}

/// The workers of one manager: all hosts do the same here.
fn workers(all: &Configuration, losses: &mut Losses) -> Vec<Part> {
    let of = |manager: usize| -> Vec<&Part> {
        all.workers.iter().filter(|worker| worker.manager == manager).collect()
    };
    let Some(first) = all.workers.first().map(|worker| worker.manager) else {
        // Saved without managers: it says what requests are, not who sends them.
        return vec![Part::of(0)];
    };
    let own = of(first);
    for manager in first + 1..=all.managers {
        let others = of(manager);
        let alike = others.len() == own.len()
            && own.iter().zip(&others).all(|(one, other)| is_alike(one, other));
        if !others.is_empty() && !alike {
            let needs = "workers that differ from host to host; import this manager by itself";
            for worker in others {
                let ids = worker.values.id("depth").into_iter();
                for id in ids.chain(worker.specs.iter().map(|(_, id)| *id)) {
                    losses.worsen(id, Verdict::refused(needs));
                }
            }
        }
    }
    own.into_iter().cloned().collect()
}

/// Its numbers, which workers that do the same share.
fn numbers(worker: &Part) -> [Option<u64>; 3] {
    ["depth", "sectors", "first"].map(|slot| worker.values.number(slot))
}

fn is_alike(one: &Part, other: &Part) -> bool {
    let specs = |worker: &Part| -> Vec<String> {
        worker.specs.iter().map(|(name, _)| name.clone()).collect()
    };
    numbers(one) == numbers(other) && specs(one) == specs(other) && one.names() == other.names()
}

/// Whether no target is loaded by two workers.
fn is_apart(workers: &[&Part]) -> bool {
    let mut all: Vec<&str> = workers.iter().flat_map(|worker| worker.names()).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    all.len() == count && workers.iter().all(|worker| !worker.targets.is_empty())
}

/// Workers that do the same at the same time.
#[derive(Clone)]
pub struct Unit<'a> {
    /// The specification.
    pub spec: &'a Specification,
    /// Who does it.
    pub workers: Vec<&'a Part>,
}

/// What runs at the same time, round after round.
fn rounds<'a>(
    all: &'a Configuration,
    workers: &'a [Part],
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

fn does_the_same(one: &Part, other: &Part) -> bool {
    let apart = is_apart(&[one, other]) && one.targets.len() == other.targets.len();
    numbers(one) == numbers(other) && (apart || one.names() == other.names())
}

/// What a worker does: what is assigned to it, else the defaults, else all.
fn specs<'a>(all: &'a Configuration, worker: &'a Part, losses: &mut Losses) -> Vec<Unit<'a>> {
    let unit = |spec| Unit { spec, workers: vec![worker] };
    let mut units = Vec::new();
    for (name, id) in &worker.specs {
        match all.specs.iter().find(|spec| spec.name == *name) {
            Some(spec) if !spec.lines.is_empty() => units.push(unit(spec)),
            _ if name == "Idle" => {
                let needs = "a worker that rests while others work";
                losses.replace(*id, Verdict::refused(needs));
            }
            _ => losses.replace(*id, Verdict::refused("a specification of this name")),
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
    let setup = &all.setup.values;
    if setup.number("ramp") > Some(0) {
        setup.copy("ramp", losses, &mut group.stages, "precondition", time);
    }
    let seconds = setup.number("time").filter(|seconds| *seconds > 0).unwrap_or(60);
    group.stages.set("measure", time(seconds * SECOND), setup.source("time", losses));
    group.engine.set("direct", "true", "");
    contents(units, losses, &mut group);
    sweep(setup, losses, &mut group);
    for (unit, places) in units.iter_mut().zip(places) {
        let mut fields = fields(unit, setup, losses, &group);
        if let Some(value) = selected(&places, group.targets.len()) {
            let own = unit.workers.iter().flat_map(|worker| &worker.targets).next();
            let source = own.map(|target| losses.source(target.id)).unwrap_or_default();
            fields.set("targets", value, source);
        }
        let name = unique(&plain_name(&unit.spec.name), taken);
        group.works.push(Work { name, note: String::new(), fields });
    }
    group
}

/// `Data pattern`, which all workers of a suite share.
fn contents(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group) {
    let workers = units.iter().flat_map(|unit| &unit.workers).map(|worker| &worker.values);
    let (zero, other): (Vec<&Values>, Vec<&Values>) = workers
        .filter(|values| values.is("pattern"))
        .partition(|values| values.number("pattern") == Some(0));
    match zero.first().filter(|_| other.is_empty()) {
        Some(first) => {
            let from = first.source("pattern", losses);
            group.contents.text("compressible", "100%", from);
        }
        None => {
            let needs = Verdict::refused("repeating bytes of one worker among several");
            zero.iter().for_each(|values| values.worsen("pattern", losses, needs.clone()));
        }
    }
}

/// The targets of a group; the places of those of each unit among them.
fn targets(units: &[Unit<'_>], losses: &mut Losses, group: &mut Group) -> Vec<Vec<usize>> {
    let of = |unit: &Unit<'_>| -> Vec<String> {
        let all = unit.workers.iter().flat_map(|worker| worker.names());
        let mut all: Vec<String> = all.map(str::to_owned).collect();
        all.sort();
        all.dedup();
        all
    };
    let all = || units.iter().flat_map(|unit| &unit.workers).flat_map(|worker| &worker.targets);
    let from = all().find(|target| target.path.is_some());
    group.targets_from = from.map(|target| losses.source(target.id)).unwrap_or_default();
    if units.iter().all(|unit| of(unit) == of(&units[0])) {
        for path in all().filter_map(|target| target.path.as_ref()) {
            if !group.targets.contains(path) {
                group.targets.push(path.clone());
            }
        }
        return vec![Vec::new(); units.len()];
    }
    // Where one leaves targets out, each has one of its own.
    let mut known: Vec<&str> = Vec::new();
    for Target { name, path, id } in all() {
        if known.contains(&name.as_str()) {
            continue;
        }
        known.push(name);
        group.targets.push(path.clone().unwrap_or_else(|| {
            let mut numbered = (1..).map(|number| format!("plimsoll-data-{number}"));
            numbered.find(|one| !group.targets.contains(one)).unwrap_or_default()
        }));
        if path.is_none() {
            losses.worsen(*id, Verdict::near(ELSEWHERE));
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
    let Some(worker) = units.first().and_then(|unit| unit.workers.first()) else { return };
    let values = &worker.values;
    let is_device =
        !group.targets.is_empty() && group.targets.iter().all(|path| path.starts_with("/dev/"));
    group.layout.set("files", "1", "");
    let sectors = values.number("sectors").filter(|sectors| *sectors > 0);
    if let Some(sectors) = sectors {
        let all = values.number("first").unwrap_or(0).saturating_add(sectors);
        let limits = Limits(1 << 20, 1 << 60, size);
        let bytes = limits.keep(all.saturating_mul(SECTOR), values.id("sectors"), losses);
        group.layout.set("size", size(bytes), values.source("sectors", losses));
    } else if is_device {
        group.layout.set("size", "\"free\"", "");
    } else {
        let why = "90 % of what is free: Iometer fills the drive";
        values.worsen("sectors", losses, Verdict::near(why));
        group.layout.set("size", "\"free * 9 / 10\"", values.source("sectors", losses));
    }
    for other in units.iter().flat_map(|unit| &unit.workers) {
        if other.values.number("sectors").filter(|own| *own > 0) != sectors {
            let needs = "a size of a target for one worker among several";
            other.values.worsen("sectors", losses, Verdict::refused(needs));
        }
    }
    if !is_device {
        group.stages.set("prepare", "true", "");
    }
}

fn sweep(setup: &Values, losses: &mut Losses, group: &mut Group) {
    let (axis, slot, most) = match setup.text("cycled") {
        Some("CYCLE_OUTSTANDING_IOS") => ("depth", "depth_cycle", 4_096),
        Some("CYCLE_WORKERS") => ("workers", "worker_cycle", 65_536),
        _ => return,
    };
    let (Some(id), Some(text)) = (setup.id(slot), setup.text(slot)) else { return };
    let Ok(cycle) = cycle(text) else { return };
    let all = steps(&cycle, most);
    let last = all.last().copied().unwrap_or(0);
    let is_cut = all.first() != Some(&cycle.start) || cycle.end >= Some(cycle.after(last));
    let verdict = match cycle.end {
        Some(_) if is_cut => {
            Verdict::near(format!("`sweep.{axis}`, of {MOST_STEPS} numbers from 1 to {most}"))
        }
        Some(_) => Verdict::same(format!("`sweep.{axis}`")),
        _ => Verdict::near("`sweep.workers`, to four steps: Iometer goes on to all its workers"),
    };
    losses.replace(id, verdict);
    let all: Vec<String> = all.iter().map(u64::to_string).collect();
    group.sweep.set(axis, format!("[{}]", all.join(", ")), losses.source(id));
}

fn steps(cycle: &Cycle, most: u64) -> Vec<u64> {
    let mut all = Vec::new();
    let mut at = cycle.start.clamp(1, most);
    let end = cycle.end.unwrap_or(most).clamp(at, most);
    let count = if cycle.end.is_some() { MOST_STEPS } else { 4 };
    while at <= end && all.len() < count {
        all.push(at);
        at = cycle.after(at);
    }
    all
}

fn fields(unit: &Unit<'_>, setup: &Values, losses: &mut Losses, group: &Group) -> Fields {
    let mut fields = requests(unit.spec, losses);
    let worker = unit.workers[0];
    if group.sweep.get("depth").is_none() {
        let depth = DEPTH.of("depth", &worker.values, losses).unwrap_or(1);
        fields.set("depth", depth.to_string(), worker.values.source("depth", losses));
    }
    // Each worker keeps its depth at each of its targets.
    let targets = worker.targets.len().max(1);
    let count = (unit.workers.len() * targets) as u64;
    let is_spawned = worker.manager == 0 && setup.is("workers");
    if group.sweep.get("workers").is_none() {
        let from = setup.source("workers", losses);
        match setup.number("workers") {
            _ if !is_spawned => fields.set("workers", count.min(65_536).to_string(), ""),
            Some(_) => WORKERS.copy("workers", setup, losses, &mut fields, "workers"),
            None => fields.set("workers", "\"cpus\"", from),
        }
    }
    let apart = is_apart(&unit.workers);
    if targets > 1 {
        let why = match apart {
            true => "a worker for each target, with the same requests outstanding there",
            false => "workers that load all targets, with as many requests outstanding in all",
        };
        for target in unit.workers.iter().flat_map(|worker| &worker.targets) {
            losses.worsen(target.id, Verdict::near(why));
        }
    }
    if !apart && (count > 1 || is_spawned) {
        fields.text("sharing", "whole", "");
    }
    window(&worker.values, losses, &mut fields);
    fields
}

/// Where the loaded sectors begin.
fn window(worker: &Values, losses: &mut Losses, fields: &mut Fields) {
    let above_0 = |slot: &str| worker.number(slot).filter(|sectors| *sectors > 0);
    let Some(first) = above_0("first") else { return };
    let Some(sectors) = above_0("sectors") else {
        let needs = "a `range` in bytes of a target whose size is not known; give its maximum size";
        worker.worsen("first", losses, Verdict::refused(needs));
        return;
    };
    let all = u128::from(first) + u128::from(sectors);
    let scaled = u128::from(first) * u128::from(ALL);
    let from = (scaled / all) as u64;
    if from >= ALL {
        let needs = "a `range` of less than 0.0001 % of the target";
        worker.worsen("first", losses, Verdict::refused(needs));
        return;
    }
    if scaled % all != 0 {
        let why = "`range`, rounded to 0.0001 % of the target";
        worker.worsen("first", losses, Verdict::near(why));
    }
    fields.text("range", &format!("{}-100%", share(from)), worker.source("first", losses));
}
