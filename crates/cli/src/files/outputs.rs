//! Files that commands write for people and programs: nothing that is not ours is overwritten
//! unless `--force` says so.

use crate::failure::Failure;
use crate::files::plain_file;
use report::{surfaces, topics};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// What is to be written; by what it begins with, an older one is known and may be written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Page,
    Markdown,
    Chart,
    JUnit,
    /// Something that says nowhere who made it: tables.
    Unmarked,
}

/// What to do in place of a file of this ending, which people ask for and Plimsoll does not write.
pub(crate) fn instead_of(ending: &str) -> Option<&'static str> {
    match ending {
        "parquet" => Some(
            "write CSV with --format csv; DuckDB makes Parquet of it: COPY (FROM 'results.csv') TO \
             'results.parquet'",
        ),
        "pdf" | "doc" | "docx" | "odt" => Some("write .html, which a browser prints, or .md"),
        "png" => Some("charts of Markdown are SVG files, and a browser prints the page"),
        _ => None,
    }
}

pub(crate) fn refuse_ending(out: Option<&Path>) -> Result<(), Failure> {
    let ending = out.and_then(Path::extension).and_then(|ending| ending.to_str());
    match ending.and_then(|ending| Some((ending, instead_of(ending)?))) {
        Some((ending, remedy)) => {
            Err(Failure::usage(format!("Plimsoll does not write .{ending}; {remedy}")))
        }
        None => Ok(()),
    }
}

/// A page has its title in its first bytes; nothing else is read of a file that is in the way.
const HEAD_BYTES: u64 = 64 << 10;

/// Whether a file that begins with this may be overwritten by one of this kind. An empty one may:
/// nothing is lost with it.
fn may_replace(kind: Kind, head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    head.is_empty()
        || match kind {
            Kind::Page => {
                let title = text.split_once("</title>").map_or("", |(before, _)| before);
                let is_ours = ["report", "ceiling", "trend"]
                    .iter()
                    .any(|page| title.ends_with(&format!("Plimsoll {page}")));
                text.starts_with("<!doctype html>") && is_ours
            }
            Kind::Markdown => text.starts_with(surfaces::markdown::MARK),
            Kind::Chart => text.starts_with(surfaces::markdown::CHART_MARK),
            Kind::JUnit => text.starts_with(topics::gate::JUNIT_MARK),
            Kind::Unmarked => false,
        }
}

#[derive(Debug)]
pub(crate) enum NotWritten {
    NotOurs(PathBuf),
    System(PathBuf, std::io::Error),
}

impl NotWritten {
    /// What is wrong, without a remedy.
    pub(crate) fn what(&self) -> String {
        match self {
            NotWritten::NotOurs(path) => {
                format!("{} exists and is not known to be ours", path.display())
            }
            NotWritten::System(path, error) => {
                format!("{} cannot be written: {error}", path.display())
            }
        }
    }
}

impl From<NotWritten> for Failure {
    fn from(not: NotWritten) -> Failure {
        let what = not.what();
        match not {
            NotWritten::NotOurs(_) => Failure::usage(format!(
                "{what}; name another place with --out, or add --force to overwrite it"
            )),
            NotWritten::System(..) => {
                Failure::run(format!("{what}; name another place with --out"))
            }
        }
    }
}

/// Opens a file to be written from its beginning.
pub(crate) fn create(path: &Path, kind: Kind, force: bool) -> Result<File, NotWritten> {
    let failed = |error: std::io::Error| NotWritten::System(path.to_owned(), error);
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        other => return other.map_err(failed),
    }
    // A pipe or a terminal loses nothing, and could not be looked at.
    let is_file = path.metadata().is_ok_and(|meta| meta.is_file());
    if is_file && !force && !is_ours(path, kind).map_err(failed)? {
        return Err(NotWritten::NotOurs(path.to_owned()));
    }
    plain_file::open_output(OpenOptions::new().write(true).truncate(is_file), path).map_err(failed)
}

/// Writes a whole file, as [`create`] does.
pub(crate) fn write(
    path: &Path,
    kind: Kind,
    force: bool,
    content: &[u8],
) -> Result<(), NotWritten> {
    let written = create(path, kind, force)?.write_all(content);
    written.map_err(|error| NotWritten::System(path.to_owned(), error))
}

fn is_ours(path: &Path, kind: Kind) -> std::io::Result<bool> {
    let mut head = Vec::new();
    plain_file::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(may_replace(kind, &head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_may_be_written_again_and_nothing_else() {
        let page =
            b"<!doctype html>\n<html lang=\"en\"><head><title>a on b: Plimsoll report</title>";
        assert!(may_replace(Kind::Page, page) && !may_replace(Kind::Markdown, page));
        assert!(!may_replace(Kind::Page, b"<!doctype html><title>mine</title> Plimsoll report"));
        assert!(
            may_replace(Kind::Markdown, b"<!-- Plimsoll report -->\n# a")
                && !may_replace(Kind::Markdown, b"# a")
        );
        assert!(
            may_replace(Kind::Chart, b"<!-- Plimsoll chart -->\n<svg")
                && !may_replace(Kind::Chart, b"<svg")
        );
        assert!(may_replace(Kind::Unmarked, b"") && !may_replace(Kind::Unmarked, b"a,b"));
    }

    #[test]
    fn a_file_of_somebody_else_stays_unless_forced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.html");
        std::fs::write(&path, "mine, and longer than what comes").expect("room");
        let refused = write(&path, Kind::Page, false, b"new").expect_err("it is not ours");
        assert!(Failure::from(refused).to_string().contains("--force"));
        assert!(std::fs::read_to_string(&path).expect("text").starts_with("mine"));
        write(&path, Kind::Page, true, b"new").expect("forced");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "new");
        assert!(write(&folder.path().join("none/a"), Kind::Page, false, b"").is_err());
    }
}
