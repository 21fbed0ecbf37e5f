//! Names from numbers: the path of any file of a tree, in memory of fixed size.

use model::metadata::{MOST_DEPTH, Tree};
use std::ffi::CStr;

/// Digits of the largest number.
const MOST_DIGITS: usize = 20;
/// Digits of a number in a name, with zeros before it: the name of a file takes 19 bytes, as
/// mdtest's `file.mdtest.0.12345` does. What an operation costs the kernel depends on the length of
/// a name (ext4 goes through the entries of a block, and has more of short ones), so names of one
/// length make a comparison of names of one length, and a run's last file as dear as its first.
const DIGITS: usize = 18;
/// A letter, a number, and a slash or the end.
const MOST_NAME: usize = MOST_DIGITS + 2;
const MOST_PATH: usize = (MOST_DEPTH as usize + 1) * MOST_NAME;

/// What a name stands for; its letter stands first in the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A directory that holds files or further directories.
    Directory = b'd',
    /// A file.
    File = b'f',
    /// A second name of a file.
    Link = b'l',
    /// A directory that a load makes and removes.
    Made = b'm',
    /// A file that got another name.
    Renamed = b'r',
    /// A symbolic link to a file.
    Symlink = b's',
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Directory, Kind::File, Kind::Link, Kind::Made, Kind::Renamed, Kind::Symlink];

    /// What a name of ours stands for; `None` for any other name.
    pub(crate) fn of(name: &[u8]) -> Option<Kind> {
        Kind::numbered(name).map(|(kind, _)| kind)
    }

    /// The same with the number in it.
    pub(crate) fn numbered(name: &[u8]) -> Option<(Kind, u64)> {
        let (letter, digits) = name.split_first()?;
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == *letter)?;
        // One number, one name: `f007` and `f+7` are somebody else's. Earlier versions wrote no
        // zeros before a number, and what is left of their runs is still to be recognised.
        let whole = digits.len() == DIGITS || digits == b"0" || !digits.starts_with(b"0");
        let text = std::str::from_utf8(digits)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
        text.parse().ok().filter(|_| whole).map(|number| (kind, number))
    }

    /// Whether it is a directory.
    pub(crate) fn is_directory(self) -> bool {
        matches!(self, Kind::Directory | Kind::Made)
    }
}

/// The path of one thing after the other, below the directory of a tree. The directories of the
/// last one are kept, because the next is mostly in the same ones.
pub(crate) struct PathBuffer {
    bytes: [u8; MOST_PATH],
    /// The lowest directory that the path leads to, and the length of that part, with its slash.
    leaf: Option<u64>,
    stem: usize,
}

impl PathBuffer {
    pub(crate) fn new() -> PathBuffer {
        PathBuffer { bytes: [0; MOST_PATH], leaf: None, stem: 0 }
    }

    /// The path of what belongs to file `number`.
    #[inline]
    pub(crate) fn of(&mut self, tree: &Tree, kind: Kind, number: u64) -> &CStr {
        let leaf = if tree.depth == 0 { 0 } else { number / tree.per_directory.max(1) };
        if self.leaf != Some(leaf) {
            self.go_to(tree, leaf, tree.depth);
        }
        let end = self.name(self.stem, kind, number);
        self.ended(end)
    }

    /// The path of the directory of `level` (1 to the tree's depth) that is above the lowest
    /// directory `leaf`, or is it; `.` at level 0.
    pub(crate) fn directory(&mut self, tree: &Tree, leaf: u64, level: u32) -> &CStr {
        self.go_to(tree, leaf, level);
        self.leaf = None;
        match self.stem.checked_sub(1) {
            Some(end) => self.ended(end),
            None => c".",
        }
    }

    fn go_to(&mut self, tree: &Tree, leaf: u64, levels: u32) {
        self.stem = 0;
        for directory in tree.way_to(leaf).take(levels as usize) {
            let end = self.name(self.stem, Kind::Directory, directory);
            self.bytes[end] = b'/';
            self.stem = end + 1;
        }
        self.leaf = Some(leaf);
    }

    /// Writes a name at `at`; comes back with where it ends.
    #[inline]
    fn name(&mut self, at: usize, kind: Kind, number: u64) -> usize {
        let mut digits = [b'0'; MOST_DIGITS];
        let mut first = MOST_DIGITS;
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let first = first.min(MOST_DIGITS - DIGITS);
        self.bytes[at] = kind as u8;
        let end = at + 1 + MOST_DIGITS - first;
        self.bytes[at + 1..end].copy_from_slice(&digits[first..]);
        end
    }

