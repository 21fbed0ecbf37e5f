//! What each operation of a stage did in each interval, as plain numbers: one pass over the samples for all statistics over time.

use crate::degraded::counted;
use crate::results::ResultRow;
use crate::warning::QUANTILES;
use model::Record;
use model::plan::HostPlan;
use model::record::StageRecord;
use model::sample::{OpSample, WorkerSample};
use std::collections::BTreeMap;

/// One operation of one measured point over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Each interval in order, all hosts together.
    pub total: Vec<Slot>,
    /// Each host's intervals in order, by its number in the plan.
    pub hosts: BTreeMap<u32, Vec<Slot>>,
    /// Requests that succeeded, by host and worker.
    pub workers: BTreeMap<(u32, u32), u64>,
}

/// One interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slot {
    /// When it began, in seconds after the stage's start.
    pub start_s: f64,
    /// How long it was, in seconds; of several hosts, the longest.
    pub length_s: f64,
    /// Requests that succeeded in it.
    pub ios: f64,
    /// Bytes that moved in it.
    pub bytes: f64,
    /// The sum of their service times, in ns.
    pub latency_ns: f64,
    /// How many of them took no longer than each quantile of the whole stage.
    pub at_most: [f64; QUANTILES.len()],
    /// CPU time that the workers of the whole work took, in ns.
    pub cpu_ns: f64,
    /// Requests of all operations of the whole work.
    pub work_ios: f64,
}

impl Slot {
    /// Requests per second; 0 if it was no time.
    pub fn iops(&self) -> f64 {
        if self.length_s > 0.0 { self.ios / self.length_s } else { 0.0 }
    }

    fn add_op(&mut self, sample: &OpSample, quantiles_ns: [u64; QUANTILES.len()]) {
        self.ios += sample.ios as f64;
        self.bytes += sample.bytes as f64;
        // The run file was checked when it was read: a histogram that is none cannot come this far.
        self.latency_ns += sample.latency.sum_ns().unwrap_or(0) as f64;
        let counts = sample.latency.at_most(quantiles_ns).unwrap_or_default();
        self.at_most.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count as f64);
    }
}

/// One column of a tally.
pub fn column(slots: &[Slot], figure: impl Fn(&Slot) -> f64) -> Vec<f64> {
    slots.iter().map(figure).collect()
}

/// The tallies of all rows of one stage, in their order. `rows` are those that [`figures`](crate::results::figures) made of it.
pub fn tallies(record: &Record, stage: &StageRecord, rows: &[&ResultRow]) -> Vec<Tally> {
    let quantiles: Vec<_> =
        rows.iter().map(|row| QUANTILES.map(|quantile| row.latency.quantile_ns(quantile.share).unwrap_or(0))).collect();
    let mut totals: Vec<BTreeMap<u32, Slot>> = vec![BTreeMap::new(); rows.len()];
    let mut tallies = vec![Tally::default(); rows.len()];
    for sample in counted(record, stage) {
        let host = record.plan.hosts.get(sample.host as usize);
        let length_s = sample.length_ns as f64 / 1e9;
        let start_s = sample.start_ns as f64 / 1e9;
        for (index, row) in rows.iter().enumerate() {
            let mut slot = Slot { start_s, length_s, ..Slot::default() };
            for part in sample.ops.iter().filter(|part| part.work == row.index) {
                slot.work_ios += part.ios as f64;
                if part.op == row.op {
                    slot.add_op(part, quantiles[index]);
                }
            }
            for worker in sample.workers.iter().filter(|worker| does(host, stage.stage, worker, row.index)) {
                slot.cpu_ns += worker.cpu_user_ns.saturating_add(worker.cpu_system_ns) as f64;
                let done: u64 = worker.ops.iter().filter(|part| part.op == row.op).map(|part| part.ios).sum();
                let sum = tallies[index].workers.entry((sample.host, worker.worker)).or_insert(0);
                *sum = sum.saturating_add(done);
            }
            tallies[index].hosts.entry(sample.host).or_default().push(slot);
            merge(totals[index].entry(sample.interval).or_insert(Slot { start_s, ..Slot::default() }), &slot);
        }
    }
    for (tally, total) in tallies.iter_mut().zip(totals) {
        tally.total = total.into_values().collect();
    }
    tallies
}

fn does(host: Option<&HostPlan>, stage: u32, worker: &WorkerSample, work: u32) -> bool {
    let planned = host.and_then(|host| host.stages.get(stage as usize));
    planned.and_then(|stage| stage.workers.get(worker.worker as usize)).is_some_and(|planned| planned.work == work)
}

fn merge(total: &mut Slot, slot: &Slot) {
    total.length_s = total.length_s.max(slot.length_s);
    total.ios += slot.ios;
    total.bytes += slot.bytes;
    total.latency_ns += slot.latency_ns;
    total.cpu_ns += slot.cpu_ns;
    total.work_ios += slot.work_ios;
    total.at_most.iter_mut().zip(slot.at_most).for_each(|(sum, count)| *sum += count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::figures;
    use crate::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn the_sum_over_intervals_hosts_and_workers_is_the_total() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\nread = \"50%\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for interval in 0..3 {
            recorded.host_interval(stage, 0, interval, &[(Op::Read, &[100, 200]), (Op::Write, &[900])]);
            recorded.host_interval(stage, 1, interval, &[(Op::Read, &[50_000; 4])]);
        }
        let record = recorded.record();
        let rows = figures(&record);
        let all: Vec<&ResultRow> = rows.iter().collect();
        let tally = &tallies(&record, record.stage(stage).expect("recorded"), &all)[0];
        let sum = |slots: &[Slot], figure: fn(&Slot) -> f64| slots.iter().map(figure).sum::<f64>();
        assert_eq!(sum(&tally.total, |slot| slot.ios), rows[0].ios as f64);
        assert_eq!(sum(&tally.total, |slot| slot.latency_ns), rows[0].latency.sum_ns() as f64);
        assert_eq!(tally.hosts.values().map(|slots| sum(slots, |slot| slot.ios)).sum::<f64>(), rows[0].ios as f64);
        assert_eq!(tally.workers.values().sum::<u64>(), rows[0].ios);
        assert_eq!(sum(&tally.total, |slot| slot.work_ios), 21.0, "reads and writes of the work");
        // The median is one of the slow reads: everything is at or below it.
        assert_eq!(tally.total[0].at_most[0], 6.0);
        assert!((sum(&tally.total, |slot| slot.cpu_ns) - 6.0 * 2.5e8).abs() < 1.0);
    }
}
