//! Whether the numbers of a host's share fit each other. A plan may come from a run file or a
//! message of anybody: what passes here indexes nothing that is not there, divides by no zero,
//! overflows nowhere, and asks for no more than a suite may ask for.

use super::{
    EngineSettings, Extent, HostPlan, HostStage, Part, Plan, StageKind, Stop, Work, Worker,
    ZoneRules,
};
use crate::choices::{Access, TrimAs};
use crate::load::{Pace, Rate, SizeMix};
use crate::metadata::{FileShare, MOST_DEPTH, MOST_FILES, MOST_SIZE, Tree};
use crate::planned_event::{EventTime, PlannedEvent};
use crate::population::{LEAST_FILL, LEAST_NAMES, MOST_APPEND, MOST_FILL, MOST_GROWTH};
use crate::units::{Bytes, Nanos, Percent};

/// No instant and no length is as large; so the sums of a few are safe.
const MOST: u64 = 1 << 62;
/// Blocks that one worker ages at most: it keeps a bit of each, 4 GiB of them.
const MOST_AGED: u64 = 1 << 35;
/// What a suite may write at most: a count, a request, an interval, a patience. Earlier versions
/// allowed a depth of as many.
const MOST_COUNT: usize = 65_536;
const MOST_REQUEST: Bytes = Bytes::gib(1);
/// A tenth of what a suite may write: with each interval goes a sample of every worker.
const LEAST_INTERVAL: Nanos = Nanos::millis(1);
const MOST_TIME: Nanos = Nanos::seconds(366 * 24 * 3600);
/// Sizes of a mix, and hot spots.
const MOST_PARTS: usize = 64;
/// The order of works that are bound to each other has as many places as their shares together.
const MOST_SHARES: u64 = 10_000;
const MOST_GRAIN: u64 = 1 << 20;

/// Why a plan's numbers do not fit, in words.
pub type Unsound = &'static str;

fn ensure(holds: bool, why: Unsound) -> Result<(), Unsound> {
    if holds { Ok(()) } else { Err(why) }
}

impl Plan {
    /// Whether what holds for all hosts can be carried out and told, as far as its own numbers
    /// tell; [`HostPlan::check`] has each host's share.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn check(&self) -> Result<(), Unsound> {
        let is_time = |time: Nanos| time <= MOST_TIME;
        ensure(
            (LEAST_INTERVAL.0..=MOST_TIME.0).contains(&self.interval.0),
            "an interval is out of range",
        )?;
        ensure(
            is_time(self.fleet.lost_after) && is_time(self.fleet.hold),
            "its hosts may be silent for longer than any run",
        )?;
        let is_due = |at: EventTime| match at {
            EventTime::Share(share) => share <= Percent::ALL,
            EventTime::After(time) => is_time(time),
        };
        let is_event = |event: &PlannedEvent| is_due(event.at) && is_time(event.wait);
        ensure(self.events.iter().all(is_event), "an event is due after any run")?;
        self.stages.iter().try_for_each(|stage| works(stage.kind, &stage.works))
    }
}

impl HostPlan {
    /// Whether the share can be carried out, as far as its own numbers tell.
    ///
    /// # Errors
    /// What does not fit, in words.
    pub fn check(&self) -> Result<(), Unsound> {
        ensure(
            (LEAST_INTERVAL.0..=MOST_TIME.0).contains(&self.interval.0),
            "an interval is out of range",
        )?;
        settings(&self.engine)?;
        let sizes: Vec<Bytes> = self.files().map(|file| file.size).collect();
        let all = sizes
            .iter()
            .try_fold(0u64, |sum, size| sum.checked_add(size.0).filter(|sum| *sum <= MOST));
        ensure(all.is_some(), "its files add up to more than there can be")?;
        for tree in &self.trees {
            ensure(
                (tree.target as usize) < self.targets.len(),
                "a tree belongs to a target that is not there",
            )?;
            self::tree(tree)?;
        }
        self.check_parts()?;
        let is_virtual = self.engine.virtual_time;
        let any = |is_so: fn(&Work) -> bool| {
            is_virtual && self.stages.iter().flat_map(|stage| &stage.works).any(is_so)
        };
        ensure(!any(|work| work.trace.is_some()), "a trace is sent in virtual time")?;
        ensure(!any(|work| work.zones.is_some()), "zones are written in virtual time")?;
        ensure(!any(|work| work.command.is_some()), "a command runs in virtual time")?;
        ensure(self.stages.is_sorted_by(|a, b| a.stage < b.stage), "its stages have no order")?;
        self.stages.iter().try_for_each(|stage| self::stage(stage, &sizes, &self.trees))
    }

