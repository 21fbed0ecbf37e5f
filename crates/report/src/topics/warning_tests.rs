//! Every doubt in words.

use super::*;
use analysis::ceiling::Layer;
use analysis::doubts::{CODES, Sort};
use analysis::{Misplaced, Quantile, RunState, Straggler};
use model::load::Rate;
use model::machines::DiskCache;
use model::note::{Fallback, NotEmptied, OtherRun};
use model::{Bytes, Fact, Fraction, Nanos, Op, Percent, Scale};
use std::collections::{BTreeMap, BTreeSet};

fn other_run(same_place: bool) -> Warning {
    let other = OtherRun {
        run: "nightly-20260102-030405-ab12cd".into(),
        user: "bench".into(),
        from: Some("192.0.2.7".into()),
        pid: 4711,
        since_unix_s: 1_767_323_045,
        same_place,
    };
    Warning::OtherRuns { hosts: vec!["node3".into()], runs: vec![other] }
}

fn of_conditions() -> Vec<Warning> {
    vec![
        Warning::Cached { footprint: Bytes::gib(1), memory: Bytes::gib(64), of_trees: false },
        Warning::Cached { footprint: Bytes::gib(1), memory: Bytes::gib(64), of_trees: true },
        Warning::ReadFromMemory { share: 0.97 },
        Warning::NotCarried { op: Op::Read, share: 0.02 },
        Warning::ReadInStep { readers: 8, distinct: 1 },
        Warning::DirectRefused(Fact::DirectRefused { path: "/mnt/x".into() }),
        Warning::BackendFallback(Fact::BackendFallback(Fallback {
            refused: Vec::new(),
            taken: model::choices::Backend::Sync,
            one_after_the_other: false,
        })),
        Warning::HostLost { hosts: vec!["node3".into()], wholly: false, behind: None },
        Warning::HostLost {
            hosts: vec!["node3".into(), "node7".into()],
            wholly: true,
            behind: None,
        },
        Warning::HostLost {
            hosts: vec!["node3".into()],
            wholly: true,
            behind: Some(Nanos::seconds(2)),
        },
        Warning::HostsLeftOut { hosts: vec!["node3".into(), "node7".into()], of: 16 },
        other_run(true),
        other_run(false),
        Warning::EventRunning { events: vec!["drain".into(), "move".into()] },
        Warning::StartSkew { host: "node3".into(), late: Nanos::millis(250) },
        Warning::ClockError { host: "node3".into(), error: Nanos::millis(120) },
        Warning::NotWarm { after: Nanos::seconds(7_200) },
        Warning::Unsettled(Fact::Unsettled { after: Nanos::seconds(7_200) }),
        Warning::CachesNotEmptied(Fact::CachesNotEmptied(NotEmptied::LeftOut {
            why: "nobody may".into(),
        })),
        Warning::FewSamples { samples: 1 },
        Warning::ThinTail {
            quantile: Quantile { name: "p99.9", key: "p99_9", share: 0.999 }.name,
            beyond: 3,
        },
        Warning::HostSaturated {
            hosts: vec!["node1".into(), "node2".into()],
            share: 0.4,
            own: 0.9,
        },
        Warning::HostSaturated { hosts: vec!["node1".into()], share: 1.0, own: 0.06 },
        Warning::QuotaThrottled { host: "node1".into(), share: 1.0 },
        Warning::WorkerBusy { share: 0.97 },
        Warning::WorkerBusy { share: 1.4 },
        Warning::KernelCarried { share: 0.6 },
    ]
}

fn changed(host: Option<u32>, times: u32, of_latency: bool) -> Warning {
    Warning::Changed { host, times, at: Nanos::seconds(120), share: 0.7, of_latency }
}

