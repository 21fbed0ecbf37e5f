//! Asks the hosts what they are before a run.

use super::{Fleet, FleetError};
use crate::coordinator::Input;
use crate::unix_ns;
use crate::wire::{FromAgent, ToAgent};
use model::testbed::HostFacts;
use model::{Kernels, Nanos};
use std::time::{Duration, Instant};

/// Between two signs of life to agents that are only asked something.
const BEAT: Duration = Duration::from_secs(1);

/// What a host said of itself, and how it was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct HostReport {
    /// What it is.
    pub facts: HostFacts,
    /// By how much its wall clock is ahead of ours, in ns. For people: nothing is measured by it.
    pub wall_ahead_ns: i128,
}

impl Fleet {
    /// What each host is, and what its targets are to it: one list for each host, in their order.
    /// Touches nothing. A target that leaves a call unanswered for longer than `patience` cannot be
    /// read, and its facts say so. Of a host that has no agent there is nothing.
    ///
    /// # Errors
    /// When an agent is gone or falls silent, or the run is interrupted.
    pub fn inspect(
        &self,
        targets: &[Vec<String>],
        patience: Nanos,
    ) -> Result<Vec<Option<HostReport>>, FleetError> {
        let (there, asked_unix_ns) = (self.there(), unix_ns());
        let several = self.names.len() > 1;
        for host in &there {
            let targets = targets.get(*host).cloned().unwrap_or_default();
            let host_number = several.then_some(*host as u32);
            let order = ToAgent::Inspect { targets, host: host_number, patience_ns: patience.0 };
            // One that is gone is heard of below, with the reason.
            let _ = self.send(*host, &order);
            let _ = self.ping(*host);
        }
        let mut told: Vec<Option<HostReport>> = vec![None; self.names.len()];
        let mut heard = vec![Instant::now(); self.names.len()];
        let mut beaten = Instant::now();
        let lost =
            |number: usize, why: String| FleetError::Lost { number, host: self.name(number), why };
        while let Some(waited_for) = there.iter().find(|host| told[**host].is_none()) {
            let silence = Duration::from_nanos(self.lost_after_ns);
            if !silence.is_zero() && heard[*waited_for].elapsed() > silence {
                let why = format!("nothing was heard of it for {}", Nanos(self.lost_after_ns));
                return Err(lost(*waited_for, why));
            }
            self.beat(&mut beaten);
            match self.input_within_a_tick() {
                Some(Input::Heard {
                    host,
                    message: FromAgent::Facts { facts, unix_ns: theirs },
                    ..
                }) => {
                    told[host] = Some(self.told(host, *facts, theirs, asked_unix_ns));
                }
                // Its agent could not even look.
                Some(
                    Input::Heard { host, message: FromAgent::Refused(why), .. }
                    | Input::Lost { host, why },
                ) => return Err(lost(host, why)),
                Some(Input::Heard { host, .. }) => heard[host] = Instant::now(),
                Some(Input::Interrupt) => {
                    return Err(FleetError::Interrupted);
                }
                Some(_) | None => {}
            }
        }
        let facts: Vec<HostFacts> = told
            .iter()
            .zip(&self.names)
            .map(|(told, name)| match told {
                Some(told) => told.facts.clone(),
                None => HostFacts::unknown(name),
            })
            .collect();
        self.identities.get_or_init(|| facts.iter().map(|facts| facts.identity.clone()).collect());
        self.kernels.get_or_init(|| Kernels::of(&facts));
        Ok(told)
    }

    /// Gives every agent a sign of life, once a second: while one of them waits for a target, none
    /// must take us for gone.
    pub(super) fn beat(&self, beaten: &mut Instant) {
        if beaten.elapsed() < BEAT {
            return;
        }
        *beaten = Instant::now();
        for host in self.there() {
            // One that is gone is heard of otherwise.
            let _ = self.ping(host);
        }
    }

    /// What a host answered that was asked then: its wall clock is `unix_ns_there`.
    pub(super) fn told(
        &self,
        host: usize,
        mut facts: HostFacts,
        unix_ns_there: u64,
        asked_unix_ns: u64,
    ) -> HostReport {
        let name = &self.names[host];
        if !name.is_empty() {
            // People know a host by the name that they gave.
            facts.hostname.clone_from(name);
        }
        HostReport { facts, wall_ahead_ns: ahead_ns(unix_ns_there, asked_unix_ns, unix_ns()) }
    }
}

/// By how much a clock is ahead at least, or behind if below 0, that was read between two instants
/// of ours: a slow answer does not make it wrong.
fn ahead_ns(theirs: u64, asked: u64, answered: u64) -> i128 {
    let [theirs, asked, answered] = [theirs, asked, answered].map(i128::from);
    (theirs - answered).max(0) + (theirs - asked).min(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_makes_no_clock_wrong() {
        assert_eq!(ahead_ns(150, 100, 200), 0);
        assert_eq!(ahead_ns(90, 100, 200), -10);
        assert_eq!(ahead_ns(230, 100, 200), 30);
    }
}
