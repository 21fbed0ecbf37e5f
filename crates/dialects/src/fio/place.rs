//! Where the jobs of a group go: regions of files or devices, and the window that each job loads.

use super::job::{Away, Job};
use crate::words::values::Extent;

/// What a job loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Files of its own, for each of its workers.
    Own,
    /// Files of these names.
    Files(Vec<String>),
    /// Devices; none where they have no path here.
    Devices(Vec<String>),
    /// `/dev/null` and `/dev/zero`.
    Nothing,
}

/// Where a job goes.
pub fn place(job: &Job) -> Place {
    if job.away == Some(Away::Device) {
        return Place::Devices(Vec::new());
    }
    let Some(names) = &job.filename else { return Place::Own };
    if job.away == Some(Away::Volume) {
        return Place::Files(names.clone());
    }
    let is_nothing = |name: &String| ["/dev/null", "/dev/zero"].contains(&name.as_str());
    let is_device = |name: &String| {
        (name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) || name.starts_with("\\\\.\\")
    };
    match names.as_slice() {
        [] => Place::Own,
        names if names.iter().all(is_nothing) => Place::Nothing,
        names if names.iter().all(|name| is_command_path(name)) => Place::Devices(Vec::new()),
        names if names.iter().all(is_device) => {
            let block = |name: &String| block_device(name).unwrap_or_else(|| name.clone());
            Place::Devices(names.iter().map(block).collect())
        }
        names => Place::Files(names.to_vec()),
    }
}

/// The block device of a namespace of NVMe whose character device is named.
fn block_device(name: &str) -> Option<String> {
    let rest = name.strip_prefix("/dev/ng")?;
    let (controller, namespace) = rest.split_once('n')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let both = is_number(controller) && is_number(namespace);
    both.then(|| format!("/dev/nvme{controller}n{namespace}"))
}

/// Whether a path takes commands or mappings alone, and the block device behind it has another one.
fn is_command_path(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    name.starts_with("/dev/bsg/")
        || name.starts_with("/dev/dax")
        || name.strip_prefix("/dev/sg").is_some_and(is_number)
}

/// Whether a job names character devices of NVMe.
pub fn has_characters(job: &Job) -> bool {
    job.filename.iter().flatten().any(|name| block_device(name).is_some())
}

/// How many workers a job has; `None` is as many as there are CPUs.
pub fn workers(job: &Job) -> Option<u64> {
    job.numjobs.unwrap_or(Some(1)).map(|count| count.clamp(1, 65_536))
}

/// How many files a worker has, or all of them share.
pub fn files(job: &Job) -> u64 {
    match place(job) {
        Place::Own => job.number("files").map_or(1, |count| count.clamp(1, 65_536)),
        Place::Files(names) | Place::Devices(names) => names.len() as u64,
        Place::Nothing => 1,
    }
}

/// The bytes of a job: all there are, where its window begins, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bytes {
    /// All that it has, if that is known: for one worker where files are its own.
    pub all: Option<u64>,
    /// Where the window begins, as a share of all.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Whether both shares are known.
    pub is_known: bool,
}

/// What of its bytes a job loads.
pub fn bytes(job: &Job) -> Bytes {
    let count = files(job);
    let file = job.filesize.map(|(least, most)| u64::midpoint(least, most));
    let files = file.map(|file| file.saturating_mul(count));
    let size = job.size.filter(|_| !roams(job));
    let offset = job.offset.unwrap_or(Extent::Bytes(0));
    // Each file begins there.
    let offset_bytes = match offset {
        Extent::Bytes(bytes) => bytes.saturating_mul(count),
        Extent::Share(_) => 0,
    };
    let length = match size {
        Some(Extent::Bytes(bytes)) => Some(bytes),
        Some(Extent::Share(_)) | None => None,
    };
    // With a size of its own, a file may be larger than what is loaded of it.
    let all = match (files, length) {
        // A job ends where its file does.
        (Some(files), Some(_)) if count == 1 && offset_bytes < files => Some(files),
        (Some(files), Some(length)) => Some(files.max(offset_bytes.saturating_add(length))),
        (Some(files), None) => Some(files),
        (None, Some(length)) => Some(offset_bytes.saturating_add(length)),
        (None, None) => None,
    };
    let all = match job.increment {
        Some(step) if place(job) != Place::Own => {
            incremented(job, step, offset_bytes / count.max(1)).or(all)
        }
        _ => all,
    };
    // A file that is smaller than `size` is loaded as a whole.
    let all = match (files, length) {
        (Some(files), Some(length)) if length > files => Some(files),
        _ => all,
    };
    let all = all.filter(|_| !is_of_device(job));
    let (from, known_from) = match (offset, all) {
        (Extent::Share(ppm), _) => (ppm as f64 / 1e6, true),
        (Extent::Bytes(0), _) => (0.0, true),
        (Extent::Bytes(_), Some(all)) if all > 0 => (offset_bytes as f64 / all as f64, true),
        (Extent::Bytes(_), _) => (0.0, false),
    };
    let to = match (size, all) {
        _ if job.increment.is_some() => 1.0,
        (Some(Extent::Share(ppm)), _) => from + ppm as f64 / 1e6,
        (Some(Extent::Bytes(bytes)), Some(all)) if all > 0 => from + bytes as f64 / all as f64,
        _ => 1.0,
    };
    let to = if to > from { to.min(1.0) } else { 1.0 };
    let left = all.map_or(0.0, |all| (passed_over(job) * count) as f64 / all.max(1) as f64);
    let to = if to - left > from { to - left } else { to };
    Bytes { all, from: if from < to { from } else { 0.0 }, to, is_known: known_from }
}

