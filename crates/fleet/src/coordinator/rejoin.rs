//! Hosts that were lost and may come back: between two points, their agents are started again, and
//! whoever is ready in time takes part from there on.
//!
//! Nothing of this happens while a stage runs, and no boundary between points is held up for longer
//! than [`WAIT_NS`].

use super::returning::Returning;
use super::{Action, Actions, Coordinator, Step};
use crate::wire::{FromAgent, ToAgent};
use model::note::{AboutHosts, TakesPart};
use model::testbed::HostFacts;
use model::{Event, Fact, Nanos, Note, RunEnd, StageEnd, resume};
use std::collections::BTreeMap;

/// The longest time for which those that are there wait at one boundary for all that may come back,
/// in ns.
pub(crate) const WAIT_NS: u64 = 15_000_000_000;
/// After so many tries in vain, a host stays out.
const MOST_TRIES: u32 = 6;
/// From a try in vain to the next lies at least this, in ns; twice as much after each further one.
const PAUSE_NS: u64 = 10_000_000_000;
/// A host that was not there when the run began is tried no sooner than this afterwards, in ns.
const JUST_TRIED_NS: u64 = 1_000_000_000;
/// A host that comes back so often and is lost again stays out then.
const MOST_RETURNS: u32 = 3;
/// Hosts that are started again at one boundary.
const AT_ONCE: usize = 32;

/// How far a host is on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trying {
    /// Its agent is being started; which start it is.
    Launching(u32),
    Inspecting,
    Opening,
    /// It sets up the workers that lay its data out anew.
    SettingUp,
    /// They do.
    Preparing,
    /// It has all that it needs; perhaps its clock is not known yet.
    Ready,
}

impl Trying {
    /// What did not come in time, in words.
    fn lacked(self) -> &'static str {
        match self {
            Trying::Launching(_) => "no agent could be started there",
            Trying::Inspecting => "its agent did not say what stands at its targets",
            Trying::Opening => "its targets were not open",
            Trying::SettingUp | Trying::Preparing => "its layout was not written again",
            Trying::Ready => "its clock was not known",
        }
    }

    /// Whether its agent is there.
    fn is_answering(self) -> bool {
        !matches!(self, Trying::Launching(_))
    }
}

/// The boundary between two points, at which hosts are waited for.
#[derive(Debug)]
pub(super) struct Boundary {
    /// The stage behind it.
    pub(super) stage: u32,
    /// When it is waited at no longer, in ns.
    by_ns: u64,
    /// How far each host is that is on its way. There is no way back but here.
    on_their_way: BTreeMap<usize, Trying>,
}

/// What is known of a host's ways back.
#[derive(Clone, Debug, Default)]
pub(super) struct Absence {
    /// How often its agent was started again, in all.
    starts: u32,
    /// Tries in vain since it was lost.
    tries: u32,
    /// Before this, nothing is tried, in ns.
    next_ns: u64,
    /// How often it came back.
    returns: u32,
    stays_out: bool,
    /// The layout was being written when it was lost, or without it.
    lacks_layout: bool,
}

impl Absence {
    /// The number of the next start of its agent.
    fn next_start(&mut self) -> u32 {
        assert!(!self.stays_out, "a host that stays out is started again");
        assert!(self.tries < MOST_TRIES && self.returns <= self.starts, "{self:?}");
        self.starts += 1;
        self.starts
    }
}

impl Coordinator {
    /// Says what tells each host from all others, as it was at first: by it a host is known again
    /// that has devices. Where it is not said, such a host does not come back.
    pub fn identify(&mut self, identities: Vec<String>) {
        self.returning.identities = identities;
    }

    /// Says what was presumed of hosts that were not there when the run was planned: whoever is
    /// other does not take part.
    pub fn presume(&mut self, presumed: Vec<(usize, HostFacts)>) {
        self.returning.presumed = presumed.into_iter().collect();
    }

