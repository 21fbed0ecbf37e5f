//! The caches that are, or may be, a part of a figure, by the layers that have them.

use crate::doubts::Warning;
use crate::layers::targets::loaded;
use crate::rows::row::ResultRow;
use catalogue::targets::{Kind, Known, layer};
use model::inventory::Link;
use model::machines::DiskCache;
use model::{Op, Record};

/// A cache that is, or may be, a part of a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// The device, the file system or the host.
    pub of: String,
    /// Which cache.
    pub kind: CacheKind,
}

model::plain_words! {
    #[derive(PartialOrd, Ord)]
    /// Which cache.
    pub enum CacheKind {
        /// A device's volatile write cache.
        Device = "device",
        /// That of the machine behind a virtual disk.
        Hypervisor = "hypervisor",
        /// The page cache of the hypervisor below a guest's disk, which its cache mode lets answer.
        HostPage = "host-page",
        /// The page cache below a loop device.
        Loop = "loop",
        /// Those of a network file system, or of a device of another machine, and its servers.
        Network = "network",
        /// The page cache of the host that loads.
        Page = "page",
        /// Whatever a layer has that nobody can look into.
        Unseen = "unseen",
    }
}

/// Whether requests go through the page cache of the host that loads.
pub fn is_buffered(record: &Record, row: &ResultRow) -> bool {
    let says_so =
        |doubt: &Warning| matches!(doubt, Warning::Cached { .. } | Warning::DirectRefused(_));
    row.warnings.iter().any(says_so)
        || record.plan.engine_of(row.stage).is_none_or(|engine| !engine.direct)
}

/// Every cache that is, or may be, a part of the figures of a row: sorted.
pub fn caches(record: &Record, row: &ResultRow) -> Vec<Cache> {
    let mut found = Vec::new();
    if record.plan.is_simulated() {
        return found;
    }
    let made = crate::layers::guests::made(record).map(|made| made.cache);
    for (host, facts) in record.plan.hosts.iter().zip(&record.testbed) {
        let is_guest = facts.hypervisor.is_some() || made.is_some();
        for target in loaded(host, facts, row.stage) {
            if is_buffered(record, row) {
                found.push(Cache { of: target.path.clone(), kind: CacheKind::Page });
            }
            for link in &target.chain {
                let kinds = of_link(link, is_guest, made).into_iter().chain(of_device(link, row));
                found.extend(kinds.map(|kind| Cache { of: link.name.clone(), kind }));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The cache of a layer that cannot be seen from here.
fn of_link(link: &Link, is_guest: bool, made: Option<DiskCache>) -> Option<CacheKind> {
    let Some(layer) = layer(link, is_guest) else { return Some(CacheKind::Unseen) };
    match (layer.kind.value, layer.id.value.as_str()) {
        _ if !matches!(layer.caches.value, Known::Size | Known::Never) => None,
        (Kind::Network, _) | (_, "network-disk") => Some(CacheKind::Network),
        (Kind::Loop, _) => Some(CacheKind::Loop),
        // Who made the machine knows what stands behind its disks.
        (_, "virtual-disk" | "guest-disk") if made.is_some_and(DiskCache::uses_host_memory) => {
            Some(CacheKind::HostPage)
        }
        (_, "virtual-disk" | "guest-disk" | "host-share") => Some(CacheKind::Hypervisor),
        _ => Some(CacheKind::Unseen),
    }
}

/// The volatile cache that a device says it has.
fn of_device(link: &Link, row: &ResultRow) -> Option<CacheKind> {
    let device = link.device.as_ref()?;
    let is_volatile = device.write_cache == crate::doubts::flushes::WRITE_BACK;
    (is_volatile && row.plans(Op::Write)).then_some(CacheKind::Device)
}
