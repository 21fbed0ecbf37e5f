//! Reasons to doubt a figure. Thresholds and their reasons stand in `docs/method`.

use crate::backlog::{Answered, Asked, Backlog};
use crate::confidence::confidence;
use crate::degraded::{asked_of_those_left, degraded};
use crate::estimate::Estimate;
use crate::offer::Offer;
use crate::results::rows;
use crate::row::ResultRow;
use crate::state::run_state;
use crate::tally::tally;
use crate::warning::{QUANTILES, Quantile, Warning};
use crate::{below, evenness, limited, page_cache, standstill, surroundings, write_cache};
use model::digest::{Digest, Moment, Part};
use model::note::AboutHosts;
use model::plan::{Contents, HostPlan, StageKind};
use model::record::StageRecord;
use model::testbed::{DirectoryState, TargetFacts, TargetKind};
use model::{
    Fact, Nanos, NoteKind, Occurrence, OccurrenceKind, Op, Percent, Record, StageEnd, errno,
};
use std::collections::BTreeMap;

/// Fewer samples than this support no tail: the p99 then rests on fewer than ten.
const LEAST_SAMPLES: u64 = 1_000;
/// A quantile with fewer samples beyond it moves by more than a third from run to run by chance
/// alone.
const LEAST_BEYOND: f64 = 10.0;
/// A worker that leaves less than a tenth of its core idle is likely to be the limit itself.
const BUSY_WORKER: f64 = 0.9;
/// Hosts that begin further apart than this part of an interval do not measure the same intervals:
/// ÷ 10.
const PARTS_OF_SKEW: u64 = 10;
/// Past nine tenths, flash and most file systems slow down because they are full.
const LEAST_FREE_SHARE: f64 = 0.1;

/// The rows of each point whose `measure` stage began, in the order of the plan, with every reason
/// to doubt them: one for each operation of each workload, one for all I/O of a workload that mixes
/// several, and one for all workloads that ran at the same time.
pub fn results(record: &Record) -> Vec<ResultRow> {
    let points = 0..record.plan.points.len() as u32;
    let stages = points
        .filter_map(|point| record.plan.measure_stage(point))
        .filter_map(|stage| record.stage(stage));
    let mut rows: Vec<ResultRow> = stages.flat_map(|stage| of_stage(record, stage)).collect();
    write_cache::doubt_faster(record, &mut rows);
    rows
}

/// The rows of one stage, which is looked at on its own: what it comes to need not be held together
/// with that of all others.
fn of_stage(record: &Record, stage: &StageRecord) -> Vec<ResultRow> {
    let digest = stage.digest(record);
    let mut rows = rows(record, stage, &digest);
    let missed: Vec<Vec<Warning>> =
        rows.iter().map(|row| rate_missed(record, &digest, &rows, row)).collect();
    for (row, missed) in rows.iter_mut().zip(missed) {
        let tally = tally(&digest, row);
        row.confidence = confidence(&tally, &row.latency);
        if row.is_changing() {
            row.confidence.forget_means();
        }
        count_what_was_due(row);
        row.warnings = warnings(record, stage, &digest, row);
        row.warnings.extend(missed);
        row.warnings.extend(evenness::doubts(record, row, &tally));
        row.warnings.extend(limited::burst_spent(row, &tally.total, &row.warnings));
        row.warnings.extend(limited::throttled(row, &tally.total));
        row.settled = evenness::settled(row, &tally);
    }
    rows
}

/// At a fixed rate, every request that was due in the measured time is in the latencies, back or
/// not: those that a standstill at its end held up are the ones that tell of it. Of an interval of
/// confidence that this leaves behind, nothing is known.
fn count_what_was_due(row: &mut ResultRow) {
    if !row.counts_what_was_due() {
        return;
    }
    row.latency.merge(&row.left.late);
    row.latency.merge(&row.left.never);
    for (quantile, interval) in QUANTILES.iter().zip(&mut row.confidence.quantiles_ns) {
        let now = row.latency.quantile_ns(quantile.share).map(|ns| ns as f64);
        *interval = interval.filter(|interval| {
            now.is_some_and(|now| (interval.low..=interval.high).contains(&now))
        });
    }
    let mean = row.latency.mean_ns();
    let is_near = |confidence: &Estimate| {
        mean.is_some_and(|mean| (mean - confidence.value).abs() <= confidence.error)
    };
    row.confidence.mean_ns = row.confidence.mean_ns.filter(is_near);
}

