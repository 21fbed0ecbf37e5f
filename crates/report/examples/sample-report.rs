//! Writes a report page from a run that never was, for looking at pages without waiting:
//! `cargo run -p report --example sample-report > page.html`.
#![allow(clippy::print_stdout)]

use analysis::testing::Recorded;
use model::rng::Rng;
use model::{Op, StageKind};

fn main() {
    let mut recorded = Recorded::new(include_str!("../../../suites/four-corners.toml"));
    recorded.prepare();
    let mut rng = Rng::new(7);
    let measures: Vec<(u32, u32)> = (0..recorded.record().plan.stages.len() as u32)
        .filter(|stage| recorded.record().plan.stages[*stage as usize].kind == StageKind::Measure)
        .zip(0..)
        .collect();
    for (stage, number) in measures {
        let read = recorded.record().plan.stages[stage as usize].works[0].read.ppm;
        for second in 0..10 {
            // A dip in the middle, and a tail that grows with the number of the workload.
            let ios = if second == 6 { 2_000 } else { 9_000 + rng.below(2_000) };
            let mut values = |n: u64| -> Vec<u64> {
                let tail = |rng: &mut Rng| {
                    if rng.below(1_000) < 4 { 20 + u64::from(number) * 8 } else { 1 }
                };
                (0..n).map(|_| (70_000 + rng.below(90_000)) * tail(&mut rng)).collect()
            };
            let reads = values(ios * u64::from(read) / 1_000_000);
            let writes = values(ios - ios * u64::from(read) / 1_000_000);
            recorded.interval(stage, second, &[(Op::Read, &reads), (Op::Write, &writes)]);
        }
    }
    recorded.busy(0.94);
    print!("{}", report::surfaces::html::render(&[&recorded.end()]));
}
