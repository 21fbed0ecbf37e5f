//! What the coordinator alone may say: that all hosts are through.
//!
//! Only this folder can make these values; an agent has them from a message, and without them it
//! gives nothing back.

use serde::{Deserialize, Serialize};

/// The word that all hosts are through with some layouts of scenarios. An agent has it from a
/// message alone, and without it gives none back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutsOver {
    parts: Vec<u32>,
}

impl LayoutsOver {
    pub(super) fn of(parts: Vec<u32>) -> LayoutsOver {
        LayoutsOver { parts }
    }

    /// Whether it is said of the part of this number.
    pub(crate) fn covers(&self, part: usize) -> bool {
        u32::try_from(part).is_ok_and(|part| self.parts.contains(&part))
    }
}

/// The word that all hosts are through with the run. An agent has it from a message alone, and
/// without it lets go of nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOver {
    remove: bool,
}

impl RunOver {
    /// The word; `remove`: the files that the run made go, too.
    pub(super) fn removing(remove: bool) -> RunOver {
        RunOver { remove }
    }

    /// The word as a test has it.
    #[cfg(test)]
    pub(crate) fn in_a_test(remove: bool) -> RunOver {
        RunOver { remove }
    }

    /// Whether the files that the run made are to be removed.
    pub(crate) fn removes(&self) -> bool {
        self.remove
    }
}
