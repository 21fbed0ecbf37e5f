//! A recorded run made by hand: a real plan of a real suite, with samples as a test wants them.

pub mod busy_host;

use model::counters::{Entry, Layer, Metric};
use model::event::{Event, StageEnd};
use model::inventory::{Link, LinkKind};
use model::sample::{OpSample, WorkerOp, WorkerSample};
use model::testbed::{DeviceFacts, DirectIo, HostFacts, TargetFacts, TargetKind};
use model::{
    Bytes, CounterSample, Fact, Histogram, IntervalSample, Note, Op, Phase, Record, RunEnd, Scale,
    StageKind,
};
use std::collections::BTreeMap;
use std::ops::Range;
use suite::Spec;
use suite::planner::{Request, plan};

/// 2026-01-02 03:04:05 UTC.
const STARTED_UNIX_NS: u64 = 1_767_323_045_000_000_000;

/// One, in ns.
const SECOND: u64 = 1_000_000_000;

/// A run that is recorded by hand. Intervals are one second long, and each host has one worker's
/// worth of samples.
#[derive(Clone, Debug)]
pub struct Recorded {
    record: Record,
    busy: f64,
}

/// A host such as a test wants it: 8 CPUs, 64 GiB, one directory on a file system of 1 TiB.
pub fn host(number: usize) -> HostFacts {
    HostFacts {
        hostname: format!("node{number}"),
        kernel: "Linux 6.12.0".to_owned(),
        cpu_model: "Example CPU @ 3.00 GHz".to_owned(),
        logical_cpus: 8,
        memory: Bytes::gib(64),
        memory_available: Bytes::gib(60),
        numa_cpus: vec![(0..8).collect()],
        agent_version: "0.0.0-test".to_owned(),
        targets: vec![TargetFacts {
            path: "/mnt/data".to_owned(),
            kind: TargetKind::Missing,
            writable: true,
            file_system: Some("xfs".to_owned()),
            free: Bytes::gib(800),
            reserved: Bytes(0),
            total: Bytes::gib(1024),
            free_inodes: Some(50_000_000),
            direct: DirectIo::Aligned(512),
            device: Some(DeviceFacts {
                name: "nvme0n1".to_owned(),
                model: "EXAMPLE SSD 1T".to_owned(),
                rotational: Some(false),
                size: Bytes::gib(1024),
                logical_block: 512,
                scheduler: "none".to_owned(),
                numa_node: None,
                ..DeviceFacts::default()
            }),
            chain: Vec::new(),
        }],
        ..HostFacts::default()
    }
}

impl Recorded {
    /// A run of `suite` (TOML without a name, or with one) on one host.
    pub fn new(suite: &str) -> Recorded {
        Recorded::with_hosts(suite, 1)
    }

    /// A run of `suite` on so many hosts.
    ///
    /// # Panics
    /// When the suite is not a good one: the test is wrong then.
    pub fn with_hosts(suite: &str, hosts: usize) -> Recorded {
        let is_named = suite
            .lines()
            .take_while(|line| !line.starts_with('['))
            .any(|line| line.starts_with("name"));
        let named = if is_named { suite.to_owned() } else { format!("name = \"test\"\n{suite}") };
        let spec = Spec::parse("test", &named, &[]).expect("a good suite");
        let mut hosts: Vec<HostFacts> = (0..hosts).map(host).collect();
        // A command is watched on what is there.
        for facts in hosts.iter_mut().filter(|_| named.contains("kind = \"command\"")) {
            facts.targets[0].kind = TargetKind::File { size: Bytes::gib(1) };
        }
        let request = Request {
            run_id: "test-run",
            spec: &spec,
            scale: Scale::FULL,
            existing: false,
            destroy_data: &[],
            hosts: &hosts,
        };
        let plan = plan(&request).expect("a plan");
        Recorded {
            record: Record::new(plan, hosts, "0.0.0-test".to_owned(), STARTED_UNIX_NS),
            busy: 0.25,
        }
    }

    /// The run as it was recorded so far.
    pub fn record(&self) -> Record {
        self.record.clone()
    }

    /// The run, for a test that changes more than this builder knows.
    pub fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    /// The number of the first stage of this kind.
    ///
    /// # Panics
    /// When the suite has none.
    pub fn stage(&self, kind: StageKind) -> u32 {
        let found = self.record.plan.stages.iter().position(|stage| stage.kind == kind);
        found.expect("a stage of this kind") as u32
    }

