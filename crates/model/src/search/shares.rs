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

    /// The next point at a share, of a point that carried so many thousandths of a request per
    /// second. `None` where there is none, or the plan is not whole.
    pub fn at_share(&self, carried_milli: u64) -> Option<Addition> {
        let next = self.next_share()?;
        let milli = u128::from(carried_milli) * u128::from(next.share.ppm) / 1_000_000;
        let milli = u64::try_from(milli).ok()?.max(1);
        let pace = Pace::Open { rate: Rate::Iops { milli }, poisson: next.poisson };
        self.like(next.of, next.point.clone(), |_, work| work.pace = pace.clone())
    }
}
