//! A package for Fedora, RHEL and SUSE: RPM 4's format (docs/manual/format.md of rpm-software-
//! management/rpm), unsigned, with the checksums that `rpm` checks.

use super::contents::Package;
use super::header::{Header, Value};
use super::sums::sha256;
use super::tar::{Entry, gzip};
use crate::shell::Outcome;

/// The release of a version: we pack each once.
const RELEASE: &str = "1";
const SHA_256: u32 = 8;
/// `rpmlib(…)`, at most this version.
const OF_RPM: u32 = 1 << 24 | 1 << 3 | 1 << 1;
const EXACTLY: u32 = 1 << 3;

/// What RPM calls this processor, in its lead.
fn number(processor: &str) -> Outcome<u16> {
    match processor {
        "x86_64" => Ok(1),
        "aarch64" => Ok(19),
        other => Err(format!("no number of RPM's for the processor {other}; add it here")),
    }
}

/// The whole file.
///
/// # Errors
/// The processor is none that we build for.
pub fn rpm(package: &Package) -> Outcome<Vec<u8>> {
    let files: Vec<&Entry> =
        package.entries.iter().filter(|entry| entry.content.is_some()).collect();
    let archive = cpio(&files, package.epoch_s);
    let payload = gzip(&archive)?;
    let head = head(package, &files, &payload).bytes(63);
    let mut signature = Header::default();
    let whole = u32::try_from(head.len() + payload.len()).map_err(|error| error.to_string())?;
    signature.put(273, Value::Text(sha256(&head)));
    signature.put(1000, Value::Numbers(vec![whole]));
    signature.put(1007, Value::Numbers(vec![archive.len() as u32]));
    let mut signature = signature.bytes(62);
    signature.resize(signature.len().next_multiple_of(8), 0);
    Ok([lead(package)?, signature, head, payload].concat())
}

fn lead(package: &Package) -> Outcome<Vec<u8>> {
    let mut lead = vec![0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0];
    lead.extend(number(package.processor)?.to_be_bytes());
    let mut name = format!("{}-{}-{RELEASE}", package.name, package.version).into_bytes();
    name.resize(66, 0);
    lead.extend(name);
    lead.extend([0, 1, 0, 5]);
    lead.resize(96, 0);
    Ok(lead)
}

fn head(package: &Package, files: &[&Entry], payload: &[u8]) -> Header {
    let mut head = Header::default();
    let text = |text: &str| Value::Text(text.to_owned());
    let version = format!("{}-{RELEASE}", package.version);
    let epoch = package.epoch_s as u32;
    let sizes: Vec<u32> = files.iter().map(|file| size(file)).collect();
    head.put(100, Value::Texts(vec!["C".to_owned()]));
    head.put(1000, text(package.name));
    head.put(1001, text(package.version));
    head.put(1002, text(RELEASE));
    head.put(1004, Value::Translated(package.summary.to_owned()));
    head.put(1005, Value::Translated(package.description.to_owned()));
    head.put(1006, Value::Numbers(vec![epoch]));
    head.put(1007, text("localhost"));
    head.put(1009, Value::Numbers(vec![sizes.iter().sum()]));
    head.put(1014, text(package.licence));
    head.put(1016, Value::Translated("Unspecified".to_owned()));
    head.put(1021, text("linux"));
    head.put(1022, text(package.processor));
    head.put(1044, text(&format!("{}-{version}.src.rpm", package.name)));
    head.put(1047, Value::Texts(vec![package.name.to_owned()]));
    head.put(1112, Value::Numbers(vec![EXACTLY]));
    head.put(1113, Value::Texts(vec![version]));
    let needed = [
        ("rpmlib(CompressedFileNames)", "3.0.4-1"),
        ("rpmlib(FileDigests)", "4.6.0-1"),
        ("rpmlib(PayloadFilesHavePrefix)", "4.0-1"),
    ];
    head.put(1048, Value::Numbers(vec![OF_RPM; needed.len()]));
    head.put(1049, Value::Texts(needed.iter().map(|(name, _)| (*name).to_owned()).collect()));
    head.put(1050, Value::Texts(needed.iter().map(|(_, since)| (*since).to_owned()).collect()));
    head.put(1064, text("4.16.0"));
    put_files(&mut head, files, epoch);
    head.put(1028, Value::Numbers(sizes));
    head.put(1124, text("cpio"));
    head.put(1125, text("gzip"));
    head.put(1126, text("9"));
    head.put(5092, Value::Texts(vec![sha256(payload)]));
    head.put(5093, Value::Numbers(vec![SHA_256]));
    head
}

