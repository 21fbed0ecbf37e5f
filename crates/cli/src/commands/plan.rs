//! `plimsoll plan`, and what `run` needs of it.

use super::{answer, vms};
use crate::args::{PlanArgs, WorkArgs};
use crate::asked::quotable;
use crate::asked::simulate::Simulation;
use crate::asked::suite_and_targets::{self, Asked};
use crate::failure::Failure;
use crate::files::run_file_disk;
use crate::hosts::{self, Hosts, Terms};
use crate::signals::Work;
use crate::terminal::screen;
use crate::told;
use form::Override;
use model::machines::ProviderKind;
use model::plan::{Origin, PlanNote};
use model::testbed::{DirectoryState, HostFacts, TargetKind};
use model::{Fact, Fraction, Plan, printable};
use report::topics;
use std::hash::{BuildHasher, Hasher, RandomState};
use suite::planner::{self, GivenUp, Refusal, Request};
use suite::{Spec, VmsSpec};

pub(crate) fn plan(args: &PlanArgs) -> Result<(), Failure> {
    let asked = suite_and_targets::asked(&args.work)?;
    if let Some(of) = args.work.machines.provider {
        reached_by_name(&asked.spec.vms, of, &args.work.sets)?;
        let planned = vms::planned(&asked.spec, of, args.work.machines.boots(), args.work.scale)?;
        return answer(args.json, || planned.json(), || planned.text());
    }
    let hosts = start_with_late(&args.work, &asked)?;
    let (plan, hosts) = decide_to_run(&args.work, &asked, &hosts)?;
    tell_of_earlier(&hosts);
    let words = || topics::plan::render_within(&plan, &hosts, screen::room());
    answer(args.json, || topics::plan::object(&plan, &hosts), words)
}

/// As many directories are told of.
const MOST_TOLD: usize = 3;

/// Says what of an earlier run is written over: one that was killed, or kept its data, may have
/// been meant for `verify`.
pub(super) fn tell_of_earlier(hosts: &[HostFacts]) {
    let all = hosts.iter().flat_map(|host| &host.targets);
    let earlier = all.filter_map(|target| match &target.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used, run }, .. } => {
            (used.0 > 0).then_some((&target.path, used, run))
        }
        _ => None,
    });
    // Hosts may have a folder each below one path.
    let mut told: Vec<&str> = Vec::new();
    for (path, used, run) in earlier {
        if told.len() == MOST_TOLD || told.contains(&path.as_str()) {
            continue;
        }
        told.push(path);
        // A marker may be anybody's.
        let run = if run.is_empty() { "an earlier run" } else { &*printable::line(run) };
        eprintln!(
            "note: {path} has {used} of {run}. A new run writes over them, and removes them \
             unless it has --keep-data"
        );
    }
}

/// Refuses to ask nodes or hypervisors that the suite alone names: a plan touches nothing, and a
/// suite may be anybody's.
fn reached_by_name(vms: &VmsSpec, of: ProviderKind, sets: &[Override]) -> Result<(), Failure> {
    let is_here = of == ProviderKind::Qemu || vms.connect.value.starts_with("qemu:///");
    let reached = [
        ("vms.nodes", vms.nodes.value.clone()),
        ("vms.place", vms.place.value.0.join(",")),
        ("vms.launcher", vms.launcher.value.clone()),
        ("vms.connect", if is_here { String::new() } else { vms.connect.value.clone() }),
    ];
    let is_set = |key: &str| sets.iter().any(|set| set.parts().0.trim() == key);
    match reached.iter().find(|(key, value)| !value.trim().is_empty() && !is_set(key)) {
        None => Ok(()),
        Some((key, value)) => Err(Failure::usage(format!(
            "only the suite names {key} ({value}), and a plan asks nobody that the command \
             line does not name; look at it, then name it with --set {key}=…"
        ))),
    }
}

pub(crate) fn start(work: &WorkArgs, asked: &Asked) -> Result<Hosts, Failure> {
    hosts::start(Work::Run, &work.hosts, &|names| asked.targets_of(names), asks(asked))
}

/// The same; where the suite has points between which absent hosts may join, they keep their share.
pub(crate) fn start_with_late(work: &WorkArgs, asked: &Asked) -> Result<Hosts, Failure> {
    let mut asks = asks(asked);
    if planner::may_join(&asked.spec) {
        asks.terms = asks.terms.with_late_joiners();
    }
    hosts::start(Work::Run, &work.hosts, &|names| asked.targets_of(names), asks)
}

pub(crate) fn asks(asked: &Asked) -> hosts::Asked {
    let patience = asked.spec.first_scenario().engine.patience.value;
    hosts::Asked { terms: Terms::of(&asked.spec.fleet), patience }
}

/// The plan of a run as it is shown and carried out: with `--quotable`, its layout may be larger.
pub(crate) fn decide_to_run(
    work: &WorkArgs,
    asked: &Asked,
    started: &Hosts,
) -> Result<(Plan, Vec<HostFacts>), Failure> {
    let (plan, hosts) = decide(work, asked, started)?;
    let larger = work.quotable.then(|| quotable::larger(&asked.spec, &plan, &hosts)).flatten();
    let Some(size) = larger else { return Ok((plan, hosts)) };
    let mut larger = suite_and_targets::asked_with(work, &[size])?;
    larger.run_file_in.clone_from(&asked.run_file_in);
    decide(work, &larger, started)
}

