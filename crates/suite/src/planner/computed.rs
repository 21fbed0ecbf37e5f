//! Arithmetic of the suite, computed for the hosts at hand: every point with its values, and
//! without those that are left out.

use super::sizes::workers;
use super::{Refusal, ScenarioRequest};
use crate::{LayoutKind, PointSpec, Verify, WorkloadSpec};
use form::arithmetic::{Computed, Name};
use form::{Problem, Span};
use model::kernels::Kernels;
use model::note::Fact;
use model::plan::PlanNote;
use model::setting::Setting;
use model::testbed::{DirectoryState, HostFacts, TargetFacts, TargetKind};
use model::units::Bytes;

/// A point with nothing left to compute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ComputedPoint {
    /// As if it had been written with numbers.
    pub(super) spec: PointSpec,
    /// What was computed: field and value.
    pub(super) values: Vec<(String, String)>,
}

/// All points that are to run, in order.
pub(super) fn points(
    request: &ScenarioRequest<'_>,
    notes: &mut Vec<PlanNote>,
    refusals: &mut Vec<Refusal>,
) -> Vec<ComputedPoint> {
    let hosts = Hosts::of(request.hosts);
    let mut wrong = Wrong { request, refusals, told: Vec::new() };
    let mut skipped = 0;
    let mut points = Vec::new();
    for point in &request.scenario.points {
        match compute(request, &hosts, point, &mut wrong) {
            Some(point) => points.push(point),
            None => skipped += 1,
        }
    }
    if let (1.., Some((rule, span))) = (skipped, &request.scenario.skip) {
        if points.is_empty() {
            wrong.tell(
                span,
                "the rule `skip` leaves no point",
                "leave the rule out, or write one that is false for some",
            );
        }
        let (of, rule) = (request.scenario.points.len() as u64, rule.text().to_owned());
        notes.push(PlanNote { fact: Fact::PointsSkipped { skipped, of, rule } });
    }
    if too_many(request, &points) {
        wrong.refusals.push(Refusal::usage(
            format!(
                "the plan has more than {MOST_PARTS} workers and files, those of each point and \
                 host counted"
            ),
            "give fewer points, repetitions, hosts, workers or files",
        ));
    }
    points
}

/// A plan is kept in memory with each worker's share of each file; this much of it takes less than
/// 1 GiB.
const MOST_PARTS: u64 = 1 << 22;

fn too_many(request: &ScenarioRequest<'_>, points: &[ComputedPoint]) -> bool {
    let targets: u64 = request.hosts.iter().map(|host| host.targets.len() as u64).sum();
    let parts = |point: &ComputedPoint| {
        let workers: f64 = point
            .spec
            .workloads
            .iter()
            .map(|workload| total_workers(workload, request.hosts))
            .sum();
        let files = files_of(&point.spec, request.hosts);
        (workers as u64).saturating_add(u64::from(files.unwrap_or(0)).saturating_mul(targets))
    };
    points.iter().map(parts).fold(0, u64::saturating_add) > MOST_PARTS
}

/// The point with its values, or nothing where it is to be left out.
fn compute(
    request: &ScenarioRequest<'_>,
    hosts: &Hosts,
    point: &PointSpec,
    wrong: &mut Wrong<'_, '_>,
) -> Option<ComputedPoint> {
    let mut point = ComputedPoint { spec: point.clone(), values: Vec::new() };
    let several = point.spec.workloads.len() > 1;
    for workload in &mut point.spec.workloads {
        let prefix = if several { format!("{}.", workload.name.value) } else { String::new() };
        let mut computed = workload.compute(|key| key == "workers", &|name| hosts.value(name));
        let workers = total_workers(workload, request.hosts);
        let known = |name| if name == Name::Workers { Some(workers) } else { hosts.value(name) };
        computed.extend(workload.compute(|key| key == "depth", &known));
        let depth = f64::from(workload.depth.value.0);
        let known = |name| if name == Name::Depth { Some(depth) } else { known(name) };
        computed.extend(workload.compute(|_| true, &known));
        let is_new = !computed.is_empty();
        if wrong.keep(computed, &prefix, &point.spec.sweep, &mut point.values) && is_new {
            let (mut problems, contents) = (Vec::new(), &request.scenario.contents);
            crate::check_workload(workload, contents.verify.value != Verify::No, &mut problems);
            problems.iter().for_each(|problem| wrong.problem(problem, ""));
        }
    }
    let workloads = &point.spec.workloads;
    let known = Known {
        workers: workloads.iter().map(|workload| total_workers(workload, request.hosts)).sum(),
        depth: workloads
            .iter()
            .map(|workload| f64::from(workload.depth.value.0))
            .fold(0.0, f64::max),
        block_size: workloads
            .iter()
            .flat_map(WorkloadSpec::sizes)
            .map(|Bytes(size)| size as f64)
            .fold(0.0, f64::max),
        hosts,
    };
    if let Some((rule, span)) = &request.scenario.skip {
        match rule.evaluate(&|name| known.value(name)) {
            Ok(0.0) => {}
            Ok(_) => return None,
            Err(error) => wrong.tell(span, &format!("skip: {}", error.message), &error.remedy),
        }
    }
    let computed = point.spec.layout.compute(|key| key == "files", &|name| known.value(name));
    let is_good = wrong.keep(computed, "", &point.spec.sweep, &mut point.values);
    let files = files_of(&point.spec, request.hosts);
    let with_files =
        |name| if name == Name::Files { files.map(f64::from) } else { known.value(name) };
    if is_good {
        let computed = point.spec.layout.compute(|_| true, &with_files);
        wrong.keep(computed, "", &point.spec.sweep, &mut point.values);
    }
    if point.spec.layout.kind.value == LayoutKind::Tree {
        compute_tree(&known, &mut point, wrong);
    }
    Some(point)
}

