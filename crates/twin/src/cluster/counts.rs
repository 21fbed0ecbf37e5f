//! What a simulated cluster counts of itself: how long its layers worked, and what a migration
//! moved.

use super::Cluster;
use super::migration::{Moved, copied_per_ns};
use super::topology::Drive;
use model::layer::Layer;

/// Bytes of one direction, and how many of them crossed to another site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crossed {
    /// The share that was to cross, 0 to 1: of the cluster's text, or else of its testbed.
    pub planned: f64,
    /// All bytes.
    pub bytes: u64,
    /// Those that another site answered (of reads) or ordered (of writes).
    pub far_bytes: u64,
}

impl Cluster {
    /// The share of the time up to `now_ns` in which the resources of `layer` worked, 0 to 1 on
    /// average; `None` where there are none.
    pub fn utilisation(&self, layer: Layer, now_ns: u64) -> Option<f64> {
        let worked = self.worked().into_iter().find(|(known, ..)| *known == layer);
        let (_, busy_ns, width) = worked.filter(|(_, _, width)| *width > 0)?;
        (now_ns > 0).then(|| busy_ns as f64 / (width as f64 * now_ns as f64))
    }

    /// Bytes of reads and of writes until now, how many of them another site than the asker's
    /// answered or ordered, and which share of them that was to be; `None` of one site alone.
    pub fn crossed(&self) -> Option<[Crossed; 2]> {
        let settings = &self.router.settings;
        let planned = [settings.remote_reads, settings.remote_writes];
        let of = |way: usize| {
            let (bytes, far_bytes) = self.router.crossed[way];
            Crossed { planned: planned[way], bytes, far_bytes }
        };
        let mut sites = self.topology.nodes.iter().map(|node| node.site);
        let first = sites.next();
        sites.any(|site| Some(site) != first).then(|| [of(0), of(1)])
    }

    /// How fast copies of volumes go, in bytes per ns: each byte is read from a capacity drive, and
    /// written to as many drives as protect it, of both tiers where writes go through the cache.
    pub(super) fn copied_per_ns(&self) -> f64 {
        let settings = &self.router.settings;
        let copies = settings.space.max(1.0);
        let nodes = &self.topology.nodes;
        let tier = |drives: Vec<&Drive>, is_read: bool| {
            let count = drives.len();
            let of_one = |drive: &&Drive| {
                let read = if is_read { drive.read.ns(1.0, true) } else { 0.0 };
                read + copies * drive.write.ns(1.0, true)
            };
            let mean = drives.iter().map(of_one).sum::<f64>() / count.max(1) as f64;
            (count > 0).then(|| copied_per_ns(count, mean))
        };
        let capacity: Vec<&Drive> = nodes.iter().flat_map(|node| &node.capacity).collect();
        let cache: Vec<&Drive> = nodes.iter().flat_map(|node| &node.cache).collect();
        let slowest = [tier(capacity, true), tier(cache, false).filter(|_| settings.caches_writes)];
        slowest.into_iter().flatten().reduce(f64::min).unwrap_or(0.0)
    }

    /// What a migration of the measurement itself read and wrote until `now_ns`; `None` where there
    /// was none.
    pub fn moved(&self, now_ns: u64) -> Option<Moved> {
        self.mover?.until(now_ns, self.footprint.0)
    }

    /// The time that all resources of each layer worked until now, in ns, and how many work at the
    /// same time.
    pub fn worked(&self) -> Vec<(Layer, u64, u64)> {
        let mut layers: Vec<(Layer, u64, u64)> = Vec::new();
        for resource in &self.topology.resources {
            let (busy_ns, width) = (resource.busy_ns(), resource.width());
            match layers.iter_mut().find(|(layer, ..)| *layer == resource.layer) {
                Some((_, sum_ns, sum)) => {
                    *sum_ns = sum_ns.saturating_add(busy_ns);
                    *sum += width;
                }
                None => layers.push((resource.layer, busy_ns, width)),
            }
        }
        layers
    }
}
