//! What the flows of a baseline say: of each pair, of each host, of all together. Bits are of
//! payload, without the headers of TCP, IP and Ethernet.

use model::network::{Baseline, FlowCounts, FlowFailure, FlowResult, Way};

/// A pair below this share of what both of its hosts reach with others is named.
const SLOW: f64 = 0.8;
/// More than this share of an interface's bytes besides the flow is somebody else's traffic:
/// headers take 4 % at an MTU of 1500, and up to 12 % at one of 576.
const OTHERS: f64 = 0.15;
/// With fewer bytes than this in a window, small traffic of others is no doubt.
const LEAST_OTHERS: u64 = 1_000_000;
/// Above this share of a host's CPUs, they may be the limit.
const CPU_FULL: f64 = 0.9;
/// A figure above this multiple of the link's speed did not go through that link.
const ABOVE_SPEED: f64 = 1.02;

/// What two hosts carried between each other, in bits per second; `None` where that failed or was
/// not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PairFigures {
    /// The host that connected, by its place.
    pub first: u32,
    /// The other one.
    pub second: u32,
    /// From the first to the second, alone.
    pub forward: Option<f64>,
    /// From the second to the first, alone.
    pub backward: Option<f64>,
    /// From the first to the second, and back, at the same time.
    pub both: Option<(f64, f64)>,
    /// Why one of these is missing.
    pub failed: Option<FlowFailure>,
    /// Whether it is far below what both hosts reach with others.
    pub is_slow: bool,
}

/// What a host carried with its best partner, in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostFigures {
    /// What it sent, alone.
    pub sent: Option<f64>,
    /// What it received, alone.
    pub received: Option<f64>,
    /// What it sent and received at the same time, together.
    pub both: Option<f64>,
    /// The greatest share of its CPUs that was busy in a flow, 0 to 1.
    pub cpu_busy: Option<f64>,
    /// TCP segments that it sent once more, in all of its flows' windows together.
    pub retransmitted: Option<u64>,
}

/// A reason not to trust a figure of a baseline.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkDoubt {
    /// The interface of a host carried more than the flow: the share that was not the flow's.
    OtherTraffic {
        /// The host's place.
        host: u32,
        /// The share, 0 to 1.
        share: f64,
    },
    /// The CPUs of a host were busy: they may be the limit, and not the network.
    CpuFull {
        /// The host's place.
        host: u32,
        /// The share of them, 0 to 1.
        share: f64,
    },
    /// Two hosts are on one kernel: what goes between them need not leave the machine.
    OneKernel {
        /// Their places.
        hosts: [u32; 2],
    },
    /// A host carried more than its link allows: the way is another one, or the speed is wrong.
    AboveSpeed {
        /// The host's place.
        host: u32,
        /// What it carried one way, in bits per second.
        bits: f64,
        /// The speed of its link, in bits per second.
        speed: f64,
    },
}

/// What a testbed can say of a port; only where all hosts have links of one speed, and all were
/// measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestbedFigures {
    /// What one port carried one way, in bits per second: the mean over hosts and directions.
    pub one_way: f64,
    /// What one port carried in both directions together: the mean over hosts.
    pub both_ways: Option<f64>,
}

/// All figures of a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkFigures {
    /// In the order in which they were measured.
    pub pairs: Vec<PairFigures>,
    /// In the hosts' order.
    pub hosts: Vec<HostFigures>,
    /// What all hosts received at the same time while all pairs of a round sent both ways, in bits
    /// per second: the round with the least. `None` where a pair of each round failed.
    pub together: Option<f64>,
    /// What a testbed can say of a port.
    pub testbed: Option<TestbedFigures>,
    /// Reasons not to trust them.
    pub doubts: Vec<NetworkDoubt>,
}

/// Computes the figures of a baseline.
pub fn figures(baseline: &Baseline) -> NetworkFigures {
    let mut pairs = pairs(baseline);
    let hosts: Vec<HostFigures> =
        (0..baseline.hosts.len()).map(|host| host_figures(baseline, &pairs, host as u32)).collect();
    for pair in &mut pairs {
        pair.is_slow = is_slow(pair, &hosts);
    }
    let testbed = testbed(baseline, &hosts);
    let doubts = doubts(baseline, &hosts);
    NetworkFigures { together: together(baseline), pairs, hosts, testbed, doubts }
}

