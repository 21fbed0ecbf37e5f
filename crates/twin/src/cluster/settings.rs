//! What of a testbed is no resource: protection, which copies are used, what the cache tier
//! answers, what a request costs.

use super::software::Software;
use super::spec::ClusterSpec;
use super::{PPM, Preferring};
use crate::spec::Stall;
use catalogue::cluster::{
    CacheKind, CopiesUsed, Destage, Misses, Missing, Placement, ProtectionSpec, Requests, Role,
    SoftwareSpec, TOKEN_BLOCK, fixed,
};
use catalogue::{Auto, Cluster as Testbed, Count};
use model::{Bytes, Percent, Route};

#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// What a share adds to each request, there and back.
    pub(super) share_ns: u64,
    /// A core's time of a node for each message of a share.
    pub(super) message_cpu_ns: f64,
    /// On how many nodes a block has something: copies, or parts of a stripe.
    pub(super) blocks: u32,
    /// Data blocks of a stripe; 0 where copies protect.
    pub(super) data: u32,
    pub(super) parity: u32,
    /// Bytes that each byte takes.
    pub(super) space: f64,
    pub(super) by_site: bool,
    /// Copies are on other drives of the same node.
    pub(super) on_one_node: bool,
    pub(super) copies_used: CopiesUsed,
    pub(super) local_reads: Option<f64>,
    pub(super) remote_reads: f64,
    pub(super) remote_writes: f64,
    pub(super) caches_reads: bool,
    pub(super) caches_writes: bool,
    pub(super) destages_in_order: bool,
    /// The shares of reads and of writes that the cache tier has not got.
    reads_missing: Missing,
    writes_missing: Missing,
    /// Bytes that come into the cache together; `None`: a block.
    line: Option<Bytes>,
    /// Reads and writes have parts of the cache tier that are apart.
    is_divided: bool,
    /// How much of the data the cache tier keeps for reads and for writes, in bytes.
    read_usable: f64,
    write_usable: f64,
    /// What the whole tier would keep, in bytes.
    cached: f64,
    pub(super) read_cpu_ns: f64,
    pub(super) write_cpu_ns: f64,
    pub(super) byte_cpu_ns: f64,
    /// Core time of a server for a look at a directory, or at a token, for a change, and for a file
    /// that is made.
    pub(super) lookup_cpu_ns: f64,
    pub(super) change_cpu_ns: f64,
    pub(super) create_cpu_ns: f64,
    /// The share of `stat` that clients answer themselves.
    pub(super) attributes_kept: f64,
    /// The share of bandwidths that a file leaves which hosts share.
    pub(super) shared_file: f64,
    /// Bytes of a file that have one token.
    pub(super) token_bytes: u64,
    pub(super) stack_ns: u64,
    /// What the software takes, where somebody said it.
    pub(super) software: Software,
    latency_ns: u64,
    site_latency_ns: u64,
    /// Of the measurement at hand.
    pub(super) migration: Option<Stall>,
    /// How often volumes have migrated before it.
    moves: u64,
}

fn share(percent: Percent) -> f64 {
    f64::from(percent.ppm) / PPM
}

fn count(value: Auto<Count>) -> Option<u32> {
    fixed::<Count>(value).map(|count| count.0)
}

/// The blocks with data and with parity of what is coded, 0 of what is copied; and all of them.
fn stripe(protection: &ProtectionSpec) -> (u32, u32, u32) {
    let (data, parity) = match (count(protection.data.value), count(protection.parity.value)) {
        (Some(data), Some(parity)) => (data, parity),
        _ => (0, 0),
    };
    let copies = count(protection.copies.value).unwrap_or(1);
    (data, parity, if data > 0 { data.saturating_add(parity) } else { copies })
}

/// What making a file takes: as any change where nobody said it.
fn create_or_change(software: &SoftwareSpec) -> Auto<model::Nanos> {
    match software.create.value {
        Auto::Auto => software.change.value,
        given => given,
    }
}

