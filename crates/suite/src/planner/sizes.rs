//! How many files each target gets, and how large they are.

use super::{ScenarioRequest, is_null};
use crate::{FilesPer, LayoutKind, PointSpec, Spread, WorkloadSpec};
use form::Auto;
use model::load::SizeMix;
use model::plan::{Target, TargetFile};
use model::testbed::{DirectIo, HostFacts, TargetFacts};
use model::units::Bytes;

/// The most that `size = "auto"` takes, on all targets of a host together.
const AUTO_LIMIT: Bytes = Bytes::gib(4);

/// What the suite says about sizes, resolved for one host.
pub(super) struct Sizes {
    pub(super) files: u32,
    /// Where the suite fixes sizes: what points ask for, each as (files, size of each, scaled), in
    /// rising order of files.
    pub(super) fixed: Vec<(u32, Bytes)>,
    /// Whether points load the parts that they ask for, rather than all of it.
    pub(super) are_own: bool,
    /// The sizes of files, where they differ, scaled.
    pub(super) mix: Option<SizeMix>,
    /// The share of `"auto"` that one target gets before its own free space is asked, scaled.
    pub(super) auto_share: Bytes,
    /// The least that a file must have for every worker to find a block.
    pub(super) least: Bytes,
}

impl Sizes {
    pub(super) fn of(
        request: &ScenarioRequest<'_>,
        facts: &HostFacts,
        points: &[&PointSpec],
    ) -> Sizes {
        Sizes::with(request, facts, points, has_own_layouts(request))
    }

    fn with(
        request: &ScenarioRequest<'_>,
        facts: &HostFacts,
        points: &[&PointSpec],
        are_own: bool,
    ) -> Sizes {
        let most_workers = |points: &[&PointSpec]| {
            let workloads = points.iter().flat_map(|point| &point.workloads);
            workloads.map(|workload| workers(workload, facts)).max().unwrap_or(1).max(1)
        };
        let all_workers = most_workers(points);
        let layout = &request.scenario.layout;
        let is_shared = layout.kind.value == LayoutKind::SharedFile;
        let of_worker = layout.per.value == FilesPer::Worker;
        let files_of = |point: &PointSpec| match point.layout.files.value {
            _ if is_shared => 1,
            Auto::Fixed(count) if of_worker && are_own => {
                count.0.saturating_mul(most_workers(&[point]))
            }
            Auto::Fixed(count) if of_worker => count.0.saturating_mul(all_workers),
            Auto::Fixed(count) => count.0,
            Auto::Auto if are_own => most_workers(&[point]),
            Auto::Auto => all_workers,
        };
        let shrink = |bytes: Bytes| Bytes(request.scale.size.apply(bytes.0));
        let fixed = |point: &&PointSpec| match point.layout.size.value {
            Auto::Fixed(size) => Some((files_of(point), shrink(size))),
            Auto::Auto => None,
        };
        let mut fixed: Vec<(u32, Bytes)> = points.iter().filter_map(fixed).collect();
        fixed.sort_unstable();
        fixed.dedup();
        let sharing = |point: &PointSpec| {
            let of_host = |facts| {
                point.workloads.iter().map(|workload| workers(workload, facts)).max().unwrap_or(1)
            };
            let workers = match is_shared {
                true => request.hosts.iter().map(of_host).sum(),
                false if are_own => most_workers(&[point]),
                false => all_workers,
            };
            u64::from(workers.div_ceil(files_of(point)))
        };
        let workloads = points.iter().flat_map(|point| &point.workloads);
        let largest_block =
            workloads.flat_map(WorkloadSpec::sizes).map(|size| size.0).max().unwrap_or(0);
        let targets = facts.targets.len().max(1) as u64;
        Sizes {
            files: points.iter().map(|point| files_of(point)).max().unwrap_or(1),
            fixed,
            are_own,
            mix: match &layout.sizes.value {
                Auto::Fixed(mix) => {
                    let parts =
                        mix.parts.iter().map(|(size, weight)| (shrink(*size), *weight)).collect();
                    Some(SizeMix { parts })
                }
                Auto::Auto => None,
            },
            auto_share: shrink(Bytes(AUTO_LIMIT.0.min(facts.memory.0 / 2) / targets)),
            least: {
                let sharers = points.iter().map(|point| sharing(point)).max().unwrap_or(1);
                Bytes(largest_block.saturating_mul(2).saturating_mul(sharers))
            },
        }
    }

