//! What a reading of the counters costs, on a host of 64 CPUs and 100 disks (made up) and on this
//! one.
//!
//! `cargo run --release -p probe --example cost`

#![allow(clippy::print_stdout)]

#[path = "../src/tests/fixture.rs"]
mod fixture;

use probe::{Counters, Tree};
use rustix::time::{ClockId, clock_gettime};

const READINGS: u32 = 200;

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fixture::write(folder.path(), &fixture::LARGE, 1);
    measure("64 CPUs, 100 disks (files)", &Tree::at(folder.path()));
    measure("this host", &Tree::real());
}

fn measure(what: &str, tree: &Tree) {
    let before = resident_kib();
    let mut counters = Counters::open(tree);
    let entries = counters.read().entries.len();
    let began = cpu_ns();
    let values: usize = (0..READINGS)
        .map(|_| counters.read().entries.iter().map(|entry| entry.values.len()).sum::<usize>())
        .sum();
    let each_us = (cpu_ns() - began) / u64::from(READINGS) / 1_000;
    let memory = resident_kib().saturating_sub(before);
    println!(
        "{what}: {each_us} µs of CPU for a reading, {entries} things, {} values, {memory} KiB",
        values / READINGS as usize
    );
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
