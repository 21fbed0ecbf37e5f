//! What follows from predicted rates beside what was published of it: latencies, throughputs,
//! shares of a rate, and where rates level off along the number of threads.

use super::calibration::{Calibration, binding, seen};
use super::fit::{Fit, OUTSIDE, Range};
use super::load::{Derived, Load, Of};
use super::network::Network;
use super::parameter::Values;
use super::posterior::quantile;
use crate::knee::along;
use catalogue::Cluster;

/// 5 % of a normal distribution lie beyond so many of its deviations.
const NORMAL_90: f64 = 1.645;

/// A published figure beside what follows from predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// The figure.
    pub figure: Derived,
    /// What follows, in the figure's unit.
    pub predicted: Range,
    /// Whether it follows from a row that was fitted alone: then its error proves nothing.
    pub is_fitted: bool,
    /// Whether nothing that was fitted speaks for the load that it is of.
    pub is_extrapolated: bool,
    /// Whether the fitted rows leave that load so open that it may be off by more than 30 %.
    pub is_wide: bool,
}

impl Followed {
    /// Predicted ÷ published − 1, from the nearer end of a range; of a share predicted − published.
    pub fn error(&self) -> f64 {
        let (low, high) =
            (self.figure.published, self.figure.up_to.unwrap_or(self.figure.published));
        let published = self.predicted.value.clamp(low, high.max(low));
        if self.figure.quantity.is_share() {
            self.predicted.value - published
        } else {
            self.predicted.value / published - 1.0
        }
    }

    /// Whether the interval and what was published have anything in common.
    pub fn is_covered(&self) -> bool {
        let high = self.figure.up_to.unwrap_or(self.figure.published);
        self.predicted.low <= high && self.figure.published <= self.predicted.high
    }
}

/// What follows of these figures, in their order.
pub fn follow(cluster: &Cluster, calibration: &Calibration, figures: &[Derived]) -> Vec<Followed> {
    let fit = &calibration.fit;
    let fitted: Vec<&Load> = calibration.fitted.iter().map(|row| &row.row.load).collect();
    let networks: Vec<Network> = fitted.iter().map(|load| Network::new(cluster, load)).collect();
    let seen = seen(fit, &networks);
    // Several figures are of one curve.
    let mut curves: Vec<(&Load, Rates)> = Vec::new();
    let mut all = Vec::new();
    for figure in figures {
        let load = &figure.load;
        let binding = binding(fit, &Network::new(cluster, load), &seen);
        let rate = binding.predicted;
        let predicted = match figure.of {
            Of::Rate(factor) => scaled(rate, factor),
            Of::Latency => latency(rate, load.outstanding as f64 * 1e9),
            Of::Knee | Of::Peak | Of::FromPeak { .. } => {
                let known = curves.iter().position(|(known, _)| known.is_like(load));
                let place = known.unwrap_or_else(|| {
                    curves.push((load, Rates::along(cluster, fit, figure)));
                    curves.len() - 1
                });
                curves[place].1.range(figure.of, fit.spread)
            }
        };
        let is_rate = matches!(figure.of, Of::Rate(_) | Of::Latency);
        all.push(Followed {
            figure: figure.clone(),
            predicted,
            is_fitted: is_rate && fitted.iter().any(|known| known.is_like(load)),
            is_extrapolated: !binding.unseen.is_empty(),
            is_wide: binding.far_off > super::calibration::WIDE,
        });
    }
    all
}

fn scaled(rate: Range, factor: f64) -> Range {
    Range { value: rate.value * factor, low: rate.low * factor, high: rate.high * factor }
}

fn latency(rate: Range, outstanding_ns: f64) -> Range {
    let of = |rate: f64| outstanding_ns / rate.max(1e-12);
    Range { value: of(rate.value), low: of(rate.high), high: of(rate.low) }
}

/// Rates at powers of two of threads, up to the most of them.
struct Rates {
    threads: Vec<f64>,
    /// By the most likely parameters.
    likely: Vec<f64>,
    /// By all that are likely, with their weights.
    drawn: Vec<(Vec<f64>, f64)>,
}

impl Rates {
    fn along(cluster: &Cluster, fit: &Fit, figure: &Derived) -> Rates {
        let most = &figure.load;
        let threads: Vec<u64> =
            (0..63).map(|power| 1 << power).take_while(|one| *one <= figure.threads).collect();
        let depth = most.outstanding / figure.threads.max(1);
        let network = |threads: &u64| {
            let hosts = u64::from(most.hosts).min(*threads) as u32;
            let outstanding = threads * depth.max(1);
            Network::new(
                cluster,
                &Load { hosts, outstanding, depth: most.depth.min(outstanding), ..most.clone() },
            )
        };
        let networks: Vec<Network> = threads.iter().map(network).collect();
        let rates = |values: &Values| -> Vec<f64> {
            networks.iter().map(|network| network.ln_rate(values).exp()).collect()
        };
        Rates {
            threads: threads.iter().map(|threads| *threads as f64).collect(),
            likely: rates(&fit.values),
            drawn: fit.likely().map(|draw| (rates(&draw.values), draw.weight)).collect(),
        }
    }

