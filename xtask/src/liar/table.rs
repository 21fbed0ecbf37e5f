//! The lies, read from their table: `lies.toml`.

use crate::shell::Outcome;
use toml::{Table, Value};

/// What a lie is staged on, in the order of the tables.
pub const KINDS: [&str; 5] = ["simulated", "disk", "layer", "server", "memory"];

/// A run of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The steps that make its target.
    pub target: String,
    /// The arguments behind `run`.
    pub load: String,
}

/// One lie and its truthful twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lie {
    /// What it does.
    pub name: String,
    /// What must be said of it, one of these, and may not be said of its twin.
    pub says: Vec<String>,
    /// One of [`KINDS`].
    pub kind: String,
    /// Its run.
    pub lying: Run,
    /// That of its twin.
    pub honest: Run,
}

impl Lie {
    /// What its name, its kind and its target come to.
    pub fn label(&self) -> String {
        format!("{} ({}: {})", self.name, self.kind, self.lying.target)
    }
}

/// All of them: each way on each of its targets.
///
/// # Errors
/// The table has a mistake.
pub fn lies() -> Outcome<Vec<Lie>> {
    let table: Table =
        include_str!("lies.toml").parse().map_err(|error| format!("lies.toml: {error}"))?;
    let loads = table.get("loads").and_then(Value::as_table).ok_or("lies.toml has no loads")?;
    let ways = table.get("way").and_then(Value::as_array).ok_or("lies.toml has no ways")?;
    let mut lies = Vec::new();
    for way in ways {
        let text = |key: &str| way.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = text("name");
        let load = loads.get(text("load")).and_then(Value::as_str);
        let load = load.ok_or_else(|| format!("lies.toml: {name}: the load is not known"))?;
        let run = |base: &str, side: &str| {
            let steps = [base, text(side)].into_iter().filter(|steps| !steps.is_empty());
            let target = steps.collect::<Vec<_>>().join(if base == "sim" { "" } else { " > " });
            let more = text(&format!("{side}-load"));
            Run { target, load: format!("{load} {more}").trim().to_owned() }
        };
        for on in way.get("on").and_then(Value::as_array).into_iter().flatten() {
            let on = on.as_str().and_then(|on| on.split_once(": "));
            let (kind, bases) = on.ok_or_else(|| format!("lies.toml: {name}: on what?"))?;
            let (lying, honest) = bases.split_once(" | ").unwrap_or((bases, bases));
            lies.push(Lie {
                name: name.to_owned(),
                says: text("says").split(' ').map(str::to_owned).collect(),
                kind: kind.to_owned(),
                lying: run(lying, "lying"),
                honest: run(honest, "honest"),
            });
        }
    }
    Ok(lies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_lie_has_a_kind_a_twin_that_differs_and_a_name_of_its_own() {
        let lies = lies().expect("a good table");
        let labels: BTreeSet<String> = lies.iter().map(Lie::label).collect();
        assert_eq!(labels.len(), lies.len());
        for lie in &lies {
            assert!(KINDS.contains(&lie.kind.as_str()), "{}", lie.label());
            assert!(lie.lying != lie.honest && !lie.says[0].is_empty(), "{}", lie.label());
        }
        let on_disk = |lie: &&Lie| ["simulated", "disk"].contains(&lie.kind.as_str());
        assert!(lies.iter().filter(|lie| !on_disk(lie)).count() >= 30);
    }
}
