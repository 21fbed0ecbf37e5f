//! A run on file systems, as groups of workloads.

use super::files::{FileSystem, FileWorkload};
use super::loops::{Point, points};
use super::population::{self, Count, sizes_of};
use super::raw_shares::{at_full_speed, shares};
use super::raw_stages::times;
use super::run::{Rate, Run};
use super::storage::Open;
use super::values::is_asked;
use crate::draft::{Fields, Group, Taken, Work, plain_name, quoted, share, unique};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;

/// No layout of plain files has more of them.
const MOST_FILES: u64 = 65_536;
/// No tree has larger files, nor more of them.
const MOST_TREE_SIZE: u64 = 64 << 20;
const MOST_TREE_FILES: u64 = 1 << 32;

/// What an operation becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Requests, with this share of reads in millionths.
    Requests(u64),
    /// An operation on files, in a suite's word.
    Files(&'static str),
    /// None.
    Unknown,
}

fn kind(word: &str) -> Kind {
    match word {
        "read" => Kind::Requests(1_000_000),
        "write" => Kind::Requests(0),
        "create" => Kind::Files("create"),
        "delete" => Kind::Files("remove"),
        "getattr" | "access" => Kind::Files("stat"),
        "setattr" => Kind::Files("setattr"),
        "open" | "close" => Kind::Files("open"),
        "mkdir" => Kind::Files("mkdir"),
        "rmdir" => Kind::Files("rmdir"),
        _ => Kind::Unknown,
    }
}

/// A workload with its kind.
struct Unit<'a> {
    workload: &'a FileWorkload,
    kind: Kind,
}

/// The groups of a run.
pub fn groups(
    run: &Run,
    systems: &[FileSystem],
    workloads: &[FileWorkload],
    losses: &mut Losses,
    taken: &mut Taken,
) -> Vec<Group> {
    let asked = |names: &Option<Got<Vec<String>>>, name: &str| {
        names.as_ref().is_none_or(|got| got.value.iter().any(|pattern| is_asked(pattern, name)))
    };
    let used: Vec<&FileWorkload> =
        workloads.iter().filter(|workload| asked(&run.workloads, &workload.name)).collect();
    if used.is_empty() {
        if let Some(got) = &run.workloads {
            losses.worsen(got.id, Verdict::refused("no workload of that name is defined"));
        }
        return Vec::new();
    }
    let of: Vec<&FileSystem> = systems
        .iter()
        .filter(|system| {
            let named = |workload: &&FileWorkload| asked(&workload.file_systems, &system.name);
            used.iter().any(named) && asked(&run.storages, &system.name)
        })
        .collect();
    let (sweep, points) = points(run, "workers", used.len() == 1, losses);
    let operations: Vec<Option<&String>> = match &run.operations {
        Some(got) => got.value.iter().map(Some).collect(),
        None => vec![None],
    };
    let mut groups = Vec::new();
    for operation in operations {
        let units: Vec<Unit<'_>> = used
            .iter()
            .map(|workload| Unit { workload, kind: asked_kind(workload, run, operation, losses) })
            .collect();
        for point in &points {
            groups.push(group(run, point, &sweep, &of, &units, losses, taken));
        }
    }
    groups
}

fn asked_kind(
    workload: &FileWorkload,
    run: &Run,
    operation: Option<&String>,
    losses: &mut Losses,
) -> Kind {
    let own = workload.operation.as_ref();
    let Some(word) = operation.or(own.map(|got| &got.value)) else {
        let read = workload.read.as_ref().map_or(1_000_000, |got| got.value);
        return Kind::Requests(read);
    };
    let found = kind(&word.to_ascii_lowercase());
    if found == Kind::Unknown {
        let id = match operation {
            Some(_) => run.operations.as_ref().map(|got| got.id),
            None => own.map(|got| got.id),
        };
        let shown: String = word.chars().take(40).collect();
        if let Some(id) = id {
            losses.worsen(id, Verdict::refused(format!("the operation `{shown}` on files")));
        }
    }
    match (found, &workload.read) {
        (Kind::Requests(_), Some(got)) if operation.is_none() => Kind::Requests(got.value),
        _ => found,
    }
}

