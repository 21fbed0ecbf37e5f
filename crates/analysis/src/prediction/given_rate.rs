//! Loads whose rate is given: whether a cluster carries it, and how long its requests take then.

use super::fit::{Fit, OUTSIDE};
use super::forecast::{Known, Otherwise};
use super::load::Paced;
use super::network::Network;
use super::parameter::{PARAMETERS, Values};
use super::posterior::mixed_quantile;
use catalogue::Cluster;

/// The logarithm of a latency that never ends, in seconds.
const NEVER: f64 = 40.0;

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
fn waits(fit: &Fit, network: &Network, rate: f64) -> (f64, Wait) {
    let ln_latency = |values: &Values| network.latency_at_s(values, rate).map_or(NEVER, f64::ln);
    let value = ln_latency(&fit.values);
    let parts: Vec<(f64, f64, f64)> =
        fit.likely().map(|draw| (ln_latency(&draw.values), draw.spread, draw.weight)).collect();
    let told = |ln: f64| (ln < 0.5 * NEVER).then(|| ln.exp());
    if parts.is_empty() {
        // Nothing is open but what one measurement strays by.
        let range = fit.further(value, [0.0; PARAMETERS]);
        let [value, low, high] = [value, range.low.ln(), range.high.ln()].map(told);
        return (value.map_or(0.0, |_| 1.0), Wait { value, low, high });
    }
    let carried = parts.iter().filter(|(ln, ..)| *ln < NEVER).map(|(_, _, weight)| weight).sum();
    let at = |share: f64| mixed_quantile(&parts, share);
    let (low, high) = (at(0.5 * OUTSIDE).min(value), at(1.0 - 0.5 * OUTSIDE).max(value));
    (carried, Wait { value: told(value), low: told(low), high: told(high) })
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
            assert!(low < Some(value) && Some(value) < high, "an interval: {found:?}");
        }
    }

    #[test]
    fn what_is_not_carried_falls_behind_for_ever() {
        let found = at(1_100.0);
        assert!(found.latency_s.value.is_none() && found.latency_s.high.is_none(), "{found:?}");
        assert!(found.most.rate.value < 1_001.0, "{found:?}");
    }
}