    fn check_parts(&self) -> Result<(), Unsound> {
        let stages = self.stages.len();
        let mut owners = vec![0u32; if self.parts.is_empty() { 0 } else { stages }];
        for part in &self.parts {
            settings(&part.engine)?;
            let is_within = |range: &std::ops::Range<u32>, count: usize| {
                range.start <= range.end && range.end as usize <= count
            };
            let has_room = is_within(&part.targets, self.targets.len())
                && is_within(&part.trees, self.trees.len());
            ensure(has_room, "a part has targets or trees that are not there")?;
            ensure(
                !part.stages.is_empty() && part.stages.is_sorted_by(|a, b| a < b),
                "a part has no order of stages",
            )?;
            for stage in &part.stages {
                let owner = owners
                    .get_mut(*stage as usize)
                    .ok_or("a part has a stage that is not there")?;
                *owner += 1;
                self.check_in_part(*stage, part)?;
            }
        }
        ensure(
            owners.iter().all(|owners| *owners == 1),
            "a stage belongs to no part, or to several",
        )
    }

    /// Whether a stage uses the files and the trees of its own part alone.
    fn check_in_part(&self, stage: u32, part: &Part) -> Result<(), Unsound> {
        let files = |targets: usize| {
            self.targets.iter().take(targets).map(|target| target.files.len()).sum::<usize>()
        };
        let own = files(part.targets.start as usize)..files(part.targets.end as usize);
        let workers = self.stages.get(stage as usize).map_or(&[][..], |stage| &stage.workers);
        for worker in workers {
            let extents = worker.extents.iter().all(|extent| own.contains(&(extent.file as usize)));
            let trees = worker.files.is_none_or(|files| part.trees.contains(&files.tree));
            ensure(extents && trees, "a worker loads what is not of its part")?;
        }
        let trees =
            self.trees.get(part.trees.start as usize..part.trees.end as usize).unwrap_or_default();
        ensure(
            trees.iter().all(|tree| part.targets.contains(&tree.target)),
            "a tree is not in a target of its part",
        )
    }
}

fn settings(engine: &EngineSettings) -> Result<(), Unsound> {
    let contents = &engine.contents;
    let grain = contents.grain.0;
    ensure(
        grain.is_power_of_two() && (512..=MOST_GRAIN).contains(&grain),
        "a grain is no power of two",
    )?;
    ensure(
        contents.compressible <= Percent::ALL && contents.duplicate <= Percent::ALL,
        "a share of contents is more than all of them",
    )?;
    ensure((1..=MOST_TIME.0).contains(&engine.patience.0), "its patience has no length")?;
    ensure(engine.cpus.len() <= MOST_COUNT, "it names more processors than there are")
}

fn tree(tree: &Tree) -> Result<(), Unsound> {
    ensure(tree.depth <= MOST_DEPTH, "a tree is too deep")?;
    ensure((1..=MOST_FILES).contains(&tree.files), "a tree has no number of files")?;
    ensure(tree.fan_out >= 1 && tree.per_directory >= 1, "a directory of a tree holds nothing")?;
    ensure(tree.size <= MOST_SIZE, "a file of a tree is too large")?;
    match &tree.sizes {
        Some(sizes) => mix(sizes, Bytes(0), MOST_SIZE),
        None => Ok(()),
    }
}

