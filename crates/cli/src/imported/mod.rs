//! Jobs of other tools as suites, read from files, with the report of what was lost.

mod beside;

use crate::failure::Failure;
use crate::files::foreign_results::{self, Found};
use crate::files::text_file;
use dialects::{Class, Dialect, Import, ImportError, ReportedOption, World};
use form::Override;
use model::foreign::short;
use model::note::{self, Lost};
use model::testbed::TargetKind;
use probe::Looker;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use suite::Spec;

/// What a file that another tool reads or wrote becomes.
pub(crate) enum Imported {
    Job(Import),
    Results(Box<Found>),
}

/// The file at `path`: a job, or results where no dialect is forced.
pub(crate) fn file(path: &Path, dialect: Option<Dialect>) -> Result<Imported, Failure> {
    if dialect.is_none()
        && let Some(found) = foreign_results::read(path)?
    {
        return Ok(Imported::Results(Box::new(found)));
    }
    let text = text_file::read_foreign(path, "job", dialects::MOST_BYTES as u64)?;
    text_of(&path.display().to_string(), &text, dialect).map(Imported::Job)
}

pub(crate) fn text_of(name: &str, text: &str, dialect: Option<Dialect>) -> Result<Import, Failure> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    with_world(folder, &[], |world| dialects::import(name, text, dialect, world))
}

pub(crate) fn command(line: &str, dialect: Option<Dialect>) -> Result<Import, Failure> {
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    with_world(Path::new(""), &words, |world| dialects::import_command(line, dialect, world))
}

