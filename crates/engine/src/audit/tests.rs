//! A model of a target that loses, delays and tears writes, against which the record's word is
//! held.

use super::*;
use crate::common;
use crate::contents::{HostContents, SECTOR, WorkerContents};
use crate::generator::{Bookmarks, Generator};
use crate::io::Io;
use model::audit::DamageKind;
use model::choices::{Backend, OnLostHost};
use model::event::HostStart;
use model::load::SizeMix;
use model::plan::{Contents, EngineSettings, Extent, FleetPolicy, Plan, Stage, Work};
use model::rng::Rng;
use model::sample::{WorkerOp, WorkerSample};
use model::units::{Bytes, Nanos, Percent};
use model::{Event, IntervalSample, Op, Phase, Scale, StageKind};
use std::path::Path;

const FILE: u64 = 512 << 10;
const DEPTH: usize = 8;

/// One file or two, prepared, and then loaded by `work` with two workers until somebody pulls the
/// plug.
fn host_plan(root: &Path, works: &[Work], files: u32, grain: u64) -> HostPlan {
    let stage = |(number, work): (usize, &Work)| {
        let half = FILE / 2;
        let worker = |place: u64| {
            let extent = |file| Extent { file, offset: place * half, length: half };
            common::worker(1000 * number as u64 + place, (0..files).map(extent).collect())
        };
        let kind = if number == 0 { StageKind::Prepare } else { StageKind::Measure };
        common::stage(number as u32, kind, work.clone(), (0..2).map(worker).collect())
    };
    let engine = EngineSettings {
        direct: false,
        evict: true,
        patience: Nanos::seconds(1),
        contents: Contents { verify: true, filled: true, grain: Bytes(grain), ..Contents::RANDOM },
        ..EngineSettings::simple(Backend::Sync)
    };
    HostPlan {
        targets: vec![common::directory(root, files, FILE)],
        stages: works.iter().enumerate().map(stage).collect(),
        ..HostPlan::empty("r", Nanos::seconds(1), engine)
    }
}

fn plan(host: &HostPlan) -> Plan {
    let stage =
        |stage: &HostStage| Stage { kind: stage.kind, point: None, works: stage.works.clone() };
    Plan {
        run_id: host.run_id.clone(),
        suite: "s".into(),
        description: String::new(),
        seed: 1,
        scale: Scale::FULL,
        interval: host.interval,
        backend: host.engine.backend,
        direct: false,
        existing: false,
        hosts_from: vec![],
        origin: model::plan::Origin::default(),
        places: vec![],
        keep: model::plan::Keep::default(),
        fleet: FleetPolicy {
            on_lost_host: OnLostHost::Abort,
            quorum: 1,
            lost_after: Nanos::seconds(10),
            hold: Nanos(0),
        },
        points: Vec::new(),
        stages: host.stages.iter().map(stage).collect(),
        hosts: vec![host.clone()],
        notes: Vec::new(),
        search: None,
        rate_shares: model::plan::RateShares::default(),
        rounds: model::plan::Rounds::default(),
        objective: None,
        events: Vec::new(),
    }
}

/// What the target holds: after a crash of ours, and after a power cut.
#[derive(Clone)]
struct Disk {
    cache: Vec<Vec<u8>>,
    platter: Vec<Vec<u8>>,
}

/// A request on its way.
struct Sent {
    io: Io,
    bytes: Vec<u8>,
    /// What an `fdatasync` makes durable.
    cached: Option<Vec<u8>>,
}

/// One worker under the model.
struct Sim<'a> {
    contents: WorkerContents,
    generator: Generator,
    sent: Vec<Sent>,
    rng: &'a mut Rng,
    dsync: bool,
    fails: bool,
    /// Requests that were sent, flushes apart.
    requests: u64,
}

