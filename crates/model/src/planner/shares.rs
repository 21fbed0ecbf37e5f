//! Which worker loads which bytes.

use crate::plan::Extent;
use crate::units::Bytes;

/// Cuts the files into `workers` shares of equal size: no byte in two shares, every whole block of every file in one.
///
/// Blocks are counted from the start of each file. With `tails`, the last part of a file that is no whole block belongs to
/// somebody, too (a stage that writes every byte needs it); without, it is left out.
pub(super) fn shares(files: &[Bytes], workers: u32, block: Bytes, tails: bool) -> Vec<Vec<Extent>> {
    let block = block.0.max(1);
    let blocks_of = |size: &Bytes| if tails { size.0.div_ceil(block) } else { size.0 / block };
    let total: u64 = files.iter().map(blocks_of).sum();
    let boundary = |worker: u32| (u128::from(total) * u128::from(worker) / u128::from(workers.max(1))) as u64;
    (0..workers)
        .map(|worker| {
            let (start, end) = (boundary(worker), boundary(worker + 1));
            let mut first = 0;
            let mut extents = Vec::new();
            for (file, size) in files.iter().enumerate() {
                let last = first + blocks_of(size);
                let (from, to) = (start.max(first), end.min(last));
                if from < to {
                    let offset = (from - first) * block;
                    let stop = ((to - first) * block).min(size.0);
                    extents.push(Extent { file: file as u32, offset, length: stop - offset });
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
        let shares = shares(&[Bytes(4096); 3], 3, Bytes(1024), false);
        let whole = |file| vec![Extent { file, offset: 0, length: 4096 }];
        assert_eq!(shares, [whole(0), whole(1), whole(2)]);
    }

    proptest! {
        #[test]
        fn shares_adjoin_cover_and_never_overlap(
            files in prop::collection::vec(0u64..100_000, 1..8),
            workers in 1u32..20,
            block in 1u64..9_000,
            tails: bool,
        ) {
            let sizes: Vec<Bytes> = files.iter().copied().map(Bytes).collect();
            let shares = shares(&sizes, workers, Bytes(block), tails);
            prop_assert_eq!(shares.len(), workers as usize);
            let mut next: Vec<u64> = vec![0; files.len()];
            for extent in shares.iter().flatten() {
                prop_assert_eq!(extent.offset, next[extent.file as usize]);
                prop_assert_eq!(extent.offset % block, 0);
                prop_assert!(extent.length > 0);
                next[extent.file as usize] = extent.offset + extent.length;
            }
            for (end, size) in next.iter().zip(&files) {
                prop_assert_eq!(*end, if tails { *size } else { size / block * block });
            }
            let blocks = |share: &Vec<Extent>| share.iter().map(|e| e.length.div_ceil(block)).sum::<u64>();
            let counts: Vec<u64> = shares.iter().map(blocks).collect();
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
        }
    }
}
