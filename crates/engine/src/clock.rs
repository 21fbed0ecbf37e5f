//! The clock of a stage.

use std::time::{Duration, Instant};

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
    base: Instant,
}

impl Monotonic {
    /// A clock that starts at 0 now.
    pub fn start() -> Monotonic {
        Monotonic { base: Instant::now() }
    }
}

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.base.elapsed().as_nanos() as u64
    }

    fn rest(&self, ns: u64) {
        if ns > 0 {
            std::thread::sleep(Duration::from_nanos(ns));
        }
    }
}
