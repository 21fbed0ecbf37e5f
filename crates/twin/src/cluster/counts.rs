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

/// What all resources of one direction of a layer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// Which layer.
    pub layer: Layer,
    /// Which direction of it: what is sent and what is received fill a port apart.
    direction: u8,
    /// The time that they worked, in ns.
    busy_ns: u64,
    /// How many work at the same time.
    width: u64,
}

/// How busy each layer was for so many ns between two looks, 0 to 1: the mean of its parts, of the
/// busier direction.
pub fn busy(before: &[Worked], after: &[Worked], length_ns: u64) -> Vec<(Layer, f64)> {
    let mut layers: Vec<(Layer, f64)> = Vec::new();
    for one in after {
        let same = |known: &&Worked| (known.layer, known.direction) == (one.layer, one.direction);
        let before_ns = before.iter().find(same).map_or(0, |known| known.busy_ns);
        let worked_ns = one.busy_ns.saturating_sub(before_ns) as f64;
        // What was begun is booked whole: at most all of the time.
        let share = (worked_ns / (one.width.max(1) as f64 * length_ns.max(1) as f64)).min(1.0);
        match layers.iter_mut().find(|(layer, _)| *layer == one.layer) {
            Some((_, most)) => *most = most.max(share),
            None => layers.push((one.layer, share)),
        }
    }
    layers
}

impl Cluster {
    /// The share of the time up to `now_ns` in which the resources of `layer` worked, 0 to 1 on
    /// average, of the busier direction; `None` where there are none.
    pub fn utilisation(&self, layer: Layer, now_ns: u64) -> Option<f64> {
        let layers = busy(&[], &self.worked(), now_ns);
        layers.into_iter().find(|(known, _)| *known == layer).map(|(_, busy)| busy)
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

    /// What the resources of each direction of each layer did until now.
    pub fn worked(&self) -> Vec<Worked> {
        let mut all: Vec<Worked> = Vec::new();
        for resource in &self.topology.resources {
            let (busy_ns, width) = (resource.busy_ns(), resource.width());
            let (layer, direction) = (resource.layer, resource.direction);
            match all.iter_mut().find(|one| (one.layer, one.direction) == (layer, direction)) {
                Some(one) => {
                    one.busy_ns = one.busy_ns.saturating_add(busy_ns);
                    one.width += width;
                }
                None => all.push(Worked { layer, direction, busy_ns, width }),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_is_as_busy_as_its_busier_direction() {
        let of = |layer, direction, busy_ns| Worked { layer, direction, busy_ns, width: 2 };
        let before = [of(Layer::Ports, 0, 900), of(Layer::Ports, 1, 0)];
        let after = [of(Layer::Ports, 0, 900), of(Layer::Ports, 1, 200), of(Layer::Cpu, 0, 50)];
        let found = busy(&before, &after, 100);
        assert_eq!(found, [(Layer::Ports, 1.0), (Layer::Cpu, 0.25)]);
    }
}
