//! A cluster under a load as a closed network of queues, and what it carries.
//!
//! Hardware takes what [`crate::ceiling`] says of it; what the software and the drives' work behind
//! the cache take are [`Parameter`]s. `docs/method/prediction.md` has the table.

mod beyond;
mod demands;
mod hardware;
mod names;
mod runs;
mod visit;

use super::cache::Tier;
use super::load::Load;
use super::mva::{Queue, throughput};
use super::parameter::{PARAMETERS, Parameter, Values};
use crate::ceiling::{Amplification, Layer, amplification};
use catalogue::Cluster;
use catalogue::cluster::{CopiesUsed, Placement, Role, fixed};
use model::{Object, Route};
use names::Names;
use runs::{Runs, served};
use std::collections::BTreeMap;
use visit::{Part, Station, Visit};

/// Datasheets state random requests of 4 KiB.
const RANDOM_BYTES: f64 = 4096.0;
/// A drive with fewer random reads per second is a disk, where nothing else says it.
const DISK_IOPS: f64 = 1_000.0;
/// Of a disk's random requests: e^σ² − 1 with σ = 0.3, as they are simulated.
const DISK_VARIES: f64 = 0.094;
/// More requests than any load has outstanding: then an arrival finds what everybody finds.
const MANY: f64 = 1e12;
/// The step of derivatives, as a logarithm.
const STEP: f64 = 1e-5;

/// Whose time it is: that of a parameter, or of a layer whose figures are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A parameter of the software or of the drives' work.
    Parameter(Parameter),
    /// A layer, by its datasheet.
    Layer(Layer),
    /// Nobody's: what the network does not know.
    Beyond(Beyond),
}

/// What the network does not know of a load or of a cluster, so that no fitted row speaks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beyond {
    /// Sizes of requests differ, and count as their mean.
    Sizes,
    /// What is touched lies on few of the drives, and counts as spread over all.
    FewPlaces,
    /// Nodes differ, and count as alike.
    UnequalNodes,
    /// Some places are hot, and count as spread over all nodes and drives.
    HotPlaces,
    /// Workers in order keep several requests outstanding from hosts on some of the nodes.
    FewStreams,
    /// Writes in order become stripes with parity, whose parts wait for each other.
    Stripes,
    /// Copies go to nodes of two sites, whichever these are.
    Sites,
}

/// What a load comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Requests per second.
    pub rate: f64,
    /// Which share of the requests outstanding each owner holds on average; they add up to 1.
    pub held: BTreeMap<Owner, f64>,
}

impl Carried {
    /// Whoever holds this share of all requests or more, the largest first; where nobody does,
    /// whoever holds most. Something always binds.
    pub(crate) fn bound_by(&self, share: f64) -> Vec<Owner> {
        let owners = self.held_by(share);
        if !owners.is_empty() {
            return owners;
        }
        let most = self.held.iter().max_by(|a, b| a.1.total_cmp(b.1));
        most.map(|(owner, _)| *owner).into_iter().collect()
    }

    /// Whoever holds this share of all requests or more, the largest first.
    pub fn held_by(&self, share: f64) -> Vec<Owner> {
        let mut owners: Vec<Owner> =
            self.held.iter().filter(|(_, held)| **held >= share).map(|(owner, _)| *owner).collect();
        owners.sort_by(|a, b| self.held[b].total_cmp(&self.held[a]));
        owners
    }
}

