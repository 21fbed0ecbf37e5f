//! Signals while machines are being made.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals while machines are being made: the first asks for a stop, the second ends the process,
/// and a command finds what is left then.
pub(crate) struct Making {
    pub(crate) stop: Arc<AtomicBool>,
    handle: Option<Handle>,
}

impl Drop for Making {
    fn drop(&mut self) {
        self.handle.iter().for_each(Handle::close);
    }
}

/// Watches signals until what it gives is dropped, and says what happens `now`, and the command for
/// `then`. Where signals cannot be had, one just ends the
/// process.
pub(crate) fn while_making(now: &'static str, then: &'static str) -> Making {
    let stop = Arc::new(AtomicBool::new(false));
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return Making { stop, handle: None };
    };
    let (handle, theirs) = (signals.handle(), stop.clone());
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if theirs.swap(true, Ordering::SeqCst) {
                eprintln!("\nstopped at once; see `{then}` for what is left");
                std::process::exit(130);
            }
            eprintln!("\nstopping: {now} (once more to leave at once)");
        }
    });
    Making { stop, handle: Some(handle) }
}
