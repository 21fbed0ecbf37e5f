//! Opens a trace.

use crate::args::TraceArgs;
use crate::failure::Failure;
use dialects::trace::{Requests, TraceProblem};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// The requests of a trace.
pub fn open(args: &TraceArgs) -> Result<Requests<BufReader<File>>, Failure> {
    let path = &args.trace;
    let wrong = |what: &str| Failure::Usage(format!("error: trace {}: {what}", path.display()));
    let metadata = std::fs::metadata(path)
        .map_err(|error| wrong(&format!("{error}; check the path of the trace")))?;
    if metadata.is_dir() {
        return Err(wrong("it is a directory; name a file"));
    }
    // The file is read twice, which a pipe is not.
    if !metadata.is_file() {
        return Err(wrong("it is no regular file; write the trace to one first"));
    }
    let file = File::open(path)
        .map_err(|error| wrong(&format!("{error}; check your permissions on it")))?;
    let file = BufReader::with_capacity(BUFFER, file);
    Requests::new(file, args.from, args.source.clone()).map_err(|what| problem(path, &what))
}

/// What is wrong with a trace.
pub fn problem(path: &Path, what: &TraceProblem) -> Failure {
    Failure::Usage(format!("error: trace {}: {what}", path.display()))
}
