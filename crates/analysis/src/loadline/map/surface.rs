//! A surface through measured points, with its uncertainty everywhere else.
//!
//! A Gaussian process (C. E. Rasmussen and C. K. I. Williams, *Gaussian Processes for Machine
//! Learning*, 2006, algorithm 2.1): a plane that nothing is known of beforehand, and departures
//! from it with a Matérn covariance of ν = 5/2 (equation 4.17). Their length and size are those
//! under which the measured values are most likely (equation 5.8), of a few.

/// Lengths of departures, as shares of an axis.
const LENGTHS: [f64; 5] = [0.1, 0.2, 0.35, 0.6, 1.0];
/// Sizes of departures, in units of the value.
const SIZES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];
/// What is known beforehand of the plane: nothing, in the same units.
const VAGUE: f64 = 10.0;
/// No value is surer than this: a matrix of equal rows has no inverse.
const LEAST_ERROR: f64 = 1e-3;

/// A value that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Where, along both axes, each 0 to 1.
    pub at: [f64; 2],
    /// What.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// What the surface is somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// How much two values have in common.
#[derive(Clone, Copy, Debug)]
struct Kernel {
    length: f64,
    size: f64,
}

impl Kernel {
    fn between(self, a: [f64; 2], b: [f64; 2]) -> f64 {
        let plane = 1.0 + (0..2).map(|axis| (a[axis] - 0.5) * (b[axis] - 0.5)).sum::<f64>();
        let distance = (0..2).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
        let r = 5f64.sqrt() * distance / self.length;
        VAGUE.powi(2) * plane + self.size.powi(2) * (1.0 + r + r * r / 3.0) * (-r).exp()
    }
}

/// The surface.
#[derive(Clone, Debug)]
pub struct Surface {
    kernel: Kernel,
    places: Vec<[f64; 2]>,
    /// The lower triangle whose product with itself is the covariance of what was measured.
    triangle: Vec<Vec<f64>>,
    weights: Vec<f64>,
    likelihood: f64,
}

impl Surface {
    /// Through these values; `None` without any, or where one is no number.
    pub fn through(known: &[Known]) -> Option<Surface> {
        let is_number = |one: &Known| one.value.is_finite() && one.error.is_finite();
        if known.is_empty() || !known.iter().all(is_number) {
            return None;
        }
        let kernels =
            LENGTHS.iter().flat_map(|length| SIZES.map(|size| Kernel { length: *length, size }));
        kernels
            .filter_map(|kernel| Surface::with(kernel, known))
            .max_by(|a, b| a.likelihood.total_cmp(&b.likelihood))
    }

    fn with(kernel: Kernel, known: &[Known]) -> Option<Surface> {
        let places: Vec<[f64; 2]> = known.iter().map(|one| one.at).collect();
        let mut triangle: Vec<Vec<f64>> = Vec::with_capacity(known.len());
        for (row, one) in known.iter().enumerate() {
            let mut line: Vec<f64> = Vec::with_capacity(row + 1);
            for column in 0..=row {
                let noise = if row == column { one.error.max(LEAST_ERROR).powi(2) } else { 0.0 };
                let before: f64 = (0..column)
                    .map(|k| line[k] * triangle.get(column).map_or_else(|| line[k], |t| t[k]))
                    .sum();
                let left = kernel.between(one.at, known[column].at) + noise - before;
                line.push(match triangle.get(column) {
                    Some(above) => left / above[column],
                    // The diagonal: of what rounding leaves, nothing can be said.
                    None if left > 0.0 => left.sqrt(),
                    None => return None,
                });
            }
            triangle.push(line);
        }
        let values: Vec<f64> = known.iter().map(|one| one.value).collect();
        let half = forward(&triangle, &values);
        let weights = backward(&triangle, &half);
        let fit: f64 = half.iter().map(|one| one * one).sum();
        let volume: f64 = triangle.iter().enumerate().map(|(row, line)| line[row].ln()).sum();
        let likelihood = -0.5 * fit - volume;
        Some(Surface { kernel, places, triangle, weights, likelihood })
    }

    /// What it is at a place.
    pub fn at(&self, place: [f64; 2]) -> Estimate {
        let common: Vec<f64> =
            self.places.iter().map(|known| self.kernel.between(place, *known)).collect();
        let value = common.iter().zip(&self.weights).map(|(common, weight)| common * weight).sum();
        let told: f64 = forward(&self.triangle, &common).iter().map(|one| one * one).sum();
        let left = self.kernel.between(place, place) - told;
        Estimate { value, error: left.max(0.0).sqrt() }
    }
}

/// The solution of triangle · x = right.
fn forward(triangle: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut solved: Vec<f64> = Vec::with_capacity(right.len());
    for (row, line) in triangle.iter().enumerate() {
        let before: f64 = solved.iter().zip(line).map(|(solved, factor)| solved * factor).sum();
        solved.push((right[row] - before) / line[row]);
    }
    solved
}

/// The solution of the transposed triangle · x = right.
fn backward(triangle: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut solved = right.to_vec();
    for row in (0..triangle.len()).rev() {
        let behind: f64 =
            (row + 1..triangle.len()).map(|below| triangle[below][row] * solved[below]).sum();
        solved[row] = (solved[row] - behind) / triangle[row][row];
    }
    solved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(at: [f64; 2], value: f64) -> Known {
        Known { at, value, error: 0.0 }
    }

    #[test]
    fn a_plane_is_found_from_its_corners_and_a_value_is_what_was_measured() {
        let plane = |at: [f64; 2]| 2.0 - at[0] - 0.5 * at[1];
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.3]];
        let surface = Surface::through(&corners.map(|at| known(at, plane(at)))).expect("values");
        for at in [[0.5, 0.5], [0.2, 0.9], [0.0, 0.0]] {
            let found = surface.at(at);
            assert!((found.value - plane(at)).abs() < 0.02, "{at:?}: {found:?}");
        }
        assert!(surface.at([0.0, 0.0]).error < 0.01);
    }

    #[test]
    fn far_from_what_was_measured_it_is_unsure_and_nonsense_makes_none() {
        let bent = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1], [0.2, 0.2], [0.3, 0.1]];
        let wave = |at: [f64; 2]| (8.0 * at[0]).sin() + at[1] * at[1];
        let surface = Surface::through(&bent.map(|at| known(at, wave(at)))).expect("values");
        assert!(surface.at([1.0, 1.0]).error > 10.0 * surface.at([0.1, 0.05]).error);
        assert!(Surface::through(&[]).is_none());
        assert!(Surface::through(&[known([0.0, 0.0], f64::NAN)]).is_none());
        // The same place twice is no reason to give up.
        assert!(Surface::through(&[known([0.5, 0.5], 1.0); 3]).is_some());
    }
}
