//! Which evidence a doubt rests on: counters, samples, facts of the hosts, notes, the flush behind
//! the load, or the plan; each with its figure.

use crate::warning::{Misplaced, Warning};
use model::{Bytes, Nanos, NoteKind, Op};

model::plain_words! {
    /// Where evidence comes from.
    pub enum Source {
        /// The plan of the run.
        Plan = "plan",
        /// The samples of the workers.
        Samples = "samples",
        /// What the kernels of the hosts counted.
        Counters = "counters",
        /// What the hosts, devices and file systems are, as the probe read it before the run.
        Facts = "facts",
        /// What agents noted while the run went on.
        Notes = "notes",
        /// The flush behind the load.
        Flush = "flush",
        /// A described testbed.
        Testbed = "testbed",
    }
}

/// A figure or a word of evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A number of things.
    Count(u64),
    /// A plain number: a share, a rate.
    Number(f64),
    /// A time in ns.
    Time(Nanos),
    /// An amount.
    Size(Bytes),
    /// A name, or a word of the kernel's.
    Word(String),
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Where it comes from.
    pub source: Source,
    /// What it is: a stable word.
    pub what: &'static str,
    /// How much, or which.
    pub datum: Datum,
}

fn proof(source: Source, what: &'static str, datum: Datum) -> Proof {
    Proof { source, what, datum }
}

fn words(source: Source, what: &'static str, words: &[String]) -> Vec<Proof> {
    words.iter().map(|word| proof(source, what, Datum::Word(word.clone()))).collect()
}

fn word(source: Source, what: &'static str, word: &str) -> Proof {
    proof(source, what, Datum::Word(word.to_owned()))
}

fn number(source: Source, what: &'static str, number: f64) -> Proof {
    proof(source, what, Datum::Number(number))
}

fn count(source: Source, what: &'static str, count: u64) -> Proof {
    proof(source, what, Datum::Count(count))
}

fn time(source: Source, what: &'static str, time: Nanos) -> Proof {
    proof(source, what, Datum::Time(time))
}

fn operation(op: Op) -> Proof {
    word(Source::Plan, "op", op.name())
}

/// The evidence behind a doubt; never empty.
pub fn proofs(doubt: &Warning) -> Vec<Proof> {
    of_storage(doubt)
        .or_else(|| of_surroundings(doubt))
        .or_else(|| of_time(doubt))
        .unwrap_or_else(|| of_run(doubt))
}

fn misplaced(what: &Misplaced) -> Vec<Proof> {
    use Source::{Counters, Notes, Plan};
    match what {
        Misplaced::Machines { node, machines } => {
            let mut all = vec![word(Plan, "node", node)];
            all.extend(words(Notes, "astray", machines));
            all
        }
        Misplaced::OwnNode { hosts, received } => {
            let mut all = words(Plan, "host", hosts);
            all.push(number(Counters, "received_share", *received));
            all
        }
        Misplaced::OtherNode { hosts, own_disks, received } => {
            let mut all = words(Plan, "host", hosts);
            all.push(number(Counters, "own_disks_share", *own_disks));
            all.push(number(Counters, "received_share", *received));
            all
        }
        Misplaced::OtherSite { op, planned, found } => vec![
            operation(*op),
            number(Plan, "planned_share", *planned),
            number(Notes, "other_site_share", *found),
        ],
    }
}

