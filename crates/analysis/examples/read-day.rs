//! How long the findings of a long run on many hosts take: `cargo run --release -p
//! analysis --features testing --example read-day -- HOURS HOSTS`.
#![allow(clippy::print_stdout)]

use analysis::testing::Recorded;
use model::rng::Rng;
use model::{Op, StageKind};
use std::time::Instant;

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let (hours, hosts) =
        (numbers.first().copied().unwrap_or(1), numbers.get(1).copied().unwrap_or(16));
    let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", hosts as usize);
    let stage = recorded.stage(StageKind::Measure);
    let mut rng = Rng::new(1);
    for second in 0..hours * 3_600 {
        for host in 0..hosts {
            // Some 20 buckets in use: what a host with one worker has in a second.
            let latencies: Vec<u64> = (0..20).map(|_| 80_000 + rng.below(400_000)).collect();
            recorded.host_interval(stage, host, second, &[(Op::Read, &latencies)]);
        }
    }
    recorded.end();
    let record = recorded.record();
    let began = Instant::now();
    let rows = analysis::results(&record);
    let took = began.elapsed().as_secs_f64();
    let samples = hours * 3_600 * hosts;
    println!("{hours} h on {hosts} hosts, {samples} samples: {} rows in {took:.2} s", rows.len());
}
