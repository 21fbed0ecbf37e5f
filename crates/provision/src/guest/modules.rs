//! The modules of a kernel that a guest needs, each behind those that it needs itself.

use super::kernel::Kernel;
use crate::{Outcome, Problem};
use model::machines::DiskBus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module that is to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name, with `_` between its words.
    pub name: String,
    /// What the kernel takes.
    pub bytes: Vec<u8>,
}

/// Folders of modules are not deeper.
const DEEPEST: usize = 12;

/// The modules that disks of these kinds and the agent's line need, in the order in which they are
/// loaded.
///
/// # Errors
/// One is neither in the kernel nor beside it, or cannot be read.
pub fn needed(kernel: &Kernel, buses: &[DiskBus]) -> Outcome<Vec<Module>> {
    let of_bus = buses.iter().flat_map(|bus| match bus {
        DiskBus::VirtioBlk => &["virtio_blk"][..],
        DiskBus::VirtioScsi => &["virtio_scsi", "sd_mod"],
        DiskBus::Nvme => &["nvme"],
    });
    let mut files = BTreeMap::new();
    find(&kernel.modules, DEEPEST, &mut files);
    let builtin =
        std::fs::read_to_string(kernel.modules.join("modules.builtin")).unwrap_or_default();
    let builtin: Vec<String> =
        builtin.lines().filter_map(|line| name_of(Path::new(line))).collect();
    let mut known = Known { kernel, files, builtin, loaded: Vec::new() };
    for name in ["virtio_pci", "virtio_console"].iter().chain(of_bus) {
        known.add(name, 0)?;
    }
    Ok(known.loaded)
}

struct Known<'a> {
    kernel: &'a Kernel,
    files: BTreeMap<String, PathBuf>,
    builtin: Vec<String>,
    loaded: Vec<Module>,
}

impl Known<'_> {
    fn add(&mut self, name: &str, depth: usize) -> Outcome {
        let is_there = self.loaded.iter().any(|module| module.name == name)
            || self.builtin.iter().any(|builtin| builtin == name);
        // Modules cannot need each other in a circle; a damaged file could say so.
        if is_there || depth > DEEPEST {
            return Ok(());
        }
        let Some(path) = self.files.get(name) else {
            return Err(Problem::NoModule {
                module: name.to_owned(),
                folder: self.kernel.modules.clone(),
            });
        };
        let bytes = unpacked(path)?;
        for needed in depends(&bytes) {
            self.add(&needed, depth + 1)?;
        }
        self.loaded.push(Module { name: name.to_owned(), bytes });
        Ok(())
    }
}

/// All modules below a folder, by their names. No link is followed.
fn find(folder: &Path, depth: usize, files: &mut BTreeMap<String, PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => find(&path, depth - 1, files),
            Ok(kind) if kind.is_file() => {
                files.extend(name_of(&path).map(|name| (name, path)));
            }
            _ => {}
        }
    }
}

/// The name of the module in a file, if it is one: `virtio-rng.ko.xz` has `virtio_rng`.
fn name_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let (name, packed) = file.split_once(".ko")?;
    ["", ".xz", ".zst", ".gz"].contains(&packed).then(|| name.replace('-', "_"))
}

/// A module as the kernel takes it.
fn unpacked(path: &Path) -> Outcome<Vec<u8>> {
    let program = match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        Some("gz") => "gzip",
        _ => return std::fs::read(path).map_err(|error| Problem::file("read", path, &error)),
    };
    let cannot = |why: String| Problem::Unpack { path: path.to_owned(), program, why };
    let output = Command::new(program)
        .arg("-dc")
        .arg(path)
        .output()
        .map_err(|error| cannot(error.to_string()))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(cannot(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// The modules that a module names as those that it needs.
fn depends(module: &[u8]) -> Vec<String> {
    const MARK: &[u8] = b"\0depends=";
    let Some(at) = module.windows(MARK.len()).position(|bytes| bytes == MARK) else {
        return Vec::new();
    };
    let rest = &module[at + MARK.len()..];
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
    let list = String::from_utf8_lossy(&rest[..end]);
    list.split(',').filter(|name| !name.is_empty()).map(|name| name.replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Kernel) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, bytes) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("one")).expect("made");
            std::fs::write(path, bytes).expect("written");
        }
        let modules = folder.path().to_owned();
        (folder, Kernel { image: modules.join("vmlinuz"), modules })
    }

    #[test]
    fn what_a_module_needs_is_loaded_before_it_and_what_is_built_in_is_not() {
        let (_folder, kernel) = tree(&[
            ("kernel/a/virtio.ko", b"x\0depends=\0"),
            ("kernel/a/virtio_pci.ko", b"x\0depends=virtio,virtio_ring\0"),
            ("kernel/a/virtio-ring.ko", b"x\0depends=virtio\0"),
            ("kernel/b/virtio_console.ko", b"x\0depends=virtio\0more"),
            ("modules.builtin", b"kernel/drivers/nvme/host/nvme.ko\n"),
        ]);
        let names = |bus| {
            let modules = needed(&kernel, &[bus]).expect("all there");
            modules.into_iter().map(|module| module.name).collect::<Vec<_>>()
        };
        assert_eq!(names(DiskBus::Nvme), ["virtio", "virtio_ring", "virtio_pci", "virtio_console"]);
        let missing = needed(&kernel, &[DiskBus::VirtioBlk]).expect_err("no virtio_blk");
        assert!(missing.to_string().contains("virtio_blk"), "{missing}");
    }

    #[test]
    fn a_packed_module_is_unpacked() {
        assert_eq!(name_of(Path::new("/x/t10-pi.ko.zst")), Some("t10_pi".to_owned()));
        assert_eq!(name_of(Path::new("/x/virtio.ko.sig")), None);
        let (folder, _) = tree(&[("a.ko", b"\0depends=b\0")]);
        let path = folder.path().join("a.ko");
        assert!(Command::new("gzip").arg(&path).status().expect("gzip").success());
        let bytes = unpacked(&folder.path().join("a.ko.gz")).expect("unpacked");
        assert_eq!(depends(&bytes), ["b"]);
    }
}
