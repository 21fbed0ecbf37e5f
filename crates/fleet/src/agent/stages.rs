//! An agent's stages: set up, wait for the common start, run, report.

use super::neighbours::{Looking, Presence};
use super::state::{self, Start};
use super::{Agent, beside};
use crate::sampler::Sampler;
use crate::wire::{FromAgent, ToAgent};
use engine::{Clock, EngineError, StageOutcome, Stuck};
use model::event::HostEnd;
use model::note::{EndedBy, StorageState};
use model::plan::{CommandWork, HostPlan, HostStage, PlannedTarget, Target};
use model::testbed::TargetFacts;
use model::{Fact, IntervalSample, Note, StageEnd, StageKind};
use probe::Looker;
use probe::servers::storage_state::Storage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Receiver;

impl Agent {
    /// Runs a stage from its setting up to its end.
    pub(super) fn run(&mut self, number: u32, orders: &Receiver<ToAgent>) -> FromAgent {
        let unfit = |why: String| FromAgent::StageEnded {
            stage: number,
            end: StageEnd::Failed(why),
            notes: Vec::new(),
            late_ns: None,
        };
        if let Some(Err(why)) = self.targets.as_mut().map(|parts| parts.ready(number)) {
            return unfit(why);
        }
        let Some((parts, (targets, stage))) =
            self.targets.as_ref().and_then(|parts| Some((parts, parts.of(number)?)))
        else {
            return unfit(format!("stage {number} is not in this host's plan"));
        };
        let mut errors = BTreeMap::new();
        let is_simulated = targets.plan().engine.virtual_time;
        let mut sink = |sample: IntervalSample| {
            for (errno, count) in sample.ops.iter().flat_map(|op| &op.errors) {
                *errors.entry(*errno).or_insert(0u64) += count;
            }
            self.send_sample(sample, is_simulated);
        };
        let mut began = false;
        let looking = self.presence.as_ref().map(Presence::look);
        let storages = storages(targets.plan(), stage);
        let mut states: Vec<_> = storages.iter().map(|one| one.ask(false)).collect();
        let mut sampler = Sampler::start(self.out.clone(), targets.plan(), number);
        let mut when = || {
            sampler.ready();
            let start_ns = self.wait_for_start(number, orders);
            began = start_ns.is_some();
            start_ns
        };
        self.tell_as_it_goes(number, is_simulated);
        let result = match self.commanded(targets.plan(), stage) {
            Some((command, found)) => {
                let plan = targets.plan();
                let order = beside::Order { plan, stage, command, targets: &found };
                Ok(order.run(&self.control, &mut when, &mut sink))
            }
            None => engine::run_stage(targets, stage, &self.control, &mut when, &mut sink),
        };
        sampler.end();
        self.control.leave_stage();
        let host = targets.plan().host;
        let note = |fact| Note { stage: Some(number), host, fact };
        let mut notes = parts.notes(number);
        states.extend(storages.iter().map(|one| one.ask(true)));
        // What nobody can say is said once.
        let is_news = |state: &StorageState| {
            state.parts.is_some() || !std::mem::replace(&mut self.knows_no_servers, true)
        };
        states.retain(is_news);
        notes.extend(states.into_iter().map(|state| note(Fact::StorageState(state))));
        let others = looking.map(Looking::end).unwrap_or_default();
        notes.extend(others.into_iter().map(|other| note(Fact::OtherRun(other))));
        let mut late_ns = None;
        if let Ok(outcome) = &result {
            notes.extend(facts(outcome).into_iter().map(note));
            notes.extend(outcome.findings.iter().cloned());
            self.stuck |= outcome.stuck.is_some();
            late_ns = began.then_some(outcome.late_ns);
            self.tell_what_is_left(number, host, outcome);
        }
        let end = end(result, stage, &errors);
        FromAgent::StageEnded { stage: number, end, notes, late_ns }
    }

    /// What a coordinator hears while a stage runs.
    fn tell_as_it_goes(&self, number: u32, is_simulated: bool) {
        let out = self.out.clone();
        self.control.on_first_done(move || {
            // A coordinator that is gone stops the stage by the listener.
            let _ = out.answer(&FromAgent::FirstDone { stage: number });
        });
        let (out, contact, control) =
            (self.out.clone(), self.contact.clone(), self.control.clone());
        self.control.on_waiting(move |waiting| {
            let waiting = FromAgent::Waiting(Box::new(waiting));
            // Simulated time waits. In real time the next one is a second away.
            let is_there = || is_simulated && !contact.lock().is_over(control.clock().now_ns());
            let _ = out.send_while(&waiting, is_there);
        });
    }

