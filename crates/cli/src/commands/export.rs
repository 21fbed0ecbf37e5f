//! `plimsoll export`: a run as tables for other programs.

use super::export_args::{ExportArgs, Format};
use super::saved::read_judged;
use super::{export_foreign, foreign, make_folder};
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use model::Record;
use model::rows::SampleRow;
use report::surfaces::export::{Csv, Json, Sink, Table, Tables};
use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use store::{Halted, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    file: PathBuf,
    tables: Vec<Table>,
}

pub(crate) fn export(args: &ExportArgs) -> Result<(), Failure> {
    outputs::refuse_ending(args.out.as_deref())?;
    let format = Format::of(args.format, args.out.as_deref());
    if let Some(run) = foreign::read(&args.run)? {
        return export_foreign::of_foreign(&run, args, format);
    }
    if format == Format::FioJson {
        return export_foreign::of_own(&read_judged(&args.run)?, args);
    }
    let parts = parts(args, format)?;
    let record = read_judged(&args.run)?;
    let tables = Tables::new(&record);
    if let Some(folder) = folder(args, format) {
        make_folder(&folder)?;
    }
    refuse_what_is_there(&parts, args.force)?;
    for part in &parts {
        write(part, format, args, &record, &tables)?;
    }
    Ok(())
}

/// All files before the first is written: half an export helps nobody.
fn refuse_what_is_there(parts: &[Part], force: bool) -> Result<(), Failure> {
    let is_there =
        |part: &&Part| part.file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0);
    match parts.iter().find(is_there) {
        Some(part) if !force => Err(Failure::usage(format!(
            "{} exists; name another place with --out, or add --force to overwrite it",
            part.file.display()
        ))),
        _ => Ok(()),
    }
}

/// The folder that takes a file for each table; `None` where one file takes all.
fn folder(args: &ExportArgs, format: Format) -> Option<PathBuf> {
    if format == Format::Json || args.table.is_some() {
        return None;
    }
    let beside = || {
        let mut name = args.run.file_stem().unwrap_or(OsStr::new("run")).to_owned();
        name.push(format!("-{}", format.ending()));
        args.run.with_file_name(name)
    };
    Some(args.out.clone().unwrap_or_else(beside))
}

fn parts(args: &ExportArgs, format: Format) -> Result<Vec<Part>, Failure> {
    let one = |tables: Vec<Table>, name: &str| {
        let beside = || args.run.with_extension(format!("{name}{}", format.ending()));
        vec![Part { file: args.out.clone().unwrap_or_else(beside), tables }]
    };
    if is_stdout(args.out.as_deref()) && folder(args, format).is_some() {
        return Err(Failure::usage(
            "standard output takes one table as CSV, or JSON; add --table results, or \
             --format json",
        ));
    }
    let parts = match (args.table, folder(args, format)) {
        (Some(table), _) => one(vec![table.table()], &format!("{}.", table.table().name())),
        (None, None) => one(Table::ALL.to_vec(), ""),
        (None, Some(folder)) => {
            let file = |table: Table| folder.join(format!("{}.{}", table.name(), format.ending()));
            Table::ALL
                .into_iter()
                .map(|table| Part { file: file(table), tables: vec![table] })
                .collect()
        }
    };
    Ok(parts)
}

fn is_stdout(out: Option<&Path>) -> bool {
    out == Some(Path::new("-"))
}

fn write(
    part: &Part,
    format: Format,
    args: &ExportArgs,
    record: &Record,
    tables: &Tables<'_>,
) -> Result<(), Failure> {
    let to_stdout = is_stdout(args.out.as_deref());
    let out: Box<dyn Write> = if to_stdout {
        Box::new(io::stdout())
    } else {
        Box::new(outputs::create(&part.file, Kind::Unmarked, args.force)?)
    };
    let mut sink = sink(format, BufWriter::new(out));
    let written = part
        .tables
        .iter()
        .try_for_each(|table| fill(sink.as_mut(), *table, &args.run, record, tables));
    let written = written.and_then(|()| sink.finish().map_err(Halted::Taker));
    match written {
        Ok(()) if to_stdout => Ok(()),
        Ok(()) => {
            eprintln!("{:9} {}", format.ending(), part.file.display());
            Ok(())
        }
        // A reader that has gone away (`| head`) is no error.
        Err(Halted::Taker(error)) if to_stdout && error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(())
        }
        Err(Halted::Taker(error)) if error.kind() != io::ErrorKind::InvalidData => {
            Err(Failure::run(format!(
                "{} cannot be written: {error}; what stands there is a part; free some \
                 space or name another place with --out",
                part.file.display()
            )))
        }
        Err(Halted::Taker(error)) => {
            let damaged = StoreError::Damaged(args.run.clone(), error.to_string());
            Err(Failure::run_file(damaged))
        }
        Err(Halted::File(error)) => Err(Failure::run_file(error)),
    }
}

