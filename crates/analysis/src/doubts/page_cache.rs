//! Doubts that come from the page cache: what it could hold, and what it answered.

use crate::doubts::{Seen, Warning};
use crate::layers::io_path::has_worker;
use crate::rows::row::ResultRow;
use model::choices::Backend;
use model::digest::Digest;
use model::plan::{HostPlan, PlannedTarget};
use model::testbed::TargetFacts;
use model::{Bytes, Kernels, Note, NoteKind, Op, Record, StageKind};
use std::collections::BTreeMap;

/// With twice the memory, the cache holds at most half of what is read in any order; the rule of
/// thumb of file-system benchmarks.
const MEMORY_RULE: u64 = 2;
/// Less than this is what a file system reads ahead, or has to look up twice.
const LEAST_FROM_MEMORY: f64 = 0.1;

/// All of them for a row of `stage`. What the run itself counted outweighs what could have been.
pub(crate) fn doubts(seen: Seen<'_>) -> Vec<Warning> {
    let Seen { record, stage, digest, row } = seen;
    let seen = from_memory(record, stage.stage, digest, row);
    let of_blocks = || {
        let has_blocks = row.works.iter().any(|work| work.metadata.is_none());
        if has_blocks { cached(record, row.stage) } else { None }
    };
    match seen {
        Some(share) if share >= LEAST_FROM_MEMORY => {
            of_blocks().into_iter().chain([Warning::ReadFromMemory { share }]).collect()
        }
        Some(_) => Vec::new(),
        None => {
            let of_files = if row.is_metadata() { cached_files(record, row) } else { None };
            of_files.into_iter().chain(of_blocks()).collect()
        }
    }
}

/// A layout that the page cache could hold a good part of, if it was in between.
fn cached(record: &Record, stage: u32) -> Option<Warning> {
    let concerns = |note: &&Note| {
        note.kind() == NoteKind::DirectRefused && note.stage.is_none_or(|of| of == stage)
    };
    let refused = record.notes.iter().any(|note| concerns(&note));
    let engine = record.plan.engine_of(stage)?;
    // No page of a simulation is ever in a memory.
    if (engine.direct && !refused) || engine.backend == Backend::Null || record.plan.is_simulated()
    {
        return None;
    }
    let targets =
        |host: &HostPlan| host.targets.get(host.targets_of(stage)).unwrap_or_default().to_vec();
    let is_shared =
        |host: &HostPlan| targets(host).iter().any(|target| target.kind == PlannedTarget::Joined);
    if record.plan.hosts.iter().any(is_shared) {
        // One file in the memories of all.
        let memory = memories(record).values().map(|memory| memory.0).fold(0, u64::saturating_add);
        return fits(record.plan.footprint_of(stage), Bytes(memory), false);
    }
    let files = |host: &HostPlan| {
        let files =
            targets(host).into_iter().flat_map(|target| target.files).map(|file| file.size.0);
        Bytes(files.fold(0, u64::saturating_add))
    };
    each_memory(record, files)
        .into_iter()
        .find_map(|(footprint, memory)| fits(footprint, memory, false))
}

/// The same for the files of trees, which are read through the page cache whatever the plan says of
/// direct I/O.
fn cached_files(record: &Record, row: &ResultRow) -> Option<Warning> {
    if !row.plans(Op::ReadFile) || record.plan.is_simulated() {
        return None;
    }
    let in_trees =
        |host: &HostPlan| host.part_of(row.stage).map_or(Bytes(0), |part| host.in_trees_of(part));
    each_memory(record, in_trees).into_iter().find_map(|(footprint, memory)| {
        // Files without a byte bring nothing, from wherever.
        if footprint > Bytes(0) { fits(footprint, memory, true) } else { None }
    })
}

/// The memory of each kernel, by its first host: hosts on one kernel have it together. What this
/// run wrote itself is in the memory of the control groups that its hosts have; what was there
/// before may be in that of others.
fn memories(record: &Record) -> BTreeMap<usize, Bytes> {
    let kernels = Kernels::of(&record.testbed);
    let is_ours = record.plan.stages.iter().any(|stage| stage.kind == StageKind::Prepare);
    let mut memories: BTreeMap<usize, Bytes> = BTreeMap::new();
    for (number, facts) in record.testbed.iter().enumerate() {
        let own = if is_ours { facts.usable_memory() } else { facts.memory };
        let sum = memories.entry(kernels.first_on_kernel(number)).or_default();
        *sum = Bytes(sum.0.saturating_add(own.0).min(facts.memory.0));
    }
    memories
}

