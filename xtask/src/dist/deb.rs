//! A package for Debian and Ubuntu (deb(5), deb-control(5)).

use super::contents::Package;
use super::tar::{Entry, ar, gzip, tar, with_folders};
use crate::shell::Outcome;

/// What Debian calls this processor.
///
/// # Errors
/// It is none that we build for.
pub fn architecture(processor: &str) -> Outcome<&'static str> {
    match processor {
        "x86_64" => Ok("amd64"),
        "aarch64" => Ok("arm64"),
        other => Err(format!("no name of Debian's for the processor {other}; add it here")),
    }
}

/// The whole file.
///
/// # Errors
/// As those of [`tar`].
pub fn deb(package: &Package) -> Outcome<Vec<u8>> {
    let sizes = package.entries.iter().filter_map(|entry| entry.content.as_ref()).map(Vec::len);
    let control = format!(
        "Package: {}\nVersion: {}\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {}\n\
         Section: utils\nPriority: optional\nDescription: {}\n {}\n",
        package.name,
        package.version,
        architecture(package.processor)?,
        package.maintainer,
        sizes.sum::<usize>().div_ceil(1024),
        package.summary,
        package.description,
    );
    let packed = |entries: &[Entry]| gzip(&tar(entries, "./", package.epoch_s)?);
    let control = packed(&[Entry::file("control", 0o644, control)])?;
    let data = packed(&with_folders(package.entries.clone()))?;
    let members: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.gz", &control), ("data.tar.gz", &data)];
    Ok(ar(&members, package.epoch_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::contents::tests::package;
    use crate::shell;
    use std::process::Command;

    #[test]
    fn dpkg_reads_what_we_write() {
        let bytes = deb(&package()).expect("a package");
        assert_eq!(bytes, deb(&package()).expect("again"), "the same every time");
        if shell::which("dpkg-deb").is_none() {
            return println!("SKIPPED: no dpkg-deb here");
        }
        let file = std::env::temp_dir().join(format!("xtask-{}.deb", std::process::id()));
        std::fs::write(&file, bytes).expect("room");
        let told = |flag: &str| shell::capture(Command::new("dpkg-deb").arg(flag).arg(&file));
        let (control, contents) = (told("--field"), told("--contents"));
        std::fs::remove_file(&file).expect("ours");
        let control = control.expect("dpkg reads it");
        assert!(control.contains("Architecture: amd64\n"), "{control}");
        assert!(contents.expect("dpkg reads it").contains("./usr/bin/plimsoll"));
    }
}
