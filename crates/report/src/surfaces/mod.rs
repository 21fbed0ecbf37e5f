//! Topics put together for a reader: one page, a table of the terminal, an object for machines,
//! Markdown for a wiki, tables for other programs.

pub mod export;
pub mod foreign;
pub mod html;
pub mod json;
pub mod markdown;
pub mod table;
