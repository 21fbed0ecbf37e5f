//! What a fleet of thousands costs its coordinator, and how far its hosts are from beginning at once.

use super::load::Tally;
use super::scenario::{Scenario, Size};
use super::world;
use super::{MILLI, SECOND};
use model::plan::FleetPolicy;
use model::spec::OnLostHost;
use model::units::Nanos;
use model::{Event, RunEnd};

fn policy() -> FleetPolicy {
    FleetPolicy { on_lost_host: OnLostHost::Abort, quorum: 1, lost_after: Nanos::seconds(10) }
}

/// One stage of `seconds` on so many hosts, with clocks of their own and links that take 5 ms and up to 5 ms more each way.
fn fleet(hosts: u32, seconds: u64) -> Scenario {
    let size = Size { hosts, stages_ns: vec![seconds * SECOND], interval_ns: SECOND };
    let mut scenario = Scenario::calm(1, &size, policy());
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
    println!("start skew of 1,000 hosts: p50 {} ns, p99 {} ns, most {} ns", off_ns[499], off_ns[989], off_ns[999]);
}

/// What `cargo xtask soak --scale` shows, at its full size: a table of docs/benchmarks.md.
#[test]
fn cost_of_a_fleet() {
    let is_whole = std::env::var_os("PLIMSOLL_SOAK_SCALE").is_some();
    let (seconds, sizes) = if is_whole { (3_600, &[10, 100, 1_000, 10_000][..]) } else { (60, &[10, 100][..]) };
    println!(
        "| hosts | samples | coordinator, ns per host and second | of one processor | whole simulation, s of CPU time | most memory, MiB |"
    );
    println!("|---|---|---|---|---|---|");
    for hosts in sizes.iter().copied() {
        let began_ns = cpu_ns();
        let scenario = fleet(hosts, seconds);
        let mut total = Tally::default();
        let outcome = world::run(&scenario, &mut |event: &Event| {
            if let Event::Sample(sample) = event {
                total.add(sample);
            }
        });
        assert_eq!(outcome.end.map(|(end, _)| end), Some(RunEnd::Complete));
        let sent: u64 = outcome.hosts.iter().map(|host| host.sampled[0].ios).sum();
        assert_eq!((total.samples, total.ios), (u64::from(hosts) * (seconds + 1), sent));
        // Others use the machine, too, and what interrupts a decision is counted with it: the minute in the middle says what most cost.
        let mut minutes_ns = outcome.deciding_ns.clone();
        // The last one is not whole.
        minutes_ns.truncate((seconds / 60) as usize);
        minutes_ns.sort_unstable();
        let second_ns = minutes_ns[minutes_ns.len() / 2] as f64 / seconds.min(60) as f64;
        let each_ns = second_ns / f64::from(hosts);
        let share = second_ns / SECOND as f64;
        println!(
            "| {hosts} | {} | {each_ns:.0} | {:.3} % | {:.1} | {} |",
            total.samples,
            share * 100.0,
            cpu_ns().saturating_sub(began_ns) as f64 / SECOND as f64,
            most_memory_mib()
        );
    }
}

/// The CPU time of this thread, in ns.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The most memory that this process ever held, in MiB.
fn most_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) / 1024
}
