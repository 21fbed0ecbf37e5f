//! The samples of one host in one block as bytes, and back to the bit.
//!
//! Samples that have the same operations, errnos and workers have one shape, and stand in columns
//! together. `docs/reference/run-file.md` has the layout.

use super::histograms;
use crate::file::values::Problem;
use model::columns::varint::{fold, unfold};
use model::columns::{Bad, In, Out};
use model::sample::{IntervalSample, OpSample, Phase, WorkerOp, WorkerSample};
use model::{Op, histogram::EncodedHistogram};

const VERSION: u8 = 1;
/// More samples than a piece has.
const MOST_SAMPLES: usize = 512;
/// The most numbers of a piece: it is held whole while it is read, and a column of one number over
/// and over takes two bytes.
const MOST_VALUES: usize = 1 << 22;
const PHASES: [Phase; 3] = [Phase::Load, Phase::Tail, Phase::Drain];

/// What samples have in common besides their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    /// Work, operation and the errnos of those that failed.
    ops: Vec<(u32, Op, Vec<i32>)>,
    /// Number, and the operations.
    workers: Vec<(u32, Vec<Op>)>,
}

impl Shape {
    fn of(sample: &IntervalSample) -> Shape {
        let op =
            |op: &OpSample| (op.work, op.op, op.errors.iter().map(|(errno, _)| *errno).collect());
        let worker =
            |worker: &WorkerSample| (worker.worker, worker.ops.iter().map(|op| op.op).collect());
        Shape {
            ops: sample.ops.iter().map(op).collect(),
            workers: sample.workers.iter().map(worker).collect(),
        }
    }

    /// How many numbers a sample has.
    fn values(&self) -> usize {
        let ops: usize = self.ops.iter().map(|(.., errnos)| 2 + errnos.len()).sum();
        let workers: usize = self.workers.iter().map(|(_, ops)| 2 + 3 * ops.len()).sum();
        ops + workers
    }

    fn put(&self, out: &mut Out) {
        out.count(self.ops.len());
        for (work, op, errnos) in &self.ops {
            out.number((*work).into());
            out.text(op.name());
            out.count(errnos.len());
            errnos.iter().for_each(|errno| out.signed((*errno).into()));
        }
        out.count(self.workers.len());
        for (worker, ops) in &self.workers {
            out.number((*worker).into());
            out.count(ops.len());
            ops.iter().for_each(|op| out.text(op.name()));
        }
    }

    fn take(rest: &mut In<'_>) -> Result<Shape, Problem> {
        let mut shape = Shape::default();
        for _ in 0..count(rest)? {
            let (work, op) = (rest.small()?, take_op(rest)?);
            let errnos = (0..count(rest)?).map(|_| take_errno(rest)).collect::<Result<_, _>>()?;
            shape.ops.push((work, op, errnos));
        }
        for _ in 0..count(rest)? {
            let worker = rest.small()?;
            let ops = (0..count(rest)?).map(|_| take_op(rest)).collect::<Result<_, _>>()?;
            shape.workers.push((worker, ops));
        }
        Ok(shape)
    }
}

fn take_op(rest: &mut In<'_>) -> Result<Op, Problem> {
    let name = rest.block().map_err(cut_off)?;
    let op = std::str::from_utf8(name).ok().and_then(Op::from_name);
    op.ok_or_else(|| "an operation is none".into())
}

fn take_errno(rest: &mut In<'_>) -> Result<i32, Problem> {
    i32::try_from(rest.signed()?).map_err(|_| "an errno is out of range".into())
}

/// How many follow, each of which takes a byte at least.
fn count(rest: &mut In<'_>) -> Result<usize, Problem> {
    rest.count().map_err(cut_off)
}

fn cut_off(_: Bad) -> Problem {
    "samples are cut off".into()
}