    /// The command that carries out a stage, where one does, and what its targets are here.
    fn commanded<'a>(
        &self,
        plan: &HostPlan,
        stage: &'a HostStage,
    ) -> Option<(&'a CommandWork, Vec<TargetFacts>)> {
        let worker = stage.workers.first()?;
        let command = stage.works.get(worker.work as usize)?.command.as_ref()?;
        let paths: Vec<String> = plan.targets.iter().map(|target| target.path.clone()).collect();
        Some((command, self.facts(&paths, None, plan.engine.patience).targets))
    }

    fn send_sample(&self, sample: IntervalSample, is_simulated: bool) {
        let sample = FromAgent::Sample(Box::new(sample));
        let sent = if is_simulated {
            // Time waits, too.
            self.out.send_while(&sample, || !self.is_alone())
        } else {
            self.out.send(&sample)
        };
        // Of a coordinator that is gone the listener knows, too. One that does not read is given
        // up: waiting for it would hold up the workers, and leaving a sample out would be a gap
        // that nobody is told of.
        if sent.is_err() {
            self.control.stop();
        }
    }

    fn tell_what_is_left(&self, stage: u32, host: u32, outcome: &StageOutcome) {
        let StageOutcome { left, pauses, flushes, .. } = outcome.clone();
        if !(left.is_empty() && pauses.is_empty() && flushes.is_empty()) {
            let end = HostEnd { stage, host, left, pauses, flushes };
            // A coordinator that is gone stops the stage by the listener.
            let _ = self.out.answer(&FromAgent::LeftOver(Box::new(end)));
        }
    }

    /// Whether the coordinator is gone.
    fn is_alone(&self) -> bool {
        self.contact.lock().is_over(self.control.clock().now_ns())
    }

    /// Says that all is set up, and waits for the instant to begin. `None` calls the stage off.
    fn wait_for_start(&self, stage: u32, orders: &Receiver<ToAgent>) -> Option<u64> {
        self.out.answer(&FromAgent::Armed { stage }).ok()?;
        match state::start(self.next(orders).as_ref()) {
            Start::At(start_ns) => Some(start_ns.unwrap_or_else(|| self.control.clock().now_ns())),
            Start::CalledOff => None,
        }
    }
}

/// How a stage ended, for the coordinator.
fn end(
    result: Result<StageOutcome, EngineError>,
    stage: &HostStage,
    errors: &BTreeMap<i32, u64>,
) -> StageEnd {
    match result {
        Ok(StageOutcome { stuck: Some(stuck), .. }) => {
            StageEnd::Failed(format!("{}: {stuck}", stage.kind))
        }
        Ok(outcome) if outcome.failed => {
            let of_command = outcome.findings.iter().find_map(command_failure);
            StageEnd::Failed(of_command.unwrap_or_else(|| failure(stage, errors)))
        }
        Ok(outcome) if outcome.interrupted => StageEnd::Interrupted,
        Ok(_) => StageEnd::Complete,
        Err(error @ EngineError::Panicked { .. }) => StageEnd::Panicked(error.to_string()),
        Err(error) => StageEnd::Failed(error.to_string()),
    }
}

/// The storages whose servers this host asks after, beside a stage that measures: the first host
/// does it for all.
fn storages(plan: &HostPlan, stage: &HostStage) -> BTreeSet<Storage> {
    let is_asked = plan.host == 0 && stage.kind == StageKind::Measure;
    let real = |target: &&Target| is_asked && target.kind != PlannedTarget::Simulated;
    let paths = plan.targets.iter().filter(real).map(|target| target.path.as_str());
    let mut paths = paths.peekable();
    if paths.peek().is_none() { BTreeSet::new() } else { Looker::new().storages(paths) }
}

/// What the stage did without, and what never came back.
fn facts(outcome: &StageOutcome) -> Vec<Fact> {
    let stuck = outcome.stuck.clone().map(|stuck| {
        let Stuck { requests, targets, waited } = stuck;
        Fact::Stuck { requests, targets, waited }
    });
    outcome.degraded.iter().cloned().map(Fact::EngineDegraded).chain(stuck).collect()
}

/// Why a command failed, where it did.
fn command_failure(note: &Note) -> Option<String> {
    let Fact::Told(told) = &note.fact else { return None };
    let program = told.command.first().map_or("", String::as_str);
    let how = match (told.code, told.signal) {
        _ if told.by == EndedBy::NotStarted => "was not started".to_owned(),
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended, and nobody knows how".to_owned(),
    };
    let last = told.errors.lines().rev().find(|line| !line.trim().is_empty());
    let said = last.map(|line| format!(": {}", line.trim())).unwrap_or_default();
    Some(format!("the command {program} {how}{said}; mend it, and begin again"))
}

