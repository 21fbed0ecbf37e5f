//! The highest rate at which a predicted latency keeps to an objective.

use super::fit::{Fit, Range};
use super::load::{Load, Planned};
use super::network::Network;
use super::parameter::{PARAMETERS, Parameter, Values};
use crate::estimate::student::halved;
use catalogue::Cluster;
use model::{Nanos, Objective, Percent, objective::Limit};

/// The step of derivatives, as a logarithm.
const STEP: f64 = 1e-3;
/// More requests outstanding than any load has.
const MOST_OUTSTANDING: f64 = 1e7;

/// A latency that must not be exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// At most so long, in seconds.
    pub most_s: f64,
    /// Of this share of the requests; `None`: the mean.
    pub share: Option<Percent>,
}

/// The highest rate that keeps to an objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadLine {
    /// The rate, and how many requests are outstanding there.
    At {
        /// Requests per second.
        rate: Range,
        /// Requests outstanding of all hosts.
        outstanding: f64,
    },
    /// One request alone takes longer: so long, in seconds.
    Nowhere {
        /// The latency of one request alone, in seconds.
        alone_s: f64,
    },
}

/// The latencies that an objective names; `None` where it asks for anything else, which a
/// prediction does not know.
pub fn latencies(objective: &Objective) -> Option<Vec<Latency>> {
    let seconds = |time: Nanos| time.as_seconds();
    let one = |condition: &model::objective::Condition| match (condition.op, condition.limit) {
        (None, Limit::Mean(most)) => Some(Latency { most_s: seconds(most), share: None }),
        (None, Limit::Quantile { share, at_most }) => {
            Some(Latency { most_s: seconds(at_most), share: Some(share) })
        }
        _ => None,
    };
    objective.conditions.iter().map(one).collect()
}

/// The load line of each load: its requests outstanding are what is looked for.
pub fn load_lines(cluster: &Cluster, loads: &[Planned], latencies: &[Latency]) -> Vec<LoadLine> {
    let fit = Fit::found(cluster);
    loads.iter().map(|planned| load_line(cluster, &fit, &planned.load, latencies)).collect()
}

fn load_line(cluster: &Cluster, fit: &Fit, load: &Load, latencies: &[Latency]) -> LoadLine {
    let network = Network::new(cluster, load);
    let alone_s = |latency: &Latency| latency_s(&network, &fit.values, 1.0, *latency);
    if let Some(missed) = latencies.iter().find(|latency| alone_s(latency) > latency.most_s) {
        return LoadLine::Nowhere { alone_s: alone_s(missed) };
    }
    let ln_rate = |values: &Values| {
        network.with_outstanding(most_outstanding(&network, values, latencies)).ln_rate(values)
    };
    let mut slopes = [0.0; PARAMETERS];
    for parameter in Parameter::EACH.into_iter().filter(|one| network.has(*one)) {
        let moved = |by: f64| {
            let mut moved = fit.values;
            moved.0[parameter.index()] += by;
            ln_rate(&moved)
        };
        slopes[parameter.index()] = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
    }
    LoadLine::At {
        rate: fit.further(ln_rate(&fit.values), slopes),
        outstanding: most_outstanding(&network, &fit.values, latencies),
    }
}

/// How many requests may be outstanding until the first of the latencies is exceeded.
fn most_outstanding(network: &Network, values: &Values, latencies: &[Latency]) -> f64 {
    let keeps = |outstanding: f64| {
        latencies
            .iter()
            .all(|latency| latency_s(network, values, outstanding, *latency) <= latency.most_s)
    };
    halved(0.0, MOST_OUTSTANDING.ln(), 60, |middle| keeps(middle.exp())).0.exp()
}

/// The latency of so many requests outstanding: the mean by Little's law; of a share of them what
/// waits as a delay, and the rest as if it were exponentially distributed (assumed).
fn latency_s(network: &Network, values: &Values, outstanding: f64, latency: Latency) -> f64 {
    let network = network.with_outstanding(outstanding);
    let mean_s = outstanding / network.ln_rate(values).exp();
    let Some(share) = latency.share else { return mean_s };
    let delay_s = network.delay_s(values).min(mean_s);
    let left = (1.0 - f64::from(share.ppm) / 1e6).max(1e-9);
    delay_s + (mean_s - delay_s) * -left.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ceiling::Workload;
    use model::Bytes;

    const ONE_QUEUE: &str = "name = \"t\"\n[[nodes]]\ncount = 1\n[software]\nread = \"100us\"\n\
                             read_path = \"1ns\"\nread_per_mib = \"1ns\"\n";

    fn line(latency: Latency) -> LoadLine {
        let cluster = Cluster::parse("t", ONE_QUEUE, &[]).expect("a testbed");
        let workload = Workload::new("w", Bytes::kib(4), Percent::ALL, true, None);
        let (object, route) = (model::Object::Blocks, model::Route::Testbed);
        let remote = Percent::ZERO;
        let load = Load { workload, hosts: 1, outstanding: 1, depth: 1, remote, object, route };
        load_lines(&cluster, &[Planned { name: "w".to_owned(), load }], &[latency])[0]
    }

    #[test]
    fn one_queue_keeps_a_mean_as_long_as_so_many_wait() {
        // N requests at one queue of 100 µs take N × 100 µs each.
        let mean = Latency { most_s: 1e-3, share: None };
        let LoadLine::At { rate, outstanding } = line(mean) else { panic!("no line") };
        assert!((outstanding - 10.0).abs() < 0.01, "{outstanding}");
        assert!((rate.value / 10_000.0 - 1.0).abs() < 0.01 && rate.low < rate.value, "{rate:?}");
        // ln 100 as many for p99.
        let p99 = Latency { most_s: 4.605e-3, share: Some(Percent { ppm: 990_000 }) };
        let LoadLine::At { outstanding, .. } = line(p99) else { panic!("no line") };
        assert!((outstanding - 10.0).abs() < 0.1, "{outstanding}");
    }

    #[test]
    fn what_one_request_alone_exceeds_holds_nowhere() {
        let found = line(Latency { most_s: 50e-6, share: None });
        let LoadLine::Nowhere { alone_s } = found else { panic!("{found:?}") };
        assert!((alone_s / 100e-6 - 1.0).abs() < 0.01, "{alone_s}");
    }
}
