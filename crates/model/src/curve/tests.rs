use super::*;
use crate::rng::Rng;

const S: u64 = 1_000_000_000;

fn line(seconds: u64, from: u64, to: u64) -> Line {
    Line { length: Nanos::seconds(seconds), from, to }
}

fn iops(lines: &[Line], then: Then) -> Curve {
    let milli = |line: &Line| Line { from: line.from * 1_000, to: line.to * 1_000, ..*line };
    let then = match then {
        Then::Holds(level) => Then::Holds(level * 1_000),
        again => again,
    };
    Curve { unit: Unit::MilliIops, lines: lines.iter().map(milli).collect(), then }
}

/// When the requests with these numbers are due.
fn dues(curve: &Curve, numbers: impl IntoIterator<Item = u64>) -> Vec<Option<u64>> {
    let mut place = Place::default();
    let due = |number: u64| curve.due_ns(&mut place, u128::from(number) * curve.unit.parts());
    numbers.into_iter().map(due).collect()
}

#[test]
fn a_ramp_from_nothing_is_due_by_the_square_root() {
    // 2·t²/2·(2000/5) = k: t = √(k/200) s.
    let curve = iops(&[line(5, 0, 2_000), line(5, 2_000, 2_000)], Then::Holds(2_000));
    let found = dues(&curve, [0, 1, 2, 50, 200, 5_000, 5_001, 15_000, 15_002]);
    let at = |ns: u64| Some(ns);
    // √(1/200) = 0.0707106781186…, √(2/200) = 0.1.
    let wanted =
        [at(0), at(70_710_678), at(S / 10), at(S / 2), at(S), at(5 * S), at(5 * S + 500_000)];
    assert_eq!(found[..7], wanted);
    assert_eq!(found[7..], [at(10 * S), at(10 * S + 1_000_000)], "the last level holds");
    let seconds: Vec<f64> =
        (0..12).map(|second| curve.due_between(second * S, (second + 1) * S)).collect();
    let wanted = [200.0, 600.0, 1_000.0, 1_400.0, 1_800.0, 2e3, 2e3, 2e3, 2e3, 2e3, 2e3, 2e3];
    assert_eq!(seconds, wanted);
}

#[test]
fn nothing_is_due_while_nothing_is_asked_for() {
    let curve =
        iops(&[line(3, 0, 0), line(1, 100, 100), line(2, 0, 0), line(1, 10, 0)], Then::Holds(0));
    let found = dues(&curve, [0, 99, 100, 104, 105]);
    // The last line: 10·t − 5·t² = 4 at t = 1 − √(1/5).
    assert_eq!(found[..3], [Some(3 * S), Some(3 * S + 990_000_000), Some(6 * S)]);
    let t = 1.0 - (0.2f64).sqrt();
    assert_eq!(found[3], Some(6 * S + (t * 1e9) as u64));
    assert_eq!(found[4], None, "its integral is 105, so that 105 requests are due");
    assert_eq!(curve.due_between(0, 100 * S), 105.0);
}

#[test]
fn bursts_repeat_for_good_and_a_period_of_a_year_drifts_by_nothing() {
    let burst = iops(&[line(1, 500, 500), line(9, 0, 0)], Then::Repeats(0));
    assert_eq!(
        dues(&burst, [0, 499, 500, 501]),
        [0, 998_000_000, 10 * S, 10 * S + 2_000_000].map(Some)
    );
    let year = 365 * 24 * 360;
    assert_eq!(dues(&burst, [year * 500])[0], Some(year * 10 * S));
    assert_eq!(burst.parts_before(year * 10 * S), u128::from(year) * 500 * burst.unit.parts());
    // A rate that no ns divides: exact after a hundred days.
    let third = Curve {
        unit: Unit::MilliIops,
        lines: vec![Line { length: Nanos(7), from: 333, to: 333 }],
        then: Then::Holds(333),
    };
    let days = 100 * 24 * 3600;
    assert_eq!(dues(&third, [333 * days])[0], Some(1_000 * days * S));
}

