//! Does what the coordinator decides: carries messages, tells the time, hands events to the recorder.

mod clean;

use crate::agent::{self, Guard};
use crate::coordinator::{Action, Coordinator, Input, Now, Reach};
use crate::launch::{Launched, Process};
use crate::link::{Inlet, Outlet, pair};
use crate::watch::{Watch, Watched};
use crate::wire::{FromAgent, ToAgent};
use model::search::Addition;
use model::testbed::HostFacts;
use model::{Event, Nanos, Plan, RunEnd};
use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the coordinator hears that time passes.
const TICK: Duration = Duration::from_millis(100);

/// Between two signs of life to agents that are only watched lies at least this, in ns.
const PING_EVERY_NS: u64 = 1_000_000_000;

/// The agents of a run, ready to be asked and told.
#[derive(Debug)]
pub struct Fleet {
    members: Vec<Member>,
    inputs: Receiver<Input>,
    interrupter: Interrupter,
    clock: SteadyClock,
    reach: Reach,
}

/// One agent, seen from here.
#[derive(Debug)]
struct Member {
    /// What the user calls the host; empty for this process.
    name: String,
    outlet: Option<Outlet>,
    process: Option<Process>,
}

/// Time since the fleet was made.
#[derive(Clone, Copy, Debug)]
struct SteadyClock(Instant);

impl SteadyClock {
    fn now_ns(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Ends a run from another thread, such as a signal's.
#[derive(Clone, Debug)]
pub struct Interrupter {
    inputs: Sender<Input>,
}

impl Interrupter {
    /// Stops the run; what was recorded stays. False where the run is over: a fleet that is gone has nothing left to interrupt.
    pub fn interrupt(&self) -> bool {
        self.inputs.send(Input::Interrupt).is_ok()
    }
}

/// A fleet that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetError {
    /// An agent is gone before the run began.
    Lost {
        /// Which one, by its name or number.
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
            FleetError::Lost { host, why } => {
                write!(f, "the agent of host {host} ended before the run began ({why}); start again")
            }
            FleetError::Interrupted => f.write_str("stopped before the run began; nothing was touched"),
        }
    }
}

impl std::error::Error for FleetError {}

/// What a host said of itself, and how it was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What it is.
    pub facts: HostFacts,
    /// By how much its wall clock is ahead of ours, in ns. For people: nothing is measured by it.
    pub wall_ahead_ns: i128,
}

/// How a run ended, and what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How.
    pub end: RunEnd,
    /// What could not be removed from the targets, in words.
    pub left: Vec<String>,
}

/// Who keeps a run's events, and says how it goes on.
pub trait Director {
    /// Takes in what happened.
    ///
    /// # Errors
    /// It cannot be kept; the reason in words. The run ends.
    fn record(&mut self, event: &Event) -> Result<(), String>;

    /// The point that follows those that were measured; `None` ends the run.
    fn next(&mut self) -> Option<Addition>;

    /// Whether these rounds of a stage, a window in the order of time, are steady: then the stage ends. Each is what all hosts together did in it.
    fn is_steady(&mut self, rounds: &[f64]) -> bool;
}

/// A run that goes as it was planned.
struct Planned<'a> {
    record: &'a mut dyn FnMut(&Event) -> Result<(), String>,
    is_steady: &'a dyn Fn(&[f64]) -> bool,
}

impl Director for Planned<'_> {
    fn record(&mut self, event: &Event) -> Result<(), String> {
        (self.record)(event)
    }

    fn next(&mut self) -> Option<Addition> {
        None
    }

    fn is_steady(&mut self, rounds: &[f64]) -> bool {
        (self.is_steady)(rounds)
    }
}

impl Fleet {
    /// A fleet of one: an agent in this process, at the other end of an in-memory pair.
    pub fn local(version: &str) -> Fleet {
        let (ours, theirs) = pair();
        let version = version.to_owned();
        // The agent ends when our end of the link does; nobody waits for its thread.
        thread::spawn(move || agent::serve(theirs, Guard::none(), &version, None));
        let (outlet, inlet) = ours.split();
        let member = Member { name: String::new(), outlet: Some(outlet), process: None };
        Fleet::of(vec![(member, inlet)], Reach::OwnProcess)
    }

    /// What the simulated host of this number, from 1, is called.
    pub fn simulated_name(number: u32) -> String {
        format!("sim-{number:02}")
    }

    /// A fleet of so many simulated hosts, at least one: agents in this process, whose workers all live in one virtual time.
    pub fn simulated(version: &str, hosts: u32) -> Fleet {
        let together = engine::Together::new(hosts.max(1) as usize);
        let member = |number: u32| {
            let (ours, theirs) = pair();
            let (version, together) = (version.to_owned(), together.clone());
            thread::spawn(move || agent::serve(theirs, Guard::none(), &version, Some(together)));
            let (outlet, inlet) = ours.split();
            (Member { name: Fleet::simulated_name(number), outlet: Some(outlet), process: None }, inlet)
        };
        Fleet::of((1..=hosts.max(1)).map(member).collect(), Reach::OwnProcess)
    }

