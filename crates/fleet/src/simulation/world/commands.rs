//! What the coordinator's own machine does beside links: commands, marks, and what a director says.

use super::super::{MILLI, SECOND};
use super::{What, World};
use crate::coordinator::{Input, Marked};
use model::OccurrenceKind;

#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Command {
    is_prerun: bool,
    /// It ends of itself then, in ns; `None` for one that hangs.
    ends_at_ns: Option<u64>,
    /// It does not even die when it is killed.
    is_stuck: bool,
    pub(in super::super) is_over: bool,
}

impl World<'_> {
    /// A command begins: it fails to, ends soon or later, or hangs.
    pub(super) fn begin_command(&mut self, number: u32, name: &str) {
        let now_ns = self.queue.now_ns();
        let is_prerun = name == OccurrenceKind::Prerun.word();
        let most_ns = [SECOND, 40 * SECOND][self.luck.below(2) as usize];
        let hangs = self.luck.below(8) == 0;
        let ends_at_ns = (!hangs).then(|| now_ns + self.luck.below(most_ns));
        let is_stuck = self.luck.below(3) == 0;
        let command = Command { is_prerun, ends_at_ns, is_stuck, is_over: false };
        let old = self.commands.insert(number, command);
        if old.is_some() {
            self.outcome.broken.push(format!("command {number} was begun twice"));
        }
        if is_prerun {
            self.prerun = Some(number);
        }
        if let Some(at_ns) = ends_at_ns {
            self.queue.plan(at_ns, What::CommandEnds { number, is_killed: false });
        }
    }

    /// A command is killed, if it is not over.
    pub(super) fn end_command(&mut self, number: u32) {
        let at_ns = self.queue.now_ns() + self.luck.below(100 * MILLI);
        match self.commands.get(&number) {
            None => self.outcome.broken.push(format!("command {number} was never begun")),
            Some(command) if command.is_stuck && command.ends_at_ns.is_none() => {
                self.outcome.see("a command that does not die is left behind");
            }
            Some(_) => self.queue.plan(at_ns, What::CommandEnds { number, is_killed: true }),
        }
    }

    /// A command is over; what the coordinator hears of it, once.
    pub(super) fn command_ends(&mut self, number: u32, is_killed: bool) -> Option<Input> {
        let fails = self.luck.below(4) == 0;
        let command = self.commands.get_mut(&number)?;
        if std::mem::replace(&mut command.is_over, true) {
            return None;
        }
        if is_killed {
            self.outcome.see("a command was killed");
        }
        let status = (!is_killed).then_some(i32::from(fails));
        Some(Input::CommandEnded { number, status, output: String::new() })
    }

    /// Somebody sets a mark, and waits for where it stands.
    pub(super) fn mark(&mut self, ticket: u32) {
        let at_ns = self.coordinator_ns(self.queue.now_ns());
        let label = format!("mark {ticket}");
        self.queue.plan(
            self.queue.now_ns(),
            What::Input(Input::Marked { label, at_ns, ticket: Some(ticket) }),
        );
        self.outcome.marks.push((ticket, None));
    }

    /// Whoever set a mark hears of it.
    pub(super) fn placed(&mut self, ticket: u32, marked: Marked) {
        match self.outcome.marks.iter_mut().find(|(asked, _)| *asked == ticket) {
            Some((_, answer @ None)) => *answer = Some(marked),
            _ => self.outcome.broken.push(format!("mark {ticket} was answered unasked or twice")),
        }
    }

    /// The next point of a search, or that there is none.
    pub(super) fn next_point(&mut self) -> Input {
        let left = self.scenario.further_points.unwrap_or(0) as usize;
        let Some(plan) = self.grown.as_mut() else { return Input::Added(None) };
        let added = plan.points.len() - self.scenario.plan.points.len();
        let addition = (added < left).then(|| plan.at_rate(1_000_000 + added as u64)).flatten();
        if let Some(addition) = &addition {
            plan.add(addition);
            self.outcome.see("a search adds a point");
        }
        Input::Added(addition.map(Box::new))
    }

    /// What begins while something is done before a point.
    pub(super) fn is_before_a_point(&self) -> bool {
        self.prerun
            .is_some_and(|number| self.commands.get(&number).is_some_and(|one| one.is_prerun))
    }
}
