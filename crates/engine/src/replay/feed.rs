//! Reads a trace ahead of its worker.

use crate::error::EngineError;
use crate::generator::Request;
use model::Op;
use model::plan::{TraceWork, Work, Worker};
use model::trace::{self, Ending, Reader, SequenceDigest};
use std::fs::File;
use std::io::BufReader;
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError};
use std::thread;

/// Requests that are handed over at once.
const PAGE: usize = 1024;
/// Pages between the reader and the worker: at a million requests a second, these last for 8 ms.
const PAGES: usize = 8;

/// A request as it is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// After the stage's start.
    pub(crate) at_ns: u64,
    pub(crate) request: Request,
    /// Whether it goes where it went in the trace.
    pub(crate) is_exact: bool,
}

/// What the reader hands over.
enum Read {
    Page(Vec<Due>),
    /// The trace is over: how many requests the worker had of it, and what they come to.
    End {
        count: u64,
        digest: SequenceDigest,
    },
    Broken(EngineError),
}

/// A worker's end of its trace.
pub(crate) struct Feed {
    page: Vec<Due>,
    at: usize,
    inbox: Receiver<Read>,
    back: SyncSender<Vec<Due>>,
    end: Option<(u64, SequenceDigest)>,
    broken: Option<EngineError>,
    /// When the last request was due: where the next one is not read yet, it is no earlier.
    last_ns: u64,
}

impl Feed {
    /// Begins to read, and comes back with the first requests at hand.
    ///
    /// # Errors
    /// The trace cannot be read, or holds what the plan does not permit.
    pub(crate) fn start(
        trace: &TraceWork,
        work: &Work,
        worker: &Worker,
    ) -> Result<Feed, EngineError> {
        let file = File::open(&trace.path).map_err(|error| {
            EngineError::trace(
                &trace.path,
                error.to_string(),
                "replay it from a file that is there",
            )
        })?;
        let (out, inbox) = mpsc::sync_channel(PAGES);
        let (back, spare) = mpsc::sync_channel(PAGES + 1);
        let source = Source { trace: trace.clone(), work: work.clone(), worker: worker.clone() };
        let started = thread::Builder::new()
            .name("trace".to_owned())
            .spawn(move || source.read(file, &out, &spare));
        started.map_err(|error| EngineError::worker("start the reader of its trace", error))?;
        let mut feed =
            Feed { page: Vec::new(), at: 0, inbox, back, end: None, broken: None, last_ns: 0 };
        if let Ok(first) = feed.inbox.recv() {
            feed.take(first);
        }
        match feed.broken.take() {
            Some(error) => Err(error),
            None => Ok(feed),
        }
    }

    /// When the next request is due, in ns after the stage's start.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.page.get(self.at).map_or(self.last_ns, |due| due.at_ns)
    }

    /// The next request, if it is due `now_ns` after the stage's start; `None` at the end, and as
    /// long as it is not read.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64) -> Option<Due> {
        if self.at == self.page.len() {
            self.turn();
        }
        let due = *self.page.get(self.at).filter(|due| due.at_ns <= now_ns)?;
        self.at += 1;
        self.last_ns = due.at_ns;
        // So that the end is known as soon as the last request is out.
        if self.at == self.page.len() {
            self.turn();
        }
        Some(due)
    }

    /// Whether no request is left.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.at == self.page.len() && (self.end.is_some() || self.broken.is_some())
    }

    /// Requests and digest of the whole share, once all of it was read.
    pub(crate) fn end(&self) -> Option<(u64, SequenceDigest)> {
        self.end
    }

    /// Why it could not be read to its end, if so.
    pub(crate) fn take_failure(&mut self) -> Option<EngineError> {
        self.broken.take()
    }

    fn turn(&mut self) {
        if self.end.is_some() || self.broken.is_some() {
            return;
        }
        match self.inbox.try_recv() {
            Ok(read) => self.take(read),
            Err(TryRecvError::Empty) => {}
            // It tells its end before it goes, unless it panicked.
            Err(TryRecvError::Disconnected) => {
                self.broken = Some(EngineError::panicked("trace", &"it ended without a word"));
            }
        }
    }

    fn take(&mut self, read: Read) {
        match read {
            Read::Page(page) => {
                let empty = std::mem::replace(&mut self.page, page);
                self.at = 0;
                // A reader that is through takes nothing back.
                let _ = self.back.try_send(empty);
            }
            Read::End { count, digest } => self.end = Some((count, digest)),
            Read::Broken(error) => self.broken = Some(error),
        }
    }
}

