//! Points at a share of a rate that is measured first: each is parted from the plan, and what it is
//! a share of takes its place.

use super::computed::ComputedPoint;
use super::{ScenarioRequest, point_of};
use crate::checks::table::share_of;
use crate::{Arrivals, PointSpec};
use form::Auto;
use model::plan::{RateShare, RateShares};
use model::search::{RATE_AXIS, UNLIMITED};
use model::setting::Setting;
use model::units::Percent;

/// The points of a plan, and those that follow them.
pub(super) struct Parted {
    pub(super) planned: Vec<ComputedPoint>,
    /// What follows: the place of the point that it is a share of, and the share.
    later: Vec<Later>,
}

struct Later {
    of: usize,
    share: Percent,
    point: ComputedPoint,
}

/// Parts points at shares from the others. Those that differ in the share alone have one maximum.
pub(super) fn parted(points: Vec<ComputedPoint>) -> Parted {
    let mut parted = Parted { planned: Vec::new(), later: Vec::new() };
    let mut maxima: Vec<(PointSpec, usize)> = Vec::new();
    for point in points {
        let Some(share) = point.spec.workloads.first().and_then(share_of) else {
            parted.planned.push(point);
            continue;
        };
        let free = without_rate(&point.spec);
        let known = maxima.iter().find(|(other, _)| *other == free).map(|(_, of)| *of);
        let of = known.unwrap_or_else(|| {
            let mut spec = free.clone();
            spec.sweep.push(Setting::new(RATE_AXIS, UNLIMITED));
            maxima.push((free, parted.planned.len()));
            parted.planned.push(ComputedPoint { spec, ..point.clone() });
            parted.planned.len() - 1
        });
        parted.later.push(Later { of, share, point });
    }
    parted
}

/// Whether a setting is that of a rate, of all workloads or of one.
fn is_of_rate(setting: &Setting) -> bool {
    setting.axis().rsplit('.').next() == Some(RATE_AXIS)
}

fn without_rate(point: &PointSpec) -> PointSpec {
    let mut point = point.clone();
    point.sweep.retain(|setting| !is_of_rate(setting));
    for workload in &mut point.workloads {
        workload.rate.value = Auto::Auto;
        workload.rate.span = None;
        workload.rate.formula = None;
    }
    point
}

impl Parted {
    /// What follows the points of `usable`, which are some of those that are planned, in order.
    pub(super) fn shares(
        &self,
        request: &ScenarioRequest<'_>,
        usable: &[&ComputedPoint],
    ) -> RateShares {
        let one = |later: &Later| {
            let maximum = self.planned.get(later.of)?;
            let of = usable.iter().position(|point| std::ptr::eq(*point, maximum))? as u32;
            let mut point = point_of(request, &later.point);
            if !point.sweep.iter().any(is_of_rate) {
                point.sweep.push(Setting::new(RATE_AXIS, later.share.to_string()));
            }
            let first = later.point.spec.workloads.first()?;
            let poisson = first.arrivals.value == Arrivals::Poisson;
            Some(RateShare { of, share: later.share, poisson, point })
        };
        let shares: Vec<RateShare> = self.later.iter().filter_map(one).collect();
        let planned = if shares.is_empty() { 0 } else { usable.len() as u32 };
        RateShares { planned, shares }
    }
}
