use super::*;
use crate::counters::{Entry, Layer, Metric};
use crate::inventory::NicFacts;
use crate::units::Bytes;

const SECOND: u64 = 1_000_000_000;

/// What one host with 1 KiB of memory and a port of 1,000 Mbit/s says in the seconds of `sampled`.
fn usage(sampled: &[Vec<Entry>]) -> Usage {
    let facts = HostFacts { memory: Bytes(1_000), ..crate::testbed::tests::host() };
    let facts = HostFacts {
        inventory: crate::inventory::Inventory { nics: vec![nic()], ..Default::default() },
        ..facts
    };
    let mut usage = Usage::default();
    for (number, entries) in (0..).zip(sampled) {
        let start_ns = u64::from(number) * SECOND;
        let sample = CounterSample {
            number,
            start_ns,
            length_ns: SECOND,
            entries: entries.clone(),
            ..Default::default()
        };
        usage.add(&facts, &sample);
    }
    usage
}

fn nic() -> NicFacts {
    NicFacts {
        name: "eth0".to_owned(),
        driver: "ice".to_owned(),
        speed_mbit: Some(1_000),
        up: true,
        ..NicFacts::default()
    }
}

fn of(usage: &Usage, part: Part, name: &str) -> Use {
    usage.uses[&(0, part)][name]
}

#[test]
fn a_disk_is_used_while_a_request_is_outstanding_and_full_from_nine_tenths() {
    let busy = |ns: u64| {
        vec![Entry::new(
            Layer::Block,
            "sda",
            &[(Metric::BusyNs, ns), (Metric::QueueNs, ns.saturating_mul(4))],
        )]
    };
    let got = of(
        &usage(&[busy(SECOND / 2), busy(SECOND * 9 / 10), busy(SECOND), busy(0)]),
        Part::Disk,
        "sda",
    );
    assert_eq!(got.share(), Some(0.6));
    assert_eq!(got.waiting(), Some(2.4));
    assert_eq!((got.full_share(), got.full_span), (0.5, Some((SECOND, 3 * SECOND))));
    let more = of(&usage(&[busy(u64::MAX)]), Part::Disk, "sda");
    assert_eq!(more.share(), Some(1.0), "a kernel that counts more than the time there was");
    let counted = [(Metric::BusyNs, 1), (Metric::ReadBytes, 8), (Metric::WriteBytes, 9)];
    let built_on_others = usage(&[vec![Entry::new(Layer::Block, "dm-0", &counted)]]);
    let stacked = of(&built_on_others, Part::Stacked, "dm-0");
    assert_eq!((built_on_others.uses.len(), stacked.sent_bytes, stacked.share()), (1, 9, None));
}

#[test]
fn a_full_core_is_seen_where_all_together_are_not() {
    let cpu = |name: &str, user, idle| {
        Entry::new(Layer::Cpu, name, &[(Metric::UserNs, user), (Metric::IdleNs, idle)])
    };
    let waits = Entry::new(Layer::Pressure, "cpu", &[(Metric::SomeNs, SECOND / 4)]);
    let usage = usage(&[vec![cpu("0", SECOND, 0), cpu("1", 0, SECOND), waits]]);
    assert_eq!(of(&usage, Part::Cpu, "").share(), Some(0.5));
    assert_eq!(of(&usage, Part::Cpu, "").waiting(), Some(0.25));
    assert_eq!(
        [of(&usage, Part::Core, "0"), of(&usage, Part::Core, "1")].map(|core| core.full_share()),
        [1.0, 0.0]
    );
}

#[test]
fn a_port_is_as_used_as_its_busier_direction_and_not_judged_without_a_speed() {
    let counted = [
        (Metric::ReceivedBytes, 12_500_000),
        (Metric::SentBytes, 62_500_000),
        (Metric::SendDrops, 3),
    ];
    let usage = usage(&[vec![
        Entry::new(Layer::Nic, "eth0", &counted),
        Entry::new(Layer::Rdma, "mlx5_0/1", &counted),
    ]]);
    assert_eq!(of(&usage, Part::Port, "eth0").share(), Some(0.5), "62.5 MB of 125 MB");
    assert_eq!(of(&usage, Part::Port, "eth0").errors, 3);
    assert_eq!(of(&usage, Part::Port, "mlx5_0/1").share(), None);
    assert_eq!(
        of(&usage, Part::Port, "mlx5_0/1").carried_per_s(),
        Some(62_500_000.0),
        "what it carried is known"
    );
}

