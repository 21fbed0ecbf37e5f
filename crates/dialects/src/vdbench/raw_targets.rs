//! The storage of a run as targets, and the layout on them.

use super::definition::Definition;
use crate::apart::inside;
use crate::apart::{Apart, apart};
use crate::draft::{Group, size};
use crate::loss::{Losses, Verdict};

pub(super) fn is_device(storage: &Definition) -> bool {
    let lun = storage.values.text("lun").unwrap_or_default();
    lun.starts_with("/dev/") || lun.starts_with("\\\\.\\")
}

pub(super) fn targets(used: &[&Definition], losses: &mut Losses, group: &mut Group) {
    let mut places: Vec<(String, u64)> = Vec::new();
    let has_files = used.iter().any(|storage| !is_device(storage));
    for storage in used {
        if is_device(storage) && has_files {
            let why = "as many of its first bytes as the files beside it have";
            ["lun", "size"]
                .iter()
                .for_each(|slot| storage.worsen(slot, losses, Verdict::near(why)));
        }
        let Some(lun) = storage.values.text("lun") else { continue };
        let place = match lun {
            lun if lun.starts_with("/dev/") => lun.to_owned(),
            lun if is_of_windows(lun) => continue,
            lun => inside(lun.rsplit_once('/').map_or(".", |(directory, _)| directory)),
        };
        if group.targets_from.is_empty() {
            group.targets_from = storage.values.source("lun", losses);
        }
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, files)) => *files += 1,
            None => places.push((place, 1)),
        }
    }
    match has_files {
        true => {
            let most = places.iter().map(|(_, files)| *files).max();
            let many = most.unwrap_or(used.len() as u64).clamp(1, 65_536);
            group.layout.set("files", many.to_string(), "");
            file_size(used, losses, group);
        }
        false => device_size(used, losses, group),
    }
    group.targets = places.into_iter().map(|(place, _)| place).collect();
}

fn is_of_windows(lun: &str) -> bool {
    lun.contains('\\') || lun.contains(':')
}

/// All files have the largest size.
fn file_size(used: &[&Definition], losses: &mut Losses, group: &mut Group) {
    let mut largest = (0, String::new());
    for storage in used.iter().filter(|storage| !is_device(storage)) {
        let Some(bytes) = storage.values.number("size") else { continue };
        if largest.0 != 0 && largest.0 != bytes {
            storage.worsen("size", losses, Verdict::near("all files have the largest size"));
        }
        if bytes >= largest.0 {
            largest = (bytes, storage.values.source("size", losses));
        }
    }
    if largest.0 > 0 {
        group.layout.set("size", size(largest.0), largest.1);
    }
}

/// Devices are loaded as a whole, or as far as their `size` says.
fn device_size(used: &[&Definition], losses: &mut Losses, group: &mut Group) {
    let bytes = |storage: &&Definition| storage.values.number("size").filter(|size| *size > 0);
    let given: Vec<(u64, &Definition)> =
        used.iter().filter_map(|storage| Some((bytes(storage)?, *storage))).collect();
    let least = given.iter().min_by_key(|(bytes, _)| *bytes);
    let why = match least {
        Some((least, storage)) if given.len() == used.len() => {
            group.layout.set("size", size(*least), storage.values.source("size", losses));
            let differs = given.iter().any(|(bytes, _)| bytes != least);
            differs.then_some("all devices are loaded as far as the smallest of these sizes")
        }
        _ => {
            group.layout.set("size", "\"free\"", "that of the smallest device");
            Some("the whole device is loaded, not its first bytes: seeks are longer")
        }
    };
    for ((_, storage), why) in given.iter().zip(why.iter().cycle()) {
        storage.worsen("size", losses, Verdict::near(*why));
    }
}

/// Gives each storage a target of its own; the place of each of `used` among them.
pub(super) fn apart_targets(
    used: &[&Definition],
    losses: &mut Losses,
    group: &mut Group,
) -> Vec<usize> {
    let luns: Vec<Option<&str>> = used.iter().map(|one| one.values.text("lun")).collect();
    let is_known = |lun: &&str| !is_of_windows(lun);
    let paths: Vec<Option<&str>> = luns.iter().map(|lun| lun.filter(is_known)).collect();
    let names = used.iter().zip(&luns);
    let names: Vec<&str> = names.map(|(storage, lun)| lun.unwrap_or(&storage.name)).collect();
    let Apart { targets, of } = apart(&paths, &names);
    for (storage, path) in used.iter().zip(&paths) {
        if path.is_none() {
            storage.worsen("lun", losses, Verdict::near(WINDOWS));
        }
    }
    group.targets = targets;
    if group.layout.get("files").is_some() {
        group.layout.set("files", "1", "");
    }
    of
}

const WINDOWS: &str = "a folder stands for it, and `--target` names others, in \
the order of `[targets]`";