fn sink(format: Format, out: BufWriter<Box<dyn Write>>) -> Box<dyn Sink> {
    match format {
        Format::Json => Box::new(Json::new(out)),
        _ => Box::new(Csv::new(out)),
    }
}

/// One table: what rests on the whole run from the record, the rest row by row from the file.
fn fill(
    sink: &mut dyn Sink,
    table: Table,
    run: &Path,
    record: &Record,
    tables: &Tables<'_>,
) -> Result<(), Halted<io::Error>> {
    let is_by_row = matches!(table, Table::Series | Table::Counters);
    let is_thinned = is_by_row && store::is_thinned(run).map_err(Halted::File)?;
    if is_thinned {
        eprintln!(
            "note: {}: the first intervals are gone, as keep.full of the suite says; this table \
             has the others",
            run.display()
        );
    }
    sink.begin(table, &tables.columns(table)).map_err(Halted::Taker)?;
    match table {
        // A run that goes on may have begun a stage since the record was read.
        Table::Series => {
            let mut take = |row: SampleRow| {
                if row.stage as usize >= record.plan.stages.len() {
                    return Ok(());
                }
                let damaged =
                    |_| io::Error::new(io::ErrorKind::InvalidData, "a histogram is damaged");
                sink.row(&tables.series(&row).map_err(damaged)?)
            };
            store::each_sample(run, &mut take)?;
            if is_thinned { Ok(()) } else { tables.each_silent(take).map_err(Halted::Taker) }
        }
        Table::Counters => store::each_counter(run, |row| sink.row(&tables.counter(&row))),
        Table::Results | Table::Quantiles | Table::Events => {
            tables.rows(table).iter().try_for_each(|row| sink.row(row)).map_err(Halted::Taker)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::export_args::TableArg;
    use super::*;

    fn args(format: Option<Format>, out: Option<&str>, table: Option<TableArg>) -> ExportArgs {
        ExportArgs {
            run: "a/r.plimsoll".into(),
            format,
            out: out.map(PathBuf::from),
            table,
            force: false,
        }
    }

    fn files(args: &ExportArgs) -> Vec<String> {
        let parts = parts(args, Format::of(args.format, args.out.as_deref())).expect("places");
        parts.iter().map(|part| part.file.display().to_string()).collect()
    }

    #[test]
    fn files_stand_beside_the_run_or_where_they_were_asked_for() {
        assert_eq!(
            files(&args(None, None, None))[..2],
            ["a/r-csv/results.csv", "a/r-csv/quantiles.csv"]
        );
        assert_eq!(files(&args(Some(Format::Csv), Some("t"), None))[4], "t/events.csv");
        assert_eq!(files(&args(Some(Format::Json), None, None)), ["a/r.json"]);
        assert_eq!(files(&args(None, Some("x.json"), None)), ["x.json"]);
        assert_eq!(files(&args(None, None, Some(TableArg::Series))), ["a/r.series.csv"]);
        assert_eq!(files(&args(None, Some("-"), Some(TableArg::Series))), ["-"]);
    }

    #[test]
    fn standard_output_takes_what_is_one_text() {
        let refused =
            |args: &ExportArgs| parts(args, Format::of(args.format, args.out.as_deref())).is_err();
        assert!(refused(&args(None, Some("-"), None)));
        assert!(!refused(&args(Some(Format::Csv), Some("-"), Some(TableArg::Results))));
        assert!(!refused(&args(Some(Format::Json), Some("-"), None)));
    }
}
