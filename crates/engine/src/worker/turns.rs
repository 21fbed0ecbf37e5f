//! Workloads of a host whose requests are bound to each other by ratio: the one order in which they
//! go out.
//!
//! The order is decided beforehand and repeats. Workers take its places one after the other, by a
//! counter that they share; who is not in turn waits, whatever holds up the one that is.

use model::plan::HostStage;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A worker that is not in turn looks again at once for so long: the others mostly need less.
const AWAKE_NS: u64 = 60_000;
/// Then it looks every 50 µs: of this time, the driver takes off 60 µs, which it spends awake.
const LOOK_NS: u64 = 110_000;

/// The order of a host's requests in a stage, and how far it has got. It has cache lines of its
/// own, because every worker writes to it.
#[repr(align(128))]
pub(crate) struct Turns {
    taken: AtomicU64,
    /// The works, by number, in the order in which they repeat.
    order: Box<[u32]>,
    /// Whether workers are threads of their own.
    is_real: bool,
}

impl Turns {
    /// Of a host's part of a stage; `None` where no two of its works are bound to each other.
    pub(crate) fn of(stage: &HostStage, is_real: bool) -> Option<Arc<Turns>> {
        let present: BTreeSet<u32> = stage.workers.iter().map(|worker| worker.work).collect();
        let works = (0..).zip(&stage.works);
        let bound: Vec<(u32, u64)> = works
            .filter(|(number, work)| work.share > 0 && present.contains(number))
            .map(|(number, work)| (number, u64::from(work.share)))
            .collect();
        let taken = AtomicU64::new(0);
        (bound.len() > 1).then(|| Arc::new(Turns { taken, order: order(&bound), is_real }))
    }

    /// Whether the next place belongs to this work.
    pub(crate) fn is_of(&self, work: u32) -> bool {
        self.at(self.taken.load(Ordering::Acquire)) == work
    }

    fn at(&self, place: u64) -> u32 {
        self.order[(place % self.order.len() as u64) as usize]
    }

    /// Takes the next place, if it belongs to this work.
    fn take(&self, work: u32) -> bool {
        let mut place = self.taken.load(Ordering::Acquire);
        while self.at(place) == work {
            let next = place + 1;
            match self.taken.compare_exchange_weak(place, next, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return true,
                Err(now) => place = now,
            }
        }
        if self.is_real {
            // With more workers than processors, the one in turn may be waiting for this one's.
            std::thread::yield_now();
        }
        false
    }
}

/// The order of works with these shares, in which none of them is ever a whole request ahead of
/// its share or behind it.
///
/// Each has the m-th of its places between ⌊(m − 1)·S ÷ s⌋ and ⌈m·S ÷ s⌉. Of those that may have a
/// place, the one that needs it first gets it (Baruah, Cohen, Plaxton and Varvel 1996). Of two
/// works, the first has places where ⌊n·s ÷ S⌋ rises: no two stretches of an equal length then
/// differ by more than one request.
fn order(bound: &[(u32, u64)]) -> Box<[u32]> {
    let divisor = bound.iter().fold(0, |divisor, (_, share)| gcd(divisor, *share)).max(1);
    let shares: Vec<u64> = bound.iter().map(|(_, share)| share / divisor).collect();
    let all: u64 = shares.iter().sum();
    if let [(first, _), (second, _)] = bound {
        let is_first = |n: u64| (n + 1) * shares[0] / all > n * shares[0] / all;
        return (0..all).map(|n| if is_first(n) { *first } else { *second }).collect();
    }
    let mut had = vec![0u64; bound.len()];
    let next = |n: u64| {
        let may = |number: &usize| had[*number] * all / shares[*number] <= n;
        let needs = |number: &usize| ((had[*number] + 1) * all).div_ceil(shares[*number]);
        let number = (0..bound.len()).filter(may).min_by_key(needs).unwrap_or(0);
        had[number] += 1;
        bound[number].0
    };
    (0..all).map(next).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A worker's part in the order.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    work: u32,
    /// Since when it has a request that is not in turn.
    held_since_ns: Option<u64>,
}

