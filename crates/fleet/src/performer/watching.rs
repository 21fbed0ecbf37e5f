//! Has hosts tell what their kernels count, without a run.

use super::away::Away;
use super::{Absent, Fleet};
use crate::coordinator::{Input, Reach};
use crate::watch::{Watch, Watched};
use crate::wire::{FromAgent, ToAgent};
use model::Nanos;
use std::time::Instant;

/// Between two signs of life to agents that are only watched lies at least this, in ns.
const PING_EVERY_NS: u64 = 1_000_000_000;

/// Who hears of each word; false when nobody listens any more.
type Take<'a> = dyn FnMut(Watched) -> bool + 'a;

/// Who is there, and who is tried again.
struct Watching {
    watch: Watch,
    away: Away,
    interval: Nanos,
    lost_after: Nanos,
    /// Whether hosts that are gone may come back.
    come_back: bool,
}

impl Fleet {
    /// Has every host tell what its kernel counts, at least so often and without any load, until
    /// `take` returns false, somebody interrupts, or nobody is left who may come back. A host that
    /// is silent for longer than `lost_after` is lost, which ends nothing for the others. One that
    /// was launched is started again, however long it was away.
    pub fn watch(mut self, interval: Nanos, lost_after: Nanos, take: &mut Take<'_>) {
        let kernels = self.kernels.take().unwrap_or_default();
        let hosts = self.names.len();
        let mut watching = Watching {
            watch: Watch::new(hosts, lost_after.0, self.clock.now_ns()).on(kernels),
            away: Away::default(),
            interval,
            lost_after,
            come_back: self.reach == Reach::Remote,
        };
        let mut goes_on = true;
        for Absent { host, why } in std::mem::take(&mut self.absent) {
            goes_on &= self.lose(&mut watching, host, why, take);
        }
        for host in self.there() {
            // One that is gone is heard of below, with the reason.
            let _ = self.send(host, &ToAgent::Watch { interval_ns: interval.0 });
        }
        let (mut ticked, mut pinged_ns) = (Instant::now(), 0);
        while goes_on && (watching.come_back || !watching.watch.is_over()) {
            let input = self.next_input(&mut ticked);
            if self.is_called_off(&input) {
                continue;
            }
            let now_ns = self.clock.now_ns();
            match input {
                Input::Interrupt => break,
                Input::Heard { host, message: FromAgent::Facts { facts, unix_ns }, .. }
                    if watching.away.answered(host) =>
                {
                    let facts = Box::new(self.told(host, *facts, unix_ns, 0).facts);
                    watching.watch.regain(host, now_ns);
                    let order = ToAgent::Watch { interval_ns: watching.interval.0 };
                    let _ = self.send(host, &order);
                    goes_on &= take(Watched::Returned { host: host as u32, facts });
                }
                // An answer of somebody whom nobody asks any more.
                Input::Heard { message: FromAgent::Facts { .. }, .. } => {}
                Input::Heard { host, message, at_ns } => {
                    for told in watching.watch.told(host, message, at_ns, self.now()) {
                        goes_on &= take(told);
                    }
                }
                Input::Lost { host, why } => goes_on &= self.lose(&mut watching, host, why, take),
                Input::Launched { host, outcome: Ok(()), .. }
                    if watching.away.started(host, now_ns) =>
                {
                    let (targets, patience_ns) = (Vec::new(), watching.lost_after.0);
                    let host_number = (hosts > 1).then_some(host as u32);
                    let order = ToAgent::Inspect { targets, host: host_number, patience_ns };
                    let _ = self.send(host, &order);
                    let _ = self.ping(host);
                }
                Input::Launched { host, outcome: Err(_), .. } => watching.away.lose(host, now_ns),
                Input::Tick => {
                    if now_ns.saturating_sub(pinged_ns) >= PING_EVERY_NS {
                        pinged_ns = now_ns;
                        for host in 0..hosts {
                            let _ = self.ping(host);
                        }
                    }
                    goes_on &= self.look_around(&mut watching, now_ns, take);
                }
                _ => {}
            }
        }
        for host in 0..hosts {
            let _ = self.send(host, &ToAgent::Stop);
        }
    }

    /// Gives up who is silent, and tries who is away. False when nobody listens any more.
    fn look_around(&mut self, watching: &mut Watching, now_ns: u64, take: &mut Take<'_>) -> bool {
        let why = format!("nothing was heard of it for {}", watching.lost_after);
        let mut goes_on = true;
        for host in watching.watch.silent(now_ns) {
            goes_on &= self.gone(watching, host, why.clone(), take);
        }
        for host in watching.away.silent(watching.lost_after.0, now_ns) {
            self.part(host);
            watching.away.lose(host, now_ns);
        }
        for (host, start) in watching.away.due(now_ns) {
            self.comebacks.launch(host, start, self.interrupter.inputs.clone());
        }
        goes_on
    }

    /// A host is gone, unless that is known. False when nobody listens any more.
    fn lose(
        &mut self,
        watching: &mut Watching,
        host: usize,
        why: String,
        take: &mut Take<'_>,
    ) -> bool {
        if watching.watch.lose(host) {
            return self.gone(watching, host, why, take);
        }
        if watching.away.is_asked(host) {
            self.part(host);
            watching.away.lose(host, self.clock.now_ns());
        }
        true
    }

    /// Tells of a host that was there and is gone, and of those that are cut off by that.
    fn gone(
        &mut self,
        watching: &mut Watching,
        host: usize,
        why: String,
        take: &mut Take<'_>,
    ) -> bool {
        let mut goes_on = true;
        let mut lost = vec![(host, why)];
        while let Some((host, why)) = lost.pop() {
            let cut_off = self.part(host);
            lost.extend(cut_off.into_iter().filter(|(below, _)| watching.watch.lose(*below)));
            if watching.come_back {
                watching.away.lose(host, self.clock.now_ns());
            }
            goes_on &= take(Watched::Lost { host: host as u32, why });
        }
        goes_on
    }
}
