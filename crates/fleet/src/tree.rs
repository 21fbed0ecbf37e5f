//! Which agents start which, and where in that tree a host is found. Pure.
//!
//! The hosts keep their order: a branch is a run of them, its first host is its relay, and that one
//! starts the rest in the same manner. So a host's number at each level says everything, and nobody
//! has to know more than his own branches.

use std::ops::Range;

/// Up to so many hosts, the coordinator starts all agents itself.
const FLAT: usize = 64;
/// More connections than these are not one host's to hold, where nobody asks for them.
const MOST_BRANCHES: usize = 32;

/// How many agents each starts where nobody says it, for so many hosts: all of them up to 64; else
/// about the root of their number, so that the tree has two levels of equal width, and no more than
/// 32.
pub(crate) fn automatic(hosts: usize) -> usize {
    if hosts <= FLAT {
        hosts
    } else {
        (hosts as f64).sqrt().ceil().min(MOST_BRANCHES as f64) as usize
    }
}

/// How somebody divides the hosts below him.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// Where each branch begins, and behind the last one the number of hosts.
    bounds: Vec<usize>,
}

impl Tree {
    /// Divides so many hosts into at most `fanout` branches, at least one, whose sizes differ by
    /// one at most.
    pub(crate) fn new(hosts: usize, fanout: usize) -> Tree {
        let branches = fanout.max(1).min(hosts);
        let bound =
            |number: usize| (hosts as u128 * number as u128 / branches.max(1) as u128) as usize;
        Tree { bounds: (0..=branches).map(bound).collect() }
    }

    /// The hosts of each branch.
    pub(crate) fn branches(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.bounds.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The hosts of one branch; none where there is no such branch.
    pub(crate) fn branch(&self, number: usize) -> Range<usize> {
        match self.bounds.get(number..=number.saturating_add(1)) {
            Some([from, to]) => *from..*to,
            _ => 0..0,
        }
    }

    /// The branch of a host and, unless it is the relay itself, its number among those below the
    /// relay.
    pub(crate) fn way(&self, host: usize) -> Option<(usize, Option<u32>)> {
        let branch = self.bounds.partition_point(|from| *from <= host).checked_sub(1)?;
        let hosts = self.branch(branch);
        let below = host.checked_sub(hosts.start)?.checked_sub(1);
        hosts.contains(&host).then(|| (branch, below.and_then(|below| u32::try_from(below).ok())))
    }

    /// The reverse of [`way`](Self::way); `None` for a number that no host of the branch has.
    pub(crate) fn host(&self, branch: usize, below: Option<u32>) -> Option<usize> {
        let hosts = self.branch(branch);
        let place = below.map_or(0, |below| below as usize + 1);
        (place < hosts.len()).then_some(hosts.start + place)
    }
}

/// How many agents are between the coordinator and the farthest host, itself included.
pub(crate) fn levels(hosts: usize, fanout: usize) -> usize {
    let (mut levels, mut left) = (0, hosts);
    while left > 0 {
        levels += 1;
        left = Tree::new(left, fanout).branches().map(|branch| branch.len() - 1).max().unwrap_or(0);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_fleet_is_flat_and_a_large_one_stays_narrow() {
        assert_eq!([automatic(0), automatic(4), automatic(64)], [0, 4, 64]);
        assert_eq!(
            [automatic(65), automatic(400), automatic(1_024), automatic(100_000)],
            [9, 20, 32, 32]
        );
        assert_eq!(
            [levels(64, 64), levels(65, 9), levels(1_000, 32), levels(10_000, 32)],
            [1, 2, 2, 3]
        );
        assert_eq!([levels(0, 3), levels(5, 1)], [0, 5]);
    }

    #[test]
    fn branches_are_runs_of_hosts_of_nearly_one_size() {
        let tree = Tree::new(7, 3);
        assert_eq!(tree.branches().collect::<Vec<_>>(), [0..2, 2..4, 4..7]);
        assert_eq!(tree.way(0), Some((0, None)));
        assert_eq!(tree.way(6), Some((2, Some(1))));
        assert_eq!((tree.way(7), tree.host(2, Some(2)), tree.host(3, None)), (None, None, None));
        assert_eq!(Tree::new(0, 3).branches().len(), 0);
        assert_eq!(Tree::new(0, 3).way(0), None);
    }

    proptest! {
        #[test]
        fn every_host_is_found_where_it_is(hosts in 0usize..500, fanout in 0usize..80) {
            let tree = Tree::new(hosts, fanout);
            prop_assert!(tree.branches().len() <= fanout.max(1));
            prop_assert_eq!(tree.branches().flatten().collect::<Vec<_>>(),
                (0..hosts).collect::<Vec<_>>());
            for host in 0..hosts {
                let (branch, below) = tree.way(host).expect("a host of the tree");
                prop_assert_eq!(tree.host(branch, below), Some(host));
            }
        }

        #[test]
        fn any_number_is_taken_without_a_panic(hosts in 0usize..9, fanout: usize, branch: usize,
            below: Option<u32>, host: usize) {
            let tree = Tree::new(hosts, fanout);
            prop_assert_eq!(tree.way(host).is_some(), host < hosts);
            prop_assert!(tree.host(branch,
                below).is_none_or(|host| tree.branch(branch).contains(&host)));
        }
    }
}