impl Settings {
    pub(super) fn new(testbed: &Testbed, spec: &ClusterSpec) -> Settings {
        let protection = &testbed.protection;
        let (data, parity, blocks) = stripe(protection);
        let space = f64::from(blocks) / f64::from(data.max(1));
        let kind = testbed.cache_kind();
        let raw: f64 = testbed
            .drives(Role::Cache)
            .map(|(count, figures)| count as f64 * figures.capacity_bytes.unwrap_or(0.0))
            .sum();
        let of_raw = |value| fixed(value).map_or(1.0, share);
        let read_copies = count(testbed.cache.read_copies.value).map_or(space, f64::from);
        let remote = spec.remote.map(share);
        let cost_ns = |value| fixed::<model::Nanos>(value).map_or(0.0, |cost| cost.0 as f64);
        let software = Software::new(testbed, spec.stack_ns);
        let name_ns = |of: fn(&SoftwareSpec) -> Auto<model::Nanos>, likely: model::Nanos| {
            testbed.found(of).unwrap_or(likely).0 as f64
        };
        let of_found = |of: fn(&SoftwareSpec) -> Auto<Percent>, otherwise: f64| {
            testbed.found(of).map_or(otherwise, share)
        };
        let keeps = testbed.clients.keep_attributes.value;
        let kept = of_found(|software| software.attributes_kept.value, 0.0);
        let attributes_kept = if keeps { kept } else { 0.0 };
        // A path has the ways in it.
        let latency_ns = if software.paths.is_some() { 0 } else { spec.latency_ns };
        let site_latency_ns = software.site_way_ns.unwrap_or(spec.site_latency_ns);
        let (share_ns, message_cpu_ns) = share_costs(testbed, spec.route);
        Settings {
            share_ns,
            message_cpu_ns,
            blocks,
            data,
            parity,
            space,
            by_site: protection.placement.value == Placement::Site,
            on_one_node: protection.placement.value == Placement::Drive,
            copies_used: fixed(testbed.access.copies_used.value).unwrap_or(CopiesUsed::Near),
            local_reads: fixed(testbed.access.local_reads.value).map(share),
            remote_reads: remote.unwrap_or(share(testbed.access.remote_site_reads.value)),
            remote_writes: remote.unwrap_or(share(testbed.access.remote_site_writes.value)),
            caches_reads: matches!(kind, CacheKind::Read | CacheKind::ReadWrite),
            caches_writes: matches!(kind, CacheKind::Write | CacheKind::ReadWrite),
            destages_in_order: testbed.cache.destage.value == Destage::Sequential,
            reads_missing: Missing::ALL,
            writes_missing: Missing::ALL,
            line: fixed(testbed.cache.line.value),
            is_divided: fixed(testbed.cache.read_share.value).is_some()
                && fixed(testbed.cache.write_share.value).is_some(),
            read_usable: raw * of_raw(testbed.cache.read_share.value) / read_copies.max(1.0),
            write_usable: raw * of_raw(testbed.cache.write_share.value) / space.max(1.0),
            read_cpu_ns: cost_ns(testbed.cpu.per_read.value),
            write_cpu_ns: cost_ns(testbed.cpu.per_write.value),
            byte_cpu_ns: testbed.cpu.per_mib.value.0 as f64 / 1_048_576.0,
            lookup_cpu_ns: name_ns(|software| software.lookup.value, testbed.likely_lookup()),
            change_cpu_ns: name_ns(|software| software.change.value, testbed.likely_change()),
            create_cpu_ns: name_ns(create_or_change, testbed.likely_change()),
            attributes_kept,
            shared_file: of_found(|software| software.shared_file.value, 1.0),
            token_bytes: fixed::<Bytes>(testbed.access.token_block.value)
                .map_or(TOKEN_BLOCK.0, |bytes| bytes.0),
            stack_ns: spec.stack_ns,
            latency_ns,
            site_latency_ns,
            cached: testbed.cached_share(space).map_or(0.0, |share| raw * share),
            software,
            migration: None,
            moves: 0,
        }
        .with_footprint(Bytes(0))
    }

    fn with_footprint(mut self, footprint: Bytes) -> Settings {
        self.set_load(footprint, None);
        self
    }

