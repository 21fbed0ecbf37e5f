//! What holds for every run, whatever its suite.

use super::suites::Case;
use model::curve::Unit;
use model::load::Pace;
use model::plan::{Stop, Work, Worker};
use model::sample::IntervalSample;
use model::{Op, Phase, Record, RunEnd, StageEnd};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What is wrong with a run: the rule that is broken, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule, in a word.
    pub rule: &'static str,
    /// How, in words.
    pub how: String,
}

/// Whether a rule holds.
pub type Held = Result<(), Broken>;

/// Breaks a rule unless it holds.
pub fn hold(rule: &'static str, holds: bool, how: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(Broken { rule, how: how() }) }
}

/// Checks a run that ended, and its file at `path`.
pub fn check(case: &Case, path: &Path) -> Held {
    let read = |told: Result<Record, store::StoreError>| {
        told.map_err(|error| Broken { rule: "the run file is read", how: error.to_string() })
    };
    check_records(case, &read(store::read(path))?, &read(store::read_judged(path))?)
}

/// Checks a run as its samples tell it, and as it is told without them.
pub fn check_records(case: &Case, held: &Record, summed: &Record) -> Held {
    ends(held)?;
    for stage in &held.stages {
        for sample in stage.samples() {
            sums_of_workers(held, sample)?;
        }
        covers_time(held, stage.stage, stage.samples())?;
        does_its_amount(case, held, stage.stage, stage.samples())?;
        shares_are_kept(held, stage.stage, stage.samples())?;
    }
    every_due_request_is_told(held)?;
    no_error_without_cause(case, held)?;
    totals(held)?;
    file_and_memory_agree(held, summed)?;
    json(summed)
}

/// The run and each of its stages are complete, and nothing is left to do.
fn ends(record: &Record) -> Held {
    let end = record.end.as_ref().map(|(_, end)| end);
    hold("ends complete", end == Some(&RunEnd::Complete), || format!("{end:?}"))?;
    let open = record.stages.iter().find(|stage| stage.end != Some(StageEnd::Complete));
    hold("ends complete", open.is_none(), || {
        format!("stage {:?}", open.map(|stage| (stage.stage, &stage.end)))
    })?;
    let left = model::resume::left_over(record);
    hold("ends complete", left.is_empty(), || format!("stages {left:?} are left"))
}

/// Each worker's counts add up to those of its work; every request that succeeded has a latency.
fn sums_of_workers(record: &Record, sample: &IntervalSample) -> Held {
    let place =
        || format!("stage {} host {} interval {}", sample.stage, sample.host, sample.interval);
    let workers = &record.plan.hosts[sample.host as usize].stages[sample.stage as usize].workers;
    let mut sums: BTreeMap<(u32, Op), (u64, u64, u64)> = BTreeMap::new();
    for worker in &sample.workers {
        // A host without workers flushes the files of a shared layout, too, in the name of its
        // first one.
        let of_stage = workers.is_empty() && worker.worker == 0 && sample.phase == Phase::Drain;
        let work = workers
            .get(worker.worker as usize)
            .map(|planned| planned.work)
            .or(of_stage.then_some(0));
        let work = work.ok_or_else(|| Broken { rule: "workers are planned", how: place() })?;
        for op in &worker.ops {
            let sum = sums.entry((work, op.op)).or_default();
            *sum = (sum.0 + op.ios, sum.1 + op.bytes, sum.2 + op.errors);
        }
    }
    for op in &sample.ops {
        let (of_workers, total) = (
            sums.remove(&(op.work, op.op)).unwrap_or_default(),
            (op.ios, op.bytes, op.error_count()),
        );
        hold("workers add up", of_workers == total, || {
            format!("{}: {of_workers:?} and {total:?}", place())
        })?;
        let latencies = op.latency.decode().map(|latency| latency.count());
        hold("each request has a latency", latencies == Ok(op.ios), || {
            format!("{}: {latencies:?}", place())
        })?;
        let raw = op.raw_latencies.len() as u64;
        // What a stage flushes behind its load is no request of a worker, and comes without.
        let is_flushed = sample.phase == Phase::Drain && op.op == Op::Fsync;
        hold("raw latencies are whole", raw == 0 || raw == op.ios || is_flushed, || {
            format!("{}: {raw} of {}", place(), op.ios)
        })?;
    }
    hold("workers add up", sums.values().all(|sum| *sum == (0, 0, 0)), || {
        format!("{}: {sums:?} more", place())
    })
}

