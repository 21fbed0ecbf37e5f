//! Other values for facts of a testbed: `--set nodes.count=8`, and the what-ifs `nodes+2,
//! copies=2`.

use super::fields::{
    AccessSpec, CacheSpec, ClientsSpec, CpuSpec, DriveSpec, FabricSpec, NodesSpec, ProtectionSpec,
    TopSpec,
};
use super::software::SoftwareSpec;
use form::{Node, Override, Problem, Problems, Sources, Span, Table, Value, nearest, parse_value};
use std::fmt;
use std::str::FromStr;

const SECTIONS: [(&str, &[&str]); 7] = [
    ("protection", ProtectionSpec::KEYS),
    ("access", AccessSpec::KEYS),
    ("cache", CacheSpec::KEYS),
    ("cpu", CpuSpec::KEYS),
    ("fabric", FabricSpec::KEYS),
    ("clients", ClientsSpec::KEYS),
    ("software", SoftwareSpec::KEYS),
];

/// Short words of what-ifs, and what each stands for.
const SHORT: [(&str, &str); 6] = [
    ("nodes", "nodes.count"),
    ("ports", "nodes.ports"),
    ("cores", "nodes.cores"),
    ("copies", "protection.copies"),
    ("drives", "nodes.drives.count"),
    ("clients", "clients.count"),
];

/// One fact with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// As it was given.
    text: String,
    /// How much of the text is the key.
    key: usize,
    how: How,
    /// Where it was given, as errors name it.
    option: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The value takes the place of the old one.
    Set,
    Add,
    Subtract,
}

