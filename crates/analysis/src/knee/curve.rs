//! One curve: its peak, its plateau, and the points that are out of line.

use super::{LEAST_POINTS, median};

/// A value within this share of the peak is on its plateau.
const PLATEAU: f64 = 0.05;
/// A point is never out of line by less than this share: runs of one point on one machine differ by
/// as much.
const LEAST_DEVIATION: f64 = 0.10;
/// Hampel's identifier: so many standard deviations.
const HAMPEL: f64 = 3.0;
/// The standard deviation of a normal distribution whose median absolute deviation is 1.
const MAD_TO_SIGMA: f64 = 1.4826;
/// More odd points than one in so many are no odd points but a curve without a trend.
const ODD_AMONG: usize = 4;

/// What one curve shows. Points are counted from 0 in rising order of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The point with the largest value, odd ones left out.
    pub peak: usize,
    /// The first point of the plateau: the knee.
    pub knee: usize,
    /// The last point of the plateau.
    pub plateau_end: usize,
    /// The median of the plateau's values; `None` where the climb's end was not seen: a peak alone
    /// holds nothing up.
    pub sustained: Option<f64>,
    /// Whether the last point is the peak and alone on its plateau: the end of the climb was not
    /// seen.
    pub is_rising: bool,
    /// The points that are out of line, in rising order.
    pub odd: Vec<Odd>,
}

/// A point that breaks its neighbours' trend.
#[derive(Clone, Debug, PartialEq)]
pub struct Odd {
    /// The point's number.
    pub point: usize,
    /// What the nearest of its neighbours' trends leads to there.
    pub expected: f64,
    /// The share by which it had to differ from that to be told (0.1: a tenth).
    pub limit: f64,
}

/// The curve through these points; `None` of fewer than [`LEAST_POINTS`]. `along` rises, and all
/// `values` are above 0.
pub fn curve(along: &[f64], values: &[f64]) -> Option<Curve> {
    if values.len() < LEAST_POINTS || along.len() != values.len() {
        return None;
    }
    // Loads and sizes are swept in multiples, and are compared as such.
    let is_geometric = along.iter().all(|x| *x > 0.0);
    let points: Vec<Point> = (0..)
        .zip(along.iter().zip(values))
        .map(|(number, (x, y))| Point {
            number,
            x: if is_geometric { x.ln() } else { *x },
            y: y.ln(),
        })
        .collect();
    let odd = odd(points);
    let kept: Vec<usize> =
        (0..values.len()).filter(|n| odd.iter().all(|odd| odd.point != *n)).collect();
    let (place, peak) =
        kept.iter().enumerate().max_by(|a, b| values[*a.1].total_cmp(&values[*b.1]))?;
    let is_level = |n: &&usize| values[**n] >= values[*peak] * (1.0 - PLATEAU);
    let before = kept[..place].iter().rev().take_while(is_level).count();
    let after = kept[place..].iter().take_while(is_level).count();
    let plateau = &kept[place - before..place + after];
    let mut level: Vec<f64> = plateau.iter().map(|n| values[*n]).collect();
    let (knee, plateau_end) = (*plateau.first()?, *plateau.last()?);
    let is_rising = knee + 1 == values.len();
    Some(Curve {
        peak: *peak,
        knee,
        plateau_end,
        sustained: (!is_rising).then(|| median(&mut level)),
        is_rising,
        odd,
    })
}

/// A point; `y` is the logarithm of its value.
#[derive(Clone, Copy, Debug)]
struct Point {
    number: usize,
    x: f64,
    y: f64,
}

/// The points that are out of line, the worst first taken out, because it bends the trend of its
/// neighbours.
fn odd(mut points: Vec<Point>) -> Vec<Odd> {
    let most = (points.len() / ODD_AMONG).max(1);
    let mut found: Vec<Odd> = Vec::new();
    while found.len() < most {
        let judged = (1..points.len().saturating_sub(1))
            .filter_map(|at| Some((at, deviation(&points, at, 2)?)));
        let Some((at, worst)) = judged.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else {
            break;
        };
        let mut others = points.clone();
        let point = others.remove(at);
        let mut usual: Vec<f64> =
            (0..others.len()).filter_map(|at| deviation(&others, at, 1)).map(f64::abs).collect();
        let limit = (HAMPEL * MAD_TO_SIGMA * median(&mut usual)).max(LEAST_DEVIATION.ln_1p());
        if worst.abs() <= limit {
            break;
        }
        found.push(Odd {
            point: point.number,
            expected: (point.y - worst).exp(),
            limit: limit.exp_m1(),
        });
        points = others;
    }
    found.sort_by_key(|odd| odd.point);
    found
}