impl Turn {
    /// Of a worker that does this work; `None` for a work that is bound to no other.
    pub(crate) fn of(turns: Option<&Arc<Turns>>, work: u32) -> Option<Turn> {
        let turns = turns.filter(|turns| turns.order.contains(&work))?;
        Some(Turn { turns: turns.clone(), work, held_since_ns: None })
    }

    /// Whether its request may go out at `now_ns`; then it has to.
    pub(crate) fn take(&mut self, now_ns: u64) -> bool {
        let may = self.turns.take(self.work);
        self.held_since_ns = if may { None } else { self.held_since_ns.or(Some(now_ns)) };
        may
    }

    /// Whether it has a request that was not in turn when it last looked.
    pub(crate) fn is_held(&self) -> bool {
        self.held_since_ns.is_some()
    }

    /// How long from `now_ns` on it need not look; in virtual time it is woken.
    pub(crate) fn quiet_ns(&self, now_ns: u64) -> u64 {
        match self.held_since_ns {
            Some(_) if !self.turns.is_real => u64::MAX,
            Some(since_ns) if now_ns.saturating_sub(since_ns) < AWAKE_NS => 0,
            Some(_) => LOOK_NS,
            None => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shares: &[u64]) -> Vec<u32> {
        let bound: Vec<(u32, u64)> = (0..).zip(shares.iter().copied()).collect();
        order(&bound).into_vec()
    }

    #[test]
    fn from_the_start_on_no_work_is_a_whole_request_off_its_share() {
        let mut rng = model::rng::Rng::new(7);
        for _ in 0..400 {
            let count = 2 + rng.below(5);
            let shares: Vec<u64> = (0..count).map(|_| 1 + rng.below(30)).collect();
            let (order, all) = (of(&shares), shares.iter().sum::<u64>() as i64);
            let mut had = vec![0i64; shares.len()];
            for (n, work) in (1i64..).zip(order.iter().chain(&order)) {
                had[*work as usize] += 1;
                for (had, share) in had.iter().zip(&shares) {
                    let off = had * all - n * *share as i64;
                    assert!(off.abs() < all, "{shares:?}: {order:?} at {n}");
                }
            }
        }
    }

    #[test]
    fn of_two_works_any_window_is_within_one_request() {
        for first in 1..20u64 {
            for second in 1..20u64 {
                let order = of(&[first, second]);
                let twice: Vec<u32> = order.iter().chain(&order).copied().collect();
                let all = (first + second) as i64;
                for length in 1..=order.len() {
                    for window in twice.windows(length) {
                        let had = window.iter().filter(|work| **work == 0).count() as i64;
                        let off = had * all - length as i64 * first as i64;
                        assert!(off.abs() < all, "{first}:{second}");
                    }
                }
            }
        }
    }

    #[test]
    fn shares_repeat_as_soon_as_they_can() {
        assert_eq!(of(&[30, 10]), [1, 0, 0, 0]);
        assert_eq!(of(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(of(&[2, 1, 1]).len(), 4);
    }

    #[test]
    fn threads_take_every_place_once_and_in_order() {
        let turns = Arc::new(Turns {
            taken: AtomicU64::new(0),
            order: order(&[(0, 3), (4, 1)]),
            is_real: true,
        });
        let take = |work: u32, count: usize| {
            let mut turn = Turn::of(Some(&turns), work).expect("bound");
            move || {
                let mut had = 0;
                while had < count {
                    had += usize::from(turn.take(0));
                }
            }
        };
        assert!(Turn::of(Some(&turns), 1).is_none(), "not bound");
        std::thread::scope(|scope| {
            scope.spawn(take(0, 150));
            scope.spawn(take(0, 150));
            scope.spawn(take(4, 100));
        });
        assert_eq!(turns.taken.load(Ordering::Relaxed), 400);
    }
}
