//! Decides what a fleet does next. Pure: an input goes in, actions come out; it knows no clock, no thread and no link.

use crate::wire::{FromAgent, ToAgent};
use model::plan::Plan;
use model::{Event, RunEnd, StageEnd};

/// Something that the coordinator is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The run shall begin.
    Begin,
    /// An agent said something.
    Heard {
        /// Which one, by its place in the plan.
        host: usize,
        /// What.
        message: FromAgent,
    },
    /// An agent is gone.
    Lost {
        /// Which one.
        host: usize,
    },
    /// Somebody wants the run to end.
    Interrupt,
    /// The run cannot be recorded any more; the reason in words.
    Unrecordable(String),
}

/// Something that the coordinator wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Tell an agent.
    Send {
        /// Which one.
        host: usize,
        /// What.
        message: ToAgent,
    },
    /// Record and show.
    Emit(Event),
    /// The run is over.
    Finish {
        /// How.
        end: RunEnd,
        /// What stayed on the targets that should not have, in words.
        left: Vec<String>,
    },
}

/// Where all hosts are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Waiting,
    Opening,
    Running { stage: u32 },
    Releasing,
    Over,
}

/// The state of a run over all hosts.
#[derive(Debug)]
pub struct Coordinator {
    step: Step,
    stages: u32,
    /// Whether each host still has to answer before the next step.
    owing: Vec<bool>,
    alive: Vec<bool>,
    /// How the run will end, if it will not be complete; the first reason stands.
    end: RunEnd,
    stage_end: StageEnd,
    keep_data: bool,
    left: Vec<String>,
    host_plans: Vec<model::HostPlan>,
}

impl Coordinator {
    /// A coordinator for `plan`. With `keep_data`, the files of the run stay on the targets.
    pub fn new(plan: &Plan, keep_data: bool) -> Coordinator {
        Coordinator {
            step: Step::Waiting,
            stages: plan.stages.len() as u32,
            owing: vec![false; plan.hosts.len()],
            alive: vec![true; plan.hosts.len()],
            end: RunEnd::Complete,
            stage_end: StageEnd::Complete,
            keep_data,
            left: Vec::new(),
            host_plans: plan.hosts.clone(),
        }
    }

    /// Takes in what happened at `unix_ns` and says what to do.
    pub fn step(&mut self, input: Input, unix_ns: u64) -> Vec<Action> {
        let mut actions = Vec::new();
        match input {
            Input::Begin if self.step == Step::Waiting => {
                self.step = Step::Opening;
                for (host, plan) in std::mem::take(&mut self.host_plans).into_iter().enumerate() {
                    self.owing[host] = true;
                    actions.push(Action::Send { host, message: ToAgent::Assign(Box::new(plan)) });
                }
            }
            Input::Begin => {}
            Input::Heard { host, message } => self.hear(host, message, &mut actions),
            Input::Lost { host } => self.lose(host, &mut actions),
            Input::Interrupt => self.halt(RunEnd::Interrupted, &mut actions),
            Input::Unrecordable(why) => self.halt(RunEnd::Failed(why), &mut actions),
        }
        self.advance(unix_ns, &mut actions);
        actions
    }

    fn hear(&mut self, host: usize, message: FromAgent, actions: &mut Vec<Action>) {
        match message {
            FromAgent::Sample(sample) => actions.push(Action::Emit(Event::Sample(*sample))),
            FromAgent::Counters(sample) => actions.push(Action::Emit(Event::Counters(sample))),
            FromAgent::Ready { notes } => {
                actions.extend(notes.into_iter().map(|note| Action::Emit(Event::Note(note))));
                self.owing[host] = false;
            }
            FromAgent::Refused(why) => {
                self.owing[host] = false;
                self.halt(RunEnd::Failed(why), actions);
            }
            FromAgent::StageEnded { stage, end, notes } => {
                actions.extend(notes.into_iter().map(|note| Action::Emit(Event::Note(note))));
                if self.step != (Step::Running { stage }) {
                    return;
                }
                self.owing[host] = false;
                match end {
                    StageEnd::Complete => {}
                    StageEnd::Interrupted if self.stage_end == StageEnd::Complete => {
                        self.stage_end = StageEnd::Interrupted;
                    }
                    StageEnd::Interrupted => {}
                    StageEnd::Failed(why) => {
                        self.stage_end = StageEnd::Failed(why.clone());
                        self.halt(RunEnd::Failed(why), actions);
                    }
                }
            }
            FromAgent::Released { left } => {
                self.owing[host] = false;
                self.left.extend(left);
            }
            FromAgent::Facts(_) => {}
        }
    }

    fn lose(&mut self, host: usize, actions: &mut Vec<Action>) {
        if !self.alive[host] {
            return;
        }
        self.alive[host] = false;
        self.owing[host] = false;
        if self.step != Step::Over {
            let why = format!("host {host} was lost");
            if matches!(self.step, Step::Running { .. }) {
                self.stage_end = StageEnd::Failed(why.clone());
            }
            self.halt(RunEnd::Failed(why), actions);
        }
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
    }

    fn tell_all(&self, message: &ToAgent, actions: &mut Vec<Action>) {
        let alive = self.alive.iter().enumerate().filter(|(_, alive)| **alive);
        actions.extend(alive.map(|(host, _)| Action::Send { host, message: message.clone() }));
    }

    /// Goes on to the next step as soon as nobody owes an answer.
    fn advance(&mut self, unix_ns: u64, actions: &mut Vec<Action>) {
        if self.owing.contains(&true) {
            return;
        }
        match self.step {
            Step::Waiting | Step::Over => {}
            Step::Opening => self.begin_stage(0, unix_ns, actions),
            Step::Running { stage } => {
                let end = std::mem::replace(&mut self.stage_end, StageEnd::Complete);
                actions.push(Action::Emit(Event::StageEnded { stage, end }));
                self.begin_stage(stage + 1, unix_ns, actions);
            }
            Step::Releasing => {
                self.step = Step::Over;
                actions.push(Action::Finish { end: self.end.clone(), left: std::mem::take(&mut self.left) });
            }
        }
    }

    fn begin_stage(&mut self, stage: u32, unix_ns: u64, actions: &mut Vec<Action>) {
        if self.end == RunEnd::Complete && stage < self.stages {
            self.step = Step::Running { stage };
            actions.push(Action::Emit(Event::StageStarted { stage, unix_ns }));
            self.tell_all(&ToAgent::Start { stage }, actions);
            self.owing.clone_from(&self.alive);
            return;
        }
        self.step = Step::Releasing;
        actions.push(Action::Emit(Event::RunEnded { unix_ns, end: self.end.clone() }));
        self.tell_all(&ToAgent::Release { remove: !self.keep_data }, actions);
        self.owing.clone_from(&self.alive);
        if !self.owing.contains(&true) {
            self.advance(unix_ns, actions);
        }
    }
}

#[cfg(test)]
mod tests;
