//! Reasons to doubt a figure. Thresholds and their reasons stand in `docs/method`.

use super::degraded::{asked_of_those_left, degraded};
use super::preparation::{self, Past};
use super::{
    Seen, below, evenness, flushes, limited, other_runs, page_cache, placed, port_traffic,
    read_in_step, servers, standstill, surroundings, write_cache,
};
use crate::doubts::Warning;
use crate::estimate::Estimate;
use crate::estimate::confidence::confidence;
use crate::estimate::quantile::{QUANTILES, Quantile};
use crate::over_time::backlog::{Answered, Asked, Backlog};
use crate::over_time::offer::Offer;
use crate::rows::results::rows;
use crate::rows::row::ResultRow;
use crate::rows::state::run_state;
use crate::rows::tally::tally;
use crate::rows::told;
use model::digest::{Digest, Moment, Part};
use model::note::{AboutHosts, Carried};
use model::plan::{Contents, StageKind};
use model::record::StageRecord;
use model::testbed::{DirectoryState, TargetFacts, TargetKind};
use model::{Fact, Nanos, Note, NoteKind, Occurrence, OccurrenceKind, Op, Percent, Record, errno};
use std::collections::BTreeMap;

/// Fewer samples than this support no tail: the p99 then rests on fewer than ten.
const LEAST_SAMPLES: u64 = 1_000;
/// A quantile with fewer samples beyond it moves by more than a third from run to run by chance
/// alone.
const LEAST_BEYOND: f64 = 10.0;
/// The share of the kernel's threads in the CPU time from which they cost much: each request is
/// then at least half as dear again as without them.
const MUCH_OF_KERNEL: f64 = 1.0 / 3.0;
/// A worker that uses less of a core, its threads included, waits for the target.
const BUSY_ENOUGH: f64 = 0.5;
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
    let past = Past::of(record);
    let mut rows: Vec<ResultRow> =
        stages.flat_map(|stage| of_stage(record, stage, &past)).collect();
    write_cache::doubt_faster(record, &mut rows);
    rows.iter_mut().for_each(|row| row.warnings.sort_by_cached_key(Warning::rank));
    rows
}

/// The rows of one stage, which is looked at on its own: what it comes to need not be held together
/// with that of all others.
fn of_stage(record: &Record, stage: &StageRecord, past: &Past) -> Vec<ResultRow> {
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
        let seen = Seen { record, stage, digest: &digest, row };
        row.warnings = warnings(seen, past);
        row.warnings.extend(missed);
        row.warnings.extend(evenness::doubts(record, row, &tally));
        row.warnings.extend(limited::burst_spent(row, &tally.total, &row.warnings));
        row.warnings.extend(limited::throttled(row, &tally.total));
        row.settled = evenness::settled(row, &tally);
        // What is steady for more than a start needs no more conditioning.
        if row.settled == Some(true) && row.seconds >= below::LEAST_S {
            row.warnings.retain(|doubt| !matches!(doubt, Warning::NotPreconditioned));
        }
    }
    told::judge(record, stage, &digest, &mut rows);
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
fn warnings(seen: Seen<'_>, past: &Past) -> Vec<Warning> {
    let Seen { record, stage, digest, row } = seen;
    let mut found = Vec::new();
    if record.plan.is_simulated() {
        found.push(Warning::Simulated);
    }
    found.extend(servers::one_machine(&record.plan).map(|nodes| Warning::OneMachine { nodes }));
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
    found.extend(other_runs::doubt(record, stage.stage));
    found.extend(events_running(record, stage.stage));
    found.extend(start_skew(record, stage));
    found.extend(clock_error(record, stage));
    found.extend(refusals(record, stage.stage));
    found.extend(not_warm(record, stage.stage));
    if !row.is_commanded() {
        found.extend(of_requests(seen, past));
    }
    found.extend(below::doubts(seen));
    found.extend(little_space(record, row.stage));
    let flushes = flushes::flushes(seen);
    found.extend(write_cache::doubt(record, row, &flushes));
    found.extend(write_cache::of_flush(record, row, &flushes));
    found.extend(crate::layers::guests::doubts(record, row));
    found.extend(placed::doubts(seen));
    found.extend(servers::doubt(record, stage.stage));
    found.extend(surroundings::doubts(record, row));
    // Nothing in a simulation changes from hour to hour, and a note of the plan says how long it
    // was.
    let is_short_alone = record.plan.scale.size.is_one() && record.plan.is_simulated();
    if !record.plan.scale.is_full() && !is_short_alone {
        found.push(Warning::Scaled { scale: record.plan.scale });
    }
    found
}