/// The reader's end.
struct Source {
    trace: TraceWork,
    work: Work,
    worker: Worker,
}

/// Nobody listens any more.
struct Gone;

impl Source {
    /// Reads all; ends when nobody listens.
    fn read(&self, file: File, out: &SyncSender<Read>, spare: &Receiver<Vec<Due>>) {
        let last = match self.pages(file, out, spare) {
            Ok(Ok(end)) => end,
            Ok(Err(Gone)) => return,
            Err(error) => Read::Broken(error),
        };
        // Whoever left does not listen.
        let _ = out.send(last);
    }

    fn pages(
        &self,
        file: File,
        out: &SyncSender<Read>,
        spare: &Receiver<Vec<Due>>,
    ) -> Result<Result<Read, Gone>, EngineError> {
        let unreadable = |error: trace::TraceError| self.error(error.to_string());
        let mut reader =
            Reader::new(BufReader::with_capacity(256 << 10, file)).map_err(unreadable)?;
        let (mut all, mut own) = (SequenceDigest::default(), SequenceDigest::default());
        let (mut number, mut count) = (0u64, 0u64);
        let (mut block, mut page) = (Vec::new(), Vec::with_capacity(PAGE));
        while number < self.trace.requests && reader.next_block(&mut block).map_err(unreadable)? {
            for request in block.iter().take((self.trace.requests - number) as usize) {
                all.add(request.op, request.offset, request.length);
                let (turn, of) = self.worker.turn;
                if number % u64::from(of.max(1)) == u64::from(turn) {
                    let due = self.due(request, number)?;
                    own.add(due.request.op, due.request.offset, due.request.length);
                    count += 1;
                    page.push(due);
                }
                number += 1;
                if page.len() == PAGE {
                    let next = spare.try_recv().map(|mut empty| {
                        empty.clear();
                        empty
                    });
                    let full = std::mem::replace(
                        &mut page,
                        next.unwrap_or_else(|_| Vec::with_capacity(PAGE)),
                    );
                    if out.send(Read::Page(full)).is_err() {
                        return Ok(Err(Gone));
                    }
                }
            }
        }
        if !page.is_empty() && out.send(Read::Page(page)).is_err() {
            return Ok(Err(Gone));
        }
        let is_cut = matches!(reader.ending(), Some(Ending::CutOff { .. })) && number == 0;
        if (number, all) != (self.trace.requests, self.trace.digest) || is_cut {
            return Err(self.error("it is not the trace that was planned with".to_owned()));
        }
        Ok(Ok(Read::End { count, digest: own }))
    }

    /// A request of the file as it is to be sent; only one that the plan permits.
    fn due(&self, request: &trace::Request, number: u64) -> Result<Due, EngineError> {
        let wrong = |what: &str| self.error(format!("request {} {what}", number + 1));
        if !self.work.permits(request.op, request.length) {
            return Err(wrong("is of a kind or size that was not planned"));
        }
        let extent = self.worker.extents.first().ok_or_else(|| wrong("has no place"))?;
        let mapped = self.trace.mapping.of(request, extent.length);
        let mapped = mapped.map_err(|_| wrong("ends past the end of the target"))?;
        let offset = match request.op {
            Op::Fsync => 0,
            _ => extent.offset + mapped.offset,
        };
        let is_exact = mapped.is_exact && (offset == request.offset);
        let request = Request { op: request.op, file: extent.file, offset, length: request.length };
        Ok(Due { at_ns: mapped.due_ns, request, is_exact })
    }

    fn error(&self, what: String) -> EngineError {
        EngineError::trace(&self.trace.path, what, "replay it again; leave the file as it is")
    }
}

#[cfg(test)]
mod tests;
