//! Where all hosts are together, and what is true only there.

use super::host::Owes;
use super::prerun::UnderWay;
use super::rejoin::Boundary;
use super::steady_end::Settling;
use super::timeline::Wait;
use model::plan::HostPlan;
use model::{Event, Fact, Nanos, Note, StageEnd};

/// What all hosts do at this moment. What means something in one step alone stands in it.
#[derive(Debug)]
pub(super) enum Step {
    /// Nobody has been told anything yet: each host's share.
    Waiting {
        plans: Vec<HostPlan>,
    },
    Opening,
    /// Commands of events are waited for whose scenario is over, before the next stage or the end
    /// of the run.
    AwaitingEvents(Wait),
    /// All hosts give back the layouts that are over before a stage.
    GivingBack {
        stage: u32,
    },
    /// Hosts that were lost may come back before a point.
    Returning(Boundary),
    /// What is to be done before a point is under way, and no host has a stage.
    Prerun(UnderWay),
    Arming(Arming),
    Running(Running),
    /// The next point of a search is asked for.
    Asking,
    /// How the run ended is on record, and all let go of their targets.
    Releasing,
    /// Nobody is told anything any more.
    Over,
}

#[derive(Debug)]
pub(super) struct Arming {
    pub(super) stage: u32,
    /// Once the run is to end: when hosts are waited for no longer, in ns.
    pub(super) end_by_ns: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Running {
    pub(super) stage: u32,
    /// How it will end, if it will not be complete.
    pub(super) end: StageEnd,
    /// When its end is waited for no longer, in ns; `None` where nothing says how long it may take.
    pub(super) end_by_ns: Option<u64>,
    /// Whether the first worker of the cluster has done its amount.
    pub(super) is_cut: bool,
    /// Its rounds, if it ends when it is steady.
    pub(super) settling: Option<Settling>,
}

impl Running {
    /// How a stage that was to end when it was steady ended.
    pub(super) fn settled(&self) -> Option<Event> {
        let (end, steady) = self.settling.as_ref()?.outcome();
        let fact = match end {
            Some(end) => Fact::Settled {
                to: Nanos(end.to_ns),
                rounds: model::plan::Steady::ROUNDS,
                round: steady.round,
                after: Nanos(end.after_ns),
            },
            None => Fact::Unsettled { after: steady.most },
        };
        Some(Event::Note(Note { stage: Some(self.stage), host: 0, fact }))
    }
}

impl Step {
    /// The stage that is under way, or that begins next; `None` before the first and after the
    /// last.
    pub(super) fn stage(&self) -> Option<u32> {
        match self {
            Step::Running(running) => Some(running.stage),
            Step::Arming(arming) => Some(arming.stage),
            Step::Prerun(prerun) => Some(prerun.stage),
            Step::GivingBack { stage } => Some(*stage),
            Step::AwaitingEvents(wait) => wait.next,
            Step::Returning(boundary) => Some(boundary.stage),
            Step::Waiting { .. } | Step::Opening | Step::Asking | Step::Releasing | Step::Over => {
                None
            }
        }
    }

    pub(super) fn debts(&self) -> &'static [Owes] {
        match self {
            Step::Opening => &[Owes::Ready],
            Step::GivingBack { .. } => &[Owes::GaveBack],
            Step::Arming(_) => &[Owes::Armed, Owes::Start],
            Step::Running(_) => &[Owes::StageEnd],
            Step::Releasing => &[Owes::Released],
            Step::Waiting { .. }
            | Step::AwaitingEvents(_)
            | Step::Returning(_)
            | Step::Prerun(_)
            | Step::Asking
            | Step::Over => &[],
        }
    }

    /// The stage that hosts have: it is set up, or runs.
    pub(super) fn stage_on_hosts(&self) -> Option<u32> {
        match self {
            Step::Running(running) => Some(running.stage),
            Step::Arming(arming) => Some(arming.stage),
            _ => None,
        }
    }

    pub(super) fn arms(&self, stage: u32) -> bool {
        matches!(self, Step::Arming(arming) if arming.stage == stage)
    }

    /// This stage, if it is the one that runs.
    pub(super) fn running(&self, stage: u32) -> Option<&Running> {
        match self {
            Step::Running(running) if running.stage == stage => Some(running),
            _ => None,
        }
    }

    pub(super) fn running_mut(&mut self, stage: u32) -> Option<&mut Running> {
        match self {
            Step::Running(running) if running.stage == stage => Some(running),
            _ => None,
        }
    }

    /// When the stage that hosts have is waited for no longer, in ns.
    pub(super) fn end_by_ns(&self) -> Option<u64> {
        match self {
            Step::Running(running) => running.end_by_ns,
            Step::Arming(arming) => arming.end_by_ns,
            _ => None,
        }
    }

    /// The stage that hosts have, if they do, is not waited for any longer than this.
    pub(super) fn end_by_at_latest(&mut self, by_ns: u64) {
        let end_by_ns = match self {
            Step::Running(running) => &mut running.end_by_ns,
            Step::Arming(arming) => &mut arming.end_by_ns,
            _ => return,
        };
        *end_by_ns = Some(end_by_ns.map_or(by_ns, |earlier_ns| earlier_ns.min(by_ns)));
    }

    /// Whether how the run ended is on record: nothing follows it.
    pub(super) fn is_on_record(&self) -> bool {
        matches!(self, Step::Releasing | Step::Over)
    }
}
