//! One simulated agent: what its threads would do, in virtual time, with the decisions of a real
//! one.

use super::clock::HostTime;
use super::layouts::Deed;
use super::load::{Load, Tally, cut_short, end_ns};
use super::{MILLI, SECOND};
use crate::agent::state::{self, Contact, Reaction, Start};
use crate::link::Frame;
use crate::packed::Packer;
use crate::wire::{FromAgent, ToAgent};
use model::counters::{Entry, Layer, Metric};
use model::inventory::Inventory;
use model::plan::{HostStage, Part, Stop};
use model::rng::Rng;
use model::{CounterSample, IntervalSample, StageEnd};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// A real agent looks every 50 ms whether its coordinator is there.
const LOOK_NS: u64 = 50 * MILLI;

/// What this host does of itself, well or badly.
#[derive(Clone, Debug, Default)]
pub(super) struct Behaviour {
    /// How long opening, setting up, ending and letting go take at most, in ns.
    pub(super) pause_ns: u64,
    /// It refuses its share.
    pub(super) refuses: bool,
    /// It fails when this stage is set up.
    pub(super) fails_to_arm: Option<u32>,
    /// It fails at the end of this stage.
    pub(super) fails: Option<u32>,
    /// It never says that this stage is over, though it answers.
    pub(super) hangs: Option<u32>,
    /// Its clock is read so late that it begins by so much late, in ns.
    pub(super) wakes_late_ns: u64,
    /// It gives a layout back when its own last stage of it is over, as no agent does: an
    /// invariant must see it.
    pub(super) gives_back_alone: bool,
    /// It tells what its kernel counts, too.
    pub(super) counts: bool,
    /// The agent of an earlier attempt has its targets until then, in ns of true time.
    pub(super) locked_until_ns: u64,
}

/// What a kernel counted beside a sample: it follows from the sample.
pub(super) fn counted(sample: &IntervalSample) -> CounterSample {
    let ios: u64 = sample.ops.iter().map(|op| op.ios).sum();
    let values = vec![(Metric::Interrupts, ios), (Metric::ContextSwitches, ios / 7)];
    CounterSample {
        stage: sample.stage,
        host: sample.host,
        number: sample.interval,
        start_ns: sample.start_ns,
        length_ns: sample.length_ns,
        entries: vec![Entry { layer: Layer::Host, name: String::new(), values }],
        notes: Vec::new(),
    }
}

/// What follows for the world.
#[derive(Debug)]
pub(super) enum Effect {
    Say(FromAgent),
    /// It goes on then, unless something else comes before.
    Wake {
        at_ns: u64,
        epoch: u32,
    },
    /// It looks then whether the coordinator is there.
    Look {
        at_ns: u64,
    },
    /// Its load is on from now on; when the agreed instant of its clock really was, in ns.
    LoadOn {
        stage: u32,
        agreed_ns: u64,
    },
    LoadOff,
    Layout(Deed),
    Removes,
    /// It may not have its targets, because another agent has them.
    IsLockedOut,
    /// It passes this on to a host below it.
    Pass {
        below: u32,
        frame: Frame,
    },
    /// It has nothing to do with a host below it any more.
    Part {
        below: u32,
    },
    Exit,
}

#[derive(Debug)]
enum Doing {
    Nothing,
    Opening,
    SettingUp { stage: u32 },
    Waiting { stage: u32 },
    Running(Running),
    GivingBack { parts: Vec<usize> },
    Releasing,
}

#[derive(Debug, Default)]
struct Running {
    stage: u32,
    /// On its own clock.
    start_ns: u64,
    late_ns: u64,
    next: u32,
    has_begun: bool,
    has_ended: bool,
    /// When it was stopped, in ns after its start.
    stopped_after_ns: Option<u64>,
    is_over: bool,
}

#[derive(Debug)]
pub(super) struct SimAgent {
    pub(super) time: HostTime,
    contact: Contact,
    orders: VecDeque<ToAgent>,
    doing: Doing,
    stops: Vec<Stop>,
    parts: Arc<[Part]>,
    /// The parts whose layouts it has open.
    open: BTreeSet<usize>,
    load: Load,
    behaviour: Behaviour,
    stopped: bool,
    epoch: u32,
    rng: Rng,
    /// What it sent, by stage.
    pub(super) sampled: Vec<Tally>,
    packer: Option<Packer>,
    removes: bool,
    effects: Vec<Effect>,
}

