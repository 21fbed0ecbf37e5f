//! Writes a draft down as a suite that a person would have written.

use crate::draft::{Draft, Fields, Group, Line, Taken, plain_name, quoted, time, unique};
use crate::import::SuiteText;
use model::{Nanos, printable};

/// No suite has more scenarios.
const MOST_SCENARIOS: usize = 64;

/// So many intervals of a measurement say how far chance moves its figures.
const INTERVALS: u64 = 40;
/// They are not shorter, in ns.
const LEAST_INTERVAL: u64 = 10_000_000;

/// A draft as a suite, or as several where it has more groups than one suite has scenarios.
pub fn suites(draft: &Draft) -> Vec<SuiteText> {
    let draft = &with_intervals(draft);
    if draft.groups.len() <= MOST_SCENARIOS || all_alike(&draft.groups) {
        return vec![suite(draft)];
    }
    let parts = draft.groups.chunks(MOST_SCENARIOS).enumerate();
    let part = |(number, groups): (usize, &[Group])| {
        let name = format!("{}-{}", draft.name, number + 1);
        suite(&Draft { name, groups: groups.to_vec(), ..draft.clone() })
    };
    parts.map(part).collect()
}

/// With intervals that are short enough for the shortest measurement, where the source says nothing
/// of them: they are one length in a suite.
fn with_intervals(draft: &Draft) -> Draft {
    let mut draft = draft.clone();
    let stages = || draft.groups.iter().map(|group| &group.stages);
    let measures = stages().filter_map(|stages| stages.get("measure"));
    let shortest = measures.filter_map(|time| time.trim_matches('"').parse().ok()).min();
    let is_said = stages().any(|stages| stages.get("interval").is_some());
    let Some(Nanos(shortest)) = shortest.filter(|_| !is_said) else { return draft };
    let interval = (shortest / INTERVALS).max(LEAST_INTERVAL) / 1_000_000 * 1_000_000;
    if interval < Nanos::seconds(1).0 {
        for group in &mut draft.groups {
            group.stages.set("interval", time(interval), "");
        }
    }
    draft
}

pub fn all_alike(groups: &[Group]) -> bool {
    groups.first().is_none_or(|first| groups.iter().all(|group| are_alike(first, group)))
}

/// The text of a suite.
pub fn suite(draft: &Draft) -> SuiteText {
    let mut text = String::new();
    for note in &draft.notes {
        comment(&mut text, note);
    }
    text.push_str(&format!("name = {}\n", quoted(&draft.name)));
    text.push_str(&format!("description = {}\n", quoted(&draft.description)));
    lines(&mut text, &draft.top.0);
    let one = all_alike(&draft.groups);
    match (draft.groups.first(), one) {
        (Some(first), true) => {
            targets(&mut text, first);
            for (name, fields) in first.tables() {
                table(&mut text, name, &fields.0);
            }
        }
        _ => base(&mut text, &draft.groups),
    }
    let names = group_names(&draft.groups);
    for (group, name) in draft.groups.iter().zip(&names) {
        workloads(&mut text, group, name);
    }
    if !one {
        for (group, name) in draft.groups.iter().zip(&names) {
            scenario(&mut text, &draft.groups, group, name);
        }
    }
    SuiteText { name: draft.name.clone(), text }
}

fn group_names(groups: &[Group]) -> Vec<String> {
    let mut taken = Taken::default();
    groups.iter().map(|group| unique(&plain_name(&group.name), &mut taken)).collect()
}

fn are_alike(one: &Group, other: &Group) -> bool {
    one.targets == other.targets
        && one.tables().iter().zip(other.tables()).all(|((_, a), (_, b))| a.agrees(b))
}

/// What all groups agree on.
fn base(text: &mut String, groups: &[Group]) {
    let Some(first) = groups.first() else { return };
    if groups.iter().all(|group| group.targets == first.targets) {
        targets(text, first);
    }
    for (number, (name, fields)) in first.tables().into_iter().enumerate() {
        let common = fields.0.iter().filter(|line| {
            let is_same = |group: &Group| is_in(group.tables()[number].1, line);
            groups.iter().all(is_same)
        });
        let common: Vec<Line> = common.cloned().collect();
        table(text, name, &common);
    }
}

fn is_in(fields: &Fields, line: &Line) -> bool {
    fields.get(line.key) == Some(line.value.as_str())
}

fn targets(text: &mut String, group: &Group) {
    if group.targets.is_empty() {
        return;
    }
    text.push_str("\n[targets]\n");
    with_source(text, &format!("\"all\" = {}", paths(group)), &group.targets_from);
}

fn paths(group: &Group) -> String {
    let all: Vec<String> = group.targets.iter().map(|path| quoted(path)).collect();
    match all.as_slice() {
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    }
}

fn table(text: &mut String, name: &str, all: &[Line]) {
    if !all.is_empty() {
        text.push_str(&format!("\n[{name}]\n"));
        lines(text, all);
    }
}

fn lines(text: &mut String, all: &[Line]) {
    for line in all {
        with_source(text, &format!("{} = {}", line.key, line.value), &line.from);
    }
}

/// Comments stand in a column of their own where there is room.
fn with_source(text: &mut String, line: &str, from: &str) {
    match from {
        "" => text.push_str(&format!("{line}\n")),
        from => text.push_str(&format!("{line:<39} # {from}\n")),
    }
}

fn comment(text: &mut String, words: &str) {
    for line in words.lines() {
        let plain: String =
            line.chars().map(|c| if printable::acts(c) { ' ' } else { c }).collect();
        text.push_str(format!("# {plain}").trim_end());
        text.push('\n');
    }
}

fn workloads(text: &mut String, group: &Group, name: &str) {
    for work in &group.works {
        text.push('\n');
        comment(text, &work.note);
        text.push_str(&format!("[[workload]]\nname = {}\n", quoted(&work.name)));
        if group.works.len() > 1 && !group.in_turn {
            text.push_str(&format!("group = {}\n", quoted(name)));
        }
        lines(text, &work.fields.in_order());
    }
}

fn scenario(text: &mut String, groups: &[Group], group: &Group, name: &str) {
    text.push('\n');
    comment(text, &group.note);
    text.push_str(&format!("[[scenario]]\nname = {}\n", quoted(name)));
    let differ = groups.iter().any(|other| other.targets != group.targets);
    if differ && !group.targets.is_empty() {
        with_source(text, &format!("target = {}", paths(group)), &group.targets_from);
    }
    let names: Vec<String> = group.works.iter().map(|work| quoted(&work.name)).collect();
    text.push_str(&format!("workloads = [{}]\n", names.join(", ")));
    for (number, (table, fields)) in group.tables().into_iter().enumerate() {
        let own: Vec<&Line> = fields
            .0
            .iter()
            .filter(|line| !groups.iter().all(|other| is_in(other.tables()[number].1, line)))
            .collect();
        if own.is_empty() {
            continue;
        }
        text.push_str(&format!("[scenario.{table}]\n"));
        lines(text, &own.into_iter().cloned().collect::<Vec<_>>());
    }
}
