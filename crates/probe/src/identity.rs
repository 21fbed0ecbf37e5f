//! What kind of device a disk is: medium, transport, firmware, queues. From sysfs (the kernel's
//! `ABI/stable/sysfs-block`, `ABI/testing/sysfs-nvme`, `scsi/scsi.rst`).

use crate::tree::{number, text};
use model::inventory::Media;
use model::testbed::DeviceFacts;
use model::wwid;
use std::path::Path;

/// Devices that are software, by the start of their names, with their transport.
const SOFTWARE: [(&str, &str); 9] = [
    ("loop", "loop"),
    ("dm-", "device mapper"),
    ("md", "software RAID"),
    ("nbd", "nbd"),
    ("rbd", "rbd"),
    ("drbd", "drbd"),
    ("bcache", "bcache"),
    ("zd", "zfs"),
    ("vd", "virtio"),
];

/// Devices that are memory.
const MEMORY: [&str; 3] = ["zram", "ram", "pmem"];

/// Transports, by a part of the path at which the kernel hangs a device. The first that is found
/// counts: of a disk behind a USB bridge with a SCSI host, USB says more.
const PATHS: [(&str, &str); 10] = [
    ("/usb", "usb"),
    ("/session", "iscsi"),
    ("/rport-", "fc"),
    ("/end_device-", "sas"),
    ("/ata", "sata"),
    ("/virtio", "virtio"),
    ("/vbd-", "xen"),
    ("/VMBUS", "vmbus"),
    ("/vmbus", "vmbus"),
    ("/mmc", "mmc"),
];

/// Puts what kind of device it is into the facts of `disk`, a folder of sysfs with its links
/// resolved.
pub fn fill(disk: &Path, facts: &mut DeviceFacts) {
    let name = disk.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let device = disk.join("device");
    facts.transport = transport(disk, &name);
    facts.media = media(&name, &facts.transport, facts.rotational);
    facts.firmware = text(&device.join("firmware_rev"))
        .or_else(|| text(&device.join("rev")))
        .unwrap_or_default();
    if facts.model.is_empty() {
        // Of a virtual disk nothing but its maker is known.
        facts.model = text(&device.join("vendor"))
            .filter(|vendor| !vendor.starts_with("0x"))
            .unwrap_or_default();
    }
    let depth =
        number(&device.join("queue_depth")).or_else(|| number(&disk.join("queue/nr_requests")));
    facts.queue_depth = depth.and_then(|depth| u32::try_from(depth).ok());
    // One folder for each queue of the hardware.
    facts.queues =
        std::fs::read_dir(disk.join("mq")).ok().map(|queues| queues.flatten().count() as u32);
    facts.write_cache = text(&disk.join("queue/write_cache")).unwrap_or_default();
}

/// The name that `disk`, a folder of sysfs with its links resolved, has wherever it is seen from;
/// empty where nobody tells.
pub fn wwid(disk: &Path) -> String {
    // NVMe has it beside its queue, SCSI behind `device`; virtio and others know a serial number
    // only.
    const PLACES: [(&str, &str); 5] = [
        ("wwid", ""),
        ("device/wwid", ""),
        ("dm/uuid", "dm."),
        ("serial", "serial."),
        ("device/serial", "serial."),
    ];
    let told = PLACES.iter().filter_map(|(file, kind)| Some((kind, text(&disk.join(file))?)));
    let mut told =
        told.map(|(kind, name)| (kind, wwid::tidied(&name))).filter(|(_, name)| !name.is_empty());
    told.next().map(|(kind, name)| format!("{kind}{name}")).unwrap_or_default()
}

fn transport(disk: &Path, name: &str) -> String {
    if let Some((_, transport)) = SOFTWARE.iter().find(|(start, _)| is_called(name, start)) {
        return (*transport).to_owned();
    }
    if MEMORY.iter().any(|start| is_called(name, start)) {
        return "memory".to_owned();
    }
    // NVMe says it itself: of the controller, or of one of several for a device with several paths.
    let device = disk.join("device");
    if let Some(transport) = text(&device.join("transport")) {
        return transport;
    }
    if name.starts_with("nvme") {
        let controllers = std::fs::read_dir(&device).into_iter().flatten().flatten();
        return controllers
            .filter_map(|entry| text(&entry.path().join("transport")))
            .next()
            .unwrap_or_default();
    }
    let real = device.canonicalize().unwrap_or_default();
    let path = real.to_string_lossy();
    PATHS
        .iter()
        .find(|(part, _)| path.contains(part))
        .map_or("", |(_, transport)| transport)
        .to_owned()
}

/// Whether a name is this start and goes on with a number, or with a letter as those of virtual
/// disks do.
fn is_called(name: &str, start: &str) -> bool {
    let rest = name.strip_prefix(start).unwrap_or_default();
    match start {
        "vd" => rest.starts_with(|c: char| c.is_ascii_lowercase()),
        // RAIDs have names of their own, too: `md_root`.
        "md" => rest.starts_with(|c: char| c.is_ascii_digit() || c == '_'),
        _ => rest.starts_with(|c: char| c.is_ascii_digit()),
    }
}

