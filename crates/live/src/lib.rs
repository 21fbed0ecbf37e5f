//! What shows a run while it goes on: a bar or lines on the terminal, the live view, the live page
//! and its metrics. All of it takes events, as the run file does, and nothing below names it.

pub mod progress;
pub mod terminal;
pub mod watch;
pub mod web;
