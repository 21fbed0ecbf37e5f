//! Events that come faster than one at a time, and are recorded together: opening and closing the
//! record takes longer than an event.

use super::Director;
use crate::coordinator::Input;
use model::Event;

/// So many events are recorded together at most: none waits for long.
const MOST_TOGETHER: usize = 256;

/// Events that happened and are not on record yet.
#[derive(Default)]
pub(super) struct Unrecorded {
    waiting: Vec<Event>,
}

impl Unrecorded {
    pub(super) fn push(&mut self, event: Event) {
        self.waiting.push(event);
    }

    /// Whether all that happened is on record.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether there are some, and more may be heard before they are on record.
    pub(super) fn may_wait(&self) -> bool {
        !self.waiting.is_empty() && self.waiting.len() < MOST_TOGETHER
    }

    /// Has them recorded. Comes back with what follows if they cannot be.
    pub(super) fn record(&mut self, director: &mut dyn Director) -> Option<Input> {
        if self.waiting.is_empty() {
            return None;
        }
        let recorded = director.record(&self.waiting);
        self.waiting.clear();
        recorded.err().map(Input::Unrecordable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::search::Addition;

    /// Keeps how many events came together, until it is full.
    struct Book {
        stages: Vec<Vec<u32>>,
        is_full: bool,
    }

    impl Director for Book {
        fn record(&mut self, events: &[Event]) -> Result<(), String> {
            let stage = |event: &Event| match event {
                Event::StageStarted { stage, .. } => *stage,
                _ => u32::MAX,
            };
            self.stages.push(events.iter().map(stage).collect());
            if self.is_full { Err("full".to_owned()) } else { Ok(()) }
        }

        fn next(&mut self) -> Option<Addition> {
            None
        }

        fn is_steady(&mut self, _: &[f64]) -> bool {
            false
        }
    }

    #[test]
    fn what_waits_is_recorded_once_together_and_in_its_order() {
        let (mut events, mut book) =
            (Unrecorded::default(), Book { stages: Vec::new(), is_full: false });
        assert!(!events.may_wait(), "with nothing to record, the next thing is waited for");
        assert!(events.record(&mut book).is_none() && book.stages.is_empty());
        for stage in 0..3 {
            events.push(Event::StageStarted { stage, unix_ns: 0 });
            assert!(events.may_wait());
        }
        assert!(events.record(&mut book).is_none() && events.record(&mut book).is_none());
        assert_eq!(book.stages, [vec![0, 1, 2]]);
    }

    #[test]
    fn so_many_wait_for_nothing_more_and_what_cannot_be_recorded_is_told_once() {
        let (mut events, mut book) =
            (Unrecorded::default(), Book { stages: Vec::new(), is_full: true });
        (0..MOST_TOGETHER as u32)
            .for_each(|stage| events.push(Event::StageStarted { stage, unix_ns: 0 }));
        assert!(!events.may_wait());
        assert!(
            matches!(events.record(&mut book), Some(Input::Unrecordable(why)) if why == "full")
        );
        assert!(events.record(&mut book).is_none());
        assert_eq!(book.stages.len(), 1);
    }
}
