//! One host's side of a run: does what the coordinator says, and stops when it is gone.

mod audit_line;
mod beside;
mod clean;
mod flows;
mod guard;
mod inspect;
mod neighbours;
mod parts;
mod stages;
pub(crate) mod state;

pub use guard::{ALLOW_FILE, Guard, GuardError};

use crate::coordinator::RunOver;
use crate::launch::{Start, Wanted};
use crate::link::{Inlet, Link, LinkError, Outlet, over};
use crate::relay::{Adopted, Relay, collect};
use crate::sampler::Sampler;
use crate::session::{self, Begins, Stream};
use crate::wire::{FromAgent, ToAgent};
use engine::{Clock, Control, Doing, EngineError, Haste, Together};
use model::Nanos;
use model::plan::HostPlan;
use neighbours::Presence;
use parts::Parts;
use state::{Contact, Reaction};
use std::io::{Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often an agent looks whether its coordinator is still there.
const LOOK: Duration = Duration::from_millis(50);

/// So many orders wait for their turn, at most: a coordinator has a handful under way.
const MOST_ORDERS: usize = 1_024;

/// How long the last messages may take to leave.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How an agent holds out whose streams close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldAs {
    /// For so long; 0 is not at all.
    pub within: Nanos,
    /// The name under which it is found again.
    pub name: String,
}

/// Serves the coordinator at the other end of these streams until they close, or until it falls
/// silent. The preamble must have been written. With `may_relay`, it may be told to start agents
/// elsewhere, which is to run the commands that it is given. With `held`, it goes on where its
/// streams close, and waits so long to be found again.
pub fn serve_streams(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    guard: Guard,
    version: &str,
    may_relay: bool,
    held: Option<&HeldAs>,
) {
    let (link, thread) = match held {
        None => over(reader, writer),
        Some(HeldAs { within, name }) => {
            let (reader, writer) = (Box::new(reader), Box::new(writer));
            let stream = Stream { reader, writer, carrier: Box::new(()) };
            let within = Duration::from_nanos(within.0);
            let (link, session, thread) = session::over(stream, within, Begins::Held);
            // Where another has the name, nobody finds this one again: it ends then as one that
            // nobody comes back to.
            let _ = session::listen(name, session);
            (link, thread)
        }
    };
    serve(link, guard, version, None, may_relay);
    // Everything that was sent gets out, if the other end still reads: behind a link that is cut,
    // nobody does.
    let mut patience = LAST_WORDS;
    while !thread.is_finished() && !patience.is_zero() {
        thread::sleep(LOOK);
        patience = patience.saturating_sub(LOOK);
    }
}

/// Serves one coordinator until its end of the link closes. With `together`, as one of several
/// simulated hosts.
pub(crate) fn serve(
    link: Link,
    guard: Guard,
    version: &str,
    together: Option<Together>,
    may_relay: bool,
) {
    let (out, inlet) = link.split();
    let control = Control::new();
    let contact = SharedContact::default();
    let haste = Haste::default();
    let (forward, orders) = sync_channel(MOST_ORDERS);
    {
        // Orders are read while a stage runs, too, so that it can be stopped; and the end of the
        // link stops it like an order. Nobody waits for this thread: a stream that never ends would
        // hold it for ever.
        let below = Below { may_relay, relay: Arc::default() };
        let (out, control, contact, haste) =
            (out.clone(), control.clone(), contact.clone(), haste.clone());
        let listener = Listener { out, control, contact, haste, forward, below };
        thread::spawn(move || listener.listen(inlet));
    }
    let version = version.to_owned();
    Agent {
        out,
        control,
        contact,
        haste,
        guard,
        version,
        together,
        targets: None,
        presence: None,
        knows_no_servers: false,
        stuck: false,
        watching: None,
        flowing: Arc::default(),
    }
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
    haste: Haste,
    forward: SyncSender<ToAgent>,
    below: Below,
}

/// The hosts that this agent started itself, if any.
struct Below {
    may_relay: bool,
    relay: Arc<Mutex<Option<Relay>>>,
}

