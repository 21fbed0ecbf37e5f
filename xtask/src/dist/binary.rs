//! The program itself: built without a dynamic loader, and the same wherever it is built.

use super::target::{EMULATOR, Target};
use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};

/// What separates flags in `CARGO_ENCODED_RUSTFLAGS`: a path may have spaces.
const BETWEEN: &str = "\x1f";

/// Builds the program for `goal`, in the target directory `aside` where one is given, and returns
/// where it is.
///
/// # Errors
/// It does not compile.
pub fn build(goal: &Target, epoch_s: u64, aside: Option<&Path>) -> Outcome<PathBuf> {
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
    cargo.args(["build", "--release", "--locked", "--package", "cli", "--target", triple]);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join(BETWEEN));
    let variable = triple.replace('-', "_");
    cargo.env(format!("CFLAGS_{variable}"), of_c.trim());
    if let Some(compiler) = goal.compiler() {
        cargo.env(format!("CC_{variable}"), &compiler);
        let linker = format!("CARGO_TARGET_{}_LINKER", variable.to_uppercase());
        cargo.env(linker, compiler);
    }
    cargo.env("SOURCE_DATE_EPOCH", epoch_s.to_string()).env("CARGO_INCREMENTAL", "0");
    cargo.env("CARGO_TARGET_DIR", &target);
    shell::show(&mut cargo)?;
    Ok(target.join(triple).join("release/plimsoll"))
}

fn cargo_home() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Builds it again in another target directory, and holds the two together.
///
/// # Errors
/// They differ, or it does not compile.
pub fn same_elsewhere(built: &Path, target: &Target, epoch_s: u64) -> Outcome<()> {
    let aside = shell::target_dir()?.join("dist-again");
    let again = build(target, epoch_s, Some(&aside))?;
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    if read(built)? != read(&again)? {
        return Err(format!("{} and {} differ", built.display(), again.display()));
    }
    println!("again    a second build in {} is the same to the last bit", aside.display());
    Ok(())
}

/// Proves that the program needs nothing beside it.
///
/// # Errors
/// It needs a dynamic loader, or does not run alone.
pub fn check(binary: &Path, target: &Target) -> Outcome<()> {
    let image = std::fs::read(binary)
        .map_err(|error| format!("{} cannot be read: {error}", binary.display()))?;
    match interpreter(&image) {
        Ok(false) => println!("static   it names no dynamic loader"),
        Ok(true) => {
            return Err(format!(
                "{} still needs a dynamic loader; is +crt-static supported?",
                binary.display()
            ));
        }
        Err(what) => {
            return Err(format!(
                "{} is not a 64-bit little-endian ELF file: {what}",
                binary.display()
            ));
        }
    }
    if shell::is_root() {
        let version = run_in_empty_root(binary, target)?;
        println!("alone    in an empty root it says: {}", version.trim());
    } else {
        println!("SKIPPED: running it in an empty root, because only root may change the root");
    }
    println!("size     {} bytes ({:.1} MiB)", image.len(), image.len() as f64 / 1_048_576.0);
    Ok(())
}

/// Whether the ELF file `image` asks for a dynamic loader (has a program header of type
/// `PT_INTERP`).
///
/// Layout: System V ABI, chapters "ELF Header" and "Program Header".
fn interpreter(image: &[u8]) -> Result<bool, &'static str> {
    const PT_INTERP: u32 = 3;
    if image.get(..4) != Some(b"\x7fELF") || image.get(4..6) != Some(&[2, 1]) {
        return Err("wrong magic, class or byte order");
    }
    let short = |at: usize| {
        let bytes: [u8; 2] = image.get(at..at + 2)?.try_into().ok()?;
        Some(usize::from(u16::from_le_bytes(bytes)))
    };
    let offset =
        image.get(32..40).and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
    let offset = offset.and_then(|offset| usize::try_from(offset).ok()).ok_or("it is cut short")?;
    let (size, count) = (short(54).ok_or("it is cut short")?, short(56).ok_or("it is cut short")?);
    for index in 0..count {
        let at = offset.checked_add(index * size).ok_or("its program headers lie outside")?;
        let bytes = at
            .checked_add(4)
            .and_then(|end| image.get(at..end))
            .ok_or("its program headers lie outside")?;
        if bytes == PT_INTERP.to_le_bytes() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn run_in_empty_root(binary: &Path, target: &Target) -> Outcome<String> {
    let root = EmptyRoot::new()?;
    std::fs::copy(binary, root.0.join("plimsoll"))
        .map_err(|error| format!("the copy failed: {error}"))?;
    shell::capture(target.command_inside(&root.0, "/plimsoll")?.arg("--version"))
}

/// A directory with nothing in it, removed with its contents at the end.
struct EmptyRoot(PathBuf);

impl EmptyRoot {
    fn new() -> Outcome<EmptyRoot> {
        let path = shell::target_dir()?.join(format!("dist-root-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|error| format!("{} cannot be made: {error}", path.display()))?;
        Ok(EmptyRoot(path))
    }
}

impl Drop for EmptyRoot {
    fn drop(&mut self) {
        // These names are known; anything else in there would not be ours to remove.
        let _ = std::fs::remove_file(self.0.join("plimsoll"));
        let _ = std::fs::remove_file(self.0.join(EMULATOR));
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header with program headers of these types.
    fn elf(types: &[u32]) -> Vec<u8> {
        let mut image = vec![0; 64];
        image[..6].copy_from_slice(b"\x7fELF\x02\x01");
        image[32] = 64;
        image[54] = 56;
        image[56] = types.len() as u8;
        for kind in types {
            image.extend(kind.to_le_bytes());
            image.extend([0; 52]);
        }
        image
    }

    #[test]
    fn a_dynamic_loader_is_found() {
        assert_eq!(interpreter(&elf(&[1, 3, 1])), Ok(true));
        assert_eq!(interpreter(&elf(&[1, 6, 1])), Ok(false));
    }

    #[test]
    fn what_is_no_elf_file_is_refused() {
        assert!(interpreter(b"#!/bin/sh").is_err());
        assert!(interpreter(b"").is_err());
        assert!(interpreter(&elf(&[1])[..20]).is_err());
        let mut outside = elf(&[1]);
        outside[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(interpreter(&outside).is_err());
    }
}
