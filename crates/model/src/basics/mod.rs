//! What all others are made of: units, words, chance, checksums, and names as the field writes
//! them.

pub mod crc;
pub mod errno;
pub mod hostlist;
mod level;
pub mod printable;
pub mod rng;
pub mod scale;
pub mod units;
mod words;

pub use level::Level;
