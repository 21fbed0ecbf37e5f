//! Has hosts tell what their kernels count, without a run.

use super::Fleet;
use crate::coordinator::Input;
use crate::watch::{Watch, Watched};
use crate::wire::ToAgent;
use model::Nanos;
use std::time::Instant;

/// Between two signs of life to agents that are only watched lies at least this, in ns.
const PING_EVERY_NS: u64 = 1_000_000_000;

impl Fleet {
    /// Has every host tell what its kernel counts, at least so often and without any load, until
    /// `take` returns false, somebody interrupts, or no host is left. A host that is silent for
    /// longer than `lost_after` is lost, which ends nothing for the others.
    pub fn watch(
        mut self,
        interval: Nanos,
        lost_after: Nanos,
        take: &mut dyn FnMut(Watched) -> bool,
    ) {
        let kernels = self.kernels.take().unwrap_or_default();
        let mut watch = Watch::new(self.names.len(), lost_after.0, self.clock.now_ns()).on(kernels);
        for host in 0..self.names.len() {
            // One that is gone is heard of below, with the reason.
            let _ = self.send(host, &ToAgent::Watch { interval_ns: interval.0 });
        }
        let (mut ticked, mut pinged_ns) = (Instant::now(), 0);
        let mut goes_on = true;
        while goes_on && !watch.is_over() {
            let input = self.next_input(&mut ticked);
            let now_ns = self.clock.now_ns();
            let mut lost = Vec::new();
            match input {
                Input::Interrupt => break,
                Input::Heard { host, message, at_ns } => {
                    for told in watch.told(host, message, at_ns, self.now()) {
                        goes_on &= take(told);
                    }
                }
                Input::Lost { host, why } if watch.lose(host) => lost.push((host, why)),
                Input::Tick if now_ns.saturating_sub(pinged_ns) >= PING_EVERY_NS => {
                    pinged_ns = now_ns;
                    for host in 0..self.names.len() {
                        let _ = self.ping(host);
                    }
                    let why = || format!("nothing was heard of it for {lost_after}");
                    lost.extend(watch.silent(now_ns).into_iter().map(|host| (host, why())));
                }
                _ => {}
            }
            while let Some((host, why)) = lost.pop() {
                lost.extend(
                    self.branches.part(host).into_iter().filter(|(below, _)| watch.lose(*below)),
                );
                goes_on &= take(Watched::Lost { host: host as u32, why });
            }
        }
        for host in 0..self.names.len() {
            let _ = self.send(host, &ToAgent::Stop);
        }
    }
}
