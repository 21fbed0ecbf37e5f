//! One host's side of a run: does what the coordinator says, and stops when it is gone.

mod guard;
mod stages;

pub use guard::{ALLOW_FILE, Guard, GuardError};

use crate::link::{Inlet, Link, LinkError, Outlet, over};
use crate::sampler::Sampler;
use crate::wire::{FromAgent, ToAgent};
use engine::{Clock, Control, OpenTargets};
use model::plan::HostPlan;
use model::testbed::{HostFacts, TargetKind};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
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
    serve(link, guard, version);
    // Everything that was sent gets out, if the other end still reads: behind a link that is cut, nobody does.
    let mut patience = LAST_WORDS;
    while !thread.is_finished() && !patience.is_zero() {
        thread::sleep(LOOK);
        patience = patience.saturating_sub(LOOK);
    }
}

/// Serves one coordinator until its end of the link closes.
pub(crate) fn serve(link: Link, guard: Guard, version: &str) {
    let (out, inlet) = link.split();
    let control = Control::new();
    let contact = Arc::new(Contact::default());
    let (forward, orders) = channel();
    {
        // Orders are read while a stage runs, too, so that it can be stopped; and the end of the link stops it like an order. Nobody waits for
        // this thread: a stream that never ends would hold it for ever.
        let listener = Listener { out: out.clone(), control: control.clone(), contact: contact.clone(), forward };
        thread::spawn(move || listener.listen(inlet));
    }
    Agent { out, control, contact, guard, version: version.to_owned(), targets: None, stuck: false, watching: None }
        .obey(&orders);
}

/// When the coordinator was last heard of, and how long a silence may be.
#[derive(Debug, Default)]
struct Contact {
    heard_ns: AtomicU64,
    /// 0 is for ever.
    lost_after_ns: AtomicU64,
    gone: AtomicBool,
}

impl Contact {
    fn heard(&self, now_ns: u64) {
        self.heard_ns.store(now_ns, Ordering::SeqCst);
    }

    /// Whether the coordinator is gone, by the end of the link or by its silence.
    fn is_over(&self, now_ns: u64) -> bool {
        let lost_after_ns = self.lost_after_ns.load(Ordering::SeqCst);
        let silence_ns = now_ns.saturating_sub(self.heard_ns.load(Ordering::SeqCst));
        self.gone.load(Ordering::SeqCst) || (lost_after_ns > 0 && silence_ns > lost_after_ns)
    }
}

/// Reads orders, and answers at once those that must not wait.
struct Listener {
    out: Outlet,
    control: Control,
    contact: Arc<Contact>,
    forward: Sender<ToAgent>,
}

impl Listener {
    fn listen(self, mut inlet: Inlet) {
        while self.next(&mut inlet).is_ok() {}
        self.contact.gone.store(true, Ordering::SeqCst);
        self.control.stop();
    }

    fn next(&self, inlet: &mut Inlet) -> Result<(), LinkError> {
        let order = inlet.receive::<ToAgent>()?;
        let now_ns = self.control.clock().now_ns();
        self.contact.heard(now_ns);
        match order {
            ToAgent::Welcome { lost_after_ns } => {
                self.contact.lost_after_ns.store(lost_after_ns, Ordering::SeqCst);
                if lost_after_ns > 0 {
                    watch(self.control.clone(), self.contact.clone());
                }
                Ok(())
            }
            ToAgent::Ping { sent_ns } => self.out.send(&FromAgent::Pong { sent_ns, agent_ns: now_ns }),
            order => {
                if order == ToAgent::Stop {
                    self.control.stop();
                }
                // A stage that waits for its start has to hear of the stop, too.
                self.forward.send(order).map_err(|_| LinkError::Closed)
            }
        }
    }
}

/// Ends the load of an agent whose coordinator fell silent: no load without a coordinator.
fn watch(control: Control, contact: Arc<Contact>) {
    thread::spawn(move || {
        while !contact.gone.load(Ordering::SeqCst) {
            thread::sleep(LOOK);
            if contact.is_over(control.clock().now_ns()) {
                contact.gone.store(true, Ordering::SeqCst);
                control.stop();
            }
        }
    });
}

struct Agent {
    out: Outlet,
    control: Control,
    contact: Arc<Contact>,
    guard: Guard,
    version: String,
    targets: Option<OpenTargets>,
    /// A target of them does not answer any more.
    stuck: bool,
    /// Tells what the kernel counts, where somebody asked for that.
    watching: Option<Sampler>,
}

impl Agent {
    fn obey(mut self, orders: &Receiver<ToAgent>) {
        while let Some(order) = self.next(orders) {
            let answer = match order {
                ToAgent::Inspect { targets, host } => {
                    FromAgent::Facts { facts: Box::new(self.facts(&targets, host)), unix_ns: unix_ns() }
                }
                ToAgent::Assign(plan) => self.open(*plan),
                ToAgent::Arm { stage } => self.run(stage, orders),
                ToAgent::Release { remove } => self.release(remove),
                ToAgent::Watch { interval_ns } => {
                    self.watch(interval_ns);
                    continue;
                }
                ToAgent::Stop => {
                    self.end_watch();
                    continue;
                }
                // They are answered by the listener, or belong to a stage that is over.
                ToAgent::Welcome { .. } | ToAgent::Ping { .. } | ToAgent::Go { .. } => continue,
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
                Err(RecvTimeoutError::Timeout) if self.contact.is_over(self.control.clock().now_ns()) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn open(&mut self, plan: HostPlan) -> FromAgent {
        if let Err(error) = self.guard.check_plan(&plan) {
            return FromAgent::Refused(error.to_string());
        }
        match engine::open(plan) {
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
