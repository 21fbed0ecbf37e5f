//! On which processors the workers of a stage are.
//!
//! Workers that may run on several begin on one each, as far as there are enough: two that wait on
//! the same one for the start go on to share it until the scheduler looks for idle ones, which it
//! does some times a second only, and a stage of metadata may be over by then. Whom a
//! worker is beside is the scheduler's to choose, which knows caches and siblings: each stays where
//! its thread was put, unless somebody else is there. From the start on, all may go wherever the
//! plan lets them.
//!
//! Where the plan asks for a processor for each worker, they come to whole cores before they come
//! to siblings, and to the core that serves the devices' interrupts last. Everything else of a
//! stage makes way for them.

use model::note::Degraded;
use model::plan::HostPlan;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::sync::{Mutex, PoisonError};

/// Where workers may be, and where they sit until they begin.
pub(crate) struct Seats {
    free: Free,
    /// Processors on which somebody waits for the start.
    taken: Mutex<Vec<usize>>,
}

/// Where workers may run once they have begun.
enum Free {
    /// Each on that of its number, as far as they reach.
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
            _ if plan.engine.own_cpu && !planned.is_empty() => {
                let interrupted = read_to_string("/proc/interrupts").ok();
                let interrupted = interrupted.and_then(|table| interrupted_most(&table));
                Free::Own(spread(&planned, core_of, interrupted))
            }
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

    /// That some of so many workers share a processor which each was to have for itself.
    pub(crate) fn shared(&self, workers: usize) -> Option<Degraded> {
        let Free::Own(cpus) = &self.free else { return None };
        let (workers, cpus) = (workers as u32, cpus.len() as u32);
        (workers > cpus).then_some(Degraded::CpusShared { workers, cpus })
    }

    /// Takes the calling thread, and those that it starts, off the processors that so many workers
    /// have for themselves, as far as others are left; until the outcome is dropped.
    pub(crate) fn make_way(&self, workers: usize) -> Aside {
        let Free::Own(cpus) = &self.free else { return Aside(None) };
        let taken = &cpus[..workers.min(cpus.len())];
        let before = sched_getaffinity(None).ok();
        Aside(before.inspect(|before| go_to(&left_of(before, taken))))
    }

    /// Lets this worker go wherever it may; it stays where it is for now.
    pub(crate) fn leave(&self) {
        if let Free::Among(allowed) = &self.free {
            go_to(allowed);
        }
    }
}

/// A thread that made way; it goes back where it was.
pub(crate) struct Aside(Option<CpuSet>);

impl Drop for Aside {
    fn drop(&mut self) {
        self.0.iter().for_each(go_to);
    }
}

/// What is left of `allowed` where these are `taken`; all of it where nothing is.
fn left_of(allowed: &CpuSet, taken: &[usize]) -> CpuSet {
    let mut left = *allowed;
    taken.iter().for_each(|cpu| left.unset(*cpu));
    if left.count() == 0 { *allowed } else { left }
}

/// `cpus` in the order in which workers come to them: one of each core before a second one, that
/// of the `interrupted` processor last.
fn spread(
    cpus: &[usize],
    core_of: impl Fn(usize) -> usize,
    interrupted: Option<usize>,
) -> Vec<usize> {
    let busy = interrupted.map(&core_of);
    let mut on_core: BTreeMap<usize, u32> = BTreeMap::new();
    let ranked = cpus.iter().map(|cpu| {
        let core = core_of(*cpu);
        let before = on_core.entry(core).or_default();
        *before += 1;
        (*before, busy == Some(core), *cpu)
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(before, is_busy, _)| (*before, *is_busy));
    ranked.into_iter().map(|(.., cpu)| cpu).collect()
}

/// The first processor of the core that `cpu` belongs to; itself where nobody knows.
fn core_of(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    read_to_string(path).ok().and_then(|list| first_of(&list)).unwrap_or(cpu)
}

/// The first number of a list such as `0-1` or `0,32`.
fn first_of(list: &str) -> Option<usize> {
    list.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The processor that served more than half of the devices' interrupts, by `/proc/interrupts`;
/// `None` where they are spread, as those of a device with a queue for each processor.
fn interrupted_most(table: &str) -> Option<usize> {
    let mut lines = table.lines();
    let cpus = lines.next()?.split_whitespace().filter_map(|name| name.strip_prefix("CPU"));
    let mut served: Vec<(usize, u64)> = cpus.filter_map(|n| Some((n.parse().ok()?, 0))).collect();
    for line in lines {
        let Some((name, counts)) = line.split_once(':') else { continue };
        // A device's has a number; the processors' own have a name.
        if name.trim().parse::<u32>().is_ok() {
            let counts = counts.split_whitespace().map_while(|count| count.parse::<u64>().ok());
            served.iter_mut().zip(counts).for_each(|((_, sum), count)| *sum += count);
        }
    }
    let all: u64 = served.iter().map(|(_, sum)| sum).sum();
    served.into_iter().find(|(_, sum)| *sum > all / 2).map(|(cpu, _)| cpu)
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
    fn workers_come_to_cores_before_siblings_and_to_interrupts_last() {
        // Siblings side by side, as many clouds number them, and half of all apart, as Linux does.
        let (beside, apart) = (|cpu: usize| cpu / 2 * 2, |cpu: usize| cpu % 4);
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(spread(&all, beside, None), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(spread(&all, beside, Some(1)), [2, 4, 6, 0, 3, 5, 7, 1]);
        assert_eq!(spread(&all, apart, None), all);
        assert_eq!(spread(&all, apart, Some(0)), [1, 2, 3, 0, 5, 6, 7, 4]);
        assert_eq!(spread(&[4, 5, 0, 1], beside, Some(7)), [4, 0, 5, 1], "near ones first");
        assert_eq!(spread(&all, |cpu| cpu, Some(3)), [0, 1, 2, 4, 5, 6, 7, 3], "no siblings");
    }

    #[test]
    fn a_core_is_named_by_its_first_processor() {
        let lists = ["0-1\n", "3,35\n", "7\n", "", "x"];
        assert_eq!(lists.map(first_of), [Some(0), Some(3), Some(7), None, None]);
    }

    #[test]
    fn whoever_serves_more_than_half_of_the_devices_interrupts_is_found() {
        let table = |one: [u64; 2]| {
            let [first, second] = one;
            format!(
                "           CPU0       CPU2\n 24:  {first}  {second}  PCI-MSIX  virtio1-req.0\n \
                 25:  5  5  IO-APIC\nLOC:  900  9  Local timer interrupts\nERR:  7\n"
            )
        };
        assert_eq!(interrupted_most(&table([1, 100])), Some(2));
        assert_eq!(interrupted_most(&table([100, 1])), Some(0));
        assert_eq!(interrupted_most(&table([50, 50])), None, "a queue for each");
        assert_eq!(interrupted_most(""), None);
    }

    #[test]
    fn others_make_way_for_workers_where_there_is_somewhere_to_go() {
        let allowed = set(&[0, 1, 2]);
        assert_eq!(left_of(&allowed, &[1, 2, 7]), set(&[0]));
        assert_eq!(left_of(&allowed, &[0, 1, 2]), allowed);
        let of_own = Seats { free: Free::Own(vec![0, 1]), taken: Mutex::default() };
        assert_eq!(of_own.shared(2), None);
        assert_eq!(of_own.shared(3), Some(Degraded::CpusShared { workers: 3, cpus: 2 }));
        let before = sched_getaffinity(None).expect("a set");
        drop(of_own.make_way(1));
        assert_eq!(sched_getaffinity(None).expect("a set"), before);
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
