//! Sequential requests: one after the other through the worker's extents, and from the start again.

use super::places::Place;
use model::plan::Extent;

/// Streams that take turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Streams {
    extents: Box<[Extent]>,
    cursors: Box<[Cursor]>,
    turn: usize,
    /// What the places where they begin are multiples of.
    align: u64,
    /// From one request, or one run of them, to the next; 0 where they adjoin.
    stride: u64,
    /// How many bytes adjoin before each stride; 0 for one request.
    run: u64,
    /// Whether they go from the end of each extent to its start, and from the last extent to the
    /// first: the mirror image of what goes forward.
    backward: bool,
    /// Whether a request at another place is followed there: by the only stream.
    follows: bool,
}

/// Where a stream goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cursor {
    extent: usize,
    within: u64,
}

impl Streams {
    /// `count` streams that begin at equal distances, at multiples of `align`.
    pub(super) fn new(extents: &[Extent], count: u32, stride: u64, align: u64) -> Streams {
        let total: u128 = extents.iter().map(|extent| u128::from(extent.length)).sum();
        let begin = |stream: u32| {
            cursor(extents, (total * u128::from(stream) / u128::from(count.max(1))) as u64, align)
        };
        Streams {
            extents: extents.into(),
            cursors: (0..count.max(1)).map(begin).collect(),
            turn: 0,
            align,
            stride,
            run: 0,
            backward: false,
            follows: false,
        }
    }

    /// Goes on where `before` stopped, if these are the same streams through the same bytes.
    pub(super) fn go_on(&mut self, before: Streams) {
        let at_start = Streams { cursors: self.cursors.clone(), turn: self.turn, ..before.clone() };
        if at_start == *self && before.cursors.len() == self.cursors.len() {
            *self = before;
        }
    }

    /// With so many bytes that adjoin before each stride.
    pub(super) fn in_runs(self, run: u64) -> Streams {
        Streams { run, ..self }
    }

    /// From the end to the start, if `backward`.
    pub(super) fn backward(mut self, backward: bool, align: u64) -> Streams {
        if backward {
            let total: u128 = self.extents.iter().map(|extent| u128::from(extent.length)).sum();
            let count = self.cursors.len() as u128;
            self.extents.reverse();
            for (stream, place) in self.cursors.iter_mut().enumerate() {
                let begin = (total * stream as u128 / count) as u64;
                *place = cursor(&self.extents, begin, align);
            }
        }
        Streams { backward, ..self }
    }

    /// How far the next request is behind one of `length` bytes that began at `within`.
    #[inline]
    fn step(&self, within: u64, length: u64) -> u64 {
        match (self.stride, self.run) {
            (0, _) => length,
            (stride, 0) => stride,
            // The start of the next run, where this one is over.
            (stride, run) => {
                let behind = within % stride + length;
                if behind < run { length } else { stride - within % stride }
            }
        }
    }

    /// With one stream, what is sequential follows random requests, too, if `follows`.
    pub(super) fn following(self, follows: bool) -> Streams {
        Streams { follows, ..self }
    }

    /// A request of `length` bytes went to a random place.
    #[inline]
    pub(super) fn jumped(&mut self, place: Place, length: u64) {
        // Places count the extents forward.
        let at = match self.backward {
            true => self.extents.len().saturating_sub(place.extent + 1),
            false => place.extent,
        };
        if let (true, [cursor], Some(extent)) =
            (self.follows, &mut *self.cursors, self.extents.get(at))
        {
            let within = place.offset.saturating_sub(extent.offset);
            let step = if self.stride == 0 { length } else { self.stride };
            // Backward, the place is counted from the end, and what follows is behind it.
            let within = match self.backward {
                true => extent.length.saturating_sub(within + length),
                false => within,
            };
            *cursor = Cursor { extent: at, within: within + step };
        }
    }

