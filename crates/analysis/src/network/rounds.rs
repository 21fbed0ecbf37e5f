//! Who meets whom: in each round every host is in one pair at most, and over all rounds each host
//! meets each other once. This is the circle method of tournaments (Kirkman, "On a problem in
//! combinations", 1847; in use for round-robin schedules).

/// Two hosts that meet, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The host that connects.
    pub first: usize,
    /// The host that listens.
    pub second: usize,
}

/// Rounds in which each of so many hosts meets each other.
pub fn rounds_of_all(hosts: usize) -> usize {
    match hosts {
        0 | 1 => 0,
        even if even.is_multiple_of(2) => even - 1,
        odd => odd,
    }
}

/// The pairs of the first `most` rounds, by the hosts' places. With fewer rounds than all of them,
/// each host meets as many others, or one less where the number of hosts is odd.
pub fn rounds(hosts: usize, most: usize) -> Vec<Vec<Meeting>> {
    let count = rounds_of_all(hosts);
    // With an odd number of hosts, whoever meets the one that is not there has a rest.
    let all = hosts + hosts % 2;
    let round = |number: usize| {
        let turning = all.saturating_sub(1);
        let pair = |step: usize| match step {
            0 => Meeting { first: number, second: turning },
            step => Meeting {
                first: (number + step) % turning,
                second: (number + turning - step) % turning,
            },
        };
        (0..all / 2).map(pair).filter(|pair| pair.first < hosts && pair.second < hosts).collect()
    };
    (0..count.min(most)).map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_host_meets_each_other_once_and_is_in_one_pair_a_round() {
        assert!(rounds(0, 9).is_empty() && rounds(1, 9).is_empty());
        assert_eq!(rounds(2, 9), [[Meeting { first: 0, second: 1 }]]);
        for hosts in 2..24 {
            let all = rounds(hosts, usize::MAX);
            assert_eq!(all.len(), rounds_of_all(hosts));
            let mut met = BTreeSet::new();
            for round in &all {
                let mut busy = BTreeSet::new();
                for Meeting { first: a, second: b } in round {
                    assert!(a != b && busy.insert(*a) && busy.insert(*b), "{hosts}: {round:?}");
                    assert!(met.insert((*a.min(b), *a.max(b))), "{hosts}: {a} and {b} twice");
                }
                assert_eq!(busy.len(), hosts - hosts % 2);
            }
            assert_eq!(met.len(), hosts * (hosts - 1) / 2);
            assert_eq!(rounds(hosts, 2).len(), 2.min(all.len()));
        }
    }
}
