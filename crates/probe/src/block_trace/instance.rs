//! A private instance of tracefs: made, set up, and removed.

use super::BlockTraceError;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where tracefs belongs.
const PLACE: &str = "/sys/kernel/tracing";
/// The names of our instances; the process's number follows, and that of the instance.
const NAME: &str = "plimsoll-";
/// The longest text of a file that is read.
const MOST_TEXT: usize = 64 << 10;
/// Memory of all processors' buffers together, in KiB, and of each.
const ALL_KIB: usize = 64 << 10;
const LEAST_KIB: usize = 256;
const MOST_KIB: usize = 8 << 10;

/// Removed when it is dropped.
pub(super) struct Instance {
    root: PathBuf,
    path: PathBuf,
    /// Whether tracefs was mounted for it.
    is_mounted_here: bool,
    kib: usize,
}

impl Instance {
    pub(super) fn create() -> Result<Instance, BlockTraceError> {
        let (root, is_mounted_here) = match mounted() {
            Some(root) => (root, false),
            None => (mount_it()?, true),
        };
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{NAME}{}-{number}", std::process::id());
        let path = root.join("instances").join(name);
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let kib = kib_of_each(cpus);
        let instance = Instance { root, path, is_mounted_here, kib };
        remove_dead(&instance.root.join("instances"));
        match std::fs::create_dir(&instance.path) {
            Ok(()) => Ok(instance),
            Err(error) => {
                let name = instance.path.display().to_string();
                // What was not made is not removed.
                let root = instance.root.clone();
                std::mem::forget(instance);
                if is_mounted_here {
                    let _ = unmount(&root, UnmountFlags::empty());
                }
                match error.kind() {
                    io::ErrorKind::PermissionDenied => Err(BlockTraceError::NotPermitted),
                    _ => Err(BlockTraceError::File { name, error }),
                }
            }
        }
    }

    /// A file of it; what is the same for all instances stands at the root.
    pub(super) fn text(&self, name: &str) -> Result<String, BlockTraceError> {
        let own = self.path.join(name);
        let path = if own.exists() { own } else { self.root.join(name) };
        whole(&path).map_err(|error| failed(&path, error))
    }

    pub(super) fn write(&self, name: &str, value: &str) -> Result<(), BlockTraceError> {
        let path = self.path.join(name);
        let file = OpenOptions::new().write(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(value.as_bytes()));
        written.map_err(|error| failed(&path, error))
    }

    pub(super) fn size_buffers(&self) -> Result<(), BlockTraceError> {
        self.write("buffer_size_kb", &self.kib.to_string())
    }

    pub(super) fn cpus(&self) -> Result<Vec<File>, BlockTraceError> {
        let folder = self.path.join("per_cpu");
        let entries = std::fs::read_dir(&folder).map_err(|error| failed(&folder, error))?;
        let mut cpus = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path().join("trace_pipe_raw");
            let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
            let file = OpenOptions::new().read(true).custom_flags(flags).open(&path);
            cpus.push(file.map_err(|error| failed(&path, error))?);
        }
        Ok(cpus)
    }

    pub(super) fn pages(&self, page_bytes: usize) -> usize {
        (self.kib << 10) / page_bytes.max(1) + 2
    }

    /// Events for which there was no room.
    pub(super) fn lost(&self) -> Result<u64, BlockTraceError> {
        let folder = self.path.join("per_cpu");
        let entries = std::fs::read_dir(&folder).map_err(|error| failed(&folder, error))?;
        let mut lost = 0u64;
        for entry in entries.flatten() {
            let path = entry.path().join("stats");
            let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            let counts = text.lines().filter_map(|line| line.split_once(':'));
            let of_lost = counts.filter(|(name, _)| {
                ["overrun", "commit overrun", "dropped events"].contains(&name.trim())
            });
            let numbers = of_lost.filter_map(|(_, value)| value.trim().parse::<u64>().ok());
            lost = numbers.fold(lost, u64::saturating_add);
        }
        Ok(lost)
    }
}

/// The text of a file. In one piece: of some of tracefs' files the kernel tells no second one.
fn whole(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; MOST_TEXT];
    let mut length = 0;
    while length < bytes.len() {
        match file.read(&mut bytes[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Whoever comes next removes what cannot be removed now.
        let _ = std::fs::remove_dir(&self.path);
        if self.is_mounted_here {
            // Others may use it by now; then it stays.
            let _ = unmount(&self.root, UnmountFlags::empty());
        }
    }
}

fn failed(path: &Path, error: io::Error) -> BlockTraceError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => BlockTraceError::NotPermitted,
        _ => BlockTraceError::File { name: path.display().to_string(), error },
    }
}

fn mounted() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let places = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (place, kind) = (words.nth(1)?, words.next()?);
        (kind == "tracefs" && !place.contains('\\')).then_some(place)
    });
    let places: Vec<&str> = places.collect();
    let usual = places.iter().find(|place| **place == PLACE);
    usual.or(places.first()).map(PathBuf::from)
}

fn mount_it() -> Result<PathBuf, BlockTraceError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("tracefs", PLACE, "tracefs", flags, None) {
        Ok(()) => Ok(PathBuf::from(PLACE)),
        Err(rustix::io::Errno::PERM | rustix::io::Errno::ACCESS) => {
            Err(BlockTraceError::NotPermitted)
        }
        Err(error) => Err(BlockTraceError::NoTracefs(error.into())),
    }
}

/// Removes what killed processes of ours left in tracefs, where it is mounted: until then, the
/// kernel goes on to trace every disk.
pub fn remove_left() {
    if let Some(root) = mounted() {
        remove_dead(&root.join("instances"));
    }
}

/// Removes the instances of ours whose process is dead.
fn remove_dead(instances: &Path) {
    for entry in std::fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if is_of_dead(&name.to_string_lossy(), |process| {
            Path::new("/proc").join(process.to_string()).exists()
        }) {
            // One that is in use cannot be removed.
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

fn is_of_dead(name: &str, is_alive: impl Fn(u32) -> bool) -> bool {
    name.strip_prefix(NAME)
        .and_then(|numbers| numbers.split('-').next()?.parse::<u32>().ok())
        .is_some_and(|process| !is_alive(process))
}

fn kib_of_each(cpus: usize) -> usize {
    (ALL_KIB / cpus.max(1)).clamp(LEAST_KIB, MOST_KIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_dead_processes_of_ours_alone_are_removed() {
        let is_alive = |process| process == 7;
        assert!(is_of_dead("plimsoll-8", is_alive) && is_of_dead("plimsoll-8-7", is_alive));
        for other in
            ["plimsoll-7", "plimsoll-7-8", "plimsoll-", "plimsoll-x", "bpftrace", "myplimsoll-8"]
        {
            assert!(!is_of_dead(other, is_alive), "{other}");
        }
    }

    #[test]
    fn buffers_of_many_processors_stay_within_their_memory() {
        assert_eq!((kib_of_each(2), kib_of_each(64), kib_of_each(100_000)), (8192, 1024, 256));
    }
}
