//! Contours of surfaces that are known.

use super::*;
use crate::simulated::Normal;

const SIZE: [usize; 2] = [20, 20];

/// Searches a surface whose figures have this relative error.
fn searched(excess: impl Fn([f64; 2]) -> f64, error: f64, seed: u64) -> Vec<Tried> {
    let mut normal = Normal::new(seed);
    let mut tried: Vec<Tried> = Vec::new();
    while let Some(at) = next(SIZE, &tried) {
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
        let [_, low, high] = grid.boundary(row);
        let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(19.0));
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

#[test]
fn a_grid_on_which_it_holds_everywhere_or_nowhere_takes_two_points() {
    assert_eq!(searched(|_| 0.5, 0.02, 1).len(), 2);
    assert_eq!(searched(|_| 2.0, 0.02, 1).len(), 1);
    let holds = searched(|_| 0.5, 0.02, 1);
    assert_eq!(Grid::new(SIZE, &holds).boundary(3), [None, Some(19.0), None]);
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
