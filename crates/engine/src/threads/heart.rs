//! The heart of a stage: it beats as long as this program runs, whatever the target does and
//! whoever takes in what the workers say. When it was silent, nothing of this program ran.

use crate::clock::Clock;
use crate::control::Control;
use model::event::{MOST_PAUSES, Pause};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The time from one beat to the next.
const BEAT: Duration = Duration::from_millis(50);

/// A heart that beats this much too late has stood still: a busy machine lets a thread wait for
/// less.
const LEAST_PAUSE_NS: u64 = 100_000_000;

/// A heart on a thread of its own. Those that take in messages, write them down or wait for a
/// reader have other reasons to be late.
pub(crate) struct Heart {
    /// When the load begins, on the control's clock; until that is known, never.
    start_ns: Arc<AtomicU64>,
    /// Dropped, it ends the thread.
    end: Sender<()>,
    thread: JoinHandle<Vec<Pause>>,
}

impl Heart {
    /// Begins to beat, before the load.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub(crate) fn start(control: &Control) -> io::Result<Heart> {
        let start_ns = Arc::new(AtomicU64::new(u64::MAX));
        let (end, ended) = mpsc::channel::<()>();
        let (control, begun) = (control.clone(), start_ns.clone());
        let beat = move || {
            let mut detector = PauseDetector::default();
            // Also the time between two waits counts: the program may be stopped there.
            let mut from_ns = control.clock().now_ns();
            loop {
                let last = ended.recv_timeout(BEAT) != Err(RecvTimeoutError::Timeout);
                let now_ns = control.clock().now_ns();
                let load_ns = begun.load(Ordering::Acquire)..control.stop_at_ns();
                detector.waited(from_ns, now_ns, load_ns);
                from_ns = now_ns;
                if last {
                    return detector.pauses;
                }
            }
        };
        let thread = Builder::new().name("heart".to_owned()).spawn(beat)?;
        Ok(Heart { start_ns, end, thread })
    }

    /// The load begins at this instant of the control's clock.
    pub(crate) fn load_begins(&self, start_ns: u64) {
        self.start_ns.store(start_ns, Ordering::Release);
    }

    /// When nothing of this program ran while the load was on, in order.
    pub(crate) fn end(self) -> Vec<Pause> {
        drop(self.end);
        // It has nothing that could panic.
        self.thread.join().unwrap_or_default()
    }
}

#[derive(Default)]
struct PauseDetector {
    pauses: Vec<Pause>,
}

impl PauseDetector {
    /// It beat at `from_ns` and, a [`BEAT`] later if all was well, at `to_ns`, on the control's
    /// clock; the load is on within `load_ns`.
    fn waited(&mut self, from_ns: u64, to_ns: u64, load_ns: Range<u64>) {
        let length_ns = to_ns.saturating_sub(from_ns).saturating_sub(BEAT.as_nanos() as u64);
        // What begins in the load counts as far as it goes, like a request.
        if load_ns.contains(&from_ns)
            && length_ns >= LEAST_PAUSE_NS
            && self.pauses.len() < MOST_PAUSES
        {
            self.pauses.push(Pause { at_ns: from_ns - load_ns.start, length_ns });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heart_that_beats_too_late_while_the_load_is_on_stood_still() {
        let mut pause_detector = PauseDetector::default();
        let mut waited = |from_ms: u64, length_ms: u64| {
            pause_detector.waited(
                from_ms * 1_000_000,
                (from_ms + length_ms) * 1_000_000,
                1_000_000_000..9_000_000_000,
            );
        };
        waited(900, 5_000);
        waited(2_000, 50);
        waited(2_050, 149);
        waited(3_000, 2_050);
        waited(8_990, 150);
        waited(9_000, 3_000);
        let pause = |at_ms: u64, length_ms: u64| Pause {
            at_ns: at_ms * 1_000_000,
            length_ns: length_ms * 1_000_000,
        };
        assert_eq!(pause_detector.pauses, [pause(2_000, 2_000), pause(7_990, 100)]);
    }
}
