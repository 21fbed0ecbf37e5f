//! Which hosts load what: `[labels]`, `[targets]`, and the `hosts` of a workload.

use form::{Field, Node, Problem, ProblemKind, Problems, Span, Table, Value, nearest};
use model::hostlist;
use model::testbed::Place;
use model::units::UnitError;

/// The word for every host of a run.
pub const ALL_HOSTS: &str = "all";

/// Hosts as a suite names them: a label, a host list, labels and hosts with commas between them, or
/// `all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSet {
    text: String,
    /// Their numbers in rising order, once the planner knows the hosts.
    numbers: Option<Vec<u32>>,
}

impl HostSet {
    /// Every host of the run.
    pub fn all() -> HostSet {
        HostSet { text: ALL_HOSTS.to_owned(), numbers: None }
    }

    /// What was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is every host.
    pub fn is_all(&self) -> bool {
        self.text == ALL_HOSTS
    }

    /// The same, written otherwise.
    pub(crate) fn rename(&mut self, text: String) {
        self.text = text;
    }

    /// Says which hosts of the run these are.
    pub(crate) fn resolve(&mut self, mut numbers: Vec<u32>) {
        numbers.sort_unstable();
        numbers.dedup();
        self.numbers = Some(numbers);
    }

    /// The place of a host among these; `None` where it is none of them. Before the hosts are
    /// known, these are all.
    pub(crate) fn place(&self, of_run: Place) -> Option<Place> {
        let Some(numbers) = &self.numbers else { return Some(of_run) };
        let number = numbers.binary_search(&of_run.number).ok()?;
        Some(Place { number: number as u32, of: numbers.len() as u32 })
    }
}

impl Field for HostSet {
    const KIND: &'static str = "label, host list or `\"all\"`";

    fn read(node: &Node) -> Result<Self, UnitError> {
        let Value::Text(text) = &node.value else {
            let message = format!("expected hosts, found {}", node.kind());
            return Err(UnitError {
                message,
                remedy: "write a label or a list such as \"node[01-04]\"".into(),
            });
        };
        hostlist::expand(text)?;
        Ok(HostSet { text: text.clone(), numbers: None })
    }

    fn write(&self) -> String {
        format!("\"{}\"", self.text)
    }
}

/// A word that some hosts have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The word.
    pub name: String,
    /// The names of its hosts.
    pub hosts: Vec<String>,
    /// Where its hosts are written.
    pub span: Span,
}

/// Targets of some of the hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTargets {
    /// Whose: a label, a host list, or `all`.
    pub hosts: String,
    /// The paths, in order.
    pub paths: Vec<String>,
    /// The label of the hosts that they are near to; empty where nobody says.
    pub owner: String,
}

/// The labels of `[labels]`.
pub(crate) fn read_labels(root: &Table, problems: &mut Problems) -> Vec<Label> {
    let mut labels = Vec::new();
    let Some(table) = table(root, "labels", problems) else { return labels };
    for entry in &table.entries {
        if entry.key == ALL_HOSTS || !hostlist::is_name(&entry.key) {
            let message = format!("`{}` cannot be a label", entry.key);
            let remedy = "write letters, digits, and . - _ only; `all` is every host already";
            problems.push(Problem::new(entry.key_span.clone(), message, remedy));
            continue;
        }
        let hosts = match &entry.node.value {
            Value::Text(list) => hostlist::expand(list),
            _ => Err(UnitError {
                message: format!("expected a host list, found {}", entry.node.kind()),
                remedy: "write one such as \"node[01-04],x\"".into(),
            }),
        };
        match hosts {
            Ok(hosts) => {
                labels.push(Label {
                    name: entry.key.clone(),
                    hosts,
                    span: entry.node.span.clone(),
                });
            }
            Err(error) => {
                let message = format!("{}: {}", entry.key, error.message);
                problems.push(entry.node.wrong(message, error.remedy));
            }
        }
    }
    labels
}

