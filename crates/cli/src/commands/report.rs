//! `plimsoll report`: runs as a page, or as Markdown with its charts beside it.

use super::foreign::{Mixed, refused};
use super::make_folder;
use super::saved::{hold, hold_predicted, read_judged};
use crate::asked::{published, testbed};
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use crate::terminal::run_names::names_of;
use clap::{Args, ValueEnum};
use model::Record;
use report::surfaces;
use report::surfaces::foreign;
use report::surfaces::html::Against;
use report::surfaces::markdown::{self, Chart};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = crate::args::examples::of("report"))]
pub(crate) struct ReportArgs {
    /// The run files.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,

    /// Where to write it [default: beside the first run, as .html or .md]. The charts of FILE.md
    /// stand in FILE-charts beside it.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// What to write [default: markdown if FILE ends in .md or .markdown, else html].
    #[arg(long)]
    pub(crate) format: Option<Format>,

    /// Overwrite a file that is not known to be a report of ours.
    #[arg(long)]
    pub(crate) force: bool,

    /// Put each result beside the ceiling of this testbed (see `plimsoll ceiling`): its share, and
    /// what binds. [default: what the run simulates, if that is a reference testbed]
    #[arg(long, value_name = "FILE.toml|NAME")]
    pub(crate) testbed: Option<String>,

    /// Put the run beside published figures, by the name of a field report such as
    /// vsan-four-corners or a file of figures.
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) against: Option<String>,

    /// Put what this fitted testbed predicts beside what was measured (see `plimsoll calibrate`).
    #[arg(long, value_name = "FITTED.toml")]
    pub(crate) predicted: Option<String>,

    /// Begin the report with this title.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Say below the title for whom it is.
    #[arg(long, value_name = "TEXT")]
    pub(crate) customer: Option<String>,

    /// Say this before the runs.
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: Option<String>,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page that needs nothing else.
    Html,
    /// Text for a wiki, with its charts in a folder beside it.
    Markdown,
}

impl Format {
    fn of(asked: Option<Format>, out: Option<&Path>) -> Format {
        let ending = out.and_then(Path::extension).and_then(OsStr::to_str).unwrap_or_default();
        asked.unwrap_or(match ending {
            "md" | "markdown" => Format::Markdown,
            _ => Format::Html,
        })
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Markdown => "md",
        }
    }
}

/// Writes the report of one or more runs.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    outputs::refuse_ending(args.out.as_deref())?;
    let format = Format::of(args.format, args.out.as_deref());
    if let (Some(mixed), Some(first)) = (Mixed::read(&args.runs)?, args.runs.first()) {
        let out = args.out.clone().unwrap_or_else(|| first.with_extension(format.ending()));
        return of_foreign(&mixed, args, &out);
    }
    let records =
        args.runs.iter().map(|run| read_judged(run)).collect::<Result<Vec<Record>, Failure>>()?;
    let testbed = args.testbed.as_deref().map(|wanted| testbed::read(wanted, &[])).transpose()?;
    let testbed =
        testbed.or_else(|| analysis::ceiling::simulated(records.iter().map(|record| &record.plan)));
    let beside = args.runs.first().map(|first| first.with_extension(format.ending()));
    let out = args.out.clone().or(beside);
    let out = out.ok_or_else(|| Failure::usage("no run is named; name a run file"))?;
    let published = args.against.as_deref().map(published::read).transpose()?;
    if let Some((figures, theirs)) = &published {
        let held = |record| hold(record, figures, theirs.as_ref(), testbed.as_ref());
        // With several runs, the page says of each whether it fits.
        any_fits(records.iter().map(held).collect())?;
    }
    let predicted =
        args.predicted.as_deref().map(|wanted| testbed::read_for(wanted, &records)).transpose()?;
    if let Some(cluster) = &predicted {
        let held = |(record, run): (_, &PathBuf)| hold_predicted(record, cluster, run);
        any_fits(records.iter().zip(&args.runs).map(held).collect())?;
    }
    let names = names_of(&args.runs);
    let against = Against {
        predicted: predicted.as_ref(),
        names: &names,
        testbed: testbed.as_ref(),
        published: published.as_ref().map(|(figures, theirs)| (figures, theirs.as_ref())),
        cover: [&args.title, &args.customer, &args.comment].map(|said| said.as_deref()),
    };
    let records: Vec<&Record> = records.iter().collect();
    if format == Format::Html {
        return write_page(&records, against, &out, args.force);
    }
    let render = |folder: &str| markdown::render(&records, against, folder);
    let (charts, folder) = write_markdown(&out, args, render)?;
    eprintln!("report    {}\ncharts    {charts} in {}", out.display(), folder.display());
    Ok(())
}

