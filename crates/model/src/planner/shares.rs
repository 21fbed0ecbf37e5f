//! Which worker loads which bytes.

use crate::load::Part;
use crate::plan::Extent;
use crate::units::{Bytes, Percent};

/// A part of a file that is loaded: its first byte, and how many there are.
pub(super) type Loaded = (u64, Bytes);

/// What is loaded of files of these sizes: `part` of each, beginning at a whole block.
pub(super) fn parts(files: &[Bytes], part: Part, block: Bytes) -> Vec<Loaded> {
    let at = |size: &Bytes, share: Percent| (u128::from(size.0) * u128::from(share.ppm) / 1_000_000) as u64;
    let loaded = |size: &Bytes| {
        let start = at(size, part.from).next_multiple_of(block.0.max(1));
        (start, Bytes(at(size, part.to).saturating_sub(start)))
    };
    files.iter().map(loaded).collect()
}

/// Cuts what is loaded into `workers` shares of equal size: no byte in two shares, every whole block of every file in one.
///
/// Blocks are counted from the start of what is loaded of each file. With `tails`, the last part of a file that is no whole block belongs to
/// somebody, too (a stage that writes every byte needs it); without, it is left out.
pub(super) fn shares(files: &[Loaded], workers: u32, block: Bytes, tails: bool) -> Vec<Vec<Extent>> {
    let block = block.0.max(1);
    let blocks_of = |(_, size): &Loaded| if tails { size.0.div_ceil(block) } else { size.0 / block };
    let total: u64 = files.iter().map(blocks_of).sum();
    let boundary = |worker: u32| (u128::from(total) * u128::from(worker) / u128::from(workers.max(1))) as u64;
    (0..workers)
        .map(|worker| {
            let (start, end) = (boundary(worker), boundary(worker + 1));
            let mut first = 0;
            let mut extents = Vec::new();
            for (file, loaded) in files.iter().enumerate() {
                let last = first + blocks_of(loaded);
                let (from, to) = (start.max(first), end.min(last));
                if from < to {
                    let offset = (from - first) * block;
                    let stop = ((to - first) * block).min(loaded.1.0);
                    extents.push(Extent { file: file as u32, offset: loaded.0 + offset, length: stop - offset });
                }
                first = last;
            }
            extents
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn as_many_workers_as_files_get_a_file_each() {
        let shares = shares(&[(0, Bytes(4096)); 3], 3, Bytes(1024), false);
        let whole = |file| vec![Extent { file, offset: 0, length: 4096 }];
        assert_eq!(shares, [whole(0), whole(1), whole(2)]);
    }

    #[test]
    fn a_part_of_a_file_begins_at_a_whole_block() {
        let part = Part { from: Percent::of(25), to: Percent::of(50) };
        assert_eq!(parts(&[Bytes(10_000)], part, Bytes(1024)), [(3072, Bytes(1928))]);
        assert_eq!(parts(&[Bytes(10_000)], Part::WHOLE, Bytes(1024)), [(0, Bytes(10_000))]);
        assert_eq!(parts(&[Bytes(100)], part, Bytes(1024)), [(1024, Bytes(0))]);
    }

    proptest! {
        #[test]
        fn shares_adjoin_cover_and_never_overlap(
            loaded in prop::collection::vec((0u64..1_000, 0u64..100_000), 1..8),
            workers in 1u32..20,
            block in 1u64..9_000,
            tails: bool,
        ) {
            let loaded: Vec<Loaded> = loaded.into_iter().map(|(start, size)| (start * block, Bytes(size))).collect();
            let shares = shares(&loaded, workers, Bytes(block), tails);
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
            let blocks = |share: &Vec<Extent>| share.iter().map(|e| e.length.div_ceil(block)).sum::<u64>();
            let counts: Vec<u64> = shares.iter().map(blocks).collect();
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }
}