/// The entries of `[targets]`.
pub(crate) fn read_targets(
    root: &Table,
    labels: &[Label],
    problems: &mut Problems,
) -> Vec<HostTargets> {
    let mut all = Vec::new();
    let Some(table) = table(root, "targets", problems) else { return all };
    for entry in &table.entries {
        if let Err(error) = hostlist::expand(&entry.key) {
            problems.push(Problem::new(entry.key_span.clone(), error.message, error.remedy));
            continue;
        }
        match read_entry(&entry.key, &entry.node, labels) {
            Ok(targets) => all.push(targets),
            Err(problem) => {
                let message = format!("{}: {}", entry.key, problem.message);
                problems.push(Problem { message, ..problem });
            }
        }
    }
    all
}

/// A path, a list of paths, or `{ path = …, owner = … }`.
fn read_entry(hosts: &str, node: &Node, labels: &[Label]) -> Result<HostTargets, Problem> {
    let hosts = hosts.to_owned();
    let Value::Table(table) = &node.value else {
        return Ok(HostTargets { hosts, paths: read_paths(node)?, owner: String::new() });
    };
    let wrong =
        |span: &Span, message: String, remedy: String| Problem::new(span.clone(), message, remedy);
    if let Some(entry) =
        table.entries.iter().find(|entry| !["path", "owner"].contains(&entry.key.as_str()))
    {
        let message = format!("`{}` is not a known field", entry.key);
        let problem = wrong(&entry.key_span, message, "known here: owner, path".into());
        return Err(problem.of_kind(ProblemKind::Unknown));
    }
    let Some(path) = table.get("path") else {
        let problem = wrong(
            &node.span,
            "`path` is missing".into(),
            "add `path = …`, a path or a list of paths".into(),
        );
        return Err(problem.of_kind(ProblemKind::Missing));
    };
    let owner = match table.get("owner") {
        None => String::new(),
        Some(Node { value: Value::Text(owner), span }) => {
            match labels.iter().any(|label| label.name == *owner) {
                true => owner.clone(),
                false => {
                    let remedy =
                        match nearest(owner, labels.iter().map(|label| label.name.as_str())) {
                            Some(near) => format!("did you mean \"{near}\"?"),
                            None => format!("add `{owner} = …` to [labels]"),
                        };
                    return Err(wrong(span, format!("no label is called `{owner}`"), remedy));
                }
            }
        }
        Some(node) => {
            let message = format!("expected a label, found {}", node.kind());
            return Err(wrong(&node.span, message, "write a label in quotes".into()));
        }
    };
    Ok(HostTargets { hosts, paths: read_paths(path)?, owner })
}

fn read_paths(node: &Node) -> Result<Vec<String>, Problem> {
    let one = |node: &Node| match &node.value {
        Value::Text(text) if !text.is_empty() => {
            String::read(node).map_err(|error| node.wrong(error.message, error.remedy))
        }
        _ => {
            let message = format!(
                "expected a path, found {}",
                if node.label().is_empty() { "nothing" } else { node.kind() }
            );
            let remedy = "write a path in quotes, or a list of them";
            Err(node.wrong(message, remedy))
        }
    };
    match &node.value {
        Value::Array(nodes) if !nodes.is_empty() => nodes.iter().map(one).collect(),
        _ => Ok(vec![one(node)?]),
    }
}

fn table<'a>(root: &'a Table, key: &str, problems: &mut Problems) -> Option<&'a Table> {
    match root.get(key)? {
        Node { value: Value::Table(table), .. } => Some(table),
        node => {
            let message = format!("expected a table, found {}", node.kind());
            problems.push(node.wrong(message, format!("write `[{key}]` on a line of its own")));
            None
        }
    }
}

/// The part of the reference that no table of fields has.
pub(crate) const REFERENCE: &str = "
## `[labels]` and `[targets]`

`[labels]` names groups of hosts. A host can have several labels, and every result is split by them.

