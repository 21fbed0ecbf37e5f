//! Tables that are declared once and read from a text: every mistake at once, each with its place
//! and its remedy; arithmetic in fields; the reference made from the same declarations.
//!
//! TOML text → [`tree`] → `--set` → typed tables ([`spec_table!`], [`Reader`], [`Field`]). What the
//! tables are, `suite` and `catalogue` say. Pure: no file, no clock, no thread.

pub mod arithmetic;
mod errors;
pub mod other_names;
#[macro_use]
mod words;
mod field;
mod nearest;
mod object;
mod rate;
mod reader;
mod set;
mod table;
pub mod tree;

pub use errors::{MAX_TEXT, SpecErrors};
pub use field::{Amount, Auto, Count, Depth, Field, Whole};
pub use nearest::nearest;
pub use reader::{Given, Problem, ProblemKind, Problems, Reader, place, read_table, word_remedy};
pub use set::{Override, OverrideError};
pub use table::{FieldDoc, write_table};
pub use tree::{Entry, Node, Place, Sources, Span, Table, Value, parse as parse_tree, parse_value};

/// The tables of a text and their keys.
pub type Tables = &'static [(&'static str, &'static [&'static str])];
