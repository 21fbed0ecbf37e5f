//! The clock of a stage.

use std::time::Duration;

/// Tells the time in ns since some start; can be substituted, so that a run can be replayed in
/// virtual time.
pub trait Clock {
    /// Now, in ns. Never goes back.
    fn now_ns(&self) -> u64;

    /// Lets so much time pass.
    fn rest(&self, ns: u64);
}

/// `CLOCK_MONOTONIC`, counted from when this clock was made: steps of the wall clock do it no harm.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    /// What `CLOCK_MONOTONIC` said then, in ns.
    base_ns: u64,
}

impl Monotonic {
    /// A clock that starts at 0 now.
    pub fn start() -> Monotonic {
        Monotonic { base_ns: monotonic_ns() }
    }
}

/// Since the machine's start. As one number: the difference of two instants of the standard library
/// is a good part of the loop of a worker with one request outstanding. (rustix has the same call,
/// and valgrind ends a program that makes it so.)
#[inline]
fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to `now` alone. It has this clock, so that the call does not fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        monotonic_ns().saturating_sub(self.base_ns)
    }

    fn rest(&self, ns: u64) {
        if ns > 0 {
            std::thread::sleep(Duration::from_nanos(ns));
        }
    }
}
