//! `[[scenario]]`: variants of a suite, each the rest of the file with some fields changed.
//!
//! A scenario is a rewrite of the tree: its tables go over those of the file, then every `--set`,
//! and what comes of it is read as a suite of its own. So every field can differ between scenarios
//! without a line of code of its own, and a mistake is told where it was written.

use crate::fields::WorkloadSpec;
use crate::overrides::{self, Set};
use crate::placement::ALL_HOSTS;
use crate::sections::SECTIONS;
use form::{Entry, Node, Problem, Problems, Reader, Span, Table, Value, nearest};

/// More than anyone compares.
const MOST_SCENARIOS: usize = 64;

/// What a scenario says about itself, besides the tables that it changes.
const OWN_KEYS: [&str; 6] = ["name", "target", "targets", "workloads", "set", "simulate"];

/// Tables that a scenario can change; those of the hosts and of the run are the same for all.
const TABLES: [&str; 6] = ["layout", "tree", "contents", "stages", "engine", "sweep"];

/// Fields of these tables that the whole run has one of.
const OF_THE_RUN: [(&str, &str); 2] = [("stages", "interval"), ("sweep", "order")];

/// A scenario before it is read: the tree of its own suite.
pub(crate) struct Derived {
    pub(crate) name: String,
    pub(crate) has_own_targets: bool,
    pub(crate) simulate: Option<String>,
    pub(crate) too_long_to_simulate: bool,
    pub(crate) root: Table,
}

/// The suites that the scenarios of `root` come to, in order; none where there are no scenarios.
/// `sets` are put into each.
pub(crate) fn derive(root: &Table, sets: &[Set], problems: &mut Problems) -> Vec<Derived> {
    let Some(tables) = tables(root, problems) else { return Vec::new() };
    let mut all: Vec<Derived> = Vec::new();
    for (table, span) in tables {
        let derived = one(root, table, &span, sets, problems);
        let name_span = table.get("name").map_or(span, |node| node.span.clone());
        if all.iter().any(|other| other.name == derived.name) && !derived.name.is_empty() {
            let message = format!("a second scenario is called `{}`", derived.name);
            problems.push(Problem::new(name_span, message, "give each scenario a name of its own"));
        }
        all.push(derived);
    }
    idle_workloads(root, &all, problems);
    all
}

/// The tables of the scenarios, if the suite has any.
fn tables<'a>(root: &'a Table, problems: &mut Problems) -> Option<Vec<(&'a Table, Span)>> {
    let node = root.get("scenario")?;
    let expected = |node: &Node| {
        let message = format!("expected a list of tables, found {}", node.kind());
        node.wrong(message, "write `[[scenario]]`, with two brackets, above each scenario")
    };
    let Value::Array(nodes) = &node.value else {
        problems.push(expected(node));
        return None;
    };
    if nodes.len() > MOST_SCENARIOS {
        let message = format!("{} scenarios are more than {MOST_SCENARIOS}", nodes.len());
        problems.push(node.wrong(message, "split the suite"));
        return None;
    }
    let mut tables = Vec::new();
    for node in nodes {
        match &node.value {
            Value::Table(table) => tables.push((table, node.span.clone())),
            _ => problems.push(expected(node)),
        }
    }
    (!tables.is_empty()).then_some(tables)
}

fn one(root: &Table, table: &Table, span: &Span, sets: &[Set], problems: &mut Problems) -> Derived {
    let mut own = table.clone();
    own.entries.retain(|entry| !belongs_into_set(entry));
    problems.extend(table.entries.iter().filter(|entry| belongs_into_set(entry)).map(into_set));
    let mut reader = Reader::new(&own, span.clone(), problems);
    reader.allow(&OWN_KEYS);
    reader.allow(&TABLES);
    let name = reader.required::<String>("name");
    reader.finish();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.span.is_some()
        && (name.value.is_empty() || name.value.len() > 60 || !name.value.chars().all(is_plain))
    {
        let message = format!("`{}` cannot be the name of a scenario", name.value);
        let remedy =
            "write up to 60 letters, digits, - and _, so that --scenario and --set can name it";
        problems.push(Problem::new(name.span.clone().unwrap_or_default(), message, remedy));
    }
    let mut derived = root.clone();
    derived.entries.retain(|entry| entry.key != "scenario");
    for key in TABLES {
        if let Some(node) = table.get(key) {
            change_table(&mut derived, key, node, problems);
        }
    }
    if let Some(node) = table.get("set") {
        change_fields(&mut derived, node, problems);
    }
    let has_own_targets = take_targets(&mut derived, table, problems);
    for set in sets {
        overrides::put(&mut derived, set, problems);
    }
    sets.iter().for_each(|set| overrides::check_axis(&derived, set, problems));
    if let Some(node) = table.get("workloads") {
        keep_workloads(&mut derived, node, problems);
    }
    let simulate = table.get("simulate");
    let too_long_to_simulate =
        simulate.is_some_and(|node| matches!(node.value, Value::Flag(false)));
    let simulate =
        simulate.filter(|_| !too_long_to_simulate).and_then(|node| parameters(node, problems));
    Derived { name: name.value, has_own_targets, simulate, too_long_to_simulate, root: derived }
}

