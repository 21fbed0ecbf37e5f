//! fio's options, each declared once; one table for each chapter of its manual.

mod away;
mod blocks;
mod commands;
mod engines;
mod files;
mod flow;
mod reports;
mod tool;
mod verify;

use super::job::Job;
use crate::table::Opt;

/// The tables of a job's options, with the names of their chapters.
pub const CHAPTERS: [(&str, &[Opt<Job>]); 7] = [
    ("Requests", blocks::OPTIONS),
    ("Files and sizes", files::OPTIONS),
    ("Time, rate and order", flow::OPTIONS),
    ("Contents and checks", verify::OPTIONS),
    ("Engines and hosts", engines::OPTIONS),
    ("Commands and priorities", commands::OPTIONS),
    ("Measuring and reporting", reports::OPTIONS),
];

/// The tables of a job's options.
pub const TABLES: [&[Opt<Job>]; 7] = [
    blocks::OPTIONS,
    files::OPTIONS,
    flow::OPTIONS,
    verify::OPTIONS,
    engines::OPTIONS,
    commands::OPTIONS,
    reports::OPTIONS,
];

/// The options of the command `fio` itself.
pub use commands::SPLIT;
pub use tool::OPTIONS as TOOL;
