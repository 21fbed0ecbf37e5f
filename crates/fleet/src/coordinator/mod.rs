//! Decides what a fleet does next. Pure: an input goes in, actions come out; it knows no clock, no
//! thread and no link.

mod giving_back;
mod host;
mod inputs;
mod lost;
mod prerun;
mod returning;
mod settling;
mod timeline;

pub use giving_back::{LayoutsOver, RunOver};
pub use inputs::{Action, Input, Marked, Now, Reach};

use crate::wire::{FromAgent, ToAgent};
use giving_back::Layouts;
use host::{Debts, Host, Owes};
use model::event::{HostEnd, HostStart};
use model::plan::{FleetPolicy, Plan, Stage, Steady, Stop};
use model::search::Addition;
use model::{Event, Fact, IntervalSample, Kernels, Nanos, Note, RunEnd, StageEnd};
use prerun::Preruns;
use returning::Returning;
#[cfg(test)]
pub(crate) use returning::WAIT_NS;
use settling::Settling;
use std::collections::BTreeMap;
use timeline::Timeline;

/// Where all hosts are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Waiting,
    Opening,
    /// Commands of events are waited for whose scenario is over, before the next stage or the end
    /// of the run.
    AwaitingEvents {
        stage: Option<u32>,
    },
    /// All hosts give back the layouts that are over before a stage.
    GivingBack {
        stage: u32,
    },
    /// Hosts that were lost may come back before a point.
    Returning {
        stage: u32,
    },
    /// What is to be done before a point is under way, and no host has a stage.
    Prerun {
        stage: u32,
    },
    Arming {
        stage: u32,
    },
    Running {
        stage: u32,
    },
    Asking,
    Releasing,
    Over,
}

/// A start is so far ahead that the slowest relay's odd message still comes before it (`srun` holds
/// one back for 50 ms now and then).
const START_AHEAD_NS: u64 = 100_000_000;
/// On top of it, for each host: sending to thousands takes its time.
const START_AHEAD_PER_HOST_NS: u64 = 50_000;

/// How much longer than its time and its patience the end of a stage is waited for, in ns: the
/// engine gives a worker up a second after its patience and a reading of the counters after two,
/// and the word of it may be late.
const STAGE_END_MARGIN_NS: u64 = 30_000_000_000;
/// Between two ticks that come several times a second. After longer, this process stood still
/// itself, and nobody is silent who was not heard.
const LONGEST_TICK_NS: u64 = 1_000_000_000;

/// The state of a run over all hosts.
#[derive(Debug)]
pub struct Coordinator {
    step: Step,
    /// The time of the input that is taken in.
    now: Now,
    ticked_ns: u64,
    /// The longest time between two ticks since the stage was set up, in ns.
    longest_away_ns: u64,
    /// Before this, no host is to be asked for its clock, and none has been silent for too long.
    look_at_ns: u64,
    /// Those that are still to run, the next one last.
    stages: Vec<u32>,
    /// When each stage ends, of those that the plan has by now.
    stops: Vec<Stop>,
    /// Of those that end when they are steady and have not begun.
    to_settle: BTreeMap<u32, Settling>,
    /// Of the stage that runs, if it ends when it is steady.
    settling: Option<Settling>,
    /// When the end of the stage that runs is waited for no longer, in ns; `None` where nothing
    /// says how long it may take.
    stage_end_by_ns: Option<u64>,
    /// The length of one sample.
    interval_ns: u64,
    /// Whether all hosts take the time of the wall.
    in_real_time: bool,
    /// Whether any does.
    is_in_any_real_time: bool,
    /// Whether the last stage may be followed by others that are not known yet.
    searches: bool,
    policy: FleetPolicy,
    reach: Reach,
    hosts: Vec<Host>,
    kernels: Kernels,
    debts: Debts,
    timeline: Timeline,
    preruns: Preruns,
    returning: Returning,
    layouts: Layouts,
    /// Hosts that are there and whose clocks are not known.
    unknown_clocks: usize,
    /// How the run will end, if it will not be complete; the first reason stands.
    end: RunEnd,
    stage_end: StageEnd,
    /// Whether the first worker of the cluster has done its amount in the stage that runs.
    is_cut: bool,
    /// Whether any stage was started: before that, nothing is on record that could be resumed.
    has_begun: bool,
    /// Whether the files of the run stay: because they shall, or because the run can go on with
    /// them.
    keep_data: bool,
    left: Vec<String>,
}

