//! `plimsoll export` as fio's JSON, and of results of other tools.

use super::export_args::{ExportArgs, Format};
use super::print_exactly;
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use model::Record;
use model::foreign::ForeignRun;
use report::surfaces::export::fio::{self, Exported};
use report::surfaces::export::given;
use report::topics::foreign::json;
use std::path::Path;

pub(crate) fn of_own(record: &Record, args: &ExportArgs) -> Result<(), Failure> {
    let rows = analysis::foreign::own_rows(record, &analysis::results(record));
    let exported = Exported {
        rows: &rows,
        sources: &[],
        measured_unix_ns: Some(record.started_unix_ns),
        version: &record.version,
    };
    write(&as_fio(exported, args)?, args, Format::FioJson)
}

/// Results of another tool: as a table, as JSON, or as fio's JSON.
pub(crate) fn of_foreign(
    run: &ForeignRun,
    args: &ExportArgs,
    format: Format,
) -> Result<(), Failure> {
    let text = match format {
        Format::FioJson => {
            let exported = Exported {
                rows: &run.rows,
                sources: &run.sources,
                measured_unix_ns: run.measured_unix_ns,
                version: &run.version,
            };
            as_fio(exported, args)?
        }
        Format::Csv => given::csv(run),
        Format::Json => {
            let text = serde_json::to_string_pretty(&json::run(run));
            text.map_err(Failure::run)? + "\n"
        }
    };
    write(&text, args, format)
}

fn as_fio(exported: Exported<'_>, args: &ExportArgs) -> Result<String, Failure> {
    if args.table.is_some() {
        return Err(Failure::usage("--table is for csv and json; leave it out"));
    }
    fio::text(exported).map_err(|why| {
        let run = args.run.display();
        Failure::usage(format!("{run} has no place in fio's JSON: {why}; name another format"))
    })
}

fn write(text: &str, args: &ExportArgs, format: Format) -> Result<(), Failure> {
    if args.table.is_some() {
        return Err(Failure::usage("results of other tools are one table; leave --table out"));
    }
    if args.out.as_deref() == Some(Path::new("-")) {
        return print_exactly(text);
    }
    let beside = || args.run.with_extension(format.ending());
    let out = args.out.clone().unwrap_or_else(beside);
    outputs::write(&out, Kind::Unmarked, args.force, text.as_bytes())?;
    eprintln!("{:9} {}", format.ending(), out.display());
    Ok(())
}
