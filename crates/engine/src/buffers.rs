//! The memory that requests read into and write from.

use model::rng::{Rng, split_mix};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Direct I/O wants memory aligned to the device's blocks; a page suits every device.
const PAGE: usize = 4096;
/// Pieces of memory this large and aligned can be huge pages: fewer segments for each large request, so that
/// the kernel need not split it.
const HUGE_PAGE: usize = 2 << 20;
/// Deduplicating storage compares blocks of this size or larger.
const SECTOR: usize = 512;

/// Equal buffers in one aligned piece of memory.
///
/// The kernel reads and writes this memory behind the compiler's back, so it is only ever reached through
/// raw pointers: a buffer belongs to the kernel from submission to completion, and to the worker otherwise.
pub(crate) struct Buffers {
    memory: NonNull<u8>,
    layout: Layout,
    stride: usize,
    stamp: u64,
}

impl Buffers {
    /// `count` buffers of `size` bytes, filled with random bytes that no storage can compress.
    pub(crate) fn new(count: usize, size: usize, seed: u64) -> Buffers {
        let stride = size.next_multiple_of(SECTOR);
        let bytes = (stride * count).max(PAGE);
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { PAGE };
        let Ok(layout) = Layout::from_size_align(bytes, align) else {
            // The planner bounds buffers to half of the memory.
            unreachable!("{count} buffers of {size} bytes overflow the address space");
        };
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        if align == HUGE_PAGE {
            // SAFETY: only advice on memory that is ours; without huge pages everything works the same.
            unsafe { libc::madvise(memory.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        // SAFETY: the memory is ours and this large.
        unsafe { memory.as_ptr().write_bytes(0, bytes) };
        let mut buffers = Buffers { memory, layout, stride, stamp: seed };
        buffers.fill(seed);
        buffers
    }

    fn fill(&mut self, seed: u64) {
        let mut rng = Rng::new(seed);
        // SAFETY: the memory is ours alone until the first request is submitted, and initialised to zero.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.layout.size()) };
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&rng.next_u64().to_ne_bytes());
        }
    }

    /// All of the memory, to register it.
    pub(crate) fn whole(&self) -> (*mut u8, usize) {
        (self.memory.as_ptr(), self.layout.size())
    }

    /// The start of buffer `index`.
    #[inline]
    pub(crate) fn pointer(&self, index: usize) -> *mut u8 {
        debug_assert!((index + 1) * self.stride <= self.layout.size());
        // SAFETY: `index` is below the count given to `new`, so the result stays within the allocation.
        unsafe { self.memory.as_ptr().add(index * self.stride) }
    }

    /// Makes the first `length` bytes of buffer `index` unlike any written before: a fresh number in every 512 bytes.
    /// Without it, storage that finds duplicates would store a handful of blocks and report a wonder.
    #[inline]
    pub(crate) fn stamp(&mut self, index: usize, length: usize) {
        let mut value = split_mix(&mut self.stamp);
        let start = self.pointer(index);
        for sector in 0..length.div_ceil(SECTOR) {
            value = value.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1);
            // SAFETY: the stride is a multiple of SECTOR and at least `length`, so 8 bytes at each sector's start are
            // inside the buffer; the buffer is not with the kernel, because its request has not been submitted yet.
            unsafe { start.add(sector * SECTOR).cast::<u64>().write(value) };
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this very layout; drivers drain all requests before they drop buffers.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(buffers: &Buffers, index: usize, length: usize) -> Vec<u8> {
        // SAFETY: no request is under way in this test.
        unsafe { std::slice::from_raw_parts(buffers.pointer(index), length) }.to_vec()
    }

    #[test]
    fn stamped_sectors_are_all_different() {
        let mut buffers = Buffers::new(2, 4096, 1);
        let mut seen = std::collections::HashSet::new();
        for round in 0..100 {
            buffers.stamp(round % 2, 4096);
            for sector in bytes(&buffers, round % 2, 4096).chunks(SECTOR) {
                assert!(seen.insert(sector.to_vec()), "a sector came twice in round {round}");
            }
        }
    }

    #[test]
    fn buffers_are_aligned_and_apart() {
        let buffers = Buffers::new(3, 1000, 1);
        assert_eq!(buffers.pointer(0) as usize % PAGE, 0);
        assert_eq!(buffers.pointer(1) as usize - buffers.pointer(0) as usize, 1024);
        assert_ne!(bytes(&buffers, 0, 1000), bytes(&buffers, 1, 1000));
    }
}
