//! How many requests go to the target in one call: few, so that its queue never runs low; many only
//! where the loop is the limit.
//!
//! A target that is slower than the loop loses by bunches: what came back waits until all of it is
//! replaced, and the kernel holds the device's bell back until the last of a bunch is queued (its
//! plug). So a worker sends a small part of its depth in one call, looks what has come back
//! meanwhile, and goes on. Where it never gets to wait, because requests come back faster than they
//! can be sent, each call saved is a request gained: the bunch doubles, up to the whole depth.

/// The part of the depth that may be missing at the target while a bunch is made.
const LEAST_PART: u32 = 8;

/// How many times its depth a worker sends without a wait before it sends more in one call. What
/// came back all at once is sent again in less than twice the depth if the target is half as fast
/// as the loop, or slower.
const UNBROKEN_DEPTHS: u32 = 2;

/// After so long, a worker that sends its whole depth in one call tries again whether the target is
/// slower than the loop.
const PROBE_NS: u64 = 10_000_000;

/// How many requests a worker sends in one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bunch {
    depth: u32,
    least: u32,
    size: u32,
    /// Requests that were sent since the last wait.
    unbroken: u32,
    /// While all of the depth goes out in one call: when that ends.
    probe_at_ns: u64,
}

impl Bunch {
    /// For a worker that keeps up to `depth` requests outstanding. Where the kernel's own threads
    /// carry the requests (`is_carried`), nothing is held back by a bunch, and it may always be
    /// whole.
    pub(crate) fn new(depth: u32, is_carried: bool) -> Bunch {
        let least = if is_carried { depth } else { (depth / LEAST_PART).max(1) };
        Bunch { depth, least, size: least, unbroken: 0, probe_at_ns: u64::MAX }
    }

    /// How many requests may go out in the next call.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// `count` requests go out at `now_ns`, and there are more to send.
    #[inline]
    pub(crate) fn goes_on(&mut self, count: u32, now_ns: u64) {
        self.unbroken = self.unbroken.saturating_add(count);
        if self.unbroken >= self.depth.saturating_mul(UNBROKEN_DEPTHS) {
            self.unbroken = 0;
            self.size = self.size.saturating_mul(2).min(self.depth);
            if self.size == self.depth {
                self.probe_at_ns = now_ns.saturating_add(PROBE_NS);
            }
        }
    }

    /// The worker waits at `now_ns`: it has nothing more to send.
    #[inline]
    pub(crate) fn waits(&mut self, now_ns: u64) {
        self.unbroken = 0;
        if self.size < self.depth {
            self.size = (self.size / 2).max(self.least);
        } else if now_ns >= self.probe_at_ns {
            // A whole depth in one call leaves nothing to send, whether the target is fast or slow.
            self.size = self.least;
            self.probe_at_ns = u64::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a depth again and again to a target that has everything back at once.
    fn to_a_fast_target(bunch: &mut Bunch, requests: u32, now_ns: u64) {
        let mut sent = 0;
        while sent < requests {
            let count = bunch.size();
            sent += count;
            if count < bunch.depth { bunch.goes_on(count, now_ns) } else { bunch.waits(now_ns) }
        }
    }

    #[test]
    fn a_target_that_lets_the_loop_wait_gets_small_bunches() {
        for (depth, expected) in [(1, 1), (4, 1), (8, 1), (16, 2), (32, 4), (64, 8), (4096, 512)] {
            let mut bunch = Bunch::new(depth, false);
            assert_eq!(bunch.size(), expected);
            for round in 0..100u64 {
                // All of the depth came back at once, and half as much again while that was sent.
                let mut left = depth + depth / 2;
                while left > bunch.size() {
                    left -= bunch.size();
                    bunch.goes_on(bunch.size(), round);
                }
                bunch.waits(round);
            }
            assert_eq!(bunch.size(), expected, "depth {depth}");
        }
    }

    #[test]
    fn a_target_that_is_faster_than_the_loop_gets_its_whole_depth_in_one_call() {
        let mut bunch = Bunch::new(32, false);
        to_a_fast_target(&mut bunch, 32 * 8, 0);
        assert_eq!(bunch.size(), 32);
        to_a_fast_target(&mut bunch, 1_000_000, PROBE_NS - 1);
        assert_eq!(bunch.size(), 32, "for a while");
    }

    #[test]
    fn a_whole_depth_is_tried_again_in_parts_after_a_while() {
        let mut bunch = Bunch::new(32, false);
        to_a_fast_target(&mut bunch, 32 * 8, 0);
        bunch.waits(PROBE_NS);
        assert_eq!(bunch.size(), 4, "the target may have become slower");
        bunch.waits(PROBE_NS + 1);
        assert_eq!(bunch.size(), 4, "it has");
    }

    #[test]
    fn at_the_edge_a_bunch_grows_and_shrinks_by_what_is_needed() {
        let mut bunch = Bunch::new(32, false);
        bunch.goes_on(63, 0);
        assert_eq!(bunch.size(), 4);
        bunch.goes_on(1, 0);
        assert_eq!(bunch.size(), 8, "twice the depth without a wait");
        bunch.waits(0);
        assert_eq!(bunch.size(), 4);
    }

    #[test]
    fn what_the_kernels_threads_carry_goes_out_whole() {
        let mut bunch = Bunch::new(32, true);
        assert_eq!(bunch.size(), 32);
        bunch.waits(u64::MAX);
        assert_eq!(bunch.size(), 32);
    }
}