impl Coordinator {
    /// A coordinator for these stages of `plan`, in their order. With `keep_data`, the files of the
    /// run stay on the targets.
    pub fn new(plan: &Plan, stages: &[u32], reach: Reach, keep_data: bool) -> Coordinator {
        Coordinator {
            step: Step::Waiting,
            now: Now::default(),
            ticked_ns: 0,
            longest_away_ns: 0,
            look_at_ns: 0,
            stages: stages
                .iter()
                .rev()
                .copied()
                .filter(|stage| (*stage as usize) < plan.stages.len())
                .collect(),
            stops: plan.stages.iter().map(Stage::stop).collect(),
            to_settle: to_settle(plan),
            settling: None,
            stage_end_by_ns: None,
            interval_ns: plan.interval.0,
            is_in_any_real_time: plan.hosts.iter().any(|host| !host.engine.virtual_time),
            in_real_time: plan.hosts.iter().all(|host| !host.engine.virtual_time),
            searches: plan.search.is_some(),
            policy: plan.fleet,
            reach,
            hosts: plan.hosts.iter().map(Host::new).collect(),
            kernels: Kernels::default(),
            debts: Debts::default(),
            timeline: Timeline::new(plan),
            preruns: Preruns::new(plan),
            returning: Returning::new(plan, reach),
            layouts: Layouts::new(plan),
            unknown_clocks: if reach == Reach::Remote { plan.hosts.len() } else { 0 },
            end: RunEnd::Complete,
            stage_end: StageEnd::Complete,
            is_cut: false,
            has_begun: false,
            keep_data,
            left: Vec::new(),
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
            Input::Begin if self.step == Step::Waiting => self.begin(now, &mut actions),
            Input::Begin => {}
            Input::Heard { host, message, at_ns } => self.hear(host, message, at_ns, &mut actions),
            Input::Lost { host, why } => self.lose(host, &why, &mut actions),
            Input::Launched { host, start, outcome } => {
                self.launched(host, start, outcome, &mut actions);
            }
            Input::Tick => self.tick(now, &mut actions),
            // How the run ended is on record, and nothing follows it.
            Input::CommandEnded { .. } if matches!(self.step, Step::Releasing | Step::Over) => {}
            Input::Marked { label, at_ns, ticket } => {
                let marked = match self.step {
                    Step::Releasing | Step::Over => Marked::Over,
                    _ => self.timeline.marked(&label, at_ns, now, &mut actions),
                };
                actions.extend(ticket.map(|ticket| Action::Placed { ticket, marked }));
            }
            Input::CommandEnded { number, status, output } if self.preruns.is_running(number) => {
                self.prerun_ended(status, &output, now, &mut actions);
            }
            Input::CommandEnded { number, status, output } => {
                self.timeline.command_ended(number, status, &output, now, &mut actions);
            }
            // How the run ended is on record. But a target that does not answer is waited for no
            // longer.
            Input::Interrupt if self.step == Step::Releasing => {
                self.tell_all(&ToAgent::Stop, &mut actions);
            }
            Input::Added(addition) => self.add(addition, now, &mut actions),
            Input::Judged { stage, is_steady } => self.judged(stage, is_steady, &mut actions),
            Input::Interrupt => self.halt(RunEnd::Interrupted, &mut actions),
            Input::Unrecordable(why) => self.halt(RunEnd::Failed(why), &mut actions),
        }
        self.timeline.advance(now, &mut actions);
        self.advance(now, &mut actions);
        actions
    }

    fn begin(&mut self, now: Now, actions: &mut Vec<Action>) {
        self.step = Step::Opening;
        self.ticked_ns = now.steady_ns;
        for (number, host) in self.hosts.iter_mut().enumerate() {
            host.heard(now.steady_ns);
            if host.ping_is_due(now.steady_ns) {
                actions.push(Action::Ping { host: number });
            }
            if let Some(plan) = host.plan.take() {
                self.debts.turn(host, Owes::Ready);
                actions.push(Action::Send { host: number, message: ToAgent::Assign(plan) });
            }
        }
    }

