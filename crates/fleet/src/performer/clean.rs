//! Has the agents remove what runs left, many at a time.

use super::{Fleet, FleetError};
use crate::coordinator::Input;
use crate::wire::{Cleaned, FromAgent, Outcome, ToAgent};
use model::Nanos;

/// Hosts that clean at the same time.
const AT_ONCE: usize = 64;

impl Fleet {
    /// Has every host remove what runs left at `targets`: exactly our own files. Comes back with
    /// each host's name (empty for this process) and what became of each of its folders.
    ///
    /// Up to 64 hosts at a time, so that dead mounts use up their time together. Several may see
    /// the same folders, and stand in one another's way: whoever could not remove something is
    /// asked once more, one after the other, when all others are through.
    ///
    /// A folder that leaves a call unanswered for longer than `patience` is given up, and so is a
    /// host that falls silent; both are said to have failed.
    ///
    /// # Errors
    /// When somebody stopped it; what was removed until then is gone.
    pub fn clean(
        &self,
        targets: &[String],
        patience: Nanos,
    ) -> Result<Vec<(String, Vec<Cleaned>)>, FleetError> {
        let order = ToAgent::Clean { targets: targets.to_vec(), patience_ns: patience.0 };
        let mut sweep = Sweep::new(self.names.len(), self.lost_after_ns);
        let mut beaten = std::time::Instant::now();
        while !sweep.is_over() {
            for host in sweep.due(self.clock.now_ns()) {
                // One that is gone is heard of below, with the reason.
                let _ = self.send(host, &order);
            }
            // Agents have to hear of us, or they give us up; and their answers say that they are
            // there.
            self.beat(&mut beaten);
            match self.input_within_a_tick() {
                Some(Input::Heard { host, message: FromAgent::Cleaned(cleaned), .. }) => {
                    sweep.cleaned(host, cleaned);
                }
                Some(Input::Heard { host, .. }) => sweep.heard(host, self.clock.now_ns()),
                Some(Input::Lost { host, why }) => sweep.lost(host, &why),
                Some(Input::Interrupt) => {
                    return Err(FleetError::Interrupted);
                }
                Some(_) | None => {}
            }
        }
        let names = (0..self.names.len()).map(|host| self.names[host].clone());
        Ok(names.zip(sweep.hosts.into_iter().map(|host| host.cleaned)).collect())
    }
}

/// How far a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It waits for its turn, the first or the second one.
    Waits { is_second: bool },
    /// It cleans, and was last heard of then, in ns.
    Cleans { is_second: bool, heard_ns: u64 },
    /// It is through, or gone.
    Over,
}

#[derive(Clone, Debug)]
struct Host {
    turn: Turn,
    cleaned: Vec<Cleaned>,
}

/// Who is to clean next.
#[derive(Debug)]
struct Sweep {
    hosts: Vec<Host>,
    /// A host that cleans and is silent for so long is given up, in ns; 0 is never.
    lost_after_ns: u64,
}

impl Sweep {
    fn new(hosts: usize, lost_after_ns: u64) -> Sweep {
        let host = Host { turn: Turn::Waits { is_second: false }, cleaned: Vec::new() };
        Sweep { hosts: vec![host; hosts], lost_after_ns }
    }

    fn is_over(&self) -> bool {
        self.hosts.iter().all(|host| host.turn == Turn::Over)
    }

