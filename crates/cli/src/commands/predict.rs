//! `plimsoll predict`

use super::answer;
use super::predicted_plan::{can_predict, planned_on};
use crate::args::PredictArgs;
use crate::asked::testbed;
use crate::failure::Failure;
use analysis::prediction::basis::basis;
use analysis::prediction::calibration::{Refusal, check_fitted};
use analysis::prediction::forecast::forecast;
use analysis::prediction::given_rate::at_rates;
use analysis::prediction::load::{Planned, planned};
use analysis::prediction::load_line::{Latency, latencies, load_lines};
use analysis::prediction::parameter::Values;
use catalogue::Cluster;
use catalogue::cluster::WhatIf;
use model::Objective;
use report::topics::prediction::{self as topic, Forecasts, Simulation};
use twin::cluster::{ClosedLoop, closed_loop};

/// Requests of each simulated row, at least.
const REQUESTS: u64 = 10_000;
/// What `--one-more` adds.
const ONE_MORE: [&str; 4] = ["nodes+1", "drives+1", "ports+1", "cores+4"];

pub(crate) fn predict(args: &PredictArgs) -> Result<(), Failure> {
    let cluster = testbed::read(&args.testbed, &[])?;
    check_fitted(&cluster).map_err(|why| contradicts(&args.testbed, &why))?;
    can_predict(&args.testbed, &cluster)?;
    let latencies = args.objective.as_ref().map(objective).transpose()?;
    let mut changed = Vec::new();
    for what_if in &args.what_ifs {
        let other = testbed::read(&args.testbed, &what_if.changes)?;
        changed.push(Changed { name: what_if.name.clone(), cluster: other });
    }
    if args.one_more {
        changed.extend(one_more(&args.testbed));
    }
    let plan = planned_on(args)?;
    let (found, paced) = planned(&plan);
    let names: Vec<String> = changed.iter().map(|one| one.name.clone()).collect();
    let clusters: Vec<Cluster> = changed.into_iter().map(|one| one.cluster).collect();
    let forecasts = forecast(&cluster, &found.rows, &clusters);
    let at_rates = at_rates(&cluster, &paced);
    let lines = latencies.map(|latencies| load_lines(&cluster, &found.rows, &latencies));
    let simulated: Option<Vec<_>> =
        args.simulate.then(|| found.rows.iter().map(|row| simulated(&cluster, row)).collect());
    let loads = found.rows.iter().map(|row| &row.load).chain(paced.iter().map(|one| &one.load));
    let shown = Forecasts {
        testbed: &cluster.top.name.value,
        suite: &plan.suite,
        fitted_rows: cluster.fitted_rows.len(),
        basis: basis(&cluster, loads),
        calibrate: calibrate_command(&args.testbed),
        forecasts: &forecasts,
        at_rates: &at_rates,
        what_ifs: names,
        objective: args.objective.as_ref().map(ToString::to_string),
        lines: lines.as_deref(),
        simulated: simulated.as_deref(),
        left_out: &found.left_out,
    };
    answer(args.json, || topic::forecasts_json(&shown), || topic::forecasts_table(&shown))
}

/// A fitted testbed whose rows would not be fitted: somebody changed it since.
fn contradicts(testbed: &str, why: &Refusal) -> Failure {
    Failure::usage(format!(
        "testbed {testbed}: what was fitted in it contradicts itself: {}; calibrate it \
         anew: `{}`",
        topic::refusal(why),
        calibrate_command(testbed)
    ))
}

struct Changed {
    name: String,
    cluster: Cluster,
}

fn one_more(wanted: &str) -> Vec<Changed> {
    let one = |name: &&str| {
        let what_if: WhatIf = name.parse().ok()?;
        let cluster = testbed::read(wanted, &what_if.changes).ok()?;
        Some(Changed { name: (*name).to_owned(), cluster })
    };
    ONE_MORE.iter().filter_map(one).collect()
}

fn objective(objective: &Objective) -> Result<Vec<Latency>, Failure> {
    latencies(objective).ok_or_else(|| {
        Failure::usage(format!(
            "--objective: `{objective}` is not predicted; write latencies of all requests, \
             such as \"p99 < 5ms\" or \"mean < 2ms\""
        ))
    })
}

/// What a simulation of the same parameters says of a load.
fn simulated(cluster: &Cluster, row: &Planned) -> Result<Simulation, String> {
    let (load, workload) = (&row.load, &row.load.workload);
    let truth = Values::of(cluster).put(cluster);
    let closed = ClosedLoop {
        read_bytes: workload.read_bytes.round() as u32,
        write_bytes: workload.write_bytes.round() as u32,
        read: workload.read,
        random: workload.random,
        footprint: workload.footprint,
        popularity: workload.popularity.clone(),
        hosts: load.hosts,
        outstanding: load.outstanding,
        depth: load.depth,
        remote: load.remote,
        object: load.object,
        route: load.route,
    };
    closed_loop(&truth, &closed, REQUESTS, 1)
        .map(|found| Simulation { rate: found.rate, busy: found.busy })
}

fn calibrate_command(testbed: &str) -> String {
    if testbed::built_in(testbed).is_some() {
        format!("plimsoll calibrate {testbed} --against {testbed} -o fitted.toml")
    } else {
        format!("plimsoll calibrate {testbed} RUN.plimsoll -o fitted.toml")
    }
}
