//! Contents that are no text as they stand: what they are, and what makes a text of them.

/// How a packed file begins, what it is, and the command that unpacks it.
const PACKED: [(&[u8], &str, &str); 5] = [
    (b"\x1f\x8b", "compressed (gzip)", "unpack it with `gzip -dc`"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd)", "unpack it with `zstd -dc`"),
    (b"\xfd7zXZ\0", "compressed (xz)", "unpack it with `xz -dc`"),
    (b"BZh", "compressed (bzip2)", "unpack it with `bzip2 -dc`"),
    (b"PK\x03\x04", "an archive (zip)", "unpack it with `unzip`"),
];

/// What a content is that begins so, and the remedy; `None` for whatever may be read.
pub fn packed(start: &[u8]) -> Option<(&'static str, &'static str)> {
    PACKED.iter().find(|(magic, ..)| start.starts_with(magic)).map(|(_, what, how)| (*what, *how))
}

/// The same for a text in UTF-16, which has a mark at its begin.
pub fn utf16(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let is_marked = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    is_marked.then_some(("text in UTF-16", "save it as UTF-8, as `iconv -f UTF-16 -t UTF-8` does"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_says_how_it_is_unpacked() {
        let what = |start: &[u8]| packed(start).or(utf16(start)).map(|(what, _)| what);
        assert_eq!(what(b"\x1f\x8b\x08rest"), Some("compressed (gzip)"));
        assert_eq!(what(b"PK\x03\x04"), Some("an archive (zip)"));
        assert_eq!(what(b"\xff\xfet\0"), Some("text in UTF-16"));
        for text in [&b"0,500"[..], b"", b"B", b"fio version 2 iolog"] {
            assert_eq!(what(text), None);
        }
    }
}
