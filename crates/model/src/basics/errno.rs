//! The errors that storage answers with, by their Linux names.

/// No space left on the device.
pub const ENOSPC: i32 = 28;

/// Names and numbers from Linux' `errno-base.h` and `errno.h`, as on x86-64 and ARM64: what block
/// devices and file systems return.
const NAMES: [(&str, i32); 34] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("EFBIG", 27),
    ("ENOSPC", ENOSPC),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("ENAMETOOLONG", 36),
    ("ENOSYS", 38),
    ("ENOTEMPTY", 39),
    ("ENODATA", 61),
    ("ENOLINK", 67),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ECANCELED", 125),
];

/// Whether it says that the target has no such operation at all. `EPERM` is what `link` answers
/// with where there are no hard links (`link(2)`), and what some file systems do for others that
/// they lack.
pub fn is_unsupported(errno: i32) -> bool {
    matches!(known(errno), Some("EPERM" | "ENOSYS" | "EOPNOTSUPP"))
}

/// The name of a number, if it is one of those that storage answers with.
pub fn known(errno: i32) -> Option<&'static str> {
    NAMES.iter().find(|&&(_, number)| number == errno).map(|&(name, _)| name)
}

/// The name of a number, or the number as text.
pub fn name_of(errno: i32) -> String {
    known(errno).map_or_else(|| errno.to_string(), str::to_owned)
}

/// The number of a name such as `EIO`, or of a number in text.
pub fn number_of(name: &str) -> Option<i32> {
    let by_name =
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, number)| number);
    by_name.or_else(|| name.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_round_trip() {
        for (name, number) in NAMES {
            assert_eq!(number_of(name), Some(number));
            assert_eq!(name_of(number), name);
        }
        assert_eq!(number_of(&name_of(4000)), Some(4000));
        assert_eq!(number_of("EFROB"), None);
        assert!(NAMES.is_sorted_by_key(|(_, number)| number));
    }

    #[test]
    fn what_is_not_there_is_told_from_what_failed() {
        let unsupported: Vec<&str> = NAMES
            .into_iter()
            .filter(|(_, number)| is_unsupported(*number))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(unsupported, ["EPERM", "ENOSYS", "EOPNOTSUPP"]);
        assert!(!is_unsupported(0));
    }
}
