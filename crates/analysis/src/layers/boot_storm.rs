//! Machines that start together, from power-on to their first agents: how long that took, and what
//! they read meanwhile.

use model::machines::{BootReads, BootTime};
use model::{Bytes, Nanos};

/// What it took all of them to come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootStorm {
    /// How many there were.
    pub machines: u64,
    /// Until the agent of the fastest listened, each from its own start.
    pub first: Nanos,
    /// The same of the one in the middle; of an even number, the later of both.
    pub median: Nanos,
    /// The same of the slowest.
    pub last: Nanos,
    /// What all of them read until their agents listened; `None` where one of their hypervisors
    /// does not say.
    pub reads: Option<BootReads>,
}

impl BootStorm {
    /// That of these machines; `None` without any.
    pub fn of<'a>(boots: impl IntoIterator<Item = &'a BootTime>) -> Option<BootStorm> {
        let mut all: Vec<&BootTime> = boots.into_iter().collect();
        all.sort_by_key(|boot| boot.agent);
        let (first, last) = (all.first()?.agent, all.last()?.agent);
        // What one machine does not report, all together do not.
        let reads = all.iter().try_fold(BootReads::default(), |sum, boot| {
            let one = boot.reads?;
            let bytes = Bytes(sum.bytes.0.saturating_add(one.bytes.0));
            Some(BootReads { requests: sum.requests.saturating_add(one.requests), bytes })
        });
        let median = all[all.len() / 2].agent;
        Some(BootStorm { machines: all.len() as u64, first, median, last, reads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(seconds: u64, requests: Option<u64>) -> BootTime {
        BootTime {
            machine: format!("a-{seconds}"),
            agent: Nanos::seconds(seconds),
            first_read: None,
            reads: requests.map(|requests| BootReads { requests, bytes: Bytes(requests * 4096) }),
        }
    }

    #[test]
    fn a_storm_has_its_fastest_its_median_its_slowest_and_the_sum_of_their_reads() {
        let mut boots = vec![boot(9, Some(3)), boot(4, Some(1)), boot(5, Some(1))];
        let reads = Some(BootReads { requests: 5, bytes: Bytes(5 * 4096) });
        let [first, median, last] = [4, 5, 9].map(Nanos::seconds);
        let all = BootStorm { machines: 3, first, median, last, reads };
        assert_eq!(BootStorm::of(&boots), Some(all));
        boots[0].reads = None;
        assert_eq!(BootStorm::of(&boots), Some(BootStorm { reads: None, ..all }));
        let two = BootStorm::of(&boots[..2]).expect("two");
        assert_eq!(two.median, last, "a time that a machine had");
        assert_eq!(BootStorm::of(&[]), None);
    }
}
