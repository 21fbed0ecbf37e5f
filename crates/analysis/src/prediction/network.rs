//! A cluster under a load as a closed network of queues, and what it carries.
//!
//! Hardware takes what [`crate::ceiling`] says of it; what the software and the drives' work behind
//! the cache take are [`Parameter`]s. `docs/method/prediction.md` has the table.

mod demands;

use super::cache::Tier;
use super::load::Load;
use super::mva::{Queue, in_queue, servers, throughput};
use super::parameter::{PARAMETERS, Parameter, Values};
use crate::ceiling::{Amplification, Layer, Workload, amplification, ceiling, random_s};
use catalogue::Cluster;
use catalogue::cluster::{Placement, Role, fixed};
use std::collections::BTreeMap;

/// Datasheets state random requests of 4 KiB.
const RANDOM_BYTES: f64 = 4096.0;

/// Whose time it is: that of a parameter, or of a layer whose figures are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A parameter of the software or of the drives' work.
    Parameter(Parameter),
    /// A layer, by its datasheet.
    Layer(Layer),
}

/// Time of one owner.
#[derive(Clone, Copy, Debug)]
struct Part {
    owner: Owner,
    /// Of each of the station's queues, for each request.
    demand_s: f64,
}

/// Queues that are alike.
#[derive(Clone, Debug)]
struct Station {
    count: f64,
    parts: Vec<Part>,
}

impl Station {
    fn demand_s(&self) -> f64 {
        self.parts.iter().map(|part| part.demand_s).sum()
    }
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
    random: f64,
    nodes: f64,
    footprint: Option<model::Bytes>,
    tier: Option<Tier>,
    amplification: Amplification,
    /// Round trips between sites for each request.
    crossings: f64,
    /// Capacity drives, and what all of them read and write in sequence, in bytes per second.
    drives: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
    /// Bytes of a random read that the parameter's time already has in it.
    line_bytes: f64,
    /// Layers whose time no parameter changes.
    fixed: Vec<Station>,
    /// Delays of these.
    delays: Vec<Part>,
    /// Ports, which a parameter may share: how many, and their demand with all of them.
    ports: Vec<Port>,
    /// Of the cache's drives, for each read that hits and for each write.
    cache_drives: f64,
    hit_s: f64,
    taken_s: f64,
}

#[derive(Clone, Copy, Debug)]
struct Port {
    layer: Layer,
    count: f64,
    demand_s: f64,
}

impl Network {
    /// The network of a cluster under a load.
    pub fn new(cluster: &Cluster, load: &Load) -> Network {
        let mut there = cluster.clone();
        if load.remote.ppm > 0 {
            there.access.remote_site_reads.value = load.remote;
            there.access.remote_site_writes.value = load.remote;
        }
        let (cluster, workload) = (&there, &load.workload);
        let amplification = amplification(cluster, workload);
        let share = |percent: model::Percent| f64::from(percent.ppm) / 1e6;
        let copies_cross =
            if cluster.protection.placement.value == Placement::Site { 1.0 } else { 0.0 };
        let crossings = workload.read_share() * share(cluster.access.remote_site_reads.value)
            + workload.write_share()
                * (copies_cross + share(cluster.access.remote_site_writes.value));
        let sum = |role, figure: &dyn Fn(&catalogue::cluster::Figures) -> Option<f64>| -> f64 {
            let all = cluster.drives(role);
            all.map(|(count, figures)| count as f64 * figure(figures).unwrap_or_default()).sum()
        };
        let count = |role| cluster.drives(role).map(|(count, _)| count as f64).sum::<f64>();
        let line_bytes = fixed(cluster.cache.line.value).map_or(0.0, |line| line.0 as f64);
        let mut network = Network {
            outstanding: load.outstanding.max(1) as f64,
            reads: workload.read_share(),
            writes: workload.write_share(),
            read_bytes: workload.read_bytes,
            write_bytes: workload.write_bytes,
            random: workload.random,
            nodes: cluster.node_count().max(1) as f64,
            footprint: workload.footprint,
            tier: Tier::of(cluster, &amplification),
            amplification,
            crossings,
            drives: count(Role::Capacity),
            read_bytes_per_s: sum(Role::Capacity, &|figures| figures.read_bytes_per_s),
            write_bytes_per_s: sum(Role::Capacity, &|figures| figures.write_bytes_per_s),
            line_bytes: line_bytes.max(RANDOM_BYTES),
            fixed: Vec::new(),
            delays: Vec::new(),
            ports: Vec::new(),
            cache_drives: count(Role::Cache),
            hit_s: 0.0,
            taken_s: 0.0,
        };
        network.layers(cluster, load);
        network.cache(cluster, workload);
        network
    }