fn mix(sizes: &SizeMix, least: Bytes, most: Bytes) -> Result<(), Unsound> {
    let is_fit = |(size, weight): &(Bytes, u32)| {
        (least..=most).contains(size) && (1..=1_000_000).contains(weight)
    };
    ensure((1..=MOST_PARTS).contains(&sizes.parts.len()), "a mix has no sizes, or too many")?;
    ensure(sizes.parts.iter().all(is_fit), "a size or its weight is out of range")
}

fn stage(stage: &HostStage, files: &[Bytes], trees: &[Tree]) -> Result<(), Unsound> {
    ensure(
        stage.works.len() <= MOST_COUNT && stage.workers.len() <= MOST_COUNT,
        "a stage has too many workers",
    )?;
    ensure(
        !stage.works.is_empty() || stage.workers.is_empty(),
        "a stage has workers and nothing to do",
    )?;
    works(stage.kind, &stage.works)?;
    for worker in &stage.workers {
        let work = stage
            .works
            .get(worker.work as usize)
            .ok_or("a worker does a work that is not there")?;
        match (&work.metadata, worker.files) {
            (Some(metadata), Some(share)) => {
                file_share(share, trees)?;
                let is_enough = metadata.population.is_none() || share.count >= LEAST_NAMES;
                ensure(is_enough, "a worker of a population has too few names")?;
            }
            (Some(_), None) => return Err("a worker of files has none"),
            (None, _) if work.command.is_some() => {
                let is_alone = stage.works.len() == 1 && stage.workers.len() == 1;
                ensure(is_alone && worker.extents.is_empty(), "a command loads beside others")?;
            }
            (None, _) => blocks(work, worker, files)?,
        }
    }
    Ok(())
}

/// Whether the works of a stage fit each other, of the plan's or of a host's.
fn works(kind: StageKind, works: &[Work]) -> Result<(), Unsound> {
    works.iter().try_for_each(work)?;
    let gives_back = |work: &Work| {
        work.trim == Percent::ALL && work.trim_as == TrimAs::Hole && work.stop == Stop::Amount
    };
    ensure(
        kind != StageKind::Purge || works.iter().all(gives_back),
        "a purge does something else than to give blocks back",
    )?;
    let shares = works.iter().map(|work| u64::from(work.share)).sum::<u64>();
    ensure(shares <= MOST_SHARES, "shares add up to more than there can be")
}

fn work(work: &Work) -> Result<(), Unsound> {
    if let Some(time) = work.stop.time() {
        ensure((1..=MOST_TIME.0).contains(&time.0), "a stage has no end")?;
    }
    if let Stop::Steady(steady) = work.stop {
        ensure(
            steady.round.0 >= 1 && steady.least.0 <= steady.most.0,
            "rounds of a stage are none",
        )?;
    }
    if let Some(command) = &work.command {
        ensure(work.stop.time().is_some(), "a command has no end")?;
        return command.check();
    }
    if let Some(metadata) = &work.metadata {
        let mixed = metadata.mix.iter().flat_map(crate::metadata::OpMix::parts);
        let parts: Vec<_> = mixed.collect();
        let is_mix = metadata.mix.is_none() || crate::metadata::OpMix::new(&parts).is_ok();
        ensure(is_mix && metadata.op.is_metadata(), "a work on files has no operation of files")?;
        if let Some(population) = &metadata.population {
            let is_fit = (LEAST_FILL..=MOST_FILL).contains(&population.fill);
            ensure(is_fit, "a population has no share of its names")?;
            let has_length = (1..=MOST_APPEND.0).contains(&population.append.0)
                && population.growth() <= MOST_GROWTH;
            ensure(has_length, "an append of a population is out of range")?;
        }
        pace(&work.pace)?;
        return ensure(metadata.size <= MOST_SIZE, "a file of a work is too large");
    }
    if let Some(trace) = &work.trace {
        trace.check(work.stop)?;
    }
    work.mixes().try_for_each(|sizes| mix(sizes, Bytes(1), MOST_REQUEST))?;
    ensure((1..=MOST_COUNT as u32).contains(&work.depth), "a depth is out of range")?;
    if let Some(zones) = &work.zones {
        self::zones(zones, work)?;
    }
    let shares = [work.trim, work.read, work.pattern.random];
    ensure(
        shares.iter().all(|share| *share <= Percent::ALL),
        "a share of requests is more than all of them",
    )?;
    let is_pass = work.stop == Stop::Amount && work.writes() && !work.reads();
    let spare = work.pattern.aged;
    ensure(
        spare.is_none_or(|spare| is_pass && spare <= Percent::ALL),
        "a pass that ages flash is no pass of writes",
    )?;
    let steps = [work.pattern.align, work.pattern.stride, work.pattern.run];
    ensure(steps.iter().all(|step| step.0 <= MOST), "a step is larger than any file")?;
    ensure(
        (1..=MOST_COUNT as u32).contains(&work.pattern.streams),
        "a number of streams is out of range",
    )?;
    let is_skewed = matches!(work.pattern.access, Access::Zipf | Access::Pareto);
    ensure(
        (u32::from(is_skewed)..=100_000).contains(&work.pattern.skew.milli),
        "a skew is out of range",
    )?;
    hot_spots(work)?;
    // One that has done its amount would hold up the others for good.
    let is_bound = work.share > 0;
    ensure(!is_bound || work.stop.time().is_some(), "a work with a share ends at no time")?;
    pace(&work.pace)
}

