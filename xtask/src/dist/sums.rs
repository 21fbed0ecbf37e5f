//! Checksums.

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal.
pub fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file as `sha256sum --check` reads it, by name.
pub fn list(files: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<String> =
        files.iter().map(|(name, content)| format!("{}  {name}\n", sha256(content))).collect();
    lines.sort_by(|one, two| one[66..].cmp(&two[66..]));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard_and_in_the_order_of_names() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), abc);
        let listed = list(&[("b".to_owned(), b"".to_vec()), ("a".to_owned(), b"abc".to_vec())]);
        assert!(listed.starts_with(&format!("{abc}  a\n")) && listed.ends_with("  b\n"));
    }
}