```toml
[labels]
site1 = \"vm[1-4]\"
site2 = \"vm[5-8]\"

[targets]
\"site1\" = { path = \"/mnt/a\", owner = \"site1\" }
\"site2\" = { path = [\"/mnt/a\", \"/mnt/b\"], owner = \"site1\" }
```

Hosts are a label, a host list (`node[01-16],10.0.0.5`), both with commas between them, or `all`. \
Their names are those of `--hosts` (`local-1`, `local-2`, … with `--hosts local:N`). Unknown names \
are refused.

`[targets]` says which hosts load what. A value is a path, a list of paths, or `path` with the \
`owner` that it is near to, a label. `--target` and `--target HOSTS:PATH` replace the whole table. \
A host with the owner's label finds the target `local`, every other one `remote`, and results are \
split by that, too. Every host needs a target.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    fn read(text: &str) -> Result<Spec, Vec<String>> {
        let text = format!("name = \"t\"\n[[workload]]\nname = \"w\"\n{text}");
        let told = |problem: Problem| format!("{}; {}", problem.message, problem.remedy);
        Spec::parse("t", &text, &[])
            .map_err(|errors| errors.problems.into_iter().map(told).collect())
    }

    #[test]
    fn labels_and_targets_are_read() {
        let spec = read(
            "hosts = \"a,x1\"\n[labels]\na = \"n[1-2]\"\nb = \"n2\"\n[targets]\n\"n[1-2]\" = \
             \"/m\"\nb = { path = [\"/x\", \"/y\"], owner = \"a\" }\n",
        )
        .expect("good");
        assert_eq!(spec.first_scenario().points[0].workloads[0].hosts.value.text(), "a,x1");
        assert_eq!(spec.labels[0].hosts, ["n1", "n2"]);
        assert_eq!(
            spec.targets[0],
            HostTargets { hosts: "n[1-2]".into(), paths: vec!["/m".into()], owner: String::new() }
        );
        assert_eq!((spec.targets[1].paths.len(), spec.targets[1].owner.as_str()), (2, "a"));
    }

    #[test]
    fn what_is_wrong_is_said_with_a_remedy() {
        for (text, words) in [
            ("hosts = \"n[1-\"\n", "without"),
            ("hosts = 3\n", "expected hosts"),
            ("[labels]\nall = \"n1\"\n", "cannot be a label"),
            ("[labels]\n\"a b\" = \"n1\"\n", "cannot be a label"),
            ("[labels]\na = \"n[4-1]\"\n", "counts down"),
            ("[labels]\na = 1\n", "expected a host list"),
            ("[targets]\n\"n[\" = \"/x\"\n", "without"),
            ("[targets]\nn1 = 1\n", "n1: expected a path"),
            ("[targets]\nn1 = []\n", "expected a path"),
            ("[targets]\nn1 = \"\"\n", "expected a path"),
            ("[targets]\nn1 = { owner = \"x\" }\n", "`path` is missing"),
            ("[targets]\nn1 = { path = \"/x\", ower = \"x\" }\n", "not a known field"),
            (
                "[labels]\nsite1 = \"n1\"\n[targets]\nn1 = { path = \"/x\", owner = \"site2\" }\n",
                "did you mean \"site1\"",
            ),
        ] {
            let told = read(text).expect_err(text);
            assert!(told.len() == 1 && told[0].contains(words), "{text}: {told:?}");
        }
    }

    #[test]
    fn a_host_has_a_place_among_those_that_are_named() {
        let mut set = HostSet::all();
        let place = |number, of| Place { number, of };
        assert_eq!(set.place(place(3, 8)), Some(place(3, 8)));
        set.resolve(vec![5, 3, 5]);
        assert_eq!(
            (set.place(place(3, 8)), set.place(place(5, 8)), set.place(place(4, 8))),
            (Some(place(0, 2)), Some(place(1, 2)), None)
        );
    }
}
