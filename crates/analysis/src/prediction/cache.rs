//! Which share of the requests the cache tier leaves to the drives behind it.

use crate::ceiling::{Amplification, Workload};
use catalogue::Cluster;
use catalogue::cluster::{CacheKind, Misses, Missing, Role};
use model::Bytes;

/// The bytes of data that a tier keeps, and what it keeps them for.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    /// Data that all of it would keep; `None` where a capacity is not known: then everything fits.
    keeps: Option<f64>,
    /// Whether it answers reads.
    pub(super) reads: bool,
    /// Whether it takes up writes.
    pub(super) writes: bool,
    /// What it misses of the load, by what fits.
    misses: Misses,
}

impl Tier {
    /// The tier of a cluster under a workload; `None` where there is none.
    pub(super) fn of(
        cluster: &Cluster,
        workload: &Workload,
        amplification: &Amplification,
    ) -> Option<Tier> {
        let kind = cluster.cache_kind();
        let raw: Option<f64> = cluster
            .drives(Role::Cache)
            .map(|(count, figures)| Some(count as f64 * figures.capacity_bytes?))
            .sum();
        let share = cluster.cached_share(amplification.space)?;
        let (reads, writes) = (kind != CacheKind::Write, kind != CacheKind::Read);
        let misses = workload.misses(cluster, reads, writes);
        Some(Tier { keeps: raw.map(|raw| raw * share), reads, writes, misses })
    }

    /// The shares of reads or of writes that are not there, where so much of the tier is usable.
    pub(super) fn missing(&self, is_write: bool, footprint: Option<Bytes>, usable: f64) -> Missing {
        if !(if is_write { self.writes } else { self.reads }) {
            return Missing::ALL;
        }
        let (Some(keeps), Some(footprint)) = (self.keeps, footprint) else { return Missing::NONE };
        self.misses.missing(is_write, keeps * usable / (footprint.0 as f64).max(1.0))
    }
}
