//! Which file system holds a path.

use crate::servers;
use crate::tree::Tree;
use model::inventory::MountFacts;
use procfs::FromRead;
use procfs::process::{MountInfo, MountInfos};
use std::path::{Path, PathBuf};

/// The mounts that this process sees; none if the kernel does not tell.
pub fn read(tree: &Tree) -> Vec<MountInfo> {
    MountInfos::from_file(tree.path("proc/self/mountinfo")).map(plain).unwrap_or_default()
}

/// The mounts with their paths as they are: the kernel writes blanks, tabs, newlines, backslashes
/// and `#` as octal numbers.
fn plain(mounts: MountInfos) -> Vec<MountInfo> {
    let mut mounts = mounts.0;
    for mount in &mut mounts {
        mount.mount_point = PathBuf::from(unescape(&mount.mount_point.to_string_lossy()));
        mount.mount_source = mount.mount_source.as_deref().map(unescape);
    }
    mounts
}

/// With every `\\ooo` as the byte that it stands for, each read once.
fn unescape(text: &str) -> String {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let code = (*first == b'\\').then(|| behind.first_chunk::<3>().and_then(octal)).flatten();
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &behind[3..] } else { behind };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// The byte that three octal digits stand for.
fn octal(digits: &[u8; 3]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(text, 8).ok().filter(|_| text.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The mount that holds `path` (absolute, without symbolic links): the longest mount point above
/// it, the last of several there.
pub fn holding<'a>(mounts: &'a [MountInfo], path: &Path) -> Option<&'a MountInfo> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    above.max_by_key(|mount| mount.mount_point.components().count())
}

/// Where the device `major:minor` is mounted.
pub fn of_device<'a>(mounts: &'a [MountInfo], number: &str) -> Option<&'a MountInfo> {
    mounts.iter().find(|mount| mount.majmin == number)
}

/// The folders that an overlay lies on: the upper one, which takes all that is written; of one that
/// takes nothing, the lower ones. None for other file systems.
pub(crate) fn overlaid(mount: &MountInfo) -> Vec<PathBuf> {
    if mount.fs_type != "overlay" {
        return Vec::new();
    }
    let option = |name: &str| mount.super_options.get(name)?.as_deref().map(unescape);
    match option("upperdir") {
        Some(upper) => vec![PathBuf::from(upper)],
        None => {
            let lower = option("lowerdir").unwrap_or_default();
            lower.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
        }
    }
}

/// What a mount is, in our words.
pub fn facts(mount: &MountInfo) -> MountFacts {
    let all = mount.mount_options.iter().chain(&mount.super_options);
    let mut options: Vec<String> = all
        .map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        })
        .collect();
    options.sort();
    options.dedup();
    let source = mount.mount_source.clone().unwrap_or_default();
    let servers = servers::servers(&mount.fs_type, &source, &options);
    MountFacts {
        mount_point: mount.mount_point.to_string_lossy().into_owned(),
        file_system: mount.fs_type.clone(),
        source,
        options,
        network: servers.is_some(),
        servers: servers.unwrap_or_default(),
    }
}

/// The mounts that can hold data, in the order in which they were made.
pub(crate) fn with_data(mounts: &[MountInfo]) -> Vec<MountFacts> {
    /// More than any host has.
    const MOST: usize = 65_536;
    mounts
        .iter()
        .filter(|mount| servers::holds_data(&mount.fs_type))
        .take(MOST)
        .map(facts)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromBufRead;

    const MOUNTINFO: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 27 8:1 / /mnt rw,relatime - xfs /dev/sda1 rw
32 31 8:17 / /mnt/a\\040b rw,relatime - ext4 /dev/sdb1 rw
33 31 0:40 / /mnt rw,relatime - tmpfs none rw
";

    #[test]
    fn the_longest_and_last_mount_holds_a_path() {
        let mounts = plain(MountInfos::from_buf_read(MOUNTINFO.as_bytes()).expect("mounts"));
        let kind =
            |path: &str| holding(&mounts, Path::new(path)).map(|mount| mount.fs_type.as_str());
        assert_eq!(kind("/srv/x"), Some("ext4"));
        assert_eq!(kind("/mnt/x"), Some("tmpfs"), "the last of two on one point covers the first");
        assert_eq!(kind("/mntx"), Some("ext4"), "a name that only begins alike is another one");
        assert_eq!(
            of_device(&mounts, "8:17").map(|mount| mount.mount_source.clone()),
            Some(Some("/dev/sdb1".to_owned()))
        );
        assert!(of_device(&mounts, "8:99").is_none());
    }

    #[test]
    fn every_byte_that_the_kernel_writes_in_octal_is_read_once() {
        for (written, plain) in [
            ("a\\043b", "a#b"),
            ("mfs\\043master:9421", "mfs#master:9421"),
            ("a\\134043b", "a\\043b"),
            ("\\011\\012", "\t\n"),
            ("\\303\\244", "ä"),
            ("end\\04", "end\\04"),
            ("no\\999", "no\\999"),
            ("\\777", "\\777"),
        ] {
            assert_eq!(unescape(written), plain, "{written}");
        }
    }

    #[test]
    fn blanks_in_mount_points_are_read() {
        let mounts = plain(MountInfos::from_buf_read(MOUNTINFO.as_bytes()).expect("mounts"));
        assert_eq!(
            holding(&mounts, Path::new("/mnt/a b/c")).map(|mount| mount.majmin.as_str()),
            Some("8:17")
        );
    }
}