impl Sim<'_> {
    /// Goes on for `steps` steps, or to the end of its amount; false when nothing is left.
    fn go(&mut self, disk: &mut Disk, steps: u32) -> bool {
        for _ in 0..steps {
            let is_full = self.sent.len() == DEPTH;
            if !is_full && (self.sent.is_empty() || self.rng.below(2) == 0) {
                if !self.send(disk) && self.sent.is_empty() {
                    return false;
                }
            } else {
                let index = self.rng.below(self.sent.len() as u64) as usize;
                self.complete(disk, index);
            }
        }
        true
    }

    fn send(&mut self, disk: &Disk) -> bool {
        let Some(request) = self.generator.next_request() else { return false };
        self.requests += u64::from(request.op != Op::Fsync);
        let busy = |slot: &u32| self.sent.iter().any(|sent| sent.io.slot == *slot);
        let slot = (0..DEPTH as u32).find(|slot| !busy(slot)).expect("a free slot");
        let io = Io {
            slot,
            op: request.op,
            file: request.file,
            offset: request.offset,
            length: request.length,
        };
        let mut bytes = vec![0; io.length as usize];
        match io.op {
            Op::Write => self.contents.write_begins(&io, &mut bytes),
            Op::Read => self.contents.read_begins(&io),
            Op::Fsync => self.contents.sync_begins(&io),
            Op::Trim => self.contents.trim_begins(&io),
            op => unreachable!("{op} is none of blocks"),
        }
        let cached = (io.op == Op::Fsync).then(|| disk.cache[io.file as usize].clone());
        self.sent.push(Sent { io, bytes, cached });
        true
    }

    fn complete(&mut self, disk: &mut Disk, index: usize) {
        let Sent { io, mut bytes, cached } = self.sent.swap_remove(index);
        let place = io.offset as usize..io.offset as usize + io.length as usize;
        let mut result = io.length as i32;
        match io.op {
            Op::Write if self.fails && self.rng.below(50) == 0 => {
                // Some of it may be there all the same.
                let part =
                    self.rng.below(u64::from(io.length) / SECTOR as u64 + 1) as usize * SECTOR;
                disk.cache[io.file as usize][place][..part].copy_from_slice(&bytes[..part]);
                result = -5;
            }
            Op::Write => {
                disk.cache[io.file as usize][place.clone()].copy_from_slice(&bytes);
                if self.dsync {
                    disk.platter[io.file as usize][place].copy_from_slice(&bytes);
                }
            }
            Op::Read => bytes.copy_from_slice(&disk.cache[io.file as usize][place]),
            Op::Fsync => disk.platter[io.file as usize] = cached.expect("an image"),
            // What was given back reads as zeros, or as before.
            Op::Trim if self.rng.below(2) == 0 => disk.cache[io.file as usize][place].fill(0),
            Op::Trim => {}
            op => unreachable!("{op} is none of blocks"),
        }
        let told = self.contents.ends(io.slot, result, &bytes);
        assert_eq!(told, result, "no read of a sound target is damaged");
    }

    /// Everything comes back.
    fn drain(&mut self, disk: &mut Disk) {
        while !self.sent.is_empty() {
            self.complete(disk, 0);
        }
    }

    /// The plug is pulled: what is under way is there, or a part of it, or not.
    fn crash(mut self, disk: &mut Disk) {
        for sent in std::mem::take(&mut self.sent) {
            if sent.io.op == Op::Write {
                let part =
                    self.rng.below(u64::from(sent.io.length) / SECTOR as u64 + 1) as usize * SECTOR;
                let start = sent.io.offset as usize;
                disk.cache[sent.io.file as usize][start..start + part]
                    .copy_from_slice(&sent.bytes[..part]);
            }
        }
    }
}

/// What a worker says of an interval; of its last one, with all its requests.
fn sample(
    [stage, worker, interval]: [u32; 3],
    requests: Option<u64>,
    mark: Option<WriteMark>,
) -> IntervalSample {
    let op = |ios| WorkerOp { op: Op::Read, ios, bytes: 0, errors: 0 };
    let ops = requests.map(op).into_iter().collect();
    let of = WorkerSample { worker, cpu_user_ns: 0, cpu_system_ns: 0, ops, mark };
    IntervalSample {
        stage,
        host: 0,
        interval,
        start_ns: u64::from(interval) * 1_000_000_000,
        length_ns: 1_000_000_000,
        phase: Phase::Load,
        ops: Vec::new(),
        workers: vec![of],
    }
}