    /// The next request of `length` bytes: file, offset, and how many bytes of it there are before
    /// the extent's end. With `tails`, the last request of an extent may be shorter; without, it
    /// goes to the next extent whole.
    #[inline]
    pub(super) fn next(&mut self, length: u64, tails: bool) -> (u32, u64, u64) {
        let streams = self.cursors.len();
        let at = self.turn;
        let mut cursor = self.cursors[at];
        self.turn = if self.turn + 1 == streams { 0 } else { self.turn + 1 };
        let least = if tails { 1 } else { length };
        let mut extent = &self.extents[cursor.extent];
        if cursor.within + least > extent.length {
            cursor.extent =
                if cursor.extent + 1 == self.extents.len() { 0 } else { cursor.extent + 1 };
            cursor.within = 0;
            extent = &self.extents[cursor.extent];
        }
        let there = length.min(extent.length - cursor.within);
        let within = match self.backward {
            true => extent.length - cursor.within - there,
            false => cursor.within,
        };
        let place = (extent.file, extent.offset + within, there);
        cursor.within += self.step(cursor.within, length);
        self.cursors[at] = cursor;
        place
    }
}

/// The place `distance` bytes into the extents, down to a multiple of `align` of its extent.
fn cursor(extents: &[Extent], mut distance: u64, align: u64) -> Cursor {
    for (index, extent) in extents.iter().enumerate() {
        if distance < extent.length {
            return Cursor { extent: index, within: distance / align.max(1) * align.max(1) };
        }
        distance -= extent.length;
    }
    Cursor { extent: 0, within: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents() -> [Extent; 2] {
        [
            Extent { file: 0, offset: 4096, length: 16_384 },
            Extent { file: 2, offset: 0, length: 16_384 },
        ]
    }

    fn places(streams: &mut Streams, count: usize, follows: bool) -> Vec<(u32, u64)> {
        let next = |_| streams.next(4096, follows);
        (0..count).map(next).map(|(file, offset, _)| (file, offset)).collect()
    }

    #[test]
    fn streams_begin_apart_and_take_turns() {
        let mut streams = Streams::new(&extents(), 2, 0, 4096);
        assert_eq!(
            places(&mut streams, 6, false),
            [(0, 4096), (2, 0), (0, 8192), (2, 4096), (0, 12_288), (2, 8192)]
        );
    }

    #[test]
    fn what_goes_backward_is_the_mirror_image() {
        let mut streams = Streams::new(&extents(), 1, 0, 4096).backward(true, 4096);
        let first = [(2, 12_288), (2, 8192), (2, 4096), (2, 0)];
        let second = [(0, 16_384), (0, 12_288), (0, 8192), (0, 4096), (2, 12_288)];
        assert_eq!(places(&mut streams, 9, true), [&first[..], &second[..]].concat());
        // What is left of an extent is at its start.
        let odd = [Extent { file: 0, offset: 0, length: 10_000 }];
        let mut streams = Streams::new(&odd, 1, 0, 4096).backward(true, 4096);
        let places: Vec<(u64, u64)> =
            (0..4).map(|_| streams.next(4096, true)).map(|(_, at, there)| (at, there)).collect();
        assert_eq!(places, [(5904, 4096), (1808, 4096), (0, 1808), (5904, 4096)]);
    }

    #[test]
    fn what_follows_a_jump_lies_before_it_backward() {
        let streams = Streams::new(&extents(), 1, 0, 4096).backward(true, 4096);
        let mut streams = streams.following(true);
        // The first of both extents has the higher number backward.
        streams.jumped(Place { extent: 0, file: 0, offset: 12_288 }, 4096);
        assert_eq!(places(&mut streams, 3, true), [(0, 8192), (0, 4096), (2, 12_288)]);
    }

    #[test]
    fn runs_adjoin_before_each_stride() {
        let one = [Extent { file: 0, offset: 0, length: 65_536 }];
        let mut streams = Streams::new(&one, 1, 28_672, 4096).in_runs(8192);
        let places: Vec<u64> = (0..7).map(|_| streams.next(4096, true).1).collect();
        assert_eq!(places, [0, 4096, 28_672, 32_768, 57_344, 61_440, 0]);
    }

    #[test]
    fn a_stride_leaves_gaps_and_wraps_at_the_end() {
        let mut streams = Streams::new(&extents(), 1, 12_288, 4096);
        assert_eq!(
            places(&mut streams, 5, false),
            [(0, 4096), (0, 16_384), (2, 0), (2, 12_288), (0, 4096)]
        );
    }
}
