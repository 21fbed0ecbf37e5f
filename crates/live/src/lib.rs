//! What shows a run while it goes on: a bar or lines on the terminal, the live view, the live page
//! and its metrics, and what is pushed to others. All of it takes events, as the run file does, and
//! nothing below names it.

pub mod progress;
pub mod push;
pub mod terminal;
pub mod watch;
pub mod web;