fn media(name: &str, transport: &str, rotational: Option<bool>) -> Media {
    if name.starts_with("nvme") {
        return Media::Nvme;
    }
    let software = SOFTWARE.iter().any(|(start, _)| is_called(name, start));
    match (transport, rotational) {
        ("memory", _) => Media::Memory,
        // Hypervisors say "rotational" or not without knowing.
        ("virtio" | "xen" | "vmbus", _) => Media::Virtual,
        _ if software => Media::Virtual,
        (_, Some(true)) => Media::Rotational,
        (_, Some(false)) => Media::Ssd,
        (_, None) => Media::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::testing::{link, tree};

    fn facts(tree: &crate::tree::Tree, disk: &str, rotational: Option<bool>) -> DeviceFacts {
        let mut facts = DeviceFacts { rotational, ..DeviceFacts::default() };
        fill(&tree.path(disk).canonicalize().expect("a disk"), &mut facts);
        facts
    }

    #[test]
    fn an_nvme_device_with_several_paths_has_the_transport_of_one() {
        let (_folder, tree) = tree(&[
            ("sys/devices/nvme-subsys0/nvme0n1/queue/nr_requests", "1023\n"),
            ("sys/devices/nvme-subsys0/nvme0n1/queue/write_cache", "write through\n"),
            ("sys/devices/nvme-subsys0/nvme0n1/mq/0/x", ""),
            ("sys/devices/nvme-subsys0/nvme0n1/mq/1/x", ""),
            ("sys/devices/nvme-subsys0/firmware_rev", "2B2Q\n"),
            ("sys/devices/nvme-subsys0/nvme0/transport", "rdma\n"),
        ]);
        link(&tree, "sys/devices/nvme-subsys0/nvme0n1/device", "sys/devices/nvme-subsys0");
        let facts = facts(&tree, "sys/devices/nvme-subsys0/nvme0n1", Some(false));
        assert_eq!(
            (facts.media, facts.transport.as_str(), facts.firmware.as_str()),
            (Media::Nvme, "rdma", "2B2Q")
        );
        assert_eq!((facts.queue_depth, facts.queues), (Some(1023), Some(2)));
        assert_eq!(facts.write_cache, "write through");
    }

    #[test]
    fn a_disk_behind_scsi_has_the_transport_of_its_path() {
        for (path, transport) in [
            ("pci0/ata3/host2/target2:0:0/2:0:0:0", "sata"),
            ("pci0/host0/port-0:0/end_device-0:0/target0:0:0/0:0:0:0", "sas"),
            ("pci0/usb1/1-2/host9/target9:0:0/9:0:0:0", "usb"),
            ("platform/host4/session1/target4:0:0/4:0:0:0", "iscsi"),
            ("pci0/host5/rport-5:0-1/target5:0:0/5:0:0:0", "fc"),
            ("pci0/virtio3/host1/target1:0:0/1:0:0:0", "virtio"),
            ("pci0/host7/target7:0:0/7:0:0:0", ""),
        ] {
            let disk = format!("sys/devices/{path}/block/sda");
            let (device, depth) =
                (format!("sys/devices/{path}"), format!("sys/devices/{path}/queue_depth"));
            let rev = format!("sys/devices/{path}/rev");
            let (_folder, tree) =
                tree(&[(&depth, "32\n"), (&rev, "A1 \n"), (&format!("{disk}/size"), "8\n")]);
            link(&tree, &format!("{disk}/device"), &device);
            let facts = facts(&tree, &disk, Some(true));
            assert_eq!(
                (facts.transport.as_str(), facts.firmware.as_str()),
                (transport, "A1"),
                "{path}"
            );
            assert_eq!((facts.queue_depth, facts.queues), (Some(32), None));
            assert_eq!(
                facts.media,
                if transport == "virtio" { Media::Virtual } else { Media::Rotational }
            );
        }
    }

    #[test]
    fn a_disk_has_the_best_of_the_names_that_it_is_given() {
        for (files, expected) in [
            (
                &[("wwid", "eui.0025385b71b00a1f\n"), ("device/serial", "S4EV\n")][..],
                "eui.0025385b71b00a1f",
            ),
            (&[("device/wwid", "t10.ATA     EXAMPLE   S1  \n")][..], "t10.ATA EXAMPLE S1"),
            (&[("dm/uuid", "mpath-36001405a\n")][..], "dm.mpath-36001405a"),
            (&[("dm/uuid", "\n"), ("serial", "disk-1\n")][..], "serial.disk-1"),
            (&[("wwid", "\u{1b}[2J"), ("device/serial", "0x1234\n")][..], "serial.0x1234"),
            (&[("size", "8\n")][..], ""),
        ] {
            let files: Vec<(String, &str)> =
                files.iter().map(|(file, text)| (format!("sys/sda/{file}"), *text)).collect();
            let files: Vec<(&str, &str)> =
                files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
            let (_folder, tree) = tree(&files);
            assert_eq!(wwid(&tree.path("sys/sda")), expected);
        }
    }

    #[test]
    fn software_is_told_by_its_name() {
        for (name, expected) in [
            ("loop0", Media::Virtual),
            ("dm-12", Media::Virtual),
            ("md127", Media::Virtual),
            ("vda", Media::Virtual),
            ("zram0", Media::Memory),
            ("pmem0", Media::Memory),
            ("sdb", Media::Ssd),
            ("mdx", Media::Ssd),
        ] {
            let (_folder, tree) = tree(&[(&format!("sys/{name}/size"), "8\n")]);
            assert_eq!(facts(&tree, &format!("sys/{name}"), Some(false)).media, expected, "{name}");
        }
    }
}
