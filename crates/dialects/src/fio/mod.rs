//! fio: job files and command lines.

mod asked;
mod classes;
mod command;
mod commands;
mod convert;
mod group;
mod job;
mod layout;
mod options;
mod place;
mod priorities;
mod quick;
mod regions;
mod sections;
mod table;
mod tables;
mod targets;
mod together;
mod unit;
mod work;
mod zones;

pub use command::command;
pub use options::OPTIONS;
pub use quick::{Changed, quick_changes, quick_knows, takes_a_value};

use crate::import::{Import, ImportError, World};
use crate::loss::Losses;
use crate::rows::Row;
use options::find;

/// A job file.
pub fn file(name: &str, text: &str, world: &World<'_>) -> Result<Import, ImportError> {
    let sections = sections::parse(name, text, world)?;
    let mut losses = Losses::default();
    let jobs = convert::jobs(&sections, &[], world, &mut losses);
    convert::finish(name, &jobs, losses)
}

/// Whether fio has an option of this name.
pub fn knows(name: &str) -> bool {
    find(name).is_some()
}

/// What becomes of fio's option of this name in general: the class, and the words of its page.
pub fn said_of(name: &str) -> Option<(&'static str, String)> {
    find(name).map(Row::doc)
}