    /// A fleet of agents that were launched. Each gives us up after so long a silence.
    pub fn remote(launched: Vec<Launched>, lost_after: Nanos) -> Fleet {
        let welcome = ToAgent::Welcome { lost_after_ns: lost_after.0 };
        let member = |launched: Launched| {
            let (outlet, inlet) = launched.link.split();
            // If it is gone already, the end of its link says so.
            let _ = outlet.send(&welcome);
            (Member { name: launched.name, outlet: Some(outlet), process: Some(launched.process) }, inlet)
        };
        Fleet::of(launched.into_iter().map(member).collect(), Reach::Remote)
    }

    fn of(members: Vec<(Member, Inlet)>, reach: Reach) -> Fleet {
        let (inputs, receiver) = channel();
        let clock = SteadyClock(Instant::now());
        let listen = |(host, (member, inlet)): (usize, (Member, Inlet))| {
            forward(host, inlet, inputs.clone(), clock, member.process.as_ref().map(Process::words));
            member
        };
        let members = members.into_iter().enumerate().map(listen).collect();
        Fleet { members, inputs: receiver, interrupter: Interrupter { inputs }, clock, reach }
    }

    /// A handle that ends the run.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// What each host is, and what its targets are to it: one list for each host, in their order. Touches nothing.
    ///
    /// # Errors
    /// When an agent is gone, or the run is interrupted.
    pub fn inspect(&self, targets: &[Vec<String>]) -> Result<Vec<Told>, FleetError> {
        let several = self.members.len() > 1;
        for (host, member) in self.members.iter().enumerate() {
            let targets = targets.get(host).cloned().unwrap_or_default();
            let order = ToAgent::Inspect { targets, host: several.then_some(host as u32) };
            // One that is gone is heard of below, with the reason.
            let _ = member.outlet.as_ref().map(|outlet| outlet.send(&order));
            let _ = self.ping(host);
        }
        let mut told: Vec<Option<Told>> = vec![None; self.members.len()];
        while told.contains(&None) {
            match self.inputs.recv() {
                Ok(Input::Heard { host, message: FromAgent::Facts { facts, unix_ns: theirs }, .. }) => {
                    told[host] = Some(self.told(host, *facts, theirs));
                }
                Ok(Input::Lost { host, why }) => return Err(FleetError::Lost { host: self.name(host), why }),
                Ok(Input::Interrupt) | Err(_) => return Err(FleetError::Interrupted),
                Ok(_) => {}
            }
        }
        Ok(told.into_iter().flatten().collect())
    }

    fn told(&self, host: usize, mut facts: HostFacts, unix_ns_there: u64) -> Told {
        let name = &self.members[host].name;
        if !name.is_empty() {
            // People know a host by the name that they gave.
            facts.hostname.clone_from(name);
        }
        Told { facts, wall_ahead_ns: i128::from(unix_ns_there) - i128::from(unix_ns()) }
    }

    fn name(&self, host: usize) -> String {
        match self.members.get(host).map(|member| member.name.as_str()) {
            None | Some("") => host.to_string(),
            Some(name) => name.to_owned(),
        }
    }

    /// Runs these stages of `plan` and hands every event to `record` in order. An error of `record` ends the run: a figure that
    /// nobody keeps is not worth a load. `is_steady` is [`Director::is_steady`]. With `keep_data`, the files of the run stay on the targets.
    pub fn run(
        self,
        plan: &Plan,
        stages: &[u32],
        keep_data: bool,
        is_steady: &dyn Fn(&[f64]) -> bool,
        record: &mut dyn FnMut(&Event) -> Result<(), String>,
    ) -> Ending {
        self.direct(plan, stages, keep_data, &mut Planned { record, is_steady })
    }

    /// As [`run`](Self::run); the director also says which point follows, where the plan searches.
    pub fn direct(mut self, plan: &Plan, stages: &[u32], keep_data: bool, director: &mut dyn Director) -> Ending {
        let mut coordinator = Coordinator::new(plan, stages, self.reach, keep_data);
        let mut inputs = VecDeque::from([Input::Begin]);
        let mut ticked = Instant::now();
        loop {
            let input = match inputs.pop_front() {
                Some(input) => input,
                None => self.next_input(&mut ticked),
            };
            for action in coordinator.step(input, self.now()) {
                match self.perform(action, director) {
                    Done::Yes => {}
                    Done::Then(input) => inputs.push_back(input),
                    Done::Over(ending) => return ending,
                }
            }
        }
    }

