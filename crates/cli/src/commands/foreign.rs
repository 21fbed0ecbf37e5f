//! The commands on run files that hold results of other tools.

use super::{answer, unchecked};
use crate::args::{CompareArgs, ShowArgs, TrendArgs};
use crate::asked::testbed;
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use crate::terminal::run_names::{names_of, same_run_twice};
use crate::terminal::screen;
use model::Record;
use model::foreign::ForeignRun;
use report::surfaces::foreign::{Told, html};
use report::topics::foreign::{beside, json, table};
use std::path::{Path, PathBuf};

/// The results of another tool in a file; `None` where it is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<ForeignRun>, Failure> {
    store::read_foreign(path).map_err(Failure::run_file)
}

pub(crate) fn refused(what: &str, why: &str) -> Failure {
    Failure::usage(format!("{what} is not for results of other tools: {why}"))
}

const NO_GATE: &str = "they hold no samples, so that any difference may be chance; gate on runs of \
                       `plimsoll run`";

/// `plimsoll show`.
pub(crate) fn show(run: &ForeignRun, args: &ShowArgs) -> Result<(), Failure> {
    let none = [
        (args.suite, "--suite", "no suite was run; `plimsoll import JOB` makes one of the job"),
        (args.against.is_some(), "--against", "no plan says which figure is which"),
        (args.predicted.is_some(), "--predicted", "no plan says what was asked"),
        (args.by.is_some(), "--by", "they are not told by host"),
        (!args.fail_if.is_empty(), "--fail-if", NO_GATE),
    ];
    if let Some((_, what, why)) = none.into_iter().find(|(is_asked, ..)| *is_asked) {
        return Err(refused(what, why));
    }
    let mut run = run.clone();
    if let Some(name) = &args.testbed {
        let cluster = testbed::read(name, &[])?;
        run.doubts.extend(analysis::foreign::faster_than(&cluster, &run));
    }
    answer(args.json, || json::run(&run), || table::table(&run, screen::room()))
}

/// A run that is told of: of our own, or of another tool.
enum Named {
    Own(Box<Record>),
    Foreign(ForeignRun),
}

impl Named {
    fn id(&self) -> &str {
        match self {
            Named::Own(record) => &record.plan.run_id,
            Named::Foreign(run) => &run.run_id,
        }
    }
}

/// Runs of which at least one is foreign, with their names.
pub(crate) struct Mixed {
    runs: Vec<Named>,
    names: Vec<String>,
    sides: Vec<beside::Side>,
}

impl Mixed {
    /// All of them; `None` where all are our own.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Option<Mixed>, Failure> {
        if !paths.iter().any(|path| store::is_foreign(path)) {
            return Ok(None);
        }
        let named = |path: &PathBuf| match read(path)? {
            Some(run) => Ok(Named::Foreign(run)),
            None => {
                let record = store::read_digests(path);
                let record = record.map_err(Failure::run_file)?;
                unchecked::warn(path, &record);
                Ok(Named::Own(Box::new(record)))
            }
        };
        let runs = paths.iter().map(named).collect::<Result<Vec<Named>, Failure>>()?;
        let names = names_of(paths);
        let sides = runs.iter().zip(&names).map(|(run, name)| side(run, name)).collect();
        Ok(Some(Mixed { runs, names, sides }))
    }

    fn ids(&self) -> Vec<&str> {
        self.runs.iter().map(Named::id).collect()
    }

    pub(crate) fn written(&self, out: &Path, force: bool) -> Result<(), Failure> {
        outputs::write(out, Kind::Page, force, self.told(html).as_bytes())?;
        eprintln!("report    {}", out.display());
        Ok(())
    }

    pub(crate) fn told<T>(&self, surface: impl Fn(Told<'_>) -> T) -> T {
        let foreign: Vec<&ForeignRun> = self
            .runs
            .iter()
            .filter_map(|run| match run {
                Named::Foreign(run) => Some(run),
                Named::Own(_) => None,
            })
            .collect();
        let (mut own, mut names): (Vec<&Record>, Vec<String>) = (Vec::new(), Vec::new());
        for (run, name) in self.runs.iter().zip(&self.names) {
            if let Named::Own(record) = run {
                own.push(record);
                names.push(name.clone());
            }
        }
        surface(Told { foreign: &foreign, own: &own, sides: &self.sides, names: &names })
    }
}

fn side(run: &Named, name: &str) -> beside::Side {
    match run {
        Named::Own(record) => beside::Side {
            name: name.to_owned(),
            is_foreign: false,
            measured_unix_ns: Some(record.started_unix_ns),
            rows: analysis::foreign::own_rows(record, &analysis::results(record)),
        },
        Named::Foreign(run) => beside::Side {
            name: name.to_owned(),
            is_foreign: true,
            measured_unix_ns: run.measured_unix_ns,
            rows: run.rows.clone(),
        },
    }
}

/// `plimsoll compare`.
pub(crate) fn compare(mixed: &Mixed, args: &CompareArgs) -> Result<(), Failure> {
    if !args.fail_if.is_empty() {
        return Err(refused("--fail-if", NO_GATE));
    }
    if mixed.sides.len() < 2 {
        return Err(Failure::usage("there is nothing to compare; name a second run file"));
    }
    same_run_twice(&mixed.ids(), &mixed.names)?;
    let table = || beside::compared(&mixed.sides, screen::room());
    answer(args.shown.json, || beside::compared_json(&mixed.sides), table)?;
    if let Some(out) = &args.shown.out {
        mixed.written(out, args.shown.force)?;
    }
    if beside::of(&mixed.sides).rows.is_empty() {
        return Err(Failure::usage(
            "the runs have no result of the same workload and operation; name runs \
                    of the same job",
        ));
    }
    Ok(())
}

/// `plimsoll trend`.
pub(crate) fn trend(mixed: Mixed, args: &TrendArgs) -> Result<(), Failure> {
    if !args.fail_if.is_empty() {
        return Err(refused("--fail-if", NO_GATE));
    }
    if let Some(out) = &args.shown.out {
        mixed.written(out, args.shown.force)?;
    }
    if beside::of(&mixed.sides).rows.is_empty() {
        return Err(Failure::usage("no result is in two of these runs; name runs of the same job"));
    }
    let sides = beside::in_time(mixed.sides);
    let table = || beside::trend(&sides, screen::room());
    answer(args.shown.json, || beside::compared_json(&sides), table)
}
