//! Decides what a fleet does next. Pure: an input goes in, actions come out; it knows no clock, no
//! thread and no link.

mod absent;
mod giving_back;
mod host;
mod inputs;
mod lost_host;
mod messages;
mod permission;
mod prerun;
mod presumed;
mod rejoin;
mod returning;
mod schedule;
mod stage;
mod start_bound;
mod steady_end;
mod step;
mod ticks;
mod timeline;

pub use inputs::{Action, Actions, Input, Marked, Now, Reach};
pub use permission::{LayoutsOver, RunOver};

use crate::wire::ToAgent;
use absent::AtStart;
use giving_back::Layouts;
use host::{Debts, Host, Owes};
use model::plan::{FleetPolicy, Plan};
use model::search::Addition;
use model::{Event, Fact, Kernels, RunEnd, StageEnd};
use prerun::Preruns;
#[cfg(test)]
pub(crate) use rejoin::WAIT_NS;
use returning::Returning;
use schedule::Schedule;
use stage::Ended;
use std::collections::BTreeMap;
use step::Step;
use ticks::Ticks;
use timeline::Timeline;

/// What does not change while a run goes on.
#[derive(Debug)]
struct Terms {
    policy: FleetPolicy,
    reach: Reach,
    /// Whether all hosts take the time of the wall.
    in_real_time: bool,
    /// Whether any does.
    is_in_any_real_time: bool,
    /// Whether the hosts are machines that are removed when the run ends: nobody goes on with it.
    hosts_go: bool,
}

/// The state of a run over all hosts.
#[derive(Debug)]
pub struct Coordinator {
    step: Step,
    /// The time of the input that is taken in.
    now: Now,
    ticks: Ticks,
    terms: Terms,
    schedule: Schedule,
    hosts: Vec<Host>,
    kernels: Kernels,
    debts: Debts,
    timeline: Timeline,
    preruns: Preruns,
    returning: Returning,
    layouts: Layouts,
    at_start: AtStart,
    /// Hosts that are there and whose clocks are not known.
    unknown_clocks: usize,
    /// How the run will end, if it will not be complete; the first reason stands.
    end: RunEnd,
    /// Whether any stage was started: before that, nothing is on record that could be resumed.
    has_begun: bool,
    /// Whether the files of the run stay: because they shall, or because the run can go on with
    /// them.
    keep_data: bool,
    left: Vec<String>,
    /// Hosts whose stage is over and whose clock is about to be read.
    unread: BTreeMap<usize, Ended>,
    /// Whether a stage was broken off because this process stood still, and the others went on.
    is_broken: bool,
}

impl Coordinator {
    /// A coordinator for these stages of `plan`, in their order. With `keep_data`, the files of the
    /// run stay on the targets.
    pub fn new(plan: &Plan, stages: &[u32], reach: Reach, keep_data: bool) -> Coordinator {
        let mut times = plan.hosts.iter().map(|host| !host.engine.virtual_time);
        let terms = Terms {
            policy: plan.fleet,
            reach,
            in_real_time: times.clone().all(|is_real| is_real),
            is_in_any_real_time: times.any(|is_real| is_real),
            hosts_go: plan
                .notes
                .iter()
                .any(|note| matches!(&note.fact, Fact::Machines(made) if made.go_with_run)),
        };
        let plans = plan.hosts.clone();
        Coordinator {
            step: Step::Waiting { plans },
            now: Now::default(),
            ticks: Ticks::default(),
            terms,
            schedule: Schedule::new(plan, stages),
            hosts: plan.hosts.iter().map(Host::new).collect(),
            kernels: Kernels::default(),
            debts: Debts::new(plan.hosts.len()),
            timeline: Timeline::new(plan),
            preruns: Preruns::new(plan),
            returning: Returning::new(plan, reach),
            layouts: Layouts::new(plan),
            at_start: AtStart::of(stages),
            unknown_clocks: if reach == Reach::Remote { plan.hosts.len() } else { 0 },
            end: RunEnd::Complete,
            has_begun: false,
            keep_data,
            left: Vec::new(),
            unread: BTreeMap::new(),
            is_broken: false,
        }
    }

    /// The same, with what is known of which hosts are on one kernel: what that finds is told once.
    pub fn on(self, kernels: Kernels) -> Coordinator {
        Coordinator { kernels, ..self }
    }

    /// Whether what a host's kernel finds is told by no other that is there.
    fn finds(&self, number: usize) -> bool {
        self.kernels
            .voice(number, |host| self.hosts.get(host).is_some_and(|host| host.alive))
            .is_any()
    }