    fn tick(&mut self, now: Now, actions: &mut Vec<Action>) {
        if matches!(self.step, Step::Waiting | Step::Over) {
            return;
        }
        let gap_ns =
            now.steady_ns.saturating_sub(std::mem::replace(&mut self.ticked_ns, now.steady_ns));
        self.longest_away_ns = self.longest_away_ns.max(gap_ns);
        let excused_ns = if gap_ns > LONGEST_TICK_NS { gap_ns } else { 0 };
        let stage_is_over = self.stage_end_by_ns.is_some_and(|by_ns| now.steady_ns > by_ns);
        if now.steady_ns < self.look_at_ns && excused_ns == 0 && !stage_is_over {
            return;
        }
        // What is heard meanwhile, and what is excused, only puts it off. So thousands of hosts are
        // not looked at ten times a second.
        self.look_at_ns = u64::MAX;
        for number in 0..self.hosts.len() {
            let host = &mut self.hosts[number];
            if !host.alive {
                continue;
            }
            host.excuse(excused_ns);
            if self.reach == Reach::Remote
                && host.silence_ns(now.steady_ns) > self.policy.lost_after.0
            {
                let why = format!("it was not heard of for {}", self.policy.lost_after);
                self.lose(number, &why, actions);
            } else if stage_is_over
                && matches!(host.owes, Owes::Armed | Owes::Start | Owes::StageEnd)
            {
                let why = "it answers, but did not end its stage in time, with engine.patience \
                           and some to spare";
                self.lose(number, why, actions);
            } else if host.ping_is_due(now.steady_ns) {
                actions.push(Action::Ping { host: number });
            }
            self.look_at_ns =
                self.look_at_ns.min(self.hosts[number].look_at_ns(self.policy.lost_after.0));
        }
    }

