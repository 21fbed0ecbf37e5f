//! The real parts that whole-program tests run against: what is here, what can be installed, what
//! has to be left out.

use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What there is, as a table for each.
const PARTS: &str = include_str!("parts.toml");

/// Something outside the workspace that tests use.
#[derive(Clone, Debug)]
struct Part {
    /// Its name in `PLIMSOLL_TEST_PARTS`.
    name: String,
    /// What tests need it for.
    purpose: String,
    source: Source,
}

/// Where a part comes from.
#[derive(Clone, Debug)]
enum Source {
    /// One of these programs, with blanks between, from this Debian package.
    Program { names: String, package: String },
    /// A kernel for guests, as a package that is downloaded and not installed.
    GuestKernel,
    /// Programs that `cargo xtask vsphere` builds; that takes minutes, so that somebody has to ask
    /// for it.
    Vsphere,
    /// The server that `cargo xtask kubernetes` builds, in ten minutes and more.
    Kubernetes,
    /// The kernel's: there for root when this path is.
    Kernel { path: String },
}

/// All of them, as the file has them.
fn listed() -> Vec<Part> {
    let table: toml::Table = PARTS.parse().expect("a test reads this file");
    table.iter().map(|(name, fields)| part(name, fields).expect("a test reads this file")).collect()
}

fn part(name: &str, fields: &toml::Value) -> Option<Part> {
    let text = |field| fields.get(field).and_then(toml::Value::as_str).map(str::to_owned);
    let source = match (text("package"), text("kernel"), text("built").as_deref()) {
        (Some(package), None, None) => {
            Source::Program { names: text("programs").unwrap_or_else(|| name.to_owned()), package }
        }
        (None, Some(path), None) => Source::Kernel { path },
        (None, None, Some("GuestKernel")) => Source::GuestKernel,
        (None, None, Some("Vsphere")) => Source::Vsphere,
        (None, None, Some("Kubernetes")) => Source::Kubernetes,
        _ => return None,
    };
    Some(Part { name: name.to_owned(), purpose: text("purpose")?, source })
}

/// A part that tests have to do without.
#[derive(Debug, PartialEq, Eq)]
struct Skip {
    name: String,
    purpose: String,
    why: String,
    /// It could have been installed here, so that its absence is a fault of this machine and not
    /// of its kind.
    installable: bool,
}

/// What tests can count on.
pub struct Parts {
    present: Vec<String>,
    skips: Vec<Skip>,
}

/// What this process may do about a missing part.
#[derive(Clone, Copy)]
struct Powers {
    root: bool,
    apt: bool,
}

/// Looks for every part and installs the missing ones where it may.
pub fn ensure() -> Parts {
    let powers = Powers { root: shell::is_root(), apt: shell::which("apt-get").is_some() };
    let mut failures = Vec::new();
    if powers.root && powers.apt {
        for package in missing_packages() {
            println!("installing {package}");
            if let Err(error) = install(&package) {
                failures.push((package, error));
            }
        }
    }
    if powers.apt && !guest_kernel_is_here() {
        println!("downloading {GUEST_KERNEL}");
        if let Err(error) = download_guest_kernel() {
            failures.push((GUEST_KERNEL.to_owned(), error));
        }
    }
    let mut parts = Parts { present: Vec::new(), skips: Vec::new() };
    for part in listed() {
        match judge(&part, is_here(&part), powers, &failures) {
            None => parts.present.push(part.name),
            Some(skip) => parts.skips.push(skip),
        }
    }
    parts
}

fn missing_packages() -> std::collections::BTreeSet<String> {
    let missing = listed().into_iter().filter(|part| !is_here(part));
    let package = |part: Part| match part.source {
        Source::Program { package, .. } => Some(package),
        _ => None,
    };
    missing.filter_map(package).collect()
}

fn is_here(part: &Part) -> bool {
    match &part.source {
        Source::Program { names, .. } => names.split(' ').any(|name| shell::which(name).is_some()),
        Source::Kernel { path } => Path::new(path).exists(),
        Source::GuestKernel => guest_kernel_is_here(),
        Source::Vsphere => crate::vsphere::is_here(),
        Source::Kubernetes => crate::kubernetes::is_here(),
    }
}

/// The package that leads to the newest small kernel of Debian.
const GUEST_KERNEL: &str = "linux-image-cloud-amd64";

/// Where its package is kept; `tests/vms.rs` looks for it there.
fn guest_kernel() -> Outcome<PathBuf> {
    Ok(shell::target_dir()?.join("guest-kernel/kernel.deb"))
}

fn guest_kernel_is_here() -> bool {
    guest_kernel().is_ok_and(|path| path.is_file())
}

/// Downloads it. It is there whole or not at all.
fn download_guest_kernel() -> Outcome<()> {
    let path = guest_kernel()?;
    let folder = path.parent().ok_or("the target folder has no name")?;
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let attempt = || {
        let told = shell::capture(Command::new("apt-cache").args(["depends", GUEST_KERNEL]))?;
        let package = told
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "))
            .find(|name| name.starts_with("linux-image-"))
            .ok_or_else(|| format!("{GUEST_KERNEL} names no kernel"))?;
        let mut command = Command::new("apt-get");
        shell::capture(command.args(["download", "-qq", package]).current_dir(folder))?;
        let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
        let mut files = entries.filter_map(Result::ok).map(|entry| entry.path());
        let is_it = |file: &PathBuf| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with(package) && name.ends_with(".deb"))
        };
        let file = files.find(is_it).ok_or_else(|| format!("{package} did not arrive"))?;
        std::fs::rename(file, &path).map_err(|error| error.to_string())
    };
    attempt().or_else(|_| {
        shell::capture(Command::new("apt-get").args(["update", "-qq"]))?;
        attempt()
    })
}

