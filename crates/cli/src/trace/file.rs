//! Opens a trace, and says on a terminal how far it was read.

use crate::args::TraceArgs;
use crate::failure::Failure;
use crate::files::plain_file;
use crate::terminal::standard_error;
use dialects::trace::{Requests, TraceProblem};
use model::Bytes;
use report::ground::words::decimal;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// How often it is said how far the trace was read: nothing, where that takes no longer.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// The bytes of a trace.
pub(crate) type Source = BufReader<Told>;

pub(super) fn source(file: File, path: &Path) -> Source {
    let of = file.metadata().map_or(0, |metadata| metadata.len());
    let path = path.display().to_string();
    let (is_terminal, last) = (io::stderr().is_terminal(), Instant::now());
    let told = Told { file, path, is_terminal, at: 0, of, last, has_line: false };
    BufReader::with_capacity(BUFFER, told)
}

pub(crate) struct Told {
    file: File,
    path: String,
    is_terminal: bool,
    at: u64,
    of: u64,
    last: Instant,
    has_line: bool,
}

impl Read for Told {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        self.at += count as u64;
        if self.is_terminal && self.last.elapsed() >= TOLD_EVERY {
            self.last = Instant::now();
            self.has_line = true;
            let [at, of] = [self.at, self.of].map(|bytes| decimal(Bytes(bytes)));
            standard_error::over(&format!("reading {}: {at} of {of}", self.path));
        }
        Ok(count)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        if self.has_line {
            standard_error::over("");
        }
    }
}

pub(crate) fn open(args: &TraceArgs) -> Result<Requests<Source>, Failure> {
    let path = &args.trace;
    let wrong = |what: &str| Failure::usage(format!("trace {}: {what}", path.display()));
    let metadata = std::fs::metadata(path)
        .map_err(|error| wrong(&format!("{error}; check the path of the trace")))?;
    if metadata.is_dir() {
        return Err(wrong("it is a directory; name a file"));
    }
    // The file is read twice, which a pipe is not.
    if !metadata.is_file() {
        return Err(wrong("it is no regular file; write the trace to one first"));
    }
    let file = plain_file::open(path)
        .map_err(|error| wrong(&format!("{error}; check your permissions on it")))?;
    let source = source(file, path);
    Requests::new(source, args.from, args.source.clone()).map_err(|what| problem(path, &what))
}

pub(crate) fn problem(path: &Path, what: &TraceProblem) -> Failure {
    Failure::usage(format!("trace {}: {what}", path.display()))
}