impl SimAgent {
    pub(super) fn new(
        time: HostTime,
        stops: Vec<Stop>,
        parts: Arc<[Part]>,
        load: Load,
        behaviour: Behaviour,
        seed: u64,
    ) -> SimAgent {
        SimAgent {
            time,
            contact: Contact::default(),
            orders: VecDeque::new(),
            doing: Doing::Nothing,
            sampled: Vec::new(),
            stops,
            parts,
            open: BTreeSet::new(),
            load,
            packer: behaviour.counts.then(|| Packer::new(1)),
            behaviour,
            removes: false,
            stopped: false,
            epoch: 0,
            rng: Rng::new(seed),
            effects: Vec::new(),
        }
    }

    pub(super) fn hear(&mut self, order: ToAgent, now_ns: u64) -> Vec<Effect> {
        match self.contact.hear(order, self.time.shows(now_ns)) {
            Reaction::Nothing => {}
            Reaction::BeWary => self.look_later(now_ns),
            Reaction::Answer(answer) => self.effects.push(Effect::Say(answer)),
            Reaction::Stop(order) => {
                self.orders.push_back(order);
                self.stop(now_ns);
            }
            Reaction::Pass { below, frame } => self.effects.push(Effect::Pass { below, frame }),
            Reaction::Part { below } => self.effects.push(Effect::Part { below }),
            // Whoever is simulated is there from the beginning.
            Reaction::Adopt(_) => {}
            Reaction::Judge { end_after_ns, .. } => self.end_after(end_after_ns, now_ns),
            Reaction::Cut { stage, stops: true } => self.end_load(Some(stage), now_ns),
            // Books are not simulated.
            Reaction::Cut { stops: false, .. } => {}
            Reaction::Queue(order) => self.orders.push_back(order),
        }
        self.go_on(now_ns);
        std::mem::take(&mut self.effects)
    }

    pub(super) fn close(&mut self, now_ns: u64) -> Vec<Effect> {
        self.contact.close();
        self.stop(now_ns);
        self.go_on(now_ns);
        std::mem::take(&mut self.effects)
    }

    pub(super) fn look(&mut self, now_ns: u64) -> Vec<Effect> {
        if self.contact.is_over(self.time.shows(now_ns)) {
            self.stop(now_ns);
            self.go_on(now_ns);
        } else {
            self.look_later(now_ns);
        }
        std::mem::take(&mut self.effects)
    }

    pub(super) fn wake(&mut self, epoch: u32, now_ns: u64) -> Vec<Effect> {
        if epoch == self.epoch {
            match std::mem::replace(&mut self.doing, Doing::Nothing) {
                Doing::Opening if self.behaviour.refuses => {
                    self.say(FromAgent::Refused("it is full".into()));
                }
                Doing::Opening if now_ns < self.behaviour.locked_until_ns => {
                    self.effects.push(Effect::IsLockedOut);
                    self.say(FromAgent::Refused("another run is using it".into()));
                }
                Doing::Opening => self.say(FromAgent::Ready { notes: Vec::new() }),
                Doing::SettingUp { stage } if self.behaviour.fails_to_arm == Some(stage) => {
                    self.end_stage(stage, StageEnd::Failed("no memory".into()), None);
                }
                Doing::SettingUp { stage } => {
                    self.doing = Doing::Waiting { stage };
                    self.say(FromAgent::Armed { stage });
                }
                Doing::Running(running) => self.run(running, now_ns),
                Doing::GivingBack { parts } => {
                    parts.into_iter().for_each(|part| self.give_back(part));
                    self.say(FromAgent::GaveBack { failed: None });
                }
                Doing::Releasing => {
                    self.effects.push(Effect::Layout(Deed::LetsGo));
                    self.effects.extend(self.removes.then_some(Effect::Removes));
                    self.say(FromAgent::Released { left: None });
                }
                doing @ (Doing::Nothing | Doing::Waiting { .. }) => self.doing = doing,
            }
            self.go_on(now_ns);
        }
        std::mem::take(&mut self.effects)
    }

    fn give_back(&mut self, part: usize) {
        if self.open.remove(&part) {
            self.effects.push(Effect::Layout(Deed::GivesBack { part }));
        }
    }

