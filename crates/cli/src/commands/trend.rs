//! `plimsoll trend`: the same workload over many runs, and a gate for pipelines.

use super::compare::gate;
use super::foreign::Mixed;
use super::{print, print_json, unchecked};
use crate::args::TrendArgs;
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use crate::terminal::screen;
use model::Record;
use report::topics;
use report::topics::trend::Named;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// More files than this are no trend but a mistaken folder.
const MOST_RUNS: usize = 2_000;

/// Follows the figures of runs over time.
pub(crate) fn trend(args: &TrendArgs) -> Result<ExitCode, Failure> {
    let mut files = files(&args.runs)?;
    if files.len() > MOST_RUNS {
        return Err(Failure::usage(format!(
            "{} run files are more than the {MOST_RUNS} that a trend can have; name fewer",
            files.len()
        )));
    }
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    if let Some(mixed) = Mixed::read(&paths)? {
        return super::foreign::trend(mixed, args).map(|()| ExitCode::SUCCESS);
    }
    let records = records(&mut files)?;
    let names: Vec<String> = files.iter().map(|file| name(&file.path)).collect();
    let runs: Vec<Named<'_>> =
        names.iter().zip(&records).map(|(name, record)| Named { name, record }).collect();
    let found = analysis::trend::trend(&records.iter().collect::<Vec<_>>());
    if let Some(why) = topics::trend::nothing(&found) {
        let apart: String = topics::trend::set_apart(&found, &runs)
            .iter()
            .map(|text| format!("\n  {text}"))
            .collect();
        return Err(Failure::usage(format!("{why}{apart}")));
    }
    if args.shown.json {
        print_json(&topics::trend::json(&found, &runs, &args.fail_if))?;
    } else {
        print(&topics::trend::table(&found, &runs, screen::room()))?;
    }
    if let Some(out) = &args.shown.out {
        outputs::write(
            out,
            Kind::Page,
            args.shown.force,
            topics::trend::page(&found, &runs).as_bytes(),
        )?;
        eprintln!("trend     {}", out.display());
    }
    gate(&args.fail_if, &found.latest)
}

#[derive(Debug)]
struct RunFile {
    path: PathBuf,
    is_named: bool,
}

/// The runs. What a folder holds and is none is left out, and said; what was named itself has to be
/// one.
fn records(files: &mut Vec<RunFile>) -> Result<Vec<Record>, Failure> {
    let (mut records, mut kept) = (Vec::new(), Vec::new());
    for file in files.drain(..) {
        match store::read_digests(&file.path) {
            Ok(record) => {
                unchecked::warn(&file.path, &record);
                records.push(record);
                kept.push(file);
            }
            Err(error) if !file.is_named => eprintln!("note: left out: {error}"),
            Err(error) => return Err(Failure::run_file(error)),
        }
    }
    *files = kept;
    Ok(records)
}

/// The run files: those that are named, and all `*.plimsoll` of folders that are.
fn files(named: &[PathBuf]) -> Result<Vec<RunFile>, Failure> {
    let mut all = Vec::new();
    for path in named {
        if !path.is_dir() {
            all.push(RunFile { path: path.clone(), is_named: true });
            continue;
        }
        let failed = |error: std::io::Error| {
            Failure::run_file(format!(
                "the folder {} cannot be read: {error}; name run files",
                path.display()
            ))
        };
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|extension| extension == "plimsoll") && file.is_file() {
                inside.push(file);
            }
        }
        if inside.is_empty() {
            return Err(Failure::usage(format!(
                "there is no run file (*.plimsoll) in the folder {}; name another one, or \
                 run files",
                path.display()
            )));
        }
        inside.sort_unstable();
        all.extend(inside.into_iter().map(|path| RunFile { path, is_named: false }));
    }
    Ok(all)
}

/// The name of a run's file without its folder, as people call it.
fn name(run: &Path) -> String {
    run.file_name().unwrap_or(run.as_os_str()).to_string_lossy().into_owned()
}
