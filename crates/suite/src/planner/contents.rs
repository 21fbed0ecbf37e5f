//! What written blocks hold, and what a check of them costs.

use super::{Refusal, ScenarioRequest, is_null};
use crate::{LayoutKind, Verify};
use model::choices::DuplicateScope;
use model::load::SizeMix;
use model::note::{Adjusted, Fact, NotChecked};
use model::plan::{
    Contents, Extent, HostPlan, HostStage, Pattern, PlanNote, PlannedTarget, Stage, Target, Work,
    Worker,
};
use model::rng::derive;
use model::testbed::{HostFacts, TargetKind};
use model::units::{Bytes, Percent};
use std::collections::BTreeMap;

/// Headers stand at multiples of it.
const LEAST_GRAIN: u64 = 512;
/// Beyond it, generations cost nothing worth saving.
const MOST_GRAIN: u64 = 1 << 20;
/// The unit of duplication, in bytes.
const UNIT: u64 = 4096;
/// Bytes of one generation.
const GENERATION: u64 = 4;
/// Apart from stages, hosts and workers, whose numbers are small.
const SEED_PATH: u64 = u64::from_be_bytes(*b"contents");

/// The contents of all blocks of one host with these `targets`, whose share of the run is `stages`.
pub(super) fn contents(
    request: &ScenarioRequest<'_>,
    targets: &[Target],
    stages: &[HostStage],
) -> Contents {
    let is_real =
        !is_null(request) && targets.iter().all(|target| target.kind != PlannedTarget::Simulated);
    let spec = &request.scenario.contents;
    Contents {
        seed: derive(request.spec.suite.seed.value, &[SEED_PATH]),
        compressible: spec.compressible.value,
        duplicate: spec.duplicate.value,
        duplicate_scope: spec.duplicate_scope.value,
        verify: spec.verify.value != Verify::No
            && is_real
            && (!is_tree(request) || is_population(stages)),
        filled: request.existing || request.scenario.stages.prepare.value,
        grain: grain(stages),
        hosts: if is_shared(request) {
            u16::try_from(request.hosts.len()).unwrap_or(u16::MAX)
        } else {
            1
        },
    }
}

/// Whether all hosts load one file.
fn is_shared(request: &ScenarioRequest<'_>) -> bool {
    request.scenario.layout.kind.value == LayoutKind::SharedFile
}

/// Whether the layout is a tree, whose files are not checked.
fn is_tree(request: &ScenarioRequest<'_>) -> bool {
    request.scenario.layout.kind.value == LayoutKind::Tree
}

/// Whether all work on files is that of populations, whose files are known afterwards.
fn is_population(stages: &[HostStage]) -> bool {
    let mut works = stages.iter().flat_map(|stage| &stage.works);
    works.all(|work| work.metadata.is_some_and(|metadata| metadata.population.is_some()))
}

fn is_simulated(request: &ScenarioRequest<'_>) -> bool {
    let mut targets = request.hosts.iter().flat_map(|host| &host.targets);
    targets.any(|target| matches!(target.kind, TargetKind::Simulated { .. }))
}

/// Whether the layout is to be read once more after a point that does `works`.
pub(super) fn has_pass(request: &ScenarioRequest<'_>, works: &[Work]) -> bool {
    request.scenario.contents.verify.value == Verify::After
        && works.iter().any(Work::writes)
        && !is_null(request)
        && !is_simulated(request)
        && !is_tree(request)
}

/// The largest power of two that divides the places and sizes of all writes and trims, within
/// bounds.
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
pub(super) fn refusals(contents: &Contents, host: &HostFacts, sizes: &[Bytes]) -> Option<Refusal> {
    contents.verify.then(|| too_much_memory(contents, host, sizes)).flatten()
}