/// The bytes of samples of one host and stage in their order; `None` where they would not come
/// back, because they have more than figures need.
pub fn encode(samples: &[IntervalSample]) -> Option<Vec<u8>> {
    let has_more = |sample: &IntervalSample| {
        sample.ops.iter().any(|op| !op.raw_latencies.is_empty())
            || sample.workers.iter().any(|worker| worker.mark.is_some())
    };
    if samples.is_empty() || samples.len() > MOST_SAMPLES || samples.iter().any(has_more) {
        return None;
    }
    let mut shapes: Vec<(Shape, Vec<usize>)> = Vec::new();
    let mut of_samples = Vec::with_capacity(samples.len());
    for (at, sample) in samples.iter().enumerate() {
        let shape = Shape::of(sample);
        // Nearly always the one of the sample before.
        let place = match shapes.iter().rposition(|(known, _)| *known == shape) {
            Some(place) => place,
            None => {
                shapes.push((shape, Vec::new()));
                shapes.len() - 1
            }
        };
        shapes[place].1.push(at);
        of_samples.push(place as u64);
    }
    let mut out = Out::of(VERSION);
    out.count(samples.len());
    let column =
        |figure: fn(&IntervalSample) -> u64| -> Vec<u64> { samples.iter().map(figure).collect() };
    out.column(&column(|sample| sample.interval.into()));
    out.column(&column(|sample| sample.phase as u64));
    out.stretches(samples.iter().map(|sample| (sample.start_ns, sample.length_ns)));
    out.column(&of_samples);
    out.count(shapes.len());
    let mut room = Room::default();
    for (shape, places) in &shapes {
        put_shape(&mut out, shape, places, samples, &mut room)?;
    }
    Some(out.into_bytes())
}

/// What a piece may still have, so that it is read in bounded memory however few its bytes are.
struct Room {
    /// Numbers.
    values: usize,
    /// Buckets of histograms.
    buckets: histograms::Room,
}

impl Default for Room {
    fn default() -> Room {
        Room { values: MOST_VALUES, buckets: histograms::Room::default() }
    }
}

impl Room {
    /// Takes room for so many numbers of so many samples; `None` where there is none.
    fn take(&mut self, values: usize, samples: usize) -> Option<()> {
        self.values = self.values.checked_sub(values.checked_mul(samples)?)?;
        Some(())
    }
}

fn put_shape(
    out: &mut Out,
    shape: &Shape,
    places: &[usize],
    samples: &[IntervalSample],
    room: &mut Room,
) -> Option<()> {
    room.take(shape.values(), places.len())?;
    shape.put(out);
    let first = &samples[*places.first()?];
    let sizes: Vec<u64> = first.ops.iter().map(|op| size(op.ios, op.bytes)).collect();
    sizes.iter().for_each(|size| out.number(*size));
    let rows: Vec<Vec<u64>> = places.iter().map(|at| values(&samples[*at], &sizes)).collect();
    let mut column = Vec::with_capacity(rows.len());
    for place in 0..shape.values() {
        column.clear();
        column.extend(rows.iter().map(|row| row[place]));
        out.column(&column);
    }
    for op in 0..shape.ops.len() {
        let latencies: Vec<&[u8]> =
            places.iter().map(|at| samples[*at].ops[op].latency.0.as_slice()).collect();
        histograms::encode(out, &latencies, &mut room.buckets);
    }
    Some(())
}

/// The size of a request by which the bytes of others are expected.
fn size(ios: u64, bytes: u64) -> u64 {
    bytes.checked_div(ios).unwrap_or_default()
}

/// The numbers of a sample in the order of its shape: each as what is not known by those before.
fn values(sample: &IntervalSample, sizes: &[u64]) -> Vec<u64> {
    let mut values = Vec::new();
    let mut known = Known::default();
    for (op, size) in sample.ops.iter().zip(sizes) {
        values.push(op.ios);
        values.push(fold(op.bytes.wrapping_sub(op.ios.wrapping_mul(*size)) as i64));
        values.extend(op.errors.iter().map(|(_, count)| *count));
        known.op(op.op, op.ios, op.bytes, *size);
    }
    for (at, worker) in sample.workers.iter().enumerate() {
        values.push(worker.cpu_user_ns);
        values.push(worker.cpu_system_ns);
        for op in &worker.ops {
            let is_last =
                !sample.workers[at + 1..].iter().any(|w| w.ops.iter().any(|o| o.op == op.op));
            let (ios, bytes) = known.expected(op.op, is_last, op.ios);
            values.push(fold(op.ios.wrapping_sub(ios) as i64));
            values.push(fold(op.bytes.wrapping_sub(bytes) as i64));
            values.push(op.errors);
            known.worker(op.op, op.ios, op.bytes);
        }
    }
    values
}

/// What the workers that are still to come must have done, if they add up to the operations.
#[derive(Default)]
struct Known(Vec<(Op, u64, u64, u64)>);

