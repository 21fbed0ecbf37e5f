//! Every doubt as one row: its code, what it is of, what it costs the verdict, and its evidence.
//! The gravest is first, and so are doubts shown.

use super::evidence::Source::{Counters, Facts, Flush, Notes, Plan, Samples, Testbed};
use super::evidence::{Proof, errors, of};
use super::{Misplaced, Warning};
use Gravity::{Harmless, Voids, Weakens};
use Sort::{Figure, Run, Target};
use Warning as W;

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// What a doubt is of.
    pub enum Sort {
        /// It spoils the figure that it stands beside.
        Figure = "figure",
        /// It is a limit of this run, which a longer or more careful one lifts.
        Run = "run",
        /// It is a property of the target, which every run on it shares.
        Target = "target",
    }
}

/// What a doubt costs the verdict of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gravity {
    /// The figure is no measurement.
    Voids,
    /// The figure is indicative.
    Weakens,
    /// Nothing.
    Harmless,
}

/// A doubt, for those who need not know which.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// A stable word for machines.
    pub code: &'static str,
    /// What it is of.
    pub sort: Sort,
    /// What it costs the verdict.
    pub gravity: Gravity,
    /// What it rests on; never empty.
    pub proof: Vec<Proof>,
}

macro_rules! rows {
    ($($doubt:pat => $code:literal, $sort:ident, $gravity:expr, [$($proof:expr),+];)*) => {
        /// The codes of all doubts, the gravest first. One that has several forms is there as
        /// often.
        pub const CODES: &[&str] = &[$($code),*];

        impl Warning {
            /// The doubt's row.
            pub fn row(&self) -> Row {
                match self {
                    $($doubt => Row {
                        code: $code,
                        sort: $sort,
                        gravity: $gravity,
                        proof: [$($proof),+].concat(),
                    },)*
                }
            }
        }
    };
}

impl Warning {
    /// A stable word for machines.
    pub fn code(&self) -> &'static str {
        self.row().code
    }

    /// Its place in the order of gravity: the gravest has the least.
    pub fn rank(&self) -> usize {
        let code = self.code();
        CODES.iter().position(|known| *known == code).unwrap_or(CODES.len())
    }
}

