//! What a host's kernel counts, made small for the way: names once, then what changed. Nothing is
//! left out: what arrives is equal to the bit.
//!
//! A stream of samples has a dictionary of rows, each a layer, a name and its metrics, which grows
//! as they first come. Of every value, only the difference from the sample before is sent, in the
//! kernel's own steps (a clock tick, a sector).
//!
//! A frame is whole numbers (`model::columns`), signed ones folded: the stream, the frame's number
//! in it, stage, host and number of the sample, when it began (from the end of the one before) and
//! how long it was (from the length of the one before), notes, 0 where the rows are those of the
//! frame before or else their list, and to its end the differences. Each is as many steps, other
//! than 0. Behind a 0 stands how many values did not change, or another 0 and a difference that is
//! no whole number of steps.

use crate::link::{Frame, LinkError};
use crate::steps::step;
use model::CounterSample;
use model::columns::{Bad, In, Out, Zeros, varint};
use model::counters::{Entry, Layer, Metric};
use std::collections::HashMap;

/// The most rows that a stream may have, and the most values of a sample: a host of 10,000 disks
/// and 500 CPUs has two thirds of both.
const MOST_ROWS: usize = 1 << 16;
/// See [`MOST_ROWS`].
const MOST_VALUES: usize = 1 << 18;
/// The most bytes of all names of a stream together.
const MOST_NAMES: usize = 1 << 22;
/// A dictionary is begun anew when it has more rows than are in use, and so many beside: threads
/// come and go.
const IDLE_ROWS: usize = 1024;

/// A layer, a name and its metrics, and what they were the last time.
#[derive(Clone, Debug)]
struct Row {
    layer: Layer,
    name: String,
    metrics: Vec<Metric>,
    last: Vec<u64>,
}

impl Row {
    fn is_of(&self, entry: &Entry) -> bool {
        let metrics = || entry.values.iter().map(|(metric, _)| metric);
        self.layer == entry.layer && self.name == entry.name && self.metrics.iter().eq(metrics())
    }
}

/// What both ends of a stream know.
#[derive(Clone, Debug, Default)]
struct Book {
    rows: Vec<Row>,
    names: usize,
    /// The rows of the last sample, in its order.
    order: Vec<u32>,
    end_ns: u64,
    length_ns: u64,
    /// The number of the next frame.
    next: u64,
}

impl Book {
    /// Whether another row still has a place.
    fn has_room(&self, name: &str) -> bool {
        self.rows.len() < MOST_ROWS && self.names + name.len() <= MOST_NAMES
    }

    fn add(&mut self, layer: Layer, name: String, metrics: Vec<Metric>) -> u32 {
        self.names += name.len();
        let last = vec![0; metrics.len()];
        self.rows.push(Row { layer, name, metrics, last });
        (self.rows.len() - 1) as u32
    }

    fn advance(&mut self, start_ns: u64, length_ns: u64) {
        (self.end_ns, self.length_ns) = (start_ns.wrapping_add(length_ns), length_ns);
        self.next += 1;
    }
}

/// Makes samples small, one after the other.
#[derive(Debug)]
pub struct Packer {
    stream: u64,
    book: Book,
    /// The rows of a name.
    by_name: HashMap<String, Vec<u32>>,
}

impl Packer {
    /// A stream of this number, which is greater than those of the same sender before it.
    pub fn new(stream: u64) -> Packer {
        Packer { stream, book: Book::default(), by_name: HashMap::new() }
    }

    /// The frame of the next sample; `None` where it is larger than any host's, and has to be sent
    /// as it is.
    pub fn pack(&mut self, sample: &CounterSample) -> Option<Frame> {
        let values: usize = sample.entries.iter().map(|entry| entry.values.len()).sum();
        let names: usize = sample.entries.iter().map(|entry| entry.name.len()).sum();
        if values > MOST_VALUES || sample.entries.len() > MOST_ROWS / 2 || names > MOST_NAMES / 2 {
            return None;
        }
        let is_full = self.book.names > MOST_NAMES / 2;
        if is_full || self.book.rows.len() > 2 * sample.entries.len() + IDLE_ROWS {
            // Frame 0 of the same stream begins it anew, too.
            (self.book, self.by_name) = (Book::default(), HashMap::new());
        }
        let mut out = Out::default();
        for number in [
            self.stream,
            self.book.next,
            sample.stage.into(),
            sample.host.into(),
            sample.number.into(),
        ] {
            out.number(number);
        }
        out.difference(sample.start_ns, self.book.end_ns);
        out.difference(sample.length_ns, self.book.length_ns);
        out.count(sample.notes.len());
        sample.notes.iter().for_each(|note| out.text(note));
        self.put_rows(&mut out, &sample.entries);
        self.put_values(&mut out, &sample.entries);
        self.book.advance(sample.start_ns, sample.length_ns);
        let frame = Frame::from_bytes(out.into_bytes()).ok();
        if frame.is_none() {
            // The other end does not hear of it, so it does not count.
            (self.book, self.by_name) = (Book::default(), HashMap::new());
        }
        frame
    }

