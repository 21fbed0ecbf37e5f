//! Agents hear of us while the disk of the record keeps us waiting: one that flushes for longer
//! than `fleet.lost_after` is no coordinator that is dead, and would cost all hosts at once.

use super::SteadyClock;
use crate::launch::Process;
use crate::link::{Frame, Outlet};
use crate::relaunch::{To, Ways};
use crate::relay::Branches;
use crate::wire::ToAgent;
use std::ops::Range;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often each host hears of us meanwhile: the least silence that ends a load is 2 s.
const EVERY: Duration = Duration::from_millis(500);
/// For how long. Nobody keeps what is measured behind a disk that does not answer at all.
const MOST: Duration = Duration::from_secs(60);

/// The way to all hosts.
pub(super) struct Everybody<'a> {
    pub(super) hosts: Range<usize>,
    pub(super) ways: &'a Ways<(Outlet, Process)>,
    pub(super) branches: &'a Branches,
    pub(super) clock: SteadyClock,
}

impl Everybody<'_> {
    /// Does something that may take long, and has all hosts hear of us until it is done.
    pub(super) fn hears_during<T>(&self, what: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let (done, until_done) = mpsc::channel::<()>();
            scope.spawn(move || {
                let began = Instant::now();
                while until_done.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout)
                    && began.elapsed() < MOST
                {
                    self.hosts.clone().for_each(|host| self.say(host));
                }
            });
            let told = what();
            drop(done);
            told
        })
    }

    /// A link that is gone says so where it is read.
    fn say(&self, host: usize) {
        let Ok(frame) = Frame::of(&ToAgent::Ping { sent_ns: self.clock.now_ns() }) else { return };
        let _ = match self.ways.to(host) {
            To::Own((outlet, _)) => Some(outlet.pass(frame)),
            To::Nobody => None,
            To::Tree => self.branches.send(host, frame),
        };
    }
}