    /// The hosts that begin now. Those that were silent for too long are given up.
    fn due(&mut self, now_ns: u64) -> Vec<usize> {
        for number in 0..self.hosts.len() {
            if let Turn::Cleans { heard_ns, .. } = self.hosts[number].turn
                && self.lost_after_ns > 0
                && now_ns.saturating_sub(heard_ns) > self.lost_after_ns
            {
                self.lost(
                    number,
                    &format!("nothing was heard of it for {}", Nanos(self.lost_after_ns)),
                );
            }
        }
        let cleaning =
            self.hosts.iter().filter(|host| matches!(host.turn, Turn::Cleans { .. })).count();
        let are_first = self.hosts.iter().any(|host| {
            matches!(
                host.turn,
                Turn::Waits { is_second: false } | Turn::Cleans { is_second: false, .. }
            )
        });
        let at_once = if are_first { AT_ONCE } else { 1 };
        let is_due = |host: &&mut Host| host.turn == Turn::Waits { is_second: !are_first };
        let mut due = Vec::new();
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| is_due(host)) {
            if cleaning + due.len() >= at_once {
                break;
            }
            host.turn = Turn::Cleans { is_second: !are_first, heard_ns: now_ns };
            due.push(number);
        }
        due
    }

    fn heard(&mut self, number: usize, now_ns: u64) {
        if let Some(Host { turn: Turn::Cleans { heard_ns, .. }, .. }) = self.hosts.get_mut(number) {
            *heard_ns = now_ns;
        }
    }

    fn cleaned(&mut self, number: usize, cleaned: Vec<Cleaned>) {
        let several = self.hosts.len() > 1;
        let Some(host) = self.hosts.get_mut(number) else { return };
        match host.turn {
            Turn::Cleans { is_second: false, .. } => {
                // What did not answer would not the next time either, and takes long not to.
                let may_go =
                    several && cleaned.iter().any(|one| matches!(one.outcome, Outcome::Failed(_)));
                host.turn = if may_go { Turn::Waits { is_second: true } } else { Turn::Over };
                host.cleaned = cleaned;
            }
            Turn::Cleans { is_second: true, .. } => {
                host.turn = Turn::Over;
                // What it says now takes the place of all but what is gone since the first time.
                host.cleaned.retain(|one| matches!(one.outcome, Outcome::Removed { .. }));
                let is_known = |one: &Cleaned| {
                    let adds_nothing = matches!(
                        one.outcome,
                        Outcome::Nothing(_) | Outcome::Removed { left: Some(_), .. }
                    );
                    adds_nothing && host.cleaned.iter().any(|before| before.target == one.target)
                };
                let new: Vec<Cleaned> = cleaned.into_iter().filter(|one| !is_known(one)).collect();
                host.cleaned.extend(new);
            }
            Turn::Waits { .. } | Turn::Over => {}
        }
    }

    fn lost(&mut self, number: usize, why: &str) {
        let Some(host) = self.hosts.get_mut(number).filter(|host| host.turn != Turn::Over) else {
            return;
        };
        let what = format!("its agent is gone ({why}); clean it again once the host is there");
        host.turn = Turn::Over;
        host.cleaned.retain(|one| matches!(one.outcome, Outcome::Removed { .. }));
        host.cleaned.push(Cleaned {
            target: String::new(),
            root: String::new(),
            outcome: Outcome::Failed(what),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(target: &str, outcome: Outcome) -> Vec<Cleaned> {
        vec![Cleaned { target: target.into(), root: target.into(), outcome }]
    }

    fn failed() -> Outcome {
        Outcome::Failed("in use".into())
    }

    #[test]
    fn dead_hosts_use_up_their_time_together_and_are_asked_once() {
        let mut sweep = Sweep::new(AT_ONCE + 2, 0);
        assert_eq!(sweep.due(0), (0..AT_ONCE).collect::<Vec<_>>());
        assert_eq!(sweep.due(1), [0; 0]);
        for host in 0..AT_ONCE {
            sweep.cleaned(host, one("/a", Outcome::Unanswered("dead".into())));
        }
        assert_eq!(sweep.due(2), [AT_ONCE, AT_ONCE + 1]);
        sweep.cleaned(AT_ONCE, one("/a", Outcome::Removed { bytes: 1, left: None }));
        sweep.lost(AT_ONCE + 1, "gone");
        assert!(sweep.is_over());
        assert!(matches!(&sweep.hosts[AT_ONCE + 1].cleaned[0].outcome,
                Outcome::Failed(why) if why.contains("gone")));
    }

    #[test]
    fn who_stood_in_anothers_way_is_asked_again_alone() {
        let mut sweep = Sweep::new(3, 0);
        assert_eq!(sweep.due(0), [0, 1, 2]);
        sweep.cleaned(1, one("/a", failed()));
        assert_eq!(sweep.due(1), [0; 0], "the others are not through");
        sweep.cleaned(
            2,
            [one("/b", Outcome::Removed { bytes: 7, left: None }), one("/a", failed())].concat(),
        );
        sweep.cleaned(0, one("/a", Outcome::Removed { bytes: 1, left: None }));
        assert_eq!(sweep.due(2), [1]);
        assert_eq!(sweep.due(3), [0; 0], "one after the other");
        sweep.cleaned(1, one("/a", Outcome::Nothing("no marker".into())));
        assert_eq!(sweep.due(4), [2]);
        let nothing = |target| one(target, Outcome::Nothing("no marker".into()));
        sweep.cleaned(2, [nothing("/b"), nothing("/a")].concat());
        assert!(sweep.is_over());
        let told: Vec<&str> =
            sweep.hosts[2].cleaned.iter().map(|one| one.target.as_str()).collect();
        assert_eq!(told, ["/b", "/a"], "what it had removed is told, and not that it is gone");
        assert_eq!(sweep.hosts[2].cleaned[0].outcome, Outcome::Removed { bytes: 7, left: None });
    }

    #[test]
    fn a_failure_that_stays_is_told_once_and_a_single_host_is_not_asked_again() {
        let mut sweep = Sweep::new(2, 0);
        sweep.due(0);
        sweep.cleaned(0, one("/a", failed()));
        sweep.cleaned(1, one("/a", Outcome::Removed { bytes: 1, left: None }));
        assert_eq!(sweep.due(1), [0]);
        sweep.cleaned(0, one("/a", failed()));
        assert_eq!((sweep.is_over(), sweep.hosts[0].cleaned.len()), (true, 1));
        let mut alone = Sweep::new(1, 0);
        alone.due(0);
        alone.cleaned(0, one("/a", failed()));
        assert!(alone.is_over());
    }

    #[test]
    fn a_host_that_falls_silent_is_given_up() {
        let mut sweep = Sweep::new(2, 10);
        sweep.due(0);
        sweep.heard(0, 8);
        assert_eq!(sweep.due(11), [0; 0]);
        assert_eq!(
            (sweep.hosts[0].turn == Turn::Over, sweep.hosts[1].turn == Turn::Over),
            (false, true)
        );
        // Too late for anybody.
        sweep.cleaned(1, one("/a", Outcome::Removed { bytes: 1, left: None }));
        assert!(matches!(
            sweep.hosts[1].cleaned[..],
            [Cleaned { outcome: Outcome::Failed(_), .. }]
        ));
    }
}