/// Whether a work can keep to zones.
fn zones(zones: &ZoneRules, work: &Work) -> Result<(), Unsound> {
    let pattern = &work.pattern;
    let is_plain = pattern.streams == 1
        && pattern.stride.0 == 0
        && pattern.run.0 == 0
        && !pattern.backward
        && pattern.aged.is_none();
    let is_one = |share: Percent| share == Percent::ZERO || share == Percent::ALL;
    ensure(
        is_plain && is_one(pattern.random),
        "a work on zones has an order that zones do not have",
    )?;
    ensure(work.trace.is_none(), "a work on zones has requests of a trace")?;
    ensure(is_one(work.trim), "a work on zones mixes resets with other requests")?;
    ensure(
        zones.reset_threshold <= Percent::ALL && zones.reset_frequency <= Percent::ALL,
        "a share of resets is more than all",
    )?;
    let is_size = zones.size.0 == 0 || (512..=1 << 50).contains(&zones.size.0);
    ensure(is_size, "a size of zones is out of range")
}

fn pace(pace: &Pace) -> Result<(), Unsound> {
    match pace {
        Pace::Closed { think, .. } => ensure(*think <= MOST_TIME, "a rest is longer than any run"),
        Pace::Open { rate: Rate::Iops { milli }, .. } => ensure(*milli >= 1, "a rate is none"),
        Pace::Open { rate: Rate::Bytes { per_second }, .. } => {
            ensure(*per_second >= 1, "a rate is none")
        }
        Pace::Changing { curve, .. } => curve.check(),
    }
}

fn hot_spots(work: &Work) -> Result<(), Unsound> {
    let spots = &work.pattern.hot_spots.spots;
    let all = u64::from(Percent::ALL.ppm);
    let sum = |pick: fn(&(Percent, Percent)) -> Percent| {
        spots.iter().map(|spot| u64::from(pick(spot).ppm)).sum::<u64>()
    };
    let is_table =
        spots.len() <= MOST_PARTS && sum(|spot| spot.0) <= all && sum(|spot| spot.1) <= all;
    ensure(is_table, "hot spots are more than all of the requests or of the space")?;
    let has_room = sum(|spot| spot.1) < all || sum(|spot| spot.0) == all;
    ensure(has_room, "hot spots leave requests and no space for them")
}

fn file_share(share: FileShare, trees: &[Tree]) -> Result<(), Unsound> {
    let tree =
        trees.get(share.tree as usize).ok_or("a worker has files of a tree that is not there")?;
    ensure(share.step >= 1, "a worker goes from a file to itself")?;
    let last = share
        .count
        .checked_sub(1)
        .map(|steps| steps.checked_mul(share.step)?.checked_add(share.first));
    let is_within =
        |last: Option<u64>| last.is_some_and(|last| last < tree.files.max(tree.listed()));
    ensure(last.is_none_or(is_within), "a worker has files that its tree has not")
}

