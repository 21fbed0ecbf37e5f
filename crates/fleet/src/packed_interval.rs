//! What a host did in an interval, made small for the way. Nothing is left out: what arrives is
//! equal to the bit.
//!
//! Each frame stands for itself. All numbers are coded by their odds (`range_coder.rs`), as
//! differences from what is expected: of a worker, what the one before it did, and as many bytes
//! for each request. A histogram is taken for what it is, a list of variable-length integers of
//! which every other one is a count; one that is written otherwise goes as its bytes. Both
//! directions are one piece of code.

use crate::differences::{Before, Model};
use crate::link::{Frame, LinkError};
use crate::range_coder::{Coder, Decoder, Encoder};
use model::Op;
use model::histogram::EncodedHistogram;
use model::sample::{IntervalSample, OpSample, Phase, WorkerOp, WorkerSample};

/// The most numbers of a frame: a host of ten thousand workers has a tenth of it. What has more
/// goes as it is.
const MOST_NUMBERS: usize = 1 << 20;

/// The most workers of a frame, and the most entries of any list of more than numbers.
const MOST_ENTRIES: usize = 1 << 14;

/// What a number is about; each kind has odds of its own.
#[derive(Clone, Copy)]
enum Kind {
    Header,
    Length,
    Name,
    Requests,
    Bytes,
    Errors,
    Limits,
    Distance,
    Count,
    Worker,
    UserTime,
    SystemTime,
    Plain,
}

const KINDS: usize = Kind::Plain as usize + 1;

/// The frame of a sample; `None` where it has to be sent as it is: it is larger than any host's, or
/// has its latencies one by one, of which there may be a million a second, and too little is known
/// of the next one to be worth the time.
pub fn pack(sample: &IntervalSample) -> Option<Frame> {
    if sample.ops.iter().any(|op| !op.raw_latencies.is_empty()) {
        return None;
    }
    let mut writer = Codec::new(Encoder::new());
    writer.sample(&mut sample.clone()).ok()?;
    Frame::from_bytes(writer.coder.finish()).ok()
}

/// The sample of a frame.
///
/// # Errors
/// It is no frame of ours.
pub fn unpack(frame: &Frame) -> Result<IntervalSample, LinkError> {
    let mut reader = Codec::new(Decoder::new(frame.bytes()));
    let mut sample = blank();
    reader.sample(&mut sample)?;
    reader.coder.finish().map(|()| sample)
}

fn blank() -> IntervalSample {
    let (ops, workers) = (Vec::new(), Vec::new());
    IntervalSample {
        stage: 0,
        host: 0,
        interval: 0,
        start_ns: 0,
        length_ns: 0,
        phase: Phase::Load,
        ops,
        workers,
    }
}

const PHASES: [Phase; 3] = [Phase::Load, Phase::Tail, Phase::Drain];

/// Writes what it is given, or replaces it by what it reads.
struct Codec<C> {
    coder: C,
    models: [Model; KINDS],
    before: [Before; KINDS],
    left: usize,
}

impl<C: Coder> Codec<C> {
    fn new(coder: C) -> Codec<C> {
        let models = std::array::from_fn(|_| Model::of_any());
        Codec { coder, models, before: [Before::default(); KINDS], left: MOST_NUMBERS }
    }

    fn number(&mut self, kind: Kind, expected: u64, number: &mut u64) -> Result<(), LinkError> {
        self.left =
            self.left.checked_sub(1).filter(|_| self.coder.is_sound()).ok_or(LinkError::Garbled)?;
        let place = kind as usize;
        let difference = number.wrapping_sub(expected) as i64;
        let difference =
            self.models[place].code(&mut self.coder, &mut self.before[place], difference);
        *number = expected.wrapping_add(difference as u64);
        Ok(())
    }

    fn small(&mut self, kind: Kind, expected: u32, small: &mut u32) -> Result<(), LinkError> {
        let mut number = u64::from(*small);
        self.number(kind, expected.into(), &mut number)?;
        *small = u32::try_from(number).map_err(|_| LinkError::Garbled)?;
        Ok(())
    }

