//! One host's side of a run: does what the coordinator says, and stops when it is gone.

mod clean;
mod guard;
mod stages;
pub(crate) mod state;

pub use guard::{ALLOW_FILE, Guard, GuardError};

use crate::link::{Inlet, Link, LinkError, Outlet, over};
use crate::sampler::Sampler;
use crate::wire::{FromAgent, ToAgent};
use engine::{Clock, Control, OpenTargets, Together};
use model::plan::HostPlan;
use model::testbed::{HostFacts, TargetKind};
use state::{Contact, Duty, Reaction};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often an agent looks whether its coordinator is still there.
const LOOK: Duration = Duration::from_millis(50);

/// How long the last messages may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves the coordinator at the other end of these streams until they close, or until it falls silent. The preamble must have been written.
pub fn serve_streams(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    guard: Guard,
    version: &str,
) {
    let (link, thread) = over(reader, writer);
    serve(link, guard, version, None);
    // Everything that was sent gets out, if the other end still reads: behind a link that is cut, nobody does.
    let mut patience = LAST_WORDS;
    while !thread.is_finished() && !patience.is_zero() {
        thread::sleep(LOOK);
        patience = patience.saturating_sub(LOOK);
    }
}

/// Serves one coordinator until its end of the link closes. With `together`, as one of several simulated hosts.
pub(crate) fn serve(link: Link, guard: Guard, version: &str, together: Option<Together>) {
    let (out, inlet) = link.split();
    let control = Control::new();
    let contact = SharedContact::default();
    let (forward, orders) = channel();
    {
        // Orders are read while a stage runs, too, so that it can be stopped; and the end of the link stops it like an order. Nobody waits for
        // this thread: a stream that never ends would hold it for ever.
        let listener = Listener { out: out.clone(), control: control.clone(), contact: contact.clone(), forward };
        thread::spawn(move || listener.listen(inlet));
    }
    let version = version.to_owned();
    Agent { out, control, contact, guard, version, together, targets: None, stuck: false, watching: None }
        .obey(&orders);
}

/// The contact as the threads of an agent share it.
#[derive(Clone, Default)]
struct SharedContact(Arc<Mutex<Contact>>);

impl SharedContact {
    fn lock(&self) -> MutexGuard<'_, Contact> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads orders, and answers at once those that must not wait.
struct Listener {
    out: Outlet,
    control: Control,
    contact: SharedContact,
    forward: Sender<ToAgent>,
}

impl Listener {
    fn listen(self, mut inlet: Inlet) {
        while self.next(&mut inlet).is_ok() {}
        self.contact.lock().close();
        self.control.stop();
    }

