//! The program itself: what hosts get that lack it.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The running program's file and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// Where it is.
    pub path: PathBuf,
    /// Its SHA-256 in hexadecimal digits.
    pub hash: String,
    /// Its length in bytes.
    pub length: u64,
}

impl Binary {
    /// The program that runs.
    ///
    /// # Errors
    /// It cannot be read: it may have been replaced since it was started.
    pub fn own() -> std::io::Result<Binary> {
        // The link leads to the file that runs, even if another has its name by now.
        let running = Path::new("/proc/self/exe");
        let length = std::fs::metadata(running)?.len();
        Ok(Binary { path: running.to_owned(), hash: hash(running)?, length })
    }
}

/// The SHA-256 of a file in hexadecimal digits.
pub(super) fn hash(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut sum = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            return Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        sum.update(&chunk[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_sha256sum() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "abc").expect("written");
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(file.path()).expect("readable"), known);
    }
}
