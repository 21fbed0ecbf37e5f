//! Blocks of a trace: a head with length and checksum, and requests as differences.

use super::{Header, InFlight, Request, Totals, TraceClock};
use crate::columns::{Bad, In, Out};
use crate::crc::Crc;
use crate::op::Op;

/// Bytes of a block's head.
pub(super) const HEAD: usize = 13;
/// The longest payload that is read: what says it has more is damaged.
pub(super) const MOST_PAYLOAD: u32 = 1 << 20;
/// The most requests of a block.
pub(super) const MOST_REQUESTS: u32 = 1 << 14;
/// The longest text in a header.
const MOST_TEXT: usize = 4096;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Requests,
    End,
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Kind::Header => b'H',
            Kind::Requests => b'R',
            Kind::End => b'E',
        }
    }

    fn of(byte: u8) -> Option<Kind> {
        [Kind::Header, Kind::Requests, Kind::End].into_iter().find(|kind| kind.byte() == byte)
    }
}

/// The head of a block: kind, length of the payload, number of requests, checksum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) length: u32,
    pub(super) count: u32,
    crc: u32,
}

impl Head {
    /// Reads a head; `None` if it is none.
    pub(super) fn read(bytes: &[u8; HEAD]) -> Option<Head> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let head =
            Head { kind: Kind::of(bytes[0])?, length: word(1), count: word(5), crc: word(9) };
        (head.length <= MOST_PAYLOAD && head.count <= MOST_REQUESTS).then_some(head)
    }

    /// Whether `payload` is what was written.
    pub(super) fn fits(&self, payload: &[u8]) -> bool {
        self.crc == checksum(self.kind, self.count, payload)
    }
}

fn checksum(kind: Kind, count: u32, payload: &[u8]) -> u32 {
    let length = payload.len() as u32;
    Crc::new()
        .with(&[kind.byte()])
        .with(&length.to_le_bytes())
        .with(&count.to_le_bytes())
        .with(payload)
        .value()
}

/// A whole block.
pub(super) fn block(kind: Kind, count: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind.byte()];
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(checksum(kind, count, payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

pub(super) fn header(header: &Header) -> Out {
    let mut out = Out::default();
    put_text(&mut out, &header.device);
    out.number(header.size_bytes);
    out.number(header.sector_bytes.into());
    put_text(&mut out, header.clock.word());
    put_text(&mut out, &header.taken_from);
    out.number(header.began_unix_ns);
    out
}

pub(super) fn read_header(payload: &[u8]) -> Result<Header, Bad> {
    let mut rest = In::new(payload);
    let device = take_text(&mut rest)?;
    let (size_bytes, sector_bytes) = (rest.number()?, rest.small()?);
    let clock = take_text(&mut rest)?;
    let clock = TraceClock::ALL.iter().copied().find(|one| one.word() == clock);
    Ok(Header {
        device,
        size_bytes,
        sector_bytes,
        clock: clock.ok_or(Bad::OutOfRange)?,
        taken_from: take_text(&mut rest)?,
        began_unix_ns: rest.number()?,
    })
}

fn put_text(out: &mut Out, text: &str) {
    let most = (0..=MOST_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    out.text(&text[..most.unwrap_or(0)]);
}

fn take_text(rest: &mut In<'_>) -> Result<String, Bad> {
    let text = rest.text()?;
    if text.len() <= MOST_TEXT { Ok(text.to_owned()) } else { Err(Bad::TooLong) }
}

pub(super) fn end(totals: &Totals) -> Out {
    let mut out = Out::default();
    let of_flight = totals.in_flight.map(|InFlight { requests, sum, most }| [requests, sum, most]);
    [totals.requests, totals.bytes, totals.lost, totals.left_out]
        .into_iter()
        .chain(of_flight.into_iter().flatten())
        .for_each(|number| out.number(number));
    out
}

pub(super) fn read_end(payload: &[u8]) -> Result<Totals, Bad> {
    let mut rest = In::new(payload);
    let mut next = || rest.number();
    let (requests, bytes, lost, left_out) = (next()?, next()?, next()?, next()?);
    // Earlier versions wrote no more.
    let in_flight = match rest.is_over() {
        true => None,
        false => {
            let (requests, sum, most) = (rest.number()?, rest.number()?, rest.number()?);
            Some(InFlight { requests, sum, most })
        }
    };
    Ok(Totals { requests, bytes, lost, left_out, in_flight })
}

const SAME_LENGTH: u8 = 4;
const ADJOINS: u8 = 8;
const SAME_SOURCE: u8 = 16;

/// What the next request of a block is told against.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    at_ns: u64,
    end: u64,
    length: u32,
    source: u32,
}

impl Before {
    fn follow(&mut self, request: &Request) {
        self.at_ns = request.at_ns;
        // A flush has no place, so that it does not break a sequence.
        if request.op != Op::Fsync {
            self.end = request.end();
            self.length = request.length;
        }
        self.source = request.source;
    }

    /// Appends a request, which is no earlier than the one before it.
    pub(super) fn put(&mut self, out: &mut Out, request: &Request) {
        let op = match request.op {
            Op::Write => 1,
            Op::Fsync => 2,
            Op::Trim => 3,
            _ => 0,
        };
        let is_flush = request.op == Op::Fsync;
        let same_length = is_flush || request.length == self.length;
        let adjoins = is_flush || request.offset == self.end;
        let same_source = request.source == self.source;
        let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        let flags = flag(same_length, SAME_LENGTH)
            | flag(adjoins, ADJOINS)
            | flag(same_source, SAME_SOURCE);
        out.raw(&[op | flags]);
        out.number(request.at_ns.saturating_sub(self.at_ns));
        if !adjoins {
            // Both are below 2⁶².
            out.difference(request.offset, self.end);
        }
        if !same_length {
            out.number(request.length.into());
        }
        if !same_source {
            out.number(request.source.into());
        }
        self.follow(request);
    }

    /// Takes a request off the front.
    pub(super) fn take(&mut self, rest: &mut In<'_>) -> Result<Request, Bad> {
        let &[tag] = rest.raw(1)? else { return Err(Bad::CutOff) };
        let op = match tag & 3 {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Fsync,
            _ => Op::Trim,
        };
        let step_ns = rest.number()?;
        let at_ns = self.at_ns.checked_add(step_ns).ok_or(Bad::OutOfRange)?;
        let mut offset = self.end;
        if tag & ADJOINS == 0 {
            offset = self.end.checked_add_signed(rest.signed()?).ok_or(Bad::OutOfRange)?;
        }
        let mut length = self.length;
        if tag & SAME_LENGTH == 0 {
            length = rest.small()?;
        }
        let mut source = self.source;
        if tag & SAME_SOURCE == 0 {
            source = rest.small()?;
        }
        if op == Op::Fsync {
            (offset, length) = (0, 0);
        }
        let request = Request { at_ns, op, offset, length, source };
        let is_known = tag < 32 && request.is_sound();
        self.follow(&request);
        if is_known { Ok(request) } else { Err(Bad::OutOfRange) }
    }
}
