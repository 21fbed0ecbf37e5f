//! Whether `[vms]` is in range and goes together, and what events do to its machines.

use crate::event::EventSpec;
use crate::{FleetSpec, VmsSpec};
use form::{Given, Problem, Problems, Span, place};
use model::hostlist;
use model::machines::{MachineAct, placement};
use model::units::{Bytes, Nanos};

/// The most machines that one suite makes: each is a process here.
const MOST_VMS: u32 = 64;
/// The most disks of each: a PCI bus has no place for many more.
const MOST_VM_DISKS: u32 = 16;
/// The longest name of machines: with a number behind it, it has to be a host's name.
const LONGEST_VM_NAME: usize = 40;

fn is_whole_mib(size: Bytes) -> bool {
    size.0.is_multiple_of(Bytes::mib(1).0)
}

pub(crate) fn check_vms(vms: &VmsSpec, problems: &mut Problems) {
    let mut refuse = |span: Span, message: String, remedy: &str| {
        problems.push(Problem::new(span, message, remedy));
    };
    let name = &vms.name.value;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = name.len() <= LONGEST_VM_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.chars().all(is_plain);
    if !is_name {
        let remedy = "write up to 40 small letters, digits and `-`, a letter first";
        refuse(place(&vms.name), format!("`{name}` cannot be the name of machines"), remedy);
    }
    if vms.count.value.0 > MOST_VMS {
        let message = format!("{} machines are too many", vms.count.value);
        refuse(place(&vms.count), message, "write a count from 1 to 64");
    }
    if vms.disks.value.0 > MOST_VM_DISKS {
        let message = format!("{} disks of one machine are too many", vms.disks.value);
        refuse(place(&vms.disks), message, "write a count from 1 to 16");
    }
    if vms.memory.value < Bytes::mib(128) || !is_whole_mib(vms.memory.value) {
        let message = format!("a machine cannot have a memory of {}", vms.memory.value);
        refuse(place(&vms.memory), message, "write whole MiB, at least 128MiB");
    }
    if vms.disk_size.value < Bytes::mib(16) || !is_whole_mib(vms.disk_size.value) {
        let message = format!("a disk cannot have a size of {}", vms.disk_size.value);
        refuse(place(&vms.disk_size), message, "write whole MiB, at least 16MiB");
    }
    if !(Nanos::seconds(1)..=Nanos::seconds(3600)).contains(&vms.boot.value) {
        let message = format!("{} to boot is out of range", vms.boot.value);
        refuse(place(&vms.boot), message, "write 1s to 1h");
    }
    // A pool of libvirt has a name, and a folder a whole path; which it is to be, the provider
    // says.
    if !vms.pool.value.is_empty() && !is_pool(&vms.pool.value) {
        let message = format!("`{}` is no pool", vms.pool.value);
        refuse(place(&vms.pool), message, "write a path that begins with `/`, or a pool's name");
    }
    let connect = &vms.connect.value;
    let is_path = ["/", "./", "../"].iter().any(|start| connect.starts_with(start));
    let is_program = is_path && !connect.contains(char::is_control);
    if !is_address(connect) && !is_program {
        let message = format!("`{connect}` is no address of a provider");
        refuse(place(&vms.connect), message, "write one such as \"qemu+ssh://host/system\"");
    }
    let template = &vms.template.value;
    if template.starts_with('-') || template.contains(char::is_control) {
        let message = format!("`{}` is no template", template.escape_debug());
        refuse(place(&vms.template), message, "write its name or its path");
    }
    check_vm_nodes(vms, problems);
}

/// Whether a text can be the address of a provider.
fn is_address(text: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control();
    text.contains("://") && !text.starts_with('-') && text.chars().all(is_plain)
}

/// Whether a text can be a pool: a name, or a whole path.
fn is_pool(text: &str) -> bool {
    text.starts_with('/') || is_word(text)
}