/// The tree of a point: its files first, because its other fields may ask for them.
fn compute_tree(known: &Known<'_>, point: &mut ComputedPoint, wrong: &mut Wrong<'_, '_>) {
    let tree = &mut point.spec.tree;
    let mut computed = tree.compute(|key| key == "files", &|name| known.value(name));
    if computed.iter().all(|computed| computed.outcome.is_ok()) {
        let files = tree.files.value.0 as f64;
        let with_files = |name| if name == Name::Files { Some(files) } else { known.value(name) };
        computed.extend(tree.compute(|_| true, &with_files));
    }
    let is_new = !computed.is_empty();
    if wrong.keep(computed, "tree.", &point.spec.sweep, &mut point.values) && is_new {
        let mut problems = Vec::new();
        crate::check_tree(&point.spec.tree, &mut problems);
        let at = at(&point.spec.sweep);
        problems.iter().for_each(|problem| wrong.problem(problem, &at));
    }
}

/// The values of a sweep, behind what is wrong at them.
fn at(sweep: &[Setting]) -> String {
    let axes: Vec<String> = sweep.iter().map(Setting::to_string).collect();
    if axes.is_empty() { String::new() } else { format!(" at {}", axes.join(" ")) }
}

/// Workers of a workload on all hosts.
fn total_workers(workload: &WorkloadSpec, hosts: &[HostFacts]) -> f64 {
    hosts.iter().map(|host| f64::from(workers(workload, host))).sum()
}

/// The files of a point in each target: by default as many as the host with the most workers has.
fn files_of(point: &PointSpec, hosts: &[HostFacts]) -> Option<u32> {
    let of = |host| point.workloads.iter().map(move |workload| workers(workload, host));
    point
        .layout
        .files
        .value
        .fixed()
        .map(|files| files.0)
        .or_else(|| hosts.iter().flat_map(of).max())
}

/// What is known of the hosts before any point is.
struct Hosts {
    memory: f64,
    cpus: Option<f64>,
    count: f64,
    free: Option<f64>,
}

impl Hosts {
    fn of(hosts: &[HostFacts]) -> Hosts {
        let free = hosts.iter().flat_map(|host| &host.targets).map(free);
        Hosts {
            memory: memory(hosts),
            cpus: hosts.iter().map(|host| f64::from(host.logical_cpus)).reduce(f64::min),
            count: hosts.len() as f64,
            free: free.min().map(|bytes| bytes as f64),
        }
    }

    fn value(&self, name: Name) -> Option<f64> {
        match name {
            Name::Memory => Some(self.memory),
            Name::Cpus => self.cpus,
            Name::Hosts => Some(self.count),
            Name::Free => self.free,
            Name::Workers | Name::Depth | Name::BlockSize | Name::Files => None,
        }
    }
}

/// The memory of all hosts, in bytes; that of hosts on one kernel once.
fn memory(hosts: &[HostFacts]) -> f64 {
    let kernels = Kernels::of(hosts);
    let is_first = |number: usize| kernels.first_on_kernel(number) == number;
    hosts
        .iter()
        .enumerate()
        .filter(|(number, _)| is_first(*number))
        .map(|(_, host)| host.memory.0 as f64)
        .sum()
}

/// Bytes that a layout could take: of a file system what is free and what is ours already, of
/// anything else all of it.
fn free(target: &TargetFacts) -> u64 {
    match &target.kind {
        TargetKind::Device { size, .. }
        | TargetKind::File { size }
        | TargetKind::Simulated { size } => size.0,
        TargetKind::Directory { state: DirectoryState::Claimed { used, .. }, .. } => {
            target.free.0.saturating_add(used.0)
        }
        _ => target.free.0,
    }
}

struct Known<'a> {
    workers: f64,
    depth: f64,
    block_size: f64,
    hosts: &'a Hosts,
}

impl Known<'_> {
    fn value(&self, name: Name) -> Option<f64> {
        match name {
            Name::Workers => Some(self.workers),
            Name::Depth => Some(self.depth),
            Name::BlockSize => Some(self.block_size),
            other => self.hosts.value(other),
        }
    }
}

/// Collects what went wrong, once for each place: a rule that fails at every point is one mistake.
struct Wrong<'a, 'b> {
    request: &'a ScenarioRequest<'b>,
    refusals: &'a mut Vec<Refusal>,
    told: Vec<Span>,
}

impl Wrong<'_, '_> {
    /// Keeps the values that were computed, and tells of those that could not be. Whether all were.
    fn keep(
        &mut self,
        computed: Vec<Computed>,
        prefix: &str,
        sweep: &[Setting],
        values: &mut Vec<(String, String)>,
    ) -> bool {
        let mut is_good = true;
        for field in computed {
            match field.outcome {
                Ok(value) => values.push((format!("{prefix}{}", field.key), value)),
                Err(error) => {
                    is_good = false;
                    let at = at(sweep);
                    let what =
                        format!("{prefix}{} = \"{}\" {}{at}", field.key, field.text, error.message);
                    self.tell(&field.span, &what, &error.remedy);
                }
            }
        }
        is_good
    }

    fn problem(&mut self, problem: &Problem, at: &str) {
        self.tell(&problem.span, &format!("{}{at}", problem.message), &problem.remedy);
    }

    fn tell(&mut self, span: &Span, what: &str, remedy: &str) {
        if self.told.contains(span) {
            return;
        }
        self.told.push(span.clone());
        let place = self.request.spec.sources.place(span);
        let (line, column) = place.line_and_column();
        let message = format!("{}:{line}:{column}: {what}", place.name);
        self.refusals.push(Refusal::usage(message, remedy));
    }
}

#[cfg(test)]
mod tests;
