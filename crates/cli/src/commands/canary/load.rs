//! What a canary is asked to do, checked before anything is touched.

use super::alarm;
use crate::args::CanaryArgs;
use crate::asked::suite_and_targets::{self, Asked};
use crate::commands::within;
use crate::failure::Failure;
use analysis::canary::{GuardTerms, Judge};
use analysis::loadline::load_line;
use form::{Auto, Override};
use model::canary::Terms;
use model::load::{Pace, Rate};
use model::offered::Offered;
use model::plan::Stage;
use model::{Nanos, Objective, Plan, StageKind};
use std::path::PathBuf;

const DAY: u64 = 24 * 3600;
const MINUTE: u64 = 60_000_000_000;

pub(crate) struct Wanted {
    pub(crate) dir: PathBuf,
    /// The suite with the canary's times and rate.
    pub(crate) asked: Asked,
    pub(crate) objective: Objective,
    pub(crate) judge: Judge,
    pub(crate) guard: GuardTerms,
}

pub(crate) fn wanted(args: &CanaryArgs) -> Result<Wanted, Failure> {
    let Some(dir) = args.dir.clone() else {
        return Err(Failure::usage(
            "there is no --dir; name the folder where the canary keeps what it sees",
        ));
    };
    let Some(objective) = args.slo.objective.clone() else {
        return Err(Failure::usage(
            "there is no --objective; say what requests have to keep to, such as --objective \
             \"p99.9 < 5ms\"",
        ));
    };
    let judge = Judge::new(&objective, args.slo.slo)
        .map_err(|why| Failure::usage(format!("--objective {objective}: {why}")))?;
    let seconds = Nanos::seconds;
    within("--segment", args.load.segment, seconds(1), seconds(DAY))?;
    within("--window", args.slo.window, seconds(3600), seconds(90 * DAY))?;
    within("--over", args.guard.over, seconds(60), seconds(3600))?;
    within("--keep", args.output.keep, Nanos(0), seconds(3650 * DAY))?;
    if let Some(path) = &args.output.textfile {
        alarm::check_textfile(path)?;
    }
    if args.work.quick.runtime.is_some() || args.work.quick.ramp.is_some() {
        return Err(Failure::usage("a canary has no --runtime and no --ramp; write --segment"));
    }
    let set = |text: String| {
        text.parse::<Override>().map_err(|error| Failure::usage(format!("--set {text}: {error}")))
    };
    let measure = set(format!("stages.measure={}ms", args.load.segment.0 / 1_000_000))?;
    // Each segment is a part of one long load: none warms up by itself.
    let changed = [measure, set("stages.precondition=0s".to_owned())?];
    let mut asked = suite_and_targets::asked_with(&args.work, &changed)?;
    if !is_target_given(args, &asked) {
        return Err(Failure::usage("there is no --target; a canary loads none that nobody named"));
    }
    if let Some(rate) = share(args)? {
        at(&mut asked, rate)?;
    }
    let over = usize::try_from(args.guard.over.0.div_ceil(MINUTE)).unwrap_or(1);
    let guard = GuardTerms { times: args.guard.slower, over };
    if args.load.segment.0 < (over as u64 + 2) * MINUTE {
        eprintln!(
            "note: segments of {} are too short to tell whether others suffer; that takes {}",
            args.load.segment,
            Nanos((over as u64 + 2) * MINUTE)
        );
    }
    Ok(Wanted { dir, asked, objective, judge, guard })
}

/// Whether somebody named a target: a run has one by default, which is nothing for weeks.
fn is_target_given(args: &CanaryArgs, asked: &Asked) -> bool {
    let work = &args.work;
    let is_path = work.quick.rw.is_some() && !work.what.is_empty();
    let spec = &asked.spec;
    let is_typed = !work.targets.is_empty()
        || !work.destroy_data.is_empty()
        || work.hosts.simulate.is_some()
        || is_path;
    is_typed
        || (!spec.has_named_scenarios() && !spec.targets.is_empty())
        || spec.scenarios().iter().all(|scenario| scenario.own_targets.is_some())
}

/// The rate that `--share` asks for.
fn share(args: &CanaryArgs) -> Result<Option<Rate>, Failure> {
    let (Some(share), Some(run)) = (args.load.share, &args.load.of) else { return Ok(None) };
    if args.work.quick.rate.is_some() {
        return Err(Failure::usage("--rate and --share both name a rate; leave one out"));
    }
    let record = store::read_judged(run)
        .map_err(|error| Failure::run_file(format!("--of {}: {error}", run.display())))?;
    let line = load_line(&record, &analysis::results(&record));
    let found = line.filter(|line| line.finished).and_then(|line| line.answer.rate);
    let Some(rate) = found else {
        return Err(Failure::usage(format!(
            "--of {}: has no load line; name the run file of a complete `plimsoll loadline` along \
             the rate",
            run.display()
        )));
    };
    let milli = (rate * 1e3 * f64::from(share.ppm) / 1e6).floor() as u64;
    if milli == 0 {
        return Err(Failure::usage(format!(
            "--share {share} of {rate} requests per second is none; write a larger share"
        )));
    }
    Ok(Some(Rate::Iops { milli }))
}