fn put_files(head: &mut Header, files: &[&Entry], epoch: u32) {
    let each = |value: u32| Value::Numbers(vec![value; files.len()]);
    let same = |text: &str| Value::Texts(vec![text.to_owned(); files.len()]);
    let split = |file: &&Entry| {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        (format!("/{folder}/"), name.to_owned())
    };
    let places: Vec<(String, String)> = files.iter().map(split).collect();
    let mut folders: Vec<String> = places.iter().map(|(folder, _)| folder.clone()).collect();
    folders.sort_unstable();
    folders.dedup();
    let of =
        |(folder, _): &(String, String)| folders.partition_point(|known| known < folder) as u32;
    let digests = files.iter().map(|file| sha256(file.content.as_deref().unwrap_or_default()));
    head.put(1030, Value::Shorts(files.iter().map(|file| mode(file) as u16).collect()));
    head.put(1033, Value::Shorts(vec![0; files.len()]));
    head.put(1034, each(epoch));
    head.put(1035, Value::Texts(digests.collect()));
    head.put(1036, same(""));
    head.put(1037, each(0));
    head.put(1039, same("root"));
    head.put(1040, same("root"));
    head.put(1045, each(u32::MAX));
    head.put(1095, each(1));
    head.put(1096, Value::Numbers((1..=files.len() as u32).collect()));
    head.put(1097, same(""));
    head.put(1116, Value::Numbers(places.iter().map(of).collect()));
    head.put(1117, Value::Texts(places.iter().map(|(_, name)| name.clone()).collect()));
    head.put(1118, Value::Texts(folders));
    head.put(5011, Value::Numbers(vec![SHA_256]));
}

fn size(file: &Entry) -> u32 {
    file.content.as_ref().map_or(0, Vec::len) as u32
}

fn mode(file: &Entry) -> u32 {
    0o100_000 | file.mode
}

/// A file of the payload.
struct Member<'a> {
    inode: u64,
    mode: u32,
    epoch_s: u64,
    content: &'a [u8],
}

impl Member<'_> {
    fn write(&self, name: &str, archive: &mut Vec<u8>) {
        let (mode, size) = (u64::from(self.mode), self.content.len() as u64);
        let length = name.len() as u64 + 1;
        archive.extend(b"070701");
        for field in [self.inode, mode, 0, 0, 1, self.epoch_s, size, 0, 0, 0, 0, length, 0] {
            archive.extend(format!("{field:08x}").bytes());
        }
        archive.extend(name.bytes());
        archive.push(0);
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend(self.content);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
}

/// The payload: cpio's portable format ("newc", cpio(5)).
fn cpio(files: &[&Entry], epoch_s: u64) -> Vec<u8> {
    let mut archive = Vec::new();
    for (file, inode) in files.iter().zip(1..) {
        let content = file.content.as_deref().unwrap_or_default();
        let member = Member { inode, mode: mode(file), epoch_s, content };
        member.write(&format!("./{}", file.path), &mut archive);
    }
    Member { inode: 0, mode: 0, epoch_s: 0, content: &[] }.write("TRAILER!!!", &mut archive);
    archive
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::contents::tests::package;

    #[test]
    fn a_package_has_its_parts_in_place_and_is_the_same_every_time() {
        let bytes = rpm(&package()).expect("a package");
        assert_eq!(bytes, rpm(&package()).expect("again"));
        assert!(bytes.starts_with(&[0xed, 0xab, 0xee, 0xdb, 3, 0]));
        assert_eq!(bytes[96..100], [0x8e, 0xad, 0xe8, 1], "the signature begins after the lead");
        let count = |at: usize| {
            u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
        };
        let signature = 16 + 16 * count(104) + count(108);
        let head = 96 + signature.next_multiple_of(8);
        assert_eq!(bytes[head..head + 4], [0x8e, 0xad, 0xe8, 1], "the header is aligned");
        let payload = head + 16 + 16 * count(head + 8) + count(head + 12);
        assert_eq!(bytes[payload..payload + 2], [0x1f, 0x8b], "the payload follows it");
        let sum = sha256(&bytes[head..payload]);
        assert!(String::from_utf8_lossy(&bytes[..head]).contains(&sum), "its checksum is known");
    }

    #[test]
    fn the_payload_is_what_cpio_reads() {
        let package = package();
        let files: Vec<&Entry> = package.entries.iter().collect();
        let archive = cpio(&files, 5);
        let text = String::from_utf8_lossy(&archive);
        assert!(text.contains("./usr/bin/plimsoll\0") && text.contains("TRAILER!!!\0"));
        assert_eq!(archive.len() % 4, 0);
    }
}
