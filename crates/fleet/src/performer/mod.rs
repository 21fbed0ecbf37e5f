//! Does what the coordinator decides: carries messages, tells the time, hands events to the
//! recorder.

mod away;
mod clean;
mod director;
mod handles;
mod inspect;
mod keep_alive;
mod network;
mod receive;
#[cfg(test)]
mod unfit_plan_tests;
mod unrecorded;
mod watching;

pub use director::{Director, Ending};
pub use handles::{Interrupter, Marker};
pub use inspect::HostReport;
pub use network::{BothEnds, FlowOrder};

use crate::agent::{self, Guard};
use crate::command::Commands;
use crate::coordinator::{Action, Coordinator, Input, Now, Reach};
use crate::launch::{Launched, Missing, Process, Start, Wanted};
use crate::link::{Frame, Link, LinkError, pair};
use crate::relaunch::{Comebacks, To};
use crate::relay::{self, Branches};
use crate::tree::Tree;
use crate::wire::ToAgent;
use director::Planned;
use handles::Waiting;
use keep_alive::Everybody;
use model::testbed::HostFacts;
use model::{Event, Kernels, Nanos, Plan, RunEnd};
#[cfg(test)]
pub(crate) use receive::Reader;
use receive::{Way, forward};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{fmt, thread};
use unrecorded::Unrecorded;

/// How often the coordinator hears that time passes.
const TICK: Duration = Duration::from_millis(100);
/// So many things that were heard wait to be decided on, at most. Branches wait for room, and so do
/// their hosts then: where the record's disk is slow, what it is not ready for stays with them.
const MOST_INPUTS: usize = 1_024;

/// The agents of a run, ready to be asked and told.
#[derive(Debug)]
pub struct Fleet {
    /// What the user calls each host; empty for this process.
    names: Vec<String>,
    branches: Branches,
    comebacks: Comebacks,
    /// For how long an agent may hear nothing of us, in ns; 0 is for ever.
    lost_after_ns: u64,
    /// Hosts that have no agent from the start, each with the reason.
    absent: Vec<Absent>,
    /// What was presumed of some of them.
    presumed: Vec<(usize, HostFacts)>,
    /// What tells each host from all others, once it was asked.
    identities: OnceLock<Vec<String>>,
    inputs: Receiver<Input>,
    interrupter: Interrupter,
    clock: SteadyClock,
    reach: Reach,
    is_over: Arc<AtomicBool>,
    waiting: Arc<Waiting>,
    /// Which hosts are on one kernel, once they were asked what they are.
    kernels: OnceLock<Kernels>,
    commands: Commands,
}

/// Time since the fleet was made, with that for which this machine slept: agents elsewhere heard
/// nothing of us then.
#[derive(Clone, Copy, Debug)]
struct SteadyClock {
    began_ns: u64,
}

impl SteadyClock {
    fn begin() -> SteadyClock {
        SteadyClock { began_ns: SteadyClock::boot_ns() }
    }

    fn now_ns(self) -> u64 {
        SteadyClock::boot_ns().saturating_sub(self.began_ns)
    }

    /// Time since this machine was started, asleep or not (`CLOCK_BOOTTIME`, clock_gettime(2)).
    fn boot_ns() -> u64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        seconds.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec.unsigned_abs())
    }
}

/// A host that has no agent when its fleet is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    /// Its number.
    pub host: usize,
    /// The reason, in words.
    pub why: String,
}

/// A fleet that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// An agent is gone before the run began.
    Lost {
        /// Its number.
        number: usize,
        /// Its name, or its number where it has none.
        host: String,
        /// What is known of the reason, in words.
        why: String,
    },
    /// Somebody stopped it before the run began.
    Interrupted,
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FleetError::Lost { host, why, .. } => {
                write!(
                    f,
                    "the agent of host {host} ended before the run began ({why}); start again"
                )
            }
            FleetError::Interrupted => {
                f.write_str("stopped before the run began; nothing was touched")
            }
        }
    }
}

impl std::error::Error for FleetError {}

impl Fleet {
    /// A fleet of one: an agent in this process, at the other end of an in-memory pair.
    pub fn local(version: &str) -> Fleet {
        let (ours, theirs) = pair();
        let version = version.to_owned();
        // The agent ends when our end of the link does; nobody waits for its thread.
        thread::spawn(move || agent::serve(theirs, Guard::none(), &version, None, false));
        Fleet::of(vec![String::new()], Tree::new(1, 1), vec![(ours, None)], Reach::OwnProcess, None)
    }

    /// What the simulated host of this number, from 1, is called.
    pub fn simulated_name(number: u32) -> String {
        format!("sim-{number:02}")
    }

