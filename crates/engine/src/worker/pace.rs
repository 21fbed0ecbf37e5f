//! When a worker's next request is due.

use model::curve::{Curve, Place, Unit};
use model::load::{Pace, Rate};
use model::plan::{Work, Worker};
use model::rng::{Rng, derive};

/// Femtoseconds in a second: instants of a fixed rate are kept so finely that a year of them is off
/// by less than a microsecond.
const FS_PER_S: u128 = 1_000_000_000_000_000;
const FS_PER_NS: u128 = 1_000_000;
/// Beyond every clock.
const NEVER_FS: u128 = u64::MAX as u128 * FS_PER_NS;
/// Sets the seeds of the arrivals apart from those of the requests.
const ARRIVALS: u64 = 0xA221_7A15;

/// A worker's own clockwork.
#[derive(Clone, Debug)]
pub(crate) enum Pacer {
    /// Always due.
    Free,
    /// Bursts with rests between.
    Think { think_ns: u64, burst: u32, left: u32, resting_until_ns: u64 },
    /// At its own times.
    Open(Box<Open>),
}

/// The times of an open loop.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    /// When the next request is due, after the stage's start; beyond every clock for never.
    next_fs: u128,
    cost: Cost,
    poisson: Option<Rng>,
}

/// The times of an open loop whose rate changes: a request is due where the integral of the rate
/// reaches its position.
#[derive(Clone, Debug)]
pub(crate) struct Changing {
    curve: Curve,
    place: Place,
    /// Of the next request, in parts of the curve.
    position: u128,
    /// How many workers take turns.
    workers: u128,
}

/// What a request moves the next one away, for this one worker.
#[derive(Clone, Debug)]
enum Cost {
    Request { fs: u128 },
    Byte { fs: u128 },
    Changing(Box<Changing>),
}

impl Pacer {
    /// The pace of one of the workers that share it.
    pub(crate) fn new(work: &Work, worker: &Worker) -> Pacer {
        match &work.pace {
            Pace::Closed { think, burst } if think.0 > 0 => Pacer::Think {
                think_ns: think.0,
                burst: (*burst).max(1),
                left: (*burst).max(1),
                resting_until_ns: 0,
            },
            Pace::Closed { .. } => Pacer::Free,
            Pace::Open { rate, poisson } => {
                Pacer::Open(Box::new(Open::new(*rate, *poisson, work, worker)))
            }
            Pace::Changing { curve, poisson } => {
                Pacer::Open(Box::new(Open::changing(curve.clone(), *poisson, work, worker)))
            }
        }
    }

    /// When the next request is due, in ns after the stage's start; `None` for at once, whenever
    /// there is a place.
    #[inline]
    pub(crate) fn due_ns(&self) -> Option<u64> {
        match self {
            Pacer::Free => None,
            Pacer::Think { left: 1.., .. } => None,
            // Not before the burst has come back; then `completed` sets the time.
            Pacer::Think { resting_until_ns, .. } => Some(*resting_until_ns),
            Pacer::Open(open) => Some((open.next_fs / FS_PER_NS) as u64),
        }
    }

    /// The mean distance of requests, where it is always the same.
    pub(crate) fn gap_ns(&self) -> Option<u64> {
        match self {
            Pacer::Open(open) => match open.cost {
                Cost::Request { fs } => Some((fs / FS_PER_NS) as u64),
                Cost::Byte { .. } | Cost::Changing(_) => None,
            },
            Pacer::Free | Pacer::Think { .. } => None,
        }
    }

    /// A request of `length` bytes went out.
    #[inline]
    pub(crate) fn took(&mut self, length: u32) {
        match self {
            Pacer::Free => {}
            Pacer::Think { left, burst, resting_until_ns, .. } => {
                if *left == 0 {
                    *left = *burst;
                }
                *left -= 1;
                *resting_until_ns = u64::MAX;
            }
            Pacer::Open(open) => open.advance(length),
        }
    }

    /// So many requests of `length` bytes each are left out. Of more than one, the distance is the
    /// mean.
    pub(crate) fn skip(&mut self, length: u32, count: u64) {
        match self {
            Pacer::Open(open) if count > 1 => open.skip(length, count),
            _ => self.took(length),
        }
    }

