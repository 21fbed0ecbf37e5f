//! `--set key=value`: another value for any field of the suite.

use crate::curve_file::{self, Files};
use crate::event::EventSpec;
use crate::fields::{LayoutSpec, SuiteSpec, SweepSpec, WorkloadSpec};
use crate::sections::{self, SECTIONS};
use crate::sweep::LAYOUT_AXES;
use form::tree::{self};
use form::{Node, Override, Problem, Problems, Sources, Span, Table, Value, nearest};

/// An override, read: a key with its place, and a value.
pub(crate) struct Set {
    key: String,
    key_span: Span,
    value: Node,
}

impl Set {
    /// A field, by a key as `--set` has it, and its value.
    pub(crate) fn new(key: &str, key_span: Span, value: Node) -> Set {
        Set { key: key.trim().to_owned(), key_span, value }
    }

    /// Reads what was given; what it says is checked when the tree is read.
    pub(crate) fn read(set: &Override, sources: &mut Sources) -> Set {
        let base = sources.add("--set", set.text());
        let (key, value) = set.parts();
        let mut node = tree::parse_value(value, base + key.len() + 1);
        // A command is text whatever it looks like: `true` is one.
        let key_alone = key.trim();
        let is_command = key_alone.starts_with("event.") && key_alone.ends_with(".command")
            || key_alone == "stages.prerun"
            || key_alone.starts_with("scenario.") && key_alone.ends_with(".stages.prerun");
        if is_command && !matches!(node.value, Value::Text(_)) {
            node.value = Value::Text(value.trim().to_owned());
        }
        Set::new(key, base..base + key.len(), node)
    }

    /// Puts the steps of files in the place of their names, where it is a rate.
    pub(crate) fn read_curves(
        &mut self,
        files: Files<'_>,
        sources: &mut Sources,
        problems: &mut Problems,
    ) {
        if self.key == "rate" || self.key.ends_with(".rate") {
            curve_file::rate(&mut self.value, files, sources, problems);
        }
    }

    /// Puts it into the scenario that it names, if it does name one. False for every other key.
    pub(crate) fn put_into_scenario(&self, root: &mut Table) -> bool {
        let Some((name, field)) =
            self.key.strip_prefix("scenario.").and_then(|rest| rest.split_once('.'))
        else {
            return false;
        };
        let Some(Node { value: Value::Array(scenarios), .. }) = root.get_mut("scenario") else {
            return false;
        };
        let tables = scenarios.iter_mut().filter_map(|node| match &mut node.value {
            Value::Table(table) => Some(table),
            _ => None,
        });
        let mut named =
            tables.filter(|table| table.get("name").is_some_and(|node| node.label() == name));
        let Some(table) = named.next() else { return false };
        match field {
            "target" => {
                // It takes the place of both ways to say it.
                table.entries.retain(|entry| entry.key != "targets");
                table.set(field, self.key_span.clone(), self.value.clone());
                true
            }
            "workloads" => {
                table.set(field, self.key_span.clone(), self.value.clone());
                true
            }
            field => set_in(table, "set", field, &self.key_span, self.value.clone()),
        }
    }
}

/// Puts an override into the tree; what it names must exist, what it says is checked when the tree
/// is read.
pub(crate) fn put(root: &mut Table, set: &Set, problems: &mut Problems) {
    let Set { key, key_span, value } = set;
    let path: Vec<&str> = key.split('.').collect();
    let section_of = |field: &str| {
        SECTIONS.iter().find(|(_, keys)| keys.contains(&field)).map(|(name, _)| *name)
    };
    let value = value.clone();
    let done = match path.as_slice() {
        [field] if SuiteSpec::KEYS.contains(field) => {
            root.set(field, key_span.clone(), value);
            true
        }
        ["labels", label] => set_in(root, "labels", label, key_span, value),
        ["sweep", axis] => set_in(root, "sweep", axis, key_span, value),
        ["sweep", name, field] => {
            let is_nested = matches!(
                root.get("sweep").map(|node| &node.value),
                Some(Value::Table(sweep)) if sweep.get(name).is_some()
            );
            match (is_nested, root.get_mut("sweep").map(|node| &mut node.value)) {
                (true, Some(Value::Table(sweep))) => set_in(sweep, name, field, key_span, value),
                _ => set_in(root, "sweep", &format!("{name}.{field}"), key_span, value),
            }
        }
        [section, field] if SECTIONS.iter().any(|(name, _)| name == section) => {
            set_in(root, section, field, key_span, value)
        }
        [field] | ["workload", field] if WorkloadSpec::KEYS.contains(field) => {
            set_named(root, "workload", None, field, key_span, &value)
        }
        ["workload", name, field] if WorkloadSpec::KEYS.contains(field) => {
            set_named(root, "workload", Some(name), field, key_span, &value)
        }
        ["event", name, field] if EventSpec::KEYS.contains(field) => {
            set_named(root, "event", Some(name), field, key_span, &value)
        }
        [field] if section_of(field).is_some() => {
            set_in(root, section_of(field).unwrap_or_default(), field, key_span, value)
        }
        _ => false,
    };
    if !done {
        problems.push(Problem::new(
            key_span.clone(),
            format!("`{key}` names no field of this suite"),
            remedy(&path),
        ));
    }
}

