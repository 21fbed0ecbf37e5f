//! Whether a plan from a run file can be run again at all. A run file may come from anybody: what
//! passes here makes no generator panic or loop for ever.

use model::load::SizeMix;
use model::plan::{HostPlan, Stop, TargetFile, Work, Worker};

/// Larger than any suite can ask for.
const LARGEST_BLOCK: u64 = 1 << 31;
const LARGEST_STRIDE: u64 = 1 << 60;
const LARGEST_FILE: u64 = 1 << 56;
const MOST_PARTS: usize = 1024;

/// Complains about a host's plan that no planner made.
pub(super) fn check(plan: &HostPlan) -> Result<(), &'static str> {
    let grain = plan.engine.contents.grain.0;
    if !grain.is_power_of_two() || !(512..=1 << 20).contains(&grain) {
        return Err("its blocks have a size that none can have");
    }
    let files: Vec<&TargetFile> = plan.files().collect();
    if files.iter().any(|file| file.size.0 > LARGEST_FILE) {
        return Err("a file of its plan is larger than files can be");
    }
    for stage in &plan.stages {
        for worker in &stage.workers {
            let work = stage
                .works
                .get(worker.work as usize)
                .ok_or("a worker of its plan has nothing to do")?;
            if work.writes() {
                check_work(work)?;
                check_worker(work, worker, &files)?;
            }
        }
    }
    Ok(())
}

fn check_work(work: &Work) -> Result<(), &'static str> {
    let pattern = &work.pattern;
    let is_sound = work.mixes().all(is_mix)
        && work.fsync_every <= 1 << 32
        && pattern.streams <= 1 << 16
        && pattern.stride.0.max(pattern.run.0) <= LARGEST_STRIDE
        && (1..=100_000).contains(&pattern.skew.milli)
        && pattern.hot_spots.spots.len() <= MOST_PARTS;
    if is_sound { Ok(()) } else { Err("a workload of its plan is none that can be run") }
}

fn is_mix(mix: &SizeMix) -> bool {
    let is_part =
        |(size, weight): &(model::Bytes, u32)| (1..=LARGEST_BLOCK).contains(&size.0) && *weight > 0;
    (1..=MOST_PARTS).contains(&mix.parts.len()) && mix.parts.iter().all(is_part)
}

fn check_worker(work: &Work, worker: &Worker, files: &[&TargetFile]) -> Result<(), &'static str> {
    // A stage that touches everything once also takes what is shorter than a block.
    let least = if work.stop == Stop::Amount { 1 } else { work.largest_block().0 };
    let mut extents = worker.extents.iter();
    let is_sound = !worker.extents.is_empty()
        && extents.all(|extent| {
            let size = files.get(extent.file as usize).map_or(0, |file| file.size.0);
            let end = extent.offset.checked_add(extent.length);
            extent.length >= least && end.is_some_and(|end| end <= size)
        });
    if is_sound { Ok(()) } else { Err("a worker of its plan has bytes that are not there") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{after_ms, worker_at};
    use model::choices::Access;
    use model::plan::Work;
    use model::units::{Bytes, Percent};

    #[test]
    fn what_would_make_a_generator_panic_is_refused() {
        let file = TargetFile { path: "a".into(), size: Bytes(1 << 20) };
        let work =
            |size| Work::simple(Bytes(size), Percent::ZERO, Access::Random, 1, after_ms(1_000));
        let worker = |offset, length| worker_at(1, offset, length);
        let both = |work: &Work, worker: &Worker| {
            check_work(work).and_then(|()| check_worker(work, worker, &[&file]))
        };
        assert_eq!(both(&work(4096), &worker(0, 1 << 20)), Ok(()));
        assert!(both(&work(0), &worker(0, 1 << 20)).is_err());
        assert!(both(&work(4096), &worker(0, 4095)).is_err(), "no room for a block");
        assert!(both(&work(4096), &worker(4096, 1 << 20)).is_err(), "behind the end");
        assert!(both(&work(4096), &worker(u64::MAX, 4096)).is_err());
        assert!(both(&work(4096), &Worker { extents: Vec::new(), ..worker(0, 0) }).is_err());
        let mut steep = work(4096);
        steep.pattern.skew.milli = u32::MAX;
        assert!(check_work(&steep).is_err());
        let mut empty = work(4096);
        empty.write_block_size = SizeMix { parts: Vec::new() };
        assert!(check_work(&empty).is_err());
        empty.write_block_size = SizeMix { parts: vec![(Bytes(4096), 0)] };
        assert!(check_work(&empty).is_err());
    }
}