    /// It is through with a stage, and says so.
    fn end_stage(&mut self, stage: u32, end: StageEnd, late_ns: Option<u64>) {
        self.effects.push(Effect::Layout(Deed::Ends));
        if self.behaviour.gives_back_alone && end == StageEnd::Complete {
            let over: Vec<usize> = self
                .open
                .iter()
                .copied()
                .filter(|part| self.parts[*part].is_over_at(stage + 1))
                .collect();
            over.into_iter().for_each(|part| self.give_back(part));
        }
        self.say(FromAgent::StageEnded { stage, end, notes: Vec::new(), late_ns });
    }

    fn say(&mut self, message: FromAgent) {
        self.effects.push(Effect::Say(message));
    }

    /// At the first look after the silence has become too long.
    fn look_later(&mut self, now_ns: u64) {
        if let Some(over_ns) = self.contact.over_at_ns() {
            let at_ns =
                self.time.first_at(over_ns.saturating_add(1)).max(now_ns) + self.rng.below(LOOK_NS);
            self.effects.push(Effect::Look { at_ns });
        }
    }

    fn stop(&mut self, now_ns: u64) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.end_load(None, now_ns);
        }
    }

    /// Ends the load that is on or about to be; with a stage, only if it is that one's.
    fn end_load(&mut self, only: Option<u32>, now_ns: u64) {
        if let Doing::Running(running) = &mut self.doing
            && only.is_none_or(|stage| stage == running.stage)
            && !running.is_over
            && (only.is_none() || running.stopped_after_ns.is_none())
        {
            running.stop(self.time.shows(now_ns));
            let at_ns = self.time.first_at(running.start_ns).max(now_ns);
            self.wake_at(at_ns);
        }
    }

    /// The stage that runs has an end earlier than its own.
    fn end_after(&mut self, after_ns: Option<u64>, now_ns: u64) {
        let (Doing::Running(running), Some(after_ns)) = (&mut self.doing, after_ns) else { return };
        if !running.is_over {
            running.stopped_after_ns =
                Some(running.stopped_after_ns.map_or(after_ns, |stopped| stopped.min(after_ns)));
            let at_ns = self.time.first_at(running.start_ns).max(now_ns);
            self.wake_at(at_ns);
        }
    }

    /// Takes the next order if nothing else is to be done.
    fn go_on(&mut self, now_ns: u64) {
        loop {
            let order = match self.doing {
                Doing::Nothing | Doing::Waiting { .. } => self.orders.pop_front(),
                _ => return,
            };
            if order.is_none() && !self.contact.is_over(self.time.shows(now_ns)) {
                return;
            }
            match (std::mem::replace(&mut self.doing, Doing::Nothing), order) {
                (Doing::Waiting { stage }, order) => {
                    self.begin(stage, state::start(order.as_ref()), now_ns);
                }
                (_, Some(order)) => self.take_up(&order, now_ns),
                (_, None) => {
                    self.effects.push(Effect::Exit);
                    // Nothing is taken up any more.
                    self.doing = Doing::Releasing;
                    self.epoch += 1;
                    return;
                }
            }
        }
    }

    fn take_up(&mut self, order: &ToAgent, now_ns: u64) {
        self.doing = match order {
            ToAgent::Assign(_) => Doing::Opening,
            ToAgent::Arm { stage } => {
                self.open.extend(self.parts.iter().position(|part| part.stages.contains(stage)));
                self.effects.push(Effect::Layout(Deed::Begins { stage: *stage }));
                Doing::SettingUp { stage: *stage }
            }
            ToAgent::GiveBack(word) => Doing::GivingBack {
                parts: (0..self.parts.len()).filter(|n| word.covers(*n)).collect(),
            },
            ToAgent::Release(word) => {
                self.removes = word.removes();
                Doing::Releasing
            }
            ToAgent::Extend(stages) => {
                let stop = |stage: &HostStage| stage.works.first().map(|work| work.stop);
                self.stops.extend(stages.iter().filter_map(stop));
                return;
            }
            ToAgent::Inspect { .. } => {
                // It has no targets, and what it is makes no difference.
                let facts =
                    Box::new(probe::Looker::new().host("", Inventory::default(), Vec::new()));
                self.say(FromAgent::Facts { facts, unix_ns: 0 });
                return;
            }
            _ => return,
        };
        self.pause(now_ns);
    }

    fn pause(&mut self, now_ns: u64) {
        let at_ns = now_ns + self.rng.below(self.behaviour.pause_ns + 1);
        self.wake_at(at_ns);
    }

    fn wake_at(&mut self, at_ns: u64) {
        self.epoch += 1;
        self.effects.push(Effect::Wake { at_ns, epoch: self.epoch });
    }

    fn begin(&mut self, stage: u32, start: Start, now_ns: u64) {
        let Start::At(start_ns) = start else {
            self.end_stage(stage, StageEnd::Interrupted, None);
            return;
        };
        let local_ns = self.time.shows(now_ns);
        let asked_ns = start_ns.unwrap_or(local_ns);
        let late_ns =
            local_ns.saturating_sub(asked_ns) + self.rng.below(self.behaviour.wakes_late_ns + 1);
        let mut running =
            Running { stage, start_ns: asked_ns + late_ns, late_ns, ..Running::default() };
        if self.stopped {
            running.stop(local_ns);
        }
        let at_ns = self.time.first_at(running.start_ns).max(now_ns);
        self.doing = Doing::Running(running);
        self.wake_at(at_ns);
    }

    fn run(&mut self, mut running: Running, now_ns: u64) {
        let stage = running.stage;
        if running.is_over {
            let end = match () {
                () if self.behaviour.fails == Some(stage) => {
                    StageEnd::Failed("input/output error".into())
                }
                () if self.stopped => StageEnd::Interrupted,
                () => StageEnd::Complete,
            };
            self.end_stage(stage, end, Some(running.late_ns));
            return;
        }
        let elapsed_ns = self.time.shows(now_ns).saturating_sub(running.start_ns);
        let ends_ns = end_ns(&self.load, stage, self.stops[stage as usize]);
        let ends_ns = running.stopped_after_ns.map_or(ends_ns, |stopped| stopped.min(ends_ns));
        if !running.has_begun && ends_ns > 0 {
            running.has_begun = true;
            let agreed_ns = self.time.first_at(running.start_ns - running.late_ns);
            self.effects.push(Effect::LoadOn { stage, agreed_ns });
        }
        let mut next_ns = ends_ns;
        while let Some((due_ns, sample)) = self.load.sample(stage, running.next) {
            if due_ns > ends_ns && running.stopped_after_ns.is_some() {
                if elapsed_ns >= ends_ns && sample.start_ns < ends_ns {
                    let length_ns = ends_ns - sample.start_ns;
                    self.tell(cut_short(sample, length_ns));
                }
                break;
            }
            if due_ns > elapsed_ns {
                next_ns = due_ns;
                break;
            }
            self.tell(sample);
            running.next += 1;
        }
        // Samples of the engine's drain are due after the load is over.
        let is_done =
            elapsed_ns >= ends_ns && (next_ns <= elapsed_ns || running.stopped_after_ns.is_some());
        if elapsed_ns >= ends_ns && running.has_begun && !running.has_ended {
            running.has_ended = true;
            self.effects.push(Effect::LoadOff);
            if self.stops[stage as usize].once().is_some() && running.stopped_after_ns.is_none() {
                self.say(FromAgent::FirstDone { stage });
            }
        }
        if is_done {
            running.is_over = true;
            let hangs = self.behaviour.hangs == Some(stage);
            self.doing = Doing::Running(running);
            if hangs {
                self.epoch += 1;
            } else {
                self.pause(now_ns);
            }
            return;
        }
        let at_ns = self.time.first_at(running.start_ns + next_ns).max(now_ns);
        self.doing = Doing::Running(running);
        self.wake_at(at_ns);
    }

    fn tell(&mut self, sample: IntervalSample) {
        self.sampled[sample.stage as usize].add(&sample);
        let counted = self.packer.as_mut().and_then(|packer| packer.pack(&counted(&sample)));
        self.say(FromAgent::Sample(Box::new(sample)));
        if let Some(frame) = counted {
            self.say(FromAgent::Counted(frame));
        }
    }
}

impl Running {
    fn stop(&mut self, local_ns: u64) {
        self.stopped_after_ns = Some(local_ns.saturating_sub(self.start_ns));
    }
}

/// How long after its reason the load of an agent may last: the next look, and what a worker does
/// at once.
pub(super) const LOAD_AFTER_NS: u64 = SECOND;
