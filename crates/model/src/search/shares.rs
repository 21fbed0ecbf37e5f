//! Points at shares of a rate that was measured first.

use super::Addition;
use crate::load::{Pace, Rate};
use crate::plan::{Plan, RateShare};

impl Plan {
    /// The point at a share that comes next, behind those that there are; `None` where all of them
    /// were measured, or the plan has none.
    pub fn next_share(&self) -> Option<&RateShare> {
        let measured =
            (self.points.len() as u64).checked_sub(u64::from(self.rate_shares.planned))?;
        self.rate_shares.shares.get(usize::try_from(measured).ok()?)
    }

    /// The next point at a share, of a point whose workloads carried so many thousandths of a
    /// request per second each. `None` where there is none, or the plan is not whole.
    pub fn at_share(&self, carried_milli: &[u64]) -> Option<Addition> {
        let next = self.next_share()?;
        let pace = |carried: &u64| {
            let milli = u128::from(*carried) * u128::from(next.share.ppm) / 1_000_000;
            let milli = u64::try_from(milli).ok()?.max(1);
            Some(Pace::Open { rate: Rate::Iops { milli }, poisson: next.poisson })
        };
        let paces: Vec<Pace> = carried_milli.iter().map(pace).collect::<Option<_>>()?;
        let works = self.stages.get(self.measure_stage(next.of)? as usize)?.works.len();
        if works != paces.len() {
            return None;
        }
        self.like(next.of, next.point.clone(), |number, work| {
            work.pace = paces[number].clone();
            // The rates are the ratio now.
            work.share = 0;
        })
    }
}
