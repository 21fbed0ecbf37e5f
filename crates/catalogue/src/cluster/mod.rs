//! What a cluster is made of, as its owner describes it in a `testbed.toml`: nodes, drives, ports,
//! protection, cache.
//!
//! TOML text → tree → `--set` and what-ifs ([`change`]) → typed tables ([`fields`]) →
//! contradictions ([`check`]) → [`Cluster`], with the errors of a suite: every mistake at once,
//! each with its place and its remedy.

pub(crate) mod bandwidth;
mod change;
mod check;
mod fields;
pub(crate) mod figures;
mod hits;
mod port;
mod ranges;
mod reference;
mod software;
mod tier;

pub use bandwidth::Bandwidth;
pub use change::{Change, ChangeError, WhatIf};
pub use fields::{
    AccessSpec, CacheKind, CacheSpec, ClientsSpec, CopiesUsed, CpuSpec, Destage, DriveSpec,
    FabricSpec, NodesSpec, Placement, ProtectionSpec, Role, TopSpec, reference,
};

pub use figures::{Figures, fixed};
pub use hits::{Misses, Missing, Requests};
pub use port::MeasuredPort;
pub use reference::{FITTED, REFERENCE, reference_text};
pub use software::{
    FittedRow, FittedRowSpec, FittedValue, JOURNAL_BLOCK, KEPT_STAT, MOST_FITTED_ROWS,
    SoftwareSpec, TOKEN_BLOCK, with_fitted,
};
pub use tier::{DESTAGE_SLACK_NS, missing};

use crate::devices::{Device, catalogue};
use form::{
    Auto, MAX_TEXT, Node, Problem, ProblemKind, Problems, Reader, Sources, SpecErrors, Table,
    Value, nearest, parse_tree, read_table,
};

/// A described cluster, free of contradictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The top of the file.
    pub top: TopSpec,
    /// `[protection]`
    pub protection: ProtectionSpec,
    /// `[access]`
    pub access: AccessSpec,
    /// `[cache]`
    pub cache: CacheSpec,
    /// `[cpu]`
    pub cpu: CpuSpec,
    /// `[fabric]`
    pub fabric: FabricSpec,
    /// `[clients]`
    pub clients: ClientsSpec,
    /// `[software]`
    pub software: SoftwareSpec,
    /// `[fitted]`
    pub fitted: SoftwareSpec,
    /// `[[fitted_row]]`
    pub fitted_rows: Vec<FittedRow>,
    /// At least one group.
    pub nodes: Vec<NodeGroup>,
    /// Files that it is known to be in, as runs that simulate it name them. What parses it knows
    /// none.
    pub files: Vec<String>,
}

/// Nodes that are alike, and what each of them holds.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeGroup {
    /// `[[nodes]]`
    pub spec: NodesSpec,
    /// `[[nodes.drives]]`
    pub drives: Vec<Drives>,
}

/// Drives of one kind in each node of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Drives {
    /// As written.
    pub spec: DriveSpec,
    /// What each drive can do, from the file or else from the catalogue.
    pub figures: Figures,
}

