//! Calls that a target may never answer: made on a thread of their own, so that somebody is left to say so.
//!
//! A call of the kernel that hangs (a dead NFS server, a FUSE file system without its program) cannot be called off. Its thread is given up, and
//! ends with its call or with the process, whichever is first.

use crate::error::EngineError;
use model::units::Nanos;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether there was a step.
const LOOK: Duration = Duration::from_millis(50);

/// What such a thread is at, as both sides see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<Mutex<At>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct At {
    steps: u64,
    path: String,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, At> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the calls to come concern `path`.
    pub(crate) fn at(&self, path: &str) {
        let mut at = self.lock();
        at.steps = at.steps.wrapping_add(1);
        path.clone_into(&mut at.path);
    }

    /// Says that the target has answered, and the next call concerns the same path.
    pub(crate) fn step(&self) {
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

/// Does `work`, in which no single step may take longer than `patience`; `verb` is what it does with a target.
///
/// # Errors
/// Those of the work, and when it is given up. Then the thread still has what it was given, and lets go of it once the target answers.
pub(crate) fn within<T: Send + 'static>(
    patience: Nanos,
    verb: &'static str,
    work: impl FnOnce(&Progress) -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    let progress = Progress::default();
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
                Err(panic) => resume_unwind(panic),
                Ok(()) => unreachable!("it sends before it ends"),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        let at = progress.lock().clone();
        let now_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if silence.is_over(at.steps, now_ns, patience) {
            return Err(stuck(&at.path, verb, patience));
        }
    }
}

fn stuck(path: &str, verb: &str, patience: Nanos) -> EngineError {
    let what = format!("stuck: {verb} it was not answered for {patience}");
    let remedy = "see whether the target answers at all, or give it more time with engine.patience; \
                  what the run made there stays: once it answers, remove it with `plimsoll clean`";
    EngineError::target(path, what, remedy)
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

    #[test]
    fn work_that_ends_comes_back_and_work_that_hangs_is_named_with_its_path() {
        let patience = Nanos::millis(200);
        assert_eq!(within(patience, "opening", |_| Ok(7)).map_err(|error| error.to_string()), Ok(7));
        let (release, held) = channel::<()>();
        let hangs = within(patience, "opening", move |progress| {
            progress.at("/mnt/dead");
            // Ends when the test lets go.
            let _ = held.recv();
            Ok(())
        });
        drop(release);
        let words = hangs.expect_err("given up").to_string();
        assert!(words.starts_with("target /mnt/dead: stuck: opening it was not answered for 200 ms"), "{words}");
    }

    #[test]
    #[should_panic(expected = "a mistake of ours")]
    fn a_panic_is_passed_on() {
        let _ = within(Nanos::seconds(60), "opening", |_| -> Result<(), EngineError> { panic!("a mistake of ours") });
    }
}
