//! How much of what caches were asked for they had, for each measured point: caches before devices
//! ([`Layer::Cache`](model::counters::Layer::Cache)), and the client caches of NFS mounts.

use crate::layers::attribution::{Attribution, Watched};
use model::usage::{Dirty, Part};

/// What one cache of one host had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitShare<'a> {
    /// The host's number in the plan.
    pub host: u32,
    /// The cache's name; of NFS the mount point.
    pub name: &'a str,
    /// Requests that it had; of NFS bytes.
    pub hits: u64,
    /// Those that it had not.
    pub misses: u64,
    /// Blocks that it took in.
    pub promotions: u64,
    /// Blocks that it gave back.
    pub demotions: u64,
    /// What it had to write back, where that is counted.
    pub dirty: Option<Dirty>,
}

impl HitShare<'_> {
    /// The share that it had, 0 to 1.
    pub fn share(&self) -> f64 {
        // At least one of them is above 0.
        self.hits as f64 / self.hits.saturating_add(self.misses) as f64
    }
}

/// The caches of a point that were asked for anything, in the order of hosts and names.
pub fn hit_shares(point: &Attribution) -> Vec<HitShare<'_>> {
    let is_asked = |watched: &&Watched| {
        watched.part == Part::Cache && watched.used.hits.max(watched.used.misses) > 0
    };
    let mut found: Vec<HitShare<'_>> = Vec::new();
    for watched in point.watched.iter().filter(is_asked) {
        let used = watched.used;
        found.push(HitShare {
            host: watched.host,
            name: &watched.name,
            hits: used.hits,
            misses: used.misses,
            promotions: used.promotions,
            demotions: used.demotions,
            dirty: used.dirty,
        });
    }
    found.sort_by_key(|one| (one.host, one.name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::attribution::attribution;
    use crate::testing::Recorded;
    use model::counters::{Entry, Layer, Metric};
    use model::{Op, StageKind};

    #[test]
    fn hits_are_added_up_over_a_point_and_an_idle_cache_is_none() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"100%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.load(0..4, &[(Op::Read, &[1_000; 50])]);
        for number in 0..4 {
            let entries = vec![
                Entry::new(
                    Layer::Cache,
                    "bcache0",
                    &[
                        (Metric::Hits, 30),
                        (Metric::Misses, 10),
                        (Metric::Demotions, 2),
                        (Metric::DirtyBytes, [1_000, 5_000, 4_000, 3_000][number as usize]),
                    ],
                ),
                Entry::new(Layer::Cache, "idle", &[(Metric::Hits, 0), (Metric::Misses, 0)]),
                Entry::new(
                    Layer::Nfs,
                    "/mnt/nfs",
                    &[(Metric::AskedReadBytes, 4_000), (Metric::ReadBytes, 5_000)],
                ),
            ];
            recorded.counters(stage, 0, number, entries);
        }
        let record = recorded.end();
        let points = attribution(&record, &crate::results(&record));
        let found = hit_shares(&points[0]);
        let names: Vec<&str> = found.iter().map(|one| one.name).collect();
        assert_eq!(names, ["/mnt/nfs", "bcache0"], "{found:?}");
        assert_eq!((found[0].share(), found[1].share()), (0.0, 0.75), "read ahead is no hit");
        assert_eq!((found[0].dirty, found[1].promotions, found[1].demotions), (None, 0, 8));
        let dirty = found[1].dirty.expect("counted");
        assert_eq!((dirty.first.1, dirty.most, dirty.last.1), (1_000, 5_000, 3_000));
    }
}
