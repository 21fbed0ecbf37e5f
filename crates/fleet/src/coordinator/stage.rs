//! A stage over all hosts: it is set up, begins at one instant, and its intervals and ends are
//! taken in.

use super::start_bound::Told;
use super::step::{Arming, Running};
use super::{Action, Actions, Coordinator, Host, Now, Owes, Reach, Step};
use crate::wire::ToAgent;
use model::event::HostStart;
use model::{Event, IntervalSample, RunEnd, StageEnd};

/// A start is so far ahead that the slowest relay's odd message still comes before it (`srun` holds
/// one back for 50 ms now and then).
const START_AHEAD_NS: u64 = 100_000_000;
/// On top of it, for each host: sending to thousands takes its time.
const START_AHEAD_PER_HOST_NS: u64 = 50_000;

/// How much longer than its time and its patience the end of a stage is waited for, in ns: the
/// engine gives a worker up a second after its patience and a reading of the counters after two,
/// and the word of it may be late.
const STAGE_END_MARGIN_NS: u64 = 30_000_000_000;

/// In a stage of an amount that never rests, a host may do nothing for so long on top of that, in
/// ns: what was written may have to reach its disks first.
const LONGEST_IDLE_NS: u64 = 3_600_000_000_000;

/// The end of a stage on a host, behind which its clock has not been read yet.
#[derive(Debug)]
pub(super) struct Ended {
    stage: u32,
    end: StageEnd,
    late_ns: u64,
}

