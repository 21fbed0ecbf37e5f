//! What a recorded run says to people: words, tables, charts, one page; and what a running one says while it goes.

mod attribution;
pub mod ceiling;
mod chart;
pub mod compare;
mod doubts;
pub mod draft;
pub mod events;
pub mod export;
mod findings;
pub mod html;
pub mod inventory;
pub mod json;
pub mod live;
pub mod loadline;
pub mod markdown;
pub mod occurrences;
pub mod plan;
pub mod published;
pub mod split;
pub mod table;
pub mod trend;
mod uncounted;
pub mod verify;
pub mod watch;
pub mod web;
pub mod words;
