//! IO500: its configuration as a suite, and its results with the score computed again.

mod ini;
mod options;
mod suite;

pub use ini::{detect, file};
pub use options::{DEBUG, EXTENDED, FIND, GLOBAL, IOR, MDTEST};
