//! `plimsoll import`: jobs of other tools as suites, and their results as a run file.

use super::{create, print, print_json};
use crate::args::ImportArgs;
use crate::failure::{Failure, LOST};
use crate::files::foreign_results::{self, Found};
use crate::imported::{self, Imported};
use crate::terminal::screen;
use dialects::{Import, SuiteText};
use report::topics::foreign;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads the jobs, reports what was lost, and writes the suites. Results are shown with their
/// doubts, and go into a run file.
pub(crate) fn import(args: &ImportArgs) -> Result<ExitCode, Failure> {
    let (mut imports, mut results) = (Vec::new(), Vec::new());
    match &args.command {
        Some(line) => imports.push(imported::command(line, args.from)?),
        None => {
            for path in &args.files {
                if path.is_dir() {
                    results.extend(foreign_results::read_folder(path)?);
                    continue;
                }
                match imported::file(path, args.from)? {
                    Imported::Job(import) => imports.push(import),
                    Imported::Results(found) => results.push(*found),
                }
            }
        }
    }
    if imports.is_empty() {
        return import_results(args, results);
    }
    if !results.is_empty() && args.out.is_some() {
        return Err(Failure::usage(
            "some files are jobs and some are results; import them one after the \
                    other, results into a run file and jobs into suites",
        ));
    }
    let suites: Vec<&SuiteText> = imports.iter().flat_map(|import| &import.suites).collect();
    let places = places(args, &suites)?;
    if args.json {
        show_json(&imports, &results)?;
    } else {
        if !results.is_empty() {
            print(&foreign::table::table(&foreign_results::run(results, ""), screen::room()))?;
        }
        imports.iter().for_each(|import| eprintln!("{}", imported::report(import)));
    }
    let is_lost = imports.iter().any(|import| import.refused().next().is_some());
    if !(args.json && args.out.is_none()) {
        for import in &imports {
            imported::refuse(import, args.allow_loss)?;
            imported::refuse_commands_of(import, args.allow_commands)?;
        }
        write(&suites, &places)?;
    }
    Ok(if is_lost { ExitCode::from(LOST) } else { ExitCode::SUCCESS })
}

fn import_results(args: &ImportArgs, results: Vec<Found>) -> Result<ExitCode, Failure> {
    if args.json {
        show_json(&[], &results)?;
    }
    let first = args.files.first().map(PathBuf::as_path).unwrap_or(Path::new("results"));
    let place = args.out.as_ref().map(|out| match out.is_dir() {
        true => out.join(first.with_extension("plimsoll").file_name().unwrap_or_default()),
        false => out.clone(),
    });
    let name = place.as_deref().unwrap_or(first).file_stem().unwrap_or_default();
    let run = foreign_results::run(results, &name.to_string_lossy());
    if !args.json {
        print(&foreign::table::table(&run, screen::room()))?;
    }
    if let Some(place) = place {
        store::write_foreign(&place, &run).map_err(Failure::usage)?;
        eprintln!("run       {}; see it with `plimsoll show {0}`", place.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn show_json(imports: &[Import], results: &[Found]) -> Result<(), Failure> {
    let results: Vec<Value> = results.iter().map(foreign_results::object).collect();
    match (imports, results.as_slice()) {
        ([one], []) => print_json(one),
        ([], [one]) => print_json(one),
        (all, []) => print_json(&all),
        (_, results) => {
            let imports = imports.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>();
            let imports = imports.map_err(Failure::usage)?;
            print_json(&[imports.as_slice(), results].concat())
        }
    }
}

/// The file of each suite; none where they go to standard output.
fn places(args: &ImportArgs, suites: &[&SuiteText]) -> Result<Vec<PathBuf>, Failure> {
    match &args.out {
        Some(folder) if folder.is_dir() => {
            let places: Vec<PathBuf> =
                suites.iter().map(|suite| folder.join(format!("{}.toml", suite.name))).collect();
            let twice = |place: &PathBuf| places.iter().filter(|other| *other == place).count() > 1;
            match places.iter().find(|place| twice(place)) {
                Some(twin) => {
                    let what = format!("two suites would be written to {}", twin.display());
                    Err(Failure::usage(format!("{what}; import one after the other")))
                }
                None => Ok(places),
            }
        }
        Some(file) if suites.len() == 1 => Ok(vec![file.clone()]),
        Some(_) => {
            Err(Failure::usage("several suites go into a directory; name one that exists with -o"))
        }
        None if suites.len() == 1 || args.json => Ok(Vec::new()),
        None => Err(Failure::usage("several suites need -o DIR, or --json")),
    }
}

fn write(suites: &[&SuiteText], places: &[PathBuf]) -> Result<(), Failure> {
    if places.is_empty() {
        return suites.iter().try_for_each(|suite| print(&suite.text));
    }
    for (suite, place) in suites.iter().zip(places) {
        create(place, &suite.text)?;
        eprintln!("suite     {}; see it with `plimsoll plan {0}`", place.display());
    }
    Ok(())
}