    /// The largest size that any point asks for.
    pub(super) fn largest(&self) -> Option<Bytes> {
        self.fixed.iter().map(|(_, size)| *size).max()
    }

    /// What is to be loaded of each file of the host at `point`; `None` where it is all of it.
    ///
    /// Points whose sizes differ share one layout: the `n`-th file is as large as the point needs
    /// that has so many files and the largest ones, and each point loads its first files from their
    /// starts. So every byte is written once, whatever the points are, and nothing is
    /// prepared again between them, which for the sizes of a cluster would take longer than what is
    /// measured.
    pub(super) fn of_point(
        &self,
        request: &ScenarioRequest<'_>,
        facts: &HostFacts,
        point: &PointSpec,
        targets: &[Target],
    ) -> Option<Vec<Bytes>> {
        if !self.are_own {
            return None;
        }
        let own = Sizes::with(request, facts, &[point], true);
        let mut sizes = Vec::new();
        for target in targets {
            let unit = facts.targets.iter().find(|facts| facts.path == target.path);
            let unit = unit.map_or(Bytes(512), |facts| unit_of(request, facts));
            let each = own.largest().map(|size| self.rounded(request, size, unit));
            let part = |(number, file): (u32, &TargetFile)| match each {
                _ if number >= own.files => Bytes(0),
                Some(each) => each.min(file.size),
                None => file.size,
            };
            sizes.extend((0..).zip(&target.files).map(part));
        }
        Some(sizes)
    }

    /// A size that the suite asks for, in whole units, and raised to the least where it was shrunk
    /// below it.
    pub(super) fn rounded(
        &self,
        request: &ScenarioRequest<'_>,
        wanted: Bytes,
        unit: Bytes,
    ) -> Bytes {
        let size = wanted.round_down(unit);
        if request.scale.size.is_one() || size >= self.least {
            size
        } else {
            Bytes(self.least.0.next_multiple_of(unit.0))
        }
    }
}

/// Workers of a workload on a host; none on one that does not run it.
pub(super) fn workers(workload: &WorkloadSpec, facts: &HostFacts) -> u32 {
    let Some(place) = workload.hosts.value.place(facts.place) else { return 0 };
    match (workload.workers.value, workload.spread.value) {
        (Auto::Fixed(count), Spread::EachHost) => count.0,
        // The first hosts have one more, where they do not come out even.
        (Auto::Fixed(count), Spread::AllHosts) => {
            let hosts = place.of.max(1);
            count.0 / hosts + u32::from(place.number < count.0 % hosts)
        }
        (Auto::Auto, _) => facts.logical_cpus.clamp(1, 4),
    }
}

/// Whether points have layouts of their own, each a part of the one that is prepared.
fn has_own_layouts(request: &ScenarioRequest<'_>) -> bool {
    let layout = &request.scenario.layout;
    let differs = |point: &PointSpec| {
        let own = &point.layout;
        own.size.formula.is_some()
            || own.files.formula.is_some()
            || (own.size.value, own.files.value) != (layout.size.value, layout.files.value)
    };
    request.scenario.points.iter().any(differs)
}

/// What sizes of files on a target are multiples of.
pub(super) fn unit_of(request: &ScenarioRequest<'_>, target: &TargetFacts) -> Bytes {
    Bytes(u64::from(alignment(request, target)).max(512))
}

/// What offsets and lengths must be multiples of; 1 where the page cache is in between.
pub(super) fn alignment(request: &ScenarioRequest<'_>, target: &TargetFacts) -> u32 {
    match target.direct {
        DirectIo::Aligned(bytes) if request.scenario.engine.direct.value && !is_null(request) => {
            bytes
        }
        _ => 1,
    }
}
