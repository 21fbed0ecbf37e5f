//! Load lines of runs that were recorded by hand.

use super::*;
use crate::testing::Recorded;
use model::objective::Condition;
use model::search::Search;
use model::{Nanos, Op, StageKind};

/// A run that searches, one host, one worker.
fn searching(objective: &str) -> Recorded {
    let mut recorded = Recorded::new("[stages]\nmeasure = \"10s\"\n[[workload]]\nname = \"w\"\n");
    let search = Search {
        objective: objective.parse().expect("an objective"),
        poisson: false,
        measure: Nanos::seconds(10),
        along: SearchAxis::Rate,
        grid: Vec::new(),
    };
    recorded.record_mut().plan.begin_search(search).expect("one point of one workload");
    recorded
}

/// Measures the points that the search asks for: at `rate` requests a second, all of them take what
/// `latency_ns` says.
fn go(recorded: &mut Recorded, capacity: u64, latency_ns: impl Fn(u64) -> u64) {
    let mut stage = recorded.stage(StageKind::Measure);
    let mut carried = capacity;
    loop {
        let values = vec![latency_ns(carried); carried.min(capacity) as usize];
        for second in 0..10 {
            recorded.interval(stage, second, &[(Op::Read, &values)]);
        }
        let Some(milli) = next_rate_milli(&recorded.end()) else { return };
        let addition = recorded.record().plan.at_rate(milli).expect("a search");
        recorded.record_mut().plan.add(&addition);
        stage = recorded.record().plan.stages.len() as u32 - 1;
        carried = milli / 1000;
    }
}

#[test]
fn a_recorded_search_leads_to_its_load_line_and_the_curve() {
    let mut recorded = searching("read p99 < 1ms, errors = 0");
    // As M/M/1 responds: 100 µs ÷ (1 − load), so that 1 ms is reached at 0.9.
    go(&mut recorded, 10_000, |rate| (100_000.0 / (1.0 - rate as f64 / 10_050.0).max(1e-3)) as u64);
    let record = recorded.record();
    let line = load_line(&record, &crate::results(&record)).expect("a search");
    let rate = line.answer.rate.expect("it holds");
    assert!((rate / 9_045.0 - 1.0).abs() < 0.02, "{rate}");
    assert!(line.answer.confirmed && line.finished, "{:?}", line.answer);
    assert!(line.answer.fails_at.is_some_and(|fails| fails > rate));
    assert_eq!(line.points[0].tried.rate, None);
    assert_eq!(line.points[0].worst.as_ref().map(Condition::figure).as_deref(), Some("read p99"));
    // Power is greatest at half the load for M/M/1 (Kleinrock 1979); the nearest point that was
    // measured is the first.
    assert!(
        line.knee.is_some_and(|knee| (0.25..=0.7).contains(&(knee / 10_000.0))),
        "{:?}",
        line.knee
    );
    assert!(line.points.len() <= search::MOST_POINTS);
}

#[test]
fn a_target_that_falls_behind_breaks_every_objective() {
    let mut recorded = searching("errors = 0");
    go(&mut recorded, 5_000, |_| 100_000);
    let record = recorded.record();
    let line = load_line(&record, &crate::results(&record)).expect("a search");
    let rate = line.answer.rate.expect("it holds");
    assert!((rate / 5_000.0 - 1.0).abs() < 0.02, "{rate}");
    let (kept_up, fell) = (line.kept_up.expect("some"), line.fell_behind.expect("some"));
    assert!(kept_up <= 5_051.0 && fell > 5_000.0 && fell < 1.03 * kept_up, "{kept_up} {fell}");
    let behind = line.points.iter().find(|point| !point.keeps_up).expect("one");
    assert!(!behind.holds && behind.worst.is_none());
}