    fn put_rows(&mut self, out: &mut Out, entries: &[Entry]) {
        let rows = &self.book.rows;
        let same = |(row, entry): (&u32, &Entry)| rows[*row as usize].is_of(entry);
        if self.book.next > 0
            && self.book.order.len() == entries.len()
            && self.book.order.iter().zip(entries).all(same)
        {
            return out.number(0);
        }
        out.number(1);
        out.count(entries.len());
        self.book.order.clear();
        for entry in entries {
            let known = self.by_name.get(&entry.name).into_iter().flatten();
            let known = known.copied().find(|row| self.book.rows[*row as usize].is_of(entry));
            out.number(known.map_or(0, |row| u64::from(row) + 1));
            let row = known.unwrap_or_else(|| self.define(out, entry));
            self.book.order.push(row);
        }
    }

    /// Writes a row that is new, and keeps it.
    fn define(&mut self, out: &mut Out, entry: &Entry) -> u32 {
        out.number(entry.layer as u64);
        out.text(&entry.name);
        out.count(entry.values.len());
        let metrics: Vec<Metric> = entry.values.iter().map(|(metric, _)| *metric).collect();
        metrics.iter().for_each(|metric| out.number(*metric as u64));
        let row = self.book.add(entry.layer, entry.name.clone(), metrics);
        self.by_name.entry(entry.name.clone()).or_default().push(row);
        row
    }

    fn put_values(&mut self, out: &mut Out, entries: &[Entry]) {
        let mut unchanged = Zeros::default();
        for (entry, row) in entries.iter().zip(&self.book.order) {
            let row = &mut self.book.rows[*row as usize];
            for ((metric, value), last) in entry.values.iter().zip(&mut row.last) {
                let difference = value.wrapping_sub(*last) as i64;
                put_difference(out, &mut unchanged, difference, step(entry.layer, *metric));
                *last = *value;
            }
        }
        unchanged.end(out);
    }
}

/// Writes by how much a value changed: in steps, of which only a change has another number than 0.
fn put_difference(out: &mut Out, unchanged: &mut Zeros, difference: i64, step: i64) {
    if difference % step == 0 {
        return unchanged.put(out, varint::fold(difference / step));
    }
    unchanged.end(out);
    out.raw(&[0, 0]);
    out.signed(difference);
}

/// By how much the next value changed.
fn take_difference(rest: &mut In<'_>, unchanged: &mut Zeros, step: i64) -> Result<i64, Bad> {
    match unchanged.take(rest)? {
        Some(folded) => Ok(varint::unfold(folded).wrapping_mul(step)),
        None => rest.signed(),
    }
}

/// Reads what a [`Packer`] wrote, whoever that was.
#[derive(Debug, Default)]
pub struct Unpacker {
    stream: Option<u64>,
    book: Book,
}

impl Unpacker {
    /// The sample of the next frame; `None` for one of a stream that was over when this one began,
    /// which comes too late for anybody.
    ///
    /// # Errors
    /// It is no frame of ours, or not the one that follows. Nothing that comes behind it can be
    /// read.
    pub fn unpack(&mut self, frame: &Frame) -> Result<Option<CounterSample>, LinkError> {
        let mut rest = In::new(frame.bytes());
        let (stream, number) = (rest.number()?, rest.number()?);
        match self.stream {
            Some(current) if stream < current => return Ok(None),
            Some(current) if stream == current && number == self.book.next => {}
            _ if number == 0 => (self.stream, self.book) = (Some(stream), Book::default()),
            _ => return Err(LinkError::Garbled),
        }
        let sample = self.sample(&mut rest)?;
        rest.end()?;
        Ok(Some(sample))
    }

    fn sample(&mut self, rest: &mut In<'_>) -> Result<CounterSample, LinkError> {
        let (stage, host, number) = (rest.small()?, rest.small()?, rest.small()?);
        let start_ns = rest.difference(self.book.end_ns)?;
        let length_ns = rest.difference(self.book.length_ns)?;
        let mut notes = Vec::new();
        for _ in 0..rest.number()? {
            notes.push(rest.text()?.to_owned());
        }
        match rest.number()? {
            0 if self.book.next > 0 => {}
            1 => self.rows(rest)?,
            _ => return Err(LinkError::Garbled),
        }
        let entries = self.values(rest)?;
        self.book.advance(start_ns, length_ns);
        Ok(CounterSample { stage, host, number, start_ns, length_ns, entries, notes })
    }

