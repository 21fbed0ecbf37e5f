//! What the rules say of runs that are recorded by hand.

use super::*;
use crate::Ops;
use crate::rows::state::RunState;
use crate::testing::Recorded;
use model::load::Rate;
use model::note::{Eviction, PageCache};
use model::{Bytes, Fact, Note};

const READS: &str = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

fn codes(recorded: &Recorded) -> Vec<&'static str> {
    results(&recorded.record())[0].warnings.iter().map(Warning::code).collect()
}

fn good(suite: &str) -> Recorded {
    let mut recorded = Recorded::new(suite);
    recorded.second(0, &[(Op::Read, &[100; 100_000])]);
    recorded.end();
    recorded
}

#[test]
fn a_file_system_of_all_bytes_that_there_are_is_not_full() {
    let mut recorded = good(READS);
    for target in recorded.record_mut().testbed.iter_mut().flat_map(|host| &mut host.targets) {
        (target.free, target.total) = (Bytes(u64::MAX), Bytes(u64::MAX));
        let state = DirectoryState::Claimed { used: Bytes::gib(1), run: String::new() };
        target.kind = TargetKind::Directory { root: target.path.clone(), state };
    }
    assert_eq!(codes(&recorded), [""; 0]);
}

#[test]
fn a_good_run_has_no_warning() {
    assert_eq!(codes(&good(READS)), [""; 0]);
}

#[test]
fn thin_samples_are_said_once() {
    assert_eq!(thin_quantiles(999), Some(Warning::FewSamples { samples: 999 }));
    assert_eq!(thin_quantiles(1_000), Some(Warning::ThinTail { quantile: "p99.9", beyond: 1 }));
    assert_eq!(thin_quantiles(10_000), Some(Warning::ThinTail { quantile: "p99.99", beyond: 1 }));
    assert_eq!(thin_quantiles(100_000), None);
}

#[test]
fn contents_that_shrink_are_said() {
    let with = |contents: &str| {
        codes(&good(&READS.replace("[stages]", &format!("[contents]\n{contents}\n[stages]"))))
    };
    assert_eq!(with("compressible = \"30%\""), ["reducible-contents"]);
    assert_eq!(with("duplicate = \"30%\""), ["reducible-contents"]);
    assert_eq!(with("verify = true"), [""; 0]);
}

#[test]
fn the_page_cache_in_between_is_said() {
    let buffered = good(&READS.replace("[stages]", "[engine]\ndirect = false\n[stages]"));
    assert_eq!(codes(&buffered), ["fits-in-memory"]);
    let mut refused = good(READS);
    refused.note(Note {
        stage: None,
        host: 0,
        fact: Fact::DirectRefused { path: "/tmp/x".to_owned() },
    });
    assert_eq!(codes(&refused), ["fits-in-memory", "direct-refused"]);
}

#[test]
fn threads_of_the_kernel_that_cost_much_are_said() {
    for (busy, kernel, expected) in
        [(0.6, 40, &["kernel-carried"][..]), (0.6, 30, &[]), (0.4, 40, &[])]
    {
        let mut recorded = good(READS);
        recorded.busy(busy);
        let stage = Some(recorded.stage(StageKind::Measure));
        let fact = Fact::Carried(Carried { kernel: Nanos(kernel), all: Nanos(100) });
        recorded.note(Note { stage, host: 0, fact });
        assert_eq!(codes(&recorded), expected, "{busy} {kernel}");
    }
}

#[test]
fn a_busy_worker_and_skipped_stages_are_said() {
    let mut recorded =
        good("[stages]\nprepare = false\nprecondition = 0\n[[workload]]\nname = \"w\"\n");
    recorded.busy(0.95);
    assert_eq!(codes(&recorded), ["not-prepared", "worker-busy", "not-preconditioned"]);
}

#[test]
fn a_run_without_an_end_is_a_part() {
    let mut recorded = Recorded::new(READS);
    recorded.second(0, &[(Op::Read, &[100; 100_000])]);
    let expected = Warning::Incomplete { how: RunState::Unfinished, measured: Nanos::seconds(1) };
    assert_eq!(results(&recorded.record())[0].warnings, [expected]);
}