/// Why reads cannot be checked although each host could: workers that load the same bytes at the
/// same time. A worker knows when its own reads meet its own writes, but not when they meet
/// another's. Each reason comes once, whatever stages and hosts it holds for.
pub(super) fn overlaps(request: &ScenarioRequest<'_>, hosts: &[HostPlan]) -> Vec<Refusal> {
    let checked: Vec<&HostPlan> = hosts.iter().filter(|host| host.engine.contents.verify).collect();
    // In a shared file the workers of all hosts meet, in files of its own those of one host.
    let meeting: Vec<&[&HostPlan]> =
        if is_shared(request) { vec![&checked] } else { checked.chunks(1).collect() };
    let mut found: Vec<Refusal> = Vec::new();
    for together in meeting {
        for stage in 0..together.first().map_or(0, |host| host.stages.len()) {
            let all = together.iter().filter_map(|host| host.stages.get(stage)).flat_map(shares);
            let refusal = overlap(all.collect()).map(|(one, other)| refusal_of(one, other));
            found.extend(refusal.filter(|refusal| !found.contains(refusal)));
        }
    }
    found
}

/// Two works that share bytes.
fn refusal_of(one: &Work, other: &Work) -> Refusal {
    let (what, remedy) = match one.workload == other.workload {
        true => (
            format!(
                "verify: several workers of workload `{}` use the same bytes at the same time, \
                 and write them",
                one.workload
            ),
            "write sharing = \"segment\", so that each has bytes of its own; or workers = 1 on \
             one host, or leave out verify",
        ),
        false => (
            format!(
                "verify: workloads `{}` and `{}` use the same bytes at the same time, and one of \
                 them writes",
                one.workload, other.workload
            ),
            "give each a `range` of its own, or leave out verify",
        ),
    };
    Refusal::usage(what, remedy)
}

/// What a worker loads of a file, from the first byte to behind the last one.
#[derive(Clone, Copy)]
struct Reach<'a> {
    file: u32,
    start: u64,
    end: u64,
    work: &'a Work,
}

impl<'a> Reach<'a> {
    fn of(extent: &Extent, work: &'a Work) -> Reach<'a> {
        let end = extent.offset.saturating_add(extent.length);
        Reach { file: extent.file, start: extent.offset, end, work }
    }
}

/// Two works whose workers share bytes, of which at least one changes them.
fn overlap<'a>(shares: Vec<(&'a Work, &'a [Extent])>) -> Option<(&'a Work, &'a Work)> {
    let reaches = shares
        .into_iter()
        .flat_map(|(work, extents)| extents.iter().map(move |extent| Reach::of(extent, work)));
    let mut whole: Vec<Reach<'a>> = Vec::new();
    let mut combs: BTreeMap<(u32, u64), Vec<Reach<'a>>> = BTreeMap::new();
    for reach in reaches {
        match turn(reach.work) {
            Some(turn) => combs.entry((reach.file, turn)).or_default().push(reach),
            None => whole.push(reach),
        }
    }
    for ((_, turn), combs) in combs {
        match take_turns(&combs, turn) {
            true => whole.extend(together(&combs)),
            false => whole.extend(combs),
        }
    }
    meet(whole)
}

/// From one request of a worker to the next, where it loads one block of each so many bytes and
/// nothing between them.
fn turn(work: &Work) -> Option<u64> {
    let Pattern { stride, run, streams, random, .. } = work.pattern;
    let is_one = streams == 1 && run.0 <= work.largest_block().0;
    let is_even =
        random == Percent::ZERO && is_one && work.smallest_block() == work.largest_block();
    (is_even && stride.0 > work.largest_block().0).then_some(stride.0)
}

/// Whether no two of these share a byte, each of which has a block of every `turn` bytes.
fn take_turns(combs: &[Reach<'_>], turn: u64) -> bool {
    let first = combs.iter().map(|comb| comb.start).min().unwrap_or_default();
    let mut blocks: Vec<(u64, u64)> = combs
        .iter()
        .map(|comb| ((comb.start - first) % turn, comb.work.largest_block().0))
        .collect();
    blocks.sort_unstable();
    let adjoin = blocks.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
    adjoin && blocks.last().is_none_or(|(start, length)| start + length <= turn)
}

/// What those that take turns load, in one piece for those that write and in one for those that
/// read.
fn together<'a>(combs: &[Reach<'a>]) -> Vec<Reach<'a>> {
    let all = |changes: bool| {
        let of = combs.iter().filter(|comb| comb.work.changes() == changes);
        of.copied().reduce(|all, one| Reach {
            start: all.start.min(one.start),
            end: all.end.max(one.end),
            ..all
        })
    };
    match (all(true), all(false)) {
        // They share nothing with each other, whatever is between them.
        (Some(writers), Some(readers)) => {
            let (start, end) = (writers.start.min(readers.start), writers.end.max(readers.end));
            vec![Reach { start, end, ..writers }]
        }
        (one, other) => one.or(other).into_iter().collect(),
    }
}

