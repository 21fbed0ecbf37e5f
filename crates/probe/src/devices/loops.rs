//! Loop devices, which hide from their holders what they are built on: the kernel lists no holder
//! for the device or the image below one.

use crate::device_number::{device_number, folder};
use crate::tree::{Tree, number, text};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// sysfs tells offset and limit in bytes; a limit of 0 is none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loop {
    name: String,
    /// The file or device that it shows, as the kernel names it: with ` (deleted)` behind the name
    /// of one that is gone.
    backing: PathBuf,
    offset: u64,
    limit: u64,
}

impl Loop {
    /// Whether both show a byte in common, if they show the same file.
    fn overlaps(&self, other: &Loop) -> bool {
        let end = |one: &Loop| {
            if one.limit == 0 { u64::MAX } else { one.offset.saturating_add(one.limit) }
        };
        self.offset < end(other) && other.offset < end(self)
    }

    /// Whether both show the same file.
    fn shows_the_same(&self, other: &Loop) -> bool {
        let identity =
            |one: &Loop| std::fs::metadata(&one.backing).ok().map(|meta| (meta.dev(), meta.ino()));
        self.backing == other.backing
            || identity(self).is_some_and(|mine| identity(other) == Some(mine))
    }
}

/// Which loop device shows what the block device `major:minor` is or shows, in words; `None` where
/// none does. What is written to the device would appear there.
pub(crate) fn user_of(tree: &Tree, device: &str) -> Option<String> {
    let all = all(tree);
    let own_name = folder(tree, device)?.file_name()?.to_string_lossy().into_owned();
    let below = |one: &&Loop| {
        let number = device_number(&one.backing);
        number.is_some_and(|number| {
            number == device || disk_of(tree, device).is_some_and(|disk| disk == number)
        })
    };
    if let Some(above) = all.iter().filter(|one| one.name != own_name).find(below) {
        return Some(format!("{} is built on it", above.name));
    }
    let own = all.iter().find(|one| one.name == own_name)?;
    let other = all
        .iter()
        .find(|one| one.name != own.name && one.overlaps(own) && one.shows_the_same(own))?;
    Some(format!("{} shows the same image, {}", other.name, own.backing.display()))
}

/// `major:minor` of the disk that a partition is on.
fn disk_of(tree: &Tree, device: &str) -> Option<String> {
    let folder = folder(tree, device)?;
    if !folder.join("partition").is_file() {
        return None;
    }
    text(&folder.parent()?.join("dev"))
}

fn all(tree: &Tree) -> Vec<Loop> {
    let names = tree.names("sys/block").into_iter().filter(|name| name.starts_with("loop"));
    let one = |name: String| {
        let folder = tree.path(&format!("sys/block/{name}/loop"));
        let backing = text(&folder.join("backing_file")).filter(|path| !path.is_empty())?;
        let bytes = |file: &str| number(&folder.join(file)).unwrap_or(0);
        let backing = Path::new(&backing).to_owned();
        Some(Loop { name, backing, offset: bytes("offset"), limit: bytes("sizelimit") })
    };
    names.filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Loop devices 7:0 and on, each over an image with an offset and a limit.
    fn recorded(loops: &[(&str, u64, u64)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: String, text: String| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        fs::create_dir_all(folder.path().join("sys/dev/block")).expect("a folder");
        for (number, (image, offset, limit)) in loops.iter().enumerate() {
            let block = format!("sys/block/loop{number}");
            write(format!("{block}/size"), "8\n".into());
            if !image.is_empty() {
                let image = folder.path().join(image);
                write(format!("{block}/loop/backing_file"), format!("{}\n", image.display()));
            }
            write(format!("{block}/loop/offset"), format!("{offset}\n"));
            write(format!("{block}/loop/sizelimit"), format!("{limit}\n"));
            let link = folder.path().join(format!("sys/dev/block/7:{number}"));
            symlink(format!("../../block/loop{number}"), link).expect("a link");
        }
        let tree = Tree::at(folder.path());
        (folder, tree)
    }

    #[test]
    fn a_second_loop_over_the_same_bytes_is_a_use() {
        let (folder, tree) = recorded(&[
            ("a", 0, 0),
            ("a", 0, 0),
            ("b", 0, 4096),
            ("b", 4096, 0),
            ("b-again", 4095, 2),
            ("c", 0, 0),
            ("", 0, 0),
        ]);
        for image in ["a", "b"] {
            fs::write(folder.path().join(image), "").expect("an image");
        }
        symlink("b", folder.path().join("b-again")).expect("a link");
        let told = |device: &str| user_of(&tree, device).unwrap_or_default();
        assert!(
            told("7:0").starts_with("loop1 shows the same image, ")
                && told("7:1").starts_with("loop0 shows")
        );
        assert!(
            told("7:2").starts_with("loop4 "),
            "a name that leads to the same image: {}",
            told("7:2")
        );
        assert!(told("7:3").starts_with("loop4 ") && told("7:4").starts_with("loop2 "));
        assert_eq!((told("7:5"), told("7:6"), told("9:9")), Default::default());
    }
}
