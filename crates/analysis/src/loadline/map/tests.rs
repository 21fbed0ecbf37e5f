//! Contours of surfaces that are known.

use super::*;
use crate::estimate::simulated::Normal;

const SIZE: [usize; 2] = [20, 20];

/// Searches a surface whose figures have this relative error.
fn searched(excess: impl Fn([f64; 2]) -> f64, error: f64, seed: u64) -> Vec<Tried> {
    searched_of(SIZE, excess, error, seed)
}

fn searched_of(
    size: [usize; 2],
    excess: impl Fn([f64; 2]) -> f64,
    error: f64,
    seed: u64,
) -> Vec<Tried> {
    let mut normal = Normal::new(seed);
    let mut tried: Vec<Tried> = Vec::new();
    while let Some(at) = next(size, &tried) {
        let true_one = excess([at[0] as f64, at[1] as f64]);
        let noise = (error * normal.draw()).exp();
        tried.push(Tried { at, excess: true_one * noise, error: Some(error) });
    }
    tried
}

/// Rows whose contour is within its stated error, of those in which the surface crosses the limit
/// within the grid; and the mean width of what was stated, in places.
fn covered(excess: impl Fn([f64; 2]) -> f64, tried: &[Tried]) -> [f64; 3] {
    let grid = Grid::new(SIZE, tried);
    let (mut rows, mut within, mut width) = (0.0, 0.0, 0.0);
    for row in 0..SIZE[1] {
        let fine = (0..=1_900).map(|step| f64::from(step) / 100.0);
        let Some(true_one) = fine.clone().find(|at| excess([*at, row as f64]) > 1.0) else {
            continue;
        };
        if true_one == 0.0 {
            continue;
        }
        let [_, low, high] = grid.boundary(row).map(|place| place.clamp(0.0, 19.0));
        rows += 1.0;
        within += f64::from(u8::from((low - 0.06..=high + 0.06).contains(&true_one)));
        width += high - low;
    }
    [rows, within, width / rows]
}

/// The response of M/M/1 to two streams, over a limit of four services: a plane in 1 ÷ excess.
fn queue(at: [f64; 2]) -> f64 {
    let load = 0.03 * at[0] + 0.02 * at[1] + 0.1;
    if load >= 1.0 { f64::INFINITY } else { 0.25 / (1.0 - load) }
}

/// Writes cost three times what reads do and disturb them beyond their share: a bent contour.
fn bent(at: [f64; 2]) -> f64 {
    let load = 0.028 * at[0] + 0.0016 * at[1] * at[1] + 0.001 * at[0] * at[1] + 0.1;
    if load >= 1.0 { f64::INFINITY } else { 0.2 / (1.0 - load) }
}

/// Latency that does not rise at all until the target is full.
fn cliff(at: [f64; 2]) -> f64 {
    if 0.05 * at[0] + 0.04 * at[1] > 0.71 { 20.0 } else { 0.5 }
}

#[test]
#[ignore = "a proof"]
fn a_tenth_of_the_points_finds_the_contour_within_its_stated_error() {
    for (name, excess, widest) in
        [("queue", queue as fn([f64; 2]) -> f64, 0.5), ("bent", bent, 0.5), ("cliff", cliff, 3.5)]
    {
        let [mut rows, mut within, mut width] = [0.0; 3];
        for seed in 0..40 {
            let tried = searched(excess, 0.02, seed);
            assert!(tried.len() <= 40, "{name}: {}", tried.len());
            let [more, inside, wide] = covered(excess, &tried);
            rows += more;
            within += inside;
            width += wide / 40.0;
        }
        assert!(within / rows >= 0.95, "{name}: {within} of {rows}");
        assert!(width < widest, "{name}: {width} places wide");
    }
}

/// M/G/1 with reads of exponential 100 µs and writes of exponential 300 µs (Pollaczek and
/// Khinchine): the mean of reads, over 1 ms; rates rise by `step` from place to place.
fn two_kinds(step: [f64; 2], at: [f64; 2]) -> f64 {
    let [reads, writes] = [0, 1].map(|axis| step[axis] * (at[axis] + 1.0));
    let load = reads * 100e-6 + writes * 300e-6;
    let work = reads * 100e-6f64.powi(2) + writes * 300e-6f64.powi(2);
    if load >= 1.0 { f64::INFINITY } else { (100e-6 + work / (1.0 - load)) / 1e-3 }
}

/// How many reads a second it bears beside so many writes: the same formula, solved for them.
fn most_reads(writes: f64) -> f64 {
    let (load, work) = (writes * 300e-6, writes * 300e-6f64.powi(2));
    (900e-6 * (1.0 - load) - work) / (900e-6 * 100e-6 + 100e-6f64.powi(2))
}

#[test]
fn rows_at_the_edges_of_a_grid_are_bounded_too() {
    // The last rows lie below the grid with the first steps, and the first ones beyond it with the
    // second.
    for step in [[700.0, 200.0], [500.0, 200.0]] {
        let axis = Axis {
            name: "reads.rate".to_owned(),
            values: (1..=12)
                .map(|n| Setting::new("rate", format!("{}", step[0] * f64::from(n))))
                .collect(),
        };
        let (mut rows, mut within, mut outside) = (0, 0, [0, 0]);
        for seed in 0..6 {
            let tried = searched_of([12, 12], |at| two_kinds(step, at), 0.02, seed);
            let grid = Grid::new([12, 12], &tried);
            for row in 0..12u32 {
                let truth = most_reads(step[1] * f64::from(row + 1));
                let found = Boundary::of(&axis, grid.boundary(row as usize));
                assert!(found.low.is_some() || found.high.is_some(), "{step:?} {row}: {found:?}");
                let is_above = found.low.is_none_or(|low| low - 0.06 * step[0] <= truth);
                let is_below = found.high.is_none_or(|high| truth <= high + 0.06 * step[0]);
                rows += 1;
                within += u32::from(is_above && is_below);
                outside[0] += u32::from(truth < step[0] && found.high == Some(step[0]));
                outside[1] +=
                    u32::from(truth > 12.0 * step[0] && found.low == Some(12.0 * step[0]));
            }
        }
        assert!(f64::from(within) >= 0.95 * f64::from(rows), "{step:?}: {within} of {rows}");
        assert!(outside.iter().sum::<u32>() >= 6, "{step:?}: {outside:?}");
    }
}

#[test]
fn a_grid_on_which_it_holds_everywhere_or_nowhere_takes_two_points() {
    assert_eq!(searched(|_| 0.5, 0.02, 1).len(), 2);
    assert_eq!(searched(|_| 2.0, 0.02, 1).len(), 1);
    let holds = searched(|_| 0.5, 0.02, 1);
    assert_eq!(Grid::new(SIZE, &holds).boundary(3), [20.0, 19.0, 20.0]);
    assert_eq!(Grid::new(SIZE, &holds).holds([7, 9]), Some(true));
}

#[test]
fn points_that_contradict_each_other_are_counted_and_none_speaks_for_others() {
    let mut tried = searched(queue, 0.02, 1);
    assert_eq!(contradictions(&tried), 0);
    tried.push(Tried { at: [1, 1], excess: 9.0, error: Some(0.02) });
    assert!(contradictions(&tried) > 0);
    assert_eq!(Grid::new(SIZE, &tried).follows([0, 0]), None);
}

#[test]
fn a_budget_is_a_tenth_and_never_more_than_there_is() {
    assert_eq!((budget(400), budget(401), budget(9), budget(4)), (40, 41, 8, 4));
    assert_eq!(next([0, 3], &[]), None);
}