/// Whether a key of a scenario is one that only its `set` takes: a field of a workload, with or
/// without the workload's name.
fn belongs_into_set(entry: &Entry) -> bool {
    let path: Vec<&str> = entry.key.split('.').collect();
    match (path.as_slice(), &entry.node.value) {
        (["workload"], Value::Table(_)) | (["workload", _, ..], _) => true,
        ([field], _) => {
            WorkloadSpec::KEYS.contains(field)
                && !OWN_KEYS.contains(field)
                && !TABLES.contains(field)
        }
        _ => false,
    }
}

/// Such a key, with where it is to be written: `workloads`, the nearest by its letters, is
/// something else.
fn into_set(entry: &Entry) -> Problem {
    let mut all = Table::default();
    all.entries.push(entry.clone());
    let fields = flat(&all);
    let key = fields.first().map_or(entry.key.as_str(), |field| field.key.as_str());
    let key = if key.contains('.') { key.to_owned() } else { format!("workload.NAME.{key}") };
    let message = format!("`{}` is not a field of a scenario itself", entry.key);
    Problem::new(
        entry.key_span.clone(),
        message,
        format!("write it into the scenario's `set`: set = {{ \"{key}\" = … }}"),
    )
}

/// Parameters of a simulated cluster; whether it has them is known where it is made.
fn parameters(node: &Node, problems: &mut Problems) -> Option<String> {
    if matches!(node.value, Value::Text(_)) {
        return Some(node.label());
    }
    let message = format!("simulate: expected parameters of a cluster, found {}", node.kind());
    problems.push(node.wrong(
        message,
        "write them in quotes, such as \"remote=100%\"; or `false`, to leave the scenario out",
    ));
    None
}

/// Puts the fields of a scenario's table over those of the suite's; what no suite knows is told
/// when the result is read.
fn change_table(root: &mut Table, key: &str, node: &Node, problems: &mut Problems) {
    let Value::Table(changes) = &node.value else {
        let message = format!("expected a table, found {}", node.kind());
        problems.push(node.wrong(message, format!("write `{key} = {{ … }}`")));
        return;
    };
    for entry in &changes.entries {
        if OF_THE_RUN.contains(&(key, entry.key.as_str())) {
            problems.push(of_the_run(&entry.key, &entry.key_span, &format!("[{key}]")));
            continue;
        }
        overrides::set_in(root, key, &entry.key, &entry.key_span, entry.node.clone());
    }
}

/// Puts in `set = { "workload.NAME.depth" = 8 }`: keys as `--set` has them.
fn change_fields(root: &mut Table, node: &Node, problems: &mut Problems) {
    let Value::Table(changes) = &node.value else {
        let message = format!("expected a table, found {}", node.kind());
        let remedy =
            "write `[scenario.set]` and under it lines such as \"workload.NAME.depth\" = 8";
        problems.push(node.wrong(message, remedy));
        return;
    };
    for entry in &flat(changes) {
        let path: Vec<&str> = entry.key.split('.').collect();
        let field = path.last().copied().unwrap_or_default();
        let of_run = OF_THE_RUN
            .iter()
            .find(|(table, key)| *key == field && [field, table].contains(&path[0]));
        let section = SECTIONS
            .iter()
            .find(|(name, keys)| *name == path[0] || (path.len() == 1 && keys.contains(&field)));
        match (of_run, section) {
            (Some((table, key)), _) => {
                problems.push(of_the_run(key, &entry.key_span, &format!("[{table}]")));
            }
            (None, Some((name, _))) if !TABLES.contains(name) => {
                problems.push(of_the_run(&entry.key, &entry.key_span, &format!("[{name}]")));
            }
            _ if ["name", "description", "seed", "labels"].contains(&path[0]) => {
                problems.push(of_the_run(&entry.key, &entry.key_span, "the top of the file"));
            }
            _ if path[0] == "event" => {
                problems.push(of_the_run(&entry.key, &entry.key_span, "[[event]]"));
            }
            _ => {
                let set = Set::new(&entry.key, entry.key_span.clone(), entry.node.clone());
                overrides::put(root, &set, problems);
            }
        }
    }
}

