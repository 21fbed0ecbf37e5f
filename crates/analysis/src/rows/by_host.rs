//! A result taken apart: what each host had of it. The parts are added up from the same intervals
//! as the total, so that their sum is the total to the last request.

use crate::rows::results::outlasting;
use crate::rows::row::ResultRow;
use model::{Histogram, Record};
use std::collections::BTreeMap;

/// What some of the hosts had of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Share {
    /// The host's name, or what its hosts have in common.
    pub name: String,
    /// How many hosts it is of.
    pub hosts: u32,
    /// Workers that the plan gives them for this work.
    pub workers: u32,
    /// Requests that succeeded while the load was on.
    pub ios: u64,
    /// Bytes that moved while the load was on.
    pub bytes: u64,
    /// How long the load was on there, in seconds: of several hosts, the longest.
    pub seconds: f64,
    /// Service times, merged exactly.
    pub latency: Histogram,
    /// Requests that failed, by errno.
    pub errors: BTreeMap<i32, u64>,
}

impl Share {
    /// Requests per second. 0 if that is no time.
    pub fn iops(&self) -> f64 {
        if self.seconds > 0.0 { self.ios as f64 / self.seconds } else { 0.0 }
    }

    /// Bytes per second, as [`iops`](Self::iops).
    pub fn bytes_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }

    /// All requests that failed.
    pub fn error_count(&self) -> u64 {
        self.errors.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Takes another share in. Hosts run side by side, so that their times do not add up.
    pub(crate) fn add(&mut self, other: &Share) {
        self.hosts += other.hosts;
        self.workers += other.workers;
        self.ios = self.ios.saturating_add(other.ios);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.seconds = self.seconds.max(other.seconds);
        self.latency.merge(&other.latency);
        for (errno, count) in &other.errors {
            let sum = self.errors.entry(*errno).or_insert(0);
            *sum = sum.saturating_add(*count);
        }
    }
}

/// What each host had of `row`, by its number in the plan: those that had work in it, or were heard
/// of in it.
pub(crate) fn numbered(record: &Record, row: &ResultRow) -> BTreeMap<u32, Share> {
    let mut shares = BTreeMap::new();
    for (number, host) in (0..).zip(&record.plan.hosts) {
        let planned = host.stages.get(row.stage as usize).map_or(&[][..], |stage| &stage.workers);
        let workers = planned.iter().filter(|worker| row.has_work(worker.work)).count() as u32;
        if workers > 0 {
            shares.insert(
                number,
                Share { name: host.hostname.clone(), hosts: 1, workers, ..Share::default() },
            );
        }
    }
    let Some(stage) = record.stage(row.stage) else { return shares };
    let digest = stage.digest(record);
    let parts = digest.sums.parts.iter().filter(|((work, op), _)| row.counts(*work, *op));
    let hosts = parts.flat_map(|(_, part)| &part.hosts);
    // One that had it only in intervals that do not count was not heard of in it.
    for (number, host) in hosts.filter(|(number, host)| host.is_counted(&digest.frame, **number)) {
        let share = shares.entry(*number).or_insert_with(|| unplanned(record, *number));
        share.ios = share.ios.saturating_add(host.counts.ios);
        share.bytes = share.bytes.saturating_add(host.counts.bytes);
        if !row.is_commanded() {
            share.latency.merge_tight(&host.latency);
        }
        for (errno, count) in &host.errors {
            let sum = share.errors.entry(*errno).or_insert(0);
            *sum = sum.saturating_add(*count);
        }
    }
    // As those of the row: at a rate, what was due and had not come back is in the latencies, and
    // else what took longer than all that did.
    let counts_all = row.counts_what_was_due();
    let longest_ns = shares.values().filter_map(|share| share.latency.max_ns()).max().unwrap_or(0);
    let left = stage.ends.iter().filter(|_| digest.frame.degraded_from.is_none());
    for (host, left) in left.flat_map(|end| end.left.iter().map(|left| (end.host, left))) {
        if row.counts(left.work, left.op) {
            let share = shares.entry(host).or_insert_with(|| unplanned(record, host));
            // Checked when they were taken in.
            let mut all = Histogram::new();
            let _ = left.late.merge_into(&mut all).and_then(|()| left.never.merge_into(&mut all));
            let counted = if counts_all { all } else { outlasting(&all, longest_ns) };
            share.latency.merge(&counted);
        }
    }
    for (number, share) in &mut shares {
        share.seconds = digest.frame.counted_ns(*number) as f64 / 1e9;
    }
    shares
}

