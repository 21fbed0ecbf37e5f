//! What a reading of a large host's counters asks of the kernel, in reads and bytes: processor time
//! follows from these, and unlike it they are the same on every machine.

use super::fixture::{LARGE, write};
use crate::{Counters, Tree};
use std::path::Path;

/// Reads that a reading may take: it is 411 of 204 files.
const MOST_READS: u64 = 450;
/// Bytes that it may read: they are 245,305, which is every file once.
const MOST_BYTES: u64 = 260_000;

/// Reads of files of this thread and what they brought, as the kernel counts them (man 5
/// proc_pid_io).
fn reads_and_bytes() -> [u64; 2] {
    let told = std::fs::read_to_string("/proc/thread-self/io")
        .expect("a kernel that counts the I/O of threads");
    ["syscr:", "rchar:"].map(|name| {
        let line = told.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        line.trim().parse().expect("a number")
    })
}

/// Files of a folder and those below it, and their bytes.
fn files_and_bytes(folder: &Path) -> [u64; 2] {
    let mut sum = [0, 0];
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let kind = path.symlink_metadata().expect("a file");
        let [files, bytes] = if kind.is_dir() { files_and_bytes(&path) } else { [1, kind.len()] };
        sum = [sum[0] + files, sum[1] + bytes];
    }
    sum
}

#[test]
fn a_reading_of_a_large_host_reads_no_file_twice_and_asks_for_nothing_but_counters() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &LARGE, 1);
    let [files, bytes] = files_and_bytes(folder.path());
    let mut counters = Counters::open(&Tree::at(folder.path()));
    // What reading the kernel's count costs by itself is in both differences.
    let first = reads_and_bytes();
    let second = reads_and_bytes();
    let values: usize = counters.read().entries.iter().map(|entry| entry.values.len()).sum();
    let third = reads_and_bytes();
    counters.read();
    let fourth = reads_and_bytes();
    let spent = |place: usize, from: [u64; 2], to: [u64; 2]| {
        (to[place] - from[place]) - (second[place] - first[place])
    };
    let (reads, read_bytes) = (spent(0, second, third), spent(1, second, third));
    assert!(values > 2_500, "all of it is read: {values} values");
    // A buffer full of data, and the end of the file; what is longer than the buffer of 64 KiB
    // takes more of them.
    assert!(
        reads <= 2 * files + bytes / (32 << 10),
        "{reads} reads of {files} files of {bytes} bytes"
    );
    assert!(reads <= MOST_READS, "{reads} reads");
    assert!(read_bytes <= bytes && read_bytes <= MOST_BYTES, "{read_bytes} of {bytes} bytes");
    // The count itself may have a digit more.
    assert!(
        spent(0, third, fourth) <= reads && spent(1, third, fourth) <= read_bytes + 100,
        "it does not grow"
    );
}
