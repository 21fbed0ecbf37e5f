//! The sums of a file beside the samples that they are of: equal to the bit, whatever happened to the run.

use crate::summed::read_digests;
use crate::{Writer, read};
use analysis::testing::Recorded;
use model::event::{Event, Note, NoteKind, RunEnd, StageEnd};
use model::histogram::Histogram;
use model::occurrence::{Occurrence, OccurrenceKind};
use model::sample::{IntervalSample, OpSample, Phase, WorkerOp, WorkerSample};
use model::{Op, Record};
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

const HOSTS: u32 = 3;
/// Two works at a time, and then, for stages that settle, one.
const SUITES: [&str; 2] = [
    "[[workload]]\nname = \"w\"\ngroup = \"g\"\nread = \"50%\"\n[[workload]]\nname = \"x\"\ngroup = \"g\"\n[stages]\nprecondition = \"4s\"\n",
    "[stages]\nuntil = \"steady\"\nmeasure = \"20s\"\n[[workload]]\nname = \"w\"\n",
];

/// What becomes of a run.
#[derive(Clone, Debug)]
struct Course {
    suite: usize,
    /// How far each host is behind the others, in intervals.
    behind: [u32; 3],
    /// Intervals of the stages.
    intervals: u32,
    /// A host that is lost at an interval.
    lost: Option<(u32, u32)>,
    is_settled: bool,
    has_happened: bool,
    /// The first interval.
    from: u32,
    /// Samples and operations of a block.
    least: usize,
    /// Events of a transaction.
    together: usize,
    /// After so many events, the writer is killed.
    killed: Option<usize>,
    seed: u64,
}

fn any_course() -> impl Strategy<Value = Course> {
    let hosts = (prop::array::uniform3(0u32..6), prop::option::of((0..HOSTS, 0u32..40)));
    let stage = (0..SUITES.len(), 1u32..40, any::<bool>(), any::<bool>(), prop_oneof![Just(0u32), 0u32..300_000]);
    let file = (1usize..120, 1usize..9, prop::option::of(0usize..250), any::<u64>());
    (hosts, stage, file).prop_map(|((behind, lost), stage, (least, together, killed, seed))| {
        let (suite, intervals, is_settled, has_happened, from) = stage;
        Course { suite, behind, intervals, lost, is_settled, has_happened, from, least, together, killed, seed }
    })
}

fn latencies(rng: &mut model::rng::Rng) -> Histogram {
    let mut histogram = Histogram::new();
    for _ in 0..rng.below(30) {
        let scale = 10 + rng.below(20);
        histogram.record(rng.below(1 << scale));
    }
    histogram
}

fn sample(rng: &mut model::rng::Rng, works: u32, place: (u32, u32, u32), phase: Phase) -> IntervalSample {
    let (stage, host, interval) = place;
    let mut ops = Vec::new();
    for work in 0..works {
        for op in [Op::Read, Op::Write, Op::Fsync].into_iter().filter(|_| rng.below(3) > 0).collect::<Vec<_>>() {
            let latency = latencies(rng);
            let errors = if rng.below(5) == 0 { vec![(5, 1 + rng.below(9)), (0, 2)] } else { Vec::new() };
            let (ios, latency) = (latency.count(), latency.encode());
            ops.push(OpSample { work, op, ios, bytes: ios * 512, errors, latency, raw_latencies: Vec::new() });
        }
    }
    let worker = |(worker, share): (u32, u64)| WorkerSample {
        worker,
        cpu_user_ns: share,
        cpu_system_ns: share * 3,
        ops: ops.iter().map(|op| WorkerOp { op: op.op, ios: op.ios + share, bytes: 0, errors: 0 }).collect(),
        mark: None,
    };
    // The second one may be none of the plan's.
    let workers = vec![(0, rng.below(1_000)), (1, rng.below(10))];
    let workers = workers.into_iter().filter(|(number, _)| *number == 0 || interval % 3 > 0).map(worker).collect();
    let (start_ns, length_ns) = (u64::from(interval) * 1_000_000_000 + rng.below(90), 1_000_000_000 - rng.below(90));
    IntervalSample { stage, host, interval, start_ns, length_ns, phase, ops, workers }
}

