//! The parameters of a file as definitions, and these as a suite.

use super::definition::{Definition, Part};
use super::loops::is_curve;
use super::scan::{Parameter, parameters};
use super::{file_suite, raw_suite};
use crate::draft::{Draft, Fields, Group, Taken, plain_name, share, size};
use crate::import::{Import, ImportError, World};
use crate::loss::{Losses, UNSHOWN, Verdict};
use crate::rows::{Given, Row, Value, Values, unknown};
use crate::write;

/// No file has more runs or points of them.
const MOST_GROUPS: usize = 1_000;

/// What a parameter file defines, by its kind.
#[derive(Debug)]
struct File(Vec<Shelf>);

impl File {
    fn of(&self, part: Part) -> &[Definition] {
        &self.0[part as usize].all
    }

    /// Every name that is asked for is defined, or refused.
    fn defined(&self, losses: &mut Losses) {
        let (storages, workloads) = match self.of(Part::FileSystems).is_empty() {
            true => (self.of(Part::Storages), self.of(Part::Workloads)),
            false => (self.of(Part::FileSystems), self.of(Part::FileWorkloads)),
        };
        let runs = self.of(Part::Runs);
        runs.iter().for_each(|run| run.undefined("workloads", workloads, losses));
        let all = runs.iter().chain(workloads);
        all.for_each(|one| one.undefined("storages", storages, losses));
    }
}

/// The part that a keyword begins while another one is read.
fn begun(part: Part, key: &str) -> Option<Part> {
    let next = match key {
        "hd" | "host" => Part::Hosts,
        "sd" => Part::Storages,
        "fsd" => Part::FileSystems,
        "wd" => Part::Workloads,
        "fwd" => Part::FileWorkloads,
        "rd" => Part::Runs,
        _ => return None,
    };
    // Later definitions name earlier ones: there, the word is a parameter.
    let is_name = match part {
        Part::General => false,
        Part::Hosts => key == "host",
        Part::Storages | Part::FileSystems => next == Part::Hosts,
        Part::Workloads | Part::FileWorkloads => {
            [Part::Hosts, Part::Storages, Part::FileSystems].contains(&next)
        }
        Part::Runs => next != Part::Runs,
    };
    (!is_name).then_some(next)
}

/// A parameter file as a suite.
///
/// # Errors
/// It cannot be read, or has no run.
pub fn file(name: &str, text: &str, world: &World<'_>) -> Result<Import, ImportError> {
    let all = parameters(name, text, world)?;
    let mut losses = Losses::default();
    let file = read(&all, &mut losses);
    let runs = file.of(Part::Runs);
    if runs.is_empty() {
        let remedy = "write rd=NAME with its workloads";
        return Err(ImportError::new(name, "no run is defined in it", remedy));
    }
    file.defined(&mut losses);
    let mut groups = groups(&file, &mut losses);
    if groups.is_empty() || groups.len() > MOST_GROUPS {
        let what = format!("it makes {} runs of workloads", groups.len());
        let remedy = format!("define workloads, and at most {MOST_GROUPS} runs");
        return Err(ImportError::new(name, what, remedy));
    }
    // Shares of a maximum are a run by themselves, and measured over a time.
    let is_share = |group: &Group| group.sweep.get("rate").is_some_and(|rate| rate.contains('%'));
    let has_amount = groups.iter().any(|group| group.stages.get("amount").is_some());
    if groups.len() > 1 || has_amount {
        groups.iter_mut().filter(|one| is_share(one)).for_each(|one| one.sweep.remove("rate"));
        let alone = match has_amount {
            true => {
                "the maximum alone: an amount ends the run, and shares are measured over a time"
            }
            false => "the maximum alone: the file has several runs; give each a file",
        };
        for run in runs.iter().filter(|run| run.values.list("rate").is_some_and(is_curve)) {
            losses.replace(run.values.id("rate"), Verdict::near(alone));
        }
    }
    general(&file.0[Part::General as usize].default.values, &losses, &mut groups);
    one_interval(runs, &mut groups, &mut losses);
    let stem = name.rsplit('/').next().unwrap_or(name);
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).take(4).collect();
    let more = if runs.len() > 4 { ", …" } else { "" };
    let draft = Draft {
        name: plain_name(stem.split('.').next().unwrap_or(stem)),
        description: format!("Imported from vdbench: {}{more}.", names.join(", ")),
        notes: vec![
            format!("Imported from {stem}, parameters of vdbench, by `plimsoll import`."),
            "Behind each field: the line that it came from. Others are vdbench's defaults."
                .to_owned(),
        ],
        groups,
        ..Draft::default()
    };
    let suites = write::suites(&draft);
    Ok(Import::new("vdbench", losses, suites))
}

