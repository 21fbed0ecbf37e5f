//! Mean-value analysis of a closed network of queues with one class of requests.
//!
//! Schweitzer and Bard's approximation: a request that arrives finds (N − 1) ÷ N of the mean queue
//! (Schweitzer, "Approximate analysis of multiclass closed networks of queues", 1979; Bard, "Some
//! extensions to multiclass queueing network analysis", 1979; Lazowska et al., "Quantitative System
//! Performance", 1984, 7.4). With a throughput X, a queue of demand D then holds
//! q = X·D ÷ (1 − X·D·(N − 1) ÷ N) requests, delays hold X·Z, and X is where all of them are N. The
//! left side grows with X and is convex, so there is one solution and Newton's steps from its right
//! reach it; no fixed point is iterated.
//!
//! Several servers behind one queue: a single server of D ÷ c and a delay of D·(c − 1) ÷ c
//! (Seidmann, Schweitzer and Shalev-Oren, "Computerized closed queueing network models of flexible
//! manufacturing systems", Large Scale Systems 12, 1987).

/// Queues that are alike, as mean-value analysis sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// How many there are; at least 1.
    pub count: f64,
    /// What each request takes of each of them on average, in seconds; not below 0.
    pub demand_s: f64,
}

/// What `c` servers behind one queue become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Servers {
    /// The demand of the one server in their place, in seconds.
    pub demand_s: f64,
    /// What a request waits besides, in seconds.
    pub delay_s: f64,
}

/// One server and a delay in the place of `servers` (at least 1) that share a queue, of each of
/// which a request takes `demand_s` seconds if it were alone.
pub fn servers(demand_s: f64, servers: f64) -> Servers {
    Servers { demand_s: demand_s / servers, delay_s: demand_s * (servers - 1.0) / servers }
}

/// Requests in one queue at a throughput, with `outstanding` in the network.
pub fn in_queue(demand_s: f64, outstanding: f64, rate: f64) -> f64 {
    let used = rate * demand_s;
    used / (1.0 - used * (outstanding - 1.0) / outstanding)
}

/// Requests per second of a network with `outstanding` (at least 1) requests in it, `delay_s`
/// seconds of delays and these queues; 0 where nothing takes any time.
pub fn throughput(outstanding: f64, delay_s: f64, queues: &[Queue]) -> f64 {
    let total_s: f64 =
        delay_s + queues.iter().map(|queue| queue.count * queue.demand_s).sum::<f64>();
    if total_s.is_nan() || total_s <= 0.0 || outstanding < 1.0 {
        return 0.0;
    }
    let seen = (outstanding - 1.0) / outstanding;
    let largest_s = queues.iter().map(|queue| queue.demand_s).fold(0.0, f64::max);
    // Nobody waits; one server is always busy.
    let mut high = outstanding / total_s;
    if seen * largest_s > 0.0 {
        high = high.min(1.0 / (seen * largest_s));
    }
    let mut low = 0.0;
    let mut rate = 0.999 * high;
    for _ in 0..200 {
        let (mut held, mut slope) = (rate * delay_s, delay_s);
        for queue in queues {
            let left = 1.0 - rate * queue.demand_s * seen;
            held += queue.count * rate * queue.demand_s / left;
            slope += queue.count * queue.demand_s / (left * left);
        }
        let over = held - outstanding;
        if over.abs() <= 1e-12 * outstanding {
            break;
        }
        if over > 0.0 {
            high = rate;
        } else {
            low = rate;
        }
        let next = rate - over / slope;
        rate = if next > low && next < high { next } else { 0.5 * (low + high) };
        if high - low <= 1e-14 * high {
            break;
        }
    }
    rate
}

#[cfg(test)]
mod tests {
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
        demands_s.iter().map(|demand_s| Queue { count: 1.0, demand_s: *demand_s }).collect()
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
            let found = throughput(outstanding, 0.0, &[Queue { count, demand_s: 0.002 }]);
            let theory = outstanding / ((outstanding + count - 1.0) * 0.002);
            assert!((found / theory - 1.0).abs() < 1e-9, "{outstanding} {count}: {found} {theory}");
        }
    }

    #[test]
    fn small_networks_are_within_seven_per_cent_of_the_exact_analysis() {
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
        assert!(worst < 0.07, "{worst}");
    }

    #[test]
    fn at_a_queue_that_few_of_many_reach_waits_are_those_of_m_m_1() {
        // Many sources that each think for long are a Poisson stream: N of them in W = S ÷ (1 − ρ).
        for used in [0.3, 0.6, 0.9] {
            let (service_s, think_s) = (0.001, 100.0);
            let rate = used / service_s;
            let wait_s = service_s / (1.0 - used);
            let outstanding: f64 = rate * (think_s + wait_s);
            let found = throughput(
                outstanding.round(),
                think_s,
                &[Queue { count: 1.0, demand_s: service_s }],
            );
            let held = in_queue(service_s, outstanding, found);
            assert!((held / found / wait_s - 1.0).abs() < 0.01, "{used}: {}", held / found);
        }
    }

    #[test]
    fn several_servers_are_close_to_the_repairman() {
        let mut worst: f64 = 0.0;
        for count in [2_u32, 4, 16] {
            for outstanding in [1_u32, 4, 16, 64, 256] {
                let one = servers(0.004, f64::from(count));
                let found = throughput(
                    f64::from(outstanding),
                    0.002 + one.delay_s,
                    &[Queue { count: 1.0, demand_s: one.demand_s }],
                );
                let theory = repairman(outstanding, 0.002, 0.004, count);
                worst = worst.max((found / theory - 1.0).abs());
            }
        }
        // The worst lies where as many requests as servers are outstanding.
        assert!(worst < 0.35, "{worst}");
    }
}