/// Two works whose reaches share a byte, of which at least one changes it.
fn meet<'a>(mut all: Vec<Reach<'a>>) -> Option<(&'a Work, &'a Work)> {
    all.sort_by_key(|reach| (reach.file, reach.start));
    // How far those of a file reach so far: all of them, and those of writers.
    let (mut farthest, mut written): (Option<Reach<'a>>, Option<Reach<'a>>) = (None, None);
    let farther = |one: Option<Reach<'a>>, other: Reach<'a>| {
        Some(one.filter(|one| one.file == other.file && one.end >= other.end).unwrap_or(other))
    };
    for reach in all {
        let before = if reach.work.changes() { farthest } else { written };
        if let Some(before) =
            before.filter(|before| before.file == reach.file && reach.start < before.end)
        {
            return Some((before.work, reach.work));
        }
        farthest = farther(farthest, reach);
        written = if reach.work.changes() { farther(written, reach) } else { written };
    }
    None
}

/// One generation for each grain of every file has to fit.
pub(super) fn too_much_memory(
    contents: &Contents,
    host: &HostFacts,
    sizes: &[Bytes],
) -> Option<Refusal> {
    let grains: u64 = sizes.iter().map(|size| size.0.div_ceil(contents.grain.0)).sum();
    let need = Bytes(grains.saturating_mul(GENERATION));
    (need.0 > host.usable_memory().0 / 8).then(|| {
        Refusal::usage(
            format!(
                "host {}: verify keeps {GENERATION} bytes for each {}, which is {need} and more \
                 than an eighth of its {} of memory",
                host.hostname,
                contents.grain,
                host.usable_memory()
            ),
            "give a smaller layout.size or larger blocks, or leave out verify",
        )
    })
}

/// Whether several writes of `works` can make up one unit of duplication.
fn cuts_units(works: &[Work]) -> bool {
    let sizes =
        |work: &Work| work.mixes().flat_map(SizeMix::sizes).fold(0, |all, size| all | size.0);
    let bits = |work: &Work| sizes(work) | work.pattern.align.0 | work.pattern.stride.0;
    works.iter().any(|work| work.changes() && !bits(work).is_multiple_of(UNIT))
}

/// What is written otherwise than the suite says.
fn spread(request: &ScenarioRequest<'_>, stages: &[Stage]) -> Option<PlanNote> {
    let spec = &request.scenario.contents;
    let is_asked =
        spec.duplicate.value > Percent::ZERO && spec.duplicate_scope.value != DuplicateScope::Hosts;
    let cuts = !is_null(request)
        && !is_tree(request)
        && stages.iter().any(|stage| cuts_units(&stage.works));
    (is_asked && cuts).then_some(PlanNote { fact: Fact::Adjusted(Adjusted::CopiesSpread) })
}