/// A what-if without an order in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeError(String);

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` changes nothing; write nodes+2, ports+1, copies=2 or any FIELD=VALUE, with \
             commas between",
            self.0
        )
    }
}

impl std::error::Error for ChangeError {}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let text = text.trim();
        let wrong = || ChangeError(text.to_owned());
        let key = text.find(['=', '+', '-']).ok_or_else(wrong)?;
        let how = match text.as_bytes().get(key) {
            Some(b'+') => How::Add,
            Some(b'-') => How::Subtract,
            _ => How::Set,
        };
        if text[..key].trim().is_empty() || text[key + 1..].trim().is_empty() {
            return Err(wrong());
        }
        Ok(Change { text: text.to_owned(), key, how, option: "--what-if" })
    }
}

impl From<&Override> for Change {
    /// `--set` of a suite and of a testbed look the same.
    fn from(set: &Override) -> Change {
        let (key, value) = set.parts();
        Change { text: format!("{key}={value}"), key: key.len(), how: How::Set, option: "--set" }
    }
}

/// Some changes that come true together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    /// As it was given, and as tables print it.
    pub name: String,
    /// At least one.
    pub changes: Vec<Change>,
}

impl FromStr for WhatIf {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Self, ChangeError> {
        let changes =
            text.split(',').map(str::parse).collect::<Result<Vec<Change>, ChangeError>>()?;
        Ok(WhatIf { name: text.trim().to_owned(), changes })
    }
}

/// Puts the change into the tree; what it names must exist, what it says is checked when the tree
/// is read.
pub(super) fn apply(
    root: &mut Table,
    change: &Change,
    sources: &mut Sources,
    problems: &mut Problems,
) {
    let base = sources.add(change.option, change.text.as_str());
    let span = base..base + change.key;
    let value = parse_value(&change.text[change.key + 1..], base + change.key + 1);
    let given = change.text[..change.key].trim();
    let key = SHORT.iter().find(|(short, _)| *short == given).map_or(given, |(_, whole)| whole);
    let path: Vec<&str> = key.split('.').collect();
    let mut order = Order { how: change.how, span: span.clone(), value, problems };
    let done = match path.as_slice() {
        [field] if TopSpec::KEYS.contains(field) => order.put(root, field),
        ["nodes", field] if NodesSpec::KEYS.contains(field) => order.nodes(root, None, None, field),
        ["nodes", name, field] if *name != "drives" && NodesSpec::KEYS.contains(field) => {
            order.nodes(root, Some(name), None, field)
        }
        ["nodes", "drives", field] if DriveSpec::KEYS.contains(field) => {
            order.nodes(root, None, Some(()), field)
        }
        ["nodes", name, "drives", field] if DriveSpec::KEYS.contains(field) => {
            order.nodes(root, Some(name), Some(()), field)
        }
        [section, field]
            if SECTIONS.iter().any(|(name, keys)| name == section && keys.contains(field)) =>
        {
            order.section(root, section, field)
        }
        _ => false,
    };
    if !done {
        problems.push(Problem::new(
            span,
            format!("`{given}` names no fact of this testbed"),
            remedy(key),
        ));
    }
}

struct Order<'a> {
    how: How,
    span: Span,
    value: Node,
    problems: &'a mut Problems,
}

impl Order<'_> {
    /// Gives `field` of `table` its new value. Says true even where that was a mistake: then it has
    /// been noted.
    fn put(&mut self, table: &mut Table, field: &str) -> bool {
        let old = table.get(field).map(|node| node.value.clone());
        let mut node = self.value.clone();
        if self.how != How::Set {
            let old = match old {
                Some(Value::Integer(old)) => Some(old),
                None if field == "count" => Some(1),
                _ => None,
            };
            let (Some(old), Value::Integer(step)) = (old, &self.value.value) else {
                let message = format!(
                    "nothing can be added to `{field}`: it is no whole number, or not given"
                );
                self.problems.push(Problem::new(
                    self.span.clone(),
                    message,
                    format!("write {field}=VALUE"),
                ));
                return true;
            };
            let signed = if self.how == How::Add { *step } else { step.saturating_neg() };
            node.value = Value::Integer(old.saturating_add(signed));
        }
        table.set(field, self.span.clone(), node);
        true
    }

    fn section(&mut self, root: &mut Table, section: &str, field: &str) -> bool {
        if root.get(section).is_none() {
            let empty = Node { span: self.span.clone(), value: Value::Table(Table::default()) };
            root.set(section, self.span.clone(), empty);
        }
        match root.get_mut(section) {
            Some(Node { value: Value::Table(table), .. }) => self.put(table, field),
            _ => false,
        }
    }

    /// In all groups of nodes or in the one called `name`; with `drives`, in all their drives that
    /// carry load.
    fn nodes(
        &mut self,
        root: &mut Table,
        name: Option<&str>,
        drives: Option<()>,
        field: &str,
    ) -> bool {
        let Some(Node { value: Value::Array(groups), .. }) = root.get_mut("nodes") else {
            return false;
        };
        let mut done = false;
        for group in groups {
            let Value::Table(group) = &mut group.value else { continue };
            let called = group.get("name").map_or_else(|| "node".to_owned(), Node::label);
            if name.is_some_and(|name| name != called) {
                continue;
            }
            if drives.is_none() {
                done |= self.put(group, field);
                continue;
            }
            let Some(Node { value: Value::Array(drives), .. }) = group.get_mut("drives") else {
                continue;
            };
            for drives in drives {
                let Value::Table(drives) = &mut drives.value else { continue };
                if drives.get("role").is_none_or(|role| role.label() != "boot") {
                    done |= self.put(drives, field);
                }
            }
        }
        done
    }
}

fn remedy(key: &str) -> String {
    let mut known: Vec<String> = SHORT.iter().map(|(short, _)| (*short).to_owned()).collect();
    let sections =
        SECTIONS.iter().chain(&[("nodes", NodesSpec::KEYS), ("nodes.drives", DriveSpec::KEYS)]);
    for (section, keys) in sections {
        known.extend(keys.iter().map(|field| format!("{section}.{field}")));
    }
    match nearest(key, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write nodes.FIELD, nodes.NAME.FIELD, nodes.drives.FIELD or SECTION.FIELD; \
                 docs/reference/testbed.md lists them"
            .to_owned(),
    }
}
