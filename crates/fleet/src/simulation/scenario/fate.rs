//! What befalls hosts and the coordinator.
//!
//! Each seed allows some kinds of mishaps alone (A. Groce et al., "Swarm testing", ISSTA 2012):
//! where everything may happen, most runs end before two things of one kind meet.

use super::super::{MILLI, SECOND};
use super::{CoordinatorScript, HostScript, Mishap, Scenario};
use model::Nanos;
use model::choices::OnLostHost;
use model::rng::{Rng, derive};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ill {
    Dies,
    DiesAndIsMissedLate,
    DiesUnseen,
    Breaks,
    Stalls,
    /// It stalls, and its clock with it: a machine that sleeps.
    Sleeps,
    IsCutOff,
    IsCutOffForGood,
    HearsNothing,
    IsNotHeard,
    Fails,
    FailsToArm,
    Hangs,
    Refuses,
    IsLate,
    IsSlow,
}

const ILLS: [Ill; 16] = [
    Ill::Dies,
    Ill::DiesAndIsMissedLate,
    Ill::DiesUnseen,
    Ill::Breaks,
    Ill::Stalls,
    Ill::Sleeps,
    Ill::IsCutOff,
    Ill::IsCutOffForGood,
    Ill::HearsNothing,
    Ill::IsNotHeard,
    Ill::Fails,
    Ill::FailsToArm,
    Ill::Hangs,
    Ill::Refuses,
    Ill::IsLate,
    Ill::IsSlow,
];

/// The kinds of mishaps that a seed allows, and how often one strikes.
#[derive(Clone, Debug)]
pub(super) struct Swarm {
    ills: Vec<Ill>,
    /// One host of so many.
    one_of: u64,
}

impl Swarm {
    pub(super) fn of(rng: &mut Rng) -> Swarm {
        let ills = ILLS.into_iter().filter(|_| rng.below(3) == 0).collect();
        Swarm { ills, one_of: [2, 4, 8, 30][rng.below(4) as usize] }
    }

    fn draw(&self, rng: &mut Rng) -> Option<Ill> {
        (rng.below(self.one_of) == 0 && !self.ills.is_empty())
            .then(|| self.ills[rng.below(self.ills.len() as u64) as usize])
    }
}

impl HostScript {
    /// Lets something befall it, perhaps.
    pub(super) fn strike(&mut self, swarm: &Swarm, rng: &mut Rng, span_ns: u64, stages: u64) {
        let at_ns = rng.below(span_ns + 1);
        let until_ns = at_ns + 1 + rng.below(25 * SECOND);
        let stage = Some(rng.below(stages) as u32);
        let dies = |closed_after_ns| Some(Mishap::Dies { at_ns, closed_after_ns });
        let (a_while, for_good) = (Some((at_ns, until_ns)), Some((at_ns, u64::MAX)));
        let Some(ill) = swarm.draw(rng) else { return };
        match ill {
            Ill::Dies => self.mishap = dies(Some(rng.below(SECOND))),
            Ill::DiesAndIsMissedLate => self.mishap = dies(Some(rng.below(40 * SECOND))),
            Ill::DiesUnseen => self.mishap = dies(None),
            Ill::Breaks => self.mishap = Some(Mishap::Breaks { at_ns }),
            Ill::Stalls => self.mishap = Some(Mishap::Stalls { from_ns: at_ns, until_ns }),
            Ill::Sleeps => {
                self.mishap = Some(Mishap::Stalls { from_ns: at_ns, until_ns });
                self.time.stands_still = a_while;
            }
            Ill::IsCutOff => (self.down.cut, self.up.cut) = (a_while, a_while),
            Ill::IsCutOffForGood => (self.down.cut, self.up.cut) = (for_good, for_good),
            Ill::HearsNothing => self.down.cut = a_while,
            Ill::IsNotHeard => self.up.cut = a_while,
            Ill::Fails => self.behaviour.fails = stage,
            Ill::FailsToArm => self.behaviour.fails_to_arm = stage,
            Ill::Hangs => self.behaviour.hangs = stage,
            Ill::Refuses if rng.below(4) == 0 => self.behaviour.refuses = true,
            Ill::Refuses => {}
            Ill::IsLate => (self.down.late_ppm, self.up.late_ppm) = (100_000, 100_000),
            Ill::IsSlow => self.behaviour.pause_ns = 4 * SECOND,
        }
    }
}

