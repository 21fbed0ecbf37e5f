//! Holds the workers of a stage until all are ready, then lets them go at one instant.

use crate::timetable::Timetable;
use std::sync::{Condvar, Mutex, PoisonError};

/// Shut until it is opened, once.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Shut,
    Open(Timetable),
    /// Somebody could not be set up: the stage does not take place.
    CalledOff,
}

impl Gate {
    pub(crate) fn open(&self, timetable: Timetable) {
        self.set(State::Open(timetable));
    }

    pub(crate) fn call_off(&self) {
        self.set(State::CalledOff);
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }

    /// Waits for the start; `None` if it was called off.
    pub(crate) fn wait(&self) -> Option<Timetable> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *state {
                State::Shut => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                State::Open(timetable) => return Some(timetable),
                State::CalledOff => return None,
            }
        }
    }
}
