//! A run on file systems, as groups of workloads.

use super::definition::{Definition, opened};
use super::loops::points;
use super::population::{self, COMMON, Population};
use super::raw_stages::{times, untimed};
use super::raw_unit::is_fixed;
use super::shares::{at_full_speed, refuse, shares, whole};
use super::values::{plain, requests as sizes_of_requests, sizes};
use crate::apart::{inside, selected};
use crate::draft::{Fields, Group, Taken, Work, plain_name, quoted, share, unique};
use crate::loss::{Losses, Verdict};
use crate::rows::{Value, Values};

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
    workload: &'a Definition,
    kind: Kind,
    /// The places of its file systems among those of the run.
    of: &'a [usize],
}

/// The groups of a run.
pub fn groups(
    run: &Definition,
    systems: &[Definition],
    workloads: &[Definition],
    losses: &mut Losses,
    taken: &mut Taken,
) -> Vec<Group> {
    let asked = |workload: &&Definition| run.asks("workloads", &workload.name);
    let used: Vec<&Definition> = workloads.iter().filter(asked).collect();
    if used.is_empty() {
        return Vec::new();
    }
    let asked = |system: &&Definition| {
        used.iter().any(|workload| workload.asks("storages", &system.name))
            && run.asks("storages", &system.name)
    };
    let of: Vec<&Definition> = systems.iter().filter(asked).collect();
    let own = |workload: &&Definition| {
        let places = 0..of.len();
        places.filter(|place| workload.asks("storages", &of[*place].name)).collect()
    };
    let own: Vec<Vec<usize>> = used.iter().map(own).collect();
    if own.iter().any(Vec::is_empty) {
        let needs = "a workload that loads none of the run's file systems; leave it out";
        run.worsen("workloads", losses, Verdict::refused(needs));
    }
    run.worsen("seek", losses, Verdict::near("`fileio` of a workload says where requests go"));
    let (sweep, points) = points(&run.values, "workers", used.len() == 1, used.len() == 1, losses);
    let operations: Vec<Option<&Value>> = match run.values.list("operations") {
        Some(all) => all.iter().map(Some).collect(),
        None => vec![None],
    };
    let mut groups = Vec::new();
    for operation in operations {
        let mut units = Vec::new();
        for (workload, of) in used.iter().zip(&own) {
            units.push(Unit { workload, kind: asked_kind(workload, run, operation, losses), of });
        }
        let run = Run { run, of: &of, units: &units };
        for point in &points {
            groups.push(run.group(point, &sweep, losses, taken));
        }
    }
    groups
}

fn asked_kind(
    workload: &Definition,
    run: &Definition,
    operation: Option<&Value>,
    losses: &mut Losses,
) -> Kind {
    let own = workload.values.number("read");
    let (word, by, slot) = match operation {
        Some(Value::Text(word)) => (Some(word.as_str()), run, "operations"),
        _ => (workload.values.text("operation"), workload, "operation"),
    };
    let Some(word) = word else { return Kind::Requests(own.unwrap_or(1_000_000)) };
    let found = kind(&word.to_ascii_lowercase());
    if found == Kind::Unknown {
        let shown: String = word.chars().take(40).collect();
        by.worsen(slot, losses, Verdict::refused(format!("the operation `{shown}` on files")));
    }
    match (found, own) {
        (Kind::Requests(_), Some(read)) if operation.is_none() => Kind::Requests(read),
        _ => found,
    }
}

/// A run with one operation for each of its workloads.
struct Run<'a> {
    run: &'a Definition,
    of: &'a [&'a Definition],
    units: &'a [Unit<'a>],
}

