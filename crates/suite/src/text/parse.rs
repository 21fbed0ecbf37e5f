//! A suite from its text to a [`Spec`].
//!
//! TOML text → [`tree`] → `--set` ([`overrides`]) → typed tables ([`fields`](crate::fields)) →
//! [`Spec`]. All mistakes of a file are found in one go, each with its place and its remedy. A
//! sweep, like `--set`, puts other values into the tree and reads it again, so that every field of
//! a workload can be an axis without a line of code of its own.

use crate::checks::table::{
    check_clients, check_curves, check_engine, check_fleet, check_keep, check_objective,
    check_points, check_rate_shares, check_shares, check_stages, check_trims,
};
use crate::curve_file::{self, Files};
use crate::sections::TABLES;
use crate::sweep::Sweep;
use crate::{
    ClientsSpec, ContentsSpec, EngineSpec, FleetSpec, KeepSpec, LayoutKind, LayoutSpec,
    ObjectiveSpec, PointSpec, Scenario, Spec, StagesSpec, SuiteSpec, TreeSpec, VmsSpec,
    WorkloadSpec, amount, contents, event, machines, metadata, overrides, placement, preparation,
    rounds, scenario, sections, sharing, sweep, zones,
};
use form::arithmetic::Name;
use form::{
    MAX_TEXT, Node, Override, Problem, ProblemKind, Problems, Reader, Sources, Span, SpecErrors,
    Table, Value, tree,
};

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

impl Spec {
    /// Reads the suite in `text`, which was found at `name` (a path, or the name of a built-in
    /// suite), with `overrides` put in.
    ///
    /// # Errors
    /// Every mistake in the text and in the overrides, not just the first. A rate from a CSV file
    /// is one here: [`parse_with`](Self::parse_with) reads those.
    pub fn parse(name: &str, text: &str, overrides: &[Override]) -> Result<Spec, SpecErrors> {
        Spec::parse_with(name, text, overrides, &|_| Err("no files are read here".to_owned()))
    }

