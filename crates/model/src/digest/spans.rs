//! The intervals of a host, in as few bytes as they need.

use super::column::{CHUNK, Packed};
use super::span::Span;
use crate::Phase;
use crate::columns::varint::{fold, unfold};

/// The intervals of a host in their order. Where one follows the other without a gap, as they do
/// nearly always, only their lengths are held.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    full: Vec<Chunk>,
    /// Behind the full ones, fewer than a chunk has.
    rest: Vec<Span>,
    /// How long those of each phase are together, in ns.
    lengths_ns: [u64; 3],
    /// When the one that began last did, in ns after the stage's start.
    latest_ns: u64,
}

/// So many intervals as a chunk has.
#[derive(Clone, Debug)]
enum Chunk {
    /// Each begins where the one before it ends, and has the number behind its.
    Even(Even),
    Any(Box<[Span]>),
}

#[derive(Clone, Debug)]
struct Even {
    first: Span,
    /// Differences from the length of the first, folded.
    lengths: Packed,
}

impl Even {
    /// `None` where they are not.
    fn of(spans: &[Span]) -> Option<Even> {
        let first = *spans.first()?;
        let follows = |pair: &[Span]| {
            pair[0].start_ns.checked_add(pair[0].length_ns) == Some(pair[1].start_ns)
                && pair[0].interval.checked_add(1) == Some(pair[1].interval)
                && pair[0].phase == pair[1].phase
        };
        if !spans.windows(2).all(follows) {
            return None;
        }
        let mut lengths = [0; CHUNK];
        for (length, span) in lengths.iter_mut().zip(spans) {
            *length = fold(span.length_ns.wrapping_sub(first.length_ns) as i64);
        }
        Some(Even { first, lengths: Packed::of(&lengths) })
    }

    fn length_ns(&self, at: usize) -> u64 {
        self.first.length_ns.wrapping_add(unfold(self.lengths.get(at)) as u64)
    }

    fn interval(&self, at: usize) -> u32 {
        self.first.interval.wrapping_add(at as u32)
    }

    fn phase(&self) -> Phase {
        self.first.phase
    }

    fn get(&self, at: usize) -> Span {
        let before = (0..at).map(|at| self.length_ns(at));
        Span {
            start_ns: before.fold(self.first.start_ns, u64::wrapping_add),
            length_ns: self.length_ns(at),
            interval: self.interval(at),
            phase: self.phase(),
        }
    }
}

/// How they are held makes no difference.
impl PartialEq for Spans {
    fn eq(&self, other: &Spans) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Spans {}

impl Spans {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.full.len() * CHUNK + self.rest.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts one behind the others.
    pub fn push(&mut self, span: Span) {
        let length_ns = &mut self.lengths_ns[span.phase as usize];
        *length_ns = length_ns.saturating_add(span.length_ns);
        self.latest_ns = self.latest_ns.max(span.start_ns);
        self.rest.push(span);
        if self.rest.len() == CHUNK {
            let any = || Chunk::Any(self.rest.as_slice().into());
            self.full.push(Even::of(&self.rest).map_or_else(any, Chunk::Even));
            self.rest.clear();
        }
    }

    /// Puts others behind its own.
    pub fn append(&mut self, mut others: Spans) {
        if !self.rest.is_empty() {
            return self.extend(others.iter());
        }
        self.full.append(&mut others.full);
        self.rest = others.rest;
        for (length_ns, more_ns) in self.lengths_ns.iter_mut().zip(others.lengths_ns) {
            *length_ns = length_ns.saturating_add(more_ns);
        }
        self.latest_ns = self.latest_ns.max(others.latest_ns);
    }

    /// How long those of a phase are together, in ns. Saturates, as all sums of a stage do.
    pub fn length_ns(&self, phase: Phase) -> u64 {
        self.lengths_ns[phase as usize]
    }

    /// When the one that began last did, in ns after the stage's start; 0 of none.
    pub fn latest_ns(&self) -> u64 {
        self.latest_ns
    }

