//! Numbers and words in the kernel's texts, without an allocation. Whatever is not as expected is
//! absent.

/// The words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A decimal number; `None` for anything else, and for what does not fit.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |value, byte| match byte {
        b'0'..=b'9' => value.checked_mul(10)?.checked_add(u64::from(byte - b'0')),
        _ => None,
    })
}

/// The first `N` words as numbers; those that are missing or no numbers are `None`.
pub fn numbers<'a, const N: usize>(mut words: impl Iterator<Item = &'a [u8]>) -> [Option<u64>; N] {
    std::array::from_fn(|_| words.next().and_then(number))
}

/// What follows `start`, if the text begins with it.
pub fn after<'a>(text: &'a [u8], start: &str) -> Option<&'a [u8]> {
    text.strip_prefix(start.as_bytes())
}

/// Both sides of the first `mark`.
pub fn split_once(text: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == mark)?;
    Some((&text[..at], &text[at + 1..]))
}

/// A name as text, whatever bytes it has.
pub fn name(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_numbers() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for wrong in ["18446744073709551616", "-1", "", "1.5", "0x1", "1\0"] {
            assert_eq!(number(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(numbers(words(b" 1  x\t3 ")), [Some(1), None, Some(3), None]);
    }

    #[test]
    fn texts_are_split_without_a_panic() {
        assert_eq!(split_once(b"a:b:c", b':'), Some((&b"a"[..], &b"b:c"[..])));
        assert_eq!(split_once(b"", b':'), None);
        assert_eq!(after(b"cpu12", "cpu"), Some(&b"12"[..]));
        assert_eq!(name(b"\xff"), "\u{fffd}");
    }
}