/// A rate is that of all I/O of a workload together: the workloads that `row` is of, or a part of,
/// and that missed theirs.
fn rate_missed(
    record: &Record,
    digest: &Digest,
    rows: &[ResultRow],
    row: &ResultRow,
) -> Vec<Warning> {
    let wholes = rows.iter().filter(|whole| whole.point == row.point && whole.is_of_workload());
    wholes
        .filter(|whole| whole.index.is_some_and(|work| row.has_work(work)))
        .filter_map(|whole| missed(record, digest, whole))
        .collect()
}

/// Whether a workload missed its rate, that of the hosts that were there. What failed came back,
/// too.
fn missed(record: &Record, digest: &Digest, whole: &ResultRow) -> Option<Warning> {
    let work = whole.work()?;
    let offer = asked_of_those_left(record, &digest.frame, whole, Offer::of(&work.pace)?);
    let (ios, errors) = (whole.ios as f64, whole.error_count() as f64);
    let unit = match offer.counts_bytes() {
        false => 1.0,
        // Where nothing succeeded, what one would have been is as good as any.
        true if ios > 0.0 => whole.bytes as f64 / ios,
        true => work.largest_block().0 as f64,
    };
    let end_of = |moment: &Moment| moment.start_ns.saturating_add(moment.length_ns);
    let seconds: f64 = counted(digest).map(|(_, moment)| moment.length_ns as f64 / 1e9).sum();
    let parts = digest.sums.parts.iter().filter(|((work, op), _)| whole.counts(*work, *op));
    let parts: Vec<&Part> = parts.map(|(_, part)| part).collect();
    let interval = |(at, moment): (usize, &Moment)| {
        let length_s = moment.length_ns as f64 / 1e9;
        let done = parts.iter().filter_map(|part| part.total(at)).map(|total| {
            let counts = &total.counts;
            if offer.counts_bytes() { counts.bytes as f64 } else { counts.ios as f64 }
        });
        // When a request failed is not known: they are spread over the time.
        let failed = if seconds > 0.0 { errors * unit * length_s / seconds } else { 0.0 };
        Answered {
            start_s: moment.start_ns as f64 / 1e9,
            length_s,
            due: offer.between(moment.start_ns, end_of(moment)),
            units: done.sum::<f64>() + failed,
        }
    };
    let intervals: Vec<Answered> = counted(digest).map(interval).collect();
    let mean_s = whole.latency.mean_ns().unwrap_or(0.0) / 1e9;
    let due: f64 = intervals.iter().map(|one| one.due).sum();
    let mean_rate = offer.rate(if seconds > 0.0 { due / seconds } else { 0.0 });
    // What is under way at the end was due in the last requests' time to come back.
    let end_ns = counted(digest).map(|(_, moment)| end_of(moment)).max()?;
    let last_ns = ((mean_s * 1e9) as u64).clamp(1, end_ns.max(1));
    let per_second = offer.between(end_ns - last_ns, end_ns) * 1e9 / last_ns as f64;
    let asked = Asked { per_second, unit, poisson: offer.is_poisson() };
    let found = Backlog::of(asked, &intervals, mean_s)?;
    let piled_up = (found.piled_up / unit).round() as u64;
    found.is_missed().then(|| Warning::RateMissed {
        asked: mean_rate,
        done: found.share().clamp(0.0, 1.0),
        piled_up,
    })
}

/// The intervals of load that figures rest on, with their places.
fn counted(digest: &Digest) -> impl Iterator<Item = (usize, &Moment)> {
    let is_counted = |(_, moment): &(usize, &Moment)| digest.frame.is_counted(moment.interval);
    digest.frame.moments.iter().enumerate().filter(is_counted)
}

