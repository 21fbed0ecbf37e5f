//! What a host is, and what its targets are to it. None of them holds up the others, nor the
//! answer.

use super::Guard;
use engine::{Doing, EngineError, Haste, patiently};
use model::Nanos;
use model::testbed::{DirectoryState, HostFacts, TargetFacts, TargetKind};
use probe::Looker;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// So many targets are looked at at once: all of them may lie on one mount that does not answer,
/// and each takes the whole patience then.
const AT_ONCE: usize = 64;

pub(super) struct Look<'a> {
    pub(super) guard: &'a Guard,
    pub(super) version: &'a str,
    /// How long a target may leave a call unanswered.
    pub(super) patience: Nanos,
    /// Whether somebody wants to leave.
    pub(super) haste: &'a Haste,
}

impl Look<'_> {
    /// The facts, with those of the targets in their order. With `host`, the host's number among
    /// several, its files go to a folder of its own.
    pub(super) fn at(&self, targets: &[String], host: Option<u32>) -> HostFacts {
        let looker = Looker::new();
        let found = at_once(targets, |path| self.target(&looker, path, host));
        let theirs = looker.clone();
        // A driver may hang while sysfs asks it; then its host has no parts that are known.
        let inventory =
            patiently(self.patience, self.haste, Doing::Looking, move |_| Ok(theirs.inventory()));
        looker.host(self.version, inventory.unwrap_or_default(), found)
    }

    fn target(&self, looker: &Looker, path: &str, host: Option<u32>) -> TargetFacts {
        if engine::is_simulated(path) {
            return engine::simulated(path);
        }
        let (looker, guard, theirs) = (looker.clone(), self.guard.clone(), path.to_owned());
        let found = patiently(self.patience, self.haste, Doing::Looking, move |progress| {
            progress.at(&theirs);
            let mut facts = looker.target(&theirs, host);
            progress.step();
            if let Err(error) = guard.check(&theirs) {
                facts.kind = TargetKind::Unreadable(error.to_string());
            }
            if let TargetKind::Directory { root, state: DirectoryState::Claimed { run, .. } } =
                &mut facts.kind
            {
                *run = engine::marked_by(root, &theirs).unwrap_or_default();
            }
            Ok(facts)
        });
        found.unwrap_or_else(|error| probe::unreadable(path, why(&error)))
    }
}

/// Why a target could not be looked at. Its path stands before it already.
fn why(error: &EngineError) -> String {
    match error {
        EngineError::Target { what, remedy, .. } => format!("{what}; {remedy}"),
        EngineError::Worker { .. } | EngineError::Trace { .. } | EngineError::Panicked { .. } => {
            error.to_string()
        }
    }
}

/// What `look` finds of each, in their order, a few at a time.
fn at_once<T: Send>(targets: &[String], look: impl Fn(&str) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let lane = || {
        while let Some((place, path)) = Some(next.fetch_add(1, Ordering::Relaxed))
            .and_then(|place| Some((place, targets.get(place)?)))
        {
            let one = look(path);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((place, one));
        }
    };
    thread::scope(|scope| {
        // This thread is a lane, too: if the system has no other, all are looked at still.
        for _ in 1..targets.len().min(AT_ONCE) {
            let _ = thread::Builder::new().spawn_scoped(scope, lane);
        }
        lane();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_looked_at_once_and_stays_in_its_place() {
        for count in [0, 1, 5, 3 * AT_ONCE + 7] {
            let targets: Vec<String> = (0..count).map(|number| format!("/t/{number}")).collect();
            assert_eq!(at_once(&targets, str::to_owned), targets);
        }
    }

    #[test]
    fn one_that_does_not_answer_holds_up_no_other() {
        let targets = ["dead".to_owned(), "well".to_owned()];
        let (told, is_told) = std::sync::mpsc::channel();
        let is_told = Mutex::new(is_told);
        // The first one answers once the second one has.
        let found = at_once(&targets, |path| match path {
            "dead" => is_told.lock().expect("not poisoned").recv().is_ok(),
            _ => told.send(()).is_ok(),
        });
        assert_eq!(found, [true, true]);
    }
}
