//! The CPU time of the kernel's threads that carry a ring's requests (`iou-wrk-N`).
//!
//! They are threads of this process, started and ended by the kernel for the thread whose number is
//! in their name. What they take is taken for the load, so it counts as that of the worker. The
//! stage reads it, beside its workers: a worker that looked for its own threads among those of all
//! others would take time from its load.

use crate::threads::cpu::CpuTime;
use model::note::Carried;
use model::units::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};

/// How the kernel names them.
const NAME: &str = "iou-wrk-";

/// The kernel ends one that had nothing to do for 5 s. It is read more often than that, so that
/// nothing of it is lost.
const AT_LEAST_EVERY_NS: u64 = 1_000_000_000;

/// The share of the time that looking may take: one of so many.
const SHARE: u64 = 10;

/// Less than this part of a stage's CPU time is not worth a word.
const LEAST_SHARE: u64 = 100;

/// Stages of this process that look at such threads.
static LOOKING: AtomicU32 = AtomicU32::new(0);

/// The kernel's threads behind the workers of a stage.
pub(crate) struct Helpers {
    /// The kernel's number of each worker's thread.
    workers: Vec<i32>,
    /// Threads of this process by their number; `None` for those that are none of these.
    known: BTreeMap<i32, Option<Helper>>,
    /// Time that was read and not yet handed out, by worker.
    pending_ns: Vec<u64>,
    next_look_ns: u64,
    /// What was handed out, and the CPU time of the workers with it.
    carried: Carried,
}

struct Helper {
    /// The number in its name.
    owner: i32,
    seen_ns: u64,
}

impl Helpers {
    /// Those of workers with these threads; empty for a stage whose backend has none.
    pub(crate) fn of(workers: Vec<i32>) -> Helpers {
        LOOKING.fetch_add(u32::from(!workers.is_empty()), Ordering::Relaxed);
        Helpers {
            pending_ns: vec![0; workers.len()],
            workers,
            known: BTreeMap::new(),
            next_look_ns: 0,
            carried: Carried { kernel: Nanos(0), all: Nanos(0) },
        }
    }

    /// Reads them all, unless that was done a moment ago.
    pub(crate) fn look(&mut self, now_ns: impl Fn() -> u64) {
        let began_ns = now_ns();
        if self.workers.is_empty() || began_ns < self.next_look_ns {
            return;
        }
        self.read();
        let ended_ns = now_ns();
        self.next_look_ns = ended_ns + (ended_ns - began_ns) * SHARE;
    }

    /// The same where nobody asks, often enough that no thread ends unread.
    pub(crate) fn look_sometimes(&mut self, now_ns: impl Fn() -> u64) {
        if now_ns() >= self.next_look_ns + AT_LEAST_EVERY_NS {
            self.look(now_ns);
        }
    }

    /// Adds to `cpu`, that of `worker`, what its threads took since the last time that this was
    /// asked, as far as it was read.
    pub(crate) fn add_to(&mut self, cpu: &mut CpuTime, worker: u32) {
        let taken_ns = self.pending_ns.get_mut(worker as usize).map_or(0, std::mem::take);
        cpu.system_ns += taken_ns;
        self.carried.kernel.0 += taken_ns;
        self.carried.all.0 += cpu.user_ns + cpu.system_ns;
    }

    /// What the kernel's threads had of the CPU time of the stage, unless it is next to nothing: a
    /// flush now and then is always theirs.
    pub(crate) fn carried(&self) -> Option<Carried> {
        let Carried { kernel, all } = self.carried;
        (kernel.0 > all.0 / LEAST_SHARE).then_some(self.carried)
    }

