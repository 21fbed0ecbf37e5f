//! The layers from a target down to its media.

use crate::tree::{Tree, number, text};
use crate::{device, device_number, holes, mounts};
use model::Bytes;
use model::inventory::{Link, LinkKind};
use procfs::process::MountInfo;
use std::path::Path;

/// No system stacks devices as deep as this; a recorded one might go round in a circle.
const DEEPEST: u32 = 16;
/// More devices than one target lies on.
const MOST: usize = 1_024;

/// The chain below a mount.
pub(crate) fn below_mount(tree: &Tree, mount: &MountInfo) -> Vec<Link> {
    let mut chain = Vec::new();
    from_mount(tree, mount, 0, &mut chain);
    chain
}

fn from_mount(tree: &Tree, mount: &MountInfo, depth: u32, chain: &mut Vec<Link>) {
    if depth >= DEEPEST || chain.len() >= MOST {
        return;
    }
    let facts = mounts::facts(mount);
    let on = format!("{} at {}", facts.source, facts.mount_point).trim_start().to_owned();
    let (kind, detail) = match facts.network {
        true if facts.servers.is_empty() => (LinkKind::Network, on),
        true => (LinkKind::Network, format!("{on}, served by {}", facts.servers.join(", "))),
        false => (LinkKind::FileSystem, on),
    };
    chain.push(Link { depth, kind, name: facts.file_system, detail, ..Link::default() });
    if kind == LinkKind::FileSystem {
        for device in devices(tree, mount) {
            walk(tree, &device, depth + 1, chain);
        }
        for folder in mounts::overlaid(mount) {
            below_folder(tree, &folder, depth + 1, chain);
        }
    }
}

/// An overlay lies on what its folders lie on. That of a container may be in another mount
/// namespace: then nothing is known of it.
fn below_folder(tree: &Tree, folder: &Path, depth: u32, chain: &mut Vec<Link>) {
    let Ok(inside) = folder.strip_prefix("/") else { return };
    if !inside.to_str().is_some_and(|inside| tree.path(inside).is_dir()) {
        return;
    }
    if let Some(mount) = mounts::holding(&mounts::read(tree), folder) {
        from_mount(tree, mount, depth, chain);
    }
}

/// The chain of the device `major:minor`, itself first.
pub fn of_device(tree: &Tree, device: &str) -> Vec<Link> {
    let mut chain = Vec::new();
    walk(tree, device, 0, &mut chain);
    chain
}

/// The devices that a file system lies on, as `major:minor`.
fn devices(tree: &Tree, mount: &MountInfo) -> Vec<String> {
    if mount.fs_type != "btrfs" {
        // Those without a device of their own have number 0.
        return if mount.majmin.starts_with("0:") {
            Vec::new()
        } else {
            vec![mount.majmin.clone()]
        };
    }
    // Btrfs spreads over several, and numbers itself like none of them: one folder for each file
    // system names them all.
    let source =
        mount.mount_source.as_deref().and_then(|source| Path::new(source).file_name()?.to_str());
    let lists =
        tree.names("sys/fs/btrfs").into_iter().map(|id| format!("sys/fs/btrfs/{id}/devices"));
    let found = lists
        .map(|folder| tree.names(&folder))
        .find(|names| names.iter().any(|name| Some(name.as_str()) == source));
    let numbers = found.unwrap_or_default().into_iter().filter_map(|name| number_of(tree, &name));
    numbers.collect()
}

/// `major:minor` of the device that the kernel calls so.
fn number_of(tree: &Tree, name: &str) -> Option<String> {
    tree.text(&format!("sys/class/block/{name}/dev"))
}