/// Complains of an override that says what the sweep says differently for each point: it would
/// change nothing.
pub(crate) fn check_axis(root: &Table, set: &Set, problems: &mut Problems) {
    let path: Vec<&str> = set.key.split('.').collect();
    let (field, is_swept_there) = match path.as_slice() {
        [field] => (*field, WorkloadSpec::KEYS.contains(field) || LayoutSpec::KEYS.contains(field)),
        ["workload", .., field] => (*field, WorkloadSpec::KEYS.contains(field)),
        ["layout", field] => (*field, LAYOUT_AXES.contains(field)),
        _ => return,
    };
    let Some(Node { value: Value::Table(sweep), .. }) = root.get("sweep") else { return };
    let of_one = |name: &str| match sweep.get(name).map(|node| &node.value) {
        Some(Value::Table(fields)) => fields.get(field).is_some(),
        _ => sweep.get(&format!("{name}.{field}")).is_some(),
    };
    let named = match path.as_slice() {
        ["workload", name, _] if of_one(name) => Some(format!("{name}.{field}")),
        _ => None,
    };
    if let Some(axis) = named {
        let message =
            format!("`{axis}` is an axis of the sweep, which has values of its own for each point");
        let remedy =
            format!("write `--set sweep.{axis}=[{}]` for this one value", set.value.label());
        problems.push(Problem::new(set.key_span.clone(), message, remedy));
        return;
    }
    if is_swept_there && sweep.get(field).is_some() && !SweepSpec::KEYS.contains(&field) {
        let message = format!(
            "`{field}` is an axis of the sweep, which has values of its own for each point"
        );
        let remedy =
            format!("write `--set sweep.{field}=[{}]` for this one value", set.value.label());
        problems.push(Problem::new(set.key_span.clone(), message, remedy));
    }
}

pub(crate) fn set_in(
    root: &mut Table,
    section: &str,
    field: &str,
    key_span: &Span,
    value: Node,
) -> bool {
    if root.get(section).is_none() {
        root.set(
            section,
            key_span.clone(),
            Node { span: key_span.clone(), value: Value::Table(Table::default()) },
        );
    }
    match root.get_mut(section) {
        Some(Node { value: Value::Table(table), .. }) => {
            table.set(field, key_span.clone(), value);
            true
        }
        _ => false,
    }
}

/// Sets a field of those of the tables `list` that are called `name`, or of all.
fn set_named(
    root: &mut Table,
    list: &str,
    name: Option<&str>,
    field: &str,
    key_span: &Span,
    value: &Node,
) -> bool {
    let Some(Node { value: Value::Array(tables), .. }) = root.get_mut(list) else {
        return false;
    };
    let mut done = false;
    for node in tables {
        let Value::Table(table) = &mut node.value else { continue };
        let is_named = |wanted| table.get("name").is_some_and(|node| node.label() == wanted);
        if name.is_none_or(is_named) {
            table.set(field, key_span.clone(), value.clone());
            done = true;
        }
    }
    done
}

fn remedy(path: &[&str]) -> String {
    let mut known: Vec<String> =
        SuiteSpec::KEYS.iter().chain(WorkloadSpec::KEYS).map(ToString::to_string).collect();
    for (section, keys) in SECTIONS {
        known.extend(keys.iter().map(ToString::to_string));
        known.extend(keys.iter().map(|key| format!("{section}.{key}")));
    }
    let last = path.last().copied().unwrap_or_default();
    let is_known = known.iter().any(|key| key == last);
    if let Some(remedy) = sections::remedy(last).filter(|_| !is_known && path[0] != "event") {
        return remedy;
    }
    let named = match path {
        ["workload", ..] => nearest(last, WorkloadSpec::KEYS.iter().copied()),
        ["event", ..] => nearest(last, EventSpec::KEYS.iter().copied()),
        _ => None,
    };
    if let ([list, name, last], Some(near)) = (path, named) {
        // A field that is known was not found because of the name before it.
        return match near == *last {
            true => format!("no {list} of the suite is called `{name}`; write the `name` of one"),
            false => format!("did you mean `{list}.{name}.{near}`?"),
        };
    }
    match nearest(&path.join("."), known.iter().map(String::as_str))
        .or_else(|| nearest(last, known.iter().map(String::as_str)))
    {
        Some(near) if path.len() < 3 => format!("did you mean `{near}`?"),
        _ => "write FIELD, SECTION.FIELD, workload.NAME.FIELD or event.NAME.FIELD; `plimsoll \
              suites --reference` lists them"
            .to_owned(),
    }
}
