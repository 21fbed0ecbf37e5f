//! One host's side of a run: does what the coordinator says, and stops when it is gone.

use crate::sampler::Sampler;
use crate::wire::{FromAgent, Inlet, Link, Outlet, ToAgent};
use engine::{Control, OpenTargets};
use model::plan::HostStage;
use model::testbed::HostFacts;
use model::{IntervalSample, Note, NoteKind, StageEnd};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// Serves one coordinator until its end of the link closes.
pub(crate) fn serve(link: Link, version: &str) {
    let (out, inlet) = link.split();
    let control = Control::new();
    let (forward, orders) = channel();
    let listener = {
        let control = control.clone();
        // Orders are read while a stage runs, too, so that it can be stopped; and the end of the link stops it like an order.
        thread::spawn(move || listen(&inlet, &control, |order| forward.send(order).is_ok()))
    };
    Agent { out, control, version: version.to_owned(), targets: None, stuck: false }.obey(&orders);
    // The listener ends with the link; nothing is left to do if it panicked.
    let _ = listener.join();
}

fn listen(inlet: &Inlet, control: &Control, forward: impl Fn(ToAgent) -> bool) {
    while let Ok(order) = inlet.receive::<ToAgent>() {
        match order {
            ToAgent::Stop => control.stop(),
            order => {
                if !forward(order) {
                    return;
                }
            }
        }
    }
    control.stop();
}

struct Agent {
    out: Outlet,
    control: Control,
    version: String,
    targets: Option<OpenTargets>,
    /// A target of them does not answer any more.
    stuck: bool,
}

impl Agent {
    fn obey(mut self, orders: &Receiver<ToAgent>) {
        for order in orders {
            let answer = match order {
                ToAgent::Inspect { targets } => FromAgent::Facts(Box::new(facts(&targets, &self.version))),
                ToAgent::Assign(plan) => match engine::open(*plan) {
                    Ok(targets) => {
                        let notes = targets.notes().to_vec();
                        self.targets = Some(targets);
                        FromAgent::Ready { notes }
                    }
                    Err(error) => FromAgent::Refused(error.to_string()),
                },
                ToAgent::Start { stage } => self.run(stage),
                ToAgent::Release { remove } => self.release(remove),
                ToAgent::Stop => continue,
            };
            if self.out.send(&answer).is_err() {
                return;
            }
        }
    }

    fn run(&mut self, number: u32) -> FromAgent {
        let Some((targets, stage)) = self
            .targets
            .as_ref()
            .and_then(|targets| targets.plan().stages.get(number as usize).map(|stage| (targets, stage)))
        else {
            let end = StageEnd::Failed(format!("stage {number} is not in this host's plan"));
            return FromAgent::StageEnded { stage: number, end, notes: Vec::new() };
        };
        let mut errors = BTreeMap::new();
        let mut sink = |sample: IntervalSample| {
            for (errno, count) in sample.ops.iter().flat_map(|op| &op.errors) {
                *errors.entry(*errno).or_insert(0u64) += count;
            }
            // A coordinator that is gone stops the stage by the listener.
            let _ = self.out.send(&FromAgent::Sample(Box::new(sample)));
        };
        let host = targets.plan().host;
        let note = |kind, detail| Note { stage: Some(number), host, kind, detail };
        let sampler = Sampler::start(self.out.clone(), targets.plan(), number);
        let result = engine::run_stage(targets, stage, &self.control, &mut sink);
        sampler.end();
        let mut notes = Vec::new();
        if let Ok(outcome) = &result {
            notes.extend(outcome.degraded.iter().map(|detail| note(NoteKind::EngineDegraded, detail.clone())));
            notes.extend(outcome.stuck.iter().map(|stuck| note(NoteKind::Stuck, stuck.to_string())));
            notes.extend(outcome.findings.iter().cloned());
        }
        let is_stuck = result.as_ref().is_ok_and(|outcome| outcome.stuck.is_some());
        let end = match result {
            Ok(engine::StageOutcome { stuck: Some(stuck), .. }) => StageEnd::Failed(format!("{}: {stuck}", stage.kind)),
            Ok(outcome) if outcome.failed => StageEnd::Failed(failure(stage, &errors)),
            Ok(outcome) if outcome.interrupted => StageEnd::Interrupted,
            Ok(_) => StageEnd::Complete,
            Err(error) => StageEnd::Failed(error.to_string()),
        };
        self.stuck |= is_stuck;
        FromAgent::StageEnded { stage: number, end, notes }
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
}

/// What this host is, and what each target is to it, real or simulated.
fn facts(targets: &[String], version: &str) -> HostFacts {
    let real: Vec<String> = targets.iter().filter(|path| !engine::is_simulated(path)).cloned().collect();
    let mut facts = probe::host(&real, version);
    for (place, path) in targets.iter().enumerate().filter(|(_, path)| engine::is_simulated(path)) {
        facts.targets.insert(place.min(facts.targets.len()), engine::simulated(path));
    }
    facts
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
    format!(
        "{}: requests to the target failed ({}); mend the target or give a smaller layout.size",
        stage.kind,
        kinds.join(", ")
    )
}
