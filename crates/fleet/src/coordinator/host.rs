//! One host as the coordinator knows it.

use super::rejoin::Absence;
use super::start_bound::{Answer, StartBound, Told};
use crate::clock::HostClock;
use model::HostPlan;

/// How often each host is asked for its clock, which is also our sign of life to it.
const PING_EVERY_NS: u64 = 1_000_000_000;
/// Answers that come one after the other at the beginning, so that the first stage begins with a
/// known clock.
const FIRST_ANSWERS: u32 = 8;

/// What a host has to say next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Owes {
    #[default]
    Nothing,
    /// That its targets are open.
    Ready,
    /// That its workers are set up.
    Armed,
    /// Nothing but that it is called off: it is set up and waits for its start.
    Start,
    /// That its stage is over.
    StageEnd,
    /// That layouts that are over are given back.
    GaveBack,
    /// That its targets are let go.
    Released,
}

/// How many hosts owe what. Every message asks whether anybody still owes something, so looking at
/// every host for it would make the cost of a message grow with the fleet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debts {
    /// By [`Owes`].
    counts: [usize; 7],
}

impl Debts {
    /// Of so many hosts, which owe nothing.
    pub(super) fn new(hosts: usize) -> Debts {
        let mut counts = [0; 7];
        counts[Owes::Nothing as usize] = hosts;
        Debts { counts }
    }

    /// `host` owes something else from now on.
    pub(super) fn turn(&mut self, host: &mut Host, owes: Owes) {
        assert!(host.alive || owes == Owes::Nothing, "a host that is gone owes something");
        let old = std::mem::replace(&mut host.owes, owes);
        self.counts[old as usize] -= 1;
        self.counts[owes as usize] += 1;
    }

    pub(super) fn are_only(&self, words: &[Owes]) -> bool {
        let hosts: usize = self.counts.iter().sum();
        let allowed = words.iter().map(|word| self.counts[*word as usize]).sum::<usize>();
        allowed + self.counts[Owes::Nothing as usize] == hosts
    }

    pub(super) fn has(&self, words: &[Owes]) -> bool {
        words.iter().any(|word| self.counts[*word as usize] > 0)
    }
}

#[derive(Debug, Default)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) alive: bool,
    pub(super) owes: Owes,
    pub(super) clock: HostClock,
    /// The start of the stage that it was told, if it was. Only answers look at it.
    start: Option<Box<StartBound>>,
    /// The next interval that it may tell of: none is taken twice.
    pub(super) next_interval: u32,
    /// How long a stage that is over is waited for at most, beyond its own time, in ns.
    pub(super) patience_ns: u64,
    /// What is known of its ways back, once it was lost.
    pub(super) absence: Absence,
    heard_ns: u64,
    ping_at_ns: u64,
    /// When something of its stage was last heard to be done, or it began.
    worked_ns: u64,
}

impl Host {
    pub(super) fn new(plan: &HostPlan) -> Host {
        Host {
            name: plan.hostname.clone(),
            alive: true,
            patience_ns: plan.engine.patience.0,
            ..Host::default()
        }
    }

    /// Another agent takes the place of the one that was lost: nothing that is known of the old
    /// one's clock is true of its own.
    pub(super) fn begin_anew(&mut self, now_ns: u64) {
        (self.clock, self.next_interval, self.start) = (HostClock::default(), 0, None);
        (self.heard_ns, self.ping_at_ns) = (now_ns, now_ns.saturating_add(PING_EVERY_NS));
    }

    pub(super) fn heard(&mut self, at_ns: u64) {
        self.heard_ns = self.heard_ns.max(at_ns);
    }

    /// Takes so much off its silence: we could not hear it.
    pub(super) fn excuse(&mut self, for_ns: u64) {
        self.heard_ns = self.heard_ns.saturating_add(for_ns);
        self.worked_ns = self.worked_ns.saturating_add(for_ns);
    }

    /// It was heard to have done something of its stage, or begins it.
    pub(super) fn worked(&mut self, at_ns: u64) {
        self.worked_ns = self.worked_ns.max(at_ns);
    }

    /// For how long nothing of its stage was done, as far as it was heard of.
    pub(super) fn idle_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.worked_ns)
    }

    pub(super) fn silence_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.heard_ns)
    }

    /// When its clock is to be asked, or its silence, if it lasts, reaches `lost_after_ns`: the
    /// earlier of the two.
    pub(super) fn look_at_ns(&self, lost_after_ns: u64) -> u64 {
        self.ping_at_ns.min(self.heard_ns.saturating_add(lost_after_ns))
    }

    /// Whether its clock is to be asked now; the next time is later.
    pub(super) fn ping_is_due(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.ping_at_ns;
        if is_due {
            self.ping_at_ns = now_ns.saturating_add(PING_EVERY_NS);
        }
        is_due
    }

    /// When its stage begins, as it is told; `None` where it begins at the word.
    pub(super) fn begins(&mut self, told: Option<Told>) {
        self.start = told.map(|told| Box::new(StartBound::of(told)));
    }

    /// Its stage was heard to be over. By how much its start may be off, in ns; `None` where its
    /// clock has not been read since, and has to be before that is known.
    pub(super) fn start_error_ns(&mut self, now_ns: u64) -> Option<u64> {
        let Some(start) = &mut self.start else { return Some(0) };
        start.is_over(now_ns);
        start.error_ns()
    }

    /// Takes in what its clock showed. Whether to ask again at once.
    pub(super) fn answered(&mut self, sent_ns: u64, theirs_ns: u64, received_ns: u64) -> bool {
        self.clock.answer(sent_ns, theirs_ns, received_ns);
        let answer = Answer { sent_ns, theirs_ns, received_ns };
        let again = self.start.as_mut().is_some_and(|start| start.answer(answer));
        again || self.clock.answers() < FIRST_ANSWERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every message goes to what is known of its host, which of thousands of hosts shares a
    /// processor's caches.
    #[test]
    fn what_is_known_of_a_host_takes_three_lines_of_a_cache_at_most() {
        assert!(size_of::<Host>() <= 3 * 64, "{} bytes", size_of::<Host>());
    }
}
