//! Agents that are started again on hosts that were lost: each has a clock, links and a fate of its
//! own.

use super::super::agent::{Behaviour, SimAgent};
use super::super::clock::HostTime;
use super::super::layouts::Deed;
use super::super::scenario::Mishap;
use super::super::{MILLI, SECOND};
use super::{What, World, parts};
use crate::coordinator::Input;
use crate::wire::ToAgent;
use model::plan::Stage;
use model::rng::derive;

impl World<'_> {
    /// Whether something is under way of an agent that another one has taken the place of: nobody
    /// takes it in any more.
    pub(super) fn is_of_an_earlier_life(&self, what: &What) -> bool {
        let (host, of) = match what {
            What::Order { host, life, .. }
            | What::Word { host, life, .. }
            | What::Wake { host, life, .. }
            | What::Look { host, life }
            | What::Closed { host, life }
            | What::Lost { host, life }
            | What::Dies { host, life }
            | What::Breaks { host, life } => (*host, *life),
            What::Launched { .. } | What::Input(_) | What::Tick | What::CoordinatorDies => {
                return false;
            }
        };
        self.sides[host].life != of
    }

    /// The coordinator has nothing to do with a host any more, nor with its next agent.
    pub(super) fn drop_host(&mut self, host: usize) {
        let side = &mut self.sides[host];
        side.outcome.is_lost = true;
        side.start = None;
        if !std::mem::replace(&mut side.is_out, true) {
            self.outcome.deeds.push((host, Deed::Gone));
            self.part(None, host);
        }
    }

    /// It takes its time, at times more than anybody waits.
    pub(super) fn launch(&mut self, host: usize, start: u32) {
        self.sides[host].start = Some(start);
        let most_ns = [300 * MILLI, 20 * SECOND][self.later.below(2) as usize];
        let at_ns = self.queue.now_ns() + self.later.below(most_ns);
        self.queue.plan(at_ns, What::Launched { host, start });
    }

    /// What came of it. `None` where nobody hears of it: it was called off, or the host cannot be
    /// reached.
    pub(super) fn launched(&mut self, host: usize, start: u32) -> Option<Input> {
        let now_ns = self.queue.now_ns();
        let fails = self.later.below(5) == 0;
        let script = &self.scenario.hosts[host];
        let is_cut = [&script.down, &script.up].iter().any(|line| {
            line.cut.is_some_and(|(from_ns, until_ns)| (from_ns..until_ns).contains(&now_ns))
        });
        if self.coordinator.is_none() || self.sides[host].start != Some(start) || is_cut {
            return None;
        }
        let said = |why: &str| Some(Input::Launched { host, start, outcome: Err(why.to_owned()) });
        match () {
            () if fails => return said("no route"),
            // One that stands still still holds its targets.
            () if !self.sides[host].is_dead => return said("another run is using it"),
            () => self.begin_life(host),
        }
        self.send(host, ToAgent::Welcome { lost_after_ns: self.scenario.plan.fleet.silence().0 });
        Some(Input::Launched { host, start, outcome: Ok(()) })
    }

    fn begin_life(&mut self, host: usize) {
        let (now_ns, script) = (self.queue.now_ns(), &self.scenario.hosts[host]);
        let rng = &mut self.later;
        let time = HostTime {
            offset_ns: rng.below(48 * 3_600 * SECOND),
            drift_ppb: rng.below(1_000_001) as i64 - 500_000,
        };
        let behaviour = Behaviour {
            refuses: rng.below(8) == 0,
            pause_ns: script.behaviour.pause_ns,
            ..Behaviour::default()
        };
        let stops = self.scenario.plan.stages.iter().map(Stage::stop).collect();
        let side = &mut self.sides[host];
        side.life += 1;
        let seed = derive(self.scenario.seed, &[10, host as u64, u64::from(side.life)]);
        let mut agent = SimAgent::new(
            time,
            stops,
            parts(&self.scenario.plan),
            script.load.clone(),
            behaviour,
            seed,
        );
        agent.sampled = std::mem::take(&mut side.agent.sampled);
        side.agent = agent;
        (side.down, side.up) = (script.down.clone(), script.up.clone());
        (side.down.cut, side.up.cut) = (None, None);
        (side.is_dead, side.is_broken, side.is_out, side.takes_part) = (false, false, false, false);
        (side.heard_ns, side.closed_ns, side.mishap) = (None, None, None);
        let (life, at_ns) = (side.life, now_ns + rng.below(20 * SECOND));
        match rng.below(6) {
            0 => {
                side.mishap =
                    Some(Mishap::Dies { at_ns, closed_after_ns: Some(rng.below(SECOND)) });
                self.queue.plan(at_ns, What::Dies { host, life });
            }
            1 => {
                side.mishap = Some(Mishap::Dies { at_ns, closed_after_ns: None });
                self.queue.plan(at_ns, What::Dies { host, life });
            }
            2 if self.scenario.plan.fleet.hold == model::Nanos(0) => {
                self.queue.plan(at_ns, What::Breaks { host, life });
            }
            _ => {}
        }
    }
}
