//! What the samples of a stage come to: all that figures rest on, without the samples. A day on
//! many hosts has millions of samples, which no memory should have to hold; they are taken in one
//! by one, in any order, and by several threads whose sums are then merged.
//!
//! Every sum is one of whole numbers, so that order and grouping make no difference to it.

mod block;
mod coded;
mod column;
mod frame;
mod side_by_side;
mod span;
mod spans;
mod sums;

pub use block::Block;
pub use coded::{Held, SumBytes};
pub use column::Column;
pub use frame::{Frame, Moment, Place, StageContext};
pub use side_by_side::side_by_side;
pub use span::Span;
pub use spans::Spans;
pub use sums::{Counts, HostPart, OpRow, Part, Sums, Total, Unfit, WorkerTotal};

use crate::sample::IntervalSample;
use std::collections::BTreeMap;

/// When the hosts of a stage did something, and what it comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// The intervals.
    pub frame: Frame,
    /// What was done in them.
    pub sums: Sums,
}

impl Digest {
    /// Of samples that are held in memory. What contradicts itself counts as far as it can be told.
    pub fn of(context: StageContext<'_>, samples: &[IntervalSample]) -> Digest {
        let mut spans: BTreeMap<u32, Spans> = BTreeMap::new();
        for sample in samples {
            let (start_ns, length_ns) = (sample.start_ns, sample.length_ns);
            let span = Span { start_ns, length_ns, interval: sample.interval, phase: sample.phase };
            spans.entry(sample.host).or_default().push(span);
        }
        let frame = Frame::new(context, spans);
        let mut sums = Sums::default();
        for sample in samples {
            let Some(place) = frame.place(sample.host, sample.interval) else { continue };
            // A file is refused for what is told here.
            let _ = sums.sample(&frame, place, sample);
        }
        sums.close();
        Digest { frame, sums }
    }

    /// What was done by `op` of a work, if there is a row of it in any phase.
    pub fn part(&self, work: u32, op: crate::Op) -> Option<&Part> {
        self.sums.parts.get(&(work, op))
    }
}
