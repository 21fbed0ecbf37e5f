//! What the contenders load: made before the first round, gone after the last.

use crate::shell::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const FIRST_READ_WITHIN: Duration = Duration::from_secs(10);

/// A file or device that all contenders load in turn.
pub struct Target {
    /// Where it is.
    pub path: PathBuf,
    /// How much of it is loaded.
    pub bytes: u64,
    /// Whether to go around the page cache.
    pub direct: bool,
    /// It knows no requests that do not wait, so that the engine hands them to threads of the
    /// kernel at once.
    pub refuses_nowait: bool,
    /// Whether it is a folder with a file for each worker, under the worker's number.
    pub own: bool,
    /// A folder for what contenders write.
    pub scratch: PathBuf,
    /// What to take away besides the folder.
    made: Made,
}

enum Made {
    Nothing,
    /// A device, by its number.
    Zram(String),
    /// A file system on this folder.
    Mount(PathBuf),
    /// This device, of a file.
    Loop(String),
    /// This file alone.
    File,
}

/// A folder that goes when it is dropped.
pub struct Folder(pub PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A folder of our own in the target directory.
///
/// # Errors
/// It cannot be made.
pub fn scratch() -> Outcome<PathBuf> {
    shell::folder(shell::target_dir()?.join(format!("bench-{}", std::process::id())))
}

fn fill(path: &Path, bytes: u64) -> Outcome<()> {
    let content: Vec<u8> = (0..bytes).map(|n| (n % 253) as u8).collect();
    let written = fs::write(path, content).and_then(|()| fs::File::open(path)?.sync_all());
    written.map_err(shell::at(&path))
}

fn need_root(what: &str) -> Outcome<()> {
    if shell::is_root() { Ok(()) } else { Err(format!("only root can make {what}")) }
}

impl Target {
    /// Not yet filled, and gone with its scratch folder.
    fn at(path: PathBuf, bytes: u64, direct: bool, scratch: PathBuf) -> Target {
        let (refuses_nowait, own, made) = (false, false, Made::Nothing);
        Target { path, bytes, direct, refuses_nowait, own, scratch, made }
    }

    fn filled(self) -> Outcome<Target> {
        fill(&self.path, self.bytes).map(|()| self)
    }

    /// A file of 256 KiB that stays in the page cache.
    pub fn cached_file() -> Outcome<Target> {
        let scratch = scratch()?;
        Target::at(scratch.join("target.bin"), 256 << 10, false, scratch).filled()
    }

    /// A file of 256 MiB on the disk under the target directory, around the page cache.
    pub fn disk_file() -> Outcome<Target> {
        let scratch = scratch()?;
        Target::at(scratch.join("target.bin"), 256 << 20, true, scratch).filled()
    }

    /// A file of 64 MiB on a tmpfs of its own, with direct I/O, which tmpfs takes since Linux 6.6.
    pub fn tmpfs_file() -> Outcome<Target> {
        need_root("a tmpfs")?;
        let scratch = scratch()?;
        let folder = shell::folder(scratch.join("tmpfs"))?;
        shell::capture(
            Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=128m", "plimsoll-bench"])
                .arg(&folder),
        )?;
        let mut target = Target::at(folder.join("target.bin"), 64 << 20, true, scratch);
        (target.refuses_nowait, target.made) = (true, Made::Mount(folder));
        target.filled()
    }

    /// A zram device of 1 GiB of its own. Pages that were never written read as zeros: next to no
    /// device at all.
    pub fn zram() -> Outcome<Target> {
        need_root("a zram device")?;
        let scratch = scratch()?;
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")
            .map_err(|error| format!("this kernel gives no zram device: {error}"))?;
        let number = number.trim().to_owned();
        let path = PathBuf::from(format!("/dev/zram{number}"));
        let mut target = Target::at(path, 1 << 30, true, scratch);
        (target.refuses_nowait, target.made) = (true, Made::Zram(number.clone()));
        fs::write(format!("/sys/block/zram{number}/disksize"), "1G")
            .map_err(|error| format!("the zram device takes no size: {error}"))?;
        Ok(target)
    }

    /// A folder in which each of `workers` has a file that stays in the page cache.
    pub fn cached_files(workers: u32) -> Outcome<Target> {
        let scratch = scratch()?;
        let mut target = Target::at(shell::folder(scratch.join("own"))?, 256 << 10, false, scratch);
        target.own = true;
        target.files(workers).iter().try_for_each(|file| fill(file, target.bytes))?;
        Ok(target)
    }

    /// A file of 16 MiB on the tmpfs that every Linux has.
    pub fn shared_memory() -> Outcome<Target> {
        let path = PathBuf::from(format!("/dev/shm/plimsoll-bench-{}", std::process::id()));
        let mut target = Target::at(path, 16 << 20, false, scratch()?);
        (target.refuses_nowait, target.made) = (true, Made::File);
        target.filled()
    }

    /// A loop device of its own over a file of 256 MiB, around the page cache.
    pub fn loop_device() -> Outcome<Target> {
        need_root("a loop device")?;
        let mut target = Target::disk_file()?;
        let words = ["--find", "--show", "--direct-io=on"];
        let device = shell::capture(Command::new("losetup").args(words).arg(&target.path))?;
        target.path = PathBuf::from(device.trim());
        target.made = Made::Loop(device.trim().to_owned());
        Ok(target)
    }

    /// The files of so many workers: one of each, or one of all.
    pub fn files(&self, workers: u32) -> Vec<PathBuf> {
        match self.own {
            true => (0..workers).map(|number| self.path.join(number.to_string())).collect(),
            false => vec![self.path.clone()],
        }
    }

    /// From the start of `command`, which loads the device, to the first read that this sees, in
    /// ms. It is looked at after every `rest`.
    ///
    /// # Errors
    /// The device counts nothing, or the program fails or reads nothing.
    pub fn first_read_ms(&self, command: &mut Command, rest: Duration) -> Outcome<f64> {
        let before = self.reads_seen().ok_or("the device counts no reads")?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child =
            command.spawn().map_err(|error| format!("plimsoll cannot be started: {error}"))?;
        let mut first = None;
        while first.is_none() && start.elapsed() < FIRST_READ_WITHIN {
            first = self.reads_seen().filter(|reads| *reads > before).map(|_| start.elapsed());
            std::thread::sleep(rest);
        }
        let status = child.wait().map_err(|error| format!("plimsoll is lost: {error}"))?;
        let seen = first.is_some();
        first
            .filter(|_| status.success())
            .map(|time| time.as_secs_f64() * 1e3)
            .ok_or_else(|| format!("plimsoll ended with {status}, its first read was seen: {seen}"))
    }

    /// How many reads the device has seen, by the kernel's count; `None` where the target is a
    /// file.
    fn reads_seen(&self) -> Option<u64> {
        let Made::Zram(number) = &self.made else { return None };
        let stat = fs::read_to_string(format!("/sys/block/zram{number}/stat")).ok()?;
        stat.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // What cannot be taken away is a file in the target directory, or a device or a tmpfs
        // without pages.
        match &self.made {
            Made::Nothing => {}
            Made::Zram(number) => remove_zram(number),
            Made::File => drop(fs::remove_file(&self.path)),
            Made::Loop(device) => {
                if let Err(why) = shell::capture(Command::new("losetup").args(["-d", device])) {
                    println!("{device} stays: {why}");
                }
            }
            Made::Mount(folder) => {
                let _ = fs::remove_file(&self.path);
                if let Err(why) = shell::capture(Command::new("umount").arg(folder)) {
                    println!("{} stays mounted: {why}", folder.display());
                    return;
                }
            }
        }
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

fn remove_zram(number: &str) {
    // Somebody (a udev rule, a late close) may still look at it for a moment.
    let gone = (0..20).any(|_| {
        let removed = fs::write("/sys/class/zram-control/hot_remove", number).is_ok();
        if !removed {
            std::thread::sleep(Duration::from_millis(50));
        }
        removed
    });
    if !gone {
        println!("/dev/zram{number} is still in use and stays; `zramctl --reset` removes it later");
    }
}
