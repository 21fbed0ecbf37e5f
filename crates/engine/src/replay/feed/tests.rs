use super::*;
use model::choices::Access;
use model::plan::Extent;
use model::trace::{Header, Mapping, TraceClock, Writer};
use model::units::{Bytes, Nanos, Percent};
use std::path::Path;

fn request(number: u64, op: Op, offset: u64, length: u32) -> trace::Request {
    trace::Request { at_ns: number * 1_000, op, offset, length, source: 0 }
}

/// A trace of these requests in a file, and the work that replays it on a target of 1 MiB.
fn work_of(path: &Path, requests: &[trace::Request]) -> Work {
    let header = Header {
        device: "x".into(),
        size_bytes: 0,
        sector_bytes: 0,
        clock: TraceClock::Foreign,
        taken_from: "test".into(),
        began_unix_ns: 0,
    };
    let mut writer = Writer::new(File::create(path).expect("a file"), &header).expect("written");
    let mut digest = SequenceDigest::default();
    for request in requests {
        writer.add(request).expect("written");
        digest.add(request.op, request.offset, request.length);
    }
    let (_, totals) = writer.finish(0, 0).expect("written");
    let stop = TraceWork::STOP;
    let mut work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 4, stop);
    work.trace = Some(TraceWork {
        in_flight: None,
        path: path.to_string_lossy().into_owned(),
        digest,
        requests: totals.requests,
        bytes: totals.bytes,
        flushes: false,
        length: Nanos(0),
        mapping: Mapping::SAME,
    });
    work
}

fn worker(turn: u32, of: u32) -> Worker {
    let extent = Extent { file: 3, offset: 0, length: 1 << 20 };
    Worker { turn: (turn, of), ..crate::common::worker(1, vec![extent]) }
}

/// All that a worker is handed; it never waits for the reader itself.
fn all(work: &Work, worker: &Worker) -> Result<Vec<Due>, EngineError> {
    let mut feed = Feed::start(work.trace.as_ref().expect("a trace"), work, worker)?;
    let mut all = Vec::new();
    while !feed.is_over() {
        match feed.next(u64::MAX) {
            Some(due) => all.push(due),
            None => thread::yield_now(),
        }
    }
    match feed.take_failure() {
        Some(error) => Err(error),
        None => {
            assert_eq!(feed.end().map(|(count, _)| count), Some(all.len() as u64));
            Ok(all)
        }
    }
}

#[test]
fn workers_take_turns_and_together_have_every_request_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let requests: Vec<_> =
        (0..20_011).map(|number| request(number, Op::Read, number % 250 * 4096, 4096)).collect();
    let work = work_of(&folder.path().join("x.trace"), &requests);
    let mut together: Vec<(u64, u64)> = Vec::new();
    for turn in 0..3 {
        let own = all(&work, &worker(turn, 3)).expect("good");
        assert!(own.iter().all(|due| due.is_exact && due.request.file == 3));
        together.extend(own.iter().map(|due| (due.at_ns, due.request.offset)));
    }
    together.sort_unstable();
    let wanted: Vec<_> = requests.iter().map(|one| (one.at_ns, one.offset)).collect();
    assert!(together == wanted);
}

#[test]
fn nothing_is_handed_out_before_it_is_due() {
    let folder = tempfile::tempdir().expect("a folder");
    let requests = [request(1, Op::Read, 0, 4096), request(5, Op::Read, 4096, 4096)];
    let work = work_of(&folder.path().join("x.trace"), &requests);
    let trace = work.trace.as_ref().expect("a trace");
    let mut feed = Feed::start(trace, &work, &worker(0, 1)).expect("good");
    assert!(feed.next(999).is_none() && !feed.is_over());
    assert_eq!((feed.due_ns(), feed.next(1_000).map(|due| due.at_ns)), (1_000, Some(1_000)));
    assert!(feed.next(4_999).is_none());
    assert_eq!((feed.due_ns(), feed.next(9_000).map(|due| due.at_ns)), (5_000, Some(5_000)));
}

#[test]
fn what_the_plan_does_not_permit_is_sent_to_no_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.trace");
    for (bad, why) in [
        (request(9, Op::Write, 0, 4096), "was not planned"),
        (request(9, Op::Trim, 0, 4096), "was not planned"),
        (request(9, Op::Fsync, 0, 0), "was not planned"),
        (request(9, Op::Read, 0, 8192), "was not planned"),
        (request(9, Op::Read, (1 << 20) - 512, 4096), "past the end"),
    ] {
        let work = work_of(&path, &[request(0, Op::Read, 0, 4096), bad]);
        let error = all(&work, &worker(0, 1)).expect_err("refused").to_string();
        assert!(error.contains(why) && error.contains("request 2"), "{bad:?}: {error}");
    }
}

#[test]
fn a_file_that_changed_since_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.trace");
    let good = [request(0, Op::Read, 0, 4096), request(1, Op::Read, 4096, 4096)];
    let planned = work_of(&path, &good);
    for other in
        [vec![good[0], request(1, Op::Read, 8192, 4096)], vec![good[0]], vec![good[0], good[0]]]
    {
        work_of(&path, &other);
        let error = all(&planned, &worker(0, 1)).expect_err("another").to_string();
        assert!(error.contains("not the trace that was planned"), "{error}");
    }
    std::fs::remove_file(&path).expect("removed");
    assert!(all(&planned, &worker(0, 1)).is_err());
}
