//! The command line of a machine under plain qemu.

use crate::guest::ImageFormat;
use crate::inside::{AGENT, AGENT_PORT, kernel_line};
use crate::provider::{Boot, Machine};
use model::Bytes;
use model::machines::{Accelerator, DiskBus};
use std::path::Path;

/// How much translated code an emulator keeps, in MiB.
const TRANSLATED: u32 = 64;

pub(super) fn arguments(machine: &Machine, boot: &Boot<'_>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |option: &str, value: String| {
        words.push(option.to_owned());
        words.push(value);
    };
    let file = |end: &str| escaped(&machine.folder.join(format!("{}.{end}", machine.name)));
    // Threads with names of their own tell what their CPU time was for.
    add("-name", format!("{},debug-threads=on", machine.name));
    add("-uuid", machine.uuid.clone());
    add("-machine", "q35".to_owned());
    add("-accel", accelerator(boot.accelerator));
    add("-cpu", processor(boot.accelerator, crate::inside::is_amd_here()).to_owned());
    add("-m", format!("{}M", boot.memory.0 / Bytes::mib(1).0));
    add("-smp", boot.vcpus.to_string());
    add("-display", "none".to_owned());
    match boot.own {
        None => {
            add("-kernel", boot.kernel.to_string_lossy().into_owned());
            add("-initrd", boot.image.to_string_lossy().into_owned());
            let disks = machine.disks.len();
            add("-append", kernel_line(&machine.name, boot.bus, disks, boot.accelerator));
        }
        Some(format) => own_disks(&mut add, machine, boot, format),
    }
    add("-chardev", format!("file,id=console,path={}", file("console")));
    add("-serial", "chardev:console".to_owned());
    let socket =
        |id: &str, end: &str| format!("socket,id={id},path={},server=on,wait=off", file(end));
    add("-chardev", socket("monitor", "monitor"));
    add("-mon", "chardev=monitor,mode=control".to_owned());
    add("-device", "virtio-serial-pci".to_owned());
    add("-chardev", socket(AGENT, "agent"));
    add("-device", format!("virtserialport,chardev={AGENT},name={AGENT_PORT}"));
    if boot.bus == DiskBus::VirtioScsi {
        add("-device", "virtio-scsi-pci,id=scsi".to_owned());
    }
    for (number, disk) in machine.disks.iter().enumerate() {
        // What fails, such as a write to a pool that is full, fails in the guest, where it is
        // counted. By default, the whole machine would stand still.
        add(
            "-drive",
            format!(
                "if=none,id=disk{number},file={},format={},cache={},aio=threads,\
                 werror=report,rerror=report",
                escaped(disk),
                boot.disks.word(),
                boot.cache.word()
            ),
        );
        let serial = format!("drive=disk{number},serial=disk{number}");
        add(
            "-device",
            match boot.bus {
                DiskBus::VirtioBlk => format!("virtio-blk-pci,{serial}"),
                DiskBus::VirtioScsi => format!("scsi-hd,bus=scsi.0,{serial}"),
                DiskBus::Nvme => format!("nvme,{serial}"),
            },
        );
    }
    // No network, no other devices; a guest whose kernel gives up ends.
    words.extend(["-nodefaults", "-no-user-config", "-no-reboot", "-daemonize"].map(str::to_owned));
    words
}

/// What runs the guest. What an emulator keeps of translated code could grow to 1 GiB; a part of
/// that is enough, and what machines need is known.
fn accelerator(accelerator: Accelerator) -> String {
    match accelerator {
        // `native` is refused before anything is made.
        Accelerator::Kvm | Accelerator::Native => "kvm".to_owned(),
        Accelerator::Tcg => format!("tcg,tb-size={TRANSLATED}"),
    }
}

/// What processor the guest has.
pub(super) fn processor(accelerator: Accelerator, is_amd: bool) -> &'static str {
    match (accelerator, is_amd) {
        (Accelerator::Tcg, _) => "max",
        // No processor of AMD has this register; KVM makes one up, and a KVM within another may
        // refuse it, which ends the machine.
        (_, true) => "host,arch-capabilities=off",
        (_, false) => "host",
    }
}