/// Runs all stages under the model; the last is cut off at some instant after its last recorded
/// interval.
fn crashed(host: &HostPlan, seed: u64, fails: bool) -> (Record, Disk) {
    let mut rng = Rng::new(seed);
    let contents = HostContents::new(host);
    let empty = vec![vec![0; FILE as usize]; host.files().count()];
    let mut disk = Disk { cache: empty.clone(), platter: empty };
    let mut record = Record::new(plan(host), Vec::new(), String::new(), 0);
    let mut bookmarks = Bookmarks::default();
    for (number, stage) in host.stages.iter().enumerate() {
        let is_amount = stage.stop() == Stop::Amount;
        let is_last = number + 1 == host.stages.len();
        let mut samples: Vec<IntervalSample> = Vec::new();
        let all: Vec<WorkerContents> = stage
            .workers
            .iter()
            .map(|worker| contents.worker(&stage.works[0], DEPTH, worker.seed))
            .collect();
        for (place, (worker, contents)) in stage.workers.iter().zip(all).enumerate() {
            let work = &stage.works[0];
            let mut generator = Generator::new(work, worker);
            generator.go_on(bookmarks.take(0, place as u32, work));
            let fails = fails && !is_amount;
            let mut sim = Sim {
                contents,
                generator,
                sent: Vec::new(),
                rng: &mut rng,
                dsync: work.dsync,
                fails,
                requests: 0,
            };
            for interval in 0.. {
                let goes_on = sim.go(&mut disk, 400) && (is_amount || interval < 4);
                if !goes_on && !is_last {
                    sim.drain(&mut disk);
                }
                let mark = sim.contents.mark();
                assert!(mark.is_some(), "a checked worker leaves marks");
                let requests = (!goes_on).then_some(sim.requests);
                samples.push(sample([number as u32, place as u32, interval], requests, mark));
                if !goes_on {
                    break;
                }
            }
            if is_last && !is_amount {
                let rest = sim.rng.below(400) as u32;
                sim.go(&mut disk, rest);
            }
            bookmarks.keep(0, place as u32, work, sim.generator.clone().into_bookmark());
            sim.crash(&mut disk);
        }
        if is_amount {
            disk.platter = disk.cache.clone();
        }
        let end = is_amount.then_some(StageEnd::Complete);
        let start = HostStart { stage: number as u32, host: 0, late_ns: 0, error_ns: 0 };
        let starts = end.iter().map(|_| start).collect();
        record.apply(Event::StageStarted { stage: number as u32, unix_ns: 0 });
        let recorded = record.stages.last_mut().expect("it began");
        (recorded.end, recorded.starts) = (end, starts);
        *recorded.samples_mut() = samples;
    }
    (record, disk)
}

fn save(host: &HostPlan, files: &[Vec<u8>]) {
    for (file, bytes) in host.files().zip(files) {
        std::fs::write(&file.path, bytes).expect("writes");
    }
}

/// What was completed, of all that is there.
const ALL: AuditOptions<'static> =
    AuditOptions { basis: Basis::Completed, targets: &[], host: None, scenario: None, kept: 16 };

fn looked(record: &Record, basis: Basis) -> Audit {
    audit_ok(record, &AuditOptions { basis, ..ALL })
}

fn prepare() -> Work {
    Work::simple(Bytes(64 << 10), Percent::ZERO, Access::Sequential, DEPTH as u32, Stop::Amount)
}

fn load(block: u64, read: u32, access: Access) -> Work {
    let stop = Stop::After(Nanos::seconds(5));
    Work::simple(Bytes(block), Percent::of(read), access, DEPTH as u32, stop)
}

