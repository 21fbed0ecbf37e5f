//! Every argument, declared once: parser, help, completions and man page come from here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use model::spec::Override;
use model::{Bytes, Nanos, Percent, Scale};
use std::path::PathBuf;

/// Finds the load line of a storage cluster: what it carries, and whether the figure can be trusted.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The table of exit codes, as the help and the man page print it.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, but the target failed some requests; the report counts them
  2    the arguments or the suite are wrong; nothing was touched
  3    a target was refused (not ours, in use, no space, no permission)
  4    the run could not go on; what was recorded until then is kept
  5    a run file could not be read
  130  interrupted; what was recorded until then is kept
  101  a bug in Plimsoll; please report it";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Load a target and report what it carries.
    Run(Box<RunArgs>),
    /// Show what a run would do, how long it takes and what it writes; touches nothing.
    Plan(Box<PlanArgs>),
    /// Show what this host is made of and which layers lie below a target; touches nothing.
    Inventory(InventoryArgs),
    /// List the built-in suites, or print one to start your own from.
    Suites(SuitesArgs),
    /// Write the HTML report of one or more runs.
    Report(ReportArgs),
    /// Show a run's results in the terminal, or as JSON.
    Show(ShowArgs),
    /// Remove what a killed run left in a directory: exactly our own files.
    Clean(CleanArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the man page, or write one page for each command.
    Man {
        /// Where to write the pages of all commands; without it, the main page goes to standard output.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// What to load, with what, and how much.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// A built-in suite, a suite file, or with --rw the paths to load [default: four-corners].
    #[arg(value_name = "SUITE|FILE.toml|PATH")]
    pub what: Vec<String>,

    /// A directory to make files in, or with --existing a file or device to read [default: ./plimsoll-data].
    #[arg(short, long = "target", value_name = "PATH")]
    pub targets: Vec<String>,

    /// Give any field of the suite another value, such as measure=30s, layout.size=10GiB or workload.NAME.depth=8.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Override>,

    /// Shrink sizes and times together, such as 1/100. The report says so.
    #[arg(long, value_name = "FRACTION", default_value = "1")]
    pub scale: Scale,

    /// Go through the page cache instead of around it.
    #[arg(long)]
    pub buffered: bool,

    /// Load a file or a device as it is: read only, nothing is written, workloads that write are left out.
    #[arg(long, conflicts_with = "destroy_data")]
    pub existing: bool,

    /// Overwrite this block device: all that is on it is lost. The only way to write to a device.
    #[arg(long, value_name = "DEVICE")]
    pub destroy_data: Vec<String>,

    /// One workload without a suite file, in fio's words.
    #[command(flatten)]
    pub quick: QuickArgs,
}

/// One workload in fio's words.
#[derive(Debug, Args)]
#[command(next_help_heading = "Quick form (with --rw, one workload without a suite file)")]
pub struct QuickArgs {
    /// The pattern.
    #[arg(long, value_name = "PATTERN")]
    pub rw: Option<Pattern>,

    /// The size of each request [default: 4k].
    #[arg(long, value_name = "SIZE", requires = "rw")]
    pub bs: Option<Bytes>,

    /// Requests that each worker keeps outstanding [default: 1].
    #[arg(long, value_name = "N", requires = "rw")]
    pub iodepth: Option<u32>,

    /// Workers, each with a file of its own [default: 1].
    #[arg(long, value_name = "N", requires = "rw")]
    pub numjobs: Option<u32>,

    /// The size of each worker's file, or of the part of a device that is loaded [default: by the machine].
    #[arg(long, value_name = "SIZE", requires = "rw")]
    pub size: Option<Bytes>,

    /// How long to measure; a bare number counts seconds [default: 60s].
    #[arg(long, value_name = "TIME", requires = "rw")]
    pub runtime: Option<Nanos>,

    /// The share of reads in rw and randrw [default: 50].
    #[arg(long, value_name = "PERCENT", requires = "rw")]
    pub rwmixread: Option<Percent>,
}

/// fio's names of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Random reads.
    Randread,
    /// Random writes.
    Randwrite,
    /// Sequential reads and writes, mixed.
    #[value(alias = "readwrite")]
    Rw,
    /// Random reads and writes, mixed.
    Randrw,
}

/// `plimsoll run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// What to load, with what, and how much.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Where to record the run [default: plimsoll-SUITE-TIME.plimsoll in this directory]. The report stands beside it, as .html.
    #[arg(short, long, value_name = "FILE.plimsoll")]
    pub out: Option<PathBuf>,

    /// Leave the files of the run on the target, for the next run or for a look.
    #[arg(long)]
    pub keep_data: bool,

    /// End standard output with one JSON object (docs/json.md); everything else goes to standard error.
    #[arg(long)]
    pub json: bool,

    /// No progress and no plan, only the results.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `plimsoll plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// What to load, with what, and how much.
    #[command(flatten)]
    pub work: WorkArgs,

    /// Print the whole plan as JSON, down to each worker's byte ranges.
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll inventory`.
#[derive(Debug, Args)]
pub struct InventoryArgs {
    /// Paths whose layers are to be shown, down to the disks.
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// Print everything that is known as JSON, one entry for each host (docs/json.md).
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll suites`.
#[derive(Debug, Args)]
pub struct SuitesArgs {
    /// Print this suite's file.
    pub name: Option<String>,

    /// Print every field that a suite can have.
    #[arg(long, conflicts_with = "name")]
    pub reference: bool,
}

/// `plimsoll report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run files.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Where to write the page [default: beside the first run, as .html].
    #[arg(short, long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

/// `plimsoll show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The run file.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,

    /// One JSON object (docs/json.md) instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// `plimsoll clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// The directories that runs wrote to [default: ./plimsoll-data].
    #[arg(value_name = "PATH")]
    pub targets: Vec<String>,
}

/// Where files go when no target is named.
pub const DEFAULT_TARGET: &str = "./plimsoll-data";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