/// Decides everything; touches nothing. Hosts that could not be reached are left out, of the suite
/// too.
pub(crate) fn decide(
    work: &WorkArgs,
    asked: &Asked,
    started: &Hosts,
) -> Result<(Plan, Vec<HostFacts>), Failure> {
    decide_as(&run_id(&asked.spec.suite.name.value), work, asked, started)
}

/// The same for a run of this name: its layout may stand since an earlier part of it.
pub(crate) fn decide_as(
    run_id: &str,
    work: &WorkArgs,
    asked: &Asked,
    started: &Hosts,
) -> Result<(Plan, Vec<HostFacts>), Failure> {
    let known = hosts::facts_of(started, hosts::may_be_one(&work.hosts))?;
    let mut hosts = started.to_plan_for(&known);
    if !work.hosts.are_named() {
        run_file_disk::lay_beside(&mut hosts, &asked.run_file_in);
    }
    let absent: Vec<String> =
        started.absent.iter().flat_map(|absent| absent.hosts.clone()).collect();
    let mut spec = asked.spec.clone();
    // A workload that nobody could begin with is refused, whoever may join.
    planner::without_hosts(&mut spec, &absent).map_err(|refusals| Failure::refused(&refusals))?;
    if !started.presumed.is_empty() {
        spec.clone_from(&asked.spec);
    }
    let asked_for = Planning { run_id, work, asked, spec: &spec, refused: &Failure::refused };
    let mut plan = asked_for.plan(&mut hosts, &started.targets)?;
    started.last_long_enough(&plan)?;
    let works = plan.stages.iter().flat_map(|stage| &stage.works);
    works.filter_map(|work| work.command.as_ref()).try_for_each(|one| told::check(&one.result))?;
    // A share of those that were asked for: who is absent is no reason to do with fewer.
    plan.fleet.quorum = planner::quorum(&spec, started.asked() as u64);
    plan.notes.extend(started.notes().map(|fact| PlanNote { fact: Fact::Hosts(fact) }));
    let imported = asked.imported.iter().cloned();
    plan.notes.extend(imported.map(|imported| PlanNote { fact: Fact::Imported(imported) }));
    plan.hosts_from = work.hosts.options();
    plan.origin = Origin::new(work.words.clone(), asked.text.clone(), asked.is_file);
    // What was presumed is no fact: on record, nothing is known of who is not there.
    for (number, _) in &started.presumed {
        hosts[*number].clone_from(&known[*number]);
    }
    Ok((plan, hosts))
}

pub(crate) struct Planning<'a> {
    pub(crate) run_id: &'a str,
    pub(crate) work: &'a WorkArgs,
    pub(crate) asked: &'a Asked,
    pub(crate) spec: &'a Spec,
    pub(crate) refused: &'a dyn Fn(&[Refusal]) -> Failure,
}

impl Planning<'_> {
    /// The plan for `hosts` and their targets. Simulated hosts become what they are simulated as.
    pub(crate) fn plan(
        &self,
        hosts: &mut [HostFacts],
        targets: &[Vec<String>],
    ) -> Result<Plan, Failure> {
        let Planning { work, asked, .. } = *self;
        let given_up: Vec<GivenUp> = work
            .destroy_data
            .iter()
            .flat_map(|given| given.0.clone())
            .chain(asked.own_disks())
            .collect();
        let simulation = Simulation::of(&work.hosts, targets)?;
        if let Some(simulation) = &simulation {
            simulation.describe(hosts);
        }
        let request = Request {
            run_id: self.run_id,
            spec: self.spec,
            scale: work.scale.unwrap_or_default().or(Fraction::ONE),
            existing: work.existing,
            destroy_data: &given_up,
            hosts,
        };
        let planned = |request: &Request<'_>| {
            planner::plan(request).map_err(|refusals| (self.refused)(&refusals))
        };
        let mut plan = planned(&request)?;
        if let Some(simulation) = &simulation {
            let full = plan;
            plan = planned(&Request { scale: simulation.scale(work, &full), ..request })?;
            simulation.notes(work, &asked.left_out, &full, &mut plan);
        }
        Ok(plan)
    }
}

/// A name that no other run has: the suite, the time, and a few random digits.
pub(crate) fn run_id(suite: &str) -> String {
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    // The standard library seeds this from the system's random numbers; a run's name needs no
    // better ones.
    let chance = RandomState::new().build_hasher().finish() & 0xff_ffff;
    format!("{}-{now}-{chance:06x}", file_name(suite))
}

pub(crate) fn file_name(suite: &str) -> String {
    let plain = |c: char| match c {
        '-' | '_' => c,
        '×' => 'x',
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    suite.chars().map(plain).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_suites_cannot_leave_the_directory() {
        assert_eq!(file_name("../../etc/passwd"), "------etc-passwd");
        assert_eq!(file_name("randread 4k QD32×1"), "randread-4k-QD32x1");
        assert_ne!(run_id("a"), run_id("a"));
    }
}