/// A host's intervals are numbered without a gap and follow one another, to the ns; its phases come
/// in order.
fn covers_time(record: &Record, stage: u32, samples: &[IntervalSample]) -> Held {
    let mut next: BTreeMap<u32, (u32, u64, Phase)> = BTreeMap::new();
    for sample in samples {
        let (number, start_ns, phase) =
            next.get(&sample.host).copied().unwrap_or((0, 0, Phase::Load));
        let is_next =
            sample.interval == number && sample.start_ns == start_ns && sample.phase >= phase;
        hold("intervals adjoin", is_next, || {
            let is = (sample.interval, sample.start_ns, sample.phase);
            format!(
                "stage {stage} host {}: {is:?} after {:?}",
                sample.host,
                (number, start_ns, phase)
            )
        })?;
        next.insert(sample.host, (number + 1, sample.start_ns + sample.length_ns, sample.phase));
    }
    let at_work = |host: &&model::HostPlan| !host.stages[stage as usize].workers.is_empty();
    let silent =
        record.plan.hosts.iter().filter(at_work).find(|host| !next.contains_key(&host.host));
    hold("each host reports", silent.is_none(), || {
        format!("stage {stage}: nothing of {:?}", silent.map(|h| h.host))
    })
}

/// A stage with an amount does it to the last request; without errors, to the last byte.
fn does_its_amount(case: &Case, record: &Record, stage: u32, samples: &[IntervalSample]) -> Held {
    let planned = &record.plan.stages[stage as usize];
    let is_cut = planned.stop().once().is_some_and(|once| once.stonewall);
    if planned.stop().time().is_some() || is_cut || is_sick(case) {
        return Ok(());
    }
    for host in &record.plan.hosts {
        let share = &host.stages[stage as usize];
        for (number, work) in (0..).zip(&share.works) {
            let workers = || share.workers.iter().filter(|worker| worker.work == number);
            let of_host = || {
                samples
                    .iter()
                    .filter(|sample| sample.host == host.host)
                    .flat_map(|sample| &sample.ops)
            };
            let done = || of_host().filter(|op| op.work == number && op.op != Op::Fsync);
            let place = || {
                format!("{} stage {stage} host {} work {number}", planned.kind.word(), host.host)
            };
            if work.metadata.is_some() {
                continue;
            }
            let wanted: u64 = workers().map(|worker| work.requests(worker)).sum();
            let ios: u64 = done().map(|op| op.ios).sum();
            hold("an amount is done", ios == wanted, || {
                format!("{}: {ios} of {wanted} requests", place())
            })?;
            if work.stop == Stop::Amount {
                let (bytes, wanted) =
                    (done().map(|op| op.bytes).sum::<u64>(), bytes_of(work, workers()));
                hold("every byte is touched", bytes == wanted, || {
                    format!("{}: {bytes} of {wanted}", place())
                })?;
            }
        }
    }
    Ok(())
}

