//! Does what the coordinator decides: carries messages, tells the time, hands events to the recorder.

mod clean;
mod unrecorded;

use crate::agent::{self, Guard};
use crate::comeback::{Comebacks, Epochs};
use crate::command::Commands;
use crate::coordinator::{Action, Coordinator, Input, Marked, Now, Reach};
use crate::launch::{Agents, LastWords, Process, Wanted};
use crate::link::{Frame, Inlet, Link, LinkError, pair};
use crate::packed::Unpacker;
use crate::packed_interval;
use crate::relay::{self, Branches};
use crate::tree::Tree;
use crate::watch::{Watch, Watched};
use crate::wire::{FromAgent, ToAgent, Word};
use model::occurrence::{MOST_LABEL_BYTES, one_line};
use model::search::Addition;
use model::testbed::HostFacts;
use model::{Event, Kernels, Nanos, Plan, RunEnd};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use unrecorded::Unrecorded;

/// How often the coordinator hears that time passes.
const TICK: Duration = Duration::from_millis(100);

/// Between two signs of life to agents that are only asked something.
const BEAT: Duration = Duration::from_secs(1);

/// Between two signs of life to agents that are only watched lies at least this, in ns.
const PING_EVERY_NS: u64 = 1_000_000_000;

/// The agents of a run, ready to be asked and told.
#[derive(Debug)]
pub struct Fleet {
    /// What the user calls each host; empty for this process.
    names: Vec<String>,
    branches: Branches,
    comebacks: Comebacks,
    /// For how long an agent may hear nothing of us, in ns; 0 is for ever.
    lost_after_ns: u64,
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

/// Says from another thread that something happened.
#[derive(Clone, Debug)]
pub struct Marker {
    inputs: Sender<Input>,
    clock: SteadyClock,
    /// Set when how the run ended is on record: nothing is marked behind that.
    is_over: Arc<AtomicBool>,
    waiting: Arc<Waiting>,
}

/// Who waits to hear where a mark stands.
#[derive(Debug, Default)]
struct Waiting {
    next: AtomicU32,
    who: Mutex<BTreeMap<u32, Sender<Marked>>>,
}

impl Waiting {
    fn who(&self) -> MutexGuard<'_, BTreeMap<u32, Sender<Marked>>> {
        // Nobody panics while holding it, and a map is whole whatever happened.
        self.who.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marker {
    /// Marks the instant that was so long ago. False where the run is over.
    pub fn mark(&self, label: &str, ago: Duration) -> bool {
        self.send(label, ago, None)
    }

    /// The same, and waits so long at most until it stands in the record.
    pub fn mark_and_wait(&self, label: &str, ago: Duration, patience: Duration) -> Marked {
        let (answer, answered) = channel();
        let ticket = self.waiting.next.fetch_add(1, Ordering::Relaxed);
        self.waiting.who().insert(ticket, answer);
        let marked = match self.send(label, ago, Some(ticket)) {
            true => answered.recv_timeout(patience).ok(),
            false => Some(Marked::Over),
        };
        self.waiting.who().remove(&ticket);
        // The run may have ended with the question unread.
        let late = || if self.is_over.load(Ordering::Acquire) { Marked::Over } else { Marked::Taken };
        marked.or_else(|| answered.try_recv().ok()).unwrap_or_else(late)
    }

    fn send(&self, label: &str, ago: Duration, ticket: Option<u32>) -> bool {
        let ago_ns = u64::try_from(ago.as_nanos()).unwrap_or(u64::MAX);
        let at_ns = self.clock.now_ns().saturating_sub(ago_ns);
        let label = one_line(label, MOST_LABEL_BYTES);
        !self.is_over.load(Ordering::Acquire) && self.inputs.send(Input::Marked { label, at_ns, ticket }).is_ok()
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
    /// Takes in what happened, in its order: all that came together, at least one event and at most a few hundred.
    ///
    /// # Errors
    /// They cannot be kept; the reason in words. The run ends.
    fn record(&mut self, events: &[Event]) -> Result<(), String>;

    /// The point that follows those that were measured; `None` ends the run.
    fn next(&mut self) -> Option<Addition>;

    /// Whether these rounds of a stage, a window in the order of time, are steady: then the stage ends. Each is what all hosts together did in it.
    fn is_steady(&mut self, rounds: &[f64]) -> bool;
}

/// A run that goes as it was planned.
struct Planned<'a> {
    record: &'a mut dyn FnMut(&[Event]) -> Result<(), String>,
    is_steady: &'a dyn Fn(&[f64]) -> bool,
}

impl Director for Planned<'_> {
    fn record(&mut self, events: &[Event]) -> Result<(), String> {
        (self.record)(events)
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
        thread::spawn(move || agent::serve(theirs, Guard::none(), &version, None, false));
        Fleet::of(vec![String::new()], Tree::new(1, 1), vec![(ours, None)], Reach::OwnProcess, None)
    }

