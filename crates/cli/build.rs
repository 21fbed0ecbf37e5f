//! The commit that a program was built from, for `plimsoll --version`.

use std::process::Command;

fn main() {
    // An archive has no commit, whatever repository it was unpacked in, and says so.
    let is_ours = git(&["rev-parse", "--show-cdup"]).as_deref() == Some("../../");
    let commit = git(&["log", "-1", "--no-show-signature", "--format=%h %cs"]);
    let commit = commit.filter(|_| is_ours).unwrap_or_else(|| "no commit known".to_owned());
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=PLIMSOLL_BUILD={commit}, {target}");
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}

fn git(args: &[&str]) -> Option<String> {
    // In a container, the checkout often belongs to another user.
    let said = Command::new("git").args(["-c", "safe.directory=*"]).args(args).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?.trim().to_owned();
    (said.status.success() && !text.is_empty()).then_some(text)
}