impl Run<'_> {
    fn group(
        &self,
        point: &Values,
        sweep: &Fields,
        losses: &mut Losses,
        taken: &mut Taken,
    ) -> Group {
        let mut group = Group { name: self.run.name.clone(), ..Group::default() };
        for system in self.of {
            let Some(anchor) = anchor(system) else { continue };
            if !group.targets.contains(&anchor) {
                group.targets.push(anchor);
                group.targets_from = system.values.source("anchor", losses);
            }
        }
        let first = self.of.first().copied();
        let population = population::of(&self.run.values, first, losses);
        let largest = population.sizes.as_ref().map_or(0, |sizes| sizes.largest);
        let is_tree = self.units.iter().any(|unit| matches!(unit.kind, Kind::Files(_)))
            && !(self.only_makes() && largest > MOST_TREE_SIZE);
        self.unlike(losses);
        match is_tree {
            true => self.tree(&population, losses, &mut group, taken),
            false => self.requests(point, sweep, &population, losses, &mut group, taken),
        }
        group
    }

    /// The ways to the files of a workload.
    fn ways<'a>(&'a self, unit: &'a Unit<'_>) -> Vec<[&'a Definition; 3]> {
        unit.of.iter().map(|place| [self.run, unit.workload, self.of[*place]]).collect()
    }

    fn only_makes(&self) -> bool {
        self.units.iter().all(|unit| unit.kind == Kind::Files("create"))
    }

    /// File systems of one run have the same shape.
    fn unlike(&self, losses: &mut Losses) {
        let Some(first) = self.of.first() else { return };
        let of = |system: &Definition, slot: &str| {
            let sizes = system.values.text(slot).and_then(|text| sizes(text, true).ok());
            (system.values.number(slot), system.values.flag(slot), sizes.map(|sizes| sizes.text))
        };
        for slot in COMMON.into_iter().chain(["everywhere"]) {
            let is_alike = |other: &&Definition| of(other, slot) == of(first, slot);
            if self.run.values.id(slot).is_none() && !self.of.iter().all(is_alike) {
                let why = "all file systems of a run have the files of its first one";
                let ids = self.of.iter().filter_map(|one| one.values.id(slot));
                ids.for_each(|id| losses.replace(id, Verdict::near(why)));
            }
        }
    }

    fn requests(
        &self,
        point: &Values,
        sweep: &Fields,
        population: &Population,
        losses: &mut Losses,
        group: &mut Group,
        taken: &mut Taken,
    ) {
        group.sweep = sweep.clone();
        self.files(population, losses, group);
        if self.only_makes() {
            // Large files are made by writing all of them once.
            group.stages.set("prepare", "false", "");
            group.stages.text("amount", "all", "");
        } else {
            let source = self.run.values.source("format", losses);
            group.stages.set("prepare", "true", source);
        }
        times(&self.run.values, losses, group);
        let workloads: Vec<&Values> = self.units.iter().map(|unit| &unit.workload.values).collect();
        self.engine(losses, group);
        whole(point, &workloads, losses);
        let rate = point.number("rate");
        let parts = rate.map(|rate| shares(rate, &workloads)).unwrap_or_default();
        let mut free = at_full_speed(point, &workloads, false, losses);
        if self.only_makes() && !free.is_empty() {
            // What is made ends with an amount, and no ratio can hold to its end.
            free.clear();
            refuse(&workloads, "shares of workloads that end after an amount", losses);
        }
        let largest = population.sizes.as_ref().map_or(u64::MAX, |sizes| sizes.largest);
        let of_all = |anchor: String| group.targets.iter().position(|target| *target == anchor);
        let targets: Vec<_> = self.of.iter().map(|one| anchor(one).and_then(of_all)).collect();
        for (number, unit) in self.units.iter().enumerate() {
            let mut fields = request_fields(unit, point, sweep, largest, losses);
            if let Some(part) = parts.get(number) {
                fields.set("rate", part.to_string(), point.source("rate", losses));
            }
            if is_fixed(&self.run.values) && self.run.values.flag("arrivals").unwrap_or(true) {
                fields.text("arrivals", "poisson", self.run.values.source("arrivals", losses));
            }
            let own: Vec<usize> = unit.of.iter().filter_map(|place| targets[*place]).collect();
            if let Some(value) = selected(&own, group.targets.len()) {
                fields.set("targets", value, unit.workload.values.source("storages", losses));
            }
            if let Some(part) = free.get(number) {
                fields.set("share", part.value.clone(), part.from.clone());
            }
            if let Some(id) = opened(&self.ways(unit), |one| one.durable, losses) {
                fields.set("dsync", "true", losses.source(id));
            }
            let name = match self.units.len() {
                1 => self.run.name.clone(),
                _ => format!("{}-{}", self.run.name, unit.workload.name),
            };
            let name = unique(&plain_name(&name), taken);
            group.works.push(Work { name, note: String::new(), fields });
        }
    }

    /// The files that requests go to.
    fn files(&self, population: &Population, losses: &mut Losses, group: &mut Group) {
        let all = population.files;
        if let Some(first) = self.of.first().filter(|_| all > MOST_FILES) {
            let why =
                format!("{MOST_FILES} of {all} files: requests go to fewer, larger directories");
            first.worsen("files", losses, Verdict::near(why));
        }
        let source = population.source.clone();
        group.layout.set("files", all.clamp(1, MOST_FILES).to_string(), source);
        if let Some(sizes) = &population.sizes {
            let source = population.values.source("sizes", losses);
            group.layout.text(key_of(&sizes.text), &sizes.text, source);
        }
    }

    fn engine(&self, losses: &mut Losses, group: &mut Group) {
        let ways: Vec<_> = self.units.iter().flat_map(|unit| self.ways(unit)).collect();
        let direct = opened(&ways, |one| one.direct, losses);
        let source = direct.map(|id| losses.source(id)).unwrap_or_default();
        group.engine.text("backend", "sync", "");
        group.engine.set("direct", direct.is_some().to_string(), source);
        group.engine.text("pin", "none", "");
    }

    /// Operations on whole files: a tree of them.
    fn tree(
        &self,
        population: &Population,
        losses: &mut Losses,
        group: &mut Group,
        taken: &mut Taken,
    ) {
        group.in_turn = true;
        group.layout.text("kind", "tree", "");
        let all = population.files.clamp(1, MOST_TREE_FILES);
        group.tree.set("files", all.to_string(), population.source.clone());
        if let Some(sizes) = &population.sizes {
            let source = population.values.source("sizes", losses);
            if sizes.largest > MOST_TREE_SIZE
                && let Some(id) = population.values.id("sizes")
            {
                let why = "files of 64 MiB, the largest that a tree has";
                losses.worsen(id, Verdict::near(why));
                group.tree.text("size", "64MiB", source);
            } else {
                group.tree.text(key_of(&sizes.text), &sizes.text, source);
            }
        }
        let values = &population.values;
        for (key, slot, most) in [("per_directory", "files", 32), ("fan_out", "width", 20)] {
            if let Some(many) = values.number(slot) {
                let source = values.source(slot, losses);
                group.tree.set(key, many.clamp(1, 1 << most).to_string(), source);
            }
        }
        let levels = values.number("depth").map_or(1, |depth| depth.clamp(1, 16));
        group.tree.set("depth", levels.to_string(), values.source("depth", losses));
        let why = "each operation goes to all files once; no time ends it or comes before it";
        untimed(&self.run.values, why, losses, group);
        self.not_of_a_tree(losses);
        let mut values = Values::of(&super::OPTIONS);
        let threads = self.units.iter().map(|unit| &unit.workload.values);
        threads.for_each(|workload| values.take("threads", workload));
        let (mut workers, mut source) =
            (values.number("threads").unwrap_or(1), values.source("threads", losses));
        if let Some([Value::Number(many), ..]) = self.run.values.list("threads") {
            (workers, source) = (*many, self.run.values.source("threads", losses));
        }
        let mut fields = Fields::default();
        fields.text("kind", "metadata", "");
        let quoted: Vec<String> = in_order(self.units).iter().map(|word| quoted(word)).collect();
        fields.set("operations", format!("[{}]", quoted.join(", ")), "");
        fields.set("workers", workers.clamp(1, 65_536).to_string(), source);
        let name = unique(&plain_name(&self.run.name), taken);
        group.works.push(Work { name, note: String::new(), fields });
    }

    /// What means little where each operation goes to all files once.
    fn not_of_a_tree(&self, losses: &mut Losses) {
        let mut near = |of: &Definition, slot, why| of.worsen(slot, losses, Verdict::near(why));
        near(self.run, "arrivals", "operations on files go as fast as they can");
        let rates = self.run.values.list("rate").unwrap_or_default();
        if rates.iter().any(|rate| matches!(rate, Value::Number(_))) {
            near(self.run, "rate", "operations on files go as fast as they can");
        }
        for unit in self.units {
            let why = "each operation goes to all files once, whatever its share";
            near(unit.workload, "skew", why);
            let why = "operations go to whole files, without requests to parts of them";
            ["xfersize", "read"].iter().for_each(|slot| near(self.run, slot, why));
            ["xfersize", "random", "read"].iter().for_each(|slot| near(unit.workload, slot, why));
            let threads = |unit: &Unit<'_>| unit.workload.values.number("threads").unwrap_or(1);
            if self.run.values.id("threads").is_none() && threads(unit) != threads(&self.units[0]) {
                let why = "`workers`: all operations have the same ones";
                self.units.iter().for_each(|unit| near(unit.workload, "threads", why));
            }
            if unit.of.len() < self.of.len() {
                near(unit.workload, "storages", "it goes to all file systems of its run");
            }
            if self.units.len() > 1 {
                let why = "operations on all files, one after the other, not at the same time";
                near(unit.workload, "operation", why);
            }
        }
        for one in self.units.iter().flat_map(|unit| self.ways(unit)).flatten() {
            let why = "operations on whole files have neither `O_DIRECT` nor `O_SYNC`";
            let ids = one.direct.into_iter().chain(one.durable);
            ids.for_each(|id| losses.worsen(id, Verdict::near(why)));
        }
    }
}