    /// The whole of `prepare`: each host's bytes in one interval, then an fsync.
    pub fn prepare(&mut self) {
        let stage = self.stage(StageKind::Prepare);
        let bytes = self.record.plan.prepare_bytes().0 / self.record.plan.hosts.len().max(1) as u64;
        let block = self.record.plan.stages[stage as usize].works[0].largest_block().0;
        let values = vec![2_000_000; (bytes / block) as usize];
        for host in 0..self.record.plan.hosts.len() as u32 {
            self.host_interval(stage, host, 0, &[(Op::Write, &values)]);
            self.add(stage, host, 1, Phase::Drain, &[(Op::Fsync, &[5_000_000])]);
        }
        self.record.apply(Event::StageEnded { stage, end: StageEnd::Complete });
    }

    /// One second of load on host 0 in the first measured stage, with the service times (ns) of
    /// every request.
    pub fn second(&mut self, number: u32, ops: &[(Op, &[u64])]) {
        self.host_second(0, number, ops);
    }

    /// The same on a host.
    pub fn host_second(&mut self, host: u32, number: u32, ops: &[(Op, &[u64])]) {
        self.host_interval(self.stage(StageKind::Measure), host, number, ops);
    }

    /// The same on host 0 for each of these seconds.
    pub fn load(&mut self, seconds: Range<u32>, ops: &[(Op, &[u64])]) {
        for second in seconds {
            self.second(second, ops);
        }
    }

    /// One second of load on host 0 in a stage.
    pub fn interval(&mut self, stage: u32, interval: u32, ops: &[(Op, &[u64])]) {
        self.host_interval(stage, 0, interval, ops);
    }

    /// One second of load on a host.
    pub fn host_interval(&mut self, stage: u32, host: u32, interval: u32, ops: &[(Op, &[u64])]) {
        self.add(stage, host, interval, Phase::Load, ops);
    }

    /// What a host's kernel counted in one second.
    pub fn counters(&mut self, stage: u32, host: u32, number: u32, entries: Vec<Entry>) {
        let (start_ns, length_ns) = (u64::from(number) * SECOND, SECOND);
        let sample =
            CounterSample { stage, host, number, start_ns, length_ns, entries, notes: Vec::new() };
        if let Some(record) = self.record.stages.iter_mut().find(|record| record.stage == stage) {
            record.counters_mut().push(sample);
        }
    }

    /// Every target is a plain file system on an NVMe drive whose cache is `write_cache`, and the
    /// kernels counted that all requests of a stage reached it.
    pub fn seen_at_disks(&mut self, stage: u32, write_cache: &str) {
        for target in self.record.testbed.iter_mut().flat_map(|host| &mut host.targets) {
            let device = target.device.get_or_insert_default();
            (device.transport, device.write_cache) = ("pcie".to_owned(), write_cache.to_owned());
            let (name, device) = (device.name.clone(), Some(device.clone()));
            let disk = Link { depth: 1, kind: LinkKind::Disk, name, device, ..Link::default() };
            let (kind, name) = (LinkKind::FileSystem, "xfs".to_owned());
            target.chain = vec![Link { kind, name, ..Link::default() }, disk];
        }
        let Some(record) = self.record.stages.iter().find(|one| one.stage == stage) else { return };
        let samples: Vec<IntervalSample> = record.samples().to_vec();
        let mut read: BTreeMap<u32, u64> = BTreeMap::new();
        for sample in samples {
            let of = |op: Op| {
                let ops = sample.ops.iter().filter(|one| one.op == op);
                ops.fold((0, 0), |(ios, bytes), one| (ios + one.ios, bytes + one.bytes))
            };
            let (reads, writes) = (of(Op::Read), of(Op::Write));
            *read.entry(sample.host).or_default() += reads.1;
            let values = vec![
                (Metric::Reads, reads.0),
                (Metric::ReadBytes, reads.1),
                (Metric::Writes, writes.0),
                (Metric::WriteBytes, writes.1),
            ];
            let entry = Entry { layer: Layer::Block, name: "nvme0n1".to_owned(), values };
            self.counters(stage, sample.host, sample.interval, vec![entry]);
        }
        for (host, bytes) in read {
            let (stage, kind) = (Some(stage), StageKind::Measure);
            let fact = Fact::DeviceRead { bytes, stage: kind, workloads: Vec::new() };
            self.note(Note { stage, host, fact });
        }
    }

