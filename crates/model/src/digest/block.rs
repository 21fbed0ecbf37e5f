//! The sums of samples that were recorded one after the other: what a run file keeps beside them,
//! so that nobody has to add them up again.

use super::coded::{SumBytes, encode};
use super::frame::{Frame, Moment};
use super::span::Span;
use super::sums::{Sums, Unfit};
use crate::plan::Plan;
use crate::sample::IntervalSample;

/// Hosts that are slower to tell than the first one come so many intervals later at most, or a
/// block ends for it.
const BEFORE: u32 = 64;
/// Intervals of a block from its first to its last: only numbers that nobody counted up to come to
/// more.
const MOST: u32 = 1 << 17;
/// A run file keeps numbers in 63 bits.
const LARGEST: u64 = i64::MAX as u64;

/// The sums of some samples of one stage. Which of them will count is not known yet (a host may be
/// lost, the stage may settle), so all of them count here; a reader leaves out what does not, by
/// whole blocks.
#[derive(Clone, Debug)]
pub struct Block {
    frame: Frame,
    sums: Sums,
}

impl Block {
    /// One of a stage with nothing in it.
    pub fn new(plan: &Plan, stage: u32) -> Block {
        Block { frame: Frame::growing(plan, stage), sums: Sums::default() }
    }

    /// Whether this sample's interval is near enough to the others; else a new block has to begin.
    pub fn reaches(&self, sample: &IntervalSample) -> bool {
        let Some(first) = self.frame.moments.first().filter(|_| sample.phase.counts()) else {
            return true;
        };
        sample.interval.checked_sub(first.interval).is_some_and(|distance| distance < MOST)
    }

    /// Takes in a sample, each host's in the order of their intervals.
    ///
    /// # Errors
    /// It does not fit the others, contradicts itself or is [out of reach](Self::reaches). The
    /// block is of no use then.
    pub fn take(&mut self, sample: &IntervalSample) -> Result<(), Unfit> {
        if !self.reaches(sample) {
            return Err(Unfit::Stray);
        }
        if !has_room(sample) {
            return Err(Unfit::Huge);
        }
        let spans = self.frame.spans.entry(sample.host).or_default();
        if spans.last().is_some_and(|last| last.interval >= sample.interval) {
            return Err(Unfit::Twice);
        }
        let (start_ns, length_ns) = (sample.start_ns, sample.length_ns);
        spans.push(Span { start_ns, length_ns, interval: sample.interval, phase: sample.phase });
        if sample.phase.counts() {
            self.reach(sample.interval);
        }
        let place = self.frame.place(sample.host, sample.interval).ok_or(Unfit::Stray)?;
        self.sums.sample(&self.frame, place, sample)
    }

    /// Has a moment for every interval up to this one; that of a moment is its number alone.
    fn reach(&mut self, interval: u32) {
        let moments = &mut self.frame.moments;
        let next = moments
            .last()
            .map_or(interval.saturating_sub(BEFORE), |last| last.interval.saturating_add(1));
        let empty = |interval| Moment { interval, start_ns: 0, length_ns: 0 };
        if moments.last().is_none_or(|last| last.interval < interval) {
            moments.extend((next..=interval).map(empty));
        }
    }

    /// The bytes for a run file.
    pub fn encode(mut self) -> SumBytes {
        self.sums.close();
        let base = self.frame.moments.first().map_or(0, |moment| moment.interval);
        encode(base, &self.frame.spans, &self.sums)
    }
}

