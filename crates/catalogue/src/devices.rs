//! The catalogue of drives: what their makers, or their class, say that one drive can do.
//! `reference/devices.toml`, embedded.

use crate::cluster::bandwidth::Bandwidth;
use crate::cluster::figures::{Figures, fixed};
use crate::rows;
use form::{Auto, Problem, Reader, SpecErrors, spec_table, words};
use model::units::Bytes;
use std::collections::BTreeSet;
use std::sync::OnceLock;

words! {
    /// How a drive stores and is reached.
    pub enum Media {
        /// Flash over PCIe.
        Nvme = "nvme",
        /// Flash over SAS.
        SasSsd = "sas-ssd",
        /// Flash over SATA.
        SataSsd = "sata-ssd",
        /// Spinning disks.
        Hdd = "hdd",
    }
}

words! {
    /// How well a drive's figures are founded.
    pub enum Footing {
        /// Read in a document of the maker or of a publication, which the source names.
        Document = "document",
        /// The maker's, quoted from memory and not looked up again; the source names the document
        /// to check.
        Recalled = "recalled",
        /// Typical of the class; no data of a product.
        Class = "class",
    }
}

spec_table! {
    /// One drive of the catalogue.
    pub struct DeviceSpec {
        /// How testbeds name it.
        id: String,
        /// Maker and model, or the class.
        name: String,
        /// How it stores and is reached.
        media: Media = Media::Nvme,
        /// Parts of the model that a kernel tells of it, with spaces between; none for a class.
        part_numbers: String = String::new(),
        /// Its size.
        capacity: Auto<Bytes> = Auto::Auto,
        /// Sequential reads, 128 KiB.
        read: Auto<Bandwidth> = Auto::Auto,
        /// Sequential writes, 128 KiB.
        write: Auto<Bandwidth> = Auto::Auto,
        /// Random reads of 4 KiB per second.
        read_iops: Auto<u64> = Auto::Auto,
        /// Random writes of 4 KiB per second, sustained.
        write_iops: Auto<u64> = Auto::Auto,
        /// How many bytes may be written to it, all in all.
        endurance: Auto<Bytes> = Auto::Auto,
        /// How well the figures are founded.
        footing: Footing = Footing::Class,
        /// Where the figures come from.
        source: String,
    }
}

/// One drive of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// How testbeds name it.
    pub id: String,
    /// All that is known of it.
    pub spec: DeviceSpec,
}

impl Device {
    /// What it can do.
    pub fn figures(&self) -> Figures {
        Figures {
            capacity_bytes: fixed(self.spec.capacity.value).map(|bytes| bytes.0 as f64),
            read_bytes_per_s: fixed(self.spec.read.value).map(Bandwidth::bytes_per_s),
            write_bytes_per_s: fixed(self.spec.write.value).map(Bandwidth::bytes_per_s),
            read_iops: fixed(self.spec.read_iops.value).map(|rate| rate as f64),
            write_iops: fixed(self.spec.write_iops.value).map(|rate| rate as f64),
        }
    }
}

/// The drive that a kernel calls `model` and that is `size_bytes` large: one whose part number
/// stands in the model, and whose capacity is within 2 %, because makers round it.
pub fn recognise(model: &str, size_bytes: u64) -> Option<&'static Device> {
    let model = model.to_ascii_uppercase();
    catalogue().iter().find(|device| {
        let is_named =
            device.spec.part_numbers.value.split_whitespace().any(|number| model.contains(number));
        let capacity = device.figures().capacity_bytes;
        is_named && capacity.is_some_and(|bytes| (size_bytes as f64 / bytes - 1.0).abs() <= 0.02)
    })
}

const TEXT: &str = include_str!("../../../reference/devices.toml");

/// Every drive of the catalogue, in the order of its file.
pub fn catalogue() -> &'static [Device] {
    static CATALOGUE: OnceLock<Vec<Device>> = OnceLock::new();
    // A test holds the embedded text to being free of mistakes.
    CATALOGUE.get_or_init(|| parse("devices.toml", TEXT).unwrap_or_default())
}

/// Reads a catalogue.
fn parse(name: &str, text: &str) -> Result<Vec<Device>, SpecErrors> {
    let mut ids = BTreeSet::new();
    rows::read(name, text, "device", |table, span, problems| {
        let mut reader = Reader::new(table, span.clone(), problems);
        let spec = DeviceSpec::read(&mut reader);
        reader.finish();
        let id = spec.id.value.clone();
        if !ids.insert(id.clone()) {
            let message = "a second drive has this id";
            problems.push(Problem::new(span, message, "give it one of its own"));
        }
        Device { id, spec }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_free_of_mistakes_and_every_figure_has_a_source() {
        let devices = parse("devices.toml", TEXT).expect("a good catalogue");
        assert!(devices.len() >= 18, "{}", devices.len());
        for device in &devices {
            let spec = &device.spec;
            assert!(spec.source.value.len() > 20, "{}: where from?", device.id);
            let figures = device.figures();
            let (read, write) = (
                figures.read_bytes_per_s.expect("read"),
                figures.write_bytes_per_s.expect("write"),
            );
            let (rr, rw) =
                (figures.read_iops.expect("read_iops"), figures.write_iops.expect("write_iops"));
            assert!(figures.capacity_bytes.is_some_and(|bytes| bytes > 1e11), "{}", device.id);
            // 4 KiB requests move no more than the drive's bandwidth allows, within the rounding of
            // datasheets.
            assert!(rr * 4096.0 <= read * 1.05 && rw * 4096.0 <= write * 1.05, "{}", device.id);
            let is_disk = spec.media.value == Media::Hdd;
            assert_eq!(rr < 1_000.0, is_disk, "{}: {rr}", device.id);
            // A class has no document; a document has a name.
            assert_eq!(
                spec.footing.value == Footing::Class,
                spec.source.value.starts_with("class estimate"),
                "{}",
                device.id
            );
        }
    }

    #[test]
    fn a_drive_is_recognised_by_its_model_and_its_size_together() {
        let id = |model, size| recognise(model, size).map(|device| device.id.as_str());
        assert_eq!(id("INTEL SSDPE2KE016T8", 1_600_321_314_816), Some("p4610-1.6tb"));
        assert_eq!(id("Dell Express Flash ssdpe2ke016t8", 1_600_321_314_816), Some("p4610-1.6tb"));
        assert_eq!(
            id("INTEL SSDPE2KE016T8", 800_166_076_416),
            None,
            "a namespace that is a part of it"
        );
        assert_eq!(
            (id("", 1_600_321_314_816), id("QEMU HARDDISK", 16_000_000_000_000)),
            (None, None)
        );
        let numbers =
            catalogue().iter().flat_map(|device| device.spec.part_numbers.value.split_whitespace());
        let numbers: Vec<&str> = numbers.collect();
        assert!(
            numbers.len() >= 10 && numbers.iter().all(|number| number.len() >= 10),
            "{numbers:?}"
        );
        let within = |one: &&str| numbers.iter().filter(|other| other.contains(*one)).count();
        assert!(
            numbers.iter().all(|one| within(one) == 1),
            "a model would be two drives: {numbers:?}"
        );
    }

    #[test]
    fn a_mistake_in_a_catalogue_has_its_place() {
        let twice = "[[device]]\nid=\"a\"\nname=\"a\"\nsource=\"x\"\n[[device]]\nid=\"a\"\nname=\"\
                     a\"\nsource=\"x\"\nreed=1\n";
        let errors = parse("x", twice).expect_err("two mistakes");
        assert_eq!(errors.problems.len(), 2, "{:?}", errors.problems);
    }
}
