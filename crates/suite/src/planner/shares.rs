//! Which worker loads which bytes.

use model::load::Part;
use model::plan::Extent;
use model::units::Bytes;

/// A part of a file that is loaded: its first byte, and how many there are.
pub(super) type Loaded = (u64, Bytes);

/// What is loaded of files of these sizes: `part` of each, beginning at a whole block.
pub(super) fn parts(files: &[Bytes], part: Part, block: Bytes) -> Vec<Loaded> {
    let loaded = |size: &Bytes| {
        let start = part.from.in_file(*size).next_multiple_of(block.0.max(1));
        (start, Bytes(part.end(start, *size).saturating_sub(start)))
    };
    files.iter().map(loaded).collect()
}

/// What is loaded, as extents; files of which nothing is loaded have none.
pub(super) fn extents(files: &[Loaded]) -> Vec<Extent> {
    let all = files.iter().enumerate().map(|(file, (offset, size))| Extent {
        file: file as u32,
        offset: *offset,
        length: size.0,
    });
    all.filter(|extent| extent.length > 0).collect()
}

/// Cuts `loaded` into `workers` shares of equal size: no byte in two shares, every whole block of
/// every extent in one.
///
/// Blocks are counted from the start of each extent. With `tails`, the last part of an extent that
/// is no whole block belongs to somebody, too (a stage that writes every byte needs it); without,
/// it is left out.
pub(super) fn shares(
    loaded: &[Extent],
    workers: u32,
    block: Bytes,
    tails: bool,
) -> Vec<Vec<Extent>> {
    let block = block.0.max(1);
    let blocks_of =
        |extent: &Extent| if tails { extent.length.div_ceil(block) } else { extent.length / block };
    let total: u64 = loaded.iter().map(blocks_of).fold(0, u64::saturating_add);
    let boundary =
        |worker: u32| (u128::from(total) * u128::from(worker) / u128::from(workers.max(1))) as u64;
    (0..workers)
        .map(|worker| {
            let (start, end) = (boundary(worker), boundary(worker + 1));
            let mut first = 0;
            let mut mine = Vec::new();
            for extent in loaded {
                let last = first + blocks_of(extent);
                let (from, to) = (start.max(first), end.min(last));
                if from < to {
                    let begin = (from - first) * block;
                    let stop = ((to - first) * block).min(extent.length);
                    mine.push(Extent {
                        file: extent.file,
                        offset: extent.offset + begin,
                        length: stop - begin,
                    });
                }
                first = last;
            }
            mine
        })
        .collect()
}

/// Cuts `loaded` into `segments` of equal size, and each of them into shares: a worker has a part
/// of every segment.
pub(super) fn segmented(
    loaded: &[Extent],
    workers: u32,
    segments: u32,
    block: Bytes,
) -> Vec<Vec<Extent>> {
    let mut all: Vec<Vec<Extent>> = vec![Vec::new(); workers as usize];
    for segment in shares(loaded, segments, block, false) {
        for (mine, part) in all.iter_mut().zip(shares(&segment, workers, block, false)) {
            mine.extend(part);
        }
    }
    all
}

/// Deals the blocks of each extent to the workers in turn. Each worker's extents run from the first
/// of its blocks to the end of the last: from one to the next it takes a stride of a block for
/// every worker.
pub(super) fn interleaved(loaded: &[Extent], workers: u32, block: Bytes) -> Vec<Vec<Extent>> {
    let (block, workers) = (block.0.max(1), u64::from(workers.max(1)));
    let share = |worker: u64| {
        loaded
            .iter()
            .filter_map(|extent| {
                let blocks = (extent.length / block).saturating_sub(worker).div_ceil(workers);
                let length = blocks.checked_sub(1)? * workers * block + block;
                Some(Extent { file: extent.file, offset: extent.offset + worker * block, length })
            })
            .collect()
    };
    (0..workers).map(share).collect()
}

