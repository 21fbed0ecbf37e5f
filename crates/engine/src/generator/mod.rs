//! What a worker asks for next: operation, file, offset, length.

mod aged;
mod bookmark;
mod given;
mod permutation;
mod places;
mod spread;
mod streams;
mod zipf;

use aged::Aged;
pub(crate) use bookmark::{Bookmark, Bookmarks};
use given::Given;
use model::load::SizeMix;
use model::plan::{Extent, Pattern, Stop, Work, Worker};
use model::rng::{Rng, derive};
use model::{Op, Percent};
pub(crate) use permutation::Permutation;
use places::Places;
use spread::Spread;
use streams::Streams;

/// One request of the plan, before it has a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read, write, fsync or trim.
    pub op: Op,
    /// The file's number on the host.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u32,
}

/// Requests of one size: how often, and where they can go.
#[derive(Clone, Debug)]
struct Class {
    length: u64,
    /// Weights of the classes up to and with this one.
    below: u64,
    places: Places,
    spread: Spread,
}

/// The sequence of a worker's requests; the same for the same plan, whatever the target does.
#[derive(Clone, Debug)]
pub struct Generator {
    rng: Rng,
    reads: Box<[Class]>,
    writes: Box<[Class]>,
    streams: Streams,
    trim_ppm: u32,
    read_ppm: u32,
    random_ppm: u32,
    /// Writes until the next fsync; `None` where there are none.
    until_fsync: Option<u64>,
    fsync_every: u64,
    last_written: u32,
    /// How many requests are left, or bytes where requests of an amount have several sizes; `None`
    /// where time decides.
    left: Option<u64>,
    in_bytes: bool,
    /// Whether the last request of an extent may be shorter.
    tails: bool,
    /// A pass that ages flash; it says where every request goes.
    aged: Option<Box<Aged>>,
    /// Where the random requests go, if that is given.
    given: Option<Box<Given>>,
    /// What is left of all this for the most common workload.
    plain: Option<Plain>,
    /// The same where reads and writes are mixed.
    mixed: Option<Mixed>,
}

/// Requests of one kind and size all over one extent: the sequence is the same without looking at
/// what such a workload does not have, which would take longer than drawing the next place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plain {
    op: Op,
    file: u32,
    start: u64,
    align: u64,
    count: u64,
    length: u32,
}

/// Reads and writes at the same places. Apart from [`Plain`], whose kind is known before a draw.
#[derive(Clone, Copy, Debug)]
struct Mixed {
    read_ppm: u32,
    places: Plain,
}

impl Generator {
    /// The sequence that `worker` follows.
    ///
    /// # Panics
    /// When the worker has no room for a request: the planner gives every worker some.
    pub fn new(work: &Work, worker: &Worker) -> Generator {
        let amount = work.stop == Stop::Amount;
        let block = work.largest_block().0.max(1);
        let in_bytes = work.counts_bytes();
        let of_amount = || if in_bytes { work.amount(worker) } else { work.requests(worker) };
        let left = (work.stop.time().is_none()).then(of_amount);
        let classes = |used: bool, mix: &SizeMix, path: u64| match used && !amount {
            true => classes(mix, &work.pattern, worker, path),
            false => Box::default(),
        };
        let reads = classes(work.reads(), &work.block_size, 0);
        let writes = classes(work.changes(), &work.write_block_size, 1);
        assert!(left != Some(0), "the planner gives every worker at least one block");
        // A short class list of an amount: one size, no place of its own.
        let (reads, writes) =
            if amount { (amount_class(block), amount_class(block)) } else { (reads, writes) };
        let mut generator = Generator {
            rng: Rng::new(worker.seed),
            reads,
            writes,
            streams: Streams::new(
                &worker.extents, work.pattern.streams, work.pattern.stride.0, block,
            )
            .following(work.pattern.follows_random && work.pattern.random < Percent::ALL)
            .in_runs(work.pattern.run.0)
            .backward(work.pattern.backward, block),
            trim_ppm: work.trim.ppm,
            read_ppm: work.read.ppm,
            random_ppm: if amount { 0 } else { work.pattern.random.ppm },
            until_fsync: (work.fsync_every > 0).then_some(work.fsync_every),
            fsync_every: work.fsync_every,
            last_written: 0,
            left,
            in_bytes,
            tails: amount || in_bytes,
            aged: aged(work, worker, block),
            given: Given::of(work).filter(|_| !amount).map(Box::new),
            plain: None,
            mixed: None,
        };
        generator.plain = generator.plain();
        generator.mixed = generator.mixed();
        generator
    }

    /// Goes on with what comes in order where an earlier sequence of the same work stopped.
    pub(crate) fn go_on(&mut self, from: Option<Bookmark>) {
        let Some(Bookmark { streams, given }) = from else { return };
        self.streams.go_on(streams);
        if let (Some(given), Some(before)) = (&mut self.given, given) {
            given.go_on(*before);
        }
    }

    /// Where it stopped.
    pub(crate) fn into_bookmark(self) -> Bookmark {
        Bookmark { streams: self.streams, given: self.given }
    }

    fn plain(&self) -> Option<Plain> {
        match self.read_ppm {
            1_000_000 => self.plain_of(Op::Read),
            0 => self.plain_of(Op::Write),
            _ => None,
        }
    }