    /// A host was lost, and the run goes on. At the next boundary, its agent is started again for
    /// the first time.
    pub(super) fn note_absence(&mut self, number: usize, actions: &mut Actions) {
        let is_preparing = |stage: u32| self.returning.prepare == Some(stage);
        let lacks_layout = self.step.stage_on_hosts().is_some_and(is_preparing);
        let absence = &mut self.hosts[number].absence;
        absence.lacks_layout |= lacks_layout;
        (absence.tries, absence.next_ns) = (0, 0);
        let why = match self.returning.why_not {
            Some(why) => why.to_owned(),
            None if absence.returns >= MOST_RETURNS => {
                format!("it came back {MOST_RETURNS} times, and was lost again")
            }
            None => return,
        };
        self.give_up(number, &why, actions);
    }

    /// A host was tried just now, and is not at the boundary that comes at once.
    pub(super) fn try_later(&mut self, number: usize) {
        self.hosts[number].absence.next_ns = self.now.steady_ns.saturating_add(JUST_TRIED_NS);
    }

    /// A host is not tried any more, which is said.
    fn give_up(&mut self, number: usize, why: &str, actions: &mut Actions) {
        let host = &mut self.hosts[number];
        host.absence.stays_out = true;
        let (name, why) = (host.name.clone(), why.to_owned());
        let fact = Fact::Hosts(AboutHosts::StaysOut { name, why });
        actions.push(Action::Emit(Event::Note(Note { stage: None, host: number as u32, fact })));
    }

    /// The layout is written without those that are away.
    pub(super) fn note_preparing(&mut self, stage: u32) {
        if self.returning.prepare == Some(stage) {
            self.hosts
                .iter_mut()
                .filter(|host| !host.alive)
                .for_each(|host| host.absence.lacks_layout = true);
        }
    }

    /// Has the agents of lost hosts started again before this stage; false where none is to be.
    pub(super) fn begin_returning(&mut self, stage: u32, actions: &mut Actions) -> bool {
        if self.returning.plans.is_empty()
            || self.returning.entries.get(stage as usize) != Some(&true)
        {
            return false;
        }
        let Returning { plans, entries, points, why_not, .. } = &self.returning;
        assert!(why_not.is_none() && plans.len() == self.hosts.len(), "there is no way back");
        assert_eq!(entries.len(), points.len(), "the stages are those of one plan");
        let now_ns = self.now.steady_ns;
        let is_due = |absence: &Absence| !absence.stays_out && now_ns >= absence.next_ns;
        let away = self
            .hosts
            .iter_mut()
            .enumerate()
            .filter(|(_, host)| !host.alive && is_due(&host.absence));
        let mut on_their_way = BTreeMap::new();
        for (number, host) in away.take(AT_ONCE) {
            let start = host.absence.next_start();
            on_their_way.insert(number, Trying::Launching(start));
            actions.push(Action::Launch { host: number, start });
        }
        if on_their_way.is_empty() {
            return false;
        }
        let by_ns = now_ns.saturating_add(WAIT_NS);
        self.step = Step::Returning(Boundary { stage, by_ns, on_their_way });
        true
    }

    /// Goes on to the stage as soon as nobody is on his way any more, or the time is over.
    pub(super) fn look_at_returning(&mut self, actions: &mut Actions) {
        let now_ns = self.now.steady_ns;
        let Step::Returning(boundary) = &self.step else { return };
        let (stage, is_over) = (boundary.stage, now_ns >= boundary.by_ns);
        for (number, trying) in boundary.on_their_way.clone() {
            match trying {
                // A run that ends waits for nobody, and that is nobody's failure.
                _ if self.end != RunEnd::Complete => self.send_away(number, actions),
                // Its layout would begin from nothing the next time, and take as long: all others
                // would wait for that again, and in vain.
                Trying::Preparing if is_over => {
                    let why = format!(
                        "its layout was not written again within the {} for which the others wait \
                         for it; a smaller layout.size, or a place for it that outlives its \
                         agent, lets it come back",
                        Nanos(WAIT_NS)
                    );
                    self.send_away(number, actions);
                    self.give_up(number, &why, actions);
                }
                _ if is_over => {
                    let why = format!("{} within {}", trying.lacked(), Nanos(WAIT_NS));
                    self.try_failed(number, &why, actions);
                }
                _ if trying.is_answering() && self.hosts[number].ping_is_due(now_ns) => {
                    actions.push(Action::Ping { host: number });
                }
                _ => {}
            }
        }
        let is_waited_for = self.on_their_way().is_some_and(|hosts| !hosts.is_empty());
        match self.end {
            _ if is_waited_for => {}
            RunEnd::Complete => self.enter(stage, actions),
            _ => self.release(self.now, actions),
        }
    }