/// Why a stage that has to be whole is not.
fn failure(stage: &HostStage, errors: &BTreeMap<i32, u64>) -> String {
    let kinds: Vec<String> = errors
        .iter()
        .map(|(errno, count)| match errno {
            0 => format!("{count} × a part only was written"),
            errno => format!("{count} × {}", std::io::Error::from_raw_os_error(*errno)),
        })
        .collect();
    let remedy = match stage.kind {
        StageKind::Purge => {
            "purge the target by a command of its own, and write stages.purge = false"
        }
        _ => "mend the target or give a smaller layout.size",
    };
    format!("{}: requests to the target failed ({}); {remedy}", stage.kind, kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Guard, serve};
    use crate::link::{Inlet, Link, Outlet, pair};
    use model::choices::{Access, Backend};
    use model::plan::{
        EngineSettings, Extent, PlannedTarget, Stop, Target, TargetFile, Work, Worker,
    };
    use model::sample::Phase;
    use model::{Bytes, Nanos, Percent};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    const SECONDS: usize = 40;
    /// Frames that wait for the coordinator at most.
    const ROOM: usize = 2;

    /// A worker on a simulated device, with a sample for each second.
    fn plan() -> HostPlan {
        let size = Bytes(1 << 20);
        let stop = Stop::After(Nanos::seconds(SECONDS as u64));
        let path = "sim:constant,service=100ms,servers=1,capacity=1MiB".to_owned();
        let files = vec![TargetFile { path: path.clone(), size }];
        let engine = EngineSettings { virtual_time: true, ..EngineSettings::simple(Backend::Sync) };
        let extents = vec![Extent { file: 0, offset: 0, length: size.0 }];
        let stage = HostStage {
            stage: 0,
            kind: StageKind::Measure,
            works: vec![Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, stop)],
            workers: vec![Worker { work: 0, seed: 1, turn: (0, 1), extents, files: None }],
        };
        HostPlan {
            targets: vec![Target { path, kind: PlannedTarget::Simulated, files }],
            stages: vec![stage],
            ..HostPlan::empty("r", Nanos::seconds(1), engine)
        }
    }

    /// An agent whose stage runs and whose samples nobody has read, once as many wait as may: what
    /// gives it orders, what hears it, and the agent.
    fn at_the_bound() -> (Outlet, Inlet, JoinHandle<()>) {
        let (ours, theirs) = pair();
        let (agent_out, agent_inbox) = theirs.split();
        let agent_out = agent_out.with_room(ROOM);
        let link = Link::of(agent_out.clone(), agent_inbox);
        let agent = thread::spawn(move || serve(link, Guard::none(), "1", None, false));
        let (orders, mut answers) = ours.split();
        orders.send(&ToAgent::Assign(Box::new(plan()))).expect("room");
        let ready = answers.receive::<FromAgent>().expect("an answer");
        assert!(matches!(ready, FromAgent::Ready { .. }), "{ready:?}");
        orders.send(&ToAgent::Arm { stage: 0 }).expect("room");
        let armed = answers.receive::<FromAgent>().expect("an answer");
        assert!(matches!(armed, FromAgent::Armed { stage: 0 }), "{armed:?}");
        orders.send(&ToAgent::Go { start_ns: None }).expect("room");
        while agent_out.waiting() < ROOM {
            assert!(!agent.is_finished(), "an agent ended with its coordinator there");
            thread::sleep(Duration::from_millis(1));
        }
        (orders, answers, agent)
    }

    /// How many samples of the load came until the stage ended, and how it did.
    fn rest_of_stage(answers: &mut Inlet) -> (usize, StageEnd) {
        let mut samples = 0;
        loop {
            match answers.receive::<FromAgent>().expect("a stage ends") {
                FromAgent::Sample(sample) if sample.phase == Phase::Load => samples += 1,
                FromAgent::StageEnded { end, .. } => return (samples, end),
                _ => {}
            }
        }
    }

    #[test]
    fn simulated_time_waits_at_the_bound_and_no_sample_is_lost() {
        let (orders, mut answers, agent) = at_the_bound();
        assert_eq!(rest_of_stage(&mut answers), (SECONDS, StageEnd::Complete));
        drop(orders);
        agent.join().expect("no panic");
    }

    #[test]
    fn simulated_time_waits_at_the_bound_for_no_coordinator_that_is_gone() {
        let (orders, mut answers, agent) = at_the_bound();
        drop(orders);
        agent.join().expect("no panic");
        let (samples, end) = rest_of_stage(&mut answers);
        assert!(samples <= ROOM, "{samples} samples where {ROOM} have room");
        assert_eq!(end, StageEnd::Interrupted);
    }
}
