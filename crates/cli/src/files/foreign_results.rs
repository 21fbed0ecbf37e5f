//! Files that other tools wrote their results to: read, and made a run file of.

use crate::failure::Failure;
use crate::files::{plain_file, text_file};
use dialects::results::{self, LogReader, Results};
use model::Bytes;
use model::foreign::{Doubt, ForeignRun, GivenRow, MOST_ROWS, Source, short};
use report::object;
use report::topics::foreign;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// No line of a log is kept longer in memory: what is longer is none.
const MOST_LINE: u64 = 4_096;
const MOST_FILES: usize = 4_096;
/// No folder of results holds more bytes of them.
const MOST_FOLDER: u64 = 1 << 30;
/// A log is read line by line, and can be long; this is no log.
const MOST_LOG: u64 = 64 << 30;

pub(crate) struct Found {
    pub(crate) results: Results,
    pub(crate) source: Source,
}

fn wrong(path: &Path, what: &str) -> Failure {
    Failure::usage(format!("{}: {what}", path.display()))
}

/// The name of a file without its folders.
pub(crate) fn file_name(path: &Path) -> String {
    short(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
}

/// The results in a file; `None` where it holds none.
pub(crate) fn read(path: &Path) -> Result<Option<Found>, Failure> {
    if results::kind_of_log(&file_name(path)).is_some() {
        return read_log(path).map(Some);
    }
    let text = text_file::read_foreign(path, "job", results::MOST_BYTES as u64)?;
    let Some(form) = results::detect(&text) else { return Ok(None) };
    let name = path.display().to_string();
    let found = results::read(&name, &text, form);
    let found = found.map_err(Failure::usage)?;
    Ok(Some(Found { source: hashed(path)?.source(path, &found), results: found }))
}

fn hashed(path: &Path) -> Result<Hashed, Failure> {
    let file = plain_file::open(path).map_err(|error| wrong(path, &error.to_string()))?;
    let mut hashed = Hashed::new(file);
    std::io::copy(&mut hashed, &mut std::io::sink())
        .map_err(|error| wrong(path, &error.to_string()))?;
    Ok(hashed)
}

/// The SHA-256 of a file, in hexadecimal.
pub(crate) fn sha256(path: &Path) -> Result<String, Failure> {
    Ok(hexadecimal(&hashed(path)?.hash.finalize()))
}

/// The results in a folder, such as HCIBench makes for a test: those of each machine, and the
/// summary that stands beside the folder (`NAME-res.txt`). What holds no results is left alone.
pub(crate) fn read_folder(folder: &Path) -> Result<Vec<Found>, Failure> {
    let failed = |error: std::io::Error| wrong(folder, &format!("{error}; check the path"));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let ending = path.extension().unwrap_or_default();
        if ["txt", "json", "html", "xml", "csv"].iter().any(|known| ending == *known)
            && path.is_file()
        {
            paths.push(path);
        }
        if paths.len() > MOST_FILES {
            return Err(wrong(folder, &format!("has more than {MOST_FILES} files of results")));
        }
    }
    paths.sort();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let summary = folder.with_file_name(format!("{name}-res.txt"));
    if !name.is_empty() && summary.is_file() {
        paths.insert(0, summary);
    }
    within(folder, paths.iter().map(|path| path.metadata().map_or(0, |meta| meta.len())))?;
    let (mut all, mut rows) = (Vec::new(), 0_usize);
    for path in paths {
        let found = read(&path)?;
        rows += found.as_ref().map_or(0, |found| found.results.rows.len());
        if rows > MOST_ROWS {
            let what = format!("holds more than {MOST_ROWS} results; name a folder of one test");
            return Err(wrong(folder, &what));
        }
        all.extend(found);
    }
    if all.is_empty() {
        let what = format!(
            "no file in it holds results of a tool; jobs are named one by one, as in `plimsoll \
             import {}/* -o SUITES`, into a folder that exists",
            folder.display()
        );
        return Err(wrong(folder, &what));
    }
    Ok(all)
}

