//! Our own failures. What a target answers to a request is never one of these: it is data in a
//! sample.

use std::any::Any;
use std::{fmt, io};

/// Why a host cannot do its share.
#[derive(Debug)]
pub enum EngineError {
    /// A target cannot be opened, claimed or laid out.
    Target {
        /// The path.
        path: String,
        /// What went wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A worker cannot be set up.
    Worker {
        /// What went wrong.
        what: String,
        /// The system's own words.
        source: io::Error,
    },
    /// A trace cannot be sent to its end.
    Trace {
        /// Its file.
        path: String,
        /// What went wrong.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A bug of ours: a thread panicked.
    Panicked {
        /// The thread.
        thread: String,
        /// What it said.
        what: String,
    },
}

impl EngineError {
    pub(crate) fn target(
        path: &str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> EngineError {
        EngineError::Target { path: path.to_owned(), what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn trace(
        path: &str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> EngineError {
        EngineError::Trace { path: path.to_owned(), what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn worker(what: impl Into<String>, source: io::Error) -> EngineError {
        EngineError::Worker { what: what.into(), source }
    }

    /// What a thread panicked with.
    pub fn panicked(thread: impl Into<String>, payload: &(dyn Any + Send)) -> EngineError {
        let said = payload.downcast_ref::<&str>().copied();
        let what = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        EngineError::Panicked {
            thread: thread.into(),
            what: what.unwrap_or("no message").to_owned(),
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Target { path, what, remedy } => {
                write!(f, "target {path}: {what}; {remedy}")
            }
            EngineError::Worker { what, source } => {
                let remedy = match source.raw_os_error() {
                    Some(libc::EMFILE | libc::ENFILE) => {
                        "raise the limit of open files (ulimit -n), or try fewer workers or --set \
                         backend=sync"
                    }
                    Some(libc::ENOMEM) => {
                        "raise the limit of memory (ulimit -v), or try fewer workers or a smaller \
                         depth"
                    }
                    _ => "try fewer workers, a smaller depth or --set backend=sync",
                };
                write!(f, "a worker could not {what}: {source}; {remedy}")
            }
            EngineError::Trace { path, what, remedy } => {
                write!(f, "trace {path}: {what}; {remedy}")
            }
            EngineError::Panicked { thread, what } => write!(f, "thread {thread} panicked: {what}"),
        }
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EngineError::Target { .. }
            | EngineError::Trace { .. }
            | EngineError::Panicked { .. } => None,
            EngineError::Worker { source, .. } => Some(source),
        }
    }
}
