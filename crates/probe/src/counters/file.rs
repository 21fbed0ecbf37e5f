//! Files of the kernel that are read again and again.

use crate::tree::Tree;
use rustix::process::{Resource, getrlimit};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Descriptors that are kept open in all.
const MOST_KEPT: usize = 128;
/// The share of the descriptors that this process may have: the load needs the rest.
const SHARE_KEPT: u64 = 8;
/// The buffer through which every file is read, in bytes. Longer lines lose their ends.
const BUFFER: usize = 64 << 10;
/// Files of the kernel end; whatever is longer than this, in bytes, is not one.
const LONGEST: u64 = 64 << 20;

/// Opens files under a root, and counts what it keeps open.
#[derive(Debug)]
pub struct Opener {
    tree: Tree,
    kept: usize,
    most_kept: usize,
    /// Through this, all files are read.
    buffer: Vec<u8>,
}

impl Opener {
    pub fn new(tree: &Tree) -> Opener {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) / SHARE_KEPT;
        let most_kept = usize::try_from(allowed).unwrap_or(usize::MAX).min(MOST_KEPT);
        Opener { tree: tree.clone(), kept: 0, most_kept, buffer: vec![0; BUFFER] }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// A file that need not be there, now or later. Beyond the most that are kept, it is opened for
    /// each read.
    pub fn file(&mut self, path: &str) -> KernelFile {
        let path = self.tree.path(path);
        let file = File::open(&path).ok().filter(|_| self.kept < self.most_kept);
        let keep = file.is_some();
        self.kept += usize::from(keep);
        KernelFile { path, file, keep }
    }

    /// A file that is there now, or never.
    pub fn file_of_now(&mut self, path: &str) -> Option<KernelFile> {
        self.tree.path(path).is_file().then(|| self.file(path))
    }
}

/// One file of the kernel; by default, one that is not there.
#[derive(Debug, Default)]
pub struct KernelFile {
    path: PathBuf,
    file: Option<File>,
    keep: bool,
}

impl KernelFile {
    /// Hands every line, without its end, to `take`. `false` where it cannot be read, or not to its
    /// end.
    pub fn lines(&mut self, opener: &mut Opener, mut take: impl FnMut(&[u8])) -> bool {
        let file = match self.file.take().map(Ok).unwrap_or_else(|| File::open(&self.path)) {
            Ok(file) => file,
            Err(_) => return false,
        };
        let whole = each_line(&file, &mut opener.buffer, &mut take).is_ok();
        // One that fails belongs to something that is gone, such as a device: if it comes back, it
        // is another file.
        self.file = (self.keep && whole).then_some(file);
        whole
    }

    /// The number that is all of the file.
    pub fn number(&mut self, opener: &mut Opener) -> Option<u64> {
        let mut found = None;
        let whole = self.lines(opener, |line| {
            found = found.or_else(|| super::parse::number(line.trim_ascii()));
        });
        found.filter(|_| whole)
    }
}

fn each_line(file: &File, buffer: &mut [u8], take: &mut impl FnMut(&[u8])) -> std::io::Result<()> {
    let (mut offset, mut held, mut skipping) = (0u64, 0usize, false);
    loop {
        let read = match file.read_at(&mut buffer[held..], offset) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            if held > 0 && !skipping {
                take(&buffer[..held]);
            }
            return Ok(());
        }
        offset += read as u64;
        if offset > LONGEST {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let end = held + read;
        let mut start = 0;
        while let Some(length) = buffer[start..end].iter().position(|byte| *byte == b'\n') {
            if !std::mem::take(&mut skipping) {
                take(&buffer[start..start + length]);
            }
            start += length + 1;
        }
        if start == 0 && end == buffer.len() {
            if !skipping {
                take(&buffer[..end]);
            }
            (skipping, held) = (true, 0);
        } else {
            buffer.copy_within(start..end, 0);
            held = end - start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn lines_of(text: &str, buffer: usize) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, text).expect("a file");
        let mut lines = Vec::new();
        let file = File::open(&path).expect("a file");
        each_line(&file, &mut vec![0; buffer], &mut |line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
        })
        .expect("readable");
        lines
    }

    #[test]
    fn lines_are_whole_whatever_the_buffer() {
        for buffer in [6, 7, 8, 13, 64] {
            assert_eq!(
                lines_of("one\ntwo\n\nthree\nfour", buffer),
                ["one", "two", "", "three", "four"],
                "{buffer}"
            );
        }
        assert_eq!(lines_of("", 4), Vec::<String>::new());
    }

    #[test]
    fn a_line_beyond_the_buffer_loses_its_end_only() {
        assert_eq!(lines_of("a\n123456789012345\nb\n", 4), ["a", "1234", "b"]);
    }

    #[test]
    fn a_file_is_read_anew_each_time_and_may_vanish_and_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut opener = Opener::new(&Tree::at(folder.path()));
        let path = folder.path().join("n");
        let mut late = opener.file("n");
        assert_eq!(late.number(&mut opener), None, "not there yet");
        fs::write(&path, "1\n").expect("a file");
        assert_eq!(late.number(&mut opener), Some(1));
        let mut kept = opener.file("n");
        assert_eq!(kept.number(&mut opener), Some(1));
        fs::write(&path, "22\n").expect("a file");
        assert_eq!((kept.number(&mut opener), late.number(&mut opener)), (Some(22), Some(22)));
        fs::write(&path, "x\n").expect("a file");
        assert_eq!(kept.number(&mut opener), None);
    }

    #[test]
    fn descriptors_are_left_for_the_load() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("n"), "5").expect("a file");
        let mut opener = Opener::new(&Tree::at(folder.path()));
        let most = opener.most_kept;
        assert!(most > 0 && most <= MOST_KEPT);
        let mut files: Vec<KernelFile> = (0..MOST_KEPT + 50).map(|_| opener.file("n")).collect();
        assert!(files.iter_mut().all(|file| file.number(&mut opener) == Some(5)));
        assert_eq!(files.iter().filter(|file| file.file.is_some()).count(), most);
    }
}
