//! What hosts say, and what it means in the step in which it is heard. What is out of turn changes
//! nothing.

use super::{Action, Actions, Coordinator, Owes, Reach};
use crate::wire::FromAgent;
use model::event::{HostEnd, MOST_SPANS};
use model::{CounterSample, Event, Note, RunEnd};

impl Coordinator {
    pub(super) fn hear(
        &mut self,
        number: usize,
        message: FromAgent,
        at_ns: u64,
        actions: &mut Actions,
    ) {
        if self.is_returning(number) {
            return self.hear_returning(number, message, at_ns, actions);
        }
        let Some(host) = self.hosts.get_mut(number).filter(|host| host.alive) else { return };
        host.heard(at_ns);
        match message {
            FromAgent::Sample(sample) => self.take_sample(number, *sample, actions),
            FromAgent::Counters(sample) => self.take_counters(number, sample, actions),
            FromAgent::Waiting(mut waiting) => {
                waiting.host = number as u32;
                if self.step.running(waiting.stage).is_some() && waiting.spans.len() <= MOST_SPANS {
                    actions.push(Action::Emit(Event::Waiting(waiting)));
                }
            }
            FromAgent::Logged { stage, ago_ns, line } => {
                let logged_ns = at_ns.saturating_sub(ago_ns);
                if self.finds(number) {
                    self.timeline.logged(number as u32, stage, logged_ns, &line, self.now, actions);
                }
            }
            FromAgent::Pong { sent_ns, agent_ns } => {
                self.take_pong(number, sent_ns, agent_ns, at_ns, actions);
            }
            FromAgent::Ready { notes } if host.owes == Owes::Ready => {
                self.debts.turn(host, Owes::Nothing);
                self.take_notes(number, notes, actions);
            }
            FromAgent::Refused(why) if host.owes == Owes::Ready => {
                self.debts.turn(host, Owes::Nothing);
                self.refused(number, &why, actions);
            }
            FromAgent::Armed { stage } if host.owes == Owes::Armed && self.step.arms(stage) => {
                self.debts.turn(host, Owes::Start);
            }
            FromAgent::StageEnded { stage, end, notes, late_ns } => {
                self.end_stage_on(number, stage, end, late_ns, actions);
                self.take_notes(number, notes, actions);
            }
            FromAgent::LeftOver(end)
                if host.owes == Owes::StageEnd
                    && self.step.running(end.stage).is_some()
                    && end.is_bounded() =>
            {
                let end = HostEnd { host: number as u32, ..*end };
                actions.push(Action::Emit(Event::HostEnded(Box::new(end))));
            }
            FromAgent::FirstDone { stage } if host.owes == Owes::StageEnd => {
                self.cut_the_others(number, stage, actions);
            }
            FromAgent::GaveBack { failed } if host.owes == Owes::GaveBack => {
                self.gave_back(number, failed, actions);
            }
            FromAgent::Released { left } if host.owes == Owes::Released => {
                self.debts.turn(host, Owes::Nothing);
                let left: Vec<String> = left.iter().map(|left| self.named(number, left)).collect();
                self.left.extend(left);
            }
            // Facts were asked for before the run; the rest is out of turn, and changes nothing.
            _ => {}
        }
    }

    /// An answer to a ping, by both clocks.
    fn take_pong(
        &mut self,
        number: usize,
        sent_ns: u64,
        agent_ns: u64,
        at_ns: u64,
        actions: &mut Actions,
    ) {
        let host = &mut self.hosts[number];
        let was_known = host.clock.is_known();
        let again =
            host.answered(sent_ns, agent_ns, at_ns).then_some(Action::Ping { host: number });
        if self.terms.reach == Reach::Remote && !was_known && host.clock.is_known() {
            self.unknown_clocks -= 1;
        }
        actions.extend(again);
        self.end_unread(number, actions);
    }

    fn take_counters(
        &mut self,
        number: usize,
        mut sample: Box<CounterSample>,
        actions: &mut Actions,
    ) {
        sample.host = number as u32;
        if self.step.running(sample.stage).is_some() {
            if self.finds(number) {
                self.timeline.counted(sample.host, &sample, self.now, actions);
            }
            actions.push(Action::Emit(Event::Counters(sample)));
        }
    }

    fn refused(&mut self, number: usize, why: &str, actions: &mut Actions) {
        let why = self.named(number, why);
        if self.end == RunEnd::Complete {
            self.halt(RunEnd::Failed(why), actions);
        } else {
            // It was given up because the run ends: something of it may be there.
            self.left.push(why);
        }
    }

    /// What a host said, with its name where there are several.
    pub(super) fn named(&self, number: usize, text: &str) -> String {
        if self.hosts.len() == 1 {
            text.to_owned()
        } else {
            format!("host {}: {text}", self.hosts[number].name)
        }
    }

    pub(super) fn take_notes(&self, number: usize, notes: Vec<Note>, actions: &mut Actions) {
        let notes = notes.into_iter().map(|note| Note { host: number as u32, ..note });
        actions.extend(notes.map(|note| Action::Emit(Event::Note(note))));
    }
}