/// Shapes of loads with the grain that the planner gives them.
fn shapes() -> Vec<(Work, u64)> {
    let mut mix = load(4096, 30, Access::Random);
    mix.write_block_size = SizeMix { parts: vec![(Bytes(4096), 3), (Bytes(16_384), 1)] };
    mix.pattern.align = Bytes(4096);
    let mut streams = load(8192, 50, Access::Sequential);
    (streams.pattern.streams, streams.pattern.stride) = (3, Bytes(16_384));
    let mut half = load(4096, 50, Access::Zipf);
    half.pattern.random = Percent::of(50);
    let mut synced = load(4096, 0, Access::Random);
    synced.fsync_every = 7;
    let mut dsync = load(4096, 0, Access::Random);
    dsync.dsync = true;
    let mut trimmed = load(4096, 20, Access::Random);
    trimmed.trim = Percent::of(10);
    let plain =
        [Access::Random, Access::Permutation, Access::Zipf, Access::Pareto, Access::HotSpot];
    let mut all: Vec<(Work, u64)> =
        plain.into_iter().map(|access| (load(4096, 0, access), 4096)).collect();
    all.extend([
        (mix, 4096),
        (streams, 8192),
        (half, 4096),
        (synced, 4096),
        (dsync, 4096),
        (trimmed, 4096),
        (load(4096, 0, Access::Sequential), 4096),
        (load(4096, 30, Access::Sequential), 4096),
    ]);
    all.push((load(65_536, 20, Access::Random), 65_536));
    all
}

#[test]
fn after_a_crash_at_any_instant_nothing_is_missed_where_nothing_is_missing() {
    let folder = tempfile::tempdir().expect("a directory");
    for (shape, (work, grain)) in shapes().into_iter().enumerate() {
        for seed in 0..6 {
            let works = [prepare(), work.clone(), work.clone()];
            let host = host_plan(folder.path(), &works, 1 + shape as u32 % 2, grain);
            let (record, disk) = crashed(&host, seed, seed % 2 == 1);
            save(&host, &disk.cache);
            let audit = looked(&record, Basis::Completed);
            assert!(audit.is_clean(), "shape {shape}, seed {seed}: {:?}", audit.findings);
            assert!(
                audit.acknowledged_writes > 1000 / (grain / 4096),
                "{}",
                audit.acknowledged_writes
            );
            let blocks: u64 = audit.files.iter().map(|file| file.good).sum();
            assert_eq!(
                blocks,
                host.files().count() as u64 * FILE / grain,
                "everything was prepared"
            );
            save(&host, &disk.platter);
            let audit = looked(&record, Basis::Durable);
            assert!(audit.is_clean(), "durable, shape {shape}, seed {seed}: {:?}", audit.findings);
        }
    }
}

#[test]
fn what_was_not_durable_is_missed_after_a_power_cut_only_if_completed_is_asked_for() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut synced = load(4096, 0, Access::Random);
    synced.fsync_every = 50;
    let host = host_plan(folder.path(), &[prepare(), synced], 1, 4096);
    let mut first = None;
    // Where a sync followed the last record before the plug was pulled, nothing is missing either
    // way.
    for seed in 0..20 {
        let (record, disk) = crashed(&host, seed, false);
        save(&host, &disk.platter);
        let (durable, completed) =
            (looked(&record, Basis::Durable), looked(&record, Basis::Completed));
        assert!(durable.is_clean(), "seed {seed}: {:?}", durable.findings);
        assert!(
            durable.acknowledged_writes > 400
                && durable.acknowledged_writes < completed.acknowledged_writes
        );
        let [_, rest @ ..] = completed.damaged();
        assert_eq!(rest, [0; 4], "what is missing is missing as a whole");
        first = first.or(completed.findings.into_iter().next());
    }
    let first = first.expect("some acknowledged write was never made durable");
    assert!(
        first.acknowledged.as_deref().is_some_and(|told| told.contains("in stage 1 (measure)")),
        "{first:?}"
    );
}

