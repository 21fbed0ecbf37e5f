use super::*;
use crate::estimate::simulated::Normal;
use crate::testing::Recorded;
use model::Op;

/// A run of `number`, in order of time, with so many requests per second.
fn run(number: u64, suite: &str, per_second: u64) -> Record {
    let mut recorded = Recorded::new(&format!(
        "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{suite}"
    ));
    for second in 0..30u64 {
        let ios = (per_second + (second + number) * 7 % 11) as usize;
        let latencies: Vec<u64> = (0..ios as u64).map(|n| 100_000 + n % 97 * 100).collect();
        recorded.second(second as u32, &[(Op::Read, &latencies)]);
    }
    let mut record = recorded.end();
    record.started_unix_ns += number * 86_400_000_000_000;
    record
}

fn of(records: &[Record]) -> Trend {
    trend(&records.iter().collect::<Vec<_>>())
}

/// Runs that stray a little, the last `low` of them slower by a fifth.
fn series(n: u64, low: u64) -> Vec<Record> {
    (0..n)
        .map(|number| run(number, "", number * 5 % 7 + if number + low >= n { 400 } else { 500 }))
        .collect()
}

#[test]
fn a_change_begins_with_its_run_whatever_the_order_of_the_files() {
    let mut records = series(16, 5);
    records.reverse();
    let found = of(&records);
    assert_eq!(found.runs, (0..16).rev().collect::<Vec<_>>());
    for (followed, metric) in found.points[0].series.iter().zip(METRICS).take(2) {
        assert_eq!(followed.metric, metric);
        let [change] = followed.changes.as_slice() else { panic!("{followed:?}") };
        assert_eq!(change.at, 11);
        assert!((change.percent() + 20.0).abs() < 1.0, "{change:?}");
    }
    assert!(found.points[0].series[2].changes.is_empty(), "the latency is the same");
    assert!(!found.points[0].series[0].values.is_empty());
    assert!(
        found.points[0].series[0].values.iter().flatten().all(|value| value.interval.is_some())
    );
}

#[test]
fn the_latest_run_is_held_against_the_level_since_the_last_change() {
    let slower = |found: &Trend| {
        let outcome: crate::compare::Condition = "iops < -5%".parse().expect("a condition");
        let outcome = outcome.check(&found.latest);
        assert_eq!(outcome.checked, 1);
        !outcome.met.is_empty()
    };
    let (fell, settled) = (of(&series(16, 1)), of(&series(16, 5)));
    assert!(slower(&fell) && !slower(&settled) && !slower(&of(&series(16, 0))));
    assert_eq!(fell.latest.others[0].points[0].repetitions, (15, 1));
    assert_eq!(settled.latest.others[0].points[0].repetitions, (4, 1));
}

#[test]
fn other_runs_are_set_apart_with_the_reason() {
    let mut records = series(5, 0);
    records.push(records[2].clone());
    let mut other_layout = run(1, "[layout]\nsize = \"2GiB\"\n", 500);
    other_layout.started_unix_ns += 2;
    records.push(other_layout);
    let mut other_host = run(0, "", 500);
    other_host.testbed[0].cpu_model = "Another CPU".to_owned();
    other_host.started_unix_ns += 1;
    records.push(other_host);
    let mut cut_short = run(9, "", 500);
    cut_short.end = None;
    records.push(cut_short);
    let found = of(&records);
    assert_eq!(found.runs, [0, 1, 2, 3, 4]);
    let said: Vec<(usize, &str)> = found
        .apart
        .iter()
        .map(|apart| match &apart.why {
            Why::Again => (apart.run, "again"),
            Why::NotComplete => (apart.run, "not complete"),
            Why::Unlike(unlike) => (apart.run, unlike[0].what),
        })
        .collect();
    assert_eq!(said, [(5, "again"), (6, "layout"), (7, "testbed"), (8, "not complete")]);
}

#[test]
fn other_work_under_the_same_name_is_no_part_of_the_series() {
    let mut records = series(4, 0);
    records[1] = run(1, "block_size = \"64KiB\"\n", 500);
    let point = &of(&records).points[0];
    assert_eq!((point.apart[0].0, point.apart[0].1[0].what), (1, "block size"));
    assert_eq!(
        point.series[0].values.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, true, true]
    );
}

#[test]
fn nothing_and_one_run_have_no_trend() {
    assert_eq!(
        of(&[]),
        Trend {
            runs: vec![],
            apart: vec![],
            points: vec![],
            latest: Comparison { others: vec![] }
        }
    );
    let one = of(&series(1, 0));
    assert!(one.points.len() == 1 && one.latest.others.is_empty());
}

#[test]
fn a_further_run_of_the_same_level_differs_in_5_of_100_and_5_percent_are_found() {
    let told = |step: f64| {
        let mut different = 0;
        for seed in 0..4_000 {
            let mut normal = Normal::new(seed);
            let level: Vec<f64> = (0..10).map(|_| 0.01 * normal.draw()).collect();
            let ratio = prediction(&level, step.ln_1p() + 0.01 * normal.draw());
            different += u32::from(ratio.chance.expect("an error") < 0.05);
        }
        f64::from(different) / 4_000.0
    };
    let (same, less) = (told(0.0), told(-0.05));
    assert!((0.04..=0.06).contains(&same) && less >= 0.9, "{same} {less}");
}