    fn rows(&mut self, rest: &mut In<'_>) -> Result<(), LinkError> {
        let mut values = 0;
        self.book.order.clear();
        for _ in 0..rest.number()? {
            let row = match rest.number()?.checked_sub(1) {
                None => self.define(rest)?,
                Some(row) => u32::try_from(row).map_err(|_| LinkError::Garbled)?,
            };
            values += self.book.rows.get(row as usize).ok_or(LinkError::Garbled)?.metrics.len();
            if values > MOST_VALUES || self.book.order.len() >= MOST_ROWS {
                return Err(LinkError::Garbled);
            }
            self.book.order.push(row);
        }
        Ok(())
    }

    fn define(&mut self, rest: &mut In<'_>) -> Result<u32, LinkError> {
        let layer: usize = rest.small()?;
        let layer = *Layer::ALL.get(layer).ok_or(LinkError::Garbled)?;
        let name = rest.text()?.to_owned();
        let mut metrics = Vec::new();
        for _ in 0..rest.number()? {
            metrics.push(*Metric::ALL.get(rest.small::<usize>()?).ok_or(LinkError::Garbled)?);
            if metrics.len() > Metric::ALL.len() {
                return Err(LinkError::Garbled);
            }
        }
        if !self.book.has_room(&name) {
            return Err(LinkError::Garbled);
        }
        Ok(self.book.add(layer, name, metrics))
    }

    fn values(&mut self, rest: &mut In<'_>) -> Result<Vec<Entry>, LinkError> {
        let Book { rows, order, .. } = &mut self.book;
        let mut unchanged = Zeros::default();
        let mut entries = Vec::with_capacity(order.len());
        for row in order.iter() {
            let row = &mut rows[*row as usize];
            for (metric, last) in row.metrics.iter().zip(&mut row.last) {
                let difference = take_difference(rest, &mut unchanged, step(row.layer, *metric))?;
                *last = last.wrapping_add(difference as u64);
            }
            let values = row.metrics.iter().copied().zip(row.last.iter().copied()).collect();
            entries.push(Entry { layer: row.layer, name: row.name.clone(), values });
        }
        if unchanged.is_over() { Ok(entries) } else { Err(LinkError::Garbled) }
    }
}

impl From<Bad> for LinkError {
    fn from(_: Bad) -> LinkError {
        LinkError::Garbled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> impl Strategy<Value = Entry> {
        let metric = || prop::sample::select(Metric::ALL.to_vec());
        // Close ones, round ones and any.
        let value = prop_oneof![0u64..5, (0u64..50).prop_map(|n| n * 10_000_000), any::<u64>()];
        let values = prop::collection::vec((metric(), value), 0..6);
        (prop::sample::select(Layer::ALL.to_vec()), "[a-c]", values)
            .prop_map(|(layer, name, values)| Entry { layer, name, values })
    }

    fn sample() -> impl Strategy<Value = CounterSample> {
        let entries = prop::collection::vec(entry(), 0..12);
        let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>());
        (numbers, entries, prop::collection::vec(".{0,9}", 0..3)).prop_map(
            |(numbers, entries, notes)| {
                let (stage, host, number, start_ns, length_ns) = numbers;
                CounterSample { stage, host, number, start_ns, length_ns, entries, notes }
            },
        )
    }

    /// The same rows with other values: what really comes.
    fn again(sample: &CounterSample, add: u64) -> CounterSample {
        let mut next = sample.clone();
        for (place, (_, value)) in
            next.entries.iter_mut().flat_map(|entry| &mut entry.values).enumerate()
        {
            *value = value.wrapping_add(if place % 3 == 0 { add } else { 0 });
        }
        next
    }