/// With one request at a time, the record knows exactly what stands where: any block that is put
/// back to an earlier state is found.
#[test]
fn every_acknowledged_write_that_is_taken_back_is_found_where_none_overtook_it() {
    let folder = tempfile::tempdir().expect("a directory");
    let host = host_plan(folder.path(), &[prepare(), load(4096, 0, Access::Permutation)], 1, 4096);
    let (mut record, disk) = crashed(&host, 9, false);
    save(&host, &disk.cache);
    assert!(looked(&record, Basis::Completed).is_clean());
    let mut only_prepared = record.clone();
    only_prepared.stages.truncate(1);
    // As if nothing had ever been written after the first stage.
    let (_, old) = crashed(&host_plan(folder.path(), &[prepare()], 1, 4096), 9, false);
    save(&host, &old.cache);
    assert!(looked(&only_prepared, Basis::Completed).is_clean());
    let audit = looked(&record, Basis::Completed);
    let [lost, rest @ ..] = audit.damaged();
    assert!(
        lost >= 120 && rest == [0; 4],
        "nearly every block was written again: {:?}",
        audit.damaged()
    );
    assert_eq!(audit.findings.len(), 16, "the first are told, all are counted");
    assert!(audit.findings.is_sorted_by_key(|finding| finding.offset));
    // A mark that contradicts itself is no reason to panic.
    let mark = record.stages[1].samples_mut()[0].workers[0].mark.as_mut().expect("a mark");
    mark.completed = u32::MAX;
    assert!(matches!(audit_error(&record, &ALL), AuditError::RunFile(_)));
}

fn audit_ok(record: &Record, options: &AuditOptions<'_>) -> Audit {
    look(record, options, &Progress::default(), &mut |_| {}).expect("data to look at")
}

fn audit_error(record: &Record, options: &AuditOptions<'_>) -> AuditError {
    look(record, options, &Progress::default(), &mut |_| {}).expect_err("refused")
}

#[test]
fn each_kind_of_damage_is_told_with_its_place() {
    let folder = tempfile::tempdir().expect("a directory");
    let host = host_plan(folder.path(), &[prepare(), load(8192, 0, Access::Permutation)], 1, 8192);
    let (record, disk) = crashed(&host, 4, false);
    let (_, old) = crashed(&host_plan(folder.path(), &[prepare()], 1, 8192), 4, false);
    let block = |number: usize| number * 8192..(number + 1) * 8192;
    // Blocks that were written again, and are not under way at the end: the marks say so.
    save(&host, &old.cache);
    let written = looked(&record, Basis::Completed);
    let places: Vec<usize> =
        written.findings.iter().map(|finding| finding.offset as usize / 8192).collect();
    let [one, two, three, four, five] = places[..5] else { panic!("{places:?}") };

    let mut file = disk.cache[0].clone();
    file[block(one)][700] ^= 1;
    file[block(two)].copy_from_slice(&old.cache[0][block(two)]);
    file[block(three)][..4096].copy_from_slice(&old.cache[0][block(three)][..4096]);
    file[block(four)].fill(0);
    let other = disk.cache[0][block(one)].to_vec();
    file[block(five)].copy_from_slice(&other);
    file.truncate(FILE as usize - 8192);
    save(&host, &[file]);
    let audit = looked(&record, Basis::Completed);
    let told: Vec<(DamageKind, u64)> =
        audit.findings.iter().map(|finding| (finding.kind, finding.offset)).collect();
    let at = |number: usize, within: u64| number as u64 * 8192 + within;
    let mut expected = vec![
        (DamageKind::Corrupt, at(one, 512)),
        (DamageKind::Lost, at(two, 0)),
        (DamageKind::Torn, at(three, 0)),
        (DamageKind::Lost, at(four, 0)),
        (DamageKind::Misdirected, at(five, 0)),
        (DamageKind::Unreadable, FILE - 8192),
    ];
    expected.sort_by_key(|(_, offset)| *offset);
    assert_eq!(told, expected, "{:#?}", audit.findings);
    assert_eq!(audit.damaged(), [2, 1, 1, 1, 1]);
    let few = audit_ok(&record, &AuditOptions { kept: 5, ..ALL });
    let kinds: std::collections::BTreeSet<&str> =
        few.findings.iter().map(|finding| finding.kind.word()).collect();
    assert_eq!(
        (few.findings.len(), kinds.len()),
        (5, 5),
        "one of each kind before two of one: {:?}",
        few.findings
    );
    let zeros = audit.findings.iter().find(|finding| finding.offset == at(four, 0)).expect("told");
    assert_eq!(zeros.found, "zeros");
    assert_eq!(audit.files[0].good, FILE / 8192 - 6);
}

