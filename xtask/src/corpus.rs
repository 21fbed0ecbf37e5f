//! `cargo xtask corpus DIR`: how many jobs of other people are imported whole, and why the rest is
//! not. The files are read, never kept.

use crate::shell::{self, Outcome};
use dialects::results::{self, Results};
use dialects::{Class, Dialect, ImportError, World};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No folder is looked through any deeper.
const MOST_DEPTH: usize = 32;
/// No corpus has more files.
const MOST_FILES: usize = 200_000;

/// What became of the files of one dialect.
#[derive(Default)]
struct Score {
    files: usize,
    whole: usize,
    options: usize,
    longest: Duration,
    /// Why options were refused, and in how many files.
    reasons: BTreeMap<String, usize>,
    /// Files that are no job at all, or whose suite is none.
    errors: Vec<String>,
}

/// What is measured.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The folder.
    folder: PathBuf,
    /// The dialect of all its files.
    #[arg(long)]
    from: Option<Dialect>,
    /// Tell of each file.
    #[arg(long)]
    list: bool,
}

/// Measures the folder.
///
/// # Errors
/// It cannot be read.
pub fn run(options: &Options) -> Outcome<()> {
    let Options { folder, from, list } = options.clone();
    let mut paths = Vec::new();
    collect(&folder, 0, &mut paths)?;
    paths.sort();
    let mut scores: BTreeMap<&'static str, Score> = BTreeMap::new();
    let mut unknown = 0;
    for path in &paths {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if let Some(kind) = results::detect(&text).filter(|_| from.is_none()) {
            let score = scores.entry("results").or_default();
            doubts(path, results::read(&path.to_string_lossy(), &text, kind), list, score);
            continue;
        }
        let Some(dialect) = from.or_else(|| dialects::detect(&text)) else {
            unknown += 1;
            continue;
        };
        measure(path, &text, dialect, list, scores.entry(dialect.word()).or_default());
    }
    for (dialect, score) in &scores {
        print(dialect, score);
    }
    println!("{unknown} of {} files are of no dialect that is known", paths.len());
    Ok(())
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Outcome<()> {
    let entries = std::fs::read_dir(folder).map_err(shell::at(folder))?;
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < MOST_DEPTH && entry.file_name() != ".git" {
            collect(&entry.path(), depth + 1, paths)?;
        } else if kind.is_file() && paths.len() < MOST_FILES {
            let is_small = entry.metadata().is_ok_and(|m| m.len() <= dialects::MOST_BYTES as u64);
            paths.extend(is_small.then(|| entry.path()));
        }
    }
    Ok(())
}

fn measure(path: &Path, text: &str, dialect: Dialect, list: bool, score: &mut Score) {
    let folder = path.parent().unwrap_or(Path::new(""));
    let file =
        |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let world = World { file: &file, variable: &variable };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    score.files += 1;
    let begin = Instant::now();
    let import = dialects::import(&name, text, Some(dialect), &world);
    score.longest = score.longest.max(begin.elapsed());
    let import = match import {
        Ok(import) => import,
        Err(error) => return score.errors.push(format!("{}: {error}", path.display())),
    };
    score.options += import.options.len();
    let mut reasons: Vec<String> =
        import.refused().map(|told| format!("{}: {}", told.name, told.why)).collect();
    reasons.sort();
    reasons.dedup();
    if list {
        let words = if reasons.is_empty() { "whole".to_owned() } else { reasons.join("; ") };
        let near = import.options.iter().filter(|told| told.class == Class::Approximated).count();
        println!("{}: {words} ({near} approximated)", path.display());
    }
    for suite in &import.suites {
        if let Err(errors) = suite::Spec::parse("imported.toml", &suite.text, &[]) {
            let why = errors.problems.first().map(|problem| problem.message.clone());
            let why = why.unwrap_or_default();
            if reasons.is_empty() {
                score.errors.push(format!("{}: the suite is none: {why}", path.display()));
                return;
            }
        }
    }
    score.whole += usize::from(reasons.is_empty());
    for reason in reasons {
        *score.reasons.entry(reason).or_default() += 1;
    }
}

/// What the environment of the people who wrote the jobs may hold.
fn variable(name: &str) -> Option<String> {
    Some(match name {
        "FIO_RW" => "randread".to_owned(),
        "FIO_BS" => "4k".to_owned(),
        "FIO_IODEPTH" => "1".to_owned(),
        name => format!("{name}-of-the-environment"),
    })
}

/// Results are whole where all goes together.
fn doubts(path: &Path, read: Result<Results, ImportError>, list: bool, score: &mut Score) {
    score.files += 1;
    let results = match read {
        Ok(results) => results,
        Err(error) => return score.errors.push(error.to_string()),
    };
    score.options += results.rows.len();
    score.whole += usize::from(results.doubts.is_empty());
    let mut kinds = Vec::new();
    for doubt in &results.doubts {
        if list {
            println!("{}: {doubt:?}", path.display());
        }
        let kind = format!("{:?}", doubt.kind);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    for kind in kinds {
        *score.reasons.entry(kind).or_default() += 1;
    }
}

fn print(dialect: &str, score: &Score) {
    println!(
        "{dialect}: {} of {} files whole, {} options classified, {} ms the longest",
        score.whole,
        score.files,
        score.options,
        score.longest.as_millis()
    );
    let mut reasons: Vec<(&String, &usize)> = score.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in reasons.iter().take(60) {
        println!("  {count:5}  {reason}");
    }
    for error in score.errors.iter().take(60) {
        println!("  error  {error}");
    }
}
