//! Runs and files that nobody thought of.

use crate::common::{create, eventful, events, fresh, write};
use model::counters::{Entry, Layer, Metric};
use model::event::{Event, Note, RunEnd, StageEnd};
use model::histogram::Histogram;
use model::note::{Degraded, Fact, SystemError};
use model::occurrence::{MOST_DETAIL_BYTES, Occurrence, OccurrenceKind, last_lines};
use model::sample::{IntervalSample, OpSample, Phase, WorkerOp, WorkerSample};
use model::{CounterSample, Op, Record, WriteMark};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Any count that fits into a run: the reader refuses what cannot be added up.
const COUNT: std::ops::Range<u64> = 0..1 << 40;

fn any_op(work: u32, op: Op) -> impl Strategy<Value = OpSample> {
    let latencies = prop::collection::vec(any::<u64>().prop_map(|ns| ns >> (ns % 64)), 0..20);
    // Each errno once, as an engine counts them.
    let errors = prop::collection::btree_map(any::<i32>(), COUNT, 0..4);
    (latencies, COUNT, errors, any::<bool>()).prop_map(move |(latencies, bytes, errors, raw)| {
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|ns| histogram.record(*ns));
        OpSample {
            work,
            op,
            ios: latencies.len() as u64,
            bytes,
            errors: errors.into_iter().collect(),
            latency: histogram.encode(),
            raw_latencies: if raw { latencies } else { Vec::new() },
        }
    })
}

fn any_ops(works: u32) -> impl Strategy<Value = Vec<OpSample>> {
    // The plan's stages have two works, but for `prepare`, which has one.
    let all = (0..works).flat_map(|work| Op::EACH.map(|op| (work, op))).collect::<Vec<_>>();
    let most = all.len();
    subsequence(all, 0..=most)
        .prop_shuffle()
        .prop_flat_map(|ops| ops.into_iter().map(|(work, op)| any_op(work, op)).collect::<Vec<_>>())
}

fn any_worker_op(op: Op) -> impl Strategy<Value = WorkerOp> {
    (COUNT, COUNT, COUNT).prop_map(move |(ios, bytes, errors)| WorkerOp { op, ios, bytes, errors })
}

fn any_mark() -> impl Strategy<Value = WriteMark> {
    let counts = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let failed = prop::collection::vec(any::<u32>(), 0..3);
    (counts, failed, any::<bool>()).prop_map(
        |((base, sent, completed, durable, overtaken), failed, more_failed)| WriteMark {
            base,
            sent,
            completed,
            durable,
            overtaken,
            failed,
            more_failed,
        },
    )
}

fn any_workers() -> impl Strategy<Value = Vec<WorkerSample>> {
    let ops = subsequence(Op::EACH.to_vec(), 0..=Op::COUNT)
        .prop_flat_map(|ops| ops.into_iter().map(any_worker_op).collect::<Vec<_>>());
    // Numbers need not begin at 0 nor adjoin.
    let worker = (COUNT, COUNT, ops, prop::option::of(any_mark()));
    prop::collection::btree_map(any::<u32>(), worker, 0..4).prop_map(|workers| {
        let worker = |(worker, (cpu_user_ns, cpu_system_ns, ops, mark))| WorkerSample {
            worker,
            cpu_user_ns,
            cpu_system_ns,
            ops,
            mark,
        };
        workers.into_iter().map(worker).collect()
    })
}

/// Samples of a stage by interval, then host, as a record has them; any of them may be missing.
fn any_samples(stage: u32) -> impl Strategy<Value = Vec<IntervalSample>> {
    let works = eventful().plan.stages[stage as usize].works.len() as u32;
    let sample = (
        COUNT,
        COUNT,
        select(vec![Phase::Load, Phase::Tail, Phase::Drain]),
        any_ops(works),
        any_workers(),
    );
    prop::collection::btree_map((any::<u32>(), 0..2u32), sample, 0..6).prop_map(move |samples| {
        let sample = |((interval, host), (start_ns, length_ns, phase, ops, workers))| {
            IntervalSample { stage, host, interval, start_ns, length_ns, phase, ops, workers }
        };
        samples.into_iter().map(sample).collect()
    })
}