    /// All that was out is back, `now_ns` after the stage's start.
    #[inline]
    pub(crate) fn idle(&mut self, now_ns: u64) {
        if let Pacer::Think { think_ns, left: 0, resting_until_ns, .. } = self
            && *resting_until_ns == u64::MAX
        {
            *resting_until_ns = now_ns.saturating_add(*think_ns);
        }
    }
}

impl Open {
    fn new(rate: Rate, poisson: bool, work: &Work, worker: &Worker) -> Open {
        let (number, of) = (u128::from(worker.turn.0), u128::from(worker.turn.1.max(1)));
        let cost = match rate {
            Rate::Iops { milli } => {
                Cost::Request { fs: FS_PER_S * 1_000 * of / u128::from(milli.max(1)) }
            }
            Rate::Bytes { per_second } => {
                Cost::Byte { fs: FS_PER_S * of / u128::from(per_second.max(1)) }
            }
        };
        let mut open = Open {
            next_fs: 0,
            cost,
            poisson: poisson.then(|| Rng::new(derive(worker.seed, &[ARRIVALS]))),
        };
        match (&open.poisson, &open.cost) {
            // Strangers do not arrive together at the start.
            (Some(_), _) => open.advance(4096),
            // Workers take turns, so that all of them together are as even as one.
            (None, Cost::Request { fs }) => open.next_fs = fs * number / of,
            // Of bytes, as if all requests were of their mean size.
            (None, Cost::Byte { fs }) => {
                let away_fs = fs.saturating_mul(work.mean_bytes().round() as u128) / of;
                // A plan of somebody else may have any sizes: beyond every clock is never.
                open.next_fs = away_fs.saturating_mul(number).min(NEVER_FS);
            }
            (None, Cost::Changing(_)) => {}
        }
        open
    }

    /// By a rate that changes.
    fn changing(curve: Curve, poisson: bool, work: &Work, worker: &Worker) -> Open {
        let (number, of) = (u128::from(worker.turn.0), u128::from(worker.turn.1.max(1)));
        // Of bytes, as if all requests were of their mean size.
        let units = if curve.unit == Unit::Bytes { work.mean_bytes().round() as u128 } else { 1 };
        let first = number.saturating_mul(units).saturating_mul(curve.unit.parts());
        let mut changing = Changing { curve, place: Place::default(), position: 0, workers: of };
        // Workers take turns: each has every so-and-so-many-th request of all. Strangers do not.
        let next_fs = if poisson { 0 } else { changing.go_on(first) };
        let mut open = Open {
            next_fs,
            cost: Cost::Changing(Box::new(changing)),
            poisson: poisson.then(|| Rng::new(derive(worker.seed, &[ARRIVALS]))),
        };
        // Nor do they arrive together at the start.
        if poisson {
            open.advance(4096);
        }
        open
    }

    #[inline]
    fn advance(&mut self, length: u32) {
        let mean_fs = match &self.cost {
            Cost::Request { fs } => *fs,
            Cost::Byte { fs } => fs * u128::from(length),
            Cost::Changing(_) => return self.advance_changing(length),
        };
        self.next_fs += match &mut self.poisson {
            None => mean_fs,
            // The distance of a Poisson process is exponential: −mean · ln(1 − u).
            Some(rng) => (mean_fs as f64 * -(1.0 - rng.unit()).ln()) as u128,
        };
    }

    // Out of line: the loop of all other paces has one comparison for it, and nothing else.
    #[cold]
    #[inline(never)]
    fn advance_changing(&mut self, length: u32) {
        let Cost::Changing(changing) = &mut self.cost else { return };
        let mean = changing.mean_parts(length);
        let parts = match &mut self.poisson {
            None => mean,
            // A Poisson process whose rate changes is one of rate 1, seen on a clock that shows the
            // integral of the rate (Lewis and Shedler 1979).
            Some(rng) => (mean as f64 * -(1.0 - rng.unit()).ln()) as u128,
        };
        self.next_fs = changing.go_on(parts);
    }

    /// Leaves out so many requests at their mean distance.
    fn skip(&mut self, length: u32, count: u64) {
        let count = u128::from(count);
        match &mut self.cost {
            Cost::Request { fs } => self.next_fs += *fs * count,
            Cost::Byte { fs } => self.next_fs += *fs * u128::from(length) * count,
            Cost::Changing(changing) => {
                let parts = changing.mean_parts(length).saturating_mul(count);
                self.next_fs = changing.go_on(parts);
            }
        }
    }
}