/// The fields of a table and of the tables in it, each by its whole key: TOML reads an unquoted
/// `layout.size` as a table. No field is a table itself.
fn flat(table: &Table) -> Vec<Entry> {
    let mut fields = Vec::new();
    for entry in &table.entries {
        match &entry.node.value {
            Value::Table(inner) => {
                let whole =
                    |field: Entry| Entry { key: format!("{}.{}", entry.key, field.key), ..field };
                fields.extend(flat(inner).into_iter().map(whole));
            }
            _ => fields.push(entry.clone()),
        }
    }
    fields
}

fn of_the_run(key: &str, span: &Span, place: &str) -> Problem {
    Problem::new(
        span.clone(),
        format!("`{key}` is the same for all scenarios"),
        format!("write it into {place}"),
    )
}

/// Gives the scenario's suite its own targets, if it has any.
fn take_targets(root: &mut Table, table: &Table, problems: &mut Problems) -> bool {
    let (target, targets) = (table.get("target"), table.get("targets"));
    if let (Some(_), Some(second)) = (target, targets) {
        problems.push(second.wrong("both `target` and `targets` are given", "leave out one"));
    }
    let node = match (target, targets) {
        (Some(node), _) if !matches!(node.value, Value::Text(_) | Value::Array(_)) => {
            let message = format!("target: expected a path, found {}", node.kind());
            problems.push(node.wrong(message, "write a path in quotes, or a list of them"));
            return false;
        }
        (Some(node), _) => {
            let mut of_all = Table::default();
            of_all.set(ALL_HOSTS, node.span.clone(), node.clone());
            Node { span: node.span.clone(), value: Value::Table(of_all) }
        }
        (None, Some(node)) => node.clone(),
        (None, None) => return false,
    };
    root.set("targets", node.span.clone(), node);
    true
}

/// The names of the workloads of a suite, in order, with their places.
fn workload_names(root: &Table) -> Vec<(String, Span)> {
    let Some(Node { value: Value::Array(workloads), .. }) = root.get("workload") else {
        return Vec::new();
    };
    let name = |node: &Node| match &node.value {
        Value::Table(table) => table.get("name").map(|name| (name.label(), name.span.clone())),
        _ => None,
    };
    workloads.iter().filter_map(name).collect()
}

/// Leaves the workloads that `node` lists.
fn keep_workloads(root: &mut Table, node: &Node, problems: &mut Problems) {
    let known = workload_names(root);
    let wanted: Option<Vec<(String, Span)>> = match &node.value {
        Value::Array(nodes) => {
            let text = |node: &Node| {
                matches!(node.value, Value::Text(_)).then(|| (node.label(), node.span.clone()))
            };
            nodes.iter().map(text).collect()
        }
        _ => None,
    };
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
        let remedy = "write a list of their names, or leave it out for all workloads";
        problems.push(node.wrong("workloads: expected the names of workloads", remedy));
        return;
    };
    let mut all_known = true;
    for (name, span) in &wanted {
        if !known.iter().any(|(other, _)| other == name) {
            all_known = false;
            let remedy = match nearest(name, known.iter().map(|(name, _)| name.as_str())) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("add a `[[workload]]` with name = \"{name}\""),
            };
            problems.push(Problem::new(
                span.clone(),
                format!("no workload is called `{name}`"),
                remedy,
            ));
        }
    }
    // With a slip in the list, nobody knows which one is not wanted.
    if let Some(Node { value: Value::Array(workloads), .. }) =
        root.get_mut("workload").filter(|_| all_known)
    {
        // One without a name stays, so that what is wrong with it is told.
        let is_wanted = |node: &Node| match &node.value {
            Value::Table(table) => table
                .get("name")
                .is_none_or(|name| wanted.iter().any(|(wanted, _)| *wanted == name.label())),
            _ => true,
        };
        workloads.retain(is_wanted);
    }
}

/// A workload that no scenario runs would be read by nobody, with all its mistakes.
fn idle_workloads(root: &Table, all: &[Derived], problems: &mut Problems) {
    let run: Vec<(String, Span)> =
        all.iter().flat_map(|derived| workload_names(&derived.root)).collect();
    for (name, span) in workload_names(root) {
        if !run.iter().any(|(other, _)| *other == name) {
            let message = format!("no scenario runs the workload `{name}`");
            problems.push(Problem::new(
                span,
                message,
                "name it in the `workloads` of a scenario, or leave it out",
            ));
        }
    }
}

/// The part of the reference that no table of fields has.
pub(crate) const REFERENCE: &str = "
## `[[scenario]]`

