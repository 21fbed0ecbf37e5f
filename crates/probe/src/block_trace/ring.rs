//! Pages of the kernel's ring buffer, as `trace_pipe_raw` hands them out
//! (Documentation/trace/ring-buffer-design, `events/header_page`, `events/header_event`).

/// The bytes of a page: where its data begin, and how many there are.
pub(super) fn page_bytes(header_page: &str) -> Option<usize> {
    let line = header_page.lines().find(|line| line.contains("data;"))?;
    let value = |name: &str| {
        let part = line.split(';').find_map(|part| part.trim().strip_prefix(name))?;
        part.strip_prefix(':')?.trim().parse::<usize>().ok()
    };
    let (offset, size) = (value("offset")?, value("size")?);
    // A commit of 8 bytes behind the instant: any kernel of 64 bits.
    (offset == HEADER).then(|| offset + size).filter(|bytes| *bytes <= 1 << 20)
}

const HEADER: usize = 16;
/// The bits of the commit that are a length; others are flags.
const LENGTH: u64 = (1 << 20) - 1;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// The events of a page.
pub(super) struct Page<'a> {
    at_ns: u64,
    rest: &'a [u8],
}

pub(super) struct Event<'a> {
    pub(super) at_ns: u64,
    pub(super) data: &'a [u8],
}

impl<'a> Page<'a> {
    /// Of these bytes; without events where they are no page.
    pub(super) fn of(bytes: &'a [u8]) -> Page<'a> {
        let long = |at: usize| {
            let bytes = bytes.get(at..at + 8)?;
            Some(u64::from_ne_bytes(bytes.try_into().ok()?))
        };
        let (at_ns, commit) = (long(0).unwrap_or(0), long(8).unwrap_or(0));
        let data = bytes.get(HEADER..).unwrap_or_default();
        let length = usize::try_from(commit & LENGTH).unwrap_or(0).min(data.len());
        Page { at_ns, rest: &data[..length] }
    }

    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        Some(u32::from_ne_bytes(word.try_into().ok()?))
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Page<'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            let head = self.word()?;
            // The bits of a field begin at the end that comes first in memory.
            let (kind, delta) = if cfg!(target_endian = "little") {
                (head & 31, u64::from(head >> 5))
            } else {
                (head >> 27, u64::from(head & 0x07ff_ffff))
            };
            match kind {
                // To the end of the page, or an event that was taken back.
                PADDING if delta == 0 => return None,
                PADDING => {
                    let length = self.word()? as usize;
                    self.at_ns = self.at_ns.wrapping_add(delta);
                    self.take(length.checked_sub(4)?)?;
                }
                TIME_EXTEND => {
                    let high = u64::from(self.word()?) << 27;
                    self.at_ns = self.at_ns.wrapping_add(high + delta);
                }
                TIME_STAMP => {
                    // Of an absolute instant, the upper five bits are those of the one before.
                    let low = (u64::from(self.word()?) << 27) + delta;
                    self.at_ns = (self.at_ns & (0x1f << 59)) | low;
                }
                _ => {
                    let length = match kind {
                        0 => (self.word()? as usize).checked_sub(4)?.next_multiple_of(4),
                        words => words as usize * 4,
                    };
                    self.at_ns = self.at_ns.wrapping_add(delta);
                    return Some(Event { at_ns: self.at_ns, data: self.take(length)? });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_trace::format::{Format, tests as events};

    const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    fn page(at_ns: u64, data: &[u8]) -> Vec<u8> {
        let mut page = at_ns.to_ne_bytes().to_vec();
        // A flag beside the length says that events were lost before.
        page.extend((data.len() as u64 | 1 << 31).to_ne_bytes());
        page.extend(data);
        page.resize(4096, 0xff);
        page
    }

    fn head(kind: u32, delta: u32) -> [u8; 4] {
        (delta << 5 | kind).to_ne_bytes()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn events_have_the_instants_of_their_page_and_their_differences() {
        assert_eq!(page_bytes(HEADER_PAGE), Some(4096));
        let event = |sector| events::event(2104, sector, 8, "R");
        let mut data = Vec::new();
        data.extend(head(10, 5));
        data.extend(event(1));
        // One that was taken back.
        data.extend(head(PADDING, 3));
        data.extend(12u32.to_ne_bytes());
        data.extend([0; 8]);
        data.extend(head(TIME_EXTEND, 7));
        data.extend(2u32.to_ne_bytes());
        data.extend(head(0, 1));
        data.extend(44u32.to_ne_bytes());
        data.extend(event(2));
        data.extend(head(TIME_STAMP, 9));
        data.extend(100u32.to_ne_bytes());
        data.extend(head(10, 0));
        data.extend(event(3));
        data.extend(head(PADDING, 0));
        data.extend([0xee; 64]);
        let format = Format::read(events::TEXT).expect("a format");
        let page = page(1_000, &data);
        let seen: Vec<(u64, u64)> = Page::of(&page)
            .filter_map(|event| format.event(event.at_ns, event.data))
            .map(|seen| (seen.at_ns, seen.sector))
            .collect();
        let extended = 1_000 + 5 + 3 + (2 << 27) + 7 + 1;
        assert_eq!(seen, [(1_005, 1), (extended, 2), ((100 << 27) + 9, 3)]);
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm() {
        let mut rng = model::rng::Rng::new(5);
        let format = Format::read(events::TEXT).expect("a format");
        for length in 0..3_000usize {
            let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            let seen = Page::of(&bytes).filter_map(|event| format.event(event.at_ns, event.data));
            assert!(seen.count() <= length / 4);
        }
    }
}