fn walk(tree: &Tree, device: &str, depth: u32, chain: &mut Vec<Link>) {
    let Some(folder) =
        device_number::folder(tree, device).filter(|_| depth < DEEPEST && chain.len() < MOST)
    else {
        return;
    };
    let (kind, detail) = layer(&folder);
    let facts = device::facts(tree, device);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    chain.push(Link { depth, kind, name, detail, device: facts, ..Link::default() });
    if kind == LinkKind::Partition {
        if let Some(disk) = folder.parent().and_then(|disk| text(&disk.join("dev"))) {
            walk(tree, &disk, depth + 1, chain);
        }
        return;
    }
    if kind == LinkKind::Loop {
        let at = chain.len() - 1;
        chain[at].direct = number(&folder.join("loop/dio")).map(|dio| dio == 1);
        chain[at].holes = below_loop(tree, &folder, depth + 1, chain);
        return;
    }
    let slaves = std::fs::read_dir(folder.join("slaves")).into_iter().flatten().flatten();
    let mut slaves: Vec<String> =
        slaves.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    slaves.sort();
    for slave in slaves.iter().filter_map(|name| number_of(tree, name)) {
        walk(tree, &slave, depth + 1, chain);
    }
}

/// A loop device lies on what the file behind it lies on, or on the device. Its bytes of the file
/// that have no place on a medium; `None` where nobody could look.
fn below_loop(tree: &Tree, folder: &Path, depth: u32, chain: &mut Vec<Link>) -> Option<Bytes> {
    let file = text(&folder.join("loop/backing_file"))?;
    if let Some(device) = device_number::device_number(Path::new(&file)) {
        walk(tree, &device, depth, chain);
        return None;
    }
    let mounts = mounts::read(tree);
    let mount = mounts::holding(&mounts, Path::new(&file))?;
    from_mount(tree, mount, depth, chain);
    let bytes = |name: &str| number(&folder.join("loop").join(name)).unwrap_or(0);
    // A server that is gone would keep whoever looks waiting.
    let is_here = !mounts::facts(mount).network && !mount.fs_type.starts_with("fuse");
    is_here.then(|| holes::within(Path::new(&file), bytes("offset"), bytes("sizelimit"))).flatten()
}