/// A cluster under a load, with everything that does not depend on parameters computed once.
#[derive(Clone, Debug)]
pub struct Network {
    outstanding: f64,
    reads: f64,
    writes: f64,
    read_bytes: f64,
    write_bytes: f64,
    /// Which reads and which writes meet the same drive one after the other.
    /// Requests of the same worker that meet the same drive as each.
    companions: f64,
    read_runs: Runs,
    write_runs: Runs,
    /// The share of requests that are served as random ones.
    random: f64,
    nodes: f64,
    /// Requests that a node's software works on at once.
    lanes: f64,
    footprint: Option<model::Bytes>,
    tier: Option<Tier>,
    amplification: Amplification,
    /// Round trips between sites for each request.
    crossings: f64,
    /// The share of reads that the node of their host answers; `None` where hosts do not run on
    /// nodes.
    at_home: Option<f64>,
    /// Nodes that run hosts of the load, where any does.
    hosted: f64,
    /// Blocks of a write that are stored side by side: of a random one, and of one in sequence.
    blocks: Blocks,
    /// What servers of names do for each request.
    names: Names,
    /// How hosts reach the data.
    route: Route,
    /// Whether all hosts share one file.
    is_shared: bool,
    /// Capacity drives, and what each of them reads and writes in sequence, in bytes per second.
    drives: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
    /// The squared coefficient of variation of a random request's time there.
    varies: f64,
    /// Bytes of a random read that the parameter's time already has in it.
    line_bytes: f64,
    /// Layers whose time no parameter changes.
    fixed: Vec<Station>,
    /// Directions of ports, which a parameter may share: with all of their bandwidth.
    ports: Vec<Station>,
    /// Of a drive of the cache, for each access.
    cache_drives: f64,
    cache: CacheTimes,
    /// What it does not know.
    beyond: Vec<Beyond>,
}

/// Blocks that a write becomes.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    random: f64,
    in_order: f64,
    /// On drives of one node, one after the other.
    one_by_one: bool,
}

/// Times of a drive of the cache tier, in seconds; 0 where too little is known.
#[derive(Clone, Copy, Debug, Default)]
struct CacheTimes {
    random_read_s: f64,
    read_s: f64,
    random_write_s: f64,
    write_s: f64,
    /// To take in what a read brought.
    fill_s: f64,
    /// Of a block of a journal.
    journal_s: f64,
}

impl Network {
    /// The network of a cluster under a load.
    pub fn new(cluster: &Cluster, load: &Load) -> Network {
        // How many lanes serve is the nodes' own, wherever hosts are.
        let lanes = f64::from(cluster.lanes());
        let used = load.used(cluster);
        let cluster = &*used;
        let served = Load { workload: served(&load.workload), ..load.clone() };
        let workload = &served.workload;
        let runs = |bytes| Runs::new(1.0 - load.workload.random, bytes);
        let amplification = amplification(cluster, workload);
        let share = |percent: model::Percent| f64::from(percent.ppm) / 1e6;
        let copies_cross =
            if cluster.protection.placement.value == Placement::Site { 1.0 } else { 0.0 };
        let crossings = workload.read_share() * share(cluster.access.remote_site_reads.value)
            + workload.write_share()
                * (copies_cross + share(cluster.access.remote_site_writes.value));
        let count = |role| cluster.drives(role).map(|(count, _)| count as f64).sum::<f64>();
        let drives = count(Role::Capacity);
        let mean = |figure: &dyn Fn(&catalogue::cluster::Figures) -> Option<f64>| -> f64 {
            let all = cluster.drives(Role::Capacity);
            let sum: f64 = all
                .map(|(count, figures)| count as f64 * figure(figures).unwrap_or_default())
                .sum();
            sum / drives.max(1.0)
        };
        let line_bytes = fixed(cluster.cache.line.value).map_or(0.0, |line| line.0 as f64);
        let moves = if load.object.moves_data() { 1.0 } else { 0.0 };
        let mut network = Network {
            outstanding: load.outstanding.max(1) as f64,
            reads: moves * workload.read_share(),
            writes: moves * workload.write_share(),
            read_bytes: workload.read_bytes,
            write_bytes: workload.write_bytes,
            companions: runs(workload.bytes()).companions(load.depth),
            read_runs: runs(workload.read_bytes),
            write_runs: runs(workload.write_bytes),
            random: workload.random,
            nodes: cluster.node_count().max(1) as f64,
            lanes,
            route: load.route,
            footprint: workload.footprint,
            tier: Tier::of(cluster, &load.workload, &amplification),
            at_home: at_home(cluster),
            hosted: f64::from(load.hosts.max(1)).min(cluster.node_count().max(1) as f64),
            blocks: blocks(cluster),
            names: Names::of(cluster, load),
            is_shared: load.object == Object::SharedFile,
            amplification,
            crossings,
            drives,
            read_bytes_per_s: mean(&|figures| figures.read_bytes_per_s),
            write_bytes_per_s: mean(&|figures| figures.write_bytes_per_s),
            varies: if mean(&|figures| figures.read_iops) < DISK_IOPS { DISK_VARIES } else { 0.0 },
            line_bytes: line_bytes.max(RANDOM_BYTES),
            fixed: Vec::new(),
            ports: Vec::new(),
            cache_drives: count(Role::Cache),
            cache: hardware::cache_times(cluster, workload),
            beyond: beyond::of(cluster, load),
        };
        if load.object.moves_data() {
            network.layers(cluster, &served);
        }
        if network.names.changes > 0.0 {
            network.journal_ports(cluster);
        }
        network
    }