#[test]
fn a_curve_of_bytes_counts_bytes() {
    let mb = 1_000_000;
    let curve = Curve {
        unit: Unit::Bytes,
        lines: vec![line(10, 0, 10 * mb), line(10, 10 * mb, 0)],
        then: Then::Holds(0),
    };
    assert_eq!(curve.due_between(0, 20 * S), 100e6);
    assert_eq!(dues(&curve, [0, 50 * mb, 100 * mb]), [Some(0), Some(10 * S), None]);
}

/// The definition itself: the last ns before which no more than `position` is due.
fn by_search(curve: &Curve, position: u128, most_ns: u64) -> Option<u64> {
    if curve.parts_before(most_ns) <= position {
        return None;
    }
    let (mut low, mut high) = (0, most_ns);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if curve.parts_before(middle) <= position {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

#[test]
fn every_instant_of_random_curves_is_that_of_the_integral() {
    let mut rng = Rng::new(25);
    for case in 0..300 {
        let unit = if rng.below(2) == 0 { Unit::MilliIops } else { Unit::Bytes };
        let most = [1, 50, 1_000_000, unit.most()][rng.below(4) as usize];
        let longest = [5, 1_000_000, S, 3_600 * S, MOST_LENGTH.0 / 8][rng.below(5) as usize];
        let level = |rng: &mut Rng| if rng.below(4) == 0 { 0 } else { rng.below(most + 1) };
        let lines: Vec<Line> = (0..1 + rng.below(6))
            .map(|_| {
                let from = level(&mut rng);
                let to = if rng.below(3) == 0 { from } else { level(&mut rng) };
                Line { length: Nanos(1 + rng.below(longest)), from, to }
            })
            .collect();
        let then = match rng.below(3) {
            0 => Then::Repeats(rng.below(lines.len() as u64) as u32),
            1 => Then::Holds(0),
            _ => Then::Holds(level(&mut rng)),
        };
        let curve = Curve { unit, lines, then };
        if curve.check().is_err() {
            continue;
        }
        let end_ns = curve.length().0.saturating_mul(3);
        let all = curve.parts_before(end_ns);
        let mut positions: Vec<u128> =
            (0..40).map(|_| (all as f64 * rng.unit()) as u128).filter(|at| *at < all).collect();
        positions.extend([0, all.saturating_sub(1)]);
        positions.sort_unstable();
        let mut place = Place::default();
        for position in positions.into_iter().filter(|position| *position < all) {
            let found = curve.due_ns(&mut place, position);
            assert_eq!(
                found,
                by_search(&curve, position, end_ns),
                "{case}: {position} of {curve:?}"
            );
        }
    }
}

#[test]
fn what_is_due_before_an_instant_never_falls() {
    let curve = Curve {
        unit: Unit::MilliIops,
        lines: vec![Line { length: Nanos(1_000_003), from: 7_777, to: 13 }],
        then: Then::Repeats(0),
    };
    let mut before = 0;
    for at_ns in (0..5_000_000).step_by(97) {
        let now = curve.parts_before(at_ns);
        assert!(now >= before, "{at_ns}");
        before = now;
    }
}

#[test]
fn what_is_no_curve_is_refused() {
    let good = iops(&[line(1, 0, 1)], Then::Holds(1));
    assert_eq!(good.check(), Ok(()));
    for bad in [
        Curve { lines: Vec::new(), ..good.clone() },
        iops(&[line(1, 0, 0)], Then::Holds(0)),
        iops(&[line(1, 0, 0)], Then::Repeats(0)),
        iops(&[line(1, 0, 1)], Then::Repeats(1)),
        iops(&[line(0, 0, 1)], Then::Holds(1)),
        iops(&[line(400 * 24 * 3600, 0, 1)], Then::Holds(1)),
        iops(&[line(1, 0, 2_000_000_000)], Then::Holds(1)),
        Curve { lines: vec![line(1, 0, 1); MOST_LINES + 1], ..good.clone() },
    ] {
        assert!(bad.check().is_err(), "{bad}");
    }
}
