//! Mean-value analysis held against exact solutions.

use super::*;
use model::rng::Rng;

/// Exact mean-value analysis (Reiser and Lavenberg, "Mean-value analysis of closed multichain
/// queuing networks", JACM 27, 1980) of single servers and a delay.
fn exact(outstanding: u32, delay_s: f64, demands_s: &[f64]) -> f64 {
    let mut held = vec![0.0; demands_s.len()];
    let mut rate = 0.0;
    for number in 1..=outstanding {
        let waits: Vec<f64> =
            demands_s.iter().zip(&held).map(|(demand, held)| demand * (1.0 + held)).collect();
        rate = f64::from(number) / (delay_s + waits.iter().sum::<f64>());
        held = waits.iter().map(|wait| rate * wait).collect();
    }
    rate
}

/// Exact M/M/c with a finite population and a think time: the machine-repairman model, by its
/// birth and death equations (Kleinrock, "Queueing Systems" 1, 1975, 3.8).
fn repairman(population: u32, think_s: f64, service_s: f64, servers: u32) -> f64 {
    let mut weights = vec![1.0_f64];
    for here in 0..population {
        let arrivals = f64::from(population - here) / think_s;
        let leaves = f64::from((here + 1).min(servers)) / service_s;
        weights.push(weights[here as usize] * arrivals / leaves);
    }
    let all: f64 = weights.iter().sum();
    let busy: f64 =
        (0..=population).zip(&weights).map(|(n, w)| f64::from(n.min(servers)) * w).sum();
    busy / all / service_s
}

fn queues(demands_s: &[f64]) -> Vec<Queue> {
    demands_s.iter().map(|demand_s| Queue::exponential(1.0, *demand_s)).collect()
}

#[test]
fn one_request_never_waits_and_very_many_keep_the_slowest_server_busy() {
    let demands = [0.001, 0.004, 0.002];
    assert!((throughput(1.0, 0.003, &queues(&demands)) - 100.0).abs() < 1e-6);
    let most = throughput(1e6, 0.003, &queues(&demands));
    assert!((most - 250.0).abs() < 0.01, "{most}");
    assert_eq!(throughput(8.0, 0.0, &[]), 0.0);
}

#[test]
fn balanced_queues_are_exact() {
    // Of M equal queues, X = N ÷ ((N + M − 1)·D), exactly and in the approximation.
    for (outstanding, count) in [(1.0, 4.0), (7.0, 4.0), (320.0, 80.0), (64.0, 1.0)] {
        let found = throughput(outstanding, 0.0, &[Queue::exponential(count, 0.002)]);
        let theory = outstanding / ((outstanding + count - 1.0) * 0.002);
        assert!((found / theory - 1.0).abs() < 1e-9, "{outstanding} {count}: {found} {theory}");
    }
}

#[test]
fn random_networks_are_within_one_per_cent_of_the_exact_analysis() {
    let mut rng = Rng::new(7);
    let mut worst: f64 = 0.0;
    for _ in 0..2_000 {
        let demands: Vec<f64> =
            (0..1 + rng.below(6)).map(|_| 1e-3 * (4.0 * rng.unit()).exp()).collect();
        let delay_s = if rng.below(2) == 0 { 0.0 } else { 0.1 * rng.unit() };
        let outstanding = 1 + rng.below(60) as u32;
        let found = throughput(f64::from(outstanding), delay_s, &queues(&demands));
        worst = worst.max((found / exact(outstanding, delay_s, &demands) - 1.0).abs());
    }
    assert!(worst < 0.01, "{worst}");
}

#[test]
fn requests_that_stay_at_home_keep_every_node_busy() {
    // 16 requests on four nodes of 1 ms: X = N ÷ ((N + M − 1)·D) anywhere, all busy at home.
    let found = |together: f64| throughput(16.0, 0.0, &[shared(4.0, together)]);
    let anywhere = 16.0 / (19.0 * 0.00025);
    assert!((found(0.25) / anywhere - 1.0).abs() < 1e-6, "{}", found(0.25));
    assert!((found(1.0) / 4_000.0 - 1.0).abs() < 1e-6, "{}", found(1.0));
    assert!(found(0.5) > found(0.25) && found(0.5) < found(1.0));
}

