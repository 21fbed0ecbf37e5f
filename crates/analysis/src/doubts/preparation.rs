//! What was done to the target before figures were taken of it: stages that are missing, and how
//! far a flash drive is from the state that a long time of random writes leaves it in.
//!
//! `docs/method/preparation.md`.

use crate::doubts::Warning;
use crate::layers::targets;
use crate::rows::row::ResultRow;
use model::digest::Digest;
use model::inventory::{Link, LinkKind, Media};
use model::plan::{HostPlan, PlannedTarget, Stage, StageKind, Target, TargetFile, Work};
use model::record::StageRecord;
use model::testbed::TargetKind;
use model::{Op, Percent, Record, StageEnd};

/// Random writes of so many times what is loaded, and the copies of flash are within a tenth of
/// what they come to in the long run: on simulated drives of 7 to 100 % of spare, written once in
/// order before.
const ENOUGH_OVERWRITTEN: f64 = 1.5;
/// A file with less than this share of holes is nearly whole.
const LEAST_HOLES: f64 = 0.1;
/// Of a drive of which less is loaded, the rest may be spare.
const WHOLE: f64 = 0.9;

pub(crate) fn skipped_stages(record: &Record, row: &ResultRow) -> Vec<Warning> {
    if record.plan.backend.sends_nothing() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let stages = &record.plan.stages;
    let is = |kind: StageKind, point: Option<u32>| {
        stages.iter().any(|stage| stage.kind == kind && stage.point == point)
    };
    let is_written = record.plan.existing || is_written_by_run(record, row.stage);
    // Below the write pointer of a zone, every block was written.
    let needs_it =
        |work: &Work| work.reads() && work.zones.is_none_or(|zones| zones.unwritten_reads);
    // What is simulated costs the same whether it was written or not.
    if !is_written
        && row.plans(Op::Read)
        && row.works.iter().any(needs_it)
        && !record.plan.is_simulated()
    {
        found.push(Warning::NotPrepared);
    }
    // An amount is measured from its first request to its last on purpose; and every operation on a
    // tree finds what the one before it left.
    let conditioned = is(StageKind::Precondition, Some(row.point)) || follows_rounds(record, row);
    if !conditioned && row.done.is_none() {
        found.push(Warning::NotPreconditioned);
    }
    found
}