/// Whether all numbers will come back from a run file as they are.
fn has_room(sample: &IntervalSample) -> bool {
    let fits = |value: u64| value <= LARGEST;
    let workers = sample.workers.iter().all(|worker| {
        fits(worker.cpu_user_ns)
            && fits(worker.cpu_system_ns)
            && worker.ops.iter().all(|op| fits(op.ios))
    });
    let op = |op: &crate::sample::OpSample| {
        fits(op.ios) && fits(op.bytes) && op.errors.iter().all(|(_, n)| fits(*n))
    };
    workers && fits(sample.start_ns) && fits(sample.length_ns) && sample.ops.iter().all(op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::digest::{Held, Spans};
    use crate::histogram::Histogram;
    use crate::sample::{OpSample, Phase, WorkerOp, WorkerSample};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn sample(host: u32, interval: u32, values: &[u64]) -> IntervalSample {
        let mut latency = Histogram::new();
        values.iter().for_each(|value| latency.record(*value));
        let (ios, latency) = (latency.count(), latency.encode());
        let errors = vec![(5, 2), (-1, 1)];
        let op = OpSample { ios, bytes: ios * 512, errors, latency, ..OpSample::of(Op::Read) };
        let ops = vec![WorkerOp { op: Op::Read, ios, bytes: 0, errors: 0 }];
        let worker =
            WorkerSample { worker: 0, cpu_user_ns: 3, cpu_system_ns: 400, ops, mark: None };
        let start_ns = u64::from(interval) * 1_000 + 7;
        let (stage, workers, phase) = (0, vec![worker], Phase::Load);
        IntervalSample {
            stage,
            host,
            interval,
            start_ns,
            length_ns: 1_000,
            phase,
            ops: vec![op],
            workers,
        }
    }

    /// A block of no plan: which worker does what is unknown.
    fn block(samples: &[IntervalSample]) -> Block {
        let mut block = Block { frame: Frame::default(), sums: Sums::default() };
        samples.iter().for_each(|sample| block.take(sample).expect("a good sample"));
        block
    }

    fn samples() -> Vec<IntervalSample> {
        let sample =
            |number: u32| sample(number % 2, number / 2, &[u64::from(number) * 100, 70_000]);
        (6..16).map(sample).collect()
    }

    /// What comes of bytes that a run file may hold.
    fn taken(bytes: &SumBytes) -> Result<(BTreeMap<u32, Spans>, Sums), Unfit> {
        let (mut spans, mut sums) = (BTreeMap::new(), Sums::default());
        let held = Held::take(&bytes.spans, &mut spans)?;
        let mut frame = block(&[]).frame;
        frame.spans = spans;
        frame.moments =
            (0..20).map(|interval| Moment { interval, start_ns: 0, length_ns: 0 }).collect();
        sums.take_block(&frame, &held, true, &bytes.sums, Some(&bytes.times))?;
        Ok((frame.spans, sums))
    }

    #[test]
    fn a_block_comes_back_as_it_was() {
        let mut block = block(&samples());
        block.sums.close();
        let (spans, sums) = taken(&block.clone().encode()).expect("own bytes");
        assert_eq!((spans, sums), (block.frame.spans, block.sums));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let mut block = block(&samples());
        assert_eq!(block.clone().take(&sample(0, 7, &[1])), Err(Unfit::Twice));
        assert_eq!(block.clone().take(&sample(0, MOST + 9, &[1])), Err(Unfit::Stray));
        let mut huge = sample(0, 9, &[1]);
        huge.workers[0].ops[0].ios = u64::MAX;
        assert_eq!(block.clone().take(&huge), Err(Unfit::Huge));
        let mut wrong = sample(0, 9, &[1]);
        wrong.ops[0].ios = 2;
        assert_eq!(block.take(&wrong), Err(Unfit::Histogram));
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_refused_or_taken_and_never_panic(
            at in 0usize..400, byte in any::<u8>(), which in 0usize..3,
                cut in prop::option::of(0usize..400),
        ) {
            let mut bytes = block(&samples()).encode();
            let part = [&mut bytes.spans, &mut bytes.sums,
                &mut bytes.times].into_iter().nth(which).expect("three");
            let at = at % part.len();
            part[at] = byte;
            part.truncate(cut.unwrap_or(usize::MAX));
            let _ = taken(&bytes);
        }
    }
}