/// The disks of a guest with an image of its own: a clone of the image, the seed, our program. They
/// are on another bus than the disks that are loaded, whose names stay what they are without them.
fn own_disks(
    add: &mut impl FnMut(&str, String),
    machine: &Machine,
    boot: &Boot<'_>,
    format: ImageFormat,
) {
    let is_scsi = boot.bus != DiskBus::VirtioScsi;
    if is_scsi {
        add("-device", "virtio-scsi-pci,id=own".to_owned());
    }
    let seed = machine.folder.join(format!("{}.seed", machine.name));
    // What the guest writes is in a file without a name, which goes with the process.
    let disks = [
        ("root", boot.kernel, format!("format={},snapshot=on", format.word()), ",bootindex=0"),
        ("seed", &seed, "format=raw,readonly=on".to_owned(), ""),
        ("program", boot.image, "format=raw,readonly=on".to_owned(), ""),
    ];
    for (id, path, how, last) in disks {
        add("-drive", format!("if=none,id={id},file={},{how}", escaped(path)));
        let device = if is_scsi { "scsi-hd,bus=own.0" } else { "virtio-blk-pci" };
        add("-device", format!("{device},drive={id},serial={id}{last}"));
    }
}

/// A path in a list of options, where a comma would begin the next one.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machines::DiskCache;

    #[test]
    fn a_machine_says_whose_it_is_and_what_its_disks_are() {
        let machine = Machine {
            name: "a-1".into(),
            devices: Vec::new(),
            uuid: "0-1".into(),
            folder: "/s/a,b".into(),
            disks: vec!["/p/x,y.raw".into(), "/p/z.raw".into()],
        };
        let boot = Boot {
            kernel: Path::new("/k"),
            image: Path::new("/i"),
            own: None,
            accelerator: Accelerator::Tcg,
            vcpus: 2,
            memory: Bytes::mib(512),
            bus: DiskBus::VirtioScsi,
            cache: DiskCache::None,
            disks: ImageFormat::Raw,
        };
        let line = arguments(&machine, &boot).join(" ");
        assert!(line.starts_with("-name a-1,debug-threads=on -uuid 0-1 "), "{line}");
        assert!(line.contains("file=/p/x,,y.raw,format=raw,cache=none"), "{line}");
        assert!(line.contains("aio=threads,werror=report,rerror=report "), "{line}");
        assert!(line.contains("path=/s/a,,b/a-1.agent,server=on"), "{line}");
        assert!(line.contains("--name=a-1 --disk=/dev/sda --disk=/dev/sdb"), "{line}");
        assert!(line.contains("-m 512M -smp 2 ") && !line.contains("kvm"), "{line}");
    }

    #[test]
    fn an_image_is_never_written_to_and_renames_no_disk() {
        let machine = Machine {
            name: "a-1".into(),
            uuid: "0-1".into(),
            folder: "/s".into(),
            disks: vec!["/p/x.raw".into()],
            devices: Vec::new(),
        };
        let line = |bus| {
            let boot = Boot {
                kernel: Path::new("/i,1.qcow2"),
                image: Path::new("/s/program"),
                own: Some(ImageFormat::Qcow2),
                accelerator: Accelerator::Tcg,
                vcpus: 1,
                memory: Bytes::mib(512),
                bus,
                cache: DiskCache::None,
                disks: ImageFormat::Qcow2,
            };
            arguments(&machine, &boot).join(" ")
        };
        let (block, scsi) = (line(DiskBus::VirtioBlk), line(DiskBus::VirtioScsi));
        assert!(block.contains("file=/i,,1.qcow2,format=qcow2,snapshot=on "), "{block}");
        assert!(block.contains("file=/p/x.raw,format=qcow2,cache=none"), "{block}");
        assert!(block.contains("file=/s/a-1.seed,format=raw,readonly=on "), "{block}");
        assert!(block.contains("scsi-hd,bus=own.0,drive=root,serial=root,bootindex=0 "), "{block}");
        assert_eq!(
            (block.matches("virtio-blk-pci").count(), block.matches("-kernel").count()),
            (1, 0)
        );
        assert_eq!(
            (scsi.matches("scsi-hd").count(), scsi.matches("virtio-blk-pci").count()),
            (1, 3)
        );
    }
}
