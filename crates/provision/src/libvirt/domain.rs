//! A domain's description, and the few things that are read out of one.

use crate::inside::{AGENT_PORT, kernel_line};
use crate::provider::{Boot, Machine};
use crate::record::Deployment;
use model::Bytes;
use model::machines::{Accelerator, DiskBus};
use std::fmt::Write as _;

/// The name space of our marker.
const SPACE: &str = "https://plimsoll.dev/vms/1";

/// Where a domain's files are, as paths on its node.
pub(super) struct Sources {
    pub(super) starts: Starts,
    pub(super) console: String,
    pub(super) disks: Vec<String>,
}

pub(super) enum Starts {
    /// The guest of our own: its kernel, and its memory image.
    Kernel { kernel: String, image: String },
    /// A clone of an image of the user's, the seed of cloud-init, and the disk with our program.
    Root { root: String, seed: String, program: String },
}

/// What libvirt takes.
pub(super) fn described(
    deployment: &Deployment,
    machine: &Machine,
    boot: &Boot<'_>,
    sources: &Sources,
    is_amd: bool,
) -> String {
    let kind = processors(boot.accelerator, is_amd);
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = write!(
        text,
        "<domain type='{}'><name>{}</name><uuid>{}</uuid><metadata><plimsoll:machine \
         xmlns:plimsoll='{SPACE}' token='{}'/></metadata><memory unit='b'>{}</memory>\
         <vcpu>{}</vcpu><os><type arch='x86_64' machine='q35'>hvm</type>{}</os>\
         <features><acpi/></features>{}\
         <on_reboot>destroy</on_reboot><on_crash>destroy</on_crash><devices>",
        kind.0,
        escaped(&machine.name),
        machine.uuid,
        deployment.token,
        boot.memory.0 / Bytes::mib(1).0 * Bytes::mib(1).0,
        boot.vcpus,
        kernel_of(machine, boot, &sources.starts),
        kind.1,
    );
    let has_root = matches!(sources.starts, Starts::Root { .. });
    if boot.bus == DiskBus::VirtioScsi || has_root {
        text.push_str("<controller type='scsi' index='0' model='virtio-scsi'/>");
    }
    for (number, source) in sources.disks.iter().enumerate() {
        // What fails, such as a write to a pool that is full, fails in the guest, where it is
        // counted. By default, the whole machine would stand still.
        let (bus, device) = bus(boot.bus, number);
        let _ = write!(
            text,
            "<disk type='file' device='disk'><driver name='qemu' type='{}' cache='{}' \
             io='threads' error_policy='report' rerror_policy='report'/><source file='{}'/>\
             <target dev='{device}' bus='{bus}'/>\
             <serial>disk{number}</serial></disk>",
            boot.disks.word(),
            boot.cache.word(),
            escaped(source),
        );
    }
    text.push_str(&own_disks(boot, &sources.starts));
    let _ = write!(
        text,
        "<serial type='file'><source path='{}' append='on'/><target port='0'/></serial>\
         <channel type='unix'><source mode='bind'/><target type='virtio' name='{AGENT_PORT}'/>\
         </channel><memballoon model='none'/></devices></domain>",
        escaped(&sources.console),
    );
    text
}

/// The kind of a machine, and its processors.
fn processors(accelerator: Accelerator, is_amd: bool) -> (&'static str, &'static str) {
    match (accelerator, is_amd) {
        // `native` is refused before anything is made. No processor of AMD has this register; KVM
        // makes one up, and a KVM within another may refuse it.
        (Accelerator::Kvm | Accelerator::Native, true) => (
            "kvm",
            "<cpu mode='host-passthrough'><feature policy='disable' name='arch-capabilities'/>\
             </cpu>",
        ),
        (Accelerator::Kvm | Accelerator::Native, false) => {
            ("kvm", "<cpu mode='host-passthrough'/>")
        }
        // Emulated guests keep time by it.
        (Accelerator::Tcg, _) => (
            "qemu",
            "<cpu mode='maximum'/><clock offset='utc'><timer name='hpet' present='yes'/></clock>",
        ),
    }
}

/// The kernel of a guest of our own; an image has one in it.
fn kernel_of(machine: &Machine, boot: &Boot<'_>, starts: &Starts) -> String {
    let Starts::Kernel { kernel, image } = starts else { return String::new() };
    format!(
        "<kernel>{}</kernel><initrd>{}</initrd><cmdline>{}</cmdline>",
        escaped(kernel),
        escaped(image),
        escaped(&kernel_line(&machine.name, boot.bus, machine.disks.len(), boot.accelerator)),
    )
}

/// The disks of a guest with an image of its own. They are on another bus than the disks that are
/// loaded, whose names stay what they are without them.
fn own_disks(boot: &Boot<'_>, starts: &Starts) -> String {
    let Starts::Root { root, seed, program } = starts else { return String::new() };
    let (bus, first) =
        if boot.bus == DiskBus::VirtioScsi { ("virtio", "vd") } else { ("scsi", "sd") };
    let disk = |path: &str, kind: &str, device: char, more: &str| {
        format!(
            "<disk type='file' device='disk'><driver name='qemu' type='{kind}'/>\
             <source file='{}'/><target dev='{first}{device}' bus='{bus}'/>{more}</disk>",
            escaped(path)
        )
    };
    [
        disk(root, "qcow2", 'a', "<boot order='1'/><serial>root</serial>"),
        disk(seed, "raw", 'b', "<readonly/><serial>seed</serial>"),
        disk(program, "raw", 'c', "<readonly/><serial>program</serial>"),
    ]
    .concat()
}

