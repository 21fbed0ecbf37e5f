//! VMware's vscsi traces: records of 32 bytes in version 1, of 40 in version 2, little-endian.

use super::names::Names;
use super::{Read, Seen, TraceProblem, sectors};
use model::Op;

/// Bytes of a record, by version.
pub(super) fn record_bytes(version: u8) -> usize {
    if version == 1 { 32 } else { 40 }
}

/// The version that the first two records tell: it stands in the upper byte of `ver`.
pub(super) fn version(start: &[u8]) -> Option<u8> {
    let says = |at: usize, version: u8| {
        let known = start.get(at..at + 2)?;
        Some(known[1] == version)
    };
    let second = |version: u8, at: usize| says(record_bytes(version) + at, version);
    let is_sound = |version: u8, cmd_at: usize| {
        let command = start.get(cmd_at..cmd_at + 2)?;
        Some(command[1] == 0 && kind(u16::from(command[0])).is_some() && version > 0)
    };
    if says(2, 2)? && second(2, 2)? && is_sound(2, 0)? {
        return Some(2);
    }
    (says(14, 1)? && second(1, 14)? && is_sound(1, 12)?).then_some(1)
}

/// What a SCSI command does; `None` for one that neither reads, writes, flushes nor trims.
pub(super) fn kind(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Fsync),
        _ => None,
    }
}

/// One record.
pub(super) fn record(bytes: &[u8], version: u8, names: &mut Names) -> Result<Read, TraceProblem> {
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let (length, command, told, block, time_us) = match version {
        1 => (word(4), short(12), short(14), long(16), long(24)),
        _ => (word(8), short(0), short(2), long(16), long(24)),
    };
    if told >> 8 != u16::from(version) {
        return Err(TraceProblem::new(
            format!("the record is not one of version {version}"),
            "copy the file again",
        ));
    }
    let Some(op) = kind(command) else { return Ok(Read::LeftOut) };
    let source = names.number("0")?;
    let at_ns = i128::from(time_us) * 1_000;
    if op == Op::Fsync {
        return Ok(Read::Request(Seen { at_ns, op, offset: 0, length: 0, source, took_ns: None }));
    }
    let offset = sectors(block, "block")?;
    Ok(Read::Request(Seen { at_ns, op, offset, length: length.into(), source, took_ns: None }))
}
