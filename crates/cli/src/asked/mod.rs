//! What was asked for: the words of a command as a suite, its targets and its testbed.

pub(crate) mod budget;
pub(crate) mod published;
pub(crate) mod quick;
pub(crate) mod quotable;
pub(crate) mod simulate;
pub(crate) mod suite_and_targets;
pub(crate) mod testbed;
