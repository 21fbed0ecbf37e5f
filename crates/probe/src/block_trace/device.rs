//! The device whose requests are recorded.

use super::BlockTraceError;
use crate::device_number::{device_number, folder};
use crate::tree::Tree;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SECTOR: u64 = 512;

/// A disk, or a partition of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedDevice {
    /// Its name, such as `nvme0n1`.
    pub name: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its logical sector in bytes.
    pub sector_bytes: u32,
    /// The disk's number as events tell it.
    number: u32,
    /// Where it begins on the disk, in sectors of 512 bytes; `None` for the disk itself.
    partition: Option<u64>,
    /// Whether it is sent requests, and not bios alone.
    has_requests: bool,
    /// Whether a file or directory was named, and this is the device below its file system.
    pub is_below: bool,
}

impl TracedDevice {
    pub(super) fn of(path: &Path) -> Result<TracedDevice, BlockTraceError> {
        let metadata = std::fs::metadata(path).map_err(BlockTraceError::NoDevice)?;
        let tree = Tree::real();
        if let Some(number) = device_number(path) {
            return TracedDevice::in_tree(&tree, &number);
        }
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(BlockTraceError::NotBlock);
        }
        let number = crate::device_number::numbers(metadata.dev());
        if folder(&tree, &number).is_none() {
            return Err(BlockTraceError::NoneBelow);
        }
        let below = TracedDevice::in_tree(&tree, &number)?;
        Ok(TracedDevice { is_below: true, ..below })
    }

    fn in_tree(tree: &Tree, number: &str) -> Result<TracedDevice, BlockTraceError> {
        let unknown = || BlockTraceError::Unknown("where it is in sysfs");
        let own = folder(tree, number).ok_or_else(unknown)?;
        let read = |file: &Path| {
            let text = std::fs::read_to_string(file).ok()?;
            Some(text.trim().to_owned())
        };
        let count = |file: &Path| read(file).and_then(|text| text.parse::<u64>().ok());
        let is_partition = own.join("partition").exists();
        let disk = if is_partition { own.parent().ok_or_else(unknown)? } else { own.as_path() };
        let numbers = read(&disk.join("dev")).ok_or_else(unknown)?;
        let numbers = numbers.split_once(':').and_then(|(major, minor)| {
            Some(major.parse::<u32>().ok()? << 20 | minor.parse::<u32>().ok()?)
        });
        let has_requests = disk.join("mq").is_dir();
        if is_partition && !has_requests {
            return Err(BlockTraceError::PartitionOfBios);
        }
        Ok(TracedDevice {
            name: own.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            size_bytes: count(&own.join("size")).unwrap_or(0).saturating_mul(SECTOR),
            sector_bytes: count(&disk.join("queue/logical_block_size")).unwrap_or(SECTOR) as u32,
            number: numbers.ok_or_else(unknown)?,
            partition: is_partition.then(|| count(&own.join("start")).unwrap_or(0)),
            has_requests,
            is_below: false,
        })
    }

    /// The tracepoint: what the driver is handed, after merging; of devices without requests, what
    /// is queued.
    pub fn event(&self) -> &'static str {
        if self.has_requests { "block_rq_issue" } else { "block_bio_queue" }
    }

    /// The tracepoint of what came back.
    pub(super) fn event_of_end(&self) -> &'static str {
        if self.has_requests { "block_rq_complete" } else { "block_bio_complete" }
    }

    pub(super) fn filter(&self) -> String {
        format!("dev == {}", self.number)
    }

    /// First byte and length of what an event tells; `None` where it is not on this partition.
    pub(super) fn offset(&self, sector: u64, sectors: u32) -> Option<(u64, u32)> {
        let start = self.partition.unwrap_or(0);
        let offset = sector.checked_sub(start)?.checked_mul(SECTOR)?;
        let length = u64::from(sectors) * SECTOR;
        let is_own = self.partition.is_none() || offset.checked_add(length)? <= self.size_bytes;
        Some((offset, u32::try_from(length).ok()?)).filter(|_| is_own)
    }

    /// Whether a file system with this device number lies on the device.
    pub fn holds(&self, device: u64) -> bool {
        let tree = Tree::real();
        let numbers = crate::device_number::numbers(device);
        let Some(own) = folder(&tree, &numbers) else { return false };
        let is_named = |path: &Path| path.file_name().is_some_and(|name| *name == *self.name);
        is_named(&own) || (own.join("partition").exists() && own.parent().is_some_and(is_named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_a_block_device_has_none_below() {
        let said = TracedDevice::of(Path::new("/proc/self/status"));
        assert!(matches!(said, Err(BlockTraceError::NoneBelow)), "{said:?}");
        let said = TracedDevice::of(Path::new("/dev/null"));
        assert!(matches!(said, Err(BlockTraceError::NotBlock)), "{said:?}");
    }

    #[test]
    fn a_partition_has_the_disks_events_from_its_own_start_on() {
        let folder = tempfile::tempdir().expect("a directory");
        let disk = folder.path().join("sys/devices/block/sda");
        let write = |name: &str, text: &str| {
            let path = disk.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        };
        write("dev", "8:0\n");
        write("size", "4096\n");
        write("mq/0", "");
        write("queue/logical_block_size", "4096\n");
        write("sda1/partition", "1\n");
        write("sda1/start", "2048\n");
        write("sda1/size", "1024\n");
        let by_number = folder.path().join("sys/dev/block");
        std::fs::create_dir_all(&by_number).expect("a directory");
        for (number, at) in [("8:0", disk.clone()), ("8:1", disk.join("sda1"))] {
            std::os::unix::fs::symlink(at, by_number.join(number)).expect("a link");
        }
        let tree = Tree::at(folder.path());
        let whole = TracedDevice::in_tree(&tree, "8:0").expect("a disk");
        assert_eq!(
            (whole.event(), whole.filter()),
            ("block_rq_issue", "dev == 8388608".to_owned())
        );
        assert_eq!((whole.size_bytes, whole.sector_bytes), (4096 * 512, 4096));
        assert_eq!(whole.offset(2056, 8), Some((2056 * 512, 4096)));
        let part = TracedDevice::in_tree(&tree, "8:1").expect("a partition");
        assert_eq!((part.name.as_str(), part.filter()), ("sda1", whole.filter()));
        assert_eq!(part.offset(2056, 8), Some((4096, 4096)));
        assert_eq!((part.offset(2047, 8), part.offset(3068, 8)), (None, None));
        std::fs::remove_dir_all(disk.join("mq")).expect("removed");
        assert_eq!(
            TracedDevice::in_tree(&tree, "8:0").map(|disk| disk.event()).ok(),
            Some("block_bio_queue")
        );
        let refused = TracedDevice::in_tree(&tree, "8:1");
        assert!(matches!(refused, Err(BlockTraceError::PartitionOfBios)));
    }
}
