//! Hosts that a run begins without. They are as if lost before the first point: what they were to
//! do is not done, figures say so, and between two points they may come in.

use super::{Action, Coordinator, Owes, Reach};
use model::plan::Plan;
use model::{Event, Fact, Note};

/// Who is not there when the run begins.
#[derive(Debug)]
pub(super) struct AtStart {
    /// Their numbers, and the reason of each.
    hosts: Vec<(usize, String)>,
    /// The first stage of a point that is to run, or else the first of all: what was done before a
    /// run was resumed, all did.
    pub(super) stage: Option<u32>,
}

impl AtStart {
    /// Nobody is missing in these stages of `plan`.
    pub(super) fn of(plan: &Plan, stages: &[u32]) -> AtStart {
        let is_of_a_point = |stage: &&u32| {
            plan.stages.get(**stage as usize).is_some_and(|stage| stage.point.is_some())
        };
        let stage = stages.iter().find(is_of_a_point).or(stages.first()).copied();
        AtStart { hosts: Vec::new(), stage }
    }
}

impl Coordinator {
    /// Begins without a host that has no agent. It is on record, with `why`, as soon as the run
    /// begins.
    pub fn begin_without(&mut self, number: usize, why: String) {
        let Some(host) = self.hosts.get_mut(number).filter(|host| host.alive) else { return };
        host.alive = false;
        self.debts.turn(host, Owes::Nothing);
        if self.terms.reach == Reach::Remote {
            self.unknown_clocks -= 1;
        }
        self.at_start.hosts.push((number, why));
    }

    /// Says who is not there from the start. Each was just tried, and is not at once again.
    pub(super) fn note_absent(&mut self, actions: &mut Vec<Action>) {
        let stage = self.at_start.stage;
        for (number, why) in std::mem::take(&mut self.at_start.hosts) {
            let name = self.hosts[number].name.clone();
            let fact = Fact::HostLost { name, why };
            actions.push(Action::Emit(Event::Note(Note { stage, host: number as u32, fact })));
            self.note_absence(number, actions);
            self.try_later(number);
        }
    }
}
