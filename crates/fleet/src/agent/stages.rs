//! An agent's stages: set up, wait for the common start, run, report.

use super::Agent;
use super::state::{self, Start};
use crate::sampler::Sampler;
use crate::wire::{FromAgent, ToAgent};
use engine::{Clock, EngineError, Stuck};
use model::event::HostEnd;
use model::plan::HostStage;
use model::{Fact, IntervalSample, Note, StageEnd};
use std::collections::BTreeMap;
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
            let sample = FromAgent::Sample(Box::new(sample));
            let sent = if is_simulated {
                // Time waits, too.
                self.out.send_while(&sample, || !self.is_alone())
            } else {
                self.out.send(&sample)
            };
            // Of a coordinator that is gone the listener knows, too. One that does not read is
            // given
            // up: waiting for it would hold up the workers, and leaving a sample out would be a gap
            // that nobody is told of.
            if sent.is_err() {
                self.control.stop();
            }
        };
        let mut began = false;
        let mut sampler = Sampler::start(self.out.clone(), targets.plan(), number);
        let mut when = || {
            sampler.ready();
            let start_ns = self.wait_for_start(number, orders);
            began = start_ns.is_some();
            start_ns
        };
        let out = self.out.clone();
        self.control.on_first_done(move || {
            // A coordinator that is gone stops the stage by the listener.
            let _ = out.answer(&FromAgent::FirstDone { stage: number });
        });
        let result = engine::run_stage(targets, stage, &self.control, &mut when, &mut sink);
        sampler.end();
        self.control.leave_stage();
        let host = targets.plan().host;
        let note = |fact| Note { stage: Some(number), host, fact };
        let mut notes = parts.notes(number);
        if let Ok(outcome) = &result {
            let degraded = outcome.degraded.iter().cloned();
            notes.extend(degraded.map(|one| note(Fact::EngineDegraded(one))));
            notes.extend(outcome.stuck.iter().map(|stuck| {
                let Stuck { requests, targets, waited } = stuck.clone();
                note(Fact::Stuck { requests, targets, waited })
            }));
            notes.extend(outcome.findings.iter().cloned());
        }
        self.stuck |= result.as_ref().is_ok_and(|outcome| outcome.stuck.is_some());
        let late_ns = result.as_ref().ok().filter(|_| began).map(|outcome| outcome.late_ns);
        if let Ok(outcome) = &result
            && !(outcome.left.is_empty() && outcome.pauses.is_empty() && outcome.flushes.is_empty())
        {
            let (left, pauses) = (outcome.left.clone(), outcome.pauses.clone());
            let flushes = outcome.flushes.clone();
            // A coordinator that is gone stops the stage by the listener.
            let _ = self.out.answer(&FromAgent::LeftOver(Box::new(HostEnd {
                stage: number,
                host,
                left,
                pauses,
                flushes,
            })));
        }
        let end = match result {
            Ok(engine::StageOutcome { stuck: Some(stuck), .. }) => {
                StageEnd::Failed(format!("{}: {stuck}", stage.kind))
            }
            Ok(outcome) if outcome.failed => StageEnd::Failed(failure(stage, &errors)),
            Ok(outcome) if outcome.interrupted => StageEnd::Interrupted,
            Ok(_) => StageEnd::Complete,
            Err(error @ EngineError::Panicked { .. }) => StageEnd::Panicked(error.to_string()),
            Err(error) => StageEnd::Failed(error.to_string()),
        };
        FromAgent::StageEnded { stage: number, end, notes, late_ns }
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
