//! What the command line of `cargo xtask bench` says.

use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// What the command line says.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Turns of each contender.
    #[arg(long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Length of each turn, in seconds.
    #[arg(long, value_name = "S", default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub seconds: u32,
    /// The processor on which all run.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub cpu: u32,
    /// One bench instead of all.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(super::names()))]
    pub only: Option<String>,
    /// Of `scaling`: this `plimsoll` with the `bare-ring` beside it, instead of what is built. On a
    /// machine without cargo, the variable `CARGO_TARGET_DIR` names the folder for files.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Of `scaling`: another `plimsoll`, an earlier one, that takes its turns as well.
    #[arg(long, value_name = "FILE")]
    pub before: Option<PathBuf>,
    /// Keep the figures in the page: all of them, or with --only those of one table, in the place
    /// of what is there of it.
    #[arg(long)]
    pub write: bool,
}

impl Options {
    /// Whether the bench of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == name)
    }
}
