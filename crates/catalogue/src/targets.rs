//! What can be known of each layer below a target, and the best verdict that it allows:
//! `reference/targets.toml`, embedded. `docs/method/targets.md` is made from this.

use crate::rows;
use form::{Reader, SpecErrors, spec_table, words};
use model::Level;
use model::inventory::{Link, LinkKind};
use std::fmt::Write;
use std::sync::OnceLock;

words! {
    /// What a layer is, as the probe tells it.
    pub enum Kind {
        /// A file system of this host.
        FileSystem = "file-system",
        /// A file system on other machines.
        Network = "network",
        /// A volume of the device mapper.
        Mapper = "mapper",
        /// A software RAID.
        Raid = "raid",
        /// A part of a disk.
        Partition = "partition",
        /// A file or device that serves as a device.
        Loop = "loop",
        /// The end of a chain.
        Device = "device",
    }
}

words! {
    /// Which layers of a kind a row is of alone.
    pub enum Only {
        /// All.
        All = "all",
        /// Loop devices that go past the page cache.
        Direct = "direct",
        /// Devices of a host that runs under a hypervisor.
        Guest = "guest",
    }
}

words! {
    /// What can be known of one thing at a layer, the most first.
    #[derive(PartialOrd, Ord)]
    pub enum Known {
        /// Evidence on the host that loads shows it.
        Seen = "seen",
        /// The layers below decide.
        Below = "below",
        /// Only a load of at least twice the memory shows it.
        Size = "size",
        /// Nothing on the host that loads shows it.
        Never = "never",
    }
}

spec_table! {
    /// What can be known of one layer below a target.
    pub struct Layer {
        /// A stable word.
        id: String,
        /// What it is, as a noun.
        is: String,
        /// What the probe says it is.
        kind: Kind = Kind::Device,
        /// Names of file systems or devices, with spaces between; `*` at the end: a beginning.
        names: String = String::new(),
        /// How a device is reached, with spaces between.
        transports: String = String::new(),
        /// Parts of a device's model, with spaces between.
        models: String = String::new(),
        /// Which of these it is of alone.
        only: Only = Only::All,
        /// Which caches are in a figure.
        caches: Known = Known::Never,
        /// How long writes take until they are durable.
        durability: Known = Known::Never,
        /// Whether what is read lies on a medium.
        contents: Known = Known::Never,
        /// Who else loads it.
        others: Known = Known::Never,
        /// The best verdict of a target on it.
        best: Level = Level::NotAMeasurement,
        /// What shows it, or why nothing does.
        evidence: String,
    }
}

impl Layer {
    /// Whether it is one that a chain can end with: no layer below it is to be known.
    pub fn ends_a_chain(&self) -> bool {
        ![self.caches.value, self.durability.value].contains(&Known::Below)
    }

    fn fits(&self, link: &Link, is_guest: bool) -> bool {
        let is_one = |list: &str, is: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.split_whitespace().any(is)
        };
        let is_named = |name: &str| match name.strip_suffix('*') {
            Some(start) => link.name.starts_with(start),
            None => link.name == name,
        };
        let device = link.device.as_ref();
        let is_reached = |one: &str| device.is_some_and(|device| device.transport == one);
        let is_model = |one: &str| device.is_some_and(|device| device.model.contains(one));
        let is_it = match self.only.value {
            Only::All => true,
            Only::Direct => link.direct == Some(true),
            Only::Guest => is_guest,
        };
        let kind = match link.kind {
            LinkKind::FileSystem => Kind::FileSystem,
            LinkKind::Network => Kind::Network,
            LinkKind::Mapper => Kind::Mapper,
            LinkKind::Raid => Kind::Raid,
            LinkKind::Partition => Kind::Partition,
            LinkKind::Loop => Kind::Loop,
            LinkKind::Disk => Kind::Device,
        };
        kind == self.kind.value
            && is_it
            && is_one(&self.names.value, &is_named)
            && is_one(&self.transports.value, &is_reached)
            && is_one(&self.models.value, &is_model)
    }
}

/// The row of a layer of a host; `is_guest`: the host runs under a hypervisor. `None`: it is
/// unknown.
pub fn layer(link: &Link, is_guest: bool) -> Option<&'static Layer> {
    layers().iter().find(|layer| layer.fits(link, is_guest))
}

const TEXT: &str = include_str!("../../../reference/targets.toml");

/// Every row, in the order of the file.
pub fn layers() -> &'static [Layer] {
    static LAYERS: OnceLock<Vec<Layer>> = OnceLock::new();
    // A test holds the embedded text to being free of mistakes.
    LAYERS.get_or_init(|| parse("targets.toml", TEXT).unwrap_or_default())
}

