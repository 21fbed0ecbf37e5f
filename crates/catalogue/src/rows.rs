//! Texts that are lists of tables of one kind.

use form::{Node, Problem, Problems, Sources, SpecErrors, Table, Value, parse_tree};
use std::ops::Range;

/// Reads each table of the list called `key` in `text`, which was found at `name`.
pub(crate) fn read<T>(
    name: &str,
    text: &str,
    key: &str,
    mut one: impl FnMut(&Table, Range<usize>, &mut Problems) -> T,
) -> Result<Vec<T>, SpecErrors> {
    let mut sources = Sources::default();
    let base = sources.add(name, text);
    let (root, syntax) = parse_tree(text, base);
    let mut problems: Vec<Problem> = syntax
        .into_iter()
        .map(|error| Problem::new(error.span, error.message, "see https://toml.io"))
        .collect();
    let remedy = format!("write `[[{key}]]` above its fields");
    let tables = tables(list(&root, key), &remedy, &mut problems);
    let rows = tables.into_iter().map(|(table, span)| one(table, span, &mut problems)).collect();
    if problems.is_empty() { Ok(rows) } else { Err(SpecErrors { sources, problems }) }
}

/// The nodes of the list called `key`.
pub(crate) fn list<'a>(root: &'a Table, key: &str) -> &'a [Node] {
    match root.get(key) {
        Some(Node { value: Value::Array(list), .. }) => list,
        _ => &[],
    }
}

/// Those of `list` that are tables, with their places; what else is there is a problem.
pub(crate) fn tables<'a>(
    list: &'a [Node],
    remedy: &str,
    problems: &mut Problems,
) -> Vec<(&'a Table, Range<usize>)> {
    let mut tables = Vec::new();
    for node in list {
        match &node.value {
            Value::Table(table) => tables.push((table, node.span.clone())),
            _ => {
                let message = format!("expected a table, found {}", node.kind());
                problems.push(node.wrong(message, remedy));
            }
        }
    }
    tables
}
