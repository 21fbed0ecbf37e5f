//! `plimsoll import`.

use super::examples;
use clap::Args;
use dialects::Dialect;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = examples::of("import"))]
pub(crate) struct ImportArgs {
    /// Jobs or results of other tools (docs/compat/README.md).
    #[arg(value_name = "FILE", required_unless_present = "command")]
    pub(crate) files: Vec<PathBuf>,

    /// A command line of the other tool, in place of files.
    #[arg(long, value_name = "LINE", conflicts_with = "files")]
    pub(crate) command: Option<String>,

    /// The dialect: fio, ior, mdtest, diskspd, io500, vdbench, elbencho, iozone or iometer
    /// [default: by content].
    #[arg(long, value_name = "DIALECT")]
    pub(crate) from: Option<Dialect>,

    /// Where to write the suite [default: standard output], or the run file of results.
    ///
    /// A directory takes the suites of several files. A file that exists is never overwritten.
    #[arg(short, long, value_name = "SUITE.toml|RUN")]
    pub(crate) out: Option<PathBuf>,

    /// Write the suite without the options that were refused.
    #[arg(long)]
    pub(crate) allow_loss: bool,

    /// Write the suite with the commands of the job, which a run of it then runs.
    #[arg(long)]
    pub(crate) allow_commands: bool,

    /// Print report and suites as JSON (docs/compat/README.md).
    #[arg(long)]
    pub(crate) json: bool,
}
