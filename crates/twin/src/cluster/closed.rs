//! A closed loop against a simulated cluster, in virtual time: so many requests are outstanding,
//! and each that is over is followed by the next at once. It gives the rate that a prediction of
//! the same load is held against.

use super::route::SLAB_BITS;
use super::{Cluster, ClusterSpec, Layer, Preferring, Testbed, busy};
use crate::device::Request;
use model::popularity::Popularity;
use model::rng::Rng;
use model::{Bytes, Object, Op, Percent, Route};

/// Room for the hosts' places, where no footprint is known.
const UNTOLD_BYTES: u64 = 1 << 42;

/// Requests that a simulation sends ahead at most until streams have spread.
const MOST_WANDERS: u64 = 1_000_000;

/// Requests of a part at most, before it is known how far chance moves them.
const MOST_IN_PART: u64 = 50_000;

/// Moves of each request, at most, until they have shared out anew over the nodes.
const MOST_MOVES: f64 = 8.0;

/// How far chance may move a rate that is given.
const SETTLED: f64 = 0.01;

/// A load in a closed loop.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLoop {
    /// Bytes of a read; at least 1.
    pub read_bytes: u32,
    /// Bytes of a write; at least 1.
    pub write_bytes: u32,
    /// The share of reads.
    pub read: Percent,
    /// The share of requests whose place is no continuation, 0 to 1.
    pub random: f64,
    /// All bytes that are touched; `None` where nobody says.
    pub footprint: Option<Bytes>,
    /// Which blocks are asked for more often, as far as the cache tier finds more of them; `None`
    /// where all are alike. The places of requests are even all the same.
    pub popularity: Option<Popularity>,
    /// Hosts that load, in turn on the nodes; at least 1.
    pub hosts: u32,
    /// Requests outstanding of all hosts; at least 1.
    pub outstanding: u64,
    /// Requests outstanding of one stream of blocks, which go on one where another ended; at least
    /// 1. The last stream may have fewer.
    pub depth: u64,
    /// The share of data that is mastered in the other site.
    pub remote: Percent,
    /// What requests are made of. Of whole files each request outstanding has a tree, whose
    /// directories hold 1,024 files each.
    pub object: Object,
    /// How hosts reach the data.
    pub route: Route,
}

const PER_DIRECTORY: u64 = 1024;

/// What a simulation of a load came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Requests per second.
    pub rate: f64,
    /// The standard deviation of the rates of ten parts of equal numbers ÷ √10 ÷ the rate: how far
    /// chance alone moves it.
    pub error: f64,
    /// The share of the measured time in which each layer worked, the mean over all its parts, 0 to
    /// 1.
    pub busy: Vec<(Layer, f64)>,
}

/// What a testbed carries of a load: the rate of at least `requests` (10 or more), after forty
/// times those outstanding have gone before, or more where streams have to spread first. It goes
/// on, twice as long each time, until chance moves the rate by 1 % or less, for up to 31 times as
/// many requests. Chance is told from ten parts, each long enough for requests to share out anew
/// over the nodes, up to 50,000 requests. Each stream is on one host.
///
/// # Errors
/// When the testbed does not say enough to be simulated; in words, with the remedy.
pub fn closed_loop(
    testbed: &Testbed,
    load: &ClosedLoop,
    requests: u64,
    seed: u64,
) -> Result<Simulated, String> {
    let hosts = load.hosts.max(1);
    let outstanding = load.outstanding.max(1);
    let block = u64::from(load.read_bytes.max(load.write_bytes).max(1));
    let each = load.footprint.map_or(UNTOLD_BYTES, |bytes| bytes.0) / u64::from(hosts);
    // Every stream has a part of its own.
    let depth = if load.object.op().is_some() { 1 } else { load.depth.clamp(1, outstanding) };
    let streams = outstanding.div_ceil(depth).div_ceil(u64::from(hosts));
    let blocks = (each / block / streams).max(4);
    let mut spec = ClusterSpec::new("simulated");
    spec.route = load.route;
    spec.is_shared = load.object == Object::SharedFile;
    // A file that hosts share holds the parts of all of them.
    let parts = if spec.is_shared { u64::from(hosts) } else { 1 } * streams;
    spec.volume = Some(Bytes(blocks.saturating_mul(parts).saturating_mul(block)));
    spec.remote = (load.remote.ppm > 0).then_some(load.remote);
    let mut cluster = Cluster::new(testbed, &spec, seed)?;
    let volumes: Vec<u32> = if load.object.op().is_some() {
        let tree = |stream: u64| {
            let host = (stream % u64::from(hosts)) as u32;
            cluster.add_tree(host, stream as u32, PER_DIRECTORY)
        };
        (0..outstanding).map(tree).collect()
    } else {
        (0..hosts).map(|host| cluster.add_volume(host, 0)).collect()
    };
    let preferring = load.popularity.as_ref().map(|popularity| Preferring {
        popularity,
        read: load.read,
        random: load.random,
    });
    cluster.set_load(load.footprint.unwrap_or(Bytes(0)), preferring);
    cluster.begin_measurement(0, None);
    let mut source = Source {
        load: load.clone(),
        block,
        blocks,
        rng: Rng::new(seed ^ 0x10ad),
        places: Vec::new(),
        volumes,
        depth,
    };
    let all = outstanding.div_ceil(depth);
    source.places = match load.object {
        // From the first block on, each of which needs a token.
        Object::SharedFile => vec![0; all as usize],
        Object::Blocks | Object::Files(_) => (0..all).map(|_| source.rng.below(blocks)).collect(),
    };
    for ticket in 0..outstanding {
        source.send(&mut cluster, 0, ticket);
    }
    let before = (requests / 10).max(40 * outstanding).max(wanders(load, outstanding));
    let now_ns = after(&mut cluster, &mut source, before);
    let settles = settles(load, outstanding, testbed.node_count());
    let first = (requests / 10).max(1).max(settles.min(MOST_IN_PART));
    Ok(settled(&mut cluster, &mut source, now_ns, first))
}

