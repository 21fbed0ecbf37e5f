//! What draws: for a terminal, as HTML and Markdown, as JSON.
//!
//! A topic says in one [`Table`] what its rows are; each pen draws the columns that it knows.

pub(crate) mod contents;
pub mod json;
pub mod markdown;
mod table;
pub(crate) mod terminal;

pub use table::{Cell, Table, capital, dash};

use crate::ground::markup::Element;

/// The rows of all tables in a piece of a page, their heads among them.
pub(crate) fn rows(piece: &Element) -> Vec<&Element> {
    let mut rows = Vec::new();
    piece.find(&|element| element.name == "tr", &mut rows);
    rows
}
