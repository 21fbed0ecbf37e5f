//! A text that cannot be taken: what is said of it.

use crate::reader::Problem;
use crate::tree::Sources;

/// A text that cannot be used: every mistake that was found, in the order of the text.
#[derive(Clone, Debug)]
pub struct SpecErrors {
    /// The texts that the problems point into.
    pub sources: Sources,
    /// At least one problem.
    pub problems: Vec<Problem>,
}

/// A suite or a testbed is a page of text. More is neither.
pub const MAX_TEXT: usize = 1 << 20;
