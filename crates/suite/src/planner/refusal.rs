//! Why a run is not begun.

use std::fmt;

/// A reason why a run is not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of reason, which decides the exit code.
    pub kind: RefusalKind,
    /// What is wrong, and where.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The suite or the options contradict themselves or the hosts.
    Usage,
    /// A target may not or cannot be loaded.
    Target,
    /// A target has not enough space.
    Space,
}

impl Refusal {
    /// A refusal.
    pub fn new(
        kind: RefusalKind,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Refusal {
        Refusal { kind, message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}