/// What a device is, and what the kernel tells of it.
fn layer(folder: &Path) -> (LinkKind, String) {
    let read = |file: &str| text(&folder.join(file));
    if read("partition").is_some() {
        return (LinkKind::Partition, String::new());
    }
    if let Some(name) = read("dm/name") {
        let id = read("dm/uuid").unwrap_or_default();
        let kinds = [
            ("LVM-", "LVM volume"),
            ("CRYPT-", "encrypted volume"),
            ("mpath-", "multipath device"),
        ];
        let kind = kinds
            .iter()
            .find(|(start, _)| id.starts_with(start))
            .map_or("volume", |(_, kind)| kind);
        return (LinkKind::Mapper, format!("{kind} {name}"));
    }
    if let Some(level) = read("md/level") {
        let disks = read("md/raid_disks").map(|disks| format!(" of {disks}")).unwrap_or_default();
        let state = read("md/degraded")
            .filter(|missing| missing != "0")
            .map(|missing| format!(", {missing} missing"));
        return (LinkKind::Raid, format!("{level}{disks}{}", state.unwrap_or_default()));
    }
    if let Some(file) = read("loop/backing_file") {
        return (LinkKind::Loop, format!("over {file}"));
    }
    (LinkKind::Disk, String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::{link, tree};

    /// A volume on a RAID of two partitions, and a device that is built on itself.
    fn recorded() -> (tempfile::TempDir, Tree) {
        let (folder, tree) = tree(&[
            ("sys/devices/v/dm-0/dev", "253:0\n"),
            ("sys/devices/v/dm-0/dm/name", "vg-data\n"),
            ("sys/devices/v/dm-0/dm/uuid", "LVM-abc\n"),
            ("sys/devices/v/dm-0/slaves/md0", ""),
            ("sys/devices/v/md0/dev", "9:0\n"),
            ("sys/devices/v/md0/md/level", "raid1\n"),
            ("sys/devices/v/md0/md/raid_disks", "2\n"),
            ("sys/devices/v/md0/md/degraded", "1\n"),
            ("sys/devices/v/md0/slaves/sdb1", ""),
            ("sys/devices/v/md0/slaves/sda1", ""),
            ("sys/devices/p/sda/dev", "8:0\n"),
            ("sys/devices/p/sda/size", "2048\n"),
            ("sys/devices/p/sda/queue/rotational", "1\n"),
            ("sys/devices/p/sda/sda1/dev", "8:1\n"),
            ("sys/devices/p/sda/sda1/partition", "1\n"),
            ("sys/devices/p/sdb/dev", "8:16\n"),
            ("sys/devices/p/sdb/queue/rotational", "1\n"),
            ("sys/devices/p/sdb/sdb1/dev", "8:17\n"),
            ("sys/devices/p/sdb/sdb1/partition", "1\n"),
            ("sys/devices/v/dm-9/dev", "253:9\n"),
            ("sys/devices/v/dm-9/slaves/dm-9", ""),
            ("sys/fs/btrfs/features/x", ""),
            ("sys/fs/btrfs/1-2/devices/sda", ""),
            ("sys/fs/btrfs/1-2/devices/sdb", ""),
        ]);
        for (number, path) in [
            ("253:0", "v/dm-0"),
            ("9:0", "v/md0"),
            ("8:0", "p/sda"),
            ("8:1", "p/sda/sda1"),
            ("8:16", "p/sdb"),
            ("8:17", "p/sdb/sdb1"),
            ("253:9", "v/dm-9"),
        ] {
            link(&tree, &format!("sys/dev/block/{number}"), &format!("sys/devices/{path}"));
            let name = path.rsplit('/').next().expect("a name");
            link(&tree, &format!("sys/class/block/{name}"), &format!("sys/devices/{path}"));
        }
        (folder, tree)
    }

    fn words(chain: &[Link]) -> Vec<String> {
        chain
            .iter()
            .map(|link| {
                format!("{} {} {} {}", link.depth, link.kind.words(), link.name, link.detail)
            })
            .collect()
    }

    #[test]
    fn a_volume_on_a_raid_is_followed_to_both_disks() {
        let (_folder, tree) = recorded();
        let chain = of_device(&tree, "253:0");
        assert_eq!(
            words(&chain),
            [
                "0 device mapper dm-0 LVM volume vg-data",
                "1 software RAID md0 raid1 of 2, 1 missing",
                "2 partition sda1 ",
                "3 device sda ",
                "2 partition sdb1 ",
                "3 device sdb ",
            ]
        );
        assert_eq!(chain[3].device.as_ref().and_then(|device| device.rotational), Some(true));
    }

    #[test]
    fn a_file_system_stands_above_its_devices_and_a_remote_one_alone() {
        let (_folder, tree) = recorded();
        let mounted = |line: &str| {
            std::fs::create_dir_all(tree.path("proc/self")).expect("a folder");
            std::fs::write(tree.path("proc/self/mountinfo"), line).expect("a file");
            words(&below_mount(&tree, &mounts::read(&tree)[0]))
        };
        assert_eq!(
            mounted("27 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n"),
            ["0 file system ext4 /dev/sda1 at /mnt", "1 partition sda1 ", "2 device sda "]
        );
        assert_eq!(
            mounted("27 1 0:40 / /mnt rw - btrfs /dev/sda rw\n"),
            ["0 file system btrfs /dev/sda at /mnt", "1 device sda ", "1 device sdb "]
        );
        assert_eq!(
            mounted("27 1 0:41 / /mnt rw - tmpfs none rw\n"),
            ["0 file system tmpfs at /mnt"]
        );
        assert_eq!(
            mounted("27 1 0:42 / /mnt rw - nfs4 filer:/x rw,addr=10.0.0.1\n"),
            ["0 network file system nfs4 filer:/x at /mnt, served by filer"]
        );
    }

    #[test]
    fn an_overlay_lies_on_what_its_upper_folder_lies_on_where_that_can_be_seen() {
        let below = |mounts: &str| {
            let (_folder, tree) = tree(&[
                ("scratch/a b/upper/x", ""),
                ("scratch/lower/x", ""),
                ("sys/devices/p/sda/dev", "8:0\n"),
                ("proc/self/mountinfo", mounts),
            ]);
            link(&tree, "sys/dev/block/8:0", "sys/devices/p/sda");
            let mounts = mounts::read(&tree);
            let all = mounts.iter().filter(|mount| mount.fs_type == "overlay");
            all.flat_map(|mount| below_mount(&tree, mount))
                .map(|link| link.name)
                .collect::<Vec<_>>()
        };
        let on = |options: &str, under: &str| {
            below(&format!("27 1 {under} rw\n28 1 0:50 / /mnt rw - overlay overlay rw,{options}\n"))
        };
        let upper = "lowerdir=/lower,upperdir=/scratch/a\\040b/upper,workdir=/scratch/w";
        assert_eq!(on(upper, "8:0 / /scratch rw - ext4 /dev/sda"), ["overlay", "ext4", "sda"]);
        assert_eq!(on(upper, "0:9 / /scratch rw - tmpfs none"), ["overlay", "tmpfs"]);
        let disk = "8:0 / / rw - ext4 /dev/sda";
        assert_eq!(on("lowerdir=/scratch/lower", disk), ["overlay", "ext4", "sda"]);
        let other_namespace = "lowerdir=/l,upperdir=/var/lib/upper,workdir=/w";
        assert_eq!(on(other_namespace, disk), ["overlay"]);
        let itself = "28 1 0:50 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/scratch/lower\n";
        assert_eq!(below(itself).len(), DEEPEST as usize);
    }

    #[test]
    fn a_circle_ends() {
        let (_folder, tree) = recorded();
        assert_eq!(of_device(&tree, "253:9").len(), DEEPEST as usize);
        assert_eq!(of_device(&tree, "1:1"), []);
    }

    #[test]
    fn a_loop_device_lies_on_the_disk_of_its_file_and_one_over_itself_ends() {
        let below_dio = |dio: &str, direct: Option<bool>, mounts: &str| {
            let (_folder, tree) = tree(&[
                ("sys/devices/v/loop3/dev", "7:3\n"),
                ("sys/devices/v/loop3/loop/dio", dio),
                ("sys/devices/v/loop3/loop/backing_file", "/srv/images/a.img\n"),
                ("sys/devices/p/sda/dev", "8:0\n"),
                ("sys/devices/p/sda/size", "2048\n"),
                ("proc/self/mountinfo", mounts),
            ]);
            link(&tree, "sys/dev/block/7:3", "sys/devices/v/loop3");
            link(&tree, "sys/dev/block/8:0", "sys/devices/p/sda");
            of_device(&tree, "7:3")
                .into_iter()
                .inspect(|link| assert_eq!(link.direct, direct.filter(|_| link.name == "loop3")))
                .map(|link| (link.depth, link.name))
                .collect::<Vec<_>>()
        };
        let below = |mounts: &str| below_dio("1\n", Some(true), mounts);
        let named = |depth, name: &str| (depth, name.to_owned());
        let on_disk = below("27 1 8:0 / /srv rw,relatime - ext4 /dev/sda rw\n");
        assert_eq!(on_disk, [named(0, "loop3"), named(1, "ext4"), named(2, "sda")]);
        for (dio, direct) in [("0\n", Some(false)), ("", None)] {
            let in_memory = below_dio(dio, direct, "27 1 0:41 / /srv rw - tmpfs none rw\n");
            assert_eq!(in_memory, [named(0, "loop3"), named(1, "tmpfs")], "{dio:?}");
        }
        let circle = below("27 1 7:3 / /srv rw,relatime - ext4 /dev/loop3 rw\n");
        assert!(circle.len() <= DEEPEST as usize && circle[0] == named(0, "loop3"), "{circle:?}");
    }
}
