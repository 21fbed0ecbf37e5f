//! On which processors the workers of a stage are.
//!
//! Workers that may run on several begin on one each, as far as there are enough: two that wait on
//! the same one for the start go on to share it until the scheduler looks for idle ones, which it
//! does some times a second only, and a stage of metadata may be over by then. Whom a
//! worker is beside is the scheduler's to choose, which knows caches and siblings: each stays where
//! its thread was put, unless somebody else is there. From the start on, all may go wherever the
//! plan lets them.

use model::plan::HostPlan;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::{Mutex, PoisonError};

/// Where workers may be, and where they sit until they begin.
pub(crate) struct Seats {
    free: Free,
    /// Processors on which somebody waits for the start.
    taken: Mutex<Vec<usize>>,
}

/// Where workers may run once they have begun.
enum Free {
    /// Each on that of its number.
    Own(Vec<usize>),
    /// On any of these.
    Among(CpuSet),
    /// Wherever they are: nobody knows what is allowed here.
    Unknown,
}

impl Seats {
    /// For workers of threads that the calling one starts.
    pub(crate) fn of(plan: &HostPlan) -> Seats {
        let planned: Vec<usize> = plan
            .engine
            .cpus
            .iter()
            .map(|cpu| *cpu as usize)
            .filter(|cpu| *cpu < CpuSet::MAX_CPU)
            .collect();
        let free = match sched_getaffinity(None) {
            _ if plan.engine.own_cpu && !planned.is_empty() => Free::Own(planned),
            Ok(allowed) => Free::Among(among(&allowed, &planned)),
            Err(_) => Free::Unknown,
        };
        Seats { free, taken: Mutex::default() }
    }

    /// Goes to where this worker, one of `workers`, is to be until it begins; before its memory is
    /// allocated, which then lies near.
    pub(crate) fn take(&self, worker: u32, workers: usize) {
        match &self.free {
            Free::Own(cpus) => go_to(&only(cpus[worker as usize % cpus.len()])),
            // A single worker has nobody to share with, and of more than there are processors, some
            // have to.
            Free::Among(allowed) if (2..=allowed.count() as usize).contains(&workers) => {
                let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
                let seat = seat(sched_getcpu(), allowed, &taken);
                taken.extend(seat);
                drop(taken);
                go_to(&seat.map_or(*allowed, only));
            }
            Free::Among(allowed) => go_to(allowed),
            Free::Unknown => {}
        }
    }

    /// Lets this worker go wherever it may; it stays where it is for now.
    pub(crate) fn leave(&self) {
        if let Free::Among(allowed) = &self.free {
            go_to(allowed);
        }
    }
}

/// Those of the plan that are allowed here; all that are allowed where the plan names none of them.
fn among(allowed: &CpuSet, planned: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    planned.iter().filter(|cpu| allowed.is_set(**cpu)).for_each(|cpu| set.set(*cpu));
    if set.count() == 0 { *allowed } else { set }
}

/// The processor for one who is `here`: this one if it may, else the next free one in their order;
/// `None` where all are taken.
fn seat(here: usize, allowed: &CpuSet, taken: &[usize]) -> Option<usize> {
    let in_order = (here..CpuSet::MAX_CPU).chain(0..here.min(CpuSet::MAX_CPU));
    let mut free = in_order.filter(|cpu| allowed.is_set(*cpu) && !taken.contains(cpu));
    free.next()
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}

/// A control group may forbid them; then the worker runs where it may.
fn go_to(cpus: &CpuSet) {
    let _ = sched_setaffinity(None, cpus);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cpus: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu));
        set
    }

    #[test]
    fn a_worker_stays_where_it_was_put_unless_somebody_is_there() {
        let allowed = set(&[2, 3, 6, 7]);
        assert_eq!(seat(6, &allowed, &[]), Some(6));
        assert_eq!(seat(6, &allowed, &[6]), Some(7));
        assert_eq!(seat(6, &allowed, &[7, 6]), Some(2), "on from the first");
        assert_eq!(seat(0, &allowed, &[]), Some(2), "not one that is forbidden");
        assert_eq!(seat(6, &allowed, &[7, 6, 3, 2]), None, "more workers than processors");
        assert_eq!(
            seat(CpuSet::MAX_CPU + 1, &allowed, &[2]),
            Some(3),
            "on a machine with more than can be told"
        );
    }

    #[test]
    fn a_plan_chooses_among_what_is_allowed() {
        let allowed = set(&[0, 1, 2]);
        assert_eq!(among(&allowed, &[1, 2, 3]), set(&[1, 2]));
        assert_eq!(among(&allowed, &[]), allowed);
        assert_eq!(among(&allowed, &[8, 9]), allowed, "a control group forbids all of the plan's");
    }

    #[test]
    fn workers_wait_on_a_processor_each_and_may_leave_it() {
        let allowed = sched_getaffinity(None).expect("a set");
        let seats = Seats { free: Free::Among(allowed), taken: Mutex::default() };
        let workers = allowed.count() as usize;
        let waiting: Vec<CpuSet> = std::thread::scope(|scope| {
            let seats = &seats;
            let sit = move |worker| {
                scope.spawn(move || {
                    seats.take(worker, workers);
                    let waiting = sched_getaffinity(None).expect("a set");
                    seats.leave();
                    assert_eq!(sched_getaffinity(None).expect("a set"), allowed);
                    waiting
                })
            };
            let threads: Vec<_> = (0..workers as u32).map(sit).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let mut seen: Vec<usize> = waiting
            .iter()
            .flat_map(|set| (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)))
            .collect();
        seen.sort_unstable();
        let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
        assert_eq!(seen, all);
    }
}