/// What the hosts of each kernel load together, and the memory that they share.
fn each_memory(record: &Record, footprint: impl Fn(&HostPlan) -> Bytes) -> Vec<(Bytes, Bytes)> {
    let kernels = Kernels::of(&record.testbed);
    let mut footprints: BTreeMap<usize, u64> = BTreeMap::new();
    for (number, host) in record.plan.hosts.iter().enumerate() {
        let sum = footprints.entry(kernels.first_on_kernel(number)).or_default();
        *sum = sum.saturating_add(footprint(host).0);
    }
    let memories = memories(record);
    let each = |(kernel, bytes): (usize, u64)| Some((Bytes(bytes), *memories.get(&kernel)?));
    footprints.into_iter().filter_map(each).collect()
}

fn fits(footprint: Bytes, memory: Bytes, of_trees: bool) -> Option<Warning> {
    (footprint.0 < memory.0.saturating_mul(MEMORY_RULE)).then_some(Warning::Cached {
        footprint,
        memory,
        of_trees,
    })
}

/// The share of a stage's reads that never came to a device, 0 to 1: what the hosts' kernels say
/// that devices were made to read, beside what was read. `None` where nobody counted.
fn from_memory(record: &Record, stage: u32, digest: &Digest, row: &ResultRow) -> Option<f64> {
    if !row.plans(Op::Read) || !devices_are_counted(record) {
        return None;
    }
    let notes = record.notes.iter().filter(|note| note.stage == Some(stage));
    let counts: Vec<u64> = notes.filter_map(|note| note.fact.device_read()).collect();
    if counts.is_empty() {
        return None;
    }
    let from_devices = counts.into_iter().fold(0, u64::saturating_add);
    let parts = digest.sums.parts.iter().filter(|((_, op), _)| *op == Op::Read);
    let read = parts.fold(0u64, |sum, (_, part)| sum.saturating_add(part.all.bytes));
    (read > 0).then(|| (1.0 - from_devices as f64 / read as f64).max(0.0))
}

/// Whether every host of a row told what it made devices read.
pub(crate) fn is_counted(record: &Record, row: &ResultRow) -> bool {
    let told = |host: u32| {
        record.notes.iter().any(|note| {
            (note.stage, note.host) == (Some(row.stage), host) && note.fact.device_read().is_some()
        })
    };
    let hosts = (0..).zip(&record.plan.hosts).filter(|(_, host)| has_worker(host, row));
    devices_are_counted(record) && hosts.map(|(number, _)| number).all(told)
}

