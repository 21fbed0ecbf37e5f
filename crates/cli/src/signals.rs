//! Ctrl-C once: stop, keep, report the part. Twice: out at once.

use crate::machines;
use crate::terminal::screen;
use fleet::Interrupter;
use fleet::launch::SlurmRequest;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A stop was asked for when the run was over: it is meant for what stays behind it.
static AFTERWARDS: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Run,
    Look,
    Canary,
}

impl Work {
    /// What is said when a stop was asked for, and what when it was asked for once more.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Work::Run => (
                "\nstopping: what was measured is kept (once more to leave at once)",
                "\nstopped at once; what was recorded can be seen with `plimsoll show RUN`",
            ),
            Work::Look => ("", "\nstopped at once"),
            Work::Canary => (
                "\nstopping: the segment is kept (once more to leave at once)",
                "\nstopped at once; the next start reads what was recorded",
            ),
        }
    }

    fn idle(self) -> &'static str {
        match self {
            Work::Run | Work::Look => "\nstopped before anything was loaded",
            Work::Canary => "\nstopped between two segments; everything is kept",
        }
    }
}

/// Where the signals of a process go: to a fleet once there is one, and until then to the end of
/// the process.
#[derive(Default)]
pub(crate) struct Signalled {
    interrupter: Arc<Mutex<Option<Interrupter>>>,
    slurm: SlurmRequest,
}

impl Signalled {
    pub(crate) fn reach(&self, interrupter: Interrupter) {
        *held(&self.interrupter) = Some(interrupter);
    }

    /// The fleet is over: from here on until the next one, a signal ends the process.
    pub(crate) fn leave(&self) {
        *held(&self.interrupter) = None;
    }

    /// What is asked of Slurm with this is given back, whichever signal ends the process.
    pub(crate) fn slurm(&self) -> &SlurmRequest {
        &self.slurm
    }

    /// Comes back unless a signal is about to end the process: what failed because of that is
    /// nobody's failure.
    pub(crate) fn or_end(&self) {
        drop(held(&self.interrupter));
    }
}

fn held(interrupter: &Mutex<Option<Interrupter>>) -> MutexGuard<'_, Option<Interrupter>> {
    // Nobody panics while holding it.
    interrupter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Turns the signals of this process into an interrupt of the work, and the second one into an
/// exit.
///
/// To be called before anything is started: while agents are being launched, which may take
/// minutes, nothing was loaded and nothing was recorded, so that a signal ends the process at once,
/// in words and with the code of an interrupt; agents end with the streams that it held.
/// Where signals cannot be had, a signal just ends the process: nothing that was recorded is lost,
/// but nothing is reported either.
pub(crate) fn watch(work: Work) -> Signalled {
    let (stopping, stopped) = work.words();
    let signalled = Signalled::default();
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return signalled };
    let (interrupter, slurm) = (signalled.interrupter.clone(), signalled.slurm.clone());
    std::thread::spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            if count > 0 {
                screen::restore();
                eprintln!("{stopped}");
                slurm.call_off();
                machines::call_off();
                std::process::exit(130);
            }
            // Held while the process ends: a fleet that is ready in this very moment does not
            // begin.
            let interrupter = held(&interrupter);
            let Some(interrupter) = interrupter.as_ref() else {
                eprintln!("{}", work.idle());
                slurm.call_off();
                machines::call_off();
                std::process::exit(130);
            };
            let is_of_run = interrupter.interrupt();
            AFTERWARDS.fetch_or(!is_of_run, Ordering::SeqCst);
            // In the middle of a picture nobody could read it.
            if is_of_run && !screen::is_taken() && !stopping.is_empty() {
                eprintln!("{stopping}");
            }
        }
    });
    signalled
}

/// How long a view may take to end by itself after a signal. One whose terminal is gone may never
/// come back from asking it for keys.
pub(crate) const LAST_LOOK: Duration = Duration::from_secs(1);

/// A flag that every signal sets which would end the process: for what has no run to interrupt. A
/// moment later the process ends in any case; where signals cannot be had, it just ends.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                theirs.store(true, Ordering::SeqCst);
                std::thread::sleep(LAST_LOOK);
                screen::restore();
                std::process::exit(130);
            }
        });
    }
    flag
}

/// A flag that the first signal sets which would end the process; the second one ends it. For what
/// ends by itself soon after the first.
pub(crate) fn asked_to_stop() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag not set yet. Where signals cannot be had,
        // they end the process as they always do.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone());
        let _ = signal_hook::flag::register(signal, flag.clone());
    }
    flag
}

pub(crate) fn wait() {
    // Where signals cannot be had, they end the process as they always do.
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP])
        && !AFTERWARDS.load(Ordering::SeqCst)
    {
        signals.forever().next();
    }
}