/// Every reason to doubt `row`, the gravest first.
fn warnings(
    record: &Record,
    stage: &StageRecord,
    digest: &Digest,
    row: &ResultRow,
) -> Vec<Warning> {
    let mut found = Vec::new();
    if record.plan.is_simulated() {
        found.push(Warning::Simulated);
    }
    if row.ios == 0 {
        found.push(Warning::NothingCompleted);
    }
    let mut by_errno = row.errors.clone();
    if row.plans(Op::Write) {
        add_errors_of_pass(record, row.point, &mut by_errno);
    }
    if !by_errno.is_empty() {
        let unsupported = row.ops.one().and_then(|op| unsupported(op, row.ios, &by_errno));
        found.push(Warning::Errors { by_errno, unsupported });
    }
    if !row.complete {
        let measured = Nanos((row.seconds * 1e9) as u64);
        found.push(Warning::Incomplete { how: run_state(record), measured });
    }
    found.extend(degraded(record, &digest.frame));
    found.extend(left_out(record));
    found.extend(crate::other_runs::doubt(record, stage.stage));
    found.extend(events_running(record, stage.stage));
    found.extend(start_skew(record, stage));
    found.extend(clock_error(record, stage));
    found.extend(refusals(record, stage.stage));
    found.extend(page_cache::doubts(record, stage, digest, row));
    found.extend(crate::port_traffic::doubt(record, stage, digest, row));
    found.extend(reducible(record, row.stage));
    // Metadata is plain calls, in which a worker does the file system's work itself: it is always
    // busy where nothing waits for a device.
    let may_idle = !row.is_metadata() && !record.plan.backend.sends_nothing();
    if row.cpu.busiest >= BUSY_WORKER && may_idle {
        found.push(Warning::WorkerBusy { share: row.cpu.busiest });
    }
    found.extend(standstill::doubts(record, stage, digest, row));
    found.extend(thin_quantiles(row.ios));
    found.extend(skipped_stages(record, row));
    found.extend(little_space(record, row.stage));
    found.extend(write_cache::doubt(record, row));
    found.extend(write_cache::of_flush(record, row));
    found.extend(below::doubts(record, stage, digest, row));
    found.extend(surroundings::doubts(record, row));
    // Nothing in a simulation changes from hour to hour, and a note of the plan says how long it
    // was.
    let is_short_alone = record.plan.scale.size.is_one() && record.plan.is_simulated();
    if !record.plan.scale.is_full() && !is_short_alone {
        found.push(Warning::Scaled { scale: record.plan.scale });
    }
    found
}

/// `op`, if it is one that not every target has, none succeeded, and each was refused as such.
fn unsupported(op: Op, ios: u64, by_errno: &BTreeMap<i32, u64>) -> Option<Op> {
    let may_lack = matches!(op, Op::Trim | Op::Link | Op::Symlink | Op::Rename | Op::SetAttr);
    let lacks = may_lack && ios == 0 && by_errno.keys().copied().all(errno::is_unsupported);
    lacks.then_some(op)
}

/// The hosts that the plan is without, though they were asked for.
fn left_out(record: &Record) -> Option<Warning> {
    record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Hosts(AboutHosts::LeftOut { hosts, of }) => {
            let hosts = hosts.iter().map(|(name, _)| name.clone()).collect();
            Some(Warning::HostsLeftOut { hosts, of: *of })
        }
        _ => None,
    })
}

/// The events of earlier stages whose commands still ran when this one began.
fn events_running(record: &Record, stage: u32) -> Option<Warning> {
    let still =
        |one: &&Occurrence| one.kind == OccurrenceKind::StillRunning && one.stage == Some(stage);
    let mut events: Vec<String> =
        record.occurrences.iter().filter(still).map(|one| one.label.clone()).collect();
    events.sort_unstable();
    events.dedup();
    (!events.is_empty()).then_some(Warning::EventRunning { events })
}

/// The host that began latest, if that matters: by more than a tenth of an interval, its first one
/// holds too little.
fn start_skew(record: &Record, stage: &StageRecord) -> Option<Warning> {
    let latest = stage.starts.iter().max_by_key(|start| start.late_ns)?;
    let host = record.plan.hosts.get(latest.host as usize)?.hostname.clone();
    let matters = stage.starts.len() > 1 && latest.late_ns > record.plan.interval.0 / PARTS_OF_SKEW;
    matters.then_some(Warning::StartSkew { host, late: Nanos(latest.late_ns) })
}