    /// What it carries with these parameters.
    pub fn carries(&self, values: &Values) -> Carried {
        let (stations, delays) = (self.stations(values), self.delays(values));
        let rate = self.solve(&stations, &delays);
        let mut held: BTreeMap<Owner, f64> = BTreeMap::new();
        let mut add = |owner: Owner, seconds: f64| {
            *held.entry(owner).or_default() += rate * seconds / self.outstanding;
        };
        delays.iter().for_each(|part| add(part.owner, part.seconds));
        for station in &stations {
            let queue = station.queue(self.outstanding, self.companions);
            let wait_s = queue.waits_s(self.outstanding, rate).max(0.0);
            let all_s = queue.all_s() * queue.count * station.servers;
            for visit in &station.visits {
                let serves = station.serves(visit, &queue);
                for part in &visit.parts {
                    let waited_s = wait_s * visit.times * part.seconds / all_s.max(1e-300);
                    add(part.owner, visit.times * serves * part.seconds + waited_s);
                }
            }
        }
        // The last steps of the analysis have their own waits: shares are of what they come to.
        let all: f64 = held.values().sum();
        held.values_mut().for_each(|held| *held /= all.max(1e-300));
        Carried { rate, held }
    }

    /// The same load with so many requests outstanding (at least 1).
    pub(super) fn with_outstanding(&self, outstanding: f64) -> Network {
        Network { outstanding: outstanding.max(1.0), ..self.clone() }
    }

    /// The mean latency of requests that come at a rate of their own, per second, in seconds:
    /// services, and waits as in open queues, to which they come like strangers. `None` where it
    /// carries less than that.
    pub(super) fn latency_at_s(&self, values: &Values, rate: f64) -> Option<f64> {
        let (stations, delays) = (self.stations(values), self.delays(values));
        if self.solve(&stations, &delays) < rate {
            return None;
        }
        let delay_s: f64 = delays.iter().map(|part| part.seconds).sum();
        let at = |station: &Station| {
            let queue = station.queue(MANY, 0.0);
            queue.serves_s + queue.waits_s(MANY, rate).max(0.0)
        };
        let latency_s = delay_s + stations.iter().map(at).sum::<f64>();
        // So many may be outstanding, and what is due later waits before them.
        (latency_s.is_finite() && latency_s > 0.0).then_some(latency_s)
    }

    /// What a request waits that keeps nobody else waiting, in seconds.
    pub(super) fn delay_s(&self, values: &Values) -> f64 {
        self.delays(values).iter().map(|part| part.seconds).sum()
    }

    /// What it does not know.
    pub(super) fn beyond(&self) -> &[Beyond] {
        &self.beyond
    }

