//! Traces as comma-separated values: MSR Cambridge, SPC, Alibaba, Tencent.

use super::names::Names;
use super::{Read, Seen, TraceDialect, TraceProblem, field, number, seconds_ns, sectors};
use model::Op;

/// The dialect of a line of values, or of a head; `None` where it is none of these.
pub(super) fn dialect_of(line: &str) -> Option<TraceDialect> {
    let values: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let is_decimal = |text: &str| text.parse::<f64>().is_ok();
    let is_letter = |text: &str| ["R", "W", "r", "w"].contains(&text);
    match values.as_slice() {
        ["Timestamp", "Hostname", ..] => Some(TraceDialect::Msr),
        ["device_id", "opcode", ..] => Some(TraceDialect::Alibaba),
        ["Timestamp", "Offset", ..] => Some(TraceDialect::Tencent),
        [time, _, disk, kind, offset, size, _]
            if ["Read", "Write"].contains(kind)
                && [time, disk, offset, size].into_iter().all(|text| is_number(text)) =>
        {
            Some(TraceDialect::Msr)
        }
        [device, kind, offset, length, time]
            if is_letter(kind)
                && [device, offset, length, time].into_iter().all(|text| is_number(text)) =>
        {
            Some(TraceDialect::Alibaba)
        }
        [time, offset, size, "0" | "1", volume]
            if [time, offset, size, volume].into_iter().all(|text| is_number(text)) =>
        {
            Some(TraceDialect::Tencent)
        }
        [unit, address, size, kind, time, ..]
            if is_letter(kind)
                && [unit, address, size].into_iter().all(|text| is_number(text))
                && is_decimal(time) =>
        {
            Some(TraceDialect::Spc)
        }
        _ => None,
    }
}

/// Reads line after line of one of these dialects.
pub(super) struct Csv {
    dialect: TraceDialect,
    is_first: bool,
}

impl Csv {
    pub(super) fn new(dialect: TraceDialect) -> Csv {
        Csv { dialect, is_first: true }
    }

    pub(super) fn line(&mut self, line: &str, names: &mut Names) -> Result<Read, TraceProblem> {
        let is_first = std::mem::take(&mut self.is_first);
        let mut values = line.split(',');
        // A head has letters where a number stands.
        if is_first && line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(Read::Nothing);
        }
        match self.dialect {
            TraceDialect::Msr => msr(&mut values, names),
            TraceDialect::Spc => spc(&mut values, names),
            TraceDialect::Alibaba => alibaba(&mut values, names),
            _ => tencent(&mut values, names),
        }
    }
}

fn direction(value: Option<&str>) -> Result<Op, TraceProblem> {
    match field(value, "kind")? {
        "R" | "r" | "Read" | "0" => Ok(Op::Read),
        "W" | "w" | "Write" | "1" => Ok(Op::Write),
        other => {
            let shown: String = other.chars().take(40).collect();
            Err(TraceProblem::new(
                format!("`{shown}` is neither a read nor a write"),
                "see whether the line is whole, or name the form with --from",
            ))
        }
    }
}

/// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, in Windows' 100 ns and bytes.
fn msr<'a>(
    values: &mut impl Iterator<Item = &'a str>,
    names: &mut Names,
) -> Result<Read, TraceProblem> {
    let at_ns = i128::from(number(values.next(), "timestamp")?) * 100;
    let host = field(values.next(), "host name")?;
    let disk = field(values.next(), "disk number")?;
    let source = names.number(&format!("{host}.{disk}"))?;
    let op = direction(values.next())?;
    let offset = number(values.next(), "offset")?;
    let length = number(values.next(), "size")?;
    // Some copies of these traces lack it.
    let took = values.next().and_then(|text| text.trim().parse::<u64>().ok());
    let took_ns = took.map(|took| i128::from(took) * 100);
    Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns }))
}

/// `ASU,LBA,Size,Opcode,Timestamp`, in blocks of 512 bytes, bytes and seconds from the start.
fn spc<'a>(
    values: &mut impl Iterator<Item = &'a str>,
    names: &mut Names,
) -> Result<Read, TraceProblem> {
    let source = names.number(field(values.next(), "application unit")?)?;
    let offset = sectors(number(values.next(), "block address")?, "block address")?;
    let length = number(values.next(), "size")?;
    let op = direction(values.next())?;
    let at_ns = seconds_ns(values.next(), "timestamp")?;
    Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }))
}

/// `device_id,opcode,offset,length,timestamp`, in bytes and µs.
fn alibaba<'a>(
    values: &mut impl Iterator<Item = &'a str>,
    names: &mut Names,
) -> Result<Read, TraceProblem> {
    let source = names.number(field(values.next(), "device")?)?;
    let op = direction(values.next())?;
    let offset = number(values.next(), "offset")?;
    let length = number(values.next(), "length")?;
    let at_ns = i128::from(number(values.next(), "timestamp")?) * 1_000;
    Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }))
}

/// `Timestamp,Offset,Size,IOType,VolumeID`, in seconds and sectors of 512 bytes.
fn tencent<'a>(
    values: &mut impl Iterator<Item = &'a str>,
    names: &mut Names,
) -> Result<Read, TraceProblem> {
    let at_ns = seconds_ns(values.next(), "timestamp")?;
    let offset = sectors(number(values.next(), "offset")?, "offset")?;
    let length = sectors(number(values.next(), "size")?, "size")?;
    let op = direction(values.next())?;
    let source = names.number(field(values.next(), "volume")?)?;
    Ok(Read::Request(Seen { at_ns, op, offset, length, source, took_ns: None }))
}
