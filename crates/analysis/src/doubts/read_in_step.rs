//! Whether several readers ask for the same blocks in step, as the plan has it.
//!
//! Jobs of other tools often read one device from its start, each from the same place on. Every
//! block is asked for as often as there are readers, within milliseconds: whatever cache there is,
//! be it the drive's own, has it for all but the first.

use crate::doubts::Warning;
use crate::rows::row::ResultRow;
use model::plan::{HostPlan, PlannedTarget, Work, Worker};
use model::{Kernels, Op, Percent, Record};
use std::collections::BTreeSet;

/// What a reader asks for, in order: where, in which blocks, in which pattern.
#[derive(PartialEq)]
struct Order<'a> {
    /// The kernel; `None` for files that are shared between kernels.
    kernel: Option<usize>,
    extents: Vec<(&'a str, u64, u64)>,
    work: &'a Work,
}

/// The readers of a row's stage that read in order, and how many of them do as no other does.
pub(crate) fn doubt(record: &Record, row: &ResultRow) -> Option<Warning> {
    if record.plan.is_simulated() || record.plan.backend.sends_nothing() || !row.plans(Op::Read) {
        return None;
    }
    let kernels = Kernels::of(&record.testbed);
    let mut distinct: Vec<Order<'_>> = Vec::new();
    let mut readers = 0u32;
    for (number, host) in record.plan.hosts.iter().enumerate() {
        let Some(stage) = host.stages.iter().find(|stage| stage.stage == row.stage) else {
            continue;
        };
        for worker in stage.workers.iter().filter(|worker| row.has_work(worker.work)) {
            let work = stage.works.get(worker.work as usize).filter(|work| is_in_order(work))?;
            let order = order(host, worker, work, kernels.first_on_kernel(number))?;
            readers = readers.saturating_add(1);
            if !distinct.iter().any(|known| known.is_like(&order)) {
                distinct.push(order);
            }
        }
    }
    let distinct = distinct.len() as u32;
    (distinct < readers).then_some(Warning::ReadInStep { readers, distinct })
}

/// Whether all readers of a work ask for blocks in the same order.
fn is_in_order(work: &Work) -> bool {
    let pattern = &work.pattern;
    let is_plain = work.metadata.is_none() && work.trace.is_none() && work.reads();
    is_plain && pattern.random == Percent::ZERO && pattern.sequence.is_none()
}

impl Order<'_> {
    fn is_like(&self, other: &Order<'_>) -> bool {
        self.kernel == other.kernel
            && self.extents == other.extents
            && self.work.block_size == other.work.block_size
            && self.work.pattern == other.work.pattern
    }
}

fn order<'a>(
    host: &'a HostPlan,
    worker: &Worker,
    work: &'a Work,
    kernel: usize,
) -> Option<Order<'a>> {
    let files: Vec<_> = host.files().collect();
    let extents: Option<Vec<_>> = worker
        .extents
        .iter()
        .map(|extent| {
            let file = files.get(extent.file as usize)?;
            Some((file.path.as_str(), extent.offset, extent.length))
        })
        .collect();
    let extents = extents.filter(|extents| !extents.is_empty())?;
    let loaded: BTreeSet<&str> = extents.iter().map(|(path, ..)| *path).collect();
    let joined = host.targets.iter().filter(|target| target.kind == PlannedTarget::Joined);
    let is_joined = joined.flat_map(|t| &t.files).any(|file| loaded.contains(file.path.as_str()));
    Some(Order { kernel: (!is_joined).then_some(kernel), extents, work })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;

    const WHOLE: &str =
        "[[workload]]\nname = \"w\"\nworkers = 4\naccess = \"sequential\"\nsharing = \"whole\"\n";

    #[test]
    fn readers_of_two_hosts_are_in_step_where_the_hosts_are_one_kernel_or_share_the_files() {
        let of = |is_one_kernel: bool, kind: Option<PlannedTarget>| {
            let mut recorded = Recorded::with_hosts(WHOLE, 2);
            let record = recorded.record_mut();
            if is_one_kernel {
                record.testbed.iter_mut().for_each(|host| host.identity = "one".to_owned());
            }
            for host in &mut record.plan.hosts {
                host.targets[0].kind = kind.clone().unwrap_or(PlannedTarget::Device);
            }
            in_step_of(recorded)
        };
        assert_eq!(of(false, None), Some((8, 2)), "a device of each");
        assert_eq!(of(true, None), Some((8, 1)), "two agents of one kernel");
        assert_eq!(of(false, Some(PlannedTarget::Joined)), Some((8, 1)), "one file for all");
    }

    /// Readers and distinct ones of a run of this suite that are doubted.
    fn in_step(suite: &str) -> Option<(u32, u32)> {
        in_step_of(Recorded::new(suite))
    }

    fn in_step_of(mut recorded: Recorded) -> Option<(u32, u32)> {
        recorded.second(0, &[(Op::Read, &[100_000; 100])]);
        let rows = results(&recorded.end());
        rows[0].warnings.iter().find_map(|doubt| match doubt {
            Warning::ReadInStep { readers, distinct } => Some((*readers, *distinct)),
            _ => None,
        })
    }

    #[test]
    fn readers_of_the_same_blocks_in_the_same_order_are_doubted() {
        let of =
            |fields: &str| in_step(&format!("[[workload]]\nname = \"w\"\nworkers = 8\n{fields}\n"));
        assert_eq!(of("access = \"sequential\"\nsharing = \"whole\""), Some((8, 1)));
        assert_eq!(of("access = \"sequential\""), None, "each has its own part");
        assert_eq!(of("access = \"random\"\nsharing = \"whole\""), None, "in no order");
        assert_eq!(
            of("access = \"sequential\"\nsharing = \"whole\"\nread = \"0%\""),
            None,
            "writers"
        );
        let other_blocks = "access = \"sequential\"\nsharing = \"whole\"\n[[workload]]\nname = \
                            \"v\"\naccess = \"sequential\"\nsharing = \"whole\"\nworkers = \
                            2\nblock_size = \"64KiB\"";
        assert_eq!(of(other_blocks), Some((8, 1)), "each workload by itself");
    }
}