    /// A fleet of so many simulated hosts, at least one: agents in this process, whose workers all
    /// live in one virtual time.
    pub fn simulated(version: &str, hosts: u32) -> Fleet {
        let together = engine::Together::new(hosts.max(1) as usize);
        let hosts = hosts.max(1);
        let one = |_| {
            let (ours, theirs) = pair();
            let (version, together) = (version.to_owned(), together.clone());
            thread::spawn(move || {
                agent::serve(theirs, Guard::none(), &version, Some(together), false);
            });
            (ours, None)
        };
        let names = (1..=hosts).map(Fleet::simulated_name).collect();
        let tree = Tree::new(hosts as usize, hosts as usize);
        Fleet::of(names, tree, (0..hosts).map(one).collect(), Reach::OwnProcess, None)
    }

    /// A fleet of agents that were launched. Each gives us up after so long a silence. Hosts that
    /// have none keep their numbers and stay out, until they are started again.
    pub fn remote(launched: Launched, lost_after: Nanos) -> Fleet {
        let Launched { agents, starts } = launched;
        let why = |start: &Start| {
            start.missing.as_ref().map_or_else(|| "its agent ended".to_owned(), Missing::words)
        };
        let absent = starts
            .iter()
            .enumerate()
            .filter(|(host, _)| !agents.has(*host))
            .map(|(host, start)| Absent { host, why: why(start) })
            .collect();
        let links = agents.links.into_iter().map(|(link, process)| (link, Some(process))).collect();
        let mut fleet =
            Fleet::of(agents.names, agents.tree, links, Reach::Remote, Some(agents.wanted));
        fleet.lost_after_ns = lost_after.0;
        fleet.absent = absent;
        for host in fleet.there() {
            // If it is gone already, the end of its link says so.
            let _ = fleet.send(host, &ToAgent::Welcome { lost_after_ns: lost_after.0 });
        }
        fleet
    }

    fn of(
        names: Vec<String>,
        tree: Tree,
        links: Vec<(Link, Option<Process>)>,
        reach: Reach,
        wanted: Option<Wanted>,
    ) -> Fleet {
        assert_eq!(names.len(), tree.hosts(), "each host has its place and its name");
        let comebacks = Comebacks::new(names.len(), wanted);
        let (inputs, receiver) = sync_channel(MOST_INPUTS);
        let clock = SteadyClock::begin();
        let (branches, inlets) = Branches::of(&names, tree, links);
        for (branch, ((inlet, last), relay)) in inlets.into_iter().zip(&branches.relays).enumerate()
        {
            let (tree, epochs) = (branches.tree.clone(), comebacks.ways.epochs.clone());
            let way = Way { tree, branch, first: 0, epochs, epoch: 0, relay: relay.clone(), clock };
            forward(way, inlet, last, inputs.clone());
        }
        Fleet {
            names,
            branches,
            comebacks,
            lost_after_ns: 0,
            absent: Vec::new(),
            presumed: Vec::new(),
            identities: OnceLock::new(),
            inputs: receiver,
            interrupter: Interrupter { inputs, is_asked: Arc::default() },
            clock,
            reach,
            is_over: Arc::default(),
            waiting: Arc::default(),
            kernels: OnceLock::new(),
            commands: Commands::default(),
        }
    }

    /// Says what is presumed of hosts that have no agent: whoever is other does not join the run.
    pub fn presume(&mut self, presumed: Vec<(usize, HostFacts)>) {
        self.presumed = presumed;
    }

    /// What the user calls each host; empty for this process.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The hosts that have an agent from the start.
    fn there(&self) -> Vec<usize> {
        (0..self.names.len()).filter(|host| self.branches.tree.way(*host).is_some()).collect()
    }

    fn name(&self, host: usize) -> String {
        match self.names.get(host).map(String::as_str) {
            None | Some("") => host.to_string(),
            Some(name) => name.to_owned(),
        }
    }

    /// Runs these stages of `plan` and hands every event to `record` in order, those together that
    /// wait together. An error of `record` ends the run: a figure that nobody keeps is not worth a
    /// load. `is_steady` is [`Director::is_steady`]. With `keep_data`, the files of the run stay on
    /// the targets.
    pub fn run(
        self,
        plan: &Plan,
        stages: &[u32],
        keep_data: bool,
        is_steady: &dyn Fn(&[f64]) -> bool,
        record: &mut dyn FnMut(&[Event]) -> Result<(), String>,
    ) -> Ending {
        self.direct(plan, stages, keep_data, &mut Planned { record, is_steady })
    }