/// The loop device whose file has most bytes without a place on a medium, where this run did not
/// write the layout: such reads cost nothing, and such writes look for room. Not below a file
/// system: what was written to a file of its is in no hole of what lies below.
pub(crate) fn holes(record: &Record, row: &ResultRow) -> Option<Warning> {
    if record.plan.is_simulated() || is_written_by_run(record, row.stage) {
        return None;
    }
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    let found = hosts.flat_map(|(host, facts)| targets::loaded(host, facts, row.stage));
    let is_device = |link: &&Link| link.kind != LinkKind::FileSystem;
    let devices = found.flat_map(|target| target.chain.iter().take_while(is_device));
    let shares = devices.filter_map(|link| {
        let size = link.device.as_ref()?.size.0.max(1);
        Some((link.name.clone(), (link.holes?.0 as f64 / size as f64).min(1.0)))
    });
    let (device, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (share >= LEAST_HOLES).then_some(Warning::Holes { device, share })
}

/// Whether a stage of this run before it wrote every byte that a stage loads.
fn is_written_by_run(record: &Record, stage: u32) -> bool {
    let is_prepared = (0..).zip(&record.plan.stages).any(|(number, planned)| {
        planned.kind == StageKind::Prepare && is_same_layout(record, number, stage)
    });
    is_prepared || written_before(record, stage)
}

/// Whether two stages work on one layout: those of a scenario, or of scenarios that share it.
fn is_same_layout(record: &Record, one: u32, other: u32) -> bool {
    record.plan.hosts.first().is_some_and(|host| host.part_of(one) == host.part_of(other))
}

/// Whether a complete stage before this one wrote an amount that is every block of the layout.
fn written_before(record: &Record, stage: u32) -> bool {
    let whole = |earlier: &&StageRecord| {
        let Some(planned) = record.plan.stages.get(earlier.stage as usize) else { return false };
        let writes = planned.stop().once().is_some_and(|once| !once.stonewall)
            && planned
                .works
                .iter()
                .all(|work| work.read == Percent::ZERO && work.pattern.random == Percent::ZERO);
        let block = planned.works.iter().map(|work| work.largest_block().0).max().unwrap_or(0);
        let of_layout = |host: &HostPlan| {
            let targets = host.targets.get(host.targets_of(stage)).unwrap_or_default();
            targets.iter().map(|target| target.files.len() as u64).sum::<u64>()
        };
        let files = record.plan.hosts.iter().map(of_layout).fold(0, u64::saturating_add);
        // Less than a block at the end of each file is nobody's.
        let rest = files.saturating_mul(block);
        writes
            && record.plan.amount(earlier.stage).0.saturating_add(rest)
                > record.plan.footprint_of(stage).0
    };
    let complete = |earlier: &&StageRecord| {
        let is_before = earlier.stage < stage && is_same_layout(record, earlier.stage, stage);
        is_before && earlier.end == Some(StageEnd::Complete)
    };
    record.stages.iter().filter(complete).any(|earlier| whole(&earlier))
}

/// Whether the point's rounds before this one ran the same load.
fn follows_rounds(record: &Record, row: &ResultRow) -> bool {
    let point = record.plan.points.get(row.point as usize);
    record.plan.rounds.most > 0 && point.is_some_and(|point| point.repetition > 1)
}

/// What each stage wrote at random places, where flash is loaded as a whole drive.
pub(crate) struct Past {
    /// Stage and bytes, in order; nothing where no flash is a target.
    random: Vec<(u32, f64)>,
}

impl Past {
    /// Of a record.
    pub(crate) fn of(record: &Record) -> Past {
        let has_flash = (0..).zip(&record.plan.hosts).any(|(number, host)| {
            host.targets.iter().any(|target| is_flash(record, number, target))
        });
        let of_stage = |stage: &StageRecord| {
            let planned = record.plan.stages.get(stage.stage as usize)?;
            let digest = stage.digest(record);
            let parts = digest.sums.parts.iter();
            let bytes = parts.map(|((work, op), part)| {
                let share = share_at_random(planned, *work, *op);
                if share > 0.0 { share * part.all.bytes as f64 } else { 0.0 }
            });
            Some((stage.stage, bytes.sum()))
        };
        let stages = record.stages.iter().filter(|_| has_flash);
        Past { random: stages.filter_map(of_stage).collect() }
    }
}

/// The share of a work's requests of this kind that are writes at random places.
fn share_at_random(stage: &Stage, work: u32, op: Op) -> f64 {
    let work = stage.works.get(work as usize).filter(|_| op == Op::Write);
    work.filter(|work| work.pattern.aged.is_none()).map_or(0.0, random_share)
}

fn random_share(work: &Work) -> f64 {
    f64::from(work.pattern.random.ppm) / 1e6
}

/// Whether a target is a whole flash drive that may be written: a device, or a simulated one.
fn is_flash(record: &Record, host: u32, target: &Target) -> bool {
    match target.kind {
        PlannedTarget::Simulated => target.files.iter().any(TargetFile::is_simulated_flash),
        PlannedTarget::Device => {
            let facts = record.testbed.get(host as usize);
            let facts = facts.and_then(|host| {
                host.targets.iter().find(|facts| facts.path == target.path)?.device.as_ref()
            });
            facts.is_some_and(|device| matches!(device.media, Media::Ssd | Media::Nvme))
        }
        _ => false,
    }
}

/// The flash that a stage loads, on all hosts.
#[derive(Default)]
struct Loaded {
    /// What is loaded, in bytes.
    bytes: f64,
    /// What the drives have.
    capacity: f64,
    /// Its first drive.
    device: Option<String>,
}

fn loaded(record: &Record, stage: u32) -> Loaded {
    let mut all = Loaded::default();
    for (number, host) in (0..).zip(&record.plan.hosts) {
        let targets = host.targets.get(host.targets_of(stage)).unwrap_or_default();
        for target in targets.iter().filter(|target| is_flash(record, number, target)) {
            let bytes = target.files.iter().map(|file| file.size.0 as f64).sum::<f64>();
            all.bytes += bytes;
            all.capacity += capacity(record, number, target).map_or(bytes, |size| size as f64);
            all.device.get_or_insert_with(|| target.path.clone());
        }
    }
    all
}

fn capacity(record: &Record, host: u32, target: &Target) -> Option<u64> {
    let facts = record.testbed.get(host as usize)?;
    match facts.targets.iter().find(|facts| facts.path == target.path)?.kind {
        TargetKind::Device { size, .. } | TargetKind::Simulated { size } => Some(size.0),
        _ => None,
    }
}

/// Whether random writes are measured on flash that was prepared too little for it, or of which a
/// part alone is loaded.
pub(crate) fn too_short(
    record: &Record,
    digest: &Digest,
    row: &ResultRow,
    past: &Past,
) -> Option<Warning> {
    let is_random = |work: &Work| work.writes() && random_share(work) > 0.0;
    if past.random.is_empty() || !row.plans(Op::Write) || !row.works.iter().any(is_random) {
        return None;
    }
    let found = loaded(record, row.stage);
    let device = found.device.filter(|_| found.bytes > 0.0)?;
    let before = past
        .random
        .iter()
        .filter(|(stage, _)| *stage < row.stage && is_same_layout(record, *stage, row.stage));
    let written: f64 = before.map(|(_, bytes)| bytes).sum::<f64>() + uncounted(record, digest, row);
    let overwritten = written / found.bytes;
    let part = found.bytes / found.capacity;
    let aged_for = aged_for(record, row.stage);
    let is_enough = aged_for.is_some() || overwritten >= ENOUGH_OVERWRITTEN;
    if is_enough && part >= WHOLE {
        return None;
    }
    Some(Warning::ShortPreparation {
        device,
        overwritten,
        needs: ENOUGH_OVERWRITTEN,
        part: Some(part).filter(|part| *part < WHOLE),
        aged_for,
    })
}

/// Whether flash was to begin as from its box, and no stage made it so: rounds until steady, one
/// pass that ages it, and first writes count on that.
pub(crate) fn not_purged(record: &Record, row: &ResultRow) -> Option<Warning> {
    let complete = |kind: StageKind| {
        record.stages.iter().any(|earlier| {
            let planned = record.plan.stages.get(earlier.stage as usize);
            planned.is_some_and(|planned| planned.kind == kind)
                && earlier.stage < row.stage
                && earlier.end == Some(StageEnd::Complete)
                && is_same_layout(record, earlier.stage, row.stage)
        })
    };
    let writes_first =
        row.plans(Op::Write) && !record.plan.existing && !complete(StageKind::Prepare);
    let counts_on_it =
        record.plan.rounds.most > 0 || writes_first || aged_for(record, row.stage).is_some();
    if !counts_on_it || complete(StageKind::Purge) || record.plan.backend.sends_nothing() {
        return None;
    }
    let of_host = |(number, host): (u32, &HostPlan)| {
        let targets = host.targets.get(host.targets_of(row.stage)).unwrap_or_default();
        let mut flash = targets.iter().filter(|target| is_flash(record, number, target));
        let is_new = |target: &Target| {
            target.kind == PlannedTarget::Simulated
                && !target.files.iter().any(TargetFile::is_used_flash)
        };
        flash.find(|target| !is_new(target)).map(|target| target.path.clone())
    };
    let device = (0..).zip(&record.plan.hosts).find_map(of_host)?;
    Some(Warning::NotPurged { device })
}

/// Random writes of the stage itself before the first interval that its figures rest on.
fn uncounted(record: &Record, digest: &Digest, row: &ResultRow) -> f64 {
    let Some(planned) = record.plan.stages.get(row.stage as usize) else { return 0.0 };
    let moments = &digest.frame.moments;
    let first = moments.iter().position(|moment| digest.frame.is_counted(moment.interval));
    let parts = digest.sums.parts.iter().map(|((work, op), part)| {
        let before = (0..first.unwrap_or(0)).filter_map(|at| part.total(at));
        let bytes: f64 = before.map(|total| total.counts.bytes as f64).sum();
        share_at_random(planned, *work, *op) * bytes
    });
    parts.sum()
}

/// The spare that a complete pass over the layout of a stage aged it for.
fn aged_for(record: &Record, stage: u32) -> Option<Percent> {
    let complete = |earlier: &&StageRecord| {
        earlier.stage < stage
            && earlier.end == Some(StageEnd::Complete)
            && is_same_layout(record, earlier.stage, stage)
    };
    let planned = |earlier: &StageRecord| record.plan.stages.get(earlier.stage as usize);
    let works = record.stages.iter().filter(complete).filter_map(planned);
    works.flat_map(|stage| &stage.works).find_map(|work| work.pattern.aged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;

    /// The share of holes that is doubted below a loop device of 1 GiB, of which so many MiB are
    /// none on a medium; with a layer of this kind above it.
    fn holes_of(prepare: &str, mib: u64, above: LinkKind) -> Option<f64> {
        let suite = format!("[stages]\nprepare = {prepare}\n[[workload]]\nname = \"w\"\n");
        let mut recorded = Recorded::new(&suite);
        recorded.second(0, &[(Op::Read, &[1_000; 1_000])]);
        recorded.end();
        let target = &mut recorded.record_mut().testbed[0].targets[0];
        let mut device = target.device.clone().expect("a disk");
        device.size = model::Bytes::gib(1);
        let below = Link {
            kind: LinkKind::Loop,
            name: "loop3".to_owned(),
            device: Some(device),
            holes: Some(model::Bytes::mib(mib)),
            ..Link::default()
        };
        target.chain = vec![Link { kind: above, ..Link::default() }, below];
        let rows = crate::results(&recorded.record());
        rows[0].warnings.iter().find_map(|one| match one {
            Warning::Holes { share, .. } => Some(*share),
            _ => None,
        })
    }

    #[test]
    fn a_file_below_a_loop_device_that_nobody_wrote_is_doubted() {
        let below_volume = |prepare, mib| holes_of(prepare, mib, LinkKind::Mapper);
        assert_eq!(below_volume("false", 512), Some(0.5));
        assert_eq!(below_volume("false", 16), None, "nearly whole");
        assert_eq!(below_volume("true", 512), None, "the run writes it");
        let below_files = holes_of("false", 512, LinkKind::FileSystem);
        assert_eq!(below_files, None, "what a file has is in no hole");
    }

    /// What a drive of 1 GiB is doubted for, of which so many GiB are loaded: written once, then
    /// preconditioned with so many requests of 64 KiB.
    fn doubt(loaded: &str, requests: usize, prepare: &str) -> Option<Warning> {
        let suite = format!(
            "[layout]\nfiles = 1\nsize = \"{loaded}\"\n[stages]\nprecondition = \"1s\"\n{prepare}\n\
             [[workload]]\nname = \"w\"\nread = 0\nblock_size = \"64KiB\"\n"
        );
        let mut recorded = Recorded::new(&suite);
        for host in &mut recorded.record_mut().plan.hosts {
            for target in &mut host.targets {
                target.kind = PlannedTarget::Device;
            }
        }
        for target in recorded.record_mut().testbed.iter_mut().flat_map(|host| &mut host.targets) {
            let size = model::Bytes::gib(1);
            target.kind = TargetKind::Device { size, in_use: None };
            target.device.iter_mut().for_each(|device| device.media = Media::Nvme);
        }
        recorded.prepare();
        let stage = recorded.stage(StageKind::Precondition);
        recorded.interval(stage, 0, &[(Op::Write, &vec![100_000; requests])]);
        recorded.second(0, &[(Op::Write, &vec![100_000; 20_000])]);
        let rows = crate::results(&recorded.end());
        rows[0].warnings.iter().find(|one| one.code() == "short-preparation").cloned()
    }

    #[test]
    fn reads_within_zones_that_are_written_need_no_preparation() {
        let is_doubted = |zones: &str| {
            let suite = format!(
                "[layout]\nfiles = 1\nsize = \"64MiB\"\n[stages]\nprepare = false\n[[workload]]\n\
                 name = \"w\"\nread = \"50%\"\n{zones}"
            );
            let mut recorded = Recorded::new(&suite);
            recorded.second(0, &[(Op::Read, &[100_000; 50]), (Op::Write, &[100_000; 50])]);
            let rows = crate::results(&recorded.end());
            rows.iter().any(|row| row.warnings.iter().any(|one| one.code() == "not-prepared"))
        };
        let zones = "zones = \"device\"\nzone_size = \"1MiB\"\n";
        assert!(is_doubted(""));
        assert!(!is_doubted(zones));
        assert!(is_doubted(&format!("{zones}unwritten_reads = true\n")));
    }

    #[test]
    fn a_drive_that_was_overwritten_too_little_is_doubted_with_how_much_it_was() {
        let Some(Warning::ShortPreparation { overwritten, part, .. }) = doubt("1GiB", 4_096, "")
        else {
            panic!("a quarter of the drive is too little")
        };
        // The bytes of a hand-made sample are those of its block size.
        assert!(overwritten > 0.0 && overwritten < ENOUGH_OVERWRITTEN, "{overwritten}");
        assert_eq!(part, None);
        assert_eq!(doubt("1GiB", 400_000, ""), None, "more than the drive has");
    }

    #[test]
    fn a_part_of_a_drive_is_doubted_however_often_it_was_overwritten() {
        let Some(Warning::ShortPreparation { part: Some(part), .. }) = doubt("512MiB", 400_000, "")
        else {
            panic!("half of the drive may be spare")
        };
        assert!((part - 0.5).abs() < 1e-9, "{part}");
    }

    #[test]
    fn a_pass_that_ages_the_drive_is_enough() {
        let aged = "prepare_order = \"aged\"\nspare = \"7%\"";
        assert_eq!(doubt("1GiB", 16, aged), None);
    }
}
