//! What a fleet of thousands costs its coordinator, and how far its hosts are from beginning at
//! once.

#[path = "double.rs"]
mod double;

use super::load::Tally;
use super::scenario::{Scenario, Size, policy};
use super::world::{self, InputListener};
use super::{MILLI, SECOND};
use double::{Double, cpu_ns};
use model::choices::OnLostHost;
use model::units::Nanos;
use model::{Event, RunEnd};

/// One stage of `seconds` on so many hosts, with clocks of their own and links that take 5 ms and
/// up to 5 ms more each way.
fn fleet(hosts: u32, seconds: u64) -> Scenario {
    let size = Size { hosts, stages_ns: vec![seconds * SECOND], interval_ns: SECOND };
    let mut scenario =
        Scenario::calm(1, &size, policy(OnLostHost::Abort, Nanos::seconds(10), Nanos(0)));
    for (number, host) in scenario.hosts.iter_mut().enumerate() {
        let number = number as u64;
        host.time.offset_ns = number * 7_919 * SECOND;
        host.time.drift_ppb = (number * 97 % 1_000_001) as i64 - 500_000;
        for line in [&mut host.down, &mut host.up] {
            (line.least_ns, line.jitter_ns) = (5 * MILLI, 5 * MILLI);
        }
    }
    scenario
}

#[test]
fn a_thousand_hosts_begin_within_five_milliseconds() {
    let scenario = fleet(1_000, 1);
    let mut late_ns = vec![u64::MAX; 1_000];
    let outcome = world::run(&scenario, &mut |event: &Event| {
        if let Event::HostStarted(start) = event {
            late_ns[start.host as usize] = start.late_ns;
        }
    });
    let agreed_ns = outcome.agreed_ns[0].1;
    let mut off_ns: Vec<u64> = (outcome.hosts.iter().zip(&late_ns))
        .map(|(host, late_ns)| host.starts[0].1.abs_diff(agreed_ns).saturating_add(*late_ns))
        .collect();
    off_ns.sort_unstable();
    assert_eq!(off_ns.len(), 1_000);
    assert!(off_ns[989] < 5 * MILLI, "p99 of the start skew is {} ns", off_ns[989]);
    println!(
        "start skew of 1,000 hosts: p50 {} ns, p99 {} ns, most {} ns",
        off_ns[499], off_ns[989], off_ns[999]
    );
}

/// The fleet that `cargo xtask soak --scale` asks for; a small one if nobody asks.
fn asked() -> (u32, u64) {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let (hosts, seconds) = (number("PLIMSOLL_SOAK_HOSTS"), number("PLIMSOLL_SOAK_SECONDS"));
    (hosts.unwrap_or(100), u64::from(seconds.unwrap_or(20)))
}

/// Lets a fleet run, and holds its samples to what its hosts sent.
fn whole(hosts: u32, seconds: u64, told: Option<InputListener<'_>>) -> Tally {
    let scenario = fleet(hosts, seconds);
    let mut total = Tally::default();
    let mut record = |event: &Event| {
        if let Event::Sample(sample) = event {
            total.add(sample);
        }
    };
    let outcome = world::run_overheard(&scenario, &mut record, told);
    assert_eq!(outcome.end.map(|(end, _)| end), Some(RunEnd::Complete));
    let sent: u64 = outcome.hosts.iter().map(|host| host.sampled[0].ios).sum();
    assert_eq!((total.samples, total.ios), (u64::from(hosts) * (seconds + 1), sent));
    total
}

/// What `cargo xtask soak --scale` reads the CPU times of.
#[test]
fn cost_of_a_fleet() {
    let (hosts, seconds) = asked();
    let began_ns = cpu_ns();
    let mut double = Double::new(&fleet(hosts, seconds));
    let total = whole(hosts, seconds, Some(Box::new(|input, now| double.hear(input, now))));
    let (samples, mut each_ns) = double.finish();
    assert_eq!(samples, total.samples, "the double takes every sample that the coordinator takes");
    each_ns.sort_unstable_by(f64::total_cmp);
    let all_s = cpu_ns().saturating_sub(began_ns) as f64 / SECOND as f64;
    println!(
        "cost: hosts {hosts} samples {samples} host_second_ns {:.1} simulation_s {all_s:.1} \
         most_mib {}",
        each_ns[each_ns.len() / 2],
        most_memory_mib()
    );
}

/// What `cargo xtask soak --scale` counts the instructions of: the same without a double.
#[test]
fn decisions_of_a_fleet() {
    let (hosts, seconds) = asked();
    whole(hosts, seconds, None);
}

/// The most memory that this process ever held, in MiB.
fn most_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0)
        / 1024
}
