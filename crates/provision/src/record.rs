//! What is on record of machines, before any of them is made: enough to find and to remove all of
//! them, whatever ends the process that makes them.

use crate::guest::ImageFormat;
use crate::machine::Machine;
use crate::{Outcome, Problem, places};
use model::machines::{
    Accelerator, BootTime, DiskAllocation, DiskCache, MachinesWanted, OnNode, ProviderKind,
};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version of the record.
const FORMAT: u32 = 2;
/// The file of the record, and what it is called until it is whole.
pub(crate) const FILE: &str = "machines.json";
pub(crate) const PART: &str = "machines.json.part";
/// What says in a pool that a folder is ours.
pub(crate) const MARKER: &str = ".plimsoll-vms";
/// The memory image of the guests.
pub(crate) const IMAGE: &str = "guest.cpio";
/// The image that disks are clones of.
pub(crate) const BASE: &str = "base.raw";
/// A record is not longer.
const LONGEST: u64 = 1 << 20;
/// The most machines and disks that a record may name.
const MOST: usize = 1024;

/// Where the disks of machines are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ground {
    /// In folders that are theirs alone; the machines are processes of plain qemu. Disks that move
    /// have a further folder.
    Folders(Vec<PathBuf>),
    /// In pools of a libvirt. Their names begin with what only these machines have.
    Pools {
        /// The libvirt, as a URI.
        connect: String,
        /// The pools; disks that move have a further one.
        pools: Vec<String>,
        /// Further libvirts to which machines were to migrate: they may be at any of these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
    },
    /// On nodes, each with a record of its own.
    Nodes(OnNodes),
    /// In pools behind somebody else's interface. Their names begin as those of [`Ground::Pools`].
    Remote(Remote),
}

/// A provider behind an interface of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// Which.
    pub provider: ProviderKind,
    /// The way to it, as `vms.connect` names it; empty where its own program knows.
    pub connect: String,
    /// What tells this installation from all others, in its own words. Machines are looked for and
    /// removed nowhere else.
    pub site: String,
    /// The pools; disks that move have a further one.
    pub pools: Vec<String>,
    /// What machines are copies of; empty where they boot our guest.
    pub template: String,
}

/// Machines on several nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnNodes {
    /// The words of the launcher that reaches them; none is ssh.
    pub launcher: Vec<String>,
    /// Who makes machines there.
    pub provider: ProviderKind,
    /// The nodes.
    pub parts: Vec<OnNode>,
}

impl OnNodes {
    /// The node of a machine.
    pub fn node_of(&self, machine: &str) -> Option<&str> {
        let has = |part: &&OnNode| part.machines.iter().any(|name| name == machine);
        self.parts.iter().find(has).map(|part| part.node.as_str())
    }
}

