//! A table of file descriptors for each worker.
//!
//! Threads share one table, in which every open and every close takes a lock, and every call on a
//! descriptor counts its users up and down where the other threads do too. A worker that opens and
//! closes a file with each operation has a table of its own, as a process would.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// The first descriptor behind input, output and error.
const FIRST: RawFd = 3;

/// Gives this thread a descriptor table of its own, in which nothing is open but the standard
/// streams and `kept`, under their numbers. Where the system refuses it, the thread goes on with
/// the shared table; comes back with whether it has its own.
///
/// To be called before the thread opens anything: what it opened until then is open in both tables,
/// and dropping it closes it in one.
pub(super) fn keep_own(kept: Option<BorrowedFd<'_>>) -> bool {
    if !leave_shared() {
        return false;
    }
    // Copies would keep open what others close: pipes, sockets, locks.
    match kept.map(|kept| kept.as_raw_fd()) {
        Some(kept) if kept >= FIRST => {
            close(FIRST, kept - 1);
            close(kept + 1, RawFd::MAX);
        }
        _ => close(FIRST, RawFd::MAX),
    }
    true
}

/// Goes on with a copy of the shared table; false where the system refuses that.
fn leave_shared() -> bool {
    // Filters of containers that forbid `unshare` mostly know nothing of this one; kernels before
    // 5.9 have only the former.
    //
    // SAFETY: no descriptor has the largest number, so that nothing is closed. The table of this
    // thread is copied, those of all others stay as they are. What this thread borrows from them
    // has the same number in the copy, and it owns no descriptor yet.
    let copied = unsafe {
        libc::syscall(libc::SYS_close_range, RawFd::MAX, RawFd::MAX, libc::CLOSE_RANGE_UNSHARE)
    };
    // SAFETY: as above; the table is copied, and nothing else.
    copied == 0 || unsafe { libc::unshare(libc::CLONE_FILES) } == 0
}

/// Closes the descriptors from `first` to `last` in the table of this thread.
fn close(first: RawFd, last: RawFd) {
    if first <= last {
        // SAFETY: only called on a table of this thread's own, from which it uses no descriptor in
        // that range. Kernels before 5.9 refuse it; then the copies stay until the thread ends.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::time::Duration;

    #[test]
    fn what_a_thread_opens_and_keeps_is_its_own() {
        let base = tempfile::tempdir().expect("a directory");
        let root = std::fs::File::open(base.path()).expect("opens");
        let (mut reader, writer) = std::io::pipe().expect("a pipe");
        let number = writer.as_raw_fd();
        let (tell, told) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let kept = root.as_fd();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let is_own = keep_own(Some(kept));
                let here = rustix::fs::openat(
                    kept,
                    ".",
                    rustix::fs::OFlags::RDONLY,
                    rustix::fs::Mode::empty(),
                );
                // SAFETY: asks for a flag of a number, whatever that is.
                let is_open = unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
                tell.send((is_own, here.as_ref().map(AsRawFd::as_raw_fd).ok(), is_open))
                    .expect("is heard");
                let _ = released.recv();
            });
            let (is_own, opened, is_open) =
                told.recv_timeout(Duration::from_secs(60)).expect("the thread speaks");
            let opened = opened.expect("what was kept is open under its number");
            if is_own {
                // The lowest number is free in the own table, and what this thread has open was
                // closed there.
                assert!(
                    opened == FIRST || (kept.as_raw_fd() == FIRST && opened == FIRST + 1),
                    "{opened}"
                );
                assert!(!is_open || opened == number, "a pipe of another thread is open");
            }
            (&writer).write_all(b"x").expect("is open here");
            drop(writer);
            let mut all = Vec::new();
            reader.read_to_end(&mut all).expect("ends, though the other thread still runs");
            assert_eq!(all, b"x");
            drop(release);
        });
    }
}
