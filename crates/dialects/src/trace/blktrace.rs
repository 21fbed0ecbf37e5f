//! blktrace's binary files: `struct blk_io_trace` of `linux/blktrace_api.h`, in the byte order of
//! the machine that recorded it.

use super::names::Names;
use super::{Read, Seen, TraceProblem, sectors};
use model::Op;

/// Bytes of a record without what follows it.
pub(super) const RECORD: usize = 48;
/// `BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION`.
const MAGIC: u32 = 0x6561_7407;

const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PC: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
/// `__BLK_TA_ISSUE`: handed to the driver.
const ISSUE: u32 = 7;
/// A control group's number follows, and the action is the same without this bit.
const CGROUP: u32 = 1 << 8;

/// Whether these are the first bytes of one.
pub(super) fn is_one(start: &[u8]) -> bool {
    is_big_endian(start).is_some()
}

fn is_big_endian(start: &[u8]) -> Option<bool> {
    let first: [u8; 4] = start.get(..4)?.try_into().ok()?;
    match (u32::from_le_bytes(first), u32::from_be_bytes(first)) {
        (MAGIC, _) => Some(false),
        (_, MAGIC) => Some(true),
        _ => None,
    }
}

/// The request of a record, and how many bytes follow the record.
pub(super) fn record(
    bytes: &[u8; RECORD],
    names: &mut Names,
) -> Result<(Read, usize), TraceProblem> {
    let is_big = is_big_endian(bytes).ok_or_else(|| {
        TraceProblem::new("the record does not begin with blktrace's magic", "copy the file again")
    })?;
    let word = |at: usize| {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    let long = |at: usize| {
        let (first, second) = (u64::from(word(at)), u64::from(word(at + 4)));
        if is_big { first << 32 | second } else { second << 32 | first }
    };
    let two = [bytes[46], bytes[47]];
    let behind = if is_big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) };
    let (action, device) = (word(28), word(36));
    if action & NOTIFY != 0 || action & 0xffff & !CGROUP != ISSUE {
        return Ok((Read::Nothing, behind.into()));
    }
    let length = u64::from(word(24));
    let op = match action {
        action if action & PC != 0 => None,
        action if action & DISCARD != 0 => Some(Op::Trim),
        action if length == 0 => (action & FLUSH != 0).then_some(Op::Fsync),
        action if action & WRITE != 0 => Some(Op::Write),
        action if action & READ != 0 => Some(Op::Read),
        _ => None,
    };
    let Some(op) = op else { return Ok((Read::LeftOut, behind.into())) };
    // The kernel's own numbers, 12 bits of which are the major's.
    let source = names.number(&format!("{},{}", device >> 20, device & 0xf_ffff))?;
    let at_ns = i128::from(long(8));
    let (offset, length) = match op {
        Op::Fsync => (0, 0),
        _ => (sectors(long(16), "sector")?, length),
    };
    Ok((Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }), behind.into()))
}
