//! Archives: tar (POSIX ustar, IEEE Std 1003.1-1988), ar and gzip, as packages need them. The same
//! entries give the same bytes: nothing of this machine or moment goes in.

use crate::shell::Outcome;
use flate2::{Compression, GzBuilder};
use std::io::Write;

/// Something that a package brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where, without a slash at either end: `usr/bin/plimsoll`.
    pub path: String,
    /// Permission bits.
    pub mode: u32,
    /// The content; `None` for a folder.
    pub content: Option<Vec<u8>>,
}

impl Entry {
    /// A file.
    pub fn file(path: &str, mode: u32, content: impl Into<Vec<u8>>) -> Entry {
        Entry { path: path.to_owned(), mode, content: Some(content.into()) }
    }

    /// A folder.
    pub fn folder(path: &str, mode: u32) -> Entry {
        Entry { path: path.to_owned(), mode, content: None }
    }
}

/// The entries in the order of their paths, with the folders that they lie in.
pub fn with_folders(mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut folders: Vec<String> = Vec::new();
    for entry in &entries {
        let mut path = entry.path.as_str();
        while let Some((folder, _)) = path.rsplit_once('/') {
            folders.push(folder.to_owned());
            path = folder;
        }
    }
    let is_there = |path: &String| entries.iter().any(|entry| entry.path == *path);
    folders.retain(|folder| !is_there(folder));
    entries.extend(folders.iter().map(|folder| Entry::folder(folder, 0o755)));
    entries.sort_by(|one, two| one.path.cmp(&two.path));
    entries.dedup_by(|one, two| one.path == two.path);
    entries
}

const BLOCK: usize = 512;

/// A tar file of these entries, each name after `prefix`, owned by root and made at `epoch_s`.
///
/// # Errors
/// A name is longer than 100 bytes, or a file larger than 8 GiB.
pub fn tar(entries: &[Entry], prefix: &str, epoch_s: u64) -> Outcome<Vec<u8>> {
    let mut archive = Vec::new();
    for entry in entries {
        archive.extend(header(entry, prefix, epoch_s)?);
        if let Some(content) = &entry.content {
            archive.extend(content);
            archive.resize(archive.len().next_multiple_of(BLOCK), 0);
        }
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    Ok(archive)
}

fn header(entry: &Entry, prefix: &str, epoch_s: u64) -> Outcome<[u8; BLOCK]> {
    let ending = if entry.content.is_none() { "/" } else { "" };
    let name = format!("{prefix}{}{ending}", entry.path);
    let size = entry.content.as_ref().map_or(0, Vec::len);
    if name.len() > 100 || size >= 1 << 33 {
        return Err(format!("{name} has too long a name or content for a tar file"));
    }
    let mut head = [0u8; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, name.as_bytes());
    put(100, format!("{:07o}", entry.mode).as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, format!("{epoch_s:011o}").as_bytes());
    put(148, b"        ");
    put(156, if entry.content.is_none() { b"5" } else { b"0" });
    put(257, b"ustar\x0000root");
    put(297, b"root");
    let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
    head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Ok(head)
}

/// An ar file, as a .deb is one (deb(5)): names of at most 15 bytes.
pub fn ar(members: &[(&str, &[u8])], epoch_s: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        assert!(name.len() < 16, "a short name");
        let size = content.len();
        archive.extend(format!("{name:<16}{epoch_s:<12}0     0     100644  {size:<10}`\n").bytes());
        archive.extend(*content);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// `content`, compressed (RFC 1952), without a name or a time.
///
/// # Errors
/// Memory cannot be written, which does not happen.
pub fn gzip(content: &[u8]) -> Outcome<Vec<u8>> {
    let out = GzBuilder::new().mtime(0).operating_system(255);
    let mut encoder = out.write(Vec::new(), Compression::best());
    encoder
        .write_all(content)
        .and_then(|()| encoder.finish())
        .map_err(|error| format!("compression: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        with_folders(vec![
            Entry::file("usr/bin/plimsoll", 0o755, *b"program"),
            Entry::file("usr/share/doc/a", 0o644, vec![7; 600]),
        ])
    }

    #[test]
    fn folders_come_before_what_lies_in_them_and_once() {
        let paths: Vec<String> = entries().into_iter().map(|entry| entry.path).collect();
        let wanted =
            ["usr", "usr/bin", "usr/bin/plimsoll", "usr/share", "usr/share/doc", "usr/share/doc/a"];
        assert_eq!(paths, wanted);
    }

    #[test]
    fn what_is_packed_is_what_tar_lists() {
        let folder = std::env::temp_dir().join(format!("xtask-tar-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("a.tar");
        std::fs::write(&file, tar(&entries(), "./", 86_400).expect("short names")).expect("room");
        let mut list = std::process::Command::new("tar");
        list.args(["--utc", "-tvf"]).arg(&file);
        let listed = crate::shell::capture(&mut list).expect("tar reads it");
        std::fs::remove_dir_all(&folder).expect("ours");
        assert!(
            listed.contains("-rwxr-xr-x root/root         7 1970-01-02 00:00 ./usr/bin/plimsoll"),
            "{listed}"
        );
        assert_eq!(listed.lines().count(), 6);
    }

    #[test]
    fn long_names_are_refused_and_not_cut() {
        let long = [Entry::file(&"a".repeat(101), 0o644, *b"")];
        assert!(tar(&long, "", 0).is_err());
    }

    #[test]
    fn an_archive_has_even_members_and_gzip_no_time() {
        let archive = ar(&[("debian-binary", b"2.0\n"), ("odd", b"123")], 5);
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 4);
        assert!(archive.starts_with(b"!<arch>\ndebian-binary   5           0     0     100644  4"));
        let packed = gzip(b"text").expect("memory");
        assert_eq!(packed[4..8], [0; 4]);
        assert_eq!(packed, gzip(b"text").expect("memory"));
    }
}