#[test]
fn clocks_that_are_known_too_badly_for_a_common_instant_are_said_and_so_is_a_late_start() {
    let codes = |late_ns: [u64; 2], error_ns: [u64; 2]| {
        let mut recorded = Recorded::with_hosts(READS, 2);
        let stage = recorded.stage(StageKind::Measure);
        for (host, second) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
            recorded.host_interval(stage, host, second, &[(Op::Read, &[100_000; 50_000])]);
        }
        let mut record = recorded.end();
        let starts = (0..).zip(late_ns.into_iter().zip(error_ns));
        let start = |(host, (late_ns, error_ns))| model::event::HostStart {
            stage,
            host,
            late_ns,
            error_ns,
        };
        record
            .stages
            .iter_mut()
            .for_each(|record| record.starts = starts.clone().map(start).collect());
        results(&record)[0].warnings.iter().map(Warning::code).collect::<Vec<_>>()
    };
    let tenth = 100_000_000;
    assert_eq!(codes([0, tenth], [tenth, 0]), [""; 0], "a tenth of an interval of 1 s");
    assert_eq!(codes([0, tenth + 1], [0, 0]), ["start-skew"]);
    assert_eq!(codes([0, 0], [tenth + 1, 0]), ["clock-error"]);
}

#[test]
fn a_full_file_system_is_said() {
    let mut recorded = good(READS);
    recorded.free(Bytes::gib(20));
    assert_eq!(codes(&recorded), ["little-space"]);
    recorded.record_mut().testbed[0].targets[0].reserved = Bytes::gib(700);
    assert_eq!(codes(&recorded), [""; 0], "what is reserved is free to the file system");
}

#[test]
fn what_stayed_in_the_page_cache_is_said() {
    let mut recorded = good(READS);
    let stage = Some(recorded.stage(StageKind::Measure));
    let left = PageCache::Left { bytes: Bytes::mib(1), of: Bytes::mib(2) };
    let before = PageCache::Before(Eviction::Files);
    recorded.note(Note { stage, host: 0, fact: Fact::PageCache(before) });
    assert_eq!(codes(&recorded), [""; 0]);
    recorded.note(Note { stage, host: 0, fact: Fact::PageCache(left) });
    assert_eq!(codes(&recorded), ["caches-not-emptied"]);
}

#[test]
fn damage_that_was_found_afterwards_is_said_of_the_writes() {
    let suite = "[contents]\nverify = \"after\"\n[[workload]]\nname = \"w\"\nread = 50\n";
    let mut recorded = good(suite);
    let measure = recorded.stage(StageKind::Measure);
    recorded.interval(measure, 1, &[(Op::Write, &[100; 100_000])]);
    let pass = recorded.stage(StageKind::Verify);
    assert_eq!(pass, measure + 1);
    recorded.interval(pass, 0, &[(Op::Read, &[100; 10])]);
    let mut record = recorded.record();
    let stage = record.stages.iter_mut().find(|stage| stage.stage == pass).expect("began");
    stage.samples_mut()[0].ops[0].errors = vec![(model::sample::VERIFY_STALE, 3)];
    let said = |op: Op| {
        let rows = results(&record);
        let row = rows.iter().find(|row| row.ops == Ops::One(op)).expect("a row");
        row.warnings.iter().find_map(|warning| match warning {
            Warning::Errors { by_errno, .. } => Some(by_errno.clone()),
            _ => None,
        })
    };
    assert_eq!(said(Op::Write), Some(BTreeMap::from([(model::sample::VERIFY_STALE, 3)])));
    assert_eq!(said(Op::Read), None, "reads of the load were good");
}

#[test]
fn an_operation_that_the_target_has_not_is_told_from_one_that_failed() {
    let said = |op: Op, ios, numbers: &[i32]| {
        unsupported(
            op,
            ios,
            &numbers.iter().map(|number| (*number, 7)).collect::<BTreeMap<i32, u64>>(),
        )
    };
    assert_eq!(said(Op::Link, 0, &[1]), Some(Op::Link));
    assert_eq!(said(Op::Trim, 0, &[95, 38]), Some(Op::Trim));
    assert_eq!(said(Op::Link, 0, &[1, 28]), None, "there was no space, too");
    assert_eq!(said(Op::Link, 1, &[1]), None, "one was made");
    assert_eq!(said(Op::Read, 0, &[1]), None, "every target has it");
}