/// Has the only workload load at this rate.
fn at(asked: &mut Asked, rate: Rate) -> Result<(), Failure> {
    let scenarios = asked.spec.scenarios_mut().iter_mut();
    let points = scenarios.flat_map(|scenario| &mut scenario.points);
    let mut workloads: Vec<_> = points.flat_map(|point| &mut point.workloads).collect();
    let [only] = workloads.as_mut_slice() else {
        return Err(Failure::usage(format!(
            "--share needs a suite with one workload, and this one has {}; name another suite, or \
             write --rw",
            workloads.len()
        )));
    };
    only.rate.value = Auto::Fixed(Offered::Fixed(rate));
    Ok(())
}

pub(crate) fn terms(wanted: &Wanted, plan: &Plan, window: Nanos) -> Result<Terms, Failure> {
    let (_, stage) = measured(plan)?;
    let mut rate_milli = 0u64;
    for work in &stage.works {
        match &work.pace {
            Pace::Open { rate: Rate::Iops { milli }, .. } => {
                rate_milli = rate_milli.saturating_add(*milli);
            }
            Pace::Open { .. } => {
                return Err(Failure::usage(format!(
                    "workload {} has a bandwidth as its rate; write requests per second, such as \
                     --rate 50",
                    work.workload
                )));
            }
            Pace::Changing { .. } => {
                return Err(Failure::usage(format!(
                    "workload {} has a rate that changes, and a canary compares hours with each \
                     other; write one rate, such as --rate 50",
                    work.workload
                )));
            }
            Pace::Closed { .. } => {
                return Err(Failure::usage(format!(
                    "workload {} has no rate, and a canary never loads as fast as it can; write \
                     --rate 50 with --rw, --set workload.{}.rate=50 with a suite, or --share 1%",
                    work.workload, work.workload
                )));
            }
        }
    }
    if plan.interval.0 > MINUTE {
        return Err(Failure::usage(format!(
            "an interval of {} is longer than a minute",
            plan.interval
        )));
    }
    if plan.hosts.iter().any(|host| host.engine.contents.verify || !host.parts.is_empty()) {
        return Err(Failure::usage(
            "a canary writes its layout once and reuses it, which checked contents and several \
             scenarios do not allow; leave out --verify, or name one --scenario",
        ));
    }
    let targets = plan.hosts.iter().flat_map(|host| {
        host.targets.iter().map(|target| (host.hostname.clone(), target.path.clone()))
    });
    Ok(Terms {
        suite: plan.suite.clone(),
        rate_milli,
        targets: targets.collect(),
        objective: wanted.objective.clone(),
        target_ppm: wanted.judge.target_ppm(),
        window,
    })
}

pub(crate) fn measured(plan: &Plan) -> Result<(u32, &Stage), Failure> {
    let mut all = (0..).zip(&plan.stages).filter(|(_, stage)| stage.kind == StageKind::Measure);
    match (all.next(), all.count()) {
        (Some(one), 0) => Ok(one),
        (_, more) => Err(Failure::usage(format!(
            "the suite measures {} points, one after the other, and a canary has one; name a suite \
             of one workload, or write --rw",
            more + 1
        ))),
    }
}

/// In what two canaries differ, as words; `None` where they do the same.
pub(crate) fn difference(kept: &Terms, asked: &Terms) -> Option<String> {
    let targets = |terms: &Terms| {
        let all = terms.targets.iter().map(|(host, path)| format!("{host}:{path}"));
        all.collect::<Vec<_>>().join(", ")
    };
    let rows = [
        ("suite", kept.suite.clone(), asked.suite.clone()),
        (
            "rate",
            (kept.rate_milli as f64 / 1e3).to_string(),
            (asked.rate_milli as f64 / 1e3).to_string(),
        ),
        ("targets", targets(kept), targets(asked)),
        ("objective", kept.objective.to_string(), asked.objective.to_string()),
        (
            "SLO",
            model::Percent { ppm: kept.target_ppm }.to_string(),
            model::Percent { ppm: asked.target_ppm }.to_string(),
        ),
        ("window", kept.window.to_string(), asked.window.to_string()),
    ];
    let differs = rows.iter().find(|(_, kept, asked)| kept != asked)?;
    Some(format!("its {} is {}, and {} was asked for", differs.0, differs.1, differs.2))
}
