//! How long a long run's file takes to write and to read: `cargo run --release -p store
//! --example write_speed`.
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use analysis::testing::Recorded;
use model::counters::{CounterSample, Entry, Layer, Metric};
use model::event::{Event, RunEnd, StageEnd};
use model::histogram::Histogram;
use model::sample::{IntervalSample, OpSample, Phase};
use model::{Op, StageKind};
use std::time::Instant;
use store::Writer;

/// Intervals in all, which is ten minutes of seconds; each is a transaction for each host.
const INTERVALS: u32 = 600;
/// Hosts, with two operations each: 60,000 rows of samples.
const HOSTS: u32 = 50;
const SUITE: &str = "[layout]\nsize = \"8MiB\"\n[[workload]]\nname = \"mix\"\nread = \"50%\"\n";

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    let recorded = Recorded::with_hosts(SUITE, HOSTS as usize);
    let stage = recorded.stage(StageKind::Measure);
    let record = recorded.record();
    let ops = [ops(Op::Read), ops(Op::Write)];
    println!("{} bytes a histogram", ops[0].latency.0.len());

    let begun = Instant::now();
    let mut writer =
        Writer::create(&path, &record.plan, &record.testbed, "example", 0).expect("a new file");
    writer.append(&Event::StageStarted { stage, unix_ns: 0 }).expect("room");
    for interval in 0..INTERVALS {
        for host in 0..HOSTS {
            let start_ns = u64::from(interval) * 1_000_000_000;
            let sample = IntervalSample {
                stage,
                host,
                interval,
                start_ns,
                length_ns: 1_000_000_000,
                phase: Phase::Load,
                ops: ops.to_vec(),
                workers: Vec::new(),
            };
            writer.append(&Event::Sample(sample)).expect("room");
        }
    }
    println!("written in {:.2?}", begun.elapsed());
    counters(&mut writer, stage);
    writer.append(&Event::StageEnded { stage, end: StageEnd::Complete }).expect("room");
    writer.append(&Event::RunEnded { unix_ns: 1, end: RunEnd::Complete }).expect("room");
    writer.finish().expect("room");

    let bytes = std::fs::metadata(&path).expect("a file").len();
    let begun = Instant::now();
    let read = store::read(&path).expect("a run file");
    println!(
        "{bytes} bytes read in {:.2?}, {} samples",
        begun.elapsed(),
        read.stages[0].samples().len()
    );
}

/// A minute of the counters of one large host: 200 things with 13 values each.
fn counters(writer: &mut Writer, stage: u32) {
    const SAMPLES: u32 = 60;
    let values: Vec<(Metric, u64)> =
        Metric::ALL.iter().take(13).map(|metric| (*metric, 1_000_000)).collect();
    let entry = |number: u32| Entry {
        layer: Layer::Block,
        name: format!("nvme{number}n1"),
        values: values.clone(),
    };
    let begun = Instant::now();
    for number in 0..SAMPLES {
        let entries: Vec<Entry> = (0..200).map(entry).collect();
        let length_ns = 1_000_000_000;
        let sample =
            CounterSample { stage, number, length_ns, entries, ..CounterSample::default() };
        writer.append(&Event::Counters(Box::new(sample))).expect("room");
    }
    println!("2600 counters written in {:.2?}", begun.elapsed() / SAMPLES);
}

/// A thousand latencies, spread as a busy disk spreads them.
fn ops(op: Op) -> OpSample {
    let mut latency = Histogram::new();
    (0..1_000u64).for_each(|n| latency.record(80_000 + n * n / 4));
    let (ios, bytes) = (latency.count(), latency.count() * 4096);
    OpSample {
        work: 0,
        op,
        ios,
        bytes,
        errors: Vec::new(),
        latency: latency.encode(),
        raw_latencies: Vec::new(),
    }
}