    /// Takes in what happened and says what to do.
    pub fn step(&mut self, input: Input, now: Now) -> Vec<Action> {
        let mut actions = Vec::new();
        self.now = now;
        match input {
            Input::Begin => self.begin(now, &mut actions),
            Input::Heard { host, message, at_ns } => self.hear(host, message, at_ns, &mut actions),
            Input::Lost { host, why } => self.lose(host, &why, &mut actions),
            Input::Launched { host, start, outcome } => {
                self.launched(host, start, outcome, &mut actions);
            }
            Input::Tick => self.tick(now, &mut actions),
            Input::Marked { label, at_ns, ticket } => {
                let marked = if self.step.is_on_record() {
                    Marked::Over
                } else {
                    self.timeline.marked(&label, at_ns, now, &mut actions)
                };
                actions.extend(ticket.map(|ticket| Action::Placed { ticket, marked }));
            }
            Input::CommandEnded { number, status, output } => {
                self.command_ended(number, status, &output, now, &mut actions);
            }
            // How the run ended is on record. But a target that does not answer is waited for no
            // longer.
            Input::Interrupt if matches!(self.step, Step::Releasing) => {
                self.tell_all(&ToAgent::Stop, &mut actions);
            }
            Input::Added(addition) => self.add(addition, now, &mut actions),
            Input::Judged { stage, is_steady } => self.judged(stage, is_steady, &mut actions),
            Input::Interrupt => self.halt(RunEnd::Interrupted, &mut actions),
            Input::Unrecordable(why) => {
                // Where there is room again, the run goes on with the layout that was written.
                self.keep_data |= self.can_be_resumed();
                self.halt(RunEnd::Failed(why), &mut actions);
            }
        }
        self.timeline.advance(now, &mut actions);
        self.advance(now, &mut actions);
        self.assert_sound();
        actions
    }

    /// What holds whatever was heard. Nothing here looks at each host: every message is followed by
    /// it.
    fn assert_sound(&self) {
        assert!(self.debts.are_only(self.step.debts()), "a host owes what is not asked for");
        assert!(self.unknown_clocks <= self.hosts.len(), "more clocks than hosts");
        let running = matches!(self.step, Step::Running(_));
        assert_eq!(self.timeline.is_within_a_stage(), running, "the axis is that of no stage");
        assert!(self.has_begun || !running, "a stage runs that never began");
    }

    fn begin(&mut self, now: Now, actions: &mut Actions) {
        let Step::Waiting { plans } = &mut self.step else { return };
        let plans = std::mem::take(plans);
        self.step = Step::Opening;
        self.ticks.begin(now.steady_ns);
        self.note_absent(actions);
        let hosts = self.hosts.iter_mut().enumerate().zip(plans);
        for ((number, host), plan) in hosts.filter(|((_, host), _)| host.alive) {
            host.heard(now.steady_ns);
            if host.ping_is_due(now.steady_ns) {
                actions.push(Action::Ping { host: number });
            }
            self.debts.turn(host, Owes::Ready);
            actions.push(Action::Send { host: number, message: ToAgent::Assign(Box::new(plan)) });
        }
    }

    /// Ends the run early; the first reason stands.
    fn halt(&mut self, end: RunEnd, actions: &mut Actions) {
        if self.end != RunEnd::Complete || matches!(self.step, Step::Over) {
            return;
        }
        self.end = end;
        if matches!(self.step, Step::Waiting { .. }) {
            // Nobody has been told anything yet; `advance` finishes.
            self.step = Step::Opening;
            return;
        }
        self.tell_all(&ToAgent::Stop, actions);
        if self.terms.in_real_time {
            let by_ns = self.now.steady_ns.saturating_add(self.stage_end_patience_ns());
            self.step.end_by_at_latest(by_ns);
        }
    }

    fn tell_all(&self, message: &ToAgent, actions: &mut Actions) {
        let alive = self.hosts.iter().enumerate().filter(|(_, host)| host.alive);
        actions.extend(alive.map(|(host, _)| Action::Send { host, message: message.clone() }));
    }

    /// Whether a host that is there still has to say one of these.
    fn owes(&self, words: &[Owes]) -> bool {
        self.debts.has(words)
    }

    /// Goes on to the next step as soon as nobody owes an answer.
    fn advance(&mut self, now: Now, actions: &mut Actions) {
        let goes_on = self.end == RunEnd::Complete;
        match &self.step {
            Step::Waiting { .. } | Step::Over => {}
            Step::Opening if self.owes(&[Owes::Ready]) => {}
            Step::Opening => self.arm(now, actions),
            // A run that ends early waits for nothing.
            Step::AwaitingEvents(_) if !goes_on => self.release(now, actions),
            Step::AwaitingEvents(wait) if self.timeline.is_waiting(wait, now) => {}
            Step::AwaitingEvents(wait) => match wait.next {
                Some(stage) => self.give_back(stage, actions),
                None => self.release(now, actions),
            },
            Step::GivingBack { .. } if self.owes(&[Owes::GaveBack]) => {}
            Step::GivingBack { .. } if !goes_on => self.release(now, actions),
            Step::GivingBack { stage } => self.welcome_back(*stage, actions),
            Step::Returning(_) => self.look_at_returning(actions),
            Step::Prerun(_) if !goes_on => {
                self.give_up_prerun(now, actions);
                self.release(now, actions);
            }
            Step::Prerun(_) => self.look_at_prerun(now, actions),
            Step::Arming(_) if !goes_on => {
                // Those that are set up hear of the stop and call the stage off: it never was.
                if !self.owes(&[Owes::Armed, Owes::Start]) {
                    self.release(now, actions);
                }
            }
            Step::Arming(_) if self.owes(&[Owes::Armed]) || self.unknown_clocks > 0 => {}
            Step::Arming(arming) => self.go(arming.stage, now, actions),
            Step::Running(_) if self.owes(&[Owes::StageEnd]) => {}
            Step::Running(running) => {
                let (stage, end) = (running.stage, running.end.clone());
                let says_how = goes_on && end == StageEnd::Complete;
                actions.extend(running.settled().filter(|_| says_how).map(Action::Emit));
                self.timeline.end();
                actions.push(Action::Emit(Event::StageEnded { stage, end }));
                self.arm(now, actions);
            }
            Step::Asking if !goes_on => self.release(now, actions),
            Step::Asking => {}
            Step::Releasing if self.owes(&[Owes::Released]) => {}
            Step::Releasing => {
                self.step = Step::Over;
                let (end, left) = (self.end.clone(), std::mem::take(&mut self.left));
                actions.push(Action::Finish { end, left });
            }
        }
    }

