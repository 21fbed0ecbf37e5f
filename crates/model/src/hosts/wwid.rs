//! Names of disks that are the same wherever the disk is seen from, and which of them may be
//! believed.
//!
//! Only a name that cannot stand for two disks says that two hosts see one. So these count: NAA
//! names with a company's number (SPC-4, 7.8.6.6: types 2, 5 and 6; type 3 is whatever the site
//! likes), EUI-64 and NGUID likewise (NVM Express base specification, 4.5), UUIDs, and serial
//! numbers together with maker and model, unless they look like what hypervisors give to every
//! disk. Whatever is in doubt is not believed.

/// The longest name that is kept, in bytes. The longest of SCSI and NVMe have about 100.
pub const MOST: usize = 256;

/// What makes a partition's name of its disk's, as udev has it in `/dev/disk/by-id`.
const PARTITION: &str = "-part";
/// Makers of disks whose serial numbers are made up for each machine.
const VIRTUAL: [&str; 6] = ["qemu", "vbox", "virtual", "vmware", "bochs", "scsi_debug"];

/// The name as it is kept: white space in single blanks, nothing that cannot be printed, [`MOST`]
/// bytes at most. Too long a one is none.
pub fn tidied(text: &str) -> String {
    if text.len() > MOST {
        return String::new();
    }
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == '\0')
        .filter(|word| !word.is_empty())
        .collect();
    let tidy = words.join(" ");
    if tidy.chars().all(|c| c.is_ascii_graphic() || c == ' ') { tidy } else { String::new() }
}

/// The name of partition `number` of the disk of this name; empty where the disk has none.
pub fn of_partition(disk: &str, number: u64) -> String {
    if disk.is_empty() { String::new() } else { format!("{disk}{PARTITION}{number}") }
}

/// Whether both names are those of one disk for sure, and what they name has blocks in common: two
/// partitions of a disk have none.
pub fn is_same(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (parsed(one), parsed(other)) else { return false };
    let meet = match (one.partition, other.partition) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    one.disk == other.disk && meet
}

/// A name that stands for one disk only.
#[derive(Debug, PartialEq, Eq)]
struct Unique {
    disk: String,
    /// `None` for the whole disk.
    partition: Option<u64>,
}

fn parsed(name: &str) -> Option<Unique> {
    let name = tidied(name).to_ascii_lowercase();
    let (name, partition) = match name.rsplit_once(PARTITION) {
        Some((disk, number)) => (disk, Some(number.parse().ok()?)),
        None => (name.as_str(), None),
    };
    let Some(mapped) = name.strip_prefix("dm.") else {
        return is_unique(name).then(|| Unique { disk: name.to_owned(), partition });
    };
    let (mapped, inner) = match mapped.strip_prefix("part").and_then(|rest| rest.split_once('-')) {
        Some((number, rest)) => (rest, Some(number.parse().ok()?)),
        None => (mapped, None),
    };
    let disk = below_multipath(mapped)?;
    is_unique(&disk).then_some(Unique { disk, partition: partition.or(inner) })
}

/// The disk under a map of multipath, by the name that `scsi_id` gives it: the type of its
/// designator, then the designator. Volumes of LVM and others have names that clones of a machine
/// have in common.
fn below_multipath(mapped: &str) -> Option<String> {
    let name = mapped.strip_prefix("mpath-")?;
    let designator =
        |prefix: &str, digits: &str| is_hex(digits).then(|| format!("{prefix}{digits}"));
    match name.split_at_checked(1)? {
        ("3", digits) => designator("naa.", digits),
        ("2", digits) => designator("eui.", digits),
        _ => Some(name.to_owned()),
    }
}