    /// The one at this place.
    pub fn get(&self, at: usize) -> Option<Span> {
        match self.full.get(at / CHUNK) {
            Some(Chunk::Even(even)) => Some(even.get(at % CHUNK)),
            Some(Chunk::Any(spans)) => spans.get(at % CHUNK).copied(),
            None => self.rest.get(at.checked_sub(self.full.len() * CHUNK)?).copied(),
        }
    }

    /// The number of the interval at this place.
    fn interval(&self, at: usize) -> Option<u32> {
        match self.full.get(at / CHUNK) {
            Some(Chunk::Even(even)) => Some(even.interval(at % CHUNK)),
            _ => self.get(at).map(|span| span.interval),
        }
    }

    /// The last one.
    pub fn last(&self) -> Option<Span> {
        self.get(self.len().checked_sub(1)?)
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        Iter { chunks: self.full.iter(), rest: &self.rest, now: Now::Any([].iter()) }
    }

    /// The place of an interval, where they are sorted: nearly always so far from the first one as
    /// their numbers differ.
    pub fn find(&self, interval: u32) -> Option<usize> {
        let guess = interval.checked_sub(self.interval(0)?)? as usize;
        if self.interval(guess) == Some(interval) {
            return Some(guess);
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.interval(middle)?.cmp(&interval) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Whether their numbers do not fall.
    pub(crate) fn are_sorted(&self) -> bool {
        let bounds = self.stretches().flat_map(|(first, last, _)| [first, last]);
        bounds.is_sorted()
    }

    /// First and last number and phase of intervals that have all numbers between these, in their
    /// order.
    pub(super) fn stretches(&self) -> impl Iterator<Item = (u32, u32, Phase)> + '_ {
        let of = |span: &Span| (span.interval, span.interval, span.phase);
        let full = self.full.iter().flat_map(move |chunk| {
            let (even, any) = match chunk {
                Chunk::Even(even) => (Some(even), None),
                Chunk::Any(spans) => (None, Some(spans)),
            };
            let even = even.map(|even| (even.interval(0), even.interval(CHUNK - 1), even.phase()));
            even.into_iter().chain(any.into_iter().flat_map(|spans| spans.iter()).map(of))
        });
        full.chain(self.rest.iter().map(of))
    }

    /// Puts them into the order of their numbers.
    pub fn sort(&mut self) {
        let mut all: Vec<Span> = self.iter().collect();
        all.sort_by_key(|span| span.interval);
        *self = all.into_iter().collect();
    }
}

/// Spans in their order. One state, in place of chained ones: they are gone through many times.
struct Iter<'a> {
    chunks: std::slice::Iter<'a, Chunk>,
    /// Behind all chunks.
    rest: &'a [Span],
    now: Now<'a>,
}

/// What is gone through at the moment.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is not moved")]
enum Now<'a> {
    /// A chunk from the place `at` on, with the span that is next but for its length.
    Even {
        at: usize,
        next: Span,
        length_ns: u64,
        lengths: [u64; CHUNK],
    },
    Any(std::slice::Iter<'a, Span>),
}

impl Iterator for Iter<'_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        loop {
            match &mut self.now {
                Now::Even { at, next, length_ns, lengths } => {
                    if let Some(length) = lengths.get(*at) {
                        let length_ns = length_ns.wrapping_add(unfold(*length) as u64);
                        let span = Span { length_ns, ..*next };
                        next.start_ns = next.start_ns.wrapping_add(length_ns);
                        next.interval = next.interval.wrapping_add(1);
                        *at += 1;
                        return Some(span);
                    }
                }
                Now::Any(spans) => {
                    if let Some(span) = spans.next() {
                        return Some(*span);
                    }
                }
            }
            self.now = match self.chunks.next() {
                Some(Chunk::Even(Even { first, lengths })) => {
                    let (next, length_ns) = (*first, first.length_ns);
                    Now::Even { at: 0, next, length_ns, lengths: lengths.all() }
                }
                Some(Chunk::Any(spans)) => Now::Any(spans.iter()),
                None if self.rest.is_empty() => return None,
                None => Now::Any(std::mem::take(&mut self.rest).iter()),
            };
        }
    }
}