    /// Whether a parameter has any part in it.
    pub(super) fn has(&self, parameter: Parameter) -> bool {
        let behind = self.drives > 0.0;
        let names = &self.names;
        match parameter {
            Parameter::Read | Parameter::ReadPerMib => self.reads > 0.0,
            Parameter::Write | Parameter::WritePerMib => self.writes > 0.0,
            Parameter::ReadPath => self.reads > 0.0 || names.asks() > 0.0,
            Parameter::WritePath => self.writes > 0.0 || names.changes > 0.0,
            Parameter::SiteRoundTrip => self.crossings > 0.0,
            Parameter::PortShare => !self.ports.is_empty(),
            Parameter::CacheUsable => self.tier.is_some() && self.footprint.is_some(),
            Parameter::DriveRead | Parameter::DriveWrite => behind && self.random > 0.0,
            Parameter::StreamShare => behind && self.random < 1.0,
            Parameter::Lookup => names.asks() > 0.0,
            Parameter::Change => names.changes > 0.0 && !names.is_create,
            Parameter::Create => names.is_create,
            Parameter::AttributesKept => names.is_stat,
            Parameter::SharedFile => self.is_shared,
            Parameter::RdmaPath | Parameter::RdmaMessage => self.route == Route::SmbDirect,
            Parameter::TcpPath | Parameter::TcpMessage => self.route == Route::Smb,
        }
    }

    /// How the logarithm of the rate changes with that of each parameter.
    pub(super) fn slopes(&self, values: &Values) -> [f64; PARAMETERS] {
        Parameter::EACH.map(|parameter| {
            if !self.has(parameter) {
                return 0.0;
            }
            let moved = |by: f64| {
                let mut moved = *values;
                moved.0[parameter.index()] += by;
                self.ln_rate(&moved)
            };
            (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
        })
    }

    /// The logarithm of the rate alone: that is what is fitted.
    pub(super) fn ln_rate(&self, values: &Values) -> f64 {
        self.solve(&self.stations(values), &self.delays(values)).max(1e-12).ln()
    }

    fn solve(&self, stations: &[Station], delays: &[Part]) -> f64 {
        let of = |station: &Station| station.queue(self.outstanding, self.companions);
        let queues: Vec<Queue> = stations.iter().map(of).collect();
        let delay_s = delays.iter().map(|part| part.seconds).sum();
        throughput(self.outstanding, delay_s, &queues)
    }
}

/// Reads that the node answers on which their host runs: a copy of the block lies there.
fn at_home(cluster: &Cluster) -> Option<f64> {
    let used = fixed(cluster.access.copies_used.value);
    let nodes = cluster.node_count().max(1) as f64;
    if nodes <= 1.0 || cluster.has_clients() {
        return None;
    }
    let given = fixed(cluster.access.local_reads.value).map(|one| f64::from(one.ppm) / 1e6);
    let copies = if cluster.protection.placement.value == Placement::Drive {
        1.0
    } else {
        fixed(cluster.protection.copies.value).map_or(1.0, |copies| f64::from(copies.0))
    };
    let near = if used == Some(CopiesUsed::Any) { 1.0 } else { copies } / nodes;
    Some(given.unwrap_or(near.min(1.0)))
}

/// Copies, or the parts of a stripe of which a small write changes its own and the parities.
fn blocks(cluster: &Cluster) -> Blocks {
    let protection = &cluster.protection;
    let one_by_one = protection.placement.value == Placement::Drive;
    let count = |value| fixed(value).map(|count: catalogue::Count| f64::from(count.0));
    match (count(protection.data.value), count(protection.parity.value)) {
        (Some(data), Some(parity)) => {
            Blocks { random: 1.0 + parity, in_order: data + parity, one_by_one }
        }
        _ => {
            let copies = count(protection.copies.value).unwrap_or(1.0);
            Blocks { random: copies, in_order: copies, one_by_one }
        }
    }
}