fn bits_per_s(counts: Option<&FlowCounts>) -> Option<f64> {
    let counts = counts.filter(|counts| counts.window_ns > 0)?;
    Some(counts.received_bytes as f64 * 8e9 / counts.window_ns as f64)
}

fn pairs(baseline: &Baseline) -> Vec<PairFigures> {
    let mut pairs: Vec<PairFigures> = Vec::new();
    for flow in &baseline.flows {
        let is_same = |pair: &PairFigures| (pair.first, pair.second) == (flow.first, flow.second);
        let place = pairs.iter().position(is_same).unwrap_or_else(|| {
            pairs.push(PairFigures {
                first: flow.first,
                second: flow.second,
                forward: None,
                backward: None,
                both: None,
                failed: None,
                is_slow: false,
            });
            pairs.len() - 1
        });
        let pair = &mut pairs[place];
        pair.failed = pair.failed.take().or_else(|| flow.failed.clone());
        if flow.failed.is_some() {
            continue;
        }
        let (there, back) =
            (bits_per_s(flow.at_second.as_ref()), bits_per_s(flow.at_first.as_ref()));
        match flow.way {
            Way::Forward => pair.forward = there,
            Way::Backward => pair.backward = back,
            Way::Both => pair.both = there.zip(back),
        }
    }
    pairs
}

fn most(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().max_by(f64::total_cmp)
}

fn host_figures(baseline: &Baseline, pairs: &[PairFigures], host: u32) -> HostFigures {
    let of = |as_first: fn(&PairFigures) -> Option<f64>,
              as_second: fn(&PairFigures) -> Option<f64>| {
        most(pairs.iter().filter_map(|pair| match (pair.first == host, pair.second == host) {
            (true, _) => Some(as_first(pair)),
            (_, true) => Some(as_second(pair)),
            _ => None,
        }))
    };
    let both = |pair: &PairFigures| pair.both.map(|(there, back)| there + back);
    let counts = || own_counts(baseline, host);
    let retransmitted = counts().map(|(_, counts)| counts.retransmitted);
    HostFigures {
        sent: of(|pair| pair.forward, |pair| pair.backward),
        received: of(|pair| pair.backward, |pair| pair.forward),
        both: of(both, both),
        cpu_busy: most(counts().map(|(_, counts)| counts.cpu_busy)),
        retransmitted: retransmitted.sum::<Option<u64>>().filter(|_| counts().next().is_some()),
    }
}

/// What a host counted in each flow that did not fail.
fn own_counts(baseline: &Baseline, host: u32) -> impl Iterator<Item = (&FlowResult, &FlowCounts)> {
    let flows = baseline.flows.iter().filter(|flow| flow.failed.is_none());
    flows.filter_map(move |flow| match (flow.first == host, flow.second == host) {
        (true, _) => Some((flow, flow.at_first.as_ref()?)),
        (_, true) => Some((flow, flow.at_second.as_ref()?)),
        _ => None,
    })
}

fn is_slow(pair: &PairFigures, hosts: &[HostFigures]) -> bool {
    let of = |host: u32| hosts.get(host as usize).copied().unwrap_or_default();
    let (first, second) = (of(pair.first), of(pair.second));
    let below = |measured: Option<f64>, sender: Option<f64>, receiver: Option<f64>| {
        let can = sender.zip(receiver).map(|(sent, received)| sent.min(received));
        measured.zip(can).is_some_and(|(measured, can)| measured < SLOW * can)
    };
    below(pair.forward, first.sent, second.received)
        || below(pair.backward, second.sent, first.received)
}

fn together(baseline: &Baseline) -> Option<f64> {
    let rounds = baseline.flows.iter().map(|flow| flow.round + 1).max()?;
    let of_round = |round: u32| -> Option<f64> {
        let mut flows = baseline
            .flows
            .iter()
            .filter(|flow| flow.round == round && flow.way == Way::Both)
            .peekable();
        flows.peek()?;
        let both = |flow: &FlowResult| match &flow.failed {
            Some(_) => None,
            None => {
                Some(bits_per_s(flow.at_first.as_ref())? + bits_per_s(flow.at_second.as_ref())?)
            }
        };
        flows.map(both).sum()
    };
    (0..rounds).filter_map(of_round).min_by(f64::total_cmp)
}

