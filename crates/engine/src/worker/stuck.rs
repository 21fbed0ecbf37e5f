//! Targets that never answer: how long the end of a stage waits for them, and what is said about
//! it.

use model::plan::{HostPlan, Worker};
use model::units::Nanos;
use std::fmt;

/// A worker that can still act gives up by itself and hands over what it recorded. It gets so much
/// longer than the patience for it, before it counts as one that hangs in a call of the kernel.
const GRACE_NS: u64 = 1_000_000_000;

/// Requests that a target had not answered when the patience was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// How many.
    pub requests: u32,
    /// The targets that they may be with, as the user named them.
    pub targets: Vec<String>,
    /// How long after the end of the load.
    pub waited: Nanos,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.requests == 1 { "request" } else { "requests" };
        write!(
            f,
            "stuck: {} {noun} outstanding at {} for {} after the load. Check whether the \
             target answers, or raise engine.patience",
            self.requests,
            self.targets.join(", "),
            self.waited
        )
    }
}

/// How long a stage waits for its last requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience(pub(crate) Nanos);

impl Patience {
    /// Whether a worker whose load ended at `stop_at_ns` gives up what is outstanding.
    pub(crate) fn is_over(self, stop_at_ns: u64, now_ns: u64) -> bool {
        now_ns >= stop_at_ns.saturating_add(self.0.0)
    }

    /// Whether a worker that has said nothing is given up itself.
    pub(crate) fn is_over_for_silent(self, stop_at_ns: u64, now_ns: u64) -> bool {
        now_ns >= stop_at_ns.saturating_add(self.0.0).saturating_add(GRACE_NS)
    }
}

/// The targets that `workers` have a share of.
pub(crate) fn targets_of(plan: &HostPlan, workers: &[&Worker]) -> Vec<String> {
    let mut first = 0;
    let mut names = Vec::new();
    for (number, target) in plan.targets.iter().enumerate() {
        let files = first..first + target.files.len();
        first = files.end;
        let in_files = workers
            .iter()
            .flat_map(|worker| &worker.extents)
            .any(|extent| files.contains(&(extent.file as usize)));
        let mut trees =
            workers.iter().filter_map(|worker| plan.trees.get(worker.files?.tree as usize));
        if in_files || trees.any(|tree| tree.target as usize == number) {
            names.push(target.path.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Backend;
    use model::plan::{EngineSettings, Extent, PlannedTarget, Target, TargetFile};
    use model::units::Bytes;

    #[test]
    fn a_silent_worker_gets_longer_and_a_stage_without_an_end_any_time() {
        let patience = Patience(Nanos::seconds(2));
        assert!(!patience.is_over(1_000, 2_000_000_999) && patience.is_over(1_000, 2_000_001_000));
        assert!(!patience.is_over_for_silent(1_000, 2_000_001_000));
        assert!(patience.is_over_for_silent(1_000, 3_000_001_000));
        assert!(!patience.is_over(u64::MAX, u64::MAX - 1));
    }

    #[test]
    fn it_names_the_targets_of_the_workers_that_are_stuck_and_no_others() {
        let target = |path: &str, files: usize| Target {
            path: path.to_owned(),
            kind: PlannedTarget::ReadOnly,
            files: vec![TargetFile { path: path.to_owned(), size: Bytes(4096) }; files],
        };
        let engine =
            EngineSettings { patience: Nanos::seconds(2), ..EngineSettings::simple(Backend::Sync) };
        let plan = HostPlan {
            targets: vec![target("/a", 2), target("/b", 1), target("/c", 1)],
            ..HostPlan::empty("test", Nanos::seconds(1), engine)
        };
        let worker =
            |file| crate::common::worker(1, vec![Extent { file, offset: 0, length: 4096 }]);
        let workers = [worker(1), worker(3)];
        assert_eq!(targets_of(&plan, &[&workers[0], &workers[1]]), ["/a", "/c"]);
        let stuck = Stuck {
            requests: 3,
            targets: targets_of(&plan, &[&workers[0], &workers[1]]),
            waited: Nanos::seconds(2),
        };
        let words = stuck.to_string();
        assert!(words.starts_with("stuck: 3 requests outstanding at /a, /c for 2 s"), "{words}");
    }
}
