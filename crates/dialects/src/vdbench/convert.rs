//! The parameters of a file as definitions, and these as a suite.

use super::files::{FILE_SYSTEM, FILE_WORKLOAD, FileSystem, FileWorkload};
use super::run::{GENERAL, General, HOST, RUN, Run};
use super::scan::{Parameter, parameters};
use super::storage::{STORAGE, Storage, WORKLOAD, Workload};
use super::{file_suite, raw_suite};
use crate::draft::{Draft, Fields, Group, Taken, plain_name};
use crate::import::{Import, ImportError, World};
use crate::loss::{Losses, UNSHOWN, Verdict};
use crate::table::{Given, Opt, unknown};
use crate::write;

/// No file has more runs or points of them.
const MOST_GROUPS: usize = 1_000;

/// What a parameter file defines.
#[derive(Debug, Default)]
struct File {
    general: General,
    storages: Vec<Storage>,
    workloads: Vec<Workload>,
    file_systems: Vec<FileSystem>,
    file_workloads: Vec<FileWorkload>,
    runs: Vec<Run>,
}

/// Which definitions are being read: they stand in this order in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    General,
    Hosts,
    Storages,
    FileSystems,
    Workloads,
    FileWorkloads,
    Runs,
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
    if file.runs.is_empty() {
        let remedy = "write rd=NAME with its workloads";
        return Err(ImportError::new(name, "no run is defined in it", remedy));
    }
    let mut groups = groups(&file, &mut losses);
    if groups.is_empty() || groups.len() > MOST_GROUPS {
        let what = format!("it makes {} runs of workloads", groups.len());
        let remedy = format!("define workloads, and at most {MOST_GROUPS} runs");
        return Err(ImportError::new(name, what, remedy));
    }
    general(&file.general, &losses, &mut groups);
    one_interval(&mut groups);
    let stem = name.rsplit('/').next().unwrap_or(name);
    let runs: Vec<&str> = file.runs.iter().map(|run| run.name.as_str()).take(4).collect();
    let more = if file.runs.len() > 4 { ", …" } else { "" };
    let draft = Draft {
        name: plain_name(stem.split('.').next().unwrap_or(stem)),
        description: format!("Imported from vdbench: {}{more}.", runs.join(", ")),
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
    for run in &file.runs {
        if run.format_only.as_ref().is_some_and(|got| got.value) {
            continue;
        }
        let made = match file.file_systems.is_empty() {
            true => raw_suite::groups(run, &file.storages, &file.workloads, losses, &mut taken),
            false => file_suite::groups(
                run,
                &file.file_systems,
                &file.file_workloads,
                losses,
                &mut taken,
            ),
        };
        groups.extend(made);
        if groups.len() > MOST_GROUPS {
            break;
        }
    }
    groups
}

