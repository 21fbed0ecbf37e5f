//! The model's rate and the simulation's, of the same parameters under the same load.

use analysis::prediction::drawn::{Drawn, Noise, modelled};
use analysis::prediction::load::Load;
use twin::Testbed;
use twin::cluster::{ClosedLoop, Simulated, closed_loop};

/// Requests of a simulation: chance moves its rate by one per cent or less.
const REQUESTS: u64 = 10_000;

/// What the simulation says of a load.
pub fn simulated(truth: &Testbed, load: &Load) -> Simulated {
    let workload = &load.workload;
    let closed = ClosedLoop {
        read_bytes: workload.read_bytes as u32,
        write_bytes: workload.write_bytes as u32,
        read: workload.read,
        random: workload.random,
        footprint: workload.footprint,
        popularity: workload.popularity.clone(),
        hosts: load.hosts,
        outstanding: load.outstanding,
        remote: load.remote,
        object: load.object,
    };
    closed_loop(truth, &closed, REQUESTS, 1).unwrap_or_else(|why| panic!("{why}"))
}

struct Case {
    seed: u64,
    name: String,
    nodes: u64,
    error: f64,
    chance: f64,
    binds: String,
}

fn case(seed: u64) -> Case {
    let mut drawn = Drawn::new(seed, Noise::Of(0.0)).expect("a testbed without contradictions");
    let row = drawn.long(1, &modelled).remove(0);
    let found = simulated(&drawn.truth, &row.load);
    let network = analysis::prediction::network::Network::new(&drawn.truth, &row.load);
    let carried = network.carries(&analysis::prediction::parameter::Values::of(&drawn.truth));
    let held: Vec<String> = carried
        .held_by(0.1)
        .iter()
        .map(|owner| format!("{owner:?} {:.0} %", 100.0 * carried.held[owner]))
        .collect();
    let footprint = row.load.workload.footprint.map_or(0, |bytes| bytes.0 / 1_000_000_000_000);
    Case {
        seed,
        name: format!("{} ({footprint} TB)", row.name),
        nodes: drawn.truth.node_count(),
        error: row.rate / found.rate - 1.0,
        chance: found.error,
        binds: held.join(", "),
    }
}

/// Prints how many of so many cases lie close to each other.
pub fn told(first: u64, count: u64, worst: bool) {
    let mut cases: Vec<Case> = (first..first + count).map(case).collect();
    cases.sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()));
    let within = |share: f64| cases.iter().filter(|case| case.error.abs() <= share).count();
    let mean = cases.iter().map(|case| case.error).sum::<f64>() / cases.len().max(1) as f64;
    println!("| cases | within 2 % | 5 % | 10 % | 20 % | worst | mean |");
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| {} | {} | {} | {} | {} | {:+.1} % | {:+.1} % |",
        cases.len(),
        within(0.02),
        within(0.05),
        within(0.1),
        within(0.2),
        100.0 * cases.first().map_or(0.0, |case| case.error),
        100.0 * mean
    );
    if worst {
        for case in cases.iter().filter(|case| case.error.abs() > 0.05) {
            println!(
                "seed {} {}, {} nodes: {:+.1} % (chance {:.1} %); {}",
                case.seed,
                case.name,
                case.nodes,
                100.0 * case.error,
                100.0 * case.chance,
                case.binds
            );
        }
    }
}
