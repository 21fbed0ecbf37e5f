//! What a described cluster can carry at most, layer by layer, and which layer binds.
//!
//! Operational analysis: a layer that can do `C` units of work per second, of which each request of
//! the workload takes `D`, lets at most `C ÷ D` requests per second through, whatever else happens
//! (the utilisation law: utilisation = throughput × demand ≤ 1). The cluster's ceiling is the least
//! of these. Source: Denning and Buzen, "The Operational Analysis of Queueing Network Models", ACM
//! Computing Surveys 10(3), 1978; Lazowska, Zahorjan, Graham and Sevcik, "Quantitative System
//! Performance", 1984, chapter 5. Formulas of each layer stand in `docs/method`.

mod against;
mod layers;
mod network;
mod protection;
mod simulated;
mod tiers;
mod workload;

pub(crate) use against::touched_by;
pub use against::{Reached, against, doubt, touched, touched_in};
use model::Bytes;
pub use model::layer::Layer;
pub(crate) use network::{Traffic, group_ports, ports_bytes_per_s, traffic};
pub use protection::{Amplification, amplification};
pub use simulated::simulated;
pub(crate) use simulated::{as_used, reached};
pub(crate) use tiers::random as random_s;
pub use workload::Workload;

use catalogue::Cluster;

/// The most that one layer lets through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Which layer.
    pub layer: Layer,
    /// Requests per second; above 0 and finite.
    pub iops: f64,
}

/// Something that was taken for granted because the testbed does not say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Assumption {
    /// The whole footprint lies in the cache tier.
    InCache,
    /// A local copy is read wherever there is one: the share of reads that it answers, 0 to 1.
    LocalReads(f64),
    /// One copy of each write stays on the node that writes.
    LocalWrites,
    /// Nothing is said about protection: one copy.
    OneCopy,
    /// The cache keeps as many bytes of data as its drives hold, protection taken off.
    CacheSize(f64),
    /// The footprint fits, although the drives behind the cache hold only so many bytes of data,
    /// protection taken off.
    Fits(f64),
    /// Drives hold so little, 0 to 1, that they write faster at random than their datasheet says.
    PartlyFilled(f64),
}

/// What a cluster can carry of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// The workload.
    pub workload: Workload,
    /// The layers of which enough is known and which the workload uses, the lowest first.
    pub limits: Vec<Limit>,
    /// What was taken for granted, each once.
    pub assumptions: Vec<Assumption>,
    /// What protection makes of each byte written.
    pub amplification: Amplification,
    /// The share of reads that the cache tier answers, and of writes that it takes up, 0 to 1;
    /// `None` without such a tier.
    pub hits: Option<(f64, f64)>,
}

impl Ceiling {
    /// The layer that binds; `None` where too little is known of all of them.
    pub fn binding(&self) -> Option<Limit> {
        self.limits.first().copied()
    }

    /// What would bind if the first layer did not.
    pub fn next(&self) -> Option<Limit> {
        self.limits.get(1).copied()
    }

    /// What `layer` allows.
    pub fn limit(&self, layer: Layer) -> Option<Limit> {
        self.limits.iter().copied().find(|limit| limit.layer == layer)
    }

    /// The share of the ceiling that `iops` is, 0 and up; above 1, some of it did not come from
    /// where the testbed says.
    pub fn share(&self, iops: f64) -> Option<f64> {
        self.binding().map(|limit| iops / limit.iops)
    }
}

/// The bytes of all cache drives, where all that `workload` touches stays in their tier for good:
/// the drives behind it are never read, and the figures are those of the cache. `None` where some
/// leaves it, and where capacity or footprint are not known.
pub fn within_cache(cluster: &Cluster, workload: &Workload) -> Option<Bytes> {
    workload.footprint.filter(|bytes| bytes.0 > 0)?;
    let amplification = amplification(cluster, workload);
    let missed = tiers::missed(cluster, workload, &amplification, &mut Vec::new())?;
    let (reads, writes) = missed.hits(workload.random);
    let bytes = tiers::cache_bytes(cluster).filter(|bytes| *bytes > 0.0)?;
    let stays = |share: f64, hits: f64| share <= 0.0 || hits >= 1.0;
    let all_stay = stays(workload.read_share(), reads) && stays(workload.write_share(), writes);
    all_stay.then_some(Bytes(bytes as u64))
}

/// What `cluster` can carry of `workload`.
pub fn ceiling(cluster: &Cluster, workload: &Workload) -> Ceiling {
    let mut assumptions = Vec::new();
    let amplification = amplification(cluster, workload);
    if protection::is_unsaid(cluster) && workload.write_share() > 0.0 {
        assumptions.push(Assumption::OneCopy);
    }
    let missed = tiers::missed(cluster, workload, &amplification, &mut assumptions);
    assumptions.extend(tiers::overfull(cluster, workload, &amplification).map(Assumption::Fits));
    assumptions.extend(tiers::filled(cluster, workload).map(Assumption::PartlyFilled));
    let traffic = traffic(cluster, workload, &amplification, &mut assumptions);
    let mut limits: Vec<Limit> = [
        tiers::capacity_drives(cluster, workload, &amplification, missed),
        tiers::cache_drives(cluster, workload, &amplification, missed),
        network::ports(cluster, workload, &traffic),
        network::client_ports(cluster, workload),
        network::fabric(cluster, workload, &traffic),
        network::site_link(cluster, workload),
        network::socket_link(cluster, workload, &traffic),
        layers::cpu(cluster, workload),
    ]
    .into_iter()
    .zip(Layer::of_ceilings())
    .filter_map(|(iops, layer)| {
        iops.filter(|iops| iops.is_finite() && *iops > 0.0).map(|iops| Limit { layer, iops })
    })
    .collect();
    limits.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    let hits = missed.map(|missed| missed.hits(workload.random));
    Ceiling { workload: workload.clone(), limits, assumptions, amplification, hits }
}

#[cfg(test)]
mod tests;