    fn read(&mut self) {
        let Some(threads) = threads() else { return };
        self.known.retain(|thread, _| threads.contains(thread));
        for thread in threads {
            self.known.entry(thread).or_insert_with(|| helper(thread));
        }
        let numbers: BTreeSet<i32> = self.known.keys().copied().collect();
        let is_alone = LOOKING.load(Ordering::Relaxed) == 1;
        for (thread, helper) in &mut self.known {
            let Some((helper, now_ns)) =
                helper.as_mut().and_then(|helper| Some((helper, cpu_ns(*thread)?)))
            else {
                continue;
            };
            let took_ns = now_ns.saturating_sub(std::mem::replace(&mut helper.seen_ns, now_ns));
            match whose(helper.owner, &self.workers, &numbers, is_alone) {
                Whose::One(worker) => self.pending_ns[worker] += took_ns,
                Whose::All => share(took_ns, &mut self.pending_ns),
                Whose::Nobodys => {}
            }
        }
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        LOOKING.fetch_sub(u32::from(!self.workers.is_empty()), Ordering::Relaxed);
    }
}

/// To whom the time of such a thread belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    One(usize),
    All,
    Nobodys,
}

/// In a container, the kernel names a thread by a number that is not the one we know. Where a
/// single stage of this process has such threads, they are its workers' all the same, to equal
/// parts; with several, nobody can tell.
fn whose(owner: i32, workers: &[i32], threads: &BTreeSet<i32>, is_alone: bool) -> Whose {
    match workers.iter().position(|worker| *worker == owner) {
        Some(worker) => Whose::One(worker),
        None if is_alone && !threads.contains(&owner) => Whose::All,
        None => Whose::Nobodys,
    }
}

/// Equal parts, to the ns.
fn share(ns: u64, among: &mut [u64]) {
    let count = among.len() as u64;
    for (number, part) in among.iter_mut().enumerate() {
        *part += ns / count + u64::from((number as u64) < ns % count);
    }
}

/// The number in the name of such a thread.
fn owner(name: &str) -> Option<i32> {
    name.trim_end().strip_prefix(NAME)?.parse().ok()
}

/// The threads of this process; `None` where there is no `/proc`.
fn threads() -> Option<BTreeSet<i32>> {
    let entries = std::fs::read_dir("/proc/self/task").ok()?;
    Some(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

fn helper(thread: i32) -> Option<Helper> {
    let name = std::fs::read_to_string(format!("/proc/self/task/{thread}/comm")).ok()?;
    Some(Helper { owner: owner(&name)?, seen_ns: 0 })
}

/// The CPU time of a thread of this process, in ns; `None` once it has ended.
fn cpu_ns(thread: i32) -> Option<u64> {
    // As the kernel makes such a clock of a thread's number (`CPUCLOCK_PERTHREAD_MASK |
    // CPUCLOCK_SCHED`, linux/posix-timers.h).
    let clock: libc::clockid_t = (!thread) << 3 | 6;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable and outlives the call.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) } != 0;
    (!failed).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_for_whom_a_thread_works() {
        assert_eq!(owner("iou-wrk-4194303\n"), Some(4_194_303));
        for other in ["worker-3", "iou-wrk-", "iou-sqp-7", "xiou-wrk-7"] {
            assert_eq!(owner(other), None, "{other}");
        }
    }

    #[test]
    fn time_belongs_to_whoever_is_named_and_to_all_only_where_nobody_else_can_be_meant() {
        let threads = BTreeSet::from([1, 10, 11, 12]);
        assert_eq!(whose(11, &[10, 11], &threads, false), Whose::One(1));
        assert_eq!(
            whose(12, &[10, 11], &threads, true),
            Whose::Nobodys,
            "a worker of another stage, or of the one before"
        );
        assert_eq!(
            whose(90_011, &[10, 11], &threads, true),
            Whose::All,
            "a number of another world"
        );
        assert_eq!(whose(90_011, &[10, 11], &threads, false), Whose::Nobodys);
        let mut parts = [0, 5, 0];
        share(8, &mut parts);
        assert_eq!(parts, [3, 8, 2]);
    }

    #[test]
    fn the_clock_of_a_thread_is_that_of_its_own_count() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        assert!(threads().expect("a /proc").contains(&thread) && helper(thread).is_none());
        let before_ns = cpu_ns(thread).expect("it lives");
        let mut sum = 0u64;
        while cpu_ns(thread).expect("it lives") < before_ns + 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        assert_eq!(cpu_ns(i32::MAX >> 4), None, "nobody");
    }
}