    /// The same, with the `files` that the suite names.
    ///
    /// # Errors
    /// Every mistake in the texts and in the overrides, not just the first.
    pub fn parse_with(
        name: &str,
        text: &str,
        overrides: &[Override],
        files: Files<'_>,
    ) -> Result<Spec, SpecErrors> {
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
        curve_file::put_in(&mut root, files, &mut sources, &mut problems);
        let mut read = |set| {
            let mut set = overrides::Set::read(set, &mut sources);
            set.read_curves(files, &mut sources, &mut problems);
            set
        };
        let sets: Vec<overrides::Set> = overrides.iter().map(&mut read).collect();
        let mut spec = Spec::read_all(&mut root, sets, &mut problems);
        if broken {
            // A half-read table lacks keys that the file may well have: only complaints that the
            // grammar cannot have caused stay.
            problems.retain(|problem| problem.kind != ProblemKind::Missing);
        }
        if problems.is_empty() {
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

    fn read_all(root: &mut Table, mut sets: Vec<overrides::Set>, problems: &mut Problems) -> Spec {
        sets.retain(|set| !set.put_into_scenario(root));
        let derived = scenario::derive(root, &sets, problems);
        if derived.is_empty() {
            for set in &sets {
                overrides::put(root, set, problems);
            }
            sets.iter().for_each(|set| overrides::check_axis(root, set, problems));
            root.entries.retain(|entry| entry.key != "scenario");
            let (common, scenario) = read_one(root, false, problems);
            event::check_scenarios(&common.events, &[], problems);
            return common.of(vec![scenario]);
        }
        let mut read: Vec<(Spec, Scenario)> =
            derived.into_iter().map(|derived| read_derived(derived, problems)).collect();
        let points: usize = read.iter().map(|(_, scenario)| scenario.points.len()).sum();
        if points > sweep::MAX_POINTS {
            let message = "the scenarios make more than 10000 points together";
            problems.push(Problem::new(
                0..0,
                message,
                "leave out scenarios, values, axes or repetitions",
            ));
        }
        let names: Vec<&str> =
            read.iter().filter_map(|(_, scenario)| scenario.name.as_deref()).collect();
        event::check_scenarios(&read[0].0.events, &names, problems);
        // No scenario can change what is common: that of the first one is that of all.
        let (mut common, first) = read.remove(0);
        // Those of the run, which scenarios without targets of their own have.
        common.targets = placement::read_targets(root, &common.labels, problems);
        let others = read.into_iter().map(|(_, scenario)| scenario);
        common.of(std::iter::once(first).chain(others).collect())
    }
}

/// A named scenario, from the tree of its own suite.
fn read_derived(derived: scenario::Derived, problems: &mut Problems) -> (Spec, Scenario) {
    let scenario::Derived { name, has_own_targets, simulate, too_long_to_simulate, root } = derived;
    // What is to be checked may be said for all scenarios at once, although the files of some
    // cannot be.
    let is_one_of_several = true;
    let (common, scenario) = read_one(&root, is_one_of_several, problems);
    let own_targets = has_own_targets.then(|| common.targets.clone());
    let name = Some(name);
    (common, Scenario { name, own_targets, simulate, too_long_to_simulate, ..scenario })
}

/// What stands above all tables.
fn read_suite(root: &Table, problems: &mut Problems) -> SuiteSpec {
    let mut reader = sections::reader(root, 0..0, problems);
    let sections = sections::SECTIONS.iter().map(|(name, _)| *name);
    reader.allow(
        &sections.chain(["workload", "sweep", "labels", "targets", "event"]).collect::<Vec<_>>(),
    );
    let suite = SuiteSpec::read(&mut reader);
    reader.finish();
    suite
}

/// A suite without `[[scenario]]`: its only scenario, and the rest.
fn read_one(root: &Table, is_one_of_several: bool, problems: &mut Problems) -> (Spec, Scenario) {
    let suite = read_suite(root, problems);
    let layout = read_table(root, "layout", problems, LayoutSpec::read);
    let tree = read_table(root, "tree", problems, TreeSpec::read);
    let stages = read_table(root, "stages", problems, StagesSpec::read);
    let engine = read_table(root, "engine", problems, EngineSpec::read);
    let mut fleet = read_table(root, "fleet", problems, FleetSpec::read);
    let keep = read_table(root, "keep", problems, KeepSpec::read);
    let clients = read_table(root, "clients", problems, ClientsSpec::read);
    let vms = read_table(root, "vms", problems, VmsSpec::read);
    let objective = read_table(root, "objective", problems, ObjectiveSpec::read);
    let sweep = Sweep::read(root, problems);
    let labels = placement::read_labels(root, problems);
    let targets = placement::read_targets(root, &labels, problems);
    let contents = read_table(root, "contents", problems, ContentsSpec::read);
    let points = read_points(root, &layout, &tree, &sweep, problems);
    let events = event::read(root, &points, problems);
    check_stages(&stages, problems);
    preparation::check(&stages, &layout, &contents, problems);
    check_engine(&engine, problems);
    check_fleet(&fleet, problems);
    check_keep(&keep, problems);
    let beside =
        zones::Beside { stages: &stages, layout: &layout, engine: &engine, contents: &contents };
    check_load(&beside, &points, problems);
    check_clients(&clients, problems);
    check_objective(&objective, problems);
    machines::check_vms(&vms, problems);
    machines::check_events(&vms, &events, problems);
    let rounds = rounds::read(&sweep.spec, &stages, &points, problems);
    machines::outlive_migrations(&mut fleet, &events);
    let points = sweep.arrange(&points, suite.seed.value);
    metadata::check(&layout, &tree, &stages, &engine, &points, problems);
    if !is_one_of_several {
        metadata::check_contents(&layout, &contents, &points, problems);
    }
    // What was wrong with a list of operations was said of the whole list; and the operations
    // of a point stay together in any order.
    let points = points.into_iter().flat_map(metadata::one_by_one).collect();
    let order = sweep.order();
    let common = Spec {
        suite,
        fleet,
        keep,
        clients,
        vms,
        objective,
        labels,
        targets,
        events,
        order,
        sources: Sources::default(),
        scenarios: Vec::new(),
    };
    let scenario = Scenario {
        name: None,
        own_targets: None,
        simulate: None,
        too_long_to_simulate: false,
        layout,
        tree,
        stages,
        engine,
        contents,
        points,
        skip: sweep.skip,
        rounds,
    };
    (common, scenario)
}

/// What workloads and what they load have to agree in.
fn check_load(beside: &zones::Beside<'_>, points: &[PointSpec], problems: &mut Problems) {
    let zones::Beside { stages, layout, engine, contents } = *beside;
    check_points(points, problems);
    check_trims(engine, points, problems);
    zones::check(beside, points, problems);
    check_curves(stages, points, problems);
    check_rate_shares(stages, points, problems);
    check_shares(stages, points, problems);
    contents::check(contents, points, problems);
    sharing::check(layout, contents, points, problems);
    crate::checks::command::check(layout, contents, stages, points, problems);
    // A tree has its own amount, and metadata::check says so.
    if layout.kind.value != LayoutKind::Tree {
        amount::check(stages, points, problems);
    }
}

/// Reads the table `key` of `root`, or an empty one where it is not given.
fn read_table<T>(
    root: &Table,
    key: &str,
    problems: &mut Problems,
    read: fn(&mut Reader<'_>) -> T,
) -> T {
    let mut reader = Reader::of_table(root, key, problems).with_tables(&TABLES);
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
    layout: &LayoutSpec,
    tree: &TreeSpec,
    sweep: &Sweep,
    problems: &mut Problems,
) -> Vec<PointSpec> {
    let workloads: &[Node] = match root.get("workload") {
        Some(Node { value: Value::Array(workloads), .. }) => workloads,
        Some(node) => {
            problems.push(node.wrong(
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
        let names: Vec<String> = group.iter().map(|(table, _)| name_of(table)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for combination in (0..combinations).filter(|number| sweep.is_for(*number, &names)) {
            let read = |(table, span): &(&Table, Span)| {
                read_workload(table, span.clone(), sweep, combination, problems)
            };
            let workloads: Vec<WorkloadSpec> = group.iter().map(read).collect();
            let layout = read_layout(root, layout, sweep, combination, problems);
            let (sweep, tree) = (sweep.labels(combination, &names), tree.clone());
            points.push(PointSpec { workloads, sweep, repetition: 1, layout, tree });
        }
    }
    points
}

/// The name of a workload, as it was written.
fn name_of(table: &Table) -> String {
    table.get("name").map(Node::label).unwrap_or_default()
}

/// The layout with one combination of the sweep's values put in.
fn read_layout(
    root: &Table,
    layout: &LayoutSpec,
    sweep: &Sweep,
    combination: usize,
    problems: &mut Problems,
) -> LayoutSpec {
    let values = sweep.values_of_layout(combination);
    if values.is_empty() {
        return layout.clone();
    }
    let mut table = match root.get("layout") {
        Some(Node { value: Value::Table(table), .. }) => table.clone(),
        _ => Table::default(),
    };
    for (axis, value) in values {
        table.set(&axis.field, axis.key_span.clone(), value.clone());
    }
    let mut reader = sections::reader(&table, 0..0, problems).with_names(layout_names);
    let layout = LayoutSpec::read(&mut reader);
    reader.finish();
    layout
}

/// The tables of workloads that run at the same time, in the order of their first ones.
fn groups<'a>(workloads: &'a [Node], problems: &mut Problems) -> Vec<Vec<(&'a Table, Span)>> {
    let mut groups: Vec<(String, Vec<(&Table, Span)>)> = Vec::new();
    for node in workloads {
        let Value::Table(table) = &node.value else {
            let message = format!("expected a table, found {}", node.kind());
            problems.push(node.wrong(message, "write `[[workload]]` above its fields"));
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
    problems: &mut Problems,
) -> WorkloadSpec {
    let name = name_of(table);
    let mut table = table.clone();
    for (axis, value) in sweep.values_of(combination, &name) {
        table.set(&axis.field, axis.key_span.clone(), value.clone());
    }
    let mut reader = sections::reader(&table, span, problems).with_names(workload_names);
    let workload = WorkloadSpec::read(&mut reader);
    reader.finish();
    workload
}
