//! File systems of our own to make files in: mounted before the first round, gone after the last.

use super::target::scratch;
use crate::shell::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tmpfs, and what is mounted from files in it.
pub struct Scenery {
    /// In the target directory; holds the place where the tmpfs is mounted.
    base: PathBuf,
    /// The tmpfs.
    memory: PathBuf,
    /// Whether the tmpfs is mounted.
    mounted: bool,
}

impl Scenery {
    /// A tmpfs with room for some million files.
    ///
    /// # Errors
    /// This is not root, or the mount fails.
    pub fn new() -> Outcome<Scenery> {
        if !shell::is_root() {
            return Err("only root can mount file systems".to_owned());
        }
        let base = scratch()?;
        let memory = base.join("memory");
        let mut scenery = Scenery { base, memory, mounted: false };
        shell::folder(scenery.memory.clone())?;
        let options = ["-t", "tmpfs", "-o", "size=6g,nr_inodes=4m", "plimsoll-bench"];
        shell::capture(Command::new("mount").args(options).arg(&scenery.memory))?;
        scenery.mounted = true;
        Ok(scenery)
    }

    /// A folder in memory for what programs write besides their load.
    pub fn scratch(&self) -> &Path {
        &self.memory
    }

    /// A folder of the tmpfs.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn tmpfs(&self) -> Outcome<PathBuf> {
        shell::folder(self.memory.join("tmpfs"))
    }

    /// The root of an ext4 of 3 GiB, whose image lies in the tmpfs: what is compared is programs,
    /// not disks.
    ///
    /// # Errors
    /// This machine has no `mkfs.ext4` or no loop devices.
    pub fn ext4(&self) -> Outcome<PathBuf> {
        let (image, folder) = (self.memory.join("ext4.img"), self.memory.join("ext4"));
        shell::folder(folder.clone())?;
        let file = fs::File::create(&image).and_then(|file| file.set_len(3 << 30));
        file.map_err(shell::at(&image))?;
        // The lazy way would go on writing the tables of inodes while others are measured.
        let words = ["-q", "-F", "-N", "200000", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
        let mkfs =
            shell::which("mkfs.ext4").ok_or("mkfs.ext4 is not installed (package e2fsprogs)")?;
        shell::capture(Command::new(mkfs).args(words).arg(&image))?;
        shell::capture(Command::new("mount").args(["-o", "loop"]).args([&image, &folder]))?;
        Ok(folder)
    }
}

impl Drop for Scenery {
    fn drop(&mut self) {
        // The inner one first; where it was never mounted, umount complains, and that is all.
        let _ = shell::capture(Command::new("umount").arg(self.memory.join("ext4")));
        let left = self.mounted.then(|| shell::capture(Command::new("umount").arg(&self.memory)));
        if let Some(Err(why)) = left {
            println!("{} stays mounted: {why}", self.memory.display());
            return;
        }
        let _ = fs::remove_dir_all(&self.base);
    }
}