    /// One of these.
    fn word<T: Copy + PartialEq>(
        &mut self,
        all: &[T],
        expected: Option<T>,
        word: &mut T,
    ) -> Result<(), LinkError> {
        let place =
            |word: T| all.iter().position(|other| *other == word).unwrap_or_default() as u64;
        let mut number = place(*word);
        self.number(Kind::Name, expected.map_or(0, place), &mut number)?;
        *word = *usize::try_from(number)
            .ok()
            .and_then(|place| all.get(place))
            .ok_or(LinkError::Garbled)?;
        Ok(())
    }

    /// Gives a list its length, which is `most` at most: its memory is taken before it is known
    /// whether all of it is there.
    fn length<T: Clone>(
        &mut self,
        (expected, most): (usize, usize),
        list: &mut Vec<T>,
        blank: &T,
    ) -> Result<(), LinkError> {
        let mut length = list.len() as u64;
        self.number(Kind::Length, expected as u64, &mut length)?;
        // Each entry has a number at least.
        let most = most.min(self.left);
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= most)
            .ok_or(LinkError::Garbled)?;
        list.resize(length, blank.clone());
        Ok(())
    }

    fn bytes(&mut self, bytes: &mut Vec<u8>) -> Result<(), LinkError> {
        self.length((0, MOST_NUMBERS), bytes, &0)?;
        for byte in bytes {
            let mut number = u64::from(*byte);
            self.number(Kind::Plain, 0, &mut number)?;
            *byte = u8::try_from(number).map_err(|_| LinkError::Garbled)?;
        }
        Ok(())
    }

    fn sample(&mut self, sample: &mut IntervalSample) -> Result<(), LinkError> {
        self.small(Kind::Header, 0, &mut sample.stage)?;
        self.small(Kind::Header, 0, &mut sample.host)?;
        self.small(Kind::Header, 0, &mut sample.interval)?;
        self.number(Kind::Header, 0, &mut sample.start_ns)?;
        self.number(Kind::Header, 0, &mut sample.length_ns)?;
        self.word(&PHASES, None, &mut sample.phase)?;
        let none = || EncodedHistogram(Vec::new());
        let blank_op = OpSample {
            work: 0,
            op: Op::ALL[0],
            ios: 0,
            bytes: 0,
            errors: vec![],
            latency: none(),
            raw_latencies: vec![],
        };
        self.length((0, MOST_ENTRIES), &mut sample.ops, &blank_op)?;
        sample.ops.iter_mut().try_for_each(|op| self.op(op))?;
        let blank_worker =
            WorkerSample { worker: 0, cpu_user_ns: 0, cpu_system_ns: 0, ops: vec![], mark: None };
        self.length((0, MOST_ENTRIES), &mut sample.workers, &blank_worker)?;
        let mut before = blank_worker;
        for (place, worker) in sample.workers.iter_mut().enumerate() {
            self.worker(place as u32, &before, worker)?;
            before.clone_from(worker);
        }
        Ok(())
    }

    fn op(&mut self, op: &mut OpSample) -> Result<(), LinkError> {
        self.small(Kind::Header, 0, &mut op.work)?;
        self.word(&Op::ALL, None, &mut op.op)?;
        self.number(Kind::Requests, 0, &mut op.ios)?;
        self.number(Kind::Bytes, op.ios.wrapping_mul(4096), &mut op.bytes)?;
        self.length((0, MOST_ENTRIES), &mut op.errors, &(0, 0))?;
        for (errno, count) in &mut op.errors {
            let mut number = i64::from(*errno) as u64;
            self.number(Kind::Errors, 0, &mut number)?;
            *errno = i32::try_from(number as i64).map_err(|_| LinkError::Garbled)?;
            self.number(Kind::Errors, 0, count)?;
        }
        self.histogram(&mut op.latency.0)
    }

    /// A byte, and numbers of which the first three are limits and a sum, and the others distances
    /// and counts in turns.
    fn histogram(&mut self, bytes: &mut Vec<u8>) -> Result<(), LinkError> {
        let read = numbers_of(bytes);
        let mut is_list = u64::from(read.is_some());
        self.number(Kind::Length, 1, &mut is_list)?;
        if is_list != 1 {
            return self.bytes(bytes);
        }
        let (mut first, mut numbers) = read.unwrap_or_default();
        self.small(Kind::Header, 0, &mut first)?;
        self.length((0, MOST_NUMBERS), &mut numbers, &0)?;
        for (place, number) in numbers.iter_mut().enumerate() {
            let (kind, expected) = match place {
                0..3 => (Kind::Limits, 0),
                _ if place % 2 == 1 => (Kind::Distance, 1),
                _ => (Kind::Count, 1),
            };
            self.number(kind, expected, number)?;
        }
        bytes.clear();
        bytes.push(u8::try_from(first).map_err(|_| LinkError::Garbled)?);
        numbers.iter().for_each(|number| put(bytes, *number));
        Ok(())
    }

    fn worker(
        &mut self,
        place: u32,
        before: &WorkerSample,
        worker: &mut WorkerSample,
    ) -> Result<(), LinkError> {
        self.small(Kind::Worker, place, &mut worker.worker)?;
        self.number(Kind::UserTime, before.cpu_user_ns, &mut worker.cpu_user_ns)?;
        self.number(Kind::SystemTime, before.cpu_system_ns, &mut worker.cpu_system_ns)?;
        let blank_op = WorkerOp { op: Op::ALL[0], ios: 0, bytes: 0, errors: 0 };
        self.length((before.ops.len(), MOST_ENTRIES), &mut worker.ops, &blank_op)?;
        for (place, op) in worker.ops.iter_mut().enumerate() {
            let before = before.ops.get(place).copied().unwrap_or(blank_op);
            self.word(&Op::ALL, Some(before.op), &mut op.op)?;
            self.number(Kind::Requests, before.ios, &mut op.ios)?;
            let each = before.bytes.checked_div(before.ios).unwrap_or(4096);
            self.number(Kind::Bytes, op.ios.wrapping_mul(each), &mut op.bytes)?;
            self.number(Kind::Errors, before.errors, &mut op.errors)?;
        }
        // How far writes got is only known where reads are checked.
        let mut mark = worker
            .mark
            .as_ref()
            .and_then(|mark| postcard::to_stdvec(mark).ok())
            .unwrap_or_default();
        self.bytes(&mut mark)?;
        worker.mark = match mark.as_slice() {
            [] => None,
            mark => Some(postcard::from_bytes(mark).map_err(|_| LinkError::Garbled)?),
        };
        Ok(())
    }
}