/// Whether a disk's name, in lower case, stands for one disk only.
fn is_unique(name: &str) -> bool {
    let Some((kind, rest)) = name.split_once('.') else { return false };
    match kind {
        "naa" => is_unique_naa(rest),
        "eui" => is_unique_eui(rest),
        "uuid" => {
            let digits = rest.replace('-', "");
            digits.len() == 32 && is_hex(&digits) && is_varied(&digits)
        }
        "nvme" => is_unique_nvme(rest),
        "t10" => is_unique_t10(rest),
        _ => false,
    }
}

fn is_unique_naa(digits: &str) -> bool {
    let (company, own) = match (digits.as_bytes().first(), digits.len()) {
        (Some(b'2'), 16) => (digits.get(4..10), digits.get(10..)),
        (Some(b'5'), 16) | (Some(b'6'), 32) => (digits.get(1..7), digits.get(7..)),
        _ => return false,
    };
    is_hex(digits) && company.is_some_and(is_company) && own.is_some_and(is_given)
}

fn is_unique_eui(digits: &str) -> bool {
    // The longer ones have an EUI-64 behind an extension of 4 or 8 bytes.
    let at = match digits.len() {
        16 => 0,
        24 => 8,
        32 => 16,
        _ => return false,
    };
    let company = digits.get(at..at + 6).is_some_and(is_company);
    let is_own =
        digits.get(..at).is_some_and(is_given) || digits.get(at + 6..).is_some_and(is_given);
    is_hex(digits) && company && is_own
}

/// `1d0f-766f6c…-416d…-00000001`: vendor, serial number and model in hexadecimal, namespace (the
/// kernel's `nvme_sysfs`).
fn is_unique_nvme(rest: &str) -> bool {
    let mut parts = rest.split('-');
    let (Some(_), Some(serial), Some(model), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Some(serial), Some(model)) = (decoded(serial), decoded(model)) else { return false };
    // Some clouds give the model for a serial number.
    !is_virtual(&model)
        && !is_virtual(&serial)
        && !model.contains(serial.trim())
        && is_serial(&serial)
}

/// `ATA EXAMPLE SSD 1T S4EVNF0M123456`: maker, model, and the serial number last (SAT-4, 10.4.2).
fn is_unique_t10(rest: &str) -> bool {
    let words: Vec<&str> = rest.split(' ').collect();
    words.len() >= 3
        && words[0] == "ata"
        && !is_virtual(rest)
        && words.last().is_some_and(|word| is_serial(word))
}

fn is_virtual(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    VIRTUAL.iter().any(|maker| text.contains(maker))
}

