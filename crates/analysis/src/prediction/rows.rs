//! Fitted rows by their loads, and what repetitions of a load are worth.
//!
//! Repetitions show how far one load strays from time to time. They do not show how far the model
//! is off for it: that is the same each time. Where rows stray from the fit by more than their
//! repetitions do (the *F* test of lack of fit; Draper and Smith, *Applied Regression Analysis*,
//! 3rd edition, 1998, 2.1), ρ of a row's variance is in common to all repetitions of its load, and
//! *n* of them are worth *n* ÷ (1 + (*n* − 1)·ρ) rows (Kish, *Survey Sampling*, 1965, 5.4).

use super::load::{Load, Measured};
use super::network::Network;
use super::parameter::Values;
use crate::estimate::student::incomplete_beta;
use catalogue::Cluster;

/// Chance alone takes rows for worse than their repetitions as often as this.
const BY_CHANCE: f64 = 0.05;
/// Repetitions do not agree better than that: the variance of a logarithm.
const LEAST_VARIANCE: f64 = 1e-12;

/// A load with its network, and what was measured of it.
pub(super) struct Point {
    pub(super) network: Network,
    /// The mean of the rates' logarithms.
    mean: f64,
    /// How many there are.
    count: f64,
    /// The sum of their squared distances from their mean.
    within: f64,
    /// How many rows they are worth.
    pub(super) worth: f64,
}

impl Point {
    /// How far these parameters are off for it, as a logarithm.
    pub(super) fn off(&self, values: &Values) -> f64 {
        self.network.ln_rate(values) - self.mean
    }
}

/// All that is fitted.
pub(super) struct Points {
    pub(super) all: Vec<Point>,
    /// The share of a row's variance that repetitions have in common, 0 to 1.
    pub(super) alike: f64,
}

impl Points {
    /// Nothing.
    pub(super) fn none() -> Points {
        Points { all: Vec::new(), alike: 0.0 }
    }

    /// Rows whose repetitions stray each by itself.
    pub(super) fn of(cluster: &Cluster, rows: &[Measured]) -> Points {
        let mut loads: Vec<(&Load, Vec<f64>)> = Vec::new();
        for row in rows {
            let ln_rate = row.rate.max(1e-12).ln();
            let is_same = |load: &Load| {
                let names = (&load.workload.name, &row.load.workload.name);
                *load == row.load && names.0 == names.1
            };
            match loads.iter_mut().find(|(load, _)| is_same(load)) {
                Some((_, rates)) => rates.push(ln_rate),
                None => loads.push((&row.load, vec![ln_rate])),
            }
        }
        let point = |(load, rates): (&Load, Vec<f64>)| {
            let count = rates.len() as f64;
            let mean = rates.iter().sum::<f64>() / count;
            let within = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
            Point { network: Network::new(cluster, load), mean, count, within, worth: count }
        };
        Points { all: loads.into_iter().map(point).collect(), alike: 0.0 }
    }

    /// How many rows all of them are worth.
    pub(super) fn worth(&self) -> f64 {
        self.all.iter().map(|point| point.worth).sum()
    }

    /// The sum of the rows' squared residuals.
    pub(super) fn squares(&self, values: &Values) -> f64 {
        let of = |point: &Point| {
            point.worth * point.off(values).powi(2) + (1.0 - self.alike) * point.within
        };
        self.all.iter().map(of).sum()
    }

    /// The same with repetitions that are worth what they are beside a fit, of which the parameters
    /// took so many rows.
    pub(super) fn beside(mut self, values: &Values, taken: f64) -> Points {
        let loads = self.all.len() as f64;
        let rows: f64 = self.all.iter().map(|point| point.count).sum();
        let (between, within) = ((loads - taken).max(1.0), rows - loads);
        self.alike = if within < 1.0 {
            0.0
        } else {
            let of = |point: &Point| point.count * point.off(values).powi(2);
            let off = self.all.iter().map(of).sum::<f64>() / between;
            let apart = self.all.iter().map(|point| point.within).sum::<f64>() / within;
            {
                let off = MeanSquare { value: off, freedom: between };
                let apart = MeanSquare { value: apart.max(LEAST_VARIANCE), freedom: within };
                alike(off, apart, rows / loads)
            }
        };
        for point in &mut self.all {
            point.worth = point.count / (1.0 + (point.count - 1.0) * self.alike);
        }
        self
    }
}

/// The share of a row's variance that its repetitions have in common, from the mean squares of
/// loads about the fit and of repetitions about their load, and how often a load was repeated.
fn alike(off: MeanSquare, apart: MeanSquare, repeats: f64) -> f64 {
    let ratio = off.value / apart.value;
    // The share of the F distribution above this ratio.
    let by_chance = incomplete_beta(
        apart.freedom / 2.0,
        off.freedom / 2.0,
        apart.freedom / (apart.freedom + off.freedom * ratio),
    );
    if ratio <= 1.0 || by_chance >= BY_CHANCE {
        return 0.0;
    }
    let common = (off.value - apart.value) / repeats;
    common / (common + apart.value)
}

/// A sum of squares ÷ its degrees of freedom.
#[derive(Clone, Copy)]
struct MeanSquare {
    value: f64,
    freedom: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    #[test]
    fn repetitions_that_agree_about_what_does_not_fit_are_one_row() {
        // 3 repetitions of each of 8 loads, which agree within 0.2 % and stray by 20 %.
        let of = |value, freedom| MeanSquare { value, freedom };
        let found = alike(of(3.0 * 0.04, 2.0), of(4e-6, 16.0), 3.0);
        assert!(found > 0.999, "{found}");
        assert!(alike(of(4e-4, 2.0), of(4e-4, 16.0), 3.0).abs() < 1e-12);
        // The 95th percentile of F with 2 and 16 degrees of freedom is 3.634.
        assert!(alike(of(3.63, 2.0), of(1.0, 16.0), 3.0).abs() < 1e-12);
        assert!((alike(of(3.64, 2.0), of(1.0, 16.0), 3.0) - 0.88 / 1.88).abs() < 1e-9);
    }

    #[test]
    fn rows_that_stray_each_by_itself_are_rarely_taken_for_one() {
        let mut rng = Rng::new(7);
        let mut mean_square = |freedom: u32| {
            let squares = (0..freedom).map(|_| super::super::posterior::normal(&mut rng).powi(2));
            let freedom = f64::from(freedom);
            MeanSquare { value: squares.sum::<f64>() / freedom, freedom }
        };
        let taken =
            (0..4_000).filter(|_| alike(mean_square(3), mean_square(16), 3.0) > 0.0).count();
        assert!((140..260).contains(&taken), "{taken} of 4,000, 200 expected");
    }
}
