//! The forms of libCacheSim: one block trace of VMware as CSV, as text, and as its binary form
//! `oracleGeneral`. Objects are blocks of 512 bytes; instants are whole seconds.
//!
//! A form says what it says and no more. Text has block numbers alone, so its requests are all due
//! at once and one block long. Neither text nor `oracleGeneral` has the kind of a request: all of
//! them are reads.

use super::names::Names;
use super::{Read, Seen, TraceProblem, field, number, sectors, vscsi};
use model::Op;
use model::trace::MOST_LENGTH;

/// Bytes of a record of `oracleGeneral`.
pub(super) const RECORD: usize = 24;
/// Records that are looked at to know the form, which has no head.
const LOOKED_AT: usize = 8;
/// Seconds between two requests that lie beside each other.
const MOST_GAP_S: u32 = 30 * 24 * 3600;
/// Requests until an object is asked for again.
const MOST_REUSE: i64 = 1 << 48;

/// The columns of the CSV, as its head names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    time: usize,
    op: usize,
    size: usize,
    block: usize,
}

impl Columns {
    fn of(line: &str) -> Option<Columns> {
        let names: Vec<&str> = line.split(',').map(str::trim).collect();
        let of = |name: &str| names.iter().position(|other| *other == name);
        Some(Columns { time: of("time")?, op: of("op")?, size: of("size")?, block: of("lbn")? })
    }
}

/// Whether this is the head of the CSV.
pub(super) fn is_head(line: &str) -> bool {
    Columns::of(line).is_some()
}

/// Whether these are two lines of the text: nothing but block numbers.
pub(super) fn is_text(first: &str, second: Option<&str>) -> bool {
    let is_number = |line: &str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    is_number(first) && second.is_some_and(is_number)
}

/// Whether a file begins with records of `oracleGeneral`.
pub(super) fn is_binary(start: &[u8]) -> bool {
    let records: Vec<Record> =
        start.as_chunks::<RECORD>().0.iter().take(LOOKED_AT).map(Record::of).collect();
    let is_sound = |record: &Record| {
        let reuse = record.next_access;
        (1..=MOST_LENGTH).contains(&record.size)
            && (reuse == -1 || reuse == i64::MAX || (1..MOST_REUSE).contains(&reuse))
    };
    let in_order = |pair: &[Record]| {
        pair[1].time_s.checked_sub(pair[0].time_s).is_some_and(|gap_s| gap_s <= MOST_GAP_S)
    };
    records.len() >= 2 && records.iter().all(is_sound) && records.windows(2).all(in_order)
}

/// One record of `oracleGeneral`, little-endian.
struct Record {
    time_s: u32,
    block: u64,
    size: u32,
    /// The number of the next request of the same object; −1 where there is none.
    next_access: i64,
}

impl Record {
    fn of(bytes: &[u8; RECORD]) -> Record {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        Record {
            time_s: word(0),
            block: long(4),
            size: word(12),
            next_access: long(16).cast_signed(),
        }
    }
}

/// One record of `oracleGeneral`.
pub(super) fn record(bytes: &[u8; RECORD], names: &mut Names) -> Result<Read, TraceProblem> {
    let record = Record::of(bytes);
    let at_ns = i128::from(record.time_s) * 1_000_000_000;
    let (offset, length) = (sectors(record.block, "object")?, u64::from(record.size));
    let source = names.number("0")?;
    Ok(Read::Request(Seen { at_ns, op: Op::Read, offset, length, source, took_ns: None }))
}

/// Reads line after line of the CSV or the text.
#[derive(Default)]
pub(super) struct Lines {
    columns: Option<Columns>,
}

impl Lines {
    /// A line of the CSV.
    pub(super) fn csv(&mut self, line: &str, names: &mut Names) -> Result<Read, TraceProblem> {
        let Some(columns) = self.columns else {
            self.columns = Columns::of(line);
            return match self.columns {
                Some(_) => Ok(Read::Nothing),
                None => Err(TraceProblem::new(
                    "the head with `time`, `op`, `size` and `lbn` is missing",
                    "keep it in the file, or name the form with --from",
                )),
            };
        };
        let values: Vec<&str> = line.split(',').collect();
        let value = |at: usize| values.get(at).copied();
        let at_ns = i128::from(number(value(columns.time), "time")?) * 1_000_000_000;
        let command = field(value(columns.op), "op")?;
        let command = u16::from_str_radix(command, 16).map_err(|_| {
            let shown: String = command.chars().take(40).collect();
            TraceProblem::new(
                format!("`{shown}` is no SCSI command in hexadecimal digits"),
                "see whether the line is whole",
            )
        })?;
        let length = number(value(columns.size), "size")?;
        let offset = sectors(number(value(columns.block), "block")?, "block")?;
        let Some(op) = vscsi::kind(command) else { return Ok(Read::LeftOut) };
        let source = names.number("0")?;
        if op == Op::Fsync {
            return Ok(Read::Request(Seen {
                at_ns,
                op,
                offset: 0,
                length: 0,
                source,
                took_ns: None,
            }));
        }
        Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }))
    }

    /// A line of the text.
    pub(super) fn text(line: &str, names: &mut Names) -> Result<Read, TraceProblem> {
        let offset = sectors(number(Some(line), "block number")?, "block number")?;
        let source = names.number("0")?;
        Ok(Read::Request(Seen {
            at_ns: 0,
            op: Op::Read,
            offset,
            length: 512,
            source,
            took_ns: None,
        }))
    }
}
