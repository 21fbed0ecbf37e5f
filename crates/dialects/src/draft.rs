//! A suite before it is written down: fields with where they came from.

use crate::asked::Asked;
use model::printable;
use std::collections::HashMap;

/// A field, its value as TOML, and the option that it came from.
#[derive(Clone, Debug)]
pub struct Line {
    /// The field.
    pub key: &'static str,
    /// Its value, as TOML writes it.
    pub value: String,
    /// Where it came from; empty where the dialect's default did it.
    pub from: String,
}

/// The fields of a table, in order.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub Vec<Line>);

impl Fields {
    /// Sets a field to a value in TOML; the last word counts.
    pub fn set(&mut self, key: &'static str, value: impl Into<String>, from: impl Into<String>) {
        let line = Line { key, value: value.into(), from: from.into() };
        match self.0.iter_mut().find(|line| line.key == key) {
            Some(old) => *old = line,
            None => self.0.push(line),
        }
    }

    /// The same with a text.
    pub fn text(&mut self, key: &'static str, value: &str, from: impl Into<String>) {
        self.set(key, quoted(value), from);
    }

    /// Leaves a field out.
    pub fn remove(&mut self, key: &str) {
        self.0.retain(|line| line.key != key);
    }

    /// A field's value, as TOML.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|line| line.key == key).map(|line| line.value.as_str())
    }

    /// Whether both say the same, wherever it came from.
    pub fn agrees(&self, other: &Fields) -> bool {
        // Fields of one kind are mostly set in one order.
        let has = |(number, line): (usize, &Line)| match other.0.get(number) {
            Some(twin) if twin.key == line.key => twin.value == line.value,
            _ => other.get(line.key) == Some(line.value.as_str()),
        };
        self.0.len() == other.0.len() && self.0.iter().enumerate().all(has)
    }
}

/// The order in which people write the fields of a workload.
const ORDER: &str = "\
kind operations block_size write_block_size access random skew hot_spots align sequence \
sequence_advances stride run backward trim trim_as read zones zone_size open_zones \
worker_open_zones zone_reset_threshold zone_reset_frequency unwritten_reads range targets \
sharing segments streams workers depth rate rate_of arrivals think burst fsync_every";

impl Fields {
    /// The fields of a workload in the order in which people write them.
    pub fn in_order(&self) -> Vec<Line> {
        let place =
            |line: &Line| ORDER.split(' ').position(|key| key == line.key).unwrap_or(ORDER.len());
        let mut lines = self.0.clone();
        lines.sort_by_key(place);
        lines
    }
}

/// A text as a TOML string of one line.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if printable::acts(c) => {
                quoted.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A size as people write it.
pub fn size(bytes: u64) -> String {
    let units = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.iter().find(|(_, power)| bytes > 0 && bytes.is_multiple_of(1 << power));
    match whole {
        Some((unit, power)) => format!("\"{}{unit}\"", bytes >> power),
        None => bytes.to_string(),
    }
}

/// A time as people write it.
pub fn time(ns: u64) -> String {
    match ns {
        ns if ns.is_multiple_of(1_000_000_000) => format!("\"{}s\"", ns / 1_000_000_000),
        ns if ns.is_multiple_of(1_000_000) => format!("\"{}ms\"", ns / 1_000_000),
        ns if ns.is_multiple_of(1_000) => format!("\"{}us\"", ns / 1_000),
        ns => format!("\"{ns}ns\""),
    }
}

/// A share of millionths as people write it.
pub fn share(ppm: u64) -> String {
    format!("{}%", ppm as f64 / 10_000.0)
}

/// A workload.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Its name.
    pub name: String,
    /// What its comment says of it.
    pub note: String,
    /// Its fields.
    pub fields: Fields,
}

/// What runs at the same time.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its name, of which scenario and group make theirs.
    pub name: String,
    /// What its comment says of it.
    pub note: String,
    /// Whether its workloads run one after the other.
    pub in_turn: bool,
    /// Where it goes; empty where the source says nothing of that.
    pub targets: Vec<String>,
    /// What the targets came from.
    pub targets_from: String,
    /// `[layout]`, `[tree]`, `[stages]`, `[engine]`, `[contents]` and `[sweep]`.
    pub layout: Fields,
    /// The tree.
    pub tree: Fields,
    /// The stages.
    pub stages: Fields,
    /// The engine.
    pub engine: Fields,
    /// The contents.
    pub contents: Fields,
    /// The sweep.
    pub sweep: Fields,
    /// The workloads.
    pub works: Vec<Work>,
    /// What the source asks for, of each of them.
    pub asked: Vec<Asked>,
}

impl Group {
    /// Its tables, with their names.
    pub fn tables(&self) -> [(&'static str, &Fields); 6] {
        [
            ("layout", &self.layout),
            ("tree", &self.tree),
            ("stages", &self.stages),
            ("engine", &self.engine),
            ("contents", &self.contents),
            ("sweep", &self.sweep),
        ]
    }
}

/// A suite.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The comment at its head.
    pub notes: Vec<String>,
    /// Fields of the top of the file.
    pub top: Fields,
    /// What runs, one group after the other.
    pub groups: Vec<Group>,
}

impl Draft {
    /// A suite of a job, which `what` names; `stem` is the file's name, and `from` says what
    /// stands behind each field.
    pub fn imported(name: &str, stem: &str, what: &str, from: &str, groups: Vec<Group>) -> Draft {
        let tool = what.rsplit(' ').next().unwrap_or_default();
        let whole = match stem {
            "" => what.to_owned(),
            stem => format!("{stem}, {what},"),
        };
        Draft {
            name: plain_name(name),
            description: format!("Imported from {what}."),
            notes: vec![
                format!("Imported from {whole} by `plimsoll import`."),
                format!("Behind each field: {from} it came from. Others are {tool}'s defaults."),
            ],
            groups,
            ..Draft::default()
        }
    }
}

/// A name that `--set` and `--scenario` can say: letters, digits, `-` and `_`, at most 60.
pub fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = text.chars().map(plain).take(50).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

/// Names that are given away already.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Each with the number that the next one of that name may have.
    names: HashMap<String, u64>,
}

/// `name`, or with a number behind it where it is taken already.
pub fn unique(name: &str, taken: &mut Taken) -> String {
    let Some(mut number) = taken.names.get(name).copied() else {
        taken.names.insert(name.to_owned(), 2);
        return name.to_owned();
    };
    loop {
        let free = format!("{name}-{number}");
        number += 1;
        if !taken.names.contains_key(&free) {
            taken.names.insert(name.to_owned(), number);
            taken.names.insert(free.clone(), 2);
            return free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_has_the_next_free_number() {
        let mut taken = Taken::default();
        let all = ["a", "a-2", "a", "a", "b"].map(|name| unique(name, &mut taken));
        assert_eq!(all, ["a", "a-2", "a-3", "a-4", "b"]);
    }
}
