//! What requests of a plan are made of: blocks that hosts have to themselves, a file that they
//! share, or whole files.

use super::LeftOut;
use crate::ceiling::Workload;
use model::metadata::MetadataWork;
use model::plan::{HostStage, PlannedTarget, TargetFile};
use model::{Bytes, Op, Percent, Plan};

/// A file system has a token for each of its blocks, and none has larger blocks: those of GPFS are
/// 16 MiB at most (IBM Storage Scale, *mmcrfs*, block size).
const LARGEST_TOKEN: u64 = 16 << 20;

/// Files that the workers of a work have, together.
pub(super) fn files(stages: &[&HostStage], index: u32) -> u64 {
    let workers = stages.iter().flat_map(|stage| &stage.workers);
    let own = workers.filter(|worker| worker.work == index);
    own.filter_map(|worker| worker.files).fold(0, |sum, share| sum.saturating_add(share.count))
}

/// One operation on so many files, as a workload with the operation.
///
/// # Errors
/// Operations are mixed.
pub(super) fn of_files(
    name: &str,
    metadata: &MetadataWork,
    files: u64,
) -> Result<(Workload, Op), LeftOut> {
    if metadata.is_mixed() || metadata.population.is_some() {
        return Err(LeftOut::Metadata);
    }
    let size = metadata.mean_size.unwrap_or(metadata.size);
    Ok((on_files(name, metadata.op, size, files), metadata.op))
}

/// An operation on so many files of a size: each file is a place of its own.
pub(in crate::prediction) fn on_files(name: &str, op: Op, size: Bytes, files: u64) -> Workload {
    let read = if op.writes_file() { Percent::ZERO } else { Percent::ALL };
    let footprint = op.moves_file().then(|| Bytes(size.0.saturating_mul(files).max(1)));
    Workload::new(name, Bytes(size.0.max(1)), read, true, footprint)
}

/// Whether a host goes through directories that another host makes.
pub(super) fn are_others(plan: &Plan, stage: u32, index: u32) -> bool {
    plan.hosts.iter().any(|host| {
        let workers = host.stages.get(stage as usize).into_iter().flat_map(|one| &one.workers);
        let shares = workers.filter(|worker| worker.work == index).filter_map(|one| one.files);
        let is_joined = |tree: u32| host.trees.get(tree as usize).is_some_and(|tree| tree.joined);
        shares.map(|share| share.tree).any(is_joined)
    })
}

/// Whether files of a stage's targets are those of other hosts, too.
pub(super) fn shares_files(plan: &Plan, stage: u32) -> bool {
    plan.hosts.iter().any(|host| {
        let targets = host.targets.get(host.targets_of(stage)).unwrap_or_default();
        targets.iter().any(|target| {
            target.kind == PlannedTarget::Joined
                || target.files.iter().any(TargetFile::is_shared_in_simulation)
        })
    })
}

/// Whether each host has parts of the files to itself, all of them far larger than a token: then a
/// token goes to its host once and stays there.
pub(super) fn are_apart(stages: &[&HostStage], index: u32) -> bool {
    let mut parts: Vec<(u32, u64, u64, usize)> = Vec::new();
    for (host, stage) in stages.iter().enumerate() {
        for worker in stage.workers.iter().filter(|worker| worker.work == index) {
            let part = |extent: &model::plan::Extent| {
                (extent.file, extent.offset, extent.offset.saturating_add(extent.length), host)
            };
            parts.extend(worker.extents.iter().map(part));
        }
    }
    parts.sort_unstable();
    // Which host has the parts that reach furthest so far.
    let mut furthest: Option<(u32, u64, usize)> = None;
    for (file, from, to, host) in parts {
        let is_anothers = |&(other_file, end, other): &(u32, u64, usize)| {
            other_file == file && other != host && from < end
        };
        if to - from < LARGEST_TOKEN || furthest.as_ref().is_some_and(is_anothers) {
            return false;
        }
        if furthest.is_none_or(|(other_file, end, _)| other_file != file || end < to) {
            furthest = Some((file, to, host));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::StageKind;
    use model::plan::{Extent, Worker};

    fn stage(parts: &[(u64, u64)]) -> HostStage {
        let worker = |&(offset, length): &(u64, u64)| Worker {
            work: 0,
            seed: 1,
            turn: (0, 1),
            extents: vec![Extent { file: 0, offset, length }],
            files: None,
        };
        let workers = parts.iter().map(worker).collect();
        HostStage { stage: 0, kind: StageKind::Measure, works: Vec::new(), workers }
    }

    #[test]
    fn hosts_are_apart_where_each_has_large_parts_of_its_own() {
        const MIB: u64 = 1 << 20;
        let apart = |one: &[(u64, u64)], other: &[(u64, u64)]| {
            let (one, other) = (stage(one), stage(other));
            are_apart(&[&one, &other], 0)
        };
        assert!(apart(&[(0, 64 * MIB), (64 * MIB, 64 * MIB)], &[(128 * MIB, 64 * MIB)]));
        assert!(!apart(&[(0, 64 * MIB)], &[(0, 64 * MIB)]), "both write all of it");
        assert!(!apart(&[(0, MIB), (2 * MIB, MIB)], &[(MIB, MIB)]), "in turn, by the MiB");
        assert!(apart(&[(0, 64 * MIB), (0, 64 * MIB)], &[]), "one host has all tokens");
        let within = [(0, 256 * MIB), (32 * MIB, 16 * MIB)];
        assert!(!apart(&within, &[(64 * MIB, 16 * MIB)]), "behind a small one, in a large one");
    }

    #[test]
    fn an_operation_is_made_of_places_and_moves_bytes_or_none() {
        let create = on_files("w", Op::Create, Bytes(4096), 10);
        assert_eq!((create.read, create.footprint), (Percent::ZERO, Some(Bytes(40_960))));
        let stat = on_files("w", Op::Stat, Bytes(4096), 10);
        assert_eq!((stat.footprint, stat.random.to_bits()), (None, 1.0_f64.to_bits()));
    }
}