fn of_load_and_device() -> Vec<Warning> {
    let straggler = |host: &str, level, loss| Straggler { host: host.into(), level, loss };
    let stragglers = vec![
        straggler("node3", 0.21, 0.5),
        straggler("node7", 0.5, 0.25),
        straggler("node9", 0.799, 0.125),
    ];
    vec![
        Warning::RateMissed {
            asked: Rate::Iops { milli: 10_000_000 },
            done: 0.955,
            piled_up: 13_500,
        },
        Warning::Stalled { longest: Nanos::millis(2_010), intervals: 2 },
        Warning::Stalled { longest: Nanos::millis(4_034), intervals: 0 },
        Warning::StalledOften { longest: Nanos::millis(201), waits: 552, share: 0.2 },
        Warning::GeneratorPaused { host: "node3".into(), longest: Nanos::millis(2_000), times: 2 },
        Warning::WarmUp { length: Nanos::seconds(15), share: 1.4, of_latency: false },
        Warning::WarmUp { length: Nanos::seconds(1), share: 4.14, of_latency: true },
        changed(Some(3), 2, false),
        changed(None, 1, false),
        changed(None, 1, true),
        Warning::NotSteady { range: 0.31, slope: -0.12, of_latency: false },
        Warning::NotSteady { range: 1.22, slope: 0.649, of_latency: true },
        Warning::UnfairWorkers { short: 1, of: 16, least: 0.15 },
        Warning::UnequalHosts { short: 5, of: 16, stragglers },
        Warning::LittleBroken { found: 400.0, most: 320.0 },
        Warning::LittleSpace { target: "/mnt/x".to_owned(), free: 0.04 },
        Warning::VolatileCache { devices: vec!["sda".into(), "vda".into()] },
        Warning::FlushOwed { flush: Nanos::millis(12_000), share: 0.45, written: 1.0 },
        Warning::FlushOwed { flush: Nanos::millis(20), share: 0.01, written: 0.01 },
        Warning::FlushBroken { target: "/mnt/x".into(), errno: 5, took: Nanos::seconds(1) },
        Warning::FlushBroken { target: "/mnt/x".into(), errno: 0, took: Nanos::seconds(45) },
        Warning::FlushInstant {
            flushed: vec!["vda".into()],
            took: Nanos(12_000),
            least: Nanos(100_000),
        },
        Warning::Holes { device: "loop3".into(), share: 0.98 },
        Warning::WritesFaster { devices: vec!["vda".into()], times: 7.04 },
        Warning::LessAtDevice { op: Op::Read, share: 0.02 },
        Warning::MoreAtDevice { op: Op::Write, share: 3.2 },
        Warning::OtherIo { op: Op::Read, bytes_per_s: 45e6 },
        Warning::Merged { op: Op::Read, share: 0.13 },
    ]
}

fn of_testbed_and_run() -> Vec<Warning> {
    vec![
        Warning::Throttled { iops: 3_000.0, bytes_per_s: 12_288_000.0, spread: 0.0004 },
        Warning::BurstSpent { at: Nanos::seconds(31), moved: Bytes::gib(40), share: 0.2 },
        Warning::Stolen { host: "node3".into(), share: 0.21 },
        Warning::GuestsWaited { node: "esx1".into(), share: 0.21 },
        Warning::HostCache { mode: DiskCache::Unsafe, from_disks: Some(0.04) },
        Warning::HostCache { mode: DiskCache::Writethrough, from_disks: None },
        Warning::Misplaced(Misplaced::Machines {
            node: "esx1".into(),
            machines: vec!["vm05".into(), "vm10".into()],
        }),
        Warning::Misplaced(Misplaced::OwnNode { hosts: vec!["node3".into()], received: 0.97 }),
        Warning::Misplaced(Misplaced::OtherNode {
            hosts: vec!["node3".into()],
            own_disks: 0.98,
            received: 0.01,
        }),
        Warning::Misplaced(Misplaced::OtherSite { op: Op::Read, planned: 0.0, found: 0.5 }),
        Warning::IoLimited { host: "node3".into(), limit: "8:0 rbps=1048576".into() },
        Warning::QueueShort { device: "sda".into(), asked: 256, takes: 32 },
        Warning::BarriersOff { mount: "/mnt/x".into(), option: "nobarrier".into() },
        Warning::ArrayDegraded { device: "md0".into(), missing: 1 },
        Warning::ArrayBusy { device: "md0".into(), action: "recover".into() },
        Warning::LinkNarrow {
            device: "nvme0n1".into(),
            now: "8.0 GT/s PCIe x2".into(),
            best: "16.0 GT/s PCIe x4".into(),
        },
        Warning::ClockSource { host: "node3".into(), source: "hpet".into() },
        Warning::NotPreconditioned,
        Warning::ShortPreparation {
            device: "/dev/nvme0n1".into(),
            overwritten: 0.25,
            needs: 1.5,
            part: None,
            aged_for: None,
        },
        Warning::ShortPreparation {
            device: "/dev/nvme0n1".into(),
            overwritten: 3.0,
            needs: 1.5,
            part: Some(0.1),
            aged_for: None,
        },
        Warning::NotPurged { device: "/dev/nvme0n1".into() },
    ]
}