impl CoordinatorScript {
    /// Lets something befall it, perhaps, within so many ns.
    pub(super) fn strike(&mut self, rng: &mut Rng, span_ns: u64, hold: Nanos) {
        let mut at = || rng.below(span_ns + 1);
        let at_ns = at();
        match rng.below(14) {
            0 => self.interrupted_at_ns = Some(at_ns),
            1 => self.records = Some(rng.below(60)),
            2 => {
                self.dies_at_ns = Some(at_ns);
                if hold > Nanos(0) && rng.below(3) > 0 {
                    // At times, later than anybody waits.
                    let most_ns = [4 * SECOND, hold.0 * 2][rng.below(2) as usize];
                    self.taken_over_at_ns = Some(at_ns + 100 * MILLI + rng.below(most_ns));
                }
            }
            number @ (3 | 4) => {
                self.stalls = Some((at_ns, at_ns + 1 + rng.below(15 * SECOND)));
                self.clock_stalls = number == 4;
            }
            _ => {}
        }
    }
}

impl Scenario {
    /// Where agents hold out, a stream that breaks is followed by another one: what was under way
    /// comes late, as over a link that is cut and heals.
    pub(super) fn hold_out(&mut self, rng: &mut Rng) {
        if self.plan.fleet.hold == Nanos(0) {
            return;
        }
        for host in &mut self.hosts {
            if let Some(Mishap::Breaks { at_ns }) = host.mishap {
                let again_ns = at_ns + 500 * MILLI + rng.below(6 * SECOND);
                (host.mishap, host.taken_up_again) = (None, true);
                (host.down.cut, host.up.cut) = (Some((at_ns, again_ns)), Some((at_ns, again_ns)));
            }
        }
    }

    /// Lets some hosts of some seeds be dead when the run begins, as many as the policy allows: who
    /// starts the agents begins with no fewer.
    pub(super) fn leave_out(&mut self, rng: &mut Rng) {
        if self.plan.fleet.on_lost_host == OnLostHost::Abort || rng.below(3) != 0 {
            return;
        }
        let most = self.hosts.len().saturating_sub(self.plan.fleet.quorum.max(1) as usize);
        let dead = self.hosts.iter_mut().filter(|_| rng.below(4) == 0).take(most);
        let mut is_any = false;
        for host in dead {
            (host.is_absent, is_any) = (true, true);
        }
        if is_any {
            // A tree is made of those that are there; here, it has one level then.
            self.fanout = self.hosts.len();
        }
    }

    /// A host that never says that its amount is done is given up by its engine, whose patience is
    /// not simulated.
    pub(super) fn hang_only_where_time_ends_it(&mut self) {
        for host in &mut self.hosts {
            let is_timed = |stage: &u32| {
                self.plan.stages.get(*stage as usize).is_none_or(|one| one.stop().time().is_some())
            };
            host.behaviour.hangs = host.behaviour.hangs.filter(is_timed);
        }
    }

    /// The agents of an attempt before this one still have their targets: until when, from this
    /// one's beginning on, in ns, by host.
    pub(in super::super) fn locked_until(mut self, locked_until_ns: &[u64]) -> Scenario {
        for (host, until_ns) in self.hosts.iter_mut().zip(locked_until_ns) {
            host.behaviour.locked_until_ns = *until_ns;
        }
        self
    }

    /// The kinds of mishaps that this seed allows.
    pub(super) fn swarm(seed: u64, attempt: u32) -> Swarm {
        Swarm::of(&mut Rng::new(derive(seed, &[16, u64::from(attempt)])))
    }
}