/// Whether its random requests go anywhere in files that are larger than its `size`, which then
/// says how much it sends.
pub(super) fn roams(job: &Job) -> bool {
    let (Some((least, most)), Some(Extent::Bytes(size))) = (job.filesize, job.size) else {
        return false;
    };
    job.direction().random && size < u64::midpoint(least, most).saturating_mul(files(job))
}

/// Whether so many bytes begin at a share of a device: where they end depends on the device.
fn is_of_device(job: &Job) -> bool {
    let both = (job.offset, job.size, job.filesize, job.increment);
    let is_mixed = matches!(both, (Some(Extent::Share(_)), Some(Extent::Bytes(_)), None, None));
    is_mixed && matches!(place(job), Place::Devices(_))
}

/// The bytes at the end of each file that fio never comes to on its way back: it takes a step from
/// behind the last block, and a block lies behind where it is sent. Where that is one block alone,
/// fio sends as many requests as there are blocks.
fn passed_over(job: &Job) -> u64 {
    let of = job.direction();
    let step = if of.random { 0 } else { of.behind.min(0).unsigned_abs() };
    let block = job.one_size().unwrap_or(step);
    if step > block.saturating_mul(2) { (step - block).min(1 << 40) } else { 0 }
}

/// The end of the last worker's part, where each begins an increment after the one before.
fn incremented(job: &Job, increment: Extent, offset: u64) -> Option<u64> {
    let Extent::Bytes(increment) = increment else { return None };
    workers(job)?.checked_mul(increment)?.checked_add(offset)
}

/// A share as a suite writes it, in 0.0001 %, and whether it had to be rounded.
pub fn rounded(share: f64) -> (u64, bool) {
    let ppm = share * 1e6;
    (ppm.round() as u64, (ppm - ppm.round()).abs() > 1e-6)
}

/// The least range of whole 0.0001 % that has all of a window in it. A plan rounds ranges inwards
/// to blocks, so that nothing is added where 0.0001 % are less than a block.
pub fn around(from: f64, to: f64) -> [u64; 2] {
    // What is whole but for the last bits of a number is whole.
    let (from, to) = (from * 1e6, to * 1e6);
    [(from + 1e-6).floor() as u64, ((to - 1e-6).ceil() as u64).min(1_000_000)]
}

/// The directory of Plimsoll's own that stands for a file or for a directory of fio's.
pub fn target(job: &Job) -> Vec<String> {
    let directories = job.directory.clone().unwrap_or_default();
    let inside = |directory: &str| match directory.trim_end_matches('/') {
        "" => "/plimsoll-data".to_owned(),
        directory => format!("{directory}/plimsoll-data"),
    };
    match place(job) {
        Place::Devices(names) => unique(names),
        // A path inside of a volume is none here.
        _ if job.away.is_some() => Vec::new(),
        Place::Nothing => Vec::new(),
        // The first worker goes to the first directory, the next one to the next: of more
        // directories than workers, the last ones have none.
        Place::Own => {
            let used = workers(job).map_or(directories.len(), |count| count as usize);
            unique(directories.iter().take(used).map(|name| inside(name)).collect())
        }
        Place::Files(names) => {
            let of_name = |name: &String| {
                let parent = name.rsplit_once('/').map(|(parent, _)| parent);
                let directory = directories.first();
                match (parent, directory) {
                    (Some(parent), _) if name.starts_with('/') => Some(inside(parent)),
                    (Some(parent), Some(directory)) => {
                        Some(inside(&format!("{directory}/{parent}")))
                    }
                    (None, Some(directory)) => Some(inside(directory)),
                    (Some(parent), None) => Some(inside(parent)),
                    (None, None) => None,
                }
            };
            unique(names.iter().filter_map(of_name).collect())
        }
    }
}

fn unique(all: Vec<String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for path in all {
        if !once.contains(&path) {
            once.push(path);
        }
    }
    once
}
