//! The memory that requests read into and write from.

use crate::contents::WorkerContents;
use crate::io::Io;
use model::rng::Rng;
use model::{Op, WriteMark};
use std::alloc::{Layout, alloc, dealloc};
use std::io;
use std::mem::{MaybeUninit, swap};
use std::ops::Range;
use std::ptr::NonNull;

/// Direct I/O wants memory aligned to the device's blocks; a page suits every device.
const PAGE: usize = 4096;
/// Pieces of memory this large and aligned can be huge pages: fewer segments for each large
/// request, so that the kernel need not split it.
const HUGE_PAGE: usize = 2 << 20;
/// What every buffer is a multiple of.
pub(crate) const SECTOR: usize = 512;

/// What a buffer for at most `size` bytes takes.
pub(crate) fn stride(size: usize) -> usize {
    size.next_multiple_of(SECTOR)
}

/// How much memory `count` buffers of `stride` bytes take: a single large one takes a huge page,
/// which is one segment for a device instead of hundreds.
fn memory_for(stride: usize, count: usize) -> usize {
    let least = if stride >= HUGE_PAGE / 2 { HUGE_PAGE } else { PAGE };
    (stride * count).max(least)
}

/// Equal buffers in one aligned piece of memory.
///
/// The kernel reads and writes this memory behind the compiler's back, so it is only ever reached
/// through raw pointers: a buffer belongs to the kernel from submission to completion, and to the
/// worker otherwise.
pub(crate) struct Buffers {
    memory: NonNull<u8>,
    layout: Layout,
    stride: usize,
    /// Of each buffer, where it begins.
    starts: Box<[usize]>,
    /// Where the pieces begin that no buffer has. They take turns with those of writes.
    spares: Box<[usize]>,
    next_spare: usize,
    contents: WorkerContents,
}

