//! Hosts that a run begins without. They are as if lost before the first point: what they were to
//! do is not done, figures say so, and between two points they may come in.

use super::{Action, Actions, Coordinator, Owes, Reach};
use model::{Event, Fact, Note};

/// Who is not there when the run begins.
#[derive(Debug)]
pub(super) struct AtStart {
    /// Their numbers, and the reason of each.
    hosts: Vec<(usize, String)>,
    /// The first stage that is to run and behind which none was run already: in those, all took
    /// part. A run that is resumed may lay its data out anew before.
    pub(super) stage: Option<u32>,
}

impl AtStart {
    /// Nobody is missing in these stages.
    pub(super) fn of(stages: &[u32]) -> AtStart {
        let gap = stages.windows(2).rev().find(|pair| pair[1] != pair[0].saturating_add(1));
        let stage = gap.map(|pair| pair[1]).or(stages.first().copied());
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
    pub(super) fn note_absent(&mut self, actions: &mut Actions) {
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