    fn hear(&mut self, number: usize, message: FromAgent, at_ns: u64, actions: &mut Vec<Action>) {
        if matches!(self.step, Step::Returning { .. }) && self.is_returning(number) {
            return self.hear_returning(number, message, at_ns, actions);
        }
        let Some(host) = self.hosts.get_mut(number).filter(|host| host.alive) else { return };
        host.heard(at_ns);
        match message {
            FromAgent::Sample(sample) => self.take_sample(number, *sample, actions),
            FromAgent::Counters(mut sample) => {
                sample.host = number as u32;
                if self.step == (Step::Running { stage: sample.stage }) {
                    if self.finds(number) {
                        self.timeline.counted(sample.host, &sample, self.now, actions);
                    }
                    actions.push(Action::Emit(Event::Counters(sample)));
                }
            }
            FromAgent::Logged { stage, ago_ns, line } => {
                let logged_ns = at_ns.saturating_sub(ago_ns);
                let finds = self.finds(number);
                finds.then(|| {
                    self.timeline.logged(number as u32, stage, logged_ns, &line, self.now, actions);
                });
            }
            FromAgent::Pong { sent_ns, agent_ns } => {
                let was_known = host.clock.is_known();
                let again = host
                    .answered(sent_ns, agent_ns, at_ns)
                    .then_some(Action::Ping { host: number });
                if !was_known && host.clock.is_known() {
                    self.unknown_clocks = self.unknown_clocks.saturating_sub(1);
                }
                actions.extend(again);
            }
            FromAgent::Ready { notes } if host.owes == Owes::Ready => {
                self.debts.turn(host, Owes::Nothing);
                self.take_notes(number, notes, actions);
            }
            FromAgent::Refused(why) if host.owes == Owes::Ready => {
                self.debts.turn(host, Owes::Nothing);
                let why = self.named(number, &why);
                if self.end == RunEnd::Complete {
                    self.halt(RunEnd::Failed(why), actions);
                } else {
                    // It was given up because the run ends: something of it may be there.
                    self.left.push(why);
                }
            }
            FromAgent::Armed { stage }
                if host.owes == Owes::Armed && self.step == (Step::Arming { stage }) =>
            {
                self.debts.turn(host, Owes::Start);
            }
            FromAgent::StageEnded { stage, end, notes, late_ns } => {
                self.end_stage_on(number, stage, end, late_ns, actions);
                self.take_notes(number, notes, actions);
            }
            FromAgent::LeftOver(end)
                if host.owes == Owes::StageEnd
                    && self.step == (Step::Running { stage: end.stage })
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

    /// What a host said, with its name where there are several.
    fn named(&self, number: usize, text: &str) -> String {
        if self.hosts.len() == 1 {
            text.to_owned()
        } else {
            format!("host {}: {text}", self.hosts[number].name)
        }
    }

    /// Takes each interval once, and only of the stage that runs.
    fn take_sample(
        &mut self,
        number: usize,
        mut sample: IntervalSample,
        actions: &mut Vec<Action>,
    ) {
        let Step::Running { stage } = self.step else { return };
        let host = &mut self.hosts[number];
        if sample.stage != stage
            || host.owes != Owes::StageEnd
            || sample.interval < host.next_interval
        {
            return;
        }
        host.next_interval = sample.interval.saturating_add(1);
        sample.host = number as u32;
        self.timeline.sampled(sample.start_ns.saturating_add(sample.length_ns));
        let rounds = self.settling.as_mut().and_then(|settling| {
            settling.take(number, &sample);
            settling.due()
        });
        actions.push(Action::Emit(Event::Sample(sample)));
        actions.extend(rounds.map(|rounds| Action::Judge { stage, rounds }));
    }

    /// A host takes no part in the rounds of the stage that runs any more.
    fn leave_rounds(&mut self, number: usize, actions: &mut Vec<Action>) {
        let (Step::Running { stage }, Some(settling)) = (self.step, &mut self.settling) else {
            return;
        };
        settling.leave(number);
        actions.extend(settling.due().map(|rounds| Action::Judge { stage, rounds }));
    }

    /// Tells the hosts what came of a look at the last rounds.
    fn judged(&mut self, stage: u32, is_steady: bool, actions: &mut Vec<Action>) {
        let ahead_ns = self.ahead_ns();
        let Some(settling) =
            self.settling.as_mut().filter(|_| self.step == (Step::Running { stage }))
        else {
            return;
        };
        let to_ns = settling.judged_ns();
        let end_after_ns = (is_steady && self.end == RunEnd::Complete).then(|| {
            let real_time = self.is_in_any_real_time.then_some((self.now.steady_ns, ahead_ns));
            settling.settle(real_time).after_ns
        });
        let start_ns = settling.start_ns();
        if let (Some(after_ns), Some(by_ns)) = (end_after_ns, self.stage_end_by_ns) {
            let patience_ns = self.stage_end_patience_ns();
            self.stage_end_by_ns =
                Some(by_ns.min(start_ns.saturating_add(after_ns).saturating_add(patience_ns)));
        }
        // In real time nobody waits to hear that it goes on.
        if end_after_ns.is_some() || !self.in_real_time {
            self.tell_all(&ToAgent::Judged { to_ns, end_after_ns }, actions);
        }
    }

    /// How the stage that was to end when it was steady ended.
    fn settled(&mut self, stage: u32) -> Option<Event> {
        let (end, steady) = self.settling.take()?.outcome();
        let fact = match end {
            Some(end) => Fact::Settled {
                to: Nanos(end.to_ns),
                rounds: Steady::ROUNDS.into(),
                round: steady.round,
                after: Nanos(end.after_ns),
            },
            None => Fact::Unsettled { after: steady.most },
        };
        Some(Event::Note(Note { stage: Some(stage), host: 0, fact }))
    }

    fn take_notes(&self, number: usize, notes: Vec<Note>, actions: &mut Vec<Action>) {
        let notes = notes.into_iter().map(|note| Note { host: number as u32, ..note });
        actions.extend(notes.map(|note| Action::Emit(Event::Note(note))));
    }

    fn end_stage_on(
        &mut self,
        number: usize,
        stage: u32,
        end: StageEnd,
        late_ns: Option<u64>,
        actions: &mut Vec<Action>,
    ) {
        let is_current =
            self.step == (Step::Running { stage }) || self.step == (Step::Arming { stage });
        let host = &mut self.hosts[number];
        if !is_current || !matches!(host.owes, Owes::Armed | Owes::Start | Owes::StageEnd) {
            return;
        }
        if let (Some(late_ns), Owes::StageEnd) = (late_ns, host.owes) {
            let start =
                HostStart { stage, host: number as u32, late_ns, error_ns: host.start_error_ns };
            actions.push(Action::Emit(Event::HostStarted(start)));
        }
        self.debts.turn(host, Owes::Nothing);
        self.leave_rounds(number, actions);
        match end {
            StageEnd::Complete => {}
            StageEnd::Interrupted if self.end == RunEnd::Complete => {
                // Nobody told it to stop. It would not be of use any more, and its part of the
                // stage is not whole.
                let why = "it ended its stage by itself, because it did not hear of its \
                           coordinator for too long";
                self.lose(number, why, actions);
            }
            StageEnd::Interrupted if self.stage_end == StageEnd::Complete => {
                self.stage_end = StageEnd::Interrupted;
            }
            StageEnd::Interrupted => {}
            StageEnd::Failed(why) => {
                let why = self.named(number, &why);
                self.stage_end = StageEnd::Failed(why.clone());
                self.halt(RunEnd::Failed(why), actions);
            }
            StageEnd::Panicked(why) => {
                let why = self.named(number, &why);
                self.stage_end = StageEnd::Panicked(why.clone());
                self.halt(RunEnd::Panicked(why), actions);
            }
        }
    }

    /// A worker of a host has done its amount: if it is the first of the cluster, the others hear
    /// of it at once, and all of them stop at a stonewall. Their books are cut when they hear of
    /// it, a link's delay later.
    fn cut_the_others(&mut self, first: usize, stage: u32, actions: &mut Vec<Action>) {
        let once = self.stops.get(stage as usize).and_then(|stop| stop.once());
        let (Some(once), false) = (once, self.is_cut) else { return };
        if self.step != (Step::Running { stage }) {
            return;
        }
        self.is_cut = true;
        let message = ToAgent::FirstDone { stage, stops: once.stonewall };
        let loaded = |(number, host): &(usize, &Host)| {
            *number != first && host.alive && host.owes == Owes::StageEnd
        };
        let others = self.hosts.iter().enumerate().filter(loaded);
        actions.extend(others.map(|(host, _)| Action::Send { host, message: message.clone() }));
    }

    /// Ends the run early; the first reason stands.
    fn halt(&mut self, end: RunEnd, actions: &mut Vec<Action>) {
        if self.end != RunEnd::Complete || self.step == Step::Over {
            return;
        }
        self.end = end;
        if self.step == Step::Waiting {
            // Nobody has been told anything yet; `advance` finishes.
            self.step = Step::Opening;
            return;
        }
        self.tell_all(&ToAgent::Stop, actions);
        let by_ns = self.now.steady_ns.saturating_add(self.stage_end_patience_ns());
        if matches!(self.step, Step::Arming { .. } | Step::Running { .. }) && self.in_real_time {
            self.stage_end_by_ns =
                Some(self.stage_end_by_ns.map_or(by_ns, |earlier_ns| earlier_ns.min(by_ns)));
        }
    }

    fn tell_all(&self, message: &ToAgent, actions: &mut Vec<Action>) {
        let alive = self.hosts.iter().enumerate().filter(|(_, host)| host.alive);
        actions.extend(alive.map(|(host, _)| Action::Send { host, message: message.clone() }));
    }

    /// How long after a stage's time, or after a stop, its end is waited for, in ns.
    fn stage_end_patience_ns(&self) -> u64 {
        let patience_ns = self.hosts.iter().map(|host| host.patience_ns).max().unwrap_or(0);
        patience_ns.saturating_add(STAGE_END_MARGIN_NS)
    }

    /// Whether a host that is there still has to say one of these.
    fn owes(&self, words: &[Owes]) -> bool {
        self.debts.has(words)
    }

    /// Goes on to the next step as soon as nobody owes an answer.
    fn advance(&mut self, now: Now, actions: &mut Vec<Action>) {
        match self.step {
            Step::Waiting | Step::Over => {}
            Step::Opening if self.owes(&[Owes::Ready]) => {}
            Step::Opening => self.arm(now, actions),
            // A run that ends early waits for nothing.
            Step::AwaitingEvents { .. } if self.end != RunEnd::Complete => {
                self.release(now, actions);
            }
            Step::AwaitingEvents { .. } if self.timeline.is_waiting(now) => {}
            Step::AwaitingEvents { stage: Some(stage) } => self.give_back(stage, actions),
            Step::AwaitingEvents { stage: None } => self.release(now, actions),
            Step::GivingBack { .. } if self.owes(&[Owes::GaveBack]) => {}
            Step::GivingBack { .. } if self.end != RunEnd::Complete => self.release(now, actions),
            Step::GivingBack { stage } => self.welcome_back(stage, actions),
            Step::Returning { stage } => self.look_at_returning(stage, actions),
            Step::Prerun { .. } if self.end != RunEnd::Complete => {
                self.give_up_prerun(now, actions);
                self.release(now, actions);
            }
            Step::Prerun { stage } => self.look_at_prerun(stage, now, actions),
            Step::Arming { .. } if self.end != RunEnd::Complete => {
                // Those that are set up hear of the stop and call the stage off: it never was.
                if !self.owes(&[Owes::Armed, Owes::Start]) {
                    self.release(now, actions);
                }
            }
            Step::Arming { .. } if self.owes(&[Owes::Armed]) || self.unknown_clocks > 0 => {}
            Step::Arming { stage } => self.go(stage, now, actions),
            Step::Running { .. } if self.owes(&[Owes::StageEnd]) => {}
            Step::Running { stage } => {
                let end = std::mem::replace(&mut self.stage_end, StageEnd::Complete);
                let settled = self
                    .settled(stage)
                    .filter(|_| end == StageEnd::Complete && self.end == RunEnd::Complete);
                actions.extend(settled.map(Action::Emit));
                self.timeline.end();
                actions.push(Action::Emit(Event::StageEnded { stage, end }));
                self.arm(now, actions);
            }
            Step::Asking if self.end != RunEnd::Complete => self.release(now, actions),
            Step::Asking => {}
            Step::Releasing if self.owes(&[Owes::Released]) => {}
            Step::Releasing => {
                self.step = Step::Over;
                actions.push(Action::Finish {
                    end: self.end.clone(),
                    left: std::mem::take(&mut self.left),
                });
            }
        }
    }

    /// Goes on to the next stage, or ends the run after the last.
    fn arm(&mut self, now: Now, actions: &mut Vec<Action>) {
        if self.end == RunEnd::Complete && self.stages.is_empty() && self.searches {
            self.step = Step::Asking;
            actions.push(Action::Ask);
            return;
        }
        let next = if self.end == RunEnd::Complete { self.stages.pop() } else { None };
        (self.stage_end_by_ns, self.longest_away_ns) = (None, 0);
        match next {
            _ if self.end == RunEnd::Complete && self.timeline.begin_waiting(next, now) => {
                self.step = Step::AwaitingEvents { stage: next };
            }
            Some(stage) => self.give_back(stage, actions),
            None => self.release(now, actions),
        }
    }

    /// Begins a stage, before which layouts that are over are given back.
    fn give_back(&mut self, stage: u32, actions: &mut Vec<Action>) {
        if !self.begin_giving_back(stage, actions) {
            self.welcome_back(stage, actions);
        }
    }

    /// Begins a stage, before which hosts that were lost may come back.
    fn welcome_back(&mut self, stage: u32, actions: &mut Vec<Action>) {
        if !self.begin_returning(stage, actions) {
            self.enter(stage, actions);
        }
    }

    /// Begins a stage with the hosts that are there.
    fn enter(&mut self, stage: u32, actions: &mut Vec<Action>) {
        if !self.begin_prerun(stage, self.now, actions) {
            self.set_up(stage, actions);
        }
    }

    /// Has the workers of a stage set up.
    fn set_up(&mut self, stage: u32, actions: &mut Vec<Action>) {
        self.step = Step::Arming { stage };
        self.layouts.open_for(stage);
        self.note_preparing(stage);
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| host.alive) {
            self.debts.turn(host, Owes::Armed);
            host.next_interval = 0;
            actions.push(Action::Send { host: number, message: ToAgent::Arm { stage } });
            actions.push(Action::Ping { host: number });
        }
    }

    /// Goes on with a point that was not planned, or ends the run if there is none.
    fn add(&mut self, addition: Option<Box<Addition>>, now: Now, actions: &mut Vec<Action>) {
        if self.step != Step::Asking || self.end != RunEnd::Complete {
            return;
        }
        match addition.filter(|addition| {
            !addition.stages.is_empty() && addition.hosts.len() == self.hosts.len()
        }) {
            Some(addition) => {
                let known = self.stops.len() as u32;
                self.stops.extend(addition.stages.iter().map(Stage::stop));
                self.timeline.extend(&addition.stages, |_| Some(&addition.point));
                self.returning.extend(&addition);
                let point =
                    addition.stages.first().and_then(|stage| stage.point).unwrap_or_default();
                self.preruns.add(point, &addition.point, (known..).zip(&addition.stages));
                self.stages = (known..self.stops.len() as u32).rev().collect();
                for (number, stage) in (known..).zip(&addition.stages) {
                    let shares = addition
                        .hosts
                        .iter()
                        .map(|stages| stages.iter().find(|share| share.stage == number));
                    let settling = Settling::new(stage, self.interval_ns, shares);
                    self.to_settle.extend(settling.map(|settling| (number, settling)));
                }
                for (host, stages) in
                    addition.hosts.iter().enumerate().filter(|(host, _)| self.hosts[*host].alive)
                {
                    actions.push(Action::Send { host, message: ToAgent::Extend(stages.clone()) });
                }
                actions.push(Action::Emit(Event::PointAdded(addition)));
            }
            None => self.searches = false,
        }
        self.arm(now, actions);
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
    fn go(&mut self, stage: u32, now: Now, actions: &mut Vec<Action>) {
        self.step = Step::Running { stage };
        self.is_cut = false;
        let ahead_ns = match self.reach {
            Reach::OwnProcess => 0,
            Reach::Remote => self.ahead_ns(),
        };
        let unix_ns = now.unix_ns.saturating_add(ahead_ns);
        actions.push(Action::Emit(Event::StageStarted { stage, unix_ns }));
        self.has_begun = true;
        let at_ns = now.steady_ns.saturating_add(ahead_ns);
        self.settling = self.to_settle.remove(&stage);
        if let Some(settling) = &mut self.settling {
            settling.begin(at_ns, |host| self.hosts.get(host).is_some_and(|host| host.alive));
        }
        self.timeline.begin(stage, at_ns);
        self.timeline.tell_of_running(now, actions);
        let time = self
            .stops
            .get(stage as usize)
            .and_then(|stop| stop.time())
            .filter(|_| self.in_real_time);
        self.stage_end_by_ns = time
            .map(|time| at_ns.saturating_add(time.0).saturating_add(self.stage_end_patience_ns()));
        for (number, host) in self.hosts.iter_mut().enumerate().filter(|(_, host)| host.alive) {
            let start_ns = match (self.reach, host.clock.theirs(at_ns)) {
                (Reach::Remote, Some((theirs_ns, error_ns))) => {
                    host.start_error_ns = error_ns;
                    Some(theirs_ns)
                }
                _ => None,
            };
            self.debts.turn(host, Owes::StageEnd);
            actions.push(Action::Send { host: number, message: ToAgent::Go { start_ns } });
        }
    }

    fn release(&mut self, now: Now, actions: &mut Vec<Action>) {
        self.step = Step::Releasing;
        self.stage_end_by_ns = None;
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

/// The rounds of each stage of `plan` that ends when it is steady.
fn to_settle(plan: &Plan) -> BTreeMap<u32, Settling> {
    let of = |(number, stage): (u32, &Stage)| {
        let shares = plan.hosts.iter().map(|host| host.stages.get(number as usize));
        Some((number, Settling::new(stage, plan.interval.0, shares)?))
    };
    (0..).zip(&plan.stages).filter_map(of).collect()
}

#[cfg(test)]
mod tests;
