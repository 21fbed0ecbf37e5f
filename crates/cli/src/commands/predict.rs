//! `plimsoll predict`

use super::{plan, print, print_json};
use crate::args::{PredictArgs, WorkArgs};
use crate::failure::Failure;
use crate::{suite_and_targets, testbed};
use analysis::prediction::forecast::forecast;
use analysis::prediction::load::planned;
use catalogue::Cluster;
use clap::Parser;
use model::Plan;
use report::topics::prediction::{self as topic, Forecasts};
use std::process::ExitCode;

/// Predicts what a testbed carries of a suite.
pub fn predict(args: &PredictArgs) -> Result<ExitCode, Failure> {
    let cluster = testbed::read(&args.testbed, &[])?;
    let changed: Vec<Cluster> = args
        .what_ifs
        .iter()
        .map(|what_if| testbed::read(&args.testbed, &what_if.changes))
        .collect::<Result<_, _>>()?;
    let plan = planned_on(args)?;
    let found = planned(&plan);
    let forecasts = forecast(&cluster, &found.rows, &changed);
    let shown = Forecasts {
        testbed: &cluster.top.name.value,
        suite: &plan.suite,
        fitted_rows: cluster.fitted_rows.len(),
        forecasts: &forecasts,
        what_ifs: args.what_ifs.iter().map(|what_if| what_if.name.clone()).collect(),
        left_out: &found.left_out,
    };
    if args.json {
        print_json(&topic::forecasts_json(&shown))?;
    } else {
        print(&topic::forecasts_table(&shown))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The plan that a simulation of the testbed would have: its hosts, footprints and what is
/// outstanding. Nothing of it is carried out.
fn planned_on(args: &PredictArgs) -> Result<Plan, Failure> {
    let work = work(args)?;
    let asked = suite_and_targets::asked(&work)?;
    let started = plan::start(&work, &asked)?;
    Ok(plan::decide(&work, &asked, &started)?.0)
}

/// The arguments of that simulation.
fn work(args: &PredictArgs) -> Result<WorkArgs, Failure> {
    #[derive(Parser)]
    struct OnlyWork {
        #[command(flatten)]
        work: WorkArgs,
    }
    let mut line = vec!["plimsoll".to_owned(), format!("--simulate={}", args.testbed)];
    line.extend(args.hosts.map(|count| format!("--sim-hosts={count}")));
    line.extend(args.sets.iter().map(|set| {
        let (key, value) = set.parts();
        format!("--set={key}={value}")
    }));
    line.extend(args.scenarios.iter().map(|name| format!("--scenario={name}")));
    line.extend(["--".to_owned(), args.suite.clone()]);
    let read = OnlyWork::try_parse_from(line).map(|only| only.work);
    read.map_err(|error| Failure::Usage(error.to_string()))
}