/// Of doubts about caches and devices.
fn of_storage(doubt: &Warning) -> Option<Vec<Proof>> {
    use Source::{Counters, Facts, Flush, Notes, Plan, Samples, Testbed};
    Some(match doubt {
        Warning::Cached { footprint, memory } => vec![
            proof(Plan, "footprint", Datum::Size(*footprint)),
            proof(Facts, "memory", Datum::Size(*memory)),
        ],
        Warning::ReadFromMemory { share } => vec![number(Notes, "share_from_memory", *share)],
        Warning::NotCarried { op, share } => {
            vec![operation(*op), number(Counters, "share_carried", *share)]
        }
        Warning::VolatileCache { devices } => words(Facts, "write_back_device", devices),
        Warning::FlushOwed { flush, share } => {
            vec![time(Flush, "flush_ns", *flush), number(Flush, "durable_share", *share)]
        }
        Warning::FlushBroken { target, errno, took } => vec![
            word(Flush, "target", target),
            count(Flush, "errno", errno.unsigned_abs().into()),
            time(Flush, "took_ns", *took),
        ],
        Warning::FlushInstant { devices, took, fastest } => {
            let mut all = words(Facts, "write_back_device", devices);
            all.push(time(Flush, "took_ns", *took));
            all.push(time(Samples, "fastest_write_ns", *fastest));
            all
        }
        Warning::WritesFaster { devices, times } => {
            let mut all = words(Facts, "write_back_device", devices);
            all.push(number(Samples, "times_the_reads", *times));
            all
        }
        Warning::LessAtDevice { op, share } | Warning::MoreAtDevice { op, share } => {
            vec![operation(*op), number(Counters, "device_bytes_share", *share)]
        }
        Warning::OtherIo { op, bytes_per_s } => {
            vec![operation(*op), number(Counters, "device_bytes_per_s", *bytes_per_s)]
        }
        Warning::Merged { op, share } => {
            vec![operation(*op), number(Counters, "device_requests_share", *share)]
        }
        Warning::Throttled { iops, bytes_per_s, spread } => vec![
            number(Samples, "iops", *iops),
            number(Samples, "bytes_per_s", *bytes_per_s),
            number(Samples, "deviation", *spread),
        ],
        Warning::BurstSpent { at, moved, share } => vec![
            time(Samples, "at_ns", *at),
            proof(Samples, "moved_before", Datum::Size(*moved)),
            number(Samples, "level_after", *share),
        ],
        Warning::LittleSpace { target, free } => {
            vec![word(Facts, "target", target), number(Facts, "free_share", *free)]
        }
        Warning::AboveCeiling { share, layer } => {
            vec![number(Testbed, "share_of_ceiling", *share), word(Testbed, "layer", layer.code())]
        }
        _ => return None,
    })
}

/// Of doubts about how hosts are set up.
fn of_surroundings(doubt: &Warning) -> Option<Vec<Proof>> {
    use Source::{Counters, Facts, Notes, Plan, Samples};
    Some(match doubt {
        Warning::Stolen { host, share } => {
            vec![word(Counters, "host", host), number(Counters, "steal_share", *share)]
        }
        Warning::GuestsWaited { node, share } => {
            vec![word(Counters, "node", node), number(Counters, "waited_share", *share)]
        }
        Warning::HostCache { mode, from_disks } => {
            let mut all = vec![word(Notes, "disk_cache", mode.word())];
            all.extend(from_disks.map(|share| number(Counters, "share_from_disks", share)));
            all
        }
        Warning::Misplaced(what) => misplaced(what),
        Warning::IoLimited { host, limit } => {
            vec![word(Facts, "host", host), word(Facts, "io_max", limit)]
        }
        Warning::QueueShort { device, asked, takes } => vec![
            word(Facts, "device", device),
            count(Plan, "outstanding", *asked),
            count(Facts, "queue_takes", *takes),
        ],
        Warning::BarriersOff { mount, option } => {
            vec![word(Facts, "mount", mount), word(Facts, "option", option)]
        }
        Warning::ArrayDegraded { device, missing } => vec![
            word(Facts, "device", device),
            count(Facts, "missing_members", u64::from(*missing)),
        ],
        Warning::ArrayBusy { device, action } => {
            vec![word(Facts, "device", device), word(Facts, "sync_action", action)]
        }
        Warning::LinkNarrow { device, now, best } => vec![
            word(Facts, "device", device),
            word(Facts, "link_now", now),
            word(Facts, "link_best", best),
        ],
        Warning::ClockSource { host, source } => {
            vec![word(Facts, "host", host), word(Facts, "clock_source", source)]
        }
        Warning::HostSaturated { hosts, share, own } => {
            let mut all = words(Counters, "host", hosts);
            all.push(number(Counters, "saturated_share", *share));
            all.push(number(Samples, "workers_share", *own));
            all
        }
        Warning::WorkerBusy { share } => vec![number(Samples, "worker_cpu_share", *share)],
        _ => return None,
    })
}

