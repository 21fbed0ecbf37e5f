//! Block devices, from sysfs alone: a look must not show in a device's own counters.

use crate::device_number::{device_number, folder};
use crate::tree::{Tree, number, text};
use crate::{identity, loops, mounts};
use model::testbed::DeviceFacts;
use model::{Bytes, wwid};
use procfs::process::MountInfo;
use std::path::Path;

/// sysfs counts in sectors of 512 bytes, whatever the device's own blocks are.
const SECTOR: u64 = 512;

/// The facts of the block device `major:minor`; `None` where sysfs has none.
pub fn facts(tree: &Tree, device: &str) -> Option<DeviceFacts> {
    let folder = folder(tree, device)?;
    // A partition has no queue of its own: its disk has.
    let disk =
        if folder.join("queue").is_dir() { folder.clone() } else { folder.parent()?.to_owned() };
    let queue = disk.join("queue");
    let mut facts = DeviceFacts {
        name: folder.file_name()?.to_string_lossy().into_owned(),
        model: text(&disk.join("device/model")).unwrap_or_default(),
        rotational: number(&queue.join("rotational")).map(|value| value != 0),
        size: Bytes(number(&folder.join("size")).unwrap_or(0).saturating_mul(SECTOR)),
        logical_block: number(&queue.join("logical_block_size"))
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(512),
        scheduler: text(&queue.join("scheduler")).map(|line| chosen(&line)).unwrap_or_default(),
        numa_node: numa_node(&disk),
        most_discard: number(&queue.join("discard_max_bytes")).map(Bytes),
        ..DeviceFacts::default()
    };
    identity::fill(&disk, &mut facts);
    raid(&disk, &mut facts);
    link(&disk, &mut facts);
    facts.wwid = match number(&folder.join("partition")) {
        Some(number) => wwid::of_partition(&identity::wwid(&disk), number),
        None => identity::wwid(&disk),
    };
    Some(facts)
}

/// Every disk; no partitions, and nothing without a size, such as loop devices that are not in use.
pub fn disks(tree: &Tree) -> Vec<DeviceFacts> {
    /// More than any host has.
    const MOST: usize = 65_536;
    let names = tree.names("sys/block").into_iter().take(MOST);
    // Whether there is anything to describe is asked first: a host has many loop devices that are
    // not in use, and a run waits for this.
    let has_size = |name: &String| {
        number(&tree.path(&format!("sys/block/{name}/size"))).is_some_and(|size| size > 0)
    };
    let numbers =
        names.filter(has_size).filter_map(|name| tree.text(&format!("sys/block/{name}/dev")));
    numbers.filter_map(|number| facts(tree, &number)).collect()
}

/// What a software RAID lacks and does (`md/degraded`, `md/sync_action`).
fn raid(disk: &Path, facts: &mut DeviceFacts) {
    let missing = number(&disk.join("md/degraded")).unwrap_or(0);
    facts.raid_missing = u32::try_from(missing).unwrap_or(u32::MAX);
    facts.raid_action = text(&disk.join("md/sync_action")).unwrap_or_default();
}

/// The PCIe link of the controller that a disk hangs off: the first folder above it that tells of
/// one. A disk behind a host adapter has that adapter's.
fn link(disk: &Path, facts: &mut DeviceFacts) {
    /// More levels than any bus has.
    const MOST: usize = 16;
    let Ok(device) = disk.join("device").canonicalize() else { return };
    let is_link = |folder: &&Path| folder.join("current_link_speed").is_file();
    let Some(folder) = device.ancestors().take(MOST).find(is_link) else { return };
    let told = |speed: &str, width: &str| {
        let speed = text(&folder.join(speed)).filter(|speed| speed.contains("GT/s"))?;
        let width = number(&folder.join(width)).filter(|width| (1..=32).contains(width))?;
        Some(format!("{speed} x{width}"))
    };
    let now = told("current_link_speed", "current_link_width");
    let best = told("max_link_speed", "max_link_width");
    if let (Some(now), Some(best)) = (now, best) {
        (facts.link_now, facts.link_best) = (now, best);
    }
}

/// The NUMA node of the controller that a disk hangs off: the first folder above it that says. A
/// machine with one node says −1.
fn numa_node(disk: &Path) -> Option<u32> {
    let device = disk.join("device").canonicalize().ok()?;
    let node = device.ancestors().find_map(|folder| text(&folder.join("numa_node")))?;
    node.parse().ok()
}

/// The word in brackets: `none [mq-deadline]`.
fn chosen(line: &str) -> String {
    let inside =
        line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(inside, _)| inside);
    inside.unwrap_or(line).to_owned()
}

