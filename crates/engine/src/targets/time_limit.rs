//! Calls that a target may never answer: made on a thread of their own, so that somebody is left to
//! say so.
//!
//! A call of the kernel that hangs (a dead NFS server, a FUSE file system without its program)
//! cannot be called off. Its thread is given up, and ends with its call or with the process,
//! whichever is first.

use crate::error::EngineError;
use model::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether there was a step.
const LOOK: Duration = Duration::from_millis(50);

/// The patience that is left once somebody wants to leave: what answers at all does so by then, so
/// that a target that is merely slow is still tidied up, and one that is dead holds nobody.
const PATIENCE_IN_HASTE: Nanos = Nanos::seconds(1);

/// Whether somebody wants to leave. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Haste(Arc<AtomicBool>);

impl Haste {
    /// From now on no call is waited for longer than a second, or it is again (`false`).
    pub fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::SeqCst);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn of(&self, patience: Nanos) -> Nanos {
        if self.is_on() { patience.min(PATIENCE_IN_HASTE) } else { patience }
    }
}

/// What is done with a target that may not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Finding out what it is; nothing is changed.
    Looking,
    /// Claiming, opening and laying it out.
    Opening,
    /// Closing it.
    Closing,
    /// Removing what this run made there.
    Removing,
    /// Removing what an earlier run left there.
    Cleaning,
    /// Reading what a run left there; nothing is changed.
    Checking,
}

impl Doing {
    fn verb(self) -> &'static str {
        match self {
            Doing::Looking => "looking at",
            Doing::Opening => "opening",
            Doing::Closing => "closing",
            Doing::Removing => "removing",
            Doing::Cleaning => "cleaning",
            Doing::Checking => "checking",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Doing::Looking => {
                "see whether the target answers at all, or give it more time with engine.patience \
                 (or --patience)"
            }
            Doing::Checking => {
                "nothing was changed: once the target answers, check it again, or give it more \
                 time with --patience"
            }
            Doing::Cleaning => {
                "what is left there keeps our marker: once the target answers, clean it again, or \
                 give it more time with --patience"
            }
            Doing::Opening | Doing::Closing | Doing::Removing => {
                "see whether the target answers at all, or give it more time with engine.patience; \
                 what the run made there stays: once it answers, remove it with `plimsoll clean`"
            }
        }
    }
}

/// What such a thread is at, as both sides see it.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    at: Arc<Mutex<At>>,
    haste: Haste,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct At {
    steps: u64,
    path: String,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, At> {
        self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody wants to leave: no reason to leave a call, but to wait for nobody else.
    pub(crate) fn is_in_haste(&self) -> bool {
        self.haste.is_on()
    }

    /// Says that the calls to come concern `path`.
    pub fn at(&self, path: &str) {
        let mut at = self.lock();
        at.steps = at.steps.wrapping_add(1);
        path.clone_into(&mut at.path);
    }

    /// Says that the target has answered, and the next call concerns the same path.
    pub fn step(&self) {
        let mut at = self.lock();
        at.steps = at.steps.wrapping_add(1);
    }
}

/// How long there was no step.
#[derive(Clone, Copy, Debug)]
struct Silence {
    steps: u64,
    since_ns: u64,
}

impl Silence {
    /// Whether nothing has happened for all of the `patience`, having seen `steps` by now.
    fn is_over(&mut self, steps: u64, now_ns: u64, patience: Nanos) -> bool {
        if steps != self.steps {
            *self = Silence { steps, since_ns: now_ns };
        }
        now_ns.saturating_sub(self.since_ns) >= patience.0
    }
}

/// Does `work`, in which no single step may take longer than `patience`, nor longer than a second
/// once somebody is in haste.
///
/// # Errors
/// Those of the work, and when it is given up. Then the thread still has what it was given, and
/// lets go of it once the target answers.
pub fn patiently<T: Send + 'static>(
    patience: Nanos,
    haste: &Haste,
    doing: Doing,
    work: impl FnOnce(&Progress) -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    let progress = Progress { haste: haste.clone(), ..Progress::default() };
    let theirs = progress.clone();
    let (done, outcome) = channel();
    let thread = thread::Builder::new()
        .name("targets".to_owned())
        .spawn(move || {
            // Nobody listens any more once it was given up.
            let _ = done.send(work(&theirs));
        })
        .map_err(|error| EngineError::worker("start a thread for the targets", error))?;
    let began = Instant::now();
    let mut silence = Silence { steps: 0, since_ns: 0 };
    loop {
        match outcome.recv_timeout(LOOK) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(payload) => return Err(EngineError::panicked("targets", &*payload)),
                Ok(()) => unreachable!("it sends before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        let at = progress.lock().clone();
        let now_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let patience = haste.of(patience);
        if silence.is_over(at.steps, now_ns, patience) {
            let what = format!("stuck: {} it was not answered for {patience}", doing.verb());
            return Err(EngineError::target(&at.path, what, doing.remedy()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silence_uses_patience_up() {
        let patience = Nanos(100);
        let mut silence = Silence { steps: 0, since_ns: 0 };
        assert!(!silence.is_over(0, 99, patience));
        assert!(!silence.is_over(1, 150, patience), "a step begins it anew");
        assert!(!silence.is_over(1, 249, patience));
        assert!(silence.is_over(1, 250, patience));
    }

    /// The words of a step that is never answered.
    fn given_up(patience: Nanos, haste: &Haste, doing: Doing) -> String {
        let (release, held) = channel::<()>();
        let hangs = patiently(patience, haste, doing, move |progress| {
            progress.at("/mnt/dead");
            // Ends when the test lets go.
            let _ = held.recv();
            Ok(())
        });
        drop(release);
        hangs.expect_err("given up").to_string()
    }

    #[test]
    fn work_that_ends_comes_back_and_work_that_hangs_is_named_with_its_path() {
        let patience = Nanos::millis(200);
        let ends = patiently(patience, &Haste::default(), Doing::Opening, |_| Ok(7));
        assert_eq!(ends.map_err(|error| error.to_string()), Ok(7));
        let words = given_up(patience, &Haste::default(), Doing::Opening);
        let expected = "target /mnt/dead: stuck: opening it was not answered for 200 ms";
        assert!(words.starts_with(expected), "{words}");
    }

    #[test]
    fn in_haste_an_hour_is_a_second_and_a_shorter_patience_stays() {
        let haste = Haste::default();
        haste.set(true);
        assert_eq!(
            (haste.of(Nanos::seconds(3600)), haste.of(Nanos::millis(100))),
            (Nanos::seconds(1), Nanos::millis(100))
        );
        let words = given_up(Nanos::seconds(3600), &haste, Doing::Removing);
        let expected = ["removing it was not answered for 1 s", "plimsoll clean"];
        assert!(expected.iter().all(|part| words.contains(part)), "{words}");
        haste.set(false);
        assert_eq!(haste.of(Nanos::seconds(3600)), Nanos::seconds(3600));
    }

    #[test]
    fn a_panic_is_passed_on_as_what_it_is() {
        let work = |_: &Progress| -> Result<(), EngineError> { panic!("a mistake of ours") };
        let error = patiently(Nanos::seconds(60), &Haste::default(), Doing::Opening, work)
            .expect_err("a panic");
        assert!(
            matches!(&error, EngineError::Panicked { what, .. } if what == "a mistake of ours"),
            "{error}"
        );
    }
}
