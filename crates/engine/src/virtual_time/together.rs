//! Several simulated hosts of one process in one virtual time: whoever comes last has the stage run
//! for all.

use crate::control::Control;
use crate::error::EngineError;
use crate::outcome::StageOutcome;
use crate::targets::World;
use crate::virtual_time::{self, Member};
use model::IntervalSample;
use model::plan::{HostPlan, HostStage};
use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a host that waits for the others looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(20);

/// What the simulated hosts of a run share: their devices, and where they wait for each other.
/// Clones are the same.
#[derive(Clone, Debug)]
pub struct Together {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    hosts: usize,
    waiting: Mutex<Vec<Waiting>>,
    /// Each made when all hosts are there for the first time, so that it does not depend on who
    /// came first; one for each layout, by the targets of the first host: what scenarios differ
    /// in.
    worlds: Mutex<Worlds>,
}

type Worlds = BTreeMap<String, World>;

/// A host that is ready for a stage.
#[derive(Debug)]
struct Waiting {
    plan: Arc<HostPlan>,
    stage: HostStage,
    control: Control,
    tell: Sender<StageMessage>,
}

/// What a host hears of its stage.
#[derive(Debug)]
enum StageMessage {
    Sample(Box<IntervalSample>),
    Ended(Result<StageOutcome, EngineError>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Together {
    /// For so many hosts, each of which takes part in every stage.
    pub fn new(hosts: usize) -> Together {
        let shared =
            Shared { hosts: hosts.max(1), waiting: Mutex::default(), worlds: Mutex::default() };
        Together { shared: Arc::new(shared) }
    }

    /// Runs a stage of this host, as soon as all others are ready for theirs. A host that is
    /// stopped before that calls its stage off.
    ///
    /// # Errors
    /// When the devices of all hosts together cannot be made.
    pub(crate) fn run_stage(
        &self,
        plan: &Arc<HostPlan>,
        stage: &HostStage,
        control: &Control,
        sink: &mut dyn FnMut(IntervalSample),
    ) -> Result<StageOutcome, EngineError> {
        let (tell, told) = channel();
        let host = plan.host;
        self.join(Waiting {
            plan: plan.clone(),
            stage: stage.clone(),
            control: control.clone(),
            tell,
        });
        loop {
            match told.recv_timeout(LOOK) {
                Ok(StageMessage::Sample(sample)) => sink(*sample),
                Ok(StageMessage::Ended(end)) => return end,
                Err(RecvTimeoutError::Timeout) if control.is_stopped() && self.leave(host) => {
                    return Ok(StageOutcome::called_off());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(broken()),
            }
        }
    }

    /// Waits for the others, or has the stage run if there is nobody to wait for.
    fn join(&self, host: Waiting) {
        let mut waiting = lock(&self.shared.waiting);
        waiting.push(host);
        if waiting.len() < self.shared.hosts {
            return;
        }
        let mut all = std::mem::take(&mut *waiting);
        all.sort_by_key(|host| host.plan.host);
        let shared = self.shared.clone();
        // On a thread of its own, so that every host hears its samples while they come.
        thread::spawn(move || run(&all, &shared.worlds));
    }

    /// Takes a host out that still waits.
    fn leave(&self, host: u32) -> bool {
        let mut waiting = lock(&self.shared.waiting);
        let before = waiting.len();
        waiting.retain(|waiting| waiting.plan.host != host);
        waiting.len() < before
    }
}

/// The stage's thread ended without a word, which only a panic makes it do.
fn broken() -> EngineError {
    EngineError::target("sim:", "the simulation broke off", "report this as a mistake of plimsoll")
}

/// Runs a stage of all hosts.
fn run(hosts: &[Waiting], worlds: &Mutex<Worlds>) {
    let mut worlds = lock(worlds);
    let key = hosts.first().map_or_else(String::new, |host| format!("{:?}", host.plan.targets));
    if !worlds.contains_key(&key) {
        let plans: Vec<&HostPlan> = hosts.iter().map(|host| host.plan.as_ref()).collect();
        match World::new(&plans) {
            Ok(made) => {
                worlds.insert(key.clone(), made);
            }
            Err(error) => {
                for host in hosts {
                    let EngineError::Target { path, what, remedy } = &error else { continue };
                    // Who is gone needs no answer.
                    let _ = host.tell.send(StageMessage::Ended(Err(EngineError::target(
                        path,
                        what.as_str(),
                        remedy.as_str(),
                    ))));
                }
                return;
            }
        }
    }
    let Some(world) = worlds.get_mut(&key) else { return };
    let mut sinks: Vec<_> = hosts
        .iter()
        .map(|host| {
            |sample| {
                // Who is gone needs no samples.
                let _ = host.tell.send(StageMessage::Sample(Box::new(sample)));
            }
        })
        .collect();
    let mut members: Vec<Member<'_>> = hosts
        .iter()
        .zip(&mut sinks)
        .map(|(host, sink)| Member {
            plan: &host.plan,
            stage: &host.stage,
            control: &host.control,
            sink,
        })
        .collect();
    let outcomes = virtual_time::run_stage(&mut members, world);
    for (host, outcome) in hosts.iter().zip(outcomes) {
        let _ = host.tell.send(StageMessage::Ended(Ok(outcome)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Backend;
    use model::plan::EngineSettings;
    use model::{Nanos, StageKind};

    fn plan(host: u32) -> Arc<HostPlan> {
        let engine = EngineSettings {
            patience: Nanos::seconds(2),
            virtual_time: true,
            ..EngineSettings::simple(Backend::Sync)
        };
        Arc::new(HostPlan { host, ..HostPlan::empty("test", Nanos::seconds(1), engine) })
    }

    fn stage() -> HostStage {
        HostStage { stage: 0, kind: StageKind::Measure, works: Vec::new(), workers: Vec::new() }
    }

    #[test]
    fn a_host_that_is_stopped_while_it_waits_for_the_others_calls_its_stage_off() {
        let together = Together::new(2);
        let control = Control::new();
        control.stop();
        let outcome =
            together.run_stage(&plan(0), &stage(), &control, &mut |_| ()).expect("an outcome");
        assert!(outcome.interrupted);
        assert!(lock(&together.shared.waiting).is_empty());
    }

    #[test]
    fn the_last_host_to_come_lets_all_of_them_begin() {
        let together = Together::new(3);
        let threads: Vec<_> = (0..3)
            .map(|host| {
                let together = together.clone();
                thread::spawn(move || {
                    together.run_stage(&plan(host), &stage(), &Control::new(), &mut |_| ())
                })
            })
            .collect();
        for thread in threads {
            let outcome = thread.join().expect("no panic").expect("an outcome");
            assert!(!outcome.interrupted && !outcome.failed);
        }
    }
}
