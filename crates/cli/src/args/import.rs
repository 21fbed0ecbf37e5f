//! `plimsoll import`.

use super::examples;
use clap::Args;
use dialects::Dialect;
use std::path::PathBuf;

/// `plimsoll import`.
#[derive(Debug, Args)]
#[command(after_help = examples::IMPORT)]
pub struct ImportArgs {
    /// The job files.
    #[arg(value_name = "FILE", required_unless_present = "command")]
    pub files: Vec<PathBuf>,

    /// A command line of the other tool, its name first, in place of files.
    #[arg(long, value_name = "LINE", conflicts_with = "files")]
    pub command: Option<String>,

    /// The tool that the jobs are written for [default: by their content]: fio,
    /// ior, mdtest or diskspd.
    #[arg(long, value_name = "DIALECT")]
    pub from: Option<Dialect>,

    /// Where to write the suite [default: standard output], or a directory for those of several
    /// files. A file that exists is never overwritten.
    #[arg(short, long, value_name = "SUITE.toml")]
    pub out: Option<PathBuf>,

    /// Write the suite even where options of the source were refused: it does without them.
    #[arg(long)]
    pub allow_loss: bool,

    /// Print the report of losses and the suites as JSON (docs/json.md).
    #[arg(long)]
    pub json: bool,
}
