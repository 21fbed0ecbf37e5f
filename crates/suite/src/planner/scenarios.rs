//! The plan of a suite with scenarios: each is planned by itself, and the plans are
//! joined.

mod join;

use super::{Refusal, Request, disks, placement, plan_alone, room, trees};
use crate::{Order, Scenario};
use model::event::NoteKind;
use model::plan::{HostPlan, HostStage, Part, Plan, PlannedTarget, Target};
use model::testbed::{HostFacts, TargetFacts};
use model::units::Bytes;

/// Decides everything for all scenarios.
pub(super) fn plan(request: &Request<'_>) -> Result<Plan, Vec<Refusal>> {
    let (mut plans, mut refusals) = (Vec::new(), Vec::new());
    for scenario in request.spec.scenarios() {
        let name = scenario.name.as_deref().unwrap_or_default();
        let planned =
            hosts_of(request, scenario).and_then(|hosts| plan_alone(&request.of(scenario, &hosts)));
        match planned {
            Ok(plan) => plans.push((name, plan)),
            Err(found) => refusals.extend(found.into_iter().map(|refusal| Refusal {
                message: format!("scenario {name}: {}", refusal.message),
                ..refusal
            })),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    of_one_kind(&plans)?;
    if let Some((name, plan)) = plans.iter().find(|(_, plan)| plan.grows()) {
        let why = if plan.rounds.most > 0 {
            "its rounds go on until they are steady"
        } else {
            "a rate is a share of what is measured first"
        };
        return Err(vec![Refusal::usage(
            format!("scenario {name}: {why}"),
            "write what is known before the run, or run the scenario alone in a suite of its own",
        )]);
    }
    let plan = join::join(plans, request.spec.order == Order::Interleaved);
    let plan = plan.ok_or_else(|| vec![Refusal::usage("no scenario is left", "name one")])?;
    let is_imagined = plan.notes.iter().any(|note| note.kind() == NoteKind::ClientsImagined);
    refusals.extend(twice_at_once(&plan));
    refusals.extend(disks::shared(&plan.hosts, request.hosts));
    if !is_imagined {
        refusals.extend(
            plan.hosts
                .iter()
                .zip(request.hosts)
                .flat_map(|(host, facts)| space(request, host, facts)),
        );
    }
    if refusals.is_empty() { Ok(plan) } else { Err(refusals) }
}

/// The hosts with those of their targets that a scenario loads.
fn hosts_of(request: &Request<'_>, scenario: &Scenario) -> Result<Vec<HostFacts>, Vec<Refusal>> {
    let names: Vec<String> = request.hosts.iter().map(|host| host.hostname.clone()).collect();
    let targets = request.spec.targets_of(scenario);
    // Without any said, all targets are everybody's.
    let wanted = match targets.is_empty() {
        true => None,
        false => Some(placement::targets_of(&request.spec.labels, targets, &names)?),
    };
    let own = |(number, facts): (usize, &HostFacts)| {
        let mut facts = facts.clone();
        if let Some(paths) = wanted.as_ref().and_then(|all| all.get(number)) {
            let of_path =
                |path: &String| facts.targets.iter().find(|target| target.path == *path).cloned();
            facts.targets = paths.iter().filter_map(of_path).collect::<Vec<TargetFacts>>();
        }
        facts
    };
    Ok(request.hosts.iter().enumerate().map(own).collect())
}

/// Whether figures of all scenarios are figures of the same kind.
fn of_one_kind(plans: &[(&str, Plan)]) -> Result<(), Vec<Refusal>> {
    let is_simulated = |plan: &Plan| {
        plan.hosts
            .iter()
            .flat_map(|host| &host.targets)
            .any(|target| target.kind == PlannedTarget::Simulated)
    };
    let sends_nothing = |plan: &Plan| plan.backend.sends_nothing();
    let odd_one = |is: &dyn Fn(&Plan) -> bool| {
        let first = plans.first().is_some_and(|(_, plan)| is(plan));
        plans.iter().find(|(_, plan)| is(plan) != first).map(|(name, _)| *name)
    };
    let refuse = |name: &str, what: &str, remedy: &str| {
        Err(vec![Refusal::usage(format!("scenario {name}: {what}"), remedy)])
    };
    if let Some(name) = odd_one(&is_simulated) {
        let what = "real and simulated targets cannot be compared in one run: their times differ";
        return refuse(name, what, "name either real targets or `sim:` ones in all scenarios");
    }
    if let Some(name) = odd_one(&sends_nothing) {
        let what = "its backend and that of the first scenario differ in whether anything is sent \
                    to the targets";
        return refuse(name, what, "give all scenarios a backend that does, or none");
    }
    Ok(())
}

/// Devices that two layouts would overwrite at the same time.
fn twice_at_once(plan: &Plan) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for host in &plan.hosts {
        for (number, part) in host.parts.iter().enumerate() {
            for other in host.parts[..number].iter().filter(|other| part.meets(other)) {
                let devices = |part: &Part| {
                    let mine =
                        part.targets.clone().filter_map(|target| host.targets.get(target as usize));
                    mine.filter(|target| target.kind == PlannedTarget::Device)
                        .map(|target| target.path.clone())
                        .collect()
                };
                let theirs: Vec<String> = devices(other);
                let mine: Vec<String> = devices(part);
                for device in mine.iter().filter(|device| theirs.contains(device)) {
                    refusals.push(Refusal::target(
                        format!(
                            "host {}: scenarios with different layouts take turns on device \
                             {device}, and each would overwrite the other's",
                            host.hostname
                        ),
                        "leave out order = \"interleaved\", give the scenarios one layout, or \
                         name a device for each",
                    ));
                }
            }
        }
    }
    refusals.dedup();
    refusals
}

/// Whether layouts that stand at the same time fit together; each by itself was looked at.
fn space(request: &Request<'_>, host: &HostPlan, facts: &HostFacts) -> Vec<Refusal> {
    let begins = host.parts.iter().filter_map(|part| part.stages.first());
    let found = begins.map(|begin| {
        let standing: Vec<&Part> =
            host.parts.iter().filter(|part| part.stands_at(*begin)).collect();
        if standing.len() < 2 { Vec::new() } else { space_of(request, host, facts, &standing) }
    });
    found.into_iter().find(|refusals| !refusals.is_empty()).unwrap_or_default()
}

fn space_of(
    request: &Request<'_>,
    host: &HostPlan,
    facts: &HostFacts,
    standing: &[&Part],
) -> Vec<Refusal> {
    let of =
        |part: &&Part| host.targets.get(part.targets.start as usize..part.targets.end as usize);
    let targets: Vec<Target> = standing.iter().filter_map(of).flatten().cloned().collect();
    let refusals = room::space(facts, &targets, request.scale, Bytes(0));
    if !refusals.is_empty() {
        return refusals;
    }
    // Trees have what the files leave.
    let is_in = |stage: &&HostStage| standing.iter().any(|part| part.stages.contains(&stage.stage));
    let stages: Vec<HostStage> = host.stages.iter().filter(is_in).cloned().collect();
    trees::refusals(&less(facts, &targets), &host.targets, &host.trees, &stages)
}

/// The host with what `targets` will take off the free space of their file systems.
fn less(facts: &HostFacts, targets: &[Target]) -> HostFacts {
    let bytes = |path: &str| {
        let files =
            targets.iter().filter(|target| target.path == path).flat_map(|target| &target.files);
        files.map(|file| file.size.0).fold(0, u64::saturating_add)
    };
    let mut left = facts.clone();
    for target in &mut left.targets {
        let same = facts.targets.iter().filter(|other| room::same_file_system(other, target));
        let taken = same.map(|other| bytes(&other.path)).fold(0, u64::saturating_add);
        target.free = Bytes(target.free.0.saturating_sub(taken));
    }
    left
}

#[cfg(test)]
mod tests;
