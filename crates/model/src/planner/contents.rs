//! What written blocks hold, and what a check of them costs.

use super::{Refusal, RefusalKind, Request, is_null};
use crate::event::NoteKind;
use crate::load::SizeMix;
use crate::plan::{Contents, Extent, HostStage, PlanNote, PlannedTarget, Stage, Target, Work, Worker};
use crate::rng::derive;
use crate::spec::{LayoutKind, Verify};
use crate::testbed::{HostFacts, TargetKind};
use crate::units::Bytes;

/// Headers stand at multiples of it.
const LEAST_GRAIN: u64 = 512;
/// Beyond it, generations cost nothing worth saving.
const MOST_GRAIN: u64 = 1 << 20;
/// Bytes of one generation.
const GENERATION: u64 = 4;
/// Apart from stages, hosts and workers, whose numbers are small.
const SEED_PATH: u64 = u64::from_be_bytes(*b"contents");

/// The contents of all blocks of one host with these `targets`, whose share of the run is `stages`.
pub(super) fn contents(request: &Request<'_>, targets: &[Target], stages: &[HostStage]) -> Contents {
    let is_real = !is_null(request) && targets.iter().all(|target| target.kind != PlannedTarget::Simulated);
    let spec = &request.spec.contents;
    Contents {
        seed: derive(request.spec.suite.seed.value, &[SEED_PATH]),
        compressible: spec.compressible.value,
        duplicate: spec.duplicate.value,
        duplicate_scope: spec.duplicate_scope.value,
        verify: spec.verify.value != Verify::No && is_real && !is_tree(request),
        filled: request.existing || request.spec.stages.prepare.value,
        grain: grain(stages),
    }
}

/// Whether the layout is a tree, whose files are not checked.
fn is_tree(request: &Request<'_>) -> bool {
    request.spec.layout.kind.value == LayoutKind::Tree
}

/// Whether any target is simulated.
fn is_simulated(request: &Request<'_>) -> bool {
    let mut targets = request.hosts.iter().flat_map(|host| &host.targets);
    targets.any(|target| matches!(target.kind, TargetKind::Simulated { .. }))
}

/// Whether the layout is to be read once more after a point that does `works`.
pub(super) fn has_pass(request: &Request<'_>, works: &[Work]) -> bool {
    request.spec.contents.verify.value == Verify::After
        && works.iter().any(Work::writes)
        && !is_null(request)
        && !is_simulated(request)
        && !is_tree(request)
}

/// The largest power of two that divides the places and sizes of all writes and trims, within bounds.
fn grain(stages: &[HostStage]) -> Bytes {
    let mut bits = MOST_GRAIN;
    for (work, extents) in stages.iter().flat_map(shares).filter(|(work, _)| work.changes()) {
        // A write or a trim can begin where a read ended, so that the sizes of both count.
        bits |= work.mixes().flat_map(SizeMix::sizes).fold(0, |all, size| all | size.0);
        bits |= work.pattern.align.0 | work.pattern.stride.0;
        bits |= extents.iter().fold(0, |all, extent| all | extent.offset);
    }
    Bytes((1 << bits.trailing_zeros()).max(LEAST_GRAIN))
}

/// What each worker of a stage does, and where.
fn shares(stage: &HostStage) -> impl Iterator<Item = (&Work, &[Extent])> {
    let work = |worker: &Worker| stage.works.get(worker.work as usize);
    stage.workers.iter().filter_map(move |worker| Some((work(worker)?, worker.extents.as_slice())))
}

/// Why one host cannot check what it reads.
pub(super) fn refusals(contents: &Contents, host: &HostFacts, sizes: &[Bytes], stages: &[HostStage]) -> Vec<Refusal> {
    if !contents.verify {
        return Vec::new();
    }
    let mut found: Vec<Refusal> = stages.iter().filter_map(shared_bytes).collect();
    found.extend(too_much_memory(contents, host, sizes));
    found
}

/// A worker knows when its own reads meet its own writes, but not when they meet another's: workloads that run at the same time share
/// bytes unless each has a range of its own.
fn shared_bytes(stage: &HostStage) -> Option<Refusal> {
    let mut all: Vec<(&Extent, &Work)> =
        shares(stage).flat_map(|(work, extents)| extents.iter().map(move |extent| (extent, work))).collect();
    all.sort_by_key(|(extent, _)| (extent.file, extent.offset));
    // How far the extents of a file reach so far: all of them, and those of writers.
    let (mut file, mut end, mut written) = (0, (0, ""), (0, ""));
    for (extent, work) in all {
        if extent.file != file {
            (file, end, written) = (extent.file, (0, ""), (0, ""));
        }
        let before = if work.changes() { end } else { written };
        if extent.offset < before.0 {
            return Some(Refusal::new(
                RefusalKind::Usage,
                format!(
                    "verify: workloads `{}` and `{}` use the same bytes at the same time, and one of them writes",
                    before.1, work.workload
                ),
                "give each a `range` of its own, or leave out verify",
            ));
        }
        let reach = (extent.offset.saturating_add(extent.length), work.workload.as_str());
        end = end.max(reach);
        written = if work.changes() { written.max(reach) } else { written };
    }
    None
}

