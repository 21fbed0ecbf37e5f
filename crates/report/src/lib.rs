//! What a recorded run says to people: words, tables, charts, one page; and what a running one says while it goes.

mod chart;
pub mod compare;
mod doubts;
mod findings;
pub mod html;
pub mod json;
pub mod live;
pub mod plan;
pub mod table;
pub mod words;
