//! The view of `plimsoll watch` and `plimsoll run --watch`: what every node's kernel counts, and
//! above it the run where there is one.
//!
//! [`State`] is pure: it takes samples, events and keys, and gives rows. [`draw`] puts it on a
//! screen, [`lines`] where there is none. A replay feeds the same state with the events of a run
//! file.

pub(crate) mod canvas;
pub(crate) mod counter_lists;
pub mod draw;
pub mod figures;
pub(crate) mod format;
mod keys;
pub mod lines;
mod parts;
mod replay;
mod state;
mod table;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use canvas::Canvas;
pub use format::clock;
pub use keys::{Ask, Key};
pub use replay::{Film, Replay, Speed};
pub use state::{State, Subject};
pub use table::{Order, Panel, Presence, Row};