#[test]
fn a_layout_that_does_not_fit_at_once_is_gone_through_piece_by_piece() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut host = host_plan(folder.path(), &[prepare(), load(4096, 0, Access::Random)], 2, 4096);
    let (record, mut disk) = crashed(&host, 5, false);
    disk.cache[1][8192] ^= 1;
    save(&host, &disk.cache);
    let whole = looked(&record, Basis::Completed);
    let places = places::open(&host, &[], &Progress::default()).expect("there");
    let (mut replayed, mut read) = (0, (0, 0));
    let pieces = audit_places(
        &record,
        &host,
        &places,
        &ALL,
        1,
        Observers {
            progress: &Progress::default(),
            tick: &mut |step| match step {
                AuditStep::Replayed(requests) => replayed = requests,
                AuditStep::Read(bytes, total) => read = (bytes, total),
            },
        },
    );
    assert_eq!(pieces.expect("looked at"), whole);
    assert!(replayed > 0);
    assert_eq!(read, (2 * FILE, 2 * FILE));

    let files = [
        TargetFile { path: "a".into(), size: Bytes(5 << 20) },
        TargetFile { path: "b".into(), size: Bytes(1) },
    ];
    let files: Vec<&TargetFile> = files.iter().collect();
    let expected = [vec![(0, 0, 512)], vec![(0, 512, 512)], vec![(0, 1024, 256), (1, 0, 1)]];
    assert_eq!(batches(&files, 4096, 512), expected);
    // A run that is not checked says so.
    host.engine.contents.verify = false;
    let record = Record::new(plan(&host), Vec::new(), String::new(), 0);
    assert!(matches!(audit_error(&record, &ALL), AuditError::Usage(_)));
}

#[test]
fn data_that_moved_are_found_where_they_are_said_to_be_and_other_runs_are_not_taken_for_ours() {
    let folder = tempfile::tempdir().expect("a directory");
    let (there, here) = (folder.path().join("there"), folder.path().join("here"));
    for place in [&there, &here] {
        std::fs::create_dir(place).expect("a directory");
    }
    let host = host_plan(&there, &[prepare(), load(4096, 0, Access::Random)], 2, 4096);
    let (record, disk) = crashed(&host, 6, false);
    save(&host, &disk.cache);
    for file in ["data-00000.bin", "data-00001.bin"] {
        std::fs::rename(there.join(file), here.join(file)).expect("moves");
    }
    let moved = [here.to_str().expect("UTF-8").to_owned()];
    let options = AuditOptions { targets: &moved, host: Some("h"), ..ALL };
    let audit = audit_ok(&record, &options);
    assert!(audit.is_clean() && audit.files[1].path.starts_with(&moved[0]));
    let gone = audit_error(&record, &AuditOptions { targets: &[], ..options });
    assert!(gone.to_string().contains("--target"), "{gone}");
    let two = [moved[0].clone(), moved[0].clone()];
    for wrong in
        [AuditOptions { host: Some("x"), ..options }, AuditOptions { targets: &two, ..options }]
    {
        assert!(matches!(audit_error(&record, &wrong), AuditError::Usage(_)));
    }

    let marker = r#"{"made_by":"plimsoll","run_id":"another","pid":1,"made_directory":true}"#;
    std::fs::write(here.join(model::testbed::MARKER), marker).expect("writes");
    let other = audit_error(&record, &options);
    assert!(other.to_string().contains("another run, another"), "{other}");
}