/// libvirt's word for a bus, and for a disk on it.
fn bus(bus: DiskBus, number: usize) -> (&'static str, String) {
    let devices = |bus: DiskBus| bus.devices(number as u32 + 1).pop().unwrap_or_default();
    let name = |bus| devices(bus).trim_start_matches("/dev/").to_owned();
    match bus {
        DiskBus::VirtioBlk => ("virtio", name(DiskBus::VirtioBlk)),
        DiskBus::VirtioScsi => ("scsi", name(DiskBus::VirtioScsi)),
        // libvirt's own NVMe bus came with its version 11.5; it has to refuse what it cannot make.
        DiskBus::Nvme => ("nvme", format!("nvme{number}n1")),
    }
}

/// Whether a description has our marker with this token.
pub(super) fn is_ours(text: &str, token: &str) -> bool {
    let mut elements = text.split('<').filter(|element| element.starts_with("plimsoll:machine "));
    elements.any(|element| attribute(element, "token").as_deref() == Some(token))
}

/// The name of a domain that has our marker, whoever's token it is.
pub(super) fn marked(text: &str) -> Option<String> {
    let mut elements = text.split('<').filter(|element| element.starts_with("plimsoll:machine "));
    elements.find(|element| attribute(element, "token").is_some())?;
    let name = text.split_once("<name>")?.1.split_once("</name>")?.0;
    // Names of ours need no escapes.
    crate::record::is_plain(name).then(|| name.to_owned())
}

/// Whether a program of the guest has opened the agent's line.
pub(super) fn is_connected(text: &str) -> bool {
    target(text).is_some_and(|element| attribute(element, "state").as_deref() == Some("connected"))
}

/// The path of the agent's line.
pub(super) fn socket(text: &str) -> Option<String> {
    let channel = text.split("<channel ").find(|part| {
        part.split("</channel>").next().is_some_and(|inside| target(inside).is_some())
    })?;
    let source = channel.split('<').find(|element| element.starts_with("source "))?;
    attribute(source, "path")
}

fn target(text: &str) -> Option<&str> {
    let mut targets = text.split('<').filter(|element| element.starts_with("target "));
    targets.find(|element| attribute(element, "name").as_deref() == Some(AGENT_PORT))
}

/// The names of a domain's disks that are loaded, in the order of their numbers. libvirt may give
/// them in another, with those of an image among them.
pub(super) fn devices(text: &str) -> Vec<String> {
    let disks = text.split("<disk ").skip(1).filter_map(|disk| disk.split("</disk>").next());
    let numbered = disks.filter_map(|disk| {
        let serial = disk.split_once("<serial>disk")?.1.split_once("</serial>")?.0;
        let target = disk.split('<').find(|element| element.starts_with("target "))?;
        Some((serial.parse::<u32>().ok()?, attribute(target, "dev")?))
    });
    let sorted: std::collections::BTreeMap<u32, String> = numbered.collect();
    sorted.into_values().collect()
}

/// The value of an attribute in the start of an element.
fn attribute(element: &str, name: &str) -> Option<String> {
    let element = element.split('>').next()?;
    let mut rest = element;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        let behind = rest[at + name.len()..].strip_prefix('=');
        rest = &rest[at + name.len()..];
        if before.is_some_and(char::is_whitespace)
            && let Some(value) = behind
        {
            let quote = value.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
            return value[1..].split(quote).next().map(str::to_owned);
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As libvirt 9.0 gives it back.
    const BACK: &str = "<domain type='qemu' id='1'>\n  <metadata>\n    <plimsoll:machine \
        xmlns:plimsoll=\"https://plimsoll.dev/vms/1\" token=\"abc\"/>\n  </metadata>\n  <devices>\n\
        <disk type='file' device='disk'>\n<source file='/p/a.raw' index='1'/>\n\
        <target dev='vdb' bus='virtio'/>\n<serial>disk1</serial>\n</disk>\n\
        <disk type='file' device='disk'>\n<target dev='sda' bus='scsi'/>\n\
        <serial>root</serial>\n</disk>\n<disk type='file' device='disk'>\n\
        <target dev='vda' bus='virtio'/>\n<serial>disk0</serial>\n</disk>\n\
        <serial type='file'><source path='/p/console'/><target type='isa-serial' port='0'/>\
        </serial>\n<channel type='unix'>\n      <source mode='bind' path='/run/x/org.y'/>\n      \
        <target type='virtio' name='org.plimsoll.agent' state='connected'/>\n</channel>";

    #[test]
    fn the_marker_the_line_and_the_disks_are_found() {
        assert!(is_ours(BACK, "abc") && !is_ours(BACK, "ab") && !is_ours(BACK, ""));
        assert!(!is_ours("<name>plimsoll:machine token='abc'</name>", "abc"));
        assert!(is_connected(BACK));
        assert!(!is_connected(&BACK.replace("'connected'", "'disconnected'")));
        assert_eq!(socket(BACK).as_deref(), Some("/run/x/org.y"));
        assert_eq!(socket("<channel type='unix'></channel>"), None);
        assert_eq!(devices(BACK), ["vda", "vdb"], "by their numbers, the image's left out");
    }

    #[test]
    fn nothing_in_a_path_ends_its_attribute() {
        assert_eq!(escaped("/a'b<c>&\""), "/a&apos;b&lt;c&gt;&amp;&quot;");
        assert_eq!(attribute("x ab='1' b=\"2'\" >c", "b").as_deref(), Some("2'"));
        assert_eq!(attribute("x b", "b"), None);
    }
}
