//! The file itself: how it is opened, what its tables are, and whether it is what was written.

pub mod checksums;
pub mod error;
pub mod open;
pub mod pages;
pub mod place;
pub mod plausible;
pub mod schema;
pub mod source;
pub mod values;
