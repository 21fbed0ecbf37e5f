//! The errors that a simulated device can return, by their Linux names.

/// No space left on the device.
pub(crate) const ENOSPC: i32 = 28;

/// Names and numbers from Linux' `errno-base.h` and `errno.h`, as on x86-64 and ARM64: what block devices and file
/// systems return.
const NAMES: [(&str, i32); 18] = [
    ("EPERM", 1),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EBUSY", 16),
    ("ENODEV", 19),
    ("EINVAL", 22),
    ("EFBIG", 27),
    ("ENOSPC", ENOSPC),
    ("EROFS", 30),
    ("ENODATA", 61),
    ("ENOLINK", 67),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("EREMOTEIO", 121),
];

/// The number of a name such as `EIO`, or of a number in text.
pub(crate) fn number_of(name: &str) -> Option<i32> {
    let by_name = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|&(_, number)| number);
    by_name.or_else(|| name.parse().ok())
}

/// The name of a number, or the number as text.
pub(crate) fn name_of(errno: i32) -> String {
    NAMES.iter().find(|&&(_, number)| number == errno).map_or_else(|| errno.to_string(), |&(name, _)| name.to_owned())
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
    }
}
