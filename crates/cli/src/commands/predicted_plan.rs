//! The plan whose loads are predicted: that of a simulation, of which nothing is carried out.

use super::plan::Planning;
use crate::args::{HostArgs, PredictArgs, WorkArgs};
use crate::asked::simulate;
use crate::asked::suite_and_targets::{self, Asked};
use crate::failure::Failure;
use catalogue::Cluster;
use clap::Parser;
use fleet::Fleet;
use model::Plan;
use model::inventory::Inventory;
use model::testbed::{HostFacts, SIMULATED_CLUSTER, TargetFacts, TargetKind};
use std::collections::BTreeMap;
use suite::planner::{Refusal, TooSmall};
use twin::ClusterSpec;

/// Refuses what cannot be simulated before anything is planned or fitted: a prediction is of the
/// load that a simulation would have.
pub(crate) fn can_predict(testbed: &str, cluster: &Cluster) -> Result<(), Failure> {
    let simulated = ClusterSpec::parse("cluster=predicted,volume=1MiB")
        .and_then(|spec| twin::Cluster::new(cluster, &spec, 1));
    simulated.map(|_| ()).map_err(|why| {
        Failure::usage(format!(
            "testbed {testbed}: no prediction would take it: {why}; if the targets lie on a \
             drive with role = \"boot\", it is \"capacity\""
        ))
    })
}

/// The plan that a simulation of the testbed would have: its hosts, footprints and what is
/// outstanding.
pub(crate) fn planned_on(args: &PredictArgs) -> Result<Plan, Failure> {
    let work = work(args)?;
    let target = format!("{SIMULATED_CLUSTER}{}", args.testbed);
    if let TargetKind::Unreadable(why) = engine::simulated(&target).kind {
        return Err(Failure::usage(format!(
            "testbed {}: a prediction is of the load that a simulation would have, and \
             {why}",
            args.testbed
        )));
    }
    let asked = suite_and_targets::asked(&work)?;
    let (mut hosts, targets) = hosts(&work.hosts, &asked)?;
    let count = hosts.len();
    let refused = |refusals: &[Refusal]| refused(&args.testbed, count, refusals);
    Planning {
        run_id: "predicted",
        work: &work,
        asked: &asked,
        spec: &asked.spec,
        refused: &refused,
    }
    .plan(&mut hosts, &targets)
}

/// The hosts of that simulation with their targets. No agent is asked: all hosts see the same
/// cluster, so one look at it is enough for thousands of them.
fn hosts(args: &HostArgs, asked: &Asked) -> Result<(Vec<HostFacts>, Vec<Vec<String>>), Failure> {
    let first = asked.targets_of(&[Fleet::simulated_name(1)])?;
    let names: Vec<String> =
        (1..=simulate::hosts(args, &first.concat())?).map(Fleet::simulated_name).collect();
    let targets = asked.targets_of(&names)?;
    let here = probe::Looker::new().host("", Inventory::default(), Vec::new());
    let mut known: BTreeMap<&str, TargetFacts> = BTreeMap::new();
    for path in targets.iter().flatten() {
        known.entry(path).or_insert_with(|| engine::simulated(path));
    }
    let host = |(name, paths): (&String, &Vec<String>)| HostFacts {
        hostname: name.clone(),
        targets: paths.iter().filter_map(|path| known.get(path.as_str()).cloned()).collect(),
        ..here.clone()
    };
    let hosts = names.iter().zip(&targets).map(host).collect();
    Ok((hosts, targets))
}

/// Why nothing is predicted. Whoever predicts has named no host and no target, so what does not fit
/// is said once, of the testbed.
fn refused(testbed: &str, hosts: usize, refusals: &[Refusal]) -> Failure {
    let others: Vec<Refusal> =
        refusals.iter().filter(|refusal| refusal.too_small.is_none()).cloned().collect();
    let most = refusals.iter().filter_map(|refusal| refusal.too_small).max_by_key(|one| one.wanted);
    match most {
        Some(TooSmall { has, wanted }) if others.is_empty() => Failure::usage(format!(
            "the suite does not fit on testbed {testbed}: each of {} would load {wanted}, \
             and has {has}; write more or larger nodes.drives, or load less, such as --set \
             layout.size=SIZE",
            report::ground::words::counted(hosts as u64, "host")
        )),
        _ => Failure::refused(&others),
    }
}

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