impl Known {
    fn op(&mut self, op: Op, ios: u64, bytes: u64, size: u64) {
        match self.0.iter_mut().find(|(known, ..)| *known == op) {
            Some((_, all, sum, _)) => {
                (*all, *sum) = (all.wrapping_add(ios), sum.wrapping_add(bytes));
            }
            None => self.0.push((op, ios, bytes, size)),
        }
    }

    /// Requests and bytes of the next worker; the last one has what is left. `ios` is what it did.
    fn expected(&self, op: Op, is_last: bool, ios: u64) -> (u64, u64) {
        let found = self.0.iter().find(|(known, ..)| *known == op);
        match (found, is_last) {
            (Some((_, left, bytes, _)), true) => (*left, *bytes),
            (Some((.., size)), false) => (0, ios.wrapping_mul(*size)),
            (None, _) => (0, 0),
        }
    }

    fn worker(&mut self, op: Op, ios: u64, bytes: u64) {
        if let Some((_, left, sum, _)) = self.0.iter_mut().find(|(known, ..)| *known == op) {
            (*left, *sum) = (left.wrapping_sub(ios), sum.wrapping_sub(bytes));
        }
    }
}

/// The samples of a host and stage from their bytes.
///
/// # Errors
/// They are none.
pub fn decode(bytes: &[u8], stage: u32, host: u32) -> Result<Vec<IntervalSample>, Problem> {
    let mut rest = In::of(VERSION, bytes).ok_or("a block of samples has another layout")?;
    let samples = usize::try_from(rest.number()?).ok().filter(|n| *n <= MOST_SAMPLES);
    let samples = samples.ok_or("a block has more samples than any")?;
    let mut column = || {
        let mut out = Vec::with_capacity(samples);
        rest.column(samples, &mut out).map(|()| out)
    };
    let (intervals, phases) = (column()?, column()?);
    let stretches = rest.stretches(samples)?;
    let mut shapes = Vec::with_capacity(samples);
    rest.column(samples, &mut shapes)?;
    let mut all = Vec::with_capacity(samples);
    for ((interval, phase), (start_ns, length_ns)) in intervals.iter().zip(phases).zip(stretches) {
        all.push(IntervalSample {
            stage,
            host,
            interval: u32::try_from(*interval).map_err(|_| "an interval is out of range")?,
            start_ns,
            length_ns,
            phase: *PHASES.get(phase as usize).ok_or("a phase is none that a stage can have")?,
            ops: Vec::new(),
            workers: Vec::new(),
        });
    }
    let shape_count = count(&mut rest)?;
    if shapes.iter().any(|shape| *shape >= shape_count as u64) {
        return Err("a sample has a shape that is not there".into());
    }
    let mut room = Room::default();
    for shape in 0..shape_count as u64 {
        let places: Vec<usize> = (0..samples).filter(|at| shapes[*at] == shape).collect();
        take_shape(&mut rest, &places, &mut all, &mut room)?;
    }
    rest.end().map_err(|_| "a block of samples is too long")?;
    Ok(all)
}

fn take_shape(
    rest: &mut In<'_>,
    places: &[usize],
    samples: &mut [IntervalSample],
    room: &mut Room,
) -> Result<(), Problem> {
    let shape = Shape::take(rest)?;
    let sizes: Vec<u64> = shape.ops.iter().map(|_| rest.number()).collect::<Result<_, Bad>>()?;
    let values = shape.values();
    if places.is_empty() || room.take(values, places.len()).is_none() {
        return Err("a block has more numbers than any".into());
    }
    let mut table = Vec::with_capacity(values * places.len());
    (0..values).try_for_each(|_| rest.column(places.len(), &mut table))?;
    let mut latencies = Vec::with_capacity(shape.ops.len());
    for _ in &shape.ops {
        latencies.push(histograms::decode(rest, places.len(), &mut room.buckets)?.into_iter());
    }
    for (row, at) in places.iter().enumerate() {
        let mut next = (0..values).map(|column| table[column * places.len() + row]);
        let sample = &mut samples[*at];
        fill(sample, &shape, &sizes, &mut next, |op| latencies.get_mut(op)?.next())?;
    }
    Ok(())
}

