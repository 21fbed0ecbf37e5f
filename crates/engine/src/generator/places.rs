//! Where a random request can begin.

use model::plan::Extent;

/// Every place in a worker's extents at which requests of one length fit: multiples of the
/// alignment from each extent's start on.
#[derive(Clone, Debug)]
pub(super) struct Places {
    ranges: Box<[Range]>,
    total: u64,
    align: u64,
}

/// Where a request can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The extent, among all of the worker.
    pub(super) extent: usize,
    pub(super) file: u32,
    pub(super) offset: u64,
}

/// The places of one extent.
#[derive(Clone, Copy, Debug)]
struct Range {
    extent: usize,
    file: u32,
    offset: u64,
    /// Places in the extents before this one.
    first: u64,
}

impl Places {
    /// The places for requests of `length` bytes.
    pub(super) fn new(extents: &[Extent], length: u64, align: u64) -> Places {
        let align = align.max(1);
        let mut total = 0;
        let mut ranges = Vec::new();
        for (number, extent) in extents.iter().enumerate() {
            let count = extent.length.checked_sub(length).map_or(0, |room| room / align + 1);
            if count > 0 {
                let (file, offset) = (extent.file, extent.offset);
                ranges.push(Range { extent: number, file, offset, first: total });
                total += count;
            }
        }
        Places { ranges: ranges.into(), total, align }
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.total
    }

    /// File, offset of the first place and distance of the places, where all are in one extent.
    pub(super) fn only(&self) -> Option<(u32, u64, u64)> {
        match &*self.ranges {
            [range] => Some((range.file, range.offset, self.align)),
            _ => None,
        }
    }

    /// The place with this number.
    #[inline]
    pub(super) fn at(&self, number: u64) -> Place {
        let index = match self.ranges.len() {
            1 => 0,
            _ => self.ranges.partition_point(|range| range.first <= number) - 1,
        };
        let range = &self.ranges[index];
        let offset = range.offset + (number - range.first) * self.align;
        Place { extent: range.extent, file: range.file, offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_fit_into_their_extent_wherever_they_begin() {
        let extents = [
            Extent { file: 0, offset: 8192, length: 40_960 },
            Extent { file: 3, offset: 0, length: 1_000 },
            Extent { file: 5, offset: 4096, length: 8_192 },
        ];
        for (length, align, count) in [
            (4096, 4096, 10 + 2),
            (4096, 512, 73 + 9),
            (8192, 4096, 9 + 1),
            (512, 512, 80 + 1 + 16),
        ] {
            let places = Places::new(&extents, length, align);
            assert_eq!(places.count(), count, "{length} at {align}");
            let mut seen = std::collections::BTreeSet::new();
            for number in 0..count {
                let Place { extent, file, offset } = places.at(number);
                let extent = &extents[extent];
                assert_eq!(file, extent.file);
                assert!(
                    offset >= extent.offset && offset + length <= extent.offset + extent.length
                );
                assert_eq!((offset - extent.offset) % align, 0);
                assert!(seen.insert((file, offset)), "every place once");
            }
        }
    }
}
