//! Lets a scenario happen: one coordinator, its agents, the links between them, one queue.

mod commands;
mod lives;
mod relays;
mod taking;

use super::agent::{Effect, LOAD_AFTER_NS, SimAgent};
use super::clock::awake_ns;
use super::layouts::{Deed, Deeds};
use super::load::Tally;
use super::queue::Queue;
use super::scenario::{Mishap, Scenario};
use super::stream::Line;
use super::{MILLI, SECOND};
use crate::coordinator::{Action, Coordinator, Input, Marked, Now, Reach};
use crate::link::Frame;
use crate::performer::Reader;
use crate::relaunch::{To, Ways};
use crate::tree::Tree;
use crate::wire::{FromAgent, ToAgent};
use commands::Command;
use model::plan::Part;
use model::rng::{Rng, derive};
use model::takeover::Kept;
use model::{Event, Nanos, OccurrenceKind, Plan, RunEnd};
use relays::{Place, places};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use taking::Held;

/// How often the coordinator hears that time passes.
const TICK_NS: u64 = 100 * MILLI;
/// A wall clock that shows some day.
const UNIX_NS: u64 = 1_800_000_000 * SECOND;

#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How the run ended and when; `None` where its coordinator died.
    pub(super) end: Option<(RunEnd, u64)>,
    pub(super) hosts: Vec<HostOutcome>,
    /// Of every stage that began: its number and the agreed instant, on the coordinator's clock in
    /// ns.
    pub(super) agreed_ns: Vec<(u32, u64)>,
    /// What hosts did with layouts.
    pub(super) deeds: Deeds,
    /// Things that happened, of all kinds.
    pub(super) happened: u64,
    /// When hosts were first told to stop, in ns of true time.
    pub(super) stopped_ns: Option<u64>,
    /// Marks and what came of each.
    pub(super) marks: Vec<(u32, Option<Marked>)>,
    /// The stage that was under way.
    pub(super) under_way: Option<u32>,
    /// Hosts were told to let go.
    pub(super) is_released: bool,
    /// The coordinator heard before that, that the run cannot be recorded.
    pub(super) is_unrecorded: bool,
    /// Somebody took the agents over.
    pub(super) taken_over: bool,
    /// When the coordinator was gone, in ns of true time.
    pub(super) over_ns: u64,
    /// What was seen to be wrong while it happened.
    pub(super) broken: Vec<String>,
    /// What is rare, and was seen.
    pub(super) seen: BTreeSet<&'static str>,
}

impl Outcome {
    /// Whether the run was over when this mark was set, or so soon that nobody looked at it.
    pub(super) fn end_is_at_least(&self, scenario: &Scenario, ticket: u32) -> bool {
        let stalls_ns = scenario.coordinator.stalls.map_or(0, |(_, until_ns)| until_ns);
        let set_ns = scenario.marks_ns[ticket as usize].max(stalls_ns);
        self.end.as_ref().is_some_and(|(_, end_ns)| *end_ns <= set_ns)
    }

    /// Whether nothing befalls a host, nor whoever stands between it and the coordinator.
    pub(super) fn is_reachable(&self, scenario: &Scenario, host: usize) -> bool {
        let is_healthy = |host: &usize| scenario.hosts[*host].is_healthy();
        is_healthy(&host) && self.hosts[host].relays.iter().all(is_healthy)
    }

    pub(super) fn see(&mut self, what: &'static str) {
        self.seen.insert(what);
    }
}

#[derive(Debug, Default)]
pub(super) struct HostOutcome {
    /// What it sent, by stage.
    pub(super) sampled: Vec<Tally>,
    /// What of it reached the coordinator before that gave the host up.
    pub(super) arrived: Vec<Tally>,
    /// Stage and the true time of what it took for the agreed instant, in ns.
    pub(super) starts: Vec<(u32, u64)>,
    /// Every time that its load was on.
    pub(super) loads: Vec<LoadSpan>,
    /// Whether the coordinator ever gave it up.
    pub(super) is_lost: bool,
    pub(super) relays: Vec<usize>,
    pub(super) removed: bool,
    /// Its targets were another agent's.
    pub(super) locked_out: bool,
    /// When its last agent ended, in ns of true time; `None` where it did not.
    pub(super) gone_ns: Option<u64>,
    /// What it told whoever took it over.
    pub(super) kept: Option<Kept>,
}