/// What holds for all runs.
fn general(general: &General, losses: &Losses, groups: &mut [Group]) {
    let as_one = write::all_alike(groups);
    let last_group = groups.len().saturating_sub(1);
    for (number, group) in groups.iter_mut().enumerate() {
        let is_tree = group.layout.get("kind") == Some("\"tree\"");
        if let Some(got) = general.compressible.as_ref().filter(|got| got.value > 0) {
            let share = crate::draft::share(got.value);
            group.contents.text("compressible", &share, losses.source(got.id));
        }
        if let Some(got) = general.duplicate.as_ref().filter(|got| got.value > 0) {
            let share = crate::draft::share(got.value);
            group.contents.text("duplicate", &share, losses.source(got.id));
        }
        if let Some(got) = general.verify.as_ref().filter(|_| !is_tree) {
            group.contents.text("verify", "after", losses.source(got.id));
        }
        if let Some(got) = general.prepare_block.as_ref().filter(|_| !is_tree) {
            group.stages.set("prepare_block", crate::draft::size(got.value), losses.source(got.id));
        }
        if let Some(got) = general.repetitions.as_ref().filter(|got| got.value > 1) {
            group.sweep.set("repetitions", got.value.to_string(), losses.source(got.id));
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
fn one_interval(groups: &mut [Group]) {
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

/// A definition that can be named, and cloned from what `default` says.
trait Named: Clone + Default {
    fn named(&self, name: &str) -> Self;
}

macro_rules! named {
    ($($kind:ty),*) => {
        $(impl Named for $kind {
            fn named(&self, name: &str) -> Self {
                Self { name: name.to_owned(), ..self.clone() }
            }
        })*
    };
}

named!(Storage, Workload, FileSystem, FileWorkload, Run);

/// Definitions of a kind: those that have a name, and what holds for the next ones.
struct Shelf<T> {
    all: Vec<T>,
    default: T,
    is_default: bool,
}

impl<T: Named> Shelf<T> {
    fn new() -> Shelf<T> {
        Shelf { all: Vec::new(), default: T::default(), is_default: true }
    }

    fn begin(&mut self, name: &str) {
        self.is_default = name.eq_ignore_ascii_case("default");
        if !self.is_default {
            self.all.push(self.default.named(name));
        }
    }

    fn now(&mut self) -> &mut T {
        match self.all.last_mut() {
            Some(last) if !self.is_default => last,
            _ => &mut self.default,
        }
    }
}

fn read(all: &[Parameter], losses: &mut Losses) -> File {
    let mut general = General::default();
    let mut storages = Shelf::<Storage>::new();
    let mut workloads = Shelf::<Workload>::new();
    let mut file_systems = Shelf::<FileSystem>::new();
    let mut file_workloads = Shelf::<FileWorkload>::new();
    let mut runs = Shelf::<Run>::new();
    let mut part = Part::General;
    for parameter in all {
        if let Some(next) = begun(part, &parameter.key) {
            part = next;
            let name = parameter.value.trim_matches(['(', ')']);
            match part {
                Part::Storages => storages.begin(name),
                Part::Workloads => workloads.begin(name),
                Part::FileSystems => file_systems.begin(name),
                // How files are made is no workload of its own.
                Part::FileWorkloads if name == "format" => file_workloads.begin("default-format"),
                Part::FileWorkloads => file_workloads.begin(name),
                Part::Runs => runs.begin(name),
                Part::General | Part::Hosts => {}
            }
            let verdict = match part {
                Part::Hosts => Verdict::harmless("hosts are named with `--hosts` or `--slurm`"),
                _ => Verdict::same("a name"),
            };
            losses.tell(&parameter.key, &parameter.value, &parameter.place, verdict);
            continue;
        }
        match part {
            Part::General => apply(GENERAL, &mut general, parameter, losses),
            Part::Hosts => apply(HOST, &mut general, parameter, losses),
            Part::Storages => apply(STORAGE, storages.now(), parameter, losses),
            Part::Workloads => apply(WORKLOAD, workloads.now(), parameter, losses),
            Part::FileSystems => apply(FILE_SYSTEM, file_systems.now(), parameter, losses),
            Part::FileWorkloads => apply(FILE_WORKLOAD, file_workloads.now(), parameter, losses),
            Part::Runs => apply(RUN, runs.now(), parameter, losses),
        }
    }
    file_workloads.all.retain(|workload| workload.name != "default-format");
    File {
        general,
        storages: storages.all,
        workloads: workloads.all,
        file_systems: file_systems.all,
        file_workloads: file_workloads.all,
        runs: runs.all,
    }
}

fn apply<J>(table: &'static [Opt<J>], job: &mut J, parameter: &Parameter, losses: &mut Losses) {
    let (key, value) = (&parameter.key, &parameter.value);
    let names = |option: &'static Opt<J>| {
        std::iter::once(option.name).chain(option.aliases.iter().copied())
    };
    let exact = table.iter().find(|option| names(option).any(|name| name == key));
    // Every beginning of two letters or more is the first name that begins so.
    let begins =
        |option: &&'static Opt<J>| names(option).any(|name| name.starts_with(key.as_str()));
    let short = || table.iter().find(begins).filter(|_| key.len() >= 2);
    let option = exact.or_else(short);
    let (name, told) = match parameter.is_included {
        true => (option.map_or(UNSHOWN, |option| option.name), ""),
        false => (key.as_str(), value.as_str()),
    };
    let id = losses.tell(name, told, &parameter.place, Verdict::harmless(""));
    let verdict = match option {
        Some(_) if value.is_empty() => Verdict::refused("it has no value"),
        Some(option) if value.contains('$') && option.reads_its_value() => Verdict::refused(
            "a variable that the environment does not have as a number; write its value",
        ),
        Some(option) => option.apply(job, &Given { id, value: value.clone() }),
        None => unknown(&[table], "vdbench", key),
    };
    let is_hidden = parameter.is_included && option.is_some_and(Opt::reads_its_value);
    losses.replace(id, if is_hidden { verdict.unquoted() } else { verdict });
}
