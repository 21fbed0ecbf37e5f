//! What a fit says of one load: its rate with an interval, and how far it may be off.

use super::fit::{Fit, OUTSIDE, Range};
use super::network::{Network, Owner};
use super::posterior::{self, Draw};
use std::collections::BTreeSet;

/// An error of a prediction that has to be announced, predicted ÷ true − 1.
pub const FAR: f64 = 0.3;

/// What is likely of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outlook {
    /// Requests per second, with the interval for one further measurement.
    pub(super) range: Range,
    /// How far what the rows leave open of the parameters may put off the rate: the 90 % interval
    /// of the rate alone, without what one measurement strays by, as a logarithm.
    pub(super) left_open: f64,
    /// The share of what is likely in which somebody binds it who binds no other row.
    pub(super) otherwise_bound: f64,
    /// The share of what is likely in which the prediction is off by more than [`FAR`].
    pub(super) far_off: f64,
}

/// What an outlook is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Who holds this share of the requests binds a row.
    pub(super) binds: f64,
    /// Who binds other rows, for each of the likely parameters ([`Fit::holders`]).
    pub(super) holders: &'a [BTreeSet<Owner>],
}

impl Fit {
    /// Who holds this share of any of these networks, for each of the parameters that are likely.
    pub(super) fn holders(&self, networks: &[Network], share: f64) -> Vec<BTreeSet<Owner>> {
        let of = |draw: &Draw| {
            let held = |network: &Network| network.carries(&draw.values).bound_by(share);
            networks.iter().flat_map(held).collect()
        };
        self.likely().map(of).collect()
    }

    /// What is likely of a network: each of the likely parameters is looked at once.
    pub(super) fn outlook(&self, network: &Network, asked: Asked<'_>) -> Outlook {
        let value = network.ln_rate(&self.values);
        let (mut otherwise_bound, mut far_off) = (0.0, 0.0);
        let mut parts: Vec<(f64, f64, f64)> = Vec::new();
        for (draw, seen) in self.likely().zip(asked.holders) {
            let carried = network.carries(&draw.values);
            let ln_rate = carried.rate.max(1e-12).ln();
            parts.push((ln_rate, draw.spread, draw.weight));
            if ((value - ln_rate).exp() - 1.0).abs() > FAR {
                far_off += draw.weight;
            }
            if carried.bound_by(asked.binds).iter().any(|owner| !seen.contains(owner)) {
                otherwise_bound += draw.weight;
            }
        }
        if parts.is_empty() {
            let range = self.further(value, network.slopes(&self.values));
            return Outlook { range, left_open: range.reaches(), otherwise_bound, far_off: 1.0 };
        }
        let mut rates: Vec<(f64, f64)> =
            parts.iter().map(|(ln_rate, _, weight)| (*ln_rate, *weight)).collect();
        let below = posterior::quantile(&mut rates, 0.5 * OUTSIDE);
        let above = posterior::quantile(&mut rates, 1.0 - 0.5 * OUTSIDE);
        let left_open = 0.5 * (above - below);
        Outlook { range: further(value, &parts), left_open, otherwise_bound, far_off }
    }
}

/// The interval of one further measurement, of rates with their spreads and weights.
fn further(value: f64, parts: &[(f64, f64, f64)]) -> Range {
    let at = |share: f64| posterior::mixed_quantile(parts, share);
    let exp = |ln: f64| ln.clamp(-50.0, 50.0).exp();
    let (low, high) = (at(0.5 * OUTSIDE).min(value), at(1.0 - 0.5 * OUTSIDE).max(value));
    Range { value: exp(value), low: exp(low), high: exp(high) }
}
