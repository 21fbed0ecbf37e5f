//! Runs a case on simulated targets, in this process and in virtual time: the path of a run from
//! the suite's text to the run file, without a command line.

use super::invariants::{Broken, Held, check, hold, is_sick};
use super::suites::Case;
use fleet::Fleet;
use model::testbed::HostFacts;
use model::{Event, Nanos, Plan, Record, RunEnd, Scale};
use std::path::Path;
use suite::Spec;
use suite::planner::{Request, plan};

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran, and every rule holds.
    Ran,
    /// It was refused, in words.
    Refused,
}

const VERSION: &str = "property";
/// Every how many cases are run a second time.
const TWICE: u64 = 8;

/// Runs a case, its run file in `folder`.
pub fn run(case: &Case, folder: &Path) -> Result<Outcome, Broken> {
    let path = folder.join(format!("{}.plimsoll", case.seed));
    let ended = keep(case, &path);
    let is_twice = ended == Ok(Outcome::Ran) && case.seed.is_multiple_of(TWICE);
    let ended = if is_twice { again(case, &path, folder).map(|()| Outcome::Ran) } else { ended };
    // If it is not there, nothing was recorded.
    let _ = std::fs::remove_file(&path);
    ended
}

/// Runs a case and keeps its run file.
pub fn keep(case: &Case, path: &Path) -> Result<Outcome, Broken> {
    let Some((plan, hosts, fleet)) = planned(case)? else { return Ok(Outcome::Refused) };
    let told = recorded(case, &plan, &hosts, fleet, path)?;
    as_told(&told, path)?;
    if is_given_up(case, &told) {
        return Ok(Outcome::Refused);
    }
    check(case, path)?;
    Ok(Outcome::Ran)
}

/// Whether a layout could not be written because requests are made to fail: then the run ends, and
/// says so.
fn is_given_up(case: &Case, record: &Record) -> bool {
    is_sick(case)
        && matches!(&record.end,
            Some((_, RunEnd::Failed(why))) if why
            .contains("prepare: requests to the target failed"))
}

// Errors are handed over as they come.
#[allow(clippy::needless_pass_by_value)]
fn broken(rule: &'static str, how: impl ToString) -> Broken {
    Broken { rule, how: how.to_string() }
}

/// The plan, the hosts and their agents; `None` where the suite is refused.
fn planned(case: &Case) -> Result<Option<(Plan, Vec<HostFacts>, Fleet)>, Broken> {
    let mut spec = match Spec::parse("any", &case.text(), &[]) {
        Ok(spec) => spec,
        Err(errors) => {
            let told = errors
                .problems
                .iter()
                .all(|problem| !problem.message.is_empty() && !problem.remedy.is_empty());
            return hold("a refusal has a remedy", told, || format!("{:?}", errors.problems))
                .map(|()| None);
        }
    };
    let targets = vec![vec![case.target.clone()]; case.hosts as usize];
    let everywhere = || {
        vec![suite::HostTargets {
            hosts: suite::ALL_HOSTS.to_owned(),
            paths: vec![case.target.clone()],
            owner: String::new(),
        }]
    };
    for scenario in spec.scenarios_mut() {
        scenario.own_targets = Some(everywhere());
    }
    let fleet = Fleet::simulated(VERSION, case.hosts);
    let told = fleet
        .inspect(&targets, Nanos::seconds(30))
        .map_err(|error| broken("hosts answer", error))?;
    let mut hosts: Vec<HostFacts> = told.into_iter().flatten().map(|told| told.facts).collect();
    // The same on every machine.
    hosts.iter_mut().for_each(|host| host.logical_cpus = 4);
    let request = Request {
        run_id: "any",
        spec: &spec,
        scale: Scale::FULL,
        existing: false,
        destroy_data: &[],
        hosts: &hosts,
    };
    match plan(&request) {
        Ok(plan) => Ok(Some((plan, hosts, fleet))),
        Err(refusals) => {
            let told = !refusals.is_empty()
                && refusals
                    .iter()
                    .all(|refusal| !refusal.message.is_empty() && !refusal.remedy.is_empty());
            let mut lines: Vec<String> = refusals.iter().map(ToString::to_string).collect();
            hold("a refusal has a remedy", told, || format!("{lines:?}"))?;
            let count = lines.len();
            lines.sort();
            lines.dedup();
            hold("a refusal comes once", lines.len() == count, || {
                format!("{count} lines: {lines:?}")
            })
            .map(|()| None)
        }
    }
}

/// Runs the plan into the run file; comes back with what its events say.
fn recorded(
    case: &Case,
    plan: &Plan,
    hosts: &[HostFacts],
    fleet: Fleet,
    path: &Path,
) -> Result<Record, Broken> {
    let mut told = Record::new(plan.clone(), hosts.to_vec(), VERSION.to_owned(), 1);
    let writer = store::Writer::create(path, plan, hosts, VERSION, 1);
    let mut writer = writer.map_err(|error| broken("the run file is written", error))?;
    let stages: Vec<u32> = (0..plan.stages.len() as u32).collect();
    let ending =
        fleet.run(plan, &stages, false, &analysis::steady::is_steady, &mut |events: &[Event]| {
            events.iter().cloned().for_each(|event| told.apply(event));
            writer.append_all(events).map_err(|error| error.to_string())
        });
    writer.finish().map_err(|error| broken("the run file is written", error))?;
    let ends = ending.end == RunEnd::Complete || is_given_up(case, &told);
    hold("ends complete", ends, || format!("{:?}", ending.end))?;
    hold("nothing is left", ending.left.is_empty(), || format!("{:?}", ending.left))?;
    Ok(told)
}

/// The run file holds what the events said.
fn as_told(told: &Record, path: &Path) -> Held {
    let mut told = told.clone();
    for stage in &mut told.stages {
        stage.samples_mut().sort_by_key(|sample| (sample.interval, sample.host));
        stage.starts.sort_by_key(|start| start.host);
    }
    let read = store::read(path).map_err(|error| broken("the run file is read", error))?;
    hold("the file holds the events", read.stages == told.stages, || {
        let differs = read.stages.iter().zip(&told.stages).find(|(read, told)| read != told);
        format!("stage {:?}", differs.map(|(read, _)| read.stage))
    })?;
    hold("the file holds the events", read == told, || "beside its stages".to_owned())
}

/// What a run did, without the times of this machine.
fn done(record: &Record) -> Vec<String> {
    let samples = record.samples();
    samples
        .map(|sample| {
            format!("{} {} {} {:?}", sample.stage, sample.host, sample.interval, sample.ops)
        })
        .collect()
}

/// In virtual time, the same plan gives the same run.
fn again(case: &Case, path: &Path, folder: &Path) -> Held {
    let Some((plan, hosts, fleet)) = planned(case)? else {
        return Err(broken("a plan follows from its suite", ""));
    };
    let second = folder.join(format!("{}-again.plimsoll", case.seed));
    let told = recorded(case, &plan, &hosts, fleet, &second);
    let _ = std::fs::remove_file(&second);
    let mut told = told?;
    told.stages
        .iter_mut()
        .for_each(|stage| stage.samples_mut().sort_by_key(|sample| (sample.interval, sample.host)));
    let first = store::read(path).map_err(|error| broken("the run file is read", error))?;
    let (one, other) = (done(&first), done(&told));
    let differs = one.iter().zip(&other).find(|(one, other)| one != other);
    hold("virtual time repeats", one == other, || {
        format!("{} and {} samples: {differs:?}", one.len(), other.len())
    })
}
