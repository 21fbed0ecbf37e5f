//! The storage of a run as targets, and the layout on them.

use super::storage::Storage;
use crate::apart::{Apart, apart};
use crate::draft::{Group, size};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::{Got, inside};

pub(super) fn is_device(storage: &Storage) -> bool {
    let lun = storage.lun.as_ref().map(|got| got.value.as_str()).unwrap_or_default();
    lun.starts_with("/dev/") || lun.starts_with("\\\\.\\")
}

/// How many devices and files these are.
pub(super) fn files(of: &[usize], storages: &[Storage]) -> u64 {
    let count = |number: &usize| storages[*number].count.as_ref().map_or(1, |got| got.value);
    of.iter().map(count).sum::<u64>().min(65_536)
}

pub(super) fn targets(
    used: &[usize],
    storages: &[Storage],
    losses: &mut Losses,
    group: &mut Group,
) {
    let mut places: Vec<(String, u64)> = Vec::new();
    let mut largest = None;
    let has_files = used.iter().any(|number| !is_device(&storages[*number]));
    if !has_files {
        device_size(used, storages, losses, group);
    }
    for number in used {
        let storage = &storages[*number];
        if is_device(storage) && has_files {
            let why = "as many of its first bytes as the files beside it have";
            for id in
                [storage.lun.as_ref().map(|got| got.id), storage.size.as_ref().map(|got| got.id)]
                    .into_iter()
                    .flatten()
            {
                losses.worsen(id, Verdict::near(why));
            }
        }
        if let Some(got) = storage.size.as_ref() {
            match is_device(storage) {
                true => {}
                false => {
                    let old = largest.as_ref().map_or(0, |got: &Got<u64>| got.value);
                    if old != 0 && old != got.value {
                        let why = "all files have the largest size";
                        losses.worsen(got.id, Verdict::near(why));
                    }
                    if got.value >= old {
                        largest = Some(got.clone());
                    }
                }
            }
        }
        let Some(lun) = &storage.lun else { continue };
        let place = match lun.value.as_str() {
            lun if lun.starts_with("/dev/") => lun.to_owned(),
            lun if lun.contains('\\') || lun.contains(':') => continue,
            lun => inside(lun.rsplit_once('/').map_or(".", |(directory, _)| directory)),
        };
        if group.targets_from.is_empty() {
            group.targets_from = losses.source(lun.id);
        }
        let many = files(&[*number], storages);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, files)) => *files += many,
            None => places.push((place, many)),
        }
    }
    let most = places.iter().map(|(_, files)| *files).max();
    if has_files {
        let many = most.unwrap_or_else(|| files(used, storages)).clamp(1, 65_536);
        group.layout.set("files", many.to_string(), "");
        if let Some(got) = largest.filter(|got| got.value > 0) {
            group.layout.set("size", size(got.value), losses.source(got.id));
        }
    }
    group.targets = places.into_iter().map(|(place, _)| place).collect();
}

/// Devices are loaded as a whole, or as far as their `size` says.
fn device_size(used: &[usize], storages: &[Storage], losses: &mut Losses, group: &mut Group) {
    let sizes: Vec<Option<&Got<u64>>> =
        used.iter().map(|number| storages[*number].size.as_ref()).collect();
    let given = || sizes.iter().flatten().filter(|got| got.value > 0);
    let least = given().min_by_key(|got| got.value);
    match least {
        Some(least) if given().count() == sizes.len() => {
            if given().any(|got| got.value != least.value) {
                let why = "all devices are loaded as far as the smallest of these sizes";
                given().for_each(|got| losses.worsen(got.id, Verdict::near(why)));
            }
            group.layout.set("size", size(least.value), losses.source(least.id));
        }
        _ => {
            for got in given() {
                let why = "the whole device is loaded, not its first bytes: seeks are longer";
                losses.worsen(got.id, Verdict::near(why));
            }
            group.layout.set("size", "\"free\"", "that of the smallest device");
        }
    }
}

/// Gives each storage a target of its own; the place of each of `used` among them.
pub(super) fn apart_targets(
    used: &[usize],
    storages: &[Storage],
    losses: &mut Losses,
    group: &mut Group,
) -> Vec<usize> {
    let lun = |number: &usize| storages[*number].lun.as_ref();
    let is_windows = |lun: &str| lun.contains('\\') || lun.contains(':');
    let path = |number: &usize| lun(number).map(|got| got.value.as_str());
    let paths: Vec<Option<&str>> =
        used.iter().map(|number| path(number).filter(|lun| !is_windows(lun))).collect();
    let names: Vec<&str> =
        used.iter().map(|number| path(number).unwrap_or(&storages[*number].name)).collect();
    let Apart { targets, of } = apart(&paths, &names);
    for got in used.iter().filter_map(lun).filter(|got| is_windows(&got.value)) {
        losses.worsen(got.id, Verdict::near(WINDOWS));
    }
    group.targets = targets;
    if group.layout.get("files").is_some() {
        let counts = used.iter().map(|number| files(&[*number], storages));
        let most = counts.clone().max().unwrap_or(1);
        if counts.clone().any(|count| count != most) {
            let why = "each storage has as many files as the one with most";
            for got in used.iter().filter_map(|number| storages[*number].count.as_ref()) {
                losses.worsen(got.id, Verdict::near(why));
            }
        }
        group.layout.set("files", most.to_string(), "");
    }
    of
}

const WINDOWS: &str = "a path of Windows; a folder stands for it, and `--target` names others, in \
the order of `[targets]`";