/// The first refusal, if no run fits.
fn any_fits<T>(held: Vec<Result<T, Failure>>) -> Result<(), Failure> {
    if held.iter().any(Result::is_ok) {
        return Ok(());
    }
    held.into_iter().try_for_each(|one| one.map(drop))
}

/// The report of runs of which some hold results of other tools.
fn of_foreign(mixed: &Mixed, args: &ReportArgs, out: &Path) -> Result<(), Failure> {
    let none = [
        (args.testbed.is_some(), "--testbed", "nobody knows what they were measured on"),
        (args.against.is_some(), "--against", "no plan says which figure is which"),
        (args.predicted.is_some(), "--predicted", "no plan says what was asked"),
        (args.title.is_some(), "--title", "their page has no cover"),
        (args.customer.is_some(), "--customer", "their page has no cover"),
        (args.comment.is_some(), "--comment", "their page has no cover"),
    ];
    if let Some((_, what, why)) = none.into_iter().find(|(is_asked, ..)| *is_asked) {
        return Err(refused(what, why));
    }
    if Format::of(args.format, Some(out)) == Format::Html {
        return mixed.written(out, args.force);
    }
    write_markdown(out, args, |folder| mixed.told(|told| foreign::markdown(told, folder)))?;
    eprintln!("report    {}", out.display());
    Ok(())
}

/// Writes the page of these runs, beside what they are held against, and says where it is.
pub(crate) fn write_page(
    records: &[&Record],
    against: Against<'_>,
    out: &Path,
    force: bool,
) -> Result<(), Failure> {
    let page = surfaces::html::render_against(records, against);
    outputs::write(out, Kind::Page, force, page.as_bytes())?;
    eprintln!("report    {}", out.display());
    Ok(())
}

fn write_markdown(
    out: &Path,
    args: &ReportArgs,
    render: impl FnOnce(&str) -> markdown::Report,
) -> Result<(usize, PathBuf), Failure> {
    let folder = chart_folder(out);
    let report = render(&name_of(&folder));
    outputs::write(out, Kind::Markdown, args.force, report.text.as_bytes())?;
    if !report.charts.is_empty() {
        make_folder(&folder)?;
    }
    report.charts.iter().try_for_each(|chart| write_chart(chart, &folder, args))?;
    Ok((report.charts.len(), folder))
}

fn write_chart(chart: &Chart, folder: &Path, args: &ReportArgs) -> Result<(), Failure> {
    let drawing = folder.join(format!("{}.svg", chart.name));
    Ok(outputs::write(&drawing, Kind::Chart, args.force, chart.svg.as_bytes())?)
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// `wiki/report-charts` for `wiki/report.md`.
fn chart_folder(out: &Path) -> PathBuf {
    let mut name = out.file_stem().unwrap_or(OsStr::new("report")).to_owned();
    name.push("-charts");
    out.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format_unless_an_argument_does() {
        let of = |asked, out: &str| Format::of(asked, Some(Path::new(out)));
        assert_eq!(
            (of(None, "a.md"), of(None, "a.html"), of(None, "a")),
            (Format::Markdown, Format::Html, Format::Html)
        );
        assert_eq!(
            (of(Some(Format::Markdown), "a.txt"), Format::of(None, None)),
            (Format::Markdown, Format::Html)
        );
    }

    #[test]
    fn charts_stand_beside_their_text() {
        assert_eq!(chart_folder(Path::new("wiki/report.md")), Path::new("wiki/report-charts"));
        assert_eq!(chart_folder(Path::new("a")), Path::new("a-charts"));
    }
}
