//! A clone of an image: a file of qemu's own format that holds nothing and names the image. What a
//! guest writes goes into it; what it has not written is read from the image (qemu's
//! `docs/interop/qcow2.txt`, version 3).

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Bytes of a cluster: 64 KiB, qemu's own default.
const CLUSTER_BITS: u32 = 16;
const CLUSTER: u64 = 1 << CLUSTER_BITS;
/// What one entry of the first table stands for: a cluster of 8-byte entries, each a cluster.
const PER_ENTRY: u64 = CLUSTER * (CLUSTER / 8);
/// The clusters of header, table of counts, and counts; the first table is behind them.
const BEFORE_TABLE: u64 = 3;
/// The length of the header in bytes.
const HEADER: u32 = 104;
/// The extension that says what the image is, and its word for that.
const BACKING_FORMAT: u32 = 0xe279_2aca;
const RAW: &[u8; 3] = b"raw";
/// Where the name of the image begins: behind the header and two extensions.
const NAME_AT: u64 = HEADER as u64 + 16 + 8;

/// Makes a clone of the raw image `base`, a name in the same folder, that a guest sees with `size`
/// bytes. It is made anew, never over another file.
pub(crate) fn make_clone(path: &Path, size: u64, base: &str) -> io::Result<()> {
    let entries = size.div_ceil(PER_ENTRY).max(1);
    let table_clusters = (entries * 8).div_ceil(CLUSTER);
    let clusters = BEFORE_TABLE + table_clusters;
    // One cluster of counts is enough for 32,768: a disk of half an exabyte has as many.
    assert!(clusters <= CLUSTER / 2, "a disk of {size} bytes");
    let mut bytes = header(size, entries, base);
    bytes.resize(CLUSTER as usize, 0);
    // The table of counts has one entry: where the counts are.
    bytes.extend((2 * CLUSTER).to_be_bytes());
    bytes.resize(2 * CLUSTER as usize, 0);
    (0..clusters).for_each(|_| bytes.extend(1u16.to_be_bytes()));
    bytes.resize(BEFORE_TABLE as usize * CLUSTER as usize, 0);
    let mut file = File::create_new(path)?;
    file.write_all(&bytes)?;
    // The first table is all zeros: nothing is in the clone yet.
    file.set_len(clusters * CLUSTER)?;
    file.sync_all()
}

fn header(size: u64, entries: u64, base: &str) -> Vec<u8> {
    let mut bytes = b"QFI\xfb".to_vec();
    bytes.extend(3u32.to_be_bytes());
    bytes.extend(NAME_AT.to_be_bytes());
    bytes.extend((base.len() as u32).to_be_bytes());
    bytes.extend(CLUSTER_BITS.to_be_bytes());
    bytes.extend(size.to_be_bytes());
    // No encryption.
    bytes.extend(0u32.to_be_bytes());
    bytes.extend((entries as u32).to_be_bytes());
    bytes.extend((BEFORE_TABLE * CLUSTER).to_be_bytes());
    bytes.extend(CLUSTER.to_be_bytes());
    bytes.extend(1u32.to_be_bytes());
    // No snapshots, and no features.
    bytes.extend([0; 4 + 8 + 3 * 8]);
    // Counts of 2⁴ bits.
    bytes.extend(4u32.to_be_bytes());
    bytes.extend(HEADER.to_be_bytes());
    bytes.extend(BACKING_FORMAT.to_be_bytes());
    bytes.extend((RAW.len() as u32).to_be_bytes());
    bytes.extend(RAW);
    // Each extension fills whole words; one of no kind is the last.
    bytes.extend([0; 5 + 8]);
    assert_eq!(bytes.len() as u64, NAME_AT);
    bytes.extend(base.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_clone_names_its_image_and_is_never_made_over_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.qcow2");
        make_clone(&path, 3 << 30, "base.raw").expect("made");
        let bytes = std::fs::read(&path).expect("there");
        assert!(bytes.starts_with(b"QFI\xfb\0\0\0\x03") && bytes.len() == 4 << 16);
        assert_eq!(&bytes[128..136], b"base.raw");
        assert_eq!(bytes[24..32], (3u64 << 30).to_be_bytes());
        assert_eq!(bytes[36..40], 6u32.to_be_bytes(), "512 MiB each");
        assert!(make_clone(&path, 1, "base.raw").is_err());
    }

    #[test]
    fn qemu_finds_no_fault_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().join("base.raw");
        std::fs::write(&base, vec![7; 1 << 20]).expect("written");
        let path = folder.path().join("x.qcow2");
        // The largest has 64 clusters of table.
        for size in [1 << 20, 257 << 40] {
            make_clone(&path, size, "base.raw").expect("made");
            let mut check = Command::new("qemu-img");
            // Where it is not installed, the machines of `tests/vms` show the same.
            let Ok(told) = check.args(["check", "-q", "-f", "qcow2"]).arg(&path).output() else {
                return;
            };
            assert!(told.status.success(), "{told:?}");
            std::fs::remove_file(&path).expect("removed");
        }
    }
}