/// Machines of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    format: u32,
    /// Their name.
    pub name: String,
    /// What the folder of their disks says, too.
    pub token: String,
    /// The program that made them, which is also in the guests: its hash.
    pub program: String,
    /// Where their disks are.
    pub ground: Ground,
    /// How many disks each machine has.
    pub disks_each: u32,
    /// The paths of the disks in each guest.
    pub devices: Vec<String>,
    /// What runs the guests' instructions.
    pub accelerator: Accelerator,
    /// What stands between a disk and its file.
    pub cache: DiskCache,
    /// The disks are clones of one image.
    #[serde(default)]
    pub is_linked: bool,
    /// The machines.
    pub machines: Vec<Machine>,
    /// How long they took to come up, once they are.
    #[serde(default)]
    pub boots: Vec<BootTime>,
    /// Where this is on record.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Deployment {
    pub(crate) fn new(wanted: &MachinesWanted, token: String, ground: Ground) -> Deployment {
        // By its number among all: nodes that share a token have different machines.
        let machine = |(number, name): (&u32, String)| Machine {
            name,
            uuid: uuid(&token, *number),
            devices: Vec::new(),
            folder: PathBuf::new(),
            disks: Vec::new(),
        };
        let machines = wanted.numbers.iter().zip(wanted.names()).map(machine).collect();
        // The first disk of an image of the user's is its own system's, never one of ours.
        let devices = match &ground {
            Ground::Remote(at) if at.provider.copies(&at.template) => Vec::new(),
            _ => wanted.bus.devices(wanted.disks),
        };
        Deployment {
            format: FORMAT,
            name: wanted.name.clone(),
            program: String::new(),
            ground,
            disks_each: wanted.disks,
            devices,
            accelerator: wanted.accelerator,
            cache: wanted.cache,
            is_linked: wanted.allocation == DiskAllocation::Linked,
            machines,
            boots: Vec::new(),
            folder: PathBuf::new(),
            token,
        }
    }

    /// What the names of all volumes of these machines begin with, and no others'.
    pub fn mark(&self) -> String {
        format!("plimsoll-{}-", self.token)
    }

    /// The paths of a machine's disks in its guest.
    pub fn devices_of<'a>(&'a self, machine: &'a Machine) -> &'a [String] {
        if machine.devices.is_empty() { &self.devices } else { &machine.devices }
    }

    /// What the files of disks are.
    pub fn format(&self) -> ImageFormat {
        if self.is_linked { ImageFormat::Qcow2 } else { ImageFormat::Raw }
    }

    /// The image that all disks are clones of: its file, or its name in the first pool.
    pub(crate) fn base(&self) -> Option<PathBuf> {
        let first = self.machines.first().filter(|_| self.is_linked)?;
        match &self.ground {
            Ground::Folders(folders) => folders.first().map(|at| at.join(BASE)),
            Ground::Pools { .. } => Some(format!("{}{}.{BASE}", self.mark(), first.name).into()),
            Ground::Nodes(_) | Ground::Remote(_) => None,
        }
    }

    /// The machine of a name.
    pub fn machine(&self, name: &str) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.name == name)
    }

    /// Puts in what follows from the names.
    pub(crate) fn placed(mut self, folder: &Path) -> Deployment {
        self.folder = folder.to_owned();
        let (mark, end) = (self.mark(), self.format().word());
        for machine in &mut self.machines {
            machine.folder = folder.to_owned();
            let name = |number: u32| format!("{}-disk{number}.{end}", machine.name);
            let disk = |number| match &self.ground {
                Ground::Folders(folders) => folders.first().map(|at| at.join(name(number))),
                Ground::Pools { .. } | Ground::Remote(_) => {
                    Some(PathBuf::from(format!("{mark}{}", name(number))))
                }
                Ground::Nodes(_) => None,
            };
            machine.disks = (0..self.disks_each).filter_map(disk).collect();
        }
        self
    }

    /// Writes the record, whole or not at all.
    pub(crate) fn write(&self) -> Outcome {
        let (part, whole) = (self.folder.join(PART), self.folder.join(FILE));
        let cannot = |error: std::io::Error| Problem::file("write", &whole, &error);
        let text = serde_json::to_string_pretty(self).map_err(|error| cannot(error.into()))?;
        let mut file = File::create(&part).map_err(cannot)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
        fs::rename(&part, &whole).map_err(cannot)?;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(cannot)
    }

    /// The record in a folder; `None` where the folder is ours and no record was written yet, so
    /// that nothing was made either.
    pub(crate) fn read(folder: &Path) -> Outcome<Option<Deployment>> {
        places::is_ours(folder)?;
        let path = folder.join(FILE);
        let text = match places::read(&path, LONGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::file("read", &path, &error)),
        };
        let wrong = |why| Problem::NotOurs { path: path.clone(), why };
        let found: Deployment =
            serde_json::from_str(&text).map_err(|_| wrong("is no record of machines"))?;
        if found.format != FORMAT {
            return Err(wrong("is a record of another version of plimsoll"));
        }
        let of_folder = folder.file_name().and_then(|name| name.to_str());
        let is_sound = of_folder == Some(&found.name)
            && found.machines.len() <= MOST
            && found.disks_each as usize <= MOST
            && is_token(&found.token)
            && is_sound_ground(&found.ground)
            && found.machines.iter().all(|machine| is_plain(&machine.name));
        if !is_sound {
            return Err(wrong("is no sound record of machines"));
        }
        Ok(Some(found.placed(folder)))
    }
}

