//! IO500: its configuration as a suite, and its results with the score computed again.

mod ini;
mod section;
mod suite;

pub use ini::{detect, file};
pub use section::OPTIONS;
