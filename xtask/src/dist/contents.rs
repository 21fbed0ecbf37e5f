//! What every package brings: the program, its manual, completions and licences.

use super::target::Target;
use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/plimsoll"),
    ("zsh", "zsh/vendor-completions/_plimsoll"),
    ("fish", "fish/vendor_completions.d/plimsoll.fish"),
];

/// Lays out, beside the program `built` of `target`, what this workspace and the program itself
/// give, as it is installed below `/`, all of it of one time.
///
/// # Errors
/// The program does not print its manual, or a file cannot be read or written.
pub fn stage(built: &Path, target: &Target, epoch: &str) -> Outcome<PathBuf> {
    let staged = built.with_file_name("package");
    let share = staged.join("usr/share");
    // Of an earlier commit.
    let _ = std::fs::remove_dir_all(&staged);
    copied(built, &staged.join("usr/bin/plimsoll"))?;
    for (shell, path) in COMPLETIONS {
        let text = shell::capture(target.command(built).args(["completions", shell]))?;
        let file = share.join(path);
        within(&file)?;
        std::fs::write(&file, text).map_err(shell::at(&file))?;
    }
    let manual = share.join("man/man1");
    shell::capture(target.command(built).arg("man").arg("--directory").arg(&manual))?;
    shell::capture(Command::new("gzip").args(["-n9", "--recursive"]).arg(&manual))?;
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
        copied(&shell::root().join(file), &share.join("doc/plimsoll").join(file))?;
    }
    let mut dated = Command::new("find");
    dated.arg(&staged).args(["-exec", "touch", "--date", &format!("@{epoch}"), "{}", "+"]);
    shell::capture(&mut dated)?;
    Ok(staged)
}

fn copied(from: &Path, to: &Path) -> Outcome<()> {
    within(to)?;
    let copied = std::fs::copy(from, to).map(drop);
    copied.map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// Makes the folder that is to hold `file`.
fn within(file: &Path) -> Outcome<()> {
    let folder = file.parent().unwrap_or(file);
    std::fs::create_dir_all(folder).map_err(shell::at(folder))
}