    proptest! {
        #[test]
        fn what_arrives_is_what_was_sent_to_the_bit(
            samples in prop::collection::vec((sample(), any::<u64>()), 1..5), streams in 1u64..3,
        ) {
            let mut unpacker = Unpacker::default();
            for stream in 0..streams {
                let mut packer = Packer::new(stream);
                for (sample, add) in &samples {
                    for sample in [sample.clone(), again(sample, *add), again(sample, 20_000_000)] {
                        let frame = packer.pack(&sample).expect("small");
                        prop_assert_eq!(unpacker.unpack(&frame), Ok(Some(sample)));
                    }
                }
            }
        }

        #[test]
        fn a_frame_that_somebody_damaged_is_read_or_refused(
            samples in prop::collection::vec(sample(), 1..4), which: prop::sample::Index,
                cut: prop::sample::Index,
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let mut packer = Packer::new(0);
            let mut frames: Vec<Vec<u8>> =
                samples.iter().map(|sample| packer.pack(sample).expect("small").bytes().to_vec())
                    .collect();
            let place = which.index(frames.len());
            let frame = &mut frames[place];
            for (at, byte) in flips {
                let at = at.index(frame.len());
                frame[at] = byte;
            }
            frame.truncate(cut.index(frame.len() + 1));
            let mut unpacker = Unpacker::default();
            for frame in frames {
                if unpacker.unpack(&Frame::from_bytes(frame).expect("short")).is_err() {
                    break;
                }
            }
        }

        #[test]
        fn any_bytes_are_taken_without_a_panic(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..4),
        ) {
            let mut unpacker = Unpacker::default();
            for mut frame in frames {
                // Far enough for the reader to be in the middle of a stream.
                frame.splice(0..0, [0, 0]);
                let _ = unpacker.unpack(&Frame::from_bytes(frame).expect("short"));
            }
        }
    }

    fn one(name: &str, value: u64) -> CounterSample {
        let values = vec![(Metric::Reads, value)];
        CounterSample {
            entries: vec![Entry { layer: Layer::Block, name: name.into(), values }],
            ..Default::default()
        }
    }

    #[test]
    fn a_name_is_sent_once_and_what_did_not_change_not_at_all() {
        let mut packer = Packer::new(0);
        let lengths: Vec<usize> = [1, 1, 2]
            .iter()
            .map(|value| {
                packer.pack(&one("a name of some length", *value)).expect("small").length()
            })
            .collect();
        assert!(lengths[0] > 30 && lengths[1] <= 12 && lengths[2] <= 12, "{lengths:?}");
    }

    #[test]
    fn a_stream_that_is_over_is_not_mixed_into_the_next_and_a_gap_is_refused() {
        let (mut old, mut new) = (Packer::new(1), Packer::new(2));
        let (first, late) = (old.pack(&one("sda", 1)), old.pack(&one("sda", 2)));
        let (next, lost, after) =
            (new.pack(&one("sdb", 7)), new.pack(&one("sdb", 8)), new.pack(&one("sdb", 9)));
        let mut unpacker = Unpacker::default();
        let mut unpack = |frame: Option<Frame>| unpacker.unpack(&frame.expect("small"));
        assert_eq!(unpack(first), Ok(Some(one("sda", 1))));
        assert_eq!(unpack(next), Ok(Some(one("sdb", 7))));
        assert_eq!(unpack(late), Ok(None));
        assert_eq!(unpack(lost.clone()), Ok(Some(one("sdb", 8))));
        assert_eq!(unpack(lost), Err(LinkError::Garbled), "twice");
        assert_eq!(unpack(after), Ok(Some(one("sdb", 9))));
    }

    #[test]
    fn names_that_come_and_go_fill_no_dictionary() {
        let (mut packer, mut unpacker) = (Packer::new(0), Unpacker::default());
        for number in 0..3 * IDLE_ROWS as u64 {
            let sample = one(&number.to_string(), number);
            assert_eq!(unpacker.unpack(&packer.pack(&sample).expect("small")), Ok(Some(sample)));
            assert!(unpacker.book.rows.len() <= IDLE_ROWS + 3);
        }
    }

    #[test]
    fn a_dictionary_has_an_end_and_so_has_a_sample() {
        let header = [0, 0, 0, 0, 0, 0, 0, 0, 1];
        let read = |rows: usize, first: &[u8], again: &[u8], values: usize| {
            let mut out = Out::default();
            out.raw(&header);
            out.count(rows);
            out.raw(first);
            out.raw(&again.repeat(rows - 1));
            // No value changed.
            if values > 0 {
                out.number(0);
                out.count(values);
            }
            Unpacker::default()
                .unpack(&Frame::from_bytes(out.into_bytes()).expect("short"))
                .map(|sample| sample.is_some())
        };
        // A row without a name and of one metric, and then itself again and again.
        let (row, itself) = ([0, 0, 0, 1, 0], [1]);
        assert_eq!(read(MOST_ROWS, &row, &itself, MOST_ROWS), Ok(true));
        assert_eq!(read(MOST_ROWS + 1, &row, &itself, MOST_ROWS + 1), Err(LinkError::Garbled));
        assert_eq!(read(1, &row, &itself, 2), Err(LinkError::Garbled), "more than there are");
        // Rows of nothing, each a new one.
        assert_eq!(read(MOST_ROWS, &[0; 4], &[0; 4], 0), Ok(true));
        assert_eq!(read(MOST_ROWS + 1, &[0; 4], &[0; 4], 0), Err(LinkError::Garbled));
        // A row of eight metrics.
        let (row, most) = ([0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0], MOST_VALUES / 8);
        assert_eq!(read(most, &row, &itself, 8 * most), Ok(true));
        assert_eq!(read(most + 1, &row, &itself, 8 * (most + 1)), Err(LinkError::Garbled));
        let large = CounterSample {
            entries: vec![one("x", 1).entries.remove(0); MOST_ROWS],
            ..Default::default()
        };
        assert_eq!(Packer::new(0).pack(&large).map(|frame| frame.length()), None);
    }
}
