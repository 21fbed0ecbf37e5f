//! Sequential requests: one after the other through the worker's extents, and from the start again.

use super::places::Place;
use model::plan::Extent;

/// Streams that take turns.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    extents: Box<[Extent]>,
    cursors: Box<[Cursor]>,
    turn: usize,
    /// From one request to the next; 0 where they adjoin.
    stride: u64,
    /// Whether a request at another place is followed there: by the only stream.
    follows: bool,
}

/// Where a stream goes on.
#[derive(Clone, Copy, Debug)]
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
            stride,
            follows: false,
        }
    }

    /// With one stream, what is sequential follows random requests, too, if `follows`.
    pub(super) fn following(self, follows: bool) -> Streams {
        Streams { follows, ..self }
    }

    /// A request of `length` bytes went to a random place.
    #[inline]
    pub(super) fn jumped(&mut self, place: Place, length: u64) {
        if let (true, [cursor], Some(extent)) =
            (self.follows, &mut *self.cursors, self.extents.get(place.extent))
        {
            let within = place.offset.saturating_sub(extent.offset);
            let step = if self.stride == 0 { length } else { self.stride };
            *cursor = Cursor { extent: place.extent, within: within + step };
        }
    }

    /// The next request of `length` bytes: file, offset, and how many bytes of it there are before
    /// the extent's end. With `tails`, the last request of an extent may be shorter; without, it
    /// goes to the next extent whole.
    #[inline]
    pub(super) fn next(&mut self, length: u64, tails: bool) -> (u32, u64, u64) {
        let streams = self.cursors.len();
        let cursor = &mut self.cursors[self.turn];
        self.turn = if self.turn + 1 == streams { 0 } else { self.turn + 1 };
        let least = if tails { 1 } else { length };
        let mut extent = &self.extents[cursor.extent];
        if cursor.within + least > extent.length {
            cursor.extent =
                if cursor.extent + 1 == self.extents.len() { 0 } else { cursor.extent + 1 };
            cursor.within = 0;
            extent = &self.extents[cursor.extent];
        }
        let offset = extent.offset + cursor.within;
        let there = length.min(extent.length - cursor.within);
        cursor.within += if self.stride == 0 { length } else { self.stride };
        (extent.file, offset, there)
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

    #[test]
    fn streams_begin_apart_and_take_turns() {
        let mut streams = Streams::new(&extents(), 2, 0, 4096);
        let places: Vec<(u32, u64)> = (0..6)
            .map(|_| streams.next(4096, false))
            .map(|(file, offset, _)| (file, offset))
            .collect();
        assert_eq!(places, [(0, 4096), (2, 0), (0, 8192), (2, 4096), (0, 12_288), (2, 8192)]);
    }

    #[test]
    fn a_stride_leaves_gaps_and_wraps_at_the_end() {
        let mut streams = Streams::new(&extents(), 1, 12_288, 4096);
        let places: Vec<(u32, u64)> = (0..5)
            .map(|_| streams.next(4096, false))
            .map(|(file, offset, _)| (file, offset))
            .collect();
        assert_eq!(places, [(0, 4096), (0, 16_384), (2, 0), (2, 12_288), (0, 4096)]);
    }
}
