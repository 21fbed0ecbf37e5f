//! Does what the coordinator decides: carries messages, tells the time, hands events to the recorder.

use crate::agent;
use crate::coordinator::{Action, Coordinator, Input};
use crate::wire::{FromAgent, Inlet, Outlet, ToAgent, pair};
use model::testbed::HostFacts;
use model::{Event, Plan, RunEnd};
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// The agents of a run, ready to be asked and told.
#[derive(Debug)]
pub struct Fleet {
    outlets: Vec<Outlet>,
    inputs: Receiver<Input>,
    interrupter: Interrupter,
}

/// Ends a run from another thread, such as a signal's.
#[derive(Clone, Debug)]
pub struct Interrupter {
    inputs: Sender<Input>,
}

impl Interrupter {
    /// Stops the run; what was recorded stays.
    pub fn interrupt(&self) {
        // A fleet that is gone has nothing left to interrupt.
        let _ = self.inputs.send(Input::Interrupt);
    }
}

/// A fleet that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// An agent is gone before the run began.
    Lost {
        /// Which one.
        host: usize,
    },
    /// Somebody stopped it before the run began.
    Interrupted,
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetError::Lost { host } => write!(f, "the agent of host {host} ended before the run began; start again"),
            FleetError::Interrupted => f.write_str("stopped before the run began; nothing was touched"),
        }
    }
}

impl std::error::Error for FleetError {}

/// How a run ended, and what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How.
    pub end: RunEnd,
    /// What could not be removed from the targets, in words.
    pub left: Vec<String>,
}

impl Fleet {
    /// A fleet of one: an agent in this process, at the other end of an in-memory pair.
    pub fn local(version: &str) -> Fleet {
        let (inputs, receiver) = channel();
        let (ours, theirs) = pair();
        let version = version.to_owned();
        // The agent ends when our end of the link does; nobody waits for its thread.
        thread::spawn(move || agent::serve(theirs, &version));
        let (outlet, inlet) = ours.split();
        forward(0, inlet, inputs.clone());
        Fleet { outlets: vec![outlet], inputs: receiver, interrupter: Interrupter { inputs } }
    }

    /// A handle that ends the run.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// What each host is, and what the targets are to it. Touches nothing.
    ///
    /// # Errors
    /// When an agent is gone, or the run is interrupted.
    pub fn inspect(&self, targets: &[String]) -> Result<Vec<HostFacts>, FleetError> {
        for (host, outlet) in self.outlets.iter().enumerate() {
            let order = ToAgent::Inspect { targets: targets.to_vec() };
            outlet.send(&order).map_err(|_| FleetError::Lost { host })?;
        }
        let mut facts: Vec<Option<HostFacts>> = vec![None; self.outlets.len()];
        while facts.contains(&None) {
            match self.inputs.recv() {
                Ok(Input::Heard { host, message: FromAgent::Facts(told) }) => facts[host] = Some(*told),
                Ok(Input::Lost { host }) => return Err(FleetError::Lost { host }),
                Ok(Input::Interrupt) => return Err(FleetError::Interrupted),
                Ok(_) => {}
                Err(_) => return Err(FleetError::Lost { host: 0 }),
            }
        }
        Ok(facts.into_iter().flatten().collect())
    }

    /// Runs `plan` and hands every event to `record` in order. An error of `record` ends the run: a figure that nobody
    /// keeps is not worth a load. With `keep_data`, the files of the run stay on the targets.
    pub fn run(self, plan: &Plan, keep_data: bool, record: &mut dyn FnMut(&Event) -> Result<(), String>) -> Ending {
        let mut coordinator = Coordinator::new(plan, keep_data);
        let mut inputs = VecDeque::from([Input::Begin]);
        loop {
            let input = match inputs.pop_front() {
                Some(input) => input,
                // We hold a sender ourselves, so the channel cannot close.
                None => self.inputs.recv().unwrap_or(Input::Interrupt),
            };
            for action in coordinator.step(input, unix_ns()) {
                match action {
                    Action::Send { host, message } => {
                        if self.outlets[host].send(&message).is_err() {
                            inputs.push_back(Input::Lost { host });
                        }
                    }
                    Action::Emit(event) => {
                        if let Err(why) = record(&event) {
                            inputs.push_back(Input::Unrecordable(why));
                        }
                    }
                    Action::Finish { end, left } => return Ending { end, left },
                }
            }
        }
    }
}

/// Passes on what an agent says, and that it is gone.
fn forward(host: usize, inlet: Inlet, inputs: Sender<Input>) {
    thread::spawn(move || {
        while let Ok(message) = inlet.receive() {
            if inputs.send(Input::Heard { host, message }).is_err() {
                return;
            }
        }
        let _ = inputs.send(Input::Lost { host });
    });
}

/// The wall clock, for people: nothing is measured by it.
fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