#[test]
fn failed_requests_are_said_by_kind() {
    let mut recorded = good(READS);
    let stage = recorded.stage(StageKind::Measure);
    recorded.fail(stage, 0, Op::Read, 5, 7);
    let rows = results(&recorded.record());
    assert_eq!(
        rows[0].warnings,
        [Warning::Errors { by_errno: BTreeMap::from([(5, 7)]), unsupported: None }]
    );
    assert_eq!(rows[0].error_count(), 7);
}

#[test]
fn a_rate_that_was_not_kept_is_said() {
    let suite = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\nread = \
                 \"50%\"\nrate = 100000\n";
    let mut recorded = Recorded::new(suite);
    recorded.load(0..3, &[(Op::Read, &[100; 50_000]), (Op::Write, &[100; 48_000])]);
    let rows = results(&recorded.end());
    let missed = rows[1].warnings.iter().find_map(|warning| match warning {
        Warning::RateMissed { done, .. } => Some(*done),
        _ => None,
    });
    assert!((missed.expect("said") - 0.98).abs() < 1e-9);
}

/// Whether a run at a rate of 1,000 requests a second is said to have missed it: what came back
/// in each second, and what failed.
fn is_missed(suite: &str, ios: &[usize], latency_ns: u64, failed: u64) -> bool {
    let mut recorded = Recorded::new(&format!(
        "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{suite}"
    ));
    let stage = recorded.stage(StageKind::Measure);
    for (second, ios) in (0..).zip(ios) {
        recorded.interval(stage, second, &[(Op::Read, &vec![latency_ns; *ios])]);
    }
    recorded.fail(stage, 0, Op::Read, 5, failed);
    recorded.end();
    codes(&recorded).contains(&"rate-missed")
}

#[test]
fn what_is_under_way_at_the_end_what_failed_and_what_chance_did_is_no_missed_rate() {
    let mut ios = [1_000; 10];
    assert!(!is_missed("rate = 1000\n", &ios, 150_000_000, 0));
    // All requests take 150 ms: those of the last 150 ms are still under way.
    ios[0] = 850;
    assert!(!is_missed("rate = 1000\n", &ios, 150_000_000, 0));
    assert!(!is_missed("rate = \"4096000B/s\"\n", &ios, 150_000_000, 0));
    assert!(
        is_missed("rate = 1000\n", &[850; 10], 150_000_000, 0),
        "a hundred and fifty more in each second"
    );
    assert!(is_missed("rate = \"4096000B/s\"\n", &[850; 10], 150_000_000, 0));
    // Errors are told as errors.
    assert!(!is_missed("rate = 1000\n", &[970; 10], 10_000, 300));
    assert!(is_missed("rate = 1000\n", &[970; 10], 10_000, 30));
    // 100 of 10,000 are one standard deviation of strangers' arrivals.
    assert!(!is_missed("rate = 1000\narrivals = \"poisson\"\n", &[971; 10], 10_000, 0));
    assert!(is_missed("rate = 1000\n", &[971; 10], 10_000, 0));
    assert!(is_missed("rate = 1000\narrivals = \"poisson\"\n", &[955; 10], 10_000, 0));
}