rows! {
    // Who or what was measured.
    W::ToldOtherwise { tool, told, seen, .. } => "told-otherwise", Figure, Weakens,
        [of(Notes, "tool", tool), of(Notes, "told_per_s", told),
         of(Counters, "seen_per_s", seen)];
    W::NothingCompleted => "nothing-completed", Figure, Voids, [of(Samples, "samples", &0_u64)];
    W::Incomplete { measured, .. } => "incomplete", Figure, Weakens,
        [of(Samples, "measured_ns", measured)];
    W::HostLost { hosts, .. } => "host-lost", Figure, Weakens, [of(Notes, "host", hosts)];
    W::HostsLeftOut { hosts, of: all } => "hosts-left-out", Figure, Weakens,
        [of(Plan, "host", hosts), of(Plan, "hosts-asked-for", all)];
    W::OtherRuns { hosts, runs } => "other-run", Figure, Weakens,
        [of(Notes, "host", hosts), of(Notes, "run", runs)];
    W::EventRunning { events } => "event-running", Figure, Weakens, [of(Notes, "event", events)];
    W::Misplaced(Misplaced::Machines { node, machines }) => "misplaced", Figure, Weakens,
        [of(Plan, "node", node), of(Notes, "astray", machines)];
    W::Misplaced(Misplaced::OwnNode { hosts, received }) => "misplaced", Figure, Weakens,
        [of(Plan, "host", hosts), of(Counters, "received_share", received)];
    W::Misplaced(Misplaced::OtherNode { hosts, own_disks, received }) => "misplaced", Figure,
        Weakens,
        [of(Plan, "host", hosts), of(Counters, "own_disks_share", own_disks),
         of(Counters, "received_share", received)];
    W::Misplaced(Misplaced::OtherSite { op, planned, found }) => "misplaced", Figure, Weakens,
        [of(Plan, "op", op), of(Plan, "planned_share", planned),
         of(Notes, "other_site_share", found)];
    W::AboveCeiling { share, layer } => "above-ceiling", Figure, Voids,
        [of(Testbed, "share_of_ceiling", share), of(Testbed, "layer", layer)];
    W::LittleBroken { found, most } => "little-broken", Figure, Voids,
        [of(Samples, "outstanding", found), of(Plan, "most", most)];
    W::NotPrepared => "not-prepared", Figure, Voids, [of(Plan, "stage", "prepare")];
    W::Holes { device, share } => "holes", Figure, Weakens,
        [of(Facts, "device", device), of(Facts, "holes_share", share)];
    W::NotCarried { op, share } => "not-carried", Figure, Voids,
        [of(Plan, "op", op), of(Counters, "share_carried", share)];
    W::LessAtDevice { op, share } => "less-at-device", Figure, Voids,
        [of(Plan, "op", op), of(Counters, "device_bytes_share", share)];
    W::ReadFromMemory { share } => "read-from-memory", Figure,
        if *share >= 0.5 { Voids } else { Weakens },
        [of(Notes, "share_from_memory", share)];
    W::Cached { footprint, memory, .. } => "fits-in-memory", Figure, Weakens,
        [of(Plan, "footprint", footprint), of(Facts, "memory", memory)];
    W::ReadInStep { readers, distinct } => "read-in-step", Figure, Weakens,
        [of(Plan, "readers", readers), of(Plan, "distinct", distinct)];
    W::DirectRefused(fact) => "direct-refused", Figure, Weakens, [of(Notes, "note", fact)];
    W::CachesNotEmptied(fact) => "caches-not-emptied", Figure, Weakens, [of(Notes, "note", fact)];
    W::BackendFallback(fact) => "backend-fallback", Figure, Weakens, [of(Notes, "note", fact)];
    W::MoreAtDevice { op, share } => "more-at-device", Figure, Weakens,
        [of(Plan, "op", op), of(Counters, "device_bytes_share", share)];
    W::OtherIo { op, bytes_per_s } => "other-io", Figure, Weakens,
        [of(Plan, "op", op), of(Counters, "device_bytes_per_s", bytes_per_s)];
    W::ArrayBusy { device, action } => "array-busy", Figure, Weakens,
        [of(Facts, "device", device), of(Facts, "sync_action", action)];
    // Stalls and errors.
    W::Stalled { longest, intervals } => "stalled", Figure, Weakens,
        [of(Samples, "longest_ns", longest), of(Samples, "slow_intervals", intervals)];
    W::StalledOften { longest, waits, share } => "stalled", Figure, Weakens,
        [of(Samples, "longest_ns", longest), of(Samples, "long_waits", waits),
         of(Samples, "stalled_share", share)];
    W::GeneratorPaused { host, longest, times } => "generator-paused", Figure, Weakens,
        [of(Samples, "host", host), of(Samples, "longest_ns", longest),
         of(Samples, "times", times)];
    W::Errors { by_errno, .. } => "errors", Figure, Weakens, [errors(by_errno)];
    W::FlushBroken { target, errno, took } => "flush-broken", Figure, Weakens,
        [of(Flush, "target", target), of(Flush, "errno", errno), of(Flush, "took_ns", took)];
    // What was at its limit.
    W::RateMissed { done, piled_up, .. } => "rate-missed", Figure, Weakens,
        [of(Samples, "share_done", done), of(Samples, "piled_up", piled_up)];
    W::QuotaThrottled { host, share } => "quota-throttled", Figure, Weakens,
        [of(Counters, "host", host), of(Counters, "throttled_periods_share", share)];
    W::HostSaturated { hosts, share, own } => "host-saturated", Figure, Weakens,
        [of(Counters, "host", hosts), of(Counters, "saturated_share", share),
         of(Samples, "workers_share", own)];
    W::WorkerBusy { share } => "worker-busy", Figure, Weakens,
        [of(Samples, "worker_cpu_share", share)];
    W::KernelCarried { share } => "kernel-carried", Figure, Harmless,
        [of(Notes, "kernel_cpu_share", share)];
    W::Stolen { host, share } => "stolen", Figure, Weakens,
        [of(Counters, "host", host), of(Counters, "steal_share", share)];
    W::GuestsWaited { node, share } => "guests-waited", Figure, Weakens,
        [of(Counters, "node", node), of(Counters, "waited_share", share)];
    W::Throttled { iops, bytes_per_s, spread } => "throttled", Figure, Weakens,
        [of(Samples, "iops", iops), of(Samples, "bytes_per_s", bytes_per_s),
         of(Samples, "deviation", spread)];
    W::IoLimited { host, limit } => "io-limited", Figure, Weakens,
        [of(Facts, "host", host), of(Facts, "io_max", limit)];
    W::BurstSpent { at, moved, share } => "burst-spent", Figure, Weakens,
        [of(Samples, "at_ns", at), of(Samples, "moved_before", moved),
         of(Samples, "level_after", share)];
    // Not one level, over time or over those who shared the load.
    W::UnequalHosts { short, of: all, stragglers } => "unequal-hosts", Figure, Weakens,
        [of(Samples, "host", stragglers), of(Samples, "short", short), of(Samples, "of", all)];
    W::UnfairWorkers { short, of: all, least } => "unfair-workers", Figure, Weakens,
        [of(Samples, "short", short), of(Samples, "of", all), of(Samples, "least", least)];
    W::Changed { times, at, share, .. } => "level-changed", Figure, Weakens,
        [of(Samples, "at_ns", at), of(Samples, "level_after", share),
         of(Samples, "times", times)];
    W::WarmUp { length, share, .. } => "warm-up", Figure, Weakens,
        [of(Samples, "length_ns", length), of(Samples, "level", share)];
    W::Unsettled(fact) => "unsettled", Figure, Weakens, [of(Notes, "note", fact)];
    W::NotSteady { range, slope, .. } => "not-steady", Figure, Weakens,
        [of(Samples, "range", range), of(Samples, "slope", slope)];
    W::NotWarm { .. } => "not-warm", Figure, Weakens, [of(Notes, "note", "unsettled")];
    W::StartSkew { host, late } => "start-skew", Figure, Weakens,
        [of(Notes, "host", host), of(Notes, "late_ns", late)];
    W::ClockError { host, error } => "clock-error", Figure, Weakens,
        [of(Notes, "host", host), of(Notes, "error_ns", error)];
    W::QueueShort { device, asked, takes } => "queue-short", Figure, Weakens,
        [of(Facts, "device", device), of(Plan, "outstanding", asked),
         of(Facts, "queue_takes", takes)];
    W::Merged { op, share } => "merged", Figure, Weakens,
        [of(Plan, "op", op), of(Counters, "device_requests_share", share)];
    // Limits of the run.
    W::Scaled { scale } => "scaled", Run, Voids, [of(Plan, "scale", scale)];
    W::FewSamples { samples } => "few-samples", Run, Weakens, [of(Samples, "samples", samples)];
    W::ThinTail { quantile, beyond } => "thin-tail", Run,
        // No table has the p99.99.
        if *quantile == "p99.99" { Harmless } else { Weakens },
        [of(Samples, "quantile", quantile), of(Samples, "beyond", beyond)];
    W::NotPreconditioned => "not-preconditioned", Run, Weakens, [of(Plan, "stage", "precondition")];
    W::ShortPreparation { device, overwritten, part, .. } => "short-preparation", Run, Weakens,
        [of(Plan, "device", device), of(Samples, "overwritten", overwritten),
         of(Plan, "part", part)];
    W::NotPurged { device } => "not-purged", Run, Weakens, [of(Plan, "device", device)];
    W::Reducible { compressible, duplicate } => "reducible-contents", Run, Weakens,
        [of(Plan, "compressible", compressible), of(Plan, "duplicate", duplicate)];
    // Properties of the target.
    W::Simulated => "simulated", Target, Voids, [of(Plan, "target", "simulated")];
    W::OneMachine { nodes } => "one-machine", Target, Voids, [of(Plan, "nodes", nodes)];
    W::HostCache { mode, from_disks } => "host-cache", Target, Weakens,
        [of(Notes, "disk_cache", mode), of(Counters, "share_from_disks", from_disks)];
    W::BarriersOff { mount, option } => "barriers-off", Target, Weakens,
        [of(Facts, "mount", mount), of(Facts, "option", option)];
    W::FlushInstant { flushed, took, least } => "flush-instant", Target, Weakens,
        [of(Facts, "flushed", flushed), of(Flush, "took_ns", took),
         of(Facts, "least_ns", least)];
    W::FlushLost { share } => "flush-lost", Target, Weakens,
        [of(Counters, "flushes_per_fsync", share)];
    W::FlushOwed { flush, share, written } => "flush-owed", Target, Weakens,
        [of(Flush, "flush_ns", flush), of(Flush, "durable_share", share),
         of(Counters, "written_share", written)];
    W::WritesFaster { devices, times } => "writes-faster-than-reads", Target, Weakens,
        [of(Facts, "write_back_device", devices), of(Samples, "times_the_reads", times)];
    W::VolatileCache { devices } => "volatile-cache", Target, Weakens,
        [of(Facts, "write_back_device", devices)];
    W::ClusterDegraded { storage, down, of: all } => "cluster-degraded", Target, Weakens,
        [of(Notes, "storage", storage), of(Notes, "down", down), of(Notes, "bricks", all)];
    W::ClusterHealing { storage, entries } => "cluster-healing", Target, Weakens,
        [of(Notes, "storage", storage), of(Notes, "objects", entries)];
    W::ArrayDegraded { device, missing } => "array-degraded", Target, Weakens,
        [of(Facts, "device", device), of(Facts, "missing_members", missing)];
    W::LinkNarrow { device, now, best } => "link-narrow", Target, Weakens,
        [of(Facts, "device", device), of(Facts, "link_now", now), of(Facts, "link_best", best)];
    W::LittleSpace { target, free } => "little-space", Target, Weakens,
        [of(Facts, "target", target), of(Facts, "free_share", free)];
    W::ClockSource { host, source } => "clock-source", Target, Weakens,
        [of(Facts, "host", host), of(Facts, "clock_source", source)];
}

#[cfg(test)]
mod tests {
    use super::CODES;
    use catalogue::ways::ways;

    #[test]
    fn every_doubt_that_the_ways_name_is_one() {
        for code in ways().iter().flat_map(|way| way.doubts.value.split_whitespace()) {
            assert!(CODES.contains(&code), "{code}");
        }
    }
}