    /// What the simulated host of this number, from 1, is called.
    pub fn simulated_name(number: u32) -> String {
        format!("sim-{number:02}")
    }

    /// A fleet of so many simulated hosts, at least one: agents in this process, whose workers all live in one virtual time.
    pub fn simulated(version: &str, hosts: u32) -> Fleet {
        let together = engine::Together::new(hosts.max(1) as usize);
        let hosts = hosts.max(1);
        let one = |_| {
            let (ours, theirs) = pair();
            let (version, together) = (version.to_owned(), together.clone());
            thread::spawn(move || agent::serve(theirs, Guard::none(), &version, Some(together), false));
            (ours, None)
        };
        let names = (1..=hosts).map(Fleet::simulated_name).collect();
        let tree = Tree::new(hosts as usize, hosts as usize);
        Fleet::of(names, tree, (0..hosts).map(one).collect(), Reach::OwnProcess, None)
    }

    /// A fleet of agents that were launched. Each gives us up after so long a silence.
    pub fn remote(agents: Agents, lost_after: Nanos) -> Fleet {
        let links = agents.links.into_iter().map(|(link, process)| (link, Some(process))).collect();
        let mut fleet = Fleet::of(agents.names, agents.tree, links, Reach::Remote, Some(agents.wanted));
        fleet.lost_after_ns = lost_after.0;
        for host in 0..fleet.names.len() {
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
        let comebacks = Comebacks::new(names.len(), wanted);
        let (inputs, receiver) = channel();
        let clock = SteadyClock(Instant::now());
        let (branches, inlets) = Branches::of(&names, tree, links);
        for (branch, ((inlet, last), relay)) in inlets.into_iter().zip(&branches.relays).enumerate() {
            let (tree, epochs) = (branches.tree.clone(), comebacks.epochs.clone());
            let way = Way { tree, branch, first: 0, epochs, epoch: 0, relay: relay.clone(), clock };
            forward(way, inlet, last, inputs.clone());
        }
        Fleet {
            names,
            branches,
            comebacks,
            lost_after_ns: 0,
            identities: OnceLock::new(),
            inputs: receiver,
            interrupter: Interrupter { inputs },
            clock,
            reach,
            is_over: Arc::default(),
            waiting: Arc::default(),
            kernels: OnceLock::new(),
            commands: Commands::default(),
        }
    }

    /// A handle that ends the run.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// A handle that sets marks.
    pub fn marker(&self) -> Marker {
        Marker {
            inputs: self.interrupter.inputs.clone(),
            clock: self.clock,
            is_over: Arc::clone(&self.is_over),
            waiting: Arc::clone(&self.waiting),
        }
    }

    /// What each host is, and what its targets are to it: one list for each host, in their order. Touches nothing. A target that leaves a call
    /// unanswered for longer than `patience` cannot be read, and its facts say so.
    ///
    /// # Errors
    /// When an agent is gone, or the run is interrupted.
    pub fn inspect(&self, targets: &[Vec<String>], patience: Nanos) -> Result<Vec<Told>, FleetError> {
        let several = self.names.len() > 1;
        for host in 0..self.names.len() {
            let targets = targets.get(host).cloned().unwrap_or_default();
            let host_number = several.then_some(host as u32);
            let order = ToAgent::Inspect { targets, host: host_number, patience_ns: patience.0 };
            // One that is gone is heard of below, with the reason.
            let _ = self.send(host, &order);
            let _ = self.ping(host);
        }
        let mut told: Vec<Option<Told>> = vec![None; self.names.len()];
        let mut beaten = Instant::now();
        while told.contains(&None) {
            self.beat(&mut beaten);
            match self.inputs.recv_timeout(TICK) {
                Ok(Input::Heard { host, message: FromAgent::Facts { facts, unix_ns: theirs }, .. }) => {
                    told[host] = Some(self.told(host, *facts, theirs));
                }
                Ok(Input::Lost { host, why }) => return Err(FleetError::Lost { host: self.name(host), why }),
                Ok(Input::Interrupt) | Err(RecvTimeoutError::Disconnected) => return Err(FleetError::Interrupted),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let told: Vec<Told> = told.into_iter().flatten().collect();
        self.identities.get_or_init(|| told.iter().map(|told| told.facts.identity.clone()).collect());
        let facts: Vec<HostFacts> = told.iter().map(|told| told.facts.clone()).collect();
        self.kernels.get_or_init(|| Kernels::of(&facts));
        Ok(told)
    }

    /// Gives every agent a sign of life, once a second: while one of them waits for a target, none must take us for gone.
    fn beat(&self, beaten: &mut Instant) {
        if beaten.elapsed() < BEAT {
            return;
        }
        *beaten = Instant::now();
        for host in 0..self.names.len() {
            // One that is gone is heard of otherwise.
            let _ = self.ping(host);
        }
    }

    fn told(&self, host: usize, mut facts: HostFacts, unix_ns_there: u64) -> Told {
        let name = &self.names[host];
        if !name.is_empty() {
            // People know a host by the name that they gave.
            facts.hostname.clone_from(name);
        }
        Told { facts, wall_ahead_ns: i128::from(unix_ns_there) - i128::from(unix_ns()) }
    }

    fn name(&self, host: usize) -> String {
        match self.names.get(host).map(String::as_str) {
            None | Some("") => host.to_string(),
            Some(name) => name.to_owned(),
        }
    }

    /// Runs these stages of `plan` and hands every event to `record` in order, those together that wait together. An error of `record` ends the run: a figure that
    /// nobody keeps is not worth a load. `is_steady` is [`Director::is_steady`]. With `keep_data`, the files of the run stay on the targets.
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
    pub fn direct(mut self, plan: &Plan, stages: &[u32], keep_data: bool, director: &mut dyn Director) -> Ending {
        let kernels = self.kernels.take().unwrap_or_default();
        let mut coordinator = Coordinator::new(plan, stages, self.reach, keep_data).on(kernels);
        coordinator.identify(self.identities.take().unwrap_or_default());
        let mut inputs = VecDeque::from([Input::Begin]);
        let mut ticked = Instant::now();
        let mut events = Unrecorded::default();
        loop {
            let waiting = inputs.pop_front().or_else(|| {
                let may_wait = events.may_wait() && ticked.elapsed() < TICK;
                may_wait.then(|| self.inputs.try_recv().ok()).flatten()
            });
            let input = match waiting {
                Some(input) => input,
                None => match events.record(director) {
                    Some(unrecordable) => unrecordable,
                    None => self.next_input(&mut ticked),
                },
            };
            if self.is_called_off(&input) {
                continue;
            }
            for action in coordinator.step(input, self.now()) {
                // What others are told or see next holds for what is on record.
                if !matches!(action, Action::Emit(_) | Action::Ping { .. } | Action::Finish { .. }) {
                    inputs.extend(events.record(director));
                }
                match self.perform(action, director, &mut events) {
                    Done::Yes => {}
                    Done::Then(input) => inputs.push_back(input),
                    Done::Dropped(cut_off) => {
                        inputs.extend(cut_off.into_iter().map(|(host, why)| Input::Lost { host, why }));
                    }
                    Done::Over(ending) => return ending,
                }
            }
        }
    }

    /// Has every host tell what its kernel counts, at least so often and without any load, until `take` returns false, somebody interrupts, or no
    /// host is left. A host that is silent for longer than `lost_after` is lost, which ends nothing for the others.
    pub fn watch(mut self, interval: Nanos, lost_after: Nanos, take: &mut dyn FnMut(Watched) -> bool) {
        let kernels = self.kernels.take().unwrap_or_default();
        let mut watch = Watch::new(self.names.len(), lost_after.0, self.clock.now_ns()).on(kernels);
        for host in 0..self.names.len() {
            // One that is gone is heard of below, with the reason.
            let _ = self.send(host, &ToAgent::Watch { interval_ns: interval.0 });
        }
        let (mut ticked, mut pinged_ns) = (Instant::now(), 0);
        let mut goes_on = true;
        while goes_on && !watch.is_over() {
            let input = self.next_input(&mut ticked);
            let now_ns = self.clock.now_ns();
            let mut lost = Vec::new();
            match input {
                Input::Interrupt => break,
                Input::Heard { host, message, at_ns } => {
                    for told in watch.told(host, message, at_ns, self.now()) {
                        goes_on &= take(told);
                    }
                }
                Input::Lost { host, why } if watch.lose(host) => lost.push((host, why)),
                Input::Tick if now_ns.saturating_sub(pinged_ns) >= PING_EVERY_NS => {
                    pinged_ns = now_ns;
                    for host in 0..self.names.len() {
                        let _ = self.ping(host);
                    }
                    let why = || format!("nothing was heard of it for {lost_after}");
                    lost.extend(watch.silent(now_ns).into_iter().map(|host| (host, why())));
                }
                _ => {}
            }
            while let Some((host, why)) = lost.pop() {
                lost.extend(self.branches.part(host).into_iter().filter(|(below, _)| watch.lose(*below)));
                goes_on &= take(Watched::Lost { host: host as u32, why });
            }
        }
        for host in 0..self.names.len() {
            let _ = self.send(host, &ToAgent::Stop);
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

    fn perform(&mut self, action: Action, director: &mut dyn Director, events: &mut Unrecorded) -> Done {
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
                    // If it is gone by now, it has its mark all the same.
                    let _ = who.send(marked);
                }
                return Done::Yes;
            }
            Action::Command { number, name, command } => {
                self.commands.begin(number, &name, &command, self.interrupter.inputs.clone());
                return Done::Yes;
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
                let end = match events.record(director) {
                    Some(Input::Unrecordable(why)) => RunEnd::Failed(why),
                    _ => end,
                };
                return Done::Over(Ending { end, left });
            }
        };
        match sent {
            (host, Some(Err(_))) => {
                Done::Then(Input::Lost { host, why: "it does not take messages any more".to_owned() })
            }
            _ => Done::Yes,
        }
    }

    /// Has nothing to do with a host's agent any more. Comes back with the hosts that are cut off by that.
    fn part(&mut self, host: usize) -> Vec<(usize, String)> {
        if !self.comebacks.part(host) {
            return Vec::new();
        }
        let cut_off = self.branches.part(host);
        // Whoever came back is reached without a relay.
        cut_off.into_iter().filter(|(host, _)| self.comebacks.epochs.of(*host) == 0).collect()
    }

    /// Takes an agent that was started again, and listens to it. Whether its start was called off: then nobody hears of it.
    fn is_called_off(&mut self, input: &Input) -> bool {
        let Input::Launched { host, start, outcome: Ok(()) } = input else { return false };
        let Some((inlet, words)) = self.comebacks.take(*host, *start) else { return true };
        let epochs = self.comebacks.epochs.clone();
        let (epoch, relay) = (epochs.of(*host), self.name(*host));
        let way = Way { tree: Tree::new(1, 1), branch: 0, first: *host, epochs, epoch, relay, clock: self.clock };
        forward(way, inlet, Some(words), self.interrupter.inputs.clone());
        // If it is gone already, the end of its link says so.
        let _ = self.send(*host, &ToAgent::Welcome { lost_after_ns: self.lost_after_ns });
        false
    }

    /// `None` where nobody has to do with the host any more.
    fn send(&self, host: usize, order: &ToAgent) -> Option<Result<(), LinkError>> {
        match Frame::of(order) {
            Ok(frame) => match self.comebacks.send(host, &frame) {
                Some(sent) => Some(sent),
                // What is not this host's any more is not sent to another of the same name.
                None if self.comebacks.epochs.of(host) > 0 => None,
                None => self.branches.send(host, frame),
            },
            Err(error) => Some(Err(error)),
        }
    }

    fn ping(&self, host: usize) -> Option<Result<(), LinkError>> {
        self.send(host, &ToAgent::Ping { sent_ns: self.clock.now_ns() })
    }
}

/// What became of an action.
enum Done {
    Yes,
    /// And something follows from it.
    Then(Input),
    /// A host is none of ours any more, and these are cut off by that.
    Dropped(Vec<(usize, String)>),
    Over(Ending),
}

/// Where something comes from that is heard.
struct Way {
    tree: Tree,
    branch: usize,
    /// The number of the tree's first host in the run.
    first: usize,
    epochs: Epochs,
    /// Of the agents of this way.
    epoch: u32,
    /// The name of the branch's first host.
    relay: String,
    clock: SteadyClock,
}

/// Makes inputs of words.
#[derive(Default)]
struct Reader {
    /// What each host's counters are a difference to.
    counted: BTreeMap<usize, Unpacker>,
}

impl Reader {
    /// `None` where nothing follows from the word.
    fn input(&mut self, host: usize, word: Word, at_ns: u64) -> Result<Option<Input>, LinkError> {
        let frame = match word {
            Word::Gone(why) => return Ok(Some(Input::Lost { host, why })),
            Word::Said(frame) => frame,
        };
        let message = match frame.read()? {
            FromAgent::Counted(frame) => match self.counted.entry(host).or_default().unpack(&frame)? {
                Some(sample) => FromAgent::Counters(Box::new(sample)),
                None => return Ok(None),
            },
            FromAgent::Sampled(frame) => FromAgent::Sample(Box::new(packed_interval::unpack(&frame)?)),
            message => message,
        };
        Ok(Some(Input::Heard { host, message, at_ns }))
    }
}

/// Passes on what the agents of a branch say, and that they are gone.
fn forward(way: Way, mut inlet: Inlet, last: Option<LastWords>, inputs: Sender<Input>) {
    thread::spawn(move || {
        let mut reader = Reader::default();
        let error = 'heard: loop {
            let words = inlet.frame().and_then(|frame| relay::heard(&way.tree, way.branch, frame));
            let at_ns = way.clock.now_ns();
            for (host, word) in match words {
                Ok(words) => words,
                Err(error) => break 'heard error,
            } {
                let host = way.first + host;
                match reader.input(host, word, at_ns) {
                    Ok(None) => {}
                    Ok(Some(input)) => {
                        if !way.tell(host, input, &inputs) {
                            return;
                        }
                    }
                    Err(error) => break 'heard error,
                }
            }
        };
        for (host, word) in relay::gone(&way.tree, way.branch, &way.relay, &relay::why(error, last)) {
            let host = way.first + host;
            // A word of a host that is gone can be read.
            let Ok(Some(input)) = reader.input(host, word, 0) else { return };
            if !way.tell(host, input, &inputs) {
                return;
            }
        }
    });
}

impl Way {
    /// Hands on what a host says whose agent still counts. False where nobody listens any more.
    fn tell(&self, host: usize, input: Input, inputs: &Sender<Input>) -> bool {
        self.epochs.while_it_counts(host, self.epoch, || inputs.send(input).is_ok()).unwrap_or(true)
    }
}

/// The wall clock, for people: nothing is measured by it.
fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
