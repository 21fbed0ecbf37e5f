//! Drives: those of the cache tier and those behind it.

use super::{Amplification, Assumption, Workload};
use catalogue::cluster::{CacheKind, Destage, Figures, Missing, Role, fixed};
use catalogue::{Auto, Cluster};
use model::Percent;

/// Datasheets state random requests of 4 KiB.
const RANDOM_BYTES: f64 = 4096.0;

/// The bytes of all cache drives, protection included; `None` where a capacity is not known.
pub(super) fn cache_bytes(cluster: &Cluster) -> Option<f64> {
    cluster
        .drives(Role::Cache)
        .map(|(count, figures)| Some(count as f64 * figures.capacity_bytes?))
        .sum()
}

/// Shares of reads that the cache tier does not answer, and of writes that it does not take up
/// without destaging another block first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    reads: Missing,
    writes: Missing,
}

impl Missed {
    /// Where there is no tier.
    const ALL: Missed = Missed { reads: Missing::ALL, writes: Missing::ALL };

    /// The shares of reads and of writes that are there, of requests of which so many are random.
    pub(super) fn hits(&self, random: f64) -> (f64, f64) {
        let of = |one: Missing| {
            if one.random == one.in_order {
                return 1.0 - one.random;
            }
            1.0 - random * one.random - (1.0 - random) * one.in_order
        };
        (of(self.reads), of(self.writes))
    }
}

/// What the cache tier misses.
///
/// Where every block is equally likely, a cache of `s` bytes answers s ÷ footprint in the long run,
/// whatever it evicts (King, "Analysis of demand paging algorithms", IFIP 1971); else
/// [`catalogue::cluster::Misses`] has it. A write of a block that waits in the cache already takes
/// its place.
pub(super) fn missed(
    cluster: &Cluster,
    workload: &Workload,
    amplification: &Amplification,
    assumptions: &mut Vec<Assumption>,
) -> Option<Missed> {
    let kind = cluster.cache_kind();
    if kind == CacheKind::None {
        return None;
    }
    let raw = cache_bytes(cluster);
    let read_copies = fixed(cluster.cache.read_copies.value)
        .map_or(amplification.space, |copies| f64::from(copies.0));
    let of_raw =
        |share: Auto<Percent>| fixed(share).map_or(1.0, |share| f64::from(share.ppm) / 1e6);
    let read_usable = raw.map(|raw| raw * of_raw(cluster.cache.read_share.value) / read_copies);
    let write_usable =
        raw.map(|raw| raw * of_raw(cluster.cache.write_share.value) / amplification.space);
    let (reads, writes) = match kind {
        CacheKind::None => (false, false),
        CacheKind::Read => (true, false),
        CacheKind::Write => (false, true),
        CacheKind::ReadWrite => (true, true),
    };
    let needs = (reads && workload.read_share() > 0.0, writes && workload.write_share() > 0.0);
    let is_guess = (needs.0 && fixed(cluster.cache.read_share.value).is_none())
        || (needs.1 && fixed(cluster.cache.write_share.value).is_none());
    // Parts of their own let reads and writes take no place of each other.
    let is_divided = fixed(cluster.cache.read_share.value).is_some()
        && fixed(cluster.cache.write_share.value).is_some();
    let missing = |is_write: bool, usable: Option<f64>| match (usable, workload.footprint) {
        (Some(usable), Some(footprint)) if footprint.0 > 0 => {
            let kept = |one: bool, other: bool| one && (!is_divided || !other);
            let (reads, writes) = (kept(reads, is_write), kept(writes, !is_write));
            let misses = workload.misses(cluster, reads, writes);
            misses.missing_evenly(is_write, usable / footprint.0 as f64)
        }
        _ => Missing::NONE,
    };
    match (workload.footprint, if needs.0 { read_usable } else { write_usable }) {
        (None, _) | (_, None) if needs.0 || needs.1 => assumptions.push(Assumption::InCache),
        (Some(_), Some(bytes)) if is_guess => assumptions.push(Assumption::CacheSize(bytes)),
        _ => {}
    }
    Some(Missed {
        reads: if reads { missing(false, read_usable) } else { Missing::ALL },
        writes: if writes { missing(true, write_usable) } else { Missing::ALL },
    })
}

/// How many bytes of data the drives behind the cache hold, protection taken off, where the
/// footprint is more than that.
pub(super) fn overfull(
    cluster: &Cluster,
    workload: &Workload,
    amplification: &Amplification,
) -> Option<f64> {
    let raw: Option<f64> = cluster
        .drives(Role::Capacity)
        .map(|(count, figures)| Some(count as f64 * figures.capacity_bytes?))
        .sum();
    let held = raw.filter(|raw| *raw > 0.0)? / amplification.space.max(1.0);
    workload.footprint.is_some_and(|footprint| footprint.0 as f64 > held).then_some(held)
}

/// What a request asks of all drives of a tier: each is a number of requests of a kind.
struct Demand {
    random_reads: f64,
    sequential_reads: f64,
    random_writes: f64,
    sequential_writes: f64,
}