/// What a check cannot tell, before anything has run, and what is written otherwise than the suite
/// says.
pub(super) fn notes(request: &ScenarioRequest<'_>, stages: &[Stage], notes: &mut Vec<PlanNote>) {
    notes.extend(spread(request, stages));
    if request.scenario.contents.verify.value == Verify::No {
        return;
    }
    let mut add = |what| notes.push(PlanNote { fact: Fact::NotChecked(what) });
    if is_null(request) {
        return add(NotChecked::NothingIsRead);
    }
    if is_tree(request) {
        let mut works = stages.iter().flat_map(|stage| &stage.works);
        let is_known = works.all(|work| work.metadata.is_some_and(|it| it.population.is_some()));
        return add(match (is_known, is_simulated(request)) {
            (_, true) => NotChecked::Simulated,
            (true, false) => NotChecked::Population,
            (false, false) => NotChecked::Tree,
        });
    }
    if is_simulated(request) {
        add(NotChecked::Simulated);
    }
    if !stages.iter().flat_map(|stage| &stage.works).any(Work::reads) {
        add(NotChecked::NoReads);
    }
    if request.existing {
        add(NotChecked::EarlierRun);
    } else if !request.scenario.stages.prepare.value {
        add(NotChecked::NotPrepared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Access;
    use model::plan::{StageKind, Stop};
    use model::units::Nanos;

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
        assert_eq!(
            grain(&[stage(1 << 20, 0, 0), stage(4096, 100, 0)]),
            Bytes(1 << 20),
            "reads do not matter"
        );
        assert_eq!(grain(&[stage(12_288, 0, 0)]), Bytes(4096));
        assert_eq!(grain(&[stage(64 << 10, 0, 8192)]), Bytes(8192));
        assert_eq!(grain(&[stage(1000, 0, 0)]), Bytes(512), "not below a header");
        let mut aligned = stage(64 << 10, 0, 0);
        aligned.works[0].pattern.align = Bytes(1024);
        assert_eq!(grain(&[aligned]), Bytes(1024));
    }

    #[test]
    fn writes_that_are_no_whole_blocks_of_4_kib_cut_units() {
        for (block, read, cuts) in [
            (4096, 0, false),
            (12_288, 0, false),
            (512, 0, true),
            (47_008, 50, true),
            (512, 100, false),
        ] {
            assert_eq!(cuts_units(&stage(block, read, 0).works), cuts, "{block} {read}");
        }
    }

    #[test]
    fn workloads_that_share_bytes_are_checked_only_if_none_writes() {
        let group = |reads: [u32; 2], second: u64| {
            let mut both = stage(4096, reads[0], 0);
            let other = stage(4096, reads[1], second);
            both.works.extend(other.works);
            both.workers
                .extend(other.workers.into_iter().map(|worker| Worker { work: 1, ..worker }));
            both
        };
        let shared = |stage: &HostStage| overlap(shares(stage).collect()).is_some();
        assert!(shared(&group([100, 0], 1 << 29)));
        assert!(shared(&group([50, 100], 1 << 29)));
        assert!(shared(&group([0, 0], 0)));
        assert!(!shared(&group([100, 100], 0)));
        assert!(!shared(&group([0, 50], 1 << 30)), "each has its own");
    }

    /// Workers that each have a block of 4 KiB of every `turn` bytes from these on.
    fn in_turn(turn: u64, starts: &[u64]) -> HostStage {
        let mut turns = stage(4096, 0, 0);
        turns.works[0].pattern =
            Pattern { stride: Bytes(turn), ..Pattern::simple(Access::Sequential) };
        let worker = turns.workers[0].clone();
        let of = |start: &u64| Worker {
            extents: vec![Extent { file: 0, offset: *start, length: 5 * turn + 4096 }],
            ..worker.clone()
        };
        turns.workers = starts.iter().map(of).collect();
        turns
    }

    #[test]
    fn workers_that_take_turns_share_nothing_and_those_that_do_not_are_found() {
        let shared = |stage: &HostStage| overlap(shares(stage).collect()).is_some();
        assert!(!shared(&in_turn(16_384, &[0, 4096, 8192, 12_288])));
        assert!(
            !shared(&in_turn(16_384, &[6000, 10_096, 14_192, 18_288])),
            "wherever the first one is"
        );
        assert!(shared(&in_turn(16_384, &[0, 4096, 8192, 8192])), "two have one turn");
        assert!(shared(&in_turn(16_384, &[0, 2048])), "half a block is shared");
        assert!(shared(&in_turn(16_384, &[0, 14_000])), "over the end of a turn");
        assert!(!shared(&in_turn(16_384, &[0, 1 << 20])), "one turn, in two places");
        let mut random = in_turn(16_384, &[0, 4096]);
        random.works[0].pattern.random = Percent::of(1);
        assert!(shared(&random), "a random request goes anywhere");
        let mut streams = in_turn(16_384, &[0, 4096]);
        streams.works[0].pattern.streams = 2;
        assert!(shared(&streams), "a second stream begins anywhere");
        let mut between = in_turn(16_384, &[0, 4096]);
        let other = stage(4096, 50, 8192);
        between.works.extend(other.works);
        between
            .workers
            .extend(other.workers.into_iter().map(|worker| Worker { work: 1, ..worker }));
        assert!(shared(&between), "who loads all of it meets them");
    }
}