/// The events of a run, in an order in which hosts could tell them.
fn events(course: &Course, record: &Record) -> Vec<Event> {
    let mut rng = model::rng::Rng::new(course.seed);
    let mut events = Vec::new();
    for (stage, planned) in (0u32..).zip(&record.plan.stages) {
        events.push(Event::StageStarted { stage, unix_ns: 1 });
        let works = planned.works.len() as u32;
        let last = course.intervals + 6;
        for tick in 0..=last + 6 {
            for host in 0..HOSTS {
                let Some(interval) = tick.checked_sub(course.behind[host as usize]) else { continue };
                let is_lost = course.lost.is_some_and(|(lost, at)| lost == host && interval >= at);
                // Some intervals never came, and the last one is what came back later.
                if interval > last || is_lost || (interval < last && rng.below(12) == 0) {
                    continue;
                }
                let phase = match last - interval {
                    0 => Phase::Drain,
                    1 | 2 => Phase::Tail,
                    _ => Phase::Load,
                };
                let interval = interval + course.from;
                events.push(Event::Sample(sample(&mut rng, works, (stage, host, interval), phase)));
            }
        }
        if let Some((host, _)) = course.lost.filter(|_| stage == 1) {
            events.push(Event::Note(Note {
                stage: Some(stage),
                host,
                kind: NoteKind::HostLost,
                detail: String::new(),
            }));
        }
        if course.is_settled {
            events.push(Event::Note(Note {
                stage: Some(stage),
                host: 0,
                kind: NoteKind::Settled,
                detail: String::new(),
            }));
        }
        if course.has_happened {
            events.push(Event::Happened(Box::new(mark(stage))));
        }
        events.push(Event::StageEnded { stage, end: StageEnd::Complete });
    }
    events.push(Event::RunEnded { unix_ns: 9, end: RunEnd::Complete });
    events
}

fn mark(stage: u32) -> Occurrence {
    Occurrence {
        kind: OccurrenceKind::Mark,
        stage: Some(stage),
        at_ns: 5,
        unix_ns: 5,
        host: None,
        label: "something".to_owned(),
        detail: String::new(),
        status: None,
        duration_ns: None,
    }
}

/// Writes the file of a run; how many blocks of sums it has comes back with it.
fn write(course: &Course, folder: &Path) -> (PathBuf, i64) {
    let record = Recorded::with_hosts(SUITES[course.suite], HOSTS as usize).record();
    let path = folder.join("run.plimsoll");
    let writer = Writer::create(&path, &record.plan, &record.testbed, "test", 0).expect("room");
    let mut writer = writer.with_blocks_of(course.least);
    let events = events(course, &record);
    let events = &events[..course.killed.unwrap_or(usize::MAX).min(events.len())];
    for together in events.chunks(course.together) {
        writer.append_all(together).expect("room");
    }
    if course.killed.is_none() {
        writer.finish().expect("room");
    }
    let blocks = Connection::open(&path).and_then(|file| file.query_row("SELECT count(*) FROM sums", [], |r| r.get(0)));
    (path, blocks.expect("a run file"))
}

/// Says in which stage the sums of a file are not those of its samples.
fn differing(path: &Path) -> Vec<u32> {
    let (whole, summed) = (read(path).expect("a run file"), read_digests(path).expect("a run file"));
    assert_eq!(whole.stages.len(), summed.stages.len());
    let stages = whole.stages.iter().zip(&summed.stages);
    let differ = stages.filter(|(held, stage)| stage.digest.as_deref() != Some(&*held.digest(&whole)));
    differ.map(|(held, _)| held.stage).collect()
}

fn change(path: &Path, sql: &str) {
    Connection::open(path).and_then(|connection| connection.execute_batch(sql)).expect("a changed file");
}

fn plain() -> Course {
    Course {
        suite: 0,
        behind: [0, 1, 3],
        intervals: 30,
        lost: None,
        is_settled: false,
        has_happened: true,
        from: 0,
        least: 40,
        together: 3,
        killed: None,
        seed: 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn sums_are_those_of_the_samples_to_the_bit(course in any_course()) {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, blocks) = write(&course, folder.path());
        prop_assert_eq!(differing(&path), Vec::<u32>::new(), "{} blocks", blocks);
        change(&path, "DELETE FROM sums");
        prop_assert_eq!(differing(&path), Vec::<u32>::new(), "from the samples");
    }
}

#[test]
fn what_sums_stand_for_is_not_read_from_the_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, blocks) = write(&plain(), folder.path());
    assert!(blocks > 10, "{blocks} blocks");
    change(&path, "UPDATE samples SET bytes = bytes + 1");
    assert_eq!(differing(&path).len(), read(&path).expect("a run file").stages.len());
    change(&path, "DELETE FROM sums");
    assert_eq!(differing(&path), [0u32; 0]);
}