/// What the drives behind the cache tier allow, or all drives where there is none.
pub(super) fn capacity_drives(
    cluster: &Cluster,
    workload: &Workload,
    amplification: &Amplification,
    missed: Option<Missed>,
) -> Option<f64> {
    let missed = missed.unwrap_or(Missed::ALL);
    let is_write_cache = matches!(cluster.cache_kind(), CacheKind::Write | CacheKind::ReadWrite);
    let (read, write, in_order) =
        (workload.read_share(), workload.write_share(), 1.0 - workload.random);
    let random_writes = write * workload.random * missed.writes.random;
    let writes = random_writes + write * in_order * missed.writes.in_order;
    let is_gathered = is_write_cache && cluster.cache.destage.value == Destage::Sequential;
    let scattered = if is_gathered { 0.0 } else { random_writes };
    // What is gathered and written as full stripes needs no old parity.
    let old = if is_gathered { 0.0 } else { amplification.drive_reads };
    let new = if is_gathered { amplification.space } else { amplification.drive_writes };
    let demand = Demand {
        random_reads: read * workload.random * missed.reads.random + writes * old,
        sequential_reads: read * in_order * missed.reads.in_order,
        random_writes: scattered * new,
        sequential_writes: (writes - scattered) * new,
    };
    tier(cluster, Role::Capacity, &demand, workload)
}

/// What the drives of the cache tier allow.
pub(super) fn cache_drives(
    cluster: &Cluster,
    workload: &Workload,
    amplification: &Amplification,
    missed: Option<Missed>,
) -> Option<f64> {
    let missed = missed?.reads;
    let (read, in_order) = (workload.read_share(), 1.0 - workload.random);
    let is_write_cache = matches!(cluster.cache_kind(), CacheKind::Write | CacheKind::ReadWrite);
    // Every write goes through a write cache, whether or not it makes another block leave; parity
    // is the tier's behind it.
    let writes = if is_write_cache { workload.write_share() * amplification.space } else { 0.0 };
    let demand = Demand {
        random_reads: read * workload.random * (1.0 - missed.random),
        sequential_reads: read * in_order * (1.0 - missed.in_order),
        random_writes: writes * workload.random,
        sequential_writes: writes * (1.0 - workload.random),
    };
    tier(cluster, Role::Cache, &demand, workload)
}

/// Requests of the client per second when all drives of the tier are busy all the time, each with
/// its share of the work. `None` where a figure that matters is not known of some drive, or where
/// nothing is asked of the tier.
fn tier(cluster: &Cluster, role: Role, demand: &Demand, workload: &Workload) -> Option<f64> {
    let mut total = 0.0;
    for (count, figures) in cluster.drives(role) {
        let seconds = seconds(figures, demand, workload)?;
        if seconds <= 0.0 {
            return None;
        }
        total += count as f64 / seconds;
    }
    (total > 0.0).then_some(total)
}

/// The least share of any drive that holds data, where somebody said it and requests write at
/// random.
pub(super) fn filled(cluster: &Cluster, workload: &Workload) -> Option<f64> {
    let is_asked = workload.write_share() > 0.0 && workload.random > 0.0;
    let drives = cluster.nodes.iter().flat_map(|group| &group.drives).filter(|_| is_asked);
    let shares = drives.filter_map(|drives| fixed(drives.spec.filled.value));
    shares.map(|share| f64::from(share.ppm) / 1e6).filter(|share| *share < 1.0).reduce(f64::min)
}

/// How long one drive works on what one request of the client asks of the tier, in seconds; `None`
/// where a figure is missing.
fn seconds(figures: &Figures, demand: &Demand, workload: &Workload) -> Option<f64> {
    let part = |amount: f64, time: Option<f64>| {
        if amount > 0.0 { time.map(|time| amount * time) } else { Some(0.0) }
    };
    let (read, write) = (workload.read_bytes, workload.write_bytes);
    Some(
        part(demand.random_reads, random(figures.read_iops, figures.read_bytes_per_s, read))?
            + part(demand.sequential_reads, sequential(figures.read_bytes_per_s, read))?
            + part(
                demand.random_writes,
                random(figures.write_iops, figures.write_bytes_per_s, write),
            )?
            + part(demand.sequential_writes, sequential(figures.write_bytes_per_s, write))?,
    )
}

/// A random request costs its 1 ÷ IOPS or its bytes ÷ bandwidth, whichever is more (a roofline:
/// Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009). Of the two figures one may be
/// missing for as long as the other surely binds.
pub(crate) fn random(iops: Option<f64>, bandwidth: Option<f64>, bytes: f64) -> Option<f64> {
    match (iops.map(|iops| 1.0 / iops), bandwidth.map(|bandwidth| bytes / bandwidth)) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (Some(one), None) if bytes <= RANDOM_BYTES => Some(one),
        _ => None,
    }
}

fn sequential(bandwidth: Option<f64>, bytes: f64) -> Option<f64> {
    bandwidth.map(|bandwidth| bytes / bandwidth)
}
