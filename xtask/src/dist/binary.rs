//! The program itself: built without a dynamic loader, and the same wherever it is built.

use super::target::Target;
use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What separates flags in `CARGO_ENCODED_RUSTFLAGS`: a path may have spaces.
const BETWEEN: &str = "\x1f";

/// Builds the program for `goal`, in the target directory `aside` where one is given, and returns
/// where it is.
///
/// # Errors
/// It does not compile.
pub fn build(goal: &Target, epoch: &str, aside: Option<&Path>) -> Outcome<PathBuf> {
    let root = shell::root();
    let triple = goal.triple.as_str();
    let target = match aside {
        Some(folder) => folder.to_owned(),
        None => shell::target_dir()?,
    };
    // Paths of this machine are no part of the program.
    let mut renamed = vec![(root, "/plimsoll"), (target.clone(), "/target")];
    renamed.extend(cargo_home().map(|home| (home, "/cargo")));
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut flags: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
    flags.push("-Ctarget-feature=+crt-static".to_owned());
    let mut of_c = String::new();
    for (path, name) in &renamed {
        flags.push(format!("--remap-path-prefix={}={name}", path.display()));
        of_c.push_str(&format!(" -ffile-prefix-map={}={name}", path.display()));
    }
    // With an explicit target the flags stay away from build scripts and procedural macros, which
    // cannot be static.
    let mut cargo = shell::cargo();
    cargo.args(["build", "--profile=dist", "--locked", "--package", "cli", "--target", triple]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join(BETWEEN));
    let variable = triple.replace('-', "_");
    cargo.env(format!("CFLAGS_{variable}"), of_c.trim());
    if let Some(compiler) = goal.compiler() {
        cargo.env(format!("CC_{variable}"), &compiler);
        let linker = format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase());
        cargo.env(linker, compiler);
    }
    cargo.env("SOURCE_DATE_EPOCH", epoch).env("CARGO_INCREMENTAL", "0");
    cargo.env("CARGO_TARGET_DIR", &target);
    shell::show(&mut cargo)?;
    Ok(target.join(triple).join("dist/plimsoll"))
}

fn cargo_home() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Builds it again in another target directory, and holds the two together.
///
/// # Errors
/// They differ, or it does not compile.
pub fn same_elsewhere(built: &Path, target: &Target, epoch: &str) -> Outcome<()> {
    let aside = shell::target_dir()?.join("dist-again");
    let again = build(target, epoch, Some(&aside))?;
    shell::same(built, &again)?;
    println!("again    a second build in {} is the same to the last bit", aside.display());
    Ok(())
}

/// Proves that the program needs nothing beside it.
///
/// # Errors
/// It needs a dynamic loader, or does not run alone.
pub fn check(binary: &Path, target: &Target) -> Outcome<()> {
    let headers = ["--program-headers", "--wide"];
    let told = shell::capture(Command::new("readelf").args(headers).arg(binary))?;
    if told.contains("INTERP") {
        let binary = binary.display();
        return Err(format!("{binary} still needs a dynamic loader; is +crt-static supported?"));
    }
    println!("static   it names no dynamic loader");
    if shell::is_root() {
        let version = run_in_empty_root(binary, target)?;
        println!("alone    in an empty root it says: {}", version.trim());
    } else {
        println!("SKIPPED: running it in an empty root, because only root may change the root");
    }
    let size = binary.metadata().map_err(shell::at(&binary))?.len();
    println!("size     {size} bytes ({:.1} MiB)", size as f64 / 1_048_576.0);
    Ok(())
}

fn run_in_empty_root(binary: &Path, target: &Target) -> Outcome<String> {
    let root = root()?;
    let copied = std::fs::copy(binary, root.path().join("plimsoll"));
    copied.map_err(|error| format!("the copy failed: {error}"))?;
    shell::capture(target.command_inside(root.path(), "/plimsoll")?.arg("--version"))
}

/// A folder with nothing in it, which is to be a root; it goes with all that is put there.
///
/// # Errors
/// It cannot be made.
pub fn root() -> Outcome<TempDir> {
    let place = shell::target_dir()?;
    tempfile::Builder::new().prefix("dist-root-").tempdir_in(&place).map_err(shell::at(&place))
}