/// Any counters, each thing once.
fn any_counters(stage: u32) -> impl Strategy<Value = Vec<CounterSample>> {
    let values = prop::collection::vec((select(Metric::ALL.to_vec()), 0..1u64 << 62), 1..4);
    let names = (0..Layer::ALL.len(), prop_oneof![any::<String>(), Just(String::new())]);
    let entries = prop::collection::btree_map(names, values, 0..5);
    let notes = prop::collection::vec(any::<String>(), 0..2);
    let sample = (0..2u32, any::<u32>(), COUNT, COUNT, entries, notes);
    let sample = sample.prop_map(move |(host, number, start_ns, length_ns, entries, notes)| {
        let entry = |((layer, name), values): ((usize, String), _)| Entry {
            layer: Layer::ALL[layer],
            name,
            values,
        };
        let entries = entries.into_iter().map(entry).collect();
        CounterSample { stage, host, number, start_ns, length_ns, entries, notes }
    });
    prop::collection::vec(sample, 0..4)
}

fn any_end() -> impl Strategy<Value = Option<StageEnd>> {
    let failed = any::<String>().prop_map(StageEnd::Failed);
    prop::option::of(prop_oneof![Just(StageEnd::Complete), Just(StageEnd::Interrupted), failed])
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let count = any::<u64>;
    let error = (any::<Option<i32>>(), any::<String>())
        .prop_map(|(errno, words)| SystemError { errno, words });
    prop_oneof![
        any::<String>().prop_map(|path| Fact::DirectRefused { path }),
        (any::<String>(), any::<String>()).prop_map(|(name, why)| Fact::HostLost { name, why }),
        error.prop_map(|error| Fact::EngineDegraded(Degraded::RegisteredFiles(error))),
        (count(), count(), any::<String>()).prop_map(|(skipped, of, rule)| Fact::PointsSkipped {
            skipped,
            of,
            rule
        }),
        (count(), prop::collection::vec(any::<String>(), 0..3)).prop_map(|(bytes, workloads)| {
            Fact::DeviceRead { bytes, stage: model::StageKind::Measure, workloads }
        }),
        (any::<String>(), any::<String>()).prop_map(|(name, why)| Fact::HostLost { name, why }),
    ]
}

fn any_note() -> impl Strategy<Value = Note> {
    (prop::option::of(0..2u32), 0..2u32, any_fact()).prop_map(|(stage, host, fact)| Note {
        stage,
        host,
        fact,
    })
}

fn any_occurrence() -> impl Strategy<Value = Occurrence> {
    let place = (
        select(OccurrenceKind::ALL.to_vec()),
        prop::option::of(0..2u32),
        prop::option::of(0..2u32),
    );
    let times = (0..1u64 << 62, 0..1u64 << 62, prop::option::of(0..1u64 << 62));
    (place, times, any::<String>(), any::<String>(), prop::option::of(any::<i32>())).prop_map(
        |((kind, stage, host), (at_ns, unix_ns, duration_ns), label, detail, status)| Occurrence {
            detail: last_lines(&detail, MOST_DETAIL_BYTES),
            stage,
            host,
            at_ns,
            unix_ns,
            status,
            duration_ns,
            ..Occurrence::new(kind, &label)
        },
    )
}

/// The write marks of a host, each with its stage, interval and worker.
fn marks(record: &Record, host: u32) -> Vec<(u32, u32, u32, WriteMark)> {
    let of = |sample: &IntervalSample| {
        let place = (sample.stage, sample.interval);
        let own = sample.workers.iter().filter_map(|own| Some((own.worker, own.mark.clone()?)));
        own.map(|(worker, mark)| (place.0, place.1, worker, mark)).collect::<Vec<_>>()
    };
    record.samples().filter(|sample| sample.host == host).flat_map(of).collect()
}