/// Whether a place can be one of ours.
fn is_sound_ground(ground: &Ground) -> bool {
    match ground {
        Ground::Folders(folders) => {
            !folders.is_empty()
                && folders.len() <= MOST
                && folders.iter().all(|path| path.is_absolute())
        }
        Ground::Pools { pools, others, .. } => {
            !pools.is_empty()
                && pools.len() <= MOST
                && others.len() <= MOST
                && others.iter().all(|uri| uri.contains("://") && !uri.starts_with('-'))
        }
        Ground::Nodes(nodes) => nodes.parts.len() <= MOST,
        Ground::Remote(remote) => {
            !remote.pools.is_empty()
                && remote.pools.len() <= MOST
                && remote.pools.iter().all(|pool| !pool.is_empty() && !pool.starts_with('-'))
        }
    }
}

/// Whether a text can be what machines are told apart by: 32 hexadecimal digits.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// 32 hexadecimal digits that no other machines have.
pub(crate) fn token() -> String {
    // The standard library seeds these from the system's random numbers.
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// The token and a machine's number, in the form that hypervisors take.
fn uuid(token: &str, number: u32) -> String {
    let (a, b, c, d) = (&token[..8], &token[8..12], &token[12..16], &token[16..20]);
    format!("{a}-{b}-{c}-{d}-{}{number:04x}", &token[20..28])
}

/// Whether a name can lead nowhere else as a part of a file's name.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 63 && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployment::tests::wanted;

    fn deployment(name: &str, ground: Ground) -> Deployment {
        Deployment::new(&wanted(name), "0123456789abcdef0123456789abcdef".to_owned(), ground)
    }

    #[test]
    fn a_record_comes_back_with_what_follows_from_it() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("x");
        places::make_all(&folder).expect("made");
        assert_eq!(Deployment::read(&folder), Ok(None));
        let ground = Ground::Folders(vec!["/pool/p".into(), "/other".into()]);
        let wanted = deployment("x", ground).placed(&folder);
        wanted.write().expect("written");
        let found = Deployment::read(&folder).expect("good").expect("there");
        assert_eq!(found, wanted);
        assert_eq!(found.machines[0].disks[1], Path::new("/pool/p/x-1-disk1.raw"));
        let mut others = crate::deployment::tests::wanted("x");
        others.numbers = vec![3];
        let others = Deployment::new(&others, wanted.token.clone(), wanted.ground.clone());
        let is_other = |machine: &Machine| machine.uuid != others.machines[0].uuid;
        assert!(wanted.machines.iter().all(is_other), "a token of several nodes");
        let pools =
            Ground::Pools { connect: "c".into(), pools: vec!["p".into()], others: Vec::new() };
        let named = deployment("x", pools).placed(&folder);
        let first = "plimsoll-0123456789abcdef0123456789abcdef-x-1-disk0.raw";
        assert_eq!(named.machines[0].disks[0], Path::new(first));
        assert_eq!(named.base(), None);
        let linked = Deployment { is_linked: true, ..named }.placed(&folder);
        assert_eq!(linked.machines[0].disks[0], Path::new(&first.replace(".raw", ".qcow2")));
        let base = first.replace("-disk0", ".base");
        assert_eq!(linked.base().as_deref(), Some(Path::new(&base)));
    }

    #[test]
    fn a_record_that_leads_elsewhere_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("x");
        places::make_all(&folder).expect("made");
        let good = || deployment("x", Ground::Folders(vec!["/pool".into()]));
        let refused = |bad: Deployment| {
            bad.placed(&folder).write().expect("written");
            assert!(matches!(Deployment::read(&folder), Err(Problem::NotOurs { .. })));
        };
        let mut bad = good();
        bad.machines[0].name = "../../etc/x".to_owned();
        refused(bad);
        // A short mark would be the beginning of others' names.
        refused(Deployment { token: String::new(), ..good() });
        refused(Deployment { ground: Ground::Folders(vec!["pool".into()]), ..good() });
        refused(Deployment { ground: Ground::Folders(Vec::new()), ..good() });
        for text in ["", "{}", "[1]", "{\"format\": 99}"] {
            fs::write(folder.join(FILE), text).expect("written");
            assert!(Deployment::read(&folder).is_err(), "{text}");
        }
    }
}
