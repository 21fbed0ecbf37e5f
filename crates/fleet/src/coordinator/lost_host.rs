//! What becomes of a run when a host is lost.

use super::timeline::Wait;
use super::{Action, Coordinator, Owes, Reach, Step};
use model::choices::OnLostHost;
use model::{Event, Fact, Nanos, Note, RunEnd, StageEnd};

impl Coordinator {
    /// Goes on without a host, or ends the run, as the policy says.
    pub(super) fn lose(&mut self, number: usize, why: &str, actions: &mut Vec<Action>) {
        if self.is_returning(number) {
            return self.lose_returning(number, why, actions);
        }
        let Some(host) = self.hosts.get_mut(number).filter(|host| host.alive) else { return };
        host.alive = false;
        self.debts.turn(host, Owes::Nothing);
        let silent_ns = host.silence_ns(self.now.steady_ns);
        if self.terms.reach == Reach::Remote && !host.clock.is_known() {
            self.unknown_clocks -= 1;
        }
        let name = host.name.clone();
        let why = &self.with_own_absence(why);
        actions.push(Action::Drop { host: number });
        if matches!(self.step, Step::Over) {
            return;
        }
        self.leave_rounds(number, actions);
        // While targets are opened, and while the next point is asked for, it is the stage behind.
        let stage = match self.step {
            Step::Opening => self.at_start.stage,
            Step::Asking => Some(self.schedule.planned()),
            _ => self.step.stage(),
        };
        let fact = Fact::HostLost { name: name.clone(), why: why.clone() };
        actions.push(Action::Emit(Event::Note(Note { stage, host: number as u32, fact })));
        if !matches!(self.step, Step::Releasing) {
            let lost = format!("{name}: {why}");
            self.timeline.lost(number as u32, &lost, silent_ns, self.now, actions);
        }
        if matches!(self.step, Step::Releasing | Step::AwaitingEvents(Wait { next: None, .. })) {
            // All stages are over: how the run ended is on record, and it does not end otherwise
            // because of this.
            self.left.push(format!(
                "host {name} was lost before it had let go of its targets ({why}); `plimsoll \
                 clean` removes what is there"
            ));
            return;
        }
        let left = self.hosts.iter().filter(|host| host.alive).count();
        let may_go_on = self.terms.policy.on_lost_host == OnLostHost::Continue
            && left >= self.terms.policy.quorum as usize;
        if stage.is_some() && may_go_on && left > 0 {
            self.note_absence(number, actions);
            return;
        }
        // Before the first stage nothing is on record, and a search cannot be taken up in the
        // middle.
        let can_resume = self.has_begun && !self.schedule.searches();
        let remedy = match (self.terms.policy.on_lost_host, can_resume) {
            (OnLostHost::Abort, true) => {
                "go on with `plimsoll resume`, or let the suite say fleet.on_lost_host = \
                 \"continue\""
            }
            (OnLostHost::Continue, true) => "too few hosts are left; go on with `plimsoll resume`",
            (_, false) => "see why, and start the run again",
        };
        let why = format!("host {name} was lost: {why}; {remedy}");
        // Whoever resumes finds the layout that was written.
        self.keep_data |= can_resume;
        if let Step::Running(running) = &mut self.step {
            running.end = StageEnd::Failed(why.clone());
        }
        self.halt(RunEnd::Failed(why), actions);
    }

    /// `why` a host was lost, and beside it that this process itself stood still during the stage,
    /// if it did for so long that the agents had to take it for dead: then no host has to be at
    /// fault, and whoever reads `it answers, but …` of all of them would look in the wrong place.
    fn with_own_absence(&self, why: &str) -> String {
        let away_ns = match self.step {
            Step::Waiting { .. } => 0,
            _ => self.ticks.longest_away_ns(self.now.steady_ns),
        };
        let after = self.terms.policy.lost_after;
        if self.terms.reach != Reach::Remote || away_ns <= after.0 {
            return why.to_owned();
        }
        let seconds = Nanos::seconds(away_ns / 1_000_000_000);
        format!(
            "{why}. The cause is the coordinator, not this host: it stood still for {seconds} \
             (stopped, or without a CPU). Agents end their load after {after} without it \
             (fleet.lost_after)."
        )
    }
}
