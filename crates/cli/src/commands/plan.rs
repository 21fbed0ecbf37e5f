//! `plimsoll plan`, and what `run` needs of it.

use super::{print, print_json, vms};
use crate::args::{PlanArgs, WorkArgs};
use crate::failure::Failure;
use crate::hosts::{self, Hosts};
use crate::screen;
use crate::simulate::Simulation;
use crate::suite_and_targets::{self, Asked};
use model::plan::Origin;
use model::testbed::HostFacts;
use model::{Fraction, Plan};
use report::topics;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::ExitCode;
use suite::planner::{self, GivenUp, Request};

/// Shows what a run would do.
pub fn plan(args: &PlanArgs) -> Result<ExitCode, Failure> {
    let asked = suite_and_targets::asked(&args.work)?;
    if let Some(of) = args.work.machines.provider {
        let planned = vms::planned(&asked.spec, of, args.work.machines.guest_kernel.as_deref())?;
        if args.json {
            print_json(&planned.json())?;
        } else {
            print(&planned.text())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let hosts = hosts::start(
        &args.work.hosts,
        &|names| asked.targets_of(names),
        asked.spec.fleet.lost_after.value,
    )?;
    let (plan, hosts) = decide(&args.work, &asked, &hosts)?;
    if args.json {
        print_json(&plan)?;
    } else {
        print(&topics::plan::render_within(&plan, &hosts, screen::room()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks the hosts and decides everything; touches nothing.
pub fn decide(
    work: &WorkArgs,
    asked: &Asked,
    started: &Hosts,
) -> Result<(Plan, Vec<HostFacts>), Failure> {
    let patience = asked.spec.first_scenario().engine.patience.value;
    let told = started
        .fleet
        .inspect(&started.targets, patience)
        .map_err(|error| Failure::Run(format!("error: {error}")))?;
    let mut hosts = hosts::facts_of(told, hosts::may_be_one(&work.hosts))?;
    let given_up: Vec<GivenUp> = work
        .destroy_data
        .iter()
        .flat_map(|given| given.0.clone())
        .chain(asked.own_disks())
        .collect();
    let simulation = Simulation::of(&work.hosts, &started.targets)?;
    if let Some(simulation) = &simulation {
        simulation.describe(&mut hosts);
    }
    let request = Request {
        run_id: &run_id(&asked.spec.suite.name.value),
        spec: &asked.spec,
        scale: work.scale.unwrap_or_default().or(Fraction::ONE),
        existing: work.existing,
        destroy_data: &given_up,
        hosts: &hosts,
    };
    let planned = |request: &Request<'_>| {
        planner::plan(request).map_err(|refusals| Failure::refused(&refusals))
    };
    let mut plan = planned(&request)?;
    if let Some(simulation) = &simulation {
        let full = plan;
        plan = planned(&Request { scale: simulation.scale(work, &full), ..request })?;
        simulation.notes(work, &asked.left_out, &full, &mut plan);
    }
    started.last_long_enough(&plan)?;
    plan.hosts_from = work.hosts.options();
    plan.origin = Origin::new(work.words.clone(), asked.text.clone(), asked.is_file);
    Ok((plan, hosts))
}

/// A name that no other run has: the suite, the time, and a few random digits.
fn run_id(suite: &str) -> String {
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    // The standard library seeds this from the system's random numbers; a run's name needs no
    // better ones.
    let chance = RandomState::new().build_hasher().finish() & 0xff_ffff;
    format!("{}-{now}-{chance:06x}", file_name(suite))
}

/// The suite's name as a part of a file's name.
pub fn file_name(suite: &str) -> String {
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