    /// Ports, fabric, links and cores: the ceilings' demands.
    fn layers(&mut self, cluster: &Cluster, load: &Load) {
        let ports: f64 = cluster
            .nodes
            .iter()
            .map(|group| {
                group.count() as f64
                    * fixed(group.spec.ports.value).map_or(1.0, |count| f64::from(count.0))
            })
            .sum();
        for limit in ceiling(cluster, &load.workload).limits {
            let all_s = 1.0 / limit.iops;
            match limit.layer {
                Layer::Drives | Layer::Cache | Layer::Mover => {}
                Layer::Ports => {
                    self.ports.push(Port { layer: limit.layer, count: ports, demand_s: all_s });
                }
                Layer::ClientPorts => {
                    let clients = fixed(cluster.clients.count.value).map_or(1, |count| count.0);
                    let at_work = f64::from(load.hosts.clamp(1, clients));
                    let demand_s = all_s * f64::from(clients) / at_work;
                    self.ports.push(Port { layer: limit.layer, count: at_work, demand_s });
                }
                Layer::Cpu => {
                    let cores: f64 = cluster
                        .nodes
                        .iter()
                        .map(|group| {
                            group.count() as f64
                                * fixed(group.spec.cores.value).map_or(1.0, |n| f64::from(n.0))
                        })
                        .sum();
                    // The ceiling's demand is that of all cores: of a node's alone it is as many
                    // times more as it has cores.
                    let each = servers(all_s * cores / self.nodes, cores / self.nodes);
                    self.add_fixed(limit.layer, self.nodes, each.demand_s);
                    let owner = Owner::Layer(limit.layer);
                    self.delays.push(Part { owner, demand_s: each.delay_s * self.nodes });
                }
                Layer::Fabric | Layer::SiteLink => self.add_fixed(limit.layer, 1.0, all_s),
                Layer::SocketLink => self.add_fixed(limit.layer, self.nodes, all_s),
            }
        }
    }

    fn add_fixed(&mut self, layer: Layer, count: f64, demand_s: f64) {
        let part = Part { owner: Owner::Layer(layer), demand_s };
        self.fixed.push(Station { count, parts: vec![part] });
    }

    /// What a hit and a write take of the cache's drives, where their figures are known.
    fn cache(&mut self, cluster: &Cluster, workload: &Workload) {
        let (mut hits_per_s, mut taken_per_s) = (0.0, 0.0);
        for (count, figures) in cluster.drives(Role::Cache) {
            let mean = |random_s: Option<f64>, bandwidth: Option<f64>, bytes: f64| {
                let sequential_s = bandwidth.map(|bandwidth| bytes / bandwidth);
                Some(workload.random * random_s? + (1.0 - workload.random) * sequential_s?)
            };
            let (read, write) = (workload.read_bytes, workload.write_bytes);
            let read_bandwidth = figures.read_bytes_per_s;
            let write_bandwidth = figures.write_bytes_per_s;
            let hit_s =
                mean(random_s(figures.read_iops, read_bandwidth, read), read_bandwidth, read);
            let taken_s =
                mean(random_s(figures.write_iops, write_bandwidth, write), write_bandwidth, write);
            hits_per_s += hit_s.map_or(0.0, |one| count as f64 / one);
            taken_per_s += taken_s.map_or(0.0, |one| count as f64 / one);
        }
        let inverse = |rate: f64| if rate > 0.0 { 1.0 / rate } else { 0.0 };
        (self.hit_s, self.taken_s) = (inverse(hits_per_s), inverse(taken_per_s));
    }

