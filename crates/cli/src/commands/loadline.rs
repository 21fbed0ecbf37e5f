//! `plimsoll loadline`: a run whose points follow from each other, until the load line is found.

use super::plan;
use super::run::{asked_and_made, carried, exit, out_file, refuse_imagined, refuse_taken};
use crate::args::LoadlineArgs;
use crate::asked::suite_and_targets::Asked;
use crate::failure::{CONDITION_MET, Failure};
use crate::terminal::screen::{self, Stream};
use analysis::loadline::axis::along_line;
use analysis::loadline::load_line;
use analysis::loadline::map::{budget, load_map};
use form::nearest;
use model::plan::{Plan, Stage};
use model::search::{Search, SearchAxis};
use model::testbed::HostFacts;
use model::{Nanos, Record};
use report::topics;
use std::process::ExitCode;
use suite::Arrivals;

pub(crate) fn loadline(args: &mut LoadlineArgs) -> Result<ExitCode, Failure> {
    let (mut asked, _machines) = asked_and_made(&mut args.run)?;
    let args: &LoadlineArgs = args;
    choose(args, &mut asked)?;
    let started = plan::start(&args.run.work, &asked)?;
    let (mut plan, hosts) = plan::decide(&args.run.work, &asked, &started)?;
    refuse_imagined(&plan)?;
    refuse_taken(&args.run)?;
    let poisson = asked
        .spec
        .scenarios()
        .iter()
        .flat_map(|scenario| &scenario.points)
        .flat_map(|point| &point.workloads)
        .any(|w| w.arrivals.value == Arrivals::Poisson);
    // As the planner shrank it; a stage without a time is refused below.
    let stage = plan.measure_stage(0).and_then(|stage| plan.stages.get(stage as usize));
    let measure = stage
        .map(Stage::stop)
        .and_then(|stop| stop.steady().map(|steady| steady.least).or(stop.time()))
        .unwrap_or(asked.spec.first_scenario().stages.measure.value);
    plan.begin_search(Search {
        objective: args.objective.clone(),
        poisson,
        measure,
        along: args.along,
        grid: Vec::new(),
    })
    .map_err(Failure::usage)?;
    let out = out_file(&args.run, &plan);
    if !args.run.how.quiet {
        announce(args, &plan, &hosts, measure);
    }
    let (record, end) = carried(&args.run, started, &plan, &hosts, &out)?;
    // Requests that fail beyond the load line are what was looked for, and no exit code.
    exit(&record, end, &out)?;
    Ok(if is_found(&record) { ExitCode::SUCCESS } else { ExitCode::from(CONDITION_MET) })
}

fn announce(args: &LoadlineArgs, plan: &Plan, hosts: &[HostFacts], measure: Nanos) {
    eprintln!("{}", topics::plan::render_within(plan, hosts, screen::room_of(Stream::Error)));
    eprintln!(
        "searching for the {} at which {} holds: at most {} points, {measure} each",
        match args.along {
            SearchAxis::Rate => "highest rate".to_owned(),
            SearchAxis::Workers => "most workers".to_owned(),
            SearchAxis::Map => "pairs of rates".to_owned(),
            along => format!("largest {along}"),
        },
        args.objective,
        match args.along {
            SearchAxis::Map => budget(plan.search.as_ref().map_or(0, |one| one.grid.len())),
            _ => analysis::loadline::search::MOST_POINTS,
        }
    );
}

/// Whether the search came to an end that says where the load line is.
fn is_found(record: &Record) -> bool {
    let rows = analysis::results(record);
    match (along_line(record, &rows), load_map(record, &rows)) {
        (Some(line), _) => line.finished && line.answer.value.is_some(),
        (_, Some(map)) => map.finished && map.places.iter().any(|place| place.holds == Some(true)),
        _ => {
            load_line(record, &rows).is_some_and(|line| line.finished && line.answer.rate.is_some())
        }
    }
}

/// Leaves only the workload that was named.
fn choose(args: &LoadlineArgs, asked: &mut Asked) -> Result<(), Failure> {
    let Some(name) = &args.workload else { return Ok(()) };
    let points = || asked.spec.scenarios().iter().flat_map(|scenario| &scenario.points);
    let is_it = |point: &suite::PointSpec| {
        point.workloads.iter().any(|workload| workload.name.value == *name)
    };
    if !points().any(is_it) {
        let mut names: Vec<&str> = Vec::new();
        for workload in points().flat_map(|point| &point.workloads) {
            let name = workload.name.value.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let remedy = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", names.join(", ")),
        };
        return Err(Failure::usage(format!(
            "--workload {name}: the suite has no workload of this name; {remedy}"
        )));
    }
    asked.spec.retain_scenarios(|scenario| scenario.points.iter().any(is_it));
    asked.spec.scenarios_mut().iter_mut().for_each(|scenario| scenario.points.retain(is_it));
    Ok(())
}
