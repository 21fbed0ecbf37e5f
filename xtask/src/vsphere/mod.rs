//! `cargo xtask vsphere`: the vendor's simulator of vSphere, and the program that drives it, for
//! `tests/vms/vsphere.rs`. Go builds both in minutes, so that no test does it by itself.

use crate::shell::{self, Outcome};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that both are made of.
const LIBRARY: &str = "github.com/vmware/govmomi v0.52.0";
/// The programs, each of one file.
const PROGRAMS: [(&str, &str); 2] =
    [("govc", include_str!("govc.go")), ("vcsim", include_str!("vcsim.go"))];

/// Where the programs are kept; the tests look for them there.
pub fn folder() -> Outcome<PathBuf> {
    Ok(shell::target_dir()?.join("vsphere"))
}

/// Whether both are there.
pub fn is_here() -> bool {
    folder().is_ok_and(|folder| PROGRAMS.iter().all(|(name, _)| folder.join(name).is_file()))
}

/// Builds them.
pub fn run() -> Outcome<()> {
    if shell::which("go").is_none() {
        return Err("go is not installed; install it, and try again".to_owned());
    }
    let folder = folder()?;
    PROGRAMS.iter().try_for_each(|(name, text)| build(&folder, name, text))
}

fn build(folder: &Path, name: &str, text: &str) -> Outcome<()> {
    let source = shell::folder(folder.join("source").join(name))?;
    let module = format!("module plimsoll.test/{name}\n\ngo 1.23\n\nrequire {LIBRARY}\n");
    for (file, text) in [("main.go", text), ("go.mod", module.as_str())] {
        fs::write(source.join(file), text).map_err(|error| error.to_string())?;
    }
    let mut go = Command::new("go");
    go.args(["build", "-mod=mod", "-o"]).arg(folder.join(name)).arg(".");
    shell::show(go.current_dir(source))
}
