//! `cargo xtask dist`: one static binary that runs anywhere with the same processor.

use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds it, proves that it needs nothing else, and prints path, size and checksum.
pub fn run() -> Outcome<()> {
    let triple = shell::host_triple()?;
    let mut flags = std::env::var("RUSTFLAGS").unwrap_or_default();
    flags.push_str(" -C target-feature=+crt-static");
    // With an explicit target the flags stay away from build scripts and procedural macros, which
    // cannot be static.
    let build = ["build", "--release", "--locked", "--package", "cli", "--target", &triple];
    shell::show(shell::cargo().args(build).env("RUSTFLAGS", flags.trim()))?;
    let binary = shell::target_dir()?.join(&triple).join("release/plimsoll");
    let image = std::fs::read(&binary)
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
        let version = run_in_empty_root(&binary)?;
        println!("alone    in an empty root it says: {}", version.trim());
    } else {
        println!("SKIPPED: running it in an empty root, because only root may change the root");
    }
    let sum = shell::capture(Command::new("sha256sum").arg(&binary))?;
    println!("size     {} bytes ({:.1} MiB)", image.len(), image.len() as f64 / 1_048_576.0);
    println!("sha256   {}", sum.split_whitespace().next().unwrap_or_default());
    println!("path     {}", binary.display());
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

fn run_in_empty_root(binary: &Path) -> Outcome<String> {
    let root = EmptyRoot::new()?;
    std::fs::copy(binary, root.0.join("plimsoll"))
        .map_err(|error| format!("the copy failed: {error}"))?;
    shell::capture(Command::new("chroot").arg(&root.0).args(["/plimsoll", "--version"]))
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
        // Two names are known; anything else in there would not be ours to remove.
        let _ = std::fs::remove_file(self.0.join("plimsoll"));
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
