//! Requests that go on where another ended: which of them are served in order, and how long they
//! keep to one drive.

use crate::ceiling::Workload;

/// What lies together on one drive: assumed, as in a simulation.
const STRIPE_BYTES: f64 = 1_048_576.0;

const SECTOR_BYTES: f64 = 512.0;

/// The workload as it is served: a request is one of a stream where it and the one before it go on
/// where another ended. One continuation alone may be chance, and is served at random, as a
/// simulation does.
pub(super) fn served(workload: &Workload) -> Workload {
    let continues = 1.0 - workload.random;
    Workload { random: 1.0 - continues * continues, ..workload.clone() }
}

/// Requests of one size of a stream, until it is broken off or its place is on another drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs {
    /// The share of requests that are followed by one on the same drive.
    stays: f64,
    /// The share of requests that go on where another ended, and the bytes of each.
    continues: f64,
    bytes: f64,
    /// The share of runs that begin at random; the others come from another drive.
    broken: f64,
}

impl Runs {
    /// Those of requests of `bytes`, a share of which goes on where another ended.
    pub(super) fn new(continues: f64, bytes: f64) -> Runs {
        let stays = continues * (1.0 - bytes / STRIPE_BYTES).max(0.0);
        let broken = if stays < 1.0 { (1.0 - continues) / (1.0 - stays) } else { 0.0 };
        Runs { stays, continues, bytes, broken }
    }

    /// How many others of a worker with `depth` requests outstanding are with a request at its
    /// drive, on average.
    ///
    /// Two that are *k* apart are in one run with *c*ᵏ, and then on one stripe with 1 − *k* times
    /// the bytes of each ÷ those of the stripe; that is *g*. Where drives are idle, a worker's
    /// requests are a window: Σ 2·(1 − *k* ÷ *depth*)·*g*. Where they are busy, what is finished
    /// is followed at the newest place while older ones drain. If all drain at one pace, 1 +
    /// 2·*depth* ÷ requests of a stripe are at work. Of the Σ*g* before a request, (*depth* − 1) ÷
    /// (*depth* − 1 + Σ*g*) are still there. It lies between, and the mean is taken (assumed).
    pub(super) fn companions(self, depth: u64) -> f64 {
        if depth <= 1 {
            return 0.0;
        }
        let (all, others) = (depth as f64, (depth - 1) as f64);
        // No request is smaller than a sector, whatever a testbed says.
        let bytes = self.bytes.max(SECTOR_BYTES);
        let (mut window, mut before, mut apart, mut in_run) = (0.0, 0.0, 1.0, self.continues);
        while apart * bytes < STRIPE_BYTES && in_run > 1e-6 {
            let together = in_run * (1.0 - apart * bytes / STRIPE_BYTES);
            window += 2.0 * (1.0 - apart / all).max(0.0) * together;
            before += together;
            apart += 1.0;
            in_run *= self.continues;
        }
        let drained = others * before / (others + before).max(1e-300);
        0.5 * (window + drained)
    }

    /// The share of a stream's requests that meet the drive which they met before. Streams share
    /// it, so times count as exponential there, whatever they are (processor sharing; Kelly,
    /// *Reversibility and Stochastic Networks*, 1979, 3.3).
    pub(super) fn share(self) -> f64 {
        self.stays
    }

    /// The share of requests of runs that end with a stripe alone: such a stream keeps to a drive
    /// for long.
    pub(super) fn long(self) -> f64 {
        self.stays * (1.0 - self.broken)
    }

    /// What work that a drive does in pauses varies more by, because runs bring it together: the
    /// products of neighbours, for each request, in seconds². The first two requests of a run that
    /// begins at random leave `random_s` each, all others `ordered_s`. What a run brought longer
    /// before is worked off by then (assumed; simulations of runs of up to ten requests agree).
    pub(super) fn neighbours_s2(self, random_s: f64, ordered_s: f64) -> f64 {
        let stays = self.stays;
        let second = (1.0 - stays) * stays * random_s;
        let third = (1.0 - stays) * stays * stays * ordered_s;
        let further = stays.powi(3) * ordered_s;
        self.broken * (random_s * (second + third) + ordered_s * further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    #[test]
    fn neighbours_are_those_of_runs_that_were_drawn() {
        let (continues, bytes) = (0.6, 65_536.0);
        let runs = Runs::new(continues, bytes);
        let (random_s, ordered_s) = (5.0, 2.0);
        let mut rng = Rng::new(7);
        let (mut sum, mut before, mut stayed, mut in_run) = (0.0, 0.0, 0u32, 0);
        let (mut is_broken, requests) = (true, 400_000);
        for _ in 0..requests {
            let goes_on = rng.unit() < continues;
            let is_same = goes_on && rng.unit() >= bytes / STRIPE_BYTES;
            if is_same {
                (in_run, stayed) = (in_run + 1, stayed + 1);
            } else {
                (in_run, is_broken) = (0, !goes_on);
            }
            let left_s = if is_broken && in_run < 2 { random_s } else { ordered_s };
            if is_same && is_broken {
                sum += before * left_s;
            }
            before = left_s;
        }
        let requests = f64::from(requests);
        assert!((f64::from(stayed) / requests - runs.share()).abs() < 0.005);
        let expected = runs.neighbours_s2(random_s, ordered_s);
        assert!((sum / requests / expected - 1.0).abs() < 0.02, "{} {expected}", sum / requests);
    }

    #[test]
    fn a_worker_in_order_has_its_requests_on_one_drive_until_they_fill_a_stripe() {
        let (small, large) = (Runs::new(1.0, 4_096.0), Runs::new(1.0, STRIPE_BYTES));
        assert!(small.companions(1).abs() < 1e-12, "alone");
        assert!((small.companions(4) / 3.0 - 1.0).abs() < 0.02, "{}", small.companions(4));
        // Of 256 requests of a stripe, half are before one; in a long window it has all of them.
        let most = small.companions(1 << 20);
        assert!((most / (0.5 * (127.5 + 255.0)) - 1.0).abs() < 0.01, "{most}");
        assert!(large.companions(32).abs() < 1e-12, "each has a stripe of its own");
        assert!(Runs::new(0.0, 4_096.0).companions(32).abs() < 1e-12, "anywhere");
        // Half of the requests go on: one before and one behind it, as 1/2 + 1/4 + … each.
        let broken = Runs::new(0.5, 1.0).companions(1 << 20);
        assert!((broken - 1.5).abs() < 0.01, "{broken}");
    }

    #[test]
    fn streams_that_never_break_off_bring_nothing_together_and_random_requests_neither() {
        let whole = Runs::new(1.0, 65_536.0);
        assert!(whole.neighbours_s2(1.0, 1.0).abs() < 1e-12);
        assert!((whole.long() - whole.share()).abs() < 1e-12);
        let random = Runs::new(0.0, 65_536.0);
        assert!(random.share().abs() < 1e-12 && random.neighbours_s2(1.0, 1.0).abs() < 1e-12);
        assert!(Runs::new(1.0, 0.0).share() <= 1.0 && Runs::new(1.0, 4e6).share().abs() < 1e-12);
    }
}