/// Load on a host, in ns of true time.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadSpan {
    /// `None` while it is on.
    pub(super) until_ns: Option<u64>,
    /// When its agent's reason to go on ended: by the end of the stream, or by too long a silence.
    pub(super) allowed_until_ns: u64,
}

/// A host, and which of its agents: how many it had before that one.
type Life = (usize, u32);

enum What {
    Order(Life, Frame),
    /// With the instant at which it came, where it was stamped.
    Word(Life, Frame, Option<u64>),
    /// Of that number for the performer.
    Wake(Life, u32),
    Look(Life),
    /// The agent sees the end of its stream.
    Closed(Life),
    Lost(Life),
    Dies(Life),
    Breaks(Life),
    /// A new agent would be there.
    Launched {
        host: usize,
        start: u32,
    },
    Input(Input),
    Tick,
    CoordinatorDies,
    CommandEnds {
        number: u32,
        is_killed: bool,
    },
    Mark {
        ticket: u32,
    },
    TakesOver,
    /// He shows a host that he is there.
    Beat {
        host: usize,
        until_ns: u64,
    },
    /// He hears a host.
    ToldAgain {
        host: usize,
        frame: Frame,
    },
}

struct Side {
    agent: SimAgent,
    down: Line,
    up: Line,
    mishap: Option<Mishap>,
    is_dead: bool,
    is_broken: bool,
    /// Whoever reached it by himself has nothing to do with it any more.
    is_parted: bool,
    heard_ns: Option<u64>,
    closed_ns: Option<u64>,
    /// How many agents it had before this one.
    life: u32,
    /// Its agent's number for the performer.
    epoch: u32,
    /// What the performer reads it with, where it came back.
    reader: Reader,
    held: Held,
    /// The start of its next agent, while that is under way.
    start: Option<u32>,
    /// Whether the coordinator has nothing to do with it at present.
    is_out: bool,
    /// Whether what it measures counts: not while it lays its data out anew.
    takes_part: bool,
    outcome: HostOutcome,
}

struct World<'a> {
    scenario: &'a Scenario,
    queue: Queue<What>,
    coordinator: Option<Coordinator>,
    sides: Vec<Side>,
    /// The coordinator's own branches.
    root: Tree,
    places: Vec<Place>,
    record: &'a mut dyn FnMut(&Event),
    told: Option<InputListener<'a>>,
    recorded: u64,
    outcome: Outcome,
    /// The real performer's: who is reached how, and whose words count.
    ways: Ways<u32>,
    /// What it reads each branch with.
    readers: Vec<Reader>,
    commands: BTreeMap<u32, Command>,
    /// The command that is under way before a point.
    prerun: Option<u32>,
    /// The plan with what a search added, if it searches.
    grown: Option<Plan>,
    rng: Rng,
    /// What becomes of commands and rounds.
    luck: Rng,
    /// What befalls agents that are started again.
    later: Rng,
}

/// Hears what the coordinator is told, before it decides.
pub(super) type InputListener<'a> = Box<dyn FnMut(&Input, Now) + 'a>;

/// Lets it happen until nothing more can, and hands every event to `record`.
pub(super) fn run(scenario: &Scenario, record: &mut dyn FnMut(&Event)) -> Outcome {
    run_overheard(scenario, record, None)
}