/// All whole blocks for every worker.
pub(super) fn whole(loaded: &[Extent], workers: u32, block: Bytes) -> Vec<Vec<Extent>> {
    let trimmed = |extent: &Extent| Extent {
        length: extent.length / block.0.max(1) * block.0.max(1),
        ..*extent
    };
    let all: Vec<Extent> = loaded.iter().map(trimmed).filter(|extent| extent.length > 0).collect();
    vec![all; workers as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_many_workers_as_files_get_a_file_each() {
        let shares = shares(&extents(&[(0, Bytes(4096)); 3]), 3, Bytes(1024), false);
        let whole = |file| vec![Extent { file, offset: 0, length: 4096 }];
        assert_eq!(shares, [whole(0), whole(1), whole(2)]);
    }

    #[test]
    fn a_part_of_a_file_begins_at_a_whole_block() {
        let part: Part = "25%-50%".parse().expect("a part");
        assert_eq!(parts(&[Bytes(10_000)], part, Bytes(1024)), [(3072, Bytes(1928))]);
        let behind: Part = "25%+4096B".parse().expect("a part");
        assert_eq!(parts(&[Bytes(10_000)], behind, Bytes(1024)), [(3072, Bytes(4096))]);
        assert_eq!(parts(&[Bytes(10_000)], Part::WHOLE, Bytes(1024)), [(0, Bytes(10_000))]);
        assert_eq!(parts(&[Bytes(100)], part, Bytes(1024)), [(1024, Bytes(0))]);
    }

    #[test]
    fn blocks_in_turn_and_parts_of_segments_cover_everything_once() {
        let loaded = extents(&[(0, Bytes(10 * 1024 + 5)), (0, Bytes(0)), (2048, Bytes(7 * 1024))]);
        let blocks = |extents: &[Extent], step: u64| -> Vec<(u32, u64)> {
            let of = |e: &Extent| {
                (0..e.length.div_ceil(step))
                    .map(|n| (e.file, e.offset + n * step))
                    .collect::<Vec<_>>()
            };
            extents.iter().flat_map(of).collect()
        };
        let mut every: Vec<(u32, u64)> = (0..10).map(|n| (0, n * 1024)).collect();
        every.extend((2..9).map(|n| (2, n * 1024)));
        for workers in [1, 2, 3, 4, 12] {
            let in_turn = interleaved(&loaded, workers, Bytes(1024));
            let mut all: Vec<_> =
                in_turn.iter().flat_map(|share| blocks(share, u64::from(workers) * 1024)).collect();
            all.sort_unstable();
            assert_eq!(all, every, "{workers} in turn");
            for segments in [1, 2, 5] {
                let parts = segmented(&loaded, workers, segments, Bytes(1024));
                let mut all: Vec<_> = parts.iter().flat_map(|share| blocks(share, 1024)).collect();
                all.sort_unstable();
                assert_eq!(all, every, "{workers} in {segments} segments");
            }
        }
        let two = segmented(&extents(&[(0, Bytes(8192))]), 2, 2, Bytes(1024));
        let places: Vec<u64> = two[1].iter().map(|extent| extent.offset).collect();
        assert_eq!(places, [2048, 6144], "the second half of each segment");
        assert_eq!(
            whole(&loaded, 2, Bytes(1024))[1][0],
            Extent { file: 0, offset: 0, length: 10_240 }
        );
    }

    proptest! {
        #[test]
        fn shares_adjoin_cover_and_never_overlap(
            loaded in prop::collection::vec((0u64..1_000, 0u64..100_000), 1..8),
            workers in 1u32..20,
            block in 1u64..9_000,
            tails: bool,
        ) {
            let loaded: Vec<Loaded> = loaded.into_iter()
                .map(|(start, size)| (start * block, Bytes(size))).collect();
            let shares = shares(&extents(&loaded), workers, Bytes(block), tails);
            prop_assert_eq!(shares.len(), workers as usize);
            let mut next: Vec<u64> = loaded.iter().map(|(start, _)| *start).collect();
            for extent in shares.iter().flatten() {
                prop_assert_eq!(extent.offset, next[extent.file as usize]);
                prop_assert_eq!(extent.offset % block, 0);
                prop_assert!(extent.length > 0);
                next[extent.file as usize] = extent.offset + extent.length;
            }
            for (end, (start, size)) in next.iter().zip(&loaded) {
                prop_assert_eq!(*end, start + if tails { size.0 } else { size.0 / block * block });
            }
            let blocks = |share: &Vec<Extent>| share.iter()
                .map(|e| e.length.div_ceil(block)).sum::<u64>();
            let counts: Vec<u64> = shares.iter().map(blocks).collect();
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }
}