impl Changing {
    /// How far a request is from this worker's next one, in parts of the curve.
    #[inline]
    fn mean_parts(&self, length: u32) -> u128 {
        let units = if self.curve.unit == Unit::Bytes { u128::from(length) } else { 1 };
        units * self.curve.unit.parts() * self.workers
    }

    /// Goes on by so many parts: when the request there is due, after the stage's start.
    fn go_on(&mut self, parts: u128) -> u128 {
        self.position = self.position.saturating_add(parts);
        let due_ns = self.curve.due_ns(&mut self.place, self.position).unwrap_or(u64::MAX);
        u128::from(due_ns) * FS_PER_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{after_ms, work, worker};
    use model::Nanos;
    use model::choices::Access;
    use model::load::SizeMix;
    use model::units::{Bytes, Percent};

    fn pacer(rate: &str, poisson: bool, turn: u32, of: u32) -> Pacer {
        paced(Pace::Open { rate: rate.parse().expect("a rate"), poisson }, 5, turn, of)
    }

    /// Of one of the workers of a work of 1,000 bytes a request.
    fn paced(pace: Pace, seed: u64, turn: u32, of: u32) -> Pacer {
        let work = Work::simple(Bytes(1_000), Percent::ALL, Access::Random, 1, after_ms(1_000));
        let work = Work { pace, ..work };
        Pacer::new(&work, &Worker { turn: (turn, of), ..worker(seed, Vec::new()) })
    }

    fn dues(pacer: &mut Pacer, count: usize, length: u32) -> Vec<u64> {
        let next = |_| {
            let due = pacer.due_ns().expect("its own times");
            pacer.took(length);
            due
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn workers_of_a_rate_take_turns() {
        let mut all: Vec<u64> =
            (0..4).flat_map(|worker| dues(&mut pacer("1000", false, worker, 4), 3, 4096)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..12).map(|n| n * 1_000_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_rate_that_no_ns_divides_is_exact_in_the_long_run() {
        let times = dues(&mut pacer("3", false, 0, 1), 3_000_001, 4096);
        assert_eq!(
            times[3_000_000],
            1_000_000_000_000_000 - 1,
            "a million seconds, but for the last rounding"
        );
    }

    #[test]
    fn bytes_move_the_next_request_away_by_their_number() {
        let times = dues(&mut pacer("1MB/s", false, 0, 2), 3, 1_000);
        assert_eq!(times, [0, 2_000_000, 4_000_000]);
    }

    #[test]
    fn requests_that_are_too_large_for_any_clock_are_never_due() {
        let pace = Pace::Open { rate: Rate::Bytes { per_second: 1 }, poisson: false };
        let block_size = SizeMix::single(Bytes(u64::MAX));
        let work = Work { pace, block_size, ..work(Percent::ALL, Access::Random, 1, after_ms(1)) };
        let turn = (u32::MAX - 1, u32::MAX);
        let mut pacer = Pacer::new(&work, &Worker { turn, ..worker(5, Vec::new()) });
        assert_eq!(pacer.due_ns(), Some(u64::MAX));
        pacer.took(u32::MAX);
    }

    #[test]
    fn workers_of_a_bandwidth_take_turns_too_whether_it_changes_or_not() {
        let all = |pacers: &mut dyn Iterator<Item = Pacer>| {
            let mut all: Vec<u64> = pacers.flat_map(|mut of| dues(&mut of, 3, 1_000)).collect();
            all.sort_unstable();
            all
        };
        let even: Vec<u64> = (0..12).map(|n| n * 1_000_000).collect();
        assert_eq!(all(&mut (0..4).map(|worker| pacer("1MB/s", false, worker, 4))), even);
        let held = |turn| {
            let then = model::curve::Then::Holds(1_000_000);
            let curve = Curve { unit: Unit::Bytes, lines: Vec::new(), then };
            paced(Pace::Changing { curve, poisson: false }, 5, turn, 4)
        };
        assert_eq!(all(&mut (0..4).map(held)), even);
    }

    /// A ramp from nothing to 2,000 in 5 s, held for good.
    fn ramp(poisson: bool, turn: u32, of: u32, seed: u64) -> Pacer {
        let line = |from, to| model::curve::Line { length: Nanos::seconds(5), from, to };
        let lines = vec![line(0, 2_000_000), line(2_000_000, 2_000_000)];
        let then = model::curve::Then::Holds(2_000_000);
        let curve = Curve { unit: Unit::MilliIops, lines, then };
        paced(Pace::Changing { curve, poisson }, seed, turn, of)
    }

    #[test]
    fn workers_of_a_changing_rate_take_turns_and_their_sum_is_its_integral() {
        let mut all: Vec<u64> =
            (0..3).flat_map(|worker| dues(&mut ramp(false, worker, 3, 1), 5_000, 4096)).collect();
        all.sort_unstable();
        assert_eq!(all, dues(&mut ramp(false, 0, 1, 1), 15_000, 4096), "as one alone");
        let counts: Vec<usize> = (0..10)
            .map(|second| all.iter().filter(|due| **due / 1_000_000_000 == second).count())
            .collect();
        assert_eq!(counts, [200, 600, 1_000, 1_400, 1_800, 2_000, 2_000, 2_000, 2_000, 2_000]);
    }

    #[test]
    fn strangers_of_a_changing_rate_come_by_its_integral_and_apart_as_chance_has_it() {
        // Over 200 seeds, the counts of each second have the mean and the variance of a Poisson
        // process, three workers together.
        let mut counts = vec![[0f64; 8]; 200];
        for (seed, counts) in (0..).zip(&mut counts) {
            for worker in 0..3 {
                let times =
                    dues(&mut ramp(true, worker, 3, seed * 3 + u64::from(worker)), 6_000, 1);
                for due in times.into_iter().filter(|due| *due < 8_000_000_000) {
                    counts[(due / 1_000_000_000) as usize] += 1.0;
                }
            }
        }
        for (second, wanted) in
            [200.0, 600.0, 1_000.0, 1_400.0, 1_800.0, 2e3, 2e3, 2e3].iter().enumerate()
        {
            let all = counts.iter().map(|counts| counts[second]);
            let mean = all.clone().sum::<f64>() / 200.0;
            let variance = all.map(|count| (count - mean).powi(2)).sum::<f64>() / 199.0;
            assert!((mean - wanted).abs() < 4.0 * (wanted / 200.0).sqrt(), "{second}: {mean}");
            // The variance of a sample of 200 is off by a tenth, as one standard deviation.
            assert!((variance / wanted - 1.0).abs() < 0.4, "{second}: {variance}");
        }
    }

    #[test]
    fn a_changing_rate_that_ends_is_never_due_again_and_what_is_left_out_counts() {
        let lines = vec![model::curve::Line { length: Nanos::seconds(1), from: 9_000, to: 9_000 }];
        let curve = Curve { unit: Unit::MilliIops, lines, then: model::curve::Then::Holds(0) };
        let mut pacer = paced(Pace::Changing { curve, poisson: false }, 5, 0, 1);
        pacer.took(1);
        pacer.skip(1, 7);
        assert_eq!(pacer.due_ns(), Some(888_888_888), "the ninth");
        pacer.took(1);
        assert_eq!(pacer.due_ns(), Some(u64::MAX));
    }

    #[test]
    fn strangers_arrive_at_their_rate_with_exponential_distances() {
        let times = dues(&mut pacer("100000", true, 0, 1), 400_001, 4096);
        let distances: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        let variance =
            distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        assert!((mean - 10_000.0).abs() < 80.0, "{mean}");
        assert!(
            (variance.sqrt() / mean - 1.0).abs() < 0.02,
            "an exponential's deviation is its mean"
        );
    }

    #[test]
    fn a_burst_is_followed_by_a_rest_once_it_is_back() {
        let mut pacer = paced(Pace::Closed { think: Nanos(500), burst: 2 }, 5, 0, 1);
        pacer.took(1);
        assert_eq!(pacer.due_ns(), None, "the burst goes on");
        pacer.took(1);
        assert_eq!(pacer.due_ns(), Some(u64::MAX), "until it is back");
        pacer.idle(1_000);
        assert_eq!(pacer.due_ns(), Some(1_500));
        pacer.idle(1_200);
        assert_eq!(pacer.due_ns(), Some(1_500), "a rest begins once");
        pacer.took(1);
        assert_eq!(pacer.due_ns(), None);
    }
}