One suite can hold several scenarios. Each is the rest of the file with some fields changed, \
and has a layout of its own. Their points carry the coordinate `scenario`. `plimsoll compare \
RUN` compares them with the first one.

```toml
[[scenario]]
name = \"local\"
target = \"/mnt/local\"

[[scenario]]
name = \"shared\"
target = [\"/mnt/a\", \"/mnt/b\"]
workloads = [\"read\"]
layout = { kind = \"shared-file\", size = \"4GiB\" }
sweep = { workers = [1, 2, 4] }

[scenario.set]
workload.read.depth = 8
```

| field | meaning |
|---|---|
| `name` | Up to 60 letters, digits, `-` and `_`. Must be given. |
| `target` | A path or a list of them, for every host. Without it (and `targets`), the scenario \
     has the targets of the run: `--target`, or `[targets]`. |
| `targets` | A table like `[targets]`, by label or host, instead of `target`. |
| `workloads` | The names of the workloads that it runs; by default all. |
| `layout`, `tree`, `contents`, `stages`, `engine`, `sweep` | Fields that replace those of the \
     table of that name. |
| `set` | Fields by the keys of `--set`. |
| `simulate` | With `--simulate` only: the cluster's parameters in this scenario, such as \
     `\"remote=100%\"`, or `false` to leave the scenario out. \
     [Simulation](../method/simulation.md) has more: `migrate`, `amount`, `files`. |

`stages.interval`, `sweep.order`, `[objective]`, `[fleet]`, `[clients]`, `[vms]`, `[labels]` \
and the top of the file are the same for all. A `--set` on the command line changes every \
scenario. `--set scenario.NAME.target=…` and `--set scenario.NAME.KEY=…` change one. \
`--scenario NAME` runs only some of them.

Scenarios run one after the other. Each layout is made before its first stage and removed \
after its last. So the largest layout has to fit, not their sum. A scenario with the same \
layout as the one before it uses that one.