    /// As [`run`](Self::run); the director also says which point follows, where the plan searches.
    pub fn direct(
        mut self,
        plan: &Plan,
        stages: &[u32],
        keep_data: bool,
        director: &mut dyn Director,
    ) -> Ending {
        let kernels = self.kernels.take().unwrap_or_default();
        let mut coordinator = Coordinator::new(plan, stages, self.reach, keep_data).on(kernels);
        coordinator.identify(self.identities.take().unwrap_or_default());
        coordinator.presume(std::mem::take(&mut self.presumed));
        for Absent { host, why } in std::mem::take(&mut self.absent) {
            coordinator.begin_without(host, why);
        }
        let mut inputs = VecDeque::from([Input::Begin]);
        let mut ticked = Instant::now();
        let mut events = Unrecorded::default();
        loop {
            let waiting = inputs.pop_front().or_else(|| {
                let may_wait = events.may_wait() && ticked.elapsed() < TICK;
                may_wait.then(|| self.waiting_input()).flatten()
            });
            let input = match waiting {
                Some(input) => input,
                None => match self.record(&mut events, director) {
                    Some(unrecordable) => unrecordable,
                    None => self.next_input(&mut ticked),
                },
            };
            if self.is_called_off(&input) {
                continue;
            }
            for action in coordinator.step(input, self.now()) {
                // What others are told or see next holds for what is on record.
                if !matches!(action, Action::Emit(_) | Action::Ping { .. } | Action::Finish { .. })
                {
                    inputs.extend(self.record(&mut events, director));
                }
                match self.perform(action, director, &mut events) {
                    Done::Yes => {}
                    Done::Then(input) => inputs.push_back(input),
                    Done::Dropped(cut_off) => {
                        inputs.extend(
                            cut_off.into_iter().map(|(host, why)| Input::Lost { host, why }),
                        );
                    }
                    Done::Over(ending) => return ending,
                }
            }
        }
    }

    /// Puts on record what waits for it. Agents elsewhere hear of us meanwhile, however slow the
    /// record's disk is.
    fn record(&self, events: &mut Unrecorded, director: &mut dyn Director) -> Option<Input> {
        if events.is_empty() || self.lost_after_ns == 0 {
            return events.record(director);
        }
        let (ways, branches) = (&self.comebacks.ways, &self.branches);
        let everybody = Everybody { hosts: 0..self.names.len(), ways, branches, clock: self.clock };
        everybody.hears_during(|| events.record(director))
    }

    /// What happens next; at least that time passes.
    fn next_input(&self, ticked: &mut Instant) -> Input {
        let is_due = ticked.elapsed() >= TICK;
        match (!is_due).then(|| self.input_within_a_tick()).flatten() {
            Some(input) => input,
            None => {
                *ticked = Instant::now();
                Input::Tick
            }
        }
    }

