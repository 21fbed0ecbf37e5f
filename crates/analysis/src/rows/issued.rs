//! Everything that was sent to the targets: what the kernel's own counters have to agree with.

use model::{Op, Record, StageKind};

/// Requests of one operation in all stages of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The kind of stage.
    pub stage: StageKind,
    /// The operation.
    pub op: Op,
    /// Requests that were sent and came back, failed ones included.
    pub ios: u64,
    /// Bytes that the target accepted or delivered.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
}

/// The totals by kind of stage and operation, in the order of a run. Counts what came back after a
/// stage's time was over, too.
pub fn issued(record: &Record) -> Vec<Issued> {
    let mut totals: Vec<Issued> = Vec::new();
    let mut add = |one: Issued| {
        let is_same = |total: &&mut Issued| (total.stage, total.op) == (one.stage, one.op);
        match totals.iter_mut().find(is_same) {
            Some(total) => {
                total.ios = total.ios.saturating_add(one.ios);
                total.bytes = total.bytes.saturating_add(one.bytes);
                total.errors = total.errors.saturating_add(one.errors);
            }
            None => totals.push(one),
        }
    };
    for stage in &record.stages {
        let Some(planned) = record.plan.stages.get(stage.stage as usize) else { continue };
        for ((_, op), part) in &stage.digest(record).sums.parts {
            let errors = part.errors.values().fold(0u64, |sum, count| sum.saturating_add(*count));
            let (ios, bytes) = (part.all.ios.saturating_add(errors), part.all.bytes);
            add(Issued { stage: planned.kind, op: *op, ios, bytes, errors });
        }
    }
    totals.sort_by_key(|total| (total.stage as u8, total.op));
    totals
}

/// Flushes behind the loads of a run, which no sample holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushProbes {
    /// One of each file of a target that was flushed.
    pub ios: u64,
    /// Targets of which one failed.
    pub errors: u64,
}

/// The flushes that were sent to the targets beside what [`issued`] counts.
pub fn flush_probes(record: &Record) -> FlushProbes {
    let mut probes = FlushProbes::default();
    for end in record.stages.iter().flat_map(|stage| &stage.ends) {
        let Some(host) = record.plan.hosts.get(end.host as usize) else { continue };
        for flush in end.flushes.iter().filter(|flush| flush.ended) {
            let target = host.targets.iter().find(|target| target.path == flush.target);
            probes.ios += target.map_or(0, |target| target.files.len() as u64);
            probes.errors += u64::from(flush.errno != 0);
        }
    }
    probes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;

    #[test]
    fn drains_and_failures_count_as_sent() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        recorded.prepare();
        let measure = recorded.stage(StageKind::Measure);
        recorded.interval(measure, 0, &[(Op::Read, &[100; 10])]);
        recorded.fail(measure, 0, Op::Read, 5, 3);
        recorded.drain(measure, 0, &[(Op::Read, &[100; 4])]);
        let totals = issued(&recorded.record());
        let read = totals.iter().find(|total| total.op == Op::Read).expect("reads");
        assert_eq!((read.stage, read.ios, read.errors), (StageKind::Measure, 17, 3));
        assert_eq!(read.bytes, 14 * 4096);
        let fsync =
            totals.iter().find(|total| total.op == Op::Fsync).expect("prepare ends with fsync");
        assert_eq!(fsync.stage, StageKind::Prepare);
        assert_eq!(totals[0].stage, StageKind::Prepare, "in the order of a run");
    }
}
