//! A falling function of the share that fits, computed once and read often.

use super::Point;

/// The step of the table, in the logarithm of the share that fits.
const STEP: f64 = 0.04;
/// Where the table ends: beyond, all fits whatever lies unevenly.
const END: f64 = 2.0;
/// Where it begins at the least.
const LEAST: f64 = 1e-14;

/// What is missing by the share that fits: monotone and smooth between its entries (Fritsch and
/// Carlson, "Monotone piecewise cubic interpolation", SIAM J. Numer. Anal. 17, 1980).
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The logarithm of the first entry's share.
    first: f64,
    /// What is missing, and its slope by the logarithm × the step.
    entries: Vec<(f64, f64)>,
}

impl Table {
    /// The function through these points, whose shares rise.
    pub(super) fn even(points: &[Point]) -> Table {
        let known: Vec<Point> =
            points.iter().copied().filter(|point| point.fits > LEAST && point.fits < 1.0).collect();
        let least = known.first().map_or(0.5, |point| point.fits);
        // Where all fits is an entry: there, a function may have its one bend.
        let first = -(-least.ln() / STEP).ceil() * STEP;
        let count = ((END.ln() - first) / STEP).ceil() as usize + 1;
        let curve = Curve::through(&known);
        let values = (0..count).map(|number| curve.at((first + number as f64 * STEP).exp()));
        Table::of(first, values.collect())
    }

    /// The same where the share that fits differs by these factors, each with its weight.
    pub(super) fn blurred(&self, factors: &[(f64, f64)]) -> Table {
        let blurred = |number: usize| {
            let fits = (self.first + number as f64 * STEP).exp();
            factors.iter().map(|(factor, weight)| weight * self.at(fits * factor)).sum::<f64>()
        };
        Table::of(self.first, (0..self.entries.len()).map(blurred).collect())
    }

    fn of(first: f64, mut values: Vec<f64>) -> Table {
        // What rounding made rise does not.
        for number in 1..values.len() {
            values[number] = values[number].min(values[number - 1]).max(0.0);
        }
        let slopes = slopes(&values, |_| 1.0);
        Table { first, entries: values.into_iter().zip(slopes).collect() }
    }

    /// What is missing where this share fits.
    pub(super) fn at(&self, fits: f64) -> f64 {
        if fits.is_nan() || fits <= 0.0 {
            return 1.0;
        }
        let place = (fits.ln() - self.first) / STEP;
        let before = self.entries.first().map_or(1.0, |entry| entry.0);
        if place <= 0.0 {
            // Less than one block of thousands: as much less is found.
            return 1.0 - (1.0 - before) * (place * STEP).exp();
        }
        let number = place as usize;
        match (self.entries.get(number), self.entries.get(number + 1)) {
            (Some(&low), Some(&high)) => {
                hermite(low.into(), high.into(), place - number as f64).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }
}

/// Points at any distance, by the share that fits itself: there, a uniform load is a straight line.
struct Curve {
    points: Vec<Point>,
    slopes: Vec<f64>,
}

impl Curve {
    fn through(known: &[Point]) -> Curve {
        let mut points = vec![Point { fits: 0.0, missing: 1.0 }];
        for point in known.iter().chain([&Point { fits: 1.0, missing: 0.0 }]) {
            let last = points[points.len() - 1];
            // Points that rounding put into one place are one.
            if point.fits > last.fits * (1.0 + 1e-9) {
                points.push(Point { missing: point.missing.min(last.missing), ..*point });
            }
        }
        if let Some(last) = points.last_mut() {
            *last = Point { fits: 1.0, missing: 0.0 };
        }
        let values: Vec<f64> = points.iter().map(|point| point.missing).collect();
        let slopes = slopes(&values, |number| points[number + 1].fits - points[number].fits);
        Curve { points, slopes }
    }

    fn at(&self, fits: f64) -> f64 {
        let above = self.points.partition_point(|point| point.fits <= fits);
        let (Some(low), Some(high)) =
            (self.points.get(above.wrapping_sub(1)), self.points.get(above))
        else {
            return 0.0;
        };
        let wide = high.fits - low.fits;
        let end = |value: f64, slope: f64| End { value, slope: slope * wide };
        hermite(
            end(low.missing, self.slopes[above - 1]),
            end(high.missing, self.slopes[above]),
            (fits - low.fits) / wide,
        )
    }
}

/// An end of a piece of a curve: its value, and its slope × the length of the piece.
#[derive(Clone, Copy, Debug)]
struct End {
    value: f64,
    slope: f64,
}

impl From<(f64, f64)> for End {
    fn from((value, slope): (f64, f64)) -> End {
        End { value, slope }
    }
}

/// Between two ends, at a share of the way.
fn hermite(low: End, high: End, at: f64) -> f64 {
    let rest = 1.0 - at;
    low.value * (1.0 + 2.0 * at) * rest * rest
        + low.slope * at * rest * rest
        + high.value * at * at * (1.0 + 2.0 * rest)
        - high.slope * at * at * rest
}

/// Slopes that keep what is monotone monotone: the weighted harmonic mean of those on both sides.
fn slopes(values: &[f64], wide: impl Fn(usize) -> f64) -> Vec<f64> {
    let last = values.len().saturating_sub(1);
    let secant = |number: usize| (values[number + 1] - values[number]) / wide(number);
    (0..values.len())
        .map(|number| match number {
            _ if last == 0 => 0.0,
            0 => secant(0),
            _ if number == last => secant(last - 1),
            _ => {
                let (before, after) = (secant(number - 1), secant(number));
                if before * after <= 0.0 {
                    return 0.0;
                }
                let (left, right) = (wide(number - 1), wide(number));
                let (one, two) = (2.0 * right + left, right + 2.0 * left);
                (one + two) / (one / before + two / after)
            }
        })
        .collect()
}
