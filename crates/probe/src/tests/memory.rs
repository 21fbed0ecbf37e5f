//! What a reader of a large host's counters holds in memory, in a process of its own: other tests'
//! memory would count, too.

use super::fixture::{LARGE, write};
use crate::{Counters, Tree};

/// What an agent may spend on it.
const MOST_KIB: u64 = 2 << 10;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this process");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("resident memory");
    line.split_whitespace().next().expect("a number").parse().expect("a number")
}

#[test]
fn counters_of_a_large_host_fit_into_two_mebibytes_each_time_they_are_read() {
    if !super::in_a_process_of_its_own(
        "tests::memory::counters_of_a_large_host_fit_into_two_mebibytes_each_time_they_are_read",
    ) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &LARGE, 1);
    let before = resident_kib();
    let mut counters = Counters::open(&Tree::at(folder.path()));
    let mut values = 0;
    for _ in 0..50 {
        values = counters.read().entries.iter().map(|entry| entry.values.len()).sum();
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(values > 2_500, "all of it is read: {values} values");
    assert!(grown < MOST_KIB, "{grown} KiB");
}