    /// What is said next, if anything is before it is time for a tick.
    fn input_within_a_tick(&self) -> Option<Input> {
        let asked = self.interrupter.is_asked.swap(false, Ordering::AcqRel);
        let heard = || match self.inputs.recv_timeout(TICK) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
        };
        asked.then_some(Input::Interrupt).or_else(heard)
    }

    /// What was said already.
    fn waiting_input(&self) -> Option<Input> {
        let asked = self.interrupter.is_asked.swap(false, Ordering::AcqRel);
        asked.then_some(Input::Interrupt).or_else(|| self.inputs.try_recv().ok())
    }

    fn now(&self) -> Now {
        Now { steady_ns: self.clock.now_ns(), unix_ns: crate::unix_ns() }
    }

    fn perform(
        &mut self,
        action: Action,
        director: &mut dyn Director,
        events: &mut Unrecorded,
    ) -> Done {
        let sent = match action {
            Action::Send { host, message } => (host, self.send(host, &message)),
            Action::Ping { host } => (host, self.ping(host)),
            Action::Drop { host } => return Done::Dropped(self.part(host)),
            Action::Launch { host, start } => {
                self.comebacks.launch(host, start, self.interrupter.inputs.clone());
                return Done::Yes;
            }
            Action::Emit(event) => {
                if matches!(event, Event::RunEnded { .. }) {
                    self.is_over.store(true, Ordering::Release);
                }
                events.push(event);
                return Done::Yes;
            }
            Action::Placed { ticket, marked } => {
                if let Some(who) = self.waiting.who().remove(&ticket) {
                    // If it is gone by now, it has its mark all the same. It is told once.
                    let _ = who.try_send(marked);
                }
                return Done::Yes;
            }
            Action::Command { number, name, command } => {
                let inputs = self.interrupter.inputs.clone();
                let failed = self.commands.begin(number, &name, &command, inputs);
                return failed.map_or(Done::Yes, Done::Then);
            }
            Action::EndCommand { number } => {
                self.commands.end(number);
                return Done::Yes;
            }
            Action::Ask => return Done::Then(Input::Added(director.next().map(Box::new))),
            Action::Judge { stage, rounds } => {
                return Done::Then(Input::Judged { stage, is_steady: director.is_steady(&rounds) });
            }
            Action::Finish { end, left } => {
                let end = match self.record(events, director) {
                    Some(Input::Unrecordable(why)) => RunEnd::Failed(why),
                    _ => end,
                };
                return Done::Over(Ending { end, left });
            }
        };
        match sent {
            (host, Some(Err(LinkError::Full))) => {
                Done::Then(Input::Lost { host, why: relay::DOES_NOT_READ.to_owned() })
            }
            (host, Some(Err(LinkError::Closed | LinkError::Garbled))) => Done::Then(Input::Lost {
                host,
                why: "it does not take messages any more".to_owned(),
            }),
            _ => Done::Yes,
        }
    }

    /// Has nothing to do with a host's agent any more. Comes back with the hosts that are cut off
    /// by that.
    fn part(&mut self, host: usize) -> Vec<(usize, String)> {
        if !self.comebacks.part(host) {
            return Vec::new();
        }
        self.comebacks.ways.cut_off(self.branches.part(host))
    }

    /// Takes an agent that was started again, and listens to it. Whether its start was called off:
    /// then nobody hears of it.
    fn is_called_off(&mut self, input: &Input) -> bool {
        let Input::Launched { host, start, outcome: Ok(()) } = input else { return false };
        let Some((inlet, words)) = self.comebacks.take(*host, *start) else { return true };
        let epochs = self.comebacks.ways.epochs.clone();
        let (epoch, relay) = (epochs.of(*host), self.name(*host));
        let way = Way {
            tree: Tree::new(1, 1),
            branch: 0,
            first: *host,
            epochs,
            epoch,
            relay,
            clock: self.clock,
        };
        forward(way, inlet, Some(words), self.interrupter.inputs.clone());
        // If it is gone already, the end of its link says so.
        let _ = self.send(*host, &ToAgent::Welcome { lost_after_ns: self.lost_after_ns });
        false
    }

    /// `None` where nobody has to do with the host any more.
    fn send(&self, host: usize, order: &ToAgent) -> Option<Result<(), LinkError>> {
        match Frame::of(order) {
            Ok(frame) => match self.comebacks.ways.to(host) {
                To::Own((outlet, _)) => Some(outlet.pass(frame)),
                To::Nobody => None,
                To::Tree => self.branches.send(host, frame),
            },
            Err(error) => Some(Err(error)),
        }
    }

    fn ping(&self, host: usize) -> Option<Result<(), LinkError>> {
        self.send(host, &ToAgent::Ping { sent_ns: self.clock.now_ns() })
    }
}

enum Done {
    Yes,
    /// And something follows from it.
    Then(Input),
    /// A host is none of ours any more, and these are cut off by that.
    Dropped(Vec<(usize, String)>),
    Over(Ending),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_interrupts_waits_for_no_room_and_is_heard_first() {
        let (ours, _theirs) = pair();
        let fleet = Fleet::of(
            vec![String::new()],
            Tree::new(1, 1),
            vec![(ours, None)],
            Reach::OwnProcess,
            None,
        );
        let interrupter = fleet.interrupter();
        while fleet.interrupter.inputs.try_send(Input::Tick).is_ok() {}
        assert!(interrupter.interrupt());
        assert_eq!(fleet.waiting_input(), Some(Input::Interrupt));
        assert_eq!(fleet.waiting_input(), Some(Input::Tick), "once");
        assert!(interrupter.interrupt(), "there is room now");
        let waiting = std::iter::from_fn(|| fleet.waiting_input());
        assert_eq!(waiting.filter(|input| *input == Input::Interrupt).count(), 1);
        drop(fleet);
        assert!(!interrupter.interrupt(), "the run is over");
    }

    #[test]
    fn a_host_that_does_not_read_is_lost_for_that_reason() {
        let (ours, theirs) = pair();
        let mut fleet = Fleet::of(
            vec![String::new()],
            Tree::new(1, 1),
            vec![(ours, None)],
            Reach::Remote,
            None,
        );
        let mut lost = None;
        for _ in 0..1_000_000 {
            let sent = fleet.perform(
                Action::Ping { host: 0 },
                &mut Planned { record: &mut |_| Ok(()), is_steady: &|_| false },
                &mut Unrecorded::default(),
            );
            if let Done::Then(input) = sent {
                lost = Some(input);
                break;
            }
        }
        let why = relay::DOES_NOT_READ.to_owned();
        assert_eq!(lost, Some(Input::Lost { host: 0, why }));
        drop(theirs);
    }
}
