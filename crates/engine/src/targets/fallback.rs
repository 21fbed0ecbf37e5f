//! Which backend serves the targets of a plan, where the kernel forbids the one that is asked for.

use model::choices::Backend;
use model::note::{Fallback, RefusedBackend, WhyRefused};
use std::io;

/// The backend for `wanted`, of which `auto` begins with the best that keeps many requests
/// outstanding, or what takes its place where the kernel forbids it: io_uring, then libaio, then
/// sync; and why.
pub(super) fn fallback(
    wanted: Backend,
    ring: impl FnOnce() -> io::Result<()>,
    aio: impl FnOnce() -> io::Result<()>,
    direct: bool,
    trims: bool,
) -> (Backend, Option<Fallback>) {
    let mut refused = Vec::new();
    let mut refuse = |backend, why| refused.push(RefusedBackend { backend, why });
    if matches!(wanted, Backend::IoUring | Backend::Auto) {
        match ring() {
            Ok(()) => return (Backend::IoUring, None),
            Err(error) => refuse(Backend::IoUring, WhyRefused::System(error.into())),
        }
    } else if wanted != Backend::Libaio {
        return (wanted, None);
    }
    let aio = || match trims {
        true => Err(WhyRefused::NoTrim),
        false => aio().map_err(|error| WhyRefused::System(error.into())),
    };
    let taken = match aio() {
        Ok(()) if wanted == Backend::Libaio => return (wanted, None),
        Ok(()) => Backend::Libaio,
        Err(why) => {
            refuse(Backend::Libaio, why);
            Backend::Sync
        }
    };
    let one_after_the_other = taken == Backend::Libaio && !direct;
    (taken, Some(Fallback { refused, taken, one_after_the_other }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    fn allowed() -> io::Result<()> {
        Ok(())
    }

    fn forbidden() -> io::Result<()> {
        Err(Errno::PERM.into())
    }

    fn refused(backend: Backend) -> RefusedBackend {
        RefusedBackend { backend, why: WhyRefused::System(io::Error::from(Errno::PERM).into()) }
    }

    #[test]
    fn the_next_best_backend_takes_over_and_says_at_what_cost() {
        let (backend, why) = fallback(Backend::IoUring, forbidden, allowed, true, false);
        let of_ring = vec![refused(Backend::IoUring)];
        let taken = Backend::Libaio;
        let direct = Fallback { refused: of_ring.clone(), taken, one_after_the_other: false };
        assert_eq!((backend, why), (taken, Some(direct)));
        let (_, why) = fallback(Backend::Auto, forbidden, allowed, false, false);
        let cached = Fallback { refused: of_ring, taken, one_after_the_other: true };
        assert_eq!(why, Some(cached));
        let (backend, why) = fallback(Backend::IoUring, forbidden, forbidden, true, false);
        let both = vec![refused(Backend::IoUring), refused(Backend::Libaio)];
        assert_eq!((backend, why.expect("said").refused), (Backend::Sync, both));
        let (backend, why) = fallback(Backend::Libaio, allowed, forbidden, false, false);
        assert_eq!(backend, Backend::Sync, "a ring that was not asked for is no way out");
        assert_eq!(why.expect("said").refused, [refused(Backend::Libaio)]);
    }

    #[test]
    fn libaio_is_no_way_out_for_a_load_that_trims() {
        let (backend, why) = fallback(Backend::IoUring, forbidden, allowed, true, true);
        assert_eq!(backend, Backend::Sync);
        let of_aio = RefusedBackend { backend: Backend::Libaio, why: WhyRefused::NoTrim };
        assert_eq!(why.expect("said").refused, [refused(Backend::IoUring), of_aio]);
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
