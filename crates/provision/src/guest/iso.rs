//! A file system with a few files in one folder, as ISO 9660 (ECMA-119) has it, in the words of
//! Linux: names keep their hyphens, and become small letters when they are read.

use std::io::{self, Write};

/// The size of a block, in bytes.
const BLOCK: usize = 2048;
/// Where the folder is: behind the empty start, two descriptors and two path tables.
const FOLDER: u32 = 20;
/// The most files: their records fit into one block.
const MOST: usize = 16;
/// The longest name of a file.
const LONGEST: usize = 30;

/// Writes a file system with this label and these files, whose names are in order.
///
/// # Errors
/// It cannot be written, or there are too many files, or one whose size or name has no place.
pub fn write(mut to: impl Write, label: &str, files: &[(&str, &[u8])]) -> io::Result<()> {
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
    let is_named = |(name, _): &(&str, &[u8])| name.is_ascii() && name.len() <= LONGEST;
    if files.len() > MOST || label.len() > 32 || !files.iter().all(is_named) {
        return Err(wrong("too many files, or a name that is too long"));
    }
    let mut folder = Vec::new();
    // The folder itself, and the one above it: there is none but itself.
    folder.extend(entry(&[0], FOLDER, BLOCK as u32, true));
    folder.extend(entry(&[1], FOLDER, BLOCK as u32, true));
    let mut next = FOLDER + 1;
    for (name, bytes) in files {
        let size = u32::try_from(bytes.len()).map_err(|_| wrong("a file is too large"))?;
        let name = format!("{};1", name.to_ascii_uppercase());
        folder.extend(entry(name.as_bytes(), next, size, false));
        let blocks = size.div_ceil(BLOCK as u32);
        next = next.checked_add(blocks).ok_or_else(|| wrong("the files are too large"))?;
    }
    for _ in 0..16 {
        block(&mut to, &[])?;
    }
    block(&mut to, &descriptor(label, next))?;
    block(&mut to, b"\xffCD001\x01")?;
    block(&mut to, &path_table(FOLDER.to_le_bytes(), 1u16.to_le_bytes()))?;
    block(&mut to, &path_table(FOLDER.to_be_bytes(), 1u16.to_be_bytes()))?;
    block(&mut to, &folder)?;
    for (_, bytes) in files {
        bytes.chunks(BLOCK).try_for_each(|part| block(&mut to, part))?;
    }
    to.flush()
}

/// One block, filled up with zeros.
fn block(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut whole = [0; BLOCK];
    whole[..bytes.len()].copy_from_slice(bytes);
    to.write_all(&whole)
}

/// What a folder says of one file.
fn entry(name: &[u8], at: u32, size: u32, is_folder: bool) -> Vec<u8> {
    let mut record = vec![0, 0];
    record.extend(both_32(at));
    record.extend(both_32(size));
    // The first day of 1970, in no time zone.
    record.extend([70, 1, 1, 0, 0, 0, 0]);
    record.extend([if is_folder { 2 } else { 0 }, 0, 0]);
    record.extend(both_16(1));
    record.push(name.len() as u8);
    record.extend(name);
    if !record.len().is_multiple_of(2) {
        record.push(0);
    }
    record[0] = record.len() as u8;
    record
}

/// The table of folders: the one that there is.
fn path_table(at: [u8; 4], parent: [u8; 2]) -> Vec<u8> {
    [&[1, 0][..], &at, &parent, &[0, 0]].concat()
}

/// What the file system says of itself, `blocks` in all.
fn descriptor(label: &str, blocks: u32) -> Vec<u8> {
    let mut text = Vec::with_capacity(BLOCK);
    text.extend(b"\x01CD001\x01\0");
    text.extend(padded("LINUX", 32));
    text.extend(padded(label, 32));
    text.extend([0; 8]);
    text.extend(both_32(blocks));
    text.extend([0; 32]);
    // One volume, the first, in blocks of this size.
    [1, 1, BLOCK as u16].iter().for_each(|value| text.extend(both_16(*value)));
    text.extend(both_32(10));
    text.extend((FOLDER - 2).to_le_bytes());
    text.extend([0; 4]);
    text.extend((FOLDER - 1).to_be_bytes());
    text.extend([0; 4]);
    text.extend(entry(&[0], FOLDER, BLOCK as u32, true));
    text.extend(padded("", 4 * 128 + 3 * 37));
    // Four dates, none of them known.
    (0..4).for_each(|_| text.extend(b"0000000000000000\0"));
    text.push(1);
    text
}

fn padded(text: &str, length: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(length, b' ');
    bytes
}

/// A number in both orders of its bytes.
fn both_32(value: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_le_bytes());
    bytes[4..].copy_from_slice(&value.to_be_bytes());
    bytes
}

fn both_16(value: u16) -> [u8; 4] {
    let mut bytes = [0; 4];
    bytes[..2].copy_from_slice(&value.to_le_bytes());
    bytes[2..].copy_from_slice(&value.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_where_it_says_it_is() {
        let mut disk = Vec::new();
        let long = vec![7; BLOCK + 1];
        write(&mut disk, "cidata", &[("meta-data", b"one"), ("user-data", &long)])
            .expect("written");
        assert_eq!(disk.len(), (21 + 1 + 2) * BLOCK);
        let descriptor = &disk[16 * BLOCK..17 * BLOCK];
        assert_eq!(&descriptor[1..6], b"CD001");
        assert_eq!(&descriptor[40..48], b"cidata  ");
        assert_eq!(&descriptor[80..84], &24u32.to_le_bytes());
        assert_eq!(&descriptor[158..162], &FOLDER.to_le_bytes(), "of the root's record");
        assert_eq!(descriptor[881], 1, "the version of its structure");
        let folder = &disk[20 * BLOCK..21 * BLOCK];
        let at = folder.windows(11).position(|name| name == b"USER-DATA;1").expect("there");
        assert_eq!(&folder[at - 31..at - 27], &22u32.to_le_bytes());
        assert_eq!(&folder[at - 23..at - 19], &(BLOCK as u32 + 1).to_le_bytes());
        assert_eq!(&disk[21 * BLOCK..21 * BLOCK + 4], b"one\0");
        assert_eq!(disk[22 * BLOCK..22 * BLOCK + long.len()], long);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        let name = "n".repeat(LONGEST + 1);
        assert!(write(Vec::new(), "x", &[(&name, b"")]).is_err());
        let many: Vec<(&str, &[u8])> = vec![("a", b""); MOST + 1];
        assert!(write(Vec::new(), "x", &many).is_err());
    }
}
