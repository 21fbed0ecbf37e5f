//! A trace in our own form, for the time of a replay.
//!
//! The file has no name from its first moment on: however the process ends, nothing is left of it.

use crate::failure::Failure;
use model::trace::{Header, Request, TraceClock, Writer};
use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Spool {
    writer: Writer<BufWriter<File>>,
}

/// The file once it is whole; gone when this is dropped.
pub(crate) struct Spooled {
    file: File,
}

pub(super) fn made_here(device: String, taken_from: &str) -> Header {
    let (clock, taken_from) = (TraceClock::Foreign, taken_from.to_owned());
    Header { device, size_bytes: 0, sector_bytes: 0, clock, taken_from, began_unix_ns: 0 }
}

impl Spool {
    /// A file in `folder`.
    pub(crate) fn create(folder: &Path, header: &Header) -> Result<Spool, Failure> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!(".plimsoll-replay-{process}-{number}.trace"));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.map_err(|error| failed(folder, &error))?;
        // It stays as long as it is open.
        std::fs::remove_file(&path).map_err(|error| failed(folder, &error))?;
        let writer = Writer::new(BufWriter::with_capacity(256 << 10, file), header);
        Ok(Spool { writer: writer.map_err(|error| failed(folder, &error))? })
    }

    pub(crate) fn add(&mut self, request: &Request) -> Result<(), Failure> {
        self.writer.add(request).map_err(|error| failed(Path::new("."), &error))
    }

    pub(crate) fn finish(self) -> Result<Spooled, Failure> {
        let (file, _) = self.writer.finish(0, 0).map_err(|error| failed(Path::new("."), &error))?;
        let file = file.into_inner().map_err(|error| failed(Path::new("."), error.error()))?;
        Ok(Spooled { file })
    }
}

impl Spooled {
    /// A path at which this process, and those that it starts here, can open it again.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    pub(crate) fn open(&self) -> Result<File, Failure> {
        File::open(self.path()).map_err(|error| failed(Path::new("."), &error))
    }
}

fn failed(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::run(format!(
        "the trace cannot be copied for the replay: {}: {error}; begin the replay in a \
         directory with room, or name a run file there with --out",
        folder.display()
    ))
}
