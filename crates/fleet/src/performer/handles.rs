//! What other threads hold of a run: to end it, and to mark an instant of it.

use super::{Fleet, SteadyClock};
use crate::coordinator::{Input, Marked};
use model::occurrence::{MOST_LABEL_BYTES, one_line};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

impl Fleet {
    /// A handle that ends the run.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// A handle that sets marks.
    pub fn marker(&self) -> Marker {
        Marker {
            inputs: self.interrupter.inputs.clone(),
            clock: self.clock,
            is_over: Arc::clone(&self.is_over),
            waiting: Arc::clone(&self.waiting),
        }
    }
}

/// Ends a run from another thread, such as a signal's.
#[derive(Clone, Debug)]
pub struct Interrupter {
    pub(super) inputs: SyncSender<Input>,
    /// Set where there was no room to say it: whoever wants to leave does not wait.
    pub(super) is_asked: Arc<AtomicBool>,
}

impl Interrupter {
    /// Stops the run; what was recorded stays. False where the run is over: a fleet that is gone
    /// has nothing left to interrupt.
    pub fn interrupt(&self) -> bool {
        match self.inputs.try_send(Input::Interrupt) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.is_asked.store(true, Ordering::Release);
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}

/// Says from another thread that something happened.
#[derive(Clone, Debug)]
pub struct Marker {
    /// Who marks waits for room: when it did is known already.
    pub(super) inputs: SyncSender<Input>,
    pub(super) clock: SteadyClock,
    /// Set when how the run ended is on record: nothing is marked behind that.
    pub(super) is_over: Arc<AtomicBool>,
    pub(super) waiting: Arc<Waiting>,
}

/// Who waits to hear where a mark stands.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    next: AtomicU32,
    who: Mutex<BTreeMap<u32, SyncSender<Marked>>>,
}

impl Waiting {
    pub(super) fn who(&self) -> MutexGuard<'_, BTreeMap<u32, SyncSender<Marked>>> {
        // Nobody panics while holding it, and a map is whole whatever happened.
        self.who.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marker {
    /// Marks the instant that was so long ago. False where the run is over.
    pub fn mark(&self, label: &str, ago: Duration) -> bool {
        self.send(label, ago, None)
    }

    /// The same, and waits so long at most until it stands in the record.
    pub fn mark_and_wait(&self, label: &str, ago: Duration, patience: Duration) -> Marked {
        let (answer, answered) = sync_channel(1);
        let ticket = self.waiting.next.fetch_add(1, Ordering::Relaxed);
        self.waiting.who().insert(ticket, answer);
        let marked = match self.send(label, ago, Some(ticket)) {
            true => answered.recv_timeout(patience).ok(),
            false => Some(Marked::Over),
        };
        self.waiting.who().remove(&ticket);
        // The run may have ended with the question unread.
        let late =
            || if self.is_over.load(Ordering::Acquire) { Marked::Over } else { Marked::Taken };
        marked.or_else(|| answered.try_recv().ok()).unwrap_or_else(late)
    }

    fn send(&self, label: &str, ago: Duration, ticket: Option<u32>) -> bool {
        let ago_ns = u64::try_from(ago.as_nanos()).unwrap_or(u64::MAX);
        let at_ns = self.clock.now_ns().saturating_sub(ago_ns);
        let label = one_line(label, MOST_LABEL_BYTES);
        !self.is_over.load(Ordering::Acquire)
            && self.inputs.send(Input::Marked { label, at_ns, ticket }).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_mark_waits_for_room_and_is_refused_when_the_run_is_over() {
        let (inputs, heard) = sync_channel(1);
        let clock = SteadyClock::begin();
        inputs.send(Input::Tick).expect("room");
        let marker = Marker { inputs, clock, is_over: Arc::default(), waiting: Arc::default() };
        let marks = thread::spawn({
            let marker = marker.clone();
            move || marker.mark("failover", Duration::ZERO)
        });
        // Until there is room, it cannot be through.
        thread::sleep(Duration::from_millis(20));
        assert!(!marks.is_finished(), "it waits for room");
        assert_eq!(heard.recv(), Ok(Input::Tick));
        let Ok(Input::Marked { label, at_ns, .. }) = heard.recv() else { panic!("no mark") };
        assert!(marks.join().expect("no panic") && label == "failover");
        assert!(at_ns <= clock.now_ns());
        drop(heard);
        assert!(!marker.mark("late", Duration::ZERO), "the run is over");
    }
}