/// What a source asks for is looked for in its folder alone: it may be anybody's. `named` was named
/// by the user.
fn with_world(
    folder: &Path,
    named: &[&str],
    import: impl Fn(&World<'_>) -> Result<Import, ImportError>,
) -> Result<Import, Failure> {
    let file = |name: &str| {
        let path = if named.contains(&name) { name.into() } else { below(folder, name)? };
        text_file::read_foreign(&path, "job", dialects::MOST_BYTES as u64)
            .map_err(|failure| failure.to_string().trim_start_matches("error: ").to_owned())
    };
    let read = RefCell::new(Vec::new());
    let variable = |name: &str| {
        let mut read = read.borrow_mut();
        if !read.iter().any(|known| known == name) {
            read.push(name.to_owned());
        }
        let value = std::env::var(name).ok();
        value.filter(|value| !value.starts_with('/') || Path::new(value).exists())
    };
    let import = import(&World { file: &file, variable: &variable }).map_err(Failure::usage)?;
    let mut import = Import { variables: read.into_inner(), ..import };
    let looker = Looker::new();
    beside::lay_beside(&mut import, &|path| match looker.target(path, None).kind {
        TargetKind::Device { size, .. } => Some(size.0),
        _ => None,
    });
    Ok(import)
}

/// The file `name` in the folder of a job, or below it; no link leads out of it.
fn below(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = |path: &Path| {
        path.canonicalize().map_err(|error| format!("job {}: {error}", path.display()))
    };
    let (root, path) = (real(folder)?, real(&folder.join(name))?);
    match path.starts_with(&root) {
        true => Ok(path),
        false => Err(format!(
            "it is not below {}, the folder of the job; look at it, then copy it there",
            root.display()
        )),
    }
}

fn commands(import: &Import) -> Vec<String> {
    let specs = import.suites.iter().filter_map(|suite| {
        // One that is no suite runs nothing.
        Spec::parse(&suite.name, &suite.text, &[]).ok()
    });
    let mut all: Vec<String> = Vec::new();
    for spec in specs {
        all.extend(spec.commands().map(str::to_owned));
    }
    all.dedup();
    all
}

/// Refuses the commands of a job, which may be anybody's, unless `--set` has the same ones or all
/// are allowed.
pub(crate) fn refuse_commands(
    spec: &Spec,
    sets: &[Override],
    allowed: bool,
) -> Result<(), Failure> {
    let is_named = |command: &str| {
        let of_command = |key: &str| key.trim().ends_with("stages.prerun");
        let is_it = |value: &str| {
            [value, value.trim_matches(['"', '\''])].map(str::trim).contains(&command)
        };
        sets.iter().map(Override::parts).any(|(key, value)| of_command(key) && is_it(value.trim()))
    };
    let count = spec.commands().filter(|command| !is_named(command)).count();
    refuse_all(count, allowed, ", --set stages.prerun=\"\" leaves them out")
}

fn refuse_all(count: usize, allowed: bool, otherwise: &str) -> Result<(), Failure> {
    if count == 0 || allowed {
        return Ok(());
    }
    let commands = if count == 1 { "1 command".to_owned() } else { format!("{count} commands") };
    Err(Failure::Lost(format!(
        "error: {commands} of the job refused; nothing was run or written. Read them above; \
         --allow-commands takes them{otherwise}"
    )))
}

/// A job that is to be run or planned at once.
pub(crate) struct Job {
    pub(crate) text: String,
    /// What became of its options, for the record.
    pub(crate) imported: note::Imported,
}

/// The suite of a job file that is to be run or planned at once.
pub(crate) fn to_run(name: &str, text: &str, allow_loss: bool) -> Result<Job, Failure> {
    let import = text_of(name, text, None)?;
    eprintln!("{}", report(&import));
    refuse(&import, allow_loss).map_err(|refused| {
        // The tool itself loses nothing.
        let way = match import.dialect {
            "fio" => format!("fio {name}"),
            "vdbench" => format!("vdbench -f {name}"),
            _ => return refused,
        };
        Failure::Lost(format!("{refused}; `plimsoll beside -t TARGET -- {way}` runs it as it is"))
    })?;
    match import.suites.as_slice() {
        [one] => Ok(Job { text: one.text.clone(), imported: on_record(&import) }),
        suites => Err(Failure::usage(format!(
            "{name} makes {} suites; write them with `plimsoll import {name} -o DIR`",
            suites.len()
        ))),
    }
}

fn on_record(import: &Import) -> note::Imported {
    let count = |class| import.options.iter().filter(|told| told.class == class).count() as u64;
    let mut all: Vec<&ReportedOption> =
        import.options.iter().filter(|told| told.class >= Class::Approximated).collect();
    all.sort_by_key(|told| std::cmp::Reverse(told.class));
    let lost = |told: &&ReportedOption| Lost {
        name: short(&told.name),
        value: short(&told.value),
        place: short(&told.place),
        refused: told.class == Class::Refused,
        why: short(&told.why),
    };
    note::Imported {
        dialect: import.dialect.to_owned(),
        same: count(Class::Same),
        harmless: count(Class::Harmless),
        lost: all.iter().take(note::Imported::MOST).map(lost).collect(),
        more: all.len().saturating_sub(note::Imported::MOST) as u64,
    }
}

/// The same of an import that is to be written.
pub(crate) fn refuse_commands_of(import: &Import, allowed: bool) -> Result<(), Failure> {
    refuse_all(commands(import).len(), allowed, "")
}

/// Nothing is written or loaded where something was refused, unless that was allowed.
pub(crate) fn refuse(import: &Import, allow_loss: bool) -> Result<(), Failure> {
    let count = import.refused().count();
    if count == 0 || allow_loss {
        return Ok(());
    }
    let options = if count == 1 { "1 option".to_owned() } else { format!("{count} options") };
    Err(Failure::Lost(format!(
        "error: {options} refused; nothing was written. --allow-loss does without them"
    )))
}

/// The report of losses as a table: what means the same is only counted.
pub(crate) fn report(import: &Import) -> String {
    let same = import.options.iter().filter(|told| told.class == Class::Same).count();
    let mut lines = vec![format!(
        "{} job: {} options, {same} mean the same",
        import.dialect,
        import.options.len()
    )];
    let mut others: Vec<&ReportedOption> =
        import.options.iter().filter(|told| told.class != Class::Same).collect();
    others.sort_by_key(|told| std::cmp::Reverse(told.class));
    let option = |told: &ReportedOption| match told.value.is_empty() {
        true => told.name.clone(),
        false => format!("{}={}", told.name, told.value),
    };
    let width = |of: &dyn Fn(&ReportedOption) -> usize| {
        others.iter().map(|told| of(told)).max().unwrap_or(0)
    };
    let places = width(&|told| told.place.chars().count()).min(MOST_COLUMN);
    let names = width(&|told| option(told).chars().count()).min(MOST_COLUMN);
    for told in &others {
        lines.push(format!(
            "{:12}  {:places$}  {:names$}  {}",
            told.class.word(),
            told.place,
            option(told),
            told.why
        ));
    }
    let by_shell = commands(import);
    lines.extend(by_shell.iter().map(|command| {
        let is_it = |told: &&ReportedOption| told.value.trim() == command;
        let told = import.options.iter().find(is_it);
        let place = told
            .map_or_else(|| "a suite".to_owned(), |told| format!("{} {}", told.place, told.name));
        format!("command       {place}: `sh -c` would run `{command}`")
    }));
    if !import.variables.is_empty() {
        let names = import.variables.join(", ");
        lines.push(format!("variables     {names}: looked for in the environment"));
    }
    lines.join("\n")
}

/// No column makes the others wait for longer.
const MOST_COLUMN: usize = 32;