/// Whether the clocks of the hosts were known too badly for a common instant.
fn clock_error(record: &Record, stage: &StageRecord) -> Option<Warning> {
    let worst = stage.starts.iter().max_by_key(|start| start.error_ns)?;
    let host = record.plan.hosts.get(worst.host as usize)?.hostname.clone();
    let matters = stage.starts.len() > 1 && worst.error_ns > record.plan.interval.0 / PARTS_OF_SKEW;
    matters.then_some(Warning::ClockError { host, error: Nanos(worst.error_ns) })
}

/// What was found when the layout was read after a point concerns what was written in it.
fn add_errors_of_pass(record: &Record, point: u32, by_errno: &mut BTreeMap<i32, u64>) {
    let is_pass = |stage: u32| {
        let planned = record.plan.stages.get(stage as usize);
        planned.is_some_and(|planned| {
            planned.kind == StageKind::Verify && planned.point == Some(point)
        })
    };
    for stage in record.stages.iter().filter(|stage| is_pass(stage.stage)) {
        let digest = stage.digest(record);
        for (errno, count) in digest.sums.parts.values().flat_map(|part| &part.errors) {
            let sum = by_errno.entry(*errno).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
}

/// What the agents had to do otherwise than planned.
fn refusals(record: &Record, stage: u32) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for note in record.notes.iter().filter(|note| note.stage.is_none_or(|number| number == stage)) {
        let warning = match note.kind() {
            NoteKind::DirectRefused => Warning::DirectRefused(note.fact.clone()),
            NoteKind::BackendFallback => Warning::BackendFallback(note.fact.clone()),
            NoteKind::CachesNotEmptied => Warning::CachesNotEmptied(note.fact.clone()),
            NoteKind::Unsettled => Warning::Unsettled(note.fact.clone()),
            _ => continue,
        };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

/// What was asked of the contents of blocks, if that makes them fewer for some storage.
fn reducible(record: &Record, stage: u32) -> Option<Warning> {
    let contents = record.plan.engine_of(stage)?.contents;
    let is_written = !record.plan.existing && !record.plan.backend.sends_nothing();
    let is_less = contents.compressible > Percent::ZERO || contents.duplicate > Percent::ZERO;
    let Contents { compressible, duplicate, .. } = contents;
    (is_written && is_less).then_some(Warning::Reducible { compressible, duplicate })
}

fn thin_quantiles(samples: u64) -> Option<Warning> {
    if samples == 0 {
        return None;
    }
    if samples < LEAST_SAMPLES {
        return Some(Warning::FewSamples { samples });
    }
    let beyond = |quantile: &Quantile| samples as f64 * (1.0 - quantile.share);
    // The shares are not exact in binary: 1,000 × (1 − 0.99) must count as 10.
    let thin = QUANTILES.iter().find(|quantile| beyond(quantile) + 1e-6 < LEAST_BEYOND)?;
    Some(Warning::ThinTail { quantile: thin.name, beyond: (beyond(thin) + 1e-6) as u64 })
}

fn skipped_stages(record: &Record, row: &ResultRow) -> Vec<Warning> {
    if record.plan.backend.sends_nothing() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let stages = &record.plan.stages;
    let is = |kind: StageKind, point: Option<u32>| {
        stages.iter().any(|stage| stage.kind == kind && stage.point == point)
    };
    let is_prepared = (0..).zip(stages).any(|(number, stage)| {
        stage.kind == StageKind::Prepare && is_same_layout(record, number, row.stage)
    });
    let is_written = is_prepared || record.plan.existing || written_before(record, row.stage);
    // What is simulated costs the same whether it was written or not.
    if !is_written && row.plans(Op::Read) && !record.plan.is_simulated() {
        found.push(Warning::NotPrepared);
    }
    // An amount is measured from its first request to its last on purpose; and every operation on a
    // tree finds what the one before it left.
    if !is(StageKind::Precondition, Some(row.point)) && row.done.is_none() {
        found.push(Warning::NotPreconditioned);
    }
    found
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

/// The fullest file system among the targets that files of ours went to.
fn little_space(record: &Record, stage: u32) -> Option<Warning> {
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    let shares = hosts.flat_map(|(host, facts)| {
        facts.targets.iter().filter_map(|facts| {
            // Those of the stage's own layout, and of others that stand at the same time.
            let stands = |number: usize| {
                let part = host.parts.iter().find(|part| part.targets.contains(&(number as u32)));
                part.is_none_or(|part| part.stands_at(stage))
            };
            let targets = host.targets.iter().enumerate();
            let here: Vec<usize> = targets
                .filter(|(number, planned)| planned.path == facts.path && stands(*number))
                .map(|(number, _)| number)
                .collect();
            here.first()?;
            let files =
                here.iter().flat_map(|number| &host.targets[*number].files).map(|file| file.size.0);
            let trees = host
                .trees
                .iter()
                .filter(|tree| here.contains(&(tree.target as usize)) && !tree.joined);
            let bytes = files.chain(trees.map(|tree| tree.space().0)).fold(0, u64::saturating_add);
            Some((facts.path.clone(), free_share(facts, bytes)?))
        })
    });
    let fullest = shares.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (fullest.1 < LEAST_FREE_SHARE)
        .then_some(Warning::LittleSpace { target: fullest.0, free: fullest.1 })
}

/// What is free of a target's file system once `layout` bytes of ours are in it. `None` for devices
/// and single files.
fn free_share(facts: &TargetFacts, layout: u64) -> Option<f64> {
    let used = match &facts.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used, .. }, .. } => used.0,
        TargetKind::Directory { .. } | TargetKind::Missing => 0,
        _ => return None,
    };
    // There are file systems that say they have 2^64 bytes.
    let free = facts.free.0.saturating_add(used).saturating_sub(layout);
    (facts.total.0 > 0).then(|| free as f64 / facts.total.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ops;
    use crate::state::RunState;
    use crate::testing::Recorded;
    use model::load::Rate;
    use model::{Bytes, Fact, Note};

    const READS: &str = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

    fn codes(recorded: &Recorded) -> Vec<&'static str> {
        results(&recorded.record())[0].warnings.iter().map(Warning::code).collect()
    }

    fn good(suite: &str) -> Recorded {
        let mut recorded = Recorded::new(suite);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100_000])]);
        recorded.end();
        recorded
    }

    #[test]
    fn a_file_system_of_all_bytes_that_there_are_is_not_full() {
        let mut recorded = good(READS);
        for target in recorded.record_mut().testbed.iter_mut().flat_map(|host| &mut host.targets) {
            (target.free, target.total) = (Bytes(u64::MAX), Bytes(u64::MAX));
            let state = DirectoryState::Claimed { used: Bytes::gib(1), run: String::new() };
            target.kind = TargetKind::Directory { root: target.path.clone(), state };
        }
        assert_eq!(codes(&recorded), [""; 0]);
    }

    #[test]
    fn a_good_run_has_no_warning() {
        assert_eq!(codes(&good(READS)), [""; 0]);
    }

    #[test]
    fn thin_samples_are_said_once() {
        assert_eq!(thin_quantiles(999), Some(Warning::FewSamples { samples: 999 }));
        assert_eq!(thin_quantiles(1_000), Some(Warning::ThinTail { quantile: "p99.9", beyond: 1 }));
        assert_eq!(
            thin_quantiles(10_000),
            Some(Warning::ThinTail { quantile: "p99.99", beyond: 1 })
        );
        assert_eq!(thin_quantiles(100_000), None);
    }

    #[test]
    fn contents_that_shrink_are_said() {
        let with = |contents: &str| {
            codes(&good(&READS.replace("[stages]", &format!("[contents]\n{contents}\n[stages]"))))
        };
        assert_eq!(with("compressible = \"30%\""), ["reducible-contents"]);
        assert_eq!(with("duplicate = \"30%\""), ["reducible-contents"]);
        assert_eq!(with("verify = true"), [""; 0]);
    }

    #[test]
    fn the_page_cache_in_between_is_said() {
        let buffered = good(&READS.replace("[stages]", "[engine]\ndirect = false\n[stages]"));
        assert_eq!(codes(&buffered), ["fits-in-memory"]);
        let mut refused = good(READS);
        refused.note(Note {
            stage: None,
            host: 0,
            fact: Fact::DirectRefused { path: "/tmp/x".to_owned() },
        });
        assert_eq!(codes(&refused), ["direct-refused", "fits-in-memory"]);
    }

    #[test]
    fn a_busy_worker_and_skipped_stages_are_said() {
        let mut recorded =
            good("[stages]\nprepare = false\nprecondition = 0\n[[workload]]\nname = \"w\"\n");
        recorded.busy(0.95);
        assert_eq!(codes(&recorded), ["worker-busy", "not-prepared", "not-preconditioned"]);
    }

    #[test]
    fn a_run_without_an_end_is_a_part() {
        let mut recorded = Recorded::new(READS);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100_000])]);
        let expected =
            Warning::Incomplete { how: RunState::Unfinished, measured: Nanos::seconds(1) };
        assert_eq!(results(&recorded.record())[0].warnings, [expected]);
    }

    #[test]
    fn clocks_that_are_known_too_badly_for_a_common_instant_are_said_and_so_is_a_late_start() {
        let codes = |late_ns: [u64; 2], error_ns: [u64; 2]| {
            let mut recorded = Recorded::with_hosts(READS, 2);
            let stage = recorded.stage(StageKind::Measure);
            for (host, second) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
                recorded.host_interval(stage, host, second, &[(Op::Read, &[100_000; 50_000])]);
            }
            recorded.end();
            let mut record = recorded.record();
            let starts = (0..).zip(late_ns.into_iter().zip(error_ns));
            let start = |(host, (late_ns, error_ns))| model::event::HostStart {
                stage,
                host,
                late_ns,
                error_ns,
            };
            record
                .stages
                .iter_mut()
                .for_each(|record| record.starts = starts.clone().map(start).collect());
            results(&record)[0].warnings.iter().map(Warning::code).collect::<Vec<_>>()
        };
        let tenth = 100_000_000;
        assert_eq!(codes([0, tenth], [tenth, 0]), [""; 0], "a tenth of an interval of 1 s");
        assert_eq!(codes([0, tenth + 1], [0, 0]), ["start-skew"]);
        assert_eq!(codes([0, 0], [tenth + 1, 0]), ["clock-error"]);
    }

    #[test]
    fn a_full_file_system_is_said() {
        let mut recorded = good(READS);
        recorded.free(Bytes::gib(20));
        assert_eq!(codes(&recorded), ["little-space"]);
    }

    #[test]
    fn damage_that_was_found_afterwards_is_said_of_the_writes() {
        let suite = "[contents]\nverify = \"after\"\n[[workload]]\nname = \"w\"\nread = 50\n";
        let mut recorded = good(suite);
        let measure = recorded.stage(StageKind::Measure);
        recorded.interval(measure, 1, &[(Op::Write, &[100; 100_000])]);
        let pass = recorded.stage(StageKind::Verify);
        assert_eq!(pass, measure + 1);
        recorded.interval(pass, 0, &[(Op::Read, &[100; 10])]);
        let mut record = recorded.record();
        let stage = record.stages.iter_mut().find(|stage| stage.stage == pass).expect("began");
        stage.samples_mut()[0].ops[0].errors = vec![(model::sample::VERIFY_STALE, 3)];
        let said = |op: Op| {
            let rows = results(&record);
            let row = rows.iter().find(|row| row.ops == Ops::One(op)).expect("a row");
            row.warnings.iter().find_map(|warning| match warning {
                Warning::Errors { by_errno, .. } => Some(by_errno.clone()),
                _ => None,
            })
        };
        assert_eq!(said(Op::Write), Some(BTreeMap::from([(model::sample::VERIFY_STALE, 3)])));
        assert_eq!(said(Op::Read), None, "reads of the load were good");
    }

    #[test]
    fn an_operation_that_the_target_has_not_is_told_from_one_that_failed() {
        let said = |op: Op, ios, numbers: &[i32]| {
            unsupported(
                op,
                ios,
                &numbers.iter().map(|number| (*number, 7)).collect::<BTreeMap<i32, u64>>(),
            )
        };
        assert_eq!(said(Op::Link, 0, &[1]), Some(Op::Link));
        assert_eq!(said(Op::Trim, 0, &[95, 38]), Some(Op::Trim));
        assert_eq!(said(Op::Link, 0, &[1, 28]), None, "there was no space, too");
        assert_eq!(said(Op::Link, 1, &[1]), None, "one was made");
        assert_eq!(said(Op::Read, 0, &[1]), None, "every target has it");
    }

    #[test]
    fn failed_requests_are_said_by_kind() {
        let mut recorded = good(READS);
        let stage = recorded.stage(StageKind::Measure);
        recorded.fail(stage, 0, Op::Read, 5, 7);
        let rows = results(&recorded.record());
        assert_eq!(
            rows[0].warnings,
            [Warning::Errors { by_errno: BTreeMap::from([(5, 7)]), unsupported: None }]
        );
        assert_eq!(rows[0].error_count(), 7);
    }

    #[test]
    fn a_rate_that_was_not_kept_is_said() {
        let suite = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\nread = \
                     \"50%\"\nrate = 100000\n";
        let mut recorded = Recorded::new(suite);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..3 {
            recorded.interval(
                stage,
                second,
                &[(Op::Read, &[100; 50_000]), (Op::Write, &[100; 48_000])],
            );
        }
        recorded.end();
        let rows = results(&recorded.record());
        let missed = rows[1].warnings.iter().find_map(|warning| match warning {
            Warning::RateMissed { done, .. } => Some(*done),
            _ => None,
        });
        assert!((missed.expect("said") - 0.98).abs() < 1e-9);
    }

    /// Whether a run at a rate of 1,000 requests a second is said to have missed it: what came back
    /// in each second, and what failed.
    fn is_missed(suite: &str, ios: &[usize], latency_ns: u64, failed: u64) -> bool {
        let mut recorded = Recorded::new(&format!(
            "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{suite}"
        ));
        let stage = recorded.stage(StageKind::Measure);
        for (second, ios) in (0..).zip(ios) {
            recorded.interval(stage, second, &[(Op::Read, &vec![latency_ns; *ios])]);
        }
        recorded.fail(stage, 0, Op::Read, 5, failed);
        recorded.end();
        codes(&recorded).contains(&"rate-missed")
    }

    #[test]
    fn what_is_under_way_at_the_end_what_failed_and_what_chance_did_is_no_missed_rate() {
        let mut ios = [1_000; 10];
        assert!(!is_missed("rate = 1000\n", &ios, 150_000_000, 0));
        // All requests take 150 ms: those of the last 150 ms are still under way.
        ios[0] = 850;
        assert!(!is_missed("rate = 1000\n", &ios, 150_000_000, 0));
        assert!(!is_missed("rate = \"4096000B/s\"\n", &ios, 150_000_000, 0));
        assert!(
            is_missed("rate = 1000\n", &[850; 10], 150_000_000, 0),
            "a hundred and fifty more in each second"
        );
        assert!(is_missed("rate = \"4096000B/s\"\n", &[850; 10], 150_000_000, 0));
        // Errors are told as errors.
        assert!(!is_missed("rate = 1000\n", &[970; 10], 10_000, 300));
        assert!(is_missed("rate = 1000\n", &[970; 10], 10_000, 30));
        // 100 of 10,000 are one standard deviation of strangers' arrivals.
        assert!(!is_missed("rate = 1000\narrivals = \"poisson\"\n", &[971; 10], 10_000, 0));
        assert!(is_missed("rate = 1000\n", &[971; 10], 10_000, 0));
        assert!(is_missed("rate = 1000\narrivals = \"poisson\"\n", &[955; 10], 10_000, 0));
    }

    #[test]
    fn what_was_asked_of_a_lost_host_is_not_missed() {
        let suite = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\nrate = 400\n";
        // The rate of three hosts of four, after the first second with the fourth or without it.
        let missed = |third: usize, lost_after: u32| {
            let mut recorded = Recorded::with_hosts(suite, 4);
            let stage = recorded.stage(StageKind::Measure);
            let note = Note {
                stage: Some(stage),
                host: 1,
                fact: Fact::HostLost { name: "h1".into(), why: "gone".into() },
            };
            recorded.record_mut().notes.push(note);
            for second in 0..10 {
                for host in (0..4).filter(|host| *host != 1 || second < lost_after) {
                    let ios = if host == 3 { third } else { 100 };
                    recorded.host_interval(stage, host, second, &[(Op::Read, &vec![100_000; ios])]);
                }
            }
            recorded.end();
            results(&recorded.record())[0].warnings.iter().find_map(|warning| match warning {
                Warning::RateMissed { asked, done, .. } => Some((*asked, (*done * 1e3).round())),
                _ => None,
            })
        };
        assert_eq!(missed(100, 0), None, "the three that were left kept theirs");
        assert_eq!(missed(100, 5), None, "of equal rows, the one with all of them");
        assert_eq!(missed(100, 3), None, "the three that were left kept theirs behind the loss");
        assert_eq!(
            missed(40, 3),
            Some((Rate::Iops { milli: 300_000 }, 800.0)),
            "of the rate of those that are behind the loss"
        );
        assert_eq!(
            missed(40, 0),
            Some((Rate::Iops { milli: 300_000 }, 800.0)),
            "of the rate of those that were left"
        );
        assert_eq!(missed(40, 5), Some((Rate::Iops { milli: 400_000 }, 850.0)));
    }

    #[test]
    fn a_stage_that_began_while_a_command_of_an_event_still_ran_says_so() {
        let mut recorded = good(READS);
        let stage = recorded.stage(StageKind::Measure);
        let still = |stage, label: &str| Occurrence {
            stage,
            ..Occurrence::new(OccurrenceKind::StillRunning, label)
        };
        let all = [
            still(Some(stage + 1), "other"),
            still(Some(stage), "move"),
            still(Some(stage), "drain"),
        ];
        recorded.record_mut().occurrences.extend(all);
        let rows = results(&recorded.record());
        assert_eq!(
            rows[0].warnings,
            [Warning::EventRunning { events: vec!["drain".into(), "move".into()] }]
        );
        recorded.record_mut().occurrences.truncate(1);
        assert_eq!(codes(&recorded), [""; 0]);
    }

    #[test]
    fn a_short_wait_in_short_intervals_is_no_stall() {
        let run = |longest: u64| {
            let mut recorded = Recorded::new(READS);
            let stage = recorded.stage(StageKind::Measure);
            for interval in 0..10 {
                let (ios, longest) =
                    if interval == 4 { (100, longest) } else { (1_000, 2_000_000) };
                let mut values = vec![1_000_000; ios];
                values.push(longest);
                recorded.interval(stage, interval, &[(Op::Read, &values)]);
            }
            for sample in recorded.record_mut().stages.iter_mut().flat_map(StageRecord::samples_mut)
            {
                (sample.start_ns, sample.length_ns) =
                    (u64::from(sample.interval) * 10_000_000, 10_000_000);
            }
            recorded.end();
            codes(&recorded).contains(&"stalled")
        };
        assert!(!run(17_000_000), "17 ms in intervals of 10 ms");
        assert!(run(170_000_000), "170 ms are one at any length");
    }

    #[test]
    fn a_stall_that_a_closed_loop_hides_is_said() {
        let run = |seconds: &[(usize, u64)]| {
            let mut recorded = Recorded::new(READS);
            let stage = recorded.stage(StageKind::Measure);
            for (second, (ios, longest)) in seconds.iter().enumerate() {
                let mut values = vec![100_000; *ios];
                values.push(*longest);
                recorded.interval(stage, second as u32, &[(Op::Read, &values)]);
            }
            recorded.end();
            codes(&recorded)
        };
        let steady = (30_000, 200_000);
        assert_eq!(
            run(&[steady, steady, (0, 100_000), (25_000, 1_200_000_000), steady, steady]),
            ["stalled"]
        );
        assert_eq!(
            run(&[steady, steady, (10_000, 300_000), steady, steady, steady]),
            [""; 0],
            "slow is not stalled"
        );
        let (queued, few) = ((20, 4_000_000_000), (8, 5_000_000_000));
        assert!(
            !run(&[queued, queued, few, queued, queued]).contains(&"stalled"),
            "deep queues are always slow"
        );
        assert_eq!(
            run(&[steady, steady, (29_000, 1_000_000_000), steady, steady]),
            [""; 0],
            "one straggler is no stall"
        );
    }
}