/// Whether every request of a worker has a place.
fn blocks(work: &Work, worker: &Worker, files: &[Bytes]) -> Result<(), Unsound> {
    let is_within = |extent: &Extent| {
        let size = files.get(extent.file as usize);
        let end = extent.offset.checked_add(extent.length);
        extent.length >= 1 && size.zip(end).is_some_and(|(size, end)| end <= size.0)
    };
    ensure(worker.extents.iter().all(is_within), "a worker loads bytes that its files have not")?;
    let all = worker.extents.iter().try_fold(0u64, |sum, extent| sum.checked_add(extent.length));
    ensure(all.is_some_and(|all| all <= MOST), "a worker loads more bytes than there can be")?;
    ensure(
        work.pattern.aged.is_none() || work.requests(worker) <= MOST_AGED,
        "a worker ages more blocks than anybody can keep count of",
    )?;
    let block = work.largest_block().0.max(1);
    let places = worker.extents.iter().map(|extent| extent.length / block).sum::<u64>();
    ensure(work.least_places() <= places, "a sequence has places that its worker has not")?;
    let longest = worker.extents.iter().map(|extent| extent.length).max().unwrap_or(0);
    let least = if work.stop == Stop::Amount { 1 } else { work.largest_block().0.max(1) };
    ensure(longest >= least, "a worker has no room for a request")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StageKind;
    use crate::choices::Backend;
    use crate::plan::{PlannedTarget, Target, TargetFile};

    /// A share with one worker that reads one file.
    fn share() -> HostPlan {
        let work = Work::simple(
            Bytes(4096),
            Percent::ALL,
            Access::Random,
            4,
            Stop::After(Nanos::seconds(1)),
        );
        let extents = vec![Extent { file: 0, offset: 4096, length: 8192 }];
        let worker = Worker { work: 0, seed: 1, turn: (0, 1), extents, files: None };
        let stage = HostStage {
            stage: 0,
            kind: StageKind::Measure,
            works: vec![work],
            workers: vec![worker],
        };
        let files = vec![TargetFile { path: "/t/data-00000.bin".into(), size: Bytes(12_288) }];
        let kind = PlannedTarget::Directory { root: "/t".into() };
        let engine = EngineSettings::simple(Backend::Sync);
        HostPlan {
            targets: vec![Target { path: "/t".into(), kind, files }],
            stages: vec![stage],
            ..HostPlan::empty("r", Nanos::seconds(1), engine)
        }
    }

    /// A pace that asks for nothing, again and again.
    fn endless() -> Pace {
        let lines = vec![crate::curve::Line { length: Nanos(1), from: 0, to: 0 }];
        let (unit, then) = (crate::curve::Unit::Bytes, crate::curve::Then::Repeats(0));
        Pace::Changing { curve: crate::curve::Curve { unit, lines, then }, poisson: true }
    }

    fn part() -> Part {
        Part {
            stages: vec![0],
            targets: 0..1,
            trees: 0..0,
            engine: EngineSettings::simple(Backend::Sync),
        }
    }

    #[test]
    fn zones_are_gone_through_in_order_or_at_random_and_in_real_time() {
        let rules = ZoneRules { size: Bytes::mib(1), open: 3, ..ZoneRules::default() };
        let changed = |change: fn(&mut HostPlan, &mut ZoneRules)| {
            let (mut plan, mut rules) = (share(), rules);
            change(&mut plan, &mut rules);
            plan.stages[0].works[0].zones = Some(rules);
            plan.check()
        };
        assert_eq!(changed(|_, _| {}), Ok(()));
        assert!(changed(|plan, _| plan.engine.virtual_time = true).is_err());
        assert!(changed(|plan, _| plan.stages[0].works[0].pattern.streams = 2).is_err());
        assert!(changed(|plan, _| plan.stages[0].works[0].trim = Percent::of(5)).is_err());
        assert!(changed(|_, rules| rules.size = Bytes(100)).is_err());
        assert!(changed(|_, rules| rules.reset_frequency = Percent { ppm: 2_000_000 }).is_err());
    }

    #[test]
    fn every_number_that_does_not_fit_is_found() {
        assert_eq!(share().check(), Ok(()));
        assert_eq!(HostPlan { parts: vec![part()], ..share() }.check(), Ok(()));
        let bad: [&dyn Fn(&mut HostPlan); 28] = [
            &|plan| plan.stages[0].kind = StageKind::Purge,
            &|plan| plan.interval = Nanos(0),
            &|plan| plan.engine.contents.grain = Bytes(0),
            &|plan| plan.engine.patience = Nanos(u64::MAX),
            &|plan| plan.targets[0].files[0].size = Bytes(u64::MAX),
            &|plan| plan.stages[0].works.clear(),
            &|plan| plan.stages[0].works[0].depth = u32::MAX,
            &|plan| plan.stages[0].works[0].depth = 0,
            &|plan| plan.stages[0].works[0].block_size.parts.clear(),
            &|plan| plan.stages[0].works[0].block_size = SizeMix::single(Bytes(1 << 40)),
            &|plan| plan.stages[0].works[0].block_size = SizeMix::single(Bytes(0)),
            &|plan| plan.stages[0].works[0].read = Percent { ppm: 2_000_000 },
            &|plan| plan.stages[0].works[0].pattern.streams = u32::MAX,
            &|plan| plan.stages[0].works[0].stop = Stop::After(Nanos(u64::MAX)),
            &|plan| plan.stages[0].works[0].pace = endless(),
            &|plan| plan.stages[0].works[0].share = 10_001,
            &|plan| {
                plan.stages[0].works[0].share = 1;
                plan.stages[0].works[0].stop = Stop::Amount;
            },
            &|plan| plan.stages[0].workers[0].work = 1,
            &|plan| plan.stages[0].workers[0].extents.clear(),
            &|plan| plan.stages[0].workers[0].extents[0].file = u32::MAX,
            &|plan| plan.stages[0].workers[0].extents[0].offset = u64::MAX,
            &|plan| plan.stages[0].workers[0].extents[0].length = 8193,
            &|plan| plan.stages[0].workers[0].extents[0].length = 4095,
            &|plan| plan.stages.push(plan.stages[0].clone()),
            &|plan| plan.parts = vec![Part { stages: vec![1], ..part() }],
            &|plan| plan.parts = vec![Part { targets: 0..2, ..part() }],
            &|plan| plan.parts = vec![Part { targets: 0..0, ..part() }],
            &|plan| plan.parts = vec![part(), part()],
        ];
        for (number, damage) in bad.iter().enumerate() {
            let mut plan = share();
            damage(&mut plan);
            assert!(plan.check().is_err(), "{number}: {plan:?}");
        }
    }

    #[test]
    fn files_of_a_share_are_in_their_tree() {
        let tree = Tree {
            path: "/t/tree-00000".into(),
            files: 10,
            depth: 1,
            fan_out: 1,
            per_directory: 5,
            ..Tree::default()
        };
        let is_well = |share: FileShare| file_share(share, std::slice::from_ref(&tree)).is_ok();
        let share = |first, step, count| FileShare { tree: 0, first, step, count };
        assert!(is_well(share(0, 1, 10)) && is_well(share(1, 2, 5)) && is_well(share(9, 1, 0)));
        assert!(
            !is_well(share(1, 1, 10))
                && !is_well(share(0, 0, 1))
                && !is_well(share(0, u64::MAX, 3))
        );
        assert!(!is_well(FileShare { tree: 1, ..share(0, 1, 1) }));
        assert!(super::tree(&Tree { depth: 99, ..tree.clone() }).is_err());
        assert!(super::tree(&Tree { per_directory: 0, ..tree.clone() }).is_err());
        assert!(super::tree(&Tree { files: u64::MAX, ..tree }).is_err());
    }
}
