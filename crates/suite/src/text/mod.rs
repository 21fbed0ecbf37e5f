//! The text of a suite: its tables, scenarios and sweep, and what `--set` puts into it.

pub(crate) mod curve_file;
pub(crate) mod overrides;
pub(crate) mod parse;
pub(crate) mod ranges;
pub(crate) mod reference;
pub(crate) mod scenario;
pub(crate) mod sections;
pub(crate) mod sweep;