impl Cluster {
    /// Reads the testbed in `text`, which was found at `name`, with `changes` put in, in their
    /// order.
    ///
    /// # Errors
    /// Every mistake and every contradiction in the text and in the changes, not just the first.
    pub fn parse(name: &str, text: &str, changes: &[Change]) -> Result<Cluster, SpecErrors> {
        let mut sources = Sources::default();
        let mut problems = Vec::new();
        if text.len() > MAX_TEXT {
            sources.add(name, "");
            problems.push(Problem::new(
                0..0,
                "the file is larger than 1 MiB",
                "name a testbed file",
            ));
            return Err(SpecErrors { sources, problems });
        }
        let base = sources.add(name, text);
        let (mut root, syntax) = parse_tree(text, base);
        let broken = !syntax.is_empty();
        let grammar = "see https://toml.io for the grammar";
        problems.extend(
            syntax.into_iter().map(|error| Problem::new(error.span, error.message, grammar)),
        );
        for wanted in changes {
            change::apply(&mut root, wanted, &mut sources, &mut problems);
        }
        let cluster = Cluster::read(&root, &mut problems);
        if problems.is_empty() {
            check::check(&cluster, &mut problems);
        }
        if broken {
            // A broken head leaves its keys to the table above, where they are strangers.
            problems.retain(|problem| problem.kind == ProblemKind::Other);
        }
        if problems.is_empty() {
            return Ok(cluster);
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        problems.dedup();
        Err(SpecErrors { sources, problems })
    }

    fn read(root: &Table, problems: &mut Problems) -> Cluster {
        let mut reader = Reader::new(root, 0..0, problems);
        reader.allow(&["nodes", "protection", "access", "cache", "cpu", "fabric", "clients"]);
        reader.allow(&["software", "fitted", "fitted_row"]);
        let top = TopSpec::read(&mut reader);
        reader.finish();
        let nodes = read_list(root, "nodes", "[[nodes]]", problems, read_nodes);
        let is_missing = match root.get("nodes") {
            None => true,
            Some(node) => node.value == Value::Array(Vec::new()),
        };
        if is_missing {
            let message = "the testbed has no nodes";
            let problem = Problem::new(0..0, message, "add a `[[nodes]]` with count = …");
            problems.push(problem.of_kind(ProblemKind::Missing));
        }
        Cluster {
            top,
            protection: read_table(root, "protection", problems, ProtectionSpec::read),
            access: read_table(root, "access", problems, AccessSpec::read),
            cache: read_table(root, "cache", problems, CacheSpec::read),
            cpu: read_table(root, "cpu", problems, CpuSpec::read),
            fabric: read_table(root, "fabric", problems, FabricSpec::read),
            clients: read_table(root, "clients", problems, ClientsSpec::read),
            software: read_table(root, "software", problems, SoftwareSpec::read),
            fitted: read_table(root, "fitted", problems, SoftwareSpec::read),
            fitted_rows: read_list(root, "fitted_row", "[[fitted_row]]", problems, read_fitted),
            nodes,
            files: Vec::new(),
        }
    }

    /// The same without what was fitted to measured rows.
    pub fn unfitted(mut self) -> Cluster {
        self.fitted =
            read_table(&Table::default(), "fitted", &mut Problems::new(), SoftwareSpec::read);
        self.fitted_rows.clear();
        self
    }

    /// Whether a run that simulated `testbed`, a name or a file, had this one: by its name, by a
    /// file that is called so, or by a file that it is known to be in.
    pub fn is_called(&self, testbed: &str) -> bool {
        let file = testbed.rsplit('/').next().unwrap_or(testbed);
        let plain = |path: &'_ str| path.trim_start_matches("./").to_owned();
        let name = &self.top.name.value;
        testbed == name
            || file.strip_suffix(".toml") == Some(name)
            || self.files.iter().any(|known| plain(known) == plain(testbed))
    }

    /// All nodes of all groups.
    pub fn node_count(&self) -> u64 {
        self.nodes.iter().map(NodeGroup::count).sum()
    }

    /// Whether the load comes from hosts of its own.
    pub fn has_clients(&self) -> bool {
        matches!(self.clients.count.value, Auto::Fixed(_))
    }

    /// The groups of drives with `role` that hold something, with how many of them there are in
    /// all.
    pub fn drives(&self, role: Role) -> impl Iterator<Item = (u64, &Figures)> {
        let of_group = move |group: &'_ NodeGroup| group.count();
        self.nodes.iter().flat_map(move |group| {
            let drives = group.drives.iter().filter(move |drives| drives.spec.role.value == role);
            drives.map(move |drives| {
                (of_group(group) * u64::from(drives.spec.count.value.0), &drives.figures)
            })
        })
    }

    /// What the cache tier is for.
    pub fn cache_kind(&self) -> CacheKind {
        match self.cache.kind.value {
            Auto::Fixed(kind) => kind,
            Auto::Auto if self.drives(Role::Cache).next().is_some() => CacheKind::ReadWrite,
            Auto::Auto => CacheKind::None,
        }
    }
}

impl NodeGroup {
    /// Nodes of this group.
    pub fn count(&self) -> u64 {
        u64::from(self.spec.count.value.0)
    }
}

/// Reads a list of tables; what is none of them is a mistake with its place.
fn read_list<T>(
    root: &Table,
    key: &str,
    head: &str,
    problems: &mut Problems,
    read: fn(&Table, &Node, &mut Problems) -> T,
) -> Vec<T> {
    let list: &[Node] = match root.get(key) {
        None => &[],
        Some(Node { value: Value::Array(list), .. }) => list,
        Some(node) => {
            let message = format!("`{key}` is {}, not a list of tables", node.kind());
            problems.push(
                node.wrong(message, format!("write `{head}`, with two brackets, above the fields")),
            );
            return Vec::new();
        }
    };
    let mut tables = Vec::new();
    for node in list {
        match &node.value {
            Value::Table(table) => tables.push(read(table, node, problems)),
            _ => {
                let message = format!("expected a table, found {}", node.kind());
                problems.push(node.wrong(message, format!("write `{head}` above its fields")));
            }
        }
    }
    tables
}

fn read_fitted(table: &Table, node: &Node, problems: &mut Problems) -> FittedRow {
    let mut reader = Reader::new(table, node.span.clone(), problems);
    let spec = FittedRowSpec::read(&mut reader);
    reader.finish();
    ranges::fitted_row(&spec, problems);
    FittedRow::from(&spec)
}

fn read_nodes(table: &Table, node: &Node, problems: &mut Problems) -> NodeGroup {
    let mut reader = Reader::new(table, node.span.clone(), problems);
    reader.allow(&["drives"]);
    let spec = NodesSpec::read(&mut reader);
    reader.finish();
    NodeGroup {
        spec,
        drives: read_list(table, "drives", "[[nodes.drives]]", problems, read_drives),
    }
}

fn read_drives(table: &Table, node: &Node, problems: &mut Problems) -> Drives {
    let mut reader = Reader::new(table, node.span.clone(), problems);
    let spec = DriveSpec::read(&mut reader);
    reader.finish();
    let figures = figures(&spec, problems);
    Drives { spec, figures }
}

/// The figures of the file, and for what it leaves open those of the catalogue.
fn figures(spec: &DriveSpec, problems: &mut Problems) -> Figures {
    let wanted = spec.model.value.as_str();
    let listed = catalogue().iter().find(|device| device.id == wanted);
    if listed.is_none() && !wanted.is_empty() {
        let ids = || catalogue().iter().map(|device| device.id.as_str());
        let remedy = match ids().find(|id| id.contains(wanted)).or_else(|| nearest(wanted, ids())) {
            Some(near) => {
                format!("did you mean \"{near}\"? `plimsoll ceiling --devices` lists all")
            }
            None => "take one of `plimsoll ceiling --devices`, or write read, write, read_iops \
                     and write_iops here"
                .to_owned(),
        };
        problems.push(
            spec.model.wrong(format!("no drive of the catalogue is called `{wanted}`"), remedy),
        );
    }
    let listed = listed.map(Device::figures).unwrap_or_default();
    let bytes = |given: Auto<Bandwidth>, listed| {
        fixed(given).map_or(listed, |value| Some(value.bytes_per_s()))
    };
    let rate = |given: Auto<u64>, listed| fixed(given).map_or(listed, |value| Some(value as f64));
    let full = Figures {
        capacity_bytes: fixed(spec.capacity.value)
            .map_or(listed.capacity_bytes, |value| Some(value.0 as f64)),
        read_bytes_per_s: bytes(spec.read.value, listed.read_bytes_per_s),
        write_bytes_per_s: bytes(spec.write.value, listed.write_bytes_per_s),
        read_iops: rate(spec.read_iops.value, listed.read_iops),
        write_iops: rate(spec.write_iops.value, listed.write_iops),
    };
    fixed(spec.filled.value).map_or(full, |share| full.filled(f64::from(share.ppm) / 1e6))
}

#[cfg(test)]
mod tests;
