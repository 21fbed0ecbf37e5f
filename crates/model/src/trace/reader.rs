//! Reads a trace as a stream.

use super::blocks::{self, Before, HEAD, Head, Kind};
use super::{Header, MAGIC, Request, Totals};
use crate::columns::In;
use std::fmt;
use std::io::{self, Read};

/// Why a trace cannot be read on.
#[derive(Debug)]
pub enum TraceError {
    /// It does not begin as one of ours does.
    NoTrace,
    /// It ends before its header does.
    NoHeader,
    /// The block that begins at this byte is not what was written.
    Damaged {
        /// Where the block begins.
        at_byte: u64,
    },
    /// The file itself.
    Io(io::Error),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::NoTrace => f.write_str("it is no trace of Plimsoll"),
            TraceError::NoHeader => f.write_str("it ends before its header does; record it again"),
            TraceError::Damaged { at_byte } => write!(
                f,
                "the block at byte {at_byte} is damaged; copy the file again, or record it again"
            ),
            TraceError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TraceError {}

/// How a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As its writer ended it.
    Whole(Totals),
    /// In the middle: only whole blocks were read.
    CutOff {
        /// The first byte that was not read.
        at_byte: u64,
    },
}

/// Reads requests block after block, in constant memory.
pub struct Reader<R: Read> {
    from: R,
    header: Header,
    payload: Vec<u8>,
    at_byte: u64,
    last_ns: u64,
    seen: Totals,
    ending: Option<Ending>,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// It is no trace, or its header is not whole.
    pub fn new(mut from: R) -> Result<Reader<R>, TraceError> {
        let mut magic = [0; MAGIC.len()];
        if fill(&mut from, &mut magic).map_err(TraceError::Io)? < MAGIC.len() || magic != MAGIC {
            return Err(TraceError::NoTrace);
        }
        let empty = Header {
            device: String::new(),
            size_bytes: 0,
            sector_bytes: 0,
            clock: super::TraceClock::Foreign,
            taken_from: String::new(),
            began_unix_ns: 0,
        };
        let mut reader = Reader {
            from,
            header: empty,
            payload: Vec::new(),
            at_byte: MAGIC.len() as u64,
            last_ns: 0,
            seen: Totals::default(),
            ending: None,
        };
        let at_byte = reader.at_byte;
        match reader.block()? {
            Some(Head { kind: Kind::Header, .. }) => {
                reader.header = blocks::read_header(&reader.payload)
                    .map_err(|_| TraceError::Damaged { at_byte })?;
                Ok(reader)
            }
            Some(_) => Err(TraceError::Damaged { at_byte }),
            None => Err(TraceError::NoHeader),
        }
    }

    /// What it says of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How it ended; `None` as long as there may be more.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Puts the requests of the next block in place of those in `requests`; false at the end.
    ///
    /// # Errors
    /// A block is damaged, or the file cannot be read.
    pub fn next_block(&mut self, requests: &mut Vec<Request>) -> Result<bool, TraceError> {
        requests.clear();
        if self.ending.is_some() {
            return Ok(false);
        }
        let at_byte = self.at_byte;
        let damaged = TraceError::Damaged { at_byte };
        match self.block()? {
            None => {
                self.ending = Some(Ending::CutOff { at_byte });
                Ok(false)
            }
            Some(Head { kind: Kind::Requests, count, .. }) => match self.decode(count, requests) {
                Some(()) => Ok(true),
                None => {
                    requests.clear();
                    Err(damaged)
                }
            },
            Some(Head { kind: Kind::End, .. }) => {
                let totals = blocks::read_end(&self.payload).map_err(|_| damaged)?;
                let is_whole =
                    (totals.requests, totals.bytes) == (self.seen.requests, self.seen.bytes);
                if !is_whole {
                    return Err(TraceError::Damaged { at_byte });
                }
                self.ending = Some(Ending::Whole(totals));
                Ok(false)
            }
            Some(Head { kind: Kind::Header, .. }) => Err(damaged),
        }
    }

    fn decode(&mut self, count: u32, requests: &mut Vec<Request>) -> Option<()> {
        let mut rest = In::new(&self.payload);
        let mut before = Before::default();
        for _ in 0..count {
            let request = before.take(&mut rest).ok()?;
            if request.at_ns < self.last_ns {
                return None;
            }
            self.last_ns = request.at_ns;
            self.seen.requests += 1;
            self.seen.bytes = self.seen.bytes.saturating_add(request.length.into());
            requests.push(request);
        }
        (rest.is_over() && count > 0).then_some(())
    }

    /// The next block, its payload in place; `None` where the file ends before it does.
    fn block(&mut self) -> Result<Option<Head>, TraceError> {
        let mut head = [0; HEAD];
        if fill(&mut self.from, &mut head).map_err(TraceError::Io)? < HEAD {
            return Ok(None);
        }
        let damaged = TraceError::Damaged { at_byte: self.at_byte };
        let Some(head) = Head::read(&head) else { return Err(damaged) };
        self.payload.resize(head.length as usize, 0);
        let length = fill(&mut self.from, &mut self.payload).map_err(TraceError::Io)?;
        if length < self.payload.len() {
            return Ok(None);
        }
        if !head.fits(&self.payload) {
            return Err(damaged);
        }
        self.at_byte += HEAD as u64 + u64::from(head.length);
        Ok(Some(head))
    }
}

/// Reads until `bytes` are full or there are no more; how many there were.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < bytes.len() {
        match from.read(&mut bytes[at..]) {
            Ok(0) => break,
            Ok(more) => at += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}
