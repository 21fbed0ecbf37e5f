//! Flushes that disks counted, held against those that a load asked for.

use crate::doubts::Seen;
use crate::doubts::below::{Disks, LEAST_READ, LEAST_S, asked, counted};
use model::Op;
use model::event::Flush;
use model::inventory::DeviceFacts;
use model::testbed::HostFacts;
use model::usage::Usage;

/// What sysfs says of a device whose cache is volatile (Linux, `queue/write_cache`).
pub(crate) const WRITE_BACK: &str = "write back";

/// Fewer flushes than this share of those that as many requests at a time come to at least.
const LEAST_FLUSHED: f64 = 0.1;

/// What disks of the hosts counted of the flushes of a load, while what was written came to them.
pub(crate) enum Flushes {
    /// Nobody can tell.
    Unknown,
    /// So many for each fsync: too few.
    Lost(f64),
    /// As many as there have to be.
    Came,
}

/// Of a stage. Fsyncs that are under way at a time may share a flush.
pub(crate) fn flushes(seen: Seen<'_>) -> Flushes {
    let Seen { record, stage, digest, row } = seen;
    let is_judged = !record.plan.is_simulated()
        && stage.is_counted_on(record.plan.hosts.len())
        && row.seconds >= LEAST_S;
    let usage = stage.usage(record, digest);
    let found = (is_judged && !usage.is_thinned && row.plans(Op::Write))
        .then(|| flushes_per_fsync(seen, &usage));
    found.flatten().unwrap_or(Flushes::Unknown)
}

fn flushes_per_fsync(seen: Seen<'_>, usage: &Usage) -> Option<Flushes> {
    let Seen { record, stage, digest, row } = seen;
    let is_flushed = |disk: &&DeviceFacts| disk.write_cache == WRITE_BACK;
    let of_host = |(host, facts): (u32, &HostFacts)| {
        let disks = facts.inventory.disks.iter().filter(is_flushed);
        disks.map(|disk| (host, disk.name.clone())).collect::<Vec<_>>()
    };
    let mut disks: Disks = (0..).zip(&record.testbed).flat_map(of_host).collect();
    disks.retain(|disk| counted(usage, &Disks::from([disk.clone()]), Op::Write).is_some());
    let written = counted(usage, &disks, Op::Write)?.bytes;
    if disks.is_empty() || written < asked(digest, Op::Write, row.seconds).bytes * LEAST_READ {
        return None;
    }
    let behind: u64 =
        disks.iter().filter_map(|disk| usage.behind.get(disk)).map(|it| it.flushes).sum();
    let reached = counted(usage, &disks, Op::Fsync)?.requests * row.seconds + behind as f64;
    let fsyncs = asked(digest, Op::Fsync, row.seconds).requests * row.seconds;
    let at_a_time: u32 = row.works.iter().map(|work| work.depth).sum();
    let is_good = |flush: &&Flush| flush.ended && flush.errno == 0;
    let last = stage.ends.iter().flat_map(|end| &end.flushes).filter(is_good).count() as f64;
    let least = (fsyncs / f64::from(at_a_time.max(1)) * LEAST_FLUSHED).max(last.min(1.0));
    let asked = fsyncs + last;
    (asked > 0.0)
        .then(|| if reached < least { Flushes::Lost(reached / asked) } else { Flushes::Came })
}