fn fill(
    sample: &mut IntervalSample,
    shape: &Shape,
    sizes: &[u64],
    next: &mut impl Iterator<Item = u64>,
    mut latency: impl FnMut(usize) -> Option<EncodedHistogram>,
) -> Result<(), Problem> {
    let mut take = || next.next().ok_or("samples are cut off");
    let mut known = Known::default();
    for (at, ((work, op, errnos), size)) in shape.ops.iter().zip(sizes).enumerate() {
        let ios = take()?;
        let bytes = ios.wrapping_mul(*size).wrapping_add(unfold(take()?) as u64);
        let failed = errnos.iter().map(|errno| Ok((*errno, take()?)));
        let errors = failed.collect::<Result<_, Problem>>()?;
        let latency = latency(at).ok_or("histograms are cut off")?;
        let raw_latencies = Vec::new();
        sample.ops.push(OpSample {
            work: *work,
            op: *op,
            ios,
            bytes,
            errors,
            latency,
            raw_latencies,
        });
        known.op(*op, ios, bytes, *size);
    }
    for (at, (worker, ops)) in shape.workers.iter().enumerate() {
        let (cpu_user_ns, cpu_system_ns) = (take()?, take()?);
        let mut counts = Vec::with_capacity(ops.len());
        for op in ops {
            let is_last = !shape.workers[at + 1..].iter().any(|(_, ops)| ops.contains(op));
            let difference = unfold(take()?) as u64;
            // What it did says how many bytes that were, unless it is the last one.
            let ios = known.expected(*op, is_last, 0).0.wrapping_add(difference);
            let bytes = known.expected(*op, is_last, ios).1.wrapping_add(unfold(take()?) as u64);
            counts.push(WorkerOp { op: *op, ios, bytes, errors: take()? });
            known.worker(*op, ios, bytes);
        }
        sample.workers.push(WorkerSample {
            worker: *worker,
            cpu_user_ns,
            cpu_system_ns,
            ops: counts,
            mark: None,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::histogram::Histogram;
    use proptest::prelude::*;

    fn any_sample() -> impl Strategy<Value = IntervalSample> {
        let counts = || (any::<u64>(), any::<u64>());
        let op = (
            0u32..3,
            0usize..3,
            counts(),
            prop::collection::vec((-2i32..5, any::<u64>()), 0..2),
            prop::collection::vec(any::<u64>(), 0..5),
        );
        let worker = (
            any::<u32>(),
            counts(),
            prop::collection::vec((0usize..3, counts(), any::<u64>()), 0..3),
        );
        let times = (0u64..1 << 62, 0u64..1 << 62, 0usize..3);
        (times, prop::collection::vec(op, 0..3), prop::collection::vec(worker, 0..3)).prop_map(
            |((start_ns, length_ns, phase), ops, workers)| {
                let names = [Op::Read, Op::Write, Op::Fsync];
                let op = |(work, op, (ios, bytes), errors, values): (
                    u32,
                    usize,
                    (u64, u64),
                    _,
                    Vec<u64>,
                )| {
                    let mut latency = Histogram::new();
                    values.iter().for_each(|value| latency.record(*value));
                    let (op, latency) = (names[op], latency.encode());
                    OpSample { work, op, ios, bytes, errors, latency, raw_latencies: Vec::new() }
                };
                let count = |(op, (ios, bytes), errors): (usize, (u64, u64), u64)| WorkerOp {
                    op: names[op],
                    ios,
                    bytes,
                    errors,
                };
                let worker = |(worker, cpu, ops): (u32, (u64, u64), Vec<_>)| WorkerSample {
                    worker,
                    cpu_user_ns: cpu.0,
                    cpu_system_ns: cpu.1,
                    ops: ops.into_iter().map(count).collect(),
                    mark: None,
                };
                IntervalSample {
                    stage: 2,
                    host: 5,
                    interval: 0,
                    start_ns,
                    length_ns,
                    phase: PHASES[phase],
                    ops: ops.into_iter().map(op).collect(),
                    workers: workers.into_iter().map(worker).collect(),
                }
            },
        )
    }

    proptest! {
        #[test]
        fn any_samples_come_back(mut samples in prop::collection::vec(any_sample(), 1..20)) {
            (0..).zip(&mut samples).for_each(|(at, sample)| sample.interval = at * 3);
            let bytes = encode(&samples).expect("samples");
            let found = decode(&bytes, 2, 5);
            prop_assert!(found.is_ok_and(|found| found == samples));
        }

        #[test]
        fn no_bytes_break_anything(
            samples in prop::collection::vec(any_sample(), 1..4),
            at in 0usize..300, byte in any::<u8>(), cut in prop::option::of(0usize..300),
        ) {
            let mut bytes = encode(&samples).expect("samples");
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut.unwrap_or(usize::MAX));
            let _ = decode(&bytes, 2, 5);
        }
    }
}
