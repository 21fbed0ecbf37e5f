//! A suite as its author wrote it, checked.
//!
//! TOML text → [`tree`] → `--set` ([`overrides`]) → typed tables ([`fields`]) → [`Spec`]. All
//! mistakes of a file are found in one go, each with its place and its remedy. A sweep, like
//! `--set`, puts other values into the tree and reads it again, so that every field of a workload
//! can be an axis without a line of code of its own.

mod amount;
pub mod arithmetic;
mod contents;
mod elsewhere;
mod event;
mod fields;
mod metadata;
mod overrides;
mod placement;
mod ranges;
mod reader;
mod reference;
mod scenario;
mod sharing;
mod sweep;
mod tree;

pub use elsewhere::flag;
pub use event::{EventSpec, Names};
pub(crate) use fields::spec_table;
pub use fields::{
    Access, Arrivals, Backend, ClientsSpec, CloseTime, ContentsSpec, DuplicateScope, EngineSpec,
    FieldDoc, FileFsync, FileOrder, FilesPer, FleetSpec, LayoutKind, LayoutSpec, OnLostHost, Order,
    OtherFiles, Pin, Poll, RateOf, Sharing, Spread, StagesSpec, SuiteSpec, SweepSpec, Time,
    TreeSpec, Until, Verify, WorkloadKind, WorkloadSpec,
};
pub(crate) use metadata::check_tree;
pub use metadata::{Operation, Operations};
pub use overrides::{Override, OverrideError};
pub use placement::{ALL_HOSTS, HostSet, HostTargets, Label};
pub(crate) use reader::word_remedy;
pub use reader::{Amount, Auto, Count, Depth, Field, Given, Problem, ProblemKind, Whole, nearest};
pub(crate) use reader::{Reader, join_words, words};
pub use reference::reference;
pub(crate) use reference::write_table;
pub use scenario::Scenario;
pub use tree::{Node, Place, Sources, Span, Table, Value};
pub(crate) use tree::{parse as parse_tree, parse_value};

use crate::plan::Steady;
use crate::setting::Setting;
use crate::units::{Bytes, Nanos, Percent};
use arithmetic::{Arithmetic, Name};
use sweep::Sweep;

/// A suite, checked by itself; whether it fits a machine is the planner's question.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The top of the file.
    pub suite: SuiteSpec,
    /// `[layout]`
    pub layout: LayoutSpec,
    /// `[tree]`
    pub tree: TreeSpec,
    /// `[stages]`
    pub stages: StagesSpec,
    /// `[fleet]`
    pub fleet: FleetSpec,
    /// `[engine]`
    pub engine: EngineSpec,
    /// `[contents]`
    pub contents: ContentsSpec,
    /// `[clients]`
    pub clients: ClientsSpec,
    /// `[labels]`, in their order.
    pub labels: Vec<Label>,
    /// `[targets]`, in their order.
    pub targets: Vec<HostTargets>,
    /// `[[event]]`, in their order.
    pub events: Vec<EventSpec>,
    /// The workloads, alone or in groups, with the sweep's values put in: the product of groups
    /// and axes, groups outermost, in the order and as often as the sweep says.
    pub points: Vec<PointSpec>,
    /// In what order points run, and scenarios.
    pub order: Order,
    /// The scenarios, each a suite of its own; none where the suite is one by itself. Where there
    /// are any, all of the above but the targets is that of the first one.
    pub scenarios: Vec<Scenario>,
    /// True for the points that are to be left out, and where it was written.
    pub skip: Option<(Arithmetic, Span)>,
    /// The texts that all of it was read from.
    pub sources: Sources,
}

/// Workloads that run at the same time, with one combination of the sweep's values.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSpec {
    /// The workloads as they are to run; at least one.
    pub workloads: Vec<WorkloadSpec>,
    /// Axis and value of each sweep axis, as written.
    pub sweep: Vec<Setting>,
    /// Which repetition of these values it is, from 1.
    pub repetition: u32,
    /// The layout that it asks for: that of the suite with the sweep's values, and with arithmetic
    /// that may come to other values at each point.
    pub layout: LayoutSpec,
    /// The tree of its layout, with arithmetic that may come to other values at each point.
    pub tree: TreeSpec,
}