/// The same, where somebody hears all that the coordinator is told.
pub(super) fn run_overheard(
    scenario: &Scenario,
    record: &mut dyn FnMut(&Event),
    told: Option<InputListener<'_>>,
) -> Outcome {
    let mut world = World { told, ..World::new(scenario, record) };
    world.set_up();
    while let Some(what) = world.queue.next()
        && world.queue.now_ns() < scenario.gives_up_ns
    {
        world.outcome.happened += 1;
        world.happen(what);
    }
    let (sides, mut outcome) = (world.sides, world.outcome);
    outcome.hosts = sides
        .into_iter()
        .map(|side| HostOutcome {
            sampled: side.agent.sampled,
            kept: side.held.told,
            ..side.outcome
        })
        .collect();
    outcome
}

/// A decision of the coordinator. A function of its own, so that `cargo xtask soak --scale` can
/// count the instructions in it alone.
#[inline(never)]
fn decide(coordinator: &mut Coordinator, input: Input, now: Now) -> Vec<Action> {
    coordinator.step(input, now)
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, record: &'a mut dyn FnMut(&Event)) -> World<'a> {
        let stops: Vec<_> = scenario.plan.stages.iter().map(model::plan::Stage::stop).collect();
        let all = vec![Tally::default(); scenario.all_stages()];
        let places = places(scenario.hosts.len(), scenario.fanout);
        let root = Tree::new(scenario.hosts.len(), scenario.fanout);
        let agent = |number: usize, script: &super::scenario::HostScript| {
            let mut agent = SimAgent::new(
                script.time,
                stops.clone(),
                parts(&scenario.plan),
                script.load.clone(),
                script.behaviour.clone(),
                derive(scenario.seed, &[5, number as u64]),
            );
            agent.sampled.clone_from(&all);
            agent
        };
        let side = |(number, script): (usize, &super::scenario::HostScript)| Side {
            agent: agent(number, script),
            down: script.down.clone(),
            up: script.up.clone(),
            mishap: script.mishap.filter(|_| !script.is_absent),
            is_dead: script.is_absent,
            is_broken: false,
            is_parted: script.is_absent,
            heard_ns: None,
            closed_ns: None,
            life: 0,
            epoch: 0,
            reader: Reader::default(),
            held: Held::default(),
            start: None,
            is_out: script.is_absent,
            takes_part: !script.is_absent,
            outcome: HostOutcome {
                arrived: all.clone(),
                is_lost: script.is_absent,
                relays: relays::above(&places, number),
                gone_ns: script.is_absent.then_some(0),
                ..HostOutcome::default()
            },
        };
        World {
            scenario,
            queue: Queue::new(),
            coordinator: Some(Coordinator::new(
                &scenario.plan,
                &scenario.stages,
                Reach::Remote,
                scenario.keep_data,
            )),
            sides: scenario.hosts.iter().enumerate().map(side).collect(),
            ways: Ways::new(scenario.hosts.len()),
            readers: root.branches().map(|_| Reader::default()).collect(),
            commands: BTreeMap::new(),
            prerun: None,
            grown: scenario.further_points.map(|_| scenario.plan.clone()),
            root,
            places,
            record,
            told: None,
            recorded: 0,
            outcome: Outcome::default(),
            luck: Rng::new(derive(scenario.seed, &[17])),
            rng: Rng::new(derive(scenario.seed, &[6])),
            later: Rng::new(derive(scenario.seed, &[9])),
        }
    }

    fn set_up(&mut self) {
        let script = self.scenario.coordinator;
        for host in 0..self.sides.len() {
            if self.scenario.hosts[host].is_absent {
                let coordinator = self.coordinator.iter_mut();
                coordinator.for_each(|one| one.begin_without(host, "no route".to_owned()));
                self.outcome.deeds.push((host, Deed::Gone));
                continue;
            }
            self.send(
                host,
                &ToAgent::Welcome { lost_after_ns: self.scenario.plan.fleet.silence().0 },
            );
            match self.sides[host].mishap {
                Some(Mishap::Dies { at_ns, .. }) => {
                    self.queue.plan(at_ns, What::Dies((host, 0)));
                }
                Some(Mishap::Breaks { at_ns }) => {
                    self.queue.plan(at_ns, What::Breaks((host, 0)));
                }
                Some(Mishap::Stalls { .. }) | None => {}
            }
        }
        self.queue.plan(0, What::Input(Input::Begin));
        self.queue.plan(TICK_NS, What::Tick);
        if let Some(at_ns) = script.interrupted_at_ns {
            self.queue.plan(at_ns, What::Input(Input::Interrupt));
        }
        if let Some(at_ns) = script.dies_at_ns {
            self.queue.plan(at_ns, What::CoordinatorDies);
        }
        if let Some(at_ns) = script.taken_over_at_ns {
            self.queue.plan(at_ns, What::TakesOver);
        }
        for (ticket, at_ns) in (0..).zip(&self.scenario.marks_ns) {
            self.queue.plan(*at_ns, What::Mark { ticket });
        }
    }

    /// What happens to somebody who stands still happens when he goes on; everything else happens
    /// now.
    fn happen(&mut self, what: What) {
        let now_ns = self.queue.now_ns();
        if self.is_of_an_earlier_life(&what) {
            return;
        }
        match what {
            What::Order((host, _), _)
            | What::Wake((host, _), _)
            | What::Look((host, _))
            | What::Closed((host, _)) => {
                if let Some(Mishap::Stalls { from_ns, until_ns }) = self.sides[host].mishap
                    && (from_ns..until_ns).contains(&now_ns)
                {
                    return self.queue.plan(until_ns, what);
                }
                self.pass_to_agent(host, what, now_ns);
            }
            What::CommandEnds { number, is_killed } => {
                if let Some(input) = self.command_ends(number, is_killed) {
                    self.queue.plan(now_ns, What::Input(input));
                }
            }
            What::Mark { ticket } if self.coordinator.is_some() => self.mark(ticket),
            What::Mark { .. } => {}
            What::TakesOver => self.take_over(),
            What::Beat { host, until_ns } => self.beat(host, until_ns),
            What::ToldAgain { host, frame } => self.told_again(host, &frame),
            What::Launched { host, start } => {
                if let Some(input) = self.launched(host, start) {
                    self.queue.plan(now_ns, What::Input(input));
                }
            }
            What::Word(..) | What::Lost(_) | What::Input(_) | What::Tick => {
                let Some(what) = self.pass_up(what) else { return };
                if let Some((from_ns, until_ns)) = self.scenario.coordinator.stalls
                    && (from_ns..until_ns).contains(&now_ns)
                {
                    // What came is stamped by a thread of its own; what the machine itself held up
                    // is not. A seed has it one way.
                    let stamp = |at_ns: Option<u64>| {
                        let stamps = self.scenario.seed.is_multiple_of(2)
                            && !self.scenario.coordinator.clock_stalls;
                        at_ns.or(stamps.then_some(now_ns))
                    };
                    let what = match what {
                        What::Word(life, frame, at_ns) => What::Word(life, frame, stamp(at_ns)),
                        what => what,
                    };
                    return self.queue.plan(until_ns, what);
                }
                self.pass_to_coordinator(what, now_ns);
            }
            What::Dies((host, _)) => self.die(host, now_ns),
            What::Breaks((host, _)) => self.break_off(host, now_ns),
            What::CoordinatorDies => self.coordinator_dies(),
        }
    }

    fn pass_to_agent(&mut self, host: usize, what: What, now_ns: u64) {
        let side = &mut self.sides[host];
        if side.is_dead || (side.is_broken && matches!(what, What::Order(..))) {
            return;
        }
        let mut closes = false;
        let effects = match what {
            What::Order(_, frame) => {
                let order: ToAgent = frame.read().expect("as it was written");
                side.heard_ns = Some(now_ns);
                side.agent.hear(order, now_ns)
            }
            What::Wake(_, epoch) => side.agent.wake(epoch, now_ns),
            What::Look(_) => side.agent.look(now_ns),
            What::Closed(_) => {
                side.closed_ns.get_or_insert(now_ns);
                closes = true;
                side.agent.close(now_ns)
            }
            _ => Vec::new(),
        };
        if closes {
            self.close_below(host, now_ns);
        }
        for effect in effects {
            self.take_effect(host, effect, now_ns);
        }
    }

    fn take_effect(&mut self, host: usize, effect: Effect, now_ns: u64) {
        let side = &mut self.sides[host];
        match effect {
            Effect::Say(message) => self.say_up(host, &message),
            Effect::Wake { at_ns, epoch } => {
                self.queue.plan(at_ns, What::Wake((host, side.life), epoch));
            }
            Effect::Look { at_ns } => self.queue.plan(at_ns, What::Look((host, side.life))),
            Effect::LoadOn { stage, agreed_ns } => {
                // Nobody agreed on an instant with a host that lays its data out anew.
                if side.takes_part {
                    side.outcome.starts.push((stage, agreed_ns));
                }
                let takes_part = side.takes_part && !side.is_out;
                let span = LoadSpan { until_ns: None, allowed_until_ns: u64::MAX };
                side.outcome.loads.push(span);
                if takes_part && self.is_before_a_point() {
                    let what = format!("host {host} loads while something is done before a point");
                    self.outcome.broken.push(what);
                }
            }
            Effect::LoadOff => side.load_off(now_ns, self.scenario.plan.fleet.silence().0),
            Effect::Exit => {
                side.load_off(now_ns, self.scenario.plan.fleet.silence().0);
                side.is_dead = true;
                side.outcome.gone_ns = Some(now_ns);
                self.outcome.deeds.push((host, Deed::Gone));
                self.close_up(host, now_ns);
                self.close_below(host, now_ns);
            }
            Effect::Removes => side.outcome.removed = true,
            Effect::IsLockedOut => {
                side.outcome.locked_out = true;
                self.outcome.see("targets are still an earlier attempt's");
            }
            Effect::Layout(_) if side.is_out => {}
            Effect::Layout(deed) => self.outcome.deeds.push((host, deed)),
            Effect::Pass { below, frame } => self.pass(host, below, frame),
            Effect::Part { below } => self.part(Some(host), below as usize),
        }
    }

    /// The coordinator sees the end of a stream after everything that was sent on it.
    fn close_up(&mut self, host: usize, now_ns: u64) {
        let life = self.sides[host].life;
        if let Some(at_ns) = self.sides[host].up.arrival(now_ns) {
            self.queue.plan(at_ns, What::Lost((host, life)));
        }
    }

    fn die(&mut self, host: usize, now_ns: u64) {
        let side = &mut self.sides[host];
        if side.is_dead {
            return;
        }
        side.is_dead = true;
        side.outcome.gone_ns = Some(now_ns);
        self.outcome.deeds.push((host, Deed::Gone));
        side.load_off(now_ns, self.scenario.plan.fleet.silence().0);
        if let Some(Mishap::Dies { closed_after_ns: Some(after_ns), .. }) = side.mishap {
            self.close_up(host, now_ns + after_ns);
            self.close_below(host, now_ns + after_ns);
        }
    }

    fn break_off(&mut self, host: usize, now_ns: u64) {
        self.sides[host].is_broken = true;
        let [sooner, later] = [self.rng.below(100 * MILLI), self.rng.below(100 * MILLI)];
        let life = self.sides[host].life;
        self.queue.plan(now_ns + sooner, What::Closed((host, life)));
        self.queue.plan(now_ns + later, What::Lost((host, life)));
    }

    fn coordinator_dies(&mut self) {
        // Agents that hold out wait for another one, until the silence is too long.
        let hold = self.scenario.plan.fleet.hold;
        if self.coordinator.is_some() {
            self.outcome.over_ns = self.queue.now_ns();
        }
        // One that ends the run itself holds nobody.
        let lets_go = hold == Nanos(0) || self.outcome.end.is_some();
        if self.coordinator.take().is_some() && lets_go {
            let heads: Vec<usize> = self.root.branches().map(|hosts| hosts[0]).collect();
            let returned = (0..self.sides.len()).filter(|host| self.sides[*host].life > 0);
            let ends: Vec<usize> = heads
                .into_iter()
                .filter(|head| self.sides[*head].life == 0)
                .chain(returned)
                .collect();
            ends.into_iter().for_each(|host| self.close_down(host));
        }
    }

    /// The agent sees the end of a stream after everything that was sent on it.
    fn close_down(&mut self, host: usize) {
        let (now_ns, life) = (self.queue.now_ns(), self.sides[host].life);
        if let Some(at_ns) = self.sides[host].down.arrival(now_ns) {
            self.queue.plan(at_ns, What::Closed((host, life)));
        }
    }

    fn pass_to_coordinator(&mut self, what: What, now_ns: u64) {
        if self.coordinator.is_none() {
            return;
        }
        let steady_ns = self.coordinator_ns(now_ns);
        let inputs = match what {
            What::Word((host, _), ..) if self.sides[host].is_broken => return,
            What::Word((host, _), frame, at_ns) => {
                if self.holds_sessions() && self.sides[host].life == 0 {
                    self.took(host);
                }
                let at_ns = at_ns.map_or(steady_ns, |at_ns| self.coordinator_ns(at_ns));
                self.taken_apart(host, frame, at_ns)
            }
            What::Lost((host, _)) => self.all_lost(host),
            What::Input(input) => vec![input],
            _ => {
                self.queue.plan(now_ns + TICK_NS, What::Tick);
                vec![Input::Tick]
            }
        };
        for input in inputs {
            if let Input::Heard { host, message: FromAgent::Sample(sample), .. } = &input {
                let side = &mut self.sides[*host];
                if side.takes_part {
                    side.outcome.arrived[sample.stage as usize].add(sample);
                }
            }
            self.outcome.is_unrecorded |=
                matches!(input, Input::Unrecordable(_)) && !self.outcome.is_released;
            self.step(input, now_ns);
        }
    }

    fn step(&mut self, input: Input, now_ns: u64) {
        let now = Now { steady_ns: self.coordinator_ns(now_ns), unix_ns: self.unix_ns(now_ns) };
        let Some(coordinator) = &mut self.coordinator else { return };
        if let Some(told) = &mut self.told {
            told(&input, now);
        }
        for action in decide(coordinator, input, now) {
            match action {
                Action::Send { host, message } => {
                    if message == ToAgent::Stop {
                        self.outcome.stopped_ns.get_or_insert(now_ns);
                    }
                    self.send(host, &message);
                }
                Action::Ping { host } => {
                    self.send(host, &ToAgent::Ping { sent_ns: now.steady_ns });
                }
                Action::Drop { host } => {
                    self.drop_host(host);
                }
                Action::Launch { host, start } => self.launch(host, start),
                Action::Emit(event) => self.emit(&event, now_ns),
                Action::Command { number, name, .. } => self.begin_command(number, &name),
                Action::EndCommand { number } => self.end_command(number),
                Action::Placed { ticket, marked } => self.placed(ticket, marked),
                Action::Ask => {
                    let next = self.next_point();
                    self.queue.plan(now_ns, What::Input(next));
                }
                Action::Judge { stage, .. } => {
                    let is_steady = self.luck.below(4) == 0;
                    self.queue.plan(now_ns, What::Input(Input::Judged { stage, is_steady }));
                }
                Action::Finish { end, .. } => {
                    self.outcome.end = Some((end, now_ns));
                    self.coordinator_dies();
                    return;
                }
            }
        }
    }

    fn emit(&mut self, event: &Event, now_ns: u64) {
        self.outcome.is_released |= matches!(event, Event::RunEnded { .. });
        if self.scenario.coordinator.records.is_some_and(|records| self.recorded >= records) {
            self.outcome.see("the run cannot be recorded");
            self.queue
                .plan(now_ns, What::Input(Input::Unrecordable("the disk is full".to_owned())));
            return;
        }
        self.recorded += 1;
        match event {
            Event::StageStarted { stage, .. } => self.outcome.under_way = Some(*stage),
            Event::StageEnded { .. } => self.outcome.under_way = None,
            Event::Happened(one) if one.kind == OccurrenceKind::Prerun => self.prerun = None,
            _ => {}
        }
        if let Event::StageStarted { stage, unix_ns } = event {
            // The agreed instant is one of the coordinator's clock, which may stand still before.
            let agreed_ns = self.coordinator_ns(now_ns) + (unix_ns - self.unix_ns(now_ns));
            self.outcome.agreed_ns.push((*stage, agreed_ns));
        }
        if let Event::Note(note) = event
            && note.kind() == model::NoteKind::HostReturned
        {
            self.sides[note.host as usize].takes_part = true;
        }
        (self.record)(event);
    }

    fn send(&mut self, host: usize, order: &ToAgent) {
        match self.ways.to(host) {
            To::Tree => self.send_down(host, order),
            // It was started again: the way to it is that of its life.
            To::Own(life) if *life == self.sides[host].life => self.hand_down(host, order),
            To::Own(_) | To::Nobody => {}
        }
    }

    /// An agent says something to whoever reached it.
    fn say_up(&mut self, host: usize, message: &FromAgent) {
        let frame = Frame::of(message).expect("short");
        if self.holds_sessions() && self.sides[host].life == 0 {
            self.keep(host, &frame);
        }
        let (now_ns, side) = (self.queue.now_ns(), &mut self.sides[host]);
        if side.held.told.is_none()
            && let Some(at_ns) = side.up.arrival(now_ns)
        {
            self.queue.plan(at_ns, What::Word((host, side.life), frame, None));
        }
    }

    /// What the coordinator's steady clock shows.
    fn coordinator_ns(&self, true_ns: u64) -> u64 {
        let script = self.scenario.coordinator;
        awake_ns(script.stalls.filter(|_| script.clock_stalls), true_ns)
    }

    fn unix_ns(&self, now_ns: u64) -> u64 {
        let step = self.scenario.coordinator.wall_step_ns.filter(|(at_ns, _)| now_ns >= *at_ns);
        (UNIX_NS + self.coordinator_ns(now_ns))
            .saturating_add_signed(step.map_or(0, |(_, by_ns)| by_ns))
    }
}