/// Whether tests can have `part`; if not, the words for why.
fn judge(part: &Part, here: bool, powers: Powers, failures: &[(String, String)]) -> Option<Skip> {
    let failed = |package: &str| failures.iter().find(|(name, _)| name == package);
    let (why, installable) = match &part.source {
        Source::Kernel { path } if !here => (format!("this kernel has no {path}"), false),
        Source::Kernel { .. } if !powers.root => ("only root may use it".to_owned(), false),
        _ if here => return None,
        Source::Kernel { .. } => return None,
        Source::Program { package, .. } => match failed(package) {
            Some((_, error)) => (format!("`apt-get install {package}` failed: {error}"), true),
            None if !powers.apt => {
                (format!("{package} is not installed and there is no apt-get"), false)
            }
            None if !powers.root => (
                format!("{package} is not installed; run `apt-get install {package}` as root"),
                false,
            ),
            None => (format!("the package {package} brings no such program"), true),
        },
        Source::GuestKernel => match failed(GUEST_KERNEL) {
            Some((_, error)) => (format!("`apt-get download` failed: {error}"), true),
            None => ("there is no apt-get".to_owned(), false),
        },
        Source::Vsphere => {
            ("nobody ran `cargo xtask vsphere` (Go, some minutes)".to_owned(), false)
        }
        Source::Kubernetes => (
            "nobody ran `cargo xtask kubernetes` (Go, ten minutes; etcd, kubectl)".to_owned(),
            false,
        ),
    };
    let (name, purpose) = (part.name.clone(), part.purpose.clone());
    Some(Skip { name, purpose, why, installable })
}

/// Installs one package; asks for newer lists only if the ones at hand do not do.
fn install(package: &str) -> Outcome<()> {
    let attempt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.args(["install", "-qq", "-y", "--no-install-recommends", package]);
        shell::capture(&mut command).map(drop)
    };
    attempt().or_else(|_| {
        shell::capture(Command::new("apt-get").args(["update", "-qq"]))?;
        attempt()
    })
}

impl Parts {
    /// The names of the parts that are here, as `PLIMSOLL_TEST_PARTS` lists them: with commas
    /// between.
    pub fn list(&self) -> String {
        self.present.join(",")
    }

    /// Says aloud what tests have to do without.
    pub fn announce(&self) {
        println!(
            "real parts: {}",
            if self.present.is_empty() { "none".to_owned() } else { self.present.join(", ") }
        );
        for skip in &self.skips {
            println!("SKIPPED: {} ({}) because {}", skip.name, skip.purpose, skip.why);
        }
    }

    /// In continuous integration, fails over a part that could have been there.
    ///
    /// # Errors
    /// Names the parts that could have been installed and are not there.
    pub fn insist(&self, in_ci: bool) -> Outcome<()> {
        let names: Vec<&str> =
            self.skips.iter().filter(|skip| skip.installable).map(|skip| &*skip.name).collect();
        if names.is_empty() || !in_ci {
            return Ok(());
        }
        Err(format!(
            "left out in CI although it can be installed: {}; mend the package sources",
            names.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Powers = Powers { root: true, apt: true };
    const USER: Powers = Powers { root: false, apt: true };

    fn judged(
        name: &str,
        here: bool,
        powers: Powers,
        failures: &[(String, String)],
    ) -> Option<Skip> {
        let part = listed().into_iter().find(|part| part.name == name).expect("a part of the list");
        judge(&part, here, powers, failures)
    }

    #[test]
    fn a_part_that_is_here_is_not_skipped() {
        assert_eq!(judged("fio", true, USER, &[]), None);
        assert_eq!(judged("loop", true, ROOT, &[]), None);
        assert!(listed().iter().all(|part| !part.name.contains(',')), "they fit into a list");
    }

    #[test]
    fn a_kernel_part_needs_the_kernel_and_root() {
        let user = judged("loop", true, USER, &[]).expect("a skip");
        assert!(user.why.contains("root") && !user.installable);
        let kernel = judged("zram", false, ROOT, &[]).expect("a skip");
        assert!(kernel.why.contains("/sys/class/zram-control") && !kernel.installable);
    }

    #[test]
    fn only_what_could_have_been_installed_fails_ci() {
        let failures = [("fio".to_owned(), "no network".to_owned())];
        let failed = judged("fio", false, ROOT, &failures).expect("a skip");
        assert!(failed.why.contains("no network"));
        let user = judged("fio", false, USER, &[]).expect("a skip");
        assert!(user.why.contains("as root"));
        let parts = |skip| Parts { present: vec!["loop".to_owned()], skips: vec![skip] };
        assert!(parts(user).insist(true).is_ok());
        let strict = parts(failed);
        assert!(strict.insist(true).unwrap_err().contains("fio"));
        assert!(strict.insist(false).is_ok());
    }
}
