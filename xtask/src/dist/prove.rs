//! Proves that a package is all that it takes: it is installed into an empty folder, and the
//! program runs there.

use super::target::Target;
use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the .deb with `dpkg` into a root that has nothing else, and loads a file there.
///
/// # Errors
/// It cannot be installed, or the program does not run.
pub fn installed(deb: &Path, target: &Target) -> Outcome<()> {
    if !shell::is_root() || shell::which("dpkg").is_none() {
        println!("SKIPPED: installing it, which needs root and dpkg");
        return Ok(());
    }
    let root = Root::new()?;
    let mut dpkg = Command::new("dpkg");
    // No program of the package manager's helpers is needed: the package has no scripts.
    dpkg.arg(format!("--root={}", root.0.display()));
    if target.emulator.is_some() {
        dpkg.arg("--force-architecture");
    }
    dpkg.arg("--install").arg(deb);
    shell::capture(&mut dpkg)?;
    let inside = |words: &str| {
        let mut run = target.command_inside(&root.0, "/usr/bin/plimsoll")?;
        shell::capture(run.args(words.split(' ')))
    };
    let told = inside(
        "run --rw randread --size 16M --runtime 1 --buffered --quiet \
         --set stages.precondition=0s --out /load/r.plimsoll /load/data",
    )?;
    let version = inside("--version")?;
    println!("deb      installed into an empty root, {} loads a file there:", version.trim());
    told.lines().take(2).for_each(|line| println!("         {line}"));
    Ok(())
}

/// A folder with what `dpkg` has to find, removed with all that is in it.
struct Root(PathBuf);

impl Root {
    fn new() -> Outcome<Root> {
        let path = shell::target_dir()?.join(format!("dist-installed-{}", std::process::id()));
        let root = Root(path);
        for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "load", "tmp"] {
            std::fs::create_dir_all(root.0.join(folder)).map_err(|error| error.to_string())?;
        }
        std::fs::write(root.0.join("var/lib/dpkg/status"), "")
            .map_err(|error| error.to_string())?;
        Ok(root)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // Nothing is mounted in it, and all of it was made above.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