/// Whether this may be a maker's serial number. A counter such as `QM00001` or `SN: 00001` is none,
/// nor is a row of digits that somebody typed.
fn is_serial(text: &str) -> bool {
    let marks: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let own = marks.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches('0');
    own.len() >= 4 && is_varied(own) && !"123456789012345678901234567890".contains(own)
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether it is not one mark all along.
fn is_varied(text: &str) -> bool {
    text.bytes().next().is_some_and(|first| text.bytes().any(|byte| byte != first))
}

/// Whether a company has this number of the IEEE: none has zero, and those with the second bit of
/// the first byte are anybody's.
fn is_company(digits: &str) -> bool {
    let first = digits.get(..2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
    is_given(digits) && first.is_some_and(|byte| byte & 0b10 == 0)
}

/// Whether any digit is not zero.
fn is_given(digits: &str) -> bool {
    digits.bytes().any(|digit| digit != b'0')
}

/// The text behind hexadecimal digits.
fn decoded(hex: &str) -> Option<String> {
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        text.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    fn nvme(serial: &str, model: &str) -> String {
        format!("nvme.1d0f-{}-{}-00000001", hex(serial), hex(model))
    }

    #[test]
    fn names_of_one_disk_only_are_believed() {
        let amazon = nvme("vol0a1b2c3d4e5f60718", "Amazon Elastic Block Store");
        for name in [
            "naa.5000c500a1b2c3d4",
            "naa.6001405a1b2c3d4e5f60718293a4b5c6",
            "NAA.200000a098123456",
            "eui.0025385b71b00a1f",
            "eui.36434630529000270025384500000001",
            "uuid.d9f1a7c2-52b3-4a62-9b5e-0c8d6f3e2a11",
            "t10.ATA EXAMPLE SSD 1T S4EVNF0M123987",
            &amazon,
        ] {
            assert!(is_same(name, name), "{name}");
        }
        assert!(!is_same("naa.5000c500a1b2c3d4", "naa.5000c500a1b2c3d5"));
    }

    #[test]
    fn names_that_many_disks_have_are_not() {
        let made_up = [
            nvme("deadbeef", "QEMU NVMe Ctrl"),
            nvme("S4EVNF0M123987", "QEMU NVMe Ctrl"),
            nvme("nvme_card-pd", "nvme_card-pd"),
            nvme("SN: 00001", "MSFT NVMe Accelerator v1.0"),
            nvme("VMWare NVME_0000", "VMware Virtual NVMe Disk"),
            nvme("", "EXAMPLE SSD"),
            nvme("00000000000", "EXAMPLE SSD"),
            nvme("1234567890", "EXAMPLE SSD"),
            "nvme.1d0f-5-4-1-1".to_owned(),
            "nvme.1d0f-\u{e9}\u{e9}-41-1".to_owned(),
            "x".repeat(100_000),
        ];
        let names = [
            "",
            "0",
            "t10.ATA QEMU HARDDISK QM00001",
            "t10.IET 00010001",
            "t10.ATA EXAMPLE SSD 00000000000000000000",
            "naa.333333000000007d0",
            "naa.3333333000000007",
            "naa.60000000000000000e00000000010001",
            "naa.00000000000000000000000000000000",
            "naa.6001405000000000000000000000000",
            "naa.60014050000000000000000000000000",
            "eui.0000000000000000",
            "eui.5254000000000001",
            "uuid.00000000-0000-0000-0000-000000000000",
            "serial.S4EVNF0M123987",
            "dm.LVM-QzVnEw1mW0l5w5dGqE3o9b7yVd3hTn2S",
            "dm.mpath-mpatha",
            "dm.mpath-",
            "naa.5000c500a1b2c3d4-partx",
        ];
        for name in names.into_iter().chain(made_up.iter().map(String::as_str)) {
            assert!(!is_same(name, name), "{name}");
        }
    }

    #[test]
    fn several_paths_have_the_name_of_the_disk_and_partitions_are_apart() {
        let disk = "naa.6001405a1b2c3d4e5f60718293a4b5c6";
        assert!(is_same(disk, "dm.mpath-36001405a1b2c3d4e5f60718293a4b5c6"));
        assert!(is_same("eui.0025385b71b00a1f", "dm.mpath-20025385b71b00a1f"));
        assert!(is_same("eui.0025385b71b00a1f", "dm.mpath-eui.0025385b71b00a1f"));
        let part = |number| of_partition(disk, number);
        assert!(
            is_same(disk, &part(1)) && is_same(&part(1), &part(1)) && !is_same(&part(1), &part(2))
        );
        assert!(is_same(&part(2), "dm.part2-mpath-36001405a1b2c3d4e5f60718293a4b5c6"));
        assert!(!is_same(&part(1), "dm.part2-mpath-36001405a1b2c3d4e5f60718293a4b5c6"));
        assert_eq!(of_partition("", 1), "");
    }

    #[test]
    fn what_the_kernel_says_is_bounded_and_printable() {
        assert_eq!(tidied("t10.ATA     EXAMPLE\0\0   S1 \n"), "t10.ATA EXAMPLE S1");
        assert_eq!(tidied(&"a".repeat(MOST)).len(), MOST);
        assert_eq!(tidied(&"a".repeat(MOST + 1)), "");
        assert_eq!(tidied("a\u{1b}[2J"), "");
        assert_eq!(tidied("\u{e9}"), "");
    }
}