    fn mixed(&self) -> Option<Mixed> {
        let (reads, writes) = (self.plain_of(Op::Read)?, self.plain_of(Op::Write)?);
        let is_mixed = !matches!(self.read_ppm, 0 | 1_000_000);
        let is_same = Plain { op: Op::Read, ..writes } == reads;
        (is_mixed && is_same).then_some(Mixed { read_ppm: self.read_ppm, places: reads })
    }

    /// The requests of one kind, where they are plain ones.
    fn plain_of(&self, op: Op) -> Option<Plain> {
        if (self.trim_ppm, self.random_ppm) != (0, 1_000_000) || self.given.is_some() {
            return None;
        }
        let classes = if op == Op::Read { &self.reads } else { &self.writes };
        match (&**classes, self.left, self.until_fsync) {
            ([Class { length, places, spread: Spread::Uniform, .. }], None, None) => {
                let (file, start, align) = places.only()?;
                let (count, length) = (places.count(), *length as u32);
                Some(Plain { op, file, start, align, count, length })
            }
            _ => None,
        }
    }

    /// A read or a write.
    #[inline]
    fn direction(&mut self) -> Op {
        match self.read_ppm {
            1_000_000 => Op::Read,
            0 => Op::Write,
            ppm if self.rng.chance(ppm) => Op::Read,
            _ => Op::Write,
        }
    }

    /// Whether no request is left.
    pub fn is_exhausted(&self) -> bool {
        self.left == Some(0)
    }

    /// Whether the next request is the fsync that follows the writes before it.
    #[inline]
    pub fn flushes_next(&self) -> bool {
        self.until_fsync == Some(0)
    }

    /// The next request; `None` when a fixed amount is used up.
    #[inline]
    pub fn next_request(&mut self) -> Option<Request> {
        if let Some(plain) = &self.plain {
            let offset = plain.start + self.rng.below(plain.count) * plain.align;
            return Some(Request { op: plain.op, file: plain.file, offset, length: plain.length });
        }
        self.next_of_any()
    }

    fn next_of_any(&mut self) -> Option<Request> {
        if let Some(Mixed { read_ppm, places }) = &self.mixed {
            let op = if self.rng.chance(*read_ppm) { Op::Read } else { Op::Write };
            let offset = places.start + self.rng.below(places.count) * places.align;
            return Some(Request { op, file: places.file, offset, length: places.length });
        }
        if self.until_fsync == Some(0) {
            self.until_fsync = Some(self.fsync_every);
            return Some(Request { op: Op::Fsync, file: self.last_written, offset: 0, length: 0 });
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        if let Some(aged) = &mut self.aged {
            let (file, offset, length) = aged.draw(&mut self.rng);
            return Some(Request { op: Op::Write, file, offset, length: length as u32 });
        }
        let op = if self.trim_ppm > 0 && self.rng.chance(self.trim_ppm) {
            Op::Trim
        } else {
            self.direction()
        };
        let is_random = match self.random_ppm {
            1_000_000 => true,
            0 => false,
            ppm => self.rng.chance(ppm),
        };
        let class =
            pick(if op == Op::Read { &mut self.reads } else { &mut self.writes }, &mut self.rng);
        let (file, offset, length) = if is_random {
            let count = class.places.count();
            let place = match &mut self.given {
                Some(given) => given.next(count),
                None => class.spread.draw(count, &mut self.rng),
            };
            let place = class.places.at(place);
            self.streams.jumped(place, class.length);
            (place.file, place.offset, class.length)
        } else {
            self.streams.next(class.length, self.tails)
        };
        if let (true, Some(left)) = (self.in_bytes, &mut self.left) {
            *left = left.saturating_sub(length - 1);
        }
        if op == Op::Write {
            self.last_written = file;
            if let Some(until) = &mut self.until_fsync {
                *until -= 1;
            }
        }
        Some(Request { op, file, offset, length: length as u32 })
    }
}

/// By weight.
#[inline]
fn pick<'a>(classes: &'a mut [Class], rng: &mut Rng) -> &'a mut Class {
    let index = match classes.last() {
        Some(last) if classes.len() > 1 => {
            let ticket = rng.below(last.below);
            classes.partition_point(|class| class.below <= ticket)
        }
        _ => 0,
    };
    &mut classes[index]
}

fn classes(mix: &SizeMix, pattern: &Pattern, worker: &Worker, path: u64) -> Box<[Class]> {
    let mut below = 0;
    let mut all = Vec::new();
    for (number, (size, weight)) in mix.parts.iter().enumerate() {
        below += u64::from(*weight);
        let align = if pattern.align.0 == 0 { size.0 } else { pattern.align.0 };
        let places = Places::new(&worker.extents, size.0, align);
        assert!(places.count() > 0, "the planner gives every worker room for its largest block");
        let seed = derive(worker.seed, &[path, number as u64]);
        let spread = Spread::new(pattern, places.count(), seed);
        all.push(Class { length: size.0, below, places, spread });
    }
    all.into()
}

/// The pass that ages flash, where the work is one.
fn aged(work: &Work, worker: &Worker, block: u64) -> Option<Box<Aged>> {
    let spare = work.pattern.aged.filter(|_| work.stop == Stop::Amount)?;
    Some(Box::new(Aged::new(worker, &work.pattern, spare, block)))
}

/// The one size of a stage that touches every byte once.
fn amount_class(block: u64) -> Box<[Class]> {
    let extent = [Extent { file: 0, offset: 0, length: block }];
    Box::new([Class {
        length: block,
        below: 1,
        places: Places::new(&extent, block, block),
        spread: Spread::Uniform,
    }])
}

#[cfg(test)]
mod tests;
