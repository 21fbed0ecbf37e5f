//! What is on record of machines, before any of them is made: enough to find and to remove all of
//! them, whatever ends the process that makes them.

use crate::Problem;
use crate::places;
use crate::provider::Machine;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The version of the record.
const FORMAT: u32 = 1;
/// The file of the record, and what it is called until it is whole.
pub(crate) const FILE: &str = "machines.json";
pub(crate) const PART: &str = "machines.json.part";
/// What says in a pool that a folder is ours.
pub(crate) const MARKER: &str = ".plimsoll-vms";
/// The memory image of the guests.
pub(crate) const IMAGE: &str = "guest.cpio";
/// A record is not longer.
const LONGEST: u64 = 1 << 20;
/// The most machines and disks that a record may name.
const MOST: usize = 1024;

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
    /// The folder of their disks, which is theirs alone.
    pub disks: PathBuf,
    /// How many disks each machine has.
    pub disks_each: u32,
    /// The paths of the disks in each guest.
    pub devices: Vec<String>,
    /// The machines.
    pub machines: Vec<Machine>,
    /// Where this is on record.
    #[serde(skip)]
    pub folder: PathBuf,
}

impl Deployment {
    pub(crate) fn new(name: &str, token: String, machines: Vec<Machine>) -> Deployment {
        Deployment {
            format: FORMAT,
            name: name.to_owned(),
            token,
            program: String::new(),
            disks: PathBuf::new(),
            disks_each: 0,
            devices: Vec::new(),
            machines,
            folder: PathBuf::new(),
        }
    }

    /// Puts in what follows from the names.
    pub(crate) fn placed(mut self, folder: &Path) -> Deployment {
        self.folder = folder.to_owned();
        for machine in &mut self.machines {
            machine.folder = folder.to_owned();
            let disk = |number| self.disks.join(format!("{}-disk{number}.raw", machine.name));
            machine.disks = (0..self.disks_each).map(disk).collect();
        }
        self
    }

    /// Writes the record, whole or not at all.
    pub(crate) fn write(&self) -> Result<(), Problem> {
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
    pub(crate) fn read(folder: &Path) -> Result<Option<Deployment>, Problem> {
        places::is_ours(folder)?;
        let path = folder.join(FILE);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::file("read", &path, &error)),
        };
        let mut text = String::new();
        let read = file.take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| Problem::file("read", &path, &error))?;
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
            && found.disks.is_absolute()
            && found.machines.iter().all(|machine| is_plain(&machine.name));
        if !is_sound {
            return Err(wrong("is no sound record of machines"));
        }
        Ok(Some(found.placed(folder)))
    }
}

/// Whether a name can lead nowhere else as a part of a file's name.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && name.len() <= 63 && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(name: &str) -> Machine {
        Machine {
            name: name.to_owned(),
            uuid: "u".to_owned(),
            folder: PathBuf::new(),
            disks: Vec::new(),
        }
    }

    #[test]
    fn a_record_comes_back_with_what_follows_from_it() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("x");
        places::make_all(&folder).expect("made");
        assert_eq!(Deployment::read(&folder), Ok(None));
        let mut wanted = Deployment::new("x", "t".into(), vec![machine("x-1")]);
        (wanted.disks, wanted.disks_each) = ("/pool/p".into(), 2);
        let wanted = wanted.placed(&folder);
        wanted.write().expect("written");
        let found = Deployment::read(&folder).expect("good").expect("there");
        assert_eq!(found, wanted);
        assert_eq!(found.machines[0].disks[1], Path::new("/pool/p/x-1-disk1.raw"));
    }

    #[test]
    fn a_record_that_leads_elsewhere_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("x");
        places::make_all(&folder).expect("made");
        let mut bad = Deployment::new("x", "t".into(), vec![machine("../../etc/x")]);
        bad.disks = "/pool".into();
        bad.placed(&folder).write().expect("written");
        assert!(matches!(Deployment::read(&folder), Err(Problem::NotOurs { .. })));
        for text in ["", "{}", "[1]", "{\"format\": 99}"] {
            fs::write(folder.join(FILE), text).expect("written");
            assert!(Deployment::read(&folder).is_err(), "{text}");
        }
    }
}
