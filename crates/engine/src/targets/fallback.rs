//! Which backend serves the targets of a plan, where the kernel forbids the one that is asked for.

use model::choices::Backend;
use std::io;

/// What libaio costs without direct I/O.
pub(super) const ONE_AFTER_THE_OTHER: &str =
    "does one request after the other through the page cache";

/// The backend for `wanted`, of which `auto` begins with the best that keeps many requests
/// outstanding, or what takes its place where the kernel forbids it: io_uring, then libaio, then
/// sync; and why, in words.
pub(super) fn fallback(
    wanted: Backend,
    ring: impl FnOnce() -> io::Result<()>,
    aio: impl FnOnce() -> io::Result<()>,
    direct: bool,
    trims: bool,
) -> (Backend, Option<String>) {
    let mut why = String::new();
    if matches!(wanted, Backend::IoUring | Backend::Auto) {
        match ring() {
            Ok(()) => return (Backend::IoUring, None),
            Err(error) => why = format!("io_uring: {error}; "),
        }
    } else if wanted != Backend::Libaio {
        return (wanted, None);
    }
    let aio = || if trims { Err(io::Error::other("it has no request for a trim")) } else { aio() };
    match aio() {
        Ok(()) if wanted == Backend::Libaio => (wanted, None),
        Ok(()) if direct => (Backend::Libaio, Some(format!("{why}libaio takes its place"))),
        Ok(()) => (
            Backend::Libaio,
            Some(format!("{why}libaio takes its place, which {ONE_AFTER_THE_OTHER}")),
        ),
        Err(error) => {
            let cost = "with one request outstanding per worker";
            (Backend::Sync, Some(format!("{why}libaio: {error}; sync takes its place, {cost}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Note, NoteKind};
    use rustix::io::Errno;

    fn allowed() -> io::Result<()> {
        Ok(())
    }

    fn forbidden() -> io::Result<()> {
        Err(Errno::PERM.into())
    }

    #[test]
    fn the_next_best_backend_takes_over_and_says_at_what_cost() {
        let (backend, why) = fallback(Backend::IoUring, forbidden, allowed, true, false);
        let why = why.expect("said");
        assert_eq!(backend, Backend::Libaio);
        assert!(why.starts_with("io_uring: ") && why.ends_with("libaio takes its place"), "{why}");
        let (_, why) = fallback(Backend::IoUring, forbidden, allowed, false, false);
        assert!(why.expect("said").contains("one request after the other"));
        let (backend, why) = fallback(Backend::IoUring, forbidden, forbidden, true, false);
        let why = why.expect("said");
        assert_eq!(backend, Backend::Sync);
        assert!(
            why.contains("libaio: ") && why.contains("one request outstanding per worker"),
            "{why}"
        );
        let (backend, why) = fallback(Backend::Libaio, allowed, forbidden, true, false);
        assert_eq!(backend, Backend::Sync, "a ring that was not asked for is no way out");
        assert!(!why.expect("said").contains("io_uring"));
    }

    #[test]
    fn what_was_taken_can_be_read_from_the_note() {
        for (wanted, ring, direct) in
            [(Backend::IoUring, false, true), (Backend::Auto, false, false)]
        {
            for aio in [true, false] {
                let answer = |is_allowed: bool| if is_allowed { allowed() } else { forbidden() };
                let (taken, why) = fallback(wanted, || answer(ring), || answer(aio), direct, false);
                let kind = NoteKind::BackendFallback;
                let note = Note { stage: None, host: 0, kind, detail: why.expect("said") };
                assert_eq!(note.backend(), Some(taken), "{note:?}");
                assert_eq!(Note { kind: NoteKind::Stuck, ..note }.backend(), None);
            }
        }
    }

    #[test]
    fn libaio_is_no_way_out_for_a_load_that_trims() {
        let (backend, why) = fallback(Backend::IoUring, forbidden, allowed, true, true);
        assert_eq!(backend, Backend::Sync);
        assert!(why.expect("said").contains("no request for a trim"));
    }

    #[test]
    fn what_is_allowed_is_used_in_silence() {
        for wanted in [Backend::IoUring, Backend::Libaio] {
            assert_eq!(fallback(wanted, allowed, allowed, true, false), (wanted, None));
        }
        assert_eq!(
            fallback(Backend::Auto, allowed, allowed, true, false),
            (Backend::IoUring, None)
        );
        let (backend, why) = fallback(Backend::Auto, forbidden, allowed, true, false);
        assert!(backend == Backend::Libaio && why.is_some());
        for wanted in [Backend::Sync, Backend::Null, Backend::Nop] {
            assert_eq!(fallback(wanted, forbidden, forbidden, true, true), (wanted, None));
        }
    }
}
