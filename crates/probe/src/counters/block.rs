//! Block devices: `/proc/diskstats` (the kernel's `Documentation/admin-guide/iostats.rst`).

use super::Source;
use super::file::{KernelFile, Opener};
use super::parse::{name, number, words};
use super::table::{Column, Table};
use crate::tree::Tree;
use model::CounterSample;
use model::counters::{Layer, Metric};
use std::collections::BTreeMap;

/// The kernel counts in sectors of 512 bytes here, whatever the device's own blocks are.
const SECTOR: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;
/// More requests than any device takes: an old kernel that counted below 0.
const MOST_IN_FLIGHT: u64 = 1 << 31;

/// Every block device that ever did anything; no partitions, which are a part of their disk.
pub struct Block {
    file: KernelFile,
    table: Table,
    is_partition: BTreeMap<Vec<u8>, bool>,
}

impl Block {
    pub fn new(opener: &mut Opener) -> Block {
        let columns = vec![
            Column::plain(Metric::Reads),
            Column::plain(Metric::ReadsMerged),
            Column::scaled(Metric::ReadBytes, SECTOR),
            Column::scaled(Metric::ReadNs, NS_PER_MS),
            Column::plain(Metric::Writes),
            Column::plain(Metric::WritesMerged),
            Column::scaled(Metric::WriteBytes, SECTOR),
            Column::scaled(Metric::WriteNs, NS_PER_MS),
            Column::plain(Metric::InFlight),
            Column::scaled(Metric::BusyNs, NS_PER_MS),
            Column::scaled(Metric::QueueNs, NS_PER_MS),
            Column::plain(Metric::Discards),
            Column::scaled(Metric::DiscardBytes, SECTOR),
            Column::scaled(Metric::DiscardNs, NS_PER_MS),
            Column::plain(Metric::Flushes),
            Column::scaled(Metric::FlushNs, NS_PER_MS),
        ];
        let table = Table::new(Layer::Block, columns);
        Block { file: opener.file("proc/diskstats"), table, is_partition: BTreeMap::new() }
    }
}

/// The numbers of a line in the order of our columns: merged discards are left out, and kernels
/// before 4.18 and 5.5 have fewer.
fn columns(now: &[Option<u64>; 17]) -> [Option<u64>; 16] {
    let mut columns = [None; 16];
    columns[..12].copy_from_slice(&now[..12]);
    columns[12..].copy_from_slice(&now[13..]);
    columns[8] = columns[8].filter(|in_flight| *in_flight < MOST_IN_FLIGHT);
    columns
}

fn is_partition(tree: &Tree, device: &[u8]) -> bool {
    // The kernel writes a `/` in a device's name as `!` in sysfs and in diskstats alike.
    let device = name(device);
    !device.contains('/') && tree.path(&format!("sys/class/block/{device}/partition")).exists()
}

impl Source for Block {
    fn read(&mut self, opener: &mut Opener, sample: &mut CounterSample) -> Option<&'static str> {
        let tree = opener.tree().clone();
        let mut unseen = CounterSample::default();
        let whole = self.file.lines(opener, |line| {
            let mut words = words(line).skip(2);
            let Some(device) = words.next() else { return };
            let mut now = [None; 17];
            now.iter_mut().zip(words.by_ref()).for_each(|(now, word)| *now = number(word));
            let known = self.is_partition.get(device).copied();
            let partition = known.unwrap_or_else(|| {
                let partition = is_partition(&tree, device);
                self.is_partition.insert(device.to_vec(), partition);
                partition
            });
            // A device that never did anything, such as the system's unused loop devices, is of no
            // interest to anybody: it is remembered, so that its first interval at work counts, but
            // not shown.
            let idle = now.iter().all(|value| matches!(value, None | Some(0)));
            if !partition {
                self.table.put(
                    device,
                    &columns(&now),
                    if idle { &mut unseen } else { &mut *sample },
                );
            }
        });
        self.table.end(sample);
        (!whole).then_some("/proc/diskstats")
    }
}
