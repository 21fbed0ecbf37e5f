//! The table of fio's options.

use crate::rows::Table;
use std::sync::LazyLock;

/// The options of a job, and in the last chapter those of the command `fio` itself.
pub static OPTIONS: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("options.txt")));