#[test]
fn a_file_without_the_tables_is_read_as_ever() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, _) = write(&plain(), folder.path());
    change(&path, "DROP TABLE sums; DROP TABLE stage_sums");
    assert_eq!(differing(&path), [0u32; 0]);
}

#[test]
fn a_short_run_has_no_sums() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, blocks) = write(&Course { least: 65_536, ..plain() }, folder.path());
    assert_eq!((blocks, differing(&path)), (0, Vec::new()));
}

#[test]
fn a_host_that_goes_back_takes_all_sums_away() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    let record = Recorded::with_hosts(SUITES[0], HOSTS as usize).record();
    let writer = Writer::create(&path, &record.plan, &record.testbed, "test", 0).expect("room");
    let mut writer = writer.with_blocks_of(1);
    let stage = (0..).zip(&record.plan.stages).find(|(_, planned)| planned.works.len() == 2).expect("a group").0;
    let mut rng = model::rng::Rng::new(3);
    let blocks = |path: &Path| {
        let file = Connection::open(path).expect("a run file");
        file.query_row("SELECT count(*) FROM stage_sums", [], |row| row.get::<_, i64>(0)).expect("a run file")
    };
    writer.append(&Event::StageStarted { stage, unix_ns: 1 }).expect("room");
    for interval in [5, 6, 8] {
        writer.append(&Event::Sample(sample(&mut rng, 2, (stage, 0, interval), Phase::Load))).expect("room");
    }
    assert_eq!(blocks(&path), 3);
    for interval in [7, 9, 10] {
        writer.append(&Event::Sample(sample(&mut rng, 2, (stage, 0, interval), Phase::Load))).expect("room");
        assert_eq!(blocks(&path), 0);
    }
    assert_eq!(differing(&path), [0u32; 0]);
}

#[test]
fn a_sample_that_could_not_be_written_takes_all_sums_away_with_the_next_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    let record = Recorded::with_hosts(SUITES[0], HOSTS as usize).record();
    let writer = Writer::create(&path, &record.plan, &record.testbed, "test", 0).expect("room");
    let mut writer = writer.with_blocks_of(1);
    let stage = (0..).zip(&record.plan.stages).find(|(_, planned)| planned.works.len() == 2).expect("a group").0;
    let mut rng = model::rng::Rng::new(3);
    writer.append(&Event::StageStarted { stage, unix_ns: 1 }).expect("room");
    let first = Event::Sample(sample(&mut rng, 2, (stage, 0, 1), Phase::Load));
    writer.append(&first).expect("room");
    let second = Event::Sample(sample(&mut rng, 2, (stage, 0, 2), Phase::Load));
    writer.append_all(&[second.clone(), first]).expect_err("it is there already");
    assert_eq!(differing(&path), [0u32; 0]);
    writer.append(&second).expect("room");
    assert_eq!(differing(&path), [0u32; 0]);
}

#[test]
fn sums_that_cannot_be_are_refused() {
    for (sql, says) in [
        ("UPDATE sums SET samples = samples + 1 WHERE block = (SELECT max(block) FROM sums)", "more samples"),
        ("UPDATE sums SET samples = 0 WHERE block = 2", "follow one another"),
        ("DELETE FROM stage_sums WHERE block = 2", "missing"),
        ("UPDATE stage_sums SET stage = 77 WHERE block = 2", "never began"),
        ("UPDATE stage_sums SET sums = x'01' WHERE block = 2", "are none"),
        ("UPDATE stage_sums SET spans = x'' WHERE block = 2", "are none"),
        ("UPDATE stage_sums SET times = 'words' WHERE block = 2", "are none"),
        ("UPDATE stage_sums SET spans = (SELECT spans FROM stage_sums WHERE block = 2) WHERE block = 3", "are none"),
        ("INSERT INTO stage_sums SELECT * FROM stage_sums WHERE block = 1", ""),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, _) = write(&plain(), folder.path());
        change(&path, sql);
        match read_digests(&path) {
            Err(error) => assert!(!says.is_empty() && error.to_string().contains(says), "{sql}: {error}"),
            // Rows of a block that has gone by are nobody's.
            Ok(_) => assert_eq!((says, differing(&path)), ("", Vec::new()), "{sql}"),
        }
    }
}
