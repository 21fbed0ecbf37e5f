//! The drives of a host, those that are alike together.

use super::text::{Draft, comment, decimal_size};
use catalogue::devices::recognise;
use model::inventory::{Media, MountFacts};
use model::testbed::{DeviceFacts, HostFacts, TargetFacts};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::topics) struct Kind {
    /// The kernel's model; empty where it tells none.
    pub model: String,
    pub size: u64,
    pub media: Media,
    /// How it is reached; empty where the kernel does not tell.
    pub transport: String,
    /// Whether the operating system starts from one of them.
    pub is_boot: bool,
    /// Whether a target lies on one that the operating system starts from.
    pub is_target: bool,
    pub count: u64,
}

/// The drives of a host by kind, sorted so that two hosts can be compared whatever their kernels
/// call each drive.
pub(in crate::topics) fn kinds(host: &HostFacts) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    // Memory that plays a device is no drive, nor is what other devices are joined to.
    let is_drive =
        |disk: &&DeviceFacts| disk.media != Media::Memory && !model::usage::is_stacked(&disk.name);
    for disk in host.inventory.disks.iter().filter(is_drive) {
        let is_boot = host.inventory.mounts.iter().any(|mount| is_system(mount, &disk.name));
        let kind = Kind {
            model: disk.model.clone(),
            size: disk.size.0,
            media: disk.media,
            transport: disk.transport.clone(),
            is_boot,
            is_target: is_boot && host.targets.iter().any(|target| is_below(target, &disk.name)),
            count: 1,
        };
        let same = |other: &&mut Kind| Kind { count: 1, ..(**other).clone() } == kind;
        match kinds.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => kinds.push(kind),
        }
    }
    kinds.sort_by(|a, b| {
        (a.is_boot, &a.model, a.size, a.count).cmp(&(b.is_boot, &b.model, b.size, b.count))
    });
    kinds
}

/// Whether a target lies on this disk.
fn is_below(target: &TargetFacts, disk: &str) -> bool {
    let of_chain = target.chain.iter().filter_map(|link| link.device.as_ref());
    of_chain.chain(&target.device).any(|device| device.name == disk)
}

/// Whether a mount is a part of the operating system on this disk or on one of its partitions.
fn is_system(mount: &MountFacts, disk: &str) -> bool {
    const SYSTEM: [&str; 4] = ["/", "/boot", "/boot/efi", "/usr"];
    let rest = mount.source.strip_prefix("/dev/").and_then(|source| source.strip_prefix(disk));
    let is_part = |rest: &str| {
        rest.strip_prefix('p').unwrap_or(rest).bytes().all(|byte| byte.is_ascii_digit())
    };
    SYSTEM.contains(&mount.mount_point.as_str()) && rest.is_some_and(is_part)
}

/// The class of the catalogue that is the nearest guess.
fn class(media: Media) -> &'static str {
    match media {
        Media::Nvme => "nvme-gen4",
        Media::Rotational => "hdd-7.2k",
        _ => "sata-ssd",
    }
}

pub(super) fn write(draft: &mut Draft, host: &HostFacts) {
    let kinds = kinds(host);
    let has_only_boot = kinds.iter().all(|kind| kind.is_boot);
    if has_only_boot && !kinds.iter().any(|kind| kind.is_target) {
        draft.question(
            "The kernel sees the system drive only. Which drives does each node have? Give each \
             kind a table like this:",
        );
        ["[[nodes.drives]]", "model = \"nvme-gen4\"", "count = 8"]
            .iter()
            .for_each(|line| draft.more(line));
    }
    for kind in &kinds {
        draft.table("[[nodes.drives]]");
        one(draft, kind, has_only_boot);
    }
}

/// One kind of drives. `is_all` is a system drive beside which there is no other: data can lie
/// nowhere else.
fn one(draft: &mut Draft, kind: &Kind, is_all: bool) {
    let model =
        if kind.model.is_empty() { "model unknown".to_owned() } else { comment(&kind.model) };
    let media = if kind.media.words().is_empty() { "unknown medium" } else { kind.media.words() };
    draft.remark(&format!("{model}, {media}, {} bytes.", kind.size));
    if kind.is_boot {
        draft.remark("The operating system starts from it.");
        if kind.is_target {
            draft.remark("A target lies on it, too: it is for data.");
        } else if is_all {
            draft.ask(
                "Here it is for data, as there is no other. Do the targets lie elsewhere?",
                "role = \"boot\"",
            );
        } else {
            draft.text("role", "boot");
        }
    } else {
        draft.ask(
            "Is it for data, a tier in front of others (\"cache\"), a log (\"journal\"), or the \
             system's (\"boot\")?",
            "role = \"cache\"",
        );
    }
    draft.number("count", kind.count);
    match recognise(&kind.model, kind.size) {
        Some(device) => {
            draft.question(&format!(
                "The catalogue has it as {}; is that the drive?",
                comment(&device.spec.name.value)
            ));
            draft.text("model", &device.id);
        }
        None => {
            draft.text("capacity", &decimal_size(kind.size));
            if !kind.is_boot || is_all || kind.is_target {
                unknown(draft, kind.media);
            }
        }
    }
}

fn unknown(draft: &mut Draft, media: Media) {
    if media == Media::Virtual {
        draft.question(
            "It is a virtual disk. What is behind it? Use the limits that its provider states.",
        );
    } else {
        let question = "Which drive of the catalogue is it (`plimsoll ceiling --devices`), or \
                        which class is it like?";
        draft.ask(question, &format!("model = \"{}\"", class(media)));
    }
    draft.ask(
        "Or what does its datasheet state? Sequential, then random 4 KiB, sustained.",
        "read = \"3.2GB/s\"",
    );
    ["write = \"2GB/s\"", "read_iops = 600_000", "write_iops = 200_000"]
        .iter()
        .for_each(|line| draft.more(line));
}
