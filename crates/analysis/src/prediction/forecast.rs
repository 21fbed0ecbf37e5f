//! Predictions of loads: rates and latencies with intervals, what binds each, and what another
//! cluster of the same software would carry.

use super::calibration::{Binding, Seen, WIDE, binding, seen};
use super::fit::{Fit, Range};
use super::load::{Load, Planned, fitted};
use super::network::{Network, Owner};
use catalogue::Cluster;

/// What is predicted of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// What it is called.
    pub name: String,
    /// What is asked.
    pub load: Load,
    /// Requests per second.
    pub rate: Range,
    /// Who binds it, the one that holds most first.
    pub binding: Vec<Owner>,
    /// What binds it and no fitted row, and what it depends on and no row identified: with any, it
    /// is an extrapolation.
    pub unseen: Vec<Owner>,
    /// The share of what is likely in which it is off by more than 30 %.
    pub far_off: f64,
    /// The same on each of the changed clusters, in their order.
    pub what_ifs: Vec<Otherwise>,
}

/// What is predicted of a load, on its cluster or on a changed one.
#[derive(Clone, Debug, PartialEq)]
pub struct Otherwise {
    /// Requests per second.
    pub rate: Range,
    /// Who binds it there.
    pub binding: Vec<Owner>,
    /// What no fitted row speaks for.
    pub unseen: Vec<Owner>,
    /// The share of what is likely in which it is off by more than 30 %.
    pub far_off: f64,
}

impl Otherwise {
    /// Whether the fitted rows leave it so open that it may be off by more than 30 %.
    pub fn is_wide(&self) -> bool {
        self.far_off > WIDE
    }

    /// Whether nothing that was fitted speaks for it.
    pub fn is_extrapolated(&self) -> bool {
        !self.unseen.is_empty()
    }
}

impl Forecast {
    /// The mean latency in seconds, by Little's law: what is outstanding ÷ the rate.
    pub fn latency_s(&self) -> Range {
        let of = |rate: f64| self.load.outstanding as f64 / rate.max(1e-12);
        Range { value: of(self.rate.value), low: of(self.rate.high), high: of(self.rate.low) }
    }

    /// Whether the fitted rows leave it so open that it may be off by more than 30 %.
    pub fn is_wide(&self) -> bool {
        self.far_off > WIDE
    }

    /// Whether nothing that was fitted speaks for it.
    pub fn is_extrapolated(&self) -> bool {
        !self.unseen.is_empty()
    }
}

/// What the rows of a fitted testbed say of loads.
pub(super) struct Known {
    pub(super) fit: Fit,
    seen: Seen,
}

impl Known {
    pub(super) fn of(cluster: &Cluster) -> Known {
        let fit = Fit::found(cluster);
        let networks: Vec<Network> =
            fitted(cluster).iter().map(|row| Network::new(cluster, &row.load)).collect();
        let seen = seen(&fit, &networks);
        Known { fit, seen }
    }

    pub(super) fn says(&self, network: &Network) -> Otherwise {
        let Binding { predicted, binding, unseen, far_off, .. } =
            binding(&self.fit, network, &self.seen);
        Otherwise { rate: predicted, binding, unseen, far_off }
    }
}

/// What `cluster` will carry of these loads, and each of `changed` with the same software.
///
/// Intervals come from the rows that the testbed was fitted to; of one that was not, from the class
/// estimates alone.
pub fn forecast(cluster: &Cluster, loads: &[Planned], changed: &[Cluster]) -> Vec<Forecast> {
    let known = Known::of(cluster);
    let on = |cluster: &Cluster, load: &Load| known.says(&Network::new(cluster, load));
    let one = |planned: &Planned| {
        let Otherwise { rate, binding, unseen, far_off } = on(cluster, &planned.load);
        Forecast {
            name: planned.name.clone(),
            load: planned.load.clone(),
            rate,
            binding,
            unseen,
            far_off,
            what_ifs: changed.iter().map(|other| on(other, &planned.load)).collect(),
        }
    };
    loads.iter().map(one).collect()
}
