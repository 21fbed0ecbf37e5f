//! A distribution's kernel, and where its modules are.

use crate::{Outcome, Problem};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel that guests can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// What is started.
    pub image: PathBuf,
    /// The folder of its modules, with `modules.builtin` in it.
    pub modules: PathBuf,
}

/// What the file of a kernel is called, before its version.
const IMAGE: &str = "vmlinuz-";

impl Kernel {
    /// The kernel that `given` names (its file, or a package of Debian or Ubuntu), or else the
    /// newest of this machine whose modules are here, or of packages that were unpacked before.
    /// Packages are unpacked into `cache`.
    ///
    /// # Errors
    /// There is none, or a package cannot be unpacked; nothing half unpacked is left.
    pub fn find(given: Option<&Path>, cache: &Path) -> Outcome<Kernel> {
        match given {
            Some(path) if path.extension().is_some_and(|extension| extension == "deb") => {
                let root = unpack(path, cache)?;
                newest(&root).ok_or_else(|| Problem::NotAKernel { path: path.to_owned() })
            }
            Some(path) => of_file(path),
            None => {
                let unpacked = folders(cache).into_iter().rev().filter_map(|root| newest(&root));
                newest(Path::new("/"))
                    .or_else(|| unpacked.into_iter().next())
                    .ok_or(Problem::NoKernel)
            }
        }
    }
}

/// The kernel in a file whose modules are below the same root, or below this machine's.
fn of_file(path: &Path) -> Outcome<Kernel> {
    let refused = || Problem::NotAKernel { path: path.to_owned() };
    let image = path.canonicalize().map_err(|error| Problem::file("read", path, &error))?;
    let name = image.file_name().and_then(|name| name.to_str()).ok_or_else(refused)?;
    let version = name.strip_prefix(IMAGE).ok_or_else(refused)?;
    let own = image.parent().and_then(Path::parent);
    [own, Some(Path::new("/"))]
        .into_iter()
        .flatten()
        .find_map(|root| modules(root, version))
        .map(|modules| Kernel { image: image.clone(), modules })
        .ok_or_else(refused)
}

/// The kernel of the highest version below a root whose modules are there.
fn newest(root: &Path) -> Option<Kernel> {
    let entries = fs::read_dir(root.join("boot")).ok()?;
    let images = entries.filter_map(Result::ok).map(|entry| entry.path());
    let kernels = images.filter_map(|image| {
        let version = image.file_name()?.to_str()?.strip_prefix(IMAGE)?.to_owned();
        let modules = modules(root, &version)?;
        Some((numbers(&version), Kernel { image, modules }))
    });
    kernels.max_by(|one, other| one.0.cmp(&other.0)).map(|(_, kernel)| kernel)
}

fn modules(root: &Path, version: &str) -> Option<PathBuf> {
    let below = ["lib/modules", "usr/lib/modules"].map(|folder| root.join(folder).join(version));
    below.into_iter().find(|folder| folder.join("modules.builtin").is_file())
}

/// The numbers in a version, by which versions are ordered.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

fn folders(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// Unpacks a package into a folder of its own, or finds that it was unpacked before.
fn unpack(package: &Path, cache: &Path) -> Outcome<PathBuf> {
    let told = fs::metadata(package).map_err(|error| Problem::file("read", package, &error))?;
    let stem = package.file_stem().and_then(|stem| stem.to_str()).unwrap_or("kernel");
    let root = cache.join(format!("{stem}-{}", told.len()));
    if root.is_dir() {
        return Ok(root);
    }
    let part = cache.join(format!("part-{}", std::process::id()));
    let cannot = |why: String| {
        // It is ours alone, and its name says so.
        let _ = fs::remove_dir_all(&part);
        Problem::Unpack { path: package.to_owned(), program: "dpkg-deb", why }
    };
    fs::create_dir_all(&part).map_err(|error| Problem::file("make", &part, &error))?;
    let output = Command::new("dpkg-deb").arg("-x").arg(package).arg(&part).output();
    let output = output.map_err(|error| cannot(error.to_string()))?;
    if !output.status.success() {
        return Err(cannot(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    match fs::rename(&part, &root) {
        Ok(()) => Ok(root),
        // Somebody else was faster: theirs is as good.
        Err(_) if root.is_dir() => {
            let _ = fs::remove_dir_all(&part);
            Ok(root)
        }
        Err(error) => Err(cannot(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(versions: &[(&str, bool)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(root.path().join("boot")).expect("made");
        for (version, has_modules) in versions {
            let image = root.path().join(format!("boot/vmlinuz-{version}"));
            fs::write(image, "a kernel").expect("written");
            let modules = root.path().join(format!("lib/modules/{version}"));
            if *has_modules {
                fs::create_dir_all(&modules).expect("made");
                fs::write(modules.join("modules.builtin"), "").expect("written");
            }
        }
        root
    }

    #[test]
    fn the_newest_kernel_that_has_its_modules_is_taken() {
        let root = root(&[("6.9.1-a", true), ("6.10.0-a", true), ("6.11.0-a", false)]);
        let kernel = newest(root.path()).expect("one");
        assert!(kernel.image.ends_with("vmlinuz-6.10.0-a"), "{kernel:?}");
        let given = of_file(&root.path().join("boot/vmlinuz-6.9.1-a")).expect("good");
        assert!(given.modules.ends_with("lib/modules/6.9.1-a"));
        assert!(of_file(&root.path().join("boot/vmlinuz-6.11.0-a")).is_err());
        assert!(of_file(&root.path().join("boot/none")).is_err());
    }

    #[test]
    fn a_file_that_is_no_package_leaves_nothing_behind() {
        let cache = tempfile::tempdir().expect("a folder");
        let package = cache.path().join("x.deb");
        fs::write(&package, "no package").expect("written");
        let within = cache.path().join("cache");
        let refused = Kernel::find(Some(&package), &within).expect_err("no package");
        assert!(refused.to_string().contains("dpkg-deb"), "{refused}");
        assert_eq!(fs::read_dir(&within).expect("there").count(), 0);
    }
}