    fn next(&self, inlet: &mut Inlet) -> Result<(), LinkError> {
        let order = inlet.receive::<ToAgent>()?;
        let now_ns = self.control.clock().now_ns();
        let reaction = self.contact.lock().hear(order, now_ns);
        match reaction {
            Reaction::Nothing => Ok(()),
            Reaction::BeWary => {
                watch(self.control.clone(), self.contact.clone());
                Ok(())
            }
            Reaction::Answer(answer) => self.out.send(&answer),
            Reaction::Stop(order) => {
                self.control.stop();
                self.forward.send(order).map_err(|_| LinkError::Closed)
            }
            Reaction::Judge { to_ns, end_after_ns } => {
                self.control.judge(to_ns, end_after_ns);
                Ok(())
            }
            Reaction::Queue(order) => self.forward.send(order).map_err(|_| LinkError::Closed),
        }
    }
}

/// Ends the load of an agent whose coordinator fell silent: no load without a coordinator.
fn watch(control: Control, contact: SharedContact) {
    thread::spawn(move || {
        while !contact.lock().is_over(control.clock().now_ns()) {
            thread::sleep(LOOK);
        }
        control.stop();
    });
}

struct Agent {
    out: Outlet,
    control: Control,
    contact: SharedContact,
    guard: Guard,
    version: String,
    /// The hosts whose virtual time is this one's, too.
    together: Option<Together>,
    targets: Option<OpenTargets>,
    /// A target of them does not answer any more.
    stuck: bool,
    /// Tells what the kernel counts, where somebody asked for that.
    watching: Option<Sampler>,
}

impl Agent {
    fn obey(mut self, orders: &Receiver<ToAgent>) {
        while let Some(order) = self.next(orders) {
            let answer = match state::duty(order) {
                Duty::Inspect { targets, host } => {
                    FromAgent::Facts { facts: Box::new(self.facts(&targets, host)), unix_ns: unix_ns() }
                }
                Duty::Open(plan) => self.open(*plan),
                Duty::Extend(stages) => {
                    if let Some(targets) = &mut self.targets {
                        targets.extend(stages);
                    }
                    continue;
                }
                Duty::Run { stage } => self.run(stage, orders),
                Duty::Clean { targets } if self.targets.is_none() => {
                    FromAgent::Cleaned(targets.iter().flat_map(|target| clean::clean(&self.guard, target)).collect())
                }
                Duty::Release { remove } => self.release(remove),
                Duty::Watch { interval_ns } => {
                    self.watch(interval_ns);
                    continue;
                }
                Duty::EndWatch => {
                    self.end_watch();
                    continue;
                }
                Duty::Clean { .. } | Duty::Nothing => continue,
            };
            if self.out.send(&answer).is_err() {
                return;
            }
        }
    }

    /// The next order; `None` when there will be none.
    fn next(&self, orders: &Receiver<ToAgent>) -> Option<ToAgent> {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if self.contact.lock().is_over(self.control.clock().now_ns()) => {
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn open(&mut self, plan: HostPlan) -> FromAgent {
        if let Err(error) = self.guard.check_plan(&plan) {
            return FromAgent::Refused(error.to_string());
        }
        let opened = match &self.together {
            Some(together) => engine::open_together(plan, together),
            None => engine::open(plan),
        };
        match opened {
            Ok(targets) => {
                let notes = targets.notes().to_vec();
                self.targets = Some(targets);
                FromAgent::Ready { notes }
            }
            Err(error) => FromAgent::Refused(error.to_string()),
        }
    }

    /// One reader at a time: a new order takes the place of the old one.
    fn watch(&mut self, interval_ns: u64) {
        self.end_watch();
        self.watching = Some(Sampler::watch(self.out.clone(), interval_ns));
    }

    fn end_watch(&mut self) {
        if let Some(sampler) = self.watching.take() {
            sampler.end();
        }
    }

    fn release(&mut self, remove: bool) -> FromAgent {
        let left = match self.targets.take() {
            Some(targets) if self.stuck => {
                let paths: Vec<&str> = targets.plan().targets.iter().map(|target| target.path.as_str()).collect();
                let left = format!(
                    "{}: what the run made there stays, because the target does not answer; once it does, remove it with `plimsoll clean`",
                    paths.join(", ")
                );
                targets.abandon();
                remove.then_some(left)
            }
            Some(targets) if remove => targets.remove().err().map(|error| error.to_string()),
            _ => None,
        };
        FromAgent::Released { left }
    }

    /// What this host is, and what each target is to it, real or simulated.
    fn facts(&self, targets: &[String], host: Option<u32>) -> HostFacts {
        let real: Vec<String> = targets.iter().filter(|path| !engine::is_simulated(path)).cloned().collect();
        let mut facts = probe::host(&real, host, &self.version);
        for target in &mut facts.targets {
            if let Err(error) = self.guard.check(&target.path) {
                target.kind = TargetKind::Unreadable(error.to_string());
            }
        }
        for (place, path) in targets.iter().enumerate().filter(|(_, path)| engine::is_simulated(path)) {
            facts.targets.insert(place.min(facts.targets.len()), engine::simulated(path));
        }
        facts
    }
}

/// The wall clock, for people.
fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
