//! A migration in the middle of a run: for a time it takes a share of each drive and of the nodes whose volumes move.

/// The share of each drive's time that a migration takes, in thousandths.
pub(super) const DRIVE_SHARE: u64 = 300;
/// The share of a node's mover that each volume of the node takes, in thousandths: two of them leave next to nothing.
pub(super) const VOLUME_SHARE: u64 = 480;
/// What each request to a volume that moves costs its node's mover: a read looks where the block is by now, a write goes to both places.
pub(super) const REQUEST_NS: u64 = 100_000;

/// A time in which a share of a resource is taken, reckoned from request to request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    begin_ns: u64,
    end_ns: u64,
    share: u64,
}

impl Window {
    /// `share` in thousandths, up to 970: something is always left.
    pub(super) fn new(at_ns: u64, length_ns: u64, share: u64) -> Window {
        Window { begin_ns: at_ns, end_ns: at_ns.saturating_add(length_ns), share: share.min(970) }
    }

    /// The work that has come up until `now_ns` and was not told yet, in ns.
    pub(super) fn work_until(&mut self, now_ns: u64) -> u64 {
        let until_ns = now_ns.min(self.end_ns);
        let passed_ns = until_ns.saturating_sub(self.begin_ns);
        // What a thousandth leaves over waits for the next time.
        let told_ns = passed_ns - passed_ns % 1_000;
        self.begin_ns = self.begin_ns.saturating_add(told_ns);
        told_ns / 1_000 * self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_window_is_taken_however_often_one_looks() {
        for step_ns in [1, 7, 999, 50_000] {
            let mut window = Window::new(1_000_000, 2_000_000, 300);
            let sum: u64 = (0..4_000_000 / step_ns).map(|n| window.work_until(n * step_ns)).sum();
            assert!((598_000..=600_000).contains(&sum), "{step_ns}: {sum}");
        }
    }

    #[test]
    fn something_is_always_left() {
        assert_eq!(Window::new(0, 1_000, 5_000).work_until(u64::MAX), 970);
    }
}
