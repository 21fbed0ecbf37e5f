//! Requests without an answer, told while they have none: a load that stands still has nothing else
//! to say.

use crate::timetable::Timetable;
use model::event::{LEAST_WAIT_NS, WaitSpan, Waiting};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A worker may be so late with its page and still act.
const GRACE_NS: u64 = 100_000_000;

/// What a worker has outstanding, for whoever has to do without the worker's own word. It has a
/// cache line (two, for the processor fetches pairs) of its own, so that writing it costs next to
/// nothing.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Outstanding {
    /// How many requests the target has.
    requests: AtomicU32,
    /// When it was last seen, on the stage's clock: what it hangs in was sent then.
    seen_ns: AtomicU64,
    /// What it said itself when it last turned a page.
    told: Mutex<Told>,
}

/// What waits at a worker, in its own words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// When it is to say it again, on the stage's clock.
    pub(crate) next_ns: u64,
    /// Requests that the target has had for long: how many, and when the oldest and the youngest of
    /// them began to wait.
    pub(crate) sent: Option<(u64, u64, u64)>,
    /// When the first request was due that was not sent.
    pub(crate) unsent_since_ns: Option<u64>,
    /// The mean distance of requests that are due; `None` where they have none.
    pub(crate) gap_ns: Option<u64>,
}

impl Outstanding {
    /// The worker goes to the target for these requests.
    #[inline]
    pub(crate) fn goes(&self, requests: u32, now_ns: u64) {
        self.requests.store(requests, Ordering::Relaxed);
        self.seen_ns.store(now_ns, Ordering::Relaxed);
    }

    /// The worker has ended.
    pub(crate) fn ended(&self) {
        self.requests.store(0, Ordering::Relaxed);
    }

    /// How many requests the target had when the worker went to it last.
    pub(crate) fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The worker says what waits, on the first page that it turns behind each look.
    #[cold]
    pub(crate) fn tell(&self, timetable: Timetable, now_ns: u64, what: impl FnOnce() -> Told) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if now_ns >= told.next_ns {
            let looks = now_ns.saturating_sub(timetable.start_ns) / step_ns(timetable) + 1;
            let next_ns = timetable.start_ns.saturating_add(looks * step_ns(timetable));
            *told = Told { next_ns, ..what() };
        }
    }

    /// What waits at `at_ns` of a load that ends at `stop_at_ns`, if the worker has turned its
    /// pages up to `turned_ns`.
    fn spans(&self, at_ns: u64, stop_at_ns: u64, turned_ns: u64, spans: &mut Vec<WaitSpan>) {
        let told = *self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let until_ns = at_ns.min(stop_at_ns);
        let seen_ns = self.seen_ns.load(Ordering::Relaxed).max(turned_ns);
        let (sent, unsent_since_ns) = if turned_ns >= until_ns {
            let (count, oldest_ns, youngest_ns) = told.sent.unwrap_or_default();
            (
                Some((count.min(self.requests().into()), oldest_ns, youngest_ns)),
                told.unsent_since_ns,
            )
        } else {
            // It hangs in a call of the kernel.
            let next_ns = told.gap_ns.map(|gap_ns| seen_ns.saturating_add(gap_ns));
            (Some((self.requests().max(1).into(), seen_ns, seen_ns)), next_ns)
        };
        // The youngest that count began to wait then.
        let old_ns = at_ns.saturating_sub(LEAST_WAIT_NS);
        let unsent = unsent_since_ns.map(|since_ns| {
            let last_ns = old_ns.min(until_ns);
            let gap_ns = told.gap_ns.unwrap_or(u64::MAX).max(1);
            let gaps = last_ns.saturating_sub(since_ns) / gap_ns;
            (gaps + 1, since_ns, since_ns + gaps * gap_ns)
        });
        let is_old = |(requests, oldest_ns, _): &(u64, u64, u64)| {
            *requests > 0 && *oldest_ns <= old_ns && *oldest_ns < until_ns
        };
        spans.extend([sent, unsent].into_iter().flatten().filter(is_old).map(
            |(requests, oldest_ns, youngest_ns)| WaitSpan {
                requests,
                oldest_ns: at_ns - oldest_ns,
                youngest_ns: at_ns.saturating_sub(youngest_ns),
            },
        ));
    }
}

/// Looks at the workers of a stage now and then.
pub(crate) struct Watch {
    stage: u32,
    host: u32,
    timetable: Timetable,
    /// When the next look is due.
    next_ns: u64,
    /// When it was first seen that it is.
    since_ns: Option<u64>,
    /// Whether anything waited at the last look.
    any: bool,
}

/// How often it is looked: so many whole intervals as make a second.
fn step_ns(timetable: Timetable) -> u64 {
    let interval_ns = timetable.interval_ns;
    interval_ns.saturating_mul(LEAST_WAIT_NS.div_ceil(interval_ns).max(1))
}

impl Watch {
    /// Of a stage that begins.
    pub(crate) fn new(stage: u32, host: u32, timetable: Timetable) -> Watch {
        let next_ns = timetable.start_ns.saturating_add(step_ns(timetable));
        Watch { stage, host, timetable, next_ns, since_ns: None, any: false }
    }