/// One generation for each grain of every file has to fit.
pub(super) fn too_much_memory(contents: &Contents, host: &HostFacts, sizes: &[Bytes]) -> Option<Refusal> {
    let grains: u64 = sizes.iter().map(|size| size.0.div_ceil(contents.grain.0)).sum();
    let need = Bytes(grains.saturating_mul(GENERATION));
    (need.0 > host.memory.0 / 8).then(|| {
        Refusal::new(
            RefusalKind::Usage,
            format!(
                "host {}: verify keeps {GENERATION} bytes for each {}, which is {need} and more than an eighth of its {} of memory",
                host.hostname, contents.grain, host.memory
            ),
            "give a smaller layout.size or larger blocks, or leave out verify",
        )
    })
}

/// What a check cannot tell, before anything has run.
pub(super) fn notes(request: &Request<'_>, stages: &[Stage], notes: &mut Vec<PlanNote>) {
    if request.spec.contents.verify.value == Verify::No {
        return;
    }
    let mut add = |detail: &str| {
        notes.push(PlanNote { kind: NoteKind::NotChecked, detail: detail.to_owned() });
    };
    if is_null(request) {
        return add("verify: this backend reads nothing, so that nothing is checked");
    }
    if is_tree(request) {
        return add("verify: files of a tree are not checked");
    }
    if is_simulated(request) {
        add("verify: simulated targets keep no bytes, so that nothing is checked there");
    }
    if !stages.iter().flat_map(|stage| &stage.works).any(Work::reads) {
        add("verify: no workload reads, so that nothing is checked");
    }
    if request.existing {
        add(
            "verify: what an earlier run wrote last is not known, so that only damage and wrong places are found, not lost writes",
        );
    } else if !request.spec.stages.prepare.value {
        add("verify: without prepare, blocks that no workload of this run wrote are not checked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{StageKind, Stop};
    use crate::spec::Access;
    use crate::units::{Nanos, Percent};

    fn stage(block: u64, read: u32, offset: u64) -> HostStage {
        let stop = Stop::After(Nanos::seconds(1));
        let extents = vec![Extent { file: 0, offset, length: 1 << 30 }];
        HostStage {
            stage: 0,
            kind: StageKind::Measure,
            works: vec![Work::simple(Bytes(block), Percent::of(read), Access::Random, 1, stop)],
            workers: vec![Worker { work: 0, seed: 1, turn: (0, 1), extents, files: None }],
        }
    }

    #[test]
    fn the_grain_is_the_coarsest_that_no_write_cuts() {
        assert_eq!(grain(&[stage(1 << 20, 0, 0), stage(4096, 50, 0)]), Bytes(4096));
        assert_eq!(grain(&[stage(1 << 20, 0, 0), stage(4096, 100, 0)]), Bytes(1 << 20), "reads do not matter");
        assert_eq!(grain(&[stage(12_288, 0, 0)]), Bytes(4096));
        assert_eq!(grain(&[stage(64 << 10, 0, 8192)]), Bytes(8192));
        assert_eq!(grain(&[stage(1000, 0, 0)]), Bytes(512), "not below a header");
        let mut aligned = stage(64 << 10, 0, 0);
        aligned.works[0].pattern.align = Bytes(1024);
        assert_eq!(grain(&[aligned]), Bytes(1024));
    }

    #[test]
    fn workloads_that_share_bytes_are_checked_only_if_none_writes() {
        let group = |reads: [u32; 2], second: u64| {
            let mut both = stage(4096, reads[0], 0);
            let other = stage(4096, reads[1], second);
            both.works.extend(other.works);
            both.workers.extend(other.workers.into_iter().map(|worker| Worker { work: 1, ..worker }));
            both
        };
        assert!(shared_bytes(&group([100, 0], 1 << 29)).is_some());
        assert!(shared_bytes(&group([50, 100], 1 << 29)).is_some());
        assert!(shared_bytes(&group([0, 0], 0)).is_some());
        assert_eq!(shared_bytes(&group([100, 100], 0)), None);
        assert_eq!(shared_bytes(&group([0, 50], 1 << 30)), None, "each has its own");
    }
}