/// The layouts of a plan.
pub(super) fn parts(plan: &Plan) -> Arc<[Part]> {
    plan.hosts.first().map_or_else(|| Arc::new([]) as Arc<[Part]>, |host| host.parts.clone().into())
}

impl Side {
    /// Notes until when there was a load, and until when there might have been one.
    fn load_off(&mut self, now_ns: u64, lost_after_ns: u64) {
        let Some(span) = self.outcome.loads.last_mut().filter(|span| span.until_ns.is_none())
        else {
            return;
        };
        span.until_ns = Some(now_ns);
        // An agent's clock may be 100 ppm slow.
        let silent_ns =
            self.heard_ns.map(|heard_ns| heard_ns + lost_after_ns + lost_after_ns / 5_000);
        let mut allowed_ns = silent_ns.unwrap_or(u64::MAX).min(self.closed_ns.unwrap_or(u64::MAX));
        if let Some((from_ns, until_ns)) = self.agent.time.stands_still
            && silent_ns.is_some_and(|silent_ns| silent_ns > from_ns)
        {
            // Its clock stood still, and the silence did not grow.
            let silent_ns = silent_ns.map_or(0, |silent_ns| silent_ns + (until_ns - from_ns));
            allowed_ns = silent_ns.min(self.closed_ns.unwrap_or(u64::MAX));
        }
        if let Some(Mishap::Stalls { from_ns, until_ns }) = self.mishap
            && (from_ns..until_ns.saturating_add(LOAD_AFTER_NS))
                .contains(&allowed_ns.saturating_add(LOAD_AFTER_NS))
        {
            // It stood still, and its load with it, perhaps before it saw that it was alone.
            allowed_ns = allowed_ns.max(until_ns);
        }
        span.allowed_until_ns = allowed_ns;
    }
}
