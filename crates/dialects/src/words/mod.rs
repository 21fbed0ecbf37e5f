//! Words and values as the tools write them.

pub(crate) mod line;
pub(crate) mod shell;
pub(crate) mod values;
pub(crate) mod xml;
