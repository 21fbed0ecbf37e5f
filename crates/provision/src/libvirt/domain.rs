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
    pub(super) kernel: String,
    pub(super) image: String,
    pub(super) console: String,
    pub(super) disks: Vec<String>,
}

/// What libvirt takes.
pub(super) fn described(
    deployment: &Deployment,
    machine: &Machine,
    boot: &Boot<'_>,
    sources: &Sources,
    is_amd: bool,
) -> String {
    let kind = match (boot.accelerator, is_amd) {
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
    };
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = write!(
        text,
        "<domain type='{}'><name>{}</name><uuid>{}</uuid><metadata><plimsoll:machine \
         xmlns:plimsoll='{SPACE}' token='{}'/></metadata><memory unit='b'>{}</memory>\
         <vcpu>{}</vcpu><os><type arch='x86_64' machine='q35'>hvm</type><kernel>{}</kernel>\
         <initrd>{}</initrd><cmdline>{}</cmdline></os><features><acpi/></features>{}\
         <on_reboot>destroy</on_reboot><on_crash>destroy</on_crash><devices>",
        kind.0,
        escaped(&machine.name),
        machine.uuid,
        deployment.token,
        boot.memory.0 / Bytes::mib(1).0 * Bytes::mib(1).0,
        boot.vcpus,
        escaped(&sources.kernel),
        escaped(&sources.image),
        escaped(&kernel_line(&machine.name, boot.bus, machine.disks.len(), boot.accelerator)),
        kind.1,
    );
    if boot.bus == DiskBus::VirtioScsi {
        text.push_str("<controller type='scsi' index='0' model='virtio-scsi'/>");
    }
    for (number, source) in sources.disks.iter().enumerate() {
        let (bus, device) = bus(boot.bus, number);
        let _ = write!(
            text,
            "<disk type='file' device='disk'><driver name='qemu' type='raw' cache='{}' \
             io='threads'/><source file='{}'/><target dev='{device}' bus='{bus}'/>\
             <serial>disk{number}</serial></disk>",
            boot.cache.word(),
            escaped(source),
        );
    }
    let _ = write!(
        text,
        "<serial type='file'><source path='{}' append='on'/><target port='0'/></serial>\
         <channel type='unix'><source mode='bind'/><target type='virtio' name='{AGENT_PORT}'/>\
         </channel><memballoon model='none'/></devices></domain>",
        escaped(&sources.console),
    );
    text
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

/// The names of a domain's disks, in their order.
pub(super) fn devices(text: &str) -> Vec<String> {
    let disks = text.split("<disk ").skip(1).filter_map(|disk| disk.split("</disk>").next());
    let targets =
        disks.filter_map(|disk| disk.split('<').find(|element| element.starts_with("target ")));
    targets.filter_map(|element| attribute(element, "dev")).collect()
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
        <target dev='vda' bus='virtio'/>\n</disk>\n\
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
        assert_eq!(devices(BACK), ["vda"]);
    }

    #[test]
    fn nothing_in_a_path_ends_its_attribute() {
        assert_eq!(escaped("/a'b<c>&\""), "/a&apos;b&lt;c&gt;&amp;&quot;");
        assert_eq!(attribute("x ab='1' b=\"2'\" >c", "b").as_deref(), Some("2'"));
        assert_eq!(attribute("x b", "b"), None);
    }
}