    /// What the curve of these rates says.
    fn says(&self, of: Of, rates: &[f64]) -> f64 {
        let curve = along(&self.threads, rates);
        let at = |point: Option<usize>| {
            point.and_then(|point| self.threads.get(point)).copied().unwrap_or_default()
        };
        match of {
            Of::Knee => at(curve.map(|curve| curve.knee)),
            Of::Peak => at(curve.map(|curve| curve.peak)),
            Of::FromPeak { at } => {
                let here = self.threads.iter().position(|threads| *threads >= at as f64);
                let most = rates.iter().copied().fold(0.0, f64::max);
                here.map_or(0.0, |point| rates[point] / most.max(1e-300) - 1.0)
            }
            Of::Rate(_) | Of::Latency => 0.0,
        }
    }

    /// What the curve says, and within which bounds; rows stray by `spread`.
    fn range(&self, of: Of, spread: f64) -> Range {
        let value = self.says(of, &self.likely);
        let drawn = |of: Of, share: f64| {
            let says = self.drawn.iter().map(|(rates, weight)| (self.says(of, rates), *weight));
            let mut drawn: Vec<(f64, f64)> = says.collect();
            if drawn.is_empty() { value } else { quantile(&mut drawn, share) }
        };
        let (low, high) = match of {
            // No predicted rate falls, so chance decides where on its plateau a curve is highest.
            Of::Peak => (drawn(Of::Knee, 0.5 * OUTSIDE), value),
            // Two rates stray, each on its own; a share of the peak is not above it.
            Of::FromPeak { .. } => {
                let strays = NORMAL_90 * std::f64::consts::SQRT_2 * spread;
                (drawn(of, 0.5 * OUTSIDE) - strays, (value + strays).min(0.0))
            }
            Of::Knee | Of::Rate(_) | Of::Latency => {
                (drawn(of, 0.5 * OUTSIDE), drawn(of, 1.0 - 0.5 * OUTSIDE))
            }
        };
        Range { value, low: low.min(value), high: high.max(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::calibration::calibrate;
    use crate::prediction::load::{Choosable, Measured, Reported, published};
    use catalogue::published::Published;

    fn followed(testbed: &str, figures: &str) -> Vec<Followed> {
        let cluster = Cluster::parse("t", testbed, &[]).expect("a good testbed");
        let Reported { rates, derived } =
            published(&Published::parse("f", figures).expect("good figures"));
        let of = |calibrates: bool| -> Vec<Measured> {
            let chosen = |row: &Choosable| (row.calibrates == calibrates).then(|| row.row.clone());
            rates.rows.iter().filter_map(chosen).collect()
        };
        let calibration = calibrate(&cluster, &of(true), &of(false)).expect("fits");
        follow(&cluster, &calibration, &derived)
    }

    fn of<'a>(all: &'a [Followed], name: &str) -> &'a Followed {
        all.iter().find(|one| one.figure.name == name).unwrap_or_else(|| panic!("{name}: {all:?}"))
    }

    #[test]
    fn latencies_and_throughputs_of_report_c_follow_from_its_rates() {
        let all = followed(
            include_str!("../../../../reference/testbeds/vsan-four-corners.toml"),
            include_str!("../../../../reference/results/vsan-four-corners.toml"),
        );
        assert_eq!(all.len(), 30, "two for each rate");
        let latency = of(&all, "8K random 70/30, 16 TB: mean latency");
        let throughput = of(&all, "8K random 70/30, 16 TB: throughput");
        let rate = throughput.predicted.value / 8192.0;
        assert!((latency.predicted.value * rate / 1e9 - 320.0).abs() < 1e-6, "320 outstanding");
        assert!(!latency.is_fitted && latency.is_covered() && latency.predicted.low > 0.0);
        assert!(of(&all, "4K random read, 8 TB: mean latency").is_fitted);
    }

    #[test]
    fn rates_of_report_d_are_split_by_operation_machine_and_terabyte() {
        let all = followed(
            include_str!("../../../../reference/testbeds/hyperflex-stretched.toml"),
            include_str!("../../../../reference/results/hyperflex-stretched.toml"),
        );
        let value =
            |name: &str| of(&all, &format!("8K 67 % read, 1 local: {name}")).predicted.value;
        let (reads, writes) = (value("read rate"), value("write rate"));
        assert!((reads / (reads + writes) - 0.67).abs() < 1e-9);
        assert!(
            (10.0 * value("rate of one virtual machine") / (reads + writes) - 1.0).abs() < 1e-9
        );
        assert!((value("rate per TB") / (reads + writes) - 1.0).abs() < 0.11, "of 1 TB");
        assert!(all.iter().all(|one| one.error().abs() < 0.35 && one.is_covered()), "{all:?}");
        let range = of(&all, "8K 67 % read, 1 local: write rate of one virtual machine");
        assert!(range.error().abs() < 1e-12, "between both ends of what was published");
    }

    #[test]
    fn curves_of_report_e_level_off_somewhere_and_never_fall() {
        let all = followed(
            include_str!("../../../../reference/testbeds/pixstor-nvme.toml"),
            include_str!("../../../../reference/results/pixstor-nvme.toml"),
        );
        let knee = of(&all, "N-N sequential read, knee: threads");
        assert!((64.0..=512.0).contains(&knee.predicted.value), "{knee:?}");
        let peak = of(&all, "N-1 sequential read, peak: threads");
        assert!(peak.predicted.low < peak.predicted.high, "a plateau: {peak:?}");
        let fall = of(&all, "N-N sequential write, 1024 threads: difference to the peak");
        assert!(fall.predicted.value.abs() < 1e-9 && fall.predicted.low < -0.1, "{fall:?}");
        assert!((fall.error() - 0.1).abs() < 1e-9, "ten points");
    }
}