fn groups(file: &File, losses: &mut Losses) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut taken = Taken::default();
    let systems = file.of(Part::FileSystems);
    for run in file.of(Part::Runs) {
        // A run that only makes files is none: each run makes its own.
        if run.has("format", "only") {
            continue;
        }
        groups.extend(match systems.is_empty() {
            true => {
                let (storages, workloads) = (file.of(Part::Storages), file.of(Part::Workloads));
                raw_suite::groups(run, storages, workloads, losses, &mut taken)
            }
            false => {
                let workloads = file.of(Part::FileWorkloads);
                file_suite::groups(run, systems, workloads, losses, &mut taken)
            }
        });
        if groups.len() > MOST_GROUPS {
            break;
        }
    }
    groups
}

/// What holds for all runs.
fn general(values: &Values, losses: &Losses, groups: &mut [Group]) {
    let as_one = write::all_alike(groups);
    let last_group = groups.len().saturating_sub(1);
    for (number, group) in groups.iter_mut().enumerate() {
        let is_tree = group.layout.get("kind") == Some("\"tree\"");
        for slot in ["compressible", "duplicate"] {
            if let Some(part) = values.number(slot).filter(|part| *part > 0) {
                group.contents.text(slot, &share(part), values.source(slot, losses));
            }
        }
        if values.is("verify") && !is_tree {
            group.contents.text("verify", "after", values.source("verify", losses));
        }
        if let Some(bytes) = values.number("prepare_block").filter(|_| !is_tree) {
            let source = values.source("prepare_block", losses);
            group.stages.set("prepare_block", size(bytes), source);
        }
        if let Some(count) = values.number("repetitions").filter(|count| *count > 1) {
            let source = values.source("repetitions", losses);
            group.sweep.set("repetitions", count.to_string(), source);
            group.works.iter_mut().for_each(|work| removed_again(&mut work.fields));
        }
        if is_tree {
            // What runs before another run of the same files leaves none of its own.
            let runs_again = !group.sweep.0.is_empty() || (as_one && number < last_group);
            let last = group.works.len().saturating_sub(usize::from(!runs_again));
            group.works.iter_mut().take(last).for_each(|work| removed_again(&mut work.fields));
        }
    }
}

/// What is made again has to be removed before.
fn removed_again(fields: &mut Fields) {
    let Some(line) = fields.0.iter_mut().find(|line| line.key == "operations") else { return };
    for (made, removed) in [("\"create\"", "\"remove\""), ("\"mkdir\"", "\"rmdir\"")] {
        if line.value.contains(made) && !line.value.contains(removed) {
            let all = line.value.trim_end_matches(']');
            line.value = format!("{all}, {removed}]");
        }
    }
}

/// All runs of a suite have the same interval: the shortest.
fn one_interval(runs: &[Definition], groups: &mut [Group], losses: &mut Losses) {
    let measured = runs.iter().filter(|run| !run.has("format", "only"));
    let least = measured.filter_map(|run| run.values.number("interval")).min();
    for run in runs.iter().filter(|run| run.values.number("interval") != least) {
        run.worsen("interval", losses, Verdict::near("the shortest interval of all runs"));
    }
    let line = |group: &Group| group.stages.0.iter().find(|line| line.key == "interval").cloned();
    let length = |line: &crate::draft::Line| {
        let text: String = line.value.chars().filter(char::is_ascii_digit).collect();
        text.parse::<u64>().unwrap_or(u64::MAX)
    };
    let Some(shortest) = groups.iter().filter_map(line).min_by_key(length) else { return };
    for group in groups {
        group.stages.set("interval", shortest.value.clone(), shortest.from.clone());
    }
}

/// Definitions of a kind: those that have a name, and what holds for the next ones.
#[derive(Debug)]
struct Shelf {
    all: Vec<Definition>,
    default: Definition,
    is_default: bool,
}