    fn on_their_way(&mut self) -> Option<&mut BTreeMap<usize, Trying>> {
        match &mut self.step {
            Step::Returning(boundary) => Some(&mut boundary.on_their_way),
            _ => None,
        }
    }

    /// How far a host is on its way back; `None` where it is not on it.
    fn trying(&self, number: usize) -> Option<Trying> {
        match &self.step {
            Step::Returning(boundary) => boundary.on_their_way.get(&number).copied(),
            _ => None,
        }
    }

    /// A host is not waited for any more at this boundary.
    fn send_away(&mut self, number: usize, actions: &mut Actions) {
        self.on_their_way().and_then(|hosts| hosts.remove(&number));
        actions.push(Action::Drop { host: number });
    }

    pub(super) fn launched(
        &mut self,
        number: usize,
        start: u32,
        outcome: Result<(), String>,
        actions: &mut Actions,
    ) {
        let several = self.hosts.len() > 1;
        let Some(trying) = self.on_their_way().and_then(|hosts| hosts.get_mut(&number)) else {
            return;
        };
        if *trying != Trying::Launching(start) {
            return;
        }
        if let Err(why) = outcome {
            return self.try_failed(number, &why, actions);
        }
        *trying = Trying::Inspecting;
        // Another agent, and perhaps another clock.
        self.hosts[number].begin_anew(self.now.steady_ns);
        let mut targets: Vec<String> = Vec::new();
        for target in self.returning.plans.get(number).map_or(&[][..], |plan| &plan.targets) {
            if !targets.contains(&target.path) {
                targets.push(target.path.clone());
            }
        }
        let message = ToAgent::Inspect {
            targets,
            host: several.then_some(number as u32),
            patience_ns: self.hosts[number].patience_ns,
        };
        actions.push(Action::Send { host: number, message });
        actions.push(Action::Ping { host: number });
    }

    pub(super) fn is_returning(&self, number: usize) -> bool {
        self.trying(number).is_some()
    }

    /// Takes in what a host says that is on its way.
    pub(super) fn hear_returning(
        &mut self,
        number: usize,
        message: FromAgent,
        at_ns: u64,
        actions: &mut Actions,
    ) {
        let prepare = self.returning.prepare;
        let Some(trying) = self.trying(number) else { return };
        let host = &mut self.hosts[number];
        host.heard(at_ns);
        let next = match (trying, message) {
            (_, FromAgent::Pong { sent_ns, agent_ns }) => {
                let again = host
                    .answered(sent_ns, agent_ns, at_ns)
                    .then_some(Action::Ping { host: number });
                actions.extend(again);
                trying
            }
            (Trying::Inspecting, FromAgent::Facts { facts, .. }) => {
                match self.inspected(number, &facts, actions) {
                    Some(next) => next,
                    None => return,
                }
            }
            (Trying::Opening, FromAgent::Ready { notes }) => {
                let lacks_layout = host.absence.lacks_layout;
                self.take_notes(number, notes, actions);
                match prepare.filter(|_| lacks_layout) {
                    Some(stage) => {
                        actions
                            .push(Action::Send { host: number, message: ToAgent::Arm { stage } });
                        Trying::SettingUp
                    }
                    None => Trying::Ready,
                }
            }
            (Trying::Opening, FromAgent::Refused(why)) => {
                return self.try_failed(number, &why, actions);
            }
            (Trying::SettingUp, FromAgent::Armed { stage }) if Some(stage) == prepare => {
                actions
                    .push(Action::Send { host: number, message: ToAgent::Go { start_ns: None } });
                Trying::Preparing
            }
            (Trying::SettingUp | Trying::Preparing, FromAgent::StageEnded { stage, end, .. })
                if Some(stage) == prepare =>
            {
                if end != StageEnd::Complete {
                    return self.try_failed(
                        number,
                        "its layout could not be written again",
                        actions,
                    );
                }
                host.absence.lacks_layout = false;
                Trying::Ready
            }
            // What it does to lay its data out anew is on record already, of the first time.
            (trying, _) => trying,
        };
        self.on_their_way().and_then(|hosts| hosts.insert(number, next));
        self.come_in(number, actions);
    }