    /// Has every host tell what its kernel counts, at least so often and without any load, until `take` returns false, somebody interrupts, or no
    /// host is left. A host that is silent for longer than `lost_after` is lost, which ends nothing for the others.
    pub fn watch(mut self, interval: Nanos, lost_after: Nanos, take: &mut dyn FnMut(Watched) -> bool) {
        let mut watch = Watch::new(self.members.len(), lost_after.0, self.clock.now_ns());
        for member in &self.members {
            // One that is gone is heard of below, with the reason.
            let _ = member.outlet.as_ref().map(|outlet| outlet.send(&ToAgent::Watch { interval_ns: interval.0 }));
        }
        let (mut ticked, mut pinged_ns) = (Instant::now(), 0);
        let mut goes_on = true;
        while goes_on && !watch.is_over() {
            let input = self.next_input(&mut ticked);
            let now_ns = self.clock.now_ns();
            let mut lost = Vec::new();
            match input {
                Input::Interrupt => break,
                Input::Heard { host, message, .. } => {
                    if let (true, FromAgent::Counters(mut sample)) = (watch.heard(host, now_ns), message) {
                        sample.host = host as u32;
                        goes_on = take(Watched::Counters(sample));
                    }
                }
                Input::Lost { host, why } if watch.lose(host) => lost.push((host, why)),
                Input::Tick if now_ns.saturating_sub(pinged_ns) >= PING_EVERY_NS => {
                    pinged_ns = now_ns;
                    for host in 0..self.members.len() {
                        let _ = self.ping(host);
                    }
                    let why = || format!("nothing was heard of it for {lost_after}");
                    lost.extend(watch.silent(now_ns).into_iter().map(|host| (host, why())));
                }
                _ => {}
            }
            for (host, why) in lost {
                (self.members[host].outlet, self.members[host].process) = (None, None);
                goes_on &= take(Watched::Lost { host: host as u32, why });
            }
        }
        for member in &self.members {
            let _ = member.outlet.as_ref().map(|outlet| outlet.send(&ToAgent::Stop));
        }
    }

    /// What happens next; at least that time passes.
    fn next_input(&self, ticked: &mut Instant) -> Input {
        if ticked.elapsed() < TICK {
            match self.inputs.recv_timeout(TICK) {
                Ok(input) => return input,
                Err(RecvTimeoutError::Timeout) => {}
                // We hold a sender ourselves, so the channel cannot close.
                Err(RecvTimeoutError::Disconnected) => return Input::Interrupt,
            }
        }
        *ticked = Instant::now();
        Input::Tick
    }

    fn now(&self) -> Now {
        Now { steady_ns: self.clock.now_ns(), unix_ns: unix_ns() }
    }

    fn perform(&mut self, action: Action, director: &mut dyn Director) -> Done {
        let sent = match action {
            Action::Send { host, message } => {
                (host, self.members[host].outlet.as_ref().map(|outlet| outlet.send(&message)))
            }
            Action::Ping { host } => (host, self.ping(host)),
            Action::Drop { host } => {
                self.members[host].outlet = None;
                self.members[host].process = None;
                return Done::Yes;
            }
            Action::Emit(event) => {
                return match director.record(&event) {
                    Ok(()) => Done::Yes,
                    Err(why) => Done::Then(Input::Unrecordable(why)),
                };
            }
            Action::Ask => return Done::Then(Input::Added(director.next().map(Box::new))),
            Action::Judge { stage, rounds } => {
                return Done::Then(Input::Judged { stage, is_steady: director.is_steady(&rounds) });
            }
            Action::Finish { end, left } => return Done::Over(Ending { end, left }),
        };
        match sent {
            (host, Some(Err(_))) => {
                Done::Then(Input::Lost { host, why: "it does not take messages any more".to_owned() })
            }
            _ => Done::Yes,
        }
    }

    fn ping(&self, host: usize) -> Option<Result<(), crate::link::LinkError>> {
        let outlet = self.members[host].outlet.as_ref()?;
        Some(outlet.send(&ToAgent::Ping { sent_ns: self.clock.now_ns() }))
    }
}

/// What became of an action.
enum Done {
    Yes,
    /// And something follows from it.
    Then(Input),
    Over(Ending),
}

/// Passes on what an agent says, and that it is gone.
fn forward(
    host: usize,
    mut inlet: Inlet,
    inputs: Sender<Input>,
    clock: SteadyClock,
    words: Option<crate::launch::LastWords>,
) {
    thread::spawn(move || {
        let why = loop {
            match inlet.receive() {
                Ok(message) => {
                    let at_ns = clock.now_ns();
                    if inputs.send(Input::Heard { host, message, at_ns }).is_err() {
                        return;
                    }
                }
                Err(crate::link::LinkError::Closed) => break "its connection ended",
                Err(crate::link::LinkError::Garbled) => break "what it sends cannot be read",
            }
        };
        let why = match words.map(|words| words.wait()) {
            Some(words) if !words.is_empty() => format!("{why} ({words})"),
            _ => why.to_owned(),
        };
        let _ = inputs.send(Input::Lost { host, why });
    });
}

/// The wall clock, for people: nothing is measured by it.
fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