impl FromIterator<Span> for Spans {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Spans {
        let mut all = Spans::default();
        all.extend(spans);
        all
    }
}

impl Extend<Span> for Spans {
    fn extend<I: IntoIterator<Item = Span>>(&mut self, spans: I) {
        spans.into_iter().for_each(|span| self.push(span));
    }
}

impl<'a> IntoIterator for &'a Spans {
    type Item = Span;
    type IntoIter = Box<dyn Iterator<Item = Span> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_day_of_even_intervals_takes_few_bytes() {
        let mut start_ns = 7;
        let spans: Spans = (0..86_400)
            .map(|interval| {
                let length_ns = 1_000_000_000 + u64::from(interval % 100) * 1_000 - 50_000;
                let span = Span { start_ns, length_ns, interval, phase: Phase::Load };
                start_ns += length_ns;
                span
            })
            .collect();
        let even = spans.full.iter().filter(|chunk| matches!(chunk, Chunk::Even(_))).count();
        assert_eq!(even, spans.full.len());
        assert_eq!(spans.last().map(|span| span.start_ns + span.length_ns), Some(start_ns));
        assert_eq!(spans.find(50_000), Some(50_000));
        assert!(size_of::<Chunk>() <= 48);
    }

    proptest! {
        #[test]
        fn they_are_what_a_vector_is(
            steps in prop::collection::vec((
                prop_oneof![30 => Just(0u64), 1 => 0u64..9],
                prop_oneof![30 => 900u64..1_100, 1 => any::<u64>()],
                prop_oneof![50 => Just(Phase::Load), 1 => Just(Phase::Drain)],
            ), 0..300),
        ) {
            let (mut start_ns, mut interval) = (3u64, 0u32);
            let plain: Vec<Span> = steps.into_iter().map(|(gap, length_ns, phase)| {
                let span = Span {
                    start_ns: start_ns.wrapping_add(gap), length_ns, interval, phase,
                };
                start_ns = span.start_ns.wrapping_add(length_ns);
                interval += 1 + (gap / 5) as u32;
                span
            }).collect();
            let spans: Spans = plain.iter().copied().collect();
            prop_assert_eq!(spans.iter().collect::<Vec<_>>(), plain.clone());
            for cut in [0, 1, 63, 64, 65, 128] {
                let (first, rest) = plain.split_at(cut.min(plain.len()));
                let mut both: Spans = first.iter().copied().collect();
                both.append(rest.iter().copied().collect());
                prop_assert_eq!(&both, &spans);
                prop_assert_eq!(both.lengths_ns, spans.lengths_ns);
                prop_assert_eq!(both.latest_ns, spans.latest_ns);
            }
            let length_ns = |phase| {
                let of_phase = plain.iter().filter(|span| span.phase == phase);
                of_phase.fold(0u64, |sum, span| sum.saturating_add(span.length_ns))
            };
            for phase in [Phase::Load, Phase::Tail, Phase::Drain] {
                prop_assert_eq!(spans.length_ns(phase), length_ns(phase));
            }
            let latest_ns = plain.iter().map(|span| span.start_ns).max().unwrap_or(0);
            prop_assert_eq!(spans.latest_ns(), latest_ns);
            prop_assert_eq!(spans.last(), plain.last().copied());
            prop_assert!(spans.are_sorted());
            let numbers = spans.stretches().flat_map(|(first, last, phase)| {
                (first..=last).map(move |number| (number, phase))
            });
            prop_assert!(numbers.eq(plain.iter().map(|span| (span.interval, span.phase))));
            let mut shuffled = spans.clone();
            if let (Some(first), Some(last)) = (plain.first(), plain.last())
                && first.interval < last.interval
            {
                shuffled.push(*first);
                prop_assert!(!shuffled.are_sorted());
            }
            for at in 0..=plain.len() {
                prop_assert_eq!(spans.get(at), plain.get(at).copied());
            }
            for number in 0..interval + 2 {
                let expected = plain.binary_search_by_key(&number, |span| span.interval).ok();
                prop_assert_eq!(spans.find(number), expected);
            }
        }
    }
}