/// The runs of two scenarios as one, each on a layout of its own: `numbers` are those that the
/// stages of each have in it, and nothing from stage `until` on has begun.
fn joined(runs: [(&HostPlan, &Record); 2], numbers: [[u32; 2]; 2], until: u32) -> Record {
    let mut whole = HostPlan { targets: Vec::new(), stages: Vec::new(), ..runs[0].0.clone() };
    let mut recorded = Vec::new();
    for (place, ((plan, record), numbers)) in runs.into_iter().zip(numbers).enumerate() {
        whole.targets.extend(plan.targets.iter().cloned());
        for (stage, number) in plan.stages.iter().zip(numbers) {
            let mut stage = HostStage { stage: number, ..stage.clone() };
            let extents = stage.workers.iter_mut().flat_map(|worker| &mut worker.extents);
            extents.for_each(|extent| extent.file += place as u32);
            whole.stages.push(stage);
        }
        for (stage, number) in
            record.stages.iter().zip(numbers).filter(|(_, number)| *number < until)
        {
            let mut stage = stage.clone();
            stage.stage = number;
            stage.samples_mut().iter_mut().for_each(|sample| sample.stage = number);
            recorded.push(stage);
        }
        let targets = place as u32..place as u32 + 1;
        let engine = plan.engine.clone();
        whole.parts.push(model::plan::Part {
            stages: numbers.to_vec(),
            targets,
            trees: 0..0,
            engine,
        });
    }
    whole.stages.sort_by_key(|stage| stage.stage);
    recorded.sort_by_key(|stage| stage.stage);
    let mut record = Record::new(plan(&whole), Vec::new(), String::new(), 0);
    record.stages = recorded;
    record
}

#[test]
fn of_several_layouts_those_that_stood_when_the_record_ended_are_looked_at() {
    let folder = tempfile::tempdir().expect("a directory");
    let works = [prepare(), load(4096, 0, Access::Random)];
    let hosts = ["a", "b"].map(|name| {
        let root = folder.path().join(name);
        std::fs::create_dir(&root).expect("a directory");
        host_plan(&root, &works, 1, 4096)
    });
    let runs = [crashed(&hosts[0], 8, false), crashed(&hosts[1], 9, false)];
    for (host, (_, disk)) in hosts.iter().zip(&runs) {
        save(host, &disk.cache);
    }
    let both = [(&hosts[0], &runs[0].0), (&hosts[1], &runs[1].0)];
    let paths =
        |audit: &Audit| audit.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    let alone = [looked(&runs[0].0, Basis::Completed), looked(&runs[1].0, Basis::Completed)];
    let gone = |audit: &Audit| {
        audit.notes.iter().filter(|note| note.contains("not checked")).cloned().collect::<Vec<_>>()
    };

    // One after the other: the first was removed, or the second not yet begun.
    let (first, second) = ([0, 1], [2, 3]);
    for (until, stands, why) in [(4, &alone[1], "removed"), (2, &alone[0], "not yet laid out")] {
        let audit = looked(&joined(both, [first, second], until), Basis::Completed);
        let expected = (paths(stands), stands.acknowledged_writes);
        assert_eq!((paths(&audit), audit.acknowledged_writes), expected);
        assert!(audit.is_clean() && gone(&audit)[0].contains(why), "{audit:?}");
    }

    // Side by side, and killed in the last stage of the first: both stand, and damage to the second
    // is found.
    let side = joined(both, [[0, 2], [1, 3]], 3);
    let whole = looked(&side, Basis::Completed);
    assert_eq!(paths(&whole), [paths(&alone[0]), paths(&alone[1])].concat());
    assert!(whole.is_clean() && gone(&whole).is_empty(), "{whole:?}");
    std::fs::write(&alone[1].files[0].path, vec![7; FILE as usize]).expect("writes");
    assert!(!looked(&side, Basis::Completed).is_clean());
    let moved = [folder.path().to_str().expect("UTF-8").to_owned()];
    let few = audit_error(&side, &AuditOptions { targets: &moved, ..ALL }).to_string();
    assert!(few.contains("the layouts that stand have 2 targets"), "{few}");
}
