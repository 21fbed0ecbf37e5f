//! Placements that are as planned, and such that are not.

use super::*;
use crate::results;
use crate::testing::Recorded;
use model::counters::{Entry, Layer, Metric};
use model::inventory::DeviceFacts;
use model::machines::{BelowGuests, BelowNode, BelowStage};
use model::note::Crossing;
use model::plan::HostPlace;
use model::{Bytes, Nanos, Note, PlannedEvent, StageKind};

/// What each host reads in a second.
const READ: u64 = 10_000 * 4096;

/// What two hosts' kernels counted of a second, as shares of what each host read.
#[derive(Clone, Copy)]
struct Counted {
    received: f64,
    disk: f64,
    transport: &'static str,
}

const LOCAL: Counted = Counted { received: 0.01, disk: 1.0, transport: "pcie" };
const AFAR: Counted = Counted { received: 1.05, disk: 0.0, transport: "pcie" };

/// Ten seconds of reads of two hosts, each with a label of its own, and targets near to these
/// owners.
fn run(owners: [&str; 2], counted: Counted) -> Record {
    let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\nread = \"100%\"\n", 2);
    let record = recorded.record_mut();
    record.plan.places = [("a", owners[0]), ("b", owners[1])]
        .map(|(label, owner)| HostPlace {
            labels: vec![label.to_owned(), "all-of-them".to_owned()],
            owners: vec![owner.to_owned()],
        })
        .into();
    for facts in &mut record.testbed {
        facts.inventory.disks = vec![DeviceFacts {
            name: "nvme0n1".to_owned(),
            media: Media::Nvme,
            transport: counted.transport.to_owned(),
            ..DeviceFacts::default()
        }];
    }
    let stage = recorded.stage(StageKind::Measure);
    for (host, second) in [0, 1].into_iter().flat_map(|host| (0..10).map(move |s| (host, s))) {
        recorded.host_interval(stage, host, second, &[(Op::Read, &[100; 10_000])]);
    }
    recorded.end();
    for (host, second) in [0, 1].into_iter().flat_map(|host| (0..10).map(move |s| (host, s))) {
        let bytes = |share: f64| (READ as f64 * share) as u64;
        let nic = [(Metric::ReceivedBytes, bytes(counted.received)), (Metric::SentBytes, 1_000)];
        let disk = [(Metric::ReadBytes, bytes(counted.disk)), (Metric::WriteBytes, 0)];
        let entries =
            vec![Entry::new(Layer::Nic, "eth0", &nic), Entry::new(Layer::Block, "nvme0n1", &disk)];
        recorded.counters(stage, host, second, entries);
    }
    recorded.record()
}

fn found(record: &Record) -> Vec<Misplaced> {
    let rows = results(record);
    let doubts = rows[0].warnings.iter().filter_map(|warning| match warning {
        Warning::Misplaced(what) => Some(what.clone()),
        _ => None,
    });
    doubts.collect()
}

#[test]
fn what_is_read_where_the_plan_has_it_is_no_doubt() {
    assert_eq!(found(&run(["a", "b"], LOCAL)), []);
    assert_eq!(found(&run(["b", "a"], AFAR)), []);
    assert_eq!(found(&run(["", ""], AFAR)), [], "nobody says where it is");
    assert_eq!(found(&run(["all-of-them", "all-of-them"], AFAR)), [], "a site of several hosts");
}

#[test]
fn targets_of_the_own_node_that_come_through_ports_are_a_doubt_with_the_share() {
    let all = found(&run(["a", "b"], AFAR));
    let [Misplaced::OwnNode { hosts, received }] = &all[..] else { panic!("{all:?}") };
    assert_eq!(hosts.len(), 2);
    assert!((received - 1.05).abs() < 0.01, "{received}");
}

#[test]
fn targets_of_other_nodes_that_the_own_disks_read_are_a_doubt() {
    let all = found(&run(["b", "a"], LOCAL));
    let [Misplaced::OtherNode { own_disks, received, .. }] = &all[..] else { panic!("{all:?}") };
    assert!((own_disks - 1.0).abs() < 0.01 && *received < 0.02, "{all:?}");
    let fabric = Counted { transport: "fc", ..LOCAL };
    assert_eq!(found(&run(["b", "a"], fabric)), [], "a disk of a fabric may be anywhere");
}

#[test]
fn one_kernel_of_two_hosts_says_nothing_of_either() {
    let mut record = run(["a", "b"], AFAR);
    for facts in &mut record.testbed {
        "b00t net:[1] uts:[1] mnt:[1]".clone_into(&mut facts.identity);
    }
    assert_eq!(found(&record), []);
}

#[test]
fn machines_that_left_their_node_are_a_doubt_unless_an_event_may_have_moved_them() {
    let mut record = run(["", ""], LOCAL);
    let stage = results(&record)[0].stage;
    let node = BelowNode { node: "n1".into(), astray: vec!["vm-2".into()], ..BelowNode::default() };
    let of_stage = BelowStage {
        stage,
        length: Nanos::seconds(10),
        guest_read: Bytes(0),
        guest_written: Bytes(0),
        nodes: vec![node],
    };
    let below = BelowGuests {
        length: Nanos::seconds(10),
        guest_read: Bytes(0),
        guest_written: Bytes(0),
        nodes: Vec::new(),
        stages: vec![of_stage],
    };
    record.notes.push(Note { stage: None, host: 0, fact: Fact::BelowGuests(below) });
    let machines = vec!["vm-2".to_owned()];
    assert_eq!(found(&record), [Misplaced::Machines { node: "n1".into(), machines }]);
    record.plan.events.push(PlannedEvent {
        name: "migration".into(),
        command: Some("move".into()),
        ..PlannedEvent::default()
    });
    assert_eq!(found(&record), []);
}

#[test]
fn a_simulated_site_that_answers_more_than_planned_is_a_doubt() {
    let sited = |planned_ppm: u32, far: u64| {
        let mut record = run(["", ""], LOCAL);
        let stage = results(&record)[0].stage;
        let way = Crossing { op: Op::Read, planned_ppm, bytes: Bytes(1_000), far: Bytes(far) };
        let fact = Fact::SimulatedSites(vec![way]);
        record.notes.push(Note { stage: Some(stage), host: 0, fact });
        found(&record)
    };
    assert_eq!(sited(0, 0), []);
    assert_eq!(sited(1_000_000, 980), []);
    let op = Op::Read;
    assert_eq!(sited(0, 500), [Misplaced::OtherSite { op, planned: 0.0, found: 0.5 }]);
    assert_eq!(sited(1_000_000, 0), [Misplaced::OtherSite { op, planned: 1.0, found: 0.0 }]);
}
