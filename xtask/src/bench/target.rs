//! What the contenders load: made before the first round, gone after the last.

use crate::shell::{self, Outcome};
use std::fs;
use std::path::PathBuf;

/// A file or device that all contenders load in turn.
pub struct Target {
    /// Where it is.
    pub path: PathBuf,
    /// How much of it is loaded.
    pub bytes: u64,
    /// Whether to go around the page cache.
    pub direct: bool,
    /// A folder for what contenders write.
    pub scratch: PathBuf,
    /// A device to remove at the end, by its number.
    zram: Option<String>,
}

fn scratch() -> Outcome<PathBuf> {
    if shell::which("fio").is_none() || shell::which("taskset").is_none() {
        return Err("fio or taskset is not installed (`cargo xtask test` as root installs them)".to_owned());
    }
    let folder = shell::target_dir()?.join(format!("bench-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    Ok(folder)
}

impl Target {
    /// A file of 256 KiB that stays in the page cache.
    pub fn cached_file() -> Outcome<Target> {
        let scratch = scratch()?;
        let path = scratch.join("cached.bin");
        let bytes = 256 << 10;
        let content: Vec<u8> = (0..bytes).map(|n| (n % 253) as u8).collect();
        fs::write(&path, content).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        Ok(Target { path, bytes: bytes as u64, direct: false, scratch, zram: None })
    }

    /// A zram device of 1 GiB of its own. Pages that were never written read as zeros: next to no device at all.
    pub fn zram() -> Outcome<Target> {
        if !shell::is_root() {
            return Err("only root can make a zram device".to_owned());
        }
        // First what can fail: from here on, a device exists that only a `Target` removes.
        let scratch = scratch()?;
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")
            .map_err(|error| format!("this kernel gives no zram device: {error}"))?;
        let number = number.trim().to_owned();
        let target = Target {
            path: PathBuf::from(format!("/dev/zram{number}")),
            bytes: 1 << 30,
            direct: true,
            scratch,
            zram: Some(number.clone()),
        };
        fs::write(format!("/sys/block/zram{number}/disksize"), "1G")
            .map_err(|error| format!("the zram device takes no size: {error}"))?;
        Ok(target)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // What cannot be removed is a file in the target directory, or a device without pages.
        let _ = fs::remove_dir_all(&self.scratch);
        if let Some(number) = &self.zram {
            // Somebody (a udev rule, a late close) may still look at it for a moment.
            let gone = (0..20).any(|_| {
                let removed = fs::write("/sys/class/zram-control/hot_remove", number).is_ok();
                if !removed {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
                removed
            });
            if !gone {
                println!("/dev/zram{number} is still in use and stays; `zramctl --reset` removes it later");
            }
        }
    }
}
