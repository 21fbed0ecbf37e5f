//! Writes a trace as a stream.

use super::blocks::{self, Before, Kind, MOST_REQUESTS};
use super::{Header, InFlight, MAGIC, Request, Totals};
use crate::columns::Out;
use std::io::{self, Write};

/// A block is written when it is this long, whether it is full or not.
const ENOUGH: usize = 64 << 10;

/// Writes requests in the order of their instants, in constant memory.
pub struct Writer<W: Write> {
    out: W,
    payload: Out,
    count: u32,
    before: Before,
    last_ns: u64,
    totals: Totals,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// The sink's.
    pub fn new(mut out: W, header: &Header) -> io::Result<Writer<W>> {
        out.write_all(&MAGIC)?;
        out.write_all(&blocks::block(Kind::Header, 0, blocks::header(header).bytes()))?;
        Ok(Writer {
            out,
            payload: Out::default(),
            count: 0,
            before: Before::default(),
            last_ns: 0,
            totals: Totals::default(),
        })
    }

    /// Adds a request.
    ///
    /// # Errors
    /// The sink's.
    ///
    /// # Panics
    /// When the request is earlier than the one before it, or cannot be sent: whoever read it has
    /// looked.
    pub fn add(&mut self, request: &Request) -> io::Result<()> {
        assert!(request.is_sound() && request.at_ns >= self.last_ns, "{request:?}");
        self.last_ns = request.at_ns;
        self.before.put(&mut self.payload, request);
        self.count += 1;
        self.totals.requests += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(request.length.into());
        if self.payload.bytes().len() >= ENOUGH || self.count == MOST_REQUESTS {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// What was added so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Writes out what is there, as a block of its own.
    ///
    /// # Errors
    /// The sink's.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.count > 0 {
            self.out.write_all(&blocks::block(Kind::Requests, self.count, self.payload.bytes()))?;
        }
        self.payload.clear();
        self.count = 0;
        self.before = Before::default();
        self.out.flush()
    }

    /// Ends the trace: `lost` requests are missing in it, and `left_out` were of no known kind.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(self, lost: u64, left_out: u64) -> io::Result<(W, Totals)> {
        self.finish_with(lost, left_out, None)
    }

    /// The same with how many requests the device had at once.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish_with(
        mut self,
        lost: u64,
        left_out: u64,
        in_flight: Option<InFlight>,
    ) -> io::Result<(W, Totals)> {
        self.flush()?;
        let totals = Totals { lost, left_out, in_flight, ..self.totals };
        self.out.write_all(&blocks::block(Kind::End, 0, blocks::end(&totals).bytes()))?;
        self.out.flush()?;
        Ok((self.out, totals))
    }
}
