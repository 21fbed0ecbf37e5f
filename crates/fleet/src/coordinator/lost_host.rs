//! What becomes of a run when a host is lost.

use super::timeline::Wait;
use super::{Action, Actions, Coordinator, Owes, Reach, Step};
use model::choices::OnLostHost;
use model::{Event, Fact, Nanos, Note, RunEnd, StageEnd};

impl Coordinator {
    /// Goes on without a host, or ends the run, as the policy says.
    pub(super) fn lose(&mut self, number: usize, why: &str, actions: &mut Actions) {
        if self.is_returning(number) {
            return self.lose_returning(number, why, actions);
        }
        let Some(host) = self.hosts.get_mut(number).filter(|host| host.alive) else { return };
        host.alive = false;
        self.unread.remove(&number);
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
        let may_go_on = self.terms.policy.on_lost_host == OnLostHost::Continue;
        if stage.is_some() && may_go_on && self.are_enough(left) {
            self.note_absence(number, actions);
            return;
        }
        // That is nobody's failure: all are started again before the next point, where they are
        // counted. What runs is not whole.
        if stage.is_some() && may_go_on && self.stood_still() && self.is_counted_again() {
            if let Step::Running(running) = &mut self.step {
                running.end = StageEnd::Interrupted;
                self.is_broken = true;
            }
            self.note_absence(number, actions);
            return;
        }
        let can_resume = self.can_be_resumed();
        let remedy = self.remedy(can_resume);
        let why = format!("host {name} was lost: {why}; {remedy}");
        // Whoever resumes finds the layout that was written.
        self.keep_data |= can_resume;
        if let Step::Running(running) = &mut self.step {
            running.end = StageEnd::Failed(why.clone());
        }
        self.halt(RunEnd::Failed(why), actions);
    }

    /// What to do about a run that ended because a host was lost.
    fn remedy(&self, can_resume: bool) -> &'static str {
        match (self.terms.policy.on_lost_host, can_resume) {
            (OnLostHost::Abort, false) if self.terms.hosts_go => {
                "its machines go with the run: run it again, with --keep-vms to be able to go on, \
                 or let the suite say fleet.on_lost_host = \"continue\""
            }
            (OnLostHost::Continue, false) if self.terms.hosts_go => {
                "too few hosts are left, and they go with the run: run it again"
            }
            (OnLostHost::Abort, true) => {
                "go on with `plimsoll resume`, or let the suite say fleet.on_lost_host = \
                 \"continue\""
            }
            (OnLostHost::Continue, true) => "too few hosts are left; go on with `plimsoll resume`",
            (_, false) => "see why, and start the run again",
        }
    }

    /// Whether another run can go on with what is on record. Before the first stage nothing is, a
    /// search cannot be taken up in the middle, and hosts may go with the run.
    pub(super) fn can_be_resumed(&self) -> bool {
        self.has_begun && !self.schedule.searches() && !self.terms.hosts_go
    }

    /// Whether so many hosts are enough to go on.
    pub(super) fn are_enough(&self, there: usize) -> bool {
        there > 0 && there >= self.terms.policy.quorum as usize
    }

    pub(super) fn there(&self) -> usize {
        self.hosts.iter().filter(|host| host.alive).count()
    }

    /// Whether this process stood still for so long in this stage that agents had to give it up.
    fn stood_still(&self) -> bool {
        let away_ns = self.ticks.longest_away_ns(self.now.steady_ns);
        self.terms.reach == Reach::Remote && away_ns > self.terms.policy.silence().0
    }

    /// Whether hosts can come back, and are counted, before anything else is loaded.
    fn is_counted_again(&self) -> bool {
        let is_before_a_boundary = match &self.step {
            Step::Running(_) | Step::GivingBack { .. } | Step::Asking => true,
            Step::AwaitingEvents(wait) => wait.next.is_some(),
            _ => false,
        };
        // A search cannot go on without the point that it asked for.
        is_before_a_boundary && !self.returning.plans.is_empty() && !self.schedule.searches()
    }

    /// `why` a host was lost, and beside it that this process itself stood still during the stage,
    /// if it did for so long that the agents had to take it for dead: then no host has to be at
    /// fault, and whoever reads `it answers, but …` of all of them would look in the wrong place.
    fn with_own_absence(&self, why: &str) -> String {
        if matches!(self.step, Step::Waiting { .. }) || !self.stood_still() {
            return why.to_owned();
        }
        let away_ns = self.ticks.longest_away_ns(self.now.steady_ns);
        let after = self.terms.policy.silence();
        let seconds = Nanos::seconds(away_ns / 1_000_000_000);
        format!(
            "{why}. The cause is the coordinator, not this host: it stood still for {seconds} \
             (stopped, without a CPU, or waiting for the disk of its record). Agents end their \
             load after {after} without it (fleet.lost_after, fleet.hold)."
        )
    }
}
