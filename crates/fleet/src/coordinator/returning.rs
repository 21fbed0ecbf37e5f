//! What hosts need that come back to a run, and who of them may not.

use super::Reach;
use super::presumed::unlike;
use model::choices::OnLostHost;
use model::plan::{HostPlan, Part, Plan, PlannedTarget, Stage, Target};
use model::resume;
use model::search::Addition;
use model::testbed::{DirectoryState, HostFacts, TargetKind};
use std::collections::BTreeMap;

/// What hosts need that come back.
#[derive(Debug, Default)]
pub(super) struct Returning {
    /// Each host's share, with all that the plan got since; none where no host may come back.
    pub(super) plans: Vec<HostPlan>,
    /// Whether a host may begin with it, of each stage.
    pub(super) entries: Vec<bool>,
    /// The point of each stage.
    pub(super) points: Vec<Option<u32>>,
    /// The stage that lays out the data of all; `None` where there is none, or each scenario has
    /// its own.
    pub(super) prepare: Option<u32>,
    /// Why no host may come back, in words, where that is so.
    pub(super) why_not: Option<&'static str>,
    /// What each host was at first; empty where it is not known.
    pub(super) identities: Vec<String>,
    /// What was presumed of hosts that were not there when the run was planned, and have not joined
    /// it yet.
    pub(super) presumed: BTreeMap<usize, HostFacts>,
}

/// Why no host may come back to a run of this plan, in words; `None` where they may.
fn why_not(plan: &Plan) -> Option<&'static str> {
    let checks = |host: &HostPlan| {
        host.engine.contents.verify
            || host.parts.iter().any(|part: &Part| part.engine.contents.verify)
    };
    let mut hosts = plan.hosts.iter();
    if hosts.clone().any(checks) {
        return Some(
            "reads are checked, and of which generation each block is only the agent knew that is \
             gone",
        );
    }
    let has_lent = hosts.any(|host| host.trees.iter().any(|tree| tree.joined));
    has_lent.then_some("hosts work in trees of one another, which it would make anew")
}

impl Returning {
    pub(super) fn new(plan: &Plan, reach: Reach) -> Returning {
        if plan.fleet.on_lost_host == OnLostHost::Abort || reach == Reach::OwnProcess {
            return Returning::default();
        }
        let why_not = why_not(plan);
        if why_not.is_some() {
            return Returning { why_not, ..Returning::default() };
        }
        let parts = plan.hosts.first().map_or(&[][..], |host| &host.parts);
        let prepare = plan.stages.iter().position(Stage::prepares_all).filter(|_| parts.is_empty());
        Returning {
            plans: plan.hosts.clone(),
            entries: resume::entries(&plan.stages, parts),
            points: plan.stages.iter().map(|stage| stage.point).collect(),
            prepare: prepare.map(|stage| stage as u32),
            ..Returning::default()
        }
    }

    /// Takes in a point that was not planned.
    pub(super) fn extend(&mut self, addition: &Addition) {
        for (plan, stages) in self.plans.iter_mut().zip(&addition.hosts) {
            plan.stages.extend(stages.iter().cloned());
        }
        self.entries.extend(resume::entries(&addition.stages, &[]));
        self.points.extend(addition.stages.iter().map(|stage| stage.point));
    }

    /// Why a host may not come back as it is now, in words.
    pub(super) fn refuses(&self, number: usize, facts: &HostFacts) -> Option<String> {
        let plan = self.plans.get(number)?;
        if let Some(presumed) = self.presumed.get(&number) {
            let of_others =
                self.identities.iter().enumerate().filter(|(other, _)| *other != number);
            return unlike(presumed, plan, facts, of_others.map(|(_, identity)| identity));
        }
        let has_device = plan.targets.iter().any(|target| target.kind == PlannedTarget::Device);
        let was = self.identities.get(number).filter(|was| !was.is_empty());
        if has_device && was != Some(&facts.identity) {
            let why = "it was started anew, so the name of its device may be another's by now";
            return Some(why.to_owned());
        }
        let why = "other hosts have its files open, which are gone, and would not see new ones";
        self.is_lent_and_gone(plan, facts).then(|| why.to_owned())
    }

    /// Whether other hosts load what this one had made, and it is there no more. Where scenarios
    /// have layouts of their own, nobody has one open when a host comes back.
    fn is_lent_and_gone(&self, plan: &HostPlan, facts: &HostFacts) -> bool {
        let joined = self
            .plans
            .iter()
            .flat_map(|plan| &plan.targets)
            .filter(|target| target.kind == PlannedTarget::Joined);
        let is_lent = |target: &Target| {
            joined
                .clone()
                .flat_map(|other| &other.files)
                .any(|file| target.files.iter().any(|own| own.path == file.path))
        };
        let is_there = |target: &Target| {
            let kind = facts
                .targets
                .iter()
                .find(|found| found.path == target.path)
                .map(|found| &found.kind);
            matches!(
                kind,
                Some(TargetKind::Directory { state: DirectoryState::Claimed { .. }, .. })
            )
        };
        let own = |target: &&Target| matches!(target.kind, PlannedTarget::Directory { .. });
        plan.parts.is_empty()
            && plan.targets.iter().filter(own).any(|target| is_lent(target) && !is_there(target))
    }
}
