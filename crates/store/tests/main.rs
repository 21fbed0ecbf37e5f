//! The run file as other crates see it: written, read, damaged, cut off.

mod any_run;
mod common;
mod killed;
mod run_file;
