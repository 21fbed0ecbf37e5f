//! Hosts that are watched and are away: when each is tried again. Pure.
//!
//! A watch may last a month, and so may a repair: no host is ever given up for good.

use std::collections::BTreeMap;

/// From a loss, or from a try in vain, to the next try lies at least this, in ns; twice as much
/// after each further one.
const PAUSE_NS: u64 = 2_000_000_000;
/// The longest pause between two tries, in ns.
const LONGEST_PAUSE_NS: u64 = 60_000_000_000;
/// Hosts that are started at the same time.
const AT_ONCE: usize = 32;

/// How far a host is on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It is tried at this instant, in ns.
    Waits { at_ns: u64 },
    /// Its agent is being started.
    Starts,
    /// It is asked what it is, since this instant, in ns.
    Answers { since_ns: u64 },
}

#[derive(Clone, Copy, Debug)]
struct One {
    stage: Stage,
    /// Tries in vain since it was lost.
    tries: u32,
}

/// The hosts that are away.
#[derive(Debug, Default)]
pub(super) struct Away {
    hosts: BTreeMap<usize, One>,
    /// How often any was started: each start has its own number.
    starts: u32,
}

impl Away {
    /// A host was lost, or did not come back at this try.
    pub(super) fn lose(&mut self, host: usize, now_ns: u64) {
        let tries = self.hosts.get(&host).map_or(0, |one| one.tries.saturating_add(1));
        let pause_ns = PAUSE_NS.saturating_mul(1 << tries.min(16)).min(LONGEST_PAUSE_NS);
        let stage = Stage::Waits { at_ns: now_ns.saturating_add(pause_ns) };
        self.hosts.insert(host, One { stage, tries });
    }

    /// The hosts that are started now, each with the number of its start.
    pub(super) fn due(&mut self, now_ns: u64) -> Vec<(usize, u32)> {
        let under_way =
            self.hosts.values().filter(|one| !matches!(one.stage, Stage::Waits { .. })).count();
        let is_due = |one: &One| matches!(one.stage, Stage::Waits { at_ns } if at_ns <= now_ns);
        let due = self.hosts.iter_mut().filter(|(_, one)| is_due(one));
        let mut begun = Vec::new();
        for (host, one) in due.take(AT_ONCE.saturating_sub(under_way)) {
            one.stage = Stage::Starts;
            self.starts = self.starts.wrapping_add(1);
            begun.push((*host, self.starts));
        }
        begun
    }

    /// An agent was started there. False where nobody waits for it.
    pub(super) fn started(&mut self, host: usize, now_ns: u64) -> bool {
        match self.hosts.get_mut(&host) {
            Some(one) if one.stage == Stage::Starts => {
                one.stage = Stage::Answers { since_ns: now_ns };
                true
            }
            _ => false,
        }
    }

    /// A host said what it is: it is back. False where nobody asked it.
    pub(super) fn answered(&mut self, host: usize) -> bool {
        let asked = self.hosts.get(&host).map(|one| one.stage);
        let is_back = matches!(asked, Some(Stage::Answers { .. }));
        if is_back {
            self.hosts.remove(&host);
        }
        is_back
    }

    /// Whether an agent of a host that is away is there, and does not answer yet.
    pub(super) fn is_asked(&self, host: usize) -> bool {
        matches!(self.hosts.get(&host), Some(One { stage: Stage::Answers { .. }, .. }))
    }

    /// The hosts that were asked longer ago than this, in ns, and did not answer.
    pub(super) fn silent(&self, for_ns: u64, now_ns: u64) -> Vec<usize> {
        let is_late = |one: &One| {
            matches!(one.stage, Stage::Answers { since_ns }
                if now_ns.saturating_sub(since_ns) > for_ns)
        };
        self.hosts.iter().filter(|(_, one)| is_late(one)).map(|(host, _)| *host).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_host_is_tried_for_ever_and_ever_more_seldom() {
        let mut away = Away::default();
        away.lose(3, 0);
        let (mut now_ns, mut pauses) = (0, Vec::new());
        for _ in 0..1_000 {
            let before_ns = now_ns;
            let due = loop {
                now_ns += S;
                match away.due(now_ns) {
                    due if due.is_empty() => {}
                    due => break due,
                }
            };
            assert_eq!(due[0].0, 3);
            pauses.push((now_ns - before_ns) / S);
            away.lose(3, now_ns);
        }
        assert_eq!(pauses[..7], [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pauses.last(), Some(&60));
    }

    #[test]
    fn who_answers_is_back_and_who_does_not_is_tried_again() {
        let mut away = Away::default();
        away.lose(1, 0);
        assert!(!away.started(1, 0) && !away.answered(1), "nobody asked");
        assert_eq!(away.due(2 * S), [(1, 1)]);
        assert!(away.due(9 * S).is_empty(), "it is being started");
        assert!(away.started(1, 3 * S) && away.is_asked(1));
        assert!(away.silent(10 * S, 13 * S).is_empty());
        assert_eq!(away.silent(10 * S, 13 * S + 1), [1]);
        away.lose(1, 14 * S);
        assert!(!away.started(1, 14 * S), "of a start that is over");
        assert_eq!(away.due(18 * S), [(1, 2)]);
        assert!(away.started(1, 18 * S) && away.answered(1) && !away.is_asked(1));
        away.lose(1, 20 * S);
        assert_eq!(away.due(22 * S), [(1, 3)], "as if for the first time");
    }

    #[test]
    fn a_whole_rack_comes_back_a_few_at_a_time() {
        let mut away = Away::default();
        (0..100).for_each(|host| away.lose(host, 0));
        assert_eq!(away.due(2 * S).len(), AT_ONCE);
        assert!(away.due(2 * S).is_empty());
        (0..AT_ONCE).for_each(|host| assert!(away.started(host, 3 * S) && away.answered(host)));
        assert_eq!(away.due(3 * S).len(), AT_ONCE);
    }
}