/// Where a file system is.
fn anchor(system: &Definition) -> Option<String> {
    system.values.text("anchor").map(inside)
}

/// The field of files of one size, or of several.
fn key_of(sizes: &str) -> &'static str {
    if sizes.contains(':') { "sizes" } else { "size" }
}

fn request_fields(
    unit: &Unit<'_>,
    point: &Values,
    sweep: &Fields,
    largest: u64,
    losses: &mut Losses,
) -> Fields {
    let mut values = point.clone();
    values.complete(&unit.workload.values);
    let mut fields = Fields::default();
    if sweep.get("block_size").is_none() {
        let text = block_size(&values, unit.kind, largest, losses);
        fields.text("block_size", &text, values.source("xfersize", losses));
    }
    let access = if values.is("random") { "random" } else { "sequential" };
    fields.text("access", access, values.source("random", losses));
    if sweep.get("read").is_none() {
        let read = match (point.number("read"), unit.kind) {
            (Some(read), _) | (None, Kind::Requests(read)) => read,
            (None, Kind::Files("create")) => 0,
            (None, _) => 1_000_000,
        };
        let own = &unit.workload.values;
        let slot = if own.id("read").is_some() { "read" } else { "operation" };
        fields.text("read", &share(read), own.source(slot, losses));
    }
    if sweep.get("workers").is_none() {
        let many = values.number("threads").unwrap_or(1).clamp(1, 65_536);
        fields.set("workers", many.to_string(), values.source("threads", losses));
    }
    fields.set("depth", "1", "");
    fields
}

/// The sizes of requests to files of which the largest has this size.
fn block_size(values: &Values, kind: Kind, largest: u64, losses: &mut Losses) -> String {
    let Some(sizes) = sizes_of_requests(values) else { return plain(largest.clamp(512, 4_096)) };
    let (text, why) = match kind {
        // An amount is counted in blocks of one size.
        Kind::Files("create") if sizes.text.contains(':') => {
            (plain(sizes.largest.min(largest)), "files are made in blocks of the largest size")
        }
        _ if sizes.largest <= largest => return sizes.text,
        // A file that is smaller is written in one piece.
        _ => {
            let why = "files are smaller than that: a request has the size of a file";
            (plain(largest.max(512)), why)
        }
    };
    if let Some(id) = values.id("xfersize") {
        losses.worsen(id, Verdict::near(why));
    }
    text
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
