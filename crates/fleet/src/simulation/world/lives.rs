//! Agents that are started again on hosts that were lost: each has a clock, links and a fate of its
//! own.

use super::super::agent::{Behaviour, SimAgent};
use super::super::clock::HostTime;
use super::super::layouts::Deed;
use super::super::scenario::Mishap;
use super::super::{MILLI, SECOND};
use super::{What, World, parts};
use crate::coordinator::Input;
use crate::performer::Reader;
use crate::wire::ToAgent;
use model::plan::Stage;
use model::rng::derive;

impl World<'_> {
    /// Whether something is under way of an agent that another one has taken the place of: nobody
    /// takes it in any more.
    pub(super) fn is_of_an_earlier_life(&self, what: &What) -> bool {
        let (host, of) = match what {
            What::Order(life, _)
            | What::Word(life, ..)
            | What::Wake(life, _)
            | What::Look(life)
            | What::Closed(life)
            | What::Lost(life)
            | What::Dies(life)
            | What::Breaks(life) => *life,
            _ => return false,
        };
        self.sides[host].life != of
    }

    /// The coordinator has nothing to do with a host any more, nor with its next agent.
    pub(super) fn drop_host(&mut self, host: usize) {
        let side = &mut self.sides[host];
        (side.outcome.is_lost, side.is_out) = (true, true);
        side.start = None;
        match self.ways.part(host) {
            (true, _) if !self.scenario.hosts[host].is_absent => {
                self.outcome.deeds.push((host, Deed::Gone));
                self.part(None, host);
            }
            (_, Some(_)) => {
                self.outcome.deeds.push((host, Deed::Gone));
                self.close_down(host);
            }
            _ => {}
        }
    }

    /// It takes its time, at times more than anybody waits.
    pub(super) fn launch(&mut self, host: usize, start: u32) {
        self.ways.begin(host, start);
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
        let is_called_off = self.sides[host].start != Some(start);
        if self.coordinator.is_none() || is_cut {
            return None;
        }
        if is_called_off {
            // Its agent is there by now, and ends at once: nobody takes it.
            self.outcome.see("a start is called off");
            if self.ways.take(host, start, u32::MAX).is_ok() {
                self.outcome.broken.push(format!("start {start} of host {host} was taken"));
            }
            return None;
        }
        let said = |why: &str| Some(Input::Launched { host, start, outcome: Err(why.to_owned()) });
        match () {
            () if fails => return said("no route"),
            // One that stands still still holds its targets.
            () if !self.sides[host].is_dead => return said("another run is using it"),
            () => self.begin_life(host),
        }
        let life = self.sides[host].life;
        if self.ways.take(host, start, life).is_err() {
            self.outcome.broken.push(format!("start {start} of host {host} was not taken"));
        }
        self.sides[host].epoch = self.ways.epochs.of(host);
        self.send(host, &ToAgent::Welcome { lost_after_ns: self.scenario.plan.fleet.silence().0 });
        Some(Input::Launched { host, start, outcome: Ok(()) })
    }

    fn begin_life(&mut self, host: usize) {
        let (now_ns, script) = (self.queue.now_ns(), &self.scenario.hosts[host]);
        let rng = &mut self.later;
        let time = HostTime::drawn(rng);
        let behaviour = Behaviour {
            refuses: rng.below(8) == 0,
            pause_ns: script.behaviour.pause_ns,
            counts: script.behaviour.counts,
            ..Behaviour::default()
        };
        let plan = self.grown.as_ref().unwrap_or(&self.scenario.plan);
        let stops = plan.stages.iter().map(Stage::stop).collect();
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
        (side.reader, side.outcome.gone_ns) = (Reader::default(), None);
        (side.down, side.up) = (script.down.clone(), script.up.clone());
        (side.down.cut, side.up.cut) = (None, None);
        (side.is_dead, side.is_broken, side.is_out, side.takes_part) = (false, false, false, false);
        (side.heard_ns, side.closed_ns, side.mishap) = (None, None, None);
        let (life, at_ns) = (side.life, now_ns + rng.below(20 * SECOND));
        match rng.below(6) {
            0 => {
                side.mishap =
                    Some(Mishap::Dies { at_ns, closed_after_ns: Some(rng.below(SECOND)) });
                self.queue.plan(at_ns, What::Dies((host, life)));
            }
            1 => {
                side.mishap = Some(Mishap::Dies { at_ns, closed_after_ns: None });
                self.queue.plan(at_ns, What::Dies((host, life)));
            }
            2 if self.scenario.plan.fleet.hold == model::Nanos(0) => {
                self.queue.plan(at_ns, What::Breaks((host, life)));
            }
            _ => {}
        }
    }
}
