//! The instants of a stage.

use crate::worker::stuck::Patience;

/// The instants of a stage, on the control's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timetable {
    pub(crate) start_ns: u64,
    /// How much later than asked for that is.
    pub(crate) late_ns: u64,
    pub(crate) interval_ns: u64,
    /// How long after the end of the load it is waited for requests.
    pub(crate) patience: Patience,
}

impl Timetable {
    /// The number of the interval that holds `now_ns`.
    pub(crate) fn interval_at(self, now_ns: u64) -> u32 {
        u32::try_from(now_ns.saturating_sub(self.start_ns) / self.interval_ns).unwrap_or(u32::MAX)
    }

    /// The first instant after interval `number`.
    pub(crate) fn end_of(self, number: u32) -> u64 {
        self.start_ns + (u64::from(number) + 1) * self.interval_ns
    }
}