    /// What came back after the time was over.
    pub fn drain(&mut self, stage: u32, interval: u32, ops: &[(Op, &[u64])]) {
        self.add(stage, 0, interval, Phase::Drain, ops);
    }

    /// So many requests of an interval failed.
    pub fn fail(&mut self, stage: u32, interval: u32, op: Op, errno: i32, count: u64) {
        let stages = self.record.stages.iter_mut().filter(|record| record.stage == stage);
        let samples = stages
            .flat_map(model::record::StageRecord::samples_mut)
            .filter(|sample| sample.interval == interval);
        if let Some(sample) =
            samples.flat_map(|sample| &mut sample.ops).find(|sample| sample.op == op)
        {
            sample.errors.push((errno, count));
        }
    }

    /// The share of one core that each worker takes, in every interval so far and from now on.
    pub fn busy(&mut self, share: f64) {
        self.busy = share;
        let samples =
            self.record.stages.iter_mut().flat_map(model::record::StageRecord::samples_mut);
        for worker in samples.flat_map(|sample| &mut sample.workers) {
            worker.cpu_user_ns = (share * 3e8) as u64;
            worker.cpu_system_ns = (share * 7e8) as u64;
        }
    }

    /// Free bytes of every target's file system before the run.
    pub fn free(&mut self, free: Bytes) {
        self.record
            .testbed
            .iter_mut()
            .flat_map(|host| &mut host.targets)
            .for_each(|target| target.free = free);
    }

    /// Something that came up.
    pub fn note(&mut self, note: Note) {
        self.record.apply(Event::Note(note));
    }

    /// Every stage that began, and the run, end as planned: the run as it was recorded.
    pub fn end(&mut self) -> Record {
        let begun: Vec<u32> = self.record.stages.iter().map(|stage| stage.stage).collect();
        for stage in begun {
            self.record.apply(Event::StageEnded { stage, end: StageEnd::Complete });
        }
        self.record.apply(Event::RunEnded {
            unix_ns: STARTED_UNIX_NS + 90_000_000_000,
            end: RunEnd::Complete,
        });
        self.record()
    }

    /// One second of load on host 0, in which several works of the point run side by side: the
    /// number of the work, its operation and the service times (ns) of every request.
    pub fn side_by_side(&mut self, stage: u32, interval: u32, ops: &[(u32, Op, &[u64])]) {
        self.add_works(stage, 0, interval, Phase::Load, ops);
    }

    fn add(&mut self, stage: u32, host: u32, interval: u32, phase: Phase, ops: &[(Op, &[u64])]) {
        let ops: Vec<(u32, Op, &[u64])> =
            ops.iter().map(|(op, values)| (0, *op, *values)).collect();
        self.add_works(stage, host, interval, phase, &ops);
    }

    fn add_works(
        &mut self,
        stage: u32,
        host: u32,
        interval: u32,
        phase: Phase,
        ops: &[(u32, Op, &[u64])],
    ) {
        if self.record.stage(stage).is_none() {
            self.record.apply(Event::StageStarted { stage, unix_ns: STARTED_UNIX_NS });
        }
        let works = &self.record.plan.stages[stage as usize].works;
        let sample = |(number, op, values): &(u32, Op, &[u64])| {
            let work = &works[*number as usize];
            let block =
                work.metadata.map_or_else(|| work.largest_block(), |metadata| metadata.size).0;
            let mut latency = Histogram::new();
            values.iter().for_each(|value| latency.record(*value));
            let ios = values.len() as u64;
            let moves = matches!(op, Op::Read | Op::Write | Op::ReadFile) || op.writes_file();
            let bytes = if moves { ios * block } else { 0 };
            OpSample { work: *number, ios, bytes, latency: latency.encode(), ..OpSample::of(*op) }
        };
        let ops: Vec<OpSample> =
            ops.iter().filter(|(.., values)| !values.is_empty()).map(sample).collect();
        let worker_op =
            |op: &OpSample| WorkerOp { op: op.op, ios: op.ios, bytes: op.bytes, errors: 0 };
        let worker = WorkerSample {
            worker: 0,
            cpu_user_ns: (self.busy * 3e8) as u64,
            cpu_system_ns: (self.busy * 7e8) as u64,
            ops: ops.iter().map(worker_op).collect(),
            mark: None,
        };
        self.record.apply(Event::Sample(IntervalSample {
            stage,
            host,
            interval,
            start_ns: u64::from(interval) * 1_000_000_000,
            length_ns: 1_000_000_000,
            phase,
            ops,
            workers: vec![worker],
        }));
    }
}