/// Whether files of these sizes are few enough bytes to be read: their rows are all held at once.
fn within(folder: &Path, sizes: impl Iterator<Item = u64>) -> Result<(), Failure> {
    let all = sizes.fold(0, u64::saturating_add);
    match all <= MOST_FOLDER {
        true => Ok(()),
        false => Err(wrong(
            folder,
            &format!(
                "its results have {}, more than {}; name a folder of one test, or its files",
                Bytes(all),
                Bytes(MOST_FOLDER)
            ),
        )),
    }
}

fn read_log(path: &Path) -> Result<Found, Failure> {
    let failed = |error: std::io::Error| wrong(path, &format!("{error}; check the path"));
    let meta = std::fs::metadata(path).map_err(failed)?;
    if !meta.is_file() || meta.len() > MOST_LOG {
        return Err(wrong(path, "is no log file of at most 64 GiB; name a log of fio"));
    }
    let name = path.display().to_string();
    let reader = LogReader::new(&name).ok_or_else(|| wrong(path, "is not named as a log"))?;
    let mut reader = reader;
    let mut file =
        BufReader::with_capacity(1 << 16, Hashed::new(plain_file::open(path).map_err(failed)?));
    let mut line = Vec::new();
    let told = |error: dialects::ImportError| Failure::usage(error);
    loop {
        line.clear();
        if (&mut file).take(MOST_LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        reader.line(&String::from_utf8_lossy(&line)).map_err(told)?;
    }
    let results = reader.finish().map_err(told)?;
    Ok(Found { source: file.into_inner().source(path, &results), results })
}

struct Hashed {
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl Hashed {
    fn new(file: File) -> Hashed {
        Hashed { file, hash: Sha256::new(), bytes: 0 }
    }

    fn source(self, path: &Path, results: &Results) -> Source {
        Source {
            form: results.form,
            tool_version: results.tool_version.clone(),
            file: file_name(path),
            bytes: self.bytes,
            sha256: hexadecimal(&self.hash.finalize()),
        }
    }
}

impl Read for Hashed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The run that some files come to, called `name`.
pub(crate) fn run(found: Vec<Found>, name: &str) -> ForeignRun {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut hash = Sha256::new();
    let (mut sources, mut doubts): (Vec<Source>, Vec<Doubt>) = (Vec::new(), Vec::new());
    let mut rows: Vec<GivenRow> = Vec::new();
    let measured = found.iter().filter_map(|one| one.results.measured_unix_ns).min();
    for (number, one) in (0..).zip(found) {
        hash.update(one.source.sha256.as_bytes());
        sources.push(one.source);
        rows.extend(one.results.rows.into_iter().map(|row| GivenRow { source: number, ..row }));
        doubts.extend(one.results.doubts);
    }
    let mut run_id = hexadecimal(&hash.finalize());
    run_id.truncate(32);
    ForeignRun {
        run_id,
        name: short(name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        imported_unix_ns: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        measured_unix_ns: measured,
        sources,
        rows,
        doubts,
    }
}

pub(crate) fn object(found: &Found) -> Value {
    let results = object! {
        tool: found.results.tool(), source: foreign::json::source(&found.source),
        rows: foreign::json::rows(&found.results.rows),
        doubts: foreign::json::doubts(&found.results.doubts),
    };
    json!({ "dialect": "results", "options": [], "suites": [], "results": results })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_too_many_bytes_is_refused_by_its_sizes_alone() {
        let folder = Path::new("/x");
        assert!(within(folder, [MOST_FOLDER / 2; 2].into_iter()).is_ok());
        let told = within(folder, [MOST_FOLDER, 1].into_iter()).err();
        assert!(told.is_some_and(|told| told.to_string().contains("more than 1 GiB")));
        assert!(within(folder, [u64::MAX; 2].into_iter()).is_err());
    }

    #[test]
    fn a_log_of_any_length_is_read_in_pieces() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("job_lat.1.log");
        let mut text = "1, 1000, 0, 4096, 0\n".repeat(10_000);
        text.push_str(&"x".repeat(100_000));
        std::fs::write(&path, &text).expect("written");
        let found = read(&path).expect("read").expect("results");
        assert_eq!(found.source.bytes, text.len() as u64);
        assert_eq!(found.source.sha256, hexadecimal(&Sha256::digest(text.as_bytes())));
        let latencies = found.results.rows[0].latencies.as_ref().expect("latencies");
        assert_eq!(latencies.latency.count(), 10_000);
    }
}
