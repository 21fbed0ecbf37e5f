//! What requests queue for: each resource knows when it is free, and how long it has worked.

use super::Layer;
use super::migration::Window;
use catalogue::cluster::DESTAGE_SLACK_NS as SLACK_NS;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A place where requests wait for each other, first come, first served.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) layer: Layer,
    /// Which direction of the layer it carries: 0, and 1 for what is received where both are apart.
    pub(super) direction: u8,
    kind: Kind,
    busy_ns: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// One after another: a direction of a port or of a link.
    Line { free_ns: u64 },
    /// Several at the same time, when each is free: the cores of a node.
    Servers(BinaryHeap<Reverse<u64>>),
    /// One after another; besides, work in the background fills the pauses, up to a limit.
    Drive { free_ns: u64, backlog_ns: u64, window: Option<Window> },
}

impl Resource {
    pub(super) fn line(layer: Layer) -> Resource {
        Resource { layer, direction: 0, kind: Kind::Line { free_ns: 0 }, busy_ns: 0 }
    }

    /// The same for the other direction.
    pub(super) fn received(self) -> Resource {
        Resource { direction: 1, ..self }
    }

    pub(super) fn servers(layer: Layer, count: u32) -> Resource {
        let free = (0..count.max(1)).map(|_| Reverse(0)).collect();
        Resource { layer, direction: 0, kind: Kind::Servers(free), busy_ns: 0 }
    }

    /// A drive of which a migration takes its share in `window`.
    pub(super) fn drive(layer: Layer) -> Resource {
        Resource {
            layer,
            direction: 0,
            kind: Kind::Drive { free_ns: 0, backlog_ns: 0, window: None },
            busy_ns: 0,
        }
    }

    /// The same with as much in the background as there is room for: before it stands a cache that
    /// has been full for long.
    pub(super) fn full(mut self) -> Resource {
        if let Kind::Drive { backlog_ns, .. } = &mut self.kind {
            *backlog_ns = SLACK_NS;
        }
        self
    }

    /// Gives a time away from now on, in place of what was given away before. Only a drive does.
    pub(super) fn set_window(&mut self, given: Window) {
        if let Kind::Drive { window, .. } = &mut self.kind {
            *window = Some(given);
        }
    }

    /// How many requests it works on at the same time.
    pub(super) fn width(&self) -> u64 {
        match &self.kind {
            Kind::Servers(free) => free.len() as u64,
            Kind::Line { .. } | Kind::Drive { .. } => 1,
        }
    }

    pub(super) fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Takes `work_ns` at `now_ns`, which never runs backwards, and says when it is done.
    pub(super) fn take(&mut self, now_ns: u64, work_ns: u64) -> u64 {
        self.settle(now_ns);
        self.busy_ns = self.busy_ns.saturating_add(work_ns);
        match &mut self.kind {
            Kind::Line { free_ns } | Kind::Drive { free_ns, .. } => {
                *free_ns = now_ns.max(*free_ns).saturating_add(work_ns);
                *free_ns
            }
            Kind::Servers(free) => {
                let Some(mut first) = free.peek_mut() else {
                    return now_ns.saturating_add(work_ns);
                };
                let done_ns = now_ns.max(first.0).saturating_add(work_ns);
                *first = Reverse(done_ns);
                done_ns
            }
        }
    }

    /// Takes work that waits for a pause, and says from when on there is room for it. Only a drive
    /// has a background.
    pub(super) fn defer(&mut self, now_ns: u64, work_ns: u64) -> u64 {
        self.settle(now_ns);
        let Kind::Drive { free_ns, backlog_ns, .. } = &mut self.kind else {
            return self.take(now_ns, work_ns);
        };
        self.busy_ns = self.busy_ns.saturating_add(work_ns);
        *backlog_ns = backlog_ns.saturating_add(work_ns);
        match backlog_ns.checked_sub(SLACK_NS) {
            None | Some(0) => now_ns,
            Some(excess_ns) => {
                *backlog_ns = SLACK_NS;
                *free_ns = now_ns.max(*free_ns).saturating_add(excess_ns);
                *free_ns
            }
        }
    }

    /// Does in a pause what waited for one, and lets a migration have its share.
    fn settle(&mut self, now_ns: u64) {
        let Kind::Drive { free_ns, backlog_ns, window } = &mut self.kind else { return };
        if let Some(window) = window {
            let own_ns = window.work_until(now_ns);
            *free_ns = free_ns.saturating_add(own_ns);
            self.busy_ns = self.busy_ns.saturating_add(own_ns);
        }
        let done_ns = now_ns.saturating_sub(*free_ns).min(*backlog_ns);
        *backlog_ns -= done_ns;
        *free_ns += done_ns;
        if *backlog_ns == 0 {
            // Time that passed without work is gone: what comes later begins later.
            *free_ns = now_ns.max(*free_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_serves_one_after_another_and_servers_several_at_once() {
        let mut line = Resource::line(Layer::Ports);
        assert_eq!([line.take(0, 10), line.take(5, 10), line.take(50, 10)], [10, 20, 60]);
        let mut cores = Resource::servers(Layer::Cpu, 2);
        assert_eq!([cores.take(0, 10), cores.take(0, 10), cores.take(5, 10)], [10, 10, 20]);
        assert_eq!((cores.busy_ns(), cores.width()), (30, 2));
    }

    #[test]
    fn what_waits_for_a_pause_delays_nobody_until_there_is_too_much_of_it() {
        let mut drive = Resource::drive(Layer::Drives);
        assert_eq!(drive.defer(0, SLACK_NS), 0);
        assert_eq!(drive.take(0, 100), 100, "it stands behind");
        // One more ns than there is room for has to be done first.
        assert_eq!(drive.defer(50, 1), 101);
        assert_eq!(drive.take(101 + SLACK_NS, 100), 201 + SLACK_NS, "the pause was long enough");
        assert_eq!(drive.defer(201 + SLACK_NS, SLACK_NS), 201 + SLACK_NS, "so there is room again");
    }

    #[test]
    fn work_that_comes_after_a_pause_does_not_begin_before_it() {
        let mut drive = Resource::drive(Layer::Drives);
        assert_eq!(drive.defer(1_000_000, SLACK_NS), 1_000_000);
        // 100 ns of it are done: the other bytes need room that is not there yet.
        assert_eq!(drive.defer(1_000_100, 300), 1_000_300);
    }

    #[test]
    fn behind_a_full_cache_there_is_room_once_something_is_done() {
        let mut drive = Resource::drive(Layer::Drives).full();
        assert_eq!(drive.defer(0, 100), 100);
        assert_eq!(drive.defer(1_000, 100), 1_000, "900 ns were free");
    }

    #[test]
    fn the_end_of_time_is_the_end() {
        let mut drive = Resource::drive(Layer::Drives);
        assert_eq!(drive.take(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(drive.defer(u64::MAX, u64::MAX), u64::MAX);
    }
}
