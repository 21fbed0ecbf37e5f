//! Fewer workers with the same data: who stays, and who takes over the bytes of those that do not.

use crate::plan::{Extent, HostStage, Plan, Worker};
use std::collections::BTreeSet;

/// How many workers each host has in a stage.
pub fn counts(plan: &Plan, stage: usize) -> Vec<usize> {
    plan.hosts
        .iter()
        .map(|host| host.stages.get(stage).map_or(0, |stage| stage.workers.len()))
        .collect()
}

/// A number of workers as it falls upon the hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared(Vec<usize>);

impl Shared {
    /// `value` workers on hosts that have so many: one after the other gets one, as long as it has
    /// more. Each that has any keeps one.
    pub fn of(counts: &[usize], value: u64) -> Shared {
        let all: usize = counts.iter().sum();
        let mut left = usize::try_from(value).unwrap_or(usize::MAX).min(all);
        let mut shares: Vec<usize> = counts.iter().map(|count| (*count).min(1)).collect();
        left = left.saturating_sub(shares.iter().sum());
        while left > 0 {
            for (share, count) in shares.iter_mut().zip(counts) {
                if *share < *count && left > 0 {
                    *share += 1;
                    left -= 1;
                }
            }
        }
        Shared(shares)
    }

    /// Leaves the host at `place` its share of `stage`: the first workers of it, to which the bytes
    /// of the others go in turn. At a fixed rate, those that are left take turns.
    pub fn leave(&self, stage: &mut HostStage, place: usize) {
        let share = self.0.get(place).copied().unwrap_or(0).min(stage.workers.len());
        let gone = stage.workers.split_off(share);
        for (number, worker) in gone.into_iter().enumerate() {
            if let Some(heir) = stage.workers.get_mut(number % share.max(1)) {
                take_over(heir, &worker.extents);
            }
        }
        let before: usize = self.0.iter().take(place).sum();
        let all: usize = self.0.iter().sum();
        for (number, worker) in (before..).zip(&mut stage.workers) {
            worker.turn = (number as u32, all as u32);
        }
    }
}

/// What both had is the worker's own once.
fn take_over(heir: &mut Worker, extents: &[Extent]) {
    let place = |extent: &Extent| (extent.file, extent.offset, extent.length);
    let own: BTreeSet<(u32, u64, u64)> = heir.extents.iter().map(place).collect();
    heir.extents.extend(extents.iter().filter(|extent| !own.contains(&place(extent))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::StageKind;

    fn stage(workers: usize, is_shared: bool) -> HostStage {
        let extent = |number: usize| Extent { file: 0, offset: number as u64 * 4096, length: 4096 };
        let worker = |number: usize| Worker {
            work: 0,
            seed: number as u64,
            turn: (0, 1),
            extents: vec![extent(if is_shared { 0 } else { number })],
            files: None,
        };
        HostStage {
            stage: 0,
            kind: StageKind::Measure,
            works: Vec::new(),
            workers: (0..workers).map(worker).collect(),
        }
    }

    #[test]
    fn workers_fall_upon_hosts_in_turn_and_no_host_that_has_any_is_left_without() {
        let shares = |value| Shared::of(&[3, 0, 5, 1], value).0;
        assert_eq!(shares(0), [1, 0, 1, 1]);
        assert_eq!(shares(4), [2, 0, 1, 1]);
        assert_eq!(shares(7), [3, 0, 3, 1]);
        assert_eq!((shares(9), shares(u64::MAX)), (vec![3, 0, 5, 1], vec![3, 0, 5, 1]));
        assert_eq!(Shared::of(&[], 4).0, [0; 0]);
    }

    #[test]
    fn the_bytes_stay_all_of_them_and_each_once() {
        for left in 1..=5 {
            let mut some = stage(5, false);
            Shared::of(&[5], left).leave(&mut some, 0);
            assert_eq!(some.workers.len() as u64, left);
            let mut offsets: Vec<u64> = some
                .workers
                .iter()
                .flat_map(|worker| &worker.extents)
                .map(|extent| extent.offset / 4096)
                .collect();
            offsets.sort_unstable();
            assert_eq!(offsets, [0, 1, 2, 3, 4]);
            // Each has as much as any other, but for one.
            let sizes: Vec<usize> =
                some.workers.iter().map(|worker| worker.extents.len()).collect();
            assert!(
                sizes.iter().max() <= sizes.iter().min().map(|least| least + 1).as_ref(),
                "{sizes:?}"
            );
        }
        let mut shared = stage(5, true);
        Shared::of(&[5], 2).leave(&mut shared, 0);
        assert!(!shared.workers.is_empty());
        assert!(
            shared.workers.iter().all(|worker| worker.extents.len() == 1),
            "what all have, each has once"
        );
    }

    #[test]
    fn those_that_are_left_take_turns_over_all_hosts() {
        let shared = Shared::of(&[3, 3], 3);
        let turns = |place| {
            let mut some = stage(3, false);
            shared.leave(&mut some, place);
            some.workers.iter().map(|worker| worker.turn).collect::<Vec<_>>()
        };
        assert_eq!((turns(0), turns(1)), (vec![(0, 3), (1, 3)], vec![(2, 3)]));
    }
}