    #[inline]
    fn ended(&mut self, end: usize) -> &CStr {
        self.bytes[end] = 0;
        CStr::from_bytes_until_nul(&self.bytes[..=end]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metadata::MOST_FILES;

    fn tree(depth: u32, fan_out: u64, per_directory: u64) -> Tree {
        Tree { depth, fan_out, per_directory, ..crate::common::tree("/t", u64::MAX, 0) }
    }

    fn of(tree: &Tree, kind: Kind, number: u64) -> String {
        PathBuffer::new().of(tree, kind, number).to_str().expect("text").to_owned()
    }

    /// A name with its zeros.
    fn name(letter: char, number: u64) -> String {
        format!("{letter}{number:018}")
    }

    /// Names one below the other.
    fn way(names: &[(char, u64)]) -> String {
        names.iter().map(|(letter, number)| name(*letter, *number)).collect::<Vec<_>>().join("/")
    }

    #[test]
    fn a_number_is_a_path() {
        assert_eq!(of(&tree(0, 1, 1), Kind::File, 0), "f000000000000000000");
        assert_eq!(
            of(&tree(1, 1, 100), Kind::File, 1234),
            "d000000000000000012/f000000000000001234"
        );
        let deep = way(&[('d', 7), ('d', 2), ('d', 3), ('l', 12_345)]);
        assert_eq!(
            of(&tree(3, 4, 100), Kind::Link, 12_345),
            deep,
            "leaf 123 is 7 × 16 + 2 × 4 + 3"
        );
        let deepest = of(&tree(MOST_DEPTH, u64::MAX, 1), Kind::File, u64::MAX);
        assert!(
            deepest.len() < MOST_PATH && deepest.ends_with("/f18446744073709551615"),
            "{deepest}"
        );
    }

    #[test]
    fn all_files_of_a_tree_have_names_as_long_as_those_of_mdtest() {
        for number in [0, 9, 10, 99_999, 100_000, MOST_FILES - 1, 10_u64.pow(18) - 1] {
            let length = of(&tree(0, 1, 1), Kind::File, number).len();
            assert_eq!(length, "file.mdtest.0.12345".len(), "{number}");
        }
    }

    #[test]
    fn one_after_the_other_is_as_each_by_itself() {
        let tree = tree(2, 3, 2);
        let mut buffer = PathBuffer::new();
        for number in [5, 4, 99, 100, 101, 7, 10_u64.pow(18) - 1, 10_u64.pow(18), 3] {
            let alone = of(&tree, Kind::File, number);
            assert_eq!(buffer.of(&tree, Kind::File, number).to_str(), Ok(alone.as_str()));
        }
        let of_depths = [".".to_owned(), name('d', 16), way(&[('d', 16), ('d', 2)])];
        for (depth, expected) in (0..).zip(of_depths) {
            assert_eq!(buffer.directory(&tree, 50, depth).to_str(), Ok(expected.as_str()));
        }
        let file = way(&[('d', 16), ('d', 2), ('f', 100)]);
        assert_eq!(buffer.of(&tree, Kind::File, 100).to_str(), Ok(file.as_str()));
    }

    #[test]
    fn only_our_own_names_are_ours() {
        for number in [0, 7, 120, 10_u64.pow(18) - 1, 10_u64.pow(18), u64::MAX] {
            for kind in Kind::ALL {
                let written = of(&tree(0, 1, 1), kind, number);
                assert_eq!(Kind::of(written.as_bytes()), Some(kind), "{written}");
                let earlier = format!("{}{number}", char::from(kind as u8));
                assert_eq!(
                    Kind::of(earlier.as_bytes()),
                    Some(kind),
                    "{earlier}, as earlier versions wrote it"
                );
            }
        }
        let foreign = "f,f00,f007,f+7,f-1,file7,x1,f1.bak,d 1,f99999999999999999999,";
        let zeros = "f00000000000000007,f0000000000000000007,f+00000000000000007,\
                     f00000000000000007x";
        for name in [foreign, zeros].concat().split(',') {
            assert_eq!(Kind::of(name.as_bytes()), None, "{name}");
        }
        assert_eq!(Kind::of(&[b'f', 0xff]), None);
    }
}
