//! A trace in the order of its instants, sorted with files where its own order needs that.

use super::file::{Source, open, problem, source};
use super::sorting::sort;
use super::spool::Spooled;
use crate::args::TraceArgs;
use crate::failure::Failure;
use dialects::trace::{Requests, TraceEnd};
use model::trace::Request;
use std::path::Path;

/// A trace that is read from its first request to its last.
pub(crate) struct Opened {
    pub(crate) requests: Requests<Source>,
    /// Where it was sorted: the file that it is read from, and how the original ended.
    sorted: Option<(Spooled, TraceEnd)>,
}

pub(crate) enum Stopped {
    /// Its order is one that a window in memory does not mend: take it [`Opened::sorted`].
    Order,
    For(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::For(failure)
    }
}

impl Opened {
    pub(crate) fn new(args: &TraceArgs) -> Result<Opened, Failure> {
        Ok(Opened { requests: open(args)?, sorted: None })
    }

    /// The same trace from its first request on, sorted into a nameless file in `folder`.
    pub(crate) fn sorted(self, args: &TraceArgs, folder: &Path) -> Result<Opened, Failure> {
        drop(self);
        eprintln!(
            "note: trace {}: its requests are far out of order; sorting it into {} first",
            args.trace.display(),
            folder.display()
        );
        let (spooled, ending) = sort(args, folder)?;
        let source = source(spooled.open()?, &args.trace);
        // One source was taken out of it already.
        let requests = Requests::new(source, None, None).map_err(|what| problem(folder, &what))?;
        Ok(Opened { requests, sorted: Some((spooled, ending)) })
    }

    /// The next request; `None` at the end.
    pub(crate) fn next(&mut self, args: &TraceArgs) -> Result<Option<Request>, Stopped> {
        match self.requests.next_request() {
            Ok(next) => Ok(next.map(|(request, _)| request)),
            Err(what) if what.is_order => Err(Stopped::Order),
            Err(what) => Err(problem(&args.trace, &what).into()),
        }
    }

    /// How the trace ended, once all of it was read.
    pub(crate) fn end(&self) -> TraceEnd {
        self.sorted.as_ref().map_or_else(|| self.requests.end(), |(_, ending)| *ending)
    }

    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted.is_some()
    }

    pub(crate) fn take_sorted(&mut self) -> Option<Spooled> {
        self.sorted.take().map(|(spooled, _)| spooled)
    }
}