/// Whether every target hangs off a block device, whose reads the kernel puts down to the process;
/// those of network file systems it may not.
fn devices_are_counted(record: &Record) -> bool {
    let mut targets = record.testbed.iter().flat_map(|host| &host.targets);
    let has_device = |target: &TargetFacts| {
        target.device.is_some() || target.chain.iter().any(|link| link.device.is_some())
    };
    targets.all(|target| has_device(target) || target.file_system.as_deref() == Some("tmpfs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::{Fact, Note, StageKind};

    const BUFFERED: &str =
        "[engine]\ndirect = false\n[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

    fn run(device_read: Option<u64>, counted: bool) -> Vec<Warning> {
        let mut recorded = Recorded::new(BUFFERED);
        for target in recorded.record_mut().testbed.iter_mut().flat_map(|host| &mut host.targets) {
            target.file_system = Some(if counted { "tmpfs" } else { "nfs4" }.to_owned());
            target.device = None;
        }
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100_000])]);
        if let Some(bytes) = device_read {
            let workloads = vec!["w".to_owned()];
            let fact = Fact::DeviceRead { bytes, stage: StageKind::Measure, workloads };
            recorded.note(Note { stage: Some(stage), host: 0, fact });
        }
        results(&recorded.end()).remove(0).warnings
    }

    #[test]
    fn reads_that_no_device_saw_are_said() {
        let share = |device_read, counted| {
            run(device_read, counted).iter().find_map(|warning| match warning {
                Warning::ReadFromMemory { share } => Some((share * 1000.0).round()),
                _ => None,
            })
        };
        // 100,000 × 4 KiB.
        assert_eq!(share(Some(4096000), true), Some(990.0));
        assert_eq!(share(Some(0), true), Some(1000.0));
        assert_eq!(share(Some(400000000), true), None, "2 % is no doubt");
        assert_eq!(share(Some(900000000), true), None, "read ahead");
        assert_eq!(share(None, true), None);
        assert_eq!(share(Some(0), false), None, "nobody counts what a network brings");
    }

    #[test]
    fn a_layout_of_less_than_twice_the_memory_is_said() {
        let with = |times: u64, limit: Option<u64>, is_ours: bool| {
            let mut recorded = Recorded::new(BUFFERED);
            let record = recorded.record_mut();
            record.testbed[0].memory = Bytes(1 << 30);
            record.testbed[0].inventory.limits.memory = limit.map(Bytes);
            if !is_ours {
                record.plan.stages[0].kind = StageKind::Precondition;
            }
            for file in record.plan.hosts[0].targets.iter_mut().flat_map(|target| &mut target.files)
            {
                file.size = Bytes(0);
            }
            record.plan.hosts[0].targets[0].files[0].size = Bytes(times << 29);
            let stage = record.plan.measure_stage(0).expect("measured");
            cached(record, stage).is_some()
        };
        assert!(with(1, None, true) && with(3, None, true) && !with(4, None, true));
        let half = Some(1 << 29);
        assert!(with(1, half, true) && !with(3, half, true), "the limit of the control group");
        assert!(with(3, half, false), "others may have read what was there before");
        assert!(!with(4, Some(1 << 40), true), "a limit beyond the memory");
    }

    #[test]
    fn each_scenario_is_judged_by_its_own_layout_and_its_own_way_to_it() {
        let suite = "[[workload]]\nname = \"w\"\n[[scenario]]\nname = \"direct\"\nlayout = { size \
                     = \"1MiB\" }\n[[scenario]]\nname = \"small\"\nlayout = { size = \"1MiB\" \
                     }\nengine = { direct = false }\n[[scenario]]\nname = \"large\"\nlayout = { \
                     size = \"64MiB\", files = 1 }\nengine = { direct = false }\n";
        let mut recorded = Recorded::new(suite);
        let record = recorded.record_mut();
        record.testbed[0].memory = Bytes::mib(32);
        let doubted = |point: u32| {
            cached(record, record.plan.measure_stage(point).expect("measured")).is_some()
        };
        assert_eq!([doubted(0), doubted(1), doubted(2)], [false, true, false]);
    }

    #[test]
    fn the_runs_own_count_outweighs_what_could_have_been() {
        let codes =
            |device_read| run(device_read, true).iter().map(Warning::code).collect::<Vec<_>>();
        assert!(codes(None).contains(&"fits-in-memory"), "nobody counted");
        assert!(!codes(Some(409600000)).contains(&"fits-in-memory"));
        assert!(codes(Some(0)).contains(&"fits-in-memory"));
    }

    #[test]
    fn hosts_on_one_kernel_have_its_memory_once() {
        let doubted = |identity: &str| {
            let mut recorded = Recorded::with_hosts(BUFFERED, 2);
            let record = recorded.record_mut();
            for host in &mut record.testbed {
                (host.memory, host.identity) = (Bytes(1 << 30), identity.to_owned());
            }
            for host in &mut record.plan.hosts {
                host.targets[0].files.iter_mut().for_each(|file| file.size = Bytes(0));
                // On a kernel of its own, each is within twice the memory; together they are not.
                host.targets[0].files[0].size = Bytes(3 << 29);
            }
            let stage = record.plan.measure_stage(0).expect("measured");
            cached(record, stage).is_some()
        };
        assert!(doubted("") && !doubted("one-boot"));
    }

    #[test]
    fn hosts_that_share_a_file_have_the_memory_of_their_kernel_once() {
        let memory = |identity: &str| {
            let mut recorded = Recorded::with_hosts(BUFFERED, 2);
            let record = recorded.record_mut();
            record.testbed.iter_mut().for_each(|host| host.identity = identity.to_owned());
            record.plan.hosts[1].targets[0].kind = PlannedTarget::Joined;
            let stage = record.plan.measure_stage(0).expect("measured");
            match cached(record, stage) {
                Some(Warning::Cached { memory, .. }) => memory,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!((memory(""), memory("one-boot")), (Bytes::gib(128), Bytes::gib(64)));
    }

    #[test]
    fn no_page_of_a_simulation_is_in_a_memory() {
        let mut recorded = Recorded::new(BUFFERED);
        let stage = recorded.stage(StageKind::Measure);
        assert!(cached(&recorded.record(), stage).is_some());
        for target in recorded.record_mut().plan.hosts.iter_mut().flat_map(|host| &mut host.targets)
        {
            target.kind = PlannedTarget::Simulated;
        }
        assert!(cached(&recorded.record(), stage).is_none());
    }
}
