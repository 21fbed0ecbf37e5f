//! `plimsoll calibrate`

use super::answer;
use super::predicted_plan::can_predict;
use super::saved::read_digests;
use crate::args::CalibrateArgs;
use crate::asked::{published, testbed};
use crate::failure::Failure;
use crate::files::outputs::{self, Kind};
use crate::terminal::run_names::{paths_of, same_run_twice};
use analysis::prediction::calibration::calibrate as fit;
use analysis::prediction::choice::{Chosen, one_cluster, part};
use analysis::prediction::follow::follow;
use analysis::prediction::load::{self, Derived, LeftOut, Measured, Reported};
use catalogue::Cluster;
use catalogue::cluster::{FittedRow, with_fitted};
use model::Record;
use report::topics::prediction::{self as topic, Calibrated};
use std::path::{Path, PathBuf};

struct Source {
    name: String,
    rows: Vec<Measured>,
    meant: Vec<bool>,
    left_out: Vec<(String, LeftOut)>,
    derived: Vec<Derived>,
}

/// Fits a testbed to measured rows, and shows what came of it.
pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<(), Failure> {
    let text = testbed::text(&args.testbed)?;
    let mut cluster = testbed::parsed(&args.testbed, &text, &[])?;
    if !cluster.fitted_rows.is_empty() {
        return Err(Failure::usage(
            "the testbed is fitted already; calibrate the one that it was made from, with all runs",
        ));
    }
    keeps_inputs(args)?;
    can_predict(&args.testbed, &cluster)?;
    let source = match &args.against {
        Some(wanted) => of_report(wanted, &cluster)?,
        None => of_runs(args, &mut cluster)?,
    };
    if source.rows.is_empty() {
        return Err(Failure::usage(topic::no_rows(&source.name, &source.left_out)));
    }
    let chosen = |texts: &[String]| -> Vec<Chosen> {
        // Every text is a choice.
        texts.iter().filter_map(|text| text.parse().ok()).collect()
    };
    let parted = part(&source.rows, &source.meant, &chosen(&args.fit), &chosen(&args.hold))
        .map_err(|why| {
            let given = [args.fit.as_slice(), args.hold.as_slice()].concat();
            Failure::usage(topic::not_parted(&why, &given, &source.rows))
        })?;
    let calibration = fit(&cluster, &parted.fit, &parted.held_out)
        .map_err(|why| Failure::usage(topic::refusal(&why)))?;
    let followed = follow(&cluster, &calibration, &source.derived);
    let calibrated = Calibrated {
        testbed: &cluster.top.name.value,
        source: source.name,
        calibration: &calibration,
        followed: &followed,
        left_out: &source.left_out,
    };
    if let Some(out) = &args.out {
        let rows: Vec<FittedRow> = parted.fit.iter().map(FittedRow::from).collect();
        let fitted = with_fitted(&text, &calibration.written(), &rows);
        outputs::write(out, Kind::Unmarked, args.force, fitted.as_bytes())?;
        eprintln!("testbed   {}", out.display());
    }
    answer(
        args.json,
        || topic::calibration_json(&calibrated),
        || topic::calibration_table(&calibrated),
    )
}

/// What is read is never written over: neither a run nor the testbed that it calibrates.
fn keeps_inputs(args: &CalibrateArgs) -> Result<(), Failure> {
    let Some(out) = &args.out else { return Ok(()) };
    let Ok(there) = out.canonicalize() else { return Ok(()) };
    let testbed = Path::new(&args.testbed);
    let inputs = args.runs.iter().map(PathBuf::as_path).chain([testbed]);
    let is_there = |input: &Path| input.canonicalize().is_ok_and(|input| input == there);
    match inputs.into_iter().find(|input| is_there(input)) {
        None => Ok(()),
        Some(input) => Err(Failure::usage(format!(
            "--out {} is what is read, {}; give the fitted testbed another name",
            out.display(),
            input.display()
        ))),
    }
}

fn of_report(wanted: &str, cluster: &Cluster) -> Result<Source, Failure> {
    let (figures, _) = published::read(wanted)?;
    let (name, testbed) = (&figures.report.name.value, &cluster.top.name.value);
    if name != testbed {
        return Err(Failure::usage(format!(
            "the figures of {name} are of another cluster than {testbed}; calibrate {name}, or \
             give the testbed that name"
        )));
    }
    let Reported { rates: found, derived } = load::published(&figures);
    Ok(Source {
        name: figures.report.source.value.clone(),
        meant: found.rows.iter().map(|row| row.calibrates).collect(),
        rows: found.rows.into_iter().map(|row| row.row).collect(),
        left_out: found.left_out,
        derived,
    })
}

fn of_runs(args: &CalibrateArgs, cluster: &mut Cluster) -> Result<Source, Failure> {
    let records: Vec<Record> =
        args.runs.iter().map(|run| read_digests(run)).collect::<Result<_, _>>()?;
    let ids: Vec<&str> = records.iter().map(|record| record.plan.run_id.as_str()).collect();
    let files = paths_of(&args.runs);
    same_run_twice(&ids, &files)?;
    testbed::find_files(cluster, &args.testbed, &records);
    one_cluster(cluster, &records).map_err(|why| {
        Failure::usage(topic::other_cluster(&why, &cluster.top.name.value, &files))
    })?;
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for record in &records {
        let found = load::measured(record, &analysis::results(record));
        for row in found.rows {
            rows.push(Measured { number: rows.len() + 1, ..row });
        }
        left_out.extend(found.left_out);
    }
    let meant = vec![false; rows.len()];
    Ok(Source { name: files.join(", "), rows, meant, left_out, derived: Vec::new() })
}