    /// Goes on to the next stage, or ends the run after the last.
    fn arm(&mut self, now: Now, actions: &mut Actions) {
        if self.end != RunEnd::Complete {
            self.ticks.begin_stage();
            return self.release(now, actions);
        }
        if self.schedule.asks() {
            self.step = Step::Asking;
            actions.push(Action::Ask);
            return;
        }
        self.ticks.begin_stage();
        let next = self.schedule.next();
        match (self.timeline.wait_before(next, now), next) {
            (Some(wait), _) => self.step = Step::AwaitingEvents(wait),
            (None, Some(stage)) => self.give_back(stage, actions),
            (None, None) => self.release(now, actions),
        }
    }

    /// Begins a stage, before which layouts that are over are given back.
    fn give_back(&mut self, stage: u32, actions: &mut Actions) {
        if !self.begin_giving_back(stage, actions) {
            self.welcome_back(stage, actions);
        }
    }

    /// Begins a stage, before which hosts that were lost may come back.
    fn welcome_back(&mut self, stage: u32, actions: &mut Actions) {
        if !self.begin_returning(stage, actions) {
            self.enter(stage, actions);
        }
    }

    /// Begins a stage with the hosts that are there.
    fn enter(&mut self, stage: u32, actions: &mut Actions) {
        // Whoever was lost while this process stood still is counted now.
        let there = self.there();
        if self.has_begun && !self.are_enough(there) {
            let why = format!(
                "{there} of {} hosts are left, and fleet.quorum asks for {}: the coordinator stood \
                 still for too long; go on with `plimsoll resume`",
                self.hosts.len(),
                self.terms.policy.quorum
            );
            self.keep_data |= !self.schedule.searches();
            self.halt(RunEnd::Failed(why), actions);
            return self.release(self.now, actions);
        }
        if !self.begin_prerun(stage, self.now, actions) {
            self.set_up(stage, actions);
        }
    }

    /// Goes on with a point that was not planned, or ends the run if there is none.
    fn add(&mut self, addition: Option<Box<Addition>>, now: Now, actions: &mut Actions) {
        if !matches!(self.step, Step::Asking) || self.end != RunEnd::Complete {
            return;
        }
        match addition.filter(|addition| {
            !addition.stages.is_empty() && addition.hosts.len() == self.hosts.len()
        }) {
            Some(addition) => {
                let known = self.schedule.extend(&addition);
                self.timeline.extend(&addition.stages, |_| Some(&addition.point));
                self.returning.extend(&addition);
                let point =
                    addition.stages.first().and_then(|stage| stage.point).unwrap_or_default();
                self.preruns.add(point, &addition.point, (known..).zip(&addition.stages));
                for (host, stages) in
                    addition.hosts.iter().enumerate().filter(|(host, _)| self.hosts[*host].alive)
                {
                    actions.push(Action::Send { host, message: ToAgent::Extend(stages.clone()) });
                }
                actions.push(Action::Emit(Event::PointAdded(addition)));
            }
            None => self.schedule.ends(),
        }
        self.arm(now, actions);
    }

    fn release(&mut self, now: Now, actions: &mut Actions) {
        self.step = Step::Releasing;
        if self.end == RunEnd::Complete && self.is_broken {
            let why = "the coordinator stood still, so agents ended a stage by themselves; \
                       `plimsoll resume` measures that point anew, and a fleet.hold as long as \
                       such a standstill keeps it";
            (self.end, self.keep_data) = (RunEnd::Failed(why.to_owned()), true);
        }
        self.timeline.give_up(now, actions);
        actions.push(Action::Emit(Event::RunEnded { unix_ns: now.unix_ns, end: self.end.clone() }));
        let word = self.run_over();
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| host.alive) {
            self.debts.turn(host, Owes::Released);
            actions.push(Action::Send { host: number, message: ToAgent::Release(word.clone()) });
        }
        if !self.owes(&[Owes::Released]) {
            self.advance(now, actions);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
