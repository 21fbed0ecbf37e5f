//! The table of counters: what others call them, and what they are in our words.

use model::counters::{Layer, Metric};
use model::note::CounterForm;
use std::sync::LazyLock;

/// What a value of a file says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// So many a second, times the factor.
    Rate(f64),
    /// Percent of the time.
    Share,
    /// What is left of 100 % of the time.
    Rest,
    /// Percent of the time in which CPUs worked.
    Busy,
    /// A mean over the time.
    Mean,
    /// A state at the end, times the factor.
    State(f64),
    /// All since some start, times the factor.
    Sum(f64),
    /// Seconds of rest since some start.
    Idle,
    /// The speed of a port: bits a second, times the factor.
    Speed(f64),
    /// A host's memory: bytes, times the factor.
    Memory(f64),
}

/// A line of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub form: CounterForm,
    /// Group and counter, each with its names in other languages.
    group: Vec<&'static str>,
    pub counter: Vec<&'static str>,
    pub layer: Layer,
    pub metric: Metric,
    pub rule: Rule,
}

pub(super) static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| include_str!("names.txt").lines().filter_map(row).collect());

fn row(line: &'static str) -> Option<Row> {
    let cells: Vec<&str> = line.split(" | ").collect();
    let [form, group, counter, layer, metric, rule] = cells[..] else { return None };
    let (rule, factor) = rule.split_once(' ').unwrap_or((rule, "1"));
    let factor: f64 = factor.parse().ok()?;
    let rule = match rule {
        "rate" => Rule::Rate(factor),
        "share" => Rule::Share,
        "rest" => Rule::Rest,
        "busy" => Rule::Busy,
        "mean" => Rule::Mean,
        "state" => Rule::State(factor),
        "sum" => Rule::Sum(factor),
        "idle" => Rule::Idle,
        "speed" => Rule::Speed(factor),
        "memory" => Rule::Memory(factor),
        _ => return None,
    };
    Some(Row {
        form: *CounterForm::ALL.iter().find(|known| known.word() == form)?,
        group: group.split(" ~ ").collect(),
        counter: counter.split(" ~ ").collect(),
        layer: *Layer::ALL.iter().find(|known| known.word() == layer)?,
        metric: *Metric::ALL.iter().find(|known| known.word() == metric)?,
        rule,
    })
}

impl Row {
    /// The group's first name: what comes of one source.
    pub fn family(&self) -> &'static str {
        match self.form {
            // Each of their metrics has a name of its own, and none is there twice.
            CounterForm::Prometheus => "",
            _ => self.group.first().copied().unwrap_or_default(),
        }
    }
}

/// Whether a name of a file is this one of the table, whatever became of its letters beyond ASCII
/// on the way, and whether it is written in capitals.
fn is_called(known: &str, name: &str) -> bool {
    let plain = |c: char| if c.is_ascii() { c.to_ascii_lowercase() } else { '?' };
    known.chars().map(plain).eq(name.trim().chars().map(plain))
}

/// The line for a counter of a group, by its number.
pub(super) fn find(form: CounterForm, group: &str, counter: &str) -> Option<usize> {
    ROWS.iter().position(|row| {
        row.form == form
            && row.group.iter().any(|known| is_called(known, group))
            && row.counter.iter().any(|known| is_called(known, counter))
    })
}

/// The line for a metric whose labels `label` has.
pub(super) fn find_labelled<'a>(
    name: &str,
    label: impl Fn(&str) -> Option<&'a str>,
) -> Option<usize> {
    ROWS.iter().position(|row| {
        let Some(group) = row.group.first().filter(|_| row.form == CounterForm::Prometheus) else {
            return false;
        };
        match group.split_once(' ') {
            None => *group == name,
            Some((metric, wanted)) => {
                metric == name
                    && wanted.split_once('=').is_some_and(|(key, value)| label(key) == Some(value))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let lines = include_str!("names.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(ROWS.len(), lines.count());
        let german = find(CounterForm::Perfmon, "Physikalischer Datenträger", "Leerlaufzeit (%)");
        let english = find(CounterForm::Perfmon, "physicaldisk", "% idle time");
        assert!(german.is_some() && german == english);
        let cut = find(CounterForm::Perfmon, "Physikalischer Datentr\u{fffd}ger", "Zeit (%)");
        assert!(cut.is_some() && cut != german);
        assert_eq!(find(CounterForm::Esxtop, "PhysicalDisk", "% Idle Time"), None);
    }
}