/// On each host, works with shares sent requests by their shares, to within one.
fn shares_are_kept(record: &Record, stage: u32, samples: &[IntervalSample]) -> Held {
    let works = record.plan.stages.get(stage as usize).map_or(&[][..], |stage| &stage.works);
    let all: u64 = works.iter().map(|work| u64::from(work.share)).sum();
    let mut sent: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for sample in samples {
        for op in sample.ops.iter().filter(|op| op.op != Op::Fsync) {
            let count = op.ios + op.errors.iter().map(|(_, count)| count).sum::<u64>();
            *sent.entry(sample.host).or_default().entry(op.work).or_default() += count;
        }
    }
    for (host, sent) in sent {
        let of = |work: u32| sent.get(&work).copied().unwrap_or(0);
        let bound = || (0..).zip(works).filter(|(_, work)| work.share > 0);
        let total: u64 = bound().map(|(number, _)| of(number)).sum();
        for (number, work) in bound() {
            let (mine, wanted) = (of(number) * all, total * u64::from(work.share));
            hold("shares are kept", mine.abs_diff(wanted) < all, || {
                format!("stage {stage}, host {host}: {sent:?}")
            })?;
        }
    }
    Ok(())
}

/// At even arrivals of a rate that changes, as many requests are told as its integral has.
fn every_due_request_is_told(record: &Record) -> Held {
    for row in analysis::results(record).iter().filter(|row| row.is_of_workload()) {
        let Some(Pace::Changing { curve, poisson: false }) = row.work().map(|work| &work.pace)
        else {
            continue;
        };
        let time = row.work().and_then(|work| work.stop.time());
        let Some(time) = time.filter(|_| row.errors.is_empty() && curve.unit == Unit::MilliIops)
        else {
            continue;
        };
        let due = curve.parts_before(time.0).div_ceil(curve.unit.parts()) as u64;
        let told = row.ios + row.left.late.count() + row.left.never.count();
        hold("every due request is told", told == due, || {
            format!("{}: {told} of {due} by {curve}", row.workload)
        })?;
    }
    Ok(())
}

fn bytes_of<'a>(_work: &Work, workers: impl Iterator<Item = &'a Worker>) -> u64 {
    workers.flat_map(|worker| &worker.extents).map(|extent| extent.length).sum()
}

/// Whether some requests are made to fail.
pub fn is_sick(case: &Case) -> bool {
    case.target.contains("error=")
}

fn no_error_without_cause(case: &Case, record: &Record) -> Held {
    if is_sick(case) {
        return Ok(());
    }
    let ops = record
        .samples()
        .flat_map(|sample| sample.ops.iter().map(move |op| (sample.stage, sample.host, op)));
    for (stage, host, op) in ops {
        hold("no error without a cause", op.errors.is_empty(), || {
            let notes: Vec<&model::Fact> = record.notes.iter().map(|note| &note.fact).collect();
            format!("stage {stage} host {host} {}: {:?}; {notes:?}", op.op, op.errors)
        })?;
    }
    Ok(())
}

/// Requests, bytes and errors by kind of stage and operation, summed up by hand.
fn by_hand(record: &Record) -> BTreeMap<(u8, Op), (u64, u64, u64)> {
    let mut sums: BTreeMap<(u8, Op), (u64, u64, u64)> = BTreeMap::new();
    for sample in record.samples() {
        let kind = record.plan.stages[sample.stage as usize].kind;
        for op in &sample.ops {
            let sum = sums.entry((kind as u8, op.op)).or_default();
            *sum = (sum.0 + op.ios + op.error_count(), sum.1 + op.bytes, sum.2 + op.error_count());
        }
    }
    sums
}

