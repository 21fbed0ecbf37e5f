//! When a run is pushed: as each interval is over, and at its end.

use model::{Event, Nanos};

/// Says before which events what is known is pushed.
#[derive(Clone, Debug)]
pub struct Pace {
    every: Nanos,
    at: Option<Interval>,
    /// The instant of the last push, in ns since 1970.
    last_unix_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Interval {
    stage: u32,
    number: u32,
}

impl Pace {
    /// One that pushes no more often than this.
    pub fn new(every: Nanos) -> Pace {
        Pace { every, at: None, last_unix_ns: 0 }
    }

    /// Whether all before `event` makes a push: with it, another interval begins to be told.
    /// `now_unix_ns` is the end of what was measured so far.
    pub fn is_due(&mut self, event: &Event, now_unix_ns: u64) -> bool {
        let next = match event {
            Event::Sample(sample) => Interval { stage: sample.stage, number: sample.interval },
            _ => return false,
        };
        if self.at.is_none_or(|at| next > at) {
            let is_first = self.at.replace(next).is_none();
            return !is_first && now_unix_ns.saturating_sub(self.last_unix_ns) >= self.every.0;
        }
        false
    }

    /// Whether all up to `event` makes a push, whenever the last one was.
    pub fn is_last(event: &Event) -> bool {
        matches!(event, Event::StageEnded { .. } | Event::RunEnded { .. })
    }

    /// The instant of a push of what was measured until `unix_ns`: later by 1 ms at least than the
    /// one before, because one instant has one value.
    pub fn instant(&mut self, unix_ns: u64) -> u64 {
        let next_ms = self.last_unix_ns / 1_000_000 + 1;
        self.last_unix_ns = unix_ns.max(next_ms.saturating_mul(1_000_000));
        self.last_unix_ns
    }
}
