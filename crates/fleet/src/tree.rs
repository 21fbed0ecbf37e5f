//! Which agents start which, and where in that tree a host is found. Pure.
//!
//! A branch is a list of hosts: its first host is its relay, and that one starts the rest in the
//! same manner. So a host's number at each level says everything, and nobody has to know more than
//! his own branches. Branches are planned as runs of hosts; what came of them where some could not
//! be started is any list.

use std::ops::Range;
use std::sync::Arc;

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

/// So many hosts, divided into at most `fanout` runs, at least one, whose lengths differ by one at
/// most.
pub(crate) fn runs(hosts: usize, fanout: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let runs = fanout.max(1).min(hosts);
    let bound =
        move |number: usize| (hosts as u128 * number as u128 / runs.max(1) as u128) as usize;
    (0..runs).map(move |number| bound(number)..bound(number + 1))
}

/// How somebody divides the hosts below him. Copies share it: each branch has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree(Arc<Shape>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Shape {
    /// The hosts of each branch, its relay first.
    branches: Vec<Vec<usize>>,
    /// The branch of each host, and its place in it; `None` for one that has no agent.
    ways: Vec<Option<Way>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    branch: usize,
    place: usize,
}

impl Tree {
    /// Divides so many hosts into [`runs`].
    pub(crate) fn new(hosts: usize, fanout: usize) -> Tree {
        Tree::of(hosts, runs(hosts, fanout).map(Iterator::collect).collect())
    }

    /// These branches of so many hosts; who is in none of them has no agent.
    pub(crate) fn of(hosts: usize, branches: Vec<Vec<usize>>) -> Tree {
        let mut ways = vec![None; hosts];
        for (branch, list) in branches.iter().enumerate() {
            for (place, host) in list.iter().enumerate() {
                assert!(ways[*host].is_none(), "host {host} is in two branches");
                ways[*host] = Some(Way { branch, place });
            }
        }
        Tree(Arc::new(Shape { branches, ways }))
    }

    /// The same without the hosts that have no agent: the others close up, in their order.
    pub(crate) fn closed_up(&self) -> Tree {
        let mut next = 0;
        let mut number = |way: &Option<Way>| {
            way.map_or(0, |_| {
                next += 1;
                next - 1
            })
        };
        let numbers: Vec<usize> = self.0.ways.iter().map(&mut number).collect();
        let list = |list: &Vec<usize>| list.iter().map(|host| numbers[*host]).collect();
        Tree::of(next, self.0.branches.iter().map(list).collect())
    }

    /// How many hosts there are, those without an agent included.
    pub(crate) fn hosts(&self) -> usize {
        self.0.ways.len()
    }

    pub(crate) fn branches(&self) -> impl ExactSizeIterator<Item = &[usize]> + '_ {
        self.0.branches.iter().map(Vec::as_slice)
    }

    /// The hosts of one branch; none where there is no such branch.
    pub(crate) fn branch(&self, number: usize) -> &[usize] {
        self.0.branches.get(number).map_or(&[], Vec::as_slice)
    }

    /// The branch of a host and, unless it is the relay itself, its number among those below the
    /// relay.
    pub(crate) fn way(&self, host: usize) -> Option<(usize, Option<u32>)> {
        let way = self.0.ways.get(host).copied().flatten()?;
        Some((way.branch, way.place.checked_sub(1).and_then(|below| u32::try_from(below).ok())))
    }

    /// The reverse of [`way`](Self::way); `None` for a number that no host of the branch has.
    pub(crate) fn host(&self, branch: usize, below: Option<u32>) -> Option<usize> {
        let place = below.map_or(0, |below| below as usize + 1);
        self.branch(branch).get(place).copied()
    }
}

/// How many agents are between the coordinator and the farthest host, itself included.
pub(crate) fn levels(hosts: usize, fanout: usize) -> usize {
    let (mut levels, mut left) = (0, hosts);
    while left > 0 {
        levels += 1;
        left = runs(left, fanout).map(|run| run.len() - 1).max().unwrap_or(0);
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
        assert_eq!(tree.branches().collect::<Vec<_>>(), [&[0, 1][..], &[2, 3], &[4, 5, 6]]);
        assert_eq!(tree.way(0), Some((0, None)));
        assert_eq!(tree.way(6), Some((2, Some(1))));
        assert_eq!((tree.way(7), tree.host(2, Some(2)), tree.host(3, None)), (None, None, None));
        assert_eq!(Tree::new(0, 3).branches().len(), 0);
        assert_eq!(Tree::new(0, 3).way(0), None);
    }

    #[test]
    fn who_has_no_agent_has_no_way_and_the_others_close_up() {
        let tree = Tree::of(6, vec![vec![0, 2], vec![5, 4]]);
        assert_eq!((tree.hosts(), tree.way(1), tree.way(3)), (6, None, None));
        assert_eq!(tree.way(4), Some((1, Some(0))));
        let closed = tree.closed_up();
        assert_eq!(closed.branches().collect::<Vec<_>>(), [&[0, 1][..], &[3, 2]]);
        assert_eq!((closed.hosts(), closed.way(2)), (4, Some((1, Some(0)))));
        assert_eq!(closed.closed_up(), closed);
    }

    proptest! {
        #[test]
        fn every_host_is_found_where_it_is(hosts in 0usize..500, fanout in 0usize..80) {
            let tree = Tree::new(hosts, fanout);
            prop_assert!(tree.branches().len() <= fanout.max(1));
            prop_assert_eq!(tree.branches().flatten().copied().collect::<Vec<_>>(),
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