fn unplanned(record: &Record, host: u32) -> Share {
    let name = record
        .plan
        .hosts
        .get(host as usize)
        .map_or_else(|| host.to_string(), |host| host.hostname.clone());
    Share { name, hosts: 1, ..Share::default() }
}

/// What each host had of `row`, in the order of the plan. The counts, histograms and errors of all
/// add up to those of `row`.
pub fn by_host(record: &Record, row: &ResultRow) -> Vec<Share> {
    numbered(record, row).into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::{Fact, Note, Op, StageKind};
    use proptest::prelude::*;

    const MIXED: &str = "[[workload]]\nname = \"mix\"\nread = \"70%\"\n";

    fn sum(shares: &[Share]) -> Share {
        let mut all = Share::default();
        shares.iter().for_each(|share| all.add(share));
        all
    }

    #[test]
    fn a_host_without_a_request_is_told_and_one_that_was_lost_ends_where_the_total_does() {
        let mut recorded = Recorded::with_hosts(MIXED, 3);
        let stage = recorded.stage(StageKind::Measure);
        recorded.load(0..3, &[(Op::Read, &[100; 10])]);
        for interval in 0..2 {
            recorded.host_interval(stage, 1, interval, &[(Op::Read, &[300; 30])]);
            recorded.host_interval(stage, 2, interval, &[]);
        }
        let note = Note {
            stage: Some(stage),
            host: 1,
            fact: Fact::HostLost { name: "h1".into(), why: "gone".into() },
        };
        recorded.record_mut().notes.push(note);
        let record = recorded.record();
        let row = &results(&record)[0];
        let shares = by_host(&record, row);
        let told: Vec<(&str, u64, f64)> =
            shares.iter().map(|s| (s.name.as_str(), s.ios, s.iops())).collect();
        assert_eq!(told, [("node0", 20, 10.0), ("node1", 60, 30.0), ("node2", 0, 0.0)]);
        assert_eq!(sum(&shares).workers, row.workers);
        assert_eq!(shares[1].latency.max_ns(), Some(300));
    }

    proptest! {
        #[test]
        fn the_sum_over_hosts_is_the_total_to_the_bit(
            parts in prop::collection::vec((0u32..5,
                prop::collection::vec(1u64..10_000_000_000, 0..40), 0u64..9), 1..30),
        ) {
            let mut recorded = Recorded::with_hosts(MIXED, 5);
            let stage = recorded.stage(StageKind::Measure);
            for (interval, (host, values, failed)) in (0..).zip(&parts) {
                let ops: [(Op, &[u64]); 2] = [(Op::Read, values),
                    (Op::Write, &values[..values.len() / 2])];
                recorded.host_interval(stage, *host, interval, &ops);
                recorded.fail(stage, interval, Op::Read, 5, *failed);
            }
            let record = recorded.record();
            for row in results(&record) {
                let all = sum(&by_host(&record, &row));
                prop_assert_eq!((all.ios, all.bytes, all.workers),
                    (row.ios, row.bytes, row.workers));
                prop_assert_eq!(all.seconds.to_bits(), row.seconds.to_bits());
                prop_assert_eq!(&all.latency, &row.latency);
                prop_assert_eq!(&all.errors, &row.errors);
            }
        }
    }
}