/// A queue of 1 ms on each of so many nodes.
fn shared(nodes: f64, together: f64) -> Queue {
    let demand_s = 0.001 / nodes;
    Queue {
        nodes,
        together,
        visits: 1.0,
        waits: 1.0,
        serves_s: 0.001,
        rest_s2: 1e-6 / nodes,
        ..Queue::exponential(nodes, demand_s)
    }
}

/// Exact: as many classes as nodes, each with so many requests, by the normalising constant
/// (Reiser and Kobayashi, "Queuing networks with multiple closed chains", IBM Journal of
/// Research and Development 19, 1975). Each class sends `home` of its requests to its own node
/// and the others to all others alike.
fn of_classes(nodes: usize, each: usize, home: f64) -> f64 {
    let wide = each + 1;
    let states = wide.pow(nodes as u32);
    let mut constant = vec![0.0; states];
    constant[0] = 1.0;
    for node in 0..nodes {
        for state in 0..states {
            for class in 0..nodes {
                let step = wide.pow(class as u32);
                if !(state / step).is_multiple_of(wide) {
                    let other = (1.0 - home) / (nodes as f64 - 1.0);
                    let share = if class == node { home } else { other };
                    constant[state] += share * constant[state - step];
                }
            }
        }
    }
    nodes as f64 * constant[states - 2] / constant[states - 1] / 0.001
}

#[test]
fn hosts_that_prefer_their_own_nodes_are_close_to_the_exact_analysis_of_classes() {
    let mut worst: f64 = 0.0;
    for nodes in [2, 3, 4] {
        for each in [1, 2, 4, 8] {
            for home in [1.0 / nodes as f64, 0.5, 0.6, 0.8, 1.0] {
                let away = (1.0 - home) * (1.0 - home) / (nodes as f64 - 1.0);
                let queue = shared(nodes as f64, home * home + away);
                let found = throughput((nodes * each) as f64, 0.0, &[queue]);
                worst = worst.max((found / of_classes(nodes, each, home) - 1.0).abs());
            }
        }
    }
    assert!(worst < 0.02, "{worst}");
}

#[test]
fn at_a_queue_that_few_of_many_reach_waits_are_those_of_m_m_1() {
    // Many sources that each think for long are a Poisson stream: N of them in W = S ÷ (1 − ρ).
    for used in [0.3, 0.6, 0.9] {
        let (service_s, think_s) = (0.001, 100.0);
        let rate = used / service_s;
        let wait_s = service_s / (1.0 - used);
        let outstanding: f64 = rate * (think_s + wait_s);
        let found = throughput(outstanding.round(), think_s, &[Queue::exponential(1.0, service_s)]);
        let held = Queue::exponential(1.0, service_s).held(outstanding.round(), found);
        assert!((held / found / wait_s - 1.0).abs() < 0.01, "{used}: {}", held / found);
    }
}

#[test]
fn without_room_what_is_left_for_pauses_is_waited_for_once() {
    // M/G/1: all work that lies there is λ·Σ½E[S²] ÷ (1 − ρ), of whichever kind it is.
    let (service_s, think_s) = (0.001, 100.0);
    let rest_s2 = service_s * service_s;
    let later = Later { demand_s: service_s, rest_s2, each_s: service_s, ..Later::default() };
    let queue = Queue { later, ..Queue::exponential(1.0, service_s) };
    for used in [0.3, 0.6, 0.9] {
        let rate = used / (2.0 * service_s);
        let wait_s = rate * 2.0 * rest_s2 / (1.0 - used);
        let outstanding: f64 = rate * (think_s + service_s + wait_s);
        let found = queue.waits_s(outstanding, rate);
        assert!((found / wait_s - 1.0).abs() < 0.01, "{used}: {found} {wait_s}");
    }
}

#[test]
fn several_servers_are_close_to_the_repairman() {
    let mut worst: f64 = 0.0;
    for count in [2_u32, 4, 16] {
        for outstanding in [1_u32, 4, 16, 64, 256] {
            let each = 0.004 / f64::from(count);
            let queue = Queue {
                servers: f64::from(count),
                serves_s: 0.004,
                ..Queue::exponential(1.0, each)
            };
            let found = throughput(f64::from(outstanding), 0.002, &[queue]);
            let theory = repairman(outstanding, 0.002, 0.004, count);
            worst = worst.max((found / theory - 1.0).abs());
        }
    }
    // The worst lies where as many requests as servers are outstanding.
    assert!(worst < 0.12, "{worst}");
}
