//! Which writes of one worker in one stage the record knows to be acknowledged.

use model::WriteMark;

/// What the marks of one worker in one stage say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Generations are above it.
    pub(super) base: u32,
    /// The last acknowledged generation; `base` if there is none.
    pub(super) last: u32,
    /// Generations of writes that failed, in order.
    failed: Vec<u32>,
    /// First and last generation of those of which nothing is known but that some failed, in
    /// order.
    unsure: Vec<(u32, u32)>,
    /// The last generation that was sent in each interval, and how far writes overtook each other
    /// in it.
    overtaken: Vec<(u32, u32)>,
    /// The last generation that was acknowledged by the end of each interval, and that end, in ns
    /// after the stage's start.
    ends: Vec<(u32, u64)>,
}

/// Why marks cannot be those of a worker.
pub(super) const IMPOSSIBLE: &str = "its write marks are none that a worker can have left";

impl Known {
    /// What the marks of a worker say, each with the end of its interval in ns after the stage's
    /// start, in their order. `durable` where only writes count that were made durable.
    ///
    /// # Errors
    /// When they contradict each other.
    pub(super) fn of<'a>(
        marks: impl Iterator<Item = (&'a WriteMark, u64)>,
        durable: bool,
    ) -> Result<Known, &'static str> {
        let mut known: Option<Known> = None;
        let (mut sent, mut completed) = (0, 0);
        for (mark, end_ns) in marks {
            let known = known.get_or_insert_with(|| Known {
                base: mark.base,
                last: mark.base,
                ..Known::default()
            });
            (sent, completed) = (mark.base.max(sent), mark.base.max(completed));
            let is_possible = mark.base == known.base
                && (sent..=u32::MAX).contains(&mark.sent)
                && (completed..=mark.sent).contains(&mark.completed)
                && (known.base..=mark.completed).contains(&mark.durable);
            if !is_possible {
                return Err(IMPOSSIBLE);
            }
            if mark.more_failed {
                known.unsure.push((completed.saturating_add(1), mark.sent));
            }
            known.failed.extend(&mark.failed);
            known.last = known.last.max(if durable { mark.durable } else { mark.completed });
            known.overtaken.push((mark.sent, mark.overtaken));
            known.ends.push((known.last, end_ns));
            (sent, completed) = (mark.sent, mark.completed);
        }
        let mut known = known.unwrap_or_default();
        known.failed.sort_unstable();
        Ok(known)
    }

    /// The last generation that was sent.
    pub(super) fn sent(&self) -> u32 {
        self.overtaken.last().map_or(self.base, |(sent, _)| *sent)
    }

    /// Whether the write of `generation` is acknowledged.
    pub(super) fn is_acknowledged(&self, generation: u32) -> bool {
        let is_unsure =
            || self.unsure.iter().any(|(first, last)| (*first..=*last).contains(&generation));
        self.is_within(generation)
            && self.failed.binary_search(&generation).is_err()
            && (self.unsure.is_empty() || !is_unsure())
    }

    /// Whether `generation` is one of this worker in this stage, up to the last acknowledged one.
    pub(super) fn is_within(&self, generation: u32) -> bool {
        generation > self.base && generation <= self.last
    }

    /// The oldest generation of this stage that may have landed after the write of `generation`,
    /// which is acknowledged.
    pub(super) fn horizon(&self, generation: u32) -> u32 {
        let interval = self.overtaken.partition_point(|(sent, _)| *sent < generation);
        let behind = self.overtaken.get(interval).map_or(0, |(_, behind)| *behind);
        generation.saturating_sub(behind).max(self.base.saturating_add(1))
    }

    /// How many generations are acknowledged, leaving out those that are known to have failed.
    pub(super) fn count(&self) -> u64 {
        let failed = self.failed.partition_point(|generation| *generation <= self.last);
        u64::from(self.last - self.base).saturating_sub(failed as u64)
    }

    /// The end of the first interval that knew `generation` acknowledged, in ns after the stage's
    /// start.
    pub(super) fn known_since_ns(&self, generation: u32) -> Option<u64> {
        let index = self.ends.partition_point(|(last, _)| *last < generation);
        self.ends.get(index).map(|(_, end_ns)| *end_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(sent: u32, completed: u32, durable: u32) -> WriteMark {
        WriteMark { base: 10, sent, completed, durable, ..WriteMark::default() }
    }

    fn known(marks: &[WriteMark], durable: bool) -> Result<Known, &'static str> {
        Known::of(marks.iter().zip((1..).map(|interval| interval * 100)), durable)
    }

    #[test]
    fn what_came_back_by_the_last_mark_is_acknowledged() {
        let marks =
            [mark(20, 15, 10), WriteMark { overtaken: 3, failed: vec![17], ..mark(40, 30, 18) }];
        let completed = known(&marks, false).expect("possible");
        let which = |known: &Known| {
            (0..50).filter(|generation| known.is_acknowledged(*generation)).collect::<Vec<_>>()
        };
        assert_eq!(
            which(&completed),
            [&[11, 12, 13, 14, 15, 16][..], &(18..=30).collect::<Vec<_>>()].concat()
        );
        assert_eq!(completed.count(), 19);
        assert_eq!(which(&known(&marks, true).expect("possible")), [11, 12, 13, 14, 15, 16, 18]);
        assert_eq!(
            [15, 16, 30].map(|generation| completed.known_since_ns(generation)),
            [Some(100), Some(200), Some(200)]
        );
    }

    #[test]
    fn a_horizon_is_that_of_the_interval_in_which_a_write_was_sent_and_ends_at_its_stage() {
        let marks = [mark(20, 15, 10), WriteMark { overtaken: 9, ..mark(40, 30, 10) }];
        let known = known(&marks, false).expect("possible");
        assert_eq!([20, 21, 12].map(|generation| known.horizon(generation)), [20, 12, 12]);
        assert_eq!(known.horizon(25), 16);
    }

    #[test]
    fn of_an_interval_with_too_many_failures_nothing_is_relied_upon() {
        let marks = [
            mark(20, 15, 10),
            WriteMark { more_failed: true, ..mark(40, 30, 10) },
            mark(60, 50, 10),
        ];
        let known = known(&marks, false).expect("possible");
        assert!((11..=15).chain(41..=50).all(|generation| known.is_acknowledged(generation)));
        assert!((16..=40).all(|generation| !known.is_acknowledged(generation)));
    }

    #[test]
    fn marks_that_no_worker_leaves_are_refused() {
        for wrong in [mark(20, 21, 10), mark(20, 15, 16), mark(9, 9, 9), mark(20, 15, 9)] {
            assert_eq!(known(std::slice::from_ref(&wrong), false), Err(IMPOSSIBLE), "{wrong:?}");
        }
        assert!(known(&[mark(20, 15, 10), mark(19, 15, 10)], false).is_err());
        assert!(known(&[mark(20, 15, 10), mark(20, 14, 10)], false).is_err());
        assert!(
            known(&[mark(20, 15, 10), WriteMark { base: 11, ..mark(30, 15, 12) }], false).is_err()
        );
        assert_eq!(known(&[], false), Ok(Known::default()));
    }
}