/// Whether a text is one word that no program takes for an option.
fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    !text.starts_with('-') && text.chars().all(is_plain)
}

fn check_vm_nodes(vms: &VmsSpec, problems: &mut Problems) {
    let nodes = match vms.nodes.value.trim() {
        "" => Ok(Vec::new()),
        list => hostlist::expand(list),
    };
    match nodes {
        Err(error) => {
            problems.push(vms.nodes.wrong(error.message, error.remedy));
        }
        Ok(nodes) => {
            let placed = placement::placed(vms.count.value.0, &nodes, &vms.place.value.0);
            if let Err(error) = placed {
                problems.push(vms.place.wrong(error.message, error.remedy));
            }
        }
    }
    let has_nodes = !vms.nodes.value.is_empty() || !vms.place.value.0.is_empty();
    let launcher = &vms.launcher.value;
    let starts = launcher.contains("{host}") && has_nodes;
    if !launcher.is_empty() && !starts {
        let message = "the launcher of the nodes has no {host}, or there are no nodes";
        let remedy = "write one such as \"docker exec -i {host}\", and vms.nodes";
        problems.push(vms.launcher.wrong(message, remedy));
    }
}

/// How long agents hold out where a machine migrates and nobody said: the line to its agent breaks.
const HOLD: Nanos = Nanos::seconds(60);

/// Has agents hold out where a machine migrates, unless somebody wrote for how long.
pub(crate) fn outlive_migrations(fleet: &mut FleetSpec, events: &[EventSpec]) {
    let migrates = |event: &EventSpec| event.act.value.kind() == Some(MachineAct::Migrate);
    if fleet.hold.span.is_none() && events.iter().any(migrates) {
        fleet.hold.value = HOLD;
    }
}

/// Complains about events that do something to machines that there are not.
pub(crate) fn check_events(vms: &VmsSpec, events: &[EventSpec], problems: &mut Problems) {
    let is_machine = |name: &String| {
        let number = name.strip_prefix(&vms.name.value).and_then(|rest| rest.strip_prefix('-'));
        let number = number.and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| (1..=vms.count.value.0).contains(&number))
    };
    for event in events {
        if let Some(name) = event.machines.value.0.iter().find(|name| !is_machine(name)) {
            let message = format!("no machine of [vms] is called `{name}`");
            let remedy = format!("write names such as \"{}-1\"", vms.name.value);
            problems.push(event.machines.wrong(message, remedy));
        }
        let is_none = event.act.value.kind().is_none();
        if is_none && !(event.machines.value.0.is_empty() && event.to.value.is_empty()) {
            let message = "`machines` and `to` are for an event that does something to machines";
            let remedy = "write `act`, or leave them out";
            problems.push(event.act.wrong(message, remedy));
        }
        if !is_none && matches!(&event.command, Given { span: Some(_), .. }) {
            let message = "an event has a command or does something to machines, not both";
            problems.push(event.act.wrong(message, "make two events of it"));
        }
        let (to, act) = (&event.to.value, event.act.value.kind());
        if to.is_empty() && matches!(act, Some(MachineAct::Move | MachineAct::Migrate)) {
            let message = "an event that moves machines or their disks says no place";
            let remedy = "write `to`: a pool, or for \"migrate\" the address of a libvirt";
            problems.push(event.act.wrong(message, remedy));
        }
        if act == Some(MachineAct::Migrate) {
            if !to.is_empty() && !is_address(to) {
                let message = format!("`{}` is no address of a libvirt", to.escape_debug());
                let remedy = "write one such as \"qemu+ssh://host/system\"";
                problems.push(event.to.wrong(message, remedy));
            }
        } else if !to.is_empty() && !is_pool(to) {
            let message = format!("`{to}` is no pool");
            let remedy = "write a path that begins with `/`, or a pool's name";
            problems.push(event.to.wrong(message, remedy));
        }
    }
}
