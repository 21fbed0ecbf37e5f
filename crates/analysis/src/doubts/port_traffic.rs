//! The doubt that what a network or FUSE file system delivered never crossed a port, the loopback
//! or a disk: a cache of its own answered, and direct I/O did not keep it out.

use crate::doubts::{Seen, Warning};
use model::inventory::LinkKind;
use model::testbed::TargetFacts;
use model::{Op, Record};

/// Less than this share of what was asked for is a doubt. Counters lag by up to a tick, and file
/// systems compress what they send.
const LEAST_CARRIED: f64 = 0.5;

/// Whether the hosts moved far fewer bytes than `row` and what ran beside it asked for in its
/// direction. `None` where no target is of a network or FUSE file system, or nobody counted.
pub(crate) fn doubt(seen: Seen<'_>) -> Option<Warning> {
    let Seen { record, stage, row, .. } = seen;
    if record.plan.is_simulated()
        || !stage.is_counted_on(record.plan.hosts.len())
        || !is_elsewhere(record)
    {
        return None;
    }
    let planned = [Op::Read, Op::Write].into_iter().filter(|op| row.plans(*op));
    planned.filter_map(|op| of_direction(seen, op)).next()
}

/// The same of the bytes of one direction.
fn of_direction(seen: Seen<'_>, op: Op) -> Option<Warning> {
    let Seen { record, stage, digest, row } = seen;
    let engine = record.plan.engine_of(row.stage)?;
    if engine.backend.sends_nothing() || (op == Op::Write && !engine.direct) {
        // What is written through the page cache goes out when the kernel wants it to.
        return None;
    }
    let usage = stage.usage(record, digest);
    let load_ns = digest.frame.load_ns()?;
    let per_s = |bytes: u64, ns: u64| bytes as f64 / ns.max(1) as f64 * 1e9;
    let moved = usage.moved.values().map(|moved| {
        per_s(if op == Op::Read { moved.in_bytes } else { moved.out_bytes }, moved.counted_ns)
    });
    // Where a kernel told nothing of its ports and disks, nothing can be said of what it moved.
    let moved = moved.reduce(|sum, one| sum + one)?;
    let parts = digest.sums.parts.iter().filter(|((_, of), _)| *of == op);
    let asked = parts.fold(0u64, |sum, (_, part)| sum.saturating_add(part.under_load().bytes));
    let asked = per_s(asked, load_ns.end.saturating_sub(load_ns.start));
    let share = if asked > 0.0 { moved / asked } else { 1.0 };
    (share < LEAST_CARRIED).then_some(Warning::NotCarried { op, share })
}

/// Whether every target is of a file system that is served by other machines or by a program.
pub(crate) fn is_elsewhere(record: &Record) -> bool {
    let mut targets = record.testbed.iter().flat_map(|host| &host.targets).peekable();
    targets.peek().is_some() && targets.all(is_served)
}

/// Whether it is, or lies on a file of one, as a loop device may.
fn is_served(target: &TargetFacts) -> bool {
    let is_fuse = |kind: &str| kind == "fuse" || kind.starts_with("fuse.");
    target.file_system.as_deref().is_some_and(is_fuse)
        || target.chain.iter().any(|link| link.kind == LinkKind::Network || is_fuse(&link.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::StageKind;
    use model::counters::{Entry, Layer, Metric};
    use model::inventory::Link;

    /// Ten seconds of 4 KiB reads, 40,960,000 bytes in each, while so many bytes came by the
    /// loopback and from a disk.
    fn judged(file_system: &str, loopback: u64, disk: u64) -> Option<f64> {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        for target in recorded.record_mut().testbed.iter_mut().flat_map(|host| &mut host.targets) {
            let below = file_system.strip_prefix("loop over ").map(str::to_owned);
            target.chain = below.map(|name| Link { name, ..Link::default() }).into_iter().collect();
            (target.file_system, target.device) = (Some(file_system.to_owned()), None);
        }
        let stage = recorded.stage(StageKind::Measure);
        (0..10).for_each(|second| recorded.interval(stage, second, &[(Op::Read, &[100; 10_000])]));
        recorded.end();
        for number in 0..10 {
            let entries = vec![
                Entry::new(
                    Layer::Nic,
                    "lo",
                    &[(Metric::ReceivedBytes, loopback), (Metric::SentBytes, loopback)],
                ),
                Entry::new(
                    Layer::Block,
                    "sda",
                    &[(Metric::ReadBytes, disk), (Metric::WriteBytes, 0)],
                ),
                // What passes bytes on carries none.
                Entry::new(
                    Layer::Block,
                    "loop0",
                    &[(Metric::ReadBytes, 40_960_000), (Metric::WriteBytes, 0)],
                ),
            ];
            recorded.counters(stage, 0, number, entries);
        }
        let rows = crate::results(&recorded.record());
        rows[0].warnings.iter().find_map(|warning| match warning {
            Warning::NotCarried { share, .. } => Some((share * 100.0).round()),
            _ => None,
        })
    }

    #[test]
    fn bytes_that_nothing_carried_are_a_doubt_of_file_systems_that_are_served() {
        assert_eq!(judged("fuse.s3fs", 409_600, 0), Some(1.0));
        assert_eq!(judged("fuse", 0, 4_096_000), Some(10.0));
        assert_eq!(judged("fuse.s3fs", 40_960_000, 0), None, "all of it came");
        assert_eq!(judged("fuse.mergerfs", 0, 40_960_000), None, "from a disk of this host");
        assert_eq!(judged("loop over fuse", 409_600, 0), Some(1.0));
        assert_eq!(judged("xfs", 0, 0), None, "of a local file system, devices are counted");
    }
}