/// Why nobody may write to the device `major:minor` just now; `None` if nothing speaks against it.
pub fn in_use(tree: &Tree, mounts: &[MountInfo], device: &str) -> Option<String> {
    if let Some(mount) = mounts::of_device(mounts, device) {
        return Some(format!("mounted at {}", mount.mount_point.display()));
    }
    if is_swap(tree, device) {
        return Some("the system swaps to it".to_owned());
    }
    let folder = folder(tree, device)?;
    if let Some(holder) = first_entry(&folder.join("holders"), |_| true) {
        return Some(format!("{holder} is built on it"));
    }
    if let Some(partition) = first_entry(&folder, |entry| entry.join("partition").is_file()) {
        return Some(format!("it has partitions ({partition})"));
    }
    if let Some(user) = loops::user_of(tree, device) {
        return Some(user);
    }
    if number(&folder.join("ro")) == Some(1) {
        return Some("it is read-only".to_owned());
    }
    None
}

fn first_entry(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter(|entry| wanted(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.into_iter().next()
}

fn is_swap(tree: &Tree, device: &str) -> bool {
    let table = tree.text("proc/swaps").unwrap_or_default();
    let areas = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    areas.filter_map(|path| device_number(Path::new(path))).any(|number| number == device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromBufRead;
    use procfs::process::MountInfos;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A disk `sda` with one partition, and `sdb` with a holder.
    fn recorded() -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [
            ("sys/devices/x/block/sda/size", "2048\n"),
            ("sys/devices/x/block/sda/ro", "0\n"),
            ("sys/devices/x/block/sda/device/model", "DISK 9000 \n"),
            ("sys/devices/x/block/sda/device/wwid", "naa.5000c500a1b2c3d4\n"),
            ("sys/devices/x/block/sda/queue/rotational", "1\n"),
            ("sys/devices/x/block/sda/queue/logical_block_size", "4096\n"),
            ("sys/devices/x/block/sda/queue/scheduler", "none [mq-deadline] kyber\n"),
            ("sys/devices/x/numa_node", "1\n"),
            ("sys/devices/x/block/sda/sda1/partition", "1\n"),
            ("sys/devices/x/block/sda/sda1/size", "1024\n"),
            ("sys/devices/x/block/sda/sda1/ro", "1\n"),
            ("sys/devices/x/block/sdb/size", "8\n"),
            ("sys/devices/x/block/sdb/queue/rotational", "0\n"),
            ("sys/devices/x/block/sdb/holders/dm-0", ""),
            ("sys/devices/x/block/sdc/size", "16\n"),
            ("sys/devices/x/block/sdc/queue/rotational", "0\n"),
        ];
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let links = folder.path().join("sys/dev/block");
        fs::create_dir_all(&links).expect("a folder");
        for (number, device) in
            [("8:0", "sda"), ("8:1", "sda/sda1"), ("8:16", "sdb"), ("8:32", "sdc")]
        {
            symlink(format!("../../devices/x/block/{device}"), links.join(number)).expect("a link");
        }
        let tree = Tree::at(folder.path());
        (folder, tree)
    }

    #[test]
    fn a_disk_and_its_partition_are_described() {
        let (_folder, tree) = recorded();
        let disk = facts(&tree, "8:0").expect("a disk");
        assert_eq!(
            (disk.name.as_str(), disk.model.as_str(), disk.rotational),
            ("sda", "DISK 9000", Some(true))
        );
        assert_eq!(disk.numa_node, Some(1), "that of its controller");
        assert_eq!(
            (disk.size, disk.logical_block, disk.scheduler.as_str()),
            (Bytes::mib(1), 4096, "mq-deadline")
        );
        let part = facts(&tree, "8:1").expect("a partition");
        assert_eq!(
            (part.name.as_str(), part.size, part.logical_block),
            ("sda1", Bytes::kib(512), 4096)
        );
        assert_eq!(
            (disk.wwid.as_str(), part.wwid.as_str()),
            ("naa.5000c500a1b2c3d4", "naa.5000c500a1b2c3d4-part1")
        );
        assert_eq!(facts(&tree, "9:9"), None);
    }

    #[test]
    fn every_use_of_a_device_is_found() {
        let (_folder, tree) = recorded();
        let mounts = MountInfos::from_buf_read(&b"27 1 8:32 / /mnt/x rw - ext4 /dev/sdc rw\n"[..])
            .expect("mounts")
            .0;
        let told = |device: &str| in_use(&tree, &mounts, device);
        assert_eq!(told("8:0").as_deref(), Some("it has partitions (sda1)"));
        assert_eq!(told("8:1").as_deref(), Some("it is read-only"));
        assert_eq!(told("8:16").as_deref(), Some("dm-0 is built on it"));
        assert_eq!(told("8:32").as_deref(), Some("mounted at /mnt/x"));
        assert_eq!(in_use(&tree, &[], "8:32"), None);
    }
}