#[test]
fn what_was_asked_of_a_lost_host_is_not_missed() {
    let suite = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\nrate = 400\n";
    // The rate of three hosts of four, after the first second with the fourth or without it.
    let missed = |third: usize, lost_after: u32| {
        let mut recorded = Recorded::with_hosts(suite, 4);
        let stage = recorded.stage(StageKind::Measure);
        let note = Note {
            stage: Some(stage),
            host: 1,
            fact: Fact::HostLost { name: "h1".into(), why: "gone".into() },
        };
        recorded.record_mut().notes.push(note);
        for second in 0..10 {
            for host in (0..4).filter(|host| *host != 1 || second < lost_after) {
                let ios = if host == 3 { third } else { 100 };
                recorded.host_interval(stage, host, second, &[(Op::Read, &vec![100_000; ios])]);
            }
        }
        recorded.end();
        results(&recorded.record())[0].warnings.iter().find_map(|warning| match warning {
            Warning::RateMissed { asked, done, .. } => Some((*asked, (*done * 1e3).round())),
            _ => None,
        })
    };
    assert_eq!(missed(100, 0), None, "the three that were left kept theirs");
    assert_eq!(missed(100, 5), None, "of equal rows, the one with all of them");
    assert_eq!(missed(100, 3), None, "the three that were left kept theirs behind the loss");
    assert_eq!(
        missed(40, 3),
        Some((Rate::Iops { milli: 300_000 }, 800.0)),
        "of the rate of those that are behind the loss"
    );
    assert_eq!(
        missed(40, 0),
        Some((Rate::Iops { milli: 300_000 }, 800.0)),
        "of the rate of those that were left"
    );
    assert_eq!(missed(40, 5), Some((Rate::Iops { milli: 400_000 }, 850.0)));
}

#[test]
fn a_stage_that_began_while_a_command_of_an_event_still_ran_says_so() {
    let mut recorded = good(READS);
    let stage = recorded.stage(StageKind::Measure);
    let still = |stage, label: &str| Occurrence {
        stage,
        ..Occurrence::new(OccurrenceKind::StillRunning, label)
    };
    let all =
        [still(Some(stage + 1), "other"), still(Some(stage), "move"), still(Some(stage), "drain")];
    recorded.record_mut().occurrences.extend(all);
    let rows = results(&recorded.record());
    assert_eq!(
        rows[0].warnings,
        [Warning::EventRunning { events: vec!["drain".into(), "move".into()] }]
    );
    recorded.record_mut().occurrences.truncate(1);
    assert_eq!(codes(&recorded), [""; 0]);
}

#[test]
fn a_short_wait_in_short_intervals_is_no_stall() {
    let run = |longest: u64| {
        let mut recorded = Recorded::new(READS);
        for interval in 0..10 {
            let (ios, longest) = if interval == 4 { (100, longest) } else { (1_000, 2_000_000) };
            let mut values = vec![1_000_000; ios];
            values.push(longest);
            recorded.second(interval, &[(Op::Read, &values)]);
        }
        for sample in recorded.record_mut().stages.iter_mut().flat_map(StageRecord::samples_mut) {
            (sample.start_ns, sample.length_ns) =
                (u64::from(sample.interval) * 10_000_000, 10_000_000);
        }
        recorded.end();
        codes(&recorded).contains(&"stalled")
    };
    assert!(!run(17_000_000), "17 ms in intervals of 10 ms");
    assert!(run(170_000_000), "170 ms are one at any length");
}

#[test]
fn a_stall_that_a_closed_loop_hides_is_said() {
    let run = |seconds: &[(usize, u64)]| {
        let mut recorded = Recorded::new(READS);
        for (second, (ios, longest)) in seconds.iter().enumerate() {
            let mut values = vec![100_000; *ios];
            values.push(*longest);
            recorded.second(second as u32, &[(Op::Read, &values)]);
        }
        recorded.end();
        codes(&recorded)
    };
    let steady = (30_000, 200_000);
    assert_eq!(
        run(&[steady, steady, (0, 100_000), (25_000, 1_200_000_000), steady, steady]),
        ["stalled"]
    );
    assert_eq!(
        run(&[steady, steady, (10_000, 300_000), steady, steady, steady]),
        [""; 0],
        "slow is not stalled"
    );
    let (queued, few) = ((20, 4_000_000_000), (8, 5_000_000_000));
    assert!(
        !run(&[queued, queued, few, queued, queued]).contains(&"stalled"),
        "deep queues are always slow"
    );
    assert_eq!(
        run(&[steady, steady, (29_000, 1_000_000_000), steady, steady]),
        [""; 0],
        "one straggler is no stall"
    );
}
