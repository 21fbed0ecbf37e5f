//! Time passes: clocks are asked, and hosts given up that are silent or do not end their stage.

use super::{Action, Actions, Coordinator, Now, Owes, Reach, Step};

/// Between two ticks that come several times a second. After longer, this process stood still
/// itself, and nobody is silent who was not heard.
const LONGEST_TICK_NS: u64 = 1_000_000_000;

/// When this process looked at its hosts.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    last_ns: u64,
    /// The longest time between two ticks since the stage was set up, in ns.
    longest_away_ns: u64,
    /// Before this, no host is to be asked for its clock, and none has been silent for too long.
    look_at_ns: u64,
}

impl Ticks {
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.last_ns = now_ns;
    }

    /// A stage is about to be set up: what was before it is no excuse in it.
    pub(super) fn begin_stage(&mut self) {
        self.longest_away_ns = 0;
    }

    /// For how long this process stood still since the stage was set up, or still does, in ns.
    pub(super) fn longest_away_ns(&self, now_ns: u64) -> u64 {
        self.longest_away_ns.max(now_ns.saturating_sub(self.last_ns))
    }

    /// A host is there that was not. Where it is the only one, no other says when it is looked at.
    pub(super) fn look_again(&mut self) {
        self.look_at_ns = 0;
    }

    /// Notes a tick. For how long nobody can have been heard before it, in ns.
    fn tick(&mut self, now_ns: u64) -> u64 {
        let gap_ns = now_ns.saturating_sub(std::mem::replace(&mut self.last_ns, now_ns));
        self.longest_away_ns = self.longest_away_ns.max(gap_ns);
        if gap_ns > LONGEST_TICK_NS { gap_ns } else { 0 }
    }
}

impl Coordinator {
    pub(super) fn tick(&mut self, now: Now, actions: &mut Actions) {
        if matches!(self.step, Step::Waiting { .. } | Step::Over) {
            return;
        }
        let excused_ns = self.ticks.tick(now.steady_ns);
        let stage_is_over = self.step.end_by_ns().is_some_and(|by_ns| now.steady_ns > by_ns);
        if now.steady_ns < self.ticks.look_at_ns && excused_ns == 0 && !stage_is_over {
            return;
        }
        // What is heard meanwhile, and what is excused, only puts it off. So thousands of hosts are
        // not looked at ten times a second.
        self.ticks.look_at_ns = u64::MAX;
        let lost_after = self.terms.policy.silence();
        let longest_idle_ns = self.longest_idle_ns();
        for number in 0..self.hosts.len() {
            let host = &mut self.hosts[number];
            if !host.alive {
                continue;
            }
            host.excuse(excused_ns);
            if self.terms.reach == Reach::Remote && host.silence_ns(now.steady_ns) > lost_after.0 {
                let why = format!("it was not heard of for {lost_after}");
                self.lose(number, &why, actions);
            } else if stage_is_over
                && matches!(host.owes, Owes::Armed | Owes::Start | Owes::StageEnd)
            {
                let why = "it answers, but did not end its stage in time, with engine.patience \
                           and some to spare";
                self.lose(number, why, actions);
            } else if host.owes == Owes::StageEnd
                && longest_idle_ns.is_some_and(|most_ns| host.idle_ns(now.steady_ns) > most_ns)
            {
                let why = "it answers, but did nothing of its stage for an hour, with \
                           engine.patience and some to spare";
                self.lose(number, why, actions);
            } else if host.ping_is_due(now.steady_ns) {
                actions.push(Action::Ping { host: number });
            }
            let look_at_ns = self.hosts[number].look_at_ns(lost_after.0);
            self.ticks.look_at_ns = self.ticks.look_at_ns.min(look_at_ns);
        }
    }
}