fn of_storage_and_run() -> Vec<Warning> {
    vec![
        Warning::FlushLost { share: 0.0 },
        Warning::OneMachine { nodes: 4 },
        Warning::ClusterDegraded {
            storage: "GlusterFS volume lab".into(),
            down: vec!["10.88.0.2:/brick".into()],
            of: 4,
        },
        Warning::ClusterHealing { storage: "GlusterFS volume lab".into(), entries: 5 },
        Warning::ToldOtherwise {
            tool: "fio-3.33".into(),
            told: 5_000.0,
            seen: 500.0,
            is_rate: true,
        },
        Warning::ToldOtherwise { tool: "dd".into(), told: 9e9, seen: 1e8, is_rate: false },
        Warning::ToldOtherwise { tool: "dd".into(), told: 1e8, seen: 9e9, is_rate: false },
        Warning::NotPrepared,
        Warning::Errors { by_errno: BTreeMap::from([(0, 1), (5, 12_000)]), unsupported: None },
        Warning::Errors { by_errno: BTreeMap::from([(1, 600)]), unsupported: Some(Op::Link) },
        Warning::Reducible { compressible: Percent::of(60), duplicate: Percent::of(30) },
        Warning::Incomplete { how: RunState::Unfinished, measured: Nanos::seconds(3) },
        Warning::Scaled { scale: Scale::both(Fraction::one_in(100)) },
        Warning::Simulated,
        Warning::AboveCeiling { share: 1.2, layer: Layer::Drives },
        Warning::NothingCompleted,
    ]
}

#[test]
fn every_doubt_is_a_sentence_with_its_figure() {
    let all = [of_conditions(), of_load_and_device(), of_testbed_and_run(), of_storage_and_run()];
    let all = all.concat();
    let text: Vec<String> =
        all.iter().map(|doubt| format!("{:20} {}", doubt.code(), sentence(doubt))).collect();
    let codes: BTreeSet<&str> = all.iter().map(Warning::code).collect();
    assert_eq!(codes, CODES.iter().copied().collect(), "each doubt is told here");
    let names: BTreeSet<String> = all.iter().map(name).collect();
    let lines = SENTENCES.lines().filter_map(|line| Some(line.split_once(" | ")?.0.to_owned()));
    assert_eq!(names, lines.collect(), "each line of sentences.txt is of one of them");
    let has_phrase = |doubt: &&Warning| told(doubt, None).brief != "".into();
    let is_beside = |doubt: &&Warning| doubt.row().sort == Sort::Figure;
    let odd: Vec<&Warning> = all.iter().filter(|one| has_phrase(one) == is_beside(one)).collect();
    assert!(odd.is_empty(), "those of the run and of the target have a phrase: {odd:?}");
    assert!(!text.iter().any(|said| said.contains('{')), "nothing is known by this name");
    insta::assert_snapshot!(text.join("\n"));
}
