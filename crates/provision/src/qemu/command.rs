//! The command line of a machine under plain qemu.

use crate::inside::{AGENT, AGENT_PORT, kernel_line};
use crate::provider::{Boot, Machine};
use model::Bytes;
use model::machines::DiskBus;
use std::path::Path;

/// All arguments.
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
    add("-accel", boot.accelerator.word().to_owned());
    add("-cpu", "max".to_owned());
    add("-m", format!("{}M", boot.memory.0 / Bytes::mib(1).0));
    add("-smp", boot.vcpus.to_string());
    add("-display", "none".to_owned());
    add("-kernel", boot.kernel.to_string_lossy().into_owned());
    add("-initrd", boot.image.to_string_lossy().into_owned());
    add("-append", kernel_line(&machine.name, boot.bus, machine.disks.len()));
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
        add(
            "-drive",
            format!(
                "if=none,id=disk{number},file={},format=raw,cache={},aio=threads",
                escaped(disk),
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

/// A path in a list of options, where a comma would begin the next one.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::machines::{Accelerator, DiskCache};

    #[test]
    fn a_machine_says_whose_it_is_and_what_its_disks_are() {
        let machine = Machine {
            name: "a-1".into(),
            uuid: "0-1".into(),
            folder: "/s/a,b".into(),
            disks: vec!["/p/x,y.raw".into(), "/p/z.raw".into()],
        };
        let boot = Boot {
            kernel: Path::new("/k"),
            image: Path::new("/i"),
            accelerator: Accelerator::Tcg,
            vcpus: 2,
            memory: Bytes::mib(512),
            bus: DiskBus::VirtioScsi,
            cache: DiskCache::None,
        };
        let line = arguments(&machine, &boot).join(" ");
        assert!(line.starts_with("-name a-1,debug-threads=on -uuid 0-1 "), "{line}");
        assert!(line.contains("file=/p/x,,y.raw,format=raw,cache=none"), "{line}");
        assert!(line.contains("path=/s/a,,b/a-1.agent,server=on"), "{line}");
        assert!(line.contains("--name=a-1 --disk=/dev/sda --disk=/dev/sdb"), "{line}");
        assert!(line.contains("-m 512M -smp 2 ") && !line.contains("kvm"), "{line}");
    }
}
