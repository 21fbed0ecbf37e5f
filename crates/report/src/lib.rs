//! What a recorded run says to people: words, tables, charts, one page; and what a running one says
//! while it goes.

mod alike;
mod attribution;
pub mod ceiling;
mod chart;
mod columns;
pub mod compare;
mod done;
mod doubts;
pub mod draft;
pub mod events;
pub mod export;
mod findings;
mod folded;
pub mod html;
pub mod inventory;
pub mod json;
mod left_behind;
pub mod live;
pub mod loadline;
pub mod markdown;
mod means;
mod moment;
pub mod note;
pub mod occurrences;
pub mod plan;
pub mod published;
pub mod split;
pub mod table;
pub mod trend;
mod trust;
mod uncounted;
pub mod verify;
mod warning;
pub mod watch;
pub mod web;
pub mod words;
