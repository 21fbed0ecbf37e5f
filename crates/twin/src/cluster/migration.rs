//! A migration in the middle of a measurement: for a time it takes a share of each drive and of
//! what stands before the volumes that move.

use crate::spec::Stall;
use model::EventTime;

/// The share of each drive's time that a migration takes, in thousandths.
pub(super) const DRIVE_SHARE: u64 = 300;
/// The share of a node's mover that the copy of each machine takes, in thousandths. A node serves
/// its machines in their order: the second has what the copies of both leave, which is next to
/// nothing.
const COPY_SHARE: u64 = 480;
/// What each request to a volume that moves costs its node's mover: a read looks where the block is
/// by now, a write goes to both places.
pub(super) const REQUEST_NS: u64 = 100_000;

/// What the copy of a volume reads, and then writes, with one request each. Assumed, as a virtual
/// disk's mover in software is recalled: no report says it.
pub(super) const COPY_BYTES: u64 = 64 << 10;

/// What a migration itself read and wrote until an instant, as somebody counts it who sees requests
/// of volumes: each byte is read once and written once, however many copies protect it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// When it began, in ns of virtual time.
    pub at_ns: u64,
    /// How long it went on until then, in ns.
    pub length_ns: u64,
    /// Requests that read, and as many that wrote.
    pub requests: u64,
    /// Bytes that they read, and wrote.
    pub bytes: u64,
}

/// How fast the share of all drives that a migration takes lets its copies through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mover {
    span: Stall,
    bytes_per_ns: f64,
}

impl Mover {
    pub(super) fn new(span: Stall, bytes_per_ns: f64) -> Mover {
        Mover { span, bytes_per_ns }
    }

    /// What was moved until `now_ns`, of `most` bytes that there are; `None` before it begins.
    pub(super) fn until(&self, now_ns: u64, most: u64) -> Option<Moved> {
        let length_ns = now_ns.checked_sub(self.span.at_ns)?.min(self.span.length_ns);
        let bytes = ((length_ns as f64 * self.bytes_per_ns) as u64).min(most);
        let requests = bytes / COPY_BYTES;
        (length_ns > 0).then_some(Moved {
            at_ns: self.span.at_ns,
            length_ns,
            requests,
            bytes: requests * COPY_BYTES,
        })
    }
}

/// Bytes per ns that drives of one tier let through a copy, which has [`DRIVE_SHARE`] of their
/// time: each byte takes `ns_per_byte` of one of `drives` drives. The utilisation law.
pub(super) fn copied_per_ns(drives: usize, ns_per_byte: f64) -> f64 {
    let share = DRIVE_SHARE as f64 / 1_000.0;
    if ns_per_byte > 0.0 { share * drives as f64 / ns_per_byte } else { 0.0 }
}

/// When all volumes migrate, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The beginning, in each measurement: a share of its time, or a time after its start.
    pub at: EventTime,
    /// The length: a share of the time of the measurement, or a time.
    pub length: EventTime,
}

impl Migration {
    /// The span in a measurement that begins at `begin_ns` and lasts `time_ns`; `None` where it is
    /// a share of a time that nobody knows.
    pub(super) fn span(self, begin_ns: u64, time_ns: Option<u64>) -> Option<Stall> {
        let ns = |time: EventTime| match time {
            EventTime::After(after) => Some(after.0),
            EventTime::Share(share) => {
                let ns = u128::from(time_ns?) * u128::from(share.ppm) / 1_000_000;
                Some(u64::try_from(ns).unwrap_or(u64::MAX))
            }
        };
        Some(Stall { at_ns: begin_ns.saturating_add(ns(self.at)?), length_ns: ns(self.length)? })
    }
}

/// The share of its mover's time that the machine number `rank` of a node, from 0, is without, in
/// thousandths.
pub(super) fn taken(rank: u64) -> u64 {
    COPY_SHARE.saturating_mul(rank.saturating_add(1))
}

/// A time in which a share of a resource is taken, reckoned from request to request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    begin_ns: u64,
    end_ns: u64,
    share: u64,
}

impl Window {
    /// `share` in thousandths, up to 970: something is always left.
    pub(super) fn new(span: Stall, share: u64) -> Window {
        Window {
            begin_ns: span.at_ns,
            end_ns: span.at_ns.saturating_add(span.length_ns),
            share: share.min(970),
        }
    }

    /// The work that has come up until `now_ns` and was not told yet, in ns.
    pub(super) fn work_until(&mut self, now_ns: u64) -> u64 {
        let until_ns = now_ns.min(self.end_ns);
        let passed_ns = until_ns.saturating_sub(self.begin_ns);
        // What a thousandth leaves over waits for the next time.
        let told_ns = passed_ns - passed_ns % 1_000;
        self.begin_ns = self.begin_ns.saturating_add(told_ns);
        told_ns / 1_000 * self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Nanos, Percent};

    fn window(at_ns: u64, length_ns: u64, share: u64) -> Window {
        Window::new(Stall { at_ns, length_ns }, share)
    }

    #[test]
    fn a_share_of_the_window_is_taken_however_often_one_looks() {
        for step_ns in [1, 7, 999, 50_000] {
            let mut window = window(1_000_000, 2_000_000, 300);
            let sum: u64 = (0..4_000_000 / step_ns).map(|n| window.work_until(n * step_ns)).sum();
            assert!((598_000..=600_000).contains(&sum), "{step_ns}: {sum}");
        }
    }

    #[test]
    fn a_mover_moves_what_its_share_of_the_drives_lets_through_and_no_more_than_there_is() {
        // 30 % of four drives that take 2 ns for each byte.
        let rate = copied_per_ns(4, 2.0);
        assert!((rate - 0.6).abs() < 1e-12);
        let mover = Mover::new(Stall { at_ns: 1_000, length_ns: 1_000_000 }, rate);
        assert_eq!((mover.until(999, u64::MAX), mover.until(1_000, u64::MAX)), (None, None));
        let half = mover.until(501_000, u64::MAX).expect("it runs");
        assert_eq!((half.at_ns, half.length_ns, half.requests), (1_000, 500_000, 4));
        assert_eq!(half.bytes, 4 * COPY_BYTES, "whole requests");
        let whole = mover.until(u64::MAX, u64::MAX).expect("it ran");
        assert_eq!((whole.length_ns, whole.requests), (1_000_000, 9));
        assert_eq!(mover.until(u64::MAX, 2 * COPY_BYTES + 5).expect("it ran").requests, 2);
        assert_eq!(copied_per_ns(4, 0.0), 0.0);
    }

    #[test]
    fn something_is_always_left() {
        assert_eq!(window(0, 1_000, 5_000).work_until(u64::MAX), 970);
        assert_eq!(window(0, 1_000, taken(u64::MAX)).work_until(u64::MAX), 970);
    }

    #[test]
    fn a_migration_is_where_the_measurement_has_it() {
        let share = |percent| EventTime::Share(Percent::of(percent));
        let half = Migration { at: share(50), length: share(10) };
        assert_eq!(half.span(7, Some(1_000)), Some(Stall { at_ns: 507, length_ns: 100 }));
        assert_eq!(half.span(7, None), None);
        assert_eq!(half.span(u64::MAX, Some(u64::MAX)).map(|span| span.at_ns), Some(u64::MAX));
        let fixed =
            Migration { at: EventTime::After(Nanos(30)), length: EventTime::After(Nanos(5)) };
        assert_eq!(fixed.span(7, None), Some(Stall { at_ns: 37, length_ns: 5 }));
    }
}