    /// In the long run a cache of `s` bytes answers `s` ÷ footprint of what comes from everywhere
    /// alike, whatever it evicts (King 1971); of what prefers some blocks, as [`Misses`] has it.
    pub(super) fn set_load(&mut self, footprint: Bytes, preferring: Option<Preferring<'_>>) {
        let misses = |keeps_reads, keeps_writes| {
            Misses::new(&Requests {
                popularity: preferring.map(|one| one.popularity),
                read: preferring.map_or(1.0, |one| share(one.read)),
                random: preferring.map_or(1.0, |one| one.random),
                line: self.line,
                keeps_reads,
                keeps_writes,
            })
        };
        let (reads, writes) = (self.caches_reads, self.caches_writes);
        let both = misses(reads, writes);
        let of = |is_write: bool, usable: f64| match (footprint.0, self.software.cache_usable) {
            _ if !(if is_write { writes } else { reads }) => Missing::ALL,
            (0, _) => Missing::NONE,
            // As in a prediction: reads and writes share the space.
            (bytes, Some(share)) => both.missing(is_write, self.cached * share / bytes as f64),
            (bytes, None) if self.is_divided => {
                misses(!is_write, is_write).missing_evenly(is_write, usable / bytes as f64)
            }
            (bytes, None) => both.missing_evenly(is_write, usable / bytes as f64),
        };
        (self.reads_missing, self.writes_missing) =
            (of(false, self.read_usable), of(true, self.write_usable));
    }

    /// The chance that the cache tier has what a request asks for, 0 to 1.
    pub(super) fn hits(&self, is_write: bool, is_sequential: bool) -> f64 {
        let missing = if is_write { self.writes_missing } else { self.reads_missing };
        1.0 - if is_sequential { missing.in_order } else { missing.random }
    }

    /// One way through the fabric, or to the other site.
    pub(super) fn way_ns(&self, is_far: bool) -> u64 {
        self.latency_ns.saturating_add(if is_far { self.site_latency_ns } else { 0 })
    }

    /// A measurement begins, in which volumes migrate in `span` of time.
    pub(super) fn begin(&mut self, now_ns: u64, span: Option<Stall>) {
        self.moves = self.moves_until(now_ns);
        self.migration = span;
    }

    /// Round trips to a server of tokens, in ns: each is the path of a read, where that is known.
    pub(super) fn trips_ns(&self, trips: u64) -> u64 {
        let way_ns = self.way_ns(false).saturating_mul(2);
        self.software.paths.map_or(way_ns, |paths| paths.ns(false)).saturating_mul(trips)
    }

    /// What a request waits before anything else, in ns.
    pub(super) fn ahead_ns(&self, is_write: bool) -> u64 {
        self.software.paths.map_or(self.stack_ns, |paths| paths.ns(is_write))
    }

    /// Whether volumes are under way at an instant.
    pub(super) fn moves_at(&self, now_ns: u64) -> bool {
        self.migration.is_some_and(|span| now_ns >= span.at_ns && now_ns < end_ns(span))
    }

    /// How often volumes have migrated by an instant: each time, their blocks get other nodes.
    pub(super) fn moves_until(&self, now_ns: u64) -> u64 {
        self.moves + u64::from(self.migration.is_some_and(|span| now_ns >= end_ns(span)))
    }
}

/// What a share adds to each request, and a core's time for each message, in ns. Class estimates of
/// the first: a server's pass over RDMA, and over TCP with its copies and interrupts.
fn share_costs(testbed: &Testbed, route: Route) -> (u64, f64) {
    let (path, message, likely_ns) = match route {
        Route::Testbed | Route::Local => return (0, 0.0),
        Route::SmbDirect => {
            let found = |software: &SoftwareSpec| software.rdma_path.value;
            (testbed.found(found), testbed.found(|one| one.rdma_message.value), 60_000)
        }
        Route::Smb => {
            let found = |software: &SoftwareSpec| software.tcp_path.value;
            (testbed.found(found), testbed.found(|one| one.tcp_message.value), 200_000)
        }
    };
    (path.map_or(likely_ns, |path| path.0), message.map_or(0.0, |message| message.0 as f64))
}

fn end_ns(span: Stall) -> u64 {
    span.at_ns.saturating_add(span.length_ns)
}