fn parse(name: &str, text: &str) -> Result<Vec<Layer>, SpecErrors> {
    rows::read(name, text, "layer", |table, span, problems| {
        let mut reader = Reader::new(table, span, problems);
        let layer = Layer::read(&mut reader);
        reader.finish();
        layer
    })
}

/// The page of the method.
pub fn page() -> String {
    let mut text = include_str!("targets.txt").to_owned();
    for layer in layers() {
        let names = layer.names.value.replace('*', "…");
        let is = match names.is_empty() {
            true => layer.is.value.clone(),
            false => format!("{} ({names})", layer.is.value),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {is} | {} | {} | {} | {} | {} | {} |",
            layer.id.value,
            layer.caches.value,
            layer.durability.value,
            layer.contents.value,
            layer.others.value,
            layer.best.value.word().replace('-', " "),
            layer.evidence.value,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::inventory::DeviceFacts;

    #[test]
    fn the_table_is_free_of_mistakes_and_no_row_promises_more_than_it_knows() {
        let layers = parse("targets.toml", TEXT).expect("a good table");
        assert!(layers.len() >= 25, "{}", layers.len());
        for layer in &layers {
            let known = [layer.caches.value, layer.durability.value, layer.contents.value];
            let best = match layer.best.value {
                Level::Quotable => layer.caches.value != Known::Never,
                Level::Indicative => layer.caches.value == Known::Never,
                Level::NotAMeasurement => known.iter().all(|one| *one == Known::Never),
            };
            assert!(best, "{}: {known:?}", layer.id.value);
            let ends = [Kind::Network, Kind::Device].contains(&layer.kind.value);
            assert!(!ends || layer.ends_a_chain(), "{}: nothing is below it", layer.id.value);
            let same = layers.iter().filter(|other| other.id.value == layer.id.value);
            assert_eq!(same.count(), 1, "{}", layer.id.value);
        }
    }

    #[test]
    fn every_layer_has_its_row_and_what_no_row_knows_has_none() {
        let of = |link: Link, is_guest| layer(&link, is_guest).map(|layer| layer.id.value.as_str());
        let named = |kind, name: &str| Link { kind, name: name.to_owned(), ..Link::default() };
        let fs = |name: &str| of(named(LinkKind::FileSystem, name), false);
        let names = ["tmpfs", "overlay", "ext4", "fuse", "fuse.x", "virtiofs", "mystery"];
        let rows = ["memory", "overlay", "file-system", "fuse", "fuse", "host-share"];
        let rows: Vec<Option<&str>> = rows.into_iter().map(Some).chain([None]).collect();
        assert_eq!(names.map(fs).to_vec(), rows);
        let network = |name: &str| of(named(LinkKind::Network, name), false);
        let servers = ["nfs4", "cifs", "fuse.ceph-fuse", "fuse.glusterfs", "fuse.s3fs"];
        let rows = ["nfs", "smb", "ceph", "gluster", "fuse-server"];
        assert_eq!(servers.map(network), rows.map(Some));
        let with = |name: &str, transport: &str, model: &str| {
            let (transport, model) = (transport.to_owned(), model.to_owned());
            let device = DeviceFacts { transport, model, ..DeviceFacts::default() };
            Link { device: Some(device), ..named(LinkKind::Disk, name) }
        };
        let disks = [
            (with("zram0", "memory", ""), Some("memory-disk")),
            (with("nullb0", "", ""), Some("memory-disk")),
            (with("sda", "", "scsi_debug"), Some("test-disk")),
            (with("sda", "sata", ""), Some("disk")),
            (with("sda", "", ""), Some("controller-disk")),
            (with("sda", "iscsi", ""), Some("network-disk")),
            (with("nvme0n1", "tcp", ""), Some("network-disk")),
            (with("nvme0n1", "pcie", ""), Some("disk")),
            (with("vda", "virtio", ""), Some("virtual-disk")),
            (with("ublkb0", "", ""), Some("program-disk")),
            (with("zz0", "", ""), None),
            (named(LinkKind::Disk, "nvme0n1"), None),
        ];
        for (link, row) in disks {
            assert_eq!(of(link.clone(), false), row, "{link:?}");
        }
        assert_eq!(of(with("nvme0n1", "pcie", "QEMU NVMe Ctrl"), true), Some("guest-disk"));
        let loops = [Some(true), Some(false), None];
        let of_loop = |direct| of(Link { direct, ..named(LinkKind::Loop, "loop0") }, false);
        assert_eq!(loops.map(of_loop), ["loop-direct", "loop", "loop"].map(Some));
    }
}
