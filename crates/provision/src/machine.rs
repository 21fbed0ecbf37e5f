//! A machine on record.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A machine of ours, as it is on record. Where its files are follows from its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name, which is the guest's host name, too.
    pub name: String,
    /// What tells it from all others, in the form of a UUID. A process that says it, and is ours,
    /// is this machine.
    pub uuid: String,
    /// The paths of its disks in its guest, where they are not those of the deployment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// Where its console and its sockets are.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The files of its disks as they were made, or their names in a pool.
    #[serde(skip)]
    pub disks: Vec<PathBuf>,
}

impl Machine {
    /// The socket behind which its agent listens.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!("{}.agent", self.name))
    }
}
