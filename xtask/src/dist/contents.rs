//! What every package brings: the program, its manual, completions and licences.

use super::tar::{Entry, gzip};
use super::target::Target;
use crate::shell::{self, Outcome};
use std::path::Path;

/// A package, whatever its format.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// The version of the workspace.
    pub version: &'static str,
    /// Who to write to.
    pub maintainer: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The same in a sentence or two.
    pub description: &'static str,
    /// The licence as an SPDX expression.
    pub licence: &'static str,
    /// The processor, as in a triple of Rust.
    pub processor: &'static str,
    /// When it was made, in seconds since 1970: that of the last commit.
    pub epoch_s: u64,
    /// Its files.
    pub entries: Vec<Entry>,
}

impl Package {
    /// One for a processor with these files.
    pub fn new(processor: &'static str, epoch_s: u64, entries: Vec<Entry>) -> Package {
        Package {
            name: "plimsoll",
            version: env!("CARGO_PKG_VERSION"),
            // There is no address yet to which one could write.
            maintainer: "The Plimsoll authors <plimsoll@example.invalid>",
            summary: "finds the load line of a storage cluster",
            description: "Drives block, file and metadata load from many hosts, and says what the \
                          cluster carries and whether the figure can be trusted.",
            licence: "MIT OR Apache-2.0",
            processor,
            epoch_s,
            entries,
        }
    }
}

const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/plimsoll"),
    ("zsh", "usr/share/zsh/vendor-completions/_plimsoll"),
    ("fish", "usr/share/fish/vendor_completions.d/plimsoll.fish"),
];

/// What the program `binary` of `target` and this workspace give; `scratch` is a folder for its
/// manual.
///
/// # Errors
/// The program does not print its manual, or a file cannot be read.
pub fn entries(binary: &Path, target: &Target, scratch: &Path) -> Outcome<Vec<Entry>> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let mut entries = vec![Entry::file("usr/bin/plimsoll", 0o755, read(binary)?)];
    for (shell, path) in COMPLETIONS {
        let text = shell::capture(target.command(binary).args(["completions", shell]))?;
        entries.push(Entry::file(path, 0o644, text));
    }
    let manual = scratch.join("man");
    std::fs::create_dir_all(&manual)
        .map_err(|error| format!("{} cannot be made: {error}", manual.display()))?;
    shell::capture(target.command(binary).arg("man").arg("--directory").arg(&manual))?;
    let listed = std::fs::read_dir(&manual).map_err(|error| error.to_string())?;
    for page in listed {
        let page = page.map_err(|error| error.to_string())?;
        let name = page.file_name().to_string_lossy().into_owned();
        let content = gzip(&read(&page.path())?)?;
        entries.push(Entry::file(&format!("usr/share/man/man1/{name}.gz"), 0o644, content));
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
        let content = read(&shell::root().join(file))?;
        entries.push(Entry::file(&format!("usr/share/doc/plimsoll/{file}"), 0o644, content));
    }
    entries.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(entries)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A package of two small files.
    pub fn package() -> Package {
        Package::new(
            "x86_64",
            86_400,
            vec![
                Entry::file("usr/bin/plimsoll", 0o755, *b"\x7fELF"),
                Entry::file("usr/share/doc/plimsoll/README.md", 0o644, *b"# Read me\n"),
            ],
        )
    }
}
