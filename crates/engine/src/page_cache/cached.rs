//! How much of a file the page cache has: `cachestat(2)`, or on kernels before Linux 6.5 `mincore`.

use model::Bytes;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, OwnedFd};

/// The number of `cachestat` on all architectures that this program is built for.
const CACHESTAT: libc::c_long = 451;
/// As much of a file is mapped at a time.
const WINDOW: usize = 256 << 20;

/// Bytes of a file that are in the page cache, in whole pages.
///
/// # Errors
/// The kernel does not say.
pub(crate) fn bytes(file: &OwnedFd) -> Result<Bytes> {
    match by_cachestat(file) {
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => by_mincore(file),
        found => found,
    }
}

/// A page in bytes.
fn page() -> usize {
    // SAFETY: it reads a number that the kernel gave this process at its start.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

fn by_cachestat(file: &OwnedFd) -> Result<Bytes> {
    // From the start to the end (`struct cachestat_range`).
    let whole = [0u64; 2];
    // Cached, dirty, under writeback, evicted, recently evicted (`struct cachestat`).
    let mut pages = [0u64; 5];
    // SAFETY: the kernel reads two and writes five numbers of 64 bits, which both outlive the call.
    let failed = unsafe {
        libc::syscall(CACHESTAT, file.as_raw_fd(), whole.as_ptr(), pages.as_mut_ptr(), 0u32)
    };
    if failed != 0 {
        return Err(Error::last_os_error());
    }
    Ok(Bytes(pages[0].saturating_mul(page() as u64)))
}

fn by_mincore(file: &OwnedFd) -> Result<Bytes> {
    let size = usize::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or(0);
    let mut found = 0u64;
    for start in (0..size).step_by(WINDOW) {
        let length = WINDOW.min(size - start);
        let mut pages = vec![0u8; length.div_ceil(page())];
        let offset = libc::off_t::try_from(start).map_err(Error::other)?;
        // SAFETY: a new mapping, which nobody reads or writes, of a file that is open.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                offset,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        // SAFETY: `pages` has a byte for each page of the mapping, which is whole.
        let failed = unsafe { libc::mincore(at, length, pages.as_mut_ptr()) };
        let error = Error::last_os_error();
        // SAFETY: the mapping of above, which nothing refers to any more.
        unsafe { libc::munmap(at, length) };
        if failed != 0 {
            return Err(error);
        }
        found += pages.iter().filter(|page| **page & 1 == 1).count() as u64;
    }
    Ok(Bytes(found.saturating_mul(page() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_count_the_same_pages() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), vec![1; 10 * page() + 1]).expect("written");
        let opened: OwnedFd = std::fs::File::open(file.path()).expect("opened").into();
        assert_eq!(by_mincore(&opened).expect("counted"), Bytes(11 * page() as u64));
        assert_eq!(bytes(&opened).expect("counted"), Bytes(11 * page() as u64));
    }
}