/// The reasons that rest on requests of ours: how they were made and timed, and what was to be
/// there for them.
fn of_requests(seen: Seen<'_>, past: &Past) -> Vec<Warning> {
    let Seen { record, digest, row, .. } = seen;
    let mut found = Vec::new();
    found.extend(read_in_step::doubt(record, row));
    found.extend(page_cache::doubts(seen));
    found.extend(port_traffic::doubt(seen));
    found.extend(reducible(record, row.stage));
    // Metadata is plain calls, in which a worker does the file system's work itself: it is always
    // busy where nothing waits for a device.
    let may_idle = !row.is_metadata() && !record.plan.backend.sends_nothing();
    if row.cpu.busiest >= BUSY_WORKER && may_idle {
        found.push(Warning::WorkerBusy { share: row.cpu.busiest });
    }
    found.extend(kernel_carried(record, row));
    found.extend(standstill::doubts(seen));
    found.extend(thin_quantiles(row.ios));
    found.extend(preparation::skipped_stages(record, row));
    found.extend(preparation::too_short(record, digest, row, past));
    found.extend(preparation::not_purged(record, row));
    found.extend(preparation::holes(record, row));
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
            NoteKind::PageCache if is_left(&note.fact) => {
                Warning::CachesNotEmptied(note.fact.clone())
            }
            NoteKind::Unsettled => Warning::Unsettled(note.fact.clone()),
            _ => continue,
        };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

/// Whether the kernel's threads behind rings took a third of the CPU time or more, on any host, and
/// a worker with its own used half a core: with less, they only waited for the target, which any
/// other way would have done, too.
fn kernel_carried(record: &Record, row: &ResultRow) -> Option<Warning> {
    let share = |note: &Note| match note.fact {
        Fact::Carried(Carried { kernel, all }) if note.stage == Some(row.stage) => {
            Some(kernel.0 as f64 / all.0.max(1) as f64)
        }
        _ => None,
    };
    let share = record.notes.iter().filter_map(share).fold(0.0, f64::max);
    let costs = share >= MUCH_OF_KERNEL && row.cpu.busiest >= BUSY_ENOUGH;
    costs.then_some(Warning::KernelCarried { share })
}

/// Whether the page cache still had what it was to be without.
fn is_left(fact: &Fact) -> bool {
    matches!(fact, Fact::PageCache(what) if what.is_left())
}

/// The caches of the point were to be warm before `stage`, and never were.
fn not_warm(record: &Record, stage: u32) -> Option<Warning> {
    let planned = |number: u32| record.plan.stages.get(number as usize);
    let point = planned(stage)?.point?;
    let is_before = |number: u32| {
        planned(number).is_some_and(|before| {
            before.kind == StageKind::Precondition && before.point == Some(point)
        })
    };
    record.notes.iter().find_map(|note| match note.fact {
        Fact::Unsettled { after } if note.stage.is_some_and(is_before) => {
            Some(Warning::NotWarm { after })
        }
        _ => None,
    })
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
    // There are file systems that say they have 2^64 bytes. What is reserved is as free as the rest
    // to a file system that looks for room.
    let free = facts.free.0.saturating_add(facts.reserved.0).saturating_add(used);
    let free = free.saturating_sub(layout);
    (facts.total.0 > 0).then(|| free as f64 / facts.total.0 as f64)
}

#[cfg(test)]
#[path = "validity_tests.rs"]
mod tests;
