//! What a recorded run says to people: words, tables, charts, one page.
//!
//! [`ground`] is what all that is told is made of, [`pens`] draw it, [`topics`] has a room for each
//! thing told, and [`surfaces`] put the topics together for a reader: as a page, a table, JSON,
//! Markdown, or tables for other programs. Surfaces look at topics, topics at pens and the ground,
//! never back: `cargo xtask tidy` holds it.

pub mod ground;
pub mod pens;
pub mod surfaces;
pub mod topics;