/// What may happen in the run of [`eventful`]'s plan, which has two hosts and several stages.
fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let stages = subsequence((0..eventful().plan.stages.len() as u32).collect::<Vec<_>>(), 0..=2);
    let stages = stages.prop_flat_map(|stages| {
        let one = |stage| {
            (Just(stage), 0..1u64 << 62, any_samples(stage), any_counters(stage), any_end())
        };
        stages.into_iter().map(one).collect::<Vec<_>>()
    });
    let end = prop_oneof![
        Just(RunEnd::Complete),
        Just(RunEnd::Interrupted),
        any::<String>().prop_map(RunEnd::Failed)
    ];
    let end = prop::option::of((0..1u64 << 62, end));
    let occurrences = prop::collection::vec(any_occurrence(), 0..4);
    (stages, prop::collection::vec(any_note(), 0..4), occurrences, end).prop_map(
        |(stages, notes, happened, end)| {
            let mut events: Vec<Event> = notes.into_iter().map(Event::Note).collect();
            events.extend(
                happened.into_iter().map(|occurrence| Event::Happened(Box::new(occurrence))),
            );
            for (stage, unix_ns, samples, counters, end) in stages {
                events.push(Event::StageStarted { stage, unix_ns });
                events.extend(samples.into_iter().map(Event::Sample));
                events.extend(counters.into_iter().map(|sample| Event::Counters(Box::new(sample))));
                events.extend(end.map(|end| Event::StageEnded { stage, end }));
            }
            events.extend(end.map(|(unix_ns, end)| Event::RunEnded { unix_ns, end }));
            events
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_file_holds_what_the_events_say(events in any_events(), finished in any::<bool>()) {
        let (_folder, path) = fresh();
        let base = eventful();
        let mut expected = Record::new(base.plan, base.testbed, base.version, base.started_unix_ns);
        let mut writer = create(&path, &expected);
        for event in events {
            writer.append(&event).expect("room");
            expected.apply(event);
        }
        if finished { writer.finish().expect("room") } else { drop(writer) }
        let record = store::read(&path);
        prop_assert_eq!(record.as_ref(), Ok(&expected));
        // Without its samples, the same comes of it to the bit.
        let digests = store::read_digests(&path).expect("a run file");
        for (stage, held) in digests.stages.iter().zip(&expected.stages) {
            let digest = stage.summed().expect("a digest");
            prop_assert_eq!(digest, &*held.digest(&expected));
        }
        // Whoever goes on with it gets all of it, write marks and single latencies included, and
        // whoever looks at one host's data gets that host's marks.
        let head = store::read_to_resume(&path).expect("a run file");
        let mut file = store::Stages::of(&path).expect("a run file");
        for held in &expected.stages {
            let mut samples = Vec::new();
            let handed = file.each(&head, held.stage, |event| {
                if let Event::Sample(sample) = event {
                    samples.push(sample);
                }
                Ok::<(), ()>(())
            });
            prop_assert!(handed.is_ok());
            samples.sort_by_key(|sample| (sample.interval, sample.host));
            prop_assert_eq!(samples.as_slice(), held.samples());
        }
        for host in 0..2 {
            let own = store::read_of_host(&path, host).expect("a run file");
            prop_assert_eq!(marks(&own, host), marks(&expected, host));
        }
    }

    #[test]
    fn damaged_bytes_never_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_folder, path) = fresh();
        write(&path, &eventful());
        let mut bytes = std::fs::read(&path).expect("a file");
        for (place, value) in flips {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&path, &bytes).expect("room");
        for record in [store::read(&path), store::read_digests(&path)].into_iter().flatten() {
            // What passes can be worked with.
            let rows = analysis::results(&record);
            prop_assert!(rows.len() < 1_000);
            analysis::issued(&record);
        }
    }

    #[test]
    fn a_damaged_journal_never_panics(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let (folder, path) = fresh();
        let mut writer = create(&path, &eventful());
        events(&eventful()).iter().for_each(|event| writer.append(event).expect("room"));
        let copy = folder.path().join("copy.plimsoll");
        std::fs::copy(&path, &copy).expect("a copy");
        let mut journal = std::fs::read(folder.path().join("run.plimsoll-wal")).expect("a journal");
        for (place, value) in flips {
            let place = place.index(journal.len());
            journal[place] = value;
        }
        std::fs::write(folder.path().join("copy.plimsoll-wal"), journal).expect("room");
        if let Ok(record) = store::read(&copy) {
            analysis::results(&record);
        }
    }
}
