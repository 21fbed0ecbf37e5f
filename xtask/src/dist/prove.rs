//! Proves that a package is all that it takes: it is installed into an empty folder, and the
//! program runs there.

use super::binary::root;
use super::target::Target;
use crate::shell::{self, Outcome};
use std::path::Path;
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
    let root = root()?;
    for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "load", "tmp"] {
        shell::folder(root.path().join(folder))?;
    }
    let status = root.path().join("var/lib/dpkg/status");
    std::fs::write(&status, "").map_err(shell::at(&status))?;
    let mut dpkg = Command::new("dpkg");
    // No program of the package manager's helpers is needed: the package has no scripts.
    dpkg.arg(format!("--root={}", root.path().display()));
    if target.emulator.is_some() {
        dpkg.arg("--force-architecture");
    }
    dpkg.arg("--install").arg(deb);
    shell::capture(&mut dpkg)?;
    let inside = |words: &str| {
        let mut run = target.command_inside(root.path(), "/usr/bin/plimsoll")?;
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
