//! The parts of a run add up to its totals, bit for bit, and its quantiles are those of the raw
//! latencies.

use crate::common::{plimsoll, scratch, text};
use model::histogram::bucket_of;
use model::{Histogram, Op, Phase, Record};
use std::collections::BTreeMap;

const SUITE: &str = "\
name = \"sums\"
[layout]
files = 3
size = \"8MiB\"
[stages]
precondition = \"100ms\"
measure = \"1s\"
interval = \"50ms\"
[engine]
raw_latencies = true
[[workload]]
name = \"mix\"
block_size = \"8KiB\"
read = \"70%\"
depth = 8
workers = 3
[[workload]]
name = \"data\"
group = \"both\"
depth = 4
workers = 2
[[workload]]
name = \"log\"
group = \"both\"
access = \"sequential\"
read = \"0%\"
depth = 4
workers = 2
";

fn recorded() -> Record {
    let folder = scratch();
    std::fs::write(folder.join("sums.toml"), SUITE).expect("a suite");
    let out = folder.join("run.plimsoll");
    plimsoll(&folder, ["run", "sums.toml", "--quiet", "--out", text(&out)]).with_code(0);
    store::read(&out).expect("a run file")
}

#[test]
fn the_sum_over_workers_is_the_total_of_every_interval() {
    let record = recorded();
    let mut intervals = 0;
    for sample in record.samples() {
        let mut sums: BTreeMap<(u32, Op), (u64, u64, u64)> = BTreeMap::new();
        let planned = &record.plan.hosts[0].stages[sample.stage as usize].workers;
        for worker in &sample.workers {
            let work = planned[worker.worker as usize].work;
            for op in &worker.ops {
                let sum = sums.entry((work, op.op)).or_default();
                *sum = (sum.0 + op.ios, sum.1 + op.bytes, sum.2 + op.errors);
            }
        }
        for op in &sample.ops {
            let sum = sums.remove(&(op.work, op.op)).unwrap_or_default();
            assert_eq!(
                sum,
                (op.ios, op.bytes, op.error_count()),
                "stage {} interval {}",
                sample.stage,
                sample.interval
            );
            let counted = op.latency.decode().expect("a histogram").count();
            assert_eq!(counted, op.ios, "a latency for every request");
        }
        assert!(
            sums.values().all(|sum| *sum == (0, 0, 0)),
            "workers report nothing that the total lacks"
        );
        intervals += 1;
    }
    assert!(intervals > 40, "two workloads of one second in intervals of 50 ms, not {intervals}");
}

#[test]
fn quantiles_are_those_of_the_raw_latencies() {
    let record = recorded();
    let rows = analysis::results(&record);
    let ops: Vec<&str> = rows.iter().map(|row| row.ops.name()).collect();
    assert_eq!(
        ops,
        ["read", "write", "all", "read", "write", "all"],
        "a mix, and two workloads at the same time"
    );
    for row in rows {
        let stage = record.stage(row.stage).expect("recorded");
        let load = stage.samples().iter().filter(|sample| sample.phase == Phase::Load);
        let mut raw: Vec<u64> = load
            .flat_map(|s| &s.ops)
            .filter(|op| row.counts(op.work, op.op))
            .flat_map(|op| op.raw_latencies.clone())
            .collect();
        assert_eq!(raw.len() as u64, row.ios);
        raw.sort_unstable();
        // Where the target stood still at the end, the longest had not come back: they are no
        // latencies of the load, and join them behind all others.
        let joined = row.latency.count() as usize - raw.len();
        let all = row.latency.count() as usize;
        for quantile in analysis::QUANTILES {
            let rank = ((quantile.share * all as f64).ceil() as usize).clamp(1, all);
            if rank > raw.len() {
                continue;
            }
            let told = row.latency.quantile_ns(quantile.share).expect("a quantile");
            assert_eq!(
                bucket_of(told),
                bucket_of(raw[rank - 1]),
                "{} {} {}",
                row.workload,
                row.ops.name(),
                quantile.name
            );
        }
        if joined > 0 {
            assert!(row.left.all().count() >= joined as u64, "{joined} had not come back");
            continue;
        }
        assert_eq!(
            row.latency.sum_ns(),
            raw.iter().map(|ns| u128::from(*ns)).sum::<u128>(),
            "the mean is exact"
        );
        assert_eq!(row.latency.max_ns(), raw.last().copied());
        let mut again = Histogram::new();
        raw.iter().for_each(|ns| again.record(*ns));
        assert_eq!(row.latency, again);
    }
}