    /// What comes behind a look at a host: its plan, or nothing where it is another one now.
    fn inspected(
        &mut self,
        number: usize,
        facts: &HostFacts,
        actions: &mut Actions,
    ) -> Option<Trying> {
        if let Some(why) = self.returning.refuses(number, facts) {
            self.hosts[number].absence.tries = MOST_TRIES;
            self.try_failed(number, &why, actions);
            return None;
        }
        if let Some(known) = self.returning.identities.get_mut(number)
            && known.is_empty()
        {
            known.clone_from(&facts.identity);
        }
        let plan = self.returning.plans.get(number)?;
        self.hosts[number].absence.lacks_layout |= !resume::layout_is_there(plan, facts);
        let message = ToAgent::Assign(Box::new(plan.clone()));
        actions.push(Action::Send { host: number, message });
        Some(Trying::Opening)
    }

    /// An agent is gone of a host that is on its way back. While another is being started, it is
    /// the one that is known to be gone.
    pub(super) fn lose_returning(&mut self, number: usize, why: &str, actions: &mut Actions) {
        if self.trying(number).is_some_and(Trying::is_answering) {
            self.try_failed(number, why, actions);
        }
    }

    /// Lets a host take part that has all that it needs.
    fn come_in(&mut self, number: usize, actions: &mut Actions) {
        let Step::Returning(boundary) = &mut self.step else { return };
        let stage = boundary.stage;
        let point = self.returning.points.get(stage as usize).copied().flatten();
        let host = &mut self.hosts[number];
        // With its clock unknown it would hold up all others afterwards.
        if boundary.on_their_way.get(&number) != Some(&Trying::Ready) || !host.clock.is_known() {
            return;
        }
        boundary.on_their_way.remove(&number);
        host.absence.returns += 1;
        assert!(host.absence.returns <= host.absence.starts, "it came back unasked");
        host.alive = true;
        self.ticks.look_again();
        let words = point
            .map_or_else(|| "the next stage".to_owned(), |point| format!("point {}", point + 1));
        let joins = self.returning.presumed.remove(&number).is_some();
        let detail = match joins {
            true => format!("{}: joined; it loads from {words} on", host.name),
            false => format!("{}: back; it loads from {words} on", host.name),
        };
        let name = host.name.clone();
        let from = match point {
            Some(point) if joins => {
                let hosts = self.hosts.iter().filter(|host| host.alive).count() as u64;
                TakesPart::Joins { point, hosts, of: self.hosts.len() as u64 }
            }
            Some(point) => TakesPart::Point(point),
            None => TakesPart::NextStage,
        };
        let fact = Fact::HostReturned { name, from };
        let note = Note { stage: Some(stage), host: number as u32, fact };
        actions.push(Action::Emit(Event::Note(note)));
        self.timeline.returned(number as u32, &detail, self.now, actions);
    }

    /// A host did not come back this time. After the last try it stays out, which is said.
    pub(super) fn try_failed(&mut self, number: usize, why: &str, actions: &mut Actions) {
        if !self.is_returning(number) {
            return;
        }
        self.send_away(number, actions);
        let absence = &mut self.hosts[number].absence;
        absence.next_ns =
            self.now.steady_ns.saturating_add(PAUSE_NS.saturating_mul(1 << absence.tries.min(16)));
        absence.tries += 1;
        if absence.tries >= MOST_TRIES {
            self.give_up(number, why, actions);
        }
    }
}

#[cfg(test)]
mod tests;
