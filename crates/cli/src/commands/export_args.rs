//! What `plimsoll export` is asked for.

use clap::{Args, ValueEnum};
use report::surfaces::export::Table;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = crate::args::examples::of("export"))]
pub(crate) struct ExportArgs {
    /// The run file.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// What to write [default: by the ending of FILE, else csv].
    #[arg(long)]
    pub(crate) format: Option<Format>,

    /// Where to write: a folder for CSV, which has a file for each table, a file for JSON or one
    /// table; "-" is standard output [default: beside the run].
    #[arg(short, long, value_name = "DIR|FILE")]
    pub(crate) out: Option<PathBuf>,

    /// This table alone, into one file.
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: Option<TableArg>,

    /// Overwrite files that are there already.
    #[arg(long)]
    pub(crate) force: bool,
}

/// What tables are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Comma-separated values (RFC 4180), with the names of columns in the first line.
    Csv,
    /// One object with a list of rows for each table.
    Json,
    /// fio's JSON, for programs made for fio.
    FioJson,
}

impl Format {
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Json => "json",
            Format::FioJson => "fio.json",
        }
    }

    pub(crate) fn of(asked: Option<Format>, out: Option<&Path>) -> Format {
        let ending = out.and_then(Path::extension).and_then(OsStr::to_str).unwrap_or_default();
        asked.unwrap_or(match ending {
            "json" => Format::Json,
            _ => Format::Csv,
        })
    }
}

/// `--table`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableArg {
    /// The figures of each workload of each point, by operation.
    Results,
    /// Their latencies at many shares of the requests.
    Quantiles,
    /// What each host did in each interval, by workload and operation.
    Series,
    /// What each host's kernel counted in each interval.
    Counters,
    /// What happened at an instant.
    Events,
}

impl TableArg {
    pub(crate) fn table(self) -> Table {
        match self {
            TableArg::Results => Table::Results,
            TableArg::Quantiles => Table::Quantiles,
            TableArg::Series => Table::Series,
            TableArg::Counters => Table::Counters,
            TableArg::Events => Table::Events,
        }
    }
}