/// How far a point is from what its neighbours lead to, as the logarithm of a ratio. `None` at an
/// end, or where fewer than `least` trends reach it.
///
/// There are three: the line between the neighbours, and the lines through the two points before
/// and the two behind. A bend or a step of a curve agrees with one of them, or lies between them,
/// and counts as 0: only what all of them miss on the same side is out of line.
fn deviation(points: &[Point], at: usize, least: usize) -> Option<f64> {
    let line = |a: usize, b: usize| {
        let (a, b) = (points.get(a)?, points.get(b)?);
        let x = points.get(at)?.x;
        Some(a.y + (b.y - a.y) / (b.x - a.x) * (x - a.x))
    };
    let between = line(at.checked_sub(1)?, at + 1)?;
    let before = at.checked_sub(2).and_then(|first| line(first, at - 1));
    let behind = line(at + 1, at + 2);
    let y = points.get(at)?.y;
    let missed: Vec<f64> = [Some(between), before, behind]
        .into_iter()
        .flatten()
        .map(|expected| y - expected)
        .collect();
    if missed.len() < least {
        return None;
    }
    let same_side = missed.iter().all(|miss| *miss > 0.0) || missed.iter().all(|miss| *miss < 0.0);
    let nearest = missed.into_iter().min_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    Some(if same_side { nearest } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Threads in powers of two from 1 on.
    fn threads(count: usize) -> Vec<f64> {
        (0..count).map(|n| f64::from(1u32 << n)).collect()
    }

    fn of(values: &[f64]) -> Curve {
        curve(&threads(values.len()), values).expect("four points or more")
    }

    // Report E prints peaks, sustained values, knees and the place of the odd point. The other
    // values of these curves are made to go with them.
    const NN_WRITE: [f64; 11] = [2.1, 4.1, 8.0, 15.3, 25.0, 34.0, 39.8, 40.5, 40.9, 40.0, 36.8];
    const NN_READ: [f64; 11] = [3.2, 6.3, 12.2, 23.0, 41.0, 65.0, 52.0, 81.0, 84.5, 82.0, 81.5];
    const N1_WRITE: [f64; 10] = [3.5, 7.0, 14.0, 25.0, 34.5, 31.5, 31.4, 31.6, 31.5, 31.0];
    const N1_READ: [f64; 10] = [3.0, 6.0, 11.8, 21.0, 32.0, 42.5, 50.0, 50.5, 50.8, 51.6];
    const STAT: [f64; 10] =
        [110.0, 230.0, 480.0, 1000.0, 2050.0, 4000.0, 6880.0, 4300.0, 3500.0, 3200.0];

    #[test]
    fn report_e_levels_off_where_its_author_says() {
        let write = of(&NN_WRITE);
        assert_eq!(
            (write.peak, write.knee, write.plateau_end),
            (8, 6, 9),
            "N-N writes level off at 64 threads"
        );
        assert!(write.odd.is_empty() && (write.sustained.expect("level") - 40.25).abs() < 1e-9);
        let write = of(&N1_WRITE);
        assert_eq!((write.peak, write.knee, write.plateau_end), (4, 4, 4), "N-1 writes peak at 16");
        let read = of(&N1_READ);
        assert_eq!(
            (read.peak, read.knee, read.is_rising),
            (9, 6, false),
            "N-1 reads level off at 64 and peak at 512"
        );
        let stat = of(&STAT);
        assert_eq!((stat.peak, stat.knee, stat.plateau_end), (6, 6, 6), "stat peaks at 64");
        for curve in [write, read, stat] {
            assert_eq!(curve.odd, []);
        }
    }

    #[test]
    fn report_e_has_one_odd_point() {
        let read = of(&NN_READ);
        assert_eq!(
            (read.peak, read.knee, read.plateau_end),
            (8, 7, 10),
            "N-N reads level off at 128"
        );
        let [odd] = read.odd.as_slice() else { panic!("{:?}", read.odd) };
        assert_eq!(odd.point, 6, "the one at 64");
        assert!(odd.expected > 65.0 && odd.limit < 0.3, "{odd:?}");
    }

    #[test]
    fn a_climb_whose_end_was_not_seen_says_so() {
        let rising = of(&[1.0, 2.0, 4.0, 7.31]);
        assert!(rising.is_rising);
        assert_eq!((rising.peak, rising.knee), (3, 3));
        assert_eq!(rising.sustained, None, "its last value is no level");
        assert_eq!(curve(&[1.0, 2.0, 4.0], &[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn bends_steps_and_ends_are_not_odd() {
        for values in [
            [1.0, 2.0, 4.0, 4.0, 4.0, 4.0],
            [1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
            [1.0, 2.0, 4.0, 8.0, 4.0, 2.0],
            [1.0, 8.0, 8.0, 8.0, 8.0, 8.0],
            [8.0, 8.0, 8.0, 8.0, 8.0, 4.0],
        ] {
            assert_eq!(of(&values).odd, [], "{values:?}");
        }
        assert_eq!(of(&[10.0, 5.0, 10.0, 10.0]).odd.len(), 1);
        // A peak that is out of line is no peak.
        let spike = of(&[10.0, 10.0, 20.0, 10.0, 10.0, 10.0]);
        assert_eq!((spike.odd[0].point, spike.knee, spike.plateau_end), (2, 0, 5));
    }

    proptest! {
        #[test]
        fn one_spoiled_point_of_a_smooth_climb_is_found_and_no_other(
            knee in 2.0f64..500.0,
            spoiled in 1usize..10,
            factor in prop_oneof![0.3f64..0.6, 1.7f64..3.0],
            noise in prop::collection::vec(-0.01f64..0.01, 11),
        ) {
            let along = threads(11);
            let mut values: Vec<f64> =
                along.iter().zip(&noise).map(|(x, noise)| x / (1.0 + x / knee) * (1.0 + noise))
                    .collect();
            prop_assert_eq!(curve(&along, &values).expect("a curve").odd, []);
            values[spoiled] *= factor;
            let odd: Vec<usize> = curve(&along,
                &values).expect("a curve").odd.iter().map(|odd| odd.point).collect();
            prop_assert_eq!(odd, vec![spoiled]);
        }

        #[test]
        fn the_plateau_holds_the_peak_and_only_what_is_near_it(
            values in prop::collection::vec(1e-3f64..1e9, 4..30)) {
            let curve = curve(&threads(values.len()), &values).expect("a curve");
            prop_assert!((curve.knee..=curve.plateau_end).contains(&curve.peak));
            for point in curve.knee..=curve.plateau_end {
                let is_odd = curve.odd.iter().any(|odd| odd.point == point);
                prop_assert!(is_odd || values[point] >= values[curve.peak] * (1.0 - PLATEAU));
            }
            prop_assert!(curve.odd.len() <= values.len() / ODD_AMONG);
        }
    }
}