fn testbed(baseline: &Baseline, hosts: &[HostFigures]) -> Option<TestbedFigures> {
    let speed = |place: usize| baseline.hosts.get(place).map(|host| host.address.speed_mbit);
    let are_alike = (1..hosts.len()).all(|place| speed(place) == speed(0));
    let one_way: Option<Vec<f64>> =
        hosts.iter().flat_map(|host| [host.sent, host.received]).collect();
    let one_way = one_way.filter(|all| are_alike && !all.is_empty())?;
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let both: Option<Vec<f64>> = hosts.iter().map(|host| host.both).collect();
    Some(TestbedFigures { one_way: mean(&one_way), both_ways: both.map(|all| mean(&all)) })
}

fn doubts(baseline: &Baseline, hosts: &[HostFigures]) -> Vec<NetworkDoubt> {
    let mut doubts = Vec::new();
    for (place, figures) in hosts.iter().enumerate() {
        let host = place as u32;
        let kernel = baseline.hosts.get(place).map_or(host, |known| known.kernel);
        if kernel != host {
            doubts.push(NetworkDoubt::OneKernel { hosts: [kernel, host] });
        }
        let share = most(own_counts(baseline, host).map(|(_, counts)| others(counts)));
        if let Some(share) = share.filter(|share| *share > OTHERS) {
            doubts.push(NetworkDoubt::OtherTraffic { host, share });
        }
        if let Some(share) = figures.cpu_busy.filter(|share| *share > CPU_FULL) {
            doubts.push(NetworkDoubt::CpuFull { host, share });
        }
        let speed = baseline.hosts.get(place).and_then(|host| host.address.speed_mbit);
        let best = most([figures.sent, figures.received].into_iter());
        if let (Some(speed), Some(bits)) = (speed, best)
            && bits > ABOVE_SPEED * f64::from(speed) * 1e6
        {
            doubts.push(NetworkDoubt::AboveSpeed { host, bits, speed: f64::from(speed) * 1e6 });
        }
    }
    doubts
}