/// What was issued, and each row of the results, is the sum of the samples.
fn totals(record: &Record) -> Held {
    let issued: BTreeMap<_, _> = analysis::issued(record)
        .into_iter()
        .map(|issued| ((issued.stage as u8, issued.op), (issued.ios, issued.bytes, issued.errors)))
        .collect();
    let sums = by_hand(record);
    hold("issued is the sum", issued == sums, || format!("{issued:?} and {sums:?}"))?;
    for row in analysis::results(record) {
        let stage = record.stage(row.stage).expect("a row of a stage that began");
        // Where a stage ends when it is steady, its figures are of the rounds that were.
        let digest = stage.digest(record);
        let is_counted = |sample: &&IntervalSample| {
            sample.phase.counts() && digest.frame.is_counted(sample.interval)
        };
        let counted = stage.samples().iter().filter(is_counted);
        let ops = counted.flat_map(|sample| &sample.ops).filter(|op| row.counts(op.work, op.op));
        let (mut sum, mut latency) = ((0, 0, 0), model::Histogram::new());
        for op in ops {
            sum = (sum.0 + op.ios, sum.1 + op.bytes, sum.2 + op.error_count());
            op.latency.decode().map(|part| latency.merge(&part)).unwrap_or_default();
        }
        let left = row.left.all();
        if row.counts_what_was_due() {
            latency.merge(&left);
        } else {
            // What stands still at the end of a closed loop counts with its age.
            let least_ns = latency.max_ns().unwrap_or(0).max(100_000_000);
            let most_ns = left.max_ns().unwrap_or(0);
            let older = left.buckets().filter(|(low_ns, ..)| *low_ns > least_ns);
            older.for_each(|(_, high_ns, n)| latency.record_many(high_ns.min(most_ns), n));
        }
        let told = (row.ios, row.bytes, row.error_count());
        hold("a row is the sum", told == sum, || {
            format!("stage {} {}: {told:?} and {sum:?}", row.stage, row.ops.name())
        })?;
        hold("quantiles are merged", row.latency == latency, || {
            format!("stage {} {}", row.stage, row.ops.name())
        })?;
    }
    Ok(())
}

/// The file gives the same figures whether its samples are held or added up, to the bit.
fn file_and_memory_agree(held: &Record, summed: &Record) -> Held {
    for (stage, digest) in held.stages.iter().zip(&summed.stages) {
        let same = digest.summed() == Some(&*stage.digest(held));
        hold("sums are those of the samples", same, || format!("stage {}", stage.stage))?;
    }
    let (one, other) = (analysis::results(held), analysis::results(summed));
    hold("results are the same", one == other, || format!("{} and {} rows", one.len(), other.len()))
}

/// What is printed for machines has the same figures, and the parts of each result add up.
fn json(record: &Record) -> Held {
    let json = report::surfaces::json::results(record, None);
    let rows = analysis::results(record);
    let told: Vec<&Value> = json["results"].as_array().into_iter().flatten().collect();
    hold("JSON has each row", told.len() == rows.len(), || {
        format!("{} of {}", told.len(), rows.len())
    })?;
    for (told, row) in told.into_iter().zip(&rows) {
        let figures = (told["ios"].as_u64(), told["bytes"].as_u64(), told["errors"].as_u64());
        let wanted = (Some(row.ios), Some(row.bytes), Some(row.error_count()));
        hold("JSON says the same", figures == wanted, || format!("{figures:?} and {wanted:?}"))?;
        let of_hosts = told["hosts"]
            .as_array()
            .map(|hosts| hosts.iter().filter_map(|host| host["ios"].as_u64()).sum());
        let is_split = told["hosts"].as_array().is_some_and(|hosts| !hosts.is_empty());
        hold("hosts add up", !is_split || of_hosts == Some(row.ios), || {
            format!("{of_hosts:?} and {}", row.ios)
        })?;
    }
    for issued in analysis::issued(record) {
        let is_it =
            |told: &&Value| told["stage"] == issued.stage.word() && told["op"] == issued.op.name();
        let told = json["issued"].as_array().into_iter().flatten().find(is_it);
        let figures = told
            .map(|told| (told["ios"].as_u64(), told["bytes"].as_u64(), told["errors"].as_u64()));
        let wanted = Some((Some(issued.ios), Some(issued.bytes), Some(issued.errors)));
        hold("JSON says the same", figures == wanted, || format!("{figures:?} and {wanted:?}"))?;
    }
    Ok(())
}
