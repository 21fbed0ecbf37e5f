//! Block devices by their numbers, as the kernel has them.

use crate::Tree;
use std::path::{Path, PathBuf};

/// The folder of `major:minor`, links resolved.
pub fn folder(tree: &Tree, device: &str) -> Option<PathBuf> {
    tree.path(&format!("sys/dev/block/{device}")).canonicalize().ok()
}

/// `major:minor` of the block device at `path`.
pub fn device_number(path: &Path) -> Option<String> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let meta = std::fs::metadata(path).ok()?;
    meta.file_type().is_block_device().then(|| numbers(meta.rdev()))
}

/// `major:minor` of a device number.
pub fn numbers(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}