/// Of doubts about how a load went over time and over those who shared it.
fn of_time(doubt: &Warning) -> Option<Vec<Proof>> {
    use Source::{Notes, Plan, Samples};
    Some(match doubt {
        Warning::RateMissed { done, piled_up, .. } => {
            vec![number(Samples, "share_done", *done), count(Samples, "piled_up", *piled_up)]
        }
        Warning::Stalled { longest, intervals } => vec![
            time(Samples, "longest_ns", *longest),
            count(Samples, "slow_intervals", u64::from(*intervals)),
        ],
        Warning::GeneratorPaused { host, longest, times } => vec![
            word(Samples, "host", host),
            time(Samples, "longest_ns", *longest),
            count(Samples, "times", u64::from(*times)),
        ],
        Warning::WarmUp { length, share } => {
            vec![time(Samples, "length_ns", *length), number(Samples, "level", *share)]
        }
        Warning::Changed { times, at, share, .. } => vec![
            time(Samples, "at_ns", *at),
            number(Samples, "level_after", *share),
            count(Samples, "times", u64::from(*times)),
        ],
        Warning::NotSteady { range, slope } => {
            vec![number(Samples, "range", *range), number(Samples, "slope", *slope)]
        }
        Warning::UnfairWorkers { short, of, least } => vec![
            count(Samples, "short", u64::from(*short)),
            count(Samples, "of", u64::from(*of)),
            number(Samples, "least", *least),
        ],
        Warning::UnequalHosts { short, of, stragglers } => {
            let names: Vec<String> = stragglers.iter().map(|one| one.host.clone()).collect();
            let mut all = words(Samples, "host", &names);
            all.push(count(Samples, "short", u64::from(*short)));
            all.push(count(Samples, "of", u64::from(*of)));
            all
        }
        Warning::LittleBroken { found, most } => {
            vec![number(Samples, "outstanding", *found), number(Plan, "most", *most)]
        }
        Warning::StartSkew { host, late } => {
            vec![word(Notes, "host", host), time(Notes, "late_ns", *late)]
        }
        Warning::ClockError { host, error } => {
            vec![word(Notes, "host", host), time(Notes, "error_ns", *error)]
        }
        Warning::FewSamples { samples } => vec![count(Samples, "samples", *samples)],
        Warning::ThinTail { quantile, beyond } => {
            vec![word(Samples, "quantile", quantile), count(Samples, "beyond", *beyond)]
        }
        _ => return None,
    })
}

/// Of doubts about how the run was made.
fn of_run(doubt: &Warning) -> Vec<Proof> {
    use Source::{Notes, Plan, Samples};
    match doubt {
        Warning::DirectRefused(fact)
        | Warning::BackendFallback(fact)
        | Warning::Unsettled(fact)
        | Warning::CachesNotEmptied(fact) => vec![word(Notes, "note", fact.kind().word())],
        Warning::NotWarm { .. } => vec![word(Notes, "note", NoteKind::Unsettled.word())],
        Warning::HostLost { hosts, .. } => words(Notes, "host", hosts),
        Warning::HostsLeftOut { hosts, of } => {
            let mut proof = words(Plan, "host", hosts);
            proof.push(count(Plan, "hosts-asked-for", *of));
            proof
        }
        Warning::OtherRuns { hosts, runs } => {
            let runs: Vec<String> = runs.iter().map(|other| other.run.clone()).collect();
            [words(Notes, "host", hosts), words(Notes, "run", &runs)].concat()
        }
        Warning::EventRunning { events } => words(Notes, "event", events),
        Warning::Errors { by_errno, .. } => {
            let of = |(number, times): (&i32, &u64)| {
                let name = model::errno::name_of(*number);
                [word(Samples, "errno", &name), count(Samples, "requests", *times)]
            };
            by_errno.iter().flat_map(of).collect()
        }
        Warning::Reducible { compressible, duplicate } => vec![
            number(Plan, "compressible", f64::from(compressible.ppm) / 1e6),
            number(Plan, "duplicate", f64::from(duplicate.ppm) / 1e6),
        ],
        Warning::Incomplete { measured, .. } => vec![time(Samples, "measured_ns", *measured)],
        Warning::Scaled { scale } => vec![word(Plan, "scale", &scale.to_string())],
        Warning::NothingCompleted => vec![count(Samples, "samples", 0)],
        Warning::NotPrepared => vec![word(Plan, "stage", "prepare")],
        Warning::NotPreconditioned => vec![word(Plan, "stage", "precondition")],
        Warning::ShortPreparation { device, overwritten, part, .. } => {
            let mut proof =
                vec![word(Plan, "device", device), number(Samples, "overwritten", *overwritten)];
            proof.extend(part.map(|part| number(Plan, "part", part)));
            proof
        }
        Warning::NotPurged { device } => vec![word(Plan, "device", device)],
        Warning::Simulated => vec![word(Plan, "target", "simulated")],
        other => vec![word(Plan, "doubt", other.code())],
    }
}