impl Shelf {
    fn begin(&mut self, name: &str) {
        self.is_default = name.eq_ignore_ascii_case("default");
        if !self.is_default {
            self.all.push(Definition { name: name.to_owned(), ..self.default.clone() });
        }
    }

    fn now(&mut self) -> &mut Definition {
        match self.all.last_mut() {
            Some(last) if !self.is_default => last,
            _ => &mut self.default,
        }
    }
}

fn read(all: &[Parameter], losses: &mut Losses) -> File {
    let shelf =
        |part: &Part| Shelf { all: Vec::new(), default: Definition::new(*part), is_default: true };
    let mut file = File(Part::ALL.iter().map(shelf).collect());
    let mut part = Part::General;
    for parameter in all {
        if let Some(next) = begun(part, &parameter.key) {
            part = next;
            let name = parameter.value.trim_matches(['(', ')']);
            file.0[part as usize].begin(match part {
                // How files are made is no workload of its own.
                Part::FileWorkloads if name == "format" => FORMAT,
                _ => name,
            });
            let verdict = match part {
                Part::Hosts => Verdict::harmless("hosts are named with `--hosts` or `--slurm`"),
                _ => Verdict::same("a name"),
            };
            losses.tell(&parameter.key, &parameter.value, &parameter.place, verdict);
        } else {
            apply(part, file.0[part as usize].now(), parameter, losses);
        }
    }
    file.0[Part::FileWorkloads as usize].all.retain(|workload| workload.name != FORMAT);
    for part in [Part::Storages, Part::FileSystems] {
        let all = std::mem::take(&mut file.0[part as usize].all);
        file.0[part as usize].all = counted(all, losses);
    }
    file
}

/// A definition with a `count` is as many of them, with numbers behind their names and paths, or in
/// place of a star.
fn counted(all: Vec<Definition>, losses: &mut Losses) -> Vec<Definition> {
    let mut each = Vec::new();
    for one in all {
        let Some([Value::Number(first), Value::Number(many)]) = one.values.list("count") else {
            each.push(one);
            continue;
        };
        let paths = ["lun", "anchor"].iter().filter_map(|slot| one.values.text(slot));
        let is_format = paths.chain([one.name.as_str()]).any(|name| name.contains('%'));
        if is_format || *many > MOST_COUNTED.saturating_sub(each.len() as u64) {
            let needs = format!("names by `%`, or more than {MOST_COUNTED}; write them out");
            one.worsen("count", losses, Verdict::refused(needs));
            each.push(one);
            continue;
        }
        for number in *first..first + many {
            let numbered = |name: &str| match name.contains('*') {
                true => name.replace('*', &number.to_string()),
                false => format!("{name}{number}"),
            };
            let mut next = Definition { name: numbered(&one.name), ..one.clone() };
            for slot in ["lun", "anchor"] {
                if let (Some(path), Some(id)) = (one.values.text(slot), one.values.id(slot)) {
                    next.values.put(slot, Value::Text(numbered(path)), id);
                }
            }
            each.push(next);
        }
    }
    each
}

/// No file counts up more definitions.
const MOST_COUNTED: u64 = 1_024;

const FORMAT: &str = "default-format";

fn apply(part: Part, definition: &mut Definition, parameter: &Parameter, losses: &mut Losses) {
    let (key, value) = (&parameter.key, &parameter.value);
    let row = part.find(key);
    let (name, told) = match parameter.is_included {
        true => (row.map_or(UNSHOWN, |row| row.name), ""),
        false => (key.as_str(), value.as_str()),
    };
    let id = losses.tell(name, told, &parameter.place, Verdict::harmless(""));
    let verdict = match row {
        Some(_) if value.is_empty() => Verdict::refused("it has no value"),
        Some(row) if value.contains('$') && row.reads_its_value() => Verdict::refused(
            "a variable that the environment does not have as a number; write its value",
        ),
        Some(row) => row.apply(definition, &Given { id, value: value.clone() }),
        None => unknown(part.rows().iter(), "vdbench", key),
    };
    let is_hidden = parameter.is_included && row.is_some_and(Row::reads_its_value);
    losses.replace(id, if is_hidden { verdict.unquoted() } else { verdict });
}
