//! Blocks of a trace: a head with length and checksum, and requests as differences.

use super::{Header, InFlight, Request, Totals, TraceClock};
use crate::crc::Crc;
use crate::op::Op;
use crate::varint::{self, BadNumber};

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

pub(super) fn header(header: &Header) -> Vec<u8> {
    let mut payload = Vec::new();
    put_text(&mut payload, &header.device);
    varint::put(&mut payload, header.size_bytes.into());
    varint::put(&mut payload, header.sector_bytes.into());
    put_text(&mut payload, header.clock.word());
    put_text(&mut payload, &header.taken_from);
    varint::put(&mut payload, header.began_unix_ns.into());
    payload
}

pub(super) fn read_header(mut payload: &[u8]) -> Result<Header, BadNumber> {
    let bytes = &mut payload;
    let device = take_text(bytes)?;
    let size_bytes = varint::take_u64(bytes)?;
    let sector_bytes = u32::try_from(varint::take_u64(bytes)?).map_err(|_| BadNumber)?;
    let clock = take_text(bytes)?;
    let clock = TraceClock::ALL.iter().copied().find(|one| one.word() == clock);
    Ok(Header {
        device,
        size_bytes,
        sector_bytes,
        clock: clock.ok_or(BadNumber)?,
        taken_from: take_text(bytes)?,
        began_unix_ns: varint::take_u64(bytes)?,
    })
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let most = (0..=MOST_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let text = &text[..most.unwrap_or(0)];
    varint::put(bytes, text.len() as u128);
    bytes.extend(text.as_bytes());
}

fn take_text(bytes: &mut &[u8]) -> Result<String, BadNumber> {
    let length = usize::try_from(varint::take_u64(bytes)?).map_err(|_| BadNumber)?;
    if length > MOST_TEXT {
        return Err(BadNumber);
    }
    let (text, rest) = bytes.split_at_checked(length).ok_or(BadNumber)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).map_err(|_| BadNumber)
}

pub(super) fn end(totals: &Totals) -> Vec<u8> {
    let mut payload = Vec::new();
    for number in [totals.requests, totals.bytes, totals.lost, totals.left_out] {
        varint::put(&mut payload, number.into());
    }
    if let Some(InFlight { requests, sum, most }) = totals.in_flight {
        for number in [requests, sum, most] {
            varint::put(&mut payload, number.into());
        }
    }
    payload
}

pub(super) fn read_end(mut payload: &[u8]) -> Result<Totals, BadNumber> {
    let bytes = &mut payload;
    let totals = Totals {
        requests: varint::take_u64(bytes)?,
        bytes: varint::take_u64(bytes)?,
        lost: varint::take_u64(bytes)?,
        left_out: varint::take_u64(bytes)?,
        in_flight: None,
    };
    // Earlier versions wrote no more.
    if bytes.is_empty() {
        return Ok(totals);
    }
    let (requests, sum) = (varint::take_u64(bytes)?, varint::take_u64(bytes)?);
    let most = varint::take_u64(bytes)?;
    Ok(Totals { in_flight: Some(InFlight { requests, sum, most }), ..totals })
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
    pub(super) fn put(&mut self, payload: &mut Vec<u8>, request: &Request) {
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
        payload.push(
            op | flag(same_length, SAME_LENGTH)
                | flag(adjoins, ADJOINS)
                | flag(same_source, SAME_SOURCE),
        );
        varint::put(payload, request.at_ns.saturating_sub(self.at_ns).into());
        if !adjoins {
            // Both are below 2⁶².
            varint::put(payload, varint::fold(request.offset as i64 - self.end as i64).into());
        }
        if !same_length {
            varint::put(payload, request.length.into());
        }
        if !same_source {
            varint::put(payload, request.source.into());
        }
        self.follow(request);
    }

    /// Takes a request off the front.
    pub(super) fn take(&mut self, bytes: &mut &[u8]) -> Result<Request, BadNumber> {
        let (&tag, rest) = bytes.split_first().ok_or(BadNumber)?;
        *bytes = rest;
        let op = match tag & 3 {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Fsync,
            _ => Op::Trim,
        };
        let step_ns = varint::take_u64(bytes)?;
        let at_ns = self.at_ns.checked_add(step_ns).ok_or(BadNumber)?;
        let mut offset = self.end;
        if tag & ADJOINS == 0 {
            let step = varint::unfold(varint::take_u64(bytes)?);
            offset = self.end.checked_add_signed(step).ok_or(BadNumber)?;
        }
        let mut length = self.length;
        if tag & SAME_LENGTH == 0 {
            length = u32::try_from(varint::take_u64(bytes)?).map_err(|_| BadNumber)?;
        }
        let mut source = self.source;
        if tag & SAME_SOURCE == 0 {
            source = u32::try_from(varint::take_u64(bytes)?).map_err(|_| BadNumber)?;
        }
        if op == Op::Fsync {
            (offset, length) = (0, 0);
        }
        let request = Request { at_ns, op, offset, length, source };
        let is_known = tag < 32 && request.is_sound();
        self.follow(&request);
        if is_known { Ok(request) } else { Err(BadNumber) }
    }
}