fn group(
    run: &Run,
    point: &Point,
    sweep: &Fields,
    of: &[&FileSystem],
    units: &[Unit<'_>],
    losses: &mut Losses,
    taken: &mut Taken,
) -> Group {
    let mut group = Group { name: run.name.clone(), ..Group::default() };
    for got in of.iter().filter_map(|system| system.anchor.as_ref()) {
        if !group.targets.contains(&got.value) {
            group.targets.push(got.value.clone());
            group.targets_from = losses.source(got.id);
        }
    }
    let only_makes = units.iter().all(|unit| unit.kind == Kind::Files("create"));
    let is_large = sizes_of(run, of).is_some_and(|got| got.value.largest > MOST_TREE_SIZE);
    let is_tree =
        units.iter().any(|unit| matches!(unit.kind, Kind::Files(_))) && !(only_makes && is_large);
    unlike(of, losses);
    match is_tree {
        true => tree(run, of, units, losses, &mut group, taken),
        false => requests(run, point, sweep, of, units, losses, &mut group, taken),
    }
    group
}

/// File systems of one run have the same shape.
fn unlike(of: &[&FileSystem], losses: &mut Losses) {
    let shape = |system: &FileSystem| {
        let value = |got: &Option<Got<u64>>| got.as_ref().map(|got| got.value);
        let sizes = system.sizes.as_ref().map(|got| got.value.text.clone());
        (value(&system.depth), value(&system.width), value(&system.files), sizes)
    };
    let Some(first) = of.first() else { return };
    for other in of.iter().filter(|other| shape(other) != shape(first)) {
        let ids = [other.files.as_ref().map(|got| got.id), other.sizes.as_ref().map(|got| got.id)];
        for id in ids.into_iter().flatten() {
            let why = "all file systems of a run have the files of its first one";
            losses.worsen(id, Verdict::near(why));
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "what a point is made of")]
fn requests(
    run: &Run,
    point: &Point,
    sweep: &Fields,
    of: &[&FileSystem],
    units: &[Unit<'_>],
    losses: &mut Losses,
    group: &mut Group,
    taken: &mut Taken,
) {
    group.sweep = sweep.clone();
    let Count { files: all, source } = population::count(run, of, losses);
    let got = of.first().and_then(|system| system.files.as_ref());
    if let Some(got) = got.filter(|_| all > MOST_FILES) {
        let why = format!("{MOST_FILES} of {all} files: requests go to fewer, larger directories");
        losses.worsen(got.id, Verdict::near(why));
    }
    group.layout.set("files", all.clamp(1, MOST_FILES).to_string(), source);
    let sizes = sizes_of(run, of);
    let mut largest = u64::MAX;
    if let Some(got) = sizes {
        largest = got.value.largest;
        let key = if got.value.text.contains(':') { "sizes" } else { "size" };
        group.layout.text(key, &got.value.text, losses.source(got.id));
    }
    match units.iter().all(|unit| unit.kind == Kind::Files("create")) {
        // Large files are made by writing all of them once.
        true => {
            group.stages.set("prepare", "false", "");
            group.stages.text("amount", "all", "");
        }
        false => {
            group.stages.set("prepare", "true", Got::source(&run.format, losses));
            times(run, losses, group);
        }
    }
    let opens: Vec<&Open> = std::iter::once(&run.open)
        .chain(units.iter().map(|unit| &unit.workload.open))
        .chain(of.iter().map(|system| &system.open))
        .collect();
    let direct = opens.iter().find_map(|open| open.direct.as_ref());
    let source = direct.map(|got| losses.source(got.id)).unwrap_or_default();
    group.engine.text("backend", "sync", "");
    group.engine.set("direct", direct.is_some().to_string(), source);
    group.engine.text("pin", "none", "");
    let durable = opens.iter().find_map(|open| open.durable.as_ref()).cloned();
    let rate = point.rate.as_ref();
    let skews: Vec<Option<&Got<f64>>> =
        units.iter().map(|unit| unit.workload.skew.as_ref()).collect();
    let values: Vec<Option<f64>> = skews.iter().map(|got| got.map(|got| got.value)).collect();
    let parts = match rate.map(|got| got.value) {
        Some(Rate::Fixed(rate)) => shares(rate, &values),
        _ => Vec::new(),
    };
    let only_makes = units.iter().all(|unit| unit.kind == Kind::Files("create"));
    let mut free = at_full_speed(point, &skews, false, losses);
    if only_makes && !free.is_empty() {
        // What is made ends with an amount, and no ratio can hold to its end.
        free.clear();
        for got in skews.iter().flatten() {
            let needs = "shares of workloads that end after an amount";
            losses.worsen(got.id, Verdict::refused(needs));
        }
    }
    for (number, unit) in units.iter().enumerate() {
        let mut fields = request_fields(unit, point, sweep, largest, losses);
        if let (Some(got), Some(part)) = (rate, parts.get(number)) {
            fields.set("rate", part.to_string(), losses.source(got.id));
        }
        if let Some(part) = free.get(number) {
            fields.set("share", part.value.clone(), part.from.clone());
        }
        if let Some(got) = &durable {
            fields.set("dsync", "true", losses.source(got.id));
        }
        group.works.push(named(run, unit, units.len(), fields, taken));
    }
}

fn named(run: &Run, unit: &Unit<'_>, all: usize, fields: Fields, taken: &mut Taken) -> Work {
    let name = match all {
        1 => run.name.clone(),
        _ => format!("{}-{}", run.name, unit.workload.name),
    };
    Work { name: unique(&plain_name(&name), taken), note: String::new(), fields }
}

fn request_fields(
    unit: &Unit<'_>,
    point: &Point,
    sweep: &Fields,
    largest: u64,
    losses: &mut Losses,
) -> Fields {
    let workload = unit.workload;
    let mut fields = Fields::default();
    let sizes = point.sizes.as_ref().or(workload.sizes.as_ref());
    if sweep.get("block_size").is_none() {
        let source = sizes.map(|got| losses.source(got.id)).unwrap_or_default();
        // A file that is smaller is written in one piece.
        let text = match sizes {
            // An amount is counted in blocks of one size.
            Some(got) if unit.kind == Kind::Files("create") && got.value.text.contains(':') => {
                losses
                    .worsen(got.id, Verdict::near("files are made in blocks of the largest size"));
                crate::draft::size(got.value.largest.min(largest)).trim_matches('"').to_owned()
            }
            Some(got) if got.value.largest <= largest => got.value.text.clone(),
            Some(got) => {
                let why = "files are smaller than that: a request has the size of a file";
                losses.worsen(got.id, Verdict::near(why));
                crate::draft::size(largest.max(512)).trim_matches('"').to_owned()
            }
            None => crate::draft::size(largest.clamp(512, 4_096)).trim_matches('"').to_owned(),
        };
        fields.text("block_size", &text, source);
    }
    let random = workload.random.as_ref();
    let source = random.map(|got| losses.source(got.id)).unwrap_or_default();
    let access = if random.is_some_and(|got| got.value) { "random" } else { "sequential" };
    fields.text("access", access, source);
    if sweep.get("read").is_none() {
        let read = match (&point.read, unit.kind) {
            (Some(got), _) => got.value,
            (None, Kind::Requests(read)) => read,
            (None, Kind::Files("create")) => 0,
            (None, _) => 1_000_000,
        };
        let got = workload.read.as_ref().map(|got| got.id);
        let source = got.or(workload.operation.as_ref().map(|got| got.id));
        let source = source.map(|id| losses.source(id)).unwrap_or_default();
        fields.text("read", &share(read), source);
    }
    if sweep.get("workers").is_none() {
        let threads = point.threads.as_ref().or(workload.threads.as_ref());
        let source = threads.map(|got| losses.source(got.id)).unwrap_or_default();
        let many = threads.map_or(1, |got| got.value).clamp(1, 65_536);
        fields.set("workers", many.to_string(), source);
    }
    fields.set("depth", "1", "");
    fields
}

/// Operations on whole files: a tree of them.
fn tree(
    run: &Run,
    of: &[&FileSystem],
    units: &[Unit<'_>],
    losses: &mut Losses,
    group: &mut Group,
    taken: &mut Taken,
) {
    group.in_turn = true;
    group.layout.text("kind", "tree", "");
    let Count { files: all, source } = population::count(run, of, losses);
    let all = all.clamp(1, MOST_TREE_FILES);
    group.tree.set("files", all.to_string(), source);
    let sizes = sizes_of(run, of);
    if let Some(got) = sizes {
        if got.value.largest > MOST_TREE_SIZE {
            losses.worsen(got.id, Verdict::near("files of 64 MiB, the largest that a tree has"));
            group.tree.text("size", "64MiB", losses.source(got.id));
        } else {
            let key = if got.value.text.contains(':') { "sizes" } else { "size" };
            group.tree.text(key, &got.value.text, losses.source(got.id));
        }
    }
    if let Some(got) = of.first().and_then(|system| system.files.as_ref()) {
        group.tree.set(
            "per_directory",
            got.value.clamp(1, 1 << 32).to_string(),
            losses.source(got.id),
        );
    }
    if let Some(got) = of.first().and_then(|system| system.width.as_ref()) {
        group.tree.set("fan_out", got.value.clamp(1, 1 << 20).to_string(), losses.source(got.id));
    }
    let depth = of.first().and_then(|system| system.depth.as_ref());
    let levels = depth.map_or(1, |got| got.value.clamp(1, 16));
    let source = depth.map(|got| losses.source(got.id)).unwrap_or_default();
    group.tree.set("depth", levels.to_string(), source);
    if let Some(got) = &run.elapsed {
        let why = "each operation goes to all files once; no time ends it";
        losses.worsen(got.id, Verdict::near(why));
    }
    if let Some(got) = &run.rates
        && got.value.iter().any(|rate| *rate != Rate::Max)
    {
        let why = "operations on files go as fast as they can";
        losses.worsen(got.id, Verdict::near(why));
    }
    for got in units.iter().filter_map(|unit| unit.workload.skew.as_ref()) {
        let why = "each operation goes to all files once, whatever its share";
        losses.worsen(got.id, Verdict::near(why));
    }
    for got in units.iter().filter_map(|unit| unit.workload.operation.as_ref()) {
        if units.len() > 1 {
            let why = "operations on all files, one after the other, not at the same time";
            losses.worsen(got.id, Verdict::near(why));
        }
    }
    let words = in_order(units);
    let threads = units.iter().find_map(|unit| unit.workload.threads.as_ref());
    let point = run.threads.as_ref().and_then(|got| got.value.first().map(|many| (*many, got.id)));
    let (workers, source) = match (point, threads) {
        (Some((many, id)), _) => (many, losses.source(id)),
        (None, Some(got)) => (got.value, losses.source(got.id)),
        (None, None) => (1, String::new()),
    };
    let mut fields = Fields::default();
    fields.text("kind", "metadata", "");
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    fields.set("operations", format!("[{}]", quoted.join(", ")), "");
    fields.set("workers", workers.clamp(1, 65_536).to_string(), source);
    let name = unique(&plain_name(&run.name), taken);
    group.works.push(Work { name, note: String::new(), fields });
}

/// The operations in an order in which they can be done: made first, removed last.
fn in_order(units: &[Unit<'_>]) -> Vec<&'static str> {
    let asked: Vec<&'static str> = units
        .iter()
        .filter_map(|unit| match unit.kind {
            Kind::Files(word) => Some(word),
            Kind::Requests(0) => Some("create"),
            Kind::Requests(_) => Some("read"),
            Kind::Unknown => None,
        })
        .collect();
    let has = |word: &str| asked.contains(&word);
    let touches = asked.iter().any(|word| !["mkdir", "rmdir"].contains(word));
    let mut words = Vec::new();
    if has("mkdir") || has("rmdir") {
        words.push("mkdir");
    }
    if touches || words.is_empty() {
        words.push("create");
    }
    words.extend(["stat", "setattr", "open", "read"].into_iter().filter(|word| has(word)));
    if has("remove") {
        words.push("remove");
    }
    if has("rmdir") {
        words.push("rmdir");
    }
    words
}