/// The share of what the interface received that is not the flow's; `None` where nothing was to be
/// received, or too little.
fn others(counts: &FlowCounts) -> Option<f64> {
    let interface = counts.interface_received.filter(|bytes| *bytes > LEAST_OTHERS)?;
    if counts.received_bytes == 0 {
        return None;
    }
    let besides = interface.saturating_sub(counts.received_bytes);
    Some(besides as f64 / interface as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Meeting;
    use model::network::{BaselineHost, HostAddress};

    const SECOND: u64 = 1_000_000_000;

    fn host(place: u32, speed_mbit: Option<u32>) -> BaselineHost {
        let address = HostAddress {
            address: "10.0.0.1".parse().expect("an address"),
            prefix: 24,
            interface: "eth0".to_owned(),
            speed_mbit,
        };
        BaselineHost { name: format!("n{place}"), address, kernel: place }
    }

    /// What received so many Mbit in a second; 0 is one that only sends.
    fn counts(mbit: u64) -> Option<FlowCounts> {
        let window_ns = if mbit > 0 { SECOND } else { 0 };
        let (received_bytes, interface) = (mbit * 125_000, Some(mbit * 130_000));
        let cpu_busy = Some(0.25);
        Some(FlowCounts {
            received_bytes,
            window_ns,
            interface_received: interface,
            retransmitted: Some(3),
            cpu_busy,
            ..FlowCounts::default()
        })
    }

    /// A flow in which the first host received so many Mbit in a second, and the second.
    fn flow(hosts: Meeting, way: Way, at_first: u64, at_second: u64) -> FlowResult {
        FlowResult {
            round: 0,
            first: hosts.first as u32,
            second: hosts.second as u32,
            way,
            at_first: counts(at_first),
            at_second: counts(at_second),
            failed: None,
        }
    }

    fn pair(round: u32, hosts: Meeting, one_way: u64, both: u64) -> [FlowResult; 3] {
        let mut flows = [
            flow(hosts, Way::Forward, 0, one_way),
            flow(hosts, Way::Backward, one_way, 0),
            flow(hosts, Way::Both, both, both),
        ];
        flows.iter_mut().for_each(|flow| flow.round = round);
        flows
    }

    fn baseline(speed_mbit: Option<u32>) -> Baseline {
        let flows = [
            pair(0, Meeting { first: 0, second: 3 }, 900, 800),
            pair(0, Meeting { first: 1, second: 2 }, 900, 800),
            pair(1, Meeting { first: 1, second: 3 }, 900, 700),
            pair(1, Meeting { first: 2, second: 0 }, 500, 400),
        ];
        Baseline {
            unix_ns: 0,
            version: "1".to_owned(),
            hosts: (0..4).map(|place| host(place, speed_mbit)).collect(),
            streams: 4,
            settle_ns: SECOND,
            window_ns: SECOND,
            rounds_of_all: 3,
            flows: flows.into_iter().flatten().collect(),
        }
    }

    #[test]
    fn pairs_hosts_and_the_whole_have_their_figures() {
        let found = figures(&baseline(Some(1_000)));
        assert_eq!(found.pairs.len(), 4);
        assert_eq!(
            (found.pairs[0].forward, found.pairs[0].both),
            (Some(900e6), Some((800e6, 800e6)))
        );
        let slow: Vec<bool> = found.pairs.iter().map(|pair| pair.is_slow).collect();
        assert_eq!(slow, [false, false, false, true], "500 of 900");
        assert_eq!((found.hosts[2].sent, found.hosts[2].both), (Some(900e6), Some(1_600e6)));
        assert_eq!((found.hosts[0].cpu_busy, found.hosts[0].retransmitted), (Some(0.25), Some(18)));
        assert_eq!(found.together, Some(2_200e6), "the second round");
        let testbed = found.testbed.expect("all alike");
        assert_eq!((testbed.one_way, testbed.both_ways), (900e6, Some(1_600e6)));
        assert!(found.doubts.is_empty(), "{:?}", found.doubts);
    }

    #[test]
    fn a_part_does_not_stand_for_the_whole() {
        let mut partly = baseline(Some(1_000));
        partly.hosts[1].address.speed_mbit = Some(25_000);
        assert_eq!(figures(&partly).testbed, None, "hosts differ");
        let mut failed = baseline(Some(1_000));
        for flow in failed.flows.iter_mut().filter(|flow| flow.first == 2 || flow.second == 3) {
            (flow.at_first, flow.at_second) = (None, None);
            flow.failed = Some(FlowFailure::NoAnswer);
        }
        let found = figures(&failed);
        assert_eq!(found.pairs[0].failed, Some(FlowFailure::NoAnswer));
        assert_eq!((found.hosts[3], found.testbed), (HostFigures::default(), None));
        assert_eq!(found.together, None, "each round lacks a pair");
    }

    #[test]
    fn what_makes_a_figure_doubtful_is_found() {
        let mut odd = baseline(Some(500));
        odd.hosts[2].kernel = 1;
        let counts = odd.flows[0].at_second.as_mut().expect("counted");
        (counts.interface_received, counts.cpu_busy) = (Some(200_000_000), Some(0.95));
        let doubts = figures(&odd).doubts;
        assert!(doubts.contains(&NetworkDoubt::OneKernel { hosts: [1, 2] }), "{doubts:?}");
        assert!(doubts.contains(&NetworkDoubt::CpuFull { host: 3, share: 0.95 }), "{doubts:?}");
        let others = |doubt: &NetworkDoubt| {
            matches!(doubt, NetworkDoubt::OtherTraffic { host: 3,
            share } if (share - 0.4375).abs() < 1e-9)
        };
        assert!(doubts.iter().any(others), "{doubts:?}");
        let above = |doubt: &&NetworkDoubt| matches!(doubt, NetworkDoubt::AboveSpeed { .. });
        assert_eq!(doubts.iter().filter(above).count(), 4, "{doubts:?}");
    }
}