    /// What waits, if a look is due and there is something to say: that something waits, or that
    /// nothing does any more. `workers` have turned their pages up to an instant each.
    pub(crate) fn look<'a>(
        &mut self,
        now_ns: u64,
        stop_at_ns: u64,
        workers: impl Iterator<Item = (&'a Outstanding, u64)>,
    ) -> Option<Waiting> {
        if now_ns < self.next_ns {
            return None;
        }
        let step_ns = step_ns(self.timetable);
        let steps = (now_ns - self.next_ns) / step_ns;
        let at_ns = self.next_ns + steps * step_ns;
        self.next_ns = at_ns + step_ns;
        let mut spans = Vec::new();
        for (worker, turned_ns) in workers {
            worker.spans(at_ns, stop_at_ns, turned_ns, &mut spans);
        }
        spans.truncate(model::event::MOST_SPANS);
        let is_news = std::mem::replace(&mut self.any, !spans.is_empty()) || self.any;
        let at_ns = at_ns.saturating_sub(self.timetable.start_ns);
        is_news.then_some(Waiting { stage: self.stage, host: self.host, at_ns, spans })
    }

    /// The same in real time, where workers turn their pages a little late, and later where this
    /// program itself did not run.
    pub(crate) fn look_late<'a>(
        &mut self,
        now_ns: u64,
        stop_at_ns: u64,
        workers: impl Iterator<Item = (&'a Outstanding, u64)>,
    ) -> Option<Waiting> {
        if now_ns < self.next_ns {
            return None;
        }
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        if now_ns < since_ns.saturating_add(GRACE_NS) {
            return None;
        }
        self.since_ns = None;
        self.look(since_ns, stop_at_ns, workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::stuck::Patience;
    use model::units::Nanos;

    const S: u64 = 1_000_000_000;

    fn timetable() -> Timetable {
        let patience = Patience(Nanos::seconds(30));
        Timetable { start_ns: S, late_ns: 0, interval_ns: S / 2, patience }
    }

    /// Requests and the age of the oldest, in seconds.
    fn seen(waiting: Option<Waiting>) -> Option<(u64, u64)> {
        waiting.map(|waiting| (waiting.requests(), waiting.oldest_ns() / S))
    }

    #[test]
    fn a_worker_that_hangs_in_the_kernel_is_told_of_every_second_until_it_is_back() {
        let (mut watch, worker) = (Watch::new(0, 0, timetable()), Outstanding::default());
        worker.tell(timetable(), S, || Told { gap_ns: Some(S / 10), ..Told::default() });
        worker.goes(1, 2 * S);
        let mut look = |now_ns, turned_ns| {
            seen(watch.look(now_ns, 60 * S, std::iter::once((&worker, turned_ns))))
        };
        assert_eq!((look(2 * S, 2 * S), look(3 * S - 1, 2 * S)), (None, None));
        // The one that hangs, and the one that was due a tenth of a second later and is younger.
        assert_eq!(look(3 * S, 2 * S), Some((1, 1)));
        assert_eq!(look(12 * S, 2 * S), Some((91, 10)));
        worker.tell(timetable(), 13 * S, Told::default);
        worker.goes(1, 13 * S);
        assert_eq!((look(13 * S, 13 * S), look(14 * S, 14 * S)), (Some((0, 0)), None));
    }

    #[test]
    fn one_stuck_request_of_a_worker_that_acts_is_told_of_by_the_worker() {
        let (mut watch, worker) = (Watch::new(0, 0, timetable()), Outstanding::default());
        worker.goes(4, 30 * S);
        worker.tell(timetable(), 30 * S, || Told {
            sent: Some((1, 10 * S, 10 * S)),
            ..Told::default()
        });
        let at_once = |at_ns| std::iter::once((&worker, at_ns));
        assert_eq!(watch.look_late(30 * S, 90 * S, at_once(3 * S)), None, "its page is under way");
        let late_ns = 30 * S + GRACE_NS;
        assert_eq!(seen(watch.look_late(late_ns, 90 * S, at_once(30 * S))), Some((1, 20)));
        // Behind the load, what is due is due no more, and what waits grows older.
        worker.tell(timetable(), 40 * S, || Told {
            sent: Some((4, 10 * S, 13 * S)),
            unsent_since_ns: Some(14 * S),
            gap_ns: Some(S),
            ..Told::default()
        });
        let waiting = watch.look(50 * S, 40 * S, at_once(u64::MAX));
        let spans = waiting.map(|waiting| waiting.spans);
        let span = |requests, oldest, youngest| WaitSpan {
            requests,
            oldest_ns: oldest * S,
            youngest_ns: youngest * S,
        };
        assert_eq!(spans, Some(vec![span(4, 40, 37), span(27, 36, 10)]));
        worker.ended();
        assert_eq!(seen(watch.look(60 * S, 40 * S, at_once(u64::MAX))), Some((27, 46)));
    }
}
