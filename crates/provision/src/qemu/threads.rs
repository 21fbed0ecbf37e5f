//! What the threads of a machine of plain qemu did, by the names that qemu gives them.

use model::Nanos;
use model::machines::HostCpu;
use std::fs;

/// The CPU time of all threads of a process, vhost's included where they are threads of it (from
/// Linux 6.4 on).
pub(super) fn cpu(pid: i32) -> HostCpu {
    let mut cpu = none();
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    for thread in threads.filter_map(Result::ok) {
        // One that ended meanwhile has nothing to say.
        let read_text = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        let (stat, waits) = (read_text("stat"), read_text("schedstat"));
        if let Some(told) = read(&stat, &waits) {
            add(&mut cpu, &told);
        }
    }
    cpu
}

fn none() -> HostCpu {
    HostCpu { io: Some(Nanos(0)), waited: Some(Nanos(0)), ..HostCpu::default() }
}

/// A thread's name, its time on a CPU, and how long it waited for one.
struct Told<'a> {
    name: &'a str,
    time: Nanos,
    waited: Option<Nanos>,
}

fn add(cpu: &mut HostCpu, told: &Told<'_>) {
    let plus = |a: Nanos| Nanos(a.0.saturating_add(told.time.0));
    let is_io =
        told.name.starts_with("IO ") || told.name.starts_with("vhost-") || told.name == "worker";
    if told.name.starts_with("CPU ") {
        cpu.vcpu = plus(cpu.vcpu);
        let both = cpu.waited.zip(told.waited);
        cpu.waited = both.map(|(all, one)| Nanos(all.0.saturating_add(one.0)));
    } else if is_io {
        cpu.io = cpu.io.map(plus);
    } else {
        cpu.other = plus(cpu.other);
    }
}

/// One line of `/proc/PID/task/TID/stat`: fields 14 and 15 are ticks in user and kernel mode, of
/// 10 ms each on every Linux that a user sees. The second number of `schedstat` beside it is how
/// long the thread waited on a run queue, in ns (the kernel's `scheduler/sched-stats.rst`).
fn read<'a>(stat: &'a str, schedstat: &str) -> Option<Told<'a>> {
    let (before, behind) = stat.rsplit_once(") ")?;
    let name = before.split_once('(')?.1;
    let mut fields = behind.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let both = ticks()?.checked_add(ticks()?)?;
    let waited = schedstat.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).map(Nanos);
    Some(Told { name, time: Nanos(both.checked_mul(10_000_000)?), waited })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_told_by_what_a_thread_is_for() {
        let line = |name: &str, user: u64, kernel: u64| {
            format!("7 ({name}) S 1 2 3 4 5 6 7 8 9 10 {user} {kernel} 0 0 20 0 1 0 5")
        };
        let mut cpu = none();
        for (name, user, kernel) in [
            ("CPU 0/TCG", 100, 20),
            ("CPU 1/KVM", 1, 0),
            ("IO iothread0", 7, 0),
            ("worker", 1, 1),
            ("vhost-12", 0, 1),
            ("qemu (x) y", 3, 0),
        ] {
            add(&mut cpu, &read(&line(name, user, kernel), "9 7 1\n").expect("a line"));
        }
        let ticks = |count: u64| Nanos(count * 10_000_000);
        // Only what virtual CPUs waited is taken from the guest.
        let waited = Some(Nanos(14));
        let expected = HostCpu { vcpu: ticks(121), io: Some(ticks(10)), other: ticks(3), waited };
        assert_eq!(cpu, expected);
        // A kernel that does not count it: unknown, not none.
        add(&mut cpu, &read(&line("CPU 0/KVM", 1, 0), "").expect("a line"));
        assert_eq!(cpu.waited, None);
        for bad in ["", "7 (x", "7 (x) S 1 2", "7 (x) S 1 2 3 4 5 6 7 8 9 10 y 1"] {
            assert!(read(bad, "").is_none(), "{bad}");
        }
    }
}