/// Ten parts of `first` requests, or of twice as many each time until chance says little.
fn settled(cluster: &mut Cluster, source: &mut Source, mut now_ns: u64, first: u64) -> Simulated {
    let mut part = first;
    loop {
        let mut times_s = Vec::new();
        let (began_ns, worked) = (now_ns, cluster.worked());
        for _ in 0..10 {
            let then_ns = after(cluster, source, part);
            times_s.push(then_ns.saturating_sub(now_ns).max(1) as f64 / 1e9);
            now_ns = then_ns;
        }
        let (rate, error) = of_parts(part, &times_s);
        if error <= SETTLED || part >= 16 * first {
            let busy = busy(&worked, &cluster.worked(), now_ns.saturating_sub(began_ns));
            return Simulated { rate, error, busy };
        }
        part *= 2;
    }
}

/// Requests until those outstanding have shared out anew over the nodes. Shorter parts are alike,
/// and their deviation says too little of chance.
///
/// Where nodes are the queues, all ways of sharing out `N` requests over `M` nodes are equally
/// likely (Gordon and Newell, "Closed queuing systems with exponential servers", Operations
/// Research 15, 1967). So a node has N ÷ M ± N ÷ M of them, and loses or gains one at a time: it
/// takes (N ÷ M)² ÷ 2 moves of each node to forget how many there were. Beyond 16 of each, nodes
/// are hardly ever idle, and how requests are shared out moves the rate no more.
fn settles(load: &ClosedLoop, outstanding: u64, nodes: u64) -> u64 {
    let each = (outstanding as f64 / (2 * nodes.max(1)) as f64).clamp(1.0, MOST_MOVES);
    let moves = wander(load, outstanding).max(outstanding) as f64;
    (moves * each) as u64
}

/// Requests until every stream has left its node once.
fn wander(load: &ClosedLoop, outstanding: u64) -> u64 {
    if load.random >= 1.0 {
        return 0;
    }
    let bytes = u64::from(load.read_bytes.min(load.write_bytes).max(1));
    outstanding.saturating_mul((1 << SLAB_BITS) / bytes.min(1 << SLAB_BITS))
}

/// Requests until every stream has left sixteen of its nodes, up to a limit.
///
/// A stream keeps to a node for 1 MiB. Streams begin evenly at random, and only as they wander do
/// they gather where nodes are slow, as they do for good.
fn wanders(load: &ClosedLoop, outstanding: u64) -> u64 {
    wander(load, outstanding).saturating_mul(16).min(MOST_WANDERS)
}

/// The rate of ten parts of so many requests each, and how far chance moves it.
fn of_parts(part: u64, times_s: &[f64]) -> (f64, f64) {
    let count = times_s.len() as f64;
    let mean_s = times_s.iter().sum::<f64>() / count;
    let squares: f64 = times_s.iter().map(|time_s| (time_s - mean_s).powi(2)).sum();
    let deviation_s = (squares / (count - 1.0)).sqrt();
    (part as f64 / mean_s, deviation_s / mean_s / count.sqrt())
}

/// Lets so many requests end, and says when the last one did.
fn after(cluster: &mut Cluster, source: &mut Source, count: u64) -> u64 {
    let mut now_ns = 0;
    for _ in 0..count {
        // In a closed loop something is always under way.
        let Some(done) = cluster.advance(u64::MAX) else { break };
        now_ns = done.at_ns;
        source.send(cluster, now_ns, done.ticket);
    }
    now_ns
}

/// Where requests come from.
struct Source {
    load: ClosedLoop,
    block: u64,
    /// Of each stream.
    blocks: u64,
    rng: Rng,
    places: Vec<u64>,
    volumes: Vec<u32>,
    /// Requests outstanding of a stream, whose tickets follow one another.
    depth: u64,
}

impl Source {
    fn send(&mut self, cluster: &mut Cluster, now_ns: u64, ticket: u64) {
        let stream = ticket / self.depth;
        if let Object::Files(op) = self.load.object {
            let number = &mut self.places[stream as usize];
            let length = if op.moves_file() { self.load.read_bytes.max(1) } else { 0 };
            let request = Request { op, offset: *number, length };
            *number += 1;
            cluster.submit(now_ns, self.volumes[stream as usize], request, ticket);
            return;
        }
        let is_random = self.rng.unit() < self.load.random;
        let is_read = self.rng.chance(self.load.read.ppm);
        let place = &mut self.places[stream as usize];
        if is_random {
            *place = self.rng.below(self.blocks);
        }
        let hosts = self.volumes.len() as u64;
        let part = match self.load.object {
            Object::SharedFile => stream,
            Object::Blocks | Object::Files(_) => stream / hosts,
        };
        let offset = (part * self.blocks + *place) * self.block;
        *place = (*place + 1) % self.blocks;
        let (op, length) = if is_read {
            (Op::Read, self.load.read_bytes)
        } else {
            (Op::Write, self.load.write_bytes)
        };
        let volume = self.volumes[(stream % hosts) as usize];
        cluster.submit(now_ns, volume, Request { op, offset, length: length.max(1) }, ticket);
    }
}