impl Buffers {
    /// `count` buffers for at most `size` bytes each, and `spares` more pieces of memory that their
    /// writes go through in turn: all with random bytes. `contents` fills what is written and
    /// checks what is read.
    ///
    /// # Errors
    /// The system gives no more memory: `ENOMEM`.
    pub(crate) fn new(
        count: usize,
        spares: usize,
        size: usize,
        seed: u64,
        contents: WorkerContents,
    ) -> io::Result<Buffers> {
        let stride = stride(size);
        let bytes = memory_for(stride, count + spares);
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { PAGE };
        let Ok(layout) = Layout::from_size_align(bytes, align) else {
            // The planner bounds buffers to half of the memory.
            unreachable!("{count} buffers of {size} bytes overflow the address space");
        };
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(layout) };
        let memory =
            NonNull::new(memory).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        if align == HUGE_PAGE {
            // SAFETY: only advice on memory that is ours; without huge pages everything works the
            // same.
            unsafe { libc::madvise(memory.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        // SAFETY: the memory is ours alone, this large (a multiple of 512 bytes), and aligned to a
        // page.
        let words = unsafe {
            std::slice::from_raw_parts_mut(memory.as_ptr().cast::<MaybeUninit<u64>>(), bytes / 8)
        };
        let mut rng = Rng::new(seed);
        for word in words {
            word.write(rng.next_u64());
        }
        let pieces = |numbers: Range<usize>| numbers.map(|number| number * stride).collect();
        let (starts, spares) = (pieces(0..count), pieces(count..count + spares));
        Ok(Buffers { memory, layout, stride, starts, spares, next_spare: 0, contents })
    }

    /// All of the memory, to register it.
    pub(crate) fn whole(&self) -> (*mut u8, usize) {
        (self.memory.as_ptr(), self.layout.size())
    }

    /// The start of buffer `index`, until the next write [begins](Self::begin) with it.
    #[inline]
    pub(crate) fn pointer(&self, index: usize) -> *mut u8 {
        let start = self.starts[index];
        debug_assert!(start + self.stride <= self.layout.size());
        // SAFETY: starts are those of whole pieces of the allocation.
        unsafe { self.memory.as_ptr().add(start) }
    }

    /// Gives buffer `index` the piece of memory that was not written from for the longest.
    #[inline]
    fn take_spare(&mut self, index: usize) {
        let Some(spare) = self.spares.get_mut(self.next_spare) else { return };
        swap(spare, &mut self.starts[index]);
        self.next_spare += 1;
        if self.next_spare == self.spares.len() {
            self.next_spare = 0;
        }
    }

    /// `io` is about to be sent with buffer `index`: a write is filled.
    #[inline]
    pub(crate) fn begin(&mut self, index: usize, io: &Io) {
        match io.op {
            Op::Write => {
                self.take_spare(index);
                let start = self.pointer(index);
                // SAFETY: the stride is at least `length` and the memory was initialised in `new`;
                // the piece is not with the kernel, because it was a spare or its buffer's request
                // has not been submitted yet, and nothing else refers to it.
                let bytes = unsafe {
                    std::slice::from_raw_parts_mut(start, (io.length as usize).min(self.stride))
                };
                self.contents.write_begins(io, bytes);
            }
            Op::Read => self.contents.read_begins(io),
            Op::Trim => self.contents.trim_begins(io),
            Op::Fsync => self.contents.sync_begins(io),
            _ => {}
        }
    }

    /// The request of `slot` came back with `result`, a read in the buffer of the same number. The
    /// result that counts: damage that a check found takes the place of bytes that moved.
    #[inline]
    pub(crate) fn end(&mut self, slot: u32, result: i32) -> i32 {
        if !self.contents.is_checked() {
            return result;
        }
        let start = self.pointer(slot as usize);
        // SAFETY: within the buffer, which was initialised in `new`; the kernel is done with it,
        // because its request has completed.
        let bytes =
            unsafe { std::slice::from_raw_parts(start, (result.max(0) as usize).min(self.stride)) };
        self.contents.ends(slot, result, bytes)
    }

    /// How far writes have got since the last time that it was asked; `None` where nothing is
    /// checked.
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
        // SAFETY: allocated in `new` with this very layout; drivers drain all requests before they
        // drop buffers.
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
    fn a_large_buffer_has_a_huge_page() {
        assert_eq!(memory_for(1 << 20, 1), HUGE_PAGE);
        assert_eq!(memory_for(1 << 20, 3), 3 << 20);
        assert_eq!(memory_for(512 << 10, 2), 1 << 20, "half of a huge page would be empty");
        assert_eq!(memory_for(512, 1), PAGE);
        let buffers =
            Buffers::new(1, 0, 1 << 20, 1, crate::contents::testing::random()).expect("memory");
        assert_eq!(buffers.pointer(0) as usize % HUGE_PAGE, 0);
    }

    #[test]
    fn writes_go_through_the_spares_in_turn() {
        let mut buffers =
            Buffers::new(2, 3, 512, 1, crate::contents::testing::random()).expect("memory");
        let write = |slot| Io { slot, op: Op::Write, file: 0, offset: 0, length: 512 };
        let other = buffers.pointer(1);
        let mut begin = || {
            buffers.begin(0, &write(0));
            buffers.pointer(0) as usize
        };
        let seen: Vec<usize> = (0..8).map(|_| begin()).collect();
        assert_eq!(seen[..4], seen[4..], "a piece comes back after the others");
        assert!(!seen.contains(&(other as usize)), "the other buffer may be with the kernel");
        assert_eq!(seen.iter().collect::<std::collections::HashSet<_>>().len(), 4);
        buffers.begin(0, &Io { op: Op::Read, ..write(0) });
        assert_eq!(buffers.pointer(0) as usize, seen[7], "only writes take turns");
    }

    #[test]
    fn buffers_are_aligned_and_apart() {
        let buffers =
            Buffers::new(3, 0, 1000, 1, crate::contents::testing::random()).expect("memory");
        assert_eq!(buffers.pointer(0) as usize % PAGE, 0);
        assert_eq!(buffers.pointer(1) as usize - buffers.pointer(0) as usize, 1024);
        assert_ne!(bytes(&buffers, 0, 1000), bytes(&buffers, 1, 1000));
    }
}