impl Below {
    /// Starts them. That takes long, so another thread does it: meanwhile, we answer.
    fn adopt(&self, wanted: Wanted, out: &Outlet) -> Result<(), LinkError> {
        if !self.may_relay {
            return out.answer(&FromAgent::Adopted(Start::not_by_relay(&wanted)));
        }
        let (relay, out) = (self.relay.clone(), out.clone());
        thread::spawn(move || {
            let (made, starts, words) = match Relay::adopt(&wanted) {
                Ok(Adopted { relay, starts, words }) => (Some(relay), starts, Some(words)),
                Err(starts) => (None, starts, None),
            };
            *relay.lock().unwrap_or_else(PoisonError::into_inner) = made;
            // If nobody hears it, this agent ends. What those below say comes behind it.
            let _ = out.answer(&FromAgent::Adopted(starts));
            words.iter().for_each(|words| collect(words, &out));
        });
        Ok(())
    }

    fn tell(&self, what: impl FnOnce(&mut Relay)) {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(what);
    }
}

impl Drop for Below {
    fn drop(&mut self) {
        // The thread that started them may still hold it, too.
        *self.relay.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// However it ends, by the end of the link or by a panic: no load goes on that nobody can stop.
impl Drop for Listener {
    fn drop(&mut self) {
        self.contact.lock().close();
        self.haste.set(true);
        self.control.stop();
    }
}

impl Listener {
    fn listen(self, mut inlet: Inlet) {
        while self.next(&mut inlet).is_ok() {}
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
            // A sign of life that there is no room for would come too late; the next one is asked
            // for in a second.
            Reaction::Answer(answer) => match self.out.send_while(&answer, || false) {
                Err(LinkError::Full) => Ok(()),
                sent => sent,
            },
            Reaction::Stop(order) => {
                // Whoever waits for a target that is opened or let go of has waited enough.
                self.haste.set(true);
                self.control.stop();
                self.queue(order)
            }
            Reaction::Adopt(wanted) => self.below.adopt(*wanted, &self.out),
            Reaction::Pass { below, frame } => {
                self.below.tell(|relay| relay.pass(below, frame));
                Ok(())
            }
            Reaction::Part { below } => {
                self.below.tell(|relay| relay.part(below));
                Ok(())
            }
            Reaction::Judge { to_ns, end_after_ns } => {
                self.control.judge(to_ns, end_after_ns);
                Ok(())
            }
            Reaction::Cut { stage, stops } => {
                self.control.first_done_elsewhere(stage, stops);
                Ok(())
            }
            Reaction::Queue(order) => {
                // What is ordered behind a stop has all its time: removing what a stopped run made
                // is no less work than after any other.
                self.haste.set(false);
                self.queue(order)
            }
        }
    }

    /// An order that has its turn behind others. Who reads orders does not wait, or no stop would
    /// be
    /// heard: a coordinator that gives more of them than any does is given up, and the load ends.
    fn queue(&self, order: ToAgent) -> Result<(), LinkError> {
        self.forward.try_send(order).map_err(|_| LinkError::Closed)
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
    /// Whether somebody wants to leave: then no target is waited for long.
    haste: Haste,
    guard: Guard,
    version: String,
    /// The hosts whose virtual time is this one's, too.
    together: Option<Together>,
    targets: Option<Parts>,
    /// Says to other runs on this machine that it is loaded.
    presence: Option<Presence>,
    /// It was said already that nobody knows the state of the storage's servers.
    knows_no_servers: bool,
    /// A target of them does not answer any more.
    stuck: bool,
    /// Tells what the kernel counts, where somebody asked for that.
    watching: Option<Sampler>,
    /// Whether it carries a flow.
    flowing: Arc<AtomicBool>,
}

impl Agent {
    fn obey(mut self, orders: &Receiver<ToAgent>) {
        while let Some(order) = self.next(orders) {
            let in_place = state::in_place_of_answer(&order);
            // Whoever waits for the answer would wait for ever: the thread that reads the link
            // lives on. What a panic leaves half done is let go of or removed, and the run is over.
            let answer = panic::catch_unwind(AssertUnwindSafe(|| self.perform(order, orders)))
                .unwrap_or_else(|payload| {
                    // Workers of a stage may still be at it.
                    self.control.stop();
                    self.control.leave_stage();
                    in_place
                        .map(|answer| answer(EngineError::panicked("agent", &*payload).to_string()))
                });
            if answer.is_some_and(|answer| self.out.answer(&answer).is_err()) {
                return;
            }
        }
    }

    /// Does what is to be done; comes back with the answer, where there is one.
    fn perform(&mut self, order: ToAgent, orders: &Receiver<ToAgent>) -> Option<FromAgent> {
        Some(match order {
            ToAgent::Inspect { targets, host, patience_ns } => {
                let facts = self.facts(&targets, host, Nanos(patience_ns));
                FromAgent::Facts { facts: Box::new(facts), unix_ns: crate::unix_ns() }
            }
            ToAgent::Assign(plan) => self.open(*plan),
            ToAgent::Extend(stages) => {
                if let Some(targets) = &mut self.targets {
                    targets.extend(stages);
                }
                return None;
            }
            ToAgent::Arm { stage } => self.run(stage, orders),
            ToAgent::Clean { targets, patience_ns } if self.targets.is_none() => {
                let clean = |target: &String| {
                    clean::clean(&self.guard, target, Nanos(patience_ns), &self.haste)
                };
                FromAgent::Cleaned(targets.iter().flat_map(clean).collect())
            }
            ToAgent::GiveBack(word) => {
                let given = self.targets.as_mut().map_or(Ok(()), |parts| parts.give_back(&word));
                FromAgent::GaveBack { failed: given.err() }
            }
            ToAgent::Release(word) => self.release(&word),
            ToAgent::Watch { interval_ns } => {
                self.watch(interval_ns);
                return None;
            }
            ToAgent::Stop => {
                self.end_watch();
                return None;
            }
            ToAgent::Addresses => FromAgent::Addresses(flows::addresses()),
            ToAgent::Listen { at, spec } => return self.listen(at, spec),
            ToAgent::Connect { own, to, spec } => return self.connect(own, to, spec),
            // It was answered when it came, is of a stage that is over, or cannot be done now.
            ToAgent::Clean { .. }
            | ToAgent::Judged { .. }
            | ToAgent::Adopt(_)
            | ToAgent::Pass { .. }
            | ToAgent::Part { .. }
            | ToAgent::Welcome { .. }
            | ToAgent::Ping { .. }
            | ToAgent::Go { .. }
            | ToAgent::FirstDone { .. } => return None,
        })
    }

    /// The next order; `None` when there will be none.
    fn next(&self, orders: &Receiver<ToAgent>) -> Option<ToAgent> {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout)
                    if self.contact.lock().is_over(self.control.clock().now_ns()) =>
                {
                    return None;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn open(&mut self, plan: HostPlan) -> FromAgent {
        if let Err(why) = plan.check() {
            return FromAgent::Refused(format!(
                "the plan does not fit itself: {why}; begin the run anew"
            ));
        }
        let (guard, theirs) = (self.guard.clone(), plan.clone());
        let names =
            plan.targets.iter().map(|target| target.path.as_str()).collect::<Vec<_>>().join(", ");
        // A path is followed to its end, which may be on a mount that does not answer.
        let checked =
            engine::patiently(plan.engine.patience, &self.haste, Doing::Looking, move |progress| {
                progress.at(&names);
                Ok(guard.check_plan(&theirs))
            });
        match checked
            .map_err(|error| error.to_string())
            .and_then(|checked| checked.map_err(|error| error.to_string()))
        {
            Ok(()) => {}
            Err(why) => return FromAgent::Refused(why),
        }
        audit_line::begins(&plan);
        match Parts::begin(plan, self.together.clone(), self.guard.bounds(), self.haste.clone()) {
            Ok((targets, notes)) => {
                self.presence = Presence::begin(targets.plan());
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

    fn release(&mut self, word: &RunOver) -> FromAgent {
        self.presence = None;
        let left = match self.targets.take() {
            Some(targets) if self.stuck => {
                let left = format!(
                    "{}: what the run made there stays, because the target does not answer; once \
                     it does, remove it with `plimsoll clean`",
                    targets.abandon().join(", ")
                );
                word.removes().then_some(left)
            }
            Some(targets) => targets.release(word),
            None => None,
        };
        FromAgent::Released { left }
    }

    /// What this host is, and what each target is to it, real or simulated.
    fn facts(
        &self,
        targets: &[String],
        host: Option<u32>,
        patience: Nanos,
    ) -> model::testbed::HostFacts {
        inspect::Look { guard: &self.guard, version: &self.version, patience, haste: &self.haste }
            .at(targets, host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Via;
    use crate::link::pair;

    #[test]
    fn an_agent_that_was_not_told_to_relay_runs_no_command_of_its_coordinator() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("made");
        let wanted = |version: &str| Wanted {
            via: Via::Template(["sh", "-c", "touch {host}; exit 1"].map(str::to_owned).to_vec()),
            hosts: vec![file.display().to_string()],
            version: version.to_owned(),
            by: Some("n1".to_owned()),
            ..Wanted::default()
        };
        let answer = |may_relay: bool| {
            let (ours, theirs) = pair();
            thread::spawn(move || serve(theirs, Guard::none(), "1", None, may_relay));
            let (out, mut inlet) = ours.split();
            out.send(&ToAgent::Adopt(Box::new(wanted("1")))).expect("open");
            inlet.receive::<FromAgent>().expect("an answer")
        };
        let missing = |may_relay: bool| {
            let FromAgent::Adopted(starts) = answer(may_relay) else { panic!("not an answer") };
            assert_eq!(starts.len(), 1);
            (starts[0].by.clone(), starts[0].missing.clone().expect("no agent").words())
        };
        let (_, why) = missing(false);
        assert!(why.contains("not told --relay"), "{why}");
        assert!(!file.exists());
        // One that was told runs it, and says what came of it.
        let (by, why) = missing(true);
        assert!(by.as_deref() == Some("n1") && why.contains("no agent could be"), "{why}");
        assert!(file.exists());
    }

    #[test]
    fn a_coordinator_that_orders_without_end_is_given_up_at_the_bound_and_signs_of_life_have_room()
    {
        let (ours, theirs) = pair();
        let ((orders, mut answers), (out, mut inlet)) = (ours.split(), theirs.split());
        let control = Control::new();
        let (forward, queued) = sync_channel(2);
        let below = Below { may_relay: false, relay: Arc::default() };
        let (contact, haste) = (SharedContact::default(), Haste::default());
        let listener = Listener {
            out: out.with_room(1),
            control: control.clone(),
            contact: contact.clone(),
            haste,
            forward,
            below,
        };
        for order in [ToAgent::Ping { sent_ns: 1 }, ToAgent::Ping { sent_ns: 2 }] {
            orders.send(&order).expect("room");
            assert_eq!(listener.next(&mut inlet), Ok(()), "nobody reads, and orders are heard");
        }
        let pong = answers.receive::<FromAgent>();
        assert!(matches!(pong, Ok(FromAgent::Pong { sent_ns: 1, .. })), "{pong:?}");
        let inspect = || ToAgent::Inspect { targets: vec![], host: None, patience_ns: 1 };
        (0..3).for_each(|_| orders.send(&inspect()).expect("room"));
        assert_eq!(
            [(); 3].map(|()| listener.next(&mut inlet)).map(|next| next.is_ok()),
            [true, true, false]
        );
        drop(listener);
        assert!(contact.lock().is_over(0), "no load goes on");
        assert_eq!(queued.iter().count(), 2);
    }
}
