//! What the storage says of its own servers, before and after a stage.

use serde::{Deserialize, Serialize};

/// What the storage's own command says, asked by one host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageState {
    /// What was asked about, for people: `GlusterFS volume lab`.
    pub storage: String,
    /// Whether the stage was over.
    pub is_after: bool,
    /// `None` where nothing answered within the time for it, or nobody knows whom to ask.
    pub parts: Option<PartsState>,
}

/// The parts that keep copies: bricks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartsState {
    /// How many there are.
    pub of: u32,
    /// Those that are not connected.
    pub down: Vec<String>,
    /// Entries of which a copy is not like the others yet.
    pub to_heal: u64,
}

impl StorageState {
    /// Says it where it was looked at and found whole.
    pub fn is_whole(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.down.is_empty() && parts.to_heal == 0)
    }
}