    /// What it carries with these parameters.
    pub fn carries(&self, values: &Values) -> Carried {
        let (stations, delays) = (self.stations(values), self.delays(values));
        let rate = self.solve(&stations, &delays);
        let mut held: BTreeMap<Owner, f64> = BTreeMap::new();
        for part in &delays {
            *held.entry(part.owner).or_default() += rate * part.demand_s / self.outstanding;
        }
        for station in &stations {
            let demand_s = station.demand_s();
            if demand_s <= 0.0 {
                continue;
            }
            let here =
                station.count * in_queue(demand_s, self.outstanding, rate) / self.outstanding;
            for part in &station.parts {
                *held.entry(part.owner).or_default() += here * part.demand_s / demand_s;
            }
        }
        Carried { rate, held }
    }

    /// Whether a parameter has any part in it.
    pub(super) fn has(&self, parameter: Parameter) -> bool {
        let behind = self.drives > 0.0;
        match parameter {
            Parameter::Read | Parameter::ReadPerMib | Parameter::ReadPath => self.reads > 0.0,
            Parameter::Write | Parameter::WritePerMib | Parameter::WritePath => self.writes > 0.0,
            Parameter::SiteRoundTrip => self.crossings > 0.0,
            Parameter::PortShare => !self.ports.is_empty(),
            Parameter::CacheUsable => self.tier.is_some() && self.footprint.is_some(),
            Parameter::DriveRead | Parameter::DriveWrite => behind && self.random > 0.0,
            Parameter::StreamShare => behind && self.random < 1.0,
        }
    }

    /// How the logarithm of the rate changes with that of each parameter.
    ///
    /// The requests in all queues and delays are as many as are outstanding, whatever the
    /// parameters are. So what a parameter adds to them at the same rate, the rate takes away:
    /// ∂ln X ÷ ∂θ = −(∂H ÷ ∂θ) ÷ (∂H ÷ ∂ln X), with H = X·Z + Σ X·D ÷ (1 − X·D·(N − 1) ÷ N).
    pub(super) fn slopes(&self, values: &Values) -> [f64; PARAMETERS] {
        let (stations, delays) = (self.stations(values), self.delays(values));
        let rate = self.solve(&stations, &delays);
        let seen = (self.outstanding - 1.0) / self.outstanding;
        // What a second of demand adds to the requests there.
        let weights: Vec<f64> = stations
            .iter()
            .map(|one| one.count * rate / (1.0 - rate * one.demand_s() * seen).powi(2))
            .collect();
        let delay_s: f64 = delays.iter().map(|part| part.demand_s).sum();
        let all: f64 = rate * delay_s
            + stations
                .iter()
                .zip(&weights)
                .map(|(one, weight)| weight * one.demand_s())
                .sum::<f64>();
        let mut added = [0.0; PARAMETERS];
        for part in &delays {
            if let Owner::Parameter(parameter) = part.owner {
                added[parameter.index()] += rate * part.demand_s;
            }
        }
        for (station, weight) in stations.iter().zip(&weights) {
            for part in &station.parts {
                if let Owner::Parameter(parameter) = part.owner {
                    added[parameter.index()] += weight * part.demand_s;
                }
            }
        }
        // Shares divide, or move requests from one station to another.
        const STEP: f64 = 1e-4;
        for parameter in Parameter::ALL.into_iter().filter(|one| one.is_share()) {
            let moved = |by: f64| {
                let mut moved = *values;
                moved.0[parameter.index()] += by;
                self.stations(&moved)
            };
            let (more, less) = (moved(STEP), moved(-STEP));
            let change = more.iter().zip(&less).zip(&weights).map(|((more, less), weight)| {
                weight * (more.demand_s() - less.demand_s()) / (2.0 * STEP)
            });
            added[parameter.index()] = if self.has(parameter) { change.sum() } else { 0.0 };
        }
        added.map(|added| if all > 0.0 { -added / all } else { 0.0 })
    }

    /// The logarithm of the rate alone: that is what is fitted.
    pub(super) fn ln_rate(&self, values: &Values) -> f64 {
        self.solve(&self.stations(values), &self.delays(values)).max(1e-12).ln()
    }

    fn solve(&self, stations: &[Station], delays: &[Part]) -> f64 {
        let queues: Vec<Queue> = stations
            .iter()
            .map(|station| Queue { count: station.count, demand_s: station.demand_s() })
            .collect();
        let delay_s = delays.iter().map(|part| part.demand_s).sum();
        throughput(self.outstanding, delay_s, &queues)
    }
}