#[test]
fn memory_is_what_programs_can_no_longer_take_and_a_mount_only_errs() {
    let memory = Entry::new(Layer::Memory, "", &[(Metric::AvailableBytes, 50)]);
    let waits = |ns| Entry::new(Layer::Pressure, "memory", &[(Metric::SomeNs, ns)]);
    let mount =
        Entry::new(Layer::Nfs, "/mnt", &[(Metric::Timeouts, 1), (Metric::Retransmissions, 2)]);
    let usage = usage(&[vec![memory.clone(), mount, waits(0)], vec![memory, waits(SECOND / 10)]]);
    assert_eq!(of(&usage, Part::Memory, "").share(), Some(0.95));
    assert_eq!(
        of(&usage, Part::Memory, "").full_span,
        Some((SECOND, 2 * SECOND)),
        "taken is not wanting"
    );
    assert_eq!(
        (of(&usage, Part::Mount, "/mnt").share(), of(&usage, Part::Mount, "/mnt").errors),
        (None, 3)
    );
}

#[test]
fn parts_of_the_intervals_come_to_what_all_of_them_come_to() {
    let busy = |name: &str, ns: u64| {
        Entry::new(Layer::Block, name, &[(Metric::BusyNs, ns), (Metric::QueueNs, ns * 3)])
    };
    let port = |bytes| {
        Entry::new(Layer::Nic, "eth0", &[(Metric::ReceivedBytes, bytes), (Metric::SendDrops, 2)])
    };
    let seconds: Vec<Vec<Entry>> = (0..8u64)
        .map(|second| match second {
            3 => vec![busy("sdb", SECOND)],
            5 => vec![busy("sda", SECOND), port(125_000_000)],
            _ => vec![busy("sda", second * 100_000_000), port(second)],
        })
        .collect();
    let whole = usage(&seconds);
    let of_some = |taken: fn(usize) -> bool| {
        // The others have nothing to say, and keep the places of those that have.
        let some = seconds
            .iter()
            .enumerate()
            .map(|(at, entries)| if taken(at) { entries.clone() } else { Vec::new() });
        usage(&some.collect::<Vec<_>>())
    };
    let (even, mut odd) = (of_some(|at| at % 2 == 0), of_some(|at| at % 2 == 1));
    assert_ne!(even, whole);
    odd.merge(even.clone());
    assert_eq!(odd, whole);
    let mut first = even;
    first.merge(of_some(|at| at % 2 == 1));
    assert_eq!(first, whole, "in either order");
    let mut counted = Usage { samples: 3, ..Usage::default() };
    counted.merge(Usage { samples: 4, is_thinned: true, ..Usage::default() });
    assert_eq!((counted.samples, counted.is_thinned), (7, true));
}

#[test]
fn nothing_wraps_and_nothing_is_made_of_no_time() {
    let sample = CounterSample { length_ns: u64::MAX, start_ns: u64::MAX, ..Default::default() };
    let mut used = Use::default();
    let said = Said {
        used_ppm: Some(u64::MAX),
        waiting_ns: Some(u64::MAX),
        errors: u64::MAX,
        carried: Some((u64::MAX, u64::MAX)),
        is_full: None,
        ..Said::default()
    };
    (0..3).for_each(|_| used.add(&sample, said));
    assert_eq!(
        (used.share(), used.errors, used.full_span),
        (Some(1.0), u64::MAX, Some((u64::MAX, u64::MAX)))
    );
    assert_eq!(
        (Use::default().share(), Use::default().full_share(), Use::default().waiting()),
        (None, 0.0, None)
    );
    assert_eq!((used.received_bytes, Use::default().carried_per_s()), (u64::MAX, None));
}
