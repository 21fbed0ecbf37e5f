//! The memory that requests read into and write from.

use crate::backend::Io;
use crate::contents::WorkerContents;
use model::rng::Rng;
use model::{Op, WriteMark};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Direct I/O wants memory aligned to the device's blocks; a page suits every device.
const PAGE: usize = 4096;
/// Pieces of memory this large and aligned can be huge pages: fewer segments for each large request, so that
/// the kernel need not split it.
const HUGE_PAGE: usize = 2 << 20;
/// What every buffer is a multiple of.
const SECTOR: usize = 512;

/// Equal buffers in one aligned piece of memory.
///
/// The kernel reads and writes this memory behind the compiler's back, so it is only ever reached through
/// raw pointers: a buffer belongs to the kernel from submission to completion, and to the worker otherwise.
pub(crate) struct Buffers {
    memory: NonNull<u8>,
    layout: Layout,
    stride: usize,
    contents: WorkerContents,
}

impl Buffers {
    /// `count` buffers of `size` bytes with random bytes, whose writes `contents` fills and whose reads it checks.
    pub(crate) fn new(count: usize, size: usize, seed: u64, contents: WorkerContents) -> Buffers {
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
        let mut buffers = Buffers { memory, layout, stride, contents };
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

    /// `io` is about to be sent with buffer `index`: a write is filled.
    #[inline]
    pub(crate) fn begin(&mut self, index: usize, io: &Io) {
        match io.op {
            Op::Write => {
                let start = self.pointer(index);
                // SAFETY: the stride is at least `length` and the memory was initialised in `new`; the buffer is not with the kernel,
                // because its request has not been submitted yet, and nothing else refers to it.
                let bytes = unsafe { std::slice::from_raw_parts_mut(start, (io.length as usize).min(self.stride)) };
                self.contents.write_begins(io, bytes);
            }
            Op::Read => self.contents.read_begins(io),
            Op::Trim => self.contents.trim_begins(io),
            Op::Fsync => self.contents.sync_begins(io),
            _ => {}
        }
    }

    /// The request of `slot` came back with `result`, a read in the buffer of the same number. The result that counts: damage that
    /// a check found takes the place of bytes that moved.
    #[inline]
    pub(crate) fn end(&mut self, slot: u32, result: i32) -> i32 {
        if !self.contents.is_checked() {
            return result;
        }
        let start = self.pointer(slot as usize);
        // SAFETY: within the buffer, which was initialised in `new`; the kernel is done with it, because its request has completed.
        let bytes = unsafe { std::slice::from_raw_parts(start, (result.max(0) as usize).min(self.stride)) };
        self.contents.ends(slot, result, bytes)
    }

    /// How far writes have got since the last time that it was asked; `None` where nothing is checked.
    pub(crate) fn mark(&mut self) -> Option<WriteMark> {
        self.contents.mark()
    }

    /// What fills and checks them.
    pub(crate) fn contents(&self) -> &WorkerContents {
        &self.contents
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
    fn buffers_are_aligned_and_apart() {
        let buffers = Buffers::new(3, 1000, 1, crate::contents::testing::random());
        assert_eq!(buffers.pointer(0) as usize % PAGE, 0);
        assert_eq!(buffers.pointer(1) as usize - buffers.pointer(0) as usize, 1024);
        assert_ne!(bytes(&buffers, 0, 1000), bytes(&buffers, 1, 1000));
    }
}
