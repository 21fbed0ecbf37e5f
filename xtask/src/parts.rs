//! The real parts that whole-program tests run against: what is here, what can be installed, what
//! has to be left out.

use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Something outside the workspace that tests use.
struct Part {
    /// Its name in `PLIMSOLL_TEST_PARTS`.
    name: &'static str,
    /// What tests need it for.
    purpose: &'static str,
    source: Source,
}

/// Where a part comes from.
enum Source {
    /// One of these programs, with blanks between, from this Debian package.
    Program { names: &'static str, package: &'static str },
    /// A kernel for guests, as a package that is downloaded and not installed.
    GuestKernel,
    /// Programs that `cargo xtask vsphere` builds; that takes minutes, so that somebody has to ask
    /// for it.
    Vsphere,
    /// The server that `cargo xtask kubernetes` builds, in ten minutes and more.
    Kubernetes,
    /// The kernel's: there for root when this path is.
    Kernel { path: &'static str },
}

const PARTS: &[Part] = &[
    program("fio", "fio", "fio", "the peer that figures are held against"),
    program("sqlite3", "sqlite3", "sqlite3", "reading run files with a program that is not ours"),
    program("mkfs.ext4", "mkfs.ext4", "e2fsprogs", "small file systems that can be filled up"),
    program("losetup", "losetup", "util-linux", "block devices over a file"),
    program("mount", "mount", "mount", "file systems on loop devices, read-only mounts"),
    program("taskset", "taskset", "util-linux", "pinning benchmarks to one processor"),
    program("setpriv", "setpriv", "util-linux", "running as a user without privileges"),
    program(
        "prlimit",
        "prlimit",
        "util-linux",
        "running with few open files or little locked memory",
    ),
    program(
        "chromium",
        "chromium chromium-browser google-chrome",
        "chromium",
        "looking at reports in a real browser",
    ),
    program("prometheus", "prometheus", "prometheus", "a real Prometheus that scrapes a run"),
    program("iptables", "iptables", "iptables", "ports behind a firewall"),
    program(
        "openssl",
        "openssl",
        "openssl",
        "reading pages by TLS with a program that is not ours",
    ),
    program("sshd", "sshd", "openssh-server", "hosts that are reached over real ssh"),
    program("ip", "ip", "iproute2", "hosts with addresses and links of their own"),
    program("glusterd", "glusterd", "glusterfs-server", "the servers of a lab"),
    program("mount.glusterfs", "mount.glusterfs", "glusterfs-client", "the mounts of a lab"),
    program("tmux", "tmux", "tmux", "a real terminal to watch in"),
    program("slurmctld", "slurmctld", "slurm-wlm", "a real Slurm cluster"),
    program("munged", "munged", "munge", "how the parts of Slurm know each other"),
    program("qemu", "qemu-system-x86_64", "qemu-system-x86", "virtual machines that carry a run"),
    program("qemu-img", "qemu-img", "qemu-utils", "disks that libvirt makes upon others"),
    program(
        "nc",
        "nc",
        "netcat-openbsd",
        "the line to a machine's agent behind a libvirt on another node",
    ),
    Part {
        name: "guest-kernel",
        purpose: "the kernel of these machines",
        source: Source::GuestKernel,
    },
    program("libvirt", "libvirtd", "libvirt-daemon-system", "virtual machines of a libvirt"),
    program("virsh", "virsh", "libvirt-clients", "the way to a libvirt"),
    Part {
        name: "kubernetes",
        purpose: "the API server of Kubernetes",
        source: Source::Kubernetes,
    },
    Part { name: "vsphere", purpose: "the vendor's simulator of vSphere", source: Source::Vsphere },
    Part {
        name: "net",
        purpose: "the kernel's own count of packets",
        source: Source::Kernel { path: "/proc/sys/net/ipv4" },
    },
    Part {
        name: "loop",
        purpose: "the kernel's own count of requests",
        source: Source::Kernel { path: "/dev/loop-control" },
    },
    Part {
        name: "tracefs",
        purpose: "the kernel's own record of requests",
        source: Source::Kernel { path: "/sys/kernel/tracing" },
    },
    Part {
        name: "fuse",
        purpose: "a file system that delays, fails and tears on command",
        source: Source::Kernel { path: "/dev/fuse" },
    },
    Part {
        name: "zram",
        purpose: "a block device that takes next to no time",
        source: Source::Kernel { path: "/sys/class/zram-control/hot_add" },
    },
];

/// One that is there with one of these programs, which a package of Debian brings.
const fn program(
    name: &'static str,
    names: &'static str,
    package: &'static str,
    purpose: &'static str,
) -> Part {
    Part { name, purpose, source: Source::Program { names, package } }
}

/// A part that tests have to do without.
#[derive(Debug, PartialEq, Eq)]
struct Skip {
    name: &'static str,
    purpose: &'static str,
    why: String,
    /// It could have been installed here, so that its absence is a fault of this machine and not
    /// of its kind.
    installable: bool,
}

/// What tests can count on.
pub struct Parts {
    present: Vec<&'static str>,
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
            if let Err(error) = install(package) {
                failures.push((package, error));
            }
        }
    }
    if powers.apt && !guest_kernel_is_here() {
        println!("downloading {GUEST_KERNEL}");
        if let Err(error) = download_guest_kernel() {
            failures.push((GUEST_KERNEL, error));
        }
    }
    let mut parts = Parts { present: Vec::new(), skips: Vec::new() };
    for part in PARTS {
        match judge(part, is_here(part), powers, &failures) {
            None => parts.present.push(part.name),
            Some(skip) => parts.skips.push(skip),
        }
    }
    parts
}

