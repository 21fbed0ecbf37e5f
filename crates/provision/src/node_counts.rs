//! What a node's own kernel counted: its CPUs (`/proc/stat`, man 5 proc_stat) and its disks
//! (`/proc/diskstats`, the kernel's `Documentation/admin-guide/iostats.rst`). Whatever cannot be
//! read is unknown.

use model::Nanos;
use model::machines::NodeCounts;
use model::usage::is_stacked;
use std::fs;
use std::path::Path;

/// The kernel counts in sectors of 512 bytes here.
const SECTOR: u64 = 512;
/// Ticks are of 10 ms on every Linux that a user sees.
const TICK_NS: u64 = 10_000_000;

/// What the kernel of this node counted until now.
pub(crate) fn here() -> NodeCounts {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let is_partition =
        |name: &str| Path::new("/sys/class/block").join(name).join("partition").exists();
    let cpu = cpu(&read("/proc/stat"));
    let disks = disks(&read("/proc/diskstats"), &is_partition);
    NodeCounts {
        busy: cpu.map(|(busy, _)| busy),
        cpus: cpu.map(|(_, all)| all),
        read_bytes: disks.map(|disks| disks.read_bytes),
        written_bytes: disks.map(|disks| disks.written_bytes),
        reads: disks.map(|disks| disks.reads),
        writes: disks.map(|disks| disks.writes),
    }
}

/// Time of all CPUs with work, and all of it: user, nice, system, idle, iowait, irq, softirq,
/// steal. Guests are a part of the first two.
fn cpu(stat: &str) -> Option<(Nanos, Nanos)> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_whitespace().take(8).map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let all = ticks.iter().fold(0, |sum: u64, one| sum.saturating_add(*one));
    let idle = ticks.get(3)?.saturating_add(*ticks.get(4)?);
    let nanos = |ticks: u64| Nanos(ticks.saturating_mul(TICK_NS));
    Some((nanos(all.saturating_sub(idle)), nanos(all)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disks {
    reads: u64,
    read_bytes: u64,
    writes: u64,
    written_bytes: u64,
}

/// What all disks did which are built on no other: a byte counts once.
fn disks(text: &str, is_partition: &dyn Fn(&str) -> bool) -> Option<Disks> {
    let disk = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words.get(2)?;
        if is_stacked(name) || is_partition(name) {
            return None;
        }
        let count = |place: usize| words.get(place)?.parse::<u64>().ok();
        let bytes = |place: usize| count(place)?.checked_mul(SECTOR);
        let (reads, writes) = (count(3)?, count(7)?);
        Some(Disks { reads, read_bytes: bytes(5)?, writes, written_bytes: bytes(9)? })
    };
    let both = |a: Disks, b: Disks| Disks {
        reads: a.reads.saturating_add(b.reads),
        read_bytes: a.read_bytes.saturating_add(b.read_bytes),
        writes: a.writes.saturating_add(b.writes),
        written_bytes: a.written_bytes.saturating_add(b.written_bytes),
    };
    text.lines().filter_map(disk).reduce(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_counts_once_and_what_is_not_there_is_unknown() {
        let stat = "cpu  10 0 20 60 5 1 2 2 9 0\ncpu0 1 1 1 1\n";
        assert_eq!(cpu(stat), Some((Nanos(350_000_000), Nanos(1_000_000_000))));
        assert_eq!((cpu(""), cpu("cpu  1 2\n")), (None, None));
        let disks = |text: &str| disks(text, &|name| name == "sda1");
        let text = "8 0 sda 5 0 8 1 7 0 16 1 0 1 1\n8 1 sda1 1 0 8 1 1 0 16 1 0 1 1\n\
                    253 0 dm-0 1 0 8 1 1 0 16 1 0 1 1\n259 0 nvme0n1 3 0 2 1 3 0 4 1 0 1 1\n";
        let both = Disks { reads: 8, read_bytes: 10 * 512, writes: 10, written_bytes: 20 * 512 };
        assert_eq!(disks(text), Some(both));
        assert_eq!((disks(""), disks("8 0 sda x\n")), (None, None));
    }
}