/// The first byte, and the variable-length integers behind it (7 bits a byte, the lowest first);
/// `None` where they are not in their shortest form, which would not come back.
fn numbers_of(bytes: &[u8]) -> Option<(u32, Vec<u64>)> {
    let (first, mut rest) = bytes.split_first()?;
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        let length = rest.iter().position(|byte| *byte < 0x80)? + 1;
        let (own, behind) = rest.split_at(length);
        let number =
            own.iter().rev().fold(0u128, |number, byte| number << 7 | u128::from(byte & 0x7f));
        let is_shortest = length == 1 || own.last() != Some(&0);
        numbers.push(u64::try_from(number).ok().filter(|_| length <= 10 && is_shortest)?);
        rest = behind;
    }
    Some(((*first).into(), numbers))
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Histogram, WriteMark};
    use proptest::prelude::*;

    fn histogram() -> impl Strategy<Value = EncodedHistogram> {
        let latencies = prop::collection::vec(prop_oneof![1_000u64..9_000, any::<u64>()], 0..60);
        let real = latencies.prop_map(|latencies| {
            let mut histogram = Histogram::new();
            latencies.into_iter().for_each(|latency| histogram.record(latency));
            histogram.encode()
        });
        // And what no histogram of ours looks like: a relay need not know.
        prop_oneof![4 => real,
            1 => prop::collection::vec(any::<u8>(), 0..30).prop_map(EncodedHistogram)]
    }

    prop_compose! {
        fn op()(
            work in any::<u32>(), op in prop::sample::select(Op::ALL.to_vec()), ios in any::<u64>(),
                bytes in any::<u64>(),
            errors in prop::collection::vec((any::<i32>(), any::<u64>()), 0..3),
                latency in histogram(),
        ) -> OpSample {
            OpSample { work, op, ios, bytes, errors, latency, raw_latencies: Vec::new() }
        }
    }

    prop_compose! {
        fn worker()(
            worker in 0u32..4, cpu in (any::<u64>(), 0u64..9),
            ops in prop::collection::vec((prop::sample::select(Op::ALL.to_vec()), 0u64..5,
                any::<u64>()), 0..4),
            mark in prop::option::of((any::<u32>(), any::<u32>())),
        ) -> WorkerSample {
            let ops = ops.into_iter()
                .map(|(op, ios, bytes)| WorkerOp { op, ios, bytes, errors: ios / 4 }).collect();
            let mark = mark
                .map(|(sent, base)| WriteMark { sent, base, failed: vec![base],
                ..WriteMark::default() });
            WorkerSample { worker, cpu_user_ns: cpu.0, cpu_system_ns: cpu.1, ops, mark }
        }
    }

    prop_compose! {
        fn sample()(
            numbers in (any::<u32>(), any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>()),
            phase in prop::sample::select(PHASES.to_vec()),
                ops in prop::collection::vec(op(), 0..4),
            workers in prop::collection::vec(worker(), 0..6),
        ) -> IntervalSample {
            let (stage, host, interval, start_ns, length_ns) = numbers;
            IntervalSample { stage, host, interval, start_ns, length_ns, phase, ops, workers }
        }
    }

    proptest! {
        #[test]
        fn what_arrives_is_what_was_sent_to_the_bit(sample in sample()) {
            prop_assert_eq!(unpack(&pack(&sample).expect("small")), Ok(sample));
        }

        #[test]
        fn a_frame_that_somebody_damaged_is_read_or_refused(
            sample in sample(), cut in any::<prop::sample::Index>(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            let mut bytes = pack(&sample).expect("small").bytes().to_vec();
            for (place, byte) in flips {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            bytes.truncate(cut.index(bytes.len() + 1));
            let _ = unpack(&Frame::from_bytes(bytes).expect("short"));
        }

        #[test]
        fn any_bytes_are_taken_without_a_panic(bytes in prop::collection::vec(any::<u8>(),
            0..200)) {
            let _ = unpack(&Frame::from_bytes(bytes).expect("short"));
        }
    }

    #[test]
    fn a_list_that_claims_to_be_endless_is_refused_without_its_memory() {
        let mut writer = Codec::new(Encoder::new());
        // As far as the first list, which claims more entries than a frame has numbers.
        for kind in
            [Kind::Header, Kind::Header, Kind::Header, Kind::Header, Kind::Header, Kind::Name]
        {
            writer.number(kind, 0, &mut 0).expect("room");
        }
        writer.number(Kind::Length, 0, &mut (MOST_ENTRIES as u64 + 1)).expect("room");
        let frame = Frame::from_bytes(writer.coder.finish()).expect("short");
        assert_eq!(unpack(&frame), Err(LinkError::Garbled));
    }

    #[test]
    fn what_is_too_large_and_latencies_one_by_one_go_as_they_are() {
        let worker =
            WorkerSample { worker: 0, cpu_user_ns: 0, cpu_system_ns: 0, ops: vec![], mark: None };
        let of = |workers| IntervalSample { workers: vec![worker.clone(); workers], ..blank() };
        assert!(pack(&of(MOST_ENTRIES)).is_some() && pack(&of(MOST_ENTRIES + 1)).is_none());
        let mut op = OpSample {
            work: 0,
            op: Op::ALL[0],
            ios: 1,
            bytes: 0,
            errors: vec![],
            latency: Histogram::new().encode(),
            raw_latencies: vec![],
        };
        assert!(pack(&IntervalSample { ops: vec![op.clone()], ..blank() }).is_some());
        op.raw_latencies.push(7);
        assert!(pack(&IntervalSample { ops: vec![op], ..blank() }).is_none());
    }

    /// Latencies as a busy disk has them: a body, and a tail over five orders of magnitude.
    fn spread(count: u64) -> EncodedHistogram {
        let mut histogram = Histogram::new();
        let mut rng = model::rng::Rng::new(count);
        for _ in 0..count {
            let order = rng.below(21);
            histogram.record(60_000 + rng.below(1 << order));
        }
        histogram.encode()
    }

    #[test]
    fn a_histogram_takes_less_than_half_of_its_bytes() {
        for (count, most) in [(1_000, 250), (100_000, 800), (10_000_000, 1_700)] {
            let latency = spread(count);
            let before = latency.0.len();
            let op = OpSample {
                work: 0,
                op: Op::ALL[0],
                ios: 0,
                bytes: 0,
                errors: vec![],
                latency,
                raw_latencies: vec![],
            };
            let length =
                pack(&IntervalSample { ops: vec![op], ..blank() }).expect("small").length();
            assert!(
                length <= most && 2 * length < before + before / 2,
                "{count} latencies: {length} of {before} bytes"
            );
        }
    }
}