With `order = \"interleaved\"` and `repetitions` in `[sweep]`, all of them run once, then all \
of them again (A B C A B C). Then their layouts exist side by side, and are prepared before \
the first point. `--keep-data` keeps what exists at the end: the last layout, or all that \
existed side by side.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LayoutKind, Order, Scenario, Spec};
    use form::Auto;
    use model::units::Bytes;

    fn read(text: &str, sets: &[&str]) -> Result<Spec, Vec<String>> {
        let text =
            format!("name = \"t\"\n[[workload]]\nname = \"a\"\n[[workload]]\nname = \"b\"\n{text}");
        let sets: Vec<_> = sets.iter().map(|set| set.parse().expect("an override")).collect();
        let told = |problem: Problem| format!("{}; {}", problem.message, problem.remedy);
        Spec::parse("t", &text, &sets)
            .map_err(|errors| errors.problems.into_iter().map(told).collect())
    }

    const TWO: &str = "\
[layout]
size = \"1MiB\"
[sweep]
order = \"interleaved\"
repetitions = 2
[[scenario]]
name = \"one\"
target = \"/x\"
[[scenario]]
name = \"two\"
workloads = [\"b\"]
layout = { kind = \"shared-file\" }
[scenario.set]
\"workload.b.depth\" = 8
layout.size = \"2MiB\"
";

    #[test]
    fn a_scenario_is_the_suite_with_its_own_fields_over_it() {
        let spec = read(TWO, &[]).expect("good");
        let [one, two] = spec.scenarios() else { panic!("two of them") };
        assert_eq!(
            (one.name.as_deref(), two.name.as_deref(), spec.order),
            (Some("one"), Some("two"), Order::Interleaved)
        );
        assert_eq!((one.points.len(), two.points.len()), (4, 2));
        assert_eq!(one.layout.kind.value, LayoutKind::Files);
        assert_eq!(two.layout.kind.value, LayoutKind::SharedFile);
        assert_eq!(two.layout.size.value, Auto::Fixed(Bytes::mib(2)));
        assert_eq!(two.points[0].workloads[0].depth.value.0, 8);
        assert!(one.own_targets.is_some() && two.own_targets.is_none());
        assert_eq!(spec.targets_of(one)[0].paths, ["/x"]);
        assert!(spec.targets.is_empty() && spec.targets_of(two).is_empty());
    }

    #[test]
    fn the_command_line_has_the_last_word() {
        let spec = read(
            TWO,
            &[
                "layout.size=4MiB", "scenario.two.target=/y", "scenario.two.depth=3",
                "workload.a.depth=5",
            ],
        )
        .expect("good");
        let [one, two] = spec.scenarios() else { panic!("two of them") };
        assert_eq!(two.layout.size.value, Auto::Fixed(Bytes::mib(4)));
        assert!(two.own_targets.as_ref().is_some_and(|targets| targets[0].paths == ["/y"]));
        assert_eq!(one.points[0].workloads[0].depth.value.0, 5);
        assert_eq!(two.points[0].workloads[0].depth.value.0, 3);
    }

    #[test]
    fn a_scenario_says_how_it_is_simulated_or_that_it_is_not() {
        let text = "[[scenario]]\nname = \"one\"\nsimulate = \"remote=100%\"\n[[scenario]]\n\
                    name = \"two\"\nsimulate = false\n";
        let spec = read(text, &[]).expect("good");
        let how = |scenario: &Scenario| (scenario.simulate.clone(), scenario.too_long_to_simulate);
        let found: Vec<_> = spec.scenarios().iter().map(how).collect();
        assert_eq!(found, [(Some("remote=100%".to_owned()), false), (None, true)]);
    }

    #[test]
    fn some_can_be_taken_and_others_are_not_known() {
        let mut spec = read(TWO, &[]).expect("good");
        assert!(
            spec.keep_scenarios(&["tow".into()])
                .expect_err("unknown")
                .contains("did you mean `two`?")
        );
        spec.keep_scenarios(&["two".into()]).expect("known");
        assert_eq!((spec.scenarios().len(), spec.has_named_scenarios()), (1, true));
        assert!(!spec.retain_scenarios(|_| false), "a suite has at least one");
        assert_eq!(spec.first_scenario().name.as_deref(), Some("two"));
        let mut plain = read("", &[]).expect("good");
        assert_eq!((plain.scenarios().len(), plain.has_named_scenarios()), (1, false));
        assert!(plain.keep_scenarios(&["x".into()]).expect_err("none").contains("no scenarios"));
    }

    #[test]
    fn what_is_wrong_is_said_once_and_with_a_remedy() {
        let scenario = |text: &str| format!("[[scenario]]\nname = \"s\"\n{text}");
        for (text, words) in [
            (scenario("workloads = [\"a\", \"bb\"]"), "did you mean \"b\"?"),
            (scenario("workloads = []"), "expected the names"),
            (scenario("[[scenario]]\nname = \"s\""), "a second scenario is called `s`"),
            (scenario("lay_out = { size = 1 }"), "did you mean `layout`?"),
            (scenario("workload.a.depth = 8"), "set = { \"workload.a.depth\" = … }"),
            (scenario("\"workload.a.depth\" = 8"), "set = { \"workload.a.depth\" = … }"),
            (scenario("depth = 8"), "set = { \"workload.NAME.depth\" = … }"),
            (scenario("workload = [\"a\"]"), "did you mean `workloads`?"),
            (scenario("set = { \"workload.a.dept\" = 8 }"), "did you mean `workload.a.depth`?"),
            (
                scenario("set = { \"workload.c.depth\" = 8 }"),
                "no workload of the suite is called `c`",
            ),
            (scenario("layout = { siz = \"1MiB\" }"), "did you mean `size`?"),
            (scenario("layout = 3"), "expected a table"),
            (scenario("set = { depht = 3 }"), "did you mean `depth`?"),
            (scenario("set = { seed = 3 }"), "the same for all"),
            (scenario("set = { \"event.e.command\" = \"true\" }"), "write it into [[event]]"),
            (scenario("set = { lost_after = \"9s\" }"), "the same for all"),
            (scenario("stages = { interval = \"1s\" }"), "the same for all"),
            (scenario("set = { order = \"random\" }"), "the same for all"),
            (scenario("target = 3"), "expected a path"),
            (scenario("target = \"/a\"\ntargets = { all = \"/b\" }"), "leave out one"),
            (scenario("workloads = [\"a\"]"), "no scenario runs the workload `b`"),
            ("[[scenario]]\nname = \"a.b\"".to_owned(), "cannot be the name"),
            ("[[scenario]]\ntarget = \"/x\"".to_owned(), "`name` is missing"),
            ("[scenario]\nname = \"s\"".to_owned(), "two brackets"),
            (scenario("[[scenario]]\nname = \"t\"\n[layout]\nsize = 0.5"), "size"),
        ] {
            let told = read(&text, &[]).expect_err(&text);
            assert!(told.len() == 1 && told[0].contains(words), "{text}: {told:?}");
        }
        let told = read(TWO, &["scenario.three.depth=1"]).expect_err("unknown");
        assert!(told.len() == 1 && told[0].contains("scenario.three.depth"), "{told:?}");
    }
}
