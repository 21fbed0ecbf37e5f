//! What a look at the data that a run left has shown: `plimsoll verify`.

use crate::units::Bytes;

crate::words! {
    /// Which writes must be found.
    pub enum Basis {
        /// Those that came back: right unless the machine lost its power.
        Completed = "completed",
        /// Those that came back with `O_DSYNC`, or before an `fdatasync` that succeeded: right
        /// after a power cut, too.
        Durable = "durable",
    }
}

crate::words! {
    /// What is wrong with a block.
    pub enum DamageKind {
        /// An acknowledged write is missing: what stood there before still does.
        Lost = "lost",
        /// A part of an acknowledged write is there, and older bytes for the rest.
        Torn = "torn",
        /// The checksum does not fit the bytes, or there is no header at all.
        Corrupt = "corrupt",
        /// A whole block that was written for another place.
        Misdirected = "misdirected",
        /// The target does not deliver it.
        Unreadable = "unreadable",
    }
}

/// One damaged block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: DamageKind,
    /// The file or device.
    pub path: String,
    /// Where in it the first damaged 512 bytes of the block begin.
    pub offset: u64,
    /// The oldest generation that may stand there; 0 where no write was acknowledged.
    pub generation: u32,
    /// The same in words.
    pub expected: String,
    /// What stands there, in words.
    pub found: String,
    /// Who wrote what is expected, and when the record first knew it acknowledged; in words.
    /// `None` where no write was.
    pub acknowledged: Option<String>,
}

/// One file or device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileAudit {
    /// Its path, where it was read.
    pub path: String,
    /// Blocks that were looked at.
    pub blocks: u64,
    /// Blocks that hold what they must, or something newer.
    pub good: u64,
    /// Blocks that no acknowledged write went to, and in which nothing of this run stands.
    pub never_written: u64,
    /// Damaged blocks by kind, in the order of [`DamageKind::ALL`].
    pub damaged: [u64; 5],
}

impl FileAudit {
    /// Damaged blocks of all kinds.
    pub(crate) fn damaged_blocks(&self) -> u64 {
        self.damaged.iter().sum()
    }
}

crate::words! {
    /// What is wrong with a file of a population.
    pub enum FileDamage {
        /// It must be there and is not.
        Missing = "missing",
        /// It is there and must not be: it died, it has two names, or its name is none of the run.
        Stray = "stray",
        /// It has the other of its two names.
        Name = "name",
        /// It has another length.
        Length = "length",
        /// It holds other bytes than were written last.
        Content = "content",
        /// The file system does not deliver it.
        Unreadable = "unreadable",
    }
}

/// One damaged file of a population.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFinding {
    /// What is wrong.
    pub kind: FileDamage,
    /// The file.
    pub path: String,
    /// What must be there, in words.
    pub expected: String,
    /// What is there, in words.
    pub found: String,
}

/// One population.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PopulationAudit {
    /// The directory that holds all of it.
    pub path: String,
    /// Operations that are known to have come back, in all stages.
    pub operations: u64,
    /// Operations that the file system has beyond them: of a run that was killed.
    pub beyond: u64,
    /// Names of its workers.
    pub names: u64,
    /// Names that could not be looked at: an operation of their worker failed, or a stage before
    /// its last is not whole on record.
    pub unsure: u64,
    /// Files that must be there.
    pub expected: u64,
    /// Those that are as they must be.
    pub good: u64,
    /// Bytes that were compared with those that were written.
    pub compared: Bytes,
    /// Damaged files by kind, in the order of [`FileDamage::ALL`].
    pub damaged: [u64; 6],
}

impl PopulationAudit {
    /// Damaged files of all kinds.
    pub fn damaged_files(&self) -> u64 {
        self.damaged.iter().sum()
    }
}

/// What a look at all data of a run has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// Which writes had to be found.
    pub basis: Basis,
    /// The size of a block: what no write of the run divides.
    pub block: Bytes,
    /// Writes that are acknowledged by this basis, those that were overwritten since included.
    pub acknowledged_writes: u64,
    /// Every file, in the order of the plan.
    pub files: Vec<FileAudit>,
    /// The first damaged blocks, in the order of the files.
    pub findings: Vec<Finding>,
    /// Every population, in the order of the plan.
    pub populations: Vec<PopulationAudit>,
    /// The first damaged files of populations.
    pub file_findings: Vec<FileFinding>,
    /// What a reader of the figures has to know.
    pub notes: Vec<String>,
}

impl Audit {
    /// Blocks of all files by kind of damage, in the order of [`DamageKind::ALL`].
    pub fn damaged(&self) -> [u64; 5] {
        let mut all = [0; 5];
        for (sum, count) in self.files.iter().flat_map(all_kinds) {
            all[sum] += count;
        }
        all
    }

    /// How many findings are told one by one.
    pub fn told(&self) -> usize {
        self.findings.len() + self.file_findings.len()
    }

    /// Whether everything that must be there is there.
    pub fn is_clean(&self) -> bool {
        self.files.iter().all(|file| file.damaged_blocks() == 0)
            && self.populations.iter().all(|population| population.damaged_files() == 0)
    }
}

fn all_kinds(file: &FileAudit) -> impl Iterator<Item = (usize, u64)> + '_ {
    file.damaged.iter().copied().enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_adds_up_over_files() {
        let file = |damaged| FileAudit { damaged, ..FileAudit::default() };
        let files = vec![file([1, 0, 2, 0, 0]), file([0, 0, 3, 0, 1])];
        let mut audit = Audit {
            basis: Basis::Completed,
            block: Bytes(4096),
            acknowledged_writes: 0,
            files,
            findings: Vec::new(),
            populations: Vec::new(),
            file_findings: Vec::new(),
            notes: Vec::new(),
        };
        assert_eq!((audit.damaged(), audit.is_clean()), ([1, 0, 5, 0, 1], false));
        audit.files.clear();
        assert!(audit.is_clean());
        let damaged = [0, 0, 0, 0, 1, 0];
        audit.populations.push(PopulationAudit { damaged, ..PopulationAudit::default() });
        assert!(!audit.is_clean());
    }

    #[test]
    fn every_kind_has_its_count() {
        assert_eq!(DamageKind::ALL.len(), FileAudit::default().damaged.len());
        assert_eq!(FileDamage::ALL.len(), PopulationAudit::default().damaged.len());
    }

    #[test]
    fn damaged_blocks_are_those_of_every_kind() {
        let file = |damaged| FileAudit { damaged, ..FileAudit::default() };
        assert_eq!(file([1, 2, 3, 4, 5]).damaged_blocks(), 15);
        assert_eq!(file([0; 5]).damaged_blocks(), 0);
    }
}
