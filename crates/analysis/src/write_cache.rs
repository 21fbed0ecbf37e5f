//! Whether writes counted as soon as a volatile cache had them.
//!
//! A device whose cache is *write back* acknowledges a write that a power cut can still lose. The
//! rate of such writes is that of the cache until somebody asks for a flush.

use crate::row::{ResultRow, does};
use crate::warning::Warning;
use model::plan::Work;
use model::{Op, Record};
use std::collections::BTreeSet;

/// What sysfs says of a device whose cache is volatile (Linux, `queue/write_cache`).
const WRITE_BACK: &str = "write back";

/// The devices with a volatile cache below the targets, where nothing made the writes durable.
pub(crate) fn doubt(record: &Record, row: &ResultRow) -> Option<Warning> {
    let is_unflushed = |work: &&Work| does(work, Op::Write) && work.fsync_every == 0 && !work.dsync;
    if row.is_metadata() || !row.plans(Op::Write) || !row.works.iter().any(|w| is_unflushed(&w)) {
        return None;
    }
    // A measured amount may be flushed within its time.
    let stop = record.plan.stages.get(row.stage as usize).and_then(|stage| stage.stop().once());
    if stop.is_some_and(|once| once.fsync) {
        return None;
    }
    // Those of this stage alone: another scenario may have other targets.
    let devices = record.plan.hosts.iter().zip(&record.testbed).flat_map(|(host, facts)| {
        let planned = host.targets.get(host.targets_of(row.stage)).unwrap_or_default();
        let is_loaded = |path: &str| planned.iter().any(|target| target.path == path);
        facts.targets.iter().filter(move |target| is_loaded(&target.path))
    });
    let volatile: BTreeSet<String> = devices
        .filter_map(|target| target.device.as_ref())
        .filter(|device| device.write_cache == WRITE_BACK)
        .map(|device| device.name.clone())
        .collect();
    (!volatile.is_empty())
        .then(|| Warning::VolatileCache { devices: volatile.into_iter().collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::StageKind;
    use model::inventory::DeviceFacts;

    /// The names of the devices that are doubted, for a workload with these fields.
    fn doubted(fields: &str, write_cache: &str) -> Option<Vec<String>> {
        let mut recorded = Recorded::new(&format!(
            "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{fields}\n"
        ));
        let stage = recorded.stage(StageKind::Measure);
        let op = if fields.contains("read = \"100%\"") { Op::Read } else { Op::Write };
        recorded.interval(stage, 0, &[(op, &[100; 100_000])]);
        recorded.end();
        let mut record = recorded.record();
        let device = DeviceFacts {
            name: "vda".to_owned(),
            write_cache: write_cache.to_owned(),
            ..DeviceFacts::default()
        };
        for target in record.testbed.iter_mut().flat_map(|host| &mut host.targets) {
            target.device = Some(device.clone());
        }
        results(&record)[0].warnings.iter().find_map(|warning| match warning {
            Warning::VolatileCache { devices } => Some(devices.clone()),
            _ => None,
        })
    }

    #[test]
    fn unflushed_writes_into_a_volatile_cache_are_doubted_and_flushed_ones_are_not() {
        let writes = "read = \"0%\"";
        assert_eq!(doubted(writes, WRITE_BACK), Some(vec!["vda".to_owned()]));
        assert_eq!(doubted(writes, "write through"), None);
        assert_eq!(doubted(writes, ""), None, "nobody tells");
        assert_eq!(doubted("read = \"100%\"", WRITE_BACK), None);
        assert_eq!(doubted(&format!("{writes}\nfsync_every = 8"), WRITE_BACK), None);
    }
}