#[test]
fn a_point_is_judged_by_each_condition_for_its_operation() {
    let mut recorded = Recorded::new("[[workload]]\nname = \"mix\"\nread = \"50%\"\n");
    let stage = recorded.stage(StageKind::Measure);
    recorded.interval(stage, 0, &[(Op::Read, &[1_000_000; 90]), (Op::Write, &[4_000_000; 10])]);
    recorded.fail(stage, 0, Op::Write, 5, 1);
    let rows = crate::results(&recorded.end());
    let rows: Vec<&ResultRow> = rows.iter().collect();
    let excess = |text: &str| {
        let objective: Objective = text.parse().expect("good");
        let search = Search {
            objective,
            poisson: false,
            measure: Nanos::seconds(1),
            along: SearchAxis::Rate,
            grid: Vec::new(),
        };
        point(0, &search, &rows).expect("a point").tried.excess
    };
    let near = |text: &str, expected: f64| {
        assert!((excess(text) / expected - 1.0).abs() < 0.005, "{text}: {}", excess(text));
    };
    near("read mean < 2ms", 0.5);
    near("write mean < 2ms", 2.0);
    near("mean < 1300us", 1.0);
    near("max < 8ms, read mean < 1250us", 0.8);
    near("p50 < 2ms", 0.5);
    near("p95 < 2ms", 2.0);
    near("iops > 50", 0.5);
    near("write iops > 50", 5.0);
    near("bandwidth > 200KiB/s", 0.5);
    near("errors <= 4", 0.25);
    near("write errors <= 1%", 100.0 / 11.0);
    assert_eq!(excess("errors = 0"), f64::INFINITY);
    assert_eq!(excess("read errors = 0"), 0.0);
    assert_eq!(excess("trim p99 < 1s"), f64::INFINITY, "nothing of it came back");
    assert!(excess("errors <= 1") <= 1.0 && excess("errors < 1") > 1.0, "the limit itself");
}

#[test]
fn a_search_that_was_cut_short_says_so_and_other_runs_have_none() {
    let mut recorded = searching("mean < 1ms");
    let stage = recorded.stage(StageKind::Measure);
    recorded.interval(stage, 0, &[(Op::Read, &[100_000; 100])]);
    let cut = load_line(&recorded.record(), &crate::results(&recorded.record())).expect("a search");
    assert_eq!(
        (cut.points.len(), cut.finished, cut.answer.rate),
        (0, false, None),
        "the stage did not end"
    );
    assert_eq!(next_rate_milli(&recorded.record()), None);
    let plain = Recorded::new("[[workload]]\nname = \"w\"\n").record();
    assert_eq!(load_line(&plain, &[]), None);
}

#[test]
fn a_rate_that_the_objective_wants_changes_nothing_where_the_target_carries_it() {
    let line = |objective: &str| {
        let mut recorded = searching(objective);
        go(&mut recorded, 10_000, |rate| {
            (100_000.0 / (1.0 - rate as f64 / 10_050.0).max(1e-3)) as u64
        });
        let record = recorded.record();
        load_line(&record, &crate::results(&record)).expect("a search")
    };
    let (plain, wanted) = (line("p99 < 1ms"), line("iops >= 5900, p99 < 1ms"));
    let rates =
        |line: &LoadLine| line.points.iter().map(|point| point.tried.rate).collect::<Vec<_>>();
    assert_eq!((wanted.answer, rates(&wanted)), (plain.answer, rates(&plain)));
    // A rate below what is wanted is none at which the objective holds, and the search goes up from
    // it.
    let low = wanted.points.iter().find(|point| point.tried.is_too_low).expect("the curve has one");
    assert!(
        !low.holds
            && low.keeps_up
            && low.worst.as_ref().is_some_and(|worst| worst.limit.is_at_least()),
        "{low:?}"
    );
    let never = line("iops >= 9500, p99 < 1ms");
    assert_eq!((never.answer.rate, never.answer.contradiction, never.finished), (None, None, true));
}

#[test]
fn a_point_fails_by_chance_where_its_interval_reaches_its_limit_or_none_is_known() {
    let objective: Objective = "p99 < 2ms, errors = 0".parse().expect("an objective");
    let of = |worst: Option<usize>, excess, error| LoadPoint {
        point: 0,
        tried: Tried { rate: Some(114.0), excess, error, ..Tried::default() },
        worst: worst.map(|number| objective.conditions[number].clone()),
        of_limit: excess,
        holds: false,
        keeps_up: worst.is_some(),
        latency: Histogram::new(),
        errors: 0,
        others: None,
    };
    assert!(!of(Some(0), 15.0, None).may_hold(1), "far off");
    for (worst, error, times, may) in [
        (Some(0), Some(0.5), 1, true),
        (Some(0), Some(0.5), 2, true),
        (Some(0), Some(0.05), 1, false),
        (Some(0), None, 1, true),
        (Some(0), None, 2, false),
        (Some(1), None, 1, false),
        (None, None, 1, false),
    ] {
        let point = of(worst, 1.33, error);
        assert_eq!(point.may_hold(times), may, "{worst:?} {error:?} {times}");
    }
}
