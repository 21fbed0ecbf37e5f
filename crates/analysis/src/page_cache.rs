//! Doubts that come from the page cache: what it could hold, and what it answered.

use crate::row::ResultRow;
use crate::warning::Warning;
use model::digest::Digest;
use model::plan::{HostPlan, PlannedTarget};
use model::spec::Backend;
use model::testbed::HostFacts;
use model::{Bytes, Note, NoteKind, Op, Record};

/// With twice the memory, the cache holds at most half of what is read in any order; the rule of thumb of file-system benchmarks.
const MEMORY_RULE: u64 = 2;
/// Less than this is what a file system reads ahead, or has to look up twice.
const LEAST_FROM_MEMORY: f64 = 0.1;

/// A layout that the page cache could hold a good part of, if it was in between.
pub(crate) fn cached(record: &Record, stage: u32) -> Option<Warning> {
    let concerns = |note: &&Note| note.kind == NoteKind::DirectRefused && note.stage.is_none_or(|of| of == stage);
    let refused = record.notes.iter().any(|note| concerns(&note));
    let engine = record.plan.engine_of(stage)?;
    if (engine.direct && !refused) || engine.backend == Backend::Null {
        return None;
    }
    let targets = |host: &HostPlan| host.targets.get(host.targets_of(stage)).unwrap_or_default().to_vec();
    let is_shared = |host: &HostPlan| targets(host).iter().any(|target| target.kind == PlannedTarget::Joined);
    if record.plan.hosts.iter().any(is_shared) {
        // One file in the memories of all.
        let memory = record.testbed.iter().map(|facts| facts.memory.0).fold(0, u64::saturating_add);
        return fits(record.plan.footprint_of(stage), Bytes(memory));
    }
    let each = |(host, facts): (&HostPlan, &HostFacts)| {
        let files =
            targets(host).iter().flat_map(|target| &target.files).map(|file| file.size.0).fold(0, u64::saturating_add);
        fits(Bytes(files), facts.memory)
    };
    record.plan.hosts.iter().zip(&record.testbed).find_map(each)
}

/// The same for the files of trees, which are read through the page cache whatever the plan says of direct I/O.
pub(crate) fn cached_files(record: &Record, row: &ResultRow) -> Option<Warning> {
    if row.op != Op::ReadFile {
        return None;
    }
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    let in_trees = |host: &HostPlan| host.part_of(row.stage).map_or(Bytes(0), |part| host.in_trees_of(part));
    hosts.map(|(host, facts)| (in_trees(host), facts.memory)).find_map(|(footprint, memory)| {
        // Files without a byte bring nothing, from wherever.
        if footprint > Bytes(0) { fits(footprint, memory) } else { None }
    })
}

fn fits(footprint: Bytes, memory: Bytes) -> Option<Warning> {
    (footprint.0 < memory.0.saturating_mul(MEMORY_RULE)).then_some(Warning::Cached { footprint, memory })
}

/// Whether a part of a stage's reads never came to a device: what the hosts' kernels say that devices were made to read, beside what was
/// read.
pub(crate) fn from_memory(record: &Record, stage: u32, digest: &Digest, row: &ResultRow) -> Option<Warning> {
    if row.op != Op::Read || !devices_are_counted(record) {
        return None;
    }
    let notes = record.notes.iter().filter(|note| note.kind == NoteKind::DeviceRead && note.stage == Some(stage));
    let counts: Vec<u64> = notes.filter_map(|note| note.detail.split(' ').next()?.parse().ok()).collect();
    if counts.is_empty() {
        return None;
    }
    let from_devices = counts.into_iter().fold(0, u64::saturating_add);
    let parts = digest.sums.parts.iter().filter(|((_, op), _)| *op == Op::Read);
    let read = parts.fold(0u64, |sum, (_, part)| sum.saturating_add(part.all.bytes));
    if read == 0 {
        return None;
    }
    let share = 1.0 - from_devices as f64 / read as f64;
    (share >= LEAST_FROM_MEMORY).then_some(Warning::ReadFromMemory { share })
}

/// Whether every target hangs off a block device, whose reads the kernel puts down to the process; those of network file systems it may not.
fn devices_are_counted(record: &Record) -> bool {
    let mut targets = record.testbed.iter().flat_map(|host| &host.targets);
    targets.all(|target| target.device.is_some() || target.file_system.as_deref() == Some("tmpfs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::{Note, StageKind};

    const BUFFERED: &str = "[engine]\ndirect = false\n[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

    fn run(detail: Option<&str>, counted: bool) -> Vec<Warning> {
        let mut recorded = Recorded::new(BUFFERED);
        for target in recorded.record_mut().testbed.iter_mut().flat_map(|host| &mut host.targets) {
            target.file_system = Some(if counted { "tmpfs" } else { "nfs4" }.to_owned());
            target.device = None;
        }
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100_000])]);
        if let Some(detail) = detail {
            let detail = detail.to_owned();
            recorded.note(Note { stage: Some(stage), host: 0, kind: NoteKind::DeviceRead, detail });
        }
        recorded.end();
        results(&recorded.record()).remove(0).warnings
    }

    #[test]
    fn reads_that_no_device_saw_are_said() {
        let share = |detail, counted| {
            run(detail, counted).iter().find_map(|warning| match warning {
                Warning::ReadFromMemory { share } => Some((share * 1000.0).round()),
                _ => None,
            })
        };
        // 100,000 × 4 KiB.
        assert_eq!(share(Some("4096000 bytes were read from devices"), true), Some(990.0));
        assert_eq!(share(Some("0 bytes were read from devices"), true), Some(1000.0));
        assert_eq!(share(Some("400000000 bytes were read from devices"), true), None, "2 % is no doubt");
        assert_eq!(share(Some("900000000 bytes were read from devices"), true), None, "read ahead");
        assert_eq!(share(Some("no number"), true), None);
        assert_eq!(share(None, true), None);
        assert_eq!(share(Some("0 bytes were read from devices"), false), None, "nobody counts what a network brings");
    }

    #[test]
    fn a_layout_of_less_than_twice_the_memory_is_said() {
        let with = |times: u64| {
            let mut recorded = Recorded::new(BUFFERED);
            let record = recorded.record_mut();
            record.testbed[0].memory = Bytes(1 << 30);
            for file in record.plan.hosts[0].targets.iter_mut().flat_map(|target| &mut target.files) {
                file.size = Bytes(0);
            }
            record.plan.hosts[0].targets[0].files[0].size = Bytes(times << 29);
            let stage = record.plan.measure_stage(0).expect("measured");
            cached(record, stage).is_some()
        };
        assert!(with(1) && with(3) && !with(4));
    }

    #[test]
    fn each_scenario_is_judged_by_its_own_layout_and_its_own_way_to_it() {
        let suite = "[[workload]]\nname = \"w\"\n[[scenario]]\nname = \"direct\"\nlayout = { size = \"1MiB\" }\n\
            [[scenario]]\nname = \"small\"\nlayout = { size = \"1MiB\" }\nengine = { direct = false }\n\
            [[scenario]]\nname = \"large\"\nlayout = { size = \"64MiB\", files = 1 }\nengine = { direct = false }\n";
        let mut recorded = Recorded::new(suite);
        let record = recorded.record_mut();
        record.testbed[0].memory = Bytes::mib(32);
        let doubted = |point: u32| cached(record, record.plan.measure_stage(point).expect("measured")).is_some();
        assert_eq!([doubted(0), doubted(1), doubted(2)], [false, true, false]);
    }
}
