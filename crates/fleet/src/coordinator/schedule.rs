//! Which stages are still to run, and how each ends.

use super::steady_end::Settling;
use model::StageKind;
use model::load::Pace;
use model::plan::{HostStage, Plan, Stage, Stop, Work};
use model::search::Addition;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) struct Schedule {
    /// Those that are still to run, the next one last.
    left: Vec<u32>,
    /// When each stage ends, of those that the plan has by now.
    stops: Vec<Stop>,
    /// Stages of an amount whose workers never wait for a due time: something is always done.
    unpaced: BTreeSet<u32>,
    /// Of those that end when they are steady and have not begun.
    to_settle: BTreeMap<u32, Settling>,
    /// Whether the last stage may be followed by others that are not known yet.
    searches: bool,
    interval_ns: u64,
}

impl Schedule {
    /// Of these stages of `plan`, in their order.
    pub(super) fn new(plan: &Plan, stages: &[u32]) -> Schedule {
        let is_there = |stage: &u32| (*stage as usize) < plan.stages.len();
        let mut schedule = Schedule {
            left: stages.iter().rev().copied().filter(is_there).collect(),
            stops: plan.stages.iter().map(Stage::stop).collect(),
            unpaced: BTreeSet::new(),
            to_settle: BTreeMap::new(),
            searches: plan.grows(),
            interval_ns: plan.interval.0,
        };
        for (number, stage) in (0..).zip(&plan.stages) {
            let shares = plan.hosts.iter().map(|host| host.stages.get(number as usize));
            schedule.settle(number, stage, shares);
        }
        schedule
    }

    /// How many stages the plan has by now: the number of the next that is added.
    pub(super) fn planned(&self) -> u32 {
        self.stops.len() as u32
    }

    /// Takes in a point that was not planned; the number of its first stage.
    pub(super) fn extend(&mut self, addition: &Addition) -> u32 {
        let known = self.stops.len() as u32;
        self.stops.extend(addition.stages.iter().map(Stage::stop));
        self.left = (known..self.stops.len() as u32).rev().collect();
        for (number, stage) in (known..).zip(&addition.stages) {
            let shares = addition
                .hosts
                .iter()
                .map(|stages| stages.iter().find(|share| share.stage == number));
            self.settle(number, stage, shares);
        }
        known
    }

    fn settle<'a>(
        &mut self,
        number: u32,
        stage: &Stage,
        shares: impl Iterator<Item = Option<&'a HostStage>>,
    ) {
        let is_paced = |work: &Work| work.pace != Pace::FREE || work.trace.is_some();
        let is_load = stage.kind != StageKind::Purge && !stage.works.is_empty();
        if is_load && stage.stop().time().is_none() && !stage.works.iter().any(is_paced) {
            self.unpaced.insert(number);
        }
        let settling = Settling::new(stage, self.interval_ns, shares);
        self.to_settle.extend(settling.map(|settling| (number, settling)));
    }

    pub(super) fn next(&mut self) -> Option<u32> {
        self.left.pop()
    }

    /// Whether somebody has to be asked for what comes next.
    pub(super) fn asks(&self) -> bool {
        self.left.is_empty() && self.searches
    }

    /// Whether points may follow that are not known yet.
    pub(super) fn searches(&self) -> bool {
        self.searches
    }

    /// No point follows those that are known.
    pub(super) fn ends(&mut self) {
        self.searches = false;
    }

    pub(super) fn stop(&self, stage: u32) -> Option<&Stop> {
        self.stops.get(stage as usize)
    }

    /// Whether a host that does nothing in a stage for long does not go on: nothing else ends it.
    pub(super) fn is_unpaced(&self, stage: u32) -> bool {
        self.unpaced.contains(&stage)
    }

    /// The rounds of a stage that begins, if it ends when it is steady.
    pub(super) fn take_rounds(&mut self, stage: u32) -> Option<Settling> {
        self.to_settle.remove(&stage)
    }
}
