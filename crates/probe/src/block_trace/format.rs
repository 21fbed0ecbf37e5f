//! Where the fields of an event are, as its `format` says.

use super::Seen;

/// Offset and size of a field, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    fn bytes<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]> {
        data.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// As a number in this machine's byte order.
    fn number(&self, data: &[u8]) -> Option<u64> {
        let bytes = self.bytes(data)?;
        match self.size {
            2 => Some(u16::from_ne_bytes(bytes.try_into().ok()?).into()),
            4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
            8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }
}

/// The fields that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    id: u64,
    kind: Field,
    pid: Field,
    sector: Field,
    sectors: Field,
    letters: Field,
}

impl Format {
    pub(super) fn read(text: &str) -> Option<Format> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok())?;
        let field = |name: &str| text.lines().find_map(|line| field(line, name));
        Some(Format {
            id,
            kind: field("common_type")?,
            pid: field("common_pid")?,
            sector: field("sector")?,
            sectors: field("nr_sector")?,
            letters: field("rwbs")?,
        })
    }

    /// An event's request; `None` for an event of another kind.
    pub(super) fn event(&self, at_ns: u64, data: &[u8]) -> Option<Seen> {
        if self.kind.number(data)? != self.id {
            return None;
        }
        let mut letters = [0; 10];
        let told = self.letters.bytes(data)?;
        let count = told.len().min(letters.len());
        letters[..count].copy_from_slice(&told[..count]);
        Some(Seen {
            at_ns,
            pid: u32::try_from(self.pid.number(data)?).ok()?,
            letters,
            sector: self.sector.number(data)?,
            sectors: u32::try_from(self.sectors.number(data)?).ok()?,
            is_back: false,
        })
    }
}

/// `field:sector_t sector; offset:16; size:8; signed:0;`
fn field(line: &str, name: &str) -> Option<Field> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
    let declared = parts.next()?.rsplit(' ').next()?;
    if declared.split('[').next()? != name {
        return None;
    }
    let (mut offset, mut size) = (None, None);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.parse().ok(),
            Some(("size", value)) => size = value.parse().ok(),
            _ => {}
        }
    }
    Some(Field { offset: offset?, size: size? }).filter(|field| field.size <= 4096)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const TEXT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:28;\tsize:10;\tsigned:0;\n";

    /// The bytes of an event.
    pub(crate) fn event(id: u16, sector: u64, sectors: u32, letters: &str) -> Vec<u8> {
        let mut data = vec![0; 40];
        data[..2].copy_from_slice(&id.to_ne_bytes());
        data[4..8].copy_from_slice(&77u32.to_ne_bytes());
        data[16..24].copy_from_slice(&sector.to_ne_bytes());
        data[24..28].copy_from_slice(&sectors.to_ne_bytes());
        data[28..28 + letters.len()].copy_from_slice(letters.as_bytes());
        data
    }

    #[test]
    fn fields_are_where_the_format_says() {
        let format = Format::read(TEXT).expect("a format");
        let seen = format.event(5, &event(2104, 99, 8, "WS")).expect("an event");
        assert_eq!((seen.at_ns, seen.pid, seen.sector, seen.sectors), (5, 77, 99, 8));
        assert!(seen.letters.starts_with(b"WS\0"));
        assert!(format.event(5, &event(2105, 99, 8, "WS")).is_none(), "another kind");
        assert!(format.event(5, &event(2104, 99, 8, "WS")[..30]).is_none(), "too short");
        assert_eq!(Format::read("name: x\nID: 1\nformat:\n"), None);
    }
}
