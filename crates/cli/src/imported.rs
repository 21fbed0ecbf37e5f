//! Jobs of other tools as suites, read from files, with the report of what was lost.

use crate::failure::Failure;
use crate::foreign_results::{self, Found};
use crate::text_file;
use dialects::{Class, Dialect, Import, ImportError, ReportedOption, World};
use model::foreign::short;
use model::note::{self, Lost};
use std::path::Path;

/// What a file that another tool reads or wrote becomes.
pub enum Imported {
    /// Suites, with what was lost.
    Job(Import),
    /// Results, with what in them does not go together.
    Results(Box<Found>),
}

/// The file at `path`: a job, or results where no dialect is forced.
pub fn file(path: &Path, dialect: Option<Dialect>) -> Result<Imported, Failure> {
    if dialect.is_none()
        && let Some(found) = foreign_results::read(path)?
    {
        return Ok(Imported::Results(Box::new(found)));
    }
    let text = text_file::read_foreign(path, "job", dialects::MOST_BYTES as u64)?;
    text_of(&path.display().to_string(), &text, dialect).map(Imported::Job)
}

/// The job file of this name and text.
pub fn text_of(name: &str, text: &str, dialect: Option<Dialect>) -> Result<Import, Failure> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    with_world(folder, |world| dialects::import(name, text, dialect, world))
}

/// A command line.
pub fn command(line: &str, dialect: Option<Dialect>) -> Result<Import, Failure> {
    with_world(Path::new(""), |world| dialects::import_command(line, dialect, world))
}

/// What a source asks for is looked for beside it, then where we are.
fn with_world(
    folder: &Path,
    import: impl Fn(&World<'_>) -> Result<Import, ImportError>,
) -> Result<Import, Failure> {
    let file = |name: &str| {
        let beside = folder.join(name);
        let path = if beside.exists() { beside } else { name.into() };
        text_file::read_foreign(&path, "job", dialects::MOST_BYTES as u64)
            .map_err(|failure| failure.to_string().trim_start_matches("error: ").to_owned())
    };
    let variable = |name: &str| std::env::var(name).ok();
    import(&World { file: &file, variable: &variable })
        .map_err(|error| Failure::Usage(format!("error: {error}")))
}

/// A job that is to be run or planned at once.
pub struct Job {
    /// Its suite.
    pub text: String,
    /// What became of its options, for the record.
    pub imported: note::Imported,
}

/// The suite of a job file that is to be run or planned at once.
pub fn to_run(name: &str, text: &str, allow_loss: bool) -> Result<Job, Failure> {
    let import = text_of(name, text, None)?;
    eprintln!("{}", report(&import));
    refuse(&import, allow_loss)?;
    match import.suites.as_slice() {
        [one] => Ok(Job { text: one.text.clone(), imported: on_record(&import) }),
        suites => Err(Failure::Usage(format!(
            "error: {name} makes {} suites; write them with `plimsoll import {name} -o DIR`",
            suites.len()
        ))),
    }
}

/// The report of losses as a run file keeps it.
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

/// Nothing is written or loaded where something was refused, unless that was allowed.
pub fn refuse(import: &Import, allow_loss: bool) -> Result<(), Failure> {
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
pub fn report(import: &Import) -> String {
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
    lines.join("\n")
}

/// No column makes the others wait for longer.
const MOST_COLUMN: usize = 32;