impl Coordinator {
    pub(super) fn set_up(&mut self, stage: u32, actions: &mut Actions) {
        self.step = Step::Arming(Arming { stage, end_by_ns: None });
        self.layouts.open_for(stage);
        self.note_preparing(stage);
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| host.alive) {
            self.debts.turn(host, Owes::Armed);
            host.next_interval = 0;
            actions.push(Action::Send { host: number, message: ToAgent::Arm { stage } });
            actions.push(Action::Ping { host: number });
        }
    }

    /// How long before an instant all hosts have to be told of it, in ns.
    fn ahead_ns(&self) -> u64 {
        let slowest = self
            .hosts
            .iter()
            .filter(|host| host.alive)
            .map(|host| host.clock.round_trip_ns())
            .max()
            .unwrap_or(0);
        let sending = START_AHEAD_PER_HOST_NS.saturating_mul(self.hosts.len() as u64);
        START_AHEAD_NS.saturating_add(sending).saturating_add(slowest.saturating_mul(2))
    }

    /// Lets all hosts begin at one instant.
    pub(super) fn go(&mut self, stage: u32, now: Now, actions: &mut Actions) {
        let ahead_ns = match self.terms.reach {
            Reach::OwnProcess => 0,
            Reach::Remote => self.ahead_ns(),
        };
        let unix_ns = now.unix_ns.saturating_add(ahead_ns);
        actions.push(Action::Emit(Event::StageStarted { stage, unix_ns }));
        self.has_begun = true;
        let at_ns = now.steady_ns.saturating_add(ahead_ns);
        let mut settling = self.schedule.take_rounds(stage);
        if let Some(settling) = &mut settling {
            settling.begin(at_ns, |host| self.hosts.get(host).is_some_and(|host| host.alive));
        }
        self.timeline.begin(stage, at_ns);
        self.timeline.tell_of_running(now, actions);
        let time = self.schedule.stop(stage).and_then(|stop| stop.time());
        let time = time.filter(|_| self.terms.in_real_time);
        let end_by_ns = time
            .map(|time| at_ns.saturating_add(time.0).saturating_add(self.stage_end_patience_ns()));
        let end = StageEnd::Complete;
        self.step = Step::Running(Running { stage, end, end_by_ns, is_cut: false, settling });
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| host.alive) {
            let told = match (self.terms.reach, host.clock.theirs(at_ns)) {
                (Reach::Remote, Some((theirs_ns, error_ns))) => {
                    Some(Told { at_ns, theirs_ns, error_ns })
                }
                _ => None,
            };
            host.begins(told);
            host.worked(at_ns);
            self.debts.turn(host, Owes::StageEnd);
            let start_ns = told.map(|told| told.theirs_ns);
            actions.push(Action::Send { host: number, message: ToAgent::Go { start_ns } });
        }
    }

    /// Takes each interval once, and only of the stage that runs.
    pub(super) fn take_sample(
        &mut self,
        number: usize,
        mut sample: IntervalSample,
        actions: &mut Actions,
    ) {
        let stage = sample.stage;
        let Some(running) = self.step.running_mut(stage) else { return };
        let host = &mut self.hosts[number];
        if host.owes != Owes::StageEnd || sample.interval < host.next_interval {
            return;
        }
        host.next_interval = sample.interval.saturating_add(1);
        sample.host = number as u32;
        if sample.ops.iter().any(|op| op.ios > 0 || !op.errors.is_empty()) {
            host.worked(self.now.steady_ns);
        }
        self.timeline.sampled(sample.start_ns.saturating_add(sample.length_ns));
        let rounds = running.settling.as_mut().and_then(|settling| {
            settling.take(number, &sample);
            settling.due()
        });
        actions.push(Action::Emit(Event::Sample(sample)));
        actions.extend(rounds.map(|rounds| Action::Judge { stage, rounds }));
    }

    /// A host takes no part in the rounds of the stage that runs any more.
    pub(super) fn leave_rounds(&mut self, number: usize, actions: &mut Actions) {
        let Step::Running(Running { stage, settling: Some(settling), .. }) = &mut self.step else {
            return;
        };
        settling.leave(number);
        actions.extend(settling.due().map(|rounds| Action::Judge { stage: *stage, rounds }));
    }

    /// Tells the hosts what came of a look at the last rounds.
    pub(super) fn judged(&mut self, stage: u32, is_steady: bool, actions: &mut Actions) {
        let (ahead_ns, patience_ns) = (self.ahead_ns(), self.stage_end_patience_ns());
        let Some(Running { settling: Some(settling), end_by_ns, .. }) =
            self.step.running_mut(stage)
        else {
            return;
        };
        let to_ns = settling.judged_ns();
        let end_after_ns = (is_steady && self.end == RunEnd::Complete).then(|| {
            let real_time =
                self.terms.is_in_any_real_time.then_some((self.now.steady_ns, ahead_ns));
            settling.settle(real_time).after_ns
        });
        let start_ns = settling.start_ns();
        if let (Some(after_ns), Some(by_ns)) = (end_after_ns, end_by_ns) {
            *by_ns = start_ns.saturating_add(after_ns).saturating_add(patience_ns).min(*by_ns);
        }
        // In real time nobody waits to hear that it goes on.
        if end_after_ns.is_some() || !self.terms.in_real_time {
            self.tell_all(&ToAgent::Judged { to_ns, end_after_ns }, actions);
        }
    }

    pub(super) fn end_stage_on(
        &mut self,
        number: usize,
        stage: u32,
        end: StageEnd,
        late_ns: Option<u64>,
        actions: &mut Actions,
    ) {
        let is_current = self.step.stage_on_hosts() == Some(stage);
        let host = &mut self.hosts[number];
        if !is_current || !matches!(host.owes, Owes::Armed | Owes::Start | Owes::StageEnd) {
            return;
        }
        if let (Some(late_ns), Owes::StageEnd) = (late_ns, host.owes) {
            let Some(error_ns) = host.start_error_ns(self.now.steady_ns) else {
                // A stage shorter than a look at its clock.
                self.unread.insert(number, Ended { stage, end, late_ns });
                actions.push(Action::Ping { host: number });
                return;
            };
            let start = HostStart { stage, host: number as u32, late_ns, error_ns };
            actions.push(Action::Emit(Event::HostStarted(start)));
        }
        self.debts.turn(host, Owes::Nothing);
        self.leave_rounds(number, actions);
        match end {
            StageEnd::Complete => {}
            StageEnd::Interrupted if self.end == RunEnd::Complete => {
                // Nobody told it to stop. It would not be of use any more, and its part of the
                // stage is not whole.
                let why = "it ended its stage by itself: it heard nothing from its coordinator, \
                           or was not read, for too long";
                self.lose(number, why, actions);
            }
            StageEnd::Interrupted => {
                if let Some(running) = self.step.running_mut(stage)
                    && running.end == StageEnd::Complete
                {
                    running.end = StageEnd::Interrupted;
                }
            }
            StageEnd::Failed(why) => {
                let why = self.named(number, &why);
                if let Some(running) = self.step.running_mut(stage) {
                    running.end = StageEnd::Failed(why.clone());
                }
                self.halt(RunEnd::Failed(why), actions);
            }
            StageEnd::Panicked(why) => {
                let why = self.named(number, &why);
                if let Some(running) = self.step.running_mut(stage) {
                    running.end = StageEnd::Panicked(why.clone());
                }
                self.halt(RunEnd::Panicked(why), actions);
            }
        }
    }

    /// A host's clock was read: a stage that is over may have waited for that.
    pub(super) fn end_unread(&mut self, number: usize, actions: &mut Actions) {
        if let Some(Ended { stage, end, late_ns }) = self.unread.remove(&number) {
            self.end_stage_on(number, stage, end, Some(late_ns), actions);
        }
    }

    /// A worker of a host has done its amount: if it is the first of the cluster, the others hear
    /// of it at once, and all of them stop at a stonewall. Their books are cut when they hear of
    /// it, a link's delay later.
    pub(super) fn cut_the_others(&mut self, first: usize, stage: u32, actions: &mut Actions) {
        let Some(once) = self.schedule.stop(stage).and_then(|stop| stop.once()) else { return };
        let Some(running) = self.step.running_mut(stage).filter(|running| !running.is_cut) else {
            return;
        };
        running.is_cut = true;
        let message = ToAgent::FirstDone { stage, stops: once.stonewall };
        let loaded = |(number, host): &(usize, &Host)| {
            *number != first && host.alive && host.owes == Owes::StageEnd
        };
        let others = self.hosts.iter().enumerate().filter(loaded);
        actions.extend(others.map(|(host, _)| Action::Send { host, message: message.clone() }));
    }

    /// How long a host may do nothing in the stage that runs, in ns; `None` where it may rest, or a
    /// time ends the stage.
    pub(super) fn longest_idle_ns(&self) -> Option<u64> {
        let Step::Running(running) = &self.step else { return None };
        let ends_by_work = self.terms.in_real_time && self.schedule.is_unpaced(running.stage);
        ends_by_work.then(|| LONGEST_IDLE_NS.saturating_add(self.stage_end_patience_ns()))
    }

    /// How long after a stage's time, or after a stop, its end is waited for, in ns.
    pub(super) fn stage_end_patience_ns(&self) -> u64 {
        let patience_ns = self.hosts.iter().map(|host| host.patience_ns).max().unwrap_or(0);
        patience_ns.saturating_add(STAGE_END_MARGIN_NS)
    }
}