fn missing_packages() -> Vec<&'static str> {
    let mut packages = Vec::new();
    for part in PARTS {
        if let Source::Program { package, .. } = part.source
            && !is_here(part)
            && !packages.contains(&package)
        {
            packages.push(package);
        }
    }
    packages
}

fn is_here(part: &Part) -> bool {
    match part.source {
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
fn judge(part: &Part, here: bool, powers: Powers, failures: &[(&str, String)]) -> Option<Skip> {
    let skip = |why: String, installable| {
        Some(Skip { name: part.name, purpose: part.purpose, why, installable })
    };
    match part.source {
        Source::Kernel { path } if !here => skip(format!("this kernel has no {path}"), false),
        Source::Kernel { .. } if !powers.root => skip("only root may use it".to_owned(), false),
        Source::Program { package, .. } if !here => {
            let failed = failures.iter().find(|(name, _)| *name == package);
            match failed {
                Some((_, error)) => {
                    skip(format!("`apt-get install {package}` failed: {error}"), true)
                }
                None if !powers.apt => {
                    skip(format!("{package} is not installed and there is no apt-get"), false)
                }
                None if !powers.root => skip(
                    format!("{package} is not installed; run `apt-get install {package}` as root"),
                    false,
                ),
                None => skip(format!("the package {package} brings no such program"), true),
            }
        }
        Source::GuestKernel if !here => {
            match failures.iter().find(|(name, _)| *name == GUEST_KERNEL) {
                Some((_, error)) => skip(format!("`apt-get download` failed: {error}"), true),
                None => skip("there is no apt-get".to_owned(), false),
            }
        }
        Source::Vsphere if !here => {
            skip("nobody ran `cargo xtask vsphere` (Go, some minutes)".to_owned(), false)
        }
        Source::Kubernetes if !here => skip(
            "nobody ran `cargo xtask kubernetes` (Go, ten minutes; etcd, kubectl)".to_owned(),
            false,
        ),
        _ => None,
    }
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
            self.skips.iter().filter(|skip| skip.installable).map(|skip| skip.name).collect();
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

    fn part(name: &str) -> &'static Part {
        PARTS.iter().find(|part| part.name == name).expect("a part of the list")
    }

    #[test]
    fn a_part_that_is_here_is_not_skipped() {
        assert_eq!(judge(part("fio"), true, USER, &[]), None);
        assert_eq!(judge(part("loop"), true, ROOT, &[]), None);
    }

    #[test]
    fn a_kernel_part_needs_the_kernel_and_root() {
        let user = judge(part("loop"), true, USER, &[]).expect("a skip");
        assert!(user.why.contains("root") && !user.installable);
        let kernel = judge(part("zram"), false, ROOT, &[]).expect("a skip");
        assert!(kernel.why.contains("/sys/class/zram-control") && !kernel.installable);
    }

    #[test]
    fn only_what_could_have_been_installed_fails_ci() {
        let failed =
            judge(part("fio"), false, ROOT, &[("fio", "no network".to_owned())]).expect("a skip");
        assert!(failed.why.contains("no network"));
        let user = judge(part("fio"), false, USER, &[]).expect("a skip");
        assert!(user.why.contains("as root"));
        let parts = |skip| Parts { present: vec!["loop"], skips: vec![skip] };
        assert!(parts(user).insist(true).is_ok());
        let strict = parts(failed);
        assert!(strict.insist(true).unwrap_err().contains("fio"));
        assert!(strict.insist(false).is_ok());
    }

    #[test]
    fn names_are_unique_and_fit_into_a_list() {
        for (index, part) in PARTS.iter().enumerate() {
            assert!(
                !part.name.contains(',')
                    && PARTS[..index].iter().all(|other| other.name != part.name)
            );
        }
    }
}
