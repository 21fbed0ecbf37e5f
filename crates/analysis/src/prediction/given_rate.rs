//! Loads whose rate is given: whether a cluster carries it, and how long its requests take then.

use super::fit::{Fit, OUTSIDE};
use super::forecast::{Known, Otherwise};
use super::load::Paced;
use super::network::Network;
use super::parameter::Values;
use super::posterior::quantile;
use crate::gate::needed::normal as below_normal;
use catalogue::Cluster;

/// The logarithm of a latency that never ends, in seconds.
const NEVER: f64 = 40.0;
/// Strays of one measurement that stand for all, in deviations: each is the middle of a fifth of
/// the normal distribution.
const STRAYS: [f64; 5] = [-1.2816, -0.5244, 0.0, 0.5244, 1.2816];

/// What is predicted of such a load.
#[derive(Clone, Debug, PartialEq)]
pub struct AtRate {
    /// What was asked.
    pub paced: Paced,
    /// What the cluster carries of it at most.
    pub most: Otherwise,
    /// The probability that it carries what is asked, 0 to 1.
    pub carried: f64,
    /// The mean latency in seconds from when a request is due.
    pub latency_s: Wait,
}

/// A latency with its 90 % interval, in seconds; `None`: requests fall behind for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// The most likely one.
    pub value: Option<f64>,
    /// Its interval's lower end.
    pub low: Option<f64>,
    /// Its interval's upper end.
    pub high: Option<f64>,
}

/// What `cluster` makes of loads whose rate is given.
pub fn at_rates(cluster: &Cluster, loads: &[Paced]) -> Vec<AtRate> {
    let known = Known::of(cluster);
    let one = |paced: &Paced| {
        let network = Network::new(cluster, &paced.load);
        let (carried, latency_s) = waits(&known.fit, &network, paced.rate);
        AtRate { paced: paced.clone(), most: known.says(&network), carried, latency_s }
    };
    loads.iter().map(one).collect()
}

/// The probability that a rate is carried, and the latency at it.
///
/// Both come from what the interval of the most that is carried comes from: likely parameters, and
/// what one further measurement strays by. A system that is e^d times as fast as the model carries
/// e^d times as much, and a rate λ waits there as λ ÷ e^d does in the model, for 1 ÷ e^d of the
/// time.
fn waits(fit: &Fit, network: &Network, rate: f64) -> (f64, Wait) {
    let ln_latency = |values: &Values, faster: f64| {
        let at = network.latency_at_s(values, rate * (-faster).exp());
        at.map_or(NEVER, |latency_s| latency_s.ln() - faster)
    };
    let ln_rate = rate.max(1e-12).ln();
    let value = ln_latency(&fit.values, 0.0);
    let alone = [(fit.values, fit.spread, 1.0)];
    let mut likely: Vec<(Values, f64, f64)> =
        fit.likely().map(|draw| (draw.values, draw.spread, draw.weight)).collect();
    if likely.is_empty() {
        // Nothing is open but what one measurement strays by.
        likely.extend(alone);
    }
    let (mut carried, mut latencies) = (0.0, Vec::new());
    for (values, spread, weight) in &likely {
        let most = network.ln_rate(values);
        carried += weight * below_normal((most - ln_rate) / spread.max(1e-12));
        latencies.extend(STRAYS.map(|stray| (ln_latency(values, stray * spread), *weight)));
    }
    let all: f64 = latencies.iter().map(|(_, weight)| weight).sum();
    latencies.iter_mut().for_each(|(_, weight)| *weight /= all.max(1e-300));
    let mut at = |share: f64| quantile(&mut latencies, share);
    let (low, high) = (at(0.5 * OUTSIDE).min(value), at(1.0 - 0.5 * OUTSIDE).max(value));
    // Points are few where one of the ends has to be: the probability is exact.
    let told = |ln: f64| (ln < 0.5 * NEVER).then(|| ln.exp());
    let high = if carried < 1.0 - 0.5 * OUTSIDE { None } else { told(high) };
    let low = if carried < 0.5 * OUTSIDE { None } else { told(low) };
    (carried.clamp(0.0, 1.0), Wait { value: told(value), low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Workload;
    use crate::prediction::load::Load;
    use model::{Bytes, Object, Percent, Route};

    /// One node of one lane, whose software takes 1 ms for each read on average, and its path 2 ms.
    fn cluster() -> Cluster {
        let text = "name = \"t\"\n[[nodes]]\ncount = 1\n[[nodes.drives]]\ncount = 1\nread_iops \
                    = 1000000\nread = \"100GB/s\"\n[software]\nread = \"1ms\"\nread_per_mib = \
                    \"1ns\"\nread_path = \"2ms\"\ndrive_read = \"1ns\"\n";
        Cluster::parse("t", text, &[]).expect("a testbed")
    }

    fn at(rate: f64) -> AtRate {
        let workload = Workload::new("w", Bytes::kib(4), Percent::ALL, true, None);
        let (object, route) = (Object::Blocks, Route::Testbed);
        let (outstanding, remote) = (64, Percent::ZERO);
        let load = Load { workload, hosts: 1, outstanding, depth: 64, remote, object, route };
        at_rates(&cluster(), &[Paced { name: "w".to_owned(), load, rate }]).remove(0)
    }

    #[test]
    fn a_queue_with_a_given_rate_waits_as_m_m_1_does() {
        for used in [0.1, 0.5, 0.8] {
            let found = at(1_000.0 * used);
            let theory_s = 0.002 + 0.001 / (1.0 - used);
            let value = found.latency_s.value.expect("carried");
            assert!((value / theory_s - 1.0).abs() < 0.01, "{used}: {value} {theory_s}");
            let (low, high) = (found.latency_s.low, found.latency_s.high);
            assert!(low < Some(value), "an interval: {found:?}");
            // It has an end as far as the interval knows that the rate is carried.
            assert_eq!(high.is_some(), found.carried >= 0.95, "{found:?}");
            assert!(high.is_none_or(|high| high > value), "{found:?}");
        }
    }

    #[test]
    fn the_probability_is_that_of_the_interval_of_what_is_carried_at_most() {
        let most = at(1_000.0).most.rate;
        assert!(most.low < 0.7 * most.value && most.high > 1.4 * most.value, "{most:?}");
        for (rate, share) in [(most.low, 0.95), (most.value, 0.5), (most.high, 0.05)] {
            let carried = at(rate).carried;
            assert!((carried - share).abs() < 0.01, "{rate}: {carried} for {share}");
        }
        // Nothing is sure, and nothing has the sign of a sum of nothing.
        let far = at(1e9).carried;
        assert!(far.is_sign_positive() && far < 0.05, "{far}");
    }

    #[test]
    fn what_is_not_carried_falls_behind_for_ever() {
        let found = at(1_100.0);
        assert!(found.latency_s.value.is_none() && found.latency_s.high.is_none(), "{found:?}");
        assert!(found.most.rate.value < 1_001.0, "{found:?}");
    }
}
