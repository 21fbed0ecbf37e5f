//! Runs to write down.

use analysis::testing::Recorded;
use model::counters::{Entry, Layer, Metric};
use model::event::{Event, Flush, HostEnd, Note, RunEnd, StageEnd};
use model::note::{Degraded, Fact};
use model::{CounterSample, Occurrence, OccurrenceKind, Op, Record, StageKind};
use std::path::{Path, PathBuf};
use store::Writer;
use tempfile::TempDir;

const SUITE: &str = "[layout]\nsize = \"8MiB\"\nfiles = 2\n[stages]\nmeasure = \
                     \"5s\"\n[[workload]]\nname = \"mix\"\ngroup = \"g\"\nread = \
                     \"70%\"\n[[workload]]\nname = \"log\"\ngroup = \"g\"\n[sweep]\ndepth = [1, \
                     8]\n";

/// A run with all that a run can have: two hosts, errors, an interval without a completion, raw
/// latencies, notes, a failed end.
pub fn eventful() -> Record {
    let mut recorded = Recorded::with_hosts(SUITE, 2);
    recorded.prepare();
    let stage = recorded.stage(StageKind::Measure);
    for host in 0..2 {
        recorded.host_interval(
            stage,
            host,
            0,
            &[(Op::Read, &[100_000; 70]), (Op::Write, &[u64::from(host) + 900_000; 30])],
        );
        recorded.host_interval(stage, host, 1, &[]);
        recorded.host_interval(stage, host, 2, &[(Op::Read, &[3_000_000_000])]);
    }
    recorded.fail(stage, 0, Op::Write, 28, 3);
    recorded.fail(stage, 0, Op::Write, 0, 1);
    recorded.note(Note {
        stage: None,
        host: 0,
        fact: Fact::DirectRefused { path: "it's \"tmpfs\"".into() },
    });
    recorded.note(Note {
        stage: Some(stage),
        host: 1,
        fact: Fact::EngineDegraded(Degraded::OneAfterTheOther),
    });
    let record = recorded.record_mut();
    record.stages[1].samples_mut().sort_by_key(|sample| (sample.interval, sample.host));
    record.stages[0].samples_mut().sort_by_key(|sample| (sample.interval, sample.host));
    record.stages[1].samples_mut()[0].ops[0].raw_latencies = vec![1, u64::MAX, 3];
    *record.stages[1].counters_mut() = vec![counters(stage, 0), counters(stage, 1)];
    let mark = Occurrence {
        stage: Some(stage),
        at_ns: 7,
        host: Some(1),
        ..Occurrence::new(OccurrenceKind::Mark, "it's")
    };
    record.apply(Event::Happened(Box::new(Occurrence {
        status: Some(-1),
        duration_ns: Some(5),
        ..mark
    })));
    let flush = |target: &str, took_ns, ended| Flush {
        target: target.to_owned(),
        at_ns: 3_000_000_000,
        took_ns,
        ended,
        errno: if ended { 0 } else { 5 },
    };
    record.apply(Event::HostEnded(Box::new(HostEnd {
        stage,
        host: 1,
        flushes: vec![flush("/mnt/\u{e4}", 12_000_000, true), flush("/dev/x", 45_000, false)],
        ..HostEnd::default()
    })));
    record.apply(Event::StageEnded { stage, end: StageEnd::Failed("gone".to_owned()) });
    record.apply(Event::RunEnded {
        unix_ns: 1_800_000_000_000_000_000,
        end: RunEnd::Failed("gone".to_owned()),
    });
    recorded.record()
}

/// A sweep of a mix over two depths, each measured twice, on two hosts that do 5 writes a second at
/// each point, and 10, 20, 30, 40 reads.
pub fn swept() -> Record {
    let suite = "[layout]\nsize = \"8MiB\"\n[[workload]]\nname = \"mix\"\nread = \
                 \"70%\"\n[sweep]\ndepth = [1, 8]\nrepetitions = 2\n";
    let mut recorded = Recorded::with_hosts(suite, 2);
    let stages = recorded.record().plan.stages.clone();
    let measured = (0..)
        .zip(&stages)
        .filter(|(_, stage)| stage.kind == StageKind::Measure)
        .map(|(number, _)| number);
    for (stage, reads) in measured.zip([10, 20, 30, 40]) {
        for host in 0..2 {
            recorded.host_interval(
                stage,
                host,
                0,
                &[(Op::Read, &vec![100_000; reads]), (Op::Write, &[900_000; 5])],
            );
        }
    }
    recorded.end()
}

/// Counters of a disk and a CPU.
pub fn counters(stage: u32, number: u32) -> CounterSample {
    let disk = [
        (Metric::Reads, 5 + u64::from(number)),
        (Metric::ReadBytes, 20_480),
        (Metric::InFlight, 3),
    ];
    CounterSample {
        stage,
        host: 1,
        number,
        start_ns: u64::from(number) * 1_000_000_000,
        length_ns: 1_000_000_000,
        entries: vec![
            Entry::new(Layer::Cpu, "0", &[(Metric::UserNs, 700)]),
            Entry::new(Layer::Block, "nvme0n1", &disk),
        ],
        notes: vec!["it's \"gone\"".to_owned()],
    }
}

/// The events of which a record is made.
pub fn events(record: &Record) -> Vec<Event> {
    let mut events: Vec<Event> = record.notes.iter().cloned().map(Event::Note).collect();
    events.extend(record.occurrences.iter().map(|one| Event::Happened(Box::new(one.clone()))));
    for stage in &record.stages {
        events.push(Event::StageStarted { stage: stage.stage, unix_ns: stage.started_unix_ns });
        events.extend(stage.samples().iter().cloned().map(Event::Sample));
        events.extend(
            stage.counters().iter().cloned().map(|sample| Event::Counters(Box::new(sample))),
        );
        events.extend(stage.ends.iter().cloned().map(|end| Event::HostEnded(Box::new(end))));
        events.extend(stage.end.clone().map(|end| Event::StageEnded { stage: stage.stage, end }));
    }
    events.extend(record.end.clone().map(|(unix_ns, end)| Event::RunEnded { unix_ns, end }));
    events
}

/// A folder, and where a run file stands in it.
pub fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    (folder, path)
}

/// The writer of a fresh run file.
pub fn create(path: &Path, record: &Record) -> Writer {
    Writer::create(path, &record.plan, &record.testbed, &record.version, record.started_unix_ns)
        .expect("a new file")
}

/// Writes a whole record, as a run would.
pub fn write(path: &Path, record: &Record) {
    let mut writer = create(path, record);
    events(record).iter().for_each(|event| writer.append(event).expect("room"));
    writer.finish().expect("room");
}