/// The names that arithmetic in a field of a workload may ask for: of workers and depth, those that
/// are known before the field is.
fn workload_names(key: &str) -> &'static [Name] {
    match key {
        "workers" => Name::first(4),
        "depth" => Name::first(5),
        _ => Name::first(6),
    }
}

/// The names that arithmetic in a field of the layout may ask for.
fn layout_names(key: &str) -> &'static [Name] {
    match key {
        "files" => Name::first(7),
        _ => &Name::ALL,
    }
}

/// The names that arithmetic in a field of a tree may ask for: nothing of requests for blocks.
fn tree_names(key: &str) -> &'static [Name] {
    match key {
        "files" => Name::first(5),
        _ => &[Name::Memory, Name::Cpus, Name::Hosts, Name::Free, Name::Workers, Name::Files],
    }
}

/// A suite that cannot be run: every mistake that was found, in the order of the text.
#[derive(Clone, Debug)]
pub struct SpecErrors {
    /// The texts that the problems point into.
    pub sources: Sources,
    /// At least one problem.
    pub problems: Vec<Problem>,
}

/// A suite is a page of text. More is not a suite.
pub(crate) const MAX_TEXT: usize = 1 << 20;

impl Spec {
    /// Reads the suite in `text`, which was found at `name` (a path, or the name of a built-in
    /// suite), with `overrides` put in.
    ///
    /// # Errors
    /// Every mistake in the text and in the overrides, not just the first.
    pub fn parse(name: &str, text: &str, overrides: &[Override]) -> Result<Spec, SpecErrors> {
        let mut sources = Sources::default();
        let mut problems = Vec::new();
        if text.len() > MAX_TEXT {
            sources.add(name, "");
            problems.push(Problem::new(0..0, "the file is larger than 1 MiB", "name a suite file"));
            return Err(SpecErrors { sources, problems });
        }
        let base = sources.add(name, text);
        let (mut root, syntax) = tree::parse(text, base);
        problems.extend(syntax.into_iter().map(|error| {
            Problem::new(error.span, error.message, "see https://toml.io for the grammar")
        }));
        let broken = !problems.is_empty();
        let sets: Vec<overrides::Set> =
            overrides.iter().map(|set| overrides::Set::read(set, &mut sources)).collect();
        let mut spec = Spec::read_all(&mut root, sets, &mut problems);
        if broken {
            // A half-read table lacks keys that the file may well have: only complaints that the
            // grammar cannot have caused stay.
            problems.retain(|problem| problem.kind != ProblemKind::Missing);
        }
        if problems.is_empty() {
            spec.scenarios.iter_mut().for_each(|scenario| scenario.spec.sources = sources.clone());
            spec.sources = sources;
            return Ok(spec);
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        // Scenarios read the same text again and again.
        let mut told: Vec<Problem> = Vec::new();
        problems.retain(|problem| {
            let is_new = !told.contains(problem);
            told.extend(is_new.then(|| problem.clone()));
            is_new
        });
        Err(SpecErrors { sources, problems })
    }

    /// The suite with its scenarios, each a suite of its own; the fields of the first one where
    /// there are any.
    fn read_all(
        root: &mut Table,
        mut sets: Vec<overrides::Set>,
        problems: &mut Vec<Problem>,
    ) -> Spec {
        sets.retain(|set| !set.put_into_scenario(root));
        let derived = scenario::derive(root, &sets, problems);
        if derived.is_empty() {
            for set in &sets {
                overrides::put(root, set, problems);
            }
            sets.iter().for_each(|set| overrides::check_axis(root, set, problems));
            root.entries.retain(|entry| entry.key != "scenario");
            let spec = Spec::read(root, false, problems);
            event::check_scenarios(&spec.events, &[], problems);
            return spec;
        }
        let mut scenarios = Vec::new();
        // What is to be checked may be said for all scenarios at once, although the files of some
        // cannot be.
        let is_one_of_several = true;
        for scenario::Derived { name, has_own_targets, simulate, too_long_to_simulate, root } in
            derived
        {
            let spec = Spec::read(&root, is_one_of_several, problems);
            scenarios.push(Scenario {
                name,
                has_own_targets,
                simulate,
                too_long_to_simulate,
                spec,
            });
        }
        let points: usize = scenarios.iter().map(|scenario| scenario.spec.points.len()).sum();
        if points > sweep::MAX_POINTS {
            let message = "the scenarios make more than 10000 points together";
            problems.push(Problem::new(
                0..0,
                message,
                "leave out scenarios, values, axes or repetitions",
            ));
        }
        let mut spec = scenarios[0].spec.clone();
        let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        event::check_scenarios(&spec.events, &names, problems);
        // Those of the run, which scenarios without targets of their own have.
        spec.targets = placement::read_targets(root, &spec.labels, problems);
        Spec { scenarios, ..spec }
    }

    fn read(root: &Table, is_one_of_several: bool, problems: &mut Vec<Problem>) -> Spec {
        let mut reader = Reader::new(root, 0..0, problems);
        let sections = overrides::SECTIONS.iter().map(|(name, _)| *name);
        reader.allow(
            &sections
                .chain(["workload", "sweep", "labels", "targets", "event"])
                .collect::<Vec<_>>(),
        );
        let suite = SuiteSpec::read(&mut reader);
        reader.finish();
        let layout = read_table(root, "layout", problems, LayoutSpec::read);
        let tree = read_table(root, "tree", problems, TreeSpec::read);
        let stages = read_table(root, "stages", problems, StagesSpec::read);
        let engine = read_table(root, "engine", problems, EngineSpec::read);
        let fleet = read_table(root, "fleet", problems, FleetSpec::read);
        let clients = read_table(root, "clients", problems, ClientsSpec::read);
        let sweep = Sweep::read(root, problems);
        let labels = placement::read_labels(root, problems);
        let targets = placement::read_targets(root, &labels, problems);
        let contents = read_table(root, "contents", problems, ContentsSpec::read);
        let points = read_points(root, (&layout, &tree), &sweep, problems);
        let events = event::read(root, &points, problems);
        check_stages(&stages, problems);
        check_prepare(&stages, problems);
        check_engine(&engine, problems);
        check_fleet(&fleet, problems);
        check_points(&points, problems);
        check_trims(&engine, &points, problems);
        contents::check(&contents, &points, problems);
        sharing::check(&layout, &points, problems);
        sharing::check_rotation(&layout, &contents, &points, problems);
        // A tree has its own amount, and metadata::check says so.
        if layout.kind.value != LayoutKind::Tree {
            amount::check(&stages, &points, problems);
        }
        check_clients(&clients, problems);
        let points = sweep.arrange(&points, suite.seed.value);
        metadata::check((&layout, &tree), &stages, &engine, &points, problems);
        if !is_one_of_several {
            metadata::check_contents(&layout, &contents, problems);
        }
        // What was wrong with a list of operations was said of the whole list; and the operations
        // of a point stay together in any order.
        let points = points.into_iter().flat_map(metadata::one_by_one).collect();
        Spec {
            suite,
            layout,
            tree,
            stages,
            fleet,
            engine,
            contents,
            clients,
            labels,
            targets,
            events,
            points,
            order: sweep.order(),
            scenarios: Vec::new(),
            skip: sweep.skip,
            sources: Sources::default(),
        }
    }
}

/// Reads the table `key` of `root`, or an empty one where it is not given.
pub(crate) fn read_table<T>(
    root: &Table,
    key: &str,
    problems: &mut Vec<Problem>,
    read: fn(&mut Reader<'_>) -> T,
) -> T {
    let empty = Table::default();
    let (table, span) = match root.get(key) {
        Some(Node { value: Value::Table(table), span }) => (table, span.clone()),
        Some(node) => {
            let message = format!("expected a table, found {}", node.kind());
            problems.push(Problem::new(
                node.span.clone(),
                message,
                format!("write `[{key}]` on a line of its own"),
            ));
            (&empty, node.span.clone())
        }
        None => (&empty, 0..0),
    };
    let mut reader = Reader::new(table, span, problems);
    match key {
        "layout" => reader = reader.with_names(layout_names),
        "tree" => reader = reader.with_names(tree_names),
        _ => {}
    }
    let read = read(&mut reader);
    reader.finish();
    read
}

/// Every point once, in the order of the file.
fn read_points(
    root: &Table,
    (layout, tree): (&LayoutSpec, &TreeSpec),
    sweep: &Sweep,
    problems: &mut Vec<Problem>,
) -> Vec<PointSpec> {
    let workloads: &[Node] = match root.get("workload") {
        Some(Node { value: Value::Array(workloads), .. }) => workloads,
        Some(node) => {
            problems.push(Problem::new(
                node.span.clone(),
                "the workloads are not a list of tables",
                "write `[[workload]]`, with two brackets, above each workload",
            ));
            return Vec::new();
        }
        None => &[],
    };
    if workloads.is_empty() {
        let message = "the suite has no workload";
        let problem = Problem::new(0..0, message, "add a `[[workload]]` with a name");
        problems.push(problem.of_kind(ProblemKind::Missing));
    }
    let combinations = sweep.combinations();
    let all =
        combinations.saturating_mul(workloads.len()).saturating_mul(sweep.repetitions() as usize);
    if all > sweep::MAX_POINTS {
        problems.push(Problem::new(sweep.place(), sweep::TOO_MANY.0, sweep::TOO_MANY.1));
        return Vec::new();
    }
    let mut points = Vec::new();
    for group in groups(workloads, problems) {
        for combination in 0..combinations {
            let read = |(table, span): &(&Table, Span)| {
                read_workload(table, span.clone(), sweep, combination, problems)
            };
            let workloads: Vec<WorkloadSpec> = group.iter().map(read).collect();
            let layout = read_layout(root, layout, sweep, combination, problems);
            let (sweep, tree) = (sweep.labels(combination), tree.clone());
            points.push(PointSpec { workloads, sweep, repetition: 1, layout, tree });
        }
    }
    points
}

/// The layout with one combination of the sweep's values put in.
fn read_layout(
    root: &Table,
    layout: &LayoutSpec,
    sweep: &Sweep,
    combination: usize,
    problems: &mut Vec<Problem>,
) -> LayoutSpec {
    let values = sweep.values_of(combination, true);
    if values.is_empty() {
        return layout.clone();
    }
    let mut table = match root.get("layout") {
        Some(Node { value: Value::Table(table), .. }) => table.clone(),
        _ => Table::default(),
    };
    for (axis, value) in values {
        table.set(&axis.key, axis.key_span.clone(), value.clone());
    }
    let mut reader = Reader::new(&table, 0..0, problems).with_names(layout_names);
    let layout = LayoutSpec::read(&mut reader);
    reader.finish();
    layout
}

/// The tables of workloads that run at the same time, in the order of their first ones.
fn groups<'a>(workloads: &'a [Node], problems: &mut Vec<Problem>) -> Vec<Vec<(&'a Table, Span)>> {
    let mut groups: Vec<(String, Vec<(&Table, Span)>)> = Vec::new();
    for node in workloads {
        let Value::Table(table) = &node.value else {
            let message = format!("expected a table, found {}", node.kind());
            problems.push(Problem::new(
                node.span.clone(),
                message,
                "write `[[workload]]` above its fields",
            ));
            continue;
        };
        let word = match table.get("group") {
            Some(Node { value: Value::Text(word), .. }) => word.clone(),
            _ => String::new(),
        };
        match groups.iter_mut().find(|(known, _)| *known == word && !word.is_empty()) {
            Some((_, group)) => group.push((table, node.span.clone())),
            None => groups.push((word, vec![(table, node.span.clone())])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// A workload with one combination of the sweep's values put in.
fn read_workload(
    table: &Table,
    span: Span,
    sweep: &Sweep,
    combination: usize,
    problems: &mut Vec<Problem>,
) -> WorkloadSpec {
    let mut table = table.clone();
    for (axis, value) in sweep.values_of(combination, false) {
        table.set(&axis.key, axis.key_span.clone(), value.clone());
    }
    let mut reader = Reader::new(&table, span, problems).with_names(workload_names);
    let workload = WorkloadSpec::read(&mut reader);
    reader.finish();
    workload
}

fn check_stages(stages: &StagesSpec, problems: &mut Vec<Problem>) {
    let interval = &stages.interval;
    if !(10_000_000..=60_000_000_000).contains(&interval.value.0) {
        let message = format!("an interval of {} is out of range", interval.value);
        problems.push(Problem::new(place(interval), message, "write one from 10ms to 60s"));
    }
    check_until(stages, problems);
    let measure = &stages.measure;
    if measure.value.0 < 100_000_000 {
        let message = format!("{} is too short to measure anything", measure.value);
        problems.push(Problem::new(place(measure), message, "write at least 100ms"));
    }
}

/// Complains about steadiness that cannot be told, and of a greatest time that means nothing.
fn check_until(stages: &StagesSpec, problems: &mut Vec<Problem>) {
    let (until, measure, most) = (&stages.until, &stages.measure, &stages.measure_max);
    if until.value == Until::Time {
        if let Auto::Fixed(_) = most.value {
            let message = "a measure_max means nothing where measuring ends after `measure`";
            problems.push(Problem::new(
                place(most),
                message,
                "add until = \"steady\", or leave it out",
            ));
        }
        return;
    }
    if stages.amount.value != Amount::None {
        let message = "an amount ends when it is done, steady or not";
        problems.push(Problem::new(place(until), message, "leave out until, or the amount"));
    }
    let least =
        Nanos(stages.interval.value.0.saturating_mul(Steady::ROUNDS * Steady::LEAST_IN_ROUND));
    if measure.value < least {
        let message = format!(
            "in {} there are no five rounds of four intervals, by which to tell whether it is \
             steady",
            measure.value
        );
        problems.push(Problem::new(
            place(measure),
            message,
            format!("write at least {least}, or a shorter interval"),
        ));
    }
    if let Auto::Fixed(most_time) = most.value
        && most_time < measure.value
    {
        let message = format!(
            "a greatest time of {most_time} is less than the least, which is {}",
            measure.value
        );
        problems.push(Problem::new(
            place(most),
            message,
            "write a larger measure_max, or a smaller measure",
        ));
    }
}

fn check_engine(engine: &EngineSpec, problems: &mut Vec<Problem>) {
    let patience = &engine.patience;
    if !(100_000_000..=3_600_000_000_000).contains(&patience.value.0) {
        let message = format!("a patience of {} is out of range", patience.value);
        problems.push(Problem::new(place(patience), message, "write one from 100ms to 1h"));
    }
    let has_ring = matches!(engine.backend.value, Backend::IoUring | Backend::Auto);
    if engine.poll.value != Poll::None && !has_ring {
        let message = format!(
            "poll = \"{}\" belongs to io_uring, and the backend is {}",
            engine.poll.value, engine.backend.value
        );
        problems.push(Problem::new(
            place(&engine.poll),
            message,
            "write backend = \"io_uring\", or leave out poll",
        ));
    }
}

fn check_fleet(fleet: &FleetSpec, problems: &mut Vec<Problem>) {
    let silence = &fleet.lost_after;
    if !(2_000_000_000..=600_000_000_000).contains(&silence.value.0) {
        let message = format!("a silence of {} is out of range", silence.value);
        problems.push(Problem::new(place(silence), message, "write a lost_after from 2s to 10min"));
    }
}

fn check_prepare(stages: &StagesSpec, problems: &mut Vec<Problem>) {
    let block = &stages.prepare_block;
    if !(4096..=64 << 20).contains(&block.value.0) || !block.value.0.is_multiple_of(4096) {
        let message = format!("a prepare_block of {} is out of range", block.value);
        problems.push(Problem::new(
            place(block),
            message,
            "write a multiple of 4KiB, at most 64MiB",
        ));
    }
}

fn check_points(points: &[PointSpec], problems: &mut Vec<Problem>) {
    let mut seen: Vec<&WorkloadSpec> = Vec::new();
    for workload in points.iter().flat_map(|point| &point.workloads) {
        check_shape(workload, problems);
        if workload.name.value.is_empty() && workload.name.span.is_some() {
            problems.push(Problem::new(
                place(&workload.name),
                "the workload's name is empty",
                "give it a name",
            ));
        }
        let twin = |other: &&WorkloadSpec| {
            other.name.value == workload.name.value && other.name.span != workload.name.span
        };
        if !workload.name.value.is_empty() && seen.iter().any(twin) {
            let message = format!("a second workload is called `{}`", workload.name.value);
            problems.push(Problem::new(
                place(&workload.name),
                message,
                "give each workload a name of its own",
            ));
        }
        seen.push(workload);
    }
}

/// Whether the backend has a request for what the workloads ask.
fn check_trims(engine: &EngineSpec, points: &[PointSpec], problems: &mut Vec<Problem>) {
    if engine.backend.value != Backend::Libaio {
        return;
    }
    let workloads = points.iter().flat_map(|point| &point.workloads);
    for workload in workloads.filter(|workload| workload.trim.value > Percent::ZERO) {
        let message =
            format!("workload `{}` trims, and libaio has no request for that", workload.name.value);
        problems.push(Problem::new(
            place(&workload.trim),
            message,
            "write backend = \"io_uring\" or \"sync\"",
        ));
    }
}

fn check_clients(clients: &ClientsSpec, problems: &mut Vec<Problem>) {
    if matches!(clients.count.value, Auto::Fixed(Count(1025..))) {
        let message = "more than 1024 clients cannot be planned for";
        problems.push(Problem::new(place(&clients.count), message, "write a count from 1 to 1024"));
    }
}

/// Complains about a workload whose last values were only now computed; `verify` is whether reads
/// are checked.
pub(crate) fn check_workload(workload: &WorkloadSpec, verify: bool, problems: &mut Vec<Problem>) {
    check_shape(workload, problems);
    if verify {
        contents::check_workload(workload, problems);
    }
}

/// Whether the fields of a workload's shape are in range and go together.
fn check_shape(workload: &WorkloadSpec, problems: &mut Vec<Problem>) {
    if let Some(size) = workload.sizes().find(|size| !(512..=1 << 30).contains(&size.0)) {
        let message = format!("a block of {size} is out of range");
        problems.push(Problem::new(
            place(&workload.block_size),
            message,
            "write a size from 512 to 1GiB",
        ));
    }
    let first = workload.sizes().next();
    if workload.access.value == Access::Permutation
        && workload.sizes().any(|size| Some(size) != first)
    {
        let message = "a permutation touches each block once, so all blocks have to have one size";
        problems.push(Problem::new(
            place(&workload.access),
            message,
            "write one block_size, or access = \"random\"",
        ));
    }
    if matches!(workload.align.value, Auto::Fixed(Bytes(0))) {
        problems.push(Problem::new(
            place(&workload.align),
            "offsets cannot be multiples of 0",
            "write 512 or more",
        ));
    }
    let is_skewed = matches!(workload.access.value, Access::Zipf | Access::Pareto);
    if let (Auto::Fixed(skew), true) = (workload.skew.value, is_skewed) {
        let (good, remedy) = match workload.access.value {
            Access::Pareto => (skew.milli < 500, "write a share below 0.5, such as 0.2"),
            _ => (skew.milli <= 10_000, "write an exponent of at most 10, such as 1.2"),
        };
        if !good {
            problems.push(Problem::new(
                place(&workload.skew),
                format!("a skew of {skew} makes no sense here"),
                remedy,
            ));
        }
    }
    if workload.rate_of.value != RateOf::All && workload.rate.value == Auto::Auto {
        let message = "there is no rate that each worker could have";
        problems.push(Problem::new(
            place(&workload.rate_of),
            message,
            "write rate, or leave out rate_of",
        ));
    }
    if matches!(workload.rate.value, Auto::Fixed(_)) && workload.think.value > Nanos(0) {
        let message =
            "a fixed rate leaves no time to think: its requests are due at their own times";
        problems.push(Problem::new(place(&workload.think), message, "leave out think, or rate"));
    }
}

/// Where a field was given; the start of the file for a default.
pub(crate) fn place<T>(given: &Given<T>) -> Span {
    given.span.clone().unwrap_or(0..0)
}

#[cfg(test)]
mod tests;
