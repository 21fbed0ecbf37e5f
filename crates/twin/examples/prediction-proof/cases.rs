//! The model's rate and the simulation's, of the same parameters under the same load.

use crate::closed::closed;
use analysis::prediction::drawn::{Drawn, Noise, modelled};
use analysis::prediction::load::{Load, Measured};
use catalogue::cluster::CacheKind;
use model::Bytes;
use model::load::{SizeMix, Skew};
use model::popularity::{Law, Popularity};
use model::rng::Rng;
use twin::Testbed;
use twin::cluster::{Simulated, closed_loop};

/// Requests of a simulation: chance moves its rate by one per cent or less.
const REQUESTS: u64 = 10_000;

/// What the simulation says of a load.
pub fn simulated(truth: &Testbed, load: &Load) -> Simulated {
    closed_loop(truth, &closed(load), REQUESTS, 1).unwrap_or_else(|why| panic!("{why}"))
}

struct Case {
    seed: u64,
    name: String,
    nodes: u64,
    error: f64,
    chance: f64,
    binds: String,
}

/// What the seed of laws differs by from that of clusters and loads.
const LAWS: u64 = 0x736b_6577_6564;
/// And that of shares in order.
const PARTLY: u64 = 0x7061_7274_6c79;
/// And that of depths.
const DEEP: u64 = 0x6465_6570;
/// And that of hosts.
const FEWER: u64 = 0x0066_6577_6572;

/// The load with a law of its own, by which some blocks are asked for more often.
fn skewed(row: &mut Measured, truth: &Testbed, seed: u64) {
    let mut rng = Rng::new(seed ^ LAWS);
    let load = &mut row.load;
    let milli =
        |low: u64, high: u64, rng: &mut Rng| Skew { milli: (low + rng.below(high - low)) as u32 };
    let law = match rng.below(3) {
        0 => Law::Zipf(milli(400, 1_600, &mut rng)),
        1 => Law::Pareto(milli(100, 450, &mut rng)),
        _ => {
            let (requests, space) = (50 + rng.below(50), 1 + rng.below(49));
            Law::HotSpot(format!("{requests}%:{space}%").parse().expect("shares"))
        }
    };
    let workers = u64::from(load.hosts) * (1 << rng.below(4));
    // A law is of random requests.
    load.workload.random = 1.0;
    let sizes = |bytes: f64| SizeMix::single(Bytes(bytes as u64));
    load.workload.popularity = Some(Popularity {
        law,
        part: Bytes(load.workload.footprint.map_or(0, |bytes| bytes.0) / workers),
        sharers: 1,
        reads: sizes(load.workload.read_bytes),
        writes: sizes(load.workload.write_bytes),
        align: Bytes(0),
    });
    let law = load.workload.popularity.as_ref().map(|one| &one.law);
    row.name = format!("{}, {law:?}", row.name);
    row.rate = modelled(truth, &row.load);
}

/// The load with a share of its requests in order, and the others at random.
fn partly(row: &mut Measured, truth: &Testbed, seed: u64) {
    let percent = 5 + Rng::new(seed ^ PARTLY).below(91);
    row.load.workload.random = percent as f64 / 100.0;
    row.name = format!("{}, {percent} % random", row.name);
    row.rate = modelled(truth, &row.load);
}

/// The load in order, or a share of it, by workers with several requests outstanding each.
fn deep(row: &mut Measured, truth: &Testbed, seed: u64) {
    let mut rng = Rng::new(seed ^ DEEP);
    let percent = if rng.below(3) > 0 { 0 } else { rng.below(96) };
    let each = row.load.outstanding / u64::from(row.load.hosts.max(1));
    row.load.depth = (2 << rng.below(6)).min(each);
    row.load.workload.random = percent as f64 / 100.0;
    row.name = format!("{}, {percent} % random, depth {}", row.name, row.load.depth);
    row.rate = modelled(truth, &row.load);
}

/// The load from hosts on some of the nodes, each with as many requests as before.
fn fewer(row: &mut Measured, truth: &Testbed, seed: u64) {
    let nodes = truth.node_count();
    let hosts = 1 + Rng::new(seed ^ FEWER).below(nodes - 1);
    row.load.outstanding = row.load.outstanding / nodes * hosts;
    row.load.hosts = hosts as u32;
    row.name = format!("{}, {hosts} hosts", row.name);
    row.rate = modelled(truth, &row.load);
}

/// The first seeds from `first` on that draw a cache.
fn with_cache(first: u64, count: u64) -> Vec<u64> {
    let has_cache = |seed: &u64| {
        let drawn = Drawn::new(*seed, Noise::Of(0.0)).expect("a testbed without contradictions");
        drawn.truth.cache_kind() != CacheKind::None
    };
    (first..).filter(has_cache).take(count as usize).collect()
}

/// What a case is drawn from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Blocks, all of them alike.
    Blocks,
    /// Whole files and files that hosts share, on clusters that serve them.
    Files,
    /// Blocks by a law, on clusters with a cache.
    Skewed,
    /// Blocks, some of which follow one another.
    PartlyInOrder,
    /// Blocks in order, by workers with several requests outstanding.
    DeepStreams,
    /// Blocks, from hosts on some of the nodes alone.
    FewerHosts,
}

fn case(seed: u64, of: Of) -> Case {
    let noise = Noise::Of(0.0);
    let (drawn, row) = if of == Of::Files {
        let mut drawn = Drawn::serving_files(seed, noise).expect("no contradictions");
        let row = drawn.on_files(&modelled);
        (drawn, row)
    } else {
        let mut drawn = Drawn::new(seed, noise).expect("no contradictions");
        let mut row = drawn.long(1, &modelled).remove(0);
        match of {
            Of::Skewed => skewed(&mut row, &drawn.truth, seed),
            Of::DeepStreams => deep(&mut row, &drawn.truth, seed),
            Of::FewerHosts => fewer(&mut row, &drawn.truth, seed),
            Of::PartlyInOrder => partly(&mut row, &drawn.truth, seed),
            Of::Blocks | Of::Files => {}
        }
        (drawn, row)
    };
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
pub fn told(first: u64, count: u64, worst: bool, of: Of) {
    let seeds =
        if of == Of::Skewed { with_cache(first, count) } else { (first..first + count).collect() };
    let mut cases: Vec<Case> = seeds.into_iter().map(|seed| case(seed, of)).collect();
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
