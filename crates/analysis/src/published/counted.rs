//! What the kernels' counters of a point have in a figure's place.

use super::Quantity;
use crate::layers::attribution::{Attribution, Watched};
use model::usage::Part;
use std::collections::BTreeMap;

/// How many bits a byte has.
const BITS: f64 = 8.0;

/// The figure over all hosts of a point that counted it, and how many these are; `None` where none
/// did. `scenario` says how hosts come together: `least of hosts`, `most of hosts`, `per server`
/// (their mean), else all of them: the sum of traffic, the mean of a share.
pub(super) fn over_hosts(
    counters: &Attribution,
    quantity: Quantity,
    scenario: &str,
) -> Option<(f64, u64)> {
    let mut hosts: BTreeMap<u32, f64> = BTreeMap::new();
    for watched in counters.watched.iter().filter(|one| one.told_of.is_none()) {
        if let Some(value) = of_one(watched, quantity) {
            *hosts.entry(watched.host).or_default() += value;
        }
    }
    if hosts.is_empty() {
        return None;
    }
    let (sum, count) = (hosts.values().sum::<f64>(), hosts.len() as u64);
    let value = match scenario {
        "least of hosts" => hosts.values().copied().fold(f64::INFINITY, f64::min),
        "most of hosts" => hosts.values().copied().fold(0.0, f64::max),
        "per server" => sum / count as f64,
        _ if quantity == Quantity::CpuShare => sum / count as f64,
        _ => sum,
    };
    Some((value, count))
}

/// What one thing of a host adds to that host's figure.
fn of_one(watched: &Watched, quantity: Quantity) -> Option<f64> {
    match (quantity, watched.part) {
        (Quantity::PortBits, Part::Port) => watched.used.carried_per_s().map(|bytes| bytes * BITS),
        (Quantity::CpuShare, Part::Cpu) => watched.used.share(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::usage::Use;

    const SECOND: u64 = 1_000_000_000;

    fn watched(host: u32, part: Part, used: Use) -> Watched {
        Watched {
            host,
            part,
            name: String::new(),
            used,
            is_under_target: None,
            may_be_parallel: false,
            told_of: None,
        }
    }

    fn port(host: u32, received_bytes: u64, sent_bytes: u64) -> Watched {
        watched(
            host,
            Part::Port,
            Use { carried_ns: 2 * SECOND, received_bytes, sent_bytes, ..Use::default() },
        )
    }

    fn cpu(host: u32, used_ns: u64) -> Watched {
        watched(host, Part::Cpu, Use { watched_ns: 10 * SECOND, used_ns, ..Use::default() })
    }

    fn counters(watched: Vec<Watched>) -> Attribution {
        Attribution { load_ns: 0..SECOND, samples: 1, watched, ..Attribution::default() }
    }

    #[test]
    fn ports_of_a_host_add_up_by_their_busier_direction_and_hosts_as_the_figure_has_it() {
        let all = counters(vec![
            port(0, 500, 100),
            port(0, 0, 1_500),
            port(1, 1_000, 900),
            cpu(1, SECOND),
        ]);
        let traffic = |scenario| over_hosts(&all, Quantity::PortBits, scenario);
        assert_eq!(traffic("all hosts"), Some((12_000.0, 2)), "3,000 bytes in two seconds");
        assert_eq!(traffic("per server"), Some((6_000.0, 2)));
        assert_eq!(traffic("least of hosts"), Some((4_000.0, 2)));
        assert_eq!(over_hosts(&counters(vec![cpu(0, 1)]), Quantity::PortBits, "all hosts"), None);
        let unknown = counters(vec![watched(0, Part::Port, Use::default())]);
        assert_eq!(
            over_hosts(&unknown, Quantity::PortBits, "all hosts"),
            None,
            "nothing is not zero"
        );
    }

    #[test]
    fn shares_of_cpus_are_never_added() {
        let all = counters(vec![cpu(0, 8 * SECOND), cpu(1, 10 * SECOND), cpu(2, 3 * SECOND)]);
        let of = |scenario| over_hosts(&all, Quantity::CpuShare, scenario).map(|(share, _)| share);
        assert_eq!([of("least of hosts"), of("most of hosts")], [Some(0.3), Some(1.0)]);
        assert!((of("all hosts").expect("counted") - 0.7).abs() < 1e-12);
    }
}
