//! Why a run is not begun.

use model::Bytes;
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
    /// Where a target is too small: what it has, and what is to be loaded of it.
    pub too_small: Option<TooSmall>,
}

/// A target that has less than is to be loaded of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// What it has.
    pub has: Bytes,
    /// What is to be loaded.
    pub wanted: Bytes,
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
    fn new(kind: RefusalKind, message: String, remedy: String) -> Refusal {
        Refusal { kind, message, remedy, too_small: None }
    }

    pub(super) fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::Usage, message.into(), remedy.into())
    }

    pub(super) fn target(message: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::Target, message.into(), remedy.into())
    }

    pub(super) fn space(message: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::Space, message.into(), remedy.into())
    }

    /// The same, with how much too small a target is: whoever plans for somebody else says it in
    /// words of its own.
    pub fn too_small(self, has: Bytes, wanted: Bytes) -> Refusal {
        Refusal { too_small: Some(TooSmall { has, wanted }), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}
