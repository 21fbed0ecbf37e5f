//! Which share of the requests the cache tier leaves to the drives behind it.

use crate::ceiling::Amplification;
use catalogue::Cluster;
use catalogue::cluster::{CacheKind, Role, missing};
use model::Bytes;

/// The bytes of data that a tier keeps, and what it keeps them for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tier {
    /// Data that all of it would keep; `None` where a capacity is not known: then everything fits.
    keeps: Option<f64>,
    /// Whether it answers reads.
    pub(super) reads: bool,
    /// Whether it takes up writes.
    pub(super) writes: bool,
}

impl Tier {
    /// The tier of a cluster; `None` where there is none.
    pub(super) fn of(cluster: &Cluster, amplification: &Amplification) -> Option<Tier> {
        let kind = cluster.cache_kind();
        let raw: Option<f64> = cluster
            .drives(Role::Cache)
            .map(|(count, figures)| Some(count as f64 * figures.capacity_bytes?))
            .sum();
        let share = cluster.cached_share(amplification.space)?;
        Some(Tier {
            keeps: raw.map(|raw| raw * share),
            reads: kind != CacheKind::Write,
            writes: kind != CacheKind::Read,
        })
    }

    /// The share of a footprint that is not there, 0 to 1, where so much of the tier is usable.
    pub(super) fn missing(&self, footprint: Option<Bytes>, usable: f64) -> f64 {
        let (Some(keeps), Some(footprint)) = (self.keeps, footprint) else { return 0.0 };
        missing(keeps * usable / (footprint.0 as f64).max(1.0))
    }
}
